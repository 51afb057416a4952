"""Forward dynamics by articulated bodies (Featherstone 1983), in link frames (paper 002, FD)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pymodel.algorithms.rigid_body.inverse_dynamics import External
from pymodel.algorithms.rigid_body.mass_matrix import Factors, factorised, solved
from pymodel.algorithms.rigid_body.tree import Tree, point_accelerations
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    Wrench,
    add,
    apply,
    column,
    cross,
    cross_matrix,
    dot,
    product,
    scale,
    sum_of,
    sum_of_wrenches,
    trace_minus,
    transpose,
)
from pymodel.arith.terms import Term, total


class ArticulatedBody(NamedTuple):
    """An articulated body: moment = A alpha + H a + bias, force = H^T alpha + M a + bias."""

    A: Matrix3
    H: Matrix3
    M: Matrix3
    bias: Wrench


class Drive(NamedTuple):
    """Accelerations of a link that its joint's rate brings along; None: zero."""

    alpha: Vector3 | None
    a: Vector3 | None


class Joint(NamedTuple):
    """What a joint's acceleration is, from that of its link without it.

    qdd = t - moment . alpha - force . a, with t = d (tau - what the bias does along the joint).

    Attributes
    ----------
    moment, force : Vector3
        Times d: the wrench that accelerates the articulated body by a joint acceleration of 1.
    t : Term
        The joint's acceleration if its link does not accelerate without it, m/s^2 or rad/s^2.
    d : Term
        1 / inertia along the joint, that of the articulated body and of the drive (armature).
    """

    moment: Vector3
    force: Vector3
    t: Term
    d: Term


class ArticulatedFactors(NamedTuple):
    """What solves M x = b for any b in operations that grow as the number of joints.

    Attributes
    ----------
    joints : dict
        Link -> its :class:`Joint`, of which t plays no part.
    base : Factors or None
        Of the floating base's matrix.
    """

    joints: Mapping[int, Joint]
    base: Factors | None


def forward_dynamics(
    tree: Tree,
    tau: Sequence[Term],
    external: External | None = None,
    at_parent: Callable[..., ArticulatedBody] | None = None,
) -> list[Term]:
    """qdd of the joints under tau: M^-1 (tau - C).

    Parameters
    ----------
    tree : Tree
    tau : sequence of Term, length nv
        Torques and forces of the joints.
    external : dict, optional
        Wrenches on links.
    at_parent : callable, optional
        (link, its body, bias) -> what :func:`moved_to_parent` gives, which is the default.
    """
    return with_factors(tree, tau, external, at_parent)[0]


def with_factors(
    tree: Tree,
    tau: Sequence[Term],
    external: External | None = None,
    at_parent: Callable[..., ArticulatedBody] | None = None,
) -> tuple[list[Term], ArticulatedFactors]:
    """qdd as :func:`forward_dynamics` gives it, and what :func:`multiplied_by_inverse` needs.

    Parameters
    ----------
    tree : Tree
    tau : sequence of Term, length nv
        Forces and torques of the joints, N and N m; a floating base's first, its linear entries
        before the angular ones.
    external, at_parent
        As for :func:`forward_dynamics`.

    Returns
    -------
    list of Term, length nv
        qdd, m/s^2 and rad/s^2, in the order of tau.
    ArticulatedFactors
        Of the tree's M in its configuration: neither rates nor torques have a part in them.
    """
    at_parent = at_parent or partial(moved_to_parent, tree)
    still = [tree.zero] * tree.nv
    motions = tree.motions(still)  # only w is taken: what else it holds does not count
    rates = [point_accelerations(motion.w, tree.origin) for motion in motions]
    gathered = [[rigid_body(tree, i, rates[i], (external or {}).get(i))] for i in tree.links]
    drive, joints = {}, {}
    for i in reversed(tree.joints):
        drive[i] = Drive(*tree.brought_along(i, motions[i].w, motions[i].carrier))
        body = gathered_body(gathered[i])
        joints[i], body = through_joint(tree, i, body, drive[i], tau[tree.dof[i]])
        if not tree.on_ground(i):
            bias = apply(rates[tree.parent[i]], tree.arm[i])
            gathered[tree.parent[i]].append(at_parent(i, body, bias))
    base, on_base = None, Wrench(tree.origin, tree.origin)
    if tree.robot.floating:
        whole = gathered_body(gathered[0])
        base, on_base = _base_factors(tree, whole), whole.bias
    qdd = _accelerations(tree, on_base, base, joints, drive, rates, tau)
    return qdd, ArticulatedFactors(joints, base)


