"""Integrators of a fixed step: one time step from the rates of change.

Each is a fixed sequence of operations, so that it can be a program. docs/theory.md has their orders
and what they do to the energy, measured.
"""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.step import Mechanism, Rates, Requests, rates
from pymodel.arith.scalars import S

#: Fixed-point iterations of the implicit midpoint: at the steps of ordinary runs what they leave is
#: below the rounding of float32. An odd number leaves an error of phase, an even one of energy.
ITERATIONS = 5


def time_after(time: S | None, span: S) -> S | None:
    """A time after another one, if anything depends on it."""
    return None if time is None else time + span


def _advance(x: Sequence[S], step: S, slope: Sequence[S]) -> list[S]:
    return [x[k] + step * slope[k] for k in range(len(x))]


def _moved(mechanism: Mechanism[Any], q: list[Any], span: Any, now: Rates, time: Any) -> list[Any]:
    """Coordinates a span after a time: by their rates, or where a motion has them then."""
    return mechanism.placed(_advance(q, span, now.q_rate), time_after(time, span))


def _euler(
    mechanism: Mechanism[Any], q: list[Any], p: list[Any], t_cut: Any, time: Any
) -> Requests:
    """Explicit Euler: order 1."""
    now = yield from rates(mechanism, q, p, t_cut, time)
    return (
        _moved(mechanism, q, mechanism.step, now, time),
        _advance(now.p, mechanism.step, now.p_dot),
        now,
    )


def _semi_implicit(
    mechanism: Mechanism[Any], q: list[Any], p: list[Any], t_cut: Any, time: Any
) -> Requests:
    """Momenta first; then the angles, with the velocities of the new momenta: order 1.

    It is not symplectic Euler, which takes p-dot at the new momenta: here it is that of the old
    ones. They are the same where p-dot does not depend on p, as for one body alone.
    """
    now = yield from rates(mechanism, q, p, t_cut, time)
    p_new = _advance(now.p, mechanism.step, now.p_dot)
    new = yield from rates(mechanism, q, p_new, time=time)
    return _moved(mechanism, q, mechanism.step, new, time), p_new, now


def _rk4(mechanism: Mechanism[Any], q: list[Any], p: list[Any], t_cut: Any, time: Any) -> Requests:
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = mechanism.half_step, mechanism.step, mechanism.sixth_step
    k1 = yield from rates(mechanism, q, p, t_cut, time)
    p = k1.p

    def after(span: S, k: Rates) -> Requests:
        state = _moved(mechanism, q, span, k, time), _advance(p, span, k.p_dot)
        return (yield from rates(mechanism, *state, time=time_after(time, span)))

    k2 = yield from after(half, k1)
    k3 = yield from after(half, k2)
    k4 = yield from after(step, k3)

    def combine(a: list[S], b: list[S], c: list[S], d: list[S]) -> list[S]:
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    slopes = k1, k2, k3, k4
    q_slope = combine(*(k.q_rate for k in slopes))
    p_slope = combine(*(k.p_dot for k in slopes))
    q = mechanism.placed(_advance(q, sixth, q_slope), time_after(time, step))
    return q, _advance(p, sixth, p_slope), k1


def _implicit_midpoint(
    mechanism: Mechanism[Any], q: list[Any], p: list[Any], t_cut: Any, time: Any
) -> Requests:
    """Implicit midpoint, x' = x + h f((x + x') / 2) with x = (q, p): order 2, symplectic.

    :data:`ITERATIONS` of k = f(x + h k / 2), from f(x) on, find the slope. What they leave of it is
    of order h to their number plus one.
    """
    half, step = mechanism.half_step, mechanism.step
    now = yield from rates(mechanism, q, p, t_cut, time)
    p, middle = now.p, now
    for _ in range(ITERATIONS):
        place = _moved(mechanism, q, half, middle, time), _advance(p, half, middle.p_dot)
        middle = yield from rates(mechanism, *place, time=time_after(time, half))
    return _moved(mechanism, q, step, middle, time), _advance(p, step, middle.p_dot), now


#: name in the scenario file -> generator (mechanism, q, p, t_cut, time) -> (q, p, rates before)
INTEGRATORS = {
    "euler": _euler,
    "semi-implicit": _semi_implicit,
    "rk4": _rk4,
    "implicit-midpoint": _implicit_midpoint,
}


def integrate(
    mechanism: Mechanism[Any], q: list[Any], p: list[Any], t_cut: Any = None, time: S | None = None
) -> Requests:
    """One time step with the mechanism's integrator.

    Parameters
    ----------
    mechanism : pymodel.algorithms.step.Mechanism
    q, p, t_cut, time
        As for :func:`pymodel.algorithms.step.rates`, whose requests it yields.

    Returns
    -------
    q, p : list of n scalars
        After the step.
    rates : pymodel.algorithms.step.Rates
        At its start.
    """
    return (yield from INTEGRATORS[mechanism.integrator](mechanism, q, p, t_cut, time))
