"""A folder for a test with Yosys, and a machine without simulators."""

import tempfile
from pathlib import Path

import pytest

from scripts.places import BUILD
from tb.common import simulators


@pytest.fixture
def folder(monkeypatch):
    """For one test alone, with the answers of its proofs; Yosys sees the repository only."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=BUILD) as name:
        monkeypatch.setattr("scripts.equivalence.proof.OUT", Path(name) / "proofs")
        yield Path(name)


@pytest.fixture
def no_simulator(monkeypatch):
    """As on a machine that has none."""
    monkeypatch.setattr(simulators, "usable", lambda simulator: False)
    simulators.require_usable.cache_clear()
