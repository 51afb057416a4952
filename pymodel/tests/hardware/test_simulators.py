"""How the simulators are built."""

import shutil

import pytest

from pymodel.hardware.simulators import ccache_runs

pytestmark = pytest.mark.rtl_of()


def test_ccache_is_left_out_where_it_cannot_write(monkeypatch, tmp_path):
    """It compiles nothing then, and is optional."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "new" / "folder"))
    assert ccache_runs() == (shutil.which("ccache") is not None)
    (tmp_path / "file").touch()
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "file" / "folder"))
    assert not ccache_runs()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not ccache_runs()
