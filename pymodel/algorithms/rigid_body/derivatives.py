"""Derivatives of inverse and forward dynamics in closed form (paper 002, dID, dFD, diFD).

After Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using
spatial vector algebra" (2022), written with 3-vectors in link frames. For each joint two wrenches,
its effect on the joints below, and a functional, the effect of the joints below on its own torque,
climb to the base. The mass matrix falls out on the way.

With psi' = w x e_z and psi'' = U e_z of a joint, turning it by an angle changes the velocities of
what it carries by psi', and the accelerations by psi'' and da; at a rate of 1, by e_z and 2 psi'.

A part of a ball or floating joint turns or slides about an axis of the body. So w and U are those
of what carries the joint, at a rate of 1 the body's own w counts, too; and as all axes of the joint
move with the body, its parts do not feel that the wrench on it moves as well.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pymodel.algorithms.rigid_body.coupling import Sparse
from pymodel.algorithms.rigid_body.inverse_dynamics import External, link_wrenches, torques
from pymodel.algorithms.rigid_body.mass_matrix import (
    base_mass_matrix,
    set_column,
    set_diagonal,
    unit_wrench,
    with_carried,
)
from pymodel.algorithms.rigid_body.tree import (
    Carrier,
    Inertia,
    Motion,
    Tree,
    point_accelerations,
)
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    Wrench,
    add,
    apply,
    column,
    cross,
    cross_z,
    dot,
    double,
    outer,
    scale,
    sum_of,
    sum_of_wrenches,
    trace_minus,
    transpose,
    z_cross,
)
from pymodel.arith.terms import Term, total


class Composite(NamedTuple):
    """What moves with a link: its inertia, and how its points move against the link's origin.

    Attributes
    ----------
    inertia : Inertia
    P : Matrix3
        Sum of m v r^T.
    p : Vector3
        Sum of m v.
    """

    inertia: Inertia
    P: Matrix3
    p: Vector3


class Derivatives(NamedTuple):
    """dtau/dq and dtau/dqd, by (row, column), and the mass matrix."""

    dq: Sparse
    dqd: Sparse
    M: Sparse


def composites(tree: Tree, motions: Sequence[Motion]) -> list[Composite]:
    """What each link carries, with the velocities."""
    found = []
    for i in tree.links:
        w, inertia = motions[i].w, tree.inertia[i]
        P = transpose([cross(w, col) for col in transpose(inertia.second)])
        found.append(Composite(inertia, P, cross(w, inertia.first)))
    for i in reversed(tree.joints):
        if tree.on_ground(i):
            continue
        own, carrier = found[i], found[tree.parent[i]]
        inertia, first = with_carried(tree, i, carrier.inertia, own.inertia)
        u, p = tree.slip(i, motions[tree.parent[i]].w), tree.up(i, own.p)
        P = sum_of(carrier.P, tree.up_matrix(i, own.P), outer(p, tree.arm[i]), outer(u, first))
        p = add(carrier.p, p, scale(own.inertia.mass, u))
        found[tree.parent[i]] = Composite(inertia, P, p)
    return found


class Perturbation(NamedTuple):
    """How turning or sliding a joint moves what it carries.

    ``velocity`` (psi'), ``alpha`` (psi'') and ``a`` (da) for its position; ``rate_alpha`` and
    ``rate_a`` for its rate, whose velocity is e_z of a joint that turns. None: zero.
    """

    velocity: Vector3 | None
    alpha: Vector3 | None
    a: Vector3
    rate_alpha: Vector3 | None
    rate_a: Vector3 | None


def _perturbation(tree: Tree, i: int, motion: Motion) -> Perturbation:
    if motion.carrier is not None:
        return _of_part(tree, i, motion.carrier)
    psi, pitch = cross_z(motion.w), tree.pitch[i]
    if tree.slides[i]:
        return Perturbation(None, None, column(motion.U, 2), None, double(psi))
    along, a = column(motion.U, 2), cross_z(motion.a)
    if pitch is None:
        return Perturbation(psi, along, a, double(psi), None)
    twice = double(psi)
    return Perturbation(psi, along, add(a, scale(pitch, along)), twice, scale(pitch, twice))


def _of_part(tree: Tree, i: int, carrier: Carrier) -> Perturbation:
    """Of a part of a ball or floating joint."""
    along = column(point_accelerations(carrier.w, carrier.alpha), 2)
    rate = cross_z(carrier.both_w)
    if tree.slides[i]:
        return Perturbation(None, None, along, None, rate)
    psi = cross_z(carrier.w)
    a = add(cross_z(carrier.a), double(cross(psi, carrier.joint_v)))
    return Perturbation(psi, along, a, rate, z_cross(carrier.joint_v))


class _Climber(NamedTuple):
    """What climbs from a joint to the base, at one link on its way.

    ``dq`` and ``dqd`` are wrenches: the joint's effect. ``unit`` and ``functional``: torque of the
    joint = unit.moment . alpha + unit.force . a + functional . velocity of a perturbation there.
    """

    dq: Wrench
    dqd: Wrench
    unit: Wrench
    functional: Vector3


def _start(tree: Tree, j: int, body: Composite, change: Perturbation, turned: Wrench) -> _Climber:
    second, first, mass = body.inertia
    unit, pitch = unit_wrench(tree, j, body.inertia), tree.pitch[j]
    if tree.slides[j]:
        dq = Wrench(add(cross(first, change.a), turned.moment), scale(mass, change.a))
        assert change.rate_a is not None
        dqd = Wrench(cross(first, change.rate_a), scale(mass, change.rate_a))
        return _Climber(dq, dqd, unit, double(cross_z(body.p)))
    inertia, Q = trace_minus(second), trace_minus(body.P)
    assert change.velocity is not None
    assert change.alpha is not None and change.rate_alpha is not None
    twice = double(change.velocity)
    dq = Wrench(
        add(
            apply(Q, twice),
            apply(inertia, change.alpha),
            cross(first, change.a),
            turned.moment,
        ),
        add(
            cross(twice, body.p),
            cross(change.alpha, first),
            scale(mass, change.a),
            turned.force,
        ),
    )
    dqd = Wrench(
        add(double(column(Q, 2)), apply(inertia, change.rate_alpha)),
        add(double(z_cross(body.p)), cross(change.rate_alpha, first)),
    )
    if change.rate_a is not None:
        moved = Wrench(cross(first, change.rate_a), scale(mass, change.rate_a))
        dqd = sum_of_wrenches(dqd, moved)
    functional = double(Q[2])
    if pitch is not None:
        functional = add(functional, scale(pitch, double(cross_z(body.p))))
    return _Climber(dq, dqd, unit, functional)


def _turned(tree: Tree, j: int, wrench: Wrench) -> Wrench:
    """How the wrench on what moves with joint j changes as it moves along."""
    moment, force = z_cross(wrench.moment), z_cross(wrench.force)
    if tree.slides[j]:
        return Wrench(force, tree.origin)
    pitch = tree.pitch[j]
    if pitch is not None:
        moment = add(moment, scale(pitch, force))
    return Wrench(moment, force)


def _climbed(tree: Tree, i: int, at: _Climber, w: Vector3) -> _Climber:
    """From link i to its parent, whose angular velocity is w."""
    unit = tree.wrench_to_parent(i, at.unit)
    relative = double(tree.slip(i, w))
    return _Climber(
        tree.wrench_to_parent(i, at.dq),
        tree.wrench_to_parent(i, at.dqd),
        unit,
        add(tree.up(i, at.functional), cross(relative, unit.force)),
    )


def inverse_dynamics_derivatives(
    tree: Tree, qdd: Sequence[Term], external: External | None = None
) -> tuple[list[Term], Derivatives]:
    """tau, its derivatives by q and qd, and M.

    Those by a floating base's position and orientation are in its tangent space.
    """
    motions = tree.motions(qdd)
    wrenches = link_wrenches(tree, motions, external)
    bodies = composites(tree, motions)
    found = Derivatives({}, {}, {})
    changes = {i: _perturbation(tree, i, motions[i]) for i in tree.joints}
    for j in tree.joints:
        i, k, whole = j, tree.dof[j], tree.first_part(j)
        turned, later = _turned(tree, j, wrenches[j]), Wrench(tree.origin, tree.origin)
        if whole is not None:
            turned, later = later, turned
        at = _start(tree, j, bodies[j], changes[j], turned)
        set_diagonal(tree, found.M, j, at.unit)
        found.dq[k, k] = tree.along(j, at.dq)
        found.dqd[k, k] = tree.along(j, at.dqd) + tree.damping[j]
        if j in tree.friction:
            found.dqd[k, k] = found.dqd[k, k] + tree.friction[j].slope(tree.qd[k])
        while not tree.on_ground(i):
            if i == whole:
                at = at._replace(dq=sum_of_wrenches(at.dq, later))
            elif whole is not None and i > whole:
                later = tree.wrench_to_parent(i, later)
            at, i = _climbed(tree, i, at, motions[tree.parent[i]].w), tree.parent[i]
            set_column(tree, found.M, j, i, at.unit)
            if i not in tree.joints:
                _couple_with_base(tree, found, k, at)
                break
            _couple(tree, found, k, i, at, changes[i])
    if tree.robot.floating:
        _base(tree, found, bodies[0])
    return torques(tree, qdd, wrenches), found


def _couple(
    tree: Tree, found: Derivatives, k: int, ancestor: int, at: _Climber, change: Perturbation
) -> None:
    """Enter what joint k and one of those that carry it do to each other."""
    above = tree.dof[ancestor]
    found.dq[above, k] = tree.along(ancestor, at.dq)
    found.dqd[above, k] = tree.along(ancestor, at.dqd)
    if tree.slides[ancestor]:
        assert change.rate_a is not None
        found.dq[k, above] = dot(at.unit.force, change.a)
        found.dqd[k, above] = dot(at.unit.force, change.rate_a)
        return
    assert change.velocity is not None
    assert change.alpha is not None and change.rate_alpha is not None
    found.dq[k, above] = dot(
        (*at.functional, *at.unit.moment, *at.unit.force),
        (*change.velocity, *change.alpha, *change.a),
    )
    felt = [x * y for x, y in zip(at.unit.moment, change.rate_alpha, strict=True)]
    if change.rate_a is not None:
        felt += [x * y for x, y in zip(at.unit.force, change.rate_a, strict=True)]
    found.dqd[k, above] = total((at.functional[2], *felt))


def _couple_with_base(tree: Tree, found: Derivatives, k: int, at: _Climber) -> None:
    """Enter what joint k and the floating base do to each other."""
    v, w = tree.qd[:3], tree.qd[3:6]
    moment, force = at.unit
    columns = {
        3: (found.dqd, add(at.functional, cross(moment, w), cross(v, force))),
        0: (found.dqd, cross(force, w)),
    }
    for first, (matrix, row) in columns.items():
        matrix.update(((k, first + c), x) for c, x in enumerate(row))
    found.dq.update(((k, 3 + c), x) for c, x in enumerate(cross(force, tree.gravity)))
    for matrix, wrench in ((found.dq, at.dq), (found.dqd, at.dqd)):
        matrix.update(((r, k), x) for r, x in enumerate((*wrench.force, *wrench.moment)))


def _base(tree: Tree, found: Derivatives, whole: Composite) -> None:
    """Enter the floating base's own blocks."""
    second, first, mass = whole.inertia
    v, w = tree.qd[:3], tree.qd[3:6]
    inertia, Q = trace_minus(second), trace_minus(whole.P)

    def enter(matrix: Sparse, col: int, moment: Vector3, force: Vector3) -> None:
        matrix.update(((r, col), x) for r, x in enumerate((*force, *moment)))

    found.M.update(base_mass_matrix(whole.inertia))
    for k, e in enumerate(tree.axes):
        turning, sliding, falling = cross(w, e), cross(e, v), cross(tree.gravity, e)
        force = add(double(cross(e, whole.p)), cross(turning, first), scale(mass, sliding))
        moment = add(double(column(Q, k)), apply(inertia, turning), cross(first, sliding))
        enter(found.dqd, 3 + k, moment, force)
        enter(found.dqd, k, cross(first, turning), scale(mass, turning))
        enter(found.dq, 3 + k, cross(first, falling), scale(mass, falling))
