"""Speed of the simulations, part of `make bench`: steps per second of the double pendulum.

On the model, in float64 and bit-exact, and with the RTL in the loop, all in one run; ratios to the
float64 model. Prints a table and writes build/bench/speed.json.
"""

import json
import os
import time

from rich.console import Console
from rich.table import Table

from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate
from scripts.evidence.benchmarks.benches import run_hdca, usable_simulators
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.kernel.places import ROOT, scenario_file

STEPS = {"float64": 2000, "float32": 1000, "verilator": 1000, "icarus": 100}
MODELS = ("float64", "float32")


def model_speed(arithmetic: str) -> float:
    """Steps per second of the model."""
    scenario = load(scenario_file("double_pendulum"), STEPS[arithmetic])
    start = time.perf_counter()
    simulate(scenario, arithmetic)
    return scenario.steps / (time.perf_counter() - start)


def cosim_speed(simulator: str) -> float:
    """Steps per second with the RTL in the loop."""
    return STEPS[simulator] / run_hdca(simulator, STEPS[simulator])


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
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "speed.json"
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(path.relative_to(ROOT))
