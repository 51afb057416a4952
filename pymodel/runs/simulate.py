"""Whole runs of the model."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.integrators import integrate, time_after
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import SingularError, serve
from pymodel.algorithms.step import Mechanism, Requests, prepare, rates
from pymodel.arith import scalars
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import adaptive
from pymodel.runs.recorder import NonFiniteError, Recorder
from pymodel.runs.trajectory import Trajectory

Progress = Callable[[int, int], None]  #: (steps done, steps)


class State(NamedTuple):
    """What a step starts from.

    Attributes
    ----------
    q, p : list of nq and of nv scalars
    t_cut : tuple or None
        Impulses to re-base with, if this step does.
    step : int
    """

    q: list[Any]
    p: list[Any]
    t_cut: tuple[Any, ...] | None = None
    step: int = 0


def run(
    mechanism: Mechanism[Any],
    scenario: Scenario,
    recorder: Recorder,
    progress: Progress | None = None,
    start: State | None = None,
    integrate: Callable[..., Requests] = integrate,
) -> Requests:
    """A whole run as a generator of requests (see :mod:`pymodel.algorithms.step`).

    The state is kept before every step and after the last, so ``steps + 1`` times.

    Parameters
    ----------
    mechanism : Mechanism
    recorder : Recorder
    progress : callable(step, steps), optional
    start : State, optional
        Where to begin; default: at the scenario's own start.
    integrate : callable, optional
        What does a step, as :func:`pymodel.algorithms.integrators.integrate`.
    """
    q, p, t_cut, first = start or State(*mechanism.initial_state(scenario))
    recorder.step = first
    recorder.begin(q, p)
    for step in range(first, scenario.steps):
        time = mechanism.time(mechanism.arithmetic.const(step))
        q_new, p, now = yield from integrate(mechanism, q, p, t_cut, time)
        recorder.keep(q, now.q_dot, now.p, now.eta)
        q = q_new
        if mechanism.projects_after(step):
            # Nobody watches these matrices: those of the next step are nearly the same.
            end = time_after(time, mechanism.step)
            q, p = serve(mechanism.arithmetic, projected(mechanism, q, p, end))
        recorder.step = step + 1
        recorder.begin(q, p)
        t_cut = now.t_cut if mechanism.rebases_at(recorder.step) else None
        if progress:
            progress(recorder.step, scenario.steps)
    time = mechanism.time(mechanism.arithmetic.const(scenario.steps))
    last = yield from rates(mechanism, q, p, t_cut, time)
    recorder.keep(q, last.q_dot, last.p, last.eta)


@np.errstate(over="ignore", invalid="ignore")  # a result that is not finite ends the run
def simulate(
    scenario: Scenario,
    arithmetic: str | scalars.Float64 | scalars.BitExact = "float64",
    progress: Progress | None = None,
    limit: float | None = None,
    **options: Any,
) -> Trajectory:
    """Run a scenario on the model.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : str or an arithmetic
        ``float64``, ``float32``, ``<EXP_W>/<MAN_W>``, or an object of :mod:`pymodel.arith.scalars`.
    limit : float, optional
        As for :class:`pymodel.runs.recorder.Recorder`.
    options
        ``shape``, ``base``, ``rebase``, ``project`` of :func:`pymodel.algorithms.step.prepare`.

    Returns
    -------
    Trajectory
        Its ``flags`` are the sticky float flags of the run (0 for float64).

    Raises
    ------
    ScenarioError
        If the mechanism is one that the model cannot run, or not in this arithmetic: adaptive
        integrators are for float64.
    SingularError, NonFiniteError, ToleranceError
        If the run cannot go on; the exception's ``trajectory`` holds the steps so far.
    """
    ar = scalars.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    if scenario.adaptive and isinstance(ar, scalars.Float64):
        return adaptive.simulate(scenario, progress, limit, **options)
    scenario.require_fixed_steps()
    mechanism = prepare(ar, scenario, **options)
    return completed(mechanism, scenario, Recorder(scenario, ar, limit), progress)


def completed(
    mechanism: Mechanism[Any],
    scenario: Scenario,
    recorder: Recorder,
    progress: Progress | None = None,
    start: State | None = None,
) -> Trajectory:
    """Run to the end on the model; arguments are those of :func:`run`, exceptions as above."""
    try:
        steps = run(mechanism, scenario, recorder, progress, start)
        serve(mechanism.arithmetic, steps, recorder.watch)
    except SingularError as error:
        raise recorder.partial(recorder.stopped(error)) from None
    except NonFiniteError as error:
        raise recorder.partial(error) from None
    return recorder.trajectory()
