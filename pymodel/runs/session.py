"""A model run as the command lines do it: the run, its float64 twin, and what is left behind."""

import sys
from pathlib import Path

from pymodel.algorithms.requests import SingularError
from pymodel.arith import scalars
from pymodel.runs import report
from pymodel.runs.recorder import CONDITION_WARNING, NonFiniteError
from pymodel.runs.simulate import simulate

DONE, BROKE_OFF = 0, 1


def run(scenario, arithmetic, title=None, **options):
    """Run the model with a progress display.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : str
        As for :func:`pymodel.arith.scalars.parse`.
    options
        As for :func:`pymodel.prepare`.

    Returns
    -------
    trajectory : Trajectory or None
        None if not even the first step could be evaluated.
    stopped : str or None
        Why the run broke off.
    """
    stopped = None
    try:
        with report.progress(title or f"{scenario.name}: {arithmetic}") as update:
            trajectory = simulate(scenario, arithmetic, progress=update, **options)
    except (SingularError, NonFiniteError) as error:
        stopped, trajectory = str(error), error.trajectory
    if trajectory is not None and len(finite := report.finite_part(trajectory)) < len(trajectory):
        stopped = stopped or f"{scenario.source}: an energy is not finite"
        trajectory = finite
    return trajectory, stopped


def finish(
    scenario,
    trajectory,
    stopped,
    out,
    *,
    target,
    arithmetic,
    extra=None,
    with_reference=True,
    **options,
):
    """Finish any run: float64 twin, tables, plots, summary on the terminal.

    Returns
    -------
    summary : dict or None
    status : int
        :data:`DONE`, or :data:`BROKE_OFF` with what there is so far saved.
    """
    if stopped:
        print(f"{stopped}; the run ends there", file=sys.stderr)
    if not trajectory:
        return None, BROKE_OFF
    if trajectory.condition is not None and trajectory.condition > CONDITION_WARNING:
        print(
            f"{scenario.source}: warning: near a singular posture, the condition of eta reaches "
            f"{trajectory.condition:.1e} at t = {trajectory.condition_time:.6g} s",
            file=sys.stderr,
        )
    name = scalars.parse(arithmetic).name
    twin = None
    if name != "float64":
        twin, _ = run(scenario, "float64", title=f"{scenario.name}: float64 twin", **options)
        if twin is None or len(twin) < len(trajectory):
            print("the float64 twin ends before the run and is left out", file=sys.stderr)
            twin = None
    summary = report.finish_run(
        scenario,
        trajectory,
        Path(out),
        target=target,
        arith=name,
        extra={"stopped": stopped, "eta_condition_max": trajectory.condition}
        | options
        | (extra or {}),
        float64_twin=twin,
        with_reference=with_reference,
    )
    report.print_summary(summary, out)
    return summary, BROKE_OFF if stopped else DONE
