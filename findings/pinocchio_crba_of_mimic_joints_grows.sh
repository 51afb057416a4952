#!/bin/sh
# pin 4.1.0: crba's M of a robot with mimic joints grows from call to call on the same data.
#
# One would have guessed: M is a function of q. In the local convention, which is the default, it is in the
# first call on new data; then each call adds to the entries of the joint that is mimicked, where a joint that mimics
# carries one that moves by itself. The world convention has the right M in every call, and without such a
# joint both have.
#
# It matters to our users: who compares our M with Pinocchio's over many states, or controls by it, takes a
# gripper's inertia for one that grows with time, and nothing says so. Our comparisons give crba new data for
# each state.
#
# Source: none found; Pinocchio's pull request 2716 mended another fault of crba with mimic joints
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pin==4.1.0

cat >mass.py <<'PYTHON'
import numpy as np
import pinocchio

INERTIAL = """<inertial><origin xyz="0 0 0.1"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""


def robot(last: str) -> str:
    """A chain of three joints; the second mimics the first."""
    text = '<robot name="chain"><link name="ground"/>'
    parent = "ground"
    for name, axis, mimic in (("a", "1 0 0", ""), ("b", "0 1 0", '<mimic joint="a" multiplier="-0.5"/>'), ("c", "1 0 0", last)):
        text += f"""<link name="link_{name}">{INERTIAL}</link>
          <joint name="{name}" type="revolute"><origin xyz="0 0 0.1"/><parent link="{parent}"/><child link="link_{name}"/>
          <axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>"""
        parent = f"link_{name}"
    return text + "</robot>"


def errors(xml: str, convention: pinocchio.Convention) -> list[float]:
    """How far M is from the one that rnea gives, in three calls at one q."""
    model = pinocchio.buildModelFromXML(xml, mimic=True)
    data, q, zero = model.createData(), np.full(model.nq, 0.3), np.zeros(model.nv)
    rest = pinocchio.rnea(model, model.createData(), q, zero, zero)
    columns = [pinocchio.rnea(model, model.createData(), q, zero, unit) - rest for unit in np.eye(model.nv)]
    result = []
    for _ in range(3):
        upper = np.triu(pinocchio.crba(model, data, q, convention))
        result.append(float(np.abs(upper - np.triu(np.array(columns).T)).max()))
    return result


mimics = '<mimic joint="a"/>'
for name, last in (("c moves by itself", ""), ("c mimics, too", mimics)):
    for convention in (pinocchio.Convention.LOCAL, pinocchio.Convention.WORLD):
        grown = errors(robot(last), convention)
        print(f"Pinocchio {pinocchio.__version__}, {name}, {convention}: errors of M", [f"{e:.3g}" for e in grown])
        if convention == pinocchio.Convention.LOCAL and not last:
            assert grown[0] < 1e-12 and grown[1] > 1e-3 and np.isclose(grown[2], 2 * grown[1])
        else:
            assert max(grown) < 1e-12
PYTHON
venv/bin/python mass.py
