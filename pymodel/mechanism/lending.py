"""Inertia that bodies lend each other over joints, so that none is left thin: docs/theory.md.

What a joint holds together may be booked on either side of it. Over a pin, hinge or ball a point
mass may go, at its point; over a hinge about n also a moment of inertia lambda (1 - n n^T); over a
slider, and over a fixed joint, any moment. The ground lends without limit. The equations of motion
stay; only the numbers of the bodies change, and with them what rounding makes of them.

The rule: a joint is judged by the condition of its matrix D^T (xi_b + xi_a) D between its two
bodies alone (:class:`_Pair`). If no joint is worse than :data:`NEEDS`, nothing is lent. Otherwise
half of each body's mass goes to its handle 1, and from there the amounts are changed one by one,
from the tips inward, as long as that makes the joints better.

On request (``lend = "centred"``) another rule follows where no joint needs anything: mass centres
go to handles 1, for fewer operations (:func:`centred`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pymodel.mechanism import rotations
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.moments import least
from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    GROUND,
    LEND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Loop,
    Scenario,
    ScenarioError,
    Vector,
    inertia_matrix,
)

#: Decimal logarithm of a joint matrix's mean condition above which its mechanism needs lending.
NEEDS = 2.5
#: The same below which no better amounts are looked for, nor left out.
GOOD = 1.0
#: The same of a matrix that is singular.
SINGULAR = 16.0
#: What a body counts for whose lent inertia is not positive definite, beside squares of these.
INDEFINITE = 0.2
#: Share of a body's mass, and of its largest moment, that it keeps where its mass centre is moved.
LEFT = 1 / 16
#: Postures in which each joint is judged.
SAMPLES = 12
#: Amounts that are tried, as shares of the mass of either body.
SHARES = (1 / 16, 1 / 4, 1 / 2, 1.0, 4.0)
#: Amounts are changed at most so often in turn.
ROUNDS = 6
#: Starts that are drawn where the first ones do not end :data:`GOOD`.
DRAWN = 4
#: What is smaller than this share of the largest is zero but for rounding.
ROUNDING = 1e-13
#: Powers of 2 that amounts are, at most.
FARTHEST = 1000.0


class Inertia(NamedTuple):
    """Of rigid bodies, about handle 1 in their own frame, in space; it is linear in amounts."""

    mass: np.ndarray  # (...), kg
    first: np.ndarray  # (..., 3), kg m, mass times centre of mass
    second: np.ndarray  # (..., 3, 3), kg m^2, moments of inertia

    def plus(self, amount: np.ndarray | float, other: Inertia) -> Inertia:
        """Add an amount (...) of another one."""
        return Inertia(
            *(a + np.multiply.outer(amount, b) for a, b in zip(self, other, strict=True))
        )

    @property
    def central(self) -> np.ndarray:
        """Moments of inertia about the centre of mass, (..., 3, 3); not finite without a mass."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.second - _point(1.0, self.first).second / self.mass[..., None, None]


def _point(mass: float, at: np.ndarray) -> Inertia:
    """Of a point mass."""
    square = (at * at).sum(axis=-1)[..., None, None] * np.eye(3)
    return Inertia(np.array(mass), mass * at, mass * (square - at[..., :, None] * at[..., None, :]))


def _in_space(vector: Sequence[float]) -> np.ndarray:
    return np.array((*vector, 0.0)[:3], dtype=np.float64)


def _own(body: Body) -> Inertia:
    """That of a body as written; of a planar one about x and y what does not matter."""
    whole = _point(body.mass, _in_space(body.com))
    if isinstance(body.inertia, tuple):
        moments = inertia_matrix(body.inertia)
    else:
        across = body.mass * float(np.dot(body.tip, body.tip)) + whole.second[2, 2] + body.inertia
        moments = np.diag((across or 1.0, across or 1.0, body.inertia))
    return whole._replace(second=whole.second + moments)


