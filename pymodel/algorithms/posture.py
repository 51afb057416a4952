"""Where the bodies of a mechanism and the handles of its joints are, in one posture."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.linalg import vector_sum
from pymodel.algorithms.space import Joint, Pose, Subspace
from pymodel.arith.scalars import S, Scalar, Vector
from pymodel.mechanism.scenario import FIXED, FREE, PRISMATIC
from pymodel.mechanism.topology import Handle


class Posture(NamedTuple):
    """Where everything is, ground frame."""

    joints: list[Joint]  # of each body: Joint
    closing: list[Subspace]  # of each loop: what its joint takes
    s_1c: list[Vector[Scalar]]  # of each body: from handle 1 to the centre of mass, m
    arms: list[list[Vector[Scalar]]]  # of each body: from handle 1 to its other handles, m
    s_12: dict[
        int, Vector[Scalar]
    ]  # body on another one -> from handle 1 of the parent to its own, m
    start: dict[
        int, Vector[Scalar]
    ]  # body that moves along the ground -> from where it is attached to handle 1, m

    def arm(self, handle: Handle) -> Vector[Scalar]:
        """From handle 1 of its body to a handle elsewhere."""
        return self.arms[handle.body][handle.place - 1]


def posture_of(mechanism: Any, poses: Sequence[Pose], q: Sequence[S]) -> Posture:
    """Where everything is.

    Parameters
    ----------
    mechanism : pymodel.algorithms.step.Mechanism
    poses : sequence
        Of each body, see :mod:`pymodel.algorithms.space`.
    q : sequence of nq scalars

    Returns
    -------
    Posture
    """
    bodies, topology, space = mechanism.bodies, mechanism.topology, mechanism.space
    everybody = range(mechanism.size)
    joints = [space.joint(bodies[k].joint, poses[k], bodies[k].axis) for k in everybody]
    for k in mechanism.motions:  # what it leaves free is given, so that it takes all
        held = space.joint(FIXED, poses[k], None)
        joints[k] = joints[k]._replace(constraints=held.constraints)

    def slid(k: int) -> Vector[Scalar]:  # along the axis of a prismatic joint
        (column,) = joints[k].freedoms
        (x,) = mechanism.coordinates(k, q)
        return tuple(entry * x for entry in column.linear)

    def place(k: int, index: int) -> Vector[Scalar]:
        arm: Vector[Scalar] = space.rotate(poses[k], bodies[k].handles[index])
        points = topology.points[k]
        slide = points[index].slide if points else None
        return arm if slide is None else vector_sum(arm, slid(slide))

    s_1c = [space.rotate(poses[k], bodies[k].com) for k in everybody]
    arms = [[place(k, i) for i in range(len(bodies[k].handles))] for k in everybody]
    start = {}
    for k in everybody:
        if topology.joints[k].a is None and bodies[k].joint == PRISMATIC:
            start[k] = slid(k)
        elif bodies[k].joint == FREE:
            start[k] = tuple(mechanism.coordinates(k, q)[: space.dimension])
    hanging = [k for k in everybody if topology.joints[k].a is not None]  # on another body
    found = Posture(
        joints,
        mechanism.closing(poses),
        s_1c,
        arms,
        {},
        start,
    )
    found.s_12.update({k: found.arm(topology.joints[k].a) for k in hanging})
    return found
