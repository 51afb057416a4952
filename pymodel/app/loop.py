"""The subcommand `loop`: a robot under PD control.

From bent joints to the mirrored posture; compared with float64, and with Pinocchio where it is
installed. Leaves motion.csv, motion.png and summary.json, and view.html on request.

Exit status: 0 done, 1 the run broke off or the hardware differs, 2 bad input, 130 Ctrl-C.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.engines import check_word, engine
from pymodel.app.hardware_run import usable_simulator, watched
from pymodel.app.loop_plot import plot
from pymodel.app.options import ENGINE, MODEL, NATIVE, TWIN, Asked
from pymodel.arith import scalars
from pymodel.compile import native
from pymodel.compile.robot_kernels import told_of
from pymodel.compile.schedule import bounds
from pymodel.hardware.cosim import loop as cosim_loop
from pymodel.hardware.cosim.loop_handover import FILE, LoopHandover
from pymodel.hardware.simulators import simulator_version
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine, Program
from pymodel.machine.model import START_CYCLES
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import HELICAL, PRISMATIC, REVOLUTE
from pymodel.mechanism.units import ANGLE, FORCES, LENGTH
from pymodel.runs import robot_calls, scene, show, view
from pymodel.runs.closed_loop import ClosedLoop, as_floats, bent, prepare, simulate, warnings_of
from pymodel.runs.files import SUMMARY, VIEW
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.summary import flag_names, write_summary
from pymodel.runs.whole import replacing

MOTION, PICTURE = "motion.csv", "motion.png"
DONE, NO = 0, 1  # exit status
PLACES = {
    MODEL: "the model",
    NATIVE: "native code",
    TWIN: "the engine's model",
    ENGINE: "the step engine",
}
QUANTITIES = ("q", "qd", "tau")


def run(options: Asked) -> int:
    """Run, compare, print and leave the files.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    if options.show:
        show.require_display()
    if options.view:
        view.require_viewer()
    given = {"snap": options.snap, "gravity": options.gravity, "mimic": options.mimic}
    loop = bent(robot_file.load(options.urdf, **given), options.steps)
    if options.target in (TWIN, ENGINE):
        engine(options.arithmetic, options.lanes)  # refuses before anything is written
    names = (MOTION, PICTURE, SUMMARY, FILE, VIEW)
    with replacing(Path(options.out), names, last=SUMMARY) as new:
        try:
            if options.target == ENGINE:
                found, figures = _on_engine(options, loop, new)
            elif options.target == TWIN:
                found, figures = _on_twin(options, loop)
            elif options.target == NATIVE:
                found, figures = _natively(options, loop)
            else:
                found, figures = _on_model(options, loop)
        except NonFiniteError as error:
            print(error, file=sys.stderr)
            return NO
        status = _finish(options, loop, new, found, figures)
    if options.show:
        show.show([Path(options.out) / PICTURE])
    return status


def _on_model(options: Asked, loop: ClosedLoop) -> tuple[robot_calls.Table, dict[str, Any]]:
    arithmetic: Any = scalars.parse(options.arithmetic)
    with progress(loop.robot.name) as update:
        rows: list[list[Any]] = simulate(loop, arithmetic, update)
    return loop.table(list(as_floats(arithmetic, rows))), {"flags": flag_names(arithmetic.flags)}


def _natively(options: Asked, loop: ClosedLoop) -> tuple[robot_calls.Table, dict[str, Any]]:
    """Evaluate as native code, step by step, and compare with the model bit for bit."""
    arithmetic: Any = scalars.parse(options.arithmetic)
    if isinstance(arithmetic, scalars.BitExact) and not arithmetic.fmt.has_sincos:
        raise InputError(f"--arith {options.arithmetic}: native code ends at 8/23")
    code = native.build(loop.kernel, options.arithmetic, flags=options.arithmetic != "float64")
    start = (arithmetic.to_float(arithmetic.const(x)) for x in loop.initial.values())
    state, rows, flags = dict(zip(loop.initial, start, strict=True)), [], 0
    with progress(loop.robot.name) as update:
        for step in range(loop.steps + 1):
            if options.arithmetic == "float64":
                found = code.evaluate(state)
            else:
                found, raised = code.evaluate_with_flags(state)
                flags |= raised
            values = {name: float(x[0]) for name, x in found.items()}
            if not np.isfinite([*values.values()]).all():
                raise NonFiniteError(f"step {step}: a result is infinite or not a number")
            rows.append([*state.values(), *(values[name] for name in loop.kernel.outputs)])
            state = {name: values[name] for name in state}
            update(step, loop.steps)
    figures = {"flags": flag_names(flags)} | _identical(loop, arithmetic, rows)
    return loop.table(rows), figures