@dataclass(frozen=True)
class Lending:
    """What the bodies of a mechanism have lent each other.

    Attributes
    ----------
    bodies : tuple of Body
        With masses, centres of mass and inertias to compute with; the others are as written.
    masses : tuple of float
        kg, at handle 1 of each body, which it got over its joint.
    moments : tuple of ndarray, shape (3, 3), or None
        kg m^2, in each body's frame, which it got over its joint; in the plane only zz matters.
    definite : bool
        Whether all inertias are positive definite, and masses positive.
    """

    bodies: tuple[Body, ...]
    masses: tuple[float, ...]
    moments: tuple[np.ndarray | None, ...]
    definite: bool


def lent(scenario: Scenario) -> Lending:
    """What the bodies of a mechanism lend each other; it does not depend on its state.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Lending

    Raises
    ------
    ScenarioError
        Naming a body that lacks inertia which no joint can lend it.
    """
    neutral = tuple(replace(body, **_STATE) for body in scenario.bodies)
    rule = _rule or RULES[scenario.lend]
    found, lacking = _lent(scenario.spatial, neutral, scenario.loops, rule)
    standing = _standing(scenario)
    if standing is not None:
        lacking = standing
    if lacking is not None:
        what = "0 about an axis about which it turns freely" if scenario.spatial else "0 at its pin"
        reason = (
            f"{what}: no joint can lend it what it lacks; give it a moment of inertia, or a joint "
            "that holds it"
        )
        raise ScenarioError(scenario.source, f"body[{lacking}].inertia", reason)
    own = zip(scenario.bodies, found.bodies, strict=True)
    bodies = tuple(
        replace(body, mass=other.mass, com=other.com, inertia=other.inertia) for body, other in own
    )
    return replace(found, bodies=bodies)


@contextmanager
def chosen_by(rule: Rule) -> Iterator[None]:
    """Within, let another rule choose the amounts: to study and test what lending does.

    Parameters
    ----------
    rule : callable
        Search -> amounts, one of each of its ``units``.
    """
    global _rule
    before, _rule = _rule, rule
    try:
        yield
    finally:
        _rule = before


def nothing(search: Search) -> list[float]:
    """The rule by which nothing is lent."""
    return [0.0] * len(search.units)


#: What of a body plays no part.
_STATE: dict[str, Any] = {
    "q": 0.0,
    "qd": 0.0,
    "guess": False,
    "torque": 0.0,
    "spring": 0.0,
    "rest": 0.0,
    "damping": 0.0,
    "friction": 0.0,
    "friction_scale": 0.0,
    "motion": None,
    "name": "",
}


@lru_cache(maxsize=256)
@np.errstate(all="ignore")  # what is not finite stays as written
def _lent(
    spatial: bool, bodies: tuple[Body, ...], loops: tuple[Loop, ...], rule: Rule
) -> tuple[Lending, int | None]:
    """What is lent, and the first body whose inertia is singular all the same."""
    own = [_own(body) for body in bodies]
    if not all(np.isfinite((*x.first, *x.central.flat)).all() for x in own):
        as_written = Lending(bodies, (0.0,) * len(bodies), (None,) * len(bodies), definite=True)
        return as_written, None
    search = Search(spatial, bodies, loops, own)
    units, amounts = search.units, rule(search)
    whole = list(own)
    masses = [0.0] * len(bodies)
    moments: list[np.ndarray | None] = [None] * len(bodies)
    changed = set()
    for unit, amount in zip(units, amounts, strict=True):
        if not amount:
            continue
        whole = unit.given(whole, amount)
        changed |= {unit.body, unit.parent}
        if unit.own.mass:
            masses[unit.body] = amount
        else:
            moments[unit.body] = amount * unit.own.second
    found = list(bodies)
    definite, lacking = True, None
    for k, inertia in enumerate(whole):
        central = inertia.central if spatial else inertia.central[2:, 2:]
        sizes = np.linalg.eigvalsh(central)
        definite = definite and bool(inertia.mass > 0.0 and sizes[0] > 0.0)
        if k in changed or _is_singular(bodies[k]):
            reach = np.abs(inertia.second).max() if spatial else abs(inertia.second[2, 2])
            if not np.abs(sizes).min() > ROUNDING * reach and lacking is None:
                lacking = k
        if k in changed and lacking is None:
            found[k] = _as_body(bodies[k], inertia, spatial)
    return Lending(tuple(found), tuple(masses), tuple(moments), definite), lacking


