"""Joints that mimic others, q = multiplier q_of + offset: algorithm text, generic over scalars.

A mimic joint is a gear between two joints of the tree: G q-dot = 0, a row of G being 1 at the joint
that follows and -multiplier at the one that leads. Its impulses lambda act on the momenta of both,

    q-dot = M^-1 (p + G^T lambda),    G M^-1 G^T lambda = -G M^-1 p,

and M^-1 is the assembly's: that of the momenta p, and of each row of G, with the same matrices. The
state has the momenta of what is left of the joints' motions: those of a joint that leads and of all
that follow it, each times its multiplier, are one momentum; that of a joint that follows is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, NamedTuple

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import JOINT_SINGULAR, singular_error
from pymodel.arith.scalars import S, Scalar, SupportsArithmetic
from pymodel.mechanism.scenario import Scenario


class Gear(NamedTuple, Generic[S]):
    """A joint that follows another.

    Attributes
    ----------
    place, of_place : int
        Where their coordinates stand in q.
    own, of : int
        Where their velocities stand in q-dot.
    multiplier, offset : scalar
        Rad or m, for each of the other joint's; rad or m.
    """

    place: int
    of_place: int
    own: int
    of: int
    multiplier: S
    offset: S


def prepare(arithmetic: SupportsArithmetic[S], scenario: Scenario) -> list[Gear[S]]:
    """The gears of a scenario, in the order of their bodies."""
    found = []
    for k, mimic in scenario.mimics.items():
        places = [scenario.q_slices[j].start for j in (k, mimic.body)]
        own = [scenario.v_slices[j].start for j in (k, mimic.body)]
        values = (mimic.multiplier, mimic.offset)
        names = (f"body[{k}].mimic.{name}" for name in ("multiplier", "offset"))
        numbers = [arithmetic.parameter(*pair) for pair in zip(names, values, strict=True)]
        found.append(Gear(*places, *own, *numbers))
    return found


def gathered(gears: Sequence[Gear[Any]], values: Sequence[Any]) -> list[Any]:
    """Momenta, or their rates, of all joints as those of the joints that follow none."""
    found = list(values)
    for gear in gears:
        found[gear.of] = found[gear.of] + gear.multiplier * found[gear.own]
    return found


def spread(gears: Sequence[Gear[Any]], velocities: Sequence[Any]) -> list[Any]:
    """Velocities with those of joints that follow as their gears have them."""
    found = list(velocities)
    for gear in gears:
        found[gear.own] = gear.multiplier * found[gear.of]
    return found


def geared(
    arithmetic: SupportsArithmetic[Any],
    gears: Sequence[Gear[Any]],
    p: list[Scalar],
    velocities: Callable[[list[Scalar]], Generator[Any, Any, list[Scalar]]],
) -> Generator[Any, Any, list[Scalar]]:
    """Momenta of all joints, with the impulses of the gears.

    Parameters
    ----------
    p : list of nv scalars
        Momenta of the state.
    velocities : callable
        Momenta of all joints -> requests of the assembly; returns M^-1 times these, nv scalars.

    Raises
    ------
    SingularError
        If what two joints carry resists neither.
    """
    one, none = arithmetic.const(1.0), arithmetic.const(0.0)

    def slips(v: Sequence[Scalar]) -> list[Scalar]:
        return [v[gear.own] - gear.multiplier * v[gear.of] for gear in gears]

    parting = slips((yield from velocities(p)))
    columns = []
    for gear in gears:
        row = [none] * len(p)
        row[gear.own], row[gear.of] = one, -gear.multiplier
        columns.append(slips((yield from velocities(row))))
    matrix = linalg.transposed(columns)
    impulses, singular = linalg.solve_ldl(arithmetic, matrix, tuple(-x for x in parting))
    if singular:
        raise singular_error(arithmetic, JOINT_SINGULAR, matrix)
    p = list(p)
    for gear, impulse in zip(gears, impulses, strict=True):
        p[gear.own] = p[gear.own] + impulse
        p[gear.of] = p[gear.of] - gear.multiplier * impulse
    return p
