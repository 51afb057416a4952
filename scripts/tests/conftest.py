"""A folder for a test with Yosys, and a machine without simulators."""

import tempfile
from pathlib import Path

import pytest

from pymodel.hardware import simulators
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
