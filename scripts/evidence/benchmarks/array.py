"""Calls on the step array, part of `make bench`: the RTL runs under Verilator.

Cycles a call of robots' functions and a step of ensembles, with all contexts of all datapaths busy,
for several shapes of the array. Every word is compared with the direct evaluation. Area and clock
are those that `make synth UNITS=step_array` left for the same shape, as far as it did. Writes
array.json and array.png into build/bench.
"""

import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from pymodel.compile.robot_kernels import recorded
from pymodel.hardware.cosim.array import STREAMS
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.runs.array_runs import Array, Ensemble, fitting_array
from scripts.evidence.benchmarks.array_plot import plot
from scripts.evidence.benchmarks.array_rows import Row, shape_of
from scripts.evidence.benchmarks.benches import run_array
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.evidence.cost.jobs import ARRAY, SHAPES, Shape
from scripts.evidence.cost.measure import current_rows
from scripts.evidence.robots.cases import ROBOTS, small
from scripts.kernel.places import ROOT, scenario_file
from tb.cosim_array.bench import calls, mechanisms

JSON, PICTURE = OUT / "array.json", OUT / "array.png"
COMMAND = "make bench ONLY=array"
FUNCTIONS = ("ID", "FD", "M", "Minv", "dID", "dFD", "diFD")
#: A run of the larger number of batches costs what the smaller one does, and full batches besides.
BATCHES = 2, 5
STEPS = 50  # of an ensemble; one row at its end


class Work(NamedTuple):
    """A shape of the array, and the robots whose functions run on it."""

    shape: Shape
    robots: tuple[str, ...] = ("iiwa14",)

    @property
    def machine(self) -> Machine:
        """The array, its memories as small as can be."""
        lanes, contexts, datapaths = self.shape
        return Machine(lanes, lanes, contexts=contexts, datapaths=datapaths, **STREAMS)


FEWER = {"atlas": ("ID", "FD", "dID", "dFD")}  # functions of a robot, where not all are measured
MECHANISMS = ("double_pendulum", "four_bar")
WORK = (
    Work(Shape(2, 8, 1)),
    Work(Shape(2, 8, 4)),
    Work(Shape(2, 8, 8)),
    Work(Shape(4, 1, 1)),
    Work(Shape(4, 4, 2)),
    Work(Shape(4, 8, 2), ("iiwa14", "hyq")),
    Work(Shape(4, 16, 1)),
    Work(Shape(8, 8, 1), ("iiwa14", "atlas")),
)


def run(work: Work) -> list[Row]:
    """Measure a shape: rows of the result.

    Raises
    ------
    SystemExit
        If the hardware differs from the text.
    """
    kernels = list(_kernels(work))
    machine = _holding(work.machine, [array.machine for _, _, array, _ in kernels])
    jobs = [job for *_, some in kernels for job in some]
    name = "-".join(map(str, ("array", *work.shape)))
    paces = run_array(machine, jobs, OUT / name)
    more = (BATCHES[1] - BATCHES[0]) * work.machine.systems
    rows = []
    for at, (robot, kernel, array, _) in enumerate(kernels):
        few, many = paces[2 * at : 2 * at + 2]
        steps = STEPS + 1 if robot is None else 1
        cycles = (many.cycles - few.cycles) / more / steps
        rows.append(
            {
                "kernel": kernel,
                "robot": robot,
                "adders": machine.adders,
                "multipliers": machine.multipliers,
                "contexts": machine.contexts,
                "datapaths": machine.datapaths,
                "cycles_per_call": cycles,
                "words": array.programs[kernel].main,
                "identical": True,  # or there were no row
            }
        )
    return with_hardware(rows)


def with_hardware(rows: Sequence[Row]) -> list[Row]:
    """Rows with what `make synth` left of their shapes, and calls a second at the placed clock."""
    found = []
    for row in rows:
        costs = placed(Shape(row["multipliers"], row["contexts"], row["datapaths"]))
        rate = costs["mhz"] and costs["mhz"] * 1e6 / row["cycles_per_call"]
        found.append(row | costs | {"calls_per_s": rate})
    return found


