"""The subcommand `compile`: program images, written and shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from pymodel.algorithms.requests import BASE
from pymodel.algorithms.rigid_body.functions import ALL
from pymodel.algorithms.unused_options import refuse_unused_of_robot
from pymodel.app.call import is_robot, tell
from pymodel.app.checks import require_used
from pymodel.app.options import Asked
from pymodel.arith import scalars
from pymodel.compile.registry import REGISTRY
from pymodel.machine.isa import Machine, ProgramError
from pymodel.machine.program_image import ProgramImage, identity
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import at_link, shown
from pymodel.mechanism.scenario_file import load
from pymodel.runs import compiled
from pymodel.runs.input_error import InputError, cannot_write, require_other_file
from pymodel.runs.options import algorithm_options
from pymodel.runs.whole import whole_file

DONE = 0
OPTIONS = {
    "arithmetic": "arith",
    "mimic": "no-mimic",
    "fixed_acceleration": "fixed-acceleration",
}  # where an option is not called as its value
WIDTH = 150  # columns of a table where there is no terminal
OF_ROBOTS = (
    "floating",
    "link",
    "damping",
    "friction",
    "armature",
    "fixed_acceleration",
    "gravity",
    "mimic",
    "parameters_as_data",
)
OF_SCENARIOS = ("base", "rebase", "project")
OF_ENGINE = ("depth", "read_stages", "operand_stages")  # numbers of the machine by their names


def compile(arguments: Asked) -> int:
    """Compile functions of a scenario or robot into a program image, or show one."""
    if arguments.show:
        _refuse(
            arguments, [name for name in vars(arguments) if name not in _PASSIVE], "not with --show"
        )
        image = _read(arguments.show)
        _print(arguments.show, image)
        _print_names(image)
        return DONE
    if not arguments.source or not arguments.out:
        raise InputError("compile: give a scenario or robot file and --out, or --show")
    require_other_file(arguments.out, arguments.source)
    try:
        image = _compiled(arguments, _machine(arguments))
        data = image.encode()
    except ProgramError as error:
        raise InputError(f"{arguments.source}: {error}") from None
    out = Path(arguments.out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out) as beside:
            beside.write_bytes(data)
    except OSError as error:
        raise cannot_write(out, error) from None
    _print(arguments.out, image)
    return DONE


#: What does not ask for anything in the presence of ``--show``.
_PASSIVE = ("show", "command")


def _refuse(arguments: Asked, names: Iterable[str], why: str) -> None:
    """Refuse options that have no effect, if they are given."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not (name == "mimic"):
            text = (
                "SOURCE" if name == "source" else f"--{OPTIONS.get(name, name).replace('_', '-')}"
            )
            raise InputError(f"{text}: {why}")


def _machine(arguments: Asked) -> Machine:
    """The machine of the options, with the memories that it has at least.

    The stages that an option gives are in the image: CONFIG and LANES tell them of an engine.
    """
    try:
        arithmetic = scalars.parse(arguments.arithmetic or "float32")
        if isinstance(arithmetic, scalars.Float64):
            raise InputError("--arith: the engine has no float64; take float32 or such as 5/10")
        if not arithmetic.fmt.has_sincos:
            raise InputError(
                f"--arith: the engine has no sine for the format {arguments.arithmetic}"
            )
        given = {name: getattr(arguments, name) for name in OF_ENGINE}
        given = {name: value for name, value in given.items() if value is not None}
        given["rare_logic"] = int(arguments.rare_logic)
        lanes = arguments.lanes or "2+2"
        return Machine.parse(lanes, arguments.stages, fmt=arithmetic.fmt, **given)
    except ValueError as error:
        raise InputError(str(error)) from None


def _compiled(arguments: Asked, machine: Machine) -> ProgramImage:
    robot = is_robot(arguments.source)
    others, whose = (OF_SCENARIOS, "a scenario") if robot else (OF_ROBOTS, "a robot file")
    _refuse(arguments, others, f"only for {whose}")
    image = (_of_robot if robot else _of_scenario)(arguments, machine)
    if arguments.depth is not None and image.depth != arguments.depth:
        raise InputError(f"--depth: the programs need {image.depth} registers of a bank")
    return image


