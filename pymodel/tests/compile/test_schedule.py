"""Schedules: how long they are, against what no schedule can beat."""

import dataclasses

import numpy as np
import pytest

from pymodel.compile.kernel import interleave
from pymodel.compile.registry import recorded
from pymodel.compile.schedule import bounds, schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.tests.chains import random_chain
from pymodel.tests.places import SCENARIOS

ROOMY = Machine(depth=1024, program_depth=1 << 16)


@pytest.mark.parametrize(
    ("name", "adders", "contexts", "most"),
    [("double_pendulum", 2, 1, 130), ("four_bar", 2, 1, 260), ("double_pendulum", 4, 8, 8 * 26)],
)
def test_cycles_of_the_demos(name, adders, contexts, most):
    """With units of 2, 2, 7 and 15 stages, as the longest paths of the model are quoted."""
    machine = dataclasses.replace(
        ROOMY, adders=adders, multipliers=adders, add_stages=2, rec_stages=7, sincos_stages=15
    )
    kernel = interleave([recorded("step", load(SCENARIOS / f"{name}.toml"))] * contexts)
    program, low = schedule(machine, kernel), bounds(machine, kernel)
    assert max(low.values()) == low["both"] < program.main <= most
    assert program.main <= 1.1 * low["both"]


def test_cycles_grow_with_the_logarithm_of_bodies():
    """While lanes suffice."""
    machine = dataclasses.replace(ROOMY, adders=64, multipliers=64)
    rng = np.random.default_rng(1)
    cycles = [
        schedule(machine, recorded("step", random_chain(rng, n))).main for n in (2, 4, 8, 16, 32)
    ]
    growth = np.diff(cycles)
    assert (growth > 0).all() and growth.max() < 1.5 * growth.min() + 20, cycles
