"""The panel that a mechanism is drawn in: its axes, their limits, and how it fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from pymodel.mechanism.scenario import Scenario
from pymodel.runs import legends

# In space: elevation and azimuths to choose from, degrees; intervals of the longest axis, how far
# names stand from the axes, height of the box as a share of its largest side at least, rounds of
# fitting.
ELEVATION, AZIMUTHS = 22.0, (-75.0, -60.0, -45.0, -30.0, -15.0)
INTERVALS, NAME_PAD, FLATTEST, ROUNDS = 5, 9.0, 0.25, 4


class Panel(NamedTuple):
    """Where a mechanism is drawn.

    Attributes
    ----------
    frame : matplotlib.axes.Axes
        Takes part in the figure's layout, and has the title and the legend.
    axes : matplotlib.axes.Axes
        Those of the mechanism: in the plane the frame itself, in space others inside of it.
    vertical : str
        In space the name of the axis that points upwards.
    """

    frame: Axes
    axes: Any  # no types for those in space
    vertical: str = ""

    @property
    def spatial(self) -> bool:
        """Whether it is one in space."""
        return self.axes is not self.frame


def panel_of(figure: Figure, place: Any, scenario: Scenario) -> Panel:
    """A panel for a mechanism; in space what gravity is along the most points upwards.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        With a layout engine.
    place
        As :meth:`matplotlib.figure.Figure.add_subplot` takes it.
    scenario : Scenario
    """
    frame = figure.add_subplot(place)
    if not scenario.spatial:
        return Panel(frame, frame)
    frame.set_axis_off()
    space: dict[str, Any] = {"projection": "3d", "proj_type": "ortho", "computed_zorder": False}
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), **space)  # the layout would shrink them
    axes.patch.set_visible(False)
    pull = np.abs(scenario.gravity)
    return Panel(frame, axes, "xyz"[pull.argmax() if pull.any() else -1])


def lines(axes: Any, segments: Sequence[np.ndarray], **style: Any) -> LineCollection:
    """Draw lines, shape (ends, d) each, as one artist; axes of a plane or of space."""
    if axes.name != "3d":
        return axes.add_collection(LineCollection(segments, **style))
    axes.auto_scale_xyz(*np.concatenate(segments).T, had_data=axes.has_data())
    return axes.add_collection3d(Line3DCollection(segments, **style))


def fill(panel: Panel, handles: Sequence[Artist] = ()) -> None:
    """Let the mechanism fill its panel, once all is drawn; what comes later does not move it.

    Axes have equal scales and names, in the plane in a square box: constrained layout loses labels
    when it adapts a box.

    Parameters
    ----------
    panel : Panel
    handles : sequence of matplotlib.artist.Artist
        What its legend names, if it has one; it stands above the mechanism.
    """
    figure: Any = panel.frame.figure
    if panel.spatial:
        _box_limits(panel.axes)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        frame, share = panel.frame.bbox, legends.above(panel.frame, handles) if handles else 0.0
        room = Bbox.from_extents(frame.x0, frame.y0, frame.x1, frame.y1 - share * frame.height)
        _turn(panel.axes, panel.vertical, room)
        _fit(panel.axes, room)
        return
    drawn = panel.axes.get_xlim(), panel.axes.get_ylim()
    _square_limits(panel.axes, drawn, 0.0)
    panel.axes.set_xlabel("x [m]")
    panel.axes.set_ylabel("y [m]")
    if handles:
        figure.draw_without_rendering()
        _square_limits(panel.axes, drawn, legends.above(panel.axes, handles))


def _square_limits(axes: Axes, drawn: tuple[tuple[float, float], ...], share: float) -> None:
    """Set limits of equal scales around what is drawn, which leaves a share of the height above."""
    (left, right), (bottom, top) = drawn
    side = max(right - left, (top - bottom) / (1.0 - share))
    low = (bottom + top - (1.0 - share) * side) / 2
    axes.set_xlim((left + right - side) / 2, (left + right + side) / 2)
    axes.set_ylim(low, low + side)
    axes.set_aspect("equal", adjustable="box")
    axes.ticklabel_format(scilimits=(-3, 5))  # of small ones a factor: long ones hit each other


def _box_limits(axes: Any) -> None:
    """Set equal scales in a box that is not too flat."""
    limits = np.array([getattr(axes, f"get_{name}lim")() for name in "xyz"])
    halves = np.ptp(limits, axis=1) / 2
    halves = np.maximum(halves, FLATTEST * halves.max())
    for name, middle, half in zip("xyz", limits.mean(axis=1), halves, strict=True):
        getattr(axes, f"set_{name}lim")(middle - half, middle + half)
        getattr(axes, f"set_{name}label")(f"{name} [m]", labelpad=NAME_PAD)
        axes.locator_params(axis=name, nbins=max(2, round(INTERVALS * half / halves.max())))
    axes.set_box_aspect(halves)


def _turn(axes: Any, vertical: str, room: Bbox) -> None:
    """Look from where the mechanism is seen largest in a room, once its box fills that."""
    mechanism = np.concatenate([np.transpose(line.get_data_3d()) for line in axes.lines])

    def size(azimuth: float) -> float:
        axes.view_init(ELEVATION, azimuth, vertical_axis=vertical)
        box, drawn = (np.ptp(_seen(axes, x), axis=0) for x in (_corners(axes), mechanism))
        return float(np.prod(drawn) * np.min(_size(room) / box) ** 2)

    size(max(AZIMUTHS, key=size))


def _corners(axes: Any) -> np.ndarray:
    """Those of the box of axes in space, shape (8, 3)."""
    limits = axes.get_xlim(), axes.get_ylim(), axes.get_zlim()
    return np.transpose(np.meshgrid(*limits)).reshape(-1, 3)


def _seen(axes: Any, points: np.ndarray) -> np.ndarray:
    """Where points (n, 3) are in the figure, pixels, shape (n, 2)."""
    x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
    return axes.transData.transform(np.column_stack((x, y)))


def extent(axes: Any) -> Bbox:
    """What axes in space take of the figure: their box with its ticks and names, pixels."""
    box = Bbox.null()
    box.update_from_data_xy(_seen(axes, _corners(axes)))
    names = (getattr(axes, f"{name}axis").get_tightbbox() for name in "xyz")
    return Bbox.union([box, *names])


def _fit(axes: Any, room: Bbox) -> None:
    """Scale and move axes in space, until they fill a room."""
    for _ in range(ROUNDS):  # letters do not grow with the axes
        axes.figure.draw_without_rendering()
        drawn, box = extent(axes), axes.bbox
        factor = np.min(_size(room) / _size(drawn))
        centre = _centre(room) + factor * (_centre(box) - _centre(drawn))
        half = factor * _size(box) / 2
        place = Bbox([centre - half, centre + half])
        axes.set_position(place.transformed(axes.figure.transFigure.inverted()))


def _size(box: Bbox) -> np.ndarray:
    return np.array(box.size)


def _centre(box: Bbox) -> np.ndarray:
    return np.mean(box.get_points(), axis=0)
