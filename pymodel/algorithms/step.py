"""One time step of a mechanism by HDCA: the algorithm text around the assembly.

Everything here is generic over its scalars (see :mod:`pymodel.arith.scalars`) and over the plane
and space (:mod:`pymodel.algorithms.space`), and is written as generators: assembly, disassembly and
the connection of a closed chain to the ground are *requested* (``yield``) from whoever drives the
generator (:mod:`pymodel.algorithms.requests`).

Equation numbers are those of paper 000, corrected where docs/theory.md says so, and generalised to
joints with other motions than a planar pin's. Loops are cut at their joints; the momenta of a
mechanism with loops are augmented, p = dT/dq-dot - J_c^T sigma with the impulses sigma of the cut
joints.

:func:`prepare` prepares a scenario: as a :class:`Chain` of bodies with two handles, the paper's
case, if it is one, otherwise as a :class:`Mechanism` of any tree and any loops. They differ in how
they find the impulses of the joints, and share everything else.
"""

import copy
from collections.abc import Callable, Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from pymodel.algorithms import drives, friction, gaps, gears, linalg, springs, two_handles
from pymodel.algorithms.bodies import BodyConstants, FreeBody, Numbers, SpatialBody
from pymodel.algorithms.linalg import difference, negative, transposed, vector_sum
from pymodel.algorithms.many_handles import Compound, Elimination
from pymodel.algorithms.posture import Posture, posture_of
from pymodel.algorithms.requests import BASE, Assemble, ConnectBase, Disassemble, Eliminate, Recover
from pymodel.algorithms.space import Plane, Pose, Space, Subspace, Twist
from pymodel.algorithms.sums import inward_sums, levers, outward_sums, tree_sum
from pymodel.arith.scalars import (
    Float64,
    Matrix,
    S,
    Scalar,
    SupportsArithmetic,
    SupportsValues,
    Vector,
)
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.rotations import hinge_directions
from pymodel.mechanism.scenario import FREE, GROUND, PRISMATIC, Scenario, ScenarioError
from pymodel.mechanism.topology import Connection, Handle, Topology, build_tree

Requests = Generator[Any, Any, Any]  #: yields requests, is sent their answers, returns a value
A = TypeVar("A", bound=SupportsArithmetic[Any])
V = TypeVar("V", bound=SupportsValues[Any])


class Rates(NamedTuple):
    """What one evaluation gives, for nv velocities and nq coordinates."""

    q_dot: list[Scalar]  # nv: rad/s and m/s
    p_dot: list[Scalar]  # nv: N m and N
    p: list[Scalar]  # nv: N m s and N s; the momenta it belongs to, re-based if that was asked for,
    # and 0 of joints that have a motion or mimic one, as is their p_dot
    t_cut: tuple[Scalar, ...]  # impulses of the loops' joints on their bodies, one a constraint
    eta: Matrix[Scalar] | None  # matrix that connects what closes the loops, None without
    q_rate: list[Scalar]  # nq: dq/dt, which is q_dot unless there are quaternions


