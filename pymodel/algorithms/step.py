"""One time step of a planar mechanism by HDCA: the algorithm text around the assembly.

Everything here is generic over its scalars (see :mod:`pymodel.arith.scalars`), and is written as
generators: assembly, disassembly and the connection of a closed chain to the ground are
*requested* (``yield``) from whoever drives the generator
(:mod:`pymodel.algorithms.requests`).

Equation numbers are those of paper 000, corrected where docs/theory.md says so. Loops are cut at
their pins; the momenta of a mechanism with loops are augmented, p = dT/dq-dot - J_c^T sigma with
the impulses sigma of the cut pins.

:func:`prepare` prepares a scenario: as a :class:`Chain` of bodies with two handles, the paper's
case, if it is one, otherwise as a :class:`Mechanism` of any tree and any loops. They differ in how
they find the impulses of the joints, and share everything else.
"""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms import drives, linalg, springs, two_handles
from pymodel.algorithms.linalg import cross, dot, rotate
from pymodel.algorithms.many_handles import Compound
from pymodel.algorithms.requests import BASE, Assemble, ConnectBase, Disassemble, Eliminate, Recover
from pymodel.algorithms.sums import inward_sums, levers, outward_sums, tree_sum
from pymodel.arith.scalars import Matrix, S, SupportsArithmetic, Vector
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import GROUND, Scenario, ScenarioError
from pymodel.mechanism.topology import Topology, build_tree

Requests = Generator[Any, Any, Any]  #: yields requests, is sent their answers, returns a value


class Rates(NamedTuple):
    """What one evaluation gives."""

    q_dot: list  # rad/s
    p_dot: list  # N m
    p: list  # N m s; the momenta it belongs to, re-based if that was asked for
    t_cut: tuple  # N s, impulses of the loops' pins on their bodies, 2 each; zero for an open chain
    eta: tuple  # matrix that connects what closes the loops, None without


class BodyConstants(NamedTuple):
    """Parameter-only values of one body, each rounded once from float64."""

    inverse_mass: object  # 1/kg
    inverse_inertia: object  # 1/(kg m^2)
    com: tuple  # m, handle 1 to centre of mass, body frame
    handles: tuple  # m, handle 1 to handle 2 and further ones, body frame
    weight: tuple  # N
    carried_weight: tuple  # N, of this body and all that it carries
    torque: object  # N m; None if it depends on time
    spring: object  # N m/rad
    rest: object  # rad
    damping: object  # N m s/rad


