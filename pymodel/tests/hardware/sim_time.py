"""Fixtures of time without a simulator, which several folders of tests share."""

import logging

import cocotb
import numpy as np
import pytest

from pymodel.hardware import times
from pymodel.hardware.scoreboard import Scoreboard


@pytest.fixture
def sim_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What stands for the simulated time in a checker: a list of one number, ns."""
    time = [5.0]
    monkeypatch.setattr(cocotb, "log", logging.getLogger("cocotb"), raising=False)
    monkeypatch.setattr(times, "now_ns", lambda: time[0])
    return time


@pytest.fixture
def board(sim_time: list[float]) -> Scoreboard:
    """A scoreboard without a simulator."""
    return Scoreboard("runs", np.random.default_rng(1), "make it")