class Mechanism(Generic[A]):
    """A scenario's mechanism, prepared for one arithmetic and one order of assembly.

    Any tree of bodies on the ground, with any loops. Joints are eliminated one by one
    (:mod:`pymodel.algorithms.many_handles`), those of loops as soon as their bodies are in one
    compound.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    scenario : pymodel.mechanism.scenario.Scenario
    shape : str or sequence of int
        Order of assembly, see :meth:`pymodel.mechanism.topology.Topology.assembly_order`.
    rebase : int
        Re-base the momenta of a mechanism with loops every so many steps; 0 = never.
    project : int
        Project the coordinates of a mechanism with loops onto these every so many steps, see
        :mod:`pymodel.algorithms.projection`, which re-bases as well; 0 = never.

    Attributes
    ----------
    size : int
        Number of bodies.
    nq, nv : int
        Numbers of coordinates, and of velocities or momenta.
    closed : bool
        Whether it has loops.
    integrator : str
        Its name, see :mod:`pymodel.algorithms.integrators`.
    """

    def __init__(
        self,
        arithmetic: A,
        scenario: Scenario,
        shape: str | Sequence[Any] = "balanced",
        rebase: int = 0,
        project: int = 0,
    ) -> None:
        self.scenario = scenario
        self.size = len(scenario.bodies)
        self.nq, self.nv = scenario.nq, scenario.nv
        self.closed = bool(scenario.loops)
        self.rebase, self.project = rebase, project
        self.topology = Topology(scenario)
        self.assembly = self._assembly(shape)
        self.integrator = scenario.integrator
        self._give_numbers(arithmetic)

    def _give_numbers(self, arithmetic: A) -> None:
        """Prepare what is made of scalars."""
        scenario = self.scenario
        self.arithmetic = arithmetic
        self.step = arithmetic.parameter("step", scenario.step)
        self.half_step = arithmetic.parameter("step / 2", scenario.step / 2)
        self.sixth_step = arithmetic.parameter("step / 6", scenario.step / 6)
        self.zero = arithmetic.parameter("zero", 0.0)
        self.space = (Space if scenario.spatial else Plane)(arithmetic)
        self.drives = drives.prepare(arithmetic, scenario)
        self.motions = drives.motions(arithmetic, scenario)
        self.gears = gears.prepare(arithmetic, scenario)
        self.friction = friction.prepare(arithmetic, scenario)
        numbers = Numbers(arithmetic, scenario)
        self.bodies = [numbers.body(self.topology, k, self._points(k)) for k in range(self.size)]
        self.hinges = [
            [
                numbers.on_body(loop.to, f"loop[{index}].direction[{i}]", direction)
                for i, direction in enumerate(hinge_directions(loop.to_axis))
            ]
            if loop.to_axis
            else []
            for index, loop in enumerate(scenario.loops)
        ]
        self.springs = springs.prepare(numbers, self.topology)
        self.gaps = gaps.prepare(numbers, self.topology) if self.project else []
        #: Of bodies whose momenta stand in their own axes, with no joint but their own: the inertia
        #: about the centre of mass, kg m^2.
        self.inertias = {
            k: numbers.inertia(k)
            for k, body in enumerate(self.bodies)
            if self.space.columns_turn_with(body.joint) == "body" and not self.topology.points[k]
        }

    def on(self, arithmetic: SupportsArithmetic[Any]) -> "Mechanism[Any]":
        """The same mechanism on another arithmetic."""
        other: Mechanism[Any] = copy.copy(self)
        other._give_numbers(arithmetic)
        return other

    def _assembly(self, shape: str | Sequence[Any]) -> Any:
        return self.topology.assembly_order(shape)

    def _points(self, k: int) -> list[Sequence[float]]:
        """Points of a body other than handle 1 where joints act."""
        return [point.at for point in self.topology.points[k]]

    def coordinates(self, k: int, q: Sequence[S]) -> list[S]:
        """The coordinates of a body's joint."""
        return list(q[self.scenario.q_slices[k]])

    def velocities(self, k: int, values: Sequence[S]) -> list[S]:
        """The velocities, or momenta, of a body's joint."""
        return list(values[self.scenario.v_slices[k]])

    def time(self, number: S) -> S | None:
        """t of the step of this number, s; None if nothing depends on time."""
        return number * self.step if self.scenario.is_driven else None

    def placed(self, q: list[Any], time: Any) -> list[Any]:
        """Coordinates with those of joints that have a motion, or mimic one, as that says."""
        q = list(q)
        for k, motion in self.motions.items():
            q[self.scenario.q_slices[k].start] = motion.position(time)
        for gear in self.gears:
            q[gear.place] = gear.multiplier * q[gear.of_place] + gear.offset
        return q

    def at_rest(self, values: list[Any]) -> list[Any]:
        """Momenta, or rates of these, with 0 for joints that have a motion, or mimic one."""
        values = list(values)
        for gear in self.gears:
            values[gear.own] = self.arithmetic.const(0.0)
        for k in self.motions:
            values[self.scenario.v_slices[k].start] = self.arithmetic.const(0.0)
        return values

    def motion_drifts(self, posture: Posture, time: Any) -> dict[int, dict[int, Twist]]:
        """Velocities that motions give joints, as ``drifts`` of :func:`free_bodies`."""
        return {
            k: {k: self.space.spread(posture.joints[k].freedoms, [-motion.velocity(time)])}
            for k, motion in self.motions.items()
        }

    def drive(self, k: int, time: Scalar | None) -> Scalar:
        """The torque of joint k, N m, at a time in s."""
        torque: Any = self.drives[k].torque(time) if k in self.drives else self.bodies[k].torque
        return torque

    def joint_torque(self, k: int, x: Any, rate: Any, time: Any) -> Any:
        """Torque of joint k with its spring, damping and friction, N m, at x and rate."""
        body: Any = self.bodies[k]
        found = (self.drive(k, time) - body.spring * (x - body.rest)) - body.damping * rate
        if k in self.friction:
            found = found - self.friction[k].torque(rate)
        return found

    def rebases_at(self, step: int) -> bool:
        """Whether the momenta are to be re-based before this step; not where it projects."""
        rebases = self.closed and self.rebase and not self.project
        return bool(rebases and step % self.rebase == 0)

    def projects_after(self, step: int) -> bool:
        """Whether what this step comes to is to be projected: after steps N, 2 N, ..."""
        return bool(self.closed and self.project and step and step % self.project == 0)

    def initial_state(
        self: "Mechanism[V]", scenario: Scenario
    ) -> tuple[list[Scalar], list[Scalar]]:
        """(q, p) at t = 0, computed in float64 and rounded once.

        Raises
        ------
        ScenarioError
            As :func:`pymodel.algorithms.drives.check`.
        """
        drives.check(self.arithmetic, scenario, self.drives)
        whole = joint_momenta(scenario, scenario.q0, scenario.qd0).tolist()
        momenta = gears.gathered(gears.prepare(Float64(), scenario), whole)
        const = self.arithmetic.const
        q = self.placed([const(x) for x in scenario.q0], self.time(const(0.0)))
        return q, self.at_rest([const(x) for x in momenta])

    def closing(self, poses: Sequence[Pose]) -> list[Subspace]:
        """What the joints of the loops take."""
        found = []
        for loop, hinge in zip(self.scenario.loops, self.hinges, strict=True):
            directions: Sequence[Vector[Scalar]] = hinge
            if loop.to != GROUND:
                directions = [self.space.rotate(poses[loop.to], v) for v in hinge]
            axes = poses[loop.to] if loop.axes_turn else None
            whole = self.space.closing(directions, axes)
            found.append(whole if loop.kept is None else tuple(whole[i] for i in loop.kept))
        return found

    def leaf(self, k: int, body: FreeBody[Any], taken: Sequence[Subspace]) -> Any:
        """What the assembly needs of a free body; ``taken`` as for :meth:`impulses`."""
        handles = [handle for handle in self.topology.handles[k] if taken[handle.joint]]
        return leaf(body, handles, taken)

    def impulses(self, leaves: Sequence[Any], taken: Sequence[Subspace]) -> Requests:
        """Assembly, connection to the ground, disassembly.

        Parameters
        ----------
        leaves : list
            Of each body what :meth:`leaf` gives.
        taken : list of Subspace
            What each joint of the topology takes.

        Yields
        ------
        Eliminate, Recover

        Returns
        -------
        impulses : list of lists of Twist
            On each body, at handle 1 and at each of its other handles; N s and N m s.
        t_cut, eta
            As in :class:`Rates`. Eta has the brackets of (33) of the joints that close loops on
            its diagonal. Where constraints depend on each other, one is singular.
        """
        topology, arithmetic = self.topology, self._of_requests()
        order = [index for index in self.assembly if taken[index]]
        part: dict[Handle, Compound] = {}  # handle -> the compound that it is on
        for own in leaves:
            part |= dict.fromkeys(own.xi_0, own)
        eliminated: dict[int, Elimination] = {}
        for index in order:
            a, b = topology.joints[index]
            parts = (part[b],) if a is None or part[a] is part[b] else (part[a], part[b])
            compound, eliminated[index] = yield Eliminate(parts, a, b, arithmetic)
            part |= dict.fromkeys(compound.xi_0, compound)

        found: dict[
            Handle, Vector[Scalar]
        ] = {}  # handle -> impulse on it, along what its joint takes
        for index in reversed(order):
            a, b = topology.joints[index]
            elimination = eliminated[index]
            found[b] = yield Recover(elimination, {h: found[h] for h in elimination.weights})
            if a is not None:
                found[a] = tuple(-t for t in found[b])

        impulses = [
            [
                self._total(
                    [
                        self.space.spread(taken[handle.joint], found[handle])
                        for handle in handles
                        if handle.place == place and handle in found
                    ]
                )
                for place in range(1 + len(points))
            ]
            for handles, points in zip(topology.handles, topology.points, strict=True)
        ]
        closing = [joint.b for joint in topology.loops if joint.b in found]
        t_cut = tuple(t for handle in closing for t in found[handle])
        matrices = [eliminated[handle.joint].matrix for handle in closing]
        return impulses, t_cut, linalg.block_diagonal(matrices, self.zero) if matrices else None

    def _of_requests(self) -> Terms[Any] | None:
        """What requests name as their arithmetic: None for that of the run."""
        return self.arithmetic if isinstance(self.arithmetic, Terms) else None

    @staticmethod
    def _total(twists: Sequence[Twist]) -> Twist:
        linear, angular = zip((None, None), *twists, strict=True)
        return Twist(vector_sum(*linear), vector_sum(*angular))