class Mechanism:
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

    Attributes
    ----------
    size : int
        Number of bodies.
    closed : bool
        Whether it has loops.
    integrator : str
        Its name, see :mod:`pymodel.algorithms.integrators`.
    """

    def __init__(
        self,
        arithmetic: SupportsArithmetic,
        scenario: Scenario,
        shape: str | Sequence = "balanced",
        rebase: int = 0,
    ) -> None:
        self.arithmetic = arithmetic
        self.size = len(scenario.bodies)
        self.closed = bool(scenario.loops)
        self.rebase = rebase
        self.topology = Topology(scenario)
        self.assembly = self._assembly(shape)
        self.step = arithmetic.parameter("step", scenario.step)
        self.half_step = arithmetic.parameter("step / 2", scenario.step / 2)
        self.sixth_step = arithmetic.parameter("step / 6", scenario.step / 6)
        self.zero = arithmetic.parameter("zero", 0.0)
        self.integrator = scenario.integrator
        self.drives = drives.prepare(arithmetic, scenario)
        self.bodies = [self._constants(scenario, k) for k in range(self.size)]
        self.springs = springs.prepare(arithmetic, scenario, self.topology)

    def _assembly(self, shape: str | Sequence) -> Any:
        return self.topology.assembly_order(shape)

    def _handles(self, scenario: Scenario, k: int) -> Sequence:
        return self.topology.points[k]

    def _constants(self, scenario: Scenario, k: int) -> BodyConstants:
        body, gravity = scenario.bodies[k], scenario.gravity
        carried_mass = sum(scenario.bodies[j].mass for j in self.topology.carried[k])

        def scalar(name: str, x: float) -> Any:
            return self.arithmetic.parameter(f"body[{k}].{name}", x)

        def vector(name: str, v: Sequence[float]) -> tuple:
            return tuple(scalar(f"{name}.{axis}", x) for axis, x in zip("xy", v, strict=True))

        handles = enumerate(self._handles(scenario, k), start=2)
        return BodyConstants(
            inverse_mass=scalar("inverse_mass", 1.0 / body.mass),
            inverse_inertia=scalar("inverse_inertia", 1.0 / body.inertia),
            com=vector("com", body.com),
            handles=tuple(vector(f"handle[{i}]", point) for i, point in handles),
            weight=vector("weight", [body.mass * g for g in gravity]),
            carried_weight=vector("carried_weight", [carried_mass * g for g in gravity]),
            torque=None if k in self.drives else scalar("torque", body.torque),
            spring=scalar("spring", body.spring),
            rest=scalar("rest", body.rest),
            damping=scalar("damping", body.damping),
        )

    def rebases_at(self, step: int) -> bool:
        """Whether the momenta are to be re-based before this step."""
        return bool(self.closed and self.rebase and step % self.rebase == 0)

    def time(self, number: S) -> S | None:
        """t of the step of this number, s; None if no torque depends on time."""
        return number * self.step if self.drives else None

    def drive(self, k: int, time: S | None) -> S:
        """The torque of joint k, N m, at a time in s."""
        return self.drives[k].torque(time) if k in self.drives else self.bodies[k].torque

    def initial_state(self, scenario: Scenario) -> tuple[list, list]:
        """(q, p) at t = 0, computed in float64 and rounded once.

        Raises
        ------
        ScenarioError
            As :func:`pymodel.algorithms.drives.check`.
        """
        drives.check(self.arithmetic, scenario, self.drives)
        momenta = joint_momenta(scenario, scenario.q0, scenario.qd0)
        const = self.arithmetic.const
        return tuple([const(x) for x in values] for values in (scenario.q0, momenta))

    def impulses(self, bodies: Sequence["FreeBody"]) -> Requests:
        """Assembly, connection to the ground, disassembly.

        Parameters
        ----------
        bodies : list of FreeBody

        Yields
        ------
        Eliminate, Recover

        Returns
        -------
        impulses : list of lists of 2-vectors
            On each body, at handle 1 and at each of its other handles; N s.
        t_cut, eta
            As in :class:`Rates`. Eta has the brackets of (33) of the joints that close loops on
            its diagonal, 2x2 each. Where constraints depend on each other, one is singular.
        """
        topology = self.topology
        part = {}  # handle -> the compound that it is on
        for body, handles in zip(bodies, topology.handles, strict=True):
            part |= dict.fromkeys(handles, leaf(body, handles))
        eliminated = {}
        for index in self.assembly:
            a, b = topology.joints[index]
            parts = (part[b],) if a is None or part[a] is part[b] else (part[a], part[b])
            compound, eliminated[index] = yield Eliminate(parts, a, b)
            part |= dict.fromkeys(compound.xi_0, compound)

        found = {}  # handle -> impulse on it
        for index in reversed(self.assembly):
            a, b = topology.joints[index]
            elimination = eliminated[index]
            found[b] = yield Recover(elimination, {h: found[h] for h in elimination.weights})
            if a is not None:
                found[a] = tuple(-t for t in found[b])

        def total(handles: Sequence, place: int) -> tuple:
            at_place = [found[handle] for handle in handles if handle.place == place]
            return tuple(tree_sum(axis) for axis in zip(*at_place, strict=True))

        impulses = [
            [total(handles, place) for place in range(len(body.xi_0))]
            for body, handles in zip(bodies, topology.handles, strict=True)
        ]
        t_cut = tuple(t for joint in topology.loops for t in found[joint.b])
        matrices = [eliminated[joint.b.joint].matrix for joint in topology.loops]
        return impulses, t_cut, linalg.block_diagonal(matrices, self.zero) if matrices else None


class Chain(Mechanism):
    """Each body on the one before it, the last one free or pinned to the ground again.

    Bodies have two handles: the paper's assembly, base and disassembly, (27)-(46).

    Parameters
    ----------
    arithmetic, scenario, rebase
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
        arithmetic: SupportsArithmetic,
        scenario: Scenario,
        shape: str | Sequence = "balanced",
        base: str = BASE,
        rebase: int = 0,
    ) -> None:
        if not self.runs(scenario):
            reason = "not a chain of each body on the one before it, open or closed to the ground"
            raise ScenarioError(scenario.source, "body", reason)
        super().__init__(arithmetic, scenario, shape, rebase)
        self.base = base

    @staticmethod
    def runs(scenario: Scenario) -> bool:
        """Whether a scenario is such a chain."""
        ends = [(loop.body, loop.to) for loop in scenario.loops]
        return scenario.is_chain and ends in ([], [(len(scenario.bodies) - 1, GROUND)])

    def _assembly(self, shape: str | Sequence) -> Any:
        return build_tree(shape, self.size)

    def _handles(self, scenario: Scenario, k: int) -> Sequence:
        return super()._handles(scenario, k) or [scenario.bodies[k].tip]

    def impulses(self, bodies: Sequence["FreeBody"]) -> Requests:
        """Impulses of a chain, by Assemble, ConnectBase and Disassemble; eta is (43)."""
        leaves = [body.coefficients() for body in bodies]
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
        impulses = [None] * self.size
        yield from _disassembly(self.assembly, joints, t_1, t_2, impulses)
        return impulses, t_2, eta


