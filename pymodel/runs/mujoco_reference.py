"""A robot's functions by MuJoCo, to compare with what was read of an MJCF; needs ``mujoco``.

What is not read of the file is switched off: contacts, limits, springs, damping, actuators. MuJoCo
has the linear velocity of a free joint in the world's axes and quaternions as (w, x, y, z); here
they are those of all robots. It has no derivatives but by differences.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, columns
from pymodel.mechanism import mjcf
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.rotations import from_quaternion

#: Functions that MuJoCo has.
EVALUATED = ("ID", "FD", "M", "Minv")
OFF = (
    "CONSTRAINT",
    "CONTACT",
    "LIMIT",
    "EQUALITY",
    "FRICTIONLOSS",
    "SPRING",
    "DAMPER",
    "ACTUATION",
)


def call(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Evaluate a function once for each row of a table.

    Parameters
    ----------
    robot : Robot
        As it was read from an MJCF, not reduced.
    function : str
        One of :data:`EVALUATED`.
    table : dict
        As for :func:`pymodel.runs.robot_calls.call`, without external wrenches; quaternions of
        length 1.

    Returns
    -------
    dict
        Column -> array of one number a row.
    """
    its, found, g = Peer(robot.tree), [], robot.coupling
    kinds = FUNCTIONS[function].takes
    arrays = [np.stack([table[x] for x in columns(robot, kind)], axis=-1) for kind in kinds]

    def torques(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        found: np.ndarray = g.T @ its.inverse_dynamics(whole(q), g @ qd, g @ qdd)
        return found

    def matrix(q: np.ndarray) -> np.ndarray:
        found: np.ndarray = g.T @ its.mass_matrix(whole(q)) @ g
        return found

    whole = robot.coordinates_of_tree
    methods: dict[str, Callable[..., np.ndarray]] = {
        "ID": torques,
        "FD": lambda q, qd, tau: np.linalg.solve(matrix(q), tau - torques(q, qd, 0.0 * qd)),
        "M": matrix,
        "Minv": lambda q: np.linalg.inv(matrix(q)),
    }
    for row in zip(*arrays, strict=True):
        found.append(methods[function](*row).reshape(-1))
    names = [name for kind in FUNCTIONS[function].gives for name in columns(robot, kind)]
    return dict(zip(names, np.array(found).T, strict=True))


class Peer:
    """MuJoCo's model of a robot's file, with the robot's armature and damping.

    Parameters
    ----------
    robot : Robot
        As it was read from an MJCF, not reduced; no joint follows another.
    """

    def __init__(self, robot: Robot) -> None:
        file = mjcf.compiled(robot.source)
        self.robot, self.model, self.library = robot, file.model, file.library
        for word in OFF:
            bit = getattr(self.library.mjtDisableBit, f"mjDSBL_{word}", None)
            if bit is not None:  # an older or newer MuJoCo may not have it
                self.model.opt.disableflags |= int(bit)
        self.model.opt.density = self.model.opt.viscosity = 0.0
        self.model.body_gravcomp[:] = 0.0
        self.model.opt.gravity[:] = robot.gravity_vector
        joints = robot.links[robot.first :]
        self.model.dof_armature[6 * robot.floating :] = [link.armature for link in joints]
        for name in ("actuator_armature", "tendon_armature"):
            if hasattr(self.model, name):
                getattr(self.model, name)[:] = 0.0
        self.damping = np.array([0.0] * 6 * robot.floating + [link.damping for link in joints])
        self.data = self.library.MjData(self.model)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Torques (nv,)."""
        turn = self._set(q, qd, qdd)
        self.library.mj_inverse(self.model, self.data)
        return turn.T @ self.data.qfrc_inverse + self.damping * qd

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M, shape (nv, nv)."""
        still = np.zeros(self.robot.nv)
        turn = self._set(q, still, still)
        self.library.mj_forward(self.model, self.data)
        found = np.zeros((self.robot.nv, self.robot.nv))
        for column, unit in zip(found, np.eye(self.robot.nv), strict=True):
            self.library.mj_mulM(self.model, self.data, column, unit)
        return turn.T @ found.T @ turn

    def placements(self, q: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, 3) and rotations (n, 3, 3) of bodies by their names."""
        still = np.zeros(self.robot.nv)
        self._set(q, still, still)
        self.library.mj_kinematics(self.model, self.data)
        bodies = [self.data.body(name) for name in names]
        turned = np.array([body.xmat.reshape(3, 3) for body in bodies])
        return np.array([body.xpos for body in bodies]), turned

    def _set(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Set a state; the matrix from our velocities to MuJoCo's, shape (nv, nv)."""
        q, qd, qdd, turn = q.copy(), qd.copy(), qdd.copy(), np.eye(self.robot.nv)
        for link, own in enumerate(self.robot.coordinates):
            if len(own) < 2:
                continue
            quaternion, dof = own[-4:], self.robot.dof(link)
            if self.robot.floating and not link:
                dof = 0
            if len(own) > 4:
                turn[dof : dof + 3, dof : dof + 3] = from_quaternion(q[quaternion])
                qdd[dof : dof + 3] += np.cross(qd[dof + 3 : dof + 6], qd[dof : dof + 3])
            q[quaternion] = np.roll(q[quaternion], 1)
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, turn @ qd, turn @ qdd
        return turn
