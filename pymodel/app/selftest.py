"""`hdca board selftest`: all that a fresh board should do, beside the model, and its report."""

import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.app.board_run import DIFFERS, DONE, calls_on_board, run_on_board, streamed
from pymodel.app.options import Asked
from pymodel.arith.fp import NOT_FINITE, Format
from pymodel.arith.scalars import BitExact
from pymodel.arith.stimulus import corners, random_pairs
from pymodel.compile.kernel import Kernel, record
from pymodel.hardware.board import ARRAY_SIZES, FIRST, BoardArray, BoardEngine, connected, done
from pymodel.hardware.cosim import array as cosim_array
from pymodel.hardware.cosim.robot import in_hardware
from pymodel.hardware.link import LinkError
from pymodel.hardware.places import robot_file as shipped_robot
from pymodel.hardware.places import scenario_file as shipped_scenario
from pymodel.hardware.step_array import rtl_parameters as array_parameters
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.hardware.waiting import AnswerError
from pymodel.machine.isa import Location, ProgramError
from pymodel.machine.registers import Home
from pymodel.machine.stream_registers import header
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, robot_calls
from pymodel.runs.array_runs import prepare_array
from pymodel.runs.engine_calls import prepare_call
from pymodel.runs.input_error import InputError

MINUTE_S = 60.0
SEEDS, ALL_BITS = 1 << 31, 0xFFFF_FFFF


@dataclass(frozen=True)
class Sizes:
    """How much of everything.

    Attributes
    ----------
    scenarios
        Name -> steps.
    robot, functions, streamed, calls
        A robot, its functions, those on an array, and calls of each.
    operands
        Of each unit: so many corners of the format, and so many random ones.
    """

    scenarios: Mapping[str, int]
    robot: str
    functions: Sequence[str]
    streamed: Sequence[str]
    calls: int
    operands: int


WHOLE = Sizes(
    {"double_pendulum": 1000, "four_bar": 500, "five_bar": 200, "tree": 200},
    "iiwa14",
    ("ID", "FD"),
    ("ID", "FD", "diFD"),
    20,
    192,
)
SHORT = Sizes({"double_pendulum": 2}, "iiwa14", (), (), 1, 8)

#: What an engine's float units do with a pair, by the name of the part.
UNITS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda arithmetic, a, b: a + b,
    "mul": lambda arithmetic, a, b: a * b,
    "recip": lambda arithmetic, a, b: arithmetic.recip(a),
    "sin": lambda arithmetic, a, b: arithmetic.sincos(a)[0],
    "cos": lambda arithmetic, a, b: arithmetic.sincos(a)[1],
}
UNARY = ("recip", "sin", "cos")
Board = BoardEngine | BoardArray
SLOTS = 8  # pairs of a call
MOST_STOPS = 8  # calls that a result ends which is not finite

Part = Callable[[np.random.Generator], tuple[int, str]]


@dataclass
class _Report:
    """What is sent to us.

    Attributes
    ----------
    about
        Versions, port, engine, seed.
    parts
        Of each its name, round, words and seconds; `differs` has the first word that does.
    """

    about: dict[str, Any]
    parts: list[dict[str, Any]] = field(default_factory=list)

    def write(self, path: Path, engine: Board) -> None:
        """Write the file."""
        figures = {
            "identical": not self.problems,
            "words": sum(part["words"] for part in self.parts),
            "frames": engine.link.sent,
            "frames_again": engine.link.again,
        }
        path.write_text(json.dumps({**self.about, **figures, "parts": self.parts}, indent=1) + "\n")

    @property
    def problems(self) -> int:
        """Parts that differ, or ended the line."""
        return sum("differs" in part for part in self.parts)


def board(asked: Asked) -> int:
    """What `hdca board selftest` does.

    Returns
    -------
    int
        0, or 1 if anything differs from the model, or the board falls silent.

    Raises
    ------
    InputError
        If there is no board, or no place for the report.
    """
    path, sizes = Path(asked.report), SHORT if asked.short else WHOLE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise InputError(f"--report {path}: {error.strerror}") from None
    with connected(asked.port, asked.baud, asked.wait) as engine:
        report = _Report(_about(asked, engine))
        for name, value in _shown(report.about):
            print(f"{name:12} {value}")
        start = time.monotonic()
        try:
            _rounds(asked, engine, sizes, report, start)
        except LinkError as error:
            report.parts.append({"name": "line", "words": 0, "differs": str(error)})
            print(error, file=sys.stderr)
        report.write(path, engine)
        print(f"{'line':12} {engine.link.sent} frames, {engine.link.again} of them again")
    words = sum(part["words"] for part in report.parts)
    print(f"{'report':12} {path}")
    if report.problems:
        print(f"{report.problems} of {len(report.parts)} parts differ", file=sys.stderr)
        return DIFFERS
    print(f"{len(report.parts)} parts, {words} words: bit-identical to the model")
    return DONE


