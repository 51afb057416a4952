"""Recursive algorithms for open chains and trees in space: articulated bodies, and Naudet's.

The same two as in :mod:`pymodel.algorithms.rivals.recursive`, for joints with one coordinate, on
:class:`pymodel.arith.terms.Terms`. Vectors and inertias stand in frames of the links, as Naudet has
them (paper 003, whose equation numbers these are), with z along the joints. The frames are chosen
for few operations, and the inertias are base parameters (:func:`pymodel.mechanism.screws.aligned`).
"""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.rigid_body.articulated_body import (
    Drive,
    forward_dynamics,
    gathered_body,
    rigid_body,
    through_joint,
)
from pymodel.algorithms.rigid_body.vectors import Vector3, dot, transpose
from pymodel.algorithms.rivals.common import refuse_springs
from pymodel.algorithms.rivals.screw_tree import ScrewTree
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms, total
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_of_scenario import robot_of
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.screws import aligned


def articulated_body(
    arithmetic: SupportsArithmetic[S], scenario: Scenario, q: Sequence[S], q_dot: Sequence[S]
) -> list[S]:
    """Joint accelerations by articulated bodies.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
    scenario : Scenario
        A tree, see :func:`pymodel.mechanism.robot_of_scenario.robot_of`.
    q, q_dot : sequence of n scalars
        Coordinates (rad, m) and their rates.

    Returns
    -------
    list of n scalars
        rad/s^2 and m/s^2.

    Raises
    ------
    ScenarioError
        If the scenario is something else.
    """
    terms = Terms(arithmetic)
    place, rates = ([terms.given(x) for x in values] for values in (q, q_dot))
    tree = ScrewTree(terms, _robot(scenario), place, rates)
    found = forward_dynamics(tree, _drives(terms, scenario, place), at_parent=tree.at_parent)
    return terms.results(found)


def canonical_momenta(
    arithmetic: SupportsArithmetic[S], scenario: Scenario, q: Sequence[S], p: Sequence[S]
) -> tuple[list[S], list[S]]:
    """Joint velocities and rates of the canonical momenta, by Naudet's algorithm.

    Parameters
    ----------
    arithmetic, scenario
        As for :func:`articulated_body`.
    q, p : sequence of n scalars
        Coordinates (rad, m) and momenta (N m s, N s).

    Returns
    -------
    q_dot, p_dot : list of n scalars
        rad/s and m/s, N m and N.

    Raises
    ------
    ScenarioError
        If the scenario is something else.
    """
    terms = Terms(arithmetic)
    place, momenta = ([terms.given(x) for x in values] for values in (q, p))
    tree = ScrewTree(terms, _robot(scenario), place)
    q_dot, p_dot = _canonical_rates(tree, momenta)
    for i, drive in enumerate(_drives(terms, scenario, place)):
        p_dot[i] = total([p_dot[i], drive, -(tree.damping[i] * q_dot[i])])
    found = terms.results([*q_dot, *p_dot])
    return found[: tree.nv], found[tree.nv :]


def _robot(scenario: Scenario) -> Robot:
    refuse_springs(scenario)
    return aligned(robot_of(scenario))


def _drives(terms: Terms[Any], scenario: Scenario, q: Sequence[Term]) -> list[Term]:
    """Torque or force of each joint, less its damping."""
    found: list[Term] = []
    for k, (body, size) in enumerate(zip(scenario.bodies, scenario.freedoms, strict=True)):
        if size.v:
            torque, spring, rest = (
                terms.parameter(f"body[{k}].{name}", float(getattr(body, name)))
                for name in ("torque", "spring", "rest")
            )
            found.append(torque - spring * (q[len(found)] - rest))
    return found


def _canonical_rates(tree: ScrewTree, p: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """q-dot, and p-dot without drives.

    Inward with articulated inertias (43), (46), (47) and remainders of momenta (44), (48): those of
    articulated bodies at rest, with momenta for forces.
    """
    still = (tree.origin,) * 3
    gathered = [[rigid_body(tree, i, still, None)] for i in tree.links]
    joints, bodies = {}, {}
    for i in reversed(tree.joints):
        body = gathered_body(gathered[i])
        joints[i], bodies[i] = through_joint(tree, i, body, Drive(None, None), p[i])
        if not tree.on_ground(i):
            gathered[tree.parent[i]].append(tree.at_parent(i, bodies[i], tree.origin))
    loads = _loads(tree)
    q_dot, p_dot = [], []
    moving: list[tuple[Vector3, Vector3]] = []
    for i in tree.joints:
        omega: Vector3 = tree.origin
        v: Vector3 = tree.origin
        rate = loads[i]
        if not tree.on_ground(i):
            omega, v = tree.velocity_of(i, *moving[tree.parent[i]])
            A, H, M, (moment, force) = bodies[i]
            # P* across the joint's axis, (39), and e_z of Omega x P*, (35).
            across = transpose(H)
            x, y = (total([dot(across[k], omega), dot(M[k], v), force[k]]) for k in (0, 1))
            change = [omega[0] * y, -(omega[1] * x)]
            if not tree.slides[i]:
                a, b = (total([dot(A[k], omega), dot(H[k], v), moment[k]]) for k in (0, 1))
                change = [v[0] * y, -(v[1] * x), omega[0] * b, -(omega[1] * a)]
            rate = total([rate, *(-term for term in change)])
        own = total([joints[i].t, -dot(joints[i].moment, omega), -dot(joints[i].force, v)])  # (45)
        q_dot.append(own)
        p_dot.append(rate)
        if tree.slides[i]:
            v = v[0], v[1], v[2] + own
        else:
            omega = omega[0], omega[1], omega[2] + own
        moving.append((omega, v))
    return q_dot, p_dot


def _loads(tree: ScrewTree) -> list[Term]:
    """What all weights do along each joint, E^T T* of (27)."""
    first = [tree.inertia[i].first for i in tree.links]
    mass = [tree.inertia[i].mass for i in tree.links]
    up: list[Vector3] = []
    for i in tree.joints:
        before = tree.gravity if tree.on_ground(i) else up[tree.parent[i]]
        up.append(tree.down(i, before))
    for i in reversed(tree.joints):
        parent = tree.parent[i]
        if not tree.on_ground(i):
            own = tree.first_moment_at_parent(i, first[i], mass[i])
            first[parent] = tuple(x + y for x, y in zip(first[parent], own, strict=True))
            mass[parent] = mass[parent] + mass[i]
    return [
        -(mass[i] * up[i][2]) if tree.slides[i] else first[i][1] * up[i][0] - first[i][0] * up[i][1]
        for i in tree.joints
    ]