def prepare(
    arithmetic: SupportsArithmetic,
    scenario: Scenario,
    shape: str | Sequence = "balanced",
    base: str = BASE,
    rebase: int = 0,
) -> Mechanism:
    """A scenario prepared for one arithmetic, as a :class:`Chain` or a :class:`Mechanism`.

    Parameters
    ----------
    arithmetic, scenario, shape, rebase
        As for Mechanism and Chain.
    base : str
        As for :class:`Chain`; other mechanisms need 2x2 inverses only.
    """
    if Chain.runs(scenario):
        return Chain(arithmetic, scenario, shape, base, rebase)
    return Mechanism(arithmetic, scenario, shape, rebase)


class FreeBody(NamedTuple):
    """(13)-(19): coefficients of a body alone, for any number of handles, numbered from 0."""

    xi: dict  # (g, h) with g <= h -> xi_gh, 3x3
    xi_0: list  # xi_g0, 3-vectors

    def coefficients(self) -> two_handles.Coefficients:
        """Coefficients of a body with two handles."""
        xi, xi_0 = self
        return two_handles.Coefficients(xi[0, 0], xi[0, 1], xi[1, 1], xi_0[0], xi_0[1])


def free_body(body: BodyConstants, levers: Sequence[Vector[S]], net_momentum: S) -> FreeBody:
    """(13)-(19): inverse inertias of a free body at its handles, and its bias velocities.

    With xi_gh = S_gC^-T M_C^-1 S_hC^-1. ``levers`` (m): from each handle to the centre of mass,
    ground frame; ``net_momentum`` (N m s): of the joint at handle 1, less those at the others.
    """
    zero_tilt = body.inverse_inertia
    rotations = [(s[1] * zero_tilt, -(s[0] * zero_tilt)) for s in levers]  # (s_y, -s_x) / J

    def xi(g: int, h: int) -> Matrix[S]:
        s, rotation_g, rotation_h = levers[h], rotations[g], rotations[h]
        coupling = -(s[0] * rotation_g[0])
        mirrored = coupling if g == h else rotation_g[1] * s[1]
        return (
            (body.inverse_mass + s[1] * rotation_g[0], coupling, rotation_g[0]),
            (mirrored, body.inverse_mass - s[0] * rotation_g[1], rotation_g[1]),
            (rotation_h[0], rotation_h[1], zero_tilt),
        )

    def bias(rotation: Vector[S]) -> Vector[S]:
        return net_momentum * rotation[0], net_momentum * rotation[1], net_momentum * zero_tilt

    count = range(len(levers))
    return FreeBody(
        {(g, h): xi(g, h) for g in count for h in count if g <= h},
        [bias(rotation) for rotation in rotations],
    )


