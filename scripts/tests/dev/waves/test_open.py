"""Which waveform is opened, with what, and what the user is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.dev.waves.choose import choose
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.viewer import viewer_command
from scripts.kernel.places import ROOT


@pytest.fixture
def tree(tmp_path):
    """A repository with benches `fp_add` and `fp_mul`; call it to add a waveform of `fp_add`."""
    for bench in ("fp_add", "fp_mul"):
        (tmp_path / "tb" / bench).mkdir(parents=True)
        (tmp_path / "tb" / bench / "Makefile").touch()
    folder = tmp_path / "build" / "waves" / "fp_add"

    def add(name, age):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.touch()
        os.utime(path, (10_000 - age, 10_000 - age))
        return path

    add.root = tmp_path
    return add


def test_newest_waveform_is_chosen(tree):
    tree("half-icarus-first.fst", age=3)
    newest = tree("two-verilator-first.fst", age=1)
    half = tree("half-half-icarus-first.fst", age=2)
    assert choose("fp_add", None, None, tree.root) == newest
    assert choose("fp_add", "half-half", None, tree.root) == half
    assert choose("fp_add", "half", None, tree.root).name == "half-icarus-first.fst"
    assert choose("fp_add", None, half.name, tree.root) == half.resolve()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("fp_add", "half", None),
            "no waveform of fp_add CONFIG=half yet; .*make fp_add WAVES=1 CONFIG=half",
        ),
        (("fp_mul", None, None), "no waveform of fp_mul yet; get one with: make fp_mul WAVES=1$"),
        (
            ("fp_add", "zzz", None),
            "CONFIG=zzz: must be one of binary32, half, .*, random-<EXP_W>.<MAN_W>$",
        ),
        (("addr", None, None), "there is no bench 'addr'; benches: fp_add fp_mul"),
        (("fp_add", "two", "two-icarus-first.fst"), "FILE and CONFIG: one of them says which"),
        (("fp_add", None, "gone.fst"), "there is no gone.fst"),
        (("addr", None, "two-icarus-first.fst"), "there is no bench 'addr'; benches: fp_add"),
    ],
)
def test_nothing_to_open_is_one_line(tree, arguments, said):
    tree("two-icarus-first.fst", age=1)
    with pytest.raises(Problem, match=said) as caught:
        choose(*arguments, tree.root)
    assert "\n" not in str(caught.value)


@pytest.fixture
def viewers(tmp_path, monkeypatch):
    """An empty PATH and a display; call the result with the viewers that are installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def install(*names):
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)

    return install


FILES = {"gtkwave": Path("a.gtkw"), "surfer": Path("a.sucl")}


def test_viewer_is_chosen(viewers):
    viewers("surfer")
    command = ["surfer", "--command-file", "a.sucl", "a.fst"]
    assert viewer_command(Path("a.fst"), FILES) == command
    viewers("gtkwave")
    assert viewer_command(Path("a.fst"), FILES) == ["gtkwave", "a.fst", "a.gtkw"]


def test_no_viewer_is_one_line(viewers):
    with pytest.raises(Problem, match="apt-get install gtkwave.*surfer-project") as caught:
        viewer_command(Path("a.fst"), FILES)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs no DISPLAY elsewhere")
def test_no_display_is_one_line(viewers, monkeypatch):
    viewers("gtkwave")
    monkeypatch.delenv("DISPLAY")
    with pytest.raises(Problem, match="no display .*a.fst with gtkwave and a.gtkw") as caught:
        viewer_command(Path("a.fst"), FILES)
    assert "\n" not in str(caught.value)


def test_exit_status():
    """As `make waves` runs it."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "scripts.kernel.start",
            "scripts.dev.waves.command",
            "no_such_bench",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("waves: there is no bench 'no_such_bench'")
    assert done.stderr.count("\n") == 1