class Chain(Mechanism[A]):
    """Each body on the one before it, the last one free or pinned to the ground again.

    Bodies have two handles: the paper's assembly, base and disassembly, (27)-(46).

    Parameters
    ----------
    arithmetic, scenario, rebase, project
        As for :class:`Mechanism`.
    shape : str or nested tuple
        ``balanced``, ``left``, ``right``, or a tree of body indices such as ``((0, 1), 2)``.
    base : str
        How a closed chain is connected to the ground, one of
        :data:`pymodel.algorithms.requests.CLOSED_BASES`.

    Raises
    ------
    ScenarioError
        If the mechanism is another one.
    """

    def __init__(
        self,
        arithmetic: A,
        scenario: Scenario,
        shape: str | Sequence[Any] = "balanced",
        base: str = BASE,
        rebase: int = 0,
        project: int = 0,
    ) -> None:
        if not self.runs(scenario):
            reason = (
                "not a planar chain of pins, each body on the one before it, open or closed to the "
                "ground"
            )
            raise ScenarioError(scenario.source, "body", reason)
        super().__init__(arithmetic, scenario, shape, rebase, project)
        self.base = base

    @staticmethod
    def runs(scenario: Scenario) -> bool:
        """Whether a scenario is such a chain, all of pins."""
        ends = [(loop.body, loop.to) for loop in scenario.loops]
        return (
            scenario.pins_only
            and scenario.is_chain
            and ends in ([], [(len(scenario.bodies) - 1, GROUND)])
        )

    def _assembly(self, shape: Any) -> Any:
        return build_tree(shape, self.size)

    def _points(self, k: int) -> list[Sequence[float]]:
        return super()._points(k) or [self.scenario.bodies[k].tip]

    def leaf(self, k: int, body: FreeBody[Any], taken: Sequence[Subspace]) -> Any:
        """The coefficients of a body with two handles."""
        return body.coefficients((k, self.size if self.closed and k == self.size - 1 else None))

    def impulses(self, leaves: Sequence[Any], taken: Sequence[Subspace]) -> Requests:
        """Impulses of a chain, by Assemble, ConnectBase and Disassemble; eta is (43)."""
        compound, joints = yield from _assembly(self.assembly, leaves)
        eta = None
        if self.closed:
            request = base_closed(compound, self.base)
            eta = request.matrix
            t = yield request
            t_1, t_2 = t[:2], t[2:]
        else:
            t_1 = yield base_open(compound)
            t_2 = (self.zero, self.zero)
        impulses: dict[int, tuple[Vector[Scalar], Vector[Scalar]]] = {}
        yield from _disassembly(self.assembly, joints, t_1, t_2, impulses)
        on_bodies = [[Twist(t, None) for t in impulses[k]] for k in range(self.size)]
        return on_bodies, t_2, eta


