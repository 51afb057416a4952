"""A demo on everything that can run it, side by side: ``make pendulum``, ``make fourbar``.

The co-processor's run goes to build/<name>, the step engine's to build/<name>/step.
"""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from scripts import run

ROOT = Path(__file__).resolve().parents[1]

DEMOS = {"pendulum": "double_pendulum", "fourbar": "four_bar"}
MILLI = 1e3
COLUMNS = ("model", "co-processor", "step engine")
UNITS = {"add": "+", "mul": "×", "rec": "1/x", "sincos": "sin cos"}


def units(summary):
    """Float units as text."""
    return ", ".join(f"{n} {UNITS[op]}" for op, n in summary["float_units"].items())


def rows(coprocessor, step):
    """Rows of the comparison: what, model, co-processor, step engine."""
    pair = (coprocessor, step)

    def each(text):
        return [text(summary) for summary in pair]

    def a_step(total):
        return each(lambda s: f"{sum(s[total].values()) / s['evaluations']:.1f}")

    model = coprocessor["kinetic_difference_float64_max_J"]
    return [
        ("in hardware", "nothing", *each(lambda s: s["in_hardware"])),
        ("cycles a step, bus included", "", *a_step("cycles_by_part")),
        ("of it computing", "", *a_step("engine_cycles")),
        ("bus words a step", "", *a_step("registers_moved")),
        ("float units", "", *each(units)),
        ("identical to the model", "", *each(lambda s: "yes" if s["identical_to_model"] else "NO")),
        (
            "kinetic energy - reference [mJ]",
            f"{MILLI * model:.3f} (float64)",
            *each(lambda s: f"{MILLI * s['kinetic_difference_max_J']:.3f}"),
        ),
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="scripts/demo.py", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=DEMOS)
    parser.add_argument("--out", help="folder for the results (default: build/<name>)")
    arguments, others = parser.parse_known_args(arguments)
    out = Path(arguments.out or ROOT / "build" / arguments.name)
    scenario = ROOT / "scenarios" / f"{DEMOS[arguments.name]}.toml"
    summaries = []
    for target, folder in (("coprocessor", out), ("step", out / "step")):
        words = ["--scenario", str(scenario), "--target", target, "--out", str(folder)]
        status = run.main(words + others)
        if status:
            return status
        summaries.append(json.loads((folder / "summary.json").read_text()))
    table = Table(title=f"{summaries[0]['scenario']}: {summaries[0]['steps']} steps")
    for name in ("", *COLUMNS):
        table.add_column(name)
    for row in rows(*summaries):
        table.add_row(*row)
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