def _functions(names: list[str], known: list[str]) -> list[str]:
    """The functions that are asked for, each once."""
    for name in names:
        if name not in known:
            raise InputError(f"--function: must be one of {', '.join(known)}, got {name!r}")
        if names.count(name) > 1:
            raise InputError(f"--function: {name} twice")
    return names


def _of_robot(arguments: Asked, machine: Machine) -> ProgramImage:
    if not arguments.function:
        raise InputError(f"--function: give one or more of {', '.join(ALL)}")
    functions = _functions(arguments.function, [*ALL])
    options = arguments.damping, arguments.armature or 0.0
    gravity, friction = arguments.gravity, arguments.friction or 0.0
    more: Any = arguments.snap or 0.0, gravity, arguments.mimic, friction
    robot = robot_file.load(arguments.source, arguments.floating, *options, *more)
    fixed = arguments.fixed_acceleration or ()
    robot = robot_file.with_fixed_acceleration(robot, fixed, "--fixed-acceleration")
    own: Any = (friction, arguments.link, fixed)
    refuse_unused_of_robot(robot, functions, *options, gravity, "--", *own)
    if arguments.link is not None:
        robot = at_link(robot, arguments.link, "--link")
    tell(robot)
    return compiled.compile_robot(machine, robot, functions, arguments.parameters_as_data)


def _of_scenario(arguments: Asked, machine: Machine) -> ProgramImage:
    asked = arguments.function or [compiled.STEP]
    for name in set(asked) & (ALL.keys() - {compiled.STEP}):
        raise InputError(f"--function: {name} is of a robot, {arguments.source} is no robot file")
    functions = _functions(asked, [*REGISTRY])
    scenario = load(arguments.source)
    rebase, project = arguments.rebase or 0, arguments.project
    require_used(scenario, arguments.base, arguments.rebase, project=project)
    alone = functions == [compiled.STEP]
    for name, every in (("rebase", rebase), ("project", project)):
        if every and not alone:
            raise InputError(f"--{name}: only for the function step by itself")
    base = arguments.base or BASE
    algorithm_options(base=base, rebase=rebase, project=project or 0, dashes="--")
    return compiled.compile_scenario(machine, scenario, functions, base, rebase, project)


def _read(path: str) -> ProgramImage:
    try:
        image = ProgramImage.decode(Path(path).read_bytes())
        identity(image.machine)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return image


def _print_names(image: ProgramImage) -> None:
    """Parameters, and the values of each program, in their order."""
    if image.parameters:
        print(f"parameters: {', '.join(map(shown, image.parameters))}")
    for program in image.programs:
        print(f"{program.name}:")
        for name in ("inputs", "carried", "before", "after"):
            values = getattr(program, name)
            if values:
                print(f"  {name}: {', '.join(map(shown, values))}")


def _print(path: str, image: ProgramImage) -> None:
    """Programs, and the engine that an image is for."""
    table = Table(title=Text(path))
    columns = ("program", "cycles", "prologue", "inputs", "carried", "traced", "steps", "re-basing")
    for name in columns:
        justify: JustifyMethod = "left" if name == "program" else "right"
        table.add_column(name, justify=justify, overflow="fold")  # no digit is cut
    for program in image.programs:
        counts = (program.main, program.prologue, len(program.inputs), len(program.carried))
        table.add_row(
            Text(program.name),
            *map(str, (*counts, program.traced, program.steps)),
            f"every {program.every}" if program.every else "",
        )
    Console(width=None if sys.stdout.isatty() else WIDTH).print(table)
    machine = image.machine
    rare = ", RARE_LOGIC 1" if machine.rare_logic else ""
    stages = (machine.add_stages, machine.mul_stages, machine.rec_stages, machine.sincos_stages)
    print(f"{len(image.words)} words of {image.word_w} bits, {len(image.parameters)} parameters")
    print(
        f"for {machine.adders}+{machine.multipliers} lanes, stages {','.join(map(str, stages))}, "
        f"READ_STAGES {machine.read_stages}, OPERAND_STAGES {machine.operand_stages}{rare}, "
        f"format {machine.fmt.exp_w}/{machine.fmt.man_w}, DEPTH {machine.depth}, "
        f"PROGRAM_DEPTH {machine.program_depth}, TRACE_REGISTERS {machine.trace_registers}, "
        f"PROGRAMS {machine.programs}"
    )
