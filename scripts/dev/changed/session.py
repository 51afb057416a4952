"""What a session of `make test CHANGED=1` leaves out: for its closing lines, and for the report."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

FOLDER = "changed"  # of the build folder
BEGUN, LEFT_OUT = "begun", "left_out.json"


def begin(folder: Path, everything: bool) -> None:
    """Begin a session: of everything, which says nothing here, or of what has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (BEGUN, LEFT_OUT):
        (folder / name).unlink(missing_ok=True)
    if not everything:
        (folder / BEGUN).touch()


def leave_out(folder: Path, tests: Iterable[str], results: Iterable[str]) -> None:
    """Note tests that do not run as they passed with the same, and names of their result rows.

    All workers of a session note the same.
    """
    file = folder / LEFT_OUT
    new = file.with_suffix(f".{time.monotonic_ns()}")
    new.write_text(json.dumps({"tests": [*tests], "results": [*results]}))
    new.replace(file)


def left_out(folder: Path) -> dict[str, list[str]]:
    """What :func:`leave_out` noted in the last session."""
    file = folder / LEFT_OUT
    return json.loads(file.read_text()) if file.exists() else {"tests": [], "results": []}


def of_earlier_sessions(folder: Path, results: Path) -> set[str]:
    """Names of result rows that the last session neither made anew nor left out."""
    begun = folder / BEGUN
    if not begun.exists():
        return set()
    start, same = begun.stat().st_mtime, left_out(folder)["results"]  # by the files' clock
    old = {file.stem for file in results.glob("*.json") if file.stat().st_mtime < start}
    return old.difference(same)
