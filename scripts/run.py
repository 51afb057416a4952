"""Run a scenario on the model, an RTL co-processor or the step engine: what ``make run`` calls.

Exit status: 0 done, 1 the run broke off or the hardware differed from the model, 2 bad input,
told in one line.
"""

import argparse
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodel.algorithms.requests import RECORDED_BASES
from pymodel.algorithms.step import Chain
from pymodel.arith import scalars
from pymodel.cli import main as model_main
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, report, session
from pymodel.runs.trajectory import read_csv

ROOT = Path(__file__).resolve().parents[1]

DIFFERS, BAD_INPUT = 1, 2
BUS_W = 32  # bits of a register


class InputError(ValueError):
    """Arguments that make no sense together; the text is the line for the user."""


def usable_simulator(name):
    """The simulator asked for; for ``auto`` Verilator if it is there, else Icarus."""
    from tb.common.bench import usable

    if name == "auto":
        name = "verilator" if usable("verilator") else "icarus"
    if not usable(name):
        raise InputError(f"--sim {name}: not installed; `make doctor` says how to get it")
    return name


def simulator_version(name):
    """First line of what the simulator says about itself."""
    command = {"icarus": ["iverilog", "-V"], "verilator": ["verilator", "--version"]}[name]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return text.splitlines()[0].strip() if text else "unknown"


def coprocessor_bench(scenario):
    """The co-simulation bench whose co-processor has a part in this mechanism."""
    is_chain = Chain.runs(scenario)
    if is_chain and scenario.loops:
        from tb.cosim_ldup import test_cosim_ldup

        return test_cosim_ldup
    if is_chain and len(scenario.bodies) == 2:
        from tb.cosim_hdca import test_cosim_hdca

        return test_cosim_hdca
    reason = "the co-processors run open chains of two bodies and closed chains"
    raise InputError(f"{scenario.source}: body: {reason}")


def on_coprocessor(scenario, arguments):
    """What to build and run for a co-processor: (bench, parameters, settings, float units)."""
    bench = coprocessor_bench(scenario)
    settings = {
        "scenario": str(Path(arguments.scenario).resolve()),
        "steps": arguments.steps,
        "rebase": arguments.rebase,
    }
    return bench, format_parameters(arguments.arith), settings, bench.FLOAT_UNITS


def on_step_engine(scenario, arguments):
    """The same for the step engine, its memories as large as the scenario's program needs."""
    from tb.common.step_engine import rtl_parameters
    from tb.cosim_step import test_cosim_step as bench

    format_parameters(arguments.arith)
    options = {"base": arguments.base, "rebase": arguments.rebase}
    machine = Machine.parse(arguments.lanes, fmt=scalars.parse(arguments.arith).fmt)
    if not machine.fmt.has_sincos:
        raise InputError(f"--arith {arguments.arith}: sine and cosine end at binary32")
    one = {"scenario": str(Path(arguments.scenario).resolve()), "steps": arguments.steps, **options}
    machine = engine_runs.fitting(machine, [scenario], **options)
    units = {"add": machine.adders, "mul": machine.multipliers, "rec": 1, "sincos": 1}
    return bench, rtl_parameters(machine), {"runs": [one]}, units


HARDWARE = {"coprocessor": on_coprocessor, "step": on_step_engine}


def format_parameters(arithmetic):
    """The RTL parameters of a format; refuses what a register cannot hold."""
    parsed = scalars.parse(arithmetic)
    if not isinstance(parsed, scalars.BitExact):
        raise InputError("--arith float64: on the model only (--target model)")
    if parsed.fmt.width > BUS_W:
        raise InputError(f"--arith {arithmetic}: wider than the {BUS_W}-bit registers")
    return {"EXP_W": parsed.fmt.exp_w, "MAN_W": parsed.fmt.man_w}


def cosimulate(scenario, simulator, arguments, bench, parameters, settings):
    """Run the co-simulation bench; returns (its result row, what it left in cosim.json)."""
    from tb.common.cosim import PROGRESS

    out = Path(arguments.out)
    left = out / "cosim.json"
    left.unlink(missing_ok=True)
    with report.progress(f"{scenario.name}: {simulator}") as update:

        def watch(line):
            found = re.match(rf"{PROGRESS} (\d+) (\d+)$", line)
            if found:
                update(int(found[1]), int(found[2]))

        row = bench.BENCH.run(
            simulator,
            bench.CONFIG,
            seed=arguments.seed,
            waves=arguments.waves,
            params=parameters,
            settings=settings | {"out": str(out.resolve())},
            watch=watch,
            results=arguments.results,
        )
    return row, json.loads(left.read_text()) if left.exists() else None


def cycle_rows(left):
    """Rows of the table of cycles: phase, part, words and cycles a step, cycles of the run."""
    evaluations = left["evaluations"]
    rows = [
        (*key.split(), left["registers_moved"][key] / evaluations, cycles / evaluations, cycles)
        for key, cycles in left["bus_and_run_cycles"].items()
    ]
    return rows


