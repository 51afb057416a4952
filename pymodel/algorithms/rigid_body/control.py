"""A robot under control: one time step of the closed loop of plant and controller.

The controller holds the robot's weight and pulls each joint towards its target like a spring with a
damper (PD control with gravity compensation; Siciliano and others, Robotics, section 8.5.1). The
plant is forward dynamics, integrated with rates first, then angles with the new rates: order 1, not
symplectic, as the accelerations are those of the old rates.
"""

from collections.abc import Mapping, Sequence

from pymodel.algorithms.rigid_body.functions import forward_dynamics
from pymodel.algorithms.rigid_body.inverse_dynamics import inverse_dynamics
from pymodel.algorithms.rigid_body.tree import Tree
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

#: Beginnings of the names of what a step carries, and of what it takes of each joint besides.
CARRIED = ("q", "qd")
SETTINGS = ("target", "kp", "kd")
STEP = "step"  #: name of the length of a time step


def torques(
    still: Tree,
    q: Sequence[Term],
    qd: Sequence[Term],
    target: Sequence[Term],
    kp: Sequence[Term],
    kd: Sequence[Term],
) -> list[Term]:
    """tau = g(q) + kp (target - q) - kd qd, with the weight g of the robot at rest."""
    weight = still.coupling.gathered(inverse_dynamics(still, [still.zero] * still.nv))
    return [w + (kp[k] * (target[k] - q[k]) - kd[k] * qd[k]) for k, w in enumerate(weight)]


def closed_loop(
    robot: Robot, arithmetic: SupportsArithmetic[S], values: Mapping[str, S]
) -> dict[str, S]:
    """Advance the closed loop by one time step, on any arithmetic.

    Parameters
    ----------
    robot : Robot
        With a fixed base. Its numbers and gravity are parameters of the arithmetic.
    arithmetic : SupportsArithmetic
    values : dict
        Name -> scalar: ``q0`` (rad, m), ``qd0``, ``target0`` (rad, m), ``kp0`` (N m/rad, N/m),
        ``kd0`` (N m s/rad, N s/m), ... of each joint, and ``step`` (s).

    Returns
    -------
    dict
        Name -> scalar of the next ``q`` and ``qd``, and of the torques ``tau`` during the step.
    """
    terms, joints = Terms(arithmetic, parameters_as_data=True, identities=True), range(robot.nv)
    q, qd, target, kp, kd = (
        [terms.given(values[f"{name}{k}"]) for k in joints] for name in (*CARRIED, *SETTINGS)
    )
    step = terms.given(values[STEP])
    tau = torques(Tree(terms, robot, q), q, qd, target, kp, kd)
    qdd = forward_dynamics(Tree(terms, robot, q, qd), tau)
    qd = [qd[k] + step * qdd[k] for k in joints]
    q = [q[k] + step * qd[k] for k in joints]
    found = {
        f"{name}{k}": vector[k]
        for name, vector in (("q", q), ("qd", qd), ("tau", tau))
        for k in joints
    }
    return dict(zip(found, terms.results(found.values()), strict=True))
