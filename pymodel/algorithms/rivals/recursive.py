"""Recursive algorithms for open planar chains and trees: articulated bodies, and Naudet's.

Featherstone's articulated-body algorithm (1983) gives accelerations, Naudet's (paper 003, whose
equation numbers these are) joint velocities and rates of the canonical momenta. Both go inward once
and outward once, and both reduce the same articulated inertia: of a pin joint it leaves 2x2. So
they share that, and differ in what goes with it: bias forces, or remainders of momenta (44).

Vectors are in the ground frame. Naudet writes them in frames of the bodies; in the plane that would
cost the turning of every 2x2 matrix.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.bodies import Numbers
from pymodel.algorithms.linalg import cross, dot, rotate
from pymodel.algorithms.rivals.common import joint_torques, refuse_springs
from pymodel.algorithms.space import Plane
from pymodel.algorithms.step import Mechanism
from pymodel.arith.scalars import Matrix, S, Scalar, SupportsArithmetic, Vector
from pymodel.mechanism.scenario import Scenario, ScenarioError


class Link(NamedTuple):
    """Parameter-only values of a body's inertia about its handle 1."""

    mass: Any  # kg
    first_moment: Vector[Scalar]  # kg m, mass times the vector to the centre of mass, body frame
    inertia: Any  # kg m^2, about handle 1


class Linkage(Mechanism[SupportsArithmetic[Any]]):
    """A tree of bodies, prepared for the recursive algorithms.

    Parameters
    ----------
    arithmetic, scenario
        As for :class:`pymodel.algorithms.step.Mechanism`.

    Attributes
    ----------
    gravity : 2 scalars
        m/s^2.
    links : list of Link

    Raises
    ------
    ScenarioError
        If the mechanism has loops, springs between points, or joints other than pins.
    """

    def __init__(self, arithmetic: SupportsArithmetic[Any], scenario: Scenario) -> None:
        if scenario.loops:
            raise ScenarioError(scenario.source, "loop", "recursive algorithms take trees only")
        if not scenario.pins_only:
            raise ScenarioError(scenario.source, "joint", "this text takes planar pins only")
        refuse_springs(scenario)
        super().__init__(arithmetic, scenario)
        numbers = Numbers(arithmetic, scenario)
        self.gravity = numbers.vector("gravity", scenario.gravity)
        self.links = []
        for k, body in enumerate(numbers.lending.bodies):
            x, y = body.com
            assert isinstance(body.inertia, float)
            values = {
                "mass": body.mass,
                "first_moment.x": body.mass * x,
                "first_moment.y": body.mass * y,
                "inertia": body.inertia + body.mass * (x * x + y * y),
            }
            mass, m_x, m_y, inertia = (
                arithmetic.parameter(f"body[{k}].{name}", value) for name, value in values.items()
            )
            self.links.append(Link(mass, (m_x, m_y), inertia))


class _Posture(NamedTuple):
    """Vectors of a posture, ground frame."""

    moments: list[
        Vector[Scalar]
    ]  # of each body: mass times the vector from handle 1 to the centre of mass
    arms: list[Any]  # from handle 1 of the parent to that of each body; None on the ground


def _posture(linkage: Linkage, q: Sequence[S]) -> _Posture:
    headings, moments = [], []
    arms: list[Any] = []
    for k, angle in enumerate(_outward(linkage, q)):
        sin, cos = linkage.arithmetic.sincos(angle)
        headings.append((cos, sin))
        moments.append(rotate((cos, sin), linkage.links[k].first_moment))
        at = linkage.topology.joints[k].a
        if at is None:
            arms.append(None)
        else:
            point = linkage.bodies[at.body].handles[at.place - 1]
            arms.append(rotate(headings[at.body], point))
    return _Posture(moments, arms)


def _outward(linkage: Linkage, values: Sequence[S]) -> list[S]:
    """Sum of each body's scalar and those of all it hangs on, one after the other."""
    sums: list[S] = []
    for k, x in enumerate(values):
        sums.append(x if _on_ground(linkage, k) else sums[linkage.topology.parents[k]] + x)
    return sums


def _on_ground(linkage: Linkage, k: int) -> bool:
    return linkage.topology.joints[k].a is None


class _Joint(NamedTuple):
    """What the way outward, and the terms of the way inward, need of a joint."""

    reduced: Matrix[
        Scalar
    ]  # M', 2x2, kg: force by velocity of the pin when the joint gives way (47)
    coupling: Vector[Scalar]  # kg m, moment by velocity and force by turning
    weights: Vector[Scalar]  # 1/m, coupling by joint inertia
    inverse: Any  # 1/(kg m^2), of the joint inertia M_j (46)


def _joints(linkage: Linkage, posture: _Posture) -> list[_Joint]:
    """Articulated inertias from the tips inward, (43), (46), (47)."""
    joints: dict[int, _Joint] = {}
    for k in reversed(range(linkage.size)):
        mass, _, inertia = linkage.links[k]
        x, y = posture.moments[k]
        xx, xy, yy, coupling = mass, linkage.zero, mass, (-y, x)
        for c in linkage.topology.children[k]:
            arm, m = posture.arms[c], joints[c].reduced
            # Velocity of the child's pin by turning: (-arm_y, arm_x).
            push = tuple(m[i][1] * arm[0] - m[i][0] * arm[1] for i in range(2))
            xx, xy, yy = xx + m[0][0], xy + m[0][1], yy + m[1][1]
            coupling = coupling[0] + push[0], coupling[1] + push[1]
            inertia = inertia + cross(arm, push)
        inverse = linkage.arithmetic.recip(inertia)
        weights = coupling[0] * inverse, coupling[1] * inverse
        xy = xy - weights[0] * coupling[1]
        reduced = (
            (xx - weights[0] * coupling[0], xy),
            (xy, yy - weights[1] * coupling[1]),
        )
        joints[k] = _Joint(reduced, coupling, weights, inverse)
    return [joints[k] for k in range(linkage.size)]


