"""Which processes still run."""

import contextlib
import re
from pathlib import Path

import pytest

#: Mark of a test that uses this.
NEEDED = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks processes up in /proc"
)


def session_members(session: int) -> list[str]:
    """Command names of the processes of a session that still run."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            stats.append(path.read_text())
    # While a process ends, its session may be -1 already, or nothing be left to read.
    form = re.compile(r"\d+ \((.*)\) (\S) -?\d+ -?\d+ (-?\d+) ", re.S)
    found = [match for text in stats if (match := form.match(text))]
    return [match[1] for match in found if match[2] != "Z" and int(match[3]) == session]


def children(process: int) -> list[int]:
    """The processes that the main thread of one has started; none of one that has ended."""
    with contextlib.suppress(OSError):
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    return []
