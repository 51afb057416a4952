"""Featherstone's divide-and-conquer algorithm (1999): accelerations.

The competitor of paper 001. With forces f at its handles a body accelerates by

    a_g = sum over h of xi_gh f_h + b_g,

with the same xi as in HDCA, whose impulses give velocities. So assembly, connection to the ground
and disassembly are HDCA's own: only the bias differs. Constraints are imposed on accelerations and
nothing stabilises them (no Baumgarte terms), as in the paper. The paper takes pseudo-inverses
where loops close; for independent constraints, the only ones here, these are the inverses.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymodel.algorithms import springs
from pymodel.algorithms.bodies import FreeBody, Numbers, SpatialBody
from pymodel.algorithms.linalg import difference, negative, transposed, vector_sum
from pymodel.algorithms.posture import posture_of
from pymodel.algorithms.rivals.common import joint_torques
from pymodel.algorithms.space import Twist
from pymodel.algorithms.step import (
    Mechanism,
    Requests,
    known_impulse,
    known_in_axes,
    local_levers,
    on_terms,
)
from pymodel.algorithms.sums import outward_sums
from pymodel.arith.scalars import S, Scalar, Vector
from pymodel.mechanism.scenario import FREE, PRISMATIC, REVOLUTE, SPHERICAL


class Accelerations(NamedTuple):
    """What the algorithm gives."""

    q_ddot: list[Scalar]  # nv: rad/s^2 and m/s^2
    forces: list[
        Twist
    ]  # Twist of N and N m on each body, of its joint to the parent, at its handle 1
    closing: list[
        Twist
    ]  # the same of the joints that close loops, on their bodies, at their points
    motors: list[Scalar]  # N m and N: of each motion of a joint, in order, what it takes


def accelerations(
    mechanism: Mechanism[Any], q: Sequence[Scalar], q_dot: Sequence[Scalar], time: Any = None
) -> Requests:
    """Joint accelerations of a mechanism: chains, trees, any loops, in the plane and in space.

    Gravity is an acceleration of the ground: the frame falls freely, so that only the joints on the
    ground see it.

    Parameters
    ----------
    mechanism : Mechanism
    q : list of nq scalars
        Coordinates (rad, m, quaternions).
    q_dot : list of nv scalars
        Velocities (rad/s, m/s).
    time : scalar, optional
        t in s, which torques in time need.

    Yields
    ------
    Assemble, ConnectBase, Disassemble, Eliminate, Recover
        The requests of :meth:`pymodel.algorithms.step.Mechanism.impulses`.

    Returns
    -------
    Accelerations
    """
    return (yield from on_terms(_accelerations, mechanism, q, q_dot, time))


def _accelerations(
    mechanism: Mechanism[Any], q: list[Scalar], q_dot: list[Scalar], time: Any
) -> Requests:
    if mechanism.gears:
        mechanism.scenario.require_no_mimics("the divide-and-conquer algorithm of accelerations")
    bodies, topology = mechanism.bodies, mechanism.topology
    space: Any = mechanism.space
    everybody = range(mechanism.size)
    numbers = Numbers(mechanism.arithmetic, mechanism.scenario)
    gravity = numbers.vector("gravity", mechanism.scenario.gravity)
    poses = space.poses(mechanism, q)
    posture = posture_of(mechanism, poses, q)
    joints = posture.joints
    relative = [space.spread(joints[k].freedoms, mechanism.velocities(k, q_dot)) for k in everybody]
    omega = _angular_velocities(mechanism, relative)
    tau = joint_torques(mechanism, q, q_dot, time)
    driven = [
        space.spread(joints[k].freedoms, tau[k]) if tau[k] else Twist(None, None) for k in everybody
    ]
    ground = Twist(gravity, None)
    drifts_of_joints: list[dict[int, Twist]] = [{} for _ in everybody]
    for index, (a, b) in enumerate(topology.joints):
        if a is None:
            drifts_of_joints[b.body][index] = ground
        elif index >= mechanism.size:
            turning = _cross(space, omega[b.body], omega[a.body])
            drifts_of_joints[b.body][index] = Twist(None, turning)
        elif bodies[index].joint in (REVOLUTE, PRISMATIC):
            drifts_of_joints[b.body][index] = _transport(space, omega[a.body], relative[index])
    for k, motion in mechanism.motions.items():
        rates = [-motion.acceleration(time)]
        own = space.spread(joints[k].freedoms, rates)
        before = drifts_of_joints[k].get(k, Twist(None, None))
        drifts_of_joints[k][k] = Twist(*map(vector_sum, before, own))
    pulls = springs.forces(mechanism, poses, posture, q_dot)
    body: FreeBody[Any]
    free: list[FreeBody[Any]] = []
    centripetal: list[list[Any]] = []
    for k in everybody:
        s_1c, w = posture.s_1c[k], omega[k]
        levers = [s_1c, *(difference(s_1c, s) for s in posture.arms[k])]
        spatial = space.angles > 1
        to_own = transposed(poses[k]) if spatial else ()
        if spatial:
            own = space.own_twist(bodies[k].joint, tau[k]) if tau[k] else Twist(None, None)
            local = local_levers(mechanism, poses[k], levers, k)
            force, moment = known_in_axes(mechanism, poses[k], own, driven, local, k)
            if w is not None:
                spin = space.rotate(to_own, w)
                moment = vector_sum(moment, space.gyroscopic_rate(numbers.inertia(k), spin))
        else:
            force, moment = known_impulse(mechanism, driven, levers, k)
        for pull in pulls:
            if pull.body == k:
                force = vector_sum(force, pull.force)
                felt = space.moment(difference(pull.arm, s_1c), pull.force)
                moment = vector_sum(moment, space.rotate(to_own, felt) if spatial else felt)
        drifts = [Twist(None if w is None else _inward(space, w, s), None) for s in levers]
        centripetal.append([drift.linear for drift in drifts])
        known, drifting = Twist(force, moment), (drifts, drifts_of_joints[k])
        mass, inertia = bodies[k].inverse_mass, bodies[k].inverse_inertia
        if spatial:
            body = SpatialBody(space, mass, poses[k], inertia, levers, local, known, *drifting)
        else:
            inverse = space.inverse_inertia(poses[k], inertia)
            body = FreeBody(space, mass, inverse, levers, known, *drifting)
        free.append(body)

    taken = [joint.constraints for joint in joints] + posture.closing
    leaves = [mechanism.leaf(k, free[k], taken) for k in everybody]
    forces, cut, _ = yield from mechanism.impulses(leaves, taken)

    alpha = [free[k].angular_velocity(forces[k]) for k in everybody]

    def at(handle: Any) -> Vector[Scalar]:
        linear: Vector[Scalar] = free[handle.body].velocity(
            handle.place, forces[handle.body], alpha[handle.body]
        )
        return vector_sum(linear, centripetal[handle.body][handle.place])

    found = []
    for k in everybody:
        a, b = topology.joints[k]
        kind = bodies[k].joint
        turn = alpha[k] if a is None else difference(alpha[k], alpha[a.body])
        slip: Any = None
        if kind == SPHERICAL and a is not None:
            turn = vector_sum(turn, _cross(space, omega[k], omega[a.body]))
        if kind in (PRISMATIC, FREE):
            slip = vector_sum(at(b), gravity) if a is None else difference(at(b), at(a))
        if kind == FREE and space.angles > 1:
            velocity: Any = relative[k].linear
            slip = difference(slip, space.turned(omega[k], velocity))
        found += space.across(joints[k].freedoms, slip, turn)
    for k, motion in mechanism.motions.items():
        found[mechanism.scenario.v_slices[k].start] = motion.acceleration(time)
    reactions = []
    for k in everybody:  # with the drive's part, without what only moves inertia that is lent
        force, moment = map(vector_sum, forces[k][0], driven[k])
        mass, moments = numbers.lent_mass(k), numbers.lent_moments(k)
        if mass is not None:
            felt = tuple(mass * x for x in at(topology.joints[k].b))
            force = negative(felt) if force is None else difference(force, felt)
        if moments is not None:
            felt = _moment_of(space, poses[k], moments, omega[k], alpha[k])
            moment = negative(felt) if moment is None else difference(moment, felt)
        reactions.append(Twist(force, moment))
    motors = []
    for k in mechanism.motions:  # of all along its axis less the spring's, damper's and friction's
        (along,), (passive,) = space.across(joints[k].freedoms, *reactions[k]), tau[k]
        motors.append(along - passive)
    closing, cut = [], list(cut)
    for subspace in posture.closing:
        closing.append(space.spread(subspace, cut[: len(subspace)]))
        del cut[: len(subspace)]
    return Accelerations(found, reactions, closing, motors)


def _moment_of(
    space: Any, pose: Any, moments: Any, omega: Vector[S] | None, alpha: Vector[S]
) -> Vector[S]:
    """Moment that turns an inertia, given in a body's frame."""
    if space.angles == 1:
        return tuple(moments[0][0] * x for x in alpha)
    frame = transposed(pose)
    found: Vector[S] = space.rotate(moments, space.rotate(frame, alpha))
    if omega is not None:
        spin = space.rotate(frame, omega)
        found = vector_sum(found, space.moment(spin, space.rotate(moments, spin)))
    rotated: Vector[S] = space.rotate(pose, found)
    return rotated