def _as_body(body: Body, inertia: Inertia, spatial: bool) -> Body:
    com, moments = inertia.first / inertia.mass, inertia.central
    far = max(np.abs(com).max(), np.abs(body.com).max())
    com = np.where(np.abs(com) > ROUNDING * far, com, 0.0)
    moments = np.where(np.abs(moments) > ROUNDING * np.abs(moments).max(), moments, 0.0)
    return replace(
        body,
        mass=float(inertia.mass),
        com=tuple(com[: len(body.com)].tolist()),
        inertia=tuple(moments[np.triu_indices(3)].tolist()) if spatial else float(moments[2, 2]),
    )


def _is_singular(body: Body) -> bool:
    """Whether a body as written has no inertia about an axis."""
    if isinstance(body.inertia, tuple):
        return least(inertia_matrix(body.inertia)) <= 0.0
    return body.inertia <= 0.0


def _standing(scenario: Scenario) -> int | None:
    """The body of the joint that moves no inertia, where there are bodies without; None if none."""
    if not any(_is_singular(body) for body in scenario.bodies):
        return None
    q = np.broadcast_to(scenario.q0, (scenario.nv, scenario.nq))
    matrix = joint_momenta(scenario, q, np.eye(scenario.nv))
    scale = np.sqrt(np.abs(np.diagonal(matrix)))
    scale = np.where(scale > 0.0, scale, 1.0)
    sizes, ways = np.linalg.eigh(matrix / scale / scale[:, None])
    if not len(sizes) or sizes[0] > ROUNDING:
        return None
    worst = int(np.abs(ways[:, 0]).argmax())
    return next(k for k, own in enumerate(scenario.v_slices) if own.start <= worst < own.stop)


@dataclass(frozen=True)
class _Pair:
    """Two bodies and the joint between them, in postures that it may have."""

    bodies: tuple[int, int]  # b and a, which may be the ground
    points: tuple[np.ndarray, np.ndarray]  # of the joint, in their frames
    # D^T in their frames, (postures, constraints, 6); rotations are weighed by a length.
    columns: tuple[np.ndarray, np.ndarray]

    def score(self, inertias: Sequence[Inertia]) -> np.ndarray:
        """Decimal logarithm of the mean condition of the joint's matrix, of any shape.

        The mean is over postures, of the logarithms. The joint is eliminated two constraints at a
        time, so that the first two, and the first four, must be independent, too.
        """
        matrix: np.ndarray | float = 0.0
        for k, point, rows in zip(self.bodies, self.points, self.columns, strict=True):
            if k != GROUND:
                xi = _xi(inertias[k], point)[..., None, :, :]
                matrix = matrix + rows @ xi @ np.swapaxes(rows, -1, -2)
        matrix, size = np.asarray(matrix), self.columns[0].shape[1]
        parts = [_log_condition(matrix[..., :n, :n]) for n in {min(2, size), min(4, size), size}]
        return np.asarray(np.max(parts, axis=0).mean(axis=-1))


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _xi(inertia: Inertia, point: np.ndarray) -> np.ndarray:
    """Velocity of a point by an impulse there, (13), shape (..., 6, 6)."""
    lever = inertia.first / inertia.mass[..., None] - point
    moments = inertia.central
    turning = np.concatenate(
        (-rotations.skew(lever), np.broadcast_to(np.eye(3), moments.shape)), axis=-1
    )
    x, y, z = (moments[..., i, :] for i in range(3))
    adjugate = np.stack(
        (rotations.cross(y, z), rotations.cross(z, x), rotations.cross(x, y)), axis=-1
    )
    determinant = (x * adjugate[..., :, 0]).sum(axis=-1)
    found = np.swapaxes(turning, -1, -2) @ (adjugate / determinant[..., None, None]) @ turning
    found[..., :3, :3] += np.eye(3) / inertia.mass[..., None, None]
    return np.asarray(found)


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _log_condition(matrices: np.ndarray) -> np.ndarray:
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    found = np.full(finite.shape, SINGULAR)
    sizes = np.abs(np.linalg.eigvalsh(matrices[finite]))
    conditions = np.log10(sizes.max(axis=-1) / sizes.min(axis=-1))
    found[finite] = np.clip(np.nan_to_num(conditions, nan=SINGULAR), 0.0, SINGULAR)
    return found


