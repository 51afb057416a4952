"""Errors of thin bodies' rates in HDCA and its rivals, with inertia that bodies lend and without.

The thickness of a body is a share of its length: of a bar its diameter, of the points that hang on
pins in the plane the radius of gyration. At 0 they are lines and point masses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pymodel.algorithms.requests import SingularError
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.rivals import ALGORITHMS
from pymodel.mechanism import lending
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import GROUND, Body, Scenario, ScenarioError
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.runs.plots import BLUE, DPI, GREEN, STYLE, VERMILION
from scripts.evidence.study.cases import GRAVITY, LENGTH, MASS
from scripts.evidence.study.workers import in_parallel
from scripts.kernel.documents import table
from scripts.kernel.pages import render

PAGE = Path(__file__).with_name("study_thin.md.jinja")
COMMAND = "make study ONLY=thin"
THICKNESSES = (*(10.0**-k for k in range(7)), 0.0)
SHOWN = (1.0, 0.1, 1e-3, 1e-6, 0.0)  # of the table
POSTURES = 10
SEED = 55
BODIES = 4  # of the chain of bars
FORMATS = {"float32": BitExact(fold=True), "float64": Float64()}
COLOURS = {"hdca": BLUE, "dca": VERMILION, "naudet": GREEN}
MARKS = {"hdca": "o", "dca": "s", "naudet": "^"}
BANDS = 0.12  # opacity
LENDING = {"without": ":", "with": "-"}  # and how they are drawn
NONE, NO_DIGIT = 1e-7, 10.0  # where a thickness of 0, and an error above, are drawn
SMALLEST = 1e-17

Row = Mapping[str, Any]


class Kind(NamedTuple):
    """A kind of mechanism.

    Attributes
    ----------
    title : str
    scenario : callable
        Thickness -> Scenario.
    """

    title: str
    scenario: Callable[[float], Scenario]


# --- mechanisms -----------------------------------------------------------------------------------


def points(thickness: float) -> Scenario:
    """Two balls on massless bars, one after the other, on pins in the plane."""
    tip = (LENGTH, 0.0)
    ball = Body(MASS, MASS * (thickness * LENGTH) ** 2, com=tip, tip=tip)
    return _scenario("points", [ball, replace(ball, parent=0, attach=tip)], GRAVITY)


def bar(thickness: float, along: Sequence[float], axis: Sequence[float], **keys: Any) -> Body:
    """A uniform round bar from handle 1 along a coordinate axis, on a hinge."""
    direction = np.array(along)
    around = thickness**2 / 8.0
    across = 1.0 / 12.0 + thickness**2 / 16.0
    moments = np.where(direction, around, across) * MASS * LENGTH**2
    return Body(
        mass=MASS,
        inertia=tuple(np.diag(moments)[np.triu_indices(3)].tolist()),
        com=tuple((direction * LENGTH / 2).tolist()),
        tip=tuple((direction * LENGTH).tolist()),
        axis=tuple(axis),
        **keys,
    )


def shaft_and_arm(thickness: float) -> Scenario:
    """A shaft on a hinge about itself, an arm on a hinge across it."""
    still = (0.0,) * 3
    shaft = bar(thickness, (0, 0, 1), (0.0, 0.0, 1.0), attach=still, rotation=still)
    arm = bar(thickness, (1, 0, 0), (0.0, 1.0, 0.0), parent=0, attach=shaft.tip, rotation=still)
    return _scenario("shaft and arm", [shaft, arm])


def bars(thickness: float) -> Scenario:
    """A chain of bars on hinges about any axes, from any direction to any."""
    rng, chain = np.random.default_rng(SEED), []
    for k in range(BODIES):
        axis = rng.normal(size=3)
        place = {
            "parent": k - 1 if k else GROUND,
            "attach": (LENGTH, 0.0, 0.0) if k else (0.0,) * 3,
            "rotation": tuple(rng.uniform(-np.pi, np.pi, 3).tolist()),
        }
        chain.append(bar(thickness, (1, 0, 0), (axis / np.linalg.norm(axis)).tolist(), **place))
    return _scenario("bars", chain)


def _scenario(
    name: str, bodies: Sequence[Body], gravity: tuple[float, ...] = (0.0, 0.0, GRAVITY[1])
) -> Scenario:
    return Scenario(name, gravity, step=1e-3, end=1.0, bodies=tuple(bodies), source=name)


#: Kinds of mechanisms, each a column of the picture.
KINDS = {
    "points": Kind("Two points on pins in the plane", points),
    "shaft": Kind("Shaft and arm on hinges", shaft_and_arm),
    "bars": Kind("Chain of bars on hinges", bars),
}


# --- measurement ----------------------------------------------------------------------------------


class Job(NamedTuple):
    """What is evaluated in all postures, by all algorithms, in all formats."""

    kind: str
    thickness: float


def measure() -> list[Row]:
    """Median and worst error of rates, by kind, thickness, format, lending and algorithm."""
    jobs = [Job(*job) for job in product(KINDS, THICKNESSES)]
    found = dict(in_parallel(_measured, jobs[::-1], "evaluating", "mechanisms"))
    return [row for job in jobs for row in found[job]]


def _measured(job: Job) -> tuple[Job, list[Row]]:
    scenario = KINDS[job.kind].scenario(job.thickness)
    rows = []
    for kind, lent, name in product(FORMATS, LENDING, COLOURS):
        with nullcontext() if lent == "with" else lending.chosen_by(lending.nothing):
            try:
                errors = [error(name, scenario, kind, seed) for seed in range(POSTURES)]
                some = {"median": float(np.median(errors)), "worst": max(errors)}
            except ScenarioError:  # 1/0: refused
                some = {"median": None, "worst": None}
        rows.append({**job._asdict(), "format": kind, "lending": lent, "algorithm": name, **some})
    return job, rows


def error(name: str, scenario: Scenario, kind: str, seed: int) -> float:
    """Error of an algorithm's rates in a posture, relative to the largest rate.

    Parameters
    ----------
    name : str
        A key of :data:`pymodel.compile.rivals.ALGORITHMS`.
    scenario : Scenario
    kind : str
        A key of :data:`FORMATS`.
    seed : int
        Of coordinates and velocities.

    Returns
    -------
    float
        Against Newton's and Euler's equations in float64 at the state as rounded: of q-dot or
        p-dot, whichever is worse, or of q-ddot. At most :data:`NO_DIGIT`.

    Raises
    ------
    ScenarioError
        If a body has no inertia about some axis, and gets none.
    """
    algorithm, arithmetic = ALGORITHMS[name], FORMATS[kind]
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-np.pi, np.pi, scenario.nq), rng.normal(size=scenario.nv)
    state = joint_momenta(scenario, q, qd) if algorithm.state == "p" else qd
    words = [[arithmetic.const(x) for x in values] for values in (q, state)]
    q, state = (np.array([arithmetic.to_float(x) for x in some]) for some in words)
    try:
        results = algorithm.evaluate(arithmetic, scenario, *words, "balanced").values()
    except SingularError:
        return NO_DIGIT
    equations = NewtonEuler(scenario)
    if algorithm.state == "p":
        expected = equations.canonical_rates(q, state)
    else:
        expected = (equations.accelerations(q, state),)
    errors = [
        np.abs(np.array([arithmetic.to_float(x) for x in found]) - right).max()
        / np.abs(right).max()
        for found, right in zip(results, expected, strict=True)
    ]
    worst = float(np.max(errors))
    return min(worst, NO_DIGIT) if np.isfinite(worst) else NO_DIGIT


# --- picture --------------------------------------------------------------------------------------


def draw(rows: Sequence[Row], picture: Path) -> None:
    """Draw errors over thickness: a row for each format, a column for each kind."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 7.5), layout="constrained")
        grid = figure.subplots(len(FORMATS), len(KINDS), sharex=True, sharey="row")
        for line, kind in zip(grid, FORMATS, strict=True):
            for axes, name in zip(line, KINDS, strict=True):
                _draw(axes, [row for row in rows if (row["kind"], row["format"]) == (name, kind)])
            line[0].set_ylabel(f"error of rates, {kind}")
        for axes, (title, _) in zip(grid[0], KINDS.values(), strict=True):
            axes.set_title(title)
        for axes in grid[-1]:
            axes.set_xlabel("thickness / length")
        _legends(grid[-1])
        figure.savefig(picture, dpi=DPI)