def _angular_velocities(mechanism: Mechanism[Any], relative: Sequence[Twist]) -> list[Any]:
    axes = [
        outward_sums(mechanism.topology, [twist.angular and twist.angular[i] for twist in relative])
        for i in range(mechanism.space.angles)
    ]
    return [None if w[0] is None else w for w in zip(*axes, strict=True)]


def _cross(space: Any, v: Vector[S] | None, w: Vector[S] | None) -> Vector[S] | None:
    """v x w of two vectors that turn."""
    return None if v is None or w is None else space.gyroscopic(v, w)


def _transport(space: Any, omega: Vector[S] | None, relative: Twist) -> Twist:
    """Less acceleration that the child has since the joint's motion turns with the parent.

    omega x w of the relative angular velocity w, 2 omega x v of the velocity v (Coriolis).
    """
    if omega is None:
        return Twist(None, None)
    linear = angular = None
    if relative.linear is not None:
        coriolis = space.turned(omega, relative.linear)
        linear = negative(vector_sum(coriolis, coriolis))
    if relative.angular is not None:
        turning = _cross(space, relative.angular, omega)
        angular = turning
    return Twist(linear, angular)


def _inward(space: Any, omega: Vector[S], s: Vector[S]) -> Vector[S]:
    """-omega x (omega x s): acceleration of a handle towards the centre of mass, s away."""
    if space.angles == 1:
        square = omega[0] * omega[0]
        return tuple(square * x for x in s)
    return negative(space.turned(omega, space.turned(omega, s)))