def body_coefficients(
    body: BodyConstants, s_1c: Vector[S], s_2c: Vector[S], net_momentum: S
) -> two_handles.Coefficients:
    """Coefficients of a free body with two handles; ``net_momentum`` = p_1 - p_2."""
    return free_body(body, (s_1c, s_2c), net_momentum).coefficients()


def leaf(body: FreeBody, handles: Sequence) -> Compound:
    """A free body as a compound: D^T xi_gh D and D^T xi_g0 at the handles of its joints."""

    def translations(matrix: Matrix[S]) -> Matrix[S]:
        return tuple(row[:2] for row in matrix[:2])

    pairs = [(g, h) for g in handles for h in handles if g <= h]
    return Compound(
        {(g, h): translations(body.xi[g.place, h.place]) for g, h in pairs},
        {g: body.xi_0[g.place][:2] for g in handles},
    )


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


def angular_velocity(body: FreeBody, impulses: Sequence[Vector[S]]) -> S:
    """Rotation part of (11): omega = H^T (sum over h of xi_1h T_h, plus xi_10)."""
    terms = [dot(body.xi[0, h][2], t) for h, t in enumerate(impulses)]
    return tree_sum(terms) + body.xi_0[0][2]


def _assembly(tree: Any, leaves: Sequence) -> Requests:
    """Assemble a tree; returns its coefficients and a tree of the joints, for the way back."""
    if isinstance(tree, int):
        return leaves[tree], None
    a, joints_a = yield from _assembly(tree[0], leaves)
    b, joints_b = yield from _assembly(tree[1], leaves)
    compound, joint = yield Assemble(a, b)
    return compound, (joint, joints_a, joints_b)


def _disassembly(tree: Any, joints: Any, t_1: tuple, t_2: tuple, impulses: list) -> Requests:
    """Fill ``impulses[k] = (T_1, T_2)`` for every body of a tree, (45) and (46)."""
    if isinstance(tree, int):
        impulses[tree] = (t_1, t_2)
        return
    joint, joints_a, joints_b = joints
    t_1b = yield Disassemble(joint, t_1, t_2)
    t_2a = tuple(-t for t in t_1b)
    yield from _disassembly(tree[0], joints_a, t_1, t_2a, impulses)
    yield from _disassembly(tree[1], joints_b, t_1b, t_2, impulses)


def turned(omega: S, s: Vector[S]) -> Vector[S]:
    """omega x s of a planar arm."""
    return -(omega * s[1]), omega * s[0]


