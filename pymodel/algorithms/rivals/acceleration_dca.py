"""Featherstone's divide-and-conquer algorithm (1999) for planar mechanisms: accelerations.

The competitor of paper 001. With forces f at its handles a body accelerates by

    a_g = sum over h of xi_gh f_h + b_g,

with the same xi as in HDCA, whose impulses give velocities. So assembly, connection to the ground
and disassembly are HDCA's own: only the bias differs. Constraints are imposed on accelerations and
nothing stabilises them (no Baumgarte terms), as in the paper. The paper takes pseudo-inverses
where loops close; for independent constraints, the only ones here, these are the inverses.
"""

from pymodel.algorithms.rivals.common import joint_torques
from pymodel.algorithms.step import (
    FreeBody,
    Mechanism,
    Requests,
    angular_velocity,
    free_body,
    rotate,
)
from pymodel.algorithms.sums import outward_sums, tree_sum
from pymodel.arith.scalars import Vector


def accelerations(mechanism: Mechanism, gravity: Vector, q: list, q_dot: list) -> Requests:
    """Joint accelerations of a mechanism: chains, trees, any loops.

    Gravity is an acceleration of the ground: the frame falls freely, so that only the pins on the
    ground see it.

    Parameters
    ----------
    mechanism : Mechanism
    gravity : 2 scalars
        m/s^2.
    q, q_dot : list of n scalars
        Joint angles relative to the parent (rad) and their rates (rad/s).

    Yields
    ------
    Assemble, ConnectBase, Disassemble, Eliminate, Recover
        The requests of :meth:`pymodel.algorithms.step.Mechanism.impulses`.

    Returns
    -------
    list of n scalars
        rad/s^2.
    """
    bodies, topology = mechanism.bodies, mechanism.topology
    everybody = range(mechanism.size)
    on_ground = {(pin.b.body, pin.b.place) for pin in topology.joints if pin.a is None}
    tau = joint_torques(mechanism, q, q_dot)
    angles, omega = (outward_sums(topology, values) for values in (q, q_dot))
    free = []
    for k in everybody:
        sin, cos = mechanism.arithmetic.sincos(angles[k])
        com, *arms = (rotate((cos, sin), s) for s in (bodies[k].com, *bodies[k].handles))
        levers = [com, *((com[0] - s[0], com[1] - s[1]) for s in arms)]
        outer = [tau[c] for c in topology.children[k]]
        body = free_body(bodies[k], levers, tau[k] - tree_sum(outer) if outer else tau[k])
        square = omega[k] * omega[k]
        bias = []
        for place, (turning, s) in enumerate(zip(body.xi_0, levers, strict=True)):
            x, y = turning[0] + square * s[0], turning[1] + square * s[1]  # centripetal: to the com
            if (k, place) in on_ground:
                x, y = x + gravity[0], y + gravity[1]
            bias.append((x, y, turning[2]))
        free.append(FreeBody(body.xi, bias))

    forces, _, _ = yield from mechanism.impulses(free)

    alpha = [angular_velocity(free[k], forces[k]) for k in everybody]
    return [
        alpha[k] if topology.joints[k].a is None else alpha[k] - alpha[topology.parents[k]]
        for k in everybody
    ]
