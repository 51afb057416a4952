"""Whole runs of the model."""

import math

import numpy as np

from pymodel import arith, dynamics, kinematics
from pymodel.trajectory import Trajectory


class NonFiniteError(ArithmeticError):
    """A step gave a result that is not a number, or infinite."""


class Recorder:
    """Collects the kept steps of a run and turns them into a trajectory.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : Float64 or BitExact
        What the recorded scalars belong to.
    """

    def __init__(self, scenario, arithmetic):
        self.scenario = scenario
        self.arithmetic = arithmetic
        self.rows = []

    def keep(self, step, q, p, rates):
        """Record the state before step number ``step``.

        Raises
        ------
        NonFiniteError
            If any value is not finite; nothing of this step is recorded.
        """
        if step % self.scenario.save:
            return
        to_float = self.arithmetic.to_float
        row = [[to_float(x) for x in values] for values in (q, rates.q_dot, p)]
        if not all(math.isfinite(x) for values in row for x in values):
            raise NonFiniteError(f"{self.scenario.source}: step {step}: result is not finite")
        self.rows.append((step, *row))

    def trajectory(self):
        """The :class:`Trajectory` of all rows kept so far; energies and loop errors in float64."""
        steps, q, qd, p = (np.array(column, dtype=float) for column in zip(*self.rows, strict=True))
        trajectory = Trajectory(
            t=steps * self.scenario.step,
            q=q,
            qd=qd,
            p=p,
            kinetic=kinematics.kinetic_energy(self.scenario, q, qd),
            potential=kinematics.potential_energy(self.scenario, q),
            loop_position=kinematics.loop_position(self.scenario, q),
            loop_velocity=kinematics.loop_velocity(self.scenario, q, qd),
        )
        trajectory.flags = self.arithmetic.flags
        return trajectory


def run(chain, scenario, recorder, progress=None):
    """A whole run as a generator of requests (see :mod:`pymodel.dynamics`).

    The state is kept before every step and after the last, so ``steps + 1`` times.

    Parameters
    ----------
    chain : dynamics.Chain
    recorder : Recorder
    progress : callable(step, steps), optional
    """
    q, p = chain.initial_state(scenario)
    for step in range(scenario.steps):
        q_new, p_new, now = yield from chain.integrate(chain, q, p)
        recorder.keep(step, q, p, now)
        q, p = q_new, p_new
        if progress:
            progress(step + 1, scenario.steps)
    last = yield from dynamics.rates(chain, q, p)
    recorder.keep(scenario.steps, q, p, last)


def simulate(scenario, arithmetic="float64", progress=None, shape="balanced"):
    """Run a scenario on the model.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : str or an arithmetic
        ``float64``, ``float32``, ``<EXP_W>/<MAN_W>``, or an object of :mod:`pymodel.arith`.
    shape : str or nested tuple
        The assembly tree, see :func:`pymodel.dynamics.build_tree`.

    Returns
    -------
    Trajectory
        Its ``flags`` are the sticky float flags of the run (0 for float64).

    Raises
    ------
    ScenarioError
        If the mechanism is not an open chain.
    SingularError, NonFiniteError
        If the run cannot go on; the exception's ``trajectory`` holds the steps so far.
    """
    ar = arith.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    chain = dynamics.Chain(ar, scenario, shape)
    recorder = Recorder(scenario, ar)
    try:
        dynamics.serve(ar, run(chain, scenario, recorder, progress))
    except (dynamics.SingularError, NonFiniteError) as error:
        error.trajectory = recorder.trajectory() if recorder.rows else None
        raise
    return recorder.trajectory()
