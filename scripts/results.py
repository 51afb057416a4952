"""Write docs/results.md and its pictures from what the regression and the benchmark left in build/.

Run by ``make results`` after ``make test`` and ``make bench``. Numbers are never typed by hand.
"""

import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path

from pymodel.compile import count
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from scripts import demo as demos
from scripts.bench_step import chain_file

ROOT = Path(__file__).resolve().parents[1]

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


def accuracy(demo, title):
    """What the summary of a demo says."""
    summary = read(BUILD / demo / "summary.json", f"make {demo}")
    rows = [
        ("steps", f"{summary['steps']} of {summary['step_s']:g} s, explicit Euler"),
        ("identical to the model, bit for bit", "yes" if summary["identical_to_model"] else "NO"),
        ("register words compared", summary["words_compared"]),
        (
            "kinetic energy, run − reference, largest [mJ]",
            f"{MILLI * summary['kinetic_difference_max_J']:.3f}",
        ),
        (
            "of this: the same algorithm in float64 − reference [mJ]",
            f"{MILLI * summary['kinetic_difference_float64_max_J']:.3f}",
        ),
        (
            "run − float64, that is rounding [mJ]",
            f"{MILLI * summary['kinetic_rounding_max_J']:.3f}",
        ),
        ("reference", summary["reference"]),
    ]
    if summary["loop_position_max_m"]:
        rows += [
            ("vector loop length, largest [m]", f"{summary['loop_position_max_m']:.2e}"),
            ("loop velocity error, largest [m/s]", f"{summary['loop_velocity_max_m_s']:.2e}"),
            ("condition of eta, largest", f"{summary['eta_condition_max']:.1f}"),
        ]
    return table((title, "value"), rows)


def pendulum():
    return accuracy("pendulum", "double pendulum, float32, RTL assembly and disassembly")


def four_bar():
    return accuracy("fourbar", "four-bar, float32, eta inverted by the RTL")


def long_run():
    """Loop errors of the long run, by the time up to which they are the worst."""
    rows = []
    for run in read(BUILD / "longrun" / "errors.json", "make longrun"):
        for key, unit in (("loop_position", "m"), ("loop_velocity", "m/s")):
            worst = (f"{x:.2e}" for x in run[key])
            rows.append((f"{run['name']}: {key.replace('_', ' ')} error [{unit}]", *worst))
    return table(("four-bar, float32, worst up to", "1 s", "10 s", "100 s"), rows)


def cycles(hardware, folders):
    """Where the cycles of a step go; `folders`: which hardware -> its co-simulation."""
    runs = {name: read(BUILD / path / "cosim.json", "make test") for name, path in folders.items()}
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
    return table((hardware, "part", "words a step", "cycles a step", "share"), rows)


def pendulum_cycles():
    """Our version of the paper's table 6."""
    return cycles(
        "float units",
        {
            "combinational": "pendulum",
            "3, 3, 6 stages (add, mul, rec)": "cosim_hdca/pipelined-verilator",
        },
    )


def four_bar_cycles():
    """Our version of the paper's table 7."""
    return cycles(
        "inverter, float units",
        {
            "serial, combinational": "fourbar",
            "serial, 3, 3, 6 stages (add, mul, rec)": "cosim_ldup/pipelined-verilator",
            "parallel, 3, 3, 6 stages": "cosim_ldup/parallel-pipelined-verilator",
        },
    )


def side_by_side():
    """The demos on everything that runs them."""
    parts = []
    for demo in demos.DEMOS:
        folders = (BUILD / demo, BUILD / demo / "step")
        pair = (read(folder / "summary.json", f"make {demo}") for folder in folders)
        head = (demos.DEMOS[demo].replace("_", " "), *demos.COLUMNS)
        parts.append(table(head, demos.rows(*pair)))
    return "\n\n".join(parts)


def step_engine():
    """Cycles a system and step, by lanes and systems."""
    report = read(BUILD / "bench" / "step_engine.json", "make bench")
    lanes = sorted({row["adders"] for row in report})
    found = defaultdict(dict)
    for row in report:
        found[row["scenario"], row["contexts"]][row["adders"]] = row
    rows = []
    for (scenario, contexts), by_lanes in found.items():
        one = by_lanes[lanes[0]]
        cells = (f"{by_lanes[n]['cycles_per_system_step']:.1f}" for n in lanes)
        rows.append((scenario, contexts, one["operations"], *cells, one["critical_path"]))
    widest = max(row["cycles"] / row["bound_dependencies_or_lanes"] for row in report)
    within = sum(row["cycles"] <= 1.1 * row["bound_dependencies_or_lanes"] for row in report)
    tight = max(report, key=lambda row: row["cycles"] / row["bound_both"])
    text = (
        f"{len(report)} runs, all identical to the model: "
        f"{'yes' if all(row['identical'] for row in report) else 'NO'}. Against max(longest path, "
        f"operations / lanes): {within} within 10 %, the worst {widest:.2f} times as long. Against "
        f"the bound of both together, the worst is {tight['cycles'] / tight['bound_both']:.2f} "
        f"({tight['scenario']}, {tight['contexts']} systems, {tight['adders']} + "
        f"{tight['multipliers']} lanes)."
    )
    widths = (f"{n} + {n} lanes" for n in lanes)
    head = ("scenario", "systems", "operations", *widths, "longest path")
    return text + "\n\n" + table(head, rows)