def prepare(
    arithmetic: A,
    scenario: Scenario,
    shape: str | Sequence[Any] = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int = 0,
) -> Mechanism[A]:
    """A scenario prepared for one arithmetic, as a :class:`Chain` or a :class:`Mechanism`.

    Parameters
    ----------
    arithmetic, scenario, shape, rebase, project
        As for Mechanism and Chain.
    base : str
        As for :class:`Chain`; other mechanisms need 2x2 inverses only.
    """
    if Chain.runs(scenario):
        return Chain(arithmetic, scenario, shape, base, rebase, project)
    return Mechanism(arithmetic, scenario, shape, rebase, project)


def free_body(
    body: BodyConstants,
    space: Plane,
    pose: Pose,
    levers: Sequence[Vector[S]],
    known: Twist,
    drifts_of_joints: Mapping[int, Twist] = MappingProxyType({}),
) -> FreeBody[S]:
    """(13)-(19): inverse inertias of a free body at its handles, and its bias velocities.

    ``levers`` (m): from each handle to the centre of mass, ground frame; ``known``: the impulse of
    the momenta of all joints on the body, about its centre of mass; ``drifts_of_joints`` as for
    :class:`pymodel.algorithms.bodies.FreeBody`.
    """
    inverse_inertia = space.inverse_inertia(pose, body.inverse_inertia)
    return FreeBody(space, body.inverse_mass, inverse_inertia, levers, known, (), drifts_of_joints)


def leaf(body: FreeBody[Any], handles: Sequence[Handle], taken: Sequence[Subspace]) -> Compound:
    """A free body as a compound, at the handles of its joints."""
    pairs = [(g, h) for g in handles for h in handles if g <= h]
    xi = {(g, h): body.block(g.place, taken[g.joint], h.place, taken[h.joint]) for g, h in pairs}
    xi_0 = {g: body.bias(g.place, taken[g.joint], g.joint) for g in handles}
    return Compound(xi, xi_0)


def base_open(compound: two_handles.Coefficients) -> ConnectBase:
    """(40): D^T xi_11 D t_1 = -D^T xi_10 of a chain on the ground with a free end."""
    matrix = tuple(row[:2] for row in compound.xi_11[:2])
    return ConnectBase(matrix, tuple(-x for x in compound.xi_10[:2]), "adjugate")


def base_closed(compound: two_handles.Coefficients, base: str) -> ConnectBase:
    """(43) and the right-hand side of (42), corrected: eta [t_1; t_2] = -D^T [xi_10; xi_20]."""
    xi_11, xi_12, xi_22 = compound.xi_11, compound.xi_12, compound.xi_22
    upper = tuple((*xi_11[i][:2], *xi_12[i][:2]) for i in range(2))
    lower = tuple((xi_12[0][i], xi_12[1][i], *xi_22[i][:2]) for i in range(2))
    bias = (*compound.xi_10[:2], *compound.xi_20[:2])
    return ConnectBase((*upper, *lower), tuple(-x for x in bias), base)