def print_cycles(left, console):
    """Our measurement of what the paper's table 6 measures: where the cycles go."""
    table = Table(title="clock cycles (our bus; `run` includes starting and polling)")
    for name in ("phase", "part", "words/evaluation", "cycles/evaluation", "cycles"):
        table.add_column(name, justify="left" if name in ("phase", "part") else "right")
    rows = cycle_rows(left)
    for phase, part, words, per_step, cycles in rows:
        table.add_row(phase, part, f"{words:.1f}", f"{per_step:.1f}", str(cycles))
    total = sum(row[-1] for row in rows)
    table.add_section()
    table.add_row(
        "total",
        "",
        f"{sum(row[2] for row in rows):.1f}",
        f"{total / left['evaluations']:.1f}",
        str(total),
    )
    busy = sum(left["engine_cycles"].values())
    table.add_row("of it", "arithmetic", "", f"{busy / left['evaluations']:.1f}", str(busy))
    console.print(table)


def run_hardware(arguments):
    """The scenario with the RTL doing its part, or all of it."""
    from tb.common import cosim

    out = Path(arguments.out)
    if arguments.rebase < 0:
        raise InputError(f"--rebase: must be 0 (never) or more, got {arguments.rebase}")
    scenario = load(arguments.scenario, arguments.steps)
    bench, parameters, settings, units = HARDWARE[arguments.target](scenario, arguments)
    simulator = usable_simulator(arguments.sim)
    out.mkdir(parents=True, exist_ok=True)
    row, left = cosimulate(scenario, simulator, arguments, bench, parameters, settings)
    if left is None or not left["rows"]:
        print(row["message"] or left["stopped"], file=sys.stderr)
        return DIFFERS
    trajectory = read_csv(out / "run.csv")
    trajectory.flags = left["flags"]
    trajectory.condition, trajectory.condition_time = left["condition"], left["condition_time"]
    identical = row["result"] == "pass"
    cycles = sum(left["bus_and_run_cycles"].values())
    extra = {
        "simulator": simulator,
        "seed": arguments.seed,
        "identical_to_model": identical,
        "worst_difference_to_model": 0.0 if identical else None,
        "words_compared": left["words_compared"],
        "cycles": cycles,
        "cycles_by_part": left["bus_and_run_cycles"],
        "engine_cycles": left["engine_cycles"],
        "registers_moved": left["registers_moved"],
        "evaluations": left["evaluations"],
        "in_hardware": bench.IN_HARDWARE,
        "float_units": units,
        "versions": {
            simulator: simulator_version(simulator),
            "cocotb": version("cocotb"),
            "cocotbext-axi": version("cocotbext-axi"),
        },
    }
    base = arguments.base if arguments.target == "step" else cosim.BASE
    options = {"rebase": arguments.rebase, "base": base}
    summary, status = session.finish(
        scenario,
        trajectory,
        left["stopped"],
        out,
        target=arguments.target,
        arithmetic=arguments.arith,
        extra=extra,
        **options,
    )
    console = Console()
    print_cycles(left, console)
    if identical:
        console.print(
            f"{left['rows'] - 1} steps, {left['words_compared']} words: bit-identical to the model"
        )
        return status
    print(row["message"], file=sys.stderr)
    return DIFFERS


def parser():
    result = argparse.ArgumentParser(prog="scripts/run.py", description=__doc__.splitlines()[0])
    result.add_argument("--scenario", required=True, help="scenario file (TOML)")
    result.add_argument("--target", choices=("model", *HARDWARE), default="model")
    result.add_argument("--sim", choices=("auto", "icarus", "verilator"), default="auto")
    result.add_argument("--arith", default="float32", help="float32, float64 or <EXP_W>/<MAN_W>")
    result.add_argument("--out", required=True, help="folder for the results")
    result.add_argument("--steps", type=int, help="run this many steps instead of until the end")
    result.add_argument(
        "--rebase", type=int, default=0, help="re-base a closed chain's momenta every so many steps"
    )
    result.add_argument(
        "--base",
        choices=RECORDED_BASES,
        default=engine_runs.BASE,
        help="how the step engine solves the base of a closed chain",
    )
    result.add_argument("--lanes", default="2+2", help="adders + multipliers of the step engine")
    result.add_argument("--seed", type=int, default=1, help="start values of the simulator")
    result.add_argument("--results", help="folder for the bench's result row (the regression's)")
    result.add_argument("--waves", action="store_true", help="FST into build/waves/cosim_*")
    return result


def main(arguments=None):
    arguments = parser().parse_args(arguments)
    if arguments.target == "model":
        words = ["simulate", arguments.scenario, "--arith", arguments.arith, "--out", arguments.out]
        words += ["--rebase", str(arguments.rebase)]
        return model_main(words + (["--steps", str(arguments.steps)] if arguments.steps else []))
    try:
        return run_hardware(arguments)
    except (ScenarioError, InputError, ValueError) as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
