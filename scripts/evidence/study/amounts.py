"""Operations of HDCA's step by the inertia that bodies lend each other.

Lending may serve other ends than well-conditioned joints. A body whose inertia is the same about
all axes takes fewer products; for one whose mass centre lies on the joint to its parent no lever
from there is computed. Here rules that bring bodies there are counted, and their errors measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.app.shipped import SCENARIOS
from pymodel.arith.scalars import Float64Arrays
from pymodel.compile import count
from pymodel.mechanism import lending
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.lending import ROUNDING, Rule, Search, nothing
from pymodel.mechanism.scenario import LEND, SPHERICAL, Body, Loop, Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.newton_euler import NewtonEuler
from scripts.evidence.study.cases import LENGTH, MASS, hanging_chain
from scripts.evidence.study.thin import bar, bars
from scripts.evidence.study.workers import in_parallel
from scripts.kernel.documents import table
from scripts.kernel.pages import render

PAGE = Path(__file__).with_name("study_amounts.md.jinja")
COMMAND = "make study ONLY=amounts"
POSTURES = 100
SEED = 6
SLENDER = 0.02  # diameter of bars by their length
STILL = (0.0,) * 3
CONDITIONED, CENTRED = LEND

Row = Mapping[str, Any]


# --- rules ----------------------------------------------------------------------------------------


def isotropic(search: Search) -> list[float]:
    """Make inertias the same about all axes, from the tips inward, where hinges and balls can.

    A point mass mu at handle 1, s away from the mass centre, adds m mu / (m + mu) (s^2 - s s^T),
    a hinge about n lambda (1 - n n^T). Bodies that both cannot make isotropic stay as they are.
    """
    amounts = nothing(search)
    if not search.spatial:
        return amounts
    inertias = list(search.own)
    for k in reversed(range(len(search.bodies))):
        units = {bool(u.own.mass): i for i, u in enumerate(search.units) if u.body == k}
        own = inertias[k]
        mass, moments, s = float(own.mass), own.central, own.first / own.mass
        ways = {True: s @ s * np.eye(3) - np.outer(s, s)}
        if False in units:
            ways[False] = search.units[units[False]].own.second
        used = [way for way in units if ways[way].any()]
        columns = [ways[way].ravel() for way in used] + [np.eye(3).ravel()]
        found, *_ = np.linalg.lstsq(np.transpose(columns), -moments.ravel(), rcond=None)
        rest = moments.ravel() + found @ columns
        reach = np.abs(moments).max()
        if np.abs(rest).max() > ROUNDING * reach or abs(found[-1]) < ROUNDING * reach:
            continue
        for way, amount in zip(used, found, strict=False):
            if way:
                amount = mass * amount / (mass - amount)
            amounts[units[way]] = float(amount)
            inertias = search.units[units[way]].given(inertias, float(amount))
    return amounts


#: What is counted: name -> rule.
RULES: dict[str, Rule] = {"nothing": nothing, "isotropic": isotropic, **lending.RULES}


# --- mechanisms -----------------------------------------------------------------------------------


def slender_chain(size: int) -> Scenario:
    """An open chain of slender bars on pins in the plane."""
    chain = hanging_chain(size)
    moment = MASS * LENGTH**2 / 12.0
    return replace(chain, bodies=tuple(replace(body, inertia=moment) for body in chain.bodies))


def balls(size: int) -> Scenario:
    """An open chain of slender bars on balls."""
    chain = [_on_ball(k - 1, (LENGTH, 0.0, 0.0) if k else STILL) for k in range(size)]
    return _in_space("balls", chain)


def rssr() -> Scenario:
    """A crank on a hinge, a coupler on two balls, a rocker on a hinge across the crank's."""
    along, across = (1, 0, 0), (0, 0, 1)
    crank = bar(SLENDER, along, (0.0, 0.0, 1.0), attach=STILL, rotation=STILL)
    rocker = bar(SLENDER, across, (1.0, 0.0, 0.0), attach=(1.5, 0.5, -0.5), rotation=STILL)
    reach = np.add(rocker.attach, rocker.tip) - crank.tip
    length = float(np.linalg.norm(reach))
    turn = (0.0, -float(np.arcsin(reach[2] / length)), float(np.arctan2(reach[1], reach[0])))
    coupler = _on_ball(0, crank.tip, rotation=turn)
    loop = Loop(1, (length, 0.0, 0.0), 2, rocker.tip)
    coupler = replace(coupler, tip=loop.point, com=(length / 2, 0.0, 0.0))
    return replace(_in_space("rssr", [crank, coupler, rocker]), loops=(loop,))


