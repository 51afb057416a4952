"""The bars of a mechanism in motion, as a GIF or an MP4."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pymodel.mechanism.scenario import Scenario
from pymodel.runs import skeleton
from pymodel.runs.input_error import InputError, require_path
from pymodel.runs.mechanism_plot import fill, lines, panel_of
from pymodel.runs.plots import (
    BLOCK_WIDTH,
    JOINT_COLOURS,
    STYLE,
    literal,
)
from pymodel.runs.trajectory import Trajectory, check_mechanism
from pymodel.runs.whole import whole_file

WRITERS = {".gif": PillowWriter, ".mp4": FFMpegWriter}
UNIT_S = 0.01  # in which a GIF counts the time of a frame
SHORTEST_S, LONGEST_S = 0.04, 0.1  # of a frame
FEWEST, MOST = 25, 100  # frames, which keeps a GIF below a megabyte
SIZE_INCHES, DPI = 4.2, 100
COLUMNS, TIME_DIGITS = 40, 3  # characters of a line of the title; of the time at least
ROUNDING = 1e-9  # of a sum of times, relative
BAR = {"lw": 5, "capstyle": "round", "zorder": 3}
BLOCK = {"lw": BLOCK_WIDTH, "capstyle": "butt", "zorder": 3}
GUIDE = {"lw": 1.2, "zorder": 2}


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of float64 may be drawn
def animate(
    trajectory: Trajectory,
    scenario: Scenario,
    path: str | os.PathLike[str],
    *,
    speed: float | None = None,
) -> Path:
    """Draw the mechanism in motion, with the paths of its tips.

    Parameters
    ----------
    trajectory : Trajectory
    scenario : Scenario
        Its mechanism, in the plane or in space.
    path : str or path-like
        Ends in ``.gif``, or in ``.mp4`` where ffmpeg is installed.
    speed : float, optional
        Seconds of the motion that a second shows. By default 1, but runs of less than a second are
        slowed down to take one, and those of more than 10 s sped up.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        If the path is none, the file has another ending, ffmpeg is missing, the trajectory is not
        of this mechanism, has less than two rows or places that are not finite, or the speed is not
        positive.
    OSError
        If the file cannot be written.
    """
    require_path("path", path)
    path = Path(path)
    if path.suffix not in WRITERS:
        raise InputError(f"{path}: must end in {' or '.join(WRITERS)}")
    writer: Any = WRITERS[path.suffix]
    if not writer.isAvailable():
        raise InputError(f"{path}: needs ffmpeg, which is not installed; a .gif does not")
    check_mechanism(trajectory, scenario)
    if len(trajectory) < 2:
        raise InputError(f"{path}: a trajectory of {len(trajectory)} row cannot move")
    if not np.isfinite(trajectory.q).all():
        raise InputError(
            f"{path}: q is not finite in all rows; take the trajectory's finite_part()"
        )
    rows, frame, speed = frame_rows(trajectory.t, speed)
    with mpl.rc_context(STYLE), whole_file(path) as beside:
        _write(writer(fps=1.0 / frame), trajectory, scenario, rows, speed, beside)
    return path


def frame_rows(t: np.ndarray, speed: float | None = None) -> tuple[np.ndarray, float, float]:
    """Choose the rows of a trajectory that become frames.

    Parameters
    ----------
    t : numpy.ndarray, shape (T,)
        Times, s, ascending.
    speed : float, optional
        As for :func:`animate`.

    Returns
    -------
    rows : numpy.ndarray, shape (frames,)
    frame : float
        Time of a frame, s.
    speed : float

    Raises
    ------
    InputError
        If the speed is not positive, or so low that there were more than :data:`MOST` frames.
    """
    whole = t[-1] - t[0]
    if speed is None:
        least, most = FEWEST * SHORTEST_S, MOST * LONGEST_S
        speed = float(whole / np.clip(whole, least, most))
    elif not (isinstance(speed, Real) and math.isfinite(speed) and speed > 0.0):
        raise InputError(f"speed: must be positive, got {speed!r}")
    shown = whole / speed
    frame = max(UNIT_S * math.ceil(shown / MOST / UNIT_S - ROUNDING), SHORTEST_S)
    if frame > LONGEST_S:
        least = whole / (MOST * LONGEST_S)
        raise InputError(f"speed: {speed:g} takes too many frames, must be at least {least:.3g}")
    frames = max(round(shown / frame), 1)
    times = t[0] + speed * frame * np.arange(frames + 1)
    return np.searchsorted(t, times - ROUNDING * whole).clip(max=len(t) - 1), frame, speed


def _write(
    writer: PillowWriter | FFMpegWriter,
    trajectory: Trajectory,
    scenario: Scenario,
    rows: np.ndarray,
    speed: float,
    path: Path,
) -> None:
    """Draw frame by frame."""
    q = trajectory.q[rows]
    members, springs = skeleton.bars(scenario, q), skeleton.coils(scenario, q)
    sliders = skeleton.sliders(scenario, q)
    guides, blocks = [x.guide for x in sliders], [x.block for x in sliders]
    pins = np.concatenate((skeleton.pins(scenario, q), skeleton.loop_pins(scenario, q)), axis=1)
    paths = skeleton.traced_tips(scenario, trajectory)

    figure = Figure(figsize=(SIZE_INCHES, SIZE_INCHES), layout="constrained")
    panel = panel_of(figure, 111, scenario)
    axes = panel.axes
    tips = [path for _, path in paths]
    drawn = [*(ends for _, ends in members), *springs, *guides, *blocks, *tips]
    (ghost,) = axes.plot(*_points(drawn), ",")  # limits that fit at any time
    axes.margins(0.08)
    for place in skeleton.ground_pins(scenario):
        axes.plot(*np.transpose([place]), "^", ms=11, color="black", zorder=2)
    nowhere: list[list[float]] = [[]] * len(scenario.gravity)
    colours = _colours(body for body, _ in paths)
    traces = [axes.plot(*nowhere, color=colour, lw=1.0, zorder=1)[0] for colour in colours]
    moving = [_Moving(axes, [ends for _, ends in members], _colours(k for k, _ in members), BAR)]
    if sliders:
        moving.append(_Moving(axes, guides, "black", GUIDE))
        moving.append(_Moving(axes, blocks, _colours(x.body for x in sliders), BLOCK))
    zigzags = [axes.plot(*nowhere, color="black", lw=1.2, zorder=2.5)[0] for _ in springs]
    (dots,) = axes.plot(*nowhere, "o", ms=5, mfc="white", mec="black", zorder=4)
    digits = _digits(np.diff(trajectory.t[np.unique(rows)]).min())
    texts = [_title(scenario.name, f"{t:.{digits}f} s", speed) for t in trajectory.t[rows]]
    title = panel.frame.set_title(max(texts, key=len))
    fill(panel)
    ghost.remove()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the frames must not move
    with writer.saving(figure, str(path), DPI):
        for frame, (row, text) in enumerate(zip(rows, texts, strict=True)):
            for artist in moving:
                artist.show(frame)
            for zigzag, corners in zip(zigzags, springs, strict=True):
                _move(zigzag, corners[frame])
            _move(dots, pins[frame])
            for trace, tip in zip(traces, tips, strict=True):
                _move(trace, tip[: row + 1])
            title.set_text(text)
            writer.grab_frame()


def _digits(interval: float) -> int:
    """Decimals for times so many seconds apart, :data:`TIME_DIGITS` at least."""
    return max(TIME_DIGITS, math.ceil(-math.log10(interval)))


def _title(name: str, time: str, speed: float) -> str:
    """What stands above a frame; a name too long for it and the time in one line has its own."""
    between = ": " if len(name) + len(time) + 2 <= COLUMNS else "\n"
    pace = "" if speed == 1.0 else f"\n{float(f'{speed:.2g}'):g} times real time"
    return f"{literal(name, COLUMNS)}{between}{time}{pace}"


class _Moving:
    """Lines that move: (T, ends, d) each."""

    def __init__(
        self, axes: Axes, paths: list[np.ndarray], colours: Any, style: dict[str, Any]
    ) -> None:
        self.paths = paths
        self.artist = lines(axes, self._at(0), colors=colours, **style)

    def _at(self, frame: int) -> list[np.ndarray]:
        return [path[frame] for path in self.paths]

    def show(self, frame: int) -> None:
        """Move them to where they are in a frame."""
        self.artist.set_segments(self._at(frame))


def _colours(bodies: Iterable[int]) -> list[str]:
    return [JOINT_COLOURS[(1 + body) % len(JOINT_COLOURS)] for body in bodies]


def _move(line: Any, points: np.ndarray) -> None:
    """Give a line other points, (ends, d)."""
    if points.shape[-1] == 2:
        line.set_data(*points.T)
    else:
        line.set_data_3d(*points.T)


def _points(paths: list[np.ndarray]) -> np.ndarray:
    """All points of arrays (..., d), by coordinate."""
    return np.concatenate([path.reshape(-1, path.shape[-1]) for path in paths]).T
