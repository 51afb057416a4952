#!/bin/sh
# scipy 1.17.1: Radau and BDF move a coordinate that nothing depends on ever farther, to infinity.
#
# One would have guessed: the Jacobian that solve_ivp finds by itself takes differences of about the
# square root of the unit roundoff. So it begins; where a difference changes nothing, the next one is
# ten times as large, without a bound. A cyclic coordinate, as the angle of a shaft that turns freely,
# is moved by 1e6, 1e100 and at last infinitely far, while the solution itself is fine. A right-hand
# side that takes its cosine gives NaN there, and the run ends with a ValueError of the linear algebra.
#
# It matters to our users: long stiff runs of a governor or a centrifuge end for no reason that they
# could see. So our runs hand these integrators a Jacobian of their own.
#
# Source: scipy/integrate/_ivp/common.py, num_jac (NUM_JAC_FACTOR_INCREASE has no counterpart above)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install scipy==1.17.1 numpy==2.4.4

cat >shaft.py <<'PYTHON'
import warnings

import numpy as np
import scipy
from scipy.integrate import BDF, Radau

warnings.simplefilter("ignore")
farthest = 0.0


def rates(t, y):
    """Van der Pol's oscillator, and an angle that turns at a constant rate beside it."""
    global farthest
    farthest = max(farthest, abs(y[2]))
    return np.array([y[1], 100.0 * (1.0 - y[0] ** 2) * y[1] - y[0], 6.28])


for method in (Radau, BDF):
    farthest = 0.0
    solver = method(rates, 0.0, [2.0, 0.0, 0.0], 4000.0, rtol=1e-6, atol=1e-6)
    while solver.status == "running":
        solver.step()
    seen = f"{solver.njev} Jacobians, the angle ends at {solver.y[2]:.4g} and was looked at up to"
    print(f"scipy {scipy.__version__}, {method.__name__}: {seen} {farthest:.3g}")
    assert solver.status == "finished" and solver.y[2] < 3e4 and farthest == np.inf
PYTHON
venv/bin/python shaft.py
