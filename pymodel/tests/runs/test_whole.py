"""Files that are whole or absent, whoever ends the process that writes them."""

import os
import signal
import subprocess
import sys

import pytest

from pymodel.runs import alone
from pymodel.runs.alone import alone_at, alone_in
from pymodel.runs.input_error import InputError
from pymodel.runs.whole import replacing, whole_file
from pymodel.tests.places import ROOT

NAMES = ("a", "b", "end")


def contents(folder):
    """Of all files, also hidden ones."""
    return {path.name: path.read_text() if path.is_file() else None for path in folder.iterdir()}


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o640)
    with whole_file(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old" and beside.suffix == ".csv"
    assert contents(tmp_path) == {"table.csv": "new"} and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_file_that_fails_leaves_the_old_one(tmp_path, error):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises((KeyboardInterrupt, OSError)) as caught, whole_file(path) as beside:
        beside.write_text("ne")
        raise error
    assert contents(tmp_path) == {"table.csv": "old"}
    if isinstance(error, OSError):
        assert caught.value.filename == str(path)


def test_a_folder_that_is_not_there_is_named_by_the_file(tmp_path):
    path = tmp_path / "none" / "table.csv"
    with pytest.raises(FileNotFoundError) as caught, whole_file(path) as beside:
        beside.write_text("new")
    assert caught.value.filename == str(path)


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "there" / "table.csv")
    with whole_file(tmp_path / "link.csv") as beside:
        beside.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert contents(tmp_path / "there") == {"table.csv": "new"}


def test_what_is_no_file_is_written_as_it_stands(tmp_path):
    read, write = os.pipe()
    with whole_file(f"/dev/fd/{write}") as beside:
        beside.write_text("new")
    os.close(write)
    assert os.read(read, 9) == b"new"
    os.close(read)
    with whole_file("/dev/null") as beside:
        assert str(beside) == "/dev/null"


def make(folder, texts, ends=None):
    with replacing(folder, NAMES, "end") as new:
        for name, text in texts.items():
            (new / name).write_text(text)
            assert name not in contents(folder) or contents_of_files(folder) == ends


def contents_of_files(folder):
    return {path.name: path.read_text() for path in folder.glob("[!.]*")}


def test_a_set_is_replaced_as_a_whole(tmp_path):
    first = {"a": "1", "b": "2", "end": "3"}
    make(tmp_path, first)
    assert contents(tmp_path) == first
    make(tmp_path, {"b": "4", "end": "5"}, first)
    assert contents(tmp_path) == {"b": "4", "end": "5"}
    make(tmp_path, {"a": "6"}, {"b": "4", "end": "5"})  # without its end it is none
    assert contents(tmp_path) == {"b": "4", "end": "5"}


@pytest.mark.parametrize("before", ["", "folder", "file"])
def test_what_fails_leaves_no_folder(tmp_path, before):
    folder = tmp_path / "of" / "a_run"
    if before:
        folder.mkdir(parents=True)
    if before == "file":
        (folder / "a").write_text("1")
    with pytest.raises(ZeroDivisionError), replacing(folder, NAMES, "end") as new:
        (new / "a").write_text(str(1 // 0))
    assert folder.exists() == bool(before)
    if before:
        assert contents(folder) == ({"a": "1"} if before == "file" else {})


def test_what_somebody_else_has_put_there_stays(tmp_path):
    with pytest.raises(InputError), replacing(tmp_path / "run", NAMES, "end"):
        (tmp_path / "run" / "notes").write_text("mine")
        raise InputError("refused")
    assert (tmp_path / "run" / "notes").read_text() == "mine"


def test_a_part_of_a_set_adds_to_it(tmp_path):
    with replacing(tmp_path, NAMES, "end") as new:
        (new / "a").write_text("1")
        with replacing(tmp_path / ".", NAMES, "end") as again:
            assert again == new
            (again / "end").write_text("2")
        assert not contents_of_files(tmp_path)
    assert contents(tmp_path) == {"a": "1", "end": "2"}


KILLED = """
import os, signal, sys
from pathlib import Path
from pymodel.runs import whole
left, folder = int(sys.argv[1]), Path(sys.argv[2])
def counted(function):
    def counts(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return counts
os.replace, Path.unlink = counted(os.replace), counted(Path.unlink)
Path.rename, whole.shutil.rmtree = counted(Path.rename), counted(whole.shutil.rmtree)
with whole.replacing(folder, ("a", "b", "end"), "end") as new:
    for name in ("b", "end"):
        (new / name).write_text("new")
"""


def test_kills_at_every_step_leave_one_set_or_the_other(tmp_path):
    """Or none with its end; the next command goes on where the renaming was cut."""
    old, new = {"a": "old", "b": "old", "end": "old"}, {"b": "new", "end": "new"}
    found, step, ended = [], 0, -signal.SIGKILL
    while ended == -signal.SIGKILL:
        folder = tmp_path / str(step)
        make(folder, old)
        words = [sys.executable, "-c", KILLED, str(step), str(folder)]
        ended = subprocess.run(words, cwd=ROOT, check=False).returncode
        left = contents_of_files(folder)
        assert left in (old, new) or "end" not in left
        make(folder, {})
        found.append(contents(folder))
        assert found[-1] in (old, new)
        step += 1
    assert ended == 0 and found == sorted(found, key=lambda x: x == new) and step > 6


def test_another_process_is_refused_with_its_number(tmp_path):
    code = "import sys, time; from pathlib import Path; from pymodel.runs.alone import {0}\n"
    code += "with {0}(Path(sys.argv[1])): print(flush=True); time.sleep(60)"
    for function, place in ((alone_in, tmp_path), (alone_at, tmp_path / "table.csv")):
        words = [sys.executable, "-c", code.format(function.__name__), str(place)]
        other = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)
        try:
            other.stdout.readline()
            with (
                pytest.raises(InputError, match=f"^process {other.pid} .* {place}: wait until it"),
                function(place),
            ):
                pass
        finally:
            other.kill()
            other.communicate()
        with function(place):  # what is killed keeps nobody out
            pass
        assert not list(tmp_path.iterdir())


def test_a_lock_that_was_removed_meanwhile_keeps_others_out(tmp_path, monkeypatch):
    """Two that wait for one who ends: the file that they opened is gone."""
    stale, is_at = [], alone._is_at

    def removed_once(number, path):
        if not stale:
            stale.append(path.unlink())
        return is_at(number, path)

    monkeypatch.setattr(alone, "_is_at", removed_once)
    with alone_in(tmp_path):
        assert (tmp_path / ".lock").exists() and stale
        with pytest.raises(InputError, match="works in"), alone_in(tmp_path):
            pass


def test_links_are_refused(tmp_path):
    (tmp_path / "own").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b").symlink_to(tmp_path / "own")
    with pytest.raises(InputError, match="out/b: is a link, and would be replaced: remove it"):
        make(tmp_path / "out", {"b": "1", "end": "2"})
    assert (tmp_path / "own").read_text() == "mine"
