"""A run as the command lines do it: the model with a progress display, and every run's end.

:func:`finish` is the one way from a finished run to its files; the model and simulated hardware
both take it, so that their results can be laid side by side.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.requests import BASE
from pymodel.algorithms.springs import length_error
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.compile.native import NoCompilerError
from pymodel.mechanism import kinematics
from pymodel.mechanism.moments import are_of_no_body
from pymodel.mechanism.scenario import STRETCH, Scenario, inertia_matrix
from pymodel.runs import native_runs
from pymodel.runs.files import write_run
from pymodel.runs.finished import FinishedRun
from pymodel.runs.input_error import InputError
from pymodel.runs.options import algorithm_options
from pymodel.runs.progress import progress
from pymodel.runs.recorder import (
    CONDITION_WARNING,
    JOINT_WARNING,
    ORDINARY_JOINT,
    joint_limit,
)
from pymodel.runs.summary import Summary, print_summary
from pymodel.runs.trajectory import Trajectory

MODEL, NATIVE = "model", "native"

DONE, BROKE_OFF = 0, 1  # exit status of a run

#: Share of the motion's largest kinetic energy above which a run warns of its rounding.
ROUNDING_WARNING = 1e-2


def run_model(
    scenario: Scenario,
    arithmetic: str,
    out: str | os.PathLike[str],
    *,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    target: str = MODEL,
    with_reference: bool = True,
    forces: bool = False,
) -> tuple[Summary | None, int]:
    """Run a scenario on the model and finish the run; returns what :func:`finish` does.

    Parameters
    ----------
    scenario
        The scenario.
    arithmetic
        As for :func:`pymodel.arith.scalars.parse`.
    out
        The folder.
    shape, base, rebase
        As for :func:`pymodel.runs.simulate.simulate`.
    target
        ``model``, which native code computes where that pays, or ``native``: that in any case.
    with_reference
        Whether to compare with the reference.
    forces
        Whether to write the forces of the joints.

    Raises
    ------
    InputError
        If the arithmetic is unknown or has no native code, or an option is out of its range.
    ScenarioError
        If the integrator is adaptive, but not the target the model in float64.
    OSError
        If the folder cannot be made: before the run, which may take a while.
    """
    if target == NATIVE or _name(arithmetic) != "float64":
        scenario.require_fixed_steps()
    algorithm_options(shape, base, rebase, dashes="--")
    Path(out).mkdir(parents=True, exist_ok=True)
    run = simulated(scenario, arithmetic, shape, base, rebase, target)
    return finish(run, out, with_reference=with_reference, forces=forces)


def simulated(
    scenario: Scenario,
    arithmetic: str,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    target: str = MODEL,
) -> FinishedRun:
    """Run a scenario on the model, with its progress on the terminal, and leave no files.

    Parameters
    ----------
    scenario, arithmetic, shape, base, rebase, target
        As for :func:`run_model`.

    Raises
    ------
    InputError
        If the arithmetic is unknown or has no native code.
    """
    name = _name(arithmetic)
    options = {"shape": shape, "base": base, "rebase": rebase}
    title = f"{scenario.name}: {name}"
    if target == NATIVE:
        if not native_runs.possible(scenario, scalars.parse(name), base):
            raise InputError(
                "target native: float64 or at most 8/23 only, and a base other than ldup"
            )
        try:
            found = _simulate(scenario, name, title, options, native_runs.simulate)
            return FinishedRun(scenario, *found, NATIVE, name, options)
        except NoCompilerError as error:
            print(f"{error}; running on the model instead", file=sys.stderr)
    found = _simulate(scenario, name, title, options)
    return FinishedRun(scenario, *found, MODEL, name, options)


def _name(arithmetic: str) -> str:
    try:
        return scalars.parse(arithmetic).name
    except ValueError as error:
        raise InputError(str(error)) from None


def _simulate(
    scenario: Scenario,
    arithmetic: str,
    title: str,
    options: Mapping[str, Any],
    run: Callable[..., Trajectory] = native_runs.fastest,
) -> tuple[Trajectory | None, str | None]:
    """The model's trajectory as far as it is finite, and why the run broke off."""
    stopped = None
    try:
        with progress(title) as update:
            trajectory = run(scenario, arithmetic, progress=update, **options)
    except RunError as error:
        stopped, trajectory = str(error), error.trajectory
    if trajectory is not None and len(finite := trajectory.finite_part()) < len(trajectory):
        stopped = stopped or f"{scenario.source}: an energy is not finite"
        trajectory = finite
    return trajectory, stopped


