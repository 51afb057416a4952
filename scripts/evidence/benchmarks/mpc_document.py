"""Write docs/mpc.md from what `make bench ONLY=mpc`, `hdca mpc` and `hdca robot` left in build.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.evidence.benchmarks import mpc
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.kernel.documents import copy_picture, read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS, ROOT

DOC = DOCS / "mpc.md"
PAGE = Path(__file__).with_name("mpc.md.jinja")
COMMAND = "make mpc-results"
MEASURE = "make bench ONLY=mpc"
DRAWN = f"hdca mpc {mpc.ROBOT} --limit 45 --ticks 150 --noise 1e-3 --heavier 0.1"
ARRAY = OUT / "mpc-array" / "summary.json"
ON_ARRAY = (
    f"hdca robot {mpc.ROBOT} --function dstep --target array --rows 64 --snap 1e-5 --datapaths 1 "
    "--stalls 0 --out build/bench/mpc-array"
)
CLOCKS = DOCS / "array_results.md"
SLOWER = 8  # a Zynq's core than this one: an assumption
PICTURE = ROOT / "build" / "runs" / "mpc" / mpc.ROBOT / "mpc.png"


def times(rows: Sequence[Mapping[str, Any]]) -> str:
    """Both sides, ratios and goals."""
    head = ("what", "here", "median", "Crocoddyl", "median", "ratio", "goal")
    cells = []
    for row in rows:
        numbers = [
            f"{row[f'{side} {kind}']:.2f}"
            for side in ("ours", "Crocoddyl")
            for kind in ("best", "median")
        ]
        reached = "yes" if row["ratio"] >= row["goal"] else "NO"
        cells.append((row["what"], *numbers, f"{row['ratio']:.1f}", f"{row['goal']:g} {reached}"))
    return table(head, cells)


def formats(rows: Sequence[Mapping[str, Any]]) -> str:
    """Costs by the format of the controller's robot, of those in float64."""
    head = ("robot's functions in", "plan", "against float64", "driven", "against float64")
    cells = []
    for row in rows:
        found = [row["format"]]
        for name in ("planned", "driven"):
            share = 100.0 * (row[name] / rows[0][name] - 1.0)
            found += [f"{row[name]:.6f}", f"{share:+.3f} %"]
        cells.append(tuple(found))
    return table(head, cells)


def on_array(run: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
    """What linearisations of a horizon take on the array, and the rate that follows.

    The host does what is not `dstep`: cost, sweep, motions, as long as here but for `SLOWER`.
    """
    shape = f"{run['lanes']}, C {run['contexts']}, V {run['datapaths']}"
    row = next(x for x in CLOCKS.read_text().splitlines() if x.startswith(f"| {shape} |"))
    clock = float(row.split("|")[5])
    knots, cycles = run["rows"], run["cycles_of_all_calls"]
    times = {x["what"]: x["ours median"] for x in found["rows"]}
    (_, _, approximation, _), _, (_, _, iteration, _) = mpc.ROWS
    host = SLOWER * (times[iteration] - times[approximation]) * knots / found["knots"]
    array = 1e-3 * cycles / clock  # ms
    given, taken = 3 * run["degrees_of_freedom"] + 1, run["words_compared"] // knots
    return {
        "shape": shape,
        "clock": f"{clock:g}",
        "calls": str(knots),
        "words": str(run["words_compared"]),
        "cycles": str(cycles),
        "program": f"{run['words']} words, {run['registers_of_a_bank']} registers a bank",
        "array": f"{array:.2f}",
        "given": f"{4e-3 * knots * given:.1f}",
        "taken": f"{4e-3 * knots * taken:.1f}",
        "host": f"{host:.1f}",
        "rate": f"{1e3 / (array + host):.0f}",
    }


def document(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """The text."""
    sides = [found["ours"], found["Crocoddyl"]]
    costs = " and ".join(f"{side['cost']:.9f} in {side['iterations']} iterations" for side in sides)
    off = f"{found['torque_difference']:.1e}"
    return render(
        PAGE,
        command=COMMAND,
        measure=MEASURE,
        drawn=DRAWN,
        robot=found["robot"],
        knots=found["knots"],
        step=f"{found['step_s']:g}",
        runs=mpc.RUNS,
        version=found["version"],
        times=times(found["rows"]),
        agreement=f"Costs are {costs}.",
        off=off,
        example=found["example"],
        on_array=ON_ARRAY,
        slower=SLOWER,
        simulated=on_array(run, found),
        formats=formats(found["formats"]),
        iterations=mpc.ITERATIONS,
    )


def from_results() -> str:
    """The text of what the commands have left, the picture copied."""
    text = document(read(OUT / "mpc.json", MEASURE), read(ARRAY, ON_ARRAY))
    copy_picture("mpc", PICTURE, DRAWN)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
