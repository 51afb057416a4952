"""Integrators: one time step from the rates of change."""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.step import Mechanism, Rates, Requests, rates
from pymodel.arith.scalars import S


def _later(time: S | None, span: S) -> S | None:
    """A time after another one, if torques depend on it."""
    return None if time is None else time + span


def _advance(x: Sequence[S], step: S, slope: Sequence[S]) -> list[S]:
    return [x[k] + step * slope[k] for k in range(len(x))]


def _euler(mechanism: Mechanism, q: list, p: list, t_cut: Any, time: Any) -> Requests:
    """Explicit Euler."""
    now = yield from rates(mechanism, q, p, t_cut, time)
    return _advance(q, mechanism.step, now.q_rate), _advance(now.p, mechanism.step, now.p_dot), now


def _semi_implicit(mechanism: Mechanism, q: list, p: list, t_cut: Any, time: Any) -> Requests:
    """Momenta first; then the angles, with the velocities that the new momenta give."""
    now = yield from rates(mechanism, q, p, t_cut, time)
    p_new = _advance(now.p, mechanism.step, now.p_dot)
    new = yield from rates(mechanism, q, p_new, time=time)
    return _advance(q, mechanism.step, new.q_rate), p_new, now


def _rk4(mechanism: Mechanism, q: list, p: list, t_cut: Any, time: Any) -> Requests:
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = mechanism.half_step, mechanism.step, mechanism.sixth_step
    k1 = yield from rates(mechanism, q, p, t_cut, time)
    p = k1.p

    def after(span: S, k: Rates) -> Requests:
        state = _advance(q, span, k.q_rate), _advance(p, span, k.p_dot)
        return (yield from rates(mechanism, *state, time=_later(time, span)))

    k2 = yield from after(half, k1)
    k3 = yield from after(half, k2)
    k4 = yield from after(step, k3)

    def combine(a: list, b: list, c: list, d: list) -> list:
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    slopes = k1, k2, k3, k4
    q_slope = combine(*(k.q_rate for k in slopes))
    p_slope = combine(*(k.p_dot for k in slopes))
    return _advance(q, sixth, q_slope), _advance(p, sixth, p_slope), k1


#: name in the scenario file -> generator (mechanism, q, p, t_cut, time) -> (q, p, rates before)
INTEGRATORS = {"euler": _euler, "semi-implicit": _semi_implicit, "rk4": _rk4}


def integrate(
    mechanism: Mechanism, q: list, p: list, t_cut: Any = None, time: S | None = None
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
