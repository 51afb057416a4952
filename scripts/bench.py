"""Benchmarks: ``make bench`` prints tables and writes build/bench/*.json.

Speed of the simulations: steps per second of the double pendulum on the model, in float64 and
bit-exact, and with the RTL in the loop, all in one run; ratios to the float64 model.
"""

import json
import os
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate
from tb.common.places import BUILD
from tb.common.simulators import usable
from tb.cosim_hdca.bench import BENCH, CONFIG

ROOT = Path(__file__).resolve().parents[1]

STEPS = {"float64": 2000, "float32": 1000, "verilator": 1000, "icarus": 100}


def model_speed(arithmetic):
    scenario = load(ROOT / "scenarios" / "double_pendulum.toml", STEPS[arithmetic])
    start = time.perf_counter()
    simulate(scenario, arithmetic)
    return scenario.steps / (time.perf_counter() - start)


def cosim_speed(simulator):
    """Steps per second of the test itself, the build not counted."""
    row = BENCH.run(simulator, CONFIG, settings={"steps": STEPS[simulator]})
    if row["result"] != "pass":
        raise SystemExit(row["message"])
    return STEPS[simulator] / sum(test["wall_s"] for test in row["tests"])


def main():
    speeds = {f"model, {name}": model_speed(name) for name in ("float64", "float32")}
    for simulator in ("verilator", "icarus"):
        if usable(simulator):
            name = f"co-simulation under {simulator} (register bus, every word checked)"
            speeds[name] = cosim_speed(simulator)
    base = speeds["model, float64"]
    rows = [{"what": k, "steps_per_s": v, "ratio": v / base} for k, v in speeds.items()]
    table = Table(title=f"double pendulum, {os.cpu_count()} cores; command: make bench")
    for name in ("what", "steps/s", "ratio to the float64 model"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for row in rows:
        table.add_row(row["what"], f"{row['steps_per_s']:,.0f}", f"{row['ratio']:.3f}")
    Console().print(table)
    out = BUILD / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "speed.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{(out / 'speed.json').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