def _draw(axes: Axes, rows: Sequence[Row]) -> None:
    for name, (lent, dash) in product(COLOURS, LENDING.items()):
        some = [x for x in rows if (x["algorithm"], x["lending"]) == (name, lent) and x["worst"]]
        x = [row["thickness"] or NONE for row in some]
        median, worst = ([max(row[key], SMALLEST) for row in some] for key in ("median", "worst"))
        style = {"color": COLOURS[name], "marker": MARKS[name], "markersize": 3.5}
        axes.loglog(x, median, linestyle=dash, **style)
        axes.fill_between(x, median, worst, color=COLOURS[name], alpha=BANDS, linewidth=0)
    decades = [10.0**-k for k in (0, 2, 4, 6)]
    labels = [f"$10^{{{round(np.log10(x))}}}$" if x < 1 else "1" for x in decades]
    axes.set_xticks([NONE, *decades], ["0", *labels])
    axes.minorticks_off()


def _legends(line: Sequence[Axes]) -> None:
    names = [
        Line2D([], [], color=COLOURS[name], marker=MARKS[name], label=ALGORITHMS[name].title)
        for name in COLOURS
    ]
    ways = [
        Line2D([], [], color="black", linestyle=dash, label=f"{lent} lending")
        for lent, dash in LENDING.items()
    ]
    line[0].legend(handles=names, loc="upper right")
    line[1].legend(handles=ways, loc="upper right")


# --- page -----------------------------------------------------------------------------------------


def section(rows: Sequence[Row]) -> str:
    """What the page says of it."""
    errors = table(
        ("mechanism, format, algorithm", *(f"{x:g}" for x in SHOWN)),
        [
            (
                f"{KINDS[kind].title}, {form}, {ALGORITHMS[name].title}",
                *(
                    " → ".join(
                        _error(rows, kind=kind, format=form, algorithm=name, lending=x, thickness=t)
                        for x in LENDING
                    )
                    for t in SHOWN
                ),
            )
            for kind, form, name in product(KINDS, FORMATS, COLOURS)
        ],
    )
    worst = {
        form: max(row["worst"] for row in rows if (row["format"], row["lending"]) == (form, "with"))
        for form in FORMATS
    }
    return render(
        PAGE,
        command=COMMAND,
        postures=POSTURES,
        bodies=BODIES,
        no_digit=f"{NO_DIGIT:g}",
        errors=errors,
        worst_32=f"{worst['float32']:.0e}",
        worst_64=f"{worst['float64']:.0e}",
    )


def _error(rows: Sequence[Row], **key: Any) -> str:
    (worst,) = (row["worst"] for row in rows if key.items() <= row.items())
    if worst is None:
        return "refused"
    return "no digit" if worst >= 1.0 else f"{worst:.0e}"
