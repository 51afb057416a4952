"""Which processes still run."""

import contextlib
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

#: Mark of a test that uses this.
NEEDED = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks processes up in /proc"
)

WORK_S, WORKS_S = 60.0, 0.3  # until workers work; processor time of one that does


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


def sockets_that_listen(process: int) -> list[str]:
    """Internet sockets, and local ones with a name, of a process and its descendants."""
    own = [process]
    for one in own:
        own += children(one)
    inodes = set().union(*map(_open_files, own))
    found = []
    for name in ("tcp", "tcp6", "udp", "udp6"):
        rows = [line.split() for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        found += [row[1] for row in rows if f"socket:[{row[9]}]" in inodes]
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return found + [row[7] for row in rows if f"socket:[{row[6]}]" in inodes and len(row) > 7]


def _open_files(process: int) -> set[str]:
    """What the files that a process has open are; of one that has ended, nothing."""
    found = set()
    with contextlib.suppress(OSError):  # it has ended meanwhile
        for link in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):  # it is closed meanwhile
                found.add(os.readlink(link))
    return found


def sockets_of_work(process: subprocess.Popen, workers: int) -> list[str]:
    """Sockets that listen of a command and its workers, once that many are at work."""
    until = time.monotonic() + WORK_S
    while sum(map(_seconds, children(process.pid))) < WORKS_S * workers:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    assert len(children(process.pid)) >= workers
    return sockets_that_listen(process.pid)


def _seconds(process: int) -> float:
    """Processor time that a process has used, s; 0 of one that has ended."""
    with contextlib.suppress(OSError):
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return 0.0
