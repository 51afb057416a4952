"""A demo on everything that can run it, side by side: `make pendulum`, `make fourbar`.

The co-processor's run goes to build/<name>, the step engine's to build/<name>/step. ``BASE`` and
``LANES`` are the step engine's: the co-processor's are fixed.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.options import COPROCESSOR, STEP, OptionParser, RunOptions, add_options, one_of
from pymodel.arith import scalars
from pymodel.compile.native import NoCompilerError
from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs
from pymodel.runs.files import RUN
from pymodel.runs.summary import MILLI, Summary
from pymodel.runs.trajectory import read_csv
from scripts.hardware_run import trial
from scripts.kernel.places import BUILD, DEMO_SCENARIOS, scenario_file
from scripts.run import run, status_of

DIFFERS = 1  # exit status
COLUMNS = ("model", "co-processor", "step engine")
UNITS = {"add": "+", "mul": "×", "rec": "1/x", "sincos": "sin cos"}


def units(summary: Summary) -> str:
    """Float units as text."""
    return ", ".join(f"{n} {UNITS[op]}" for op, n in summary["float_units"].items())


def rows(coprocessor: Summary, step: Summary) -> list[tuple[str, ...]]:
    """Rows of the comparison: what, model, co-processor, step engine."""

    def each(text: Callable[[Summary], str]) -> list[str]:
        return [text(summary) for summary in (coprocessor, step)]

    def a_step(total: Callable[[Summary], int]) -> list[str]:
        return each(lambda s: f"{total(s) / s['evaluations']:.1f}")

    def milli(energy: float | None) -> str:  # J; None where the reference was left out
        return "" if energy is None else f"{MILLI * energy:.3f}"

    native = []
    if "identical_to_native" in coprocessor:  # a demo compares, the files of its runs do not tell
        native = [("identical to native code", "", *each(lambda s: s["identical_to_native"]))]
    model = milli(coprocessor["kinetic_difference_float64_max_J"])
    return [
        ("in hardware", "nothing", *each(lambda s: s["in_hardware"])),
        ("cycles per step, bus included", "", *a_step(lambda s: s["cycles"])),
        ("of which computing", "", *a_step(lambda s: s["cycles_computing"])),
        ("of which tracing registers", "", *a_step(lambda s: s["registers_traced"])),
        ("bus words per step", "", *a_step(lambda s: sum(s["registers_moved"].values()))),
        ("float units", "", *each(units)),
        ("identical to the model", "", *each(lambda s: "yes" if s["identical_to_model"] else "NO")),
        *native,
        (
            "max kinetic energy error [mJ]",
            f"{model} (float64)" if model else "",
            *each(lambda s: milli(s["kinetic_difference_max_J"])),
        ),
    ]


def identical_to_native(options: RunOptions) -> str:
    """Whether the trajectory that a run left is that of native code, bit for bit."""
    scenario = load(options.scenario, options.steps)
    algorithm = options.algorithm(scenario)
    # The engine's program leaves out what is zero by structure.
    arithmetic = scalars.parse(options.arithmetic, fold=options.target == STEP)
    if not native_runs.possible(scenario, arithmetic, algorithm["base"]):
        return "not native: pivots"
    try:
        native = native_runs.simulate(scenario, arithmetic, limit=math.inf, **algorithm)
    except NoCompilerError:
        return "no C compiler"
    found = read_csv(Path(options.out) / RUN).columns()
    same = all(
        np.array_equal(found[name].view(np.uint64), column.view(np.uint64))
        for name, column in native.columns().items()
    )
    return "yes" if same else "NO"


def comparison(coprocessor: Summary, step: Summary) -> Table:
    """The comparison as a table for the terminal."""
    title = f"{coprocessor['scenario']}: {coprocessor['steps']} steps"
    table = Table(title=Text(title))  # Text: brackets are no markup
    for column in ("", *COLUMNS):
        table.add_column(column)
    for row in rows(coprocessor, step):
        table.add_row(*map(Text, row))
    return table


def note(step: Summary) -> str:
    """What the step engine's cycles are made of."""
    steps = step["evaluations"]
    return (
        f"The step engine runs {steps} steps: one more gives the velocities of the last state. "
        "Each takes the cycles of its program, and one for every register traced. The rest is "
        "loading the program, once, and polling."
    )


def demo(name: str, out: Path, **options: Any) -> tuple[list[Summary], int]:
    """Run a demo and print the comparison.

    Parameters
    ----------
    name
        One of :data:`DEMO_SCENARIOS`.
    out
        Folder for the results.
    options
        Further ones of :class:`pymodel.app.options.RunOptions`.

    Returns
    -------
    summaries : list of dict
        Of the co-processor and the step engine.
    status : int
        That of the first run that failed, or 0.

    Raises
    ------
    ValueError, OSError
        As for :func:`scripts.run.run`.
    """
    scenario = str(scenario_file(DEMO_SCENARIOS[name]))
    common = {name: value for name, value in options.items() if name not in ("base", "lanes")}
    runs = (
        RunOptions(scenario, str(out), COPROCESSOR, **common),
        RunOptions(scenario, str(out / "step"), STEP, **options),
    )
    for each in runs:
        each.algorithm(load(scenario))  # refuses before the first run what the second cannot use
    for each in runs:  # what does not answer is known before the other one has run
        if status := trial(each):
            return [], status
    summaries = []
    for each in runs:
        summary, status = run(each)
        if status:
            return summaries, status
        summaries.append(summary | {"identical_to_native": identical_to_native(each)})
    console = Console()
    console.print(comparison(*summaries))
    console.print(note(summaries[1]), highlight=False)
    differs = any(summary["identical_to_native"] == "NO" for summary in summaries)
    return summaries, DIFFERS if differs else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = OptionParser(prog="scripts.demo", description=__doc__.splitlines()[0])
    parser.add_argument("name", type=one_of("demo", *DEMO_SCENARIOS))
    parser.add_argument("--out", help="folder for the results (default: build/<name>)")
    add_options(parser)

    def run_demo() -> int:
        options = vars(parser.parse_args(arguments))
        name, out = options.pop("name"), options.pop("out")
        return demo(name, Path(out or BUILD / name), **options)[1]

    return status_of(run_demo)