def _assembly(tree: Any, leaves: Sequence[two_handles.Coefficients]) -> Requests:
    """Assemble a tree; returns its coefficients and a tree of the joints, for the way back."""
    found: list[tuple[two_handles.Coefficients, Any]] = []
    todo = [(tree, False)]  # not recursive: a tree may be as deep as it has bodies
    while todo:
        part, has_both = todo.pop()
        if isinstance(part, int):
            found.append((leaves[part], None))
        elif has_both:
            (b, joints_b), (a, joints_a) = found.pop(), found.pop()
            compound, joint = yield Assemble(a, b)
            found.append((compound, (joint, joints_a, joints_b)))
        else:
            todo += [(part, True), (part[1], False), (part[0], False)]
    return found.pop()


def _disassembly(
    tree: Any,
    joints: Any,
    t_1: Vector[Scalar],
    t_2: Vector[Scalar],
    impulses: dict[int, tuple[Vector[Scalar], Vector[Scalar]]],
) -> Requests:
    """Fill ``impulses[k] = (T_1, T_2)`` for every body of a tree, (45) and (46)."""
    todo = [(tree, joints, t_1, t_2)]
    while todo:
        tree, joints, t_1, t_2 = todo.pop()
        if isinstance(tree, int):
            impulses[tree] = (t_1, t_2)
            continue
        joint, joints_a, joints_b = joints
        t_1b = yield Disassemble(joint, t_1, t_2)
        t_2a = tuple(-t for t in t_1b)
        todo += [(tree[1], joints_b, t_1b, t_2), (tree[0], joints_a, t_1, t_2a)]


def rates(
    mechanism: Mechanism[Any],
    q: Sequence[Scalar],
    p: Sequence[Scalar],
    t_cut: Any = None,
    time: S | None = None,
) -> Requests:
    """q-dot and p-dot of a mechanism: (13)-(19), (27)-(51).

    Planar mechanisms of pins run on the scalars as they are. All others run on
    :class:`pymodel.arith.terms.Terms` of them, as their joints have many zeros and ones.

    Parameters
    ----------
    mechanism : Mechanism
    q : list of nq scalars
        Coordinates of the joints (rad, m, quaternions).
    p : list of nv scalars
        Joint momenta (N m s, N s).
    t_cut : a scalar for each constraint of the loops, optional
        Re-base first, see :func:`rebased`.
    time : scalar, optional
        t in s, which torques in time need.

    Yields
    ------
    Assemble, ConnectBase, Disassemble
        Requests of a chain, to be answered with ``send``.
    Eliminate, Recover
        Requests of every other mechanism.

    Returns
    -------
    Rates
    """
    return (yield from on_terms(_rates, mechanism, q, p, t_cut, time))


def on_terms(text: Callable[..., Requests], mechanism: Mechanism[Any], *given: Any) -> Requests:
    """Run a text on the scalars as they are, or on terms of them.

    Parameters
    ----------
    text : callable
        (mechanism, *given) -> generator of requests; it returns a tuple.
    *given : list of scalars, scalar, or None

    Returns
    -------
    tuple
        What the text returns, of the same type.
    """
    if mechanism.scenario.pins_only:
        return (yield from text(mechanism, *given))
    terms: Terms[Any] = Terms(mechanism.arithmetic, parameters_as_data=True)

    def as_terms(part: Any) -> Any:
        if isinstance(part, list | tuple):
            return [terms.given(x) for x in part]
        return None if part is None else terms.given(part)

    found = yield from text(mechanism.on(terms), *map(as_terms, given))
    needed = iter(terms.results(flat_terms(found)))

    def values(part: Any) -> Any:
        if isinstance(part, Term):
            return next(needed)
        if isinstance(part, list | tuple):
            make = getattr(part, "_make", type(part))
            return make(map(values, part))
        return part

    return values(found)


def flat_terms(parts: Any) -> list[Term]:
    """All terms in nested lists and tuples, in order."""
    if isinstance(parts, Term):
        return [parts]
    if isinstance(parts, list | tuple):
        return [term for part in parts for term in flat_terms(part)]
    return []


