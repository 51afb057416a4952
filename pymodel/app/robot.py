"""The subcommand `robot`: a function of a robot on random states, compared.

The model is compared with float64, native code and the engine's model with the model, the simulated
step engine and array with the text bit for bit, all with Pinocchio where it is installed; a robot
of an MJCF with MuJoCo, too, but for derivatives, which MuJoCo has not. Leaves inputs.csv,
outputs.csv and summary.json, and view.html on request.

Exit status: 0 done, 1 a result is not finite or the hardware differs, 2 bad input, 130 Ctrl-C.
"""

import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.algorithms.rigid_body.functions import columns, suited
from pymodel.algorithms.unused_options import refuse_unused_of_robot
from pymodel.app.engines import check_word, engine
from pymodel.app.hardware_run import usable_simulator, watched
from pymodel.app.options import ARRAY, BOARD, ENGINE, NATIVE, TWIN, Asked
from pymodel.arith.fp import Format
from pymodel.compile.robot_kernels import count, evaluable, executed, recorded, told_of
from pymodel.compile.schedule import bounds
from pymodel.hardware.bench import Bench
from pymodel.hardware.cosim import array as cosim_array
from pymodel.hardware.cosim import robot as cosim_robot
from pymodel.hardware.cosim.calls import FILE, Calls
from pymodel.hardware.simulators import simulator_version
from pymodel.hardware.step_array import rtl_parameters as array_parameters
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import Robot, at_link, shown
from pymodel.runs import robot_calls, scene, view
from pymodel.runs.array_runs import Array, fitting_array
from pymodel.runs.files import SUMMARY, VIEW
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import PATIENCE, progress
from pymodel.runs.summary import exceptions, flag_names, write_summary
from pymodel.runs.whole import replacing

INPUTS, OUTPUTS = "inputs.csv", "outputs.csv"
DONE, NO = 0, 1  # exit status
SAME = 1e-9  # relative difference of float64 to a peer that rounding explains
PEERS = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}
#: Calls of native code that are compared with the model; fewer where it would evaluate more than so
#: many operations, which take it about a minute. One always is.
ROWS_COMPARED, OPERATIONS_COMPARED = 16, 4_000_000
#: Function -> the one whose results' size is that of the terms in it.
TERMS = {"dID": "ID", "diFD": "ID", "dFD": "FD"}
UNITS = {"mul": "x", "add": "+", "rec": "1/x", "sincos": "sin cos"}


class Hardware(NamedTuple):
    """A step engine or array, and what simulates it."""

    machine: Machine
    simulator: str


@dataclass(frozen=True)
class Found:
    """What the calls gave.

    Attributes
    ----------
    table : dict
        As that of :class:`pymodel.runs.robot_calls.Answer`.
    flags : int
    figures : dict
        Entries of the summary that only this target has.
    problem : str
        What went wrong; empty if nothing.
    """

    table: robot_calls.Table
    flags: int
    figures: dict[str, Any]
    problem: str = ""