def _rounds(asked: Asked, engine: Board, sizes: Sizes, report: _Report, start: float) -> None:
    """Do all parts, until the minutes are over: in the first round a line each, then one a round.

    What differs has a line in every round.
    """
    wanted_s, number = MINUTE_S * asked.minutes, 0
    parts = dict(_parts(asked, engine, sizes))
    while not number or time.monotonic() - start < wanted_s:
        words = 0
        for index, (name, part) in enumerate(parts.items()):
            began = time.monotonic()
            try:
                count, wrong = part(np.random.default_rng([asked.seed, number, index]))
            except ProgramError as error:  # a board may be smaller than ours
                if not number:
                    print(f"{name:20} left out: {error}", flush=True)
                continue
            except (AssertionError, ValueError) as error:  # words that nobody has asked for
                count, wrong = 0, f"{type(error).__name__}: {error}"
            seconds = round(time.monotonic() - began, 3)
            row = {"name": name, "round": number, "words": count, "seconds": seconds}
            report.parts.append(row | ({"differs": wrong} if wrong else {}))
            words += count
            if wrong or not number:
                said = wrong or f"{count} words identical, {seconds:.2f} s"
                print(f"{name:20} {said}", flush=True)
        number += 1
        if wanted_s:
            minutes = (time.monotonic() - start) / MINUTE_S
            print(
                f"round {number:<14} {words} words, {minutes:.1f} of {asked.minutes} min",
                flush=True,
            )