def _rates(
    mechanism: Mechanism[Any], q: list[Scalar], p: list[Scalar], t_cut: Any, time: Any
) -> Requests:
    bodies, topology = mechanism.bodies, mechanism.topology
    space: Any = mechanism.space
    everybody, parents = range(mechanism.size), topology.parents
    # body update
    poses = space.poses(mechanism, q)
    posture = posture_of(mechanism, poses, q)
    joints, s_12 = posture.joints, posture.s_12
    if t_cut is not None:
        p = rebased(mechanism, posture, p, t_cut)
    p = p_state = mechanism.at_rest(p)
    if mechanism.gears:
        p = yield from _with_gears(mechanism, poses, posture, p)
    known = [space.spread(joints[k].freedoms, mechanism.velocities(k, p)) for k in everybody]
    taken = taken_by(posture)
    drifts = mechanism.motion_drifts(posture, time)
    free, leaves = free_bodies(mechanism, poses, posture, p, known, drifts)

    impulses, t_cut, eta = yield from mechanism.impulses(leaves, taken)

    # (49): q-dot; velocity of handle 1 of each body
    q_dot, slips, omega, own_omega = joint_velocities(mechanism, posture, free, impulses)
    for k, motion in mechanism.motions.items():
        q_dot[mechanism.scenario.v_slices[k].start] = motion.velocity(time)
    q_dot = gears.spread(mechanism.gears, q_dot)
    moving: dict[int, Any] = {k: space.turned(omega[parents[k]], s_12[k]) for k in s_12}
    for k in slips:
        sliding: Any = slips[k]
        if bodies[k].joint == PRISMATIC:
            sliding, _ = space.spread(joints[k].freedoms, mechanism.velocities(k, q_dot))
        moving[k] = vector_sum(moving.get(k), sliding)
    q_rate = coordinate_rates(mechanism, q, q_dot, slips)
    axes = [
        outward_sums(topology, [moving[k][axis] if k in moving else None for k in everybody])
        for axis in range(space.dimension)
    ]
    velocity: list[Any] = [None if v[0] is None else v for v in zip(*axes, strict=True)]

    # (38), (39), (47): moment of the articulated loads, summed over the carried bodies
    moments = [
        [space.moment(posture.s_1c[k], bodies[k].weight)]
        + [space.moment(s_12[c], bodies[c].carried_weight) for c in topology.children[k]]
        for k in everybody
    ]
    first, turning_forces = 0, []
    for loop, joint, subspace in zip(
        mechanism.scenario.loops, topology.loops, posture.closing, strict=True
    ):
        a, b = joint
        own, first = t_cut[first : first + len(subspace)], first + len(subspace)
        if a is not None and own:  # how the impulse of a joint that moves changes, at both ends
            force, couple = space.spread(subspace, own)
            change: Any = None
            if force is not None:
                v: Any = vector_sum(velocity[b.body], space.turned(omega[b.body], posture.arm(b)))
                change = space.moment(v, force)
                if loop.axes_turn:
                    rate = space.turned(omega[a.body], force)
                    turning_forces.append((joint, negative(rate)))
            if couple is not None:  # its directions turn with the body of a
                change = vector_sum(change, space.moment(omega[a.body], couple))
            moments[b.body].append(negative(change))
            moments[a.body].append(change)
    totals = [vector_sum(*terms) for terms in moments]
    load = list(
        zip(
            *(
                inward_sums(topology, [total[axis] for total in totals])
                for axis in range(space.angles)
            ),
            strict=True,
        )
    )

    # (50), (51): p-dot
    p_dot = []
    for k, body in enumerate(bodies):
        force = _or(impulses[k][0].linear, known[k].linear)
        moment: Vector[Scalar] = load[k]
        if velocity[k] is not None and force is not None:
            moment = difference(moment, space.moment(velocity[k], force))
        carried: Any = body.carried_weight
        turns_with: dict[str | None, Any] = {
            "parent": omega[parents[k]] if k in s_12 else None,
            "body": omega[k],
        }
        turning = turns_with.get(space.columns_turn_with(body.joint))
        own_axes = space.columns_turn_with(body.joint) == "body"
        if turning is not None:
            couple = _or(impulses[k][0].angular, known[k].angular)
            if couple is not None and not own_axes:
                moment = vector_sum(moment, space.gyroscopic(couple, turning))
            if force is not None:
                carried = difference(carried, space.turned(turning, force))
        if own_axes:
            moves, turns = space.parted(joints[k].freedoms)
            own = space.across(moves, carried, None)
            if k in mechanism.inertias:  # about its own centre of mass, from its own inertia
                moved = tuple(own) if own else space.rotate(transposed(poses[k]), carried)
                turned = space.moment(body.com, moved)
                gyroscopic = space.gyroscopic_rate(mechanism.inertias[k], own_omega[k])
            else:
                turned = space.across(turns, None, moment)
                momenta = mechanism.velocities(k, p)[-space.angles :]
                gyroscopic = space.gyroscopic(tuple(momenta), own_omega[k])
            own += vector_sum(tuple(turned), gyroscopic)
        else:
            own = space.across(joints[k].freedoms, carried, moment)
        if len(own) == 1:
            (x,), (rate,) = mechanism.coordinates(k, q), mechanism.velocities(k, q_dot)
            own = [own[0] + mechanism.joint_torque(k, x, rate, time)]
        p_dot += own
    for joint, force in turning_forces:
        p_dot = _with_loop(mechanism, posture, p_dot, joint, Twist(force, None))
    pulls = springs.pulls(mechanism, poses, posture, q_dot)
    for index, terms in pulls.items():
        p_dot[index] = p_dot[index] - tree_sum(terms)
    p_dot = mechanism.at_rest(gears.gathered(mechanism.gears, p_dot))
    return Rates(q_dot, p_dot, p_state, tuple(t_cut), eta, q_rate)


