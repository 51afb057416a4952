"""Mechanisms with thin, flat and point-like bodies, and their rates, for the tests of lending."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.mechanism.lending import lent
from pymodel.mechanism.scenario import FREE, GROUND, PRISMATIC, REVOLUTE, Body, Scenario
from pymodel.tests import space

#: Joints over which everything may be lent that a thin body on one other joint lacks.
HELD = (REVOLUTE, PRISMATIC)


def shaft_and_arm(about_axis: float) -> Scenario:
    """A shaft on a hinge about its own axis, an arm across it: rods of 1 m and 1 kg.

    Parameters
    ----------
    about_axis : float
        Their moment of inertia about their own axes, kg m^2.
    """
    across = 1.0 / 12.0
    joint = {"joint": REVOLUTE, "rotation": (0.0,) * 3}
    shaft = Body(
        mass=1.0,
        inertia=(across, 0.0, 0.0, across, 0.0, about_axis),
        com=(0.0, 0.0, 0.5),
        tip=(0.0, 0.0, 1.0),
        attach=(0.0,) * 3,
        axis=(0.0, 0.0, 1.0),
        q=0.3,
        qd=1.0,
        **joint,
    )
    arm = Body(
        mass=1.0,
        inertia=(about_axis, 0.0, 0.0, across, 0.0, across),
        com=(0.5, 0.0, 0.0),
        tip=(1.0, 0.0, 0.0),
        parent=0,
        attach=(0.0, 0.0, 1.0),
        axis=(0.0, 1.0, 0.0),
        q=0.4,
        qd=-1.0,
        **joint,
    )
    return Scenario("shaft and arm", (0.0, 0.0, -9.81), 1e-3, 1.0, (shaft, arm), integrator="rk4")


def point_pendulum(points: int, inertia: float = 0.0) -> Scenario:
    """Point masses of 1 kg on massless bars of 1 m, one after the other, held horizontally."""
    point = Body(1.0, inertia, com=(1.0, 0.0), tip=(1.0, 0.0), q=np.pi)
    others = [replace(point, parent=k, attach=(1.0, 0.0), q=0.0) for k in range(points - 1)]
    bodies = (point, *others)
    return Scenario("points", (0.0, -9.81), 1e-3, 2.0, bodies, integrator="rk4", save=10)


def point_slider() -> Scenario:
    """A point mass off the axis of its slider, in the plane."""
    point = Body(1.0, 0.0, com=(0.3, 0.2), tip=(0.3, 0.2), joint=PRISMATIC, axis=(1.0, 0.0))
    return Scenario("slider", (0.0, -9.81), 1e-3, 1.0, (point,))


def thin(
    rng: np.random.Generator,
    n: int,
    spatial: bool,
    joints: tuple[str, ...] = HELD,
    thinnest: float = 1e-6,
) -> Scenario:
    """Draw a tree of bars, plates and points, their thickness log-uniform from 1 to ``thinnest``.

    Half of them hang at the tip of another, their axes any way or along their frame's x axis.
    """
    drawn = space.random_mechanism(rng, n, spatial, joints, loads=False)
    bodies = [_thin(rng, body, spatial, thinnest) for body in drawn.bodies]
    for k, body in enumerate(bodies):
        if body.parent != GROUND and body.joint != FREE and rng.random() < 0.5:
            bodies[k] = replace(body, attach=bodies[body.parent].tip)
    return replace(drawn, bodies=tuple(bodies))


def _thin(rng: np.random.Generator, body: Body, spatial: bool, thinnest: float) -> Body:
    share = thinnest ** rng.random() ** 2
    moment = body.mass * rng.uniform(0.3, 1.0) ** 2 / 12.0
    if not spatial:
        return replace(body, inertia=float(moment * share**2))
    around, across = 2.0 * share**2, 1.0 + share**2
    moments = moment * np.array(
        ((around, across, across), (across, across, 2.0), (share**2,) * 3)[rng.integers(3)]
    )
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] if rng.random() < 0.5 else np.eye(3)
    inertia = turn @ np.diag(moments) @ turn.T
    com = turn[:, 0] * rng.uniform(0.1, 0.5) if rng.random() < 0.7 else np.array(body.com)
    return replace(
        body,
        inertia=tuple(inertia[np.triu_indices(3)].tolist()),
        com=tuple(com.tolist()),
        tip=tuple((2.0 * com).tolist()),
    )


def evaluated(
    arithmetic: Any,
    scenario: Scenario,
    q: Sequence[Any] | np.ndarray,
    p: Sequence[Any] | np.ndarray,
    **options: Any,
) -> list[np.ndarray]:
    """q-dot and p-dot."""
    mechanism = prepare(arithmetic, scenario, **options)
    q, p = ([arithmetic.const(x) for x in values] for values in (q, p))
    now = serve(arithmetic, rates(mechanism, q, p))
    return [np.array([arithmetic.to_float(x) for x in found]) for found in (now.q_dot, now.p_dot)]


def error(found: np.ndarray, expected: np.ndarray, axis: int | None = None) -> Any:
    """Largest error by the largest component."""
    return np.abs(found - expected).max(axis=axis) / np.abs(expected).max(axis=axis)


def lends(scenario: Scenario) -> bool:
    """Whether any body lends another one anything."""
    found = lent(scenario)
    return any(found.masses) or any(moments is not None for moments in found.moments)