def _spread(count: int) -> np.ndarray:
    """Points spread over a unit cube, (SAMPLES, count): multiples of irrational numbers."""
    steps = np.sqrt([2.0, 3.0, 5.0, 7.0])[:count]
    return np.outer(np.arange(1, SAMPLES + 1), steps) % 1.0


def _any_turns(spatial: bool, first: float = 0.0) -> np.ndarray:
    """Rotations (SAMPLES, 3, 3) all over the place, in the plane about z."""
    if not spatial:
        return rotations.about_axis((0.0, 0.0, 1.0), 2.0 * np.pi * ((_spread(1)[:, 0] + first) % 1))
    u, v, w = ((_spread(3) + first) % 1.0).T
    a, b, v, w = np.sqrt(1.0 - u), np.sqrt(u), 2.0 * np.pi * v, 2.0 * np.pi * w
    quaternions = np.stack((a * np.sin(v), a * np.cos(v), b * np.sin(w), b * np.cos(w)), axis=-1)
    return rotations.from_quaternion(quaternions)


def _turn_of(body: Body) -> np.ndarray:
    angles = body.rotation if isinstance(body.rotation, tuple) else (0.0, 0.0, body.rotation)
    return rotations.from_angles(angles)


def _across(axis: Vector, spatial: bool) -> np.ndarray:
    """Directions (2, 3) across an axis, in the plane (1, 3)."""
    if spatial:
        return rotations.hinge_directions(axis)
    return np.array([[-axis[1], axis[0], 0.0]])


def _taken(joint: str, axis: Vector | None, kept: tuple[int, ...] | None, spatial: bool) -> Any:
    """D^T of a joint in the frame of its body, (SAMPLES, constraints, 6), in their order."""
    ground = _any_turns(spatial, 0.5)
    none = np.zeros_like(ground)
    moves = np.concatenate((ground, none), axis=-1)
    turns = np.concatenate((none, ground), axis=-1)
    if not spatial:
        moves, turns = moves[:, :2], turns[:, 2:]
    rows = [moves]
    if axis is not None:
        own = _across(axis, spatial)
        parts = (own, np.zeros_like(own)) if joint == PRISMATIC else (np.zeros_like(own), own)
        across = np.broadcast_to(np.concatenate(parts, axis=-1), (SAMPLES, len(own), 6))
        rows = [across, turns] if joint == PRISMATIC else [moves, across]
    elif joint == FIXED:
        rows = [moves, turns]
    found = np.concatenate(rows, axis=1)
    return found if kept is None else found[:, list(kept)]


def _reaches(spatial: bool, bodies: Sequence[Body], own: Sequence[Inertia]) -> list[float]:
    """Of each body the largest radius of gyration about handle 1, its own or a neighbour's."""
    first = 0 if spatial else 2
    radii = [float(np.sqrt(np.diagonal(x.second)[first:].max() / x.mass)) for x in own]
    found = list(radii)
    for k, body in enumerate(bodies):
        if body.parent != GROUND:
            arm = float(np.linalg.norm(body.attach))
            found[k] = max(found[k], radii[body.parent], arm)
            found[body.parent] = max(found[body.parent], radii[k], arm)
    return [x or 1.0 for x in found]


