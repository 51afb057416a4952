"""What to beware of in a run: the warnings of the command line, of simulate, and of sweeps."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pymodel.algorithms.springs import length_error
from pymodel.arith import scalars
from pymodel.arith.scalars import Float64
from pymodel.mechanism import checks
from pymodel.mechanism.moments import are_of_no_body
from pymodel.mechanism.scenario import STRETCH, Scenario, inertia_matrix
from pymodel.mechanism.units import ANGLE, coordinate_units
from pymodel.runs.columns import blocks
from pymodel.runs.loss import FAR, estimated_error
from pymodel.runs.recorder import CONDITION_WARNING, JOINT_WARNING, ORDINARY_JOINT
from pymodel.runs.trajectory import Trajectory

#: Why a run ends whose angles are finite.
ENERGY_NOT_FINITE = "an energy is not finite"

#: Share of the motion's largest kinetic energy above which a run warns of its rounding; also that
#: of what a step moves a joint.
ROUNDING_WARNING = 1e-2

#: Share of a mechanism's size above which a run warns of the gap of its loops.
GAP_WARNING = 1e-3

#: What keeps a mechanism with loops from drifting.
DRIFT = "project it every N steps (--project N, PROJECT=N) or re-base it (--rebase N, REBASE=N)"

#: Estimated error of the velocities, as a share of the largest, above which a run warns.
LOSS_WARNING = 5e-4

#: Loss up to which nothing is said of the mechanism: the format is narrow.
ORDINARY_LOSS = 1e3


@np.errstate(over="ignore", invalid="ignore")  # its numbers may be beyond float64
def warnings_of(
    scenario: Scenario, trajectory: Trajectory, arithmetic: str, twin: Trajectory | None = None
) -> tuple[str, ...]:
    """What to beware of in a run.

    Parameters
    ----------
    scenario
        What was run.
    trajectory
        Its kept steps, and what was worst in all steps; of a step engine, and of an adaptive
        integrator, in the kept ones.
    arithmetic
        Name of the arithmetic that it ran in.
    twin
        The same run in float64, at least as long; without it nothing is said of the rounding.

    Returns
    -------
    tuple of str
        A line each: of a singular posture, of inertias that no body has, of springs far from their
        natural length, of digits that the velocities lose, of coordinates too large to move, of
        loops that open, of the rounding.
    """
    found = [
        *_of_posture(scenario, trajectory),
        *_of_inertias(scenario),
        *_of_springs(scenario, trajectory, arithmetic),
        *_of_joints(trajectory, arithmetic),
        *_of_loss(scenario, trajectory, arithmetic),
        *_of_coordinates(scenario, trajectory, arithmetic),
        *_of_gaps(scenario, trajectory),
    ]
    if twin is not None:
        found += _of_rounding(scenario, trajectory, arithmetic, twin)
    return tuple(f"{scenario.source}: warning: {text}" for text in found)


def _of_posture(scenario: Scenario, trajectory: Trajectory) -> Iterator[str]:
    """Of a matrix eta (43) that is nearly singular."""
    if trajectory.condition is not None and trajectory.condition > CONDITION_WARNING:
        yield (
            f"near a {scenario.singular}: the condition of eta reaches {trajectory.condition:.1e} "
            f"at t = {trajectory.condition_time:.6g} s"
        )


def _of_inertias(scenario: Scenario) -> Iterator[str]:
    """Of moments of inertia that no body has."""
    for index, body in enumerate(scenario.bodies if scenario.spatial else ()):
        lowest, middle, highest = moments = np.linalg.eigvalsh(inertia_matrix(body.moments))
        if are_of_no_body(moments):
            name = f" ({body.name})" if body.name else ""
            yield (
                f"body[{index}]{name}: no body has this inertia: a principal moment is beyond the "
                f"sum of the others, {highest:.3g} > {lowest:.3g} + {middle:.3g} kg m^2"
            )


def _of_springs(scenario: Scenario, trajectory: Trajectory, arithmetic: str) -> Iterator[str]:
    """Of springs so far from their natural length that the algorithm misses their length."""
    limit = max(length_error(STRETCH), scalars.parse(arithmetic).unit_roundoff)
    for index, length, time in trajectory.spring_lengths or ():
        natural = scenario.springs[int(index)].length
        error = length_error(length / natural)
        if error > limit:
            yield (
                f"spring[{index}] is {length:.3g} m long at t = {time:.6g} s, too far from its "
                f"natural {natural:.3g} m: the length that its force is computed from is off by "
                f"{error:.1e} of it"
            )


def _of_joints(trajectory: Trajectory, arithmetic: str) -> Iterator[str]:
    """Of joint matrices (33) that cost too many digits, where the loss is not known."""
    if trajectory.loss is not None:
        return
    condition, roundoff = trajectory.joint_condition, scalars.parse(arithmetic).unit_roundoff
    if condition is None or condition < ORDINARY_JOINT or condition**2 * roundoff < JOINT_WARNING:
        return
    digits = "few digits" if condition**2 * roundoff < 1.0 else "no digits"
    yield (
        f"the condition of a joint matrix (33) reaches {condition:.1e} at "
        f"t = {trajectory.joint_condition_time:.6g} s: in {arithmetic} {digits} of the velocities "
        "are left"
    )


def _of_loss(scenario: Scenario, trajectory: Trajectory, arithmetic: str) -> Iterator[str]:
    """Of velocities that lose too many digits."""
    loss, error = trajectory.loss, estimated_error(trajectory, arithmetic)
    if loss is None or error is None or error < LOSS_WARNING:
        return
    times = f"{loss:.1e}" if math.isfinite(loss) else "1e15 or more"
    left, ways = _digits(error), []
    if arithmetic != "float64" and (wider := _digits(loss * Float64.unit_roundoff)) > left:
        ways.append(f"float64 keeps {wider:.1f}")
    if loss > ORDINARY_LOSS:
        ways.append(
            "masses and moments of inertia that differ less, and frames along the axes of thin "
            "bodies, keep more"
        )
        ways += ["so do momenta that are re-based more often"] * bool(scenario.loops)
    yield (
        f"rounding is magnified {times} times at t = {trajectory.loss_time:.6g} s: in "
        f"{arithmetic} {f'{left:.1f}' if left else 'no'} digits of the velocities are left; "
        f"{', '.join(ways)}"
    )


def _digits(error: float) -> float:
    """Decimal digits that an error leaves of a number."""
    return max(-math.log10(error), 0.0)


def _of_coordinates(scenario: Scenario, trajectory: Trajectory, arithmetic: str) -> Iterator[str]:
    """Of coordinates so large that the arithmetic loses what a step adds to them."""
    units = coordinate_units(scenario)
    for index, size in enumerate(scenario.freedoms):
        count = size.v if size.q == size.v else size.v - 3  # a quaternion, the last, is never large
        name = scenario.bodies[index].name
        own, rates = scenario.q_slices[index], scenario.v_slices[index]
        largest = _largest(trajectory.q[:, own])[:count]
        moved = scenario.step * _largest(trajectory.qd[:, rates])[:count]
        for unit, far, most in zip(units[own][:count], largest, moved, strict=True):
            spacing = 2.0 * scalars.parse(arithmetic).unit_roundoff * far
            if far >= FAR and spacing > ROUNDING_WARNING * most > 0.0:
                yield (
                    f"body[{index}]{f' ({name})' if name else ''}: its joint reaches {far:.3g} "
                    f"{unit}, where {arithmetic} counts by {spacing:.3g} {unit}, and "
                    f"{'turns' if unit == ANGLE else 'moves'} by at most {most:.3g} {unit} a step: "
                    "few digits of the motion are left"
                )


def _largest(columns: np.ndarray) -> np.ndarray:
    """Largest magnitude of each column, (T, n) -> (n,)."""
    return np.max([np.abs(columns[here]).max(axis=0) for here in blocks(len(columns))], axis=0)


def _of_gaps(scenario: Scenario, trajectory: Trajectory) -> Iterator[str]:
    """Of loops that have opened."""
    extent, gaps = checks.size(scenario), trajectory.loop_position
    if scenario.loops and len(gaps) and gaps.max() > GAP_WARNING * extent:
        yield (
            f"its loops open by {gaps.max():.3g} m, {gaps.max() / extent:.1e} of its size, at "
            f"t = {trajectory.t[gaps.argmax()]:.6g} s: {DRIFT}, or take a smaller step"
        )


def _of_rounding(
    scenario: Scenario, trajectory: Trajectory, arithmetic: str, twin: Trajectory
) -> Iterator[str]:
    """Of a run that differs from its float64 twin by more than a share of its energy."""
    kinetic = twin.kinetic[: len(trajectory)]
    pairs = ((trajectory.kinetic[x], kinetic[x]) for x in blocks(len(trajectory)))
    rounding = np.max([np.abs(own - exact).max() for own, exact in pairs])
    # Of a mechanism at rest all motion is rounding: below that of its potential energy it is none.
    noise = scalars.parse(arithmetic).unit_roundoff * _largest(twin.potential[:, None])[0]
    energy = max(kinetic.max(), noise)
    if rounding > ROUNDING_WARNING * energy:
        yield (
            f"rounding reaches {rounding:.3g} J, more than {ROUNDING_WARNING:.0%} of the motion's "
            f"energy ({energy:.3g} J): {arithmetic} has too few digits for this run"
            f"{f'; {DRIFT}' if scenario.loops else ''}"
        )