def _on_ball(parent: int, attach: Sequence[float], rotation: Sequence[float] = STILL) -> Body:
    place = {"parent": parent, "attach": attach, "rotation": rotation, "joint": SPHERICAL}
    body = bar(SLENDER, (1, 0, 0), STILL, **place)
    return replace(body, axis=None, q=(0.0, 0.0, 0.0, 1.0), qd=STILL)


def _in_space(name: str, bodies: Sequence[Body]) -> Scenario:
    gravity = (0.0, 0.0, -9.81)
    return Scenario(name, gravity, step=1e-3, end=1.0, bodies=tuple(bodies), source=name)


MADE: dict[str, Callable[[], Scenario]] = {
    "four slender bars on pins": partial(slender_chain, 4),
    "eight slender bars on pins": partial(slender_chain, 8),
    "four slender bars on hinges": partial(bars, SLENDER),
    "four slender bars on balls": partial(balls, 4),
    "RSSR": rssr,
}


def mechanisms() -> dict[str, Callable[[], Scenario]]:
    """Name -> what makes or loads it: shipped scenarios, and others of common kinds.

    Without those that have motions: nothing but the time makes these move.
    """
    files = [path for path in sorted(SCENARIOS.glob("*.toml")) if not load(path).moved]
    shipped = {path.stem: partial(load, path) for path in files}
    return shipped | MADE


# --- measurement ----------------------------------------------------------------------------------


class Count(NamedTuple):
    """Operations of a step, and the worst error of q-dot in float64."""

    mul: int
    add: int
    rec: int
    error: float


def measure() -> list[Row]:
    """Operations and errors, by mechanism and rule."""
    names = list(mechanisms())
    found = dict(in_parallel(_measured, names, "counting", "mechanisms"))
    return [row for name in names for row in found[name]]


def _measured(name: str) -> tuple[str, list[Row]]:
    scenario = mechanisms()[name]()
    found: dict[Any, Count] = {}
    rows = []
    for title, rule in RULES.items():
        with lending.chosen_by(rule):
            key = lending.lent(scenario).bodies
            if key not in found:
                counts = count.step(scenario)["operations"]
                found[key] = Count(*(counts[x] for x in Count._fields[:3]), error(scenario))
        rows.append({"mechanism": name, "rule": title, **found[key]._asdict()})
    return name, rows


def error(scenario: Scenario) -> float:
    """The worst error of q-dot over postures, relative to the largest component.

    Against Newton's and Euler's equations; loops hold their velocities where they are open, too.
    """
    rng = np.random.default_rng(SEED)
    q = rng.uniform(-np.pi, np.pi, (POSTURES, scenario.nq))
    qd = rng.normal(size=(POSTURES, scenario.nv))
    p = joint_momenta(scenario, q, qd)
    arithmetic = Float64Arrays()
    time = np.zeros(POSTURES) if scenario.is_driven else None
    text = rates(prepare(arithmetic, scenario), list(q.T), list(p.T), time=time)
    found = np.transpose(serve(arithmetic, text).q_dot)
    equations = NewtonEuler(scenario)
    right = np.array([equations.canonical_rates(*state)[0] for state in zip(q, p, strict=True)])
    return float((np.abs(found - right).max(axis=1) / np.abs(right).max(axis=1)).max())


# --- page -----------------------------------------------------------------------------------------


def section(rows: Sequence[Row]) -> str:
    """What the page says of it."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["mechanism"], {})[row["rule"]] = row
    saved = {
        name: 1.0 - _work(own[CENTRED]) / _work(own[CONDITIONED]) for name, own in found.items()
    }
    fewer = [x for x in saved.values() if x > 0.0]
    return render(
        PAGE,
        command=COMMAND,
        postures=POSTURES,
        slender=f"{SLENDER:g}",
        fewer=len(fewer),
        of=len(found),
        least=f"{min(fewer):.0%}",
        most=f"{max(fewer):.0%}",
        gets_isotropic=_changes(found, "isotropic"),
        operations=table(
            ("mechanism", *RULES, "saved"),
            [
                (name, *(f"{x['mul']} × {x['add']} +" for x in own.values()), f"{saved[name]:.0%}")
                for name, own in found.items()
            ],
        ),
        errors=table(
            ("mechanism", *RULES),
            [(name, *(f"{x['error']:.0e}" for x in own.values())) for name, own in found.items()],
        ),
    )


def _work(row: Row) -> int:
    return int(row["mul"] + row["add"])


def _changes(found: Mapping[str, Mapping[str, Row]], rule: str) -> str:
    """Mechanisms whose operations or errors a rule changes."""
    names = [name for name, own in found.items() if own[rule] != own["nothing"] | {"rule": rule}]
    return ", ".join(names) or "no mechanism"