def _identical(
    loop: ClosedLoop, arithmetic: Any, rows: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """What the comparison of rows with the model gives."""
    model = list(as_floats(arithmetic, simulate(loop, arithmetic)))
    same = np.array_equal(np.array(rows).view(np.uint64), np.array(model).view(np.uint64))
    return {
        "words_compared": sum(map(len, rows)),
        "identical": same,
        "problem": "" if same else "a state or torque differs from the model",
    }


def _on_twin(options: Asked, loop: ClosedLoop) -> tuple[robot_calls.Table, dict[str, Any]]:
    """Run on the cycle-accurate model of the engine, and compare with the model bit for bit."""
    machine = engine(options.arithmetic, options.lanes)
    machine = machine.holding(prepare(machine.boundless, loop).program)
    check_word(machine, options.lanes)
    run = prepare(machine, loop)
    arithmetic = scalars.BitExact(machine.fmt)
    with progress(loop.robot.name, "running", patience=1.0):
        bits, twin = run.on_twin()
    if len(bits) < loop.steps + 1:
        simulate(loop, arithmetic)  # says so where the model breaks off, too
        raise NonFiniteError(f"step {len(bits)}: a result is infinite or not a number")
    rows = [[machine.fmt.to_float(x) for x in row] for row in bits]
    figures = {"flags": flag_names(twin.flags), "lanes": options.lanes}
    figures |= _cycles(machine, loop, run.program) | {"cycles": twin.cycles}
    return loop.table(rows), figures | _identical(loop, arithmetic, rows)


def _cycles(machine: Machine, loop: ClosedLoop, program: Program) -> dict[str, int]:
    """What a step takes on an engine."""
    return {
        "cycles_of_a_step": program.main,
        "bound_of_a_step": bounds(machine, loop.kernel)["both"],
        "cycles_computing": (loop.steps + 1) * program.main + START_CYCLES,
        "registers_of_a_bank": max(program.registers),
    }


def _on_engine(
    options: Asked, loop: ClosedLoop, out: Path
) -> tuple[robot_calls.Table, dict[str, Any]]:
    """Simulate the engine, which compares every state and torque with the model."""
    simulator = usable_simulator(options.simulator)
    machine = engine(options.arithmetic, options.lanes)
    machine = machine.holding(prepare(machine.boundless, loop).program)
    check_word(machine, options.lanes)
    program = prepare(machine, loop).program
    settings = {
        "robot": str(Path(options.urdf).resolve()),
        "snap": options.snap,
        "gravity": options.gravity,
        "mimic": options.mimic,
        "steps": options.steps,
        "out": str(out.resolve()),
    }
    row = watched(
        cosim_loop.BENCH,
        simulator,
        cosim_loop.CONFIG,
        loop.robot.name,
        seed=options.seed,
        testcase=cosim_loop.TEST,
        waves=options.waves,
        params=rtl_parameters(machine),
        settings=settings,
        command=options.again(simulator=simulator),
    )
    left = LoopHandover.read(out)
    if left is None:
        raise InputError(row["message"])
    LoopHandover.forget(out)
    if len(left.rows) < loop.steps + 1:
        simulate(loop, scalars.BitExact(machine.fmt))  # says so where the model breaks off, too
    if not left.rows:
        raise InputError(row["message"])
    to_float = machine.fmt.to_float
    figures = {
        "flags": flag_names(left.flags),
        "simulator": simulator_version(simulator),
        "lanes": options.lanes,
        **_cycles(machine, loop, program),
        "cycles": left.cycles,
        "cycles_computing": left.steps * program.main + START_CYCLES,
        "words_compared": sum(map(len, left.rows)),
        "identical": row["result"] == "pass",
        "problem": "" if row["result"] == "pass" else row["message"],
    }
    return loop.table([[to_float(x) for x in bits] for bits in left.rows]), figures


def _finish(
    options: Asked,
    loop: ClosedLoop,
    out: Path,
    found: robot_calls.Table,
    figures: dict[str, Any],
) -> int:
    """Compare, plot and print."""
    exact = scalars.Float64()
    references = {"float64": loop.table(simulate(loop, exact))} | _pinocchio(loop)
    errors = {
        f"{name}_error_to_{reference}": _largest(loop, name, found, table)
        for reference, table in references.items()
        for name in QUANTITIES
    }
    last = {name: column[-1] for name, column in found.items()}
    rest = max(abs(last[f"q{k}"] - x) for k, x in enumerate(loop.target))
    summary = {
        "robot": loop.robot.name,
        "snap": loop.robot.snap,
        "gravity": loop.robot.gravity_vector.tolist(),
        "source": options.urdf,
        "degrees_of_freedom": loop.robot.nv,
        "target": options.target,
        "arith": options.arithmetic,
        "steps": loop.steps,
        "step_s": loop.step,
        "left_to_the_target": rest,
        **errors,
        **figures,
    }
    robot_calls.write_table(out / MOTION, found)
    write_summary(out / SUMMARY, summary)
    (label, reference), *_ = reversed(references.items())
    title = f"{loop.robot.name} under PD control, {options.arithmetic} on {PLACES[options.target]}"
    plot(loop, found, reference, label, title, out / PICTURE)
    if options.view:
        q = np.stack([found[f"q{k}"] for k in range(loop.robot.nq)], axis=-1)
        view.write(scene.of_robot(loop.robot, q, found["t"], [title]), out / VIEW)
        print(f"for a browser: {Path(options.out) / VIEW}")
    _print(summary, loop)
    for warning in warnings_of(loop, found, references["float64"], options.arithmetic):
        print(warning, file=sys.stderr)
    if "words_compared" not in summary:
        return DONE
    if summary["identical"]:
        words = summary["words_compared"]
        print(f"{loop.steps} steps, {words} words: bit-identical to the model")
        return DONE
    print(summary["problem"], file=sys.stderr)
    return NO


def _pinocchio(loop: ClosedLoop) -> dict[str, robot_calls.Table]:
    """The loop by Pinocchio, if it is installed."""
    try:
        from pymodel.runs import pinocchio_reference
    except ModuleNotFoundError:
        return {}
    return {"Pinocchio": pinocchio_reference.closed_loop(loop)}


def _largest(
    loop: ClosedLoop, name: str, found: robot_calls.Table, expected: robot_calls.Table
) -> float:
    """Largest difference of a quantity, of all joints and steps."""
    columns = [f"{name}{k}" for k in range(loop.robot.nv)]
    rows = len(found["t"])
    return float(max(np.abs(found[c] - expected[c][:rows]).max() for c in columns))


def _units(loop: ClosedLoop) -> dict[str, str]:
    """Quantity -> its unit, or both where some joints turn and others slide."""
    kinds = {link.kind for link in loop.robot.links}
    of_kinds = ((ANGLE, {REVOLUTE, HELICAL}), (LENGTH, {PRISMATIC}))
    found = [unit for unit, some in of_kinds if some & kinds]
    units = found, [f"{unit}/s" for unit in found], [FORCES[unit] for unit in found]
    return {name: " or ".join(each) for name, each in zip(QUANTITIES, units, strict=True)}


def _print(summary: dict[str, Any], loop: ClosedLoop) -> None:
    """The table for the terminal."""
    units = _units(loop)
    rows = [
        ("robot", str(loop.robot)),
        *(("", note) for note in (*loop.robot.notes, *told_of(loop.robot))),
        ("motion", f"{loop.steps} step{'s' * (loop.steps > 1)} of {1e3 * loop.step:g} ms"),
        ("distance to the target", f"{summary['left_to_the_target']:.2g} {units['q']}"),
    ]
    if "cycles" in summary:
        step, bound = summary["cycles_of_a_step"], summary["bound_of_a_step"]
        rows += [
            ("lanes", summary["lanes"]),
            ("cycles per step", f"{step}, lower bound {bound}"),
            ("cycles", f"{summary['cycles']}, of which tracing {_tracing(summary)}"),
            ("registers per bank", str(summary["registers_of_a_bank"])),
        ]
    for reference in ("float64", "Pinocchio"):
        errors = {name: summary.get(f"{name}_error_to_{reference}") for name in QUANTITIES}
        if None not in errors.values():
            said = ", ".join(f"{name} {x:.1e} {units[name]}" for name, x in errors.items())
            rows.append((f"max difference to {reference}", said))
    title = f"PD control, {summary['arith']} on {PLACES[summary['target']]}"
    table = Table(title=Text(title), show_header=False)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _tracing(summary: dict[str, Any]) -> int:
    return summary["cycles"] - summary["cycles_computing"]
