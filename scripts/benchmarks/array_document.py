"""Write docs/array_results.md from what `make bench ONLY=array` left in build/bench.

Numbers are never typed by hand, but for the goals and what others print. Exit status 2, after one
line, when something has to run first.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.compile.robot_kernels import operations, recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from scripts.benchmarks.array import COMMAND, FUNCTIONS, JSON, PICTURE, ROBOTS, STEPS
from scripts.cost.cycles import on_engine
from scripts.cost.devices import LFE5U_85F, ZYNQ_7020
from scripts.cost.engine import ENGINE
from scripts.cost.summary import current, read_summary
from scripts.documents import MissingError, copy_picture, read, table
from scripts.places import DOCS, ROOT

DOC = DOCS / "array_results.md"
XCVU9P = {"lut": 1_182_240, "dsp": 6840}
FILLED = 0.8  # of a device's LUTs, at most
NONE = "–"
MULTIPLIERS = 8  # of all datapaths together, where shapes are compared
WORD_GOALS = {
    ("iiwa14", "ID"): 44,
    ("iiwa14", "FD"): 75,
    ("iiwa14", "dID"): 134,
    ("iiwa14", "diFD"): 215,
    ("iiwa14", "dFD"): 245,
    ("hyq", "dFD"): 1060,
}
SHOWN_SHAPE = "2+2, C 8, V 4"
PLACED = ("lut", "dsp", "mhz", "lut6", "dsp48")

Row = Mapping[str, Any]
Rows = Sequence[Row]


class Goal(NamedTuple):
    """A goal, and what was found."""

    what: str
    goal: float
    found: float | None
    least: bool = True  # or most

    @property
    def verdict(self) -> str:
        """`met`, or by how much it is missed."""
        if self.found is None:
            return "not measured"
        met = self.found >= self.goal if self.least else self.found <= self.goal
        return "met" if met else f"missed, {self.found / self.goal:.2f} of it"


def shape_of(row: Row) -> str:
    """`4+4, C 8, V 2`."""
    lanes = f"{row['adders']}+{row['multipliers']}"
    return f"{lanes}, C {row['contexts']}, V {row['datapaths']}"


def named(row: Row) -> str:
    """`iiwa14 dFD`, or `step of four_bar`."""
    return f"{row['robot']} {row['kernel']}" if row["robot"] else f"step of {row['kernel']}"


def by_shape(rows: Rows, value: Callable[[Row], str]) -> str:
    """A table of kernels by shapes."""
    shapes = list(dict.fromkeys(map(shape_of, rows)))
    cells = {(named(row), shape_of(row)): value(row) for row in rows}
    kernels = dict.fromkeys(map(named, rows))
    body = [(kernel, *(cells.get((kernel, shape), "") for shape in shapes)) for kernel in kernels]
    return table(("kernel", *shapes), body)


def hardware(rows: Rows) -> str:
    """What each shape costs, as far as it was measured."""
    found = {shape_of(row): [row[key] for key in PLACED] for row in rows}
    body = [
        (shape, *(NONE if x is None else f"{x:.1f}" if isinstance(x, float) else x for x in cells))
        for shape, cells in found.items()
    ]
    return table(("lanes, contexts, datapaths", "LUT4", "MULT18", "MHz", "LUT6", "DSP48"), body)


def rates(rows: Rows) -> str:
    """Calls a second of the shapes that were placed."""
    body = []
    for row in rows:
        if row["calls_per_s"] is None:
            continue
        rate = row["calls_per_s"]
        per_dsp = NONE if row["dsp48"] is None else f"{rate / row['dsp48'] / 1e3:.1f}"
        per_lut = f"{rate / row['lut']:.1f}"
        body.append((named(row), shape_of(row), f"{rate / 1e6:.3f}", per_dsp, per_lut))
    if not body:
        return "No shape was placed."
    head = ("kernel", "shape", "million/s", "thousand/s a DSP48", "thousand/s a 1000 LUT4")
    return table(head, body)


def busy(row: Row) -> float:
    """Part of the cycles in which the multipliers, or adders if these are busier, work."""
    floating, _ = ROBOTS[row["robot"]]
    robot = reduced(urdf.load(ROOT / "robots" / f"{row['robot']}.urdf", floating))
    count = operations(recorded(robot, row["kernel"]))
    cycles = row["cycles_per_call"] * row["datapaths"]
    return max(count["mul"] / row["multipliers"], count["add"] / row["adders"]) / cycles


def lanes_busy(rows: Rows) -> str:
    """How busy lanes are with each robot's functions, on the shape that was measured for it."""
    shapes = {row["robot"]: shape_of(row) for row in rows if row["robot"]}  # the last one of each
    body = {}
    for row in rows:
        if row["robot"] and shape_of(row) in (SHOWN_SHAPE, shapes[row["robot"]]):
            body.setdefault((row["robot"], shape_of(row)), {})[row["kernel"]] = busy(row)
    return table(
        ("robot", "shape", *FUNCTIONS),
        [
            (*key, *(f"{found[name]:.1%}" if name in found else "" for name in FUNCTIONS))
            for key, found in body.items()
        ],
    )