def _kernels(work: Work) -> Iterator[tuple[str | None, str, Array, list[dict[str, Any]]]]:
    """Robot, kernel, its program, and the jobs of few and of many batches."""
    machine = work.machine
    counts = [batches * machine.systems for batches in BATCHES]
    for robot in work.robots:
        floating = ROBOTS[robot]
        for function in FEWER.get(robot, FUNCTIONS):
            array = fitting_array(machine, {function: recorded(small(robot), function)})
            yield robot, function, array, [calls(robot, [function], n, floating) for n in counts]
    for name in MECHANISMS:
        scenario = replace(load(scenario_file(name), steps=STEPS), save=STEPS)
        array = fitting_array(machine, {name: Ensemble.of([scenario], machine.fmt)})
        yield None, name, array, [mechanisms(name, STEPS, STEPS, n) for n in counts]


def _holding(machine: Machine, fitted: Sequence[Machine]) -> Machine:
    """The machine with the largest of these memories."""
    names = ("depth", "program_depth", "in_depth", "out_depth", "segments", "functions")
    return replace(machine, **{name: max(getattr(x, name) for x in fitted) for name in names})


def placed(shape: Shape) -> dict[str, float | None]:
    """What `make synth` left of a shape.

    Returns
    -------
    dict
        lut, dsp (MULT18X18D), bram (DP16KD), mhz: placed on ecp5; lut6, dsp48, bram36: synthesised
        for xc7. None where a measurement is missing.
    """
    found = dict.fromkeys(("lut", "dsp", "bram", "mhz", "lut6", "dsp48", "bram36"))
    for row in current_rows():
        if (row["unit"], row["config"]) != (ARRAY, shape.config):
            continue
        if row["family"] == "ecp5":
            found |= {name: row[name] for name in ("lut", "dsp", "bram")}
            found["mhz"] = row["fmax_mhz"]
        else:
            found |= {"lut6": row["lut"] + row["lutram"]}
            found |= {"dsp48": row["dsp"], "bram36": row["bram"]}
    return found


def other_shapes(rows: Sequence[Row]) -> list[Row]:
    """Lanes, contexts, datapaths and costs of the shapes of `make synth` that no row has."""
    found = set(map(shape_of, rows))
    shapes = (
        {
            "adders": shape.lanes,
            "multipliers": shape.lanes,
            "contexts": shape.contexts,
            "datapaths": shape.datapaths,
        }
        | placed(shape)
        for shape in SHAPES
    )
    return [shape for shape in shapes if shape_of(shape) not in found]


def print_table(rows: Sequence[Row]) -> None:
    """Cycles a call, by shape."""
    table = Table(title="step array: cycles a call (a step of an ensemble), batches full")
    shapes = list(dict.fromkeys(map(shape_of, rows)))
    table.add_column("kernel")
    for shape in shapes:
        table.add_column(shape, justify="right")
    cells = {(row["robot"], row["kernel"], shape_of(row)): row for row in rows}
    for robot, kernel in dict.fromkeys((row["robot"], row["kernel"]) for row in rows):
        found = [cells.get((robot, kernel, shape)) for shape in shapes]
        cycles = [f"{row['cycles_per_call']:.1f}" if row else "" for row in found]
        table.add_row(f"{robot or 'step of'} {kernel}", *cycles)
    Console().print(table)


def main() -> None:
    """The command."""
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    with multiprocessing.Pool(2) as pool:
        for some in pool.imap(run, WORK, chunksize=1):
            rows += some
            print(f"{shape_of(some[0])}: {len(some)} kernels", file=sys.stderr, flush=True)
    JSON.write_text(json.dumps(rows, indent=1) + "\n")
    plot(rows, PICTURE)
    print_table(rows)
    for written in (JSON, PICTURE):
        print(written.relative_to(ROOT))
