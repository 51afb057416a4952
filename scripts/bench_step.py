"""Benchmark of the step engine, part of ``make bench``: the RTL runs under Verilator.

Cycles a step of the demos and of chains of bars, for several numbers of lanes and of systems that
run interleaved. Every run is compared with the model. Writes step_engine.json, step_engine.png and
gantt.png into build/bench.
"""

import json
import multiprocessing
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodel.compile import gantt
from pymodel.compile.kernel import interleave
from pymodel.compile.registry import compiled
from pymodel.compile.schedule import bounds, schedule
from pymodel.machine.isa import Machine
from pymodel.machine.model import START_CYCLES
from pymodel.mechanism.scenario_file import load

ROOT = Path(__file__).resolve().parents[1]

OUT = ROOT / "build" / "bench"
LANES = (1, 2, 4, 8)
CONTEXTS = (1, 4, 8)
DEMOS = ("double_pendulum", "four_bar")
CHAINS = (2, 4, 8, 16, 32)
STEPS = 20
ROOMY = Machine(depth=4096, program_depth=1 << 15, trace_registers=1024)


def chain_file(n):
    """A scenario file with the double pendulum's bar n times."""
    text = (ROOT / "scenarios" / "double_pendulum.toml").read_text()
    head, first, second = text.replace('"double_pendulum"', f'"chain_{n}"').split("[[body]]")
    folder = OUT / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"chain_{n}.toml"
    path.write_text("[[body]]".join([f"# {n} bars\n{head}", first, *[second] * (n - 1)]))
    return path


def scenario_files():
    """Name -> file of everything that is run."""
    files = {name: ROOT / "scenarios" / f"{name}.toml" for name in DEMOS}
    return files | {f"chain_{n}": chain_file(n) for n in CHAINS}


def run(lanes):
    """All scenarios on so many adders and multipliers each: rows of the result."""
    from tb.common.step_engine import rtl_parameters
    from tb.cosim_step.bench import BENCH, CONFIG

    machine = replace(ROOMY, adders=lanes, multipliers=lanes)
    files = scenario_files()
    runs = [
        {"scenario": str(path), "steps": STEPS, "save": STEPS, "contexts": contexts}
        for path in files.values()
        for contexts in CONTEXTS
    ]
    out = OUT / f"step_engine-{lanes}+{lanes}"
    result = BENCH.run(
        "verilator",
        CONFIG,
        params=rtl_parameters(machine),
        settings={"runs": runs, "out": str(out)},
    )
    if result["result"] != "pass":
        raise SystemExit(result["message"])
    measured = json.loads((out / "cosim.json").read_text())["runs"]
    rows = []
    for one, settings in zip(measured, runs, strict=True):
        step = compiled("step", load(settings["scenario"]))
        low = bounds(machine, interleave([step] * one["contexts"]))
        cycles = (one["cycles"] - one["traced"] - START_CYCLES) / one["steps"]
        rows.append(
            {
                "scenario": one["scenario"],
                "adders": lanes,
                "multipliers": lanes,
                "contexts": one["contexts"],
                "cycles_per_system_step": cycles / one["contexts"],
                "critical_path": low["dependencies"],
                "operations": len(step.operations()),
                "identical": True,  # or the run above had failed
                "bound_dependencies_or_lanes": max(low["dependencies"], low["lanes"]),
                "bound_both": low["both"],
                "cycles": cycles,
            }
        )
    return rows


def print_table(rows):
    table = Table(title=f"step engine: cycles a system and step ({STEPS} steps of RTL each)")
    table.add_column("scenario")
    table.add_column("systems", justify="right")
    for lanes in LANES:
        table.add_column(f"{lanes}+{lanes} lanes", justify="right")
    table.add_column("longest path", justify="right")
    cells = {(r["scenario"], r["contexts"], r["adders"]): r for r in rows}
    for scenario in dict.fromkeys(row["scenario"] for row in rows):
        for contexts in CONTEXTS:
            found = [cells[scenario, contexts, lanes] for lanes in LANES]
            table.add_row(
                scenario,
                str(contexts),
                *(f"{r['cycles_per_system_step']:.1f}" for r in found),
                str(found[0]["critical_path"]),
            )
    Console().print(table)


def plot(rows):
    """Growth with the number of bodies, and what interleaving does."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (growth, filled) = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    colours = dict(zip(LANES, ("#d55e00", "#e69f00", "#009e73", "#0072b2"), strict=True))
    for lanes in LANES:
        chains = [
            r
            for r in rows
            if r["scenario"].startswith("chain_") and r["contexts"] == 1 and r["adders"] == lanes
        ]
        growth.plot(
            CHAINS,
            [r["cycles"] for r in chains],
            "o-",
            color=colours[lanes],
            label=f"{lanes} + {lanes} lanes",
        )
        for scenario, style in (("double_pendulum", "o-"), ("four_bar", "s--")):
            found = [r for r in rows if r["scenario"] == scenario and r["adders"] == lanes]
            filled.plot(
                CONTEXTS,
                [r["cycles_per_system_step"] for r in found],
                style,
                color=colours[lanes],
                label=f"{scenario.replace('_', ' ')}, {lanes} + {lanes}",
            )
    limit = [r for r in chains if r["adders"] == LANES[-1]]
    growth.plot(CHAINS, [r["critical_path"] for r in limit], "k:", label="dependencies alone")
    growth.set_xscale("log", base=2)
    growth.set_yscale("log", base=2)
    growth.set_xticks(CHAINS, CHAINS)
    growth.set_xlabel("bodies of the chain")
    growth.set_ylabel("cycles a step")
    growth.set_title("one system")
    filled.set_yscale("log", base=2)
    filled.set_xticks(CONTEXTS, CONTEXTS)
    filled.set_xlabel("systems interleaved")
    filled.set_ylabel("cycles a system and step")
    filled.set_title("several systems")
    for axis in (growth, filled):
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    path = OUT / "step_engine.png"
    figure.savefig(path, dpi=130)
    return path


def draw_schedule():
    """When the engine does what, for the double pendulum."""
    step = compiled("step", load(scenario_files()["double_pendulum"]))
    program = schedule(Machine(), step)
    path = OUT / "gantt.png"
    gantt.plot(program, path, f"double pendulum on 2 + 2 lanes: {program.main} cycles a step")
    return path


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    scenario_files()  # before two processes write the same
    rows = []
    with multiprocessing.Pool(2) as pool:
        for some in pool.imap(run, LANES, chunksize=1):
            rows += some
            print(
                f"{some[0]['adders']}+{some[0]['multipliers']} lanes: {len(some)} runs",
                file=sys.stderr,
                flush=True,
            )
    order = list(scenario_files())
    rows.sort(key=lambda r: (order.index(r["scenario"]), r["contexts"], r["adders"]))
    (OUT / "step_engine.json").write_text(json.dumps(rows, indent=1) + "\n")
    print_table(rows)
    for path in (OUT / "step_engine.json", plot(rows), draw_schedule()):
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