def run(options: Asked) -> int:
    """Evaluate, compare, print and leave the files.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    if options.view:
        view.require_viewer()
    robot = robot_file.load(
        options.urdf,
        options.floating,
        options.damping,
        snap=options.snap,
        gravity=options.gravity,
        mimic=options.mimic,
        friction=options.friction,
    )
    fixed = options.fixed_acceleration
    robot = robot_file.with_fixed_acceleration(robot, fixed, "--fixed-acceleration")
    own = options.friction, options.link, fixed
    refuse_unused_of_robot(
        robot, [options.function], options.damping, 0.0, options.gravity, "--", *own
    )
    if options.link is not None:
        robot = at_link(robot, options.link, "--link")
    suited(robot, options.function)  # refuses before anything is written
    hardware = None
    if options.target in (ENGINE, ARRAY):
        machine = engine(options.arithmetic, options.lanes)
        hardware = Hardware(machine, usable_simulator(options.simulator))
    elif options.target == TWIN:
        engine(options.arithmetic, options.lanes)  # refuses before anything is written
    names = (INPUTS, OUTPUTS, SUMMARY, FILE, VIEW)
    with replacing(Path(options.out), names, last=SUMMARY) as new:
        return _run(options, robot, hardware, new)


def _run(options: Asked, robot: Robot, hardware: Hardware | None, out: Path) -> int:
    small, function = suited(robot, options.function), options.function
    with _progress(options, "recording"):
        if options.target in (TWIN, ENGINE, ARRAY, BOARD):
            recorded(small, function)  # refuses what is too long for a program
        states = robot_calls.random_states(small, function, options.rows, options.seed)
        robot_calls.write_table(out / INPUTS, states)
        if options.view:
            postures = np.stack([states[name] for name in columns(robot, "q")], axis=-1)
            view.write(scene.of_robot(robot, postures), out / VIEW)
            print(f"for a browser: {Path(options.out) / VIEW}")
        exact = robot_calls.call(small, function, states).table
    found: Found | None
    if options.target == NATIVE:
        found = _natively(options, small, states)
    elif options.target == TWIN:
        found = _on_twin(options, small, states)
    elif options.target == BOARD:
        found = _on_board(options, small, states)
    elif hardware is None:
        found = _on_model(options, small, states)
    elif options.target == ARRAY:
        found = _on_array(options, small, hardware, out)
    else:
        found = _on_engine(options, small, hardware, out)
    if found is None:
        return NO
    robot_calls.write_table(out / OUTPUTS, found.table)
    summary = _summary(options, robot, small) | found.figures | {"flags": flag_names(found.flags)}
    scale = _scale(small, function, states)
    summary |= _errors(robot, function, states, found.table, exact, scale, options.arithmetic)
    finite = bool(np.isfinite(list(found.table.values())).all())
    write_summary(out / SUMMARY, summary | {"finite": finite})
    _print(summary, robot)
    return _verdict(options, summary, found, finite)


def _progress(
    options: Asked, before: str
) -> contextlib.AbstractContextManager[Callable[[int, int], None]]:
    name = f"{options.function} of {Path(options.urdf).name}"
    return progress(name, before, unit="calls", patience=PATIENCE)


def _verdict(options: Asked, summary: Mapping[str, Any], found: Found, finite: bool) -> int:
    """The last lines, and the exit status."""
    problems = [found.problem] if found.problem else []
    if not finite:
        problems.append(f"{options.out}/{OUTPUTS}: a result is infinite or not a number")
    for peer, name in PEERS.items():
        differs = summary.get(f"float64_error_to_{peer}") or 0.0  # None: no call is finite
        if differs > SAME and not options.snap:
            problems.append(f"float64 differs from {name}")
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr)
    if summary.get("words_compared") and not found.problem:
        print(f"{options.rows} calls, {_compared(options, summary)}")
    return NO if problems else DONE


def _compared(options: Asked, summary: Mapping[str, Any]) -> str:
    words = f"{summary['words_compared']} words"
    if options.target == BOARD:
        return f"{words}: bit-identical to the model"
    if options.target in (ENGINE, ARRAY):
        return f"{words}: identical to the text"
    first = summary["rows_compared"]
    return f"the {words} of the first {first}: identical to the model"


def _on_model(options: Asked, robot: Robot, states: robot_calls.Table) -> Found:
    """Evaluate on the model."""
    with _progress(options, "recording") as update:
        answer = robot_calls.call(robot, options.function, states, options.arithmetic, watch=update)
    return Found(answer.table, answer.flags, {})


def _natively(options: Asked, robot: Robot, states: robot_calls.Table) -> Found:
    """Evaluate as native code; the first rows are compared with the model, bit for bit."""
    asked = (robot, options.function)
    answer = robot_calls.call(*asked, states, options.arithmetic, target=NATIVE)
    print(*answer.warnings, sep="\n", end="\n" * bool(answer.warnings), file=sys.stderr)
    rows = _rows_compared(options, robot)
    first = {name: column[:rows] for name, column in states.items()}
    with _progress(options, "comparing") as update:
        model = robot_calls.call(*asked, first, options.arithmetic, watch=update).table
    same = all(
        np.array_equal(_bits(answer.table[name][: len(x)]), _bits(x)) for name, x in model.items()
    )
    words = sum(map(len, model.values()))
    problem = "" if same else "native code differs from the model"
    figures = {
        "rows_compared": rows,
        "words_compared": words,
        "identical": same,
        "by_numpy": answer.by_numpy,
    }
    return Found(answer.table, answer.flags, figures, problem)


def _rows_compared(options: Asked, robot: Robot) -> int:
    operations = executed(evaluable(robot, options.function))
    return min(options.rows, ROWS_COMPARED, max(OPERATIONS_COMPARED // max(operations, 1), 1))


def _on_twin(options: Asked, robot: Robot, states: robot_calls.Table) -> Found:
    """Evaluate on the engine's model; the first rows are compared with the text, bit for bit."""
    machine = engine(options.arithmetic, options.lanes)
    with _progress(options, "scheduling") as update:
        call = robot_calls.prepare(machine, robot, options.function, machine.fmt)
        check_word(call.program.machine, options.lanes)
        asked = (robot, options.function)
        answer = robot_calls.call(*asked, states, options.arithmetic, TWIN, machine, update)
        rows = _rows_compared(options, robot)
        first = {name: column[:rows] for name, column in states.items()}
        model = robot_calls.call(*asked, first, options.arithmetic, watch=update).table
    print(*answer.warnings, sep="\n", end="\n" * bool(answer.warnings), file=sys.stderr)
    expected = np.array([*model.values()])
    found = np.array([answer.table[name][:rows] for name in model])
    finite = np.isfinite(expected).all(axis=0)  # the engine ends a call at what is not
    same = np.array_equal(found[:, finite].view(np.uint64), expected[:, finite].view(np.uint64))
    same = same and np.array_equal(np.isfinite(found).all(axis=0), finite)
    figures = {
        "lanes": options.lanes,
        "rows_compared": rows,
        "words_compared": int(finite.sum()) * len(model),
        "identical": same,
        "cycles": call.program.main,
        "bounds": bounds(machine, call.kernel),
        "registers_of_a_bank": max(call.program.registers),
        "word_bits": call.program.machine.word_w,
    }
    problem = "" if same else "the engine's model differs from the model"
    return Found(answer.table, answer.flags, figures, problem)