def subdesigns():
    rows = [
        (
            f"{row['name']} ({row['equation']})",
            row["add"],
            row["mul"],
            row["rec"],
            row["pass"] or "always connected",
        )
        for row in count.subdesigns()
    ]
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
        step = count.step(load(chain_file(n)))
        ops, path = step["operations"], step["path"]
        rows.append(
            (
                n,
                ops["mul"],
                ops["add"],
                ops["rec"],
                ops["sincos"],
                " + ".join(f"{path[op]} {op}" for op in ("mul", "add", "rec", "sincos")),
                step["critical_path"],
            )
        )
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
            rows.append(
                (
                    bench,
                    sim,
                    len(runs),
                    sum(len(run["tests"]) for run in runs),
                    f"{sum(run['transactions'] for run in runs):,}",
                    f"{sum(run['wall_s'] for run in runs):.0f}",
                    "pass" if all(run["result"] == "pass" for run in runs) else "**FAIL**",
                )
            )
    head = ("bench", "simulator", "configurations", "tests", "values checked", "s", "result")
    return table(head, rows)


def speed():
    report = read(BUILD / "bench" / "speed.json", "make bench")
    rows = [(row["what"], f"{row['steps_per_s']:,.0f}", f"{row['ratio']:.2f}") for row in report]
    return table(("double pendulum", "steps/s", "ratio to the float64 model"), rows)


SECTIONS = (
    ("Double pendulum: accuracy", pendulum, "make pendulum"),
    ("Double pendulum: where the cycles go", pendulum_cycles, "make cosim_hdca SIM=verilator"),
    ("Four-bar: accuracy", four_bar, "make fourbar"),
    ("Four-bar: where the cycles go", four_bar_cycles, "make cosim_ldup SIM=verilator"),
    ("Four-bar on the model: 100 s", long_run, "make longrun"),
    ("Co-processors and step engine side by side", side_by_side, "make pendulum fourbar"),
    ("Step engine: cycles a system and step", step_engine, "make bench"),
    ("Sub-designs of the assembly engine", subdesigns, ".venv/bin/python -m pymodel count"),
    ("Operations of a whole time step", operations, "make results"),
    ("Regression", regression, "make test"),
    ("Speed of the simulations", speed, "make bench"),
)

BUS_NOTE = (
    "Cycles on our simulated bus, one AXI4-Lite word a clock at best; `run` includes the command "
    "and polling STATUS."
)
STAGES = ", ".join(str(cycles - 1) for cycles in Machine().latency.values())
NOTES = {
    "Double pendulum: accuracy": "![kinetic energy](img/kinetic_energy.png)",
    "Double pendulum: where the cycles go": f"{BUS_NOTE} The paper reports 19 µs a step for "
    "register writes.",
    "Four-bar: accuracy": "![four-bar](img/four_bar.png)\n\n![loop](img/loop.png)",
    "Four-bar: where the cycles go": BUS_NOTE,
    "Four-bar on the model: 100 s": "![loop errors](img/loop_errors.png)",
    "Co-processors and step engine side by side": "Cycles count what our simulated bus takes. The "
    "step engine's include the registers that it traces in every step. The co-processors' units "
    f"here are combinational, the step engine's have {STAGES} stages (add, mul, rec, sin cos).",
    "Step engine: cycles a system and step": "Without tracing; stages as above; closed base by "
    "LDLᵀ.\n\n![step engine](img/step_engine.png)",
    "Sub-designs of the assembly engine": "Equations of the paper. xi_11 and xi_22 are symmetric: "
    "their upper triangle is computed. Impulses are 2-vectors. (29) is a transpose, for nothing.",
    "Operations of a whole time step": "Chain of bars, explicit Euler; terms shared, zeros folded.",
}

#: Pictures of the documentation, and where runs leave them.
PICTURES = {
    "pendulum": "pendulum/overview",
    "kinetic_energy": "pendulum/kinetic_energy",
    "four_bar": "fourbar/overview",
    "loop": "fourbar/loop",
    "loop_errors": "longrun/loop_errors",
    "step_engine": "bench/step_engine",
    "gantt": "bench/gantt",
}


def main():
    try:
        parts = ["# Results", "Generated by `make results`; do not edit.", ""]
        for title, section, command in SECTIONS:
            note = [NOTES[title], ""] if title in NOTES else []
            parts += [f"## {title}", "", *note, section(), "", f"Command: `{command}`", ""]
        images = DOCS / "img"
        images.mkdir(parents=True, exist_ok=True)
        for name, source in PICTURES.items():
            shutil.copyfile(BUILD / f"{source}.png", images / f"{name}.png")
    except MissingError as error:
        print(error, file=sys.stderr)
        return 2
    (DOCS / "results.md").write_text("\n".join(parts))
    print("docs/results.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
