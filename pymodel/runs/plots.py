"""Plots of a run as PNG files: joint motion, energies and their error, and an overview.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; curves that may
cover each other also differ in dash and width. Legends stand inside their axes, never on the data.
"""

from __future__ import annotations

import contextlib
import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from pymodel.mechanism.kinematics import loop_angle_error, loop_tilt
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.units import coordinate_units, velocity_units
from pymodel.runs import legends, skeleton
from pymodel.runs.conserved import conserved
from pymodel.runs.input_error import InputError, require
from pymodel.runs.mechanism_plot import Panel, fill, panel_of
from pymodel.runs.pictures import CONSERVED, JOINTS, KINETIC, LOOP, OVERVIEW
from pymodel.runs.summary import MILLI
from pymodel.runs.trajectory import Trajectory, check_alike, check_mechanism
from pymodel.runs.whole import whole_file

#: A run with its name, colour, dash and width.
Curve = tuple[str, Trajectory, str, Any, float]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
PATH_COLOURS = (VERMILION, GREEN, PURPLE, "#56B4E9")  # that the bars have not
JOINT_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, "#E69F00", "#56B4E9", "#8C564B", "#999999")
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 1.5, 1, 1.5)))
DOTS = 24  # of a reference, along the diagonal of a panel
MOST_DRAWN = 1 << 17  # rows; of a longer run evenly spaced ones, all of it being in its tables
DPI = 150
TITLE_COLUMNS, NAME_COLUMNS, TITLE_LINES = 50, 24, 3  # characters of what the user has named
INSTANTS = 9  # postures drawn in the overview
FAINTEST = 0.3  # opacity of the first of them
SMALL_NUMBERS = "{x:.6g}"  # each tick whole: a common factor above the axes hits the legend
# Time runs from light to dark, without the palest end, which vanishes on white.
TIME_COLOURS = ListedColormap(mpl.colormaps["cividis_r"](np.linspace(0.12, 1.0, 256)))
BLOCK_WIDTH = 11.0  # of a drawn slider, points
PATH: dict[str, Any] = {
    "lw": 1.4,
    "zorder": INSTANTS + 3,
}  # of a tip: above the bars, below the ground's pins
#: Unit of coordinates or velocities -> what they are called.
QUANTITIES = {
    "rad": "joint angle $q$ [rad]",
    "m": "joint displacement $q$ [m]",
    "": "quaternion $q$",
    "rad/s": "joint velocity [rad/s]",  # of a free joint in space not the rate of q
    "m/s": "joint velocity [m/s]",
}
#: What is drawn of loops: text of an axis -> values of (scenario, run).
LOOP_CURVES: dict[str, Callable[[Scenario, Trajectory], np.ndarray]] = {
    "position error [m]": lambda scenario, run: run.loop_position,
    "velocity error [m/s]": lambda scenario, run: run.loop_velocity,
}
HINGE_CURVES: dict[str, Callable[[Scenario, Trajectory], np.ndarray]] = {
    "angle between the axes [rad]": lambda scenario, run: loop_tilt(scenario, run.q),
}
PLANAR_LOOP_CURVES: dict[str, Callable[[Scenario, Trajectory], np.ndarray]] = {
    "sum of inner angles, error [rad]": lambda scenario, run: loop_angle_error(scenario, run.q),
}

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


