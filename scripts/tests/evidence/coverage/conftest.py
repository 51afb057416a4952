"""The command of functional coverage, working on one made-up point and in a temporary folder."""

import pytest

from scripts.evidence.coverage import command
from scripts.tests.evidence.coverage.made import POINT


@pytest.fixture
def met(tmp_path, monkeypatch):
    """The folder that simulations leave their bins in, empty for now."""
    folder = tmp_path / "met"
    folder.mkdir()
    monkeypatch.setattr(command, "COVERED", folder)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    for name in ("OUT", "SUMMARY", "XML", "PAGE"):
        monkeypatch.setattr(command, name, tmp_path / getattr(command, name).name)
    monkeypatch.setattr(command, "all_points", lambda: [POINT])
    return folder
