"""Write docs/array_results.md from what `make bench ONLY=array` left in build/bench.

Numbers are never typed by hand, but for the goals and what others print. Exit status 2, after one
line, when something has to run first.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from pymodel.compile.robot_kernels import operations, recorded
from pymodel.machine.isa import MAX_DATAPATHS, Machine
from scripts.evidence.benchmarks.array import (
    COMMAND,
    FUNCTIONS,
    JSON,
    PICTURE,
    STEPS,
    other_shapes,
    with_hardware,
)
from scripts.evidence.benchmarks.array_devices import FILLED, devices
from scripts.evidence.benchmarks.array_formats import by_format
from scripts.evidence.benchmarks.array_goals import goals, word_goals
from scripts.evidence.benchmarks.array_others import others, single_calls
from scripts.evidence.benchmarks.array_rows import NONE, Row, Rows, shape_of
from scripts.evidence.cost.measure import current_rows
from scripts.evidence.robots.cases import small
from scripts.kernel.documents import MissingError, copy_picture, read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "array_results.md"
PAGE = Path(__file__).with_name("array_results.md.jinja")
#: Whose lanes are counted: one of each robot.
SHOWN_SHAPES = {"iiwa14": "2+2, C 8, V 4", "hyq": "4+4, C 8, V 2", "atlas": "8+8, C 8, V 1"}
JUDGED = ("hyq", "atlas")  # robots with a goal for their lanes
BUSY = 0.95  # that goal
#: Columns of the area and the clock, by their heads.
PLACED = {
    "LUT4": "lut",
    "MULT18": "dsp",
    "DP16KD": "bram",
    "MHz": "mhz",
    "LUT6": "lut6",
    "DSP48E1": "dsp48",
    "BRAM36": "bram36",
}


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
    found = {shape_of(row): [row[key] for key in PLACED.values()] for row in rows}
    body = [
        (shape, *(NONE if x is None else f"{x:g}" if isinstance(x, float) else x for x in cells))
        for shape, cells in found.items()
    ]
    return table(("lanes, contexts, datapaths", *PLACED), body)


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
    head = ("kernel", "shape", "million/s", "thousand/s per DSP48E1", "thousand/s per 1000 LUT4")
    return table(head, body)


def busy(row: Row) -> float:
    """Part of the cycles in which the multipliers, or adders if these are busier, work."""
    count = operations(recorded(small(row["robot"]), row["kernel"]))
    cycles = row["cycles_per_call"] * row["datapaths"]
    return max(count["mul"] / row["multipliers"], count["add"] / row["adders"]) / cycles


def lanes_busy(rows: Rows) -> str:
    """How busy lanes are with each robot's functions, on one shape of each."""
    body = []
    for robot, shape in SHOWN_SHAPES.items():
        found = {
            row["kernel"]: f"{busy(row):.1%}"
            for row in rows
            if (row["robot"], shape_of(row)) == (robot, shape)
        }
        body.append((robot, shape, *(found.get(name, "") for name in FUNCTIONS)))
    return table(("robot", "shape", *FUNCTIONS), body)


def too_idle(rows: Rows) -> str:
    """The functions whose lanes miss the goal, by robot."""
    missed = {robot: [] for robot in JUDGED}
    for row in rows:
        robot = row["robot"]
        if robot in missed and shape_of(row) == SHOWN_SHAPES[robot] and busy(row) < BUSY:
            missed[robot].append(row["kernel"])
    found = [f"{robot} {', '.join(names)}" for robot, names in missed.items() if names]
    return f"missed by {'; '.join(found)}" if found else "met"


def document(rows: Rows, besides: Rows = ()) -> str:
    """The text; `besides` are costs of shapes on which nothing ran."""
    cycles = by_shape(rows, lambda row: f"{row['cycles_per_call']:.1f}")
    words = by_shape(rows, lambda row: str(row["words"]))
    machine = Machine()
    placed = ", ".join(dict.fromkeys(shape_of(row) for row in rows if row["mhz"])) or "none"
    return render(
        PAGE,
        command=COMMAND,
        placed=placed,
        steps=STEPS,
        calls=STEPS + 1,
        cycles=cycles,
        words=words,
        hardware=hardware(rows),
        rates=rates(rows),
        by_format=by_format(current_rows()),
        depth=machine.depth,
        program_depth=machine.program_depth,
        single_calls=single_calls(),
        others=others(rows),
        filled=f"{FILLED:.0%}",
        max_datapaths=MAX_DATAPATHS,
        devices=devices(rows, besides),
        busy=f"{BUSY:.0%}",
        too_idle=too_idle(rows),
        lanes_busy=lanes_busy(rows),
        word_goals=word_goals(rows),
        goals=goals(rows, besides),
    )


def from_results() -> str:
    """The text of what the commands have left, its picture copied.

    Raises
    ------
    MissingError
        If there are no results, or no shape was placed: a page without clocks would replace one
        that has them.
    """
    rows = with_hardware(read(JSON, COMMAND))
    if not any(row["mhz"] for row in rows):
        raise MissingError("no shape was placed: run `make synth UNITS=step_array` first")
    text = document(rows, other_shapes(rows))
    copy_picture("array", PICTURE, COMMAND)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