def drawn_rows(count: int) -> np.ndarray | None:
    """Which rows of a run are drawn, evenly spaced; None for all."""
    if count <= MOST_DRAWN:
        return None
    return np.unique(np.linspace(0, count - 1, MOST_DRAWN).astype(int))


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of float64 may be drawn
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
    """Plot a run as PNG files, those of :mod:`pymodel.runs.pictures` that apply.

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

    Raises
    ------
    InputError
        If the trajectory has no rows, or the reference or the twin does not go with it.
    OSError
        If a file cannot be written.
    """
    out = Path(out_dir)
    if (rows := drawn_rows(len(trajectory))) is not None:
        reference, twin = (x and x.taken(rows) for x in (reference, twin))
        trajectory = trajectory.taken(rows)
    curves = _curves(trajectory, reference, label, twin, twin_label)
    kinds = [kind for kind in KINDS if _drawn(kind, scenario)]
    paths = [out / f"{kind}.png" for kind in kinds]
    with mpl.rc_context(STYLE):
        for kind, path in zip(kinds, paths, strict=True):
            figure = KINDS[kind](curves, reference, named(title), scenario)
            with whole_file(path) as beside:
                figure.savefig(beside, dpi=DPI)
    return paths


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of float64 may be drawn
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
        ``overview``: bars in motion, energies, their error; ``joints``: coordinates and velocities;
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
        If there is no such kind, it needs another scenario, the scenario has other joints, the
        trajectory has no rows, the reference or the twin is of other times or of another mechanism,
        or the file's format is unknown.
    OSError
        If the file cannot be written.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"kind {kind!r}: must be one of {', '.join(KINDS)}")
    if scenario is not None:
        check_mechanism(trajectory, scenario)
        title = scenario.name if title is None else title
    if not _drawn(kind, scenario):
        needs = {LOOP: " with loops", CONSERVED: " that conserves its energy or a momentum"}
        needed = f"a scenario{needs.get(kind, '')}"
        raise InputError(f"kind {kind!r}: needs {needed}")
    curves = _curves(trajectory, reference, label, twin, twin_label)
    with mpl.rc_context(STYLE):
        figure = KINDS[kind](curves, reference, named(title or label), scenario)
        if path is not None:
            save(figure, path)
    return figure


def literal(text: str, columns: int | None = None) -> str:
    """Text of the user's as a figure is to have it, where a dollar would begin a formula.

    Parameters
    ----------
    text : str
    columns : int, optional
        Characters after which a line is wrapped; what does not fit :data:`TITLE_LINES` is left out.
    """
    if columns is not None:
        text = textwrap.fill(text, columns, max_lines=TITLE_LINES, placeholder="...")
    return text.replace("$", r"\$")


