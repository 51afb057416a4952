"""Plots of a run as PNG files: joint motion, energies and their error, and an overview.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; curves that may
cover each other also differ in dash and width. Legends stand next to the axes, never on the data.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.conserved import conserved
from pymodel.runs.input_error import InputError, require
from pymodel.runs.summary import MILLI
from pymodel.runs.trajectory import Trajectory

LOOP = "loop"  # the picture that needs loops
CONSERVED = "conserved"  # the picture that needs a quantity that is conserved

#: A run with its name, colour, dash and width.
Curve = tuple[str, Trajectory, str, Any, float]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
JOINT_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, "#E69F00", "#56B4E9", "#8C564B", "#999999")
DPI = 150
INSTANTS = 9  # postures drawn in the overview
FAINTEST = 0.3  # opacity of the first of them
SMALL_NUMBERS = "{x:.3g}"  # each tick whole: a common factor above the axes hits the legend
# Time runs from light to dark, without the palest end, which vanishes on white.
TIME_COLOURS = ListedColormap(mpl.colormaps["cividis_r"](np.linspace(0.12, 1.0, 256)))
# A tip that travels less than this share of the mechanism's extent is a fixed pin.
COIL_CORNERS, COIL_WIDTH = 12, 0.08  # of a drawn spring; half its width as a share of its length
FIXED_SHARE = 1e-2

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


def plot_run(
    trajectory: Trajectory,
    reference: Trajectory | None,
    out_dir: str | os.PathLike[str],
    title: str,
    *,
    label: str = "run",
    twin: Trajectory | None = None,
    twin_label: str = "float64",
    scenario: Scenario | None = None,
) -> list[Path]:
    """Plot a run as PNG files: ``FILES``, and ``FILES_OF_SOME`` where they apply.

    Parameters
    ----------
    trajectory : Trajectory
    reference : Trajectory or None
        The exact motion at the same times, for the differences; it may end earlier.
    out_dir : str or path-like
        A folder that exists.
    title : str
    label, twin_label : str
        Names of the curves of the run and of its twin.
    twin : Trajectory, optional
        The same algorithm in exact arithmetic at the same times: it separates rounding from
        truncation.
    scenario : Scenario, optional
        The geometry, without which there is no overview.

    Returns
    -------
    list of pathlib.Path
        The files.
    """
    out = Path(out_dir)
    curves = _curves(trajectory, label, twin, twin_label)
    kinds = [kind for kind in KINDS if _drawn(kind, scenario)]
    paths = [out / f"{kind}.png" for kind in kinds]
    with mpl.rc_context(STYLE):
        for kind, path in zip(kinds, paths, strict=True):
            KINDS[kind](curves, reference, title, scenario).savefig(path, dpi=DPI)
    return paths


def plot(
    trajectory: Trajectory,
    scenario: Scenario | None = None,
    kind: str = "overview",
    *,
    reference: Trajectory | None = None,
    twin: Trajectory | None = None,
    label: str = "run",
    twin_label: str = "float64",
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw a run.

    Parameters
    ----------
    trajectory : Trajectory
    scenario : Scenario, optional
        The mechanism, which ``overview``, ``conserved`` and ``loop`` need.
    kind : str
        ``overview``: bars in motion, energies and their error; ``joints``: angles and velocities;
        ``kinetic_energy``: with differences to the reference and to the twin; ``conserved``: the
        error of the energy, and of others that are conserved; ``loop``: how well loops stay closed.
    reference, twin : Trajectory, optional
        The exact motion, and the same steps in exact arithmetic, at the same times.
    label, twin_label : str
        Names of the curves of the run and of its twin.
    title : str, optional
        By default the scenario's name.
    path : str or path-like, optional
        Save the figure there, too; the ending says in which format.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no such kind, it needs another scenario, or the scenario has other joints.
    OSError
        If the file cannot be written.
    """
    if kind not in KINDS:
        raise InputError(f"kind {kind!r}: must be one of {', '.join(KINDS)}")
    if scenario is not None:
        check_mechanism(trajectory, scenario)
        title = scenario.name if title is None else title
    if not _drawn(kind, scenario):
        needs = {LOOP: " with loops", CONSERVED: " that conserves its energy or a momentum"}
        needed = f"a scenario{needs.get(kind, '')}"
        raise InputError(f"kind {kind!r}: needs {needed}")
    curves = _curves(trajectory, label, twin, twin_label)
    with mpl.rc_context(STYLE):
        figure = KINDS[kind](curves, reference, title or label, scenario)
        if path is not None:
            figure.savefig(path, dpi=DPI)
    return figure


