#!/bin/sh
# crocoddyl 3.2.1 takes pin 4.1.0 beside it, loads, and gives wrong forward dynamics.
#
# One would have guessed: what pip resolves for crocoddyl==3.2.1 works, or fails where it is loaded. The
# wheel allows any newer pin; with 4.1.0 DifferentialActionModelFreeFwdDynamics gives accelerations that
# differ by tens of rad/s^2 from pin's own aba in the same process, with no word. With pin 4.0.0 they are
# equal.
#
# It matters to our users: Crocoddyl is what planning is compared with, and a plan made with these
# accelerations looks plausible. So our benchmark names both versions, and ends where the two disagree.
#
# Source: none found among Crocoddyl's issues
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >accelerate.py <<'PYTHON'
import crocoddyl
import numpy as np
import pinocchio

model = pinocchio.buildSampleModelManipulator()
state = crocoddyl.StateMultibody(model)
actuation = crocoddyl.ActuationModelFull(state)
action = crocoddyl.DifferentialActionModelFreeFwdDynamics(
    state, actuation, crocoddyl.CostModelSum(state)
)
data, own, off = action.createData(), model.createData(), 0.0
for seed in range(20):
    rng = np.random.default_rng(seed)
    q, v, u = rng.uniform(-1, 1, (3, model.nv))
    action.calc(data, np.concatenate([q, v]), u)
    off = max(off, np.abs(data.xout - pinocchio.aba(model, own, q, v, u)).max())
print(f"crocoddyl {crocoddyl.__version__}, pin {pinocchio.__version__}: {off:.1e} rad/s^2 apart")
print("equal" if off < 1e-9 else "wrong" if off > 0.1 else "between")
PYTHON

python3 -m venv resolved
resolved/bin/python -m pip -qq install crocoddyl==3.2.1 pin==4.1.0
python3 -m venv older
older/bin/python -m pip -qq install crocoddyl==3.2.1 pin==4.0.0
for python in resolved older; do $python/bin/python accelerate.py; done | tee said
[ "$(grep -cx wrong said) $(grep -cx equal said)" = "1 1" ]