def _through(joint: _Joint, force: Vector[Scalar], moment: Scalar) -> tuple[Vector[Scalar], Scalar]:
    """Force of a joint that gives way until its moment has grown by so much; and the turn."""
    turn = joint.inverse * moment
    return tuple(force[i] + joint.coupling[i] * turn for i in range(2)), turn


def articulated_body(linkage: Linkage, q: Sequence[S], q_dot: Sequence[S]) -> list[S]:
    """Joint accelerations by articulated bodies.

    Parameters
    ----------
    linkage : Linkage
    q, q_dot : sequence of n scalars
        Joint angles relative to the parent (rad) and their rates (rad/s).

    Returns
    -------
    list of n scalars
        rad/s^2.
    """
    topology, zero = linkage.topology, linkage.zero
    posture = _posture(linkage, q)
    joints = _joints(linkage, posture)
    tau = [x for (x,) in joint_torques(linkage, q, q_dot)]
    squares = [omega * omega for omega in _outward(linkage, q_dot)]
    inward = [  # centripetal acceleration of each body's pin, seen from its parent's
        arm and tuple(squares[topology.parents[k]] * x for x in arm)
        for k, arm in enumerate(posture.arms)
    ]
    turns: dict[int, Scalar] = {}
    felt: dict[int, Vector[Scalar]] = {}
    for k in reversed(range(linkage.size)):
        force: Vector[Scalar] = tuple(-(squares[k] * x) for x in posture.moments[k])
        moment = zero
        for c in topology.children[k]:
            force = force[0] + felt[c][0], force[1] + felt[c][1]
            moment = moment + (tau[c] + cross(posture.arms[c], felt[c]))
        force, turns[k] = _through(joints[k], force, tau[k] - moment)
        if inward[k]:
            force = tuple(force[i] - dot(joints[k].reduced[i], inward[k]) for i in range(2))
        felt[k] = force
    alpha: list[S] = []
    pins: list[Vector[S]] = []
    found = []
    for k in range(linkage.size):
        if _on_ground(linkage, k):
            pin: Vector[S] = tuple(-x for x in linkage.gravity)  # the frame falls freely
        else:
            parent = topology.parents[k]
            carried = Plane.turned((alpha[parent],), posture.arms[k])
            pin = tuple((pins[parent][i] + carried[i]) - inward[k][i] for i in range(2))
        pins.append(pin)
        alpha.append(turns[k] - dot(joints[k].weights, pin))
        found.append(_relative(linkage, alpha, k))
    return found


def canonical_momenta(linkage: Linkage, q: Sequence[S], p: Sequence[S]) -> tuple[list[S], list[S]]:
    """Joint velocities and rates of the canonical momenta, by Naudet's algorithm.

    Parameters
    ----------
    linkage : Linkage
    q, p : sequence of n scalars
        Joint angles relative to the parent (rad) and joint momenta (N m s).

    Returns
    -------
    q_dot, p_dot : list of n scalars
        rad/s and N m.
    """
    topology, zero = linkage.topology, linkage.zero
    posture = _posture(linkage, q)
    joints = _joints(linkage, posture)
    turns: dict[int, Scalar] = {}
    remainders: dict[int, Vector[Scalar]] = {}
    loads: dict[int, Scalar] = {}
    for k in reversed(range(linkage.size)):
        force: Vector[Scalar] = (zero, zero)
        moment = zero  # D_K, (44)
        loads[k] = cross(posture.moments[k], linkage.gravity)  # T*_K about the joint, (27)
        for c in topology.children[k]:
            outer = remainders[c]
            force = force[0] + outer[0], force[1] + outer[1]
            moment = moment + (p[c] + cross(posture.arms[c], outer))
            weight = linkage.bodies[c].carried_weight
            loads[k] = loads[k] + (loads[c] + cross(posture.arms[c], weight))
        remainders[k], turns[k] = _through(joints[k], force, p[k] - moment)  # D'_K, (48)
    omega: list[S] = []
    pins: list[Vector[S]] = []
    q_dot, rates = [], []
    for k in range(linkage.size):
        rate = loads[k]
        if _on_ground(linkage, k):
            pin: Vector[S] = (zero, zero)
            omega.append(turns[k])
        else:
            parent = topology.parents[k]
            carried = Plane.turned((omega[parent],), posture.arms[k])
            pin = tuple(pins[parent][i] + carried[i] for i in range(2))
            omega.append(turns[k] - dot(joints[k].weights, pin))
            momentum = [dot(joints[k].reduced[i], pin) + remainders[k][i] for i in range(2)]  # (39)
            rate = rate - cross(pin, momentum)  # (35)
        pins.append(pin)
        q_dot.append(_relative(linkage, omega, k))  # (45)
        rates.append(rate)
    tau = [x for (x,) in joint_torques(linkage, q, q_dot)]
    return q_dot, [rate + t for rate, t in zip(rates, tau, strict=True)]


def _relative(linkage: Linkage, absolute: Sequence[S], k: int) -> S:
    own = absolute[k]
    return own if _on_ground(linkage, k) else own - absolute[linkage.topology.parents[k]]
