"""Write docs/results.md and its pictures from what the regression and the benchmark left in build/.

Run by ``make results`` after ``make test`` and ``make bench``. Numbers are never typed by hand.
"""

import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pymodel import count  # noqa: E402
from scripts.bench import chain  # noqa: E402

BUILD, DOCS = ROOT / "build", ROOT / "docs"
CHAINS = (1, 2, 4, 8, 16, 32, 64)
MILLI = 1e3


class MissingError(FileNotFoundError):
    """Something that has to run first did not."""


def read(path, command):
    """A JSON file of the build folder, or one line that says what makes it."""
    if not path.exists():
        raise MissingError(f"{path.relative_to(ROOT)} is missing: run `{command}` first")
    return json.loads(path.read_text())


def table(head, rows):
    """A Markdown table; the first column left, the others right."""
    cells = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in cells)


def accuracy():
    summary = read(BUILD / "pendulum" / "summary.json", "make test")
    rows = [
        ("steps", f"{summary['steps']} of {summary['step_s']:g} s, explicit Euler"),
        ("identical to the model, bit for bit", "yes" if summary["identical_to_model"] else "NO"),
        ("register words compared", summary["words_compared"]),
        ("kinetic energy, run − reference, largest [mJ]",
         f"{MILLI * summary['kinetic_difference_max_J']:.3f}"),
        ("of this: the same algorithm in float64 − reference [mJ]",
         f"{MILLI * summary['kinetic_difference_float64_max_J']:.3f}"),
        ("run − float64, that is rounding [mJ]",
         f"{MILLI * summary['kinetic_rounding_max_J']:.3f}"),
        ("reference", summary["reference"]),
    ]  # fmt: skip
    return table(("double pendulum, float32, RTL assembly and disassembly", "value"), rows)


def cycles():
    """Our version of the paper's table 6, for both kinds of float units."""
    runs = {
        "combinational units": read(BUILD / "pendulum" / "cosim.json", "make test"),
        "units of 3, 3, 6 stages (add, mul, rec)": read(
            BUILD / "cosim_hdca" / "pipelined-verilator" / "cosim.json", "make test"
        ),
    }
    rows = []
    for name, run in runs.items():
        n = run["evaluations"]
        total = sum(run["bus_and_run_cycles"].values())
        for part, spent in run["bus_and_run_cycles"].items():
            words = run["registers_moved"][part] / n
            rows.append((name, part, f"{words:.0f}", f"{spent / n:.1f}", f"{spent / total:.0%}"))
        busy = sum(run["engine_cycles"].values())
        rows.append((name, "**total**", "", f"**{total / n:.1f}**", "100%"))
        rows.append((name, "of it computing", "", f"{busy / n:.1f}", f"{busy / total:.0%}"))
    return table(("float units", "part", "words a step", "cycles a step", "share"), rows)


def subdesigns():
    rows = [
        (f"{row['name']} ({row['equation']})", row["add"], row["mul"], row["rec"],
         row["pass"] or "always connected")
        for row in count.subdesigns()
    ]  # fmt: skip
    pool = count.pool(count.subdesigns())
    units = [
        (f"**{text}**", *(pool[op][key] for op in ("add", "mul", "rec")), "")
        for text, key in (("pool, two passes", "two_passes"), ("pool, one pass", "one_pass"))
    ]
    paper = [("paper 000, two passes", 57, 75, 1, "")]
    return table(("sub-design (equation)", "+", "×", "1/x", "pass"), rows + units + paper)


def operations():
    rows = []
    for n in CHAINS:
        step = count.step(chain(n))
        ops, path = step["operations"], step["path"]
        rows.append((n, ops["mul"], ops["add"], ops["rec"], ops["sincos"],
                     " + ".join(f"{path[op]} {op}" for op in ("mul", "add", "rec", "sincos")),
                     step["critical_path"]))  # fmt: skip
    latency = ", ".join(f"{op} {cycles}" for op, cycles in count.LATENCY.items())
    head = ("bodies", "×", "+", "1/x", "sin and cos", "dependency path", f"cycles ({latency})")
    return table(head, rows)


def regression():
    """Values checked by each bench, both simulators."""
    found = sorted((BUILD / "results").glob("*.json"))
    if not found:
        raise MissingError("build/results is empty: run `make test` first")
    benches = defaultdict(lambda: defaultdict(list))
    for path in found:
        row = json.loads(path.read_text())
        benches[row["bench"]][row["simulator"]].append(row)
    rows = []
    for bench, sims in benches.items():
        for sim, runs in sims.items():
            rows.append((bench, sim, len(runs), sum(len(run["tests"]) for run in runs),
                         f"{sum(run['transactions'] for run in runs):,}",
                         f"{sum(run['wall_s'] for run in runs):.0f}",
                         "pass" if all(run["result"] == "pass" for run in runs) else "**FAIL**"))
    head = ("bench", "simulator", "configurations", "tests", "values checked", "s", "result")
    return table(head, rows)


def speed():
    report = read(BUILD / "bench" / "speed.json", "make bench")
    rows = [(row["what"], f"{row['steps_per_s']:,.0f}", f"{row['ratio']:.2f}") for row in report]
    return table(("double pendulum", "steps/s", "ratio to the float64 model"), rows)


SECTIONS = (
    ("Accuracy of the demo", accuracy, "make pendulum"),
    ("Where the cycles go", cycles, "make cosim_hdca SIM=verilator"),
    ("Sub-designs of the assembly engine", subdesigns, ".venv/bin/python -m pymodel count"),
    ("Operations of a whole time step", operations, "make results"),
    ("Regression", regression, "make test"),
    ("Speed of the simulations", speed, "make bench"),
)

NOTES = {
    "Accuracy of the demo": "![kinetic energy](img/kinetic_energy.png)",
    "Where the cycles go": "Cycles on our simulated bus, one AXI4-Lite word a clock at best; `run` "
    "includes the command and polling STATUS. The paper reports 19 µs a step for register writes.",
    "Sub-designs of the assembly engine": "Equations of the paper. xi_11 and xi_22 are symmetric: "
    "their upper triangle is computed. Impulses are 2-vectors. (29) is a transpose, for nothing.",
    "Operations of a whole time step": "Chain of bars, explicit Euler; terms shared, zeros folded.",
}


def main():
    try:
        parts = ["# Results", "Generated by `make results`; do not edit.", ""]
        for title, section, command in SECTIONS:
            note = [NOTES[title], ""] if title in NOTES else []
            parts += [f"## {title}", "", *note, section(), "", f"Command: `{command}`", ""]
        images = DOCS / "img"
        images.mkdir(parents=True, exist_ok=True)
        for name, target in (("overview", "pendulum"), ("kinetic_energy", "kinetic_energy")):
            shutil.copyfile(BUILD / "pendulum" / f"{name}.png", images / f"{target}.png")
    except MissingError as error:
        print(error, file=sys.stderr)
        return 2
    (DOCS / "results.md").write_text("\n".join(parts))
    print("docs/results.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