def check_mechanism(trajectory: Trajectory, scenario: Scenario) -> None:
    """Refuse a trajectory that is not of a scenario's mechanism, by an InputError."""
    require(trajectory, Trajectory, "simulate")
    require(scenario, Scenario, "load")
    if len(scenario.bodies) != trajectory.joints:
        bodies = f"{len(scenario.bodies)} bodies, the trajectory has {trajectory.joints} joints"
        raise InputError(f"{scenario.source}: {bodies}")


def _curves(
    trajectory: Trajectory, label: str, twin: Trajectory | None, twin_label: str
) -> list[Curve]:
    curves: list[Curve] = [(label, trajectory, VERMILION, "-", 2.2)]
    if twin is not None and twin is not trajectory:
        curves.append((twin_label, twin, BLUE, (0, (4, 2)), 1.3))
    return curves


def _drawn(kind: str, scenario: Scenario | None) -> bool:
    """Whether a picture can be drawn of this scenario."""
    if kind == LOOP:
        return scenario is not None and bool(scenario.loops)
    if kind == CONSERVED:
        return scenario is not None and bool(conserved(scenario))
    return kind != "overview" or scenario is not None


def _beside(axes: Axes) -> None:
    """Put the legend to the right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _above(axes: Axes) -> None:
    """Put the legend as one line on top of the axes, where a title would be."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=4, borderpad=0.0
    )


def _joints(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario | None
) -> Figure:
    label, trajectory, *_ = curves[0]
    figure = Figure(figsize=(9, 6), layout="constrained")
    figure.suptitle(f"{title}: joint motion", parse_math=False)
    panels = figure.subplots(2, 1, sharex=True)
    count = trajectory.joints
    names_of = scenario.joint_names if scenario else [f"joint {k}" for k in range(count)]
    many = count > len(JOINT_COLOURS)
    colours: Colormap = mpl.colormaps["cividis"] if many else ListedColormap(JOINT_COLOURS)
    names = (("q", "joint angle $q$ [rad]"), ("qd", r"joint velocity $\dot q$ [rad/s]"))
    for axes, (name, text) in zip(panels, names, strict=True):
        for k in range(count):
            colour = colours(k / (count - 1)) if many else colours(k)
            values = getattr(trajectory, name)[:, k]
            width = STYLE["lines.linewidth"] * (1.0 if many else 2.5 - 1.5 * (k + 1) / count)
            axes.plot(trajectory.t, values, color=colour, lw=width, label=names_of[k])
            if reference is not None:
                exact = getattr(reference, name)[:, k]
                axes.plot(reference.t, exact, color="black", lw=0.9, ls=(0, (1, 3)))
        axes.set_ylabel(text)
    dotted = "" if reference is None else ", dotted: reference"
    panels[0].set_title(f"solid: {label}{dotted}")
    panels[-1].set_xlabel("time [s]")
    if many:
        scale = mpl.cm.ScalarMappable(Normalize(0, count - 1), colours)
        figure.colorbar(scale, ax=panels, label="joint")
    else:
        _beside(panels[0])
    _limit_time(panels, trajectory)
    return figure


def _limit_time(panels: np.ndarray | list[Axes], trajectory: Trajectory) -> None:
    if len(trajectory) > 1:
        for axes in panels:
            axes.set_xlim(trajectory.t[0], trajectory.t[-1])


def _plot_differences(axes: Axes, curves: list[Curve], reference: Trajectory) -> None:
    for name, run, colour, dash, width in curves:
        difference = MILLI * (run.kinetic[: len(reference)] - reference.kinetic)
        label = f"{name} - reference"
        axes.plot(reference.t, difference, color=colour, ls=dash, lw=width, label=label)
    axes.set_ylabel(r"$T - T_\mathrm{ref}$ [mJ]")
    axes.yaxis.set_major_formatter(SMALL_NUMBERS)


def _kinetic(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario | None
) -> Figure:
    rows = 1 + (reference is not None) + (len(curves) > 1)
    figure = Figure(figsize=(9, 1.2 + 2.3 * rows), layout="constrained")
    figure.suptitle(f"{title}: kinetic energy", parse_math=False)
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    label, run, colour, dash, width = curves[0]
    panels[0].plot(run.t, run.kinetic, color=colour, ls=dash, lw=width, label=label)
    if reference is not None:
        panels[0].plot(
            reference.t, reference.kinetic, color="black", ls=(0, (2, 3)), lw=1.2, label="reference"
        )
        _plot_differences(panels[1], curves, reference)
        panels[1].set_title("difference to the reference")
    panels[0].set_ylabel("kinetic energy $T$ [J]")
    if len(curves) > 1:
        twin_label, twin, *_ = curves[1]
        panels[-1].plot(
            run.t,
            MILLI * (run.kinetic - twin.kinetic),
            color=GREEN,
            lw=1.0,
            label=f"{label} - {twin_label}",
        )
        panels[-1].yaxis.set_major_formatter(SMALL_NUMBERS)
        panels[-1].set_title("part of it that is rounding")
        panels[-1].set_ylabel(f"$T - T_\\mathrm{{{twin_label}}}$ [mJ]")
    for axes in panels:
        _beside(axes)
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, run)
    return figure