def _bits(column: np.ndarray) -> np.ndarray:
    """Bits of float64 numbers; a NaN is a NaN, as a processor gives it any sign."""
    return np.where(np.isnan(column), np.nan, column).view(np.uint64)


def _on_engine(options: Asked, robot: Robot, hardware: Hardware, out: Path) -> Found | None:
    """Simulate the engine, which compares every word with the text; None if that fails."""
    fmt = hardware.machine.fmt
    with _progress(options, "scheduling"):
        call = robot_calls.prepare(hardware.machine, robot, options.function, fmt)
    machine = call.program.machine
    check_word(machine, options.lanes)
    job = _job(options, out) | {"function": options.function}
    simulated = _simulated(
        options,
        robot,
        hardware,
        out,
        (cosim_robot.BENCH, cosim_robot.CONFIG, cosim_robot.TEST),
        rtl_parameters(machine),
        {"calls": [job]},
    )
    if simulated is None:
        return None
    calls, figures, problem = simulated
    figures |= {
        "cycles": call.program.main,
        "cycles_with_start_and_trace": calls.cycles,
        "bounds": bounds(machine, call.kernel),
        "registers_of_a_bank": max(call.program.registers),
        "word_bits": machine.word_w,
    }
    return _found(options, robot, call.outputs, fmt, calls, figures, problem)


def _on_array(options: Asked, robot: Robot, hardware: Hardware, out: Path) -> Found | None:
    """Stream the calls through the simulated array; None if that fails."""
    machine = replace(
        hardware.machine,
        contexts=options.contexts,
        datapaths=options.datapaths,
        rare_logic=int(options.rare_logic),
        **cast(dict[str, Any], cosim_array.STREAMS),
    )
    with _progress(options, "scheduling"):
        kernel = recorded(robot, options.function)
        if not kernel.outputs:
            raise InputError(f"{options.function} of {robot.name}: all results are zero")
        array: Array = fitting_array(machine, {options.function: kernel})
    check_word(array.machine, options.lanes)
    job = _job(options, out) | {"functions": [options.function]}
    simulated = _simulated(
        options,
        robot,
        hardware,
        out,
        (cosim_array.BENCH, cosim_array.CONFIG, cosim_array.TEST),
        array_parameters(array.machine),
        {"jobs": [job], "stalls": options.stalls / 100},
    )
    if simulated is None:
        return None
    calls, figures, problem = simulated
    (program,) = array.programs.values()
    figures |= {
        "contexts": options.contexts,
        "datapaths": options.datapaths,
        "stalls_percent": options.stalls,
        "words": program.main,
        "cycles_of_all_calls": calls.cycles,
        "cycles_per_call": calls.cycles / options.rows,
        "cycles_per_call_of_full_batches": program.main / options.datapaths,
        "registers_of_a_bank": max(program.registers),
        "word_bits": array.machine.word_w,
    }
    outputs = array.functions[options.function].outputs
    return _found(options, robot, outputs, machine.fmt, calls, figures, problem)


