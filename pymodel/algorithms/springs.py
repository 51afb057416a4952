"""Springs and dampers between points of two bodies: algorithm text, generic over its scalars.

With d the vector from the point on ``to`` to the point on ``body``, L its length and g_k the
derivative of d.d / 2 by the joint angle q_k, virtual work gives the torque on joint k:

    -(k (L - L_0) + c L-dot) / L  g_k,    L L-dot = sum of g_k q-dot_k,
    g_k = +-lever x d of the pins k that carry one of the two points, 0 of all others,

and of other joints the component of the force d, with this moment, along their free motions.

The units of the hardware have no square root. Without a natural length L_0 none is needed. With
one, Heron's method finds L in so many steps, from L_0 on:

    L <- L / 2 + (d.d / 2) (1 / L)

It never overshoots below L, and squares the relative error in each step near it. Eight are right
to 2.5e-14 for L between L_0 / 16 and 16 L_0.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.bodies import Numbers
from pymodel.algorithms.linalg import inner
from pymodel.algorithms.sums import levers, tree_sum
from pymodel.arith.scalars import S, Scalar, SupportsArithmetic, Vector
from pymodel.mechanism.scenario import GROUND, Spring
from pymodel.mechanism.topology import Topology

HERON_STEPS = 8


def length_error(stretch: np.ndarray | float) -> Any:
    """Relative error of the length that Heron's method finds, without rounding.

    Parameters
    ----------
    stretch : numpy.ndarray or float
        Length divided by the natural length.
    """
    stretch = np.asarray(stretch, np.float64)  # a float of Python cannot be divided by 0
    with np.errstate(divide="ignore", over="ignore"):
        quotient = np.abs((stretch + 1.0) / (stretch - 1.0)) ** 2.0**HERON_STEPS
        return 2.0 / (quotient - 1.0)


class End(NamedTuple):
    """One end of a spring, on a body."""

    body: int
    way: list[int]  # the joints that move this end and not the other one, outward
    point: Vector[Scalar]  # m, from handle 1 of the body, body frame


class NaturalLength(NamedTuple):
    """What a natural length needs; each value rounded once from float64."""

    half: Scalar  # 1/2
    half_length: Scalar  # m, L_0 / 2
    half_inverse: Scalar  # 1/m, 1 / (2 L_0)
    force: Scalar  # N, stiffness L_0


class SpringConstants(NamedTuple):
    """Parameter-only values of one spring, each rounded once from float64."""

    body: End
    to: End | None  # None on the ground
    offset: Vector[Scalar] | None  # m, ground frame, where both ends' ways start; None on one body
    stiffness: Scalar  # N/m
    natural: NaturalLength | None  # None without
    damping: Scalar | None  # N s/m, None without

    @property
    def structure(self) -> tuple[Any, ...]:
        """What springs of the same operations have in common: all but their numbers."""
        ends = [end and end[:2] for end in (self.body, self.to)]
        return (*ends, *(x is None for x in (self.offset, self.natural, self.damping)))


def prepare(numbers: Numbers, topology: Topology) -> list[SpringConstants]:
    """The springs of a scenario, prepared for one arithmetic.

    Parameters
    ----------
    numbers : Numbers
    topology : pymodel.mechanism.topology.Topology

    Returns
    -------
    list of SpringConstants
    """
    springs = enumerate(numbers.scenario.springs)
    return [_constants(numbers, topology, index, spring) for index, spring in springs]


def _constants(numbers: Numbers, topology: Topology, index: int, spring: Spring) -> SpringConstants:
    scenario = numbers.scenario

    def scalar(name: str, x: float) -> Any:
        return numbers.scalar(f"spring[{index}].{name}", x)

    ends: dict[str, End] = {}
    starts = []
    for name, body, other, point in (
        ("point", spring.body, spring.to, spring.point),
        ("at", spring.to, spring.body, spring.at),
    ):
        way = topology.way(body, other)
        if body == GROUND:
            starts.append(point)
            continue
        ends[name] = End(body, way, numbers.on_body(body, f"spring[{index}].{name}", point))
        if way and topology.parents[way[0]] == GROUND:
            starts.append(scenario.bodies[way[0]].attach)
    offset = None
    if starts:
        vector = [b - a for b, a in zip(*starts, strict=True)]
        offset = numbers.vector(f"spring[{index}].offset", vector)
    natural = None
    if spring.length and spring.stiffness:
        natural = NaturalLength(
            half=numbers.scalar("half", 0.5),
            half_length=scalar("length / 2", spring.length / 2),
            half_inverse=scalar("1 / (2 length)", 0.5 / spring.length),
            force=scalar("stiffness length", spring.stiffness * spring.length),
        )
    damping = scalar("damping", spring.damping) if spring.damping else None
    stiffness = scalar("stiffness", spring.stiffness)
    return SpringConstants(ends["point"], ends.get("at"), offset, stiffness, natural, damping)


def pulls(
    mechanism: Any, poses: Sequence[Any], posture: Any, q_dot: Sequence[S]
) -> dict[int, list[S]]:
    """Torques (of prismatic joints forces) of springs on the joints, reversed.

    Parameters
    ----------
    mechanism : pymodel.algorithms.step.Mechanism
    poses : sequence
        Of each body, see :mod:`pymodel.algorithms.space`.
    posture : pymodel.algorithms.posture.Posture
    q_dot : sequence of scalars
        rad/s and m/s.

    Returns
    -------
    dict
        Index in q_dot -> what each spring takes from its p-dot, N m or N.
    """
    found = defaultdict(list)
    for spring in mechanism.springs:
        d, slopes = _stretch(mechanism, spring, poses, posture)
        square = inner(d, d)
        scale = _force_by_length(mechanism.arithmetic, spring, square, slopes, q_dot)
        for index, slope in slopes.items():
            found[index].append(scale * slope)
    return found


class Pull(NamedTuple):
    """What a spring exerts on a body, ground frame."""

    body: int
    arm: Vector[Scalar]  # m, from handle 1 to its end
    force: Vector[Scalar]  # N


def forces(mechanism: Any, poses: Sequence[Any], posture: Any, q_dot: Sequence[S]) -> list[Pull]:
    """Forces of springs on the bodies; arguments as for :func:`pulls`."""
    found = []
    for spring in mechanism.springs:
        d, slopes = _stretch(mechanism, spring, poses, posture)
        scale = _force_by_length(mechanism.arithmetic, spring, inner(d, d), slopes, q_dot)
        force = tuple(scale * x for x in d)
        for end, sign in ((spring.body, -1), (spring.to, 1)):
            if end is not None:
                arm = mechanism.space.rotate(poses[end.body], end.point)
                own = force if sign > 0 else tuple(-x for x in force)
                found.append(Pull(end.body, arm, own))
    return found


def _stretch(
    mechanism: Any, spring: SpringConstants, poses: Sequence[Any], posture: Any
) -> tuple[Vector[Scalar], dict[int, Scalar]]:
    """The vector d, and {index of a velocity: g_k}."""
    space = mechanism.space
    d, outward = _reach(spring.body, space, poses, posture)
    opposite: list[tuple[int, Vector[Scalar]]] = []
    if spring.to is not None:
        reach, opposite = _reach(spring.to, space, poses, posture)
        d = tuple(x - y for x, y in zip(d, reach, strict=True))
    if spring.offset is not None:
        d = tuple(x + y for x, y in zip(d, spring.offset, strict=True))
    slopes: dict[int, Scalar] = {}
    for ends, way in ((1, outward), (-1, opposite)):
        for k, lever in way:
            places = range(mechanism.nv)[mechanism.scenario.v_slices[k]]
            freedoms = posture.joints[k].freedoms
            own = space.across(freedoms, d, space.moment(lever, d))
            slopes |= {i: x if ends == 1 else -x for i, x in zip(places, own, strict=True)}
    return d, slopes


def _reach(
    end: End, space: Any, poses: Sequence[Any], posture: Any
) -> tuple[Vector[Scalar], list[tuple[int, Vector[Scalar]]]]:
    """An end's vector from the start of its way, and [(joint of the way, vector from there)]."""
    arm = space.rotate(poses[end.body], end.point)
    if not end.way:
        return arm, []
    first, *further = end.way
    outward = levers([*(posture.s_12[k] for k in further), arm])
    reach = outward[0]
    before = posture.s_12.get(first) or posture.start.get(first)
    if before is not None:
        reach = tuple(x + y for x, y in zip(before, reach, strict=True))
    return reach, list(zip(end.way, outward, strict=True))


def _force_by_length(
    arithmetic: SupportsArithmetic[S],
    spring: SpringConstants,
    square: S,
    slopes: Mapping[int, S],
    q_dot: Sequence[S],
) -> S:
    """(k (L - L_0) + c L-dot) / L, N/m; ``square`` is L L."""
    scale: S = spring.stiffness
    natural = spring.natural
    if natural is not None:
        half_square = natural.half * square
        length = natural.half_length + square * natural.half_inverse
        for _ in range(HERON_STEPS - 1):
            length = natural.half * length + half_square * arithmetic.recip(length)
        inverse = arithmetic.recip(length)
        scale = scale - natural.force * inverse
    if spring.damping is not None and slopes:  # without any the ends keep their distance
        rate = tree_sum([slope * q_dot[k] for k, slope in slopes.items()])
        inverse_square = arithmetic.recip(square) if natural is None else inverse * inverse
        scale = scale + (spring.damping * rate) * inverse_square
    return scale
