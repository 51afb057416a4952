#!/bin/sh
# pin 4.1.0: buildModelFromMJCF leaves out all bodies that stand in a <frame>, without a word.
#
# One would have guessed: a <frame> of MJCF places what stands in it and is gone after compilation,
# so that a leg in one is a leg. MuJoCo has it; Pinocchio's model has neither its body nor its joint,
# and says nothing: a quadruped with its legs in frames becomes a single free body.
#
# It matters to our users: they compare robots between engines, and frames are what MuJoCo's makers
# advise in place of bodies that do not move. So we read MJCF through MuJoCo's compiled model, and
# Pinocchio gets the links that were read there.
#
# Source: none found among Pinocchio's issues; the advice: google-deepmind/mujoco issue 2066
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pin==4.1.0 mujoco==4.0.0

cat >leg.xml <<'XML'
<mujoco>
  <worldbody>
    <body name="trunk">
      <freejoint/><geom size="0.1"/>
      <frame pos="0 0 0.1">
        <body name="leg"><joint name="hip"/><geom size="0.1"/></body>
      </frame>
    </body>
  </worldbody>
</mujoco>
XML

cat >read.py <<'PYTHON'
import mujoco
import pinocchio

theirs = pinocchio.buildModelFromMJCF("leg.xml")
model = mujoco.MjModel.from_xml_path("leg.xml")
names = ", ".join(list(theirs.names)[1:])
print(f"MuJoCo {mujoco.__version__}: {model.nv} degrees of freedom")
print(f"Pinocchio {pinocchio.__version__}: {theirs.nv} degrees of freedom, joints: {names}")
assert model.nv == 7 and theirs.nv == 6 and not theirs.existJointName("hip")
PYTHON
venv/bin/python read.py
