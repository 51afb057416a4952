"""One time step of a planar chain by HDCA: the algorithm text around the assembly.

Everything here is generic over its scalars (see :mod:`pymodel.arith`), and is written as
generators: assembly and disassembly are *requested* (``yield``) from whoever drives the
generator, so that the same text runs on the model alone (:func:`serve`) and with the RTL
answering (the co-simulation bench).

Equation numbers are those of paper 000. For open chains: T_2 = 0 at the free end.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from pymodel import hdca, kinematics
from pymodel.linalg import dot, prefix_sums, solve_2x2
from pymodel.scenario import ScenarioError

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


class SingularError(ArithmeticError):
    """A joint or base matrix has determinant zero or a non-finite inverse."""


class Rates(NamedTuple):
    q_dot: list  # rad/s
    p_dot: list  # N m


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
    """A scenario's open chain, prepared for one arithmetic and one shape of the assembly tree.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    scenario : pymodel.scenario.Scenario
    shape : str or nested tuple
        ``balanced``, ``left``, ``right``, or a tree of body indices such as ``((0, 1), 2)``.

    Raises
    ------
    ScenarioError
        If the mechanism is not an open chain on the ground.
    """

    def __init__(self, arithmetic, scenario, shape="balanced"):
        if not scenario.is_chain or scenario.loops:
            key = "loop" if scenario.loops else "body"
            raise ScenarioError(
                scenario.source,
                key,
                "the model runs open chains so far: each body on the one before it, no loops",
            )
        self.arithmetic = arithmetic
        self.size = len(scenario.bodies)
        self.tree = build_tree(shape, self.size)
        self.step = arithmetic.const(scenario.step)
        self.half_step = arithmetic.const(scenario.step / 2)
        self.sixth_step = arithmetic.const(scenario.step / 6)
        self.zero = arithmetic.const(0.0)
        self.integrate = INTEGRATORS[scenario.integrator]
        self.bodies = [self._constants(scenario, k) for k in range(self.size)]

    def _constants(self, scenario, k):
        bodies, gravity = scenario.bodies, scenario.gravity
        body = bodies[k]
        tip = bodies[k + 1].attach if k + 1 < self.size else body.tip
        outboard_mass = sum(other.mass for other in bodies[k + 1 :])
        const = self.arithmetic.const
        return BodyConstants(
            const(1.0 / body.mass),
            const(1.0 / body.inertia),
            tuple(map(const, body.com)),
            tuple(map(const, tip)),
            tuple(const(body.mass * g) for g in gravity),
            tuple(const(outboard_mass * g) for g in gravity),
            *map(const, (body.torque, body.spring, body.rest, body.damping)),
        )

    def initial_state(self, scenario):
        """(q, p) at t = 0, computed in float64 and rounded once."""
        momenta = joint_momenta(scenario, scenario.q0, scenario.qd0)
        const = self.arithmetic.const
        return tuple([const(x) for x in values] for values in (scenario.q0, momenta))


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


def base_open(arithmetic, compound):
    """(40): T_1 = -D (D^T xi_11 D)^-1 D^T xi_10 of a chain on the ground with a free end."""
    xi_11, xi_10 = compound.xi_11, compound.xi_10
    m = tuple(tuple(xi_11[i][j] for j in range(2)) for i in range(2))
    return solve_2x2(arithmetic, m, (-xi_10[0], -xi_10[1]))


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


def rates(chain, q, p):
    """q-dot and p-dot of an open chain: (13)-(19), (27)-(40), (45)-(51).

    Parameters
    ----------
    q, p : list of n scalars
        Joint angles relative to the parent (rad), joint momenta (N m s).

    Yields
    ------
    Assemble, Disassemble
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
    leaves = []
    for k in range(n):
        s_2c = (s_1c[k][0] - s_12[k][0], s_1c[k][1] - s_12[k][1])
        net_momentum = p[k] - p[k + 1] if k + 1 < n else p[k]
        leaves.append(body_coefficients(bodies[k], s_1c[k], s_2c, net_momentum))

    # assembly, base, disassembly
    compound, joints = yield from _assembly(chain.tree, leaves)
    t_1 = base_open(chain.arithmetic, compound)
    impulses = [None] * n
    free_end = (chain.zero, chain.zero)
    yield from _disassembly(chain.tree, joints, t_1, free_end, impulses)

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
    return Rates(q_dot, p_dot)


def _advance(x, step, slope):
    return [x[k] + step * slope[k] for k in range(len(x))]


def _euler(chain, q, p):
    """Explicit Euler."""
    now = yield from rates(chain, q, p)
    return _advance(q, chain.step, now.q_dot), _advance(p, chain.step, now.p_dot), now


def _semi_implicit(chain, q, p):
    """Momenta first; then the angles, with the velocities that the new momenta give."""
    now = yield from rates(chain, q, p)
    p_new = _advance(p, chain.step, now.p_dot)
    new = yield from rates(chain, q, p_new)
    return _advance(q, chain.step, new.q_dot), p_new, now


def _rk4(chain, q, p):
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = chain.half_step, chain.step, chain.sixth_step
    k1 = yield from rates(chain, q, p)
    k2 = yield from rates(chain, _advance(q, half, k1.q_dot), _advance(p, half, k1.p_dot))
    k3 = yield from rates(chain, _advance(q, half, k2.q_dot), _advance(p, half, k2.p_dot))
    k4 = yield from rates(chain, _advance(q, step, k3.q_dot), _advance(p, step, k3.p_dot))

    def combine(a, b, c, d):
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    slopes = (combine(*(getattr(k, name) for k in (k1, k2, k3, k4))) for name in Rates._fields)
    q_slope, p_slope = slopes
    return _advance(q, sixth, q_slope), _advance(p, sixth, p_slope), k1


#: name in the scenario file -> generator (chain, q, p) returning (q, p, rates at the start)
INTEGRATORS = {"euler": _euler, "semi-implicit": _semi_implicit, "rk4": _rk4}


def answer(arithmetic, request):
    """The model's own answer to one request.

    Raises
    ------
    SingularError
        If the joint's matrix cannot be inverted.
    """
    if isinstance(request, Assemble):
        compound, joint, singular = hdca.assemble(arithmetic, request.a, request.b)
        if singular:
            raise SingularError("joint matrix (33) is singular")
        return compound, joint
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
