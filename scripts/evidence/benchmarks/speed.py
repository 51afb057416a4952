"""Speed of the simulations, part of `make bench`: steps per second of the double pendulum.

On the model, in float64 and bit-exact, and with the RTL in the loop, all in one run; ratios to the
float64 model. Prints a table and writes build/bench/speed.json.

Then what a whole run of native code costs beside its kernel: eight bars in float64, every step
watched and saved, from a second call on. Both sides in turn, processor time, best and median of
:data:`TIMES`; a table, and build/bench/native_runs.json.
"""

import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from pymodel.compile import native
from pymodel.compile.watched_step import watched_step
from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs
from pymodel.runs.simulate import simulate
from scripts.evidence.benchmarks.benches import run_hdca, usable_simulators
from scripts.evidence.benchmarks.scenarios import OUT, chain_file
from scripts.kernel.places import ROOT, scenario_file

STEPS = {"float64": 2000, "float32": 1000, "verilator": 1000, "icarus": 100}
MODELS = ("float64", "float32")
#: Bars of the chain that runs natively, steps of its runs, and how often each is timed.
BARS, NATIVE_STEPS, TIMES = 8, (10, 2000, 20_000), 5


def model_speed(arithmetic: str) -> float:
    """Steps per second of the model."""
    scenario = load(scenario_file("double_pendulum"), STEPS[arithmetic])
    start = time.perf_counter()
    simulate(scenario, arithmetic)
    return scenario.steps / (time.perf_counter() - start)


def cosim_speed(simulator: str) -> float:
    """Steps per second with the RTL in the loop."""
    return STEPS[simulator] / run_hdca(simulator, STEPS[simulator])


def spent(function: Callable[[], object]) -> float:
    """Processor time that a call takes, s."""
    start = time.process_time()
    function()
    return time.process_time() - start


def native_speeds() -> list[dict[str, float]]:
    """Whole native runs and their kernel alone, which runs the same steps: s of processor time."""
    rows = []
    for steps in NATIVE_STEPS:
        scenario = load(chain_file(BARS), steps)
        kernel = native.build(watched_step(scenario).kernel, "float64", lanes=1)
        state = dict.fromkeys(kernel.kernel.carried, 0.1)
        sides = {
            "run": lambda scenario=scenario: native_runs.simulate(scenario),
            "kernel": lambda k=kernel, s=state, n=steps: k.advance(s, n, save=0),
        }
        for side in sides.values():  # built, and its memory is there
            side()
        times = [{name: spent(side) for name, side in sides.items()} for _ in range(TIMES)]
        row: dict[str, float] = {"steps": steps}
        for name in sides:
            taken = [x[name] for x in times]
            row |= {f"{name}_best": min(taken), f"{name}_median": statistics.median(taken)}
        rows.append(row)
    return rows


def tell_native() -> None:
    """Print what native runs take, and keep it."""
    rows = native_speeds()
    table = Table(title=f"{BARS} bars on native code in float64, processor time, best (median)")
    for name in ("steps", "run ms", "run us/step", "kernel alone us/step"):
        table.add_column(name, justify="right")
    for row in rows:
        each = {k: 1e6 * x / row["steps"] for k, x in row.items()}
        table.add_row(
            f"{row['steps']}",
            f"{1e3 * row['run_best']:.1f} ({1e3 * row['run_median']:.1f})",
            f"{each['run_best']:.2f} ({each['run_median']:.2f})",
            f"{each['kernel_best']:.2f} ({each['kernel_median']:.2f})",
        )
    Console().print(table)
    _write("native_runs.json", rows)


def _write(name: str, rows: list[dict[str, Any]]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(path.relative_to(ROOT))


def main() -> None:
    """The command."""
    speeds = {f"model, {name}": model_speed(name) for name in MODELS}
    for simulator in usable_simulators():
        name = f"co-simulation under {simulator} (register bus, every word checked)"
        speeds[name] = cosim_speed(simulator)
    base = speeds["model, float64"]
    rows = [{"what": k, "steps_per_s": v, "ratio": v / base} for k, v in speeds.items()]
    table = Table(title=f"double pendulum, {os.cpu_count()} cores; command: make bench")
    table.add_column("what")
    for name in ("steps/s", "ratio to the float64 model"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(row["what"], f"{row['steps_per_s']:,.0f}", f"{row['ratio']:.3f}")
    Console().print(table)
    _write("speed.json", rows)
    tell_native()