def _conserved(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    quantities = conserved(scenario)
    figure = Figure(figsize=(9, 1.2 + 2.3 * len(quantities)), layout="constrained")
    figure.suptitle(f"{title}: conserved quantities, change since the start", parse_math=False)
    panels = figure.subplots(len(quantities), 1, sharex=True, squeeze=False)[:, 0]
    for axes, quantity in zip(panels, quantities, strict=True):
        for label, run, colour, dash, width in curves:
            change = quantity.change(run)
            axes.plot(run.t, change, color=colour, ls=dash, lw=0.6 * width, label=label)
        scale = f"{quantity.scale(curves[0][1]):.3g} {quantity.unit}"
        about = f"{quantity.name} ({quantity.scale_name} up to {scale})"
        axes.set_title(about, parse_math=False)
        axes.set_ylabel(f"change [{quantity.unit}]")
        axes.yaxis.set_major_formatter(SMALL_NUMBERS)
    _beside(panels[0])
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, curves[0][1])
    return figure


def _loop(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    figure.suptitle(f"{title}: closure of the loop", parse_math=False)
    panels = figure.subplots(3, 1, sharex=True)
    for label, run, colour, dash, width in curves:
        style = {"color": colour, "ls": dash, "lw": 0.4 * width, "label": label}
        panels[0].plot(run.t, run.loop_position, **style)
        panels[1].plot(run.t, run.loop_velocity, **style)
        panels[2].plot(run.t, kinematics.loop_angle_error(scenario, run.q), **style)
    for axes, text in zip(
        panels,
        ("vector loop length [m]", "its velocity [m/s]", "sum of inner angles, error [rad]"),
        strict=True,
    ):
        axes.set_ylabel(text)
        axes.yaxis.set_major_formatter(SMALL_NUMBERS)
    _beside(panels[0])
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, curves[0][1])
    return figure


