"""Crocoddyl's solvers with the dynamics of this package.

An action model in Python for Crocoddyl 3.2, to stand where
``DifferentialActionModelFreeFwdDynamics`` does: costs and actuation are Crocoddyl's, accelerations
and their derivatives this package's native code, in any arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

from pymodel.compile import native
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism.reduction import reduced
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import RobotModel

#: Accelerations agree if they differ by less than this part of the largest.
AGREES = 1e-9
STATES, SEED = 5, 1


class ForwardDynamics(crocoddyl.DifferentialActionModelAbstract):
    """Accelerations of a robot under an actuation, with a sum of costs.

    Parameters
    ----------
    state : crocoddyl.StateMultibody
    actuation : crocoddyl.ActuationModelAbstract
    costs : crocoddyl.CostModelSum
    robot : RobotModel
        The robot of the state's model, without loops; functions are evaluated in its arithmetic, on
        native code.

    Raises
    ------
    InputError
        If the installed crocoddyl and pin disagree on forward dynamics, or the robot's are others
        than those of the state's model.
    """

    def __init__(self, state: Any, actuation: Any, costs: Any, robot: RobotModel) -> None:
        super().__init__(state, actuation.nu, costs.nr)
        require_agreement(state.pinocchio)
        _require_same(state.pinocchio, robot)
        self.actuation, self.costs, self.robot = actuation, costs, robot
        own = reduced(robot.robot)
        self._kernels = {
            name: native.build(recorded(own, name), robot.arithmetic, lanes=1)
            for name in ("FD", "dFD", "Minv")
        }
        ahead = {"dqdd_dq": 0, "dqdd_dqd": own.nv, "minv": 0}
        self._by_state, self._inverse = (
            _places(self._kernels[name].kernel, ahead) for name in ("dFD", "Minv")
        )

    def calc(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:
        """Accelerations and cost; without u the cost of the end."""
        q, v = np.split(x, [self.state.nq])
        if u is not None:
            self.actuation.calc(data.actuation, x, u)
            data.xout = self._kernels["FD"].evaluate_rows(self._given(data, x))
        pinocchio.forwardKinematics(self.state.pinocchio, data.pinocchio, q, v, data.xout)
        pinocchio.updateFramePlacements(self.state.pinocchio, data.pinocchio)
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            data.joint.a, data.joint.tau = data.xout, u
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:  # noqa: N802
        """Derivatives of what :meth:`calc` gave."""
        q, v = np.split(x, [self.state.nq])
        pinocchio.computeJointJacobians(self.state.pinocchio, data.pinocchio, q)
        if u is None:
            self.costs.calcDiff(data.costs, x)
            return
        n = self.state.nv
        by_state, inverse_mass = np.zeros((n, 2 * n)), np.zeros((n, n))
        by_state[self._by_state] = self._kernels["dFD"].evaluate_rows(self._given(data, x))
        rows, columns = self._inverse
        found = self._kernels["Minv"].evaluate_rows(q)
        inverse_mass[rows, columns] = inverse_mass[columns, rows] = found
        self.actuation.calcDiff(data.actuation, x, u)
        data.Fx = by_state + inverse_mass @ data.actuation.dtau_dx
        data.Fu = (inverse_mass @ data.actuation.dtau_du).reshape(n, self.nu)
        data.joint.da_dx, data.joint.da_du = data.Fx, data.Fu
        pinocchio.computeForwardKinematicsDerivatives(
            self.state.pinocchio, data.pinocchio, q, v, data.xout
        )
        self.costs.calcDiff(data.costs, x, u)

    def createData(self) -> Any:  # noqa: N802
        """What a knot works with."""
        return _Data(self)

    def _given(self, data: Any, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, data.actuation.tau])


class _Data(crocoddyl.DifferentialActionDataAbstract):
    """What a knot works with: data of robot, actuation and costs."""

    def __init__(self, model: ForwardDynamics) -> None:
        super().__init__(model)
        self.pinocchio = model.state.pinocchio.createData()
        self.actuation = model.actuation.createData()
        self.joint = crocoddyl.JointDataAbstract(model.state, model.actuation, model.nu)
        self.multibody = crocoddyl.DataCollectorJointActMultibody(
            self.pinocchio, self.actuation, self.joint
        )
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)


def _places(kernel: Kernel, ahead: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of results, such as dqdd_dq3_0, by the columns ahead of each matrix."""
    found = []
    for name in kernel.results:
        head, column = name.rsplit("_", 1)
        kind = head.rstrip("0123456789")
        found.append((int(head[len(kind) :]), int(column) + ahead[kind]))
    rows, columns = np.array(found).T
    return rows, columns


def require_agreement(model: Any) -> None:
    """Refuse a pair of crocoddyl and pin of which one calls the other wrongly.

    Crocoddyl 3.2.1 loads beside pin 4.1.0 without a word, and gives accelerations that are off by
    tens of rad/s^2.

    Parameters
    ----------
    model : pinocchio.Model

    Raises
    ------
    InputError
        If Crocoddyl's forward dynamics of this model are not Pinocchio's.
    """
    state = crocoddyl.StateMultibody(model)
    actuation = (
        crocoddyl.ActuationModelFloatingBase(state)
        if model.nq != model.nv and model.joints[1].nv == 6
        else crocoddyl.ActuationModelFull(state)
    )
    action = crocoddyl.DifferentialActionModelFreeFwdDynamics(
        state, actuation, crocoddyl.CostModelSum(state, actuation.nu)
    )
    data, drives = action.createData(), actuation.createData()

    def theirs(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        x, u = np.concatenate([q, v]), tau[-actuation.nu :]
        actuation.calc(drives, x, u)
        action.calc(data, x, u)
        own = pinocchio.aba(model, model.createData(), q, v, drives.tau)
        return np.asarray(data.xout) - own

    off, largest = _difference(model, theirs)
    if not off < AGREES * largest:
        pair = f"crocoddyl {crocoddyl.__version__} and pin {pinocchio.__version__}"
        raise InputError(
            f"{pair} disagree on forward dynamics by {off:.2g} rad/s^2: "
            "of crocoddyl 3.2.1 pin must be 4.0.0"
        )


def _require_same(model: Any, robot: RobotModel) -> None:
    """Refuse another robot than that of the state's model."""
    if (model.nq, model.nv) != (robot.nq, robot.nv):
        raise InputError(
            f"{robot.robot.name} has {robot.nq} coordinates and {robot.nv} degrees of freedom, the "
            f"state's model {model.nq} and {model.nv}"
        )
    exact = robot.on("model", "float64")

    def ours(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        found = exact.forward_dynamics(q, v, tau)
        return found - pinocchio.aba(model, model.createData(), q, v, tau)

    off, largest = _difference(model, ours)
    if not off < AGREES * largest:
        raise InputError(
            f"{robot.robot.name} is not the robot of the state's model: accelerations differ by "
            f"{off:.2g} rad/s^2 (joints' order, gravity, armature, damping, mimic joints)"
        )


def _difference(model: Any, difference: Any) -> tuple[float, float]:
    """Largest difference of accelerations in random states, and largest acceleration."""
    rng, off, largest = np.random.default_rng(SEED), 0.0, 1.0
    for _ in range(STATES):
        q = pinocchio.integrate(model, pinocchio.neutral(model), rng.uniform(-1, 1, model.nv))
        v, tau = rng.uniform(-1, 1, (2, model.nv))
        largest = max(largest, np.abs(pinocchio.aba(model, model.createData(), q, v, tau)).max())
        off = max(off, np.abs(difference(q, v, tau)).max())
    return off, largest
