"""What a test reads, seen through Python's audit events.

In its own process that is every file, and the RTL that it names to a program that it starts. Of
Python that it starts, however deep (make, a simulator), it is every file that it opens in the
repository: :data:`SITE` tells. Nobody sees that a test asks only whether a file is there, or how
old it is, nor what a process of several tests (a worker of a fixture) reads when the test that
started it is over.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pymodel.hardware.places import ROOT
from scripts.kernel.inputs import is_input, is_made

_EVENTS = ("open", "os.listdir", "os.scandir")
_START = "subprocess.Popen"
RTL = f"{ROOT / 'rtl'}{os.sep}"
#: Folder of a module that Python imports when it starts: it tells what the process reads.
SITE = Path(__file__).with_name("site")


class Reads:
    """What is read.

    Parameters
    ----------
    told : Path
        The file in which processes tell what they read, a path a line.
    """

    def __init__(self, told: Path) -> None:
        self.told = told
        self.own: set[str] = set()

    def all(self) -> set[str]:
        """Absolute paths of the files and folders until now."""
        told = self.told.read_text().splitlines() if self.told.exists() else []
        return self.own.union(told)


class _Watch:
    """The one hook of the process, as none can be taken away."""

    def __init__(self) -> None:
        self.seen: set[str] | None = None
        self.installed = False

    def install(self) -> None:
        if not self.installed:
            self.installed = True
            sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple) -> None:
        if self.seen is None:
            return
        if event in _EVENTS and isinstance(arguments[0], str | os.PathLike):
            path = os.path.abspath(arguments[0])
            # os.open may name it from a folder that the event does not tell, as shutil.rmtree does.
            elsewhere = event == "open" and arguments[1] is None and not os.path.lexists(path)
            if not elsewhere:
                self.seen.add(path)
        elif event == _START and isinstance(arguments[1], list | tuple):
            words = (os.fsdecode(word) for word in arguments[1])
            self.seen.update(word for word in words if word.startswith(RTL))


_WATCH = _Watch()


@contextlib.contextmanager
def read_files() -> Iterator[Reads]:
    """What is read inside the block, to be asked for there."""
    _WATCH.install()
    with tempfile.TemporaryDirectory(prefix="reads-") as folder:
        reads = Reads(Path(folder) / "told")
        reads.told.touch()
        with _told_in(str(reads.told)):
            _WATCH.seen = reads.own
            try:
                yield reads
            finally:
                _WATCH.seen = None


@contextlib.contextmanager
def _told_in(file: str) -> Iterator[None]:
    """Have the processes that are started tell in a file what they read of the repository."""
    before = {name: os.environ.get(name) for name in ("TOLD_READS", "TOLD_FOLDERS", "PYTHONPATH")}
    path = os.pathsep.join(filter(None, (str(SITE), before["PYTHONPATH"])))
    os.environ.update(TOLD_READS=file, TOLD_FOLDERS=f"{ROOT}{os.sep}", PYTHONPATH=path)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def strangers(seen: set[str], places: tuple[str, ...]) -> list[str]:
    """Files and folders of the repository that were read but are no inputs, relative to it."""
    found = (Path(path) for path in seen if path.startswith(f"{ROOT}{os.sep}"))
    outside = [path for path in found if not is_made(path) and not is_input(path, places)]
    return sorted(path.relative_to(ROOT).as_posix() for path in outside)