def _with_gears(
    mechanism: Mechanism[Any], poses: Sequence[Pose], posture: Posture, p: list[Scalar]
) -> Requests:
    """Momenta of all joints, see :func:`pymodel.algorithms.gears.geared`."""
    space: Any = mechanism.space

    def velocities(p: list[Scalar]) -> Requests:
        freedoms = (joint.freedoms for joint in posture.joints)
        known = [space.spread(own, mechanism.velocities(k, p)) for k, own in enumerate(freedoms)]
        free, leaves = free_bodies(mechanism, poses, posture, p, known)
        impulses, _, _ = yield from mechanism.impulses(leaves, taken_by(posture))
        return joint_velocities(mechanism, posture, free, impulses)[0]

    return (yield from gears.geared(mechanism.arithmetic, mechanism.gears, p, velocities))


def taken_by(posture: Posture) -> list[Subspace]:
    """What each joint of the topology takes."""
    return [joint.constraints for joint in posture.joints] + posture.closing


def free_bodies(
    mechanism: Mechanism[Any],
    poses: Sequence[Pose],
    posture: Posture,
    p: Sequence[Scalar],
    known: Sequence[Twist],
    drifts: Mapping[int, Mapping[int, Twist]] = MappingProxyType({}),
) -> tuple[list[FreeBody[Any]], list[Any]]:
    """Each body alone, and what the assembly needs of it.

    Parameters
    ----------
    p : sequence of nv scalars
        Momenta of the joints.
    known : sequence of Twist
        The same as impulses of the joints, ground frame.
    drifts : dict, optional
        Body -> ``drifts_of_joints`` of :class:`pymodel.algorithms.bodies.FreeBody`.
    """
    bodies, taken = mechanism.bodies, taken_by(posture)
    space: Any = mechanism.space
    free: list[FreeBody[Any]] = []
    leaves = []
    for k in range(mechanism.size):
        s_1c, own_drifts = posture.s_1c[k], drifts.get(k, {})
        levers = [s_1c, *(difference(s_1c, s) for s in posture.arms[k])]
        if space.angles == 1:
            momentum = known_impulse(mechanism, known, levers, k)
            free.append(free_body(bodies[k], space, poses[k], levers, momentum, own_drifts))
        else:
            own = space.own_twist(bodies[k].joint, mechanism.velocities(k, p))
            local = local_levers(mechanism, poses[k], levers, k)
            momentum = known_in_axes(mechanism, poses[k], own, known, local, k)
            inverse = bodies[k].inverse_mass, poses[k], bodies[k].inverse_inertia
            free.append(SpatialBody(space, *inverse, levers, local, momentum, (), own_drifts))
        leaves.append(mechanism.leaf(k, free[k], taken))
    return free, leaves


def joint_velocities(
    mechanism: Mechanism[Any],
    posture: Posture,
    free: Sequence[FreeBody[Any]],
    impulses: Sequence[Sequence[Twist]],
) -> tuple[list[Scalar], dict[int, Vector[Any]], list[Vector[Any]], dict[int, Vector[Any]]]:
    """(49): velocities that impulses give.

    Returns
    -------
    q_dot : list of nv scalars
    slips : dict
        Body that slides or is free -> velocity of its handle 1 over that of where it is attached.
    omega : list of vectors
        Angular velocity of each body, ground frame.
    own_omega : dict
        In space: body -> the same in its axes.
    """
    bodies, topology = mechanism.bodies, mechanism.topology
    space: Any = mechanism.space
    own_omega: dict[int, Vector[Scalar]] = {}
    omega = []
    for k, one in enumerate(free):
        if isinstance(one, SpatialBody):
            own_omega[k] = one.local_angular_velocity(impulses[k])
            omega.append(space.rotate(one.pose, own_omega[k]))
        else:
            omega.append(one.angular_velocity(impulses[k]))
    q_dot: list[Scalar] = []
    slips: dict[int, Vector[Scalar]] = {}
    for k in range(mechanism.size):
        a, b = topology.joints[k]
        before = None if a is None else omega[a.body]
        if bodies[k].joint in (PRISMATIC, FREE):
            slips[k] = free[k].velocity(b.place, impulses[k], omega[k])
            if a is not None:
                on_parent = free[a.body].velocity(a.place, impulses[a.body], omega[a.body])
                slips[k] = difference(slips[k], on_parent)
        freedoms = posture.joints[k].freedoms
        if k in own_omega:
            moves, turns = space.parted(freedoms)
            own = own_omega[k][space.angles - len(turns) :]
            shared = None if before is None else tuple(space.across(turns, None, before))
            q_dot += [*space.across(moves, slips.get(k), None), *difference(own, shared)]
        else:
            q_dot += space.across(freedoms, slips.get(k), difference(omega[k], before))
    return q_dot, slips, omega, own_omega


def coordinate_rates(
    mechanism: Mechanism[Any],
    q: Sequence[Scalar],
    q_dot: Sequence[Scalar],
    slips: Mapping[int, Vector[Any]],
) -> list[Scalar]:
    """dq/dt of velocities, as :func:`joint_velocities` gives them; nq scalars."""
    return [
        rate
        for k, body in enumerate(mechanism.bodies)
        for rate in mechanism.space.coordinate_rates(
            body.joint,
            mechanism.coordinates(k, q),
            mechanism.velocities(k, q_dot),
            slips.get(k),
        )
    ]