def cycles_of(rows: Rows, robot: str, kernel: str, lanes: int) -> float | None:
    """The fewest cycles of a call on eight multipliers, in datapaths of so many."""
    found = [
        row["cycles_per_call"]
        for row in rows
        if (row["robot"], row["kernel"], row["adders"]) == (robot, kernel, lanes)
        and row["multipliers"] * row["datapaths"] == MULTIPLIERS
    ]
    return min(found, default=None)


def word_goals(rows: Rows) -> str:
    """Cycles a call on eight multipliers against the goals for one datapath of 8 + 8 lanes."""
    body = []
    for (robot, kernel), goal in WORD_GOALS.items():
        cells = [cycles_of(rows, robot, kernel, lanes) for lanes in (8, 4, 2)]
        shown = (NONE if x is None else f"{x:.1f}" for x in cells)
        best = min((x for x in cells if x is not None), default=None)
        body.append((f"{robot} {kernel}", goal, *shown, Goal("", goal, best, False).verdict))
    return table(("function", "goal", "1 x 8+8", "2 x 4+4", "4 x 2+2", "best"), body)


def latency_engine() -> float | None:
    """Microseconds of a double pendulum's step on the step engine of 2 + 2 lanes, if placed."""
    for row in current(read_summary()[0]):
        if (row["unit"], row["config"], row["family"]) == (ENGINE, "2+2 lanes", "ecp5"):
            return on_engine("double_pendulum", Machine()) / row["fmax_mhz"]
    return None


def goals(rows: Rows) -> str:
    """Goals of throughput, and how far they are met."""
    timed = [row for row in rows if row["mhz"] is not None]

    def best(
        kernel: str, value: Callable[[Row], float | None], pick: Callable = max
    ) -> float | None:
        found = [value(row) for row in timed if row["kernel"] == kernel and row["robot"] != "hyq"]
        found = [x for x in found if x is not None]
        return pick(found) if found else None

    def clock(lanes: int) -> float | None:
        return max((row["mhz"] for row in timed if row["adders"] == lanes), default=None)

    def on_ecp5(row: Row) -> float | None:
        """Steps a second of as many datapaths as an ECP5-85k holds by count, at this clock."""
        return row["calls_per_s"] * fitting(rows, row, LFE5U_85F, "lut", "dsp")

    found = [
        Goal("clock of 2+2 with 8 contexts, MHz", 120, clock(2)),
        Goal("clock of 8+8 with 8 contexts, MHz", 100, clock(8)),
        Goal(
            "iiwa diFD a second and DSP48, thousands",
            20,
            best("diFD", lambda r: r["dsp48"] and r["calls_per_s"] / r["dsp48"] / 1e3),
        ),
        Goal(
            "LUT4 x cycles of an iiwa dFD, millions",
            3.5,
            best("dFD", lambda r: r["lut"] * r["cycles_per_call"] / 1e6, min),
            least=False,
        ),
        Goal(
            "double pendulums on an ECP5-85k by count, million steps a second",
            10,
            best("double_pendulum", lambda r: on_ecp5(r) / 1e6),
        ),
        Goal(
            "double pendulum on the step engine, one system, us a step",
            1.5,
            latency_engine(),
            least=False,
        ),
    ]
    return table(
        ("goal", "wanted", "found", ""),
        [
            (
                goal.what,
                f"{goal.goal:g}",
                NONE if goal.found is None else f"{goal.found:.1f}",
                goal.verdict,
            )
            for goal in found
        ],
    )


