"""A co-simulation is red for one word, and for one value of the trajectory, that differs."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from pymodel.arith.fp import BINARY32
from pymodel.hardware.cosim.co_simulation import Hardware, compare
from pymodel.hardware.places import ROOT
from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate

pytestmark = pytest.mark.rtl_of()


@pytest.fixture(scope="module")
def run():
    """Three steps of a loop."""
    return simulate(load(ROOT / "scenarios" / "four_bar.toml", steps=3), "float32")


def test_equal_runs_are_compared_value_by_value(board, run):
    compare(board, run, replace(run), BINARY32)
    assert board.transactions == sum(len(column) for column in run.columns().values())


COLUMNS = ("t", "q", "qd", "p", "kinetic", "potential", "loop_position", "loop_velocity")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_of_the_last_row_that_differs_is_red(board, run, name):
    other = getattr(run, name).copy()
    last = other.view(np.uint64)[-1:].reshape(-1)
    last[-1] += 1 << 29  # a unit in the last place of a float32
    with pytest.raises(AssertionError, match=r"differs .*row 3 of run.csv, the first of 1 rows"):
        compare(board, run, replace(run, **{name: other}), BINARY32)


def test_every_array_of_a_run_is_one_of_these(run):
    arrays = {x.name for x in fields(run) if isinstance(getattr(run, x.name), np.ndarray)}
    assert arrays == set(COLUMNS)


def test_a_run_that_is_shorter_is_red(board, run):
    shorter = replace(run, **{name: getattr(run, name)[:-1] for name in COLUMNS})
    with pytest.raises(AssertionError, match="3 rows, all-model run 4"):
        compare(board, shorter, run, BINARY32)


def test_a_word_of_the_hardware_that_differs_is_red(board):
    hardware = Hardware(board, None, BINARY32)
    hardware.recorder = SimpleNamespace(step=7)
    hardware.check("answer", [1, 2], [1, 2])
    with pytest.raises(AssertionError, match=r"answer\[1\] differs .*\(step 7\)"):
        hardware.check("answer", [1, 2], [1, 3])
