#!/bin/sh
# pin 4.1.0: derivatives of inverse dynamics are wrong for universal, composite and SphericalZYX joints.
#
# One would have guessed: a universal joint is a hinge about x and one about y behind it, so that
# computeRNEADerivatives gives of it what it gives of the two hinges. rnea does; the derivatives
# differ in the second digit, as those of a composite of the two hinges do, without a word.
#
# It matters to our users: Pinocchio is what our dID and dFD are compared with. So it gets planar,
# cylindrical and universal joints as the hinges and slides that they are made of.
#
# Source: stack-of-tasks/pinocchio issue 2053 (open) has a wrong Coriolis matrix of such joints
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pin==4.1.0

cat >derive.py <<'PYTHON'
import numpy as np
import pinocchio


def model(*joints):
    found, last = pinocchio.Model(), 0
    for place, joint in enumerate(joints):
        last = found.addJoint(last, joint, pinocchio.SE3.Identity(), f"j{place}")
    body = pinocchio.Inertia(1.5, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.2, 0.25]))
    found.appendBodyToJoint(last, body, pinocchio.SE3.Identity())
    return found


def error(found):
    """Of dtau/dq, against central differences of rnea."""
    data = found.createData()
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, found.nv))
    pinocchio.computeRNEADerivatives(found, data, q, v, a)
    columns = [
        (pinocchio.rnea(found, data, q + x, v, a) - pinocchio.rnea(found, data, q - x, v, a)) / 2e-6
        for x in 1e-6 * np.eye(found.nv)
    ]
    return np.abs(data.dtau_dq - np.transpose(columns)).max()


x, y, _ = np.eye(3)
hinges = error(model(pinocchio.JointModelRX(), pinocchio.JointModelRY()))
universal = error(model(pinocchio.JointModelUniversal(x, y)))
print(f"Pinocchio {pinocchio.__version__}, error of dtau/dq:")
print(f"two hinges {hinges:.1e}, a universal joint {universal:.1e} N m/rad")
assert hinges < 1e-7 and universal > 1e-2
PYTHON
venv/bin/python derive.py