def _about(asked: Asked, engine: Board) -> dict[str, Any]:
    from pymodel.app.command import version as own

    is_array = isinstance(engine, BoardArray)
    names = (*FIRST, "LANES", *(("ARRAY", *ARRAY_SIZES) if is_array else ("FILE_DEPTH",)))
    parameters = array_parameters if is_array else rtl_parameters
    return {
        "hdca": own(),
        "python": platform.python_version(),
        "pyserial": version("pyserial"),
        "numpy": version("numpy"),
        "system": platform.platform(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "port": asked.port,
        "baud": asked.baud,
        "seed": asked.seed,
        "registers": {name: f"{done(engine.read(name)):#010x}" for name in names},
        "array" if is_array else "engine": parameters(engine.machine),
    }


def _shown(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in about.items():
        inner = value.items() if isinstance(value, dict) else ()
        yield name, ", ".join(f"{key} {x}" for key, x in inner) if inner else str(value)


def _parts(asked: Asked, engine: Board, sizes: Sizes) -> Iterator[tuple[str, Part]]:
    """Name and work of each part, which gives words and what differs."""
    if isinstance(engine, BoardArray):
        yield "registers", partial(_array_registers, engine)
        yield "streams", partial(_streams, engine)
        for name in UNITS:
            yield f"unit {name}", partial(_unit_streamed, engine, name, sizes.operands)
        for name in sizes.streamed:
            yield f"{sizes.robot} {name}", partial(_robot_streamed, asked, engine, sizes, [name])
        if len(sizes.streamed) > 1:
            each = partial(_robot_streamed, asked, engine, sizes, sizes.streamed)
            yield f"{sizes.robot} in one run", each
        return
    yield "registers", partial(_registers, engine)
    for name in UNITS:
        yield f"unit {name}", partial(_unit, engine, name, sizes.operands)
    for name, steps in sizes.scenarios.items():
        yield f"run {name}", partial(_run, asked, engine, name, steps)
    for name in sizes.functions:
        yield f"{sizes.robot} {name}", partial(_robot, asked, engine, sizes, name)


def _registers(engine: BoardEngine, rng: np.random.Generator) -> tuple[int, str]:
    """Random bits into all registers, and back."""
    machine = engine.machine
    depth = machine.contexts * machine.depth
    places = [Location(bank, at) for bank in range(machine.banks) for at in range(depth)]
    bits = rng.integers(1 << machine.fmt.width, size=len(places)).tolist()
    wanted = dict(zip(places, bits, strict=True))
    done(engine.write_registers(wanted))
    found = done(engine.read_registers(places))
    for place in places:
        if found[place] != wanted[place]:
            return len(places), f"{place}: {found[place]:#x}, expected {wanted[place]:#x}"
    return len(places), ""


def _array_registers(engine: BoardArray, rng: np.random.Generator) -> tuple[int, str]:
    """Random bits into all registers of an array that only software writes, and back."""
    held = [each for each in engine.map.registers if each.home == Home.HELD]
    words, wrong = 0, ""
    for register in held:
        bits = sum(each.mask for each in register.fields) or ALL_BITS
        wanted = [int(x) & bits for x in rng.integers(1 << 32, size=register.words)]
        done(engine.write(register.name, *wanted))
        found = done(engine.read(register.name))
        found = found if isinstance(found, list) else [found]
        words += len(wanted)
        if found != wanted:
            pairs = [
                f"{x:#x}, expected {y:#x}" for x, y in zip(found, wanted, strict=True) if x != y
            ]
            wrong = wrong or f"{register.name}: {pairs[0]}"
    return words, wrong


def _streams(engine: BoardArray, rng: np.random.Generator) -> tuple[int, str]:
    """A FIFO filled to its last word: the next one is refused, until all is written off."""
    streams = engine.blocks
    streams.reset()
    room, waiting = streams.levels()
    words = [int(x) for x in rng.integers(1 << 32, size=room)]
    streams.put([header(0, room), *words[:-1]])  # the array takes none: nothing runs
    wrong = "" if not waiting else f"{waiting} words to read, expected none"
    for left in (1, 0):  # the header has left the FIFO
        found = streams.levels()
        if found != (left, 0):
            wrong = wrong or f"room for {found[0]} words, expected {left}"
        if left:
            streams.put(words[-1:])
    for refused in (lambda: streams.put([0]), lambda: streams.get(1)):
        try:
            refused()
            wrong = wrong or "an access of the streams that must be refused was not"
        except AnswerError:
            pass
    streams.reset()
    if streams.levels() != (room, 0):
        wrong = wrong or f"room for {streams.levels()[0]} words, expected {room}"
    return room, wrong


# --- float units ----------------------------------------------------------------------------------


def _unit(
    engine: BoardEngine, unit: str, operands: int, rng: np.random.Generator
) -> tuple[int, str]:
    """A program of one unit's operations, on corners of the format and random numbers.

    Pairs whose result is finite go together; each other one stops its call, as it must.
    """
    fmt = engine.machine.fmt
    names, kernel = _slots(unit)
    call = prepare_call(engine.machine, kernel)
    finite: list[tuple[int, int]] = []
    stopping: list[tuple[int, int]] = []
    for pair in _pairs(fmt, operands, rng):
        (stopping if _stops(fmt, _result(fmt, unit, *pair)) else finite).append(pair)
    words, wrong = 0, ""
    together = [finite[at : at + SLOTS] for at in range(0, len(finite), SLOTS)]
    alone = [[pair] for pair in stopping[:MOST_STOPS]]
    for groups in (together, alone):
        batch = [_inputs(fmt, names, group) for group in groups]
        if not batch:
            continue
        calls = done(in_hardware(engine, call, batch, lambda count, total: None))
        words += calls.words_compared + len(groups) * (groups is alone)
        wrong = wrong or _differs(fmt, unit, batch, calls.results)
        flags = 0
        for inputs in batch:
            flags |= _flags(fmt, unit, inputs)
        if groups is together and calls.flags != flags:
            wrong = wrong or f"float flags {calls.flags:#04x}, expected {flags:#04x}"
    return words, wrong


def _unit_streamed(
    array: BoardArray, unit: str, operands: int, rng: np.random.Generator
) -> tuple[int, str]:
    """The same on an array, which goes on where a result is not finite, and says so of the call."""
    fmt = array.machine.fmt
    names, kernel = _slots(unit)
    prepared = prepare_array(array.machine, {unit: kernel})
    pairs = _pairs(fmt, operands, rng)
    groups = [pairs[at : at + SLOTS] for at in range(0, len(pairs), SLOTS)]
    batch = [_inputs(fmt, names, group) for group in groups]
    calls = [(unit, inputs) for inputs in batch]
    rows, outcome = done(cosim_array.run(array, prepared, calls, lambda count, total: None))
    wrong, flags = "", 0
    for inputs, (found,), given in zip(batch, rows, outcome.given, strict=True):
        wants = [_slot(fmt, unit, inputs, k) for k in range(SLOTS)]
        for k, (want, raised) in enumerate(wants):
            flags |= raised
            both_nan = fmt.is_nan(want) and fmt.is_nan(found[f"y{k}"])  # of either sign
            if found[f"y{k}"] != want and not both_nan:
                wrong = wrong or _said(unit, inputs, k, found[f"y{k}"], want)
        faulty = any(_stops(fmt, result) for result in wants)
        if given.fault != faulty:
            said = "not finite, without" if faulty else "finite, with"
            wrong = wrong or f"{unit} of {_operands(inputs.values())}: {said} the fault bit"
    if outcome.flags != flags:
        wrong = wrong or f"float flags {outcome.flags:#04x}, expected {flags:#04x}"
    return sum(map(len, (row for (row,) in rows))), wrong


def _slots(unit: str) -> tuple[list[str], Kernel]:
    """Names of the operands of a unit's operations, and these."""
    function = UNITS[unit]

    def slots(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            f"y{k}": function(arithmetic, values[f"a{k}"], values.get(f"b{k}"))
            for k in range(SLOTS)
        }

    names = [f"{side}{k}" for k in range(SLOTS) for side in ("a" if unit in UNARY else "ab")]
    return names, record(slots, names)


def _operands(words: Iterable[int]) -> str:
    return ", ".join(f"{x:#x}" for x in words)


def _said(unit: str, inputs: Mapping[str, int], k: int, found: int, want: int) -> str:
    operands = _operands(inputs[x] for x in (f"a{k}", f"b{k}") if x in inputs)
    return f"{unit} of {operands}: {found:#x}, expected {want:#x}"


def _pairs(fmt: Format, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    a, b = (rng.choice(np.array(corners(fmt), dtype=np.uint64), count) for _ in range(2))
    c, d = random_pairs(fmt, rng, count)
    first, second = np.concatenate([a, c]), np.concatenate([b, d])
    return [(int(x), int(y)) for x, y in zip(first, second, strict=True)]


def _inputs(fmt: Format, names: Sequence[str], pairs: Sequence[tuple[int, int]]) -> dict[str, int]:
    """The inputs of a call: slots that are left take ones."""
    filled = [*pairs, *[(fmt.one, fmt.one)] * (SLOTS - len(pairs))]
    given = {
        f"{side}{k}": x for k, pair in enumerate(filled) for side, x in zip("ab", pair, strict=True)
    }
    return {name: given[name] for name in names}


def _result(fmt: Format, unit: str, a: int, b: int) -> tuple[int, int]:
    """Bits and flags of the model."""
    arithmetic = BitExact(fmt)
    found = UNITS[unit](arithmetic, arithmetic.scalar(a), arithmetic.scalar(b))
    return found.bits, arithmetic.flags


def _stops(fmt: Format, result: tuple[int, int]) -> bool:
    """Whether bits and flags of a result end a run."""
    bits, flags = result
    return bits & fmt.inf == fmt.inf or bool(flags & NOT_FINITE)


def _slot(fmt: Format, unit: str, inputs: Mapping[str, int], k: int) -> tuple[int, int]:
    return _result(fmt, unit, inputs[f"a{k}"], inputs.get(f"b{k}", fmt.one))


def _flags(fmt: Format, unit: str, inputs: Mapping[str, int]) -> int:
    found = 0
    for k in range(SLOTS):
        found |= _slot(fmt, unit, inputs, k)[1]
    return found


def _differs(
    fmt: Format,
    unit: str,
    batch: Sequence[Mapping[str, int]],
    results: Sequence[Mapping[str, int] | None],
) -> str:
    """The first word that is not the model's, with its operands."""
    for inputs, found in zip(batch, results, strict=True):
        stops = any(_stops(fmt, _slot(fmt, unit, inputs, k)) for k in range(SLOTS))
        if stops != (found is None):
            said = "did not stop" if stops else "stopped"
            return f"{unit} of {_operands(inputs.values())}: {said}"
        for k in range(SLOTS if found else 0):
            want, _ = _slot(fmt, unit, inputs, k)
            if found is not None and found[f"y{k}"] != want:
                return _said(unit, inputs, k, found[f"y{k}"], want)
    return ""


# --- runs and functions ---------------------------------------------------------------------------


def _run(
    asked: Asked, engine: BoardEngine, name: str, steps: int, rng: np.random.Generator
) -> tuple[int, str]:
    scenario = load(shipped_scenario(name), steps)
    options: dict[str, Any] = {"base": "ldl", "rebase": 0, "project": 0}
    run = engine_runs.prepare(engine.machine, [scenario], **options)
    outcome, _, wrong = run_on_board(asked, engine, run, options)
    return len(outcome.trace), wrong


def _robot(
    asked: Asked, engine: BoardEngine, sizes: Sizes, function: str, rng: np.random.Generator
) -> tuple[int, str]:
    robot = reduced(robot_file.load(shipped_robot(sizes.robot), snap=SNAP))
    states = robot_calls.random_states(robot, function, sizes.calls, int(rng.integers(SEEDS)))
    _, calls, wrong = calls_on_board(asked, engine, robot, function, states)
    return calls.words_compared, wrong


def _robot_streamed(
    asked: Asked,
    array: BoardArray,
    sizes: Sizes,
    functions: Sequence[str],
    rng: np.random.Generator,
) -> tuple[int, str]:
    """Calls of functions, one after the other in one run."""
    robot = reduced(robot_file.load(shipped_robot(sizes.robot), snap=SNAP))
    seeds = rng.integers(SEEDS, size=len(functions))
    tables = {
        name: robot_calls.random_states(robot, name, sizes.calls, int(seed))
        for name, seed in zip(functions, seeds, strict=True)
    }
    _, rows, wrong, _ = streamed(asked, array, robot, tables)
    return sum(len(row) for (row,) in rows), wrong