def _pairs(
    spatial: bool, bodies: Sequence[Body], loops: Sequence[Loop], own: Sequence[Inertia]
) -> Iterator[_Pair]:
    """All joints that hold something."""
    reaches = _reaches(spatial, bodies, own)

    def pair(
        ends: tuple[int, int], at: tuple[Vector, Vector], turns: np.ndarray, columns: np.ndarray
    ) -> _Pair:
        points = _in_space(at[0]), _in_space(at[1])
        others = np.concatenate((columns[..., :3] @ turns, columns[..., 3:] @ turns), axis=-1)
        length = max(reaches[k] for k in ends if k != GROUND)
        weights = np.repeat((1.0, length), 3)
        return _Pair(ends, points, (columns * weights, others * weights))

    for k, body in enumerate(bodies):
        if body.joint == FREE:
            continue
        turns = np.broadcast_to(_turn_of(body), (SAMPLES, 3, 3))
        if body.joint == SPHERICAL:
            turns = turns @ _any_turns(spatial)
        elif body.joint == REVOLUTE:
            axis = body.axis or (0.0, 0.0, 1.0)
            turns = turns @ rotations.about_axis(axis, 2.0 * np.pi * _spread(1)[:, 0])
        columns = _taken(body.joint, body.axis, None, spatial)
        origin = (0.0,) * len(body.com)
        yield pair((k, body.parent), (origin, body.attach), np.swapaxes(turns, 1, 2), columns)
    for loop in loops:
        turns = _any_turns(spatial)
        if loop.axis is not None and loop.to_axis is not None:
            turning = rotations.about_axis((0.0, 0.0, 1.0), 2.0 * np.pi * _spread(1)[:, 0])
            frame, other = (
                np.column_stack((*rotations.hinge_directions(axis), axis))
                for axis in (loop.axis, loop.to_axis)
            )
            turns = other @ turning @ frame.T
        if loop.kept == ():
            continue
        columns = _taken(loop.joint, loop.axis, loop.kept, spatial)
        yield pair((loop.body, loop.to), (loop.point, loop.at), np.swapaxes(turns, 1, 2), columns)


@dataclass(frozen=True)
class Unit:
    """What may be lent over a joint: a point mass of 1 kg, or moments of 1 kg m^2."""

    body: int
    parent: int
    own: Inertia  # that the body gets
    other: Inertia  # that its parent loses
    tried: np.ndarray  # amounts, 0 first, then from small to large
    plain: bool  # whether no number of the bodies that was zero becomes another one

    def given(self, inertias: Sequence[Inertia], amount: np.ndarray | float) -> list[Inertia]:
        """The inertias of all bodies with some lent."""
        found = list(inertias)
        found[self.body] = found[self.body].plus(amount, self.own)
        if self.parent != GROUND:
            found[self.parent] = found[self.parent].plus(-np.asarray(amount), self.other)
        return found