def named(name: str) -> str:
    """A name as the beginning of a figure's title."""
    return literal(name, TITLE_COLUMNS)


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of float64 may be drawn
def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Save a figure in the format that the file's ending says; into an open file as PNG.

    Raises
    ------
    InputError
        If there is no such format.
    OSError
        If the file cannot be written.
    """
    known = figure.canvas.get_supported_filetypes()
    named = isinstance(path, str | os.PathLike)
    if not (named or hasattr(path, "write")):
        raise InputError(f"path: must be that of a file, or an open file, got {path!r}")
    ending = Path(path).suffix.removeprefix(".").lower() if named else ""
    if ending and ending not in known:
        raise InputError(f"{path}: must end in {', '.join(f'.{name}' for name in known)}")
    with whole_file(path) if named else contextlib.nullcontext(path) as beside:
        figure.savefig(beside, dpi=DPI)


def _curves(
    trajectory: Trajectory,
    reference: Trajectory | None,
    label: str,
    twin: Trajectory | None,
    twin_label: str,
) -> list[Curve]:
    """The run and its twin, once it is clear that they and the reference go together."""
    require(trajectory, Trajectory, "simulate")
    if not len(trajectory):
        raise InputError("a trajectory of no rows cannot be drawn")
    for name, other in (("reference", reference), ("twin", twin)):
        if other is not None:
            check_alike(trajectory, other)
            rows = len(other if name == "reference" else trajectory)  # a reference may end earlier
            if not np.array_equal(other.t, trajectory.t[:rows]):
                raise InputError(f"{name}: not at the times of the trajectory")
    curves: list[Curve] = [(literal(label), trajectory, VERMILION, "-", 2.2)]
    if twin is not None and twin is not trajectory:
        curves.append((literal(twin_label), twin, BLUE, (0, (4, 2)), 1.3))
    return curves


def _drawn(kind: str, scenario: Scenario | None) -> bool:
    """Whether a picture can be drawn of this scenario."""
    if kind == LOOP:
        return scenario is not None and bool(scenario.loops)
    if kind == CONSERVED:
        return scenario is not None and bool(conserved(scenario))
    return kind != "overview" or scenario is not None


class _Panel(NamedTuple):
    """Columns of q or qd that have one unit."""

    quantity: str
    text: str
    columns: list[int]
    names: list[str]
    joints: list[int]  # whose columns they are
    parts: list[str]  # what of their joint they are, empty for its only one


def _panels(run: Trajectory, scenario: Scenario | None) -> list[_Panel]:
    """What :func:`_joints` draws, from top to bottom."""
    if scenario is None:
        numbered = [f"joint {k}" for k in range(run.nv)]
        coordinates = numbered if run.nq == run.nv else [f"coordinate {k}" for k in range(run.nq)]
        return [
            _Panel(quantity, text, [*range(count)], names, [*range(count)], [""] * count)
            for quantity, text, names, count in (
                ("q", "joint coordinate $q$", coordinates, run.nq),
                ("qd", r"joint velocity $\dot q$", numbered, run.nv),
            )
        ]
    found = []
    for quantity, units, names, slices in (
        ("q", coordinate_units(scenario), scenario.coordinate_names, scenario.q_slices),
        ("qd", velocity_units(scenario), scenario.joint_names, scenario.v_slices),
    ):
        joints = np.repeat(np.arange(len(slices)), [own.stop - own.start for own in slices])
        for unit in dict.fromkeys(units):
            columns = [k for k, own in enumerate(units) if own == unit]
            own, of = [names[k] for k in columns], joints[columns].tolist()
            parts = [
                name.removeprefix(scenario.joint_name(k)).strip()
                for name, k in zip(own, of, strict=True)
            ]
            own = [literal(name, NAME_COLUMNS) for name in own]
            found.append(_Panel(quantity, QUANTITIES[unit], columns, own, of, parts))
    return found


def _joints(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario | None
) -> Figure:
    label, trajectory, *_ = curves[0]
    wanted = _panels(trajectory, scenario)
    figure = Figure(figsize=(9, max(6, 2.4 * len(wanted))), layout="constrained")
    figure.suptitle(f"{title}: joint motion")
    panels = figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0]
    joints = sorted({k for panel in wanted for k in panel.joints})
    many = trajectory.nq > len(JOINT_COLOURS)  # a colour for each joint, a dash for each component
    scaled = len(joints) > len(JOINT_COLOURS)
    colours: Colormap = mpl.colormaps["cividis"] if scaled else ListedColormap(JOINT_COLOURS)
    scale: Any = mpl.cm.ScalarMappable(Normalize(0, joints[-1]), colours)

    def colour_of(joint: int) -> Any:
        return scale.to_rgba(joint) if scaled else colours(joints.index(joint))

    # Dots that are far apart leave the dashes to be seen which say what a curve is.
    dots = {"ls": "", "marker": ".", "ms": 3.0, "markevery": 1 / DOTS}
    named_curves = []
    other = {"color": "black"} | (dots if many else {"lw": 0.9, "ls": (0, (1, 3))})
    for axes, panel in zip(panels, wanted, strict=True):
        values = getattr(trajectory, panel.quantity)
        exact = None if reference is None else getattr(reference, panel.quantity)
        count = values.shape[1]
        parts = sorted(dict.fromkeys(panel.parts), key=bool) if many else []
        dashes = dict(zip(parts, DASHES, strict=False))
        for k, name, joint, part in zip(*panel[2:], strict=True):
            colour = colour_of(joint) if many else colours(k)
            width = STYLE["lines.linewidth"] * (1.0 if many else 2.5 - 1.5 * (k + 1) / count)
            style = {"color": colour, "lw": width, "ls": dashes.get(part, "-")}
            axes.plot(trajectory.t, values[:, k], label=name, **style)
            if reference is not None and exact is not None:
                axes.plot(reference.t, exact[:, k], **other)
        axes.set_ylabel(panel.text)
        if len(dashes) > 1:
            shown = [
                Line2D([], [], color="0.5", ls=dash, label=part or "single axis")
                for part, dash in dashes.items()
            ]
            named_curves.append((axes, shown))
    drawn, otherwise = ("in colour", "black dots") if many else ("solid", "dotted")
    also = "" if reference is None else f", {otherwise}: reference"
    panels[0].set_title(f"{drawn}: {label}{also}")
    panels[-1].set_xlabel("time [s]")
    if scaled:
        figure.colorbar(scale, ax=panels, label="joint", ticks=MaxNLocator(integer=True))
    elif many and scenario is not None:
        names = [literal(scenario.joint_name(k), NAME_COLUMNS) for k in joints]
        shown = [
            Line2D([], [], color=colour_of(k), label=name)
            for k, name in zip(joints, names, strict=True)
        ]
        figure.legend(handles=shown, loc="outside lower center", ncols=3)
    else:
        for k, axes in enumerate(panels):
            if not k or wanted[k].names != wanted[k - 1].names:
                named_curves.append((axes, axes.get_legend_handles_labels()[0]))
    _limit_time(panels, trajectory)
    legends.place(figure, named_curves)
    return figure


def _legends(figure: Figure, panels: Iterable[Axes]) -> None:
    """Name the curves of panels in each of them."""
    legends.place(figure, [(axes, axes.get_legend_handles_labels()[0]) for axes in panels])


def _limit_time(panels: np.ndarray | list[Axes], trajectory: Trajectory) -> None:
    if len(trajectory) > 1:
        for axes in panels:
            axes.set_xlim(trajectory.t[0], trajectory.t[-1])


def _plot_differences(axes: Axes, curves: list[Curve], reference: Trajectory) -> None:
    for name, run, colour, dash, width in curves:
        difference = MILLI * (run.kinetic[: len(reference)] - reference.kinetic)
        label = f"{name} - reference"
        axes.plot(reference.t, difference, color=colour, ls=dash, lw=width, label=label)
    axes.set_ylabel("kinetic energy\n- reference [mJ]")
    axes.yaxis.set_major_formatter(SMALL_NUMBERS)


def _kinetic(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario | None
) -> Figure:
    rows = 1 + (reference is not None) + (len(curves) > 1)
    figure = Figure(figsize=(9, 1.2 + 2.3 * rows), layout="constrained")
    figure.suptitle(f"{title}: kinetic energy")
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    label, run, colour, dash, width = curves[0]
    panels[0].plot(run.t, run.kinetic, color=colour, ls=dash, lw=width, label=label)
    if reference is not None:
        panels[0].plot(
            reference.t, reference.kinetic, color="black", ls=(0, (2, 3)), lw=1.2, label="reference"
        )
        _plot_differences(panels[1], curves, reference)
        panels[1].set_title("error")
    panels[0].set_ylabel("kinetic energy [J]")
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
        panels[-1].set_title("rounding error")
        panels[-1].set_ylabel(f"kinetic energy\n- {twin_label} [mJ]")
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, run)
    _legends(figure, panels)
    return figure


def _conserved(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    quantities = conserved(scenario)
    figure = Figure(figsize=(9, 1.2 + 2.3 * len(quantities)), layout="constrained")
    figure.suptitle(f"{title}: conserved quantities, change since the start")
    panels = figure.subplots(len(quantities), 1, sharex=True, squeeze=False)[:, 0]
    for axes, quantity in zip(panels, quantities, strict=True):
        for label, run, colour, dash, width in curves:
            change = quantity.change(run)
            axes.plot(run.t, change, color=colour, ls=dash, lw=0.6 * width, label=label)
        scale = f"{quantity.size(curves[0][1]):.3g} {quantity.unit}"
        about = f"{quantity.name} ({quantity.scale_name} up to {scale})"
        axes.set_title(literal(about))
        axes.set_ylabel(f"change [{quantity.unit}]")
        axes.yaxis.set_major_formatter(SMALL_NUMBERS)
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, curves[0][1])
    _legends(figure, panels[:1])
    return figure


def _loop(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    drawn = dict(LOOP_CURVES)
    if not scenario.spatial:
        drawn |= PLANAR_LOOP_CURVES
    elif any(loop.axis for loop in scenario.loops):
        drawn |= HINGE_CURVES
    figure = Figure(figsize=(9, 2.5 * len(drawn)), layout="constrained")
    figure.suptitle(f"{title}: loop closure")
    panels = figure.subplots(len(drawn), 1, sharex=True)
    for axes, (text, values) in zip(panels, drawn.items(), strict=True):
        for label, run, colour, dash, width in curves:
            style = {"color": colour, "ls": dash, "lw": 0.4 * width, "label": label}
            axes.plot(run.t, values(scenario, run), **style)
        axes.set_ylabel(text)
        axes.yaxis.set_major_formatter(SMALL_NUMBERS)
    panels[-1].set_xlabel("time [s]")
    _limit_time(panels, curves[0][1])
    _legends(figure, panels[:1])
    return figure


def _overview(
    curves: list[Curve], reference: Trajectory | None, title: str, scenario: Scenario
) -> Figure:
    label, run, colour, _, width = curves[0]
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    figure.suptitle(f"{title} ({label})", fontsize=13)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
    motion = panel_of(figure, grid[:, 0], scenario)
    paths = _draw_motion(motion, run, scenario)

    energy = figure.add_subplot(grid[0, 1])
    energy.plot(run.t, run.kinetic, color=VERMILION, label="kinetic")
    energy.plot(run.t, run.potential, color=BLUE, ls=(0, (5, 2)), label="potential")
    energy.plot(run.t, run.kinetic + run.potential, color="black", ls=(0, (1, 1.5)), label="sum")
    energy.set_ylabel("energy [J]")
    energy.yaxis.set_major_formatter(SMALL_NUMBERS)

    error = figure.add_subplot(grid[1, 1], sharex=energy)
    if reference is not None:
        _plot_differences(error, curves, reference)
    elif scenario.loops:
        error.plot(
            run.t, MILLI * run.loop_position, color=colour, lw=width, label="loop closure error"
        )
        error.set_ylabel("position error [mm]")
    else:
        total = run.kinetic + run.potential
        error.plot(run.t, MILLI * (total - total[0]), color=colour, lw=width, label=label)
        error.set_ylabel("energy drift [mJ]")
    error.yaxis.set_major_formatter(SMALL_NUMBERS)
    error.set_xlabel("time [s]")
    _limit_time([energy, error], run)
    _legends(figure, [energy, error])
    fill(motion, paths)
    return figure


def _draw_motion(panel: Panel, run: Trajectory, scenario: Scenario) -> list[Line2D]:
    """Draw bars and paths; return what a legend names the paths by."""
    axes = panel.axes
    times = Normalize(run.t[0], run.t[-1] if len(run) > 1 else run.t[0] + 1.0)
    colours = TIME_COLOURS
    drawn = np.unique(np.linspace(0, len(run) - 1, INSTANTS).round().astype(int))
    q = run.q[drawn]
    ends = [path for _, path in skeleton.bars(scenario, q)]
    springs, sliders = skeleton.coils(scenario, q), skeleton.sliders(scenario, q)
    of_bodies = skeleton.pins(scenario, q)
    for place, row in enumerate(drawn):
        fade = FAINTEST + (1 - FAINTEST) * (place / max(len(drawn) - 1, 1)) ** 2
        colour = colours(times(run.t[row]))
        bar: dict[str, Any] = {"color": colour, "alpha": fade, "zorder": 2 + place}
        for points in ends:
            axes.plot(*points[place].T, lw=5, solid_capstyle="round", **bar)
        thin: dict[str, Any] = {"alpha": fade, "lw": 1.0, "zorder": 1.8}
        for spring in springs:
            axes.plot(*spring[place].T, color=bar["color"], **thin)
        for slider in sliders:
            axes.plot(*slider.guide[place].T, color="black", **thin)
            axes.plot(*slider.block[place].T, lw=BLOCK_WIDTH, solid_capstyle="butt", **bar)
        pins: dict[str, Any] = {"mfc": "white", "mec": "black", "alpha": fade, "zorder": 3 + place}
        axes.plot(*of_bodies[place].T, "o", ms=5, **pins)
    handles = []
    for place, (body, path) in enumerate(skeleton.traced_tips(scenario, run)):
        style: dict[str, Any] = {"color": PATH_COLOURS[place % len(PATH_COLOURS)]}
        style["ls"] = DASHES[place // len(PATH_COLOURS) % len(DASHES)]
        axes.plot(*path.T, **style, **PATH)
        name = literal(skeleton.tip_name(scenario, body), NAME_COLUMNS)
        handles.append(Line2D([], [], label=name, **style))
    for pin in skeleton.ground_pins(scenario):
        axes.plot(*np.transpose([pin]), "^", ms=12, color="black", zorder=INSTANTS + 4)
    axes.margins(0.06)
    panel.frame.set_title("bars at equal intervals of time, paths of tips")
    scale = mpl.cm.ScalarMappable(times, colours)
    options: dict[str, Any] = {"label": "time [s]", "shrink": 0.8, "aspect": 40}
    panel.frame.figure.colorbar(scale, ax=panel.frame, **options)
    return handles


#: What is drawn of a run: (curves, reference, title, scenario) -> figure.
KINDS: dict[str, Callable[..., Figure]] = {
    JOINTS: _joints,
    KINETIC: _kinetic,
    OVERVIEW: _overview,
    CONSERVED: _conserved,
    LOOP: _loop,
}
