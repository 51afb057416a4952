"""How far the loops of a mechanism are open: algorithm text, generic over its scalars.

Both ends of a loop's joint are measured from where their ways part, so that what carries both takes
no digits from their difference.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.bodies import Numbers
from pymodel.algorithms.linalg import difference, vector_sum
from pymodel.algorithms.posture import Posture
from pymodel.algorithms.space import Twist
from pymodel.arith.scalars import Scalar, Vector
from pymodel.mechanism.scenario import GROUND
from pymodel.mechanism.topology import Connection, Topology


class LoopConstants(NamedTuple):
    """Parameter-only values of one loop, each rounded once from float64."""

    offset: Vector[Scalar] | None  # m, ground frame, where both ends' ways start; None on one body
    own_axis: Vector[Scalar] | None  # of a hinge in space, frame of its body; else None
    other_axis: Vector[Scalar] | None  # the same in the frame of what it is on


def prepare(numbers: Numbers, topology: Topology) -> list[LoopConstants]:
    """The loops of a scenario, prepared for one arithmetic."""
    scenario, found = numbers.scenario, []
    for index, (loop, joint) in enumerate(zip(scenario.loops, topology.loops, strict=True)):
        starts = []
        for body, other, point in ((joint.b.body, loop.to, None), (loop.to, joint.b.body, loop.at)):
            way = topology.way(body, other)
            if body == GROUND:
                starts.append(point)
            elif way and topology.parents[way[0]] == GROUND:
                starts.append(scenario.bodies[way[0]].attach)
        offset = None
        if starts:
            vector = [b - a for b, a in zip(*starts, strict=True)]
            offset = numbers.vector(f"loop[{index}].offset", vector)
        axes: list[Any] = [None, None]
        if scenario.spatial and loop.axis:
            axes = [
                numbers.on_body(body, f"loop[{index}].{name}", direction)
                for body, name, direction in zip(
                    (loop.body, loop.to), ("axis", "to_axis"), loop.directions, strict=True
                )
            ]
        found.append(LoopConstants(offset, *axes))
    return found


def gaps(mechanism: Any, poses: Sequence[Any], posture: Posture) -> list[Twist]:
    """By how much each loop is open: the end on its body less that on ``to``, ground frame.

    Returns
    -------
    list of Twist
        m and, for small angles, rad; no rotation but of hinges in space.
    """
    found = []
    for constants, joint in zip(mechanism.gaps, mechanism.topology.loops, strict=True):
        own, other = (_reach(mechanism.topology, posture, joint, end) for end in "ba")
        gap: Any = difference(own, other)
        if constants.offset is not None:
            gap = vector_sum(gap, constants.offset)
        tilt = None
        if constants.own_axis is not None and constants.other_axis is not None:
            space, to = mechanism.space, constants.other_axis
            if joint.a is not None:
                to = space.rotate(poses[joint.a.body], to)
            tilt = space.moment(to, space.rotate(poses[joint.b.body], constants.own_axis))
        found.append(Twist(gap, tilt))
    return found


def _reach(topology: Topology, posture: Posture, joint: Connection, end: str) -> Any:
    """From the start of an end's way to the end, ground frame; None on the ground."""
    own, other = (joint.b, joint.a) if end == "b" else (joint.a, joint.b)
    if own is None:
        return None
    way = topology.way(own.body, GROUND if other is None else other.body)
    arm = posture.arm(own)
    if not way:
        return arm
    first, *further = way
    before = posture.s_12.get(first) or posture.start.get(first)
    return vector_sum(before, *(posture.s_12[k] for k in further), arm)
