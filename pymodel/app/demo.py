"""The subcommand `demo`: on everything that can run it, side by side, as `make pendulum`.

The co-processor's run goes to build/<name>, the step engine's to build/<name>/step. The base and
the lanes are the step engine's: the co-processor's are fixed.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.checks import algorithm
from pymodel.app.hardware_run import trial
from pymodel.app.options import COPROCESSOR, ENGINE, Asked
from pymodel.app.run import run_and_tell
from pymodel.app.shipped import DEMO_SCENARIOS, scenario_file
from pymodel.app.table import NAMED
from pymodel.arith import scalars
from pymodel.compile.native import NoCompilerError
from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs, show
from pymodel.runs.files import RUN
from pymodel.runs.summary import MILLI, Summary
from pymodel.runs.trajectory import read_csv

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


def identical_to_native(options: Asked) -> str:
    """Whether the trajectory that a run left is that of native code, bit for bit."""
    scenario = load(options.scenario, options.steps)
    found = algorithm(options, scenario)
    # The engine's program leaves out what is zero by structure.
    arithmetic = scalars.parse(options.arithmetic, fold=options.target == ENGINE)
    if not native_runs.possible(scenario, arithmetic, found["base"]):
        return "not native: pivots"
    try:
        native = native_runs.simulate(scenario, arithmetic, limit=math.inf, **found)
    except NoCompilerError:
        return "no C compiler"
    kept = read_csv(Path(options.out) / RUN).columns()
    same = all(
        np.array_equal(kept[name].view(np.uint64), column.view(np.uint64))
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


def demo(asked: Asked) -> tuple[list[Summary], int]:
    """Run a demo and print the comparison.

    Parameters
    ----------
    asked
        Of the subcommand ``demo``.

    Returns
    -------
    summaries : list of dict
        Of the co-processor and the step engine.
    status : int
        That of the first run that failed, or 0.

    Raises
    ------
    ValueError, OSError
        As for :func:`pymodel.app.run.run_and_tell`.
    """
    scenario = str(scenario_file(DEMO_SCENARIOS[asked.name]))
    kept = {option.key for option in NAMED["run"].options} - {"show", "target", "out"}
    options = {name: value for name, value in vars(asked).items() if name in kept}
    common = {name: value for name, value in options.items() if name not in ("base", "lanes")}
    out = Path(asked.out)
    ask = NAMED["run"].asked
    runs = (
        ask(scenario=scenario, out=str(out), target=COPROCESSOR, **common),
        # The co-processor does not project: both are to do the same.
        ask(scenario=scenario, out=str(out / "step"), target=ENGINE, project=0, **options),
    )
    for each in runs:
        algorithm(each, load(scenario))  # refuses before the first what the second cannot use
    for each in runs:  # what does not answer is known before the other one has run
        if status := trial(each):
            return [], status
    summaries: list[Summary] = []
    for each in runs:
        summary, status = run_and_tell(each)
        if status or summary is None:
            return summaries, status
        summaries.append(summary | {"identical_to_native": identical_to_native(each)})
    console = Console()
    console.print(comparison(*summaries))
    console.print(note(summaries[1]), highlight=False)
    differs = any(summary["identical_to_native"] == "NO" for summary in summaries)
    return summaries, DIFFERS if differs else 0


def run_demo(asked: Asked) -> int:
    """Run the subcommand; the exit status."""
    if asked.show:
        show.require_display()
    _, status = demo(asked)
    if asked.show:
        show.show(sorted(Path(asked.out).rglob("*.png")))
    return status
