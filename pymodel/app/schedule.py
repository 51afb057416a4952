"""The subcommands `functions`, `record` and `schedule`: what the engine is to do, and when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.algorithms.requests import BASE
from pymodel.app.checks import require_used
from pymodel.app.options import Asked
from pymodel.compile import gantt
from pymodel.compile.kernel import Kernel, interleave, listing
from pymodel.compile.registry import REGISTRY, record_function
from pymodel.compile.schedule import schedule as place
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import show
from pymodel.runs.input_error import InputError
from pymodel.runs.whole import replacing

DONE = 0  # exit status


def functions(arguments: Asked) -> int:
    """List the functions that can be recorded."""
    table = Table("function", "what it does", title="Functions that can be recorded")
    for entry in REGISTRY.values():
        table.add_row(entry.name, Text(entry.text))
    Console().print(table)
    return DONE


def _kernel(arguments: Asked) -> tuple[Scenario, Kernel]:
    """Record what the options name."""
    if arguments.function not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise InputError(f"--function: must be one of {known}, got {arguments.function!r}")
    scenario = load(arguments.scenario)
    require_used(scenario, arguments.base)
    return scenario, record_function(arguments.function, scenario, base=arguments.base or BASE)


def record(arguments: Asked) -> int:
    """Print a function, by default one time step, as the operations that the engine has to do."""
    _, kernel = _kernel(arguments)
    print("\n".join(listing(kernel)))
    return DONE


def schedule(arguments: Asked) -> int:
    """Schedule a function on the engine's lanes: cycles, limits, use, registers, a picture."""
    if arguments.show and not arguments.out:
        raise InputError("--show: only with --out, which has the picture")
    if arguments.show:
        show.require_display()
    try:
        machine = Machine.parse(arguments.lanes, arguments.stages)
    except ValueError as error:
        raise InputError(str(error)) from None
    scenario, one = _kernel(arguments)
    kernel = interleave([one] * arguments.contexts) if arguments.contexts > 1 else one
    program = place(machine.boundless, kernel)
    program = replace(program, machine=machine.holding(program))
    found = gantt.summary(program, kernel)
    title = f"{scenario.name} on {arguments.lanes} lanes"
    if arguments.contexts > 1:
        title += f", {arguments.contexts} systems"
    table = Table(title=Text(f"One {arguments.function} of {title}"))
    table.add_column("")
    table.add_column("cycles", justify="right")
    table.add_row("program", str(found["cycles"]))
    if arguments.contexts > 1:
        table.add_row("a system", f"{found['cycles'] / arguments.contexts:.1f}")
    for name, text in (
        ("dependencies", "longest path, retimed" if program.prologue else "longest path"),
        ("lanes", "operations / lanes"),
        ("both", "lower bound of any schedule"),
    ):
        table.add_row(text, str(found["bounds"][name]))
    console = Console()
    console.print(table)
    table = Table(title="Lanes")
    for name in ("lanes", "operations", "use", "latency"):
        table.add_column(name, justify="left" if name == "lanes" else "right")
    for op, use in found["use"].items():
        cells = (str(found["operations"][op]), f"{use:.0%}", str(machine.latency[op]))
        table.add_row(gantt.LANE_NAMES[op], *cells)
    console.print(table)
    print(
        f"{found['words']} program words of {found['word_bits']} bits at {found['registers']} "
        "registers in the fullest bank"
    )
    if program.prologue:
        print(f"the last {program.prologue} words are a prologue, which runs once before each run")
    if arguments.out:
        out = Path(arguments.out)
        digits = -(-found["word_bits"] // 4)
        words = (f"{word:0{digits}x}\n" for word in program.encoded())
        files = ("gantt.png", "program.hex")
        with replacing(out, files, last="program.hex") as new:
            gantt.plot(
                program,
                new / "gantt.png",
                f"{title}: {found['cycles']} cycles a {arguments.function}",
            )
            (new / "program.hex").write_text("".join(words))
        print(out / "gantt.png", out / "program.hex", sep="\n")
        if arguments.show:
            show.show([out / "gantt.png"])
    return DONE