class Search:
    """Amounts that make the joints of a mechanism well conditioned.

    Attributes
    ----------
    spatial : bool
    bodies : tuple of Body
    loops : tuple of Loop
    own : list of Inertia
        Of each body as written.
    units : list of Unit
        What may be lent.
    """

    def __init__(
        self,
        spatial: bool,
        bodies: tuple[Body, ...],
        loops: tuple[Loop, ...],
        own: list[Inertia],
    ) -> None:
        self.spatial, self.bodies, self.loops, self.own = spatial, bodies, loops, own
        self.pairs = list(_pairs(spatial, bodies, loops, own))
        self.units = list(self._units())
        self.near = [
            [
                index
                for index, pair in enumerate(self.pairs)
                if {unit.body, unit.parent}.difference({GROUND}).intersection(pair.bodies)
            ]
            for unit in self.units
        ]

    def _units(self) -> Iterator[Unit]:
        def power_of_2(x: float) -> float:
            power = float(np.round(np.log2(x))) if x > 0.0 else 0.0
            return 2.0 ** min(max(power, -FARTHEST), FARTHEST)

        masses_of = [float(inertia.mass) for inertia in self.own]
        first = 0 if self.spatial else 2
        moments_of = [float(np.diagonal(inertia.second)[first:].max()) for inertia in self.own]
        for k, body in enumerate(self.bodies):
            ends = [end for end in (k, body.parent) if end != GROUND]
            masses, squares = (
                {power_of_2(x) for x in (*(sizes[end] for end in ends), max(sizes))}
                for sizes in (masses_of, moments_of)
            )
            point, turn = _in_space(body.attach), _turn_of(body)
            hinge = body.joint == REVOLUTE
            if hinge or body.joint in (SPHERICAL, FIXED):
                yield self._unit(k, _point(1.0, np.zeros(3)), _point(1.0, point), masses)
            if body.joint in (PRISMATIC, FIXED) or (hinge and self.spatial):
                moments = np.eye(3)
                if hinge:
                    axis = np.array(body.direction)
                    moments = moments - np.outer(axis, axis)
                massless = _point(0.0, np.zeros(3))
                own = massless._replace(second=moments)
                other = massless._replace(second=turn @ moments @ turn.T)
                yield self._unit(k, own, other, squares)

    def _unit(self, k: int, own: Inertia, other: Inertia, scales: set[float]) -> Unit:
        sizes = sorted({scale * share for scale in scales for share in SHARES})
        tried = np.array([0.0, *(sign * size for size in sizes for sign in (1.0, -1.0))])
        parent = self.bodies[k].parent
        unit = Unit(k, parent, own, other, tried, plain=True)
        given = unit.given(self.own, 0.37 * sizes[-1])
        ends = [end for end in (k, parent) if end != GROUND]
        plain = all(
            not (self._numbers(end, given[end]) & ~self._numbers(end, self.own[end])).any()
            for end in ends
        )
        return replace(unit, plain=plain)

    def _numbers(self, k: int, inertia: Inertia) -> np.ndarray:
        """Which numbers of a body are not zero, in the frame that the algorithm gives it."""
        axis = self.bodies[k].axis
        frame = np.eye(3)
        if self.spatial and axis is not None:
            frame = np.column_stack((*rotations.hinge_directions(axis), axis))
        com, moments = frame.T @ inertia.first, frame.T @ inertia.central @ frame
        found = np.abs(com) > ROUNDING * np.abs(com).max()
        if not self.spatial:
            return found
        products = np.abs(moments) > ROUNDING * np.abs(moments).max()
        for _ in range(2):  # those of the inverse, too
            products = products | (products.astype(int) @ products.astype(int) > 0)
        return np.concatenate((found, products[np.triu_indices(3, 1)]))

    def amounts(self) -> list[float]:
        """How much is lent of each of the units."""
        none = nothing(self)
        if max(self._scores(none), default=0.0) <= NEEDS:
            return none
        best, lowest, scores = none, np.inf, np.zeros(0)
        for plain in (True, False):
            chosen = [i for i, unit in enumerate(self.units) if unit.plain or not plain]
            for start in self._starts(set(chosen)):
                found = self._improved(start, chosen)
                cost = self._cost(found)
                if cost < lowest:
                    best, lowest, scores = found, cost, self._scores(found)
                if scores.max() <= GOOD:
                    return self._without_idle(best)
        return self._without_idle(best)

    def _starts(self, chosen: set[int]) -> Iterator[list[float]]:
        """Half of each body's mass, or all of it from the ground; nothing; any amounts."""
        half = []
        for i, unit in enumerate(self.units):
            mass = self.bodies[unit.body].mass * (1.0 if unit.parent == GROUND else 0.5)
            half.append(mass if unit.own.mass and i in chosen else 0.0)
        yield half
        yield [0.0] * len(self.units)
        drawn = np.outer(np.arange(1, DRAWN + 1), np.sqrt(np.arange(2, len(self.units) + 2))) % 1.0
        for row in drawn:
            yield [
                float(unit.tried[int(x * len(unit.tried))]) if i in chosen else 0.0
                for i, (unit, x) in enumerate(zip(self.units, row, strict=True))
            ]

    def _given(self, amounts: Sequence[float]) -> list[Inertia]:
        found = self.own
        for unit, amount in zip(self.units, amounts, strict=True):
            if amount:
                found = unit.given(found, amount)
        return found

    def _scores(self, amounts: Sequence[float]) -> np.ndarray:
        inertias = self._given(amounts)
        return np.array([float(pair.score(inertias)) for pair in self.pairs])

    def _indefinite(self, inertia: Inertia) -> np.ndarray:
        central = inertia.central if self.spatial else inertia.central[..., 2:, 2:]
        central = np.where(np.isfinite(central), central, 0.0)
        positive = (inertia.mass > 0.0) & (np.linalg.eigvalsh(central)[..., 0] > 0.0)
        return np.where(positive, 0.0, INDEFINITE)

    def _cost(self, amounts: Sequence[float]) -> float:
        squares = (self._scores(amounts) ** 2).sum()
        return float(squares + sum(self._indefinite(x) for x in self._given(amounts)))

    def _improved(self, start: list[float], chosen: list[int]) -> list[float]:
        """Change one amount after the other, from the tips inward, to what is best."""
        amounts = list(start)
        for _ in range(ROUNDS):
            before = list(amounts)
            for i in reversed(chosen):
                unit = self.units[i]
                tried = np.concatenate(([amounts[i]], unit.tried))
                given = unit.given(self._given(amounts), tried - amounts[i])
                costs = sum(self.pairs[index].score(given) ** 2 for index in self.near[i])
                for k in {unit.body, unit.parent} - {GROUND}:
                    costs = costs + self._indefinite(given[k])
                # What differs by rounding only is the same on every machine.
                amounts[i] = float(tried[np.argmin(np.round(costs, 4))])
            if amounts == before:
                break
        return amounts

    def _without_idle(self, amounts: list[float]) -> list[float]:
        """Leave out what is not needed."""
        amounts = list(amounts)
        limit = max(GOOD, self._scores(amounts).max())
        for i, amount in enumerate(amounts):
            if not amount:
                continue
            amounts[i] = 0.0
            if self._scores(amounts).max() > limit:
                amounts[i] = amount
        return amounts