@np.errstate(over="ignore", invalid="ignore")  # its numbers may be beyond float64
def finish(
    run: FinishedRun,
    out: str | os.PathLike[str],
    *,
    with_reference: bool = True,
    forces: bool = False,
) -> tuple[Summary | None, int]:
    """Finish any run: its float64 twin, its files, its summary on the terminal.

    Parameters
    ----------
    run
        The run; where it broke off, what there is so far is saved.
    out
        Folder for the files.
    with_reference
        Whether to compare with the reference.
    forces
        Whether to write the forces of the joints.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        :data:`DONE` or :data:`BROKE_OFF`.
    """
    if run.stopped:
        print(f"{run.stopped}; the run ends there", file=sys.stderr)
    trajectory, scenario = run.trajectory, run.scenario
    if not trajectory:
        return None, BROKE_OFF
    status = BROKE_OFF if run.stopped else DONE
    if trajectory.condition is not None and trajectory.condition > CONDITION_WARNING:
        print(
            f"{scenario.source}: warning: near a singular posture, the condition of eta reaches "
            f"{trajectory.condition:.1e} at t = {trajectory.condition_time:.6g} s",
            file=sys.stderr,
        )
    twin = None
    if run.arithmetic != "float64":
        title = f"{scenario.name}: float64 twin"
        twin, _ = _simulate(scenario, "float64", title, run.options)
        if twin is not None and trajectory.joint_condition is None:  # hardware does not watch it
            worst = {
                name: getattr(twin, name) for name in ("joint_condition", "joint_condition_time")
            }
            trajectory = replace(trajectory, **worst)
            run = replace(run, trajectory=trajectory)
        if twin is None or len(twin) < len(trajectory):
            print("the float64 twin ends before the run and is left out", file=sys.stderr)
            twin = None
    _judge_inertias(scenario)
    _judge_springs(run)
    if not _judge_joints(run):
        status = BROKE_OFF
    if twin is not None and not run.stopped:
        _judge_rounding(run, twin)
    summary = write_run(run, out, twin=twin, with_reference=with_reference, forces=forces)
    if with_reference and summary["reference_missing"]:
        print(f"{summary['reference_missing']}; the reference ends there", file=sys.stderr)
    print_summary(summary, out)
    return summary, status


def _judge_inertias(scenario: Scenario) -> None:
    """Warn of moments of inertia that no body has."""
    for index, body in enumerate(scenario.bodies if scenario.spatial else ()):
        lowest, middle, highest = moments = np.linalg.eigvalsh(inertia_matrix(body.inertia))
        if are_of_no_body(moments):
            name = f" ({body.name})" if body.name else ""
            print(
                f"{scenario.source}: warning: body[{index}]{name}: no body has this inertia: a "
                f"principal moment is beyond the sum of the others, {highest:.3g} > {lowest:.3g} + "
                f"{middle:.3g} kg m^2",
                file=sys.stderr,
            )


def _judge_springs(run: FinishedRun) -> None:
    """Warn of springs so far from their natural length that the algorithm misses their length."""
    scenario, trajectory = run.scenario, run.trajectory
    lengths = kinematics.spring_lengths(scenario, trajectory.q).T
    limit = max(length_error(STRETCH), scalars.parse(run.arithmetic).unit_roundoff)
    for index, (spring, length) in enumerate(zip(scenario.springs, lengths, strict=True)):
        if not (spring.length and spring.stiffness):
            continue
        errors = length_error(length / spring.length)
        worst = int(errors.argmax())
        if errors[worst] > limit:
            print(
                f"{scenario.source}: warning: spring[{index}] is {length[worst]:.3g} m long at "
                f"t = {trajectory.t[worst]:.6g} s, too far from its natural {spring.length:.3g} m: "
                f"the length that its force is computed from is off by {errors[worst]:.1e} of it",
                file=sys.stderr,
            )


def _judge_joints(run: FinishedRun) -> bool:
    """Warn of joint matrices (33) that cost too many digits; False beyond :func:`joint_limit`."""
    trajectory = run.trajectory
    roundoff = scalars.parse(run.arithmetic).unit_roundoff
    condition = trajectory.joint_condition
    if condition is None or condition < ORDINARY_JOINT or condition**2 * roundoff < JOINT_WARNING:
        return True
    digits = "few digits" if condition**2 * roundoff < 1.0 else "no digits"
    print(
        f"{run.scenario.source}: warning: the condition of a joint matrix (33) reaches "
        f"{condition:.1e} at t = {trajectory.joint_condition_time:.6g} s: in {run.arithmetic} "
        f"{digits} of the velocities are left",
        file=sys.stderr,
    )
    return condition < joint_limit(roundoff)


def _judge_rounding(run: FinishedRun, twin: Trajectory) -> None:
    """Warn if a finished run differs from its float64 twin by more than a share of its energy."""
    kinetic = twin.kinetic[: len(run.trajectory)]
    rounding = np.abs(run.trajectory.kinetic - kinetic).max()
    # Of a mechanism at rest all motion is rounding: below that of its potential energy it is none.
    noise = scalars.parse(run.arithmetic).unit_roundoff * np.abs(twin.potential).max()
    energy = max(kinetic.max(), noise)
    if rounding > ROUNDING_WARNING * energy:
        print(
            f"{run.scenario.source}: warning: rounding reaches {rounding:.3g} J, more than "
            f"{ROUNDING_WARNING:.0%} of the motion's energy ({energy:.3g} J): "
            f"{run.arithmetic} has too few digits for this run",
            file=sys.stderr,
        )
