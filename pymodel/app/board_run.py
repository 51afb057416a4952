"""A scenario or a robot's function on a board."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from pymodel.app.checks import algorithm as algorithm_of
from pymodel.app.options import Asked
from pymodel.arith import scalars
from pymodel.arith.fp import Format
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import cheapest, recorded
from pymodel.compile.schedule import bounds
from pymodel.hardware.board import BoardArray, BoardEngine, connected, done
from pymodel.hardware.cosim import array as cosim_array
from pymodel.hardware.cosim import robot as cosim_robot
from pymodel.hardware.cosim import step as cosim_step
from pymodel.hardware.cosim.calls import Calls
from pymodel.hardware.link import LinkError
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_array import Outcome
from pymodel.machine.isa import Machine
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, robot_calls
from pymodel.runs.array_runs import Array, prepare_array
from pymodel.runs.engine_calls import Call, prepare_call
from pymodel.runs.files import run_folder
from pymodel.runs.finished import FinishedRun, HardwareResult
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import PATIENCE, progress
from pymodel.runs.session import finish
from pymodel.runs.summary import Summary

DONE, DIFFERS = 0, 1  # exit status


def _scoreboard(asked: Asked) -> Scoreboard:
    return Scoreboard("board", np.random.default_rng(), asked.again())


def _arithmetic(engine: BoardEngine | BoardArray, asked: Asked) -> str:
    """The arithmetic that is asked for, which the board must have."""
    fmt = engine.machine.fmt
    wanted = scalars.parse(asked.arithmetic)
    if not isinstance(wanted, scalars.BitExact) or wanted.fmt != fmt:
        own = f"{fmt.exp_w}/{fmt.man_w}"
        raise InputError(f"--arith {asked.arithmetic}: the board computes in {own}")
    return wanted.name


def run_board(asked: Asked) -> tuple[Summary | None, int]:
    """Run a scenario on a board, and compare it with the model.

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
    scenario = load(asked.scenario, asked.steps)
    scenario.require_fixed_steps()
    with connected(asked.port, asked.baud, asked.wait) as engine:
        if not isinstance(engine, BoardEngine):
            raise InputError(
                "--target board: the board has a step array, which does no runs, but functions of "
                "robots (hdca robot ... --target board); make bitstream TOP=engine has the engine"
            )
        arithmetic = _arithmetic(engine, asked)
        algorithm = algorithm_of(asked, scenario)
        with progress(scenario.name, "recording", patience=PATIENCE):
            run = engine_runs.prepare(engine.machine, [scenario], **algorithm)
        with run_folder(asked.out, scenario, 3 + asked.reference, asked.forces):
            start = time.monotonic()
            outcome, (trajectory, stopped), wrong = run_on_board(asked, engine, run, algorithm)
            seconds = time.monotonic() - start
            if trajectory is None:
                print(wrong or f"{stopped}; the run ends there", file=sys.stderr)
                return None, DIFFERS
            words = len(outcome.trace)
            hardware = HardwareResult(
                simulator="",
                seed=0,
                identical=not wrong,
                words_compared=words,
                cycles_by_part={"run run": outcome.cycles},
                engine_cycles={"run": outcome.cycles},
                registers_moved=dict(engine.words),
                registers_traced=words,
                evaluations=max(outcome.steps_done, 1),
                in_hardware=f"{cosim_step.IN_HARDWARE}, on a board at {asked.port}",
                float_units=_units(engine.machine),
                versions={"pyserial": version("pyserial")},
            )
            found = replace(trajectory, flags=outcome.flags)
            ended = (asked.target, arithmetic, algorithm, hardware)
            finished = FinishedRun(scenario, found, stopped, *ended)
            summary, status = finish(
                finished, asked.out, with_reference=asked.reference, forces=asked.forces
            )
    if wrong:
        print(wrong, file=sys.stderr)
        return summary, DIFFERS
    print(f"{outcome.cycles} cycles of the engine, {seconds:.2f} s with the line, {_line(engine)}")
    print(f"{len(trajectory)} rows, {words} words: bit-identical to the model")
    return summary, status


def _units(machine: Machine) -> dict[str, int]:
    return {"add": machine.adders, "mul": machine.multipliers, "rec": 1, "sincos": 1}


def _line(engine: BoardEngine) -> str:
    return f"{engine.link.sent} frames, {engine.link.again} of them again"


def run_on_board(
    asked: Asked, engine: BoardEngine, run: engine_runs.Run, algorithm: Mapping[str, Any]
) -> tuple[Any, Any, str]:
    """A run: how it ended, trajectory and why it stopped, and what differs from the model.

    Raises
    ------
    LinkError
        If the board gives nothing back.
    """
    found: list[Any] = []
    wrong = ""
    try:
        done(_compared(_scoreboard(asked), engine, run, dict(algorithm), found))
    except AssertionError as error:
        wrong = str(error)
    if not found:
        raise LinkError(wrong or "the board gave nothing back")
    outcome, (first, *_) = found
    return outcome, first, wrong