# --- fewer operations -----------------------------------------------------------------------------


def centred(search: Search) -> list[float]:
    """Bring mass centres to handle 1, for fewer operations, where no joint needs anything.

    What is off handle 1 goes to the bodies that hang there, as point masses over their joints.

    Parameters
    ----------
    search : Search

    Returns
    -------
    list of float
        One of each unit.
    """
    needed = search.amounts()
    if any(needed):
        return needed
    amounts = nothing(search)
    masses = {unit.body: i for i, unit in enumerate(search.units) if unit.own.mass}
    for k, body in enumerate(search.bodies):
        own, held = search.own[k], [j for j in masses if search.bodies[j].parent == k]
        if not held or not own.first.any():
            continue
        units = [search.units[masses[j]] for j in held]
        places = np.array([unit.other.first for unit in units])
        given, *_ = np.linalg.lstsq(places.T, own.first, rcond=None)
        if np.abs(given @ places - own.first).max() > ROUNDING * np.abs(own.first).max():
            continue
        rest = own
        for unit, amount in zip(units, given, strict=True):
            rest = rest.plus(-amount, unit.other)
        if given.min() < 0.0 or not _stays_regular(search, k, rest):
            continue
        for j, amount in zip(held, given, strict=True):
            amounts[masses[j]] = float(amount)
        if body.parent == GROUND and k in masses:  # which has enough
            amounts[masses[k]] = float(given.sum())
    return amounts


def _stays_regular(search: Search, k: int, rest: Inertia) -> bool:
    """Whether no compound gets singular in any posture if body k has only so much left.

    It keeps a share of its mass, and either its inertia stays positive definite; or it turns freely
    about handle 1, where its mass centre is, and only one other body hangs on it. Then its turning
    is not coupled with what it hangs on, and when that body is added all is as written.
    """
    body, axes = search.bodies[k], slice(0 if search.spatial else 2, 3)
    before, after = (np.linalg.eigvalsh(x.second[axes, axes]) for x in (search.own[k], rest))
    joints = sum(other.parent == k for other in search.bodies)
    joints += sum((loop.body == k) + (loop.to == k) for loop in search.loops)
    turns_freely = body.joint == SPHERICAL or (body.joint == REVOLUTE and not search.spatial)
    if turns_freely and joints == 1:
        after = np.abs(after)
    enough = min(float(before[0]), LEFT * float(before[-1]))
    return bool(rest.mass >= LEFT * search.own[k].mass and after.min() >= enough)


#: Chooses amounts, one of each unit that may be lent.
Rule = Callable[[Search], list[float]]
#: By what a scenario calls them.
RULES: dict[str, Rule] = dict(zip(LEND, (Search.amounts, centred), strict=True))
_rule: Rule | None = None  # instead of the scenario's
