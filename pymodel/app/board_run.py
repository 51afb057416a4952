"""A scenario or a robot's function on a board, and what a fresh board should be able to do."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from pymodel.hardware.places import robot_file as shipped_robot
from pymodel.hardware.places import scenario_file as shipped_scenario
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.machine.isa import Location, Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_bodies import SNAP
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
#: What `board selftest` runs: scenarios with their steps, functions of a robot with their calls.
SCENARIOS = (("double_pendulum", 1000), ("four_bar", 500))
ROBOT, FUNCTIONS, CALLS = "iiwa14", ("ID", "FD"), 20
MINUTE_S = 60.0


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
            outcome, (trajectory, stopped), wrong = _on_board(asked, engine, run, algorithm)
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


def _on_board(
    asked: Asked, engine: BoardEngine, run: engine_runs.Run, algorithm: Mapping[str, Any]
) -> tuple[Any, Any, str]:
    """A run: how it ended, trajectory and why it stopped, and what differs from the model."""
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
        call, calls, wrong = _calls(asked, engine, robot, asked.function, states)
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


def _calls(
    asked: Asked, engine: BoardEngine, robot: Robot, function: str, states: robot_calls.Table
) -> tuple[Call, Calls, str]:
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


# --- a fresh board --------------------------------------------------------------------------------


def board(asked: Asked) -> int:
    """What `hdca board selftest` does: all that a fresh board should, with a report.

    Returns
    -------
    int
        0, or 1 if anything differs from the model.
    """
    with connected(asked.port, asked.baud, asked.wait) as engine:
        machine, fmt = engine.machine, engine.machine.fmt
        print(f"engine   {machine.adders}+{machine.multipliers} lanes, {fmt.exp_w}/{fmt.man_w}")
        print(f"         {machine.banks} banks of {machine.depth}, {machine.program_depth} words")
        print(f"host     hdca {_own_version()}, pyserial {version('pyserial')}, {asked.port}")
        end = time.monotonic() + MINUTE_S * asked.minutes
        problems, first = 0, True
        while first or time.monotonic() < end:
            first = False
            for name, part in _parts(asked, engine):
                start = time.monotonic()
                words, wrong = part()
                problems += bool(wrong)
                said = wrong or f"{words} words identical, {time.monotonic() - start:.2f} s"
                print(f"{name:24} {said}", flush=True)
        print(f"line     {_line(engine)}")
    print(f"{problems} parts differ" if problems else "all identical")
    return DIFFERS if problems else DONE


def _own_version() -> str:
    from pymodel.app.command import version as own

    return own()


Part = tuple[str, Callable[[], tuple[int, str]]]


def _parts(asked: Asked, engine: BoardEngine) -> Sequence[Part]:
    runs: list[Part] = [
        (f"run {name}", partial(_run_part, asked, engine, name, steps)) for name, steps in SCENARIOS
    ]
    functions: list[Part] = [
        (f"robot {ROBOT} {name}", partial(_robot_part, asked, engine, name)) for name in FUNCTIONS
    ]
    return [("registers", partial(_registers, engine)), *runs, *functions]


def _registers(engine: BoardEngine) -> tuple[int, str]:
    """Random bits into all registers, and back."""
    machine, rng = engine.machine, np.random.default_rng()
    depth = machine.contexts * machine.depth
    places = [Location(bank, at) for bank in range(machine.banks) for at in range(depth)]
    bits = rng.integers(1 << machine.fmt.width, size=len(places)).tolist()
    wanted = dict(zip(places, bits, strict=True))
    done(engine.write_registers(wanted))
    found = done(engine.read_registers(places))
    wrong = [place for place in places if found[place] != wanted[place]]
    return len(places), f"{len(wrong)} registers differ, first {wrong[0]}" if wrong else ""


def _run_part(asked: Asked, engine: BoardEngine, name: str, steps: int) -> tuple[int, str]:
    scenario = load(shipped_scenario(name), steps)
    options: dict[str, Any] = {"base": "ldl", "rebase": 0, "project": 0}
    run = engine_runs.prepare(engine.machine, [scenario], **options)
    outcome, _, wrong = _on_board(asked, engine, run, options)
    return len(outcome.trace), wrong


def _robot_part(asked: Asked, engine: BoardEngine, function: str) -> tuple[int, str]:
    robot = reduced(robot_file.load(shipped_robot(ROBOT), snap=SNAP))
    seed = int(np.random.default_rng().integers(1 << 31))
    states = robot_calls.random_states(robot, function, CALLS, seed)
    _, calls, wrong = _calls(asked, engine, robot, function, states)
    return calls.words_compared, wrong
