"""Motions of joints in time, in float64: numbers, formulas, and curves through values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline

from pymodel.mechanism import formula
from pymodel.mechanism.scenario import Curve, Scenario, ScenarioError

#: A run may last so much longer than a curve, relative, as times are rounded.
BEYOND = 1e-9


def spline(curve: Curve) -> CubicSpline:
    """The curve: a polynomial of degree 3 between any two of its times, acceleration continuous."""
    return CubicSpline(curve.times, curve.values, bc_type=curve.ends)


def motion_in_time(motion: float | str | Curve) -> Callable[[float, int], float]:
    """(t in s, order) -> coordinate (0), rad or m, velocity (1) or acceleration (2) at that time.

    Raises
    ------
    FormulaError
        If a formula is none, or a number in a derivative of it is not finite.
    """
    if isinstance(motion, Curve):
        through = spline(motion)
        return lambda t, order: float(through(t, order))
    place = formula.parse(motion) if isinstance(motion, str) else motion
    velocity = formula.derivative(place)
    orders = place, velocity, formula.derivative(velocity)
    return lambda t, order: formula.value(orders[order], t)


def finite(curve: Curve) -> bool:
    """Whether all numbers of the curve are."""
    with np.errstate(all="ignore"):
        try:
            coefficients = spline(curve).c
        except ValueError:  # scipy's, of what it computes on the way
            return False
        return bool(np.isfinite(coefficients).all()) and math.isfinite(1.0 / curve.times[-1])


def check_curves(scenario: Scenario) -> None:
    """Refuse a run that lasts longer than a motion that is a curve.

    Raises
    ------
    ScenarioError
    """
    for k in scenario.moved:
        motion = scenario.bodies[k].motion
        if isinstance(motion, Curve) and scenario.end > motion.times[-1] * (1.0 + BEYOND):
            reason = f"ends at {motion.times[-1]!r} s, before the run does ({scenario.end!r} s)"
            raise ScenarioError(scenario.source, f"body[{k}].motion.times", reason)
