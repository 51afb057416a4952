"""Write docs/native_results.md from what `make bench ONLY=native` left in build/bench.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodel.mechanism.robot_bodies import SNAP
from scripts.evidence.benchmarks import native
from scripts.evidence.benchmarks.native_goals import PRINTED
from scripts.evidence.benchmarks.native_work import BATCH, CALLS, CHECKED, ONE, SYSTEMS
from scripts.evidence.benchmarks.peers import casadi_peer, mujoco_peer, pinocchio_peer
from scripts.kernel.documents import copy_picture, read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "native_results.md"
PAGE = Path(__file__).with_name("native_results.md.jinja")
COMMAND = "make native-results"

Rows = Sequence[Mapping[str, Any]]


def results(rows: Rows) -> str:
    """Times, peers and goals."""
    cells = []
    for row in rows:
        mode = ONE if row["mode"] == ONE else f"{BATCH} of {row['systems']}"
        peer = row["peer"] or native.NONE
        numbers = [
            native.NONE if row[key] is None else f"{row[key]:.{digits}f}"
            for key, digits in (("ns_per_call", 1), ("peer_ns", 0), ("ratio", 1))
        ]
        same = "yes" if row["identical"] else "NO"
        cells.append((row["work"], row["format"], mode, peer, *numbers, native.verdict(row), same))
    head = ("work", "format", "mode", "peer", "ns", "peer ns", "ratio", "goal", "same bits")
    return table(head, cells)


def batches(rows: Rows) -> str:
    """Times by the number of systems of a call."""
    found = {
        (row["work"], row["format"]): row["ns_by_systems"] for row in rows if row["mode"] == BATCH
    }
    return table(
        ("work", "format", *(f"ns, {n} systems" for n in SYSTEMS)),
        [(*key, *(f"{ns[str(n)]:.1f}" for n in SYSTEMS)) for key, ns in found.items()],
    )


def missed(rows: Rows) -> str:
    """A line on the goals."""
    verdicts = [native.verdict(row) for row in rows]
    judged = [verdict for verdict in verdicts if verdict != native.NONE]
    reached = sum(verdict.endswith("yes") for verdict in judged)
    if reached == len(judged):
        return f"All {reached} goals are reached."
    names = [
        f"{row['work']} ({row['format']} {row['mode']}, {row['ratio']:.1f})"
        for row, verdict in zip(rows, verdicts, strict=True)
        if verdict.endswith("NO")
    ]
    return f"{reached} of {len(judged)} goals are reached. Missed: {', '.join(names)}."


def printed() -> str:
    """What others print."""
    return table(
        ("what", "machine", "figure", "ns of one", "source"),
        [(one.what, one.machine, one.figure, f"{one.ns:.0f}", one.source) for one in PRINTED],
        numbers=False,
    )


def document(rows: Rows, machine: Mapping[str, str]) -> str:
    """The text."""
    return render(
        PAGE,
        command=COMMAND,
        measure=native.COMMAND,
        processor=machine["processor"],
        compiler=machine["compiler"],
        pin=machine["pin"],
        mujoco=machine["mujoco"],
        snap=f"{SNAP:g}",
        casadi=machine["casadi"],
        results=results(rows),
        missed=missed(rows),
        one=ONE,
        calls=CALLS,
        batch=BATCH,
        systems=", ".join(map(str, SYSTEMS)),
        checked=CHECKED,
        pinocchio_agrees=f"{pinocchio_peer.AGREES:g}",
        mujoco_agrees=f"{mujoco_peer.AGREES[False]:g}",
        mujoco_loop_agrees=f"{mujoco_peer.AGREES[True]:g}",
        generated_flags=" ".join(casadi_peer.CALL_FLAGS),
        flags=" ".join(pinocchio_peer.FLAGS),
        variant=pinocchio_peer.VARIANTS[1][0],
        proximal=f"{pinocchio_peer.PROXIMAL[1]:g}",
        batches=batches(rows),
        printed=printed(),
    )


def from_results() -> str:
    """The text of what the command has left, its picture copied."""
    rows = read(native.NATIVE, native.COMMAND)
    text = document(rows, read(native.MACHINE, native.COMMAND))
    copy_picture("native", native.PICTURE, native.COMMAND)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
