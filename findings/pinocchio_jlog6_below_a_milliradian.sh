#!/bin/sh
# pin 4.1.0: Jlog6 is off by up to 1e-5 for rotations between 1e-4 and 2e-3 rad.
#
# One would have guessed: the Jacobian of the logarithm of a placement is good to float64's rounding at
# any angle, or best near none. At 1e-2 rad and more and at 1e-6 rad it is; between, up to eleven digits
# are lost, most at some 1.7e-4 rad: what a quotient of vanishing terms looks like just before a series
# takes over.
#
# It matters to our users: it is the Gauss-Newton Jacobian of "bring this link to that placement", in
# planners that end at small angles. So ours takes the series up to 0.05 rad, and is tested against the
# sum of its own series, not against Pinocchio.
#
# Source: none found; stack-of-tasks/pinocchio issue 2948 (open) is about the series of log6 itself
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pin==4.1.0

cat >logarithm.py <<'PYTHON'
import numpy as np
import pinocchio


def series(twist):
    """Inverse of sum (-ad)^k / (k + 1)!: the same Jacobian without a quotient."""
    v, w = pinocchio.skew(twist[:3]), pinocchio.skew(twist[3:])
    ad = np.block([[w, v], [np.zeros((3, 3)), w]])
    term = total = np.eye(6)
    for k in range(1, 40):
        term = term @ -ad / (k + 1)
        total = total + term
    return np.linalg.inv(total)


rng = np.random.default_rng(0)
worst = {}
for angle in (1e-6, 1.7e-4, 1e-3, 1e-2, 1.0):
    for _ in range(50):
        axis = rng.normal(size=3)
        twist = np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])
        off = np.abs(pinocchio.Jlog6(pinocchio.exp6(twist)) - series(twist)).max()
        worst[angle] = max(worst.get(angle, 0.0), off)
print(f"Pinocchio {pinocchio.__version__}, error of Jlog6 by angle [rad]:")
print(", ".join(f"{angle:g}: {off:.0e}" for angle, off in worst.items()))
assert worst[1.7e-4] > 1e-6 and worst[1e-3] > 1e-8
assert max(worst[1e-6], worst[1e-2], worst[1.0]) < 1e-12
PYTHON
venv/bin/python logarithm.py