def _overview(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    label, run, colour, _, width = curves[0]
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    figure.suptitle(f"{title} ({label})", fontsize=13, parse_math=False)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
    _draw_motion(figure, figure.add_subplot(grid[:, 0]), run, scenario)

    energy = figure.add_subplot(grid[0, 1])
    energy.plot(run.t, run.kinetic, color=VERMILION, label="kinetic")
    energy.plot(run.t, run.potential, color=BLUE, ls=(0, (5, 2)), label="potential")
    energy.plot(run.t, run.kinetic + run.potential, color="black", ls=(0, (1, 1.5)), label="sum")
    energy.set_ylabel("energy [J]")
    _above(energy)

    error = figure.add_subplot(grid[1, 1], sharex=energy)
    if reference is not None:
        _plot_differences(error, curves, reference)
    elif scenario.loops:
        error.plot(run.t, MILLI * run.loop_position, color=colour, lw=width, label="loop gap")
        error.set_ylabel("gap of the loops [mm]")
    else:
        total = run.kinetic + run.potential
        error.plot(run.t, MILLI * (total - total[0]), color=colour, lw=width, label=label)
        error.set_ylabel("gain of the sum [mJ]")
    error.yaxis.set_major_formatter(SMALL_NUMBERS)
    _above(error)
    error.set_xlabel("time [s]")
    _limit_time([energy, error], run)
    return figure


def traced_points(scenario: Scenario, run: Trajectory) -> list[np.ndarray]:
    """Paths (T, 2) worth drawing: moving free tips; without one, the farthest-going tip."""
    tips = kinematics.tip_positions(scenario, run.q)
    parents = {body.parent for body in scenario.bodies}
    travel = np.ptp(tips, axis=0).max(axis=-1)
    free = [k for k in range(run.joints) if k not in parents]
    moving = [k for k in free if travel[k] > FIXED_SHARE * travel.max()]
    return [tips[:, k] for k in moving or [int(travel.argmax())]]


def _draw_motion(figure: Figure, axes: Axes, run: Trajectory, scenario: Scenario) -> None:
    times = Normalize(run.t[0], run.t[-1] if len(run) > 1 else run.t[0] + 1.0)
    colours = TIME_COLOURS
    drawn = np.unique(np.linspace(0, len(run) - 1, INSTANTS).round().astype(int))
    ends = [path for _, path in bars(scenario, run.q[drawn])]
    springs = coils(scenario, run.q[drawn])
    handles = kinematics.handle_positions(scenario, run.q[drawn])
    for place, row in enumerate(drawn):
        fade = FAINTEST + (1 - FAINTEST) * (place / max(len(drawn) - 1, 1)) ** 2
        for bar in ends:
            axes.plot(
                *bar[place].T,
                color=colours(times(run.t[row])),
                alpha=fade,
                lw=5,
                solid_capstyle="round",
                zorder=2 + place,
            )
        for spring in springs:
            axes.plot(*spring[place].T, color="black", alpha=fade, lw=1.0, zorder=1.8)
        pins = {"mfc": "white", "mec": "black", "alpha": fade, "zorder": 3 + place}
        axes.plot(*handles[place].T, "o", ms=5, **pins)
    for path in traced_points(scenario, run):
        segments = np.stack((path[:-1], path[1:]), axis=1)
        trace = LineCollection(segments, cmap=colours, norm=times, lw=1.4, zorder=1.5)
        trace.set_array(run.t[:-1])
        axes.add_collection(trace)
    for pin in ground_pins(scenario):
        axes.plot(*pin, "^", ms=12, color="black", zorder=INSTANTS + 4)
    axes.margins(0.06)
    square_limits(axes)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_title("bars at equal intervals of time, and the path of the tip")
    scale = mpl.cm.ScalarMappable(times, colours)
    figure.colorbar(scale, ax=axes, label="time [s]", shrink=0.8, aspect=40)


def square_limits(axes: Axes) -> None:
    """Set equal scales in a square box: constrained layout loses labels when it adapts one."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    half = max(right - left, top - bottom) / 2
    axes.set_xlim((left + right) / 2 - half, (left + right) / 2 + half)
    axes.set_ylim((bottom + top) / 2 - half, (bottom + top) / 2 + half)
    axes.set_aspect("equal", adjustable="box")


def bars(scenario: Scenario, q: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Find what bodies are drawn as: bars from handle 1 to the tip, other pins and springs.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (T, n)
        Joint angles, rad.

    Returns
    -------
    list of (int, numpy.ndarray)
        The body, and the ends of one of its bars, shape (T, 2, 2): time, end, x and y, m.
    """
    points = [[body.tip] for body in scenario.bodies]
    for body in scenario.bodies:
        if body.parent >= 0 and body.attach not in points[body.parent]:
            points[body.parent].append(body.attach)
    for pair in (*scenario.loops, *scenario.springs):
        for index, point in ((pair.body, pair.point), (pair.to, pair.at)):
            if index >= 0 and point not in points[index]:
                points[index].append(point)
    starts = kinematics.handle_positions(scenario, q)
    return [
        (k, np.stack((starts[:, k], kinematics.point_position(scenario, q, k, point)), axis=1))
        for k, ends in enumerate(points)
        for point in ends
    ]


def coils(scenario: Scenario, q: np.ndarray) -> list[np.ndarray]:
    """Find what springs between points are drawn as: zigzags, as wide at all times.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (T, n)
        Joint angles, rad.

    Returns
    -------
    list of numpy.ndarray
        Corners of each spring, shape (T, corners, 2), m.
    """
    along = np.array([0.0, *np.linspace(0.15, 0.85, COIL_CORNERS), 1.0])[:, None]
    across = np.array([0.0, 0.0, *((-1.0) ** np.arange(COIL_CORNERS - 2)), 0.0, 0.0])[:, None]
    found = []
    for spring in scenario.springs:
        start = kinematics.point_position(scenario, q, spring.to, spring.at)
        vector = kinematics.point_position(scenario, q, spring.body, spring.point) - start
        length = np.linalg.norm(vector, axis=-1, keepdims=True)
        width = COIL_WIDTH * length.mean()
        normal = np.stack((-vector[:, 1], vector[:, 0]), axis=-1) / np.maximum(
            length, np.finfo(float).tiny
        )
        line = start[:, None] + along * vector[:, None]
        found.append(line + across * width * normal[:, None])
    return found


def ground_pins(scenario: Scenario) -> list[tuple[float, float]]:
    """Find where a mechanism is held: places of its pins on the ground, m."""
    pins = [body.attach for body in scenario.bodies if body.parent < 0]
    return pins + [pair.at for pair in (*scenario.loops, *scenario.springs) if pair.to < 0]


#: What is drawn of a run: (curves, reference, title, scenario) -> figure.
KINDS: dict[str, Callable[..., Figure]] = {
    "joints": _joints,
    "kinetic_energy": _kinetic,
    "overview": _overview,
    CONSERVED: _conserved,
    LOOP: _loop,
}

CONSERVED_FILE, LOOP_FILE = FILES_OF_SOME = tuple(f"{kind}.png" for kind in (CONSERVED, LOOP))
FILES = tuple(f"{kind}.png" for kind in KINDS if kind not in (CONSERVED, LOOP))