def multiplied_by_inverse(tree: Tree, factors: ArticulatedFactors, b: Sequence[Term]) -> list[Term]:
    """M^-1 b, of a tree that stands still and weighs nothing (Featherstone 2008, 7.3).

    Parameters
    ----------
    tree : Tree
        In the configuration that the factors are of; its rates and its gravity play no part.
    factors : ArticulatedFactors
        From :func:`with_factors`.
    b : sequence of Term, length nv
        Forces and torques of the joints, N and N m, from which no damping or friction is taken; a
        floating base's first, its linear entries before the angular ones.

    Returns
    -------
    list of Term, length nv
        Accelerations, m/s^2 and rad/s^2, in the order of b.
    """
    still = Wrench(tree.origin, tree.origin)
    gathered: list[list[Wrench]] = [[] for _ in tree.links]
    joints = {}
    for i in reversed(tree.joints):
        bias = sum_of_wrenches(*gathered[i]) if gathered[i] else still
        own = b[tree.dof[i]]
        rest = own - tree.along(i, bias)
        moment, force, _, d = joint = factors.joints[i]
        joints[i] = joint._replace(t=d * rest)
        if tree.on_ground(i):
            continue
        bias = Wrench(add(bias.moment, scale(rest, moment)), add(bias.force, scale(rest, force)))
        bias = _known_along(tree, i, bias, own)
        gathered[tree.parent[i]].append(tree.wrench_to_parent(i, bias))
    drive = {i: Drive(*tree.brought_along(i, tree.origin, None)) for i in tree.joints}
    base = sum_of_wrenches(*gathered[0]) if tree.robot.floating and gathered[0] else still
    return _accelerations(tree, base, factors.base, joints, drive, None, b)


def rigid_body(
    tree: Tree, i: int, rates: Matrix3, external: Sequence[Term] | None
) -> ArticulatedBody:
    """Link i alone; ``rates`` are the accelerations of its points by its rotation (U)."""
    second, first, mass = tree.inertia[i]
    M = tuple(scale(mass, axis) for axis in tree.axes)
    bias = tree.inertial_wrench(i, rates, tree.origin)
    if external is not None:
        outside = tree.external_wrench(i, external)
        bias = Wrench(
            *(
                tuple(x - y for x, y in zip(*pair, strict=True))
                for pair in zip(bias, outside, strict=True)
            )
        )
    return ArticulatedBody(trace_minus(second), cross_matrix(first), M, bias)


def gathered_body(bodies: Sequence[ArticulatedBody]) -> ArticulatedBody:
    """Sum of bodies; biases are summed when all are there."""
    A, H, M, _ = bodies[0]
    for body in bodies[1:]:
        A, H, M = sum_of(A, body.A), sum_of(H, body.H), sum_of(M, body.M)
    return ArticulatedBody(A, H, M, sum_of_wrenches(*(body.bias for body in bodies)))


def through_joint(
    tree: Tree, i: int, body: ArticulatedBody, drive: Drive, tau: Term
) -> tuple[Joint, ArticulatedBody]:
    """Solve for the joint's acceleration, and find the body that its parent feels."""
    A, H, M, bias = body
    pitch = tree.pitch[i]
    moment, force = (column(H, 2), column(M, 2)) if tree.slides[i] else (column(A, 2), tuple(H[2]))
    if pitch is not None:
        moment = add(moment, scale(pitch, column(H, 2)))
        force = add(force, scale(pitch, column(M, 2)))
    if drive.alpha is not None:
        biases = apply(A, drive.alpha), apply(transpose(H), drive.alpha)
        bias = sum_of_wrenches(bias, Wrench(*biases))
    if drive.a is not None:
        bias = sum_of_wrenches(bias, Wrench(apply(H, drive.a), apply(M, drive.a)))
    own = tree.along(i, Wrench(moment, force)) + tree.armature[i]
    d = tree.terms.recip(own)
    t = d * (tree.undamped(i, tau) - tree.along(i, bias))
    joint = Joint(scale(d, moment), scale(d, force), t, d)
    if tree.on_ground(i):
        return joint, body
    A = _reduced(A, joint.moment, moment, symmetric=True)
    H = _reduced(H, joint.moment, force)
    M = _reduced(M, joint.force, force, symmetric=True)
    bias = Wrench(add(bias.moment, scale(t, moment)), add(bias.force, scale(t, force)))
    return joint, _without_joint(tree, i, ArticulatedBody(A, H, M, bias), tau)


def _reduced(m: Matrix3, a: Vector3, b: Vector3, symmetric: bool = False) -> Matrix3:
    """M - a b^T."""
    found: list[list[Term]] = [[] for _ in range(3)]
    for r in range(3):
        for c in range(3):
            mirrored = symmetric and c < r
            found[r].append(found[c][r] if mirrored else m[r][c] - a[r] * b[c])
    return found


