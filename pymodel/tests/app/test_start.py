"""How commands end: by themselves, by a Ctrl-C that comes early, by a reader that ends."""

import os
import subprocess
import sys

import pytest

from pymodel.app.start import BAD_INPUT, INTERRUPTED, MESSAGE, UNREAD
from pymodel.tests.places import ROOT

START = "import sys; from pymodel.app.start import run_command; sys.exit(run_command('one', [7]))"
CTRL_C = "os.kill(os.getpid(), signal.SIGINT)"
FULL = "sys.stdout = open('/dev/full', 'w'); print(1)"
CAUGHT = f"""
try:
    {CTRL_C}
    time.sleep(60)
except BaseException:
    pass
"""


@pytest.mark.parametrize(
    ("imported", "run", "status", "said"),
    [
        ("pass", "return arguments[0]", 7, ""),
        (CTRL_C, "return 0", INTERRUPTED, f"{MESSAGE}\n"),
        (CAUGHT, "return 0", INTERRUPTED, f"{MESSAGE}\n"),
        ("pass", CTRL_C, INTERRUPTED, f"{MESSAGE}\n"),
        ("pass", "open('no/file')", BAD_INPUT, "no/file: No such file or directory\n"),
        ("pass", FULL, BAD_INPUT, "[Errno 28] No space left on device\n"),
    ],
    ids=[
        "by itself",
        "while it is imported",
        "where an import catches it",
        "while it runs",
        "a file that fails",
        "nowhere to print",
    ],
)
def test_a_command_ends_in_one_line(tmp_path, imported, run, status, said):
    module = f"import os, signal, sys, time\n{imported}\ndef main(arguments):\n    {run}\n"
    (tmp_path / "one.py").write_text(module)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", START],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", said)


@pytest.mark.parametrize("words", [["functions"], ["--help"], ["record", "scenarios/chain_8.toml"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_ends_ends_a_command_silently(words, unbuffered):
    """Printed by rich, by argparse, by ourselves: as `| true` does."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "pymodel", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=50,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (UNREAD, "")


def test_a_command_without_stdout_runs():
    """`>&-`, as some daemons start their programs."""
    line = f"exec {sys.executable} -m pymodel functions >&-"
    done = subprocess.run(
        ["sh", "-c", line], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=50
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_that_a_terminal_cannot_show(tmp_path):
    """It is shown as well as that can be, on both streams."""
    (tmp_path / "one.py").write_text(
        "import sys\nfrom rich.console import Console\ndef main(arguments):\n"
        "    print('\\u5186')\n    Console().print('\\u5186')\n"
        "    print('\\u5186', file=sys.stderr)\n    return 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", START],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{tmp_path}", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "\\u5186\n"), done.stderr
    assert done.stdout == "\\u5186\n" * 2
