"""Springs and dampers between points of two bodies: algorithm text, generic over its scalars.

With d the vector from the point on ``to`` to the point on ``body``, L its length and g_k the
derivative of d.d / 2 by the joint angle q_k, virtual work gives the torque on joint k:

    -(k (L - L_0) + c L-dot) / L  g_k,    L L-dot = sum of g_k q-dot_k,
    g_k = +-lever x d of the joints k that carry one of the two points, 0 of all others.

The units of the hardware have no square root. Without a natural length L_0 none is needed. With
one, Heron's method finds L in so many steps, from L_0 on:

    L <- L / 2 + (d.d / 2) (1 / L)

It never overshoots below L, and squares the relative error in each step near it. Eight are right
to 2e-14 for L between L_0 / 16 and 16 L_0.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.linalg import cross, dot, rotate
from pymodel.algorithms.sums import levers, tree_sum
from pymodel.arith.scalars import S, SupportsArithmetic, Vector
from pymodel.mechanism.scenario import GROUND, Scenario, Spring
from pymodel.mechanism.topology import Topology

HERON_STEPS = 8


class End(NamedTuple):
    """One end of a spring, on a body."""

    body: int
    way: list  # the joints that move this end and not the other one, outward
    point: tuple  # m, from handle 1 of the body, body frame


class NaturalLength(NamedTuple):
    """What a natural length needs; each value rounded once from float64."""

    half: object  # 1/2
    half_length: object  # m, L_0 / 2
    half_inverse: object  # 1/m, 1 / (2 L_0)
    force: object  # N, stiffness L_0


class SpringConstants(NamedTuple):
    """Parameter-only values of one spring, each rounded once from float64."""

    body: End
    to: End | None  # None on the ground
    offset: tuple | None  # m, ground frame, where both ends' ways start; None on one body
    stiffness: object  # N/m
    natural: NaturalLength | None  # None without
    damping: object | None  # N s/m, None without

    @property
    def structure(self) -> tuple:
        """What springs of the same operations have in common: all but their numbers."""
        ends = [end and end[:2] for end in (self.body, self.to)]
        return (*ends, *(x is None for x in (self.offset, self.natural, self.damping)))


def prepare(
    arithmetic: SupportsArithmetic, scenario: Scenario, topology: Topology
) -> list[SpringConstants]:
    """The springs of a scenario, prepared for one arithmetic.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    scenario : pymodel.mechanism.scenario.Scenario
    topology : pymodel.mechanism.topology.Topology

    Returns
    -------
    list of SpringConstants
    """
    return [
        _constants(arithmetic, scenario, topology, index, spring)
        for index, spring in enumerate(scenario.springs)
    ]


def _constants(
    arithmetic: SupportsArithmetic,
    scenario: Scenario,
    topology: Topology,
    index: int,
    spring: Spring,
) -> SpringConstants:
    def scalar(name: str, x: float) -> Any:
        return arithmetic.parameter(f"spring[{index}].{name}", x)

    def vector(name: str, v: Sequence[float]) -> tuple:
        return tuple(scalar(f"{name}.{axis}", x) for axis, x in zip("xy", v, strict=True))

    ends, starts = [], []
    for name, body, other, point in (
        ("point", spring.body, spring.to, spring.point),
        ("at", spring.to, spring.body, spring.at),
    ):
        way = topology.way(body, other)
        ends.append(None if body == GROUND else End(body, way, vector(name, point)))
        if body == GROUND:
            starts.append(point)
        elif way and topology.parents[way[0]] == GROUND:
            starts.append(scenario.bodies[way[0]].attach)
    offset = vector("offset", [b - a for b, a in zip(*starts, strict=True)]) if starts else None
    natural = None
    if spring.length and spring.stiffness:
        natural = NaturalLength(
            half=arithmetic.parameter("half", 0.5),
            half_length=scalar("length / 2", spring.length / 2),
            half_inverse=scalar("1 / (2 length)", 0.5 / spring.length),
            force=scalar("stiffness length", spring.stiffness * spring.length),
        )
    damping = scalar("damping", spring.damping) if spring.damping else None
    return SpringConstants(*ends, offset, scalar("stiffness", spring.stiffness), natural, damping)


def pulls(
    arithmetic: SupportsArithmetic[S],
    springs: Sequence[SpringConstants],
    heading: Sequence[Vector[S]],
    s_12: Mapping[int, Vector[S]],
    q_dot: Sequence[S],
) -> dict[int, list[S]]:
    """Torques of springs on the joints, reversed.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    springs : sequence of SpringConstants
    heading : sequence of 2-vectors
        (cos, sin) of the angle of each body to the ground.
    s_12 : dict
        Body that hangs on another one -> vector from handle 1 of its parent to its own, m.
    q_dot : sequence of scalars
        rad/s.

    Returns
    -------
    dict
        Joint -> what each spring takes from its p-dot, N m.
    """
    found = defaultdict(list)
    for spring in springs:
        d, slopes = _stretch(spring, heading, s_12)
        scale = _force_by_length(arithmetic, spring, dot(d, d), slopes, q_dot)
        for k, slope in slopes.items():
            found[k].append(scale * slope)
    return found


def _stretch(spring: SpringConstants, heading: Sequence, s_12: Mapping) -> tuple[Vector, dict]:
    """The vector d, and {joint k: g_k}."""
    d, outward = _reach(spring.body, heading, s_12)
    opposite = []
    if spring.to is not None:
        reach, opposite = _reach(spring.to, heading, s_12)
        d = d[0] - reach[0], d[1] - reach[1]
    if spring.offset is not None:
        d = d[0] + spring.offset[0], d[1] + spring.offset[1]
    slopes = {k: cross(lever, d) for k, lever in outward}
    return d, slopes | {k: -cross(lever, d) for k, lever in opposite}


def _reach(end: End, heading: Sequence, s_12: Mapping) -> tuple[Vector, list]:
    """An end's vector from the start of its way, and [(joint of the way, vector from there)]."""
    arm = rotate(heading[end.body], end.point)
    if not end.way:
        return arm, []
    first, *further = end.way
    outward = levers([*(s_12[k] for k in further), arm])
    reach = outward[0]
    if first in s_12:
        reach = s_12[first][0] + reach[0], s_12[first][1] + reach[1]
    return reach, list(zip(end.way, outward, strict=True))


def _force_by_length(
    arithmetic: SupportsArithmetic[S],
    spring: SpringConstants,
    square: S,
    slopes: Mapping[int, S],
    q_dot: Sequence[S],
) -> S:
    """(k (L - L_0) + c L-dot) / L, N/m; ``square`` is L L."""
    scale, natural = spring.stiffness, spring.natural
    if natural is not None:
        half_square = natural.half * square
        length = natural.half_length + square * natural.half_inverse
        for _ in range(HERON_STEPS - 1):
            length = natural.half * length + half_square * arithmetic.recip(length)
        inverse = arithmetic.recip(length)
        scale = scale - natural.force * inverse
    if spring.damping is not None:
        rate = tree_sum([slope * q_dot[k] for k, slope in slopes.items()])
        inverse_square = arithmetic.recip(square) if natural is None else inverse * inverse
        scale = scale + (spring.damping * rate) * inverse_square
    return scale
