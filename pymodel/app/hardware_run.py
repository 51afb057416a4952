"""A scenario with the RTL doing its part, or all of it, under a simulator."""

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console, JustifyMethod
from rich.table import Table

from pymodel.app.hardware_targets import TARGETS, Target
from pymodel.app.options import Asked
from pymodel.app.table import AUTO
from pymodel.arith import scalars
from pymodel.hardware.bench import Bench
from pymodel.hardware.cosim.co_simulation import TEST
from pymodel.hardware.handover import Handover, read_progress
from pymodel.hardware.simulators import how_to_get, simulator_version, usable
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.files import run_folder
from pymodel.runs.finished import FinishedRun, HardwareResult
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import PATIENCE, progress
from pymodel.runs.session import finish
from pymodel.runs.summary import Summary

DIFFERS = 1  # exit status
TRIAL_STEPS = 2  # of hardware, before a run of minutes


def run_hardware(options: Asked) -> tuple[Summary | None, int]:
    """Run a scenario on a co-processor or the step engine.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        That of :func:`pymodel.runs.session.finish`, or :data:`DIFFERS`.

    Raises
    ------
    InputError, ScenarioError, ValueError
        If what is asked for cannot be done.
    """
    scenario = load(options.scenario, options.steps)
    scenario.require_fixed_steps()
    with progress(scenario.name, "recording", patience=PATIENCE):
        target = TARGETS[options.target](scenario, options)
    simulator = usable_simulator(options.simulator)
    with run_folder(options.out, scenario, 3 + options.reference, options.forces) as new:
        return _run(scenario, simulator, options, target, new)


def _run(
    scenario: Scenario, simulator: str, options: Asked, target: Target, new: Path
) -> tuple[Summary | None, int]:
    """The run itself: co-simulate, finish, print what it cost."""
    row, left = _cosimulate(scenario, simulator, options, target, new)
    if left is None or left.trajectory is None:
        stopped = "" if left is None else f"{left.stopped}; the run ends there"
        print(row["message"] or stopped, file=sys.stderr)
        return None, DIFFERS
    hardware = HardwareResult(
        simulator=simulator,
        seed=options.seed,
        identical=row["result"] == "pass",
        words_compared=left.words_compared,
        cycles_by_part=left.bus_and_run_cycles,
        engine_cycles=left.engine_cycles,
        registers_moved=left.registers_moved,
        registers_traced=sum(run["traced"] for run in left.runs),
        evaluations=left.evaluations,
        in_hardware=target.in_hardware,
        float_units=target.float_units,
        versions={simulator: simulator_version(simulator)}
        | {name: version(name) for name in ("cocotb", "cocotbext-axi")},
    )
    arithmetic = scalars.parse(options.arithmetic).name
    run = FinishedRun(
        scenario,
        left.trajectory,
        left.stopped,
        options.target,
        arithmetic,
        target.options,
        hardware,
    )
    summary, status = finish(
        run, options.out, with_reference=options.reference, forces=options.forces
    )
    console = Console()
    _print_cycles(hardware, console)
    if hardware.identical:
        said = f"{len(left.trajectory)} rows, {left.words_compared} words"
        console.print(f"{said}: bit-identical to the model")
        return summary, status
    print(row["message"], file=sys.stderr)
    return summary, DIFFERS


def usable_simulator(name: str) -> str:
    """The simulator asked for; for ``auto`` Verilator if it is there, otherwise Icarus.

    Raises
    ------
    InputError
        If it is not installed.
    """
    if name == AUTO:
        name = "verilator" if usable("verilator") else "icarus"
    if not usable(name):
        raise InputError(f"--sim {name}: not installed; {how_to_get(name)}")
    return name


def _cosimulate(
    scenario: Scenario, simulator: str, options: Asked, target: Target, folder: Path
) -> tuple[dict[str, Any], Handover | None]:
    """Run the co-simulation bench: its result row, and what its simulator's process left."""
    row = watched(
        target.bench,
        simulator,
        target.config,
        scenario.name,
        seed=options.seed,
        testcase=TEST,
        waves=options.waves,
        params=target.params,
        settings=target.settings | {"out": str(folder.resolve())},
        results=options.results,
        command=options.again(simulator=simulator),
    )
    return row, Handover.read(folder)


def trial(options: Asked) -> int:
    """Simulate a few steps, and say what is wrong; the exit status.

    So hardware that does not answer is known before something else runs for minutes.

    Raises
    ------
    InputError, ScenarioError, ValueError
        If what is asked for cannot be done.
    """
    steps = min(TRIAL_STEPS, options.steps or TRIAL_STEPS)
    with tempfile.TemporaryDirectory() as out:
        short = options.but(out=out, steps=steps, waves=False, results=None)
        scenario = load(short.scenario, steps)
        target = TARGETS[short.target](scenario, short)
        simulator = usable_simulator(short.simulator)
        row, _ = _cosimulate(scenario, simulator, short, target, Path(out))
    if row["result"] == "pass":
        return 0
    print(row["message"], file=sys.stderr)
    return DIFFERS


def watched(
    bench: Bench, simulator: str, config: str, name: str, unit: str = "steps", **options: Any
) -> dict[str, Any]:
    """Run a bench while its progress is shown; returns its result row.

    Parameters
    ----------
    bench, simulator, config
        What is run.
    name, unit
        What its progress is of, and what it counts.
    options
        Further ones of :meth:`pymodel.hardware.bench.Bench.run`.
    """
    building = f"building {bench.device.toplevel}"
    with progress(f"{name}: {simulator}", building, unit=unit) as update:

        def watch(line: str) -> None:
            if found := read_progress(line):
                update(*found)

        return bench.run(simulator, config, watch=watch, **options)


def _print_cycles(hardware: HardwareResult, console: Console) -> None:
    """Our measurement of what the paper's table 6 measures: where the cycles go."""
    table = Table(title="clock cycles (our bus; `run` includes starting and polling)")
    for name in ("phase", "part", "words/evaluation", "cycles/evaluation", "cycles"):
        justify: JustifyMethod = "left" if name in ("phase", "part") else "right"
        table.add_column(name, justify=justify, overflow="fold")  # where a terminal is narrow
    evaluations, moved = hardware.evaluations, hardware.registers_moved
    for part, cycles in hardware.cycles_by_part.items():
        words = f"{moved[part] / evaluations:.1f}"
        table.add_row(*part.split(), words, f"{cycles / evaluations:.1f}", str(cycles))
    table.add_section()
    all_words, total = sum(moved.values()), hardware.cycles
    cells = (f"{all_words / evaluations:.1f}", f"{total / evaluations:.1f}", str(total))
    table.add_row("total", "", *cells)
    for part, cycles in (("computing", hardware.computing), ("tracing", hardware.registers_traced)):
        if cycles:
            table.add_row("of it", part, "", f"{cycles / evaluations:.1f}", str(cycles))
    console.print(table)
