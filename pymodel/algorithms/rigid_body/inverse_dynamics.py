"""Inverse dynamics: recursive Newton and Euler in link frames (paper 002, ID)."""

from collections.abc import Mapping, Sequence

from pymodel.algorithms.rigid_body.tree import Motion, Tree
from pymodel.algorithms.rigid_body.vectors import Wrench, sum_of_wrenches
from pymodel.arith.terms import Term

#: Link -> force and moment on it, six terms.
External = Mapping[int, Sequence[Term]]


def link_wrenches(
    tree: Tree, motions: Sequence[Motion], external: External | None = None
) -> list[Wrench]:
    """Inward recursion: the wrench on each link at its joint, about its origin."""
    gathered = [[tree.inertial_wrench(i, motions[i].U, motions[i].a)] for i in tree.links]
    for i, wrench in (external or {}).items():
        moment, force = tree.external_wrench(i, wrench)
        gathered[i].append(Wrench(tuple(-x for x in moment), tuple(-x for x in force)))
    found: dict[int, Wrench] = {}
    for i in reversed(tree.links):
        found[i] = sum_of_wrenches(*gathered[i])
        if i in tree.joints and not tree.on_ground(i):
            gathered[tree.parent[i]] += tree.wrenches_at_parent(i, found[i])
    return [found[i] for i in tree.links]


def torques(tree: Tree, qdd: Sequence[Term], wrenches: Sequence[Wrench]) -> list[Term]:
    """What the joints do of the wrenches on their links, with drives and friction."""
    tau = [tree.zero] * tree.nv
    if tree.robot.floating:
        tau[:6] = *wrenches[0].force, *wrenches[0].moment
    for i in tree.joints:
        k = tree.dof[i]
        own = tree.armature[i] * qdd[k] + tree.damping[i] * tree.qd[k]
        if i in tree.friction:
            own = own + tree.friction[i].torque(tree.qd[k])
        tau[k] = tree.along(i, wrenches[i]) + own
    return tau


def inverse_dynamics(
    tree: Tree, qdd: Sequence[Term], external: External | None = None
) -> list[Term]:
    """tau of the joints that move with qdd: M qdd + C."""
    return torques(tree, qdd, link_wrenches(tree, tree.motions(qdd), external))