def _on_board(options: Asked, robot: Robot, states: robot_calls.Table) -> Found | None:
    """Have a board do the calls, and compare every word with the text; None if it gives none."""
    from pymodel.app.board_run import robot_on_board

    try:
        calls, outputs, fmt, figures, problem = robot_on_board(options, robot, states)
    except AssertionError as error:  # an answer that may not be
        print(error, file=sys.stderr)
        return None
    return _found(options, robot, outputs, fmt, calls, figures, problem)


def _job(options: Asked, out: Path) -> dict[str, Any]:
    """What both benches of robots are told."""
    return {
        "robot": str(Path(options.urdf).resolve()),
        "floating": options.floating,
        "snap": options.snap,
        "gravity": options.gravity,
        "mimic": options.mimic,
        "damping": options.damping,
        "friction": options.friction,
        "fixed_acceleration": list(options.fixed_acceleration),
        "link": options.link,
        "inputs": str((out / INPUTS).resolve()),
    }


def _simulated(
    options: Asked,
    robot: Robot,
    hardware: Hardware,
    out: Path,
    bench: tuple[Bench, str, str],
    params: Mapping[str, int],
    settings: Mapping[str, Any],
) -> tuple[Calls, dict[str, Any], str] | None:
    """Run a bench, its configuration and test: its calls, figures, and what went wrong."""
    which, config, test = bench
    row = watched(
        which,
        hardware.simulator,
        config,
        f"{options.function} of {robot.name}",
        unit="calls",
        seed=options.seed,
        testcase=test if options.waves else None,
        waves=options.waves,
        params=params,
        settings={**settings, "out": str(out.resolve())},
        command=options.again(simulator=hardware.simulator),
    )
    calls = Calls.read(out)
    if calls is None:
        print(row["message"], file=sys.stderr)
        return None
    Calls.forget(out)
    identical = row["result"] == "pass"
    figures = {
        "simulator": hardware.simulator,
        "versions": {hardware.simulator: simulator_version(hardware.simulator)},
        "lanes": options.lanes,
        "words_compared": calls.words_compared,
        "identical": identical,
    }
    return calls, figures, "" if identical else row["message"]


def _found(
    options: Asked,
    robot: Robot,
    outputs: Iterable[str],
    fmt: Format,
    calls: Calls,
    figures: dict[str, Any],
    problem: str,
) -> Found:
    values = robot_calls.floats_of(fmt, outputs, calls.results)
    table = robot_calls.full_table(robot, options.function, values, options.rows)
    return Found(table, calls.flags, figures, problem)


def _summary(options: Asked, robot: Robot, small: Robot) -> dict[str, Any]:
    """What was evaluated, and what it costs."""
    found = count(small, options.function)
    return {
        "robot": robot.name,
        "source": options.urdf,
        "degrees_of_freedom": robot.nv,
        "floating": robot.floating,
        "snap": robot.snap,
        "gravity": robot.gravity_vector.tolist(),
        "damping": options.damping,
        "friction": options.friction,
        "fixed_acceleration": list(options.fixed_acceleration),
        "notes": (*robot.notes, *told_of(robot)),
        "function": options.function,
        "link": options.link,
        "method": found.method,
        "target": options.target,
        "arith": options.arithmetic,
        "rows": options.rows,
        "seed": options.seed,
        "operations": {op: getattr(found, op) for op in ("mul", "add", "rec", "sincos")},
        "longest_path": found.path,
    }


def _errors(
    robot: Robot,
    function: str,
    states: robot_calls.Table,
    found: robot_calls.Table,
    exact: robot_calls.Table,
    scale: float,
    arithmetic: str,
) -> dict[str, float | None]:
    """Errors of the results and of float64, those to peers where they are installed."""
    errors = {}
    if arithmetic != "float64":
        errors["error_to_float64"] = _error(found, exact, scale)
    for peer, reference in _references(robot, function, states).items():
        if arithmetic != "float64":
            errors[f"error_to_{peer}"] = _error(found, reference, scale)
        errors[f"float64_error_to_{peer}"] = _error(exact, reference, scale)
    return errors


def _references(
    robot: Robot, function: str, states: robot_calls.Table
) -> dict[str, robot_calls.Table]:
    """What peers give: Pinocchio if it is installed, MuJoCo of an MJCF if it has the function."""
    found = {}
    with contextlib.suppress(ModuleNotFoundError):
        from pymodel.runs import pinocchio_reference

        if function not in pinocchio_reference.LEFT_OUT:
            found["pinocchio"] = pinocchio_reference.call(robot, function, states)
    if robot_file.root_element(robot.source) == robot_file.MJCF:
        from pymodel.runs import mujoco_reference

        rubs = any(link.friction and link.friction_scale for link in robot.links)
        if function in mujoco_reference.EVALUATED and not rubs:
            found["mujoco"] = mujoco_reference.call(robot, function, states)
    return found


