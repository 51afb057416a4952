"""A folder for a test with Yosys."""

import tempfile
from pathlib import Path

import pytest

from scripts.places import BUILD


@pytest.fixture
def folder(monkeypatch):
    """For one test alone, with the answers of its proofs; Yosys sees the repository only."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=BUILD) as name:
        monkeypatch.setattr("scripts.equivalence.proof.OUT", Path(name) / "proofs")
        yield Path(name)
