"""Integrators: one time step from the rates of change."""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.step import Mechanism, Requests, rates
from pymodel.arith.scalars import S


def _advance(x: Sequence[S], step: S, slope: Sequence[S]) -> list[S]:
    return [x[k] + step * slope[k] for k in range(len(x))]


def _euler(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """Explicit Euler."""
    now = yield from rates(mechanism, q, p, t_cut)
    return _advance(q, mechanism.step, now.q_rate), _advance(now.p, mechanism.step, now.p_dot), now


def _semi_implicit(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """Momenta first; then the angles, with the velocities that the new momenta give."""
    now = yield from rates(mechanism, q, p, t_cut)
    p_new = _advance(now.p, mechanism.step, now.p_dot)
    new = yield from rates(mechanism, q, p_new)
    return _advance(q, mechanism.step, new.q_rate), p_new, now


def _rk4(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = mechanism.half_step, mechanism.step, mechanism.sixth_step
    k1 = yield from rates(mechanism, q, p, t_cut)
    p = k1.p
    k2 = yield from rates(mechanism, _advance(q, half, k1.q_rate), _advance(p, half, k1.p_dot))
    k3 = yield from rates(mechanism, _advance(q, half, k2.q_rate), _advance(p, half, k2.p_dot))
    k4 = yield from rates(mechanism, _advance(q, step, k3.q_rate), _advance(p, step, k3.p_dot))

    def combine(a: list, b: list, c: list, d: list) -> list:
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    q_slope, p_slope = (combine(*(k[i] for k in (k1, k2, k3, k4))) for i in range(2))
    return _advance(q, sixth, q_slope), _advance(p, sixth, p_slope), k1


#: name in the scenario file -> generator (mechanism, q, p, t_cut) -> (q, p, rates at the start)
INTEGRATORS = {"euler": _euler, "semi-implicit": _semi_implicit, "rk4": _rk4}


def integrate(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """One time step with the mechanism's integrator.

    Parameters
    ----------
    mechanism : pymodel.algorithms.step.Mechanism
    q, p, t_cut
        As for :func:`pymodel.algorithms.step.rates`, whose requests it yields.

    Returns
    -------
    q, p : list of n scalars
        After the step.
    rates : pymodel.algorithms.step.Rates
        At its start.
    """
    return (yield from INTEGRATORS[mechanism.integrator](mechanism, q, p, t_cut))
