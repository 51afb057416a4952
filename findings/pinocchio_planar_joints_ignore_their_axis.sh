#!/bin/sh
# pin 4.1.0: a URDF's planar joint moves in x-y of its frame, whatever its axis says.
#
# One would have guessed: the axis of a planar joint is the normal of its plane, as the format's page has
# it, and MuJoCo and Drake take it so. Pinocchio reads the axis of hinges and slides, and passes over that of
# planar joints without a word: with the normal along x a body under gravity does not fall, since z is not
# in its plane.
#
# It matters to our users: the base of a mobile robot on a wall or a rail is another mechanism in each reader. Ours
# takes the axis, and `hdca joints FILE --check` names such joints.
#
# Source: Drake had the same (issue 19314); none found among Pinocchio's issues
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pin==4.1.0

cat >planar.py <<'PYTHON'
import numpy as np
import pinocchio

ROBOT = """<robot name="r"><link name="wall"/><link name="slab"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{kind}"><parent link="wall"/><child link="slab"/><axis xyz="{axis}"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""

for kind, axis, accelerations in (
    ("prismatic", "0 0 1", [-9.81]),
    ("planar", "0 0 1", [0.0, 0.0, 0.0]),
    ("planar", "1 0 0", [0.0, 0.0, 0.0]),
    ("planar", "0 1 0", [0.0, 0.0, 0.0]),
):
    model = pinocchio.buildModelFromXML(ROBOT.format(kind=kind, axis=axis))
    data, still = model.createData(), np.zeros(model.nv)
    found = pinocchio.aba(model, data, pinocchio.neutral(model), still, still)
    print(f"Pinocchio {pinocchio.__version__}, {kind} along {axis}: accelerations under gravity {found}")
    assert np.allclose(found, accelerations)
PYTHON
venv/bin/python planar.py
