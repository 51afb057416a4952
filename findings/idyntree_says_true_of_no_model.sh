#!/bin/sh
# idyntree 15.1.0: ModelLoader says True of a URDF that it did not read, and hands out a model without links.
#
# One would have guessed: loadModelFromString returns False where it cannot take a file, as it does for XML that
# is cut. A planar or floating joint, valid in a URDF, is an error on stderr; its child then counts as a second
# root, reading ends, and the answer is True. The model has no link, isValid() is True, and
# KinDynComputations.loadRobotModel takes it.
#
# It matters to our users: who compares readers in a script sees a robot of no degrees of freedom and mass 0, and
# takes the planar joint for fixed. Our page of readers says that all joints are dropped.
#
# Source: issue 594 of idyntree has the errors of floating joints, not the answer
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install idyntree==15.1.0

cat >load.py <<'PYTHON'
from importlib.metadata import version

import idyntree.bindings as idyntree

ROBOT = """<robot name="r"><link name="base">{body}</link><link name="arm">{body}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
BODY = """<inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""

links = {}
for kind in ("revolute", "planar", "floating"):
    loader = idyntree.ModelLoader()
    answer = loader.loadModelFromString(ROBOT.format(kind=kind, body=BODY), "urdf")
    model = loader.model()
    valid, taken = loader.isValid(), idyntree.KinDynComputations().loadRobotModel(model)
    print(f"idyntree {version('idyntree')}, {kind}: answer {answer}, valid {valid}, taken {taken}, links {model.getNrOfLinks()}, mass {model.getTotalMass()}")
    assert answer and valid and taken
    links[kind] = model.getNrOfLinks()
assert links == {"revolute": 2, "planar": 0, "floating": 0}
PYTHON
venv/bin/python load.py