def fitting(rows: Rows, row: Row, device: Mapping[str, int], lut: str, dsp: str) -> float:
    """How many times the shape's datapaths a device holds, by count.

    With two numbers of datapaths of the same lanes measured it is what one datapath more costs;
    otherwise the whole shape again.
    """
    key = ("adders", "contexts")
    same = {
        other["datapaths"]: other
        for other in rows
        if other[lut] is not None and all(other[k] == row[k] for k in key)
    }
    fewest, most = same[min(same)], same[max(same)]
    if fewest is most:
        return min(FILLED * device["lut"] / row[lut], device["dsp"] / row[dsp])
    more = most["datapaths"] - fewest["datapaths"]
    datapaths = [
        fewest["datapaths"] + (room - fewest[name]) * more / (most[name] - fewest[name])
        for name, room in ((lut, FILLED * device["lut"]), (dsp, device["dsp"]))
    ]
    return int(min(datapaths)) / row["datapaths"]


def devices(rows: Rows) -> str:
    """What fits some devices by count."""
    body = []
    for row in {shape_of(row): row for row in rows}.values():
        cells = []
        for device, lut, dsp in (
            (ZYNQ_7020, "lut6", "dsp48"),
            (LFE5U_85F, "lut", "dsp"),
            (XCVU9P, "lut6", "dsp48"),
        ):
            there = row[lut] is not None
            times = fitting(rows, row, device, lut, dsp) if there else 0
            cells.append(f"{int(times * row['datapaths'])}" if there else NONE)
        body.append((shape_of(row), *cells))
    head = ("lanes, contexts, datapaths measured", "Zynq 7020", "ECP5-85k", "XCVU9P")
    return table(head, body)


def document(rows: Rows) -> str:
    """The text."""
    cycles = by_shape(rows, lambda row: f"{row['cycles_per_call']:.1f}")
    words = by_shape(rows, lambda row: str(row["words"]))
    return f"""# Results: the step array
Generated by `make array-results`; do not edit. Cycles measured by `{COMMAND}`; area and clock by
`make synth UNITS=step_array`.

Cycles are simulated (RTL under Verilator, every word identical to the direct evaluation). Clocks
are estimated by place and route on an ECP5-85k of speed grade 6, one seed; LUT6 and DSP48 counted
by synthesis for a 7 series. Nothing has run on an FPGA. [What the array is](array.md).

## Cycles a call

All contexts of all datapaths busy, streams never held back: what full batches take more when a run
has more of them, by the calls. Of an ensemble a step of one mechanism, {STEPS} steps a call.
Columns: lanes (adders + multipliers) of a datapath, contexts C, datapaths V.

![cycles a call](img/array.png)

{cycles}

Where the cycles of a call exceed its words by V, the streams are what takes longest: one word in
and one out a cycle, for all datapaths together.

## Words of the programs

{words}

## Area and clock

{hardware(rows)}

## Calls a second

{rates(rows)}

## How many datapaths fit

By count: at most {FILLED:.0%} of the LUTs and all DSP, with what a datapath more costs where two
numbers of datapaths were measured. Not placed.

{devices(rows)}

## Busy lanes

Operations of the busier kind by its lanes, of all cycles; goal 95 % on HyQ.

{lanes_busy(rows)}

## Goals

Cycles a call on eight multipliers; the goals are for one datapath of 8 + 8 lanes.

{word_goals(rows)}

{goals(rows)}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        text = document(read(JSON, COMMAND))
        copy_picture("array", PICTURE, COMMAND)
    except MissingError as error:
        print(error, file=sys.stderr)
        return 2
    DOC.write_text(text)
    print(DOC.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
