"""Crocoddyl with our dynamics; only where `make bench ONLY=mpc` has installed it."""

import json

import pytest

from scripts.evidence.benchmarks import mpc

pytestmark = [
    pytest.mark.rtl_of(),
    pytest.mark.skipif(
        not mpc.PYTHON.exists(), reason="no Crocoddyl: `make bench ONLY=mpc` installs it"
    ),
]


def test_its_example_takes_the_same_way():
    """Each of ten iterations multiplies a difference."""
    found = json.loads(mpc.example(10).stdout)
    assert found["ours"]["cost"] == pytest.approx(found["Crocoddyl"]["cost"], rel=1e-7)
    assert found["torque_difference"] < 1e-7


def test_a_pair_that_disagrees_is_refused_in_a_line():
    done = mpc.example(1, "disagree")
    assert done.returncode == 1 and not done.stdout
    line = done.stderr.splitlines()[-1]
    assert line.startswith(
        "crocoddyl 3.2.1 and pin 4.0.0 disagree on forward dynamics by 1 rad/s^2"
    )
