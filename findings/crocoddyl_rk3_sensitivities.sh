#!/bin/sh
# crocoddyl 3.2.1: Fx of IntegratedActionModelRK with three stages is not the derivative of its own step.
#
# One would have guessed: if two and four stages are right, so are three. With two and four, and with Euler,
# Fx and Fu agree with central differences of calc to 1e-9; with three Fu does, while Fx is off by a term
# that grows as the step's cube, 1e-3 at 0.1 s. Nothing says so, and a solver still converges, only slower.
#
# It matters to our users: who holds our sensitivities of Runge-Kutta steps against Crocoddyl's must take two or
# four stages, or blames ours.
#
# Source: none found among Crocoddyl's issues
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install crocoddyl==3.2.1 pin==4.0.0

cat >sensitivities.py <<'PYTHON'
import crocoddyl
import numpy as np
import pinocchio

arm = pinocchio.buildSampleModelManipulator()
state = crocoddyl.StateMultibody(arm)
dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(
    state, crocoddyl.ActuationModelFull(state), crocoddyl.CostModelSum(state)
)
random = np.random.default_rng(1)
x, u = random.uniform(-1.0, 1.0, arm.nq + arm.nv), random.uniform(-1.0, 1.0, arm.nv)


def step(action: crocoddyl.IntegratedActionModelRK, x: np.ndarray) -> np.ndarray:
    data = action.createData()
    action.calc(data, x, u)
    return data.xnext.copy()


def error(kind: crocoddyl.RKType, dt: float) -> float:
    """The largest difference between Fx and central differences of the step."""
    action = crocoddyl.IntegratedActionModelRK(dynamics, kind, dt)
    data = action.createData()
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    moves = 1e-6 * np.eye(len(x))
    columns = [(step(action, x + move) - step(action, x - move)) / 2e-6 for move in moves]
    return float(np.abs(data.Fx - np.array(columns).T).max())


for name, kind in crocoddyl.RKType.names.items():
    coarse, fine = error(kind, 0.1), error(kind, 0.01)
    print(f"Crocoddyl {crocoddyl.__version__}, RK of {name} stages: error of Fx {coarse:.2g} at 0.1 s, {fine:.2g} at 0.01 s")
    if name == "three":
        assert coarse > 1e-4 and 500 < coarse / fine < 2000
    else:
        assert coarse < 1e-8 and fine < 1e-8
PYTHON
venv/bin/python sensitivities.py
