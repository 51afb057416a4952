"""The summary of a run: its numbers by name, as a JSON file and as a table on the terminal."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.arith.fp import FLAG_NAMES
from pymodel.mechanism.scenario import TOLERANCE, Scenario
from pymodel.mechanism.units import coordinate_units, momentum_units, velocity_units
from pymodel.runs import lagrangian
from pymodel.runs.columns import blocks
from pymodel.runs.conserved import ENERGY, conserved, has_dampers
from pymodel.runs.finished import FinishedRun, HardwareResult
from pymodel.runs.input_error import InputError
from pymodel.runs.joint_forces import JointForces
from pymodel.runs.loss import estimated_error
from pymodel.runs.trajectory import Trajectory, TrajectoryError, check_alike
from pymodel.runs.whole import whole_file

Summary = dict[str, Any]

NO_UNIT = "dimensionless (quaternion)"
#: Units of what is compared with the reference, of a mechanism of pins.
UNITS = {"q": "rad", "qd": "rad/s", "p": "N m s", "kinetic": "J", "potential": "J"}
MILLI = 1e3
# What the change of kinetic and potential energy is called: an error only where both are conserved.
ENERGY_NAMES = {True: "max drift of energy", False: "max change of energy (motors, dampers)"}
#: Name of a float flag -> what it means.
EXCEPTIONS = {
    "NV": "invalid",
    "DZ": "division by zero",
    "OF": "overflow",
    "UF": "underflow",
    "NX": "inexact",
}


def flag_names(flags: int) -> list[str]:
    """Names of the sticky float flags that are set, as in the RISC-V `fflags`."""
    return [name for bit, name in FLAG_NAMES.items() if flags & bit]


def exceptions(flags: Sequence[str]) -> str:
    """Float flags for the screen: what each of them means, and its name."""
    return ", ".join(f"{EXCEPTIONS[name]} ({name})" for name in flags) or "none"


def label(summary: Mapping[str, Any]) -> str:
    """What a run is called next to others: its arithmetic, and where it ran if not on the model."""
    target, arithmetic = summary["target"], summary["arith"]
    return arithmetic if target == "model" else f"{target} {arithmetic}"


def compared_units(scenario: Scenario) -> dict[str, str]:
    """Units of what is compared with the reference; of joints all that there are."""
    of_joints = {
        "q": coordinate_units(scenario),
        "qd": velocity_units(scenario),
        "p": momentum_units(scenario),
    }
    return UNITS | {
        name: " or ".join(dict.fromkeys(unit or NO_UNIT for unit in found))
        for name, found in of_joints.items()
    }


def differences(
    run: Trajectory, exact: Trajectory, units: Mapping[str, str] = UNITS
) -> dict[str, dict[str, Any]]:
    """Worst absolute difference of each quantity, its unit, and the time (s) where it occurs.

    Parameters
    ----------
    run, exact : Trajectory
        At the same times, as far as `exact` goes.
    units : dict
        Name of each quantity -> its unit.

    Returns
    -------
    dict
        Name of q, qd, p, kinetic and potential -> ``max`` (over all joints for the first three),
        ``unit`` and ``time_s``.

    Raises
    ------
    InputError
        If they are not trajectories of one mechanism, or `exact` has no rows.
    TrajectoryError
        If `exact` is at other times.
    """
    check_alike(run, exact)
    if not len(exact):
        raise InputError("a trajectory of no rows has no differences")
    if not np.array_equal(run.t[: len(exact)], exact.t):
        raise TrajectoryError("the trajectories are not at the same times")
    result = {}
    for name, unit in units.items():
        over_time = np.empty(len(exact))
        for here in blocks(len(exact)):
            with np.errstate(over="ignore", invalid="ignore"):  # inf - inf
                distance = np.abs(getattr(run, name)[here] - getattr(exact, name)[here])
            over_time[here] = distance.reshape(len(distance), -1).max(axis=1)
        worst = int(over_time.argmax())
        result[name] = {"max": float(over_time[worst]), "unit": unit, "time_s": float(run.t[worst])}
    return result


def is_conservative(scenario: Scenario) -> bool:
    """Whether kinetic plus potential energy is constant: no motor and no damper does work."""
    return not (any(body.torque for body in scenario.bodies) or has_dampers(scenario))


def summarise(
    run: FinishedRun,
    exact: Trajectory | None,
    missing: str | None,
    twin: Trajectory | None,
    forces: JointForces | None = None,
) -> Summary:
    """The summary of a run that has kept at least one step.

    Parameters
    ----------
    run
        The run.
    exact
        The reference at the run's times, or at the first of them.
    missing
        Why there is no reference, or none for all of the run.
    twin
        The same algorithm in float64, which separates rounding from truncation. A run in float64
        is its own twin.
    forces
        Those of its joints, if asked for.

    Raises
    ------
    ValueError
        If an option of the run has the name of another entry.
    """
    trajectory = run.kept
    own_twin = trajectory if twin is None and run.arithmetic == "float64" else twin
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    versions["scipy"] = scipy.__version__
    start = trajectory.kinetic[0] + trajectory.potential[0]
    energies = (part.kinetic + part.potential for part in trajectory.parts())
    energy_change = float(np.max([np.abs(energy - start).max() for energy in energies]))
    compared = compared_units(run.scenario)
    re_bases = run.options.get("rebase") or run.options.get("project")
    if re_bases and run.scenario.loops:
        # Re-basing gives the same motion other momenta, which those of the reference are not.
        compared = {name: unit for name, unit in compared.items() if name != "p"}
    summary = {
        "scenario": run.scenario.name,
        "source": run.scenario.source,
        "target": run.target,
        "arith": run.arithmetic,
        "integrator": run.scenario.integrator,
        "step_s": run.scenario.step,
        "steps": run.scenario.steps,
        "rows": len(trajectory),
        "end_s": trajectory.t[-1],
        "flags": flag_names(trajectory.flags),
        "versions": versions | dict(run.hardware.versions if run.hardware else {}),
        **_of_adaptive(run),
        "conservative": is_conservative(run.scenario),
        "energy_change_max_J": energy_change,
        "conserved_change_max": {
            quantity.name: {"max": np.abs(quantity.change(trajectory)).max(), "unit": quantity.unit}
            for quantity in conserved(run.scenario)
        },
        "loop_position_max_m": trajectory.loop_position.max(),
        "loop_velocity_max_m_s": trajectory.loop_velocity.max(),
        "reference": f"DOP853, tolerance {lagrangian.TOLERANCE:g}" if exact is not None else None,
        "reference_end_s": None if exact is None else exact.t[-1],
        "reference_missing": missing,
        "differences_to_reference": None
        if exact is None
        else differences(trajectory, exact, compared),
        "kinetic_difference_max_J": _worst_kinetic(trajectory, exact),
        "kinetic_difference_float64_max_J": _worst_kinetic(own_twin, exact),
        "kinetic_rounding_max_J": _worst_kinetic(trajectory, own_twin),
        "stopped": run.stopped,
        "eta_condition_max": _finite(trajectory.condition),
        "joint_condition_max": _finite(trajectory.joint_condition),
        "loss_max": _finite(trajectory.loss),
        "velocity_error_estimate": _finite(estimated_error(trajectory, run.arithmetic)),
    }
    if forces is not None:
        summary["joint_forces_max"] = forces.largest(run.scenario)
    hardware = _of_hardware(run.hardware) if run.hardware else {}
    clash = (summary.keys() | hardware.keys()) & run.options.keys()
    if clash:
        raise ValueError(f"options: {', '.join(sorted(clash))}: already in the summary")
    return summary | dict(run.options) | hardware


def _of_adaptive(run: FinishedRun) -> Summary:
    """What an integrator that chooses its steps adds."""
    if not run.scenario.adaptive:
        return {}
    tolerance = run.scenario.tolerance or TOLERANCE
    return {"tolerance": tolerance, "evaluations": run.kept.evaluations}


def _of_hardware(result: HardwareResult) -> Summary:
    return {
        "simulator": result.simulator,
        "seed": result.seed,
        "identical_to_model": result.identical,
        "worst_difference_to_model": 0.0 if result.identical else None,
        "words_compared": result.words_compared,
        "cycles": result.cycles,
        "cycles_by_part": dict(result.cycles_by_part),
        "engine_cycles": dict(result.engine_cycles),
        "registers_moved": dict(result.registers_moved),
        "cycles_computing": result.computing,
        "registers_traced": result.registers_traced,
        "evaluations": result.evaluations,
        "in_hardware": result.in_hardware,
        "float_units": dict(result.float_units),
    }


def _finite(condition: float | None) -> float | None:
    """A condition number; None for that of a singular matrix, which JSON cannot hold."""
    return condition if condition is not None and math.isfinite(condition) else None


def _worst_kinetic(run: Trajectory | None, other: Trajectory | None) -> float | None:
    if run is None or other is None:
        return None
    found = [np.abs(run.kinetic[x] - other.kinetic[x]).max() for x in blocks(len(other))]
    return float(np.max(found))


def write_summary(path: str | os.PathLike[str], summary: Mapping[str, Any]) -> None:
    """Write a summary as JSON, its keys in the order given.

    NumPy scalars and arrays become numbers and lists.

    Raises
    ------
    TrajectoryError
        Naming the key of a number that is not finite (JSON has no such numbers) or of a value that
        has no JSON form; then nothing is written.
    """
    text = json.dumps(_jsonable(summary, ""), indent=2, allow_nan=False, ensure_ascii=False)
    with whole_file(path) as beside:
        beside.write_text(text + "\n", encoding="utf-8")


def _jsonable(value: Any, key: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        result = {}
        for name, item in value.items():
            inner = f"{key}.{name}" if key else str(name)
            if not isinstance(name, str):
                raise TrajectoryError(f"summary: {inner}: keys must be strings, got {name!r}")
            result[name] = _jsonable(item, inner)
        return result
    if isinstance(value, list | tuple):
        return [_jsonable(item, f"{key}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise TrajectoryError(f"summary: {key}: {value!r} is not a finite number")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TrajectoryError(f"summary: {key}: no JSON form for {type(value).__name__}")


def print_summary(
    summary: Mapping[str, Any], out_dir: str | os.PathLike[str], console: Console | None = None
) -> None:
    """Print the summary of a run as a short table, and the folder of its files."""
    console = console or Console()
    title = f"{summary['scenario']}: {summary['arith']} on {summary['target']}"
    table = Table(title=Text(title))  # Text: brackets are no markup
    table.add_column("quantity")
    table.add_column("value", justify="right")
    table.add_column("unit")
    integrator, times = summary["integrator"], f"{summary['steps']} of {summary['step_s']:g} s"
    if "tolerance" in summary:
        table.add_row("integrator", f"{integrator}, tolerance {summary['tolerance']:g}", "")
        table.add_row("evaluations", str(summary["evaluations"]), "")
    else:
        table.add_row("steps", f"{times}, {integrator}", "")
    if summary["stopped"]:
        table.add_row("stopped at", f"{summary['end_s']:.6g}", "s")
    for key in ("cycles", "seed"):
        if key in summary:
            table.add_row(key, str(summary[key]), "")
    table.add_row("float exceptions", exceptions(summary["flags"]), "")
    error = "max kinetic energy error"
    part = error if summary["kinetic_difference_max_J"] is None else "- part"
    for key, text in (
        ("kinetic_difference_max_J", f"{error} (run - reference)"),
        ("kinetic_difference_float64_max_J", f"{part} of the integrator (float64 - reference)"),
        ("kinetic_rounding_max_J", f"{part} of rounding (run - float64)"),
    ):
        if summary[key] is not None:
            table.add_row(text, f"{MILLI * summary[key]:.4g}", "mJ")
    for name, worst in (summary["differences_to_reference"] or {}).items():
        if name in ("q", "qd", "p"):
            table.add_row(
                f"max error of {name} (run - reference)", f"{worst['max']:.3g}", worst["unit"]
            )
    if summary["reference"] is None:
        table.add_row("reference", "none", "")
    elif summary["reference_missing"]:
        table.add_row("reference ends at", f"{summary['reference_end_s']:.6g}", "s")
    energy = f"{MILLI * summary['energy_change_max_J']:.4g}"
    table.add_row(ENERGY_NAMES[summary["conservative"]], energy, "mJ")
    for name, worst in summary["conserved_change_max"].items():
        if name != ENERGY:
            size, unit = worst["max"], worst["unit"]
            if unit == "J":  # as the other energies
                size, unit = MILLI * size, "mJ"
            table.add_row(f"max drift of {name}", f"{size:.4g}", unit)
    if summary["loop_position_max_m"] or summary["loop_velocity_max_m_s"]:
        table.add_row("max loop closure error", f"{summary['loop_position_max_m']:.3g}", "m")
        table.add_row("max loop velocity error", f"{summary['loop_velocity_max_m_s']:.3g}", "m/s")
    for quantity, unit in (("force", "N"), ("moment", "N m")):
        found = summary.get("joint_forces_max", {})
        sizes = {joint: worst[quantity]["max"] for joint, worst in found.items()}
        if sizes := {joint: size for joint, size in sizes.items() if size}:
            joint = max(sizes, key=sizes.__getitem__)
            table.add_row(Text(f"largest {quantity}: {joint}"), f"{sizes[joint]:.4g}", unit)
    for joint, each in summary.get("joint_forces_max", {}).items():
        if worst := each.get("motor"):
            needed = Text(f"the motion takes at most: {joint}")
            table.add_row(needed, f"{worst['max']:.4g}", worst["unit"])
    console.print(table)
    if reason := summary["reference_missing"]:
        what = "the reference ends early" if summary["reference"] else "no reference"
        console.print(f"{what}: {reason}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"files in {out_dir}", markup=False, highlight=False, soft_wrap=True)
