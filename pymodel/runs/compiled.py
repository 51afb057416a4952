"""Program images of runs and libraries: what `python -m pymodel compile` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pymodel.algorithms import step
from pymodel.algorithms.requests import BASE
from pymodel.algorithms.rigid_body.functions import suited
from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import Kernel, context_name
from pymodel.compile.registry import clock_names, record_function
from pymodel.compile.robot_kernels import recorded as robot_recorded
from pymodel.machine.isa import Location, Machine, Program, ProgramError
from pymodel.machine.program_image import BANK_AT, ProgramImage, StoredProgram, identity
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.engine_calls import Library, prepare_library
from pymodel.runs.engine_runs import Run, prepare
from pymodel.runs.input_error import InputError

STEP = "step"  # the function that is a time step


def run_image(run: Run) -> ProgramImage:
    """The image of a run: one program, named ``step``, with its steps, saving and re-basing.

    Raises
    ------
    ProgramError
        If no engine has such lanes, stages or program words.
    """
    program = run.program
    alone = len(run.scenarios) == 1

    def named(homes: Mapping[str, Location]) -> dict[str, Location]:
        return {_plain(name) if alone else name: x for name, x in homes.items()}

    carried = named(program.carried)
    stored = StoredProgram(
        STEP,
        start=0,
        main=program.main,
        special=program.special,
        prologue=program.prologue,
        every=run.every,
        steps=run.steps,
        save=run.save,
        carried=carried,
        before=named(run.before),
        after=named(run.after),
        initial={name: run.image[location] for name, location in carried.items()},
    )
    return _image(
        program.machine, program.encoded(), [stored], named(program.parameters), run.image
    )


def library_image(
    library: Library, initial: Mapping[str, Mapping[str, int]] | None = None
) -> ProgramImage:
    """The image of a library.

    Parameters
    ----------
    library : Library
    initial : dict, optional
        Name of a program -> name -> bits of its carried values to begin with; 0 by default.

    Raises
    ------
    ProgramError
        If an engine's trace list or registers are too small for it.
    """
    programs = []
    parameters: dict[str, Location] = {}
    entry = 0
    for name, call in library.calls.items():
        program = call.program
        start = dict.fromkeys(program.carried, 0) | dict((initial or {}).get(name, {}))
        stored = StoredProgram(
            name,
            start=call.start,
            main=len(program.words),
            entry=entry,
            inputs=program.inputs,
            carried=program.carried,
            before=program.carried,
            after=program.outputs,
            initial={value: start[value] for value in program.carried},
        )
        programs.append(stored)
        parameters |= program.parameters
        entry += stored.traced
    machine = library.call(0).program.machine
    if entry > machine.trace_registers:
        raise ProgramError(
            f"{entry} registers are traced, the engine's list has {machine.trace_registers}"
        )
    return _image(machine, library.encoded(), programs, parameters, library.image)


def _image(
    machine: Machine,
    words: Sequence[int],
    programs: Sequence[StoredProgram],
    parameters: Mapping[str, Location],
    registers: Mapping[Location, int],
) -> ProgramImage:
    if machine.contexts > 1:
        raise ProgramError(f"a program image is for one context, the engine has {machine.contexts}")
    if machine.depth > 1 << BANK_AT:
        raise ProgramError(f"depth is {machine.depth}, an engine has at most {1 << BANK_AT}")
    return ProgramImage(
        *identity(machine),
        word_w=machine.word_w,
        words=tuple(words),
        programs=tuple(programs),
        parameters=dict(parameters),
        bits={name: registers[location] for name, location in parameters.items()},
    )


def _plain(name: str) -> str:
    """A name of the only system of a run, without the number of the system."""
    return name.removeprefix(context_name(0, ""))


def compile_scenario(
    machine: Machine,
    scenario: Scenario,
    functions: Sequence[str],
    base: str = BASE,
    rebase: int = 0,
    project: int | None = None,
) -> ProgramImage:
    """Compile functions of a scenario; the machine's memories grow where they need it.

    Parameters
    ----------
    machine : Machine
    scenario : Scenario
    functions : sequence of str
        Keys of :data:`pymodel.compile.registry.REGISTRY`. A step by itself is a run of the
        scenario.
    base, rebase, project
        As for :func:`pymodel.runs.engine_runs.prepare`; only a step by itself re-bases or projects.

    Raises
    ------
    InputError
        If an engine for them is impossible.
    """
    if [*functions] == [STEP]:
        run = prepare(machine.boundless, [scenario], base=base, rebase=rebase, project=project)
        return run_image(replace(run, program=_on(machine.holding(run.program), run.program)))
    kernels = {name: record_function(name, scenario, base=base) for name in functions}
    mechanism = step.prepare(BitExact(machine.fmt), scenario)
    state = {
        f"{letter}[{k}]": x.bits
        for letter, vector in zip("qp", mechanism.initial_state(scenario), strict=True)
        for k, x in enumerate(vector)
    }
    return _compiled(machine, kernels, state | dict.fromkeys(clock_names(scenario), 0))


def compile_robot(
    machine: Machine, robot: Robot, functions: Sequence[str], parameters_as_data: bool = False
) -> ProgramImage:
    """Compile functions of a robot; the machine's memories grow where they need it.

    Parameters
    ----------
    machine : Machine
    robot : Robot
        As it was read; the seven also take it reduced.
    functions : sequence of str
        Keys of :data:`pymodel.algorithms.rigid_body.functions.ALL`.
    parameters_as_data : bool
        The robot's numbers are parameters with names, so that they can be exchanged.

    Raises
    ------
    InputError
        If all results of a function are zero by structure.
    """
    kernels = {
        name: robot_recorded(suited(robot, name), name, parameters_as_data=parameters_as_data)
        for name in functions
    }
    for name, kernel in kernels.items():
        if not kernel.outputs:
            raise InputError(f"{name} of {robot.name}: all results are zero, there is no program")
    return _compiled(machine, kernels, {})


def _compiled(
    machine: Machine, kernels: Mapping[str, Kernel], state: Mapping[str, int]
) -> ProgramImage:
    """Schedule a library on a machine whose memories hold it; ``state`` has carried values."""
    library = prepare_library(machine.boundless, kernels)
    programs = [call.program for call in library.calls.values()]
    holding = machine.holding(*programs)
    calls = {
        name: replace(call, program=_on(holding, call.program))
        for name, call in library.calls.items()
    }
    initial = {
        name: {value: state[value] for value in call.program.carried}
        for name, call in calls.items()
    }
    return library_image(Library(calls), initial)


def _on(machine: Machine, program: Program) -> Program:
    return replace(program, machine=machine)