def _or(v: Vector[S] | None, w: Vector[S] | None) -> Vector[S] | None:
    return w if v is None else v


def known_impulse(
    mechanism: Mechanism[Any], known: Sequence[Twist], levers: Sequence[Vector[S]], k: int
) -> Twist:
    """Of the momenta of the joints on body k: about its centre of mass."""
    space, topology = mechanism.space, mechanism.topology
    children = [
        (known[c], levers[topology.joints[c].on_parent.place]) for c in topology.children[k]
    ]
    outer = vector_sum(*(child.angular for child, _ in children))
    moment = known[k].angular
    if outer is not None:
        moment = negative(outer) if moment is None else difference(moment, outer)
    linear = [(known[k].linear, levers[0])]
    linear += [(child.linear and negative(child.linear), lever) for child, lever in children]
    forces = [(force, lever) for force, lever in linear if force is not None]
    for force, lever in forces:  # a force at a handle, about the centre of mass
        arm = space.moment(lever, force)
        moment = negative(arm) if moment is None else difference(moment, arm)
    return Twist(vector_sum(*(force for force, _ in forces)), moment)


def local_levers(
    mechanism: Mechanism[Any], pose: Pose, levers: Sequence[Vector[S]], k: int
) -> list[Vector[S]]:
    """Levers of body k, from its handles to its centre of mass, in its own frame.

    They are constants but where a joint slides.
    """
    body, points = mechanism.bodies[k], mechanism.topology.points[k]
    return [
        body.com,
        *(
            difference(body.com, at)
            if point.slide is None
            else mechanism.space.rotate(transposed(pose), lever)
            for at, point, lever in zip(body.handles, points, levers[1:], strict=True)
        ),
    ]


def known_in_axes(
    mechanism: Mechanism[Any],
    pose: Pose,
    own: Twist,
    known: Sequence[Twist],
    local: Sequence[Vector[S]],
    k: int,
) -> Twist:
    """As :func:`known_impulse` in space: the force in the ground's axes, the moment in the body's.

    ``own``: what the momenta of its own joint are in the body's axes; ``local``: its levers.
    """
    space, topology, to_own = mechanism.space, mechanism.topology, transposed(pose)
    force, moments = known[k].linear, [own.angular]
    if own.linear is not None:
        moments.append(space.moment(own.linear, local[0]))
    for c in topology.children[k]:
        pull, couple = known[c]
        if pull is not None:
            force = negative(pull) if force is None else difference(force, pull)
            lever = local[topology.joints[c].on_parent.place]
            moments.append(space.moment(lever, space.rotate(to_own, pull)))
        if couple is not None:
            moments.append(negative(space.rotate(to_own, couple)))
    return Twist(force, vector_sum(*moments))


def rebased(
    mechanism: Mechanism[Any], posture: Posture, p: list[Scalar], t_cut: Sequence[S]
) -> list[Scalar]:
    """The momenta with J_c^T t_cut added, for each loop, cut at c.

    It changes no motion; with the impulses that the cut joints had a step ago it keeps sigma, and
    with it the rounding errors, small.
    """
    topology, first = mechanism.topology, 0
    for joint, subspace in zip(topology.loops, posture.closing, strict=True):
        own, first = t_cut[first : first + len(subspace)], first + len(subspace)
        if own:  # else all that the joint takes follows from the rest
            p = _with_loop(mechanism, posture, p, joint, mechanism.space.spread(subspace, own))
    return p


def _with_loop(
    mechanism: Mechanism[Any],
    posture: Posture,
    values: list[Scalar],
    joint: Connection,
    impulse: Twist,
) -> list[Scalar]:
    """Values of all velocities with what an impulse T_c in the joint c of a loop is to them added.

    Joint k feels it with the moment (r_c - r_k) x T_c. Plus for joints that carry only the loop's
    first body, minus for those that carry only the other one, nothing for those that carry both.
    """
    values, topology, space = list(values), mechanism.topology, mechanism.space
    (a, b), (force, couple) = joint, impulse
    other = GROUND if a is None else a.body
    for end, way in (
        (b, topology.way(b.body, other)),
        (a, topology.way(other, b.body)),
    ):
        if end is None or not way:
            continue
        outward = [*(posture.s_12[k] for k in way[1:]), posture.arm(end)]
        for k, lever in zip(way, levers(outward), strict=True):
            moment = vector_sum(force and space.moment(lever, force), couple)
            places = range(mechanism.nv)[mechanism.scenario.v_slices[k]]
            freedoms = posture.joints[k].freedoms
            for index, x in zip(places, space.across(freedoms, force, moment), strict=True):
                if x is not None:
                    values[index] = values[index] + x if end is b else values[index] - x
    return values
