"""The three mechanisms of paper 001's study, and its grid of runs.

The text gives masses, lengths, inertias, symmetry and rest; the postures were drawn in figure 4,
which the text does not describe. Those here are ours: bars of 1 m hang between pins of the ground
at the angles of :data:`LEFT`, mirrored on the right. The ground pins are as far apart as these
angles say: so that the bars cannot all get parallel, which keeps a symmetric motion from singular
postures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymodel.mechanism.scenario import GROUND, Body, Loop, Scenario

MASS, INERTIA, LENGTH = 1.0, 1.0, 1.0  # kg, kg m^2 about the centre of mass, m
GRAVITY = (0.0, -9.81)  # m/s^2
END = 10.0  # s
TOLERANCES = tuple(10.0**-k for k in range(3, 10))  # relative and absolute
SHOWN = 1e-6  # of the pictures over time
#: scipy's integrator -> MATLAB's in the paper. LSODA may leave Adams' methods where a problem seems
#: stiff to it, VODE never does.
METHODS = {"RK45": "ode45", "RK23": "ode23", "LSODA": "ode113", "VODE Adams": "ode113"}


class Contestant(NamedTuple):
    """What is compared.

    Attributes
    ----------
    title : str
    algorithm : str
        A key of :data:`pymodel.compile.rivals.ALGORITHMS`.
    rebase : float
        Seconds after which the momenta are re-based, and the integrator starts again.
    """

    title: str
    algorithm: str
    rebase: float


CONTESTANTS = {
    "hdca": Contestant("HDCA", "hdca", END),
    "rebased": Contestant("HDCA, re-based every second", "hdca", 1.0),
    "dca": Contestant("DCA", "dca", END),
}

#: Angles to the ground of the left half of a chain, degrees, from the ground pin inward.
LEFT = {
    "four": (0.0, -60.0),
    "eight": (0.0, -20.0, -40.0, -60.0),
    "inner": (-90.0, -60.0),  # hangs on the joints between the first and last two bodies of "four"
}


class Case(NamedTuple):
    """A mechanism of the study.

    Attributes
    ----------
    title : str
    scenario : Scenario
    point : int
        Body whose tip is K, the lowest joint in the plane of symmetry.
    middle : float
        x of that plane, m.
    """

    title: str
    scenario: Scenario
    point: int
    middle: float


def _absolute(left: Sequence[float]) -> list[float]:
    """Angles of a symmetric chain to the ground, rad, from the left to the right."""
    return [math.radians(x) for x in (*left, *(-x for x in reversed(left)))]


def _chain(left: Sequence[float], first: int, parent: int, heading: float) -> list[Body]:
    """Bars on each other; the first one on the tip of a body that has this angle, or on (0, 0)."""
    bodies = []
    for angle in _absolute(left):
        attach = (0.0, 0.0) if parent == GROUND else (LENGTH, 0.0)
        body = Body(
            mass=MASS,
            inertia=INERTIA,
            com=(LENGTH / 2, 0.0),
            tip=(LENGTH, 0.0),
            parent=parent,
            attach=attach,
            q=angle - heading,
        )
        bodies.append(body)
        parent, heading = first + len(bodies) - 1, angle
    return bodies


def _span(left: Sequence[float]) -> float:
    return 2 * LENGTH * sum(math.cos(math.radians(x)) for x in left)


def _case(
    title: str, bodies: Sequence[Body], loops: Sequence[Loop], point: int, span: float
) -> Case:
    scenario = Scenario(
        title, GRAVITY, step=1e-3, end=END, bodies=tuple(bodies), loops=tuple(loops), source=title
    )
    return Case(title, scenario, point, span / 2)


def hanging_chain(size: int) -> Scenario:
    """An open chain of the same bars, straight and horizontal."""
    bodies = []
    for k in range(size):
        attach = (LENGTH, 0.0) if k else (0.0, 0.0)
        bodies.append(Body(MASS, INERTIA, (LENGTH / 2, 0.0), (LENGTH, 0.0), k - 1, attach))
    return Scenario(f"chain of {size}", GRAVITY, step=1e-3, end=END, bodies=tuple(bodies))


def hinged_chain(size: int) -> Scenario:
    """An open chain in space with nothing special about it: hinges about any axes.

    Bodies are those of a longer chain's start.
    """
    bodies = []
    for k in range(size):
        rng = np.random.default_rng(k)
        points = rng.uniform(-LENGTH, LENGTH, (5, 3))  # of masses in it, about the centre of mass
        second = MASS / len(points) * points.T @ points
        axis = rng.normal(size=3)
        bodies.append(
            Body(
                mass=MASS,
                inertia=tuple((np.trace(second) * np.eye(3) - second)[np.triu_indices(3)].tolist()),
                com=tuple(rng.uniform(-LENGTH / 2, LENGTH / 2, 3).tolist()),
                tip=(LENGTH, 0.0, 0.0),
                parent=k - 1,
                attach=tuple(rng.uniform(-LENGTH, LENGTH, 3).tolist()) if k else (0.0, 0.0, 0.0),
                axis=tuple((axis / np.linalg.norm(axis)).tolist()),
                rotation=tuple(rng.uniform(-math.pi, math.pi, 3).tolist()),
            )
        )
    return Scenario(
        f"chain of {size} in space", (0.0, 0.0, -9.81), step=1e-3, end=END, bodies=tuple(bodies)
    )


def _cases() -> dict[str, Case]:
    tip = (LENGTH, 0.0)
    found = {}
    for number, name in enumerate(("four", "eight"), start=1):
        left = LEFT[name]
        size, span = 2 * len(left), _span(left)
        found[str(number)] = _case(
            f"{number}: one loop of {name}",
            _chain(left, 0, GROUND, 0.0),
            [Loop(size - 1, tip, GROUND, (span, 0.0))],
            len(left) - 1,
            span,
        )
    outer, span = _chain(LEFT["four"], 0, GROUND, 0.0), _span(LEFT["four"])
    inner = _chain(LEFT["inner"], len(outer), 0, 0.0)
    loops = [Loop(3, tip, GROUND, (span, 0.0)), Loop(7, tip, 2, tip)]
    found["3"] = _case("3: two loops of eight", [*outer, *inner], loops, 5, span)
    return found


CASES = _cases()
