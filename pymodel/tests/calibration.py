"""How well the loss of a state tells the error of its velocities, on random thin mechanisms."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.requests import SingularError, serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays, parse
from pymodel.mechanism.scenario import FIXED, FREE, SPHERICAL, Scenario
from pymodel.runs.loss import losses
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests.thin import HELD, thin

FORMATS = ("float64", "float32", "8/17", "6/9")


class Extended(Float64Arrays):
    """Numbers of 64 bits where the host has them: the truth for float64."""

    name = "extended"

    def const(self, x: float) -> np.longdouble:
        """Take x as it is."""
        return np.longdouble(x)

    def parameter(self, name: str, x: float) -> np.longdouble:
        """Take x as it is."""
        return np.longdouble(x)

    structural = parameter

    def sincos(self, x: np.longdouble) -> tuple[np.longdouble, np.longdouble]:
        """(sin x, cos x)."""
        return np.sin(x), np.cos(x)


class Point(NamedTuple):
    """One state in one arithmetic."""

    seed: int
    arithmetic: str
    estimate: float
    error: float  # of the velocities, as a share of the largest


def velocities(arithmetic: Any, scenario: Scenario, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """q-dot, as the algorithm gives it; NaN where it is singular."""
    mechanism = prepare(arithmetic, scenario)
    state = [[arithmetic.const(x) for x in values] for values in (q, p)]
    try:
        now = serve(arithmetic, rates(mechanism, *state))
    except SingularError:
        return np.full(len(p), np.nan)
    return np.array([arithmetic.to_float(x) for x in now.q_dot])


def drawn(seed: int) -> Scenario:
    """A tree of 2 to 6 thin bodies, of any joints, in the plane or in space."""
    rng = np.random.default_rng(seed)
    spatial = bool(rng.random() < 0.6)
    joints = HELD
    if rng.random() < 0.5:
        joints = (*HELD, SPHERICAL, FREE, FIXED) if spatial else (*HELD, FREE, FIXED)
    return thin(rng, int(rng.integers(2, 7)), spatial, joints)


def error_of(found: np.ndarray, right: np.ndarray) -> float:
    """As a share of the largest."""
    return float(np.abs(found - right).max() / np.abs(right).max())


@np.errstate(all="ignore")
def points(seeds: range, formats: tuple[str, ...] = FORMATS) -> Iterator[Point]:
    """Estimates and errors; the velocities that momenta M qd belong to are qd."""
    for seed in seeds:
        scenario = drawn(seed)
        q, qd = scenario.q0, scenario.qd0
        p = NewtonEuler(scenario).momenta(q, qd)
        found = losses(scenario, q[None], p[None], np.zeros(1))
        assert found is not None
        for name in formats:
            arithmetic = parse(name, fold=True)
            right = qd
            if isinstance(arithmetic, Float64):  # M qd has errors, too
                right = velocities(Extended(), scenario, q, p)
            else:
                assert isinstance(arithmetic, BitExact)
            error = error_of(velocities(arithmetic, scenario, q, p), right)
            yield Point(seed, name, float(found[0]) * arithmetic.unit_roundoff, error)
