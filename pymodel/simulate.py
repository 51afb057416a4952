"""Whole runs of the model."""

import math

import numpy as np

from pymodel import arith, dynamics, kinematics
from pymodel.trajectory import Trajectory


class NonFiniteError(ArithmeticError):
    """A step gave a result that is not a number, or infinite."""


#: Above this condition number of eta a mechanism is near a singular posture: in binary32 three
#: digits of the impulses are left.
CONDITION_WARNING = 1e4

#: Condition number of eta times unit roundoff above which the base counts as unsolvable: not even
#: two digits of the impulses are left.
UNSOLVABLE = 1e-2


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
        self.step = 0  # the one being computed
        self.rows = []
        self.condition = None  # largest condition number of eta (43) so far
        self.condition_step = None

    def where(self, reason):
        """A reason to stop, with the file and the step."""
        return f"{self.scenario.source}: step {self.step}: {reason}"

    def check(self, *vectors):
        """The vectors as floats.

        Raises
        ------
        NonFiniteError
            If any value is not finite.
        """
        floats = [[self.arithmetic.to_float(x) for x in vector] for vector in vectors]
        if not all(math.isfinite(x) for values in floats for x in values):
            raise NonFiniteError(self.where("result is not finite"))
        return floats

    def keep(self, q, rates):
        """Record the state before the present step, if it is one of those to keep.

        Raises
        ------
        NonFiniteError
            If a value of any step is not finite; nothing of this step is recorded.
        SingularError
            If eta is too near to singular for this arithmetic, see :data:`UNSOLVABLE`.
        """
        row = self.check(q, rates.q_dot, rates.p)
        if rates.eta is not None:
            self._check_condition(self.check(*rates.eta))
        if self.step % self.scenario.save == 0:
            self.rows.append((self.step, *row))

    def _check_condition(self, eta):
        condition = float(np.linalg.cond(eta))
        if self.condition is None or not condition <= self.condition:
            self.condition, self.condition_step = condition, self.step
        if not condition * self.arithmetic.unit_roundoff < UNSOLVABLE:
            raise dynamics.SingularError(
                f"singular posture: eta (43) has condition {condition:.1e}, "
                f"too much for {self.arithmetic.name}"
            )

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
        if self.condition is not None:
            trajectory.condition = self.condition
            trajectory.condition_time = self.condition_step * self.scenario.step
        return trajectory

    def partial(self, error):
        """The error, with what there is so far as its ``trajectory`` (None if nothing)."""
        error.trajectory = self.trajectory() if self.rows else None
        return error


def run(mechanism, scenario, recorder, progress=None):
    """A whole run as a generator of requests (see :mod:`pymodel.dynamics`).

    The state is kept before every step and after the last, so ``steps + 1`` times.

    Parameters
    ----------
    mechanism : dynamics.Mechanism
    recorder : Recorder
    progress : callable(step, steps), optional
    """
    q, p = mechanism.initial_state(scenario)
    recorder.check(q, p)
    t_cut = None  # impulse to re-base with, when a step asks for it
    for step in range(scenario.steps):
        q_new, p, now = yield from mechanism.integrate(mechanism, q, p, t_cut)
        recorder.keep(q, now)
        q = q_new
        recorder.step = step + 1
        recorder.check(q, p)
        t_cut = now.t_cut if mechanism.rebases_at(recorder.step) else None
        if progress:
            progress(recorder.step, scenario.steps)
    last = yield from dynamics.rates(mechanism, q, p, t_cut)
    recorder.keep(q, last)


def simulate(scenario, arithmetic="float64", progress=None, **options):
    """Run a scenario on the model.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : str or an arithmetic
        ``float64``, ``float32``, ``<EXP_W>/<MAN_W>``, or an object of :mod:`pymodel.arith`.
    options
        ``shape``, ``base``, ``rebase`` of :func:`pymodel.dynamics.mechanism`.

    Returns
    -------
    Trajectory
        Its ``flags`` are the sticky float flags of the run (0 for float64).

    Raises
    ------
    ScenarioError
        If the mechanism is one that the model cannot run.
    SingularError, NonFiniteError
        If the run cannot go on; the exception's ``trajectory`` holds the steps so far.
    """
    ar = arith.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    mechanism = dynamics.mechanism(ar, scenario, **options)
    recorder = Recorder(scenario, ar)
    try:
        dynamics.serve(ar, run(mechanism, scenario, recorder, progress))
    except dynamics.SingularError as error:
        raise recorder.partial(dynamics.SingularError(recorder.where(error))) from None
    except NonFiniteError as error:
        raise recorder.partial(error) from None
    return recorder.trajectory()
