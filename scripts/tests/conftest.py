"""A folder for a test with Yosys, a machine without simulators, and time without one."""

import logging
import tempfile
from pathlib import Path

import cocotb
import numpy as np
import pytest

from pymodel.hardware import scoreboard, simulators, waiting
from pymodel.hardware.scoreboard import Scoreboard
from scripts.kernel.places import BUILD


@pytest.fixture
def folder():
    """For one test alone; Yosys sees the repository only."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=BUILD) as name:
        yield Path(name)


@pytest.fixture
def no_simulator(monkeypatch):
    """As on a machine that has none."""
    monkeypatch.setattr(simulators, "usable", lambda simulator: False)
    simulators.require_usable.cache_clear()


@pytest.fixture
def sim_time(monkeypatch):
    """What stands for the simulated time in a checker: a list of one number, ns."""
    time = [5.0]
    monkeypatch.setattr(cocotb, "log", logging.getLogger("cocotb"), raising=False)
    for module in (scoreboard, waiting):
        monkeypatch.setattr(module, "get_sim_time", lambda unit: time[0])
    return time


@pytest.fixture
def board(sim_time):
    """A scoreboard without a simulator."""
    return Scoreboard("runs", np.random.default_rng(1), "make it")