def rates(
    mechanism: Mechanism, q: list, p: list, t_cut: Any = None, time: S | None = None
) -> Requests:
    """q-dot and p-dot of a mechanism: (13)-(19), (27)-(51).

    Parameters
    ----------
    mechanism : Mechanism
    q, p : list of n scalars
        Joint angles relative to the parent (rad), joint momenta (N m s).
    t_cut : 2 scalars for each loop, optional
        Re-base first, see :func:`_rebased`.
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
    bodies, topology = mechanism.bodies, mechanism.topology
    everybody, joints = range(mechanism.size), topology.joints
    # body update
    heading = []
    for theta in outward_sums(topology, q):
        sin, cos = mechanism.arithmetic.sincos(theta)
        heading.append((cos, sin))
    s_1c = [rotate(heading[k], bodies[k].com) for k in everybody]
    arms = [[rotate(heading[k], s) for s in bodies[k].handles] for k in everybody]

    def arm(handle: Any) -> Vector:  # from handle 1 of its body, to a handle elsewhere
        return arms[handle.body][handle.place - 1]

    hanging = [k for k in everybody if joints[k].a is not None]  # on another body
    s_12 = {k: arm(joints[k].a) for k in hanging}  # from handle 1 of the parent to that of k
    if t_cut is not None:
        p = _rebased(topology, p, s_12, arm, t_cut)
    free = []
    for k in everybody:
        levers = [s_1c[k], *((s_1c[k][0] - s[0], s_1c[k][1] - s[1]) for s in arms[k])]
        outer = [p[c] for c in topology.children[k]]
        free.append(free_body(bodies[k], levers, p[k] - tree_sum(outer) if outer else p[k]))

    impulses, t_cut, eta = yield from mechanism.impulses(free)

    # (49): q-dot; velocity of handle 1 of each body, ground pins at rest
    omega = [angular_velocity(free[k], impulses[k]) for k in everybody]
    parents = topology.parents
    q_dot = [omega[k] - omega[parents[k]] if k in s_12 else omega[k] for k in everybody]
    relative = {k: turned(omega[parents[k]], s_12[k]) for k in hanging}
    velocity = [
        outward_sums(topology, [relative[k][axis] if k in relative else None for k in everybody])
        for axis in range(2)
    ]

    # (38), (39), (47): torque of the articulated loads, summed over the carried bodies
    torques = [
        [cross(s_1c[k], bodies[k].weight)]
        + [cross(s_12[c], bodies[c].carried_weight) for c in topology.children[k]]
        for k in everybody
    ]
    for index, (a, b) in enumerate(topology.loops):
        if a is not None:  # v_c x T_c at the two ends of a pin that moves
            v, own = (velocity[0][b.body], velocity[1][b.body]), turned(omega[b.body], arm(b))
            v = own if v[0] is None else (v[0] + own[0], v[1] + own[1])
            moment = cross(v, t_cut[2 * index : 2 * index + 2])
            torques[b.body].append(-moment)
            torques[a.body].append(moment)
    load = inward_sums(topology, [tree_sum(terms) for terms in torques])

    # (50), (51): p-dot
    p_dot = [
        load[k] - cross((velocity[0][k], velocity[1][k]), impulses[k][0]) if k in s_12 else load[k]
        for k in everybody
    ]
    p_dot = [
        p_dot[k]
        + ((mechanism.drive(k, time) - body.spring * (q[k] - body.rest)) - body.damping * q_dot[k])
        for k, body in enumerate(bodies)
    ]
    pulls = springs.pulls(mechanism.arithmetic, mechanism.springs, heading, s_12, q_dot)
    for k, terms in pulls.items():
        p_dot[k] = p_dot[k] - tree_sum(terms)
    return Rates(q_dot, p_dot, p, t_cut, eta)


def _rebased(topology: Topology, p: list, s_12: dict, arm: Any, t_cut: tuple) -> list:
    """The momenta with J_c^T t_cut added: p_k += (r_c - r_k) x T_c for each loop, cut at c.

    Plus for joints that carry only the loop's first body, minus for those that carry only the
    other one, nothing for those that carry both. It changes no motion; with the impulses that the
    cut pins had a step ago it keeps sigma, and with it the rounding errors, small.
    """
    p = list(p)
    for index, (a, b) in enumerate(topology.loops):
        t = t_cut[2 * index : 2 * index + 2]
        other = GROUND if a is None else a.body
        for end, way in (
            (b, topology.way(b.body, other)),
            (a, topology.way(other, b.body)),
        ):
            if not way:
                continue
            outward = [*(s_12[k] for k in way[1:]), arm(end)]
            for k, lever in zip(way, levers(outward), strict=True):
                moment = cross(lever, t)
                p[k] = p[k] + moment if end is b else p[k] - moment
    return p
