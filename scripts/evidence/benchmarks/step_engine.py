"""Cycles of the step engine, part of `make bench`: the RTL runs under Verilator.

Cycles a step of the demos and of chains of bars, for several numbers of lanes and of systems that
run interleaved. Every run is compared with the model. Writes step_engine.json, step_engine.png and
gantt.png into build/bench.
"""

import json
import multiprocessing
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pymodel.compile import gantt
from pymodel.compile.kernel import interleave
from pymodel.compile.registry import recorded
from pymodel.compile.schedule import bounds, schedule
from pymodel.machine.isa import Machine
from pymodel.machine.model import START_CYCLES
from pymodel.mechanism.scenario_file import load
from scripts.evidence.benchmarks.benches import run_step_engine
from scripts.evidence.benchmarks.scenarios import CONTEXTS, LANES, OUT, scenario_files
from scripts.evidence.benchmarks.step_engine_plot import plot
from scripts.kernel.places import ROOT, scenario_file

STEPS = 20
ROOMY = Machine(depth=4096, program_depth=1 << 15, trace_registers=1024)

Row = dict[str, Any]


def run(lanes: int) -> list[Row]:
    """All scenarios on so many adders and multipliers each: rows of the result.

    Raises
    ------
    SystemExit
        If the hardware differs from the model.
    """
    machine = replace(ROOMY, adders=lanes, multipliers=lanes)
    runs = [
        {"scenario": str(path), "steps": STEPS, "save": STEPS, "contexts": contexts}
        for path in scenario_files().values()
        for contexts in CONTEXTS
    ]
    measured = run_step_engine(machine, runs, OUT / f"step_engine-{lanes}+{lanes}")
    pairs = zip(measured, runs, strict=True)
    return [_row(machine, one, settings["scenario"]) for one, settings in pairs]


def _row(machine: Machine, measured: Row, scenario: str) -> Row:
    """Cycles of a run, next to what no schedule could beat."""
    step = recorded("step", load(scenario))
    low = bounds(machine, interleave([step] * measured["contexts"]))
    cycles = (measured["cycles"] - measured["traced"] - START_CYCLES) / measured["steps"]
    return {
        "scenario": measured["scenario"],
        "adders": machine.adders,
        "multipliers": machine.multipliers,
        "contexts": measured["contexts"],
        "cycles_per_system_step": cycles / measured["contexts"],
        "critical_path": low["dependencies"],
        "operations": len(step.operations),
        "identical": True,  # or there were no row
        "bound_dependencies_or_lanes": max(low["dependencies"], low["lanes"]),
        "bound_both": low["both"],
        "cycles": cycles,
    }


def print_table(rows: Sequence[Row]) -> None:
    """Cycles a system and step, by lanes."""
    table = Table(title=f"step engine: cycles a system and step ({STEPS} steps of RTL each)")
    table.add_column("scenario")
    table.add_column("systems", justify="right")
    for lanes in LANES:
        table.add_column(f"{lanes}+{lanes} lanes", justify="right")
    table.add_column("longest path", justify="right")
    cells = {(row["scenario"], row["contexts"], row["adders"]): row for row in rows}
    for scenario in dict.fromkeys(row["scenario"] for row in rows):
        for contexts in CONTEXTS:
            found = [cells[scenario, contexts, lanes] for lanes in LANES]
            table.add_row(
                scenario,
                str(contexts),
                *(f"{row['cycles_per_system_step']:.1f}" for row in found),
                str(found[0]["critical_path"]),
            )
    Console().print(table)


def draw_schedule() -> Path:
    """When the engine does what, for the double pendulum."""
    step = recorded("step", load(scenario_file("double_pendulum")))
    program = schedule(Machine(), step)
    path = OUT / "gantt.png"
    gantt.plot(program, path, f"double pendulum on 2 + 2 lanes: {program.main} cycles a step")
    return path


def main() -> None:
    """The command."""
    OUT.mkdir(parents=True, exist_ok=True)
    order = list(scenario_files())  # written before two processes write the same
    rows = []
    with multiprocessing.Pool(2) as pool:
        for lanes, some in zip(LANES, pool.imap(run, LANES, chunksize=1), strict=True):
            rows += some
            print(f"{lanes}+{lanes} lanes: {len(some)} runs", file=sys.stderr, flush=True)
    rows.sort(key=lambda row: (order.index(row["scenario"]), row["contexts"], row["adders"]))
    path = OUT / "step_engine.json"
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print_table(rows)
    for written in (path, plot(rows), draw_schedule()):
        print(written.relative_to(ROOT))
