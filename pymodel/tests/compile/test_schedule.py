"""Schedules: how long they are, against what no schedule can beat."""

import dataclasses

import numpy as np
import pytest

from pymodel.compile.kernel import interleave
from pymodel.compile.registry import recorded
from pymodel.compile.robot_kernels import cheapest
from pymodel.compile.robot_kernels import recorded as robot_kernel
from pymodel.compile.schedule import _ListScheduler, bounds, schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.scenario_file import load
from pymodel.tests.chains import random_chain
from pymodel.tests.places import ROOT, SCENARIOS

ROBOTS = ROOT / "robots"
ROOMY = Machine(depth=1024, program_depth=1 << 16)


@pytest.mark.parametrize(
    ("name", "adders", "contexts", "most"),
    [("double_pendulum", 2, 1, 130), ("four_bar", 2, 1, 260), ("double_pendulum", 4, 8, 8 * 26)],
)
def test_cycles_of_the_demos(name, adders, contexts, most):
    """With units of 2, 2, 7 and 15 stages."""
    machine = dataclasses.replace(
        ROOMY, adders=adders, multipliers=adders, add_stages=2, rec_stages=7, sincos_stages=15
    )
    kernel = interleave([recorded("step", load(SCENARIOS / f"{name}.toml"))] * contexts)
    program, low = schedule(machine, kernel), bounds(machine, kernel)
    assert max(low.values()) == low["both"] < program.main <= most
    assert program.main <= 1.1 * low["both"]


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize(
    ("function", "most"), [("ID", 44), ("FD", 75), ("dID", 134), ("diFD", 215), ("dFD", 245)]
)
@pytest.mark.parametrize(
    "machine",
    [
        Machine(8, 8, add_stages=2, contexts=4, read_stages=1, operand_stages=0),
        Machine(8, 8, contexts=8),
    ],
)
def test_words_of_the_iiwa_on_a_barrel(machine, function, most):
    robot = reduced(urdf.load(ROBOTS / "iiwa14.urdf", snap=SNAP))
    kernel = robot_kernel(robot, function, cheapest(robot, function))
    assert schedule(machine.boundless, kernel, thorough=True).main <= most


def test_cycles_grow_with_the_logarithm_of_bodies():
    """While lanes suffice."""
    machine = dataclasses.replace(ROOMY, adders=64, multipliers=64)
    rng = np.random.default_rng(1)
    cycles = [
        schedule(machine, recorded("step", random_chain(rng, n))).main for n in (2, 4, 8, 16, 32)
    ]
    growth = np.diff(cycles)
    assert (growth > 0).all() and growth.max() < 1.5 * growth.min() + 20, cycles


@pytest.mark.parametrize("machine", [ROOMY, Machine(8, 8, contexts=4).boundless])
def test_what_is_given_up_would_not_have_been_shorter(machine, monkeypatch):
    kernel = interleave([recorded("step", load(SCENARIOS / "double_pendulum.toml"))] * 2)
    found = schedule(machine, kernel, thorough=True)
    to_the_end = _ListScheduler.place
    lengths = []

    def place(self, shorter_than):
        placement = to_the_end(self)
        lengths.append(placement.length)
        return placement if placement.length < shorter_than else None

    monkeypatch.setattr(_ListScheduler, "place", place)
    assert schedule(machine, kernel, thorough=True).words == found.words
    assert len(set(lengths)) > 1
