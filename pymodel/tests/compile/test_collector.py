"""What a recording makes goes with it: nothing is left that only the collector would find."""

import gc
import subprocess
import sys

import pytest

from pymodel.compile.robot_kernels import recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.urdf import load
from pymodel.tests.robots import ROBOTS

OF_A_CLASS = 100  # objects at most: the arithmetic that evaluates constants makes one
OLD = """
import gc, sys
from pymodel.compile import collector

MANY, frozen = 10_000, sys.argv[1] == "True"
gc.set_threshold(10 * MANY)  # it does not run by itself
gc.collect()
if frozen:
    gc.freeze()
before = gc.get_freeze_count()
kept = collector.paused()(lambda: [[] for _ in range(MANY)])()
assert gc.isenabled() and gc.get_freeze_count() == before
assert (gc.get_count()[0] < MANY) != frozen
kept.append(kept)
del kept
assert gc.collect() > MANY
"""


@pytest.fixture
def unseen():
    """The collector does not see what there was, garbage or not, and does not run by itself."""
    gc.disable()
    gc.freeze()
    yield
    gc.unfreeze()
    gc.enable()


def test_a_recording_and_its_program_leave_no_cycles(unseen):
    robot = reduced(load(ROBOTS / "iiwa14.urdf", snap=SNAP))
    kernel = recorded.__wrapped__(robot, "dFD")
    assert gc.collect() == 0
    program = schedule(Machine(2, 2, depth=256), kernel)
    assert len(program.words) > OF_A_CLASS > gc.collect()


@pytest.mark.parametrize("frozen", [False, True])
def test_what_was_made_is_old(frozen):
    """It is not looked through at once, and still found; what is frozen stays frozen."""
    subprocess.run([sys.executable, "-c", OLD, str(frozen)], check=True)  # few other objects