def _without_joint(tree: Tree, i: int, body: ArticulatedBody, tau: Term) -> ArticulatedBody:
    """Enter what is known: along a joint without a drive's inertia the parent feels only tau."""
    if _drive_is_felt(tree, i):
        return body
    z, zero = 2, tree.zero
    A, H, M = ([list(row) for row in m] for m in body[:3])
    for k in range(3):
        if tree.slides[i]:
            M[z][k] = M[k][z] = H[k][z] = zero
        else:
            A[z][k] = A[k][z] = H[z][k] = zero
    return ArticulatedBody(A, H, M, _known_along(tree, i, body.bias, tree.undamped(i, tau)))


def _drive_is_felt(tree: Tree, i: int) -> bool:
    """Whether the parent feels more along joint i than its torque: a drive's inertia, a screw."""
    return not tree.armature[i].is_zero or tree.pitch[i] is not None


def _known_along(tree: Tree, i: int, bias: Wrench, tau: Term) -> Wrench:
    """Enter the joint's torque in what the parent feels along it."""
    if _drive_is_felt(tree, i):
        return bias
    moment, force = (list(v) for v in bias)
    (force if tree.slides[i] else moment)[2] = tau
    return Wrench(moment, force)


def moved_to_parent(tree: Tree, i: int, body: ArticulatedBody, bias: Vector3) -> ArticulatedBody:
    """About the parent's origin, where link i's has the acceleration a + alpha x arm + bias."""
    arm, back = cross_matrix(tree.arm[i]), cross_matrix(tuple(-x for x in tree.arm[i]))
    A, H, M = (tree.up_matrix(i, m) for m in body[:3])
    moved = sum_of(H, product(arm, M))
    # Two products: what H does with the arm's acceleration, and the moment of all force.
    A = sum_of(A, product(H, back), transpose(product(moved, back)))
    moment, force = tree.up(i, body.bias.moment), tree.up(i, body.bias.force)
    force = add(force, apply(M, bias))
    moment = add(moment, apply(H, bias), cross(tree.arm[i], force))
    return ArticulatedBody(A, moved, M, Wrench(moment, force))


def _accelerations(
    tree: Tree,
    bias: Wrench,
    base: Factors | None,
    joints: Mapping[int, Joint],
    drive: Mapping[int, Drive],
    rates: Sequence[Matrix3] | None,
    tau: Sequence[Term],
) -> list[Term]:
    """Outward recursion of accelerations; without ``rates`` all stands still and weighs nothing."""
    qdd, moving = [tree.zero] * tree.nv, {}
    gravity = tree.gravity if rates is not None else tree.origin
    if base is not None:
        alpha, a = _base_acceleration(tree, base, bias, tau)
        qdd[:6] = *a, *alpha
        if rates is not None:
            offset = add(cross(tree.qd[3:6], tree.qd[:3]), gravity)
            qdd[:3] = (x - y for x, y in zip(a, offset, strict=True))
        moving[0] = alpha, a
    for i in tree.joints:
        parent = tree.parent[i]
        if tree.on_ground(i):
            alpha, a = tree.origin, tree.down(i, gravity)
        else:
            alpha, a = moving[parent]
            arm = tree.arm[i]
            turned = [apply(rates[parent], arm)] if rates is not None else []
            a = add(a, cross(alpha, arm), *turned)
            a = tree.down(i, a)
            alpha = tree.down(i, alpha)
        joint = joints[i]
        x = total([joint.t, -dot(joint.moment, alpha), -dot(joint.force, a)])
        qdd[tree.dof[i]] = x
        pitch = tree.pitch[i]
        alpha, a = (
            _with_rate(alpha, drive[i].alpha, x),
            _with_rate(a, drive[i].a, x if pitch is None else pitch * x),
        )
        moving[i] = alpha, a
    return qdd


def _with_rate(acceleration: Vector3, drive: Vector3 | None, along: Term) -> Vector3:
    """A link's acceleration with what its joint's rate brings along, and the joint's own."""
    if drive is None:
        return acceleration
    x, y, z = add(acceleration, drive)
    return x, y, z + along


def _base_factors(tree: Tree, body: ArticulatedBody) -> Factors:
    """Of the matrix of a floating base, angular first."""
    A, H, M, _ = body
    matrix = {}
    for r in range(3):
        for c in range(3):
            matrix[3 + r, c] = H[c][r]
            if c <= r:
                matrix[r, c], matrix[3 + r, 3 + c] = A[r][c], M[r][c]
    return factorised(tree.ancestors[:6], matrix)


def _base_acceleration(
    tree: Tree, base: Factors, bias: Wrench, tau: Sequence[Term]
) -> tuple[Vector3, Vector3]:
    given = (*tau[3:6], *tau[:3])
    b = [x - y for x, y in zip(given, (*bias.moment, *bias.force), strict=True)]
    x = solved(tree.ancestors[:6], base, b)
    return tuple(x[:3]), tuple(x[3:])
