"""Command line of the model: `python -m pymodel <subcommand>`.

A subcommand is one function with the decorator `subcommand`; its first docstring line is the
help, its argument adds the options.  Exit status: 0 done, 1 the answer is no (a run that broke
off, files that differ), 2 bad input, 130 Ctrl-C, both told in one line on stderr.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.algorithms.requests import BASE, CLOSED_BASES, RECORDED_BASES
from pymodel.app import call as robot_commands
from pymodel.app import compile as compile_command
from pymodel.app import sweep as sweep_commands
from pymodel.app.start import BAD_INPUT, text_of
from pymodel.compile.kernel import Kernel
from pymodel.mechanism import urdf
from pymodel.mechanism.scenario import Scenario, ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.runs.input_error import InputError
from pymodel.runs.options import algorithm_options
from pymodel.runs.trajectory import TrajectoryError
from pymodel.runs.whole import replacing

DONE, NO = 0, 1

Options = Callable[[argparse.ArgumentParser], None]
Command = Callable[[argparse.Namespace], int]
COMMANDS: dict[str, tuple[Command, Options, tuple[str, ...]]] = {}


def subcommand(options: Options, aliases: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Register a function as the subcommand of its name; `options` adds its arguments."""

    def register(function: Command) -> Command:
        COMMANDS[function.__name__] = (function, options, aliases)
        return function

    return register


