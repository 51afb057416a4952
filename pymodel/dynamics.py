"""One time step of a planar chain by HDCA: the algorithm text around the assembly.

Everything here is generic over its scalars (see :mod:`pymodel.arith`), and is written as
generators: assembly, disassembly and the connection of a closed chain to the ground are
*requested* (``yield``) from whoever drives the generator, so that the same text runs on the model
alone (:func:`serve`) and with the RTL answering (the co-simulation benches).

Equation numbers are those of paper 000, corrected where docs/theory.md says so. An open chain has
T_2 = 0 at its free end. A closed one is cut at the ground pin of its last body; its momenta are
augmented, p = dT/dq-dot - J_c^T sigma with the impulse sigma of the cut pin.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from pymodel import hdca, kinematics, linalg
from pymodel.linalg import dot, prefix_sums
from pymodel.scenario import GROUND, ScenarioError

SHAPES = ("balanced", "left", "right")


class Assemble(NamedTuple):
    """Request: assemble A and B; the answer is (compound, joint)."""

    a: hdca.Coefficients
    b: hdca.Coefficients


class Disassemble(NamedTuple):
    """Request: impulses of the joint inside a compound body; the answer is T_1^B (2-vector)."""

    joint: hdca.Joint
    t_1c: tuple
    t_2c: tuple


class ConnectBase(NamedTuple):
    """Request: connect the ends of the chain to the ground, (40) or (42).

    The answer is t with matrix t = rhs: the impulses t_1, or t_1 and t_2, in one tuple.
    """

    matrix: tuple  # 2x2, or eta (43), 4x4
    rhs: tuple  # 2 or 4
    base: str  # how, see BASES


class SingularError(ArithmeticError):
    """A joint or base matrix has determinant zero or a non-finite inverse."""


class Rates(NamedTuple):
    """What one evaluation gives."""

    q_dot: list  # rad/s
    p_dot: list  # N m
    p: list  # N m s; the momenta it belongs to, re-based if that was asked for
    t_cut: tuple  # N s, impulse on the cut end; zero for an open chain
    eta: tuple  # 4x4 matrix of the closed base, None for an open chain


class BodyConstants(NamedTuple):
    """Parameter-only values of one body, each rounded once from float64."""

    inverse_mass: object  # 1/kg
    inverse_inertia: object  # 1/(kg m^2)
    com: tuple  # m, handle 1 to centre of mass, body frame
    tip: tuple  # m, handle 1 to handle 2 (where the next body is attached), body frame
    weight: tuple  # N
    outboard_weight: tuple  # N, of all bodies after this one
    torque: object  # N m
    spring: object  # N m/rad
    rest: object  # rad
    damping: object  # N m s/rad


class Chain:
    """A scenario's chain, prepared for one arithmetic and one shape of the assembly tree.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    scenario : pymodel.scenario.Scenario
        An open chain on the ground, or one whose last body is pinned to the ground again.
    shape : str or nested tuple
        ``balanced``, ``left``, ``right``, or a tree of body indices such as ``((0, 1), 2)``.
    base : str
        How a closed chain is connected to the ground: ``ldup``, ``ldl`` or ``blocks``.
    rebase : int
        Re-base the momenta of a closed chain every so many steps; 0 = never.

    Raises
    ------
    ScenarioError
        If the mechanism is neither.
    """

    def __init__(self, arithmetic, scenario, shape="balanced", base="ldup", rebase=0):
        _check_topology(scenario)
        self.arithmetic = arithmetic
        self.size = len(scenario.bodies)
        self.closed = bool(scenario.loops)
        self.base = base
        self.rebase = rebase
        self.tree = build_tree(shape, self.size)
        self.step = arithmetic.parameter("step", scenario.step)
        self.half_step = arithmetic.parameter("step / 2", scenario.step / 2)
        self.sixth_step = arithmetic.parameter("step / 6", scenario.step / 6)
        self.zero = arithmetic.parameter("zero", 0.0)
        self.integrate = INTEGRATORS[scenario.integrator]
        self.bodies = [self._constants(scenario, k) for k in range(self.size)]

    def _constants(self, scenario, k):
        bodies, gravity = scenario.bodies, scenario.gravity
        body = bodies[k]
        if k + 1 < self.size:
            tip = bodies[k + 1].attach
        else:
            tip = scenario.loops[0].point if self.closed else body.tip
        outboard_mass = sum(other.mass for other in bodies[k + 1 :])

        def scalar(name, x):
            return self.arithmetic.parameter(f"body[{k}].{name}", x)

        def vector(name, v):
            return tuple(scalar(f"{name}.{axis}", x) for axis, x in zip("xy", v, strict=True))

        return BodyConstants(
            scalar("inverse_mass", 1.0 / body.mass),
            scalar("inverse_inertia", 1.0 / body.inertia),
            vector("com", body.com),
            vector("tip", tip),
            vector("weight", [body.mass * g for g in gravity]),
            vector("outboard_weight", [outboard_mass * g for g in gravity]),
            *(scalar(name, getattr(body, name)) for name in BodyConstants._fields[-4:]),
        )

    def rebases_at(self, step):
        """Whether the momenta are to be re-based before this step."""
        return bool(self.closed and self.rebase and step % self.rebase == 0)

    def initial_state(self, scenario):
        """(q, p) at t = 0, computed in float64 and rounded once."""
        momenta = joint_momenta(scenario, scenario.q0, scenario.qd0)
        const = self.arithmetic.const
        return tuple([const(x) for x in values] for values in (scenario.q0, momenta))


def _check_topology(scenario):
    last = len(scenario.bodies) - 1
    if not scenario.is_chain:
        key, reason = "body", "the model runs chains so far: each body on the one before it"
    elif len(scenario.loops) > 1:
        key, reason = "loop", "the model closes one loop so far"
    elif any(loop.body != last or loop.to != GROUND for loop in scenario.loops):
        key, reason = "loop", "the model closes loops from the last body to the ground so far"
    else:
        return
    raise ScenarioError(scenario.source, key, reason)


def build_tree(shape, n):
    """The binary assembly tree over bodies 0..n-1 as nested pairs; a leaf is an index.

    Raises
    ------
    ValueError
        If ``shape`` is unknown, or its leaves are not 0..n-1 in order.
    """
    if isinstance(shape, str):
        if shape == "balanced":
            return _balanced(0, n)
        if shape == "left":
            return reduce(lambda tree, k: (tree, k), range(1, n), 0)
        if shape == "right":
            return reduce(lambda tree, k: (k, tree), reversed(range(n - 1)), n - 1)
        raise ValueError(f"shape {shape!r}: must be one of {', '.join(SHAPES)}")
    if _leaves(shape) != list(range(n)):
        raise ValueError(f"shape: leaves must be 0..{n - 1} in order")
    return shape


def _balanced(first, last):
    if last - first == 1:
        return first
    middle = (first + last + 1) // 2
    return _balanced(first, middle), _balanced(middle, last)


def _leaves(tree):
    return [tree] if isinstance(tree, int) else _leaves(tree[0]) + _leaves(tree[1])


def joint_momenta(scenario, q, q_dot):
    """Joint momenta p_k = H^T sum of S M V over the outboard bodies, (6)-(7); float64, shape (n,).

    The angular momentum (N m s) about handle 1 of body k of that body and all after it.
    """
    mass = np.array([body.mass for body in scenario.bodies])
    inertia = np.array([body.inertia for body in scenario.bodies])
    linear = mass[:, None] * kinematics.centre_of_mass_velocities(scenario, q, q_dot)
    spin = inertia * kinematics.angular_velocities(scenario, q_dot)
    handle = kinematics.handle_positions(scenario, q)
    arm = kinematics.centres_of_mass(scenario, q) - handle[:, None]
    orbital = arm[..., 0] * linear[:, 1] - arm[..., 1] * linear[:, 0]  # (joint k, body j)
    return np.triu(orbital + spin).sum(axis=1)


def rotate(cos_sin, v):
    """A body-frame vector in the ground frame, R(theta) v."""
    c, s = cos_sin
    return c * v[0] - s * v[1], s * v[0] + c * v[1]


def cross(a, b):
    """a x b of two planar vectors."""
    return a[0] * b[1] - a[1] * b[0]


def body_coefficients(body, s_1c, s_2c, net_momentum):
    """(13)-(19): inverse inertias of a free body at its two handles, and its bias velocities.

    With leaf form xi_gh = S_gC^-T M_C^-1 S_hC^-1. ``s_1c``, ``s_2c`` (m): handles to centre of
    mass, ground frame; ``net_momentum`` = p_1 - p_2 (N m s).
    """
    zero_tilt = body.inverse_inertia

    def lever(s):  # rotation row of xi: (s_y, -s_x) / J
        return s[1] * zero_tilt, -(s[0] * zero_tilt)

    def xi(s_g, rotation_g, s_h, rotation_h):
        coupling = -(s_h[0] * rotation_g[0])
        mirrored = coupling if s_g is s_h else rotation_g[1] * s_h[1]
        return (
            (body.inverse_mass + s_h[1] * rotation_g[0], coupling, rotation_g[0]),
            (mirrored, body.inverse_mass - s_h[0] * rotation_g[1], rotation_g[1]),
            (rotation_h[0], rotation_h[1], zero_tilt),
        )

    def bias(rotation):
        return net_momentum * rotation[0], net_momentum * rotation[1], net_momentum * zero_tilt

    rotation_1, rotation_2 = lever(s_1c), lever(s_2c)
    return hdca.Coefficients(
        xi_11=xi(s_1c, rotation_1, s_1c, rotation_1),
        xi_12=xi(s_1c, rotation_1, s_2c, rotation_2),
        xi_22=xi(s_2c, rotation_2, s_2c, rotation_2),
        xi_10=bias(rotation_1),
        xi_20=bias(rotation_2),
    )


def base_open(compound):
    """(40): D^T xi_11 D t_1 = -D^T xi_10 of a chain on the ground with a free end."""
    matrix = tuple(row[:2] for row in compound.xi_11[:2])
    return ConnectBase(matrix, tuple(-x for x in compound.xi_10[:2]), "adjugate")


def base_closed(compound, base):
    """(43) and the right-hand side of (42), corrected: eta [t_1; t_2] = -D^T [xi_10; xi_20]."""
    xi_11, xi_12, xi_22 = compound.xi_11, compound.xi_12, compound.xi_22
    upper = tuple((*xi_11[i][:2], *xi_12[i][:2]) for i in range(2))
    lower = tuple((xi_12[0][i], xi_12[1][i], *xi_22[i][:2]) for i in range(2))
    bias = (*compound.xi_10[:2], *compound.xi_20[:2])
    return ConnectBase((*upper, *lower), tuple(-x for x in bias), base)


#: Ways to connect the base: name -> (arithmetic, matrix, right-hand side) -> (x, singular).
#: ``adjugate`` is for open chains; the others for closed ones: the paper's inverse, and two that
#: need no pivoting because eta is symmetric positive definite.
BASES = {
    "adjugate": linalg.solve_adjugate_2x2,
    "ldup": linalg.solve_ldup,
    "ldl": linalg.solve_ldl,
    "blocks": linalg.solve_blocks,
}


def angular_velocity(coefficients, t_1, t_2):
    """Rotation part of (11): omega = H^T (xi_11 T_1 + xi_12 T_2 + xi_10)."""
    return (
        dot(coefficients.xi_11[2], t_1) + dot(coefficients.xi_12[2], t_2)
    ) + coefficients.xi_10[2]


def _assembly(tree, leaves):
    """Assemble a tree; returns its coefficients and a tree of the joints, for the way back."""
    if isinstance(tree, int):
        return leaves[tree], None
    a, joints_a = yield from _assembly(tree[0], leaves)
    b, joints_b = yield from _assembly(tree[1], leaves)
    compound, joint = yield Assemble(a, b)
    return compound, (joint, joints_a, joints_b)


def _disassembly(tree, joints, t_1, t_2, impulses):
    """Fill ``impulses[k] = (T_1, T_2)`` for every body of a tree, (45) and (46)."""
    if isinstance(tree, int):
        impulses[tree] = (t_1, t_2)
        return
    joint, joints_a, joints_b = joints
    t_1b = yield Disassemble(joint, t_1, t_2)
    t_2a = tuple(-t for t in t_1b)
    yield from _disassembly(tree[0], joints_a, t_1, t_2a, impulses)
    yield from _disassembly(tree[1], joints_b, t_1b, t_2, impulses)


def rates(chain, q, p, t_cut=None):
    """q-dot and p-dot of a chain: (13)-(19), (27)-(51).

    Parameters
    ----------
    q, p : list of n scalars
        Joint angles relative to the parent (rad), joint momenta (N m s).
    t_cut : 2-vector, optional
        Re-base first: p_k += (r_c - r_k) x t_cut. This adds J_c^T times a constant to p, which
        changes no motion; with the impulse that the cut pin had a step ago it keeps sigma, and
        with it the rounding errors, small.

    Yields
    ------
    Assemble, ConnectBase, Disassemble
        Requests, to be answered with ``send``.

    Returns
    -------
    Rates
    """
    n, bodies = chain.size, chain.bodies
    # body update
    heading = []
    for theta in prefix_sums(q):
        sin, cos = chain.arithmetic.sincos(theta)
        heading.append((cos, sin))
    s_1c = [rotate(heading[k], bodies[k].com) for k in range(n)]
    s_12 = [rotate(heading[k], bodies[k].tip) for k in range(n)]
    if t_cut is not None:
        arms = [prefix_sums([s[axis] for s in s_12[::-1]])[::-1] for axis in range(2)]
        p = [p[k] + cross((arms[0][k], arms[1][k]), t_cut) for k in range(n)]
    leaves = []
    for k in range(n):
        s_2c = (s_1c[k][0] - s_12[k][0], s_1c[k][1] - s_12[k][1])
        net_momentum = p[k] - p[k + 1] if k + 1 < n else p[k]
        leaves.append(body_coefficients(bodies[k], s_1c[k], s_2c, net_momentum))

    # assembly, base, disassembly
    compound, joints = yield from _assembly(chain.tree, leaves)
    eta = None
    if chain.closed:
        request = base_closed(compound, chain.base)
        eta = request.matrix
        t = yield request
        t_1, t_2 = t[:2], t[2:]
    else:
        t_1 = yield base_open(compound)
        t_2 = (chain.zero, chain.zero)
    impulses = [None] * n
    yield from _disassembly(chain.tree, joints, t_1, t_2, impulses)

    # (49): q-dot; velocity of handle 1 of each body, the ground pin at rest
    omega = [angular_velocity(leaves[k], *impulses[k]) for k in range(n)]
    q_dot = [omega[0]] + [omega[k] - omega[k - 1] for k in range(1, n)]
    tip_velocity = [(-(omega[k] * s_12[k][1]), omega[k] * s_12[k][0]) for k in range(n - 1)]
    velocity = list(zip(*(prefix_sums(list(axis)) for axis in zip(*tip_velocity, strict=True)),
                        strict=True))

    # (38), (39), (47): torque of the articulated loads, summed over the outboard bodies
    moment = [cross(s_1c[k], bodies[k].weight) for k in range(n)]
    for k in range(n - 1):
        moment[k] = moment[k] + cross(s_12[k], bodies[k].outboard_weight)
    load = prefix_sums(moment[::-1])[::-1]

    # (50), (51): p-dot
    p_dot = [load[0]] + [load[k] - cross(velocity[k - 1], impulses[k][0]) for k in range(1, n)]
    p_dot = [
        p_dot[k] + ((body.torque - body.spring * (q[k] - body.rest)) - body.damping * q_dot[k])
        for k, body in enumerate(bodies)
    ]
    return Rates(q_dot, p_dot, p, t_2, eta)


def _advance(x, step, slope):
    return [x[k] + step * slope[k] for k in range(len(x))]


def _euler(chain, q, p, t_cut=None):
    """Explicit Euler."""
    now = yield from rates(chain, q, p, t_cut)
    return _advance(q, chain.step, now.q_dot), _advance(now.p, chain.step, now.p_dot), now


def _semi_implicit(chain, q, p, t_cut=None):
    """Momenta first; then the angles, with the velocities that the new momenta give."""
    now = yield from rates(chain, q, p, t_cut)
    p_new = _advance(now.p, chain.step, now.p_dot)
    new = yield from rates(chain, q, p_new)
    return _advance(q, chain.step, new.q_dot), p_new, now


def _rk4(chain, q, p, t_cut=None):
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = chain.half_step, chain.step, chain.sixth_step
    k1 = yield from rates(chain, q, p, t_cut)
    p = k1.p
    k2 = yield from rates(chain, _advance(q, half, k1.q_dot), _advance(p, half, k1.p_dot))
    k3 = yield from rates(chain, _advance(q, half, k2.q_dot), _advance(p, half, k2.p_dot))
    k4 = yield from rates(chain, _advance(q, step, k3.q_dot), _advance(p, step, k3.p_dot))

    def combine(a, b, c, d):
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    q_slope, p_slope = (combine(*(k[i] for k in (k1, k2, k3, k4))) for i in range(2))
    return _advance(q, sixth, q_slope), _advance(p, sixth, p_slope), k1


#: name in the scenario file -> generator (chain, q, p, t_cut) returning (q, p, rates at the start)
INTEGRATORS = {"euler": _euler, "semi-implicit": _semi_implicit, "rk4": _rk4}


def answer(arithmetic, request):
    """The model's own answer to one request.

    Raises
    ------
    SingularError
        If a joint's matrix, or that of the closed base, cannot be inverted.
    """
    if isinstance(request, Assemble):
        compound, joint, singular = hdca.assemble(arithmetic, request.a, request.b)
        if singular:
            raise SingularError("joint matrix (33) is singular")
        return compound, joint
    if isinstance(request, ConnectBase):
        t, singular = BASES[request.base](arithmetic, request.matrix, request.rhs)
        if singular:
            raise SingularError("the matrix of the base connection is singular")
        return t
    return hdca.disassemble(*request)


def serve(arithmetic, generator):
    """Run a generator of this module to its end with the model answering; returns its value."""
    reply = None
    while True:
        try:
            request = generator.send(reply)
        except StopIteration as stop:
            return stop.value
        reply = answer(arithmetic, request)
