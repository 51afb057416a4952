"""Integrators of a fixed step: one time step from the rates of change.

Each is a fixed sequence of operations, so that it can be a program. docs/theory.md has their orders
and what they do to the energy, measured.
"""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.step import Mechanism, Requests, rates
from pymodel.arith.scalars import S

#: Fixed-point iterations of the implicit midpoint: at the steps of ordinary runs what they leave is
#: below the rounding of float32. An odd number leaves an error of phase, an even one of energy.
ITERATIONS = 5


def _advance(x: Sequence[S], step: S, slope: Sequence[S]) -> list[S]:
    return [x[k] + step * slope[k] for k in range(len(x))]


def _euler(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """Explicit Euler: order 1."""
    now = yield from rates(mechanism, q, p, t_cut)
    return _advance(q, mechanism.step, now.q_dot), _advance(now.p, mechanism.step, now.p_dot), now


def _semi_implicit(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """Momenta first; then the angles, with the velocities of the new momenta: order 1.

    It is not symplectic Euler, which takes p-dot at the new momenta: here it is that of the old
    ones. They are the same where p-dot does not depend on p, as for one body alone.
    """
    now = yield from rates(mechanism, q, p, t_cut)
    p_new = _advance(now.p, mechanism.step, now.p_dot)
    new = yield from rates(mechanism, q, p_new)
    return _advance(q, mechanism.step, new.q_dot), p_new, now


def _rk4(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """The classical Runge-Kutta method of order 4."""
    half, step, sixth = mechanism.half_step, mechanism.step, mechanism.sixth_step
    k1 = yield from rates(mechanism, q, p, t_cut)
    p = k1.p
    k2 = yield from rates(mechanism, _advance(q, half, k1.q_dot), _advance(p, half, k1.p_dot))
    k3 = yield from rates(mechanism, _advance(q, half, k2.q_dot), _advance(p, half, k2.p_dot))
    k4 = yield from rates(mechanism, _advance(q, step, k3.q_dot), _advance(p, step, k3.p_dot))

    def combine(a: list, b: list, c: list, d: list) -> list:
        return [(w + z) + ((x + x) + (y + y)) for w, x, y, z in zip(a, b, c, d, strict=True)]

    q_slope, p_slope = (combine(*(k[i] for k in (k1, k2, k3, k4))) for i in range(2))
    return _advance(q, sixth, q_slope), _advance(p, sixth, p_slope), k1


def _implicit_midpoint(mechanism: Mechanism, q: list, p: list, t_cut: Any = None) -> Requests:
    """Implicit midpoint, x' = x + h f((x + x') / 2) with x = (q, p): order 2, symplectic.

    :data:`ITERATIONS` of k = f(x + h k / 2), from f(x) on, find the slope. What they leave of it is
    of order h to their number plus one.
    """
    half, step = mechanism.half_step, mechanism.step
    now = yield from rates(mechanism, q, p, t_cut)
    p, middle = now.p, now
    for _ in range(ITERATIONS):
        place = _advance(q, half, middle.q_dot), _advance(p, half, middle.p_dot)
        middle = yield from rates(mechanism, *place)
    return _advance(q, step, middle.q_dot), _advance(p, step, middle.p_dot), now


#: name in the scenario file -> generator (mechanism, q, p, t_cut) -> (q, p, rates at the start)
INTEGRATORS = {
    "euler": _euler,
    "semi-implicit": _semi_implicit,
    "rk4": _rk4,
    "implicit-midpoint": _implicit_midpoint,
}


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