def _scale(robot: Robot, function: str, states: robot_calls.Table) -> float:
    """Size of the terms that may cancel in derivatives: the largest torque or acceleration.

    Of other functions 0: their results have no reason to be zero.
    """
    if function not in TERMS:
        return 0.0
    given = {name: states[name] for name in robot_calls.input_columns(robot, TERMS[function])}
    terms = robot_calls.call(robot, TERMS[function], given).table
    minv = [column for name, column in states.items() if name.startswith("minv")]
    return float(np.abs(list(terms.values())).max() * (np.abs(minv).max() if minv else 1.0))


def _error(found: robot_calls.Table, expected: robot_calls.Table, scale: float) -> float | None:
    """Largest error of a finite row, relative to its largest entry; absolute if all are zero.

    A row of what rounding leaves of terms that cancel is zero: its error is relative to these, of
    size `scale`. None if no row is finite.
    """
    rows, wanted = (np.array([table[name] for name in expected]) for table in (found, expected))
    finite = np.isfinite(rows).all(axis=0)
    if not finite.any():
        return None
    error = np.abs(rows - wanted)[:, finite].max(axis=0)
    largest = np.abs(wanted)[:, finite].max(axis=0) if rows.any() else np.ones_like(error)
    return float((error / np.where(largest > SAME * scale, largest, scale)).max())


def _print(summary: Mapping[str, Any], robot: Robot) -> None:
    """The table for the terminal."""
    operations = summary["operations"]
    rows = [
        ("robot", str(robot)),
        *(("", note) for note in (*robot.notes, *told_of(robot))),
        ("function", " by ".join(filter(None, (summary["function"], summary["method"])))),
        *([("link", shown(summary["link"]))] if summary["link"] else []),
        (
            "operations",
            ", ".join(f"{n} {UNITS[op]}" for op, n in operations.items() if n) or "none",
        ),
        ("longest path [cycles]", str(summary["longest_path"])),
    ]
    if "cycles" in summary:
        both, traced = summary["bounds"]["both"], summary.get("cycles_with_start_and_trace")
        more = f" ({traced} with start and trace)" if traced else ""
        rows += [
            ("lanes", summary["lanes"]),
            ("cycles", f"{summary['cycles']}{more}"),
            ("lower bound of any schedule", str(both)),
            (
                "program word, registers per bank",
                f"{summary['word_bits']} bits, {summary['registers_of_a_bank']}",
            ),
        ]
    elif "words" in summary:
        held = f"streams held back in {summary.get('stalls_percent')} % of the cycles"
        paced = "the serial line feeds the streams" if summary["target"] == BOARD else held
        rows += [
            ("lanes, contexts, datapaths", _shape(summary)),
            ("program words", str(summary["words"])),
            ("cycles per call, full batches", f"{summary['cycles_per_call_of_full_batches']:.1f}"),
            (
                "cycles per call, first word in to last word out",
                f"{summary['cycles_per_call']:.1f} ({paced})",
            ),
            (
                "program word, registers per bank",
                f"{summary['word_bits']} bits, {summary['registers_of_a_bank']}",
            ),
        ]
    arithmetic = summary["arith"]
    by_numpy = summary.get("by_numpy", False)
    rows.append(("float exceptions", "not kept" if by_numpy else exceptions(summary["flags"])))
    told = [("error_to_float64", f"max error, {arithmetic} - float64")]
    for peer, name in PEERS.items():
        told.append((f"error_to_{peer}", f"max error, {arithmetic} - {name}"))
        told.append((f"float64_error_to_{peer}", f"max error, float64 - {name}"))
    for key, text in told:
        if key in summary:
            error = summary[key]
            said = (
                "no call is finite"
                if error is None
                else f"{error:.2g}, relative to the largest entry"
            )
            rows.append((text, said))
    title = f"{summary['rows']} calls, {arithmetic} on {'numpy' if by_numpy else summary['target']}"
    table = Table(title=Text(title), show_header=False)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _shape(summary: Mapping[str, Any]) -> str:
    return f"{summary['lanes']}, {summary['contexts']}, {summary['datapaths']}"