def _simulate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", help="scenario file (TOML)")
    parser.add_argument(
        "--arith",
        default="float32",
        metavar="FORMAT",
        help="float32 (default), float64, or <EXP_W>/<MAN_W> such as 5/10",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument(
        "--target",
        default="model",
        choices=("model", "native"),
        help="model (default), or native: C code in any case, with the same bits",
    )
    parser.add_argument(
        "--shape", default="balanced", help="assembly tree: balanced (default), left or right"
    )
    parser.add_argument(
        "--base",
        choices=CLOSED_BASES,
        help=f"how the base of a closed chain is solved (default: {BASE})",
    )
    parser.add_argument(
        "--rebase",
        type=int,
        default=0,
        metavar="K",
        help="re-base the momenta of a mechanism with loops every K steps (default: never)",
    )
    parser.add_argument("--steps", type=int, help="run this many steps instead of until the end")
    parser.add_argument(
        "--no-reference", action="store_true", help="skip the reference solver and comparison"
    )
    parser.add_argument(
        "--forces", action="store_true", help="write the forces of the joints (forces.csv), too"
    )


@subcommand(_simulate_options)
def simulate(arguments: argparse.Namespace) -> int:
    """Run a scenario on the model, compare it with the reference, write tables and plots."""
    # Here, because the others need neither the algorithm nor matplotlib.
    from pymodel.runs import session

    scenario = load(arguments.scenario, steps=arguments.steps)
    _check_used(scenario, arguments.base, arguments.rebase, arguments.forces, shape=arguments.shape)
    _, status = session.run_model(
        scenario,
        arguments.arith,
        arguments.out,
        with_reference=not arguments.no_reference,
        shape=arguments.shape,
        base=arguments.base or BASE,
        rebase=arguments.rebase,
        target=arguments.target,
        forces=arguments.forces,
    )
    return status


def _check_used(
    scenario: Scenario,
    base: str | None = None,
    rebase: int = 0,
    forces: bool = False,
    shape: str = "balanced",
) -> None:
    from pymodel.algorithms.unused_options import unused_options

    for option, use in unused_options(scenario, base, rebase, forces, shape).items():
        raise InputError(f"--{option}: {use}")


def _compare_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", help="run.csv")
    parser.add_argument("b", help="run.csv to compare with")


@subcommand(_compare_options)
def compare(arguments: argparse.Namespace) -> int:
    """Compare two run.csv column by column; exit status 1 if any bit differs."""
    # Here, because the others need no reference solver.
    from pymodel.runs.comparison import compare as compare_runs
    from pymodel.runs.files import read_table

    a, b = read_table(arguments.a), read_table(arguments.b)
    if (a.nq, a.nv) != (b.nq, b.nv):
        raise InputError(f"{arguments.b}: {b.size_text}, but {arguments.a} has {a.size_text}")
    found = compare_runs(a, b)
    table = Table(title=Text(f"{arguments.a} and {arguments.b}: {min(found.rows)} rows"))
    for name in ("column", "max abs difference", "bits", "rows that differ", "first at t [s]"):
        table.add_column(Text(name), justify="left" if name in ("column", "bits") else "right")
    for name, column in found.columns.items():
        bits = "identical" if column.identical else "differ"
        first = "" if column.time is None else repr(column.time)
        table.add_row(name, f"{column.largest:.6g}", bits, str(column.rows), first)
    console = Console()
    console.print(table)
    if len(a) != len(b):
        text = f"rows: {len(a)} in {arguments.a}, {len(b)} in {arguments.b}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print("bit-identical" if found.identical else "different")
    return DONE if found.identical else NO


def _plot_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", help="folder with the run.csv of an earlier run")


@subcommand(_plot_options)
def plot(arguments: argparse.Namespace) -> int:
    """Draw the plots of an earlier run again."""
    from pymodel.runs import files

    for path in files.replot(arguments.dir):
        print(path)
    return DONE


subcommand(robot_commands.joints_options)(robot_commands.joints)
subcommand(robot_commands.call_options)(robot_commands.call)
subcommand(sweep_commands.sweep_options)(sweep_commands.sweep)
subcommand(sweep_commands.sweep_map_options)(sweep_commands.sweep_map)


OPERATION_SIGNS = {"add": "+", "mul": "x", "rec": "1/x"}

# Title, headings, rows; columns with these headings hold text, the others numbers.
TableData = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
TEXT_COLUMNS = ("sub-design", "equation", "units", "operation", "function", "method")


def _count_options(parser: argparse.ArgumentParser) -> None:
    text = "scenario file (TOML): count its step too; or a robot file (.urdf): count its functions"
    parser.add_argument("scenario", nargs="?", help=text)
    text = "assembly tree of a scenario: balanced (default), left or right"
    parser.add_argument("--shape", help=text)
    parser.add_argument("--floating", action="store_true", help="let a robot's base float")
    text = "take a robot's numbers as data instead of constants"
    parser.add_argument("--parameters-as-data", action="store_true", help=text)
    parser.add_argument("--markdown", action="store_true", help="print markdown tables")


@subcommand(_count_options)
def count(arguments: argparse.Namespace) -> int:
    """Count the float operations of the sub-designs and of a scenario's step, or of a robot."""
    tables = _counted(arguments)
    if arguments.markdown:
        print("\n".join(_markdown(*table) for table in tables), end="")
        return DONE
    console = Console()
    for title, headings, rows in tables:
        table = Table(title=Text(title))  # Text: brackets are no markup
        for heading in headings:
            text = heading in TEXT_COLUMNS
            table.add_column(Text(heading), justify="left" if text else "right", no_wrap=not text)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    return DONE


def _counted(arguments: argparse.Namespace) -> list[TableData]:
    """The tables of `count`."""
    path, options = arguments.scenario, (arguments.floating, arguments.parameters_as_data)
    robot = path and robot_commands.is_robot(path)
    if any(options) and not robot:
        raise InputError("--floating, --parameters-as-data: only for a robot file (.urdf)")
    if arguments.shape is not None and (robot or not path):
        raise InputError("--shape: only for a scenario")
    if robot:
        title, rows = robot_commands.operations(path, *options)
        return [(title, robot_commands.HEADINGS, rows)]
    if not path:
        return _subdesign_tables()
    shape = "balanced" if arguments.shape is None else arguments.shape
    algorithm_options(shape, dashes="--")
    scenario = load(path)
    _check_used(scenario, shape=shape)
    return [*_subdesign_tables(), _step_table(scenario, shape)]


def _subdesign_tables() -> list[TableData]:
    """Our own table 4, and the units that its passes need."""
    from pymodel.algorithms import two_handles
    from pymodel.compile import count as counting

    rows = counting.subdesigns()
    formulas = [_formula(function) for _, function, *_ in two_handles.SUBDESIGNS]
    passes = {0: "own units", 1: "1", 2: "2"}
    lines = [
        (
            str(number),
            row["name"],
            f"({row['equation']})",
            formula,
            *(str(row[op]) for op in OPERATION_SIGNS),
            passes[row["pass"]],
        )
        for number, (row, formula) in enumerate(zip(rows, formulas, strict=True), start=1)
    ]
    total = (str(sum(row[op] for row in rows)) for op in OPERATION_SIGNS)
    lines.append(("", "total", "", "", *total, ""))
    pool = counting.pool(rows)
    units = [
        (text, *(str(pool[op][key]) for op in OPERATION_SIGNS))
        for key, text in (("two_passes", "two passes"), ("one_pass", "one pass"))
    ]
    units.append(
        (
            "Turno and Malczyk, 2022, two passes",
            *(str(counting.PAPER_POOL.get(op, "-")) for op in OPERATION_SIGNS),
        )
    )
    signs = tuple(OPERATION_SIGNS.values())
    return [
        (
            "Operations of the sub-designs",
            ("no.", "sub-design", "eq.", "equation", *signs, "pass"),
            lines,
        ),
        ("Float units, both phases together", ("units", *signs), units),
    ]


def _formula(function: Callable[..., Any]) -> str:
    """The equation in the first line of a sub-design's docstring, without the words behind it."""
    line = (function.__doc__ or "").partition("\n")[0]
    found = re.match(r"\(\d+\): (.*?)(?:[;,] .*| \(symmetric\))?\.$", line)
    assert found is not None
    return found[1]


def _step_table(scenario: Scenario, shape: str) -> TableData:
    """Operations and the longest dependency path of one whole step."""
    from pymodel.compile import count as counting

    step = counting.step(scenario, shape=shape)
    rows = [
        (OPERATION_SIGNS.get(op, op), *map(str, (step["operations"][op], step["path"][op], cycles)))
        for op, cycles in counting.LATENCY.items()
    ]
    rows.append(("cycles", "", str(step["critical_path"]), ""))
    title = f"One step of {scenario.name}: {len(scenario.bodies)} bodies, {scenario.integrator}"
    headings = ("operation", "in all", "on the longest path", "latency [cycles]")
    return f"{title}, {shape} tree", headings, rows


def _no_options(parser: argparse.ArgumentParser) -> None:
    pass


@subcommand(_no_options)
def functions(arguments: argparse.Namespace) -> int:
    """List the functions that can be recorded."""
    from pymodel.compile.registry import REGISTRY

    table = Table("function", "what it does", title="Functions that can be recorded")
    for entry in REGISTRY.values():
        table.add_row(entry.name, Text(entry.text))
    Console().print(table)
    return DONE


def _kernel_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", help="scenario file (TOML)")
    parser.add_argument(
        "--function", default="step", help="what to record, see `functions` (default: step)"
    )
    parser.add_argument(
        "--base",
        choices=RECORDED_BASES,
        help=f"how the base of a closed chain is solved (default: {BASE})",
    )


def _kernel(arguments: argparse.Namespace) -> tuple[Scenario, Kernel]:
    """Record what the options name."""
    from pymodel.compile.registry import REGISTRY, record_function

    if arguments.function not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise InputError(f"--function: must be one of {known}, got {arguments.function!r}")
    scenario = load(arguments.scenario)
    _check_used(scenario, arguments.base)
    return scenario, record_function(arguments.function, scenario, base=arguments.base or BASE)


@subcommand(_kernel_options, aliases=("trace",))
def record(arguments: argparse.Namespace) -> int:
    """Print a function, by default one time step, as the operations that the engine has to do."""
    from pymodel.compile.kernel import listing

    _, kernel = _kernel(arguments)
    print("\n".join(listing(kernel)))
    return DONE


def _schedule_options(parser: argparse.ArgumentParser) -> None:
    _kernel_options(parser)
    parser.add_argument("--lanes", default="2+2", help="adders + multipliers (default: 2+2)")
    parser.add_argument(
        "--stages",
        metavar="ADD,MUL,REC,SINCOS",
        help="register stages of the float units (default: the engine's)",
    )
    parser.add_argument(
        "--contexts",
        type=int,
        default=1,
        help="copies interleaved in one longer program, not a barrel (default: 1)",
    )
    parser.add_argument("--out", metavar="DIR", help="folder for gantt.png and program.hex")


@subcommand(_schedule_options)
def schedule(arguments: argparse.Namespace) -> int:
    """Schedule a function on the engine's lanes: cycles, limits, use, registers, a picture."""
    from pymodel.compile import gantt
    from pymodel.compile.kernel import interleave
    from pymodel.compile.schedule import schedule as place
    from pymodel.machine.isa import MAX_CONTEXTS, Machine

    try:
        machine = Machine.parse(arguments.lanes, arguments.stages)
    except ValueError as error:
        raise InputError(str(error)) from None
    if not 1 <= arguments.contexts <= MAX_CONTEXTS:
        raise InputError(f"--contexts: must be 1 to {MAX_CONTEXTS}, got {arguments.contexts}")
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
    return DONE


subcommand(compile_command.options)(compile_command.compile)


def _markdown(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table as markdown; equations as code."""
    equation = headings.index("equation") if "equation" in headings else -1
    marks = [" --- " if heading in TEXT_COLUMNS else " ---: " for heading in headings]
    lines = [f"### {title}", "", f"| {' | '.join(headings)} |", f"|{'|'.join(marks)}|"]
    for row in rows:
        cells = [f"`{c}`" if k == equation and c else c for k, c in enumerate(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line; --help has the rest."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see --help)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _Parser(prog="python -m pymodel", description="The HDCA model.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="subcommand")
    for name, (function, options, aliases) in COMMANDS.items():
        text = (function.__doc__ or "").partition("\n")[0].rstrip(".")
        name = name.replace("_", "-")
        command = commands.add_parser(name, aliases=aliases, help=text, description=text)
        command.set_defaults(run=function)
        options(command)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except (ScenarioError, urdf.RobotError, TrajectoryError, InputError) as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:
        raise  # no file's: what is printed is not read
    except OSError as error:
        print(text_of(error), file=sys.stderr)
    return BAD_INPUT
