#!/bin/sh
# crocoddyl 3.2.1: ActuationModelFloatingBase knows a floating base by the name root_joint alone.
#
# One would have guessed: the base is the free-flyer that the model begins with. If that joint has any other
# name, one coordinate of the base is taken for all of it: a base and a hinge have six torques in place
# of one, five of which push the base from nowhere. No message.
#
# It matters to our users: URDF and MJCF files name the joint between world and base as they like, and a plan of
# a quadruped then flies. Who compares ours with Crocoddyl's names it root_joint first.
#
# Source: Crocoddyl's pull request 1160, open, is about models without such a joint
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install crocoddyl==3.2.1 pin==4.0.0

cat >base.py <<'PYTHON'
import crocoddyl
import numpy as np
import pinocchio

pushed = {}
for name in ("root_joint", "floating_base"):
    model, place = pinocchio.Model(), pinocchio.SE3.Identity()
    base = model.addJoint(0, pinocchio.JointModelFreeFlyer(), place, name)
    model.appendBodyToJoint(base, pinocchio.Inertia.Identity(), place)
    hinge = model.addJoint(base, pinocchio.JointModelRX(), place, "hinge")
    model.appendBodyToJoint(hinge, pinocchio.Inertia.Identity(), place)
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    data = actuation.createData()
    actuation.calc(data, state.zero(), np.ones(actuation.nu))
    print(f"Crocoddyl {crocoddyl.__version__}, base named {name}: {actuation.nu} torques, on coordinates {data.tau}")
    pushed[name] = data.tau.tolist()
assert pushed == {"root_joint": [0.0] * 6 + [1.0], "floating_base": [0.0] + [1.0] * 6}
PYTHON
venv/bin/python base.py
