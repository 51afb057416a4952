"""Native kernels against Pinocchio and MuJoCo, part of `make bench`; all on one core.

Time steps of the demos' mechanisms and functions of robots, one at a time and in batches. Peers are
timed in the same run, their loops in C++ and C. Prints the table with the goals, and writes
native.json, native_machine.json and native.png into build/bench.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.table import Table

from pymodel.compile.native import NativeKernel, NoCompilerError
from pymodel.runs.progress import progress
from scripts.evidence.benchmarks import native_work
from scripts.evidence.benchmarks.native_goals import (
    PRINTED,
    casadi_call,
    goal,
    mujoco,
    pinocchio_call,
    pinocchio_step,
)
from scripts.evidence.benchmarks.native_plot import plot
from scripts.evidence.benchmarks.native_work import (
    BATCH,
    CALLS_OF_ROBOTS,
    FUNCTIONS,
    ONE,
    STEPS,
    SYSTEMS,
    Call,
    Step,
    Work,
)
from scripts.evidence.benchmarks.peers import casadi_peer, mujoco_peer, pinocchio_peer
from scripts.evidence.benchmarks.peers.building import PeerError
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.evidence.robots.cases import ROBOTS, robot
from scripts.kernel.machine import compiler, processor, stay_on_one_core
from scripts.kernel.places import ROOT

NATIVE, MACHINE, PICTURE = OUT / "native.json", OUT / "native_machine.json", OUT / "native.png"
COMMAND = "make bench ONLY=native"

ROUNDS = 6  # everything in turn, so that a busy moment of the machine spoils some rounds only
BUDGET_S = 0.06  # of one measurement
NONE = "–"
WIDTH = 130  # of the tables at least

#: Format and mode of what is built.
KINDS = {
    Step: (("float64", ONE), ("float32", ONE), ("float64", BATCH), ("float32", BATCH)),
    Call: (("float64", ONE), ("float32", BATCH)),
}

Row = dict[str, Any]
#: Name of a piece of work -> peer -> ns.
PeerTimes = dict[str, dict[str, float]]


class _Native:
    """A built kernel and its times so far."""

    def __init__(self, work: Work, fmt: str, mode: str) -> None:
        self.work, self.format, self.mode = work, fmt, mode
        self.built: NativeKernel = native_work.build(work, fmt, mode)
        self.identical = work.identical(self.built)
        self.ns = dict.fromkeys((1,) if mode == ONE else SYSTEMS, float("inf"))

    def measure(self) -> None:
        """Time it once more."""
        for systems, before in self.ns.items():
            found = self.work.ns(self.built, systems, BUDGET_S)
            self.ns[systems] = min(before, found)

    def rows(self, peers: Mapping[str, float]) -> Iterator[Row]:
        """A row for each peer; one without a ratio if there is none."""
        systems = min(self.ns, key=self.ns.get)
        for peer, peer_ns in peers.items() or [(None, None)]:
            yield {
                "work": self.work.name,
                "format": self.format,
                "mode": self.mode,
                "ns_per_call": self.ns[systems],
                "peer": peer,
                "peer_ns": peer_ns,
                "ratio": peer_ns / self.ns[systems] if peer else None,
                "identical": self.identical,
                "systems": systems,
                "ns_by_systems": {str(n): ns for n, ns in self.ns.items()},
            }


class _Peers:
    """The peers that are there, and their times so far."""

    def __init__(self) -> None:
        self.times: PeerTimes = {}
        self.pinocchio = _built(pinocchio_peer.NAME, pinocchio_peer.build)
        self.mujoco = _built(mujoco_peer.NAME, mujoco_peer.build)
        self.casadi = _built(casadi_peer.NAME, casadi_peer.build)

    def measure(self) -> None:
        """Time them once more.

        Raises
        ------
        PeerError
            If one does not compute what the model does.
        """
        for step in STEPS:
            if self.pinocchio:
                ns = pinocchio_peer.scenario_ns(self.pinocchio, step.scenario, BUDGET_S)
                self._keep(step, pinocchio_step(step.scenario), ns)
            if self.mujoco:
                self._keep(
                    step, mujoco(), mujoco_peer.step_ns(self.mujoco, step.scenario, BUDGET_S)
                )
        for name in ROBOTS:
            for peer, built, call in (
                (pinocchio_peer, self.pinocchio, pinocchio_call),
                (casadi_peer, self.casadi, casadi_call),
            ):
                found = built and peer.robot_ns(built, robot(name, 0.0), FUNCTIONS, BUDGET_S)
                for function, ns in (found or {}).items():
                    self._keep(Call(name, function), call(function), ns)

    def _keep(self, work: Work, peer: str, ns: float) -> None:
        times = self.times.setdefault(work.name, {})
        times[peer] = min(ns, times.get(peer, ns))


def _built(name: str, build: Any) -> Any:
    """What building a peer gives; None, and a line that says why, if it cannot be built."""
    try:
        return build()
    except PeerError as error:
        print(f"without {name}: {error}", file=sys.stderr)
        return None


def measure() -> list[Row]:
    """All rows: a few minutes.

    Raises
    ------
    NoCompilerError
        If native kernels cannot be built here.
    PeerError
        If a peer does not compute what the model does.
    """
    kinds = [(work, *kind) for work in (*STEPS, *CALLS_OF_ROBOTS) for kind in KINDS[type(work)]]
    with progress("native kernels: build and compare", unit="kernels") as update:
        found = []
        for done, kind in enumerate(kinds):
            update(done, len(kinds))
            found.append(_Native(*kind))
    print("native kernels: building the peers", file=sys.stderr)
    peers = _Peers()
    stay_on_one_core()
    with progress("native kernels: time", unit="rounds") as update:
        for done in range(ROUNDS):
            update(done, ROUNDS)
            peers.measure()
            for one in found:
                one.measure()
    return [row for one in found for row in one.rows(peers.times.get(one.work.name, {}))]


def machine() -> dict[str, str]:
    """What it ran on, and with what."""
    packages = {}
    for package in ("pin", "mujoco", "casadi"):
        try:
            packages[package] = version(package)
        except ImportError:
            packages[package] = "none"
    return {"processor": processor(), "compiler": compiler("gcc"), **packages}


def verdict(row: Mapping[str, Any]) -> str:
    """Whether a row reaches its goal."""
    bound = goal(row)
    if bound is None or row["ratio"] is None:
        return NONE
    return f">= {bound:g}: {'yes' if row['ratio'] >= bound else 'NO'}"


def print_table(rows: Sequence[Mapping[str, Any]], on: Mapping[str, str]) -> None:
    """Times, ratios and goals, and what others print."""
    table = Table(title=f"native kernels, one core of {on['processor']}, {on['compiler']}")
    for name in ("work", "format", "mode"):
        table.add_column(name)
    for name in ("ns", "peer ns", "ratio"):
        table.add_column(name, justify="right")
    for name in ("peer", "goal", "same bits"):
        table.add_column(name)
    for row in rows:
        mode = row["mode"] if row["mode"] == ONE else f"{row['mode']} of {row['systems']}"
        times = [NONE if row[key] is None else f"{row[key]:.1f}" for key in ("peer_ns", "ratio")]
        table.add_row(
            row["work"],
            row["format"],
            mode,
            f"{row['ns_per_call']:.1f}",
            *times,
            row["peer"] or NONE,
            verdict(row),
            "yes" if row["identical"] else "NO",
        )
    console = Console(width=max(Console().width, WIDTH))
    console.print(table)
    others = Table(title="printed by their authors, not measured here")
    for name in ("what", "machine", "figure", "ns of one", "source"):
        others.add_column(name)
    for one in PRINTED:
        others.add_row(one.what, one.machine, one.figure, f"{one.ns:.0f}", one.source)
    console.print(others)
    print(f"command: {COMMAND}")


def main() -> None:
    """The command."""
    try:
        rows = measure()
    except (NoCompilerError, PeerError) as error:
        print(f"native kernels were not timed: {error}", file=sys.stderr)
        return
    on = machine()
    OUT.mkdir(parents=True, exist_ok=True)
    NATIVE.write_text(json.dumps(rows, indent=1) + "\n")
    MACHINE.write_text(json.dumps(on, indent=1) + "\n")
    plot(rows, PICTURE)
    print_table(rows, on)
    for path in (NATIVE, MACHINE, PICTURE):
        print(path.relative_to(ROOT))