async def _compared(
    board: Scoreboard,
    engine: BoardEngine,
    run: engine_runs.Run,
    options: dict[str, Any],
    found: list[Any],
) -> None:
    await engine.forget()
    await engine.load_program(run.program.encoded())
    await cosim_step.compared(
        board, engine, run, options, lambda *came: found.extend(came), _tell_nobody
    )


def _tell_nobody(count: int, total: int) -> None:
    """Runs on a board are short."""


class OnBoard(NamedTuple):
    """What calls of a robot's function have given.

    Attributes
    ----------
    calls
        Their results.
    outputs, fmt
        Names and format of the results.
    figures
        For the summary.
    wrong
        What differs from the text; empty if nothing.
    """

    calls: Calls
    outputs: Sequence[str]
    fmt: Format
    figures: dict[str, Any]
    wrong: str


def robot_on_board(asked: Asked, robot: Robot, states: robot_calls.Table) -> OnBoard:
    """Evaluate a robot's function on a board, and compare it with the text.

    Raises
    ------
    InputError
        If there is no board, or it cannot.
    """
    with connected(asked.port, asked.baud, asked.wait) as board:
        _arithmetic(board, asked)
        machine = board.machine
        figures = {
            "versions": {"pyserial": version("pyserial")},
            "lanes": f"{machine.adders}+{machine.multipliers}",
            "word_bits": machine.word_w,
        }
        if isinstance(board, BoardArray):
            array, rows, wrong, outcome = streamed(asked, board, robot, {asked.function: states})
            calls = cosim_array.calls_of(rows, outcome)
            outputs: Sequence[str] = array.functions[asked.function].outputs
            program = array.programs[asked.function]
            figures |= {
                "contexts": machine.contexts,
                "datapaths": machine.datapaths,
                "words": program.main,
                "cycles_of_all_calls": calls.cycles,
                "cycles_per_call": calls.cycles / len(rows),
                "cycles_per_call_of_full_batches": program.main / machine.datapaths,
            }
        else:
            call, calls, wrong = calls_on_board(asked, board, robot, asked.function, states)
            outputs, program = [*call.outputs], call.program
            figures |= {
                "cycles": program.main,
                "cycles_with_start_and_trace": calls.cycles,
                "bounds": bounds(machine, call.kernel),
            }
        figures |= {
            "words_compared": calls.words_compared,
            "identical": not wrong,
            "registers_of_a_bank": max(program.registers),
        }
    return OnBoard(calls, outputs, machine.fmt, figures, wrong)


def streamed(
    asked: Asked, board: BoardArray, robot: Robot, tables: Mapping[str, robot_calls.Table]
) -> tuple[Array, list[list[dict[str, int]]], str, Outcome]:
    """Stream calls of a robot's functions, whose states are given, through an array.

    Returns
    -------
    array : Array
        What it was loaded with.
    rows : list of list of dict
        As those of :meth:`pymodel.runs.array_runs.Array.rows`.
    wrong : str
        What differs from the text.
    outcome : Outcome

    Raises
    ------
    InputError
        If there is nothing to compute.
    ProgramError
        If the array is too small.
    """
    machine = board.machine
    kernels = {name: _kernel(robot, name) for name in tables}
    array = prepare_array(machine, kernels, dict.fromkeys(kernels, robot.name))
    batches = {
        name: robot_calls.bits_of(
            machine.fmt, {column: table[column] for column in array.functions[name].inputs}
        )
        for name, table in tables.items()
    }
    calls = [(name, inputs) for name, batch in batches.items() for inputs in batch]
    rows, outcome = done(cosim_array.run(board, array, calls, _tell_nobody))
    scoreboard, wrong = _scoreboard(asked), ""
    robots = dict.fromkeys(kernels, robot)
    try:
        cosim_array.account(scoreboard, array, calls, outcome)
        cosim_array.compare(scoreboard, machine, kernels, robots, batches, rows, outcome)
    except AssertionError as error:
        wrong = str(error)
    return array, rows, wrong, outcome


def _kernel(robot: Robot, function: str) -> Kernel:
    kernel = recorded(robot, function)
    if not kernel.outputs:
        raise InputError(f"{function} of {robot.name}: all results are zero")
    return kernel


def calls_on_board(
    asked: Asked, engine: BoardEngine, robot: Robot, function: str, states: robot_calls.Table
) -> tuple[Call, Calls, str]:
    """Calls of a robot's function: its program, what came, and what differs from the text.

    Raises
    ------
    InputError
        If there is nothing to compute.
    """
    call = prepare_call(engine.machine, _kernel(robot, function))
    batch = robot_calls.bits_of(
        engine.machine.fmt, {name: states[name] for name in call.kernel.inputs}
    )
    calls = done(cosim_robot.in_hardware(engine, call, batch, _tell_nobody))
    wrong = ""
    try:
        compared = (_scoreboard(asked), engine.machine.fmt, robot, function, batch, calls)
        cosim_robot.compare(*compared, cheapest(robot, function))
    except AssertionError as error:
        wrong = str(error)
    return call, calls, wrong
