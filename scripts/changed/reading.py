"""What a test reads: seen through Python's audit events, in its own process."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.changed.inputs import is_input, is_made
from tb.common.places import ROOT

_EVENTS = ("open", "os.listdir", "os.scandir")


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
        if (
            self.seen is not None
            and event in _EVENTS
            and isinstance(arguments[0], str | os.PathLike)
        ):
            self.seen.add(os.path.abspath(arguments[0]))


_WATCH = _Watch()


@contextlib.contextmanager
def read_files() -> Iterator[set[str]]:
    """Absolute paths of the files and folders that are read inside the block."""
    _WATCH.install()
    _WATCH.seen = seen = set()
    try:
        yield seen
    finally:
        _WATCH.seen = None


def strangers(seen: set[str], places: tuple[str, ...]) -> list[str]:
    """Files and folders of the repository that were read but are no inputs, relative to it."""
    found = (Path(path) for path in seen if path.startswith(f"{ROOT}{os.sep}"))
    outside = [path for path in found if not is_made(path) and not is_input(path, places)]
    return sorted(path.relative_to(ROOT).as_posix() for path in outside)
