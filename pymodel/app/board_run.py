"""A scenario or a robot's function on a board."""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from pymodel.app.checks import algorithm as algorithm_of
from pymodel.app.options import Asked
from pymodel.arith import scalars
from pymodel.compile.robot_kernels import cheapest, recorded
from pymodel.compile.schedule import bounds
from pymodel.hardware.board import BoardEngine, connected, done
from pymodel.hardware.cosim import robot as cosim_robot
from pymodel.hardware.cosim import step as cosim_step
from pymodel.hardware.cosim.calls import Calls
from pymodel.hardware.link import LinkError
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.machine.isa import Machine
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, robot_calls
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


def _arithmetic(engine: BoardEngine, asked: Asked) -> str:
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


def robot_on_board(
    asked: Asked, robot: Robot, states: robot_calls.Table
) -> tuple[Calls, Call, dict[str, Any], str]:
    """Evaluate a robot's function on a board: its calls, figures, and what differs from the text.

    Raises
    ------
    InputError
        If there is no board, or it cannot.
    """
    with connected(asked.port, asked.baud, asked.wait) as engine:
        _arithmetic(engine, asked)
        call, calls, wrong = calls_on_board(asked, engine, robot, asked.function, states)
        figures = {
            "versions": {"pyserial": version("pyserial")},
            "words_compared": calls.words_compared,
            "identical": not wrong,
            "cycles": call.program.main,
            "cycles_with_start_and_trace": calls.cycles,
            "bounds": bounds(engine.machine, call.kernel),
            "lanes": f"{engine.machine.adders}+{engine.machine.multipliers}",
            "registers_of_a_bank": max(call.program.registers),
            "word_bits": engine.machine.word_w,
        }
    return calls, call, figures, wrong


def calls_on_board(
    asked: Asked, engine: BoardEngine, robot: Robot, function: str, states: robot_calls.Table
) -> tuple[Call, Calls, str]:
    """Calls of a robot's function: its program, what came, and what differs from the text.

    Raises
    ------
    InputError
        If there is nothing to compute.
    """
    kernel = recorded(robot, function)
    if not kernel.outputs:
        raise InputError(f"{function} of {robot.name}: all results are zero")
    call = prepare_call(engine.machine, kernel)
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
