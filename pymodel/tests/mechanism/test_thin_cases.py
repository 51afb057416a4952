"""Thin bars, point masses, parallel cranks and governors as people have them: other instances."""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.arith.scalars import BitExact, Float64
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import ScenarioError
from pymodel.mechanism.scenario_file import parse
from pymodel.runs import adaptive, lagrangian, native_runs
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests import space
from pymodel.tests.thin import error, evaluated, lends

FLOAT32 = BitExact(fold=True)
UP = [0.0, 0.0, 1.0]


def mechanism(gravity, bodies, loops=(), **time):
    time = {"step": 1e-3, "end": 0.1, "integrator": "rk4"} | time
    data = {"name": "case", "gravity": gravity, "time": time, "body": bodies}
    return parse(data | ({"loop": list(loops)} if loops else {}))


# --- point masses ---------------------------------------------------------------------------------


def point(joint, com, **keys):
    none = 0.0 if len(com) == 2 else [0.0] * 3
    return {"joint": joint, "mass": 1.5, "inertia": none, "com": com, "tip": com, **keys}


def plane_of_points():
    """Points on pins, two of them on one, and one that slides along another's bar."""
    return mechanism(
        [0.0, -9.81],
        [
            point("revolute", [0.7, 0.0], q=0.3, qd=1.0),
            point("revolute", [0.3, 0.4], parent=0, attach=[0.7, 0.0], q=0.5, qd=-2.0),
            point("revolute", [0.0, -0.5], parent=0, attach=[0.7, 0.0], q=-0.4, qd=0.5),
            point("prismatic", [0.0, 0.1], parent=1, axis=[0.6, 0.8], q=0.2, qd=0.7),
        ],
    )


def space_of_points():
    """Points on hinges across each other, and one that slides."""
    return mechanism(
        [0.0, 0.0, -9.81],
        [
            point("revolute", [0.6, 0.0, 0.1], axis=UP, q=0.3, qd=1.0),
            point(
                *("revolute", [0.5, 0.0, 0.0]),
                **{"parent": 0, "attach": [0.6, 0.0, 0.1], "axis": [0.0, 1.0, 0.0]},
                **{"q": 0.5, "qd": -2.0},
            ),
            point(
                *("prismatic", [0.0, 0.1, 0.0]),
                **{"parent": 1, "attach": [0.5, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]},
                **{"q": 0.2, "qd": 0.7},
            ),
        ],
    )


def points_under_a_ball():
    """A body on a ball that carries points on hinges."""
    solid = {"joint": "spherical", "mass": 1.0, "inertia": [0.01, 0.02, 0.03]}
    solid |= {"com": [0.1, 0.0, -0.1], "tip": [0.0, 0.0, -0.3], "qd": [0.3, -0.5, 2.0]}
    places = ([0.2, 0.0, -0.3], [1.0, 0.0, 0.0]), ([-0.2, 0.0, -0.3], [0.0, 1.0, 0.0])
    hung = [
        point("revolute", [0.1, 0.1, -0.4], parent=0, attach=at, axis=axis, q=0.4, qd=1.0)
        for at, axis in places
    ]
    return mechanism([0.0, 0.0, -9.81], [solid, *hung])


@pytest.mark.parametrize("make", [plane_of_points, space_of_points, points_under_a_ball])
def test_trees_of_points(make):
    scenario = make()
    assert lends(scenario)
    q, qd = scenario.q0, scenario.qd0
    p = joint_momenta(scenario, q, qd)
    expected = NewtonEuler(scenario).canonical_rates(q, p)
    for arithmetic, bound in ((Float64(), 1e-13), (FLOAT32, 2e-5)):
        for found, right in zip(evaluated(arithmetic, scenario, q, p), expected, strict=True):
            assert error(found, right) < bound


def test_a_point_on_a_ball_at_the_end_of_a_tree_is_refused():
    """It turns about its own line without inertia, whatever it hangs on."""
    first = point("revolute", [0.5, 0.0, 0.0], axis=UP)
    last = point("spherical", [0.5, 0.0, 0.0], parent=0, attach=[0.5, 0.0, 0.0])
    with pytest.raises(ScenarioError, match=r"body\[1\].inertia: 0 about an axis about which it"):
        mechanism([0.0, 0.0, -9.81], [first, last])


# --- loops in the plane ---------------------------------------------------------------------------


def parallel_cranks(places, radius, angle, inertia):
    """Cranks on the ground that one rod joins: all loops but the first have one pin too much."""
    places = np.array(places)
    crank = {"mass": 1.0, "inertia": inertia, "com": [radius / 2, 0.0], "tip": [radius, 0.0]}
    span = float(places[-1] - places[0])
    rod = {"mass": 2.0, "inertia": inertia, "com": [span / 2, 0.0], "tip": [span, 0.0]}
    crank |= {"q": angle, "qd": 2.0}
    first = crank | {"attach": [float(places[0]), 0.0]}
    others = [crank | {"parent": -1, "attach": [float(x), 0.0]} for x in places[1:]]
    loops = [
        {"body": 1, "point": [float(x - places[0]), 0.0], "to": 2 + k, "at": [radius, 0.0]}
        for k, x in enumerate(places[1:])
    ]
    bodies = [first, rod | {"q": -angle, "qd": -2.0}, *others]
    return mechanism([0.0, -9.81], bodies, loops)


CRANKS = {
    "four of them": parallel_cranks([0.0, 0.5, 0.9, 1.4], 0.15, 0.8, 0.02),
    "one between, thin": parallel_cranks([0.0, 1.0, 2.0], 0.3, 1.0, 1e-7),
    "points, unevenly": parallel_cranks([0.0, 0.2, 1.1], 0.25, -0.6, 0.0),
}


@pytest.mark.parametrize("name", CRANKS)
def test_parallel_cranks(name):
    scenario = CRANKS[name]
    assert {loop.kept for loop in scenario.loops} > {None}
    exact = lagrangian.simulate(scenario, scenario.times)
    assert np.ptp(exact.q[:, 0]) > 0.05
    for arithmetic, bound in (("float64", 1e-9), ("float32", 1e-4)):
        run = native_runs.simulate(scenario, arithmetic)
        assert np.abs(run.q - exact.q).max() < bound and not run.warnings


def thin_governor(q, share, rate):
    """The planar governor with thin bars, which falls."""
    scenario = space.governor(q, rate)
    bodies = [replace(body, inertia=body.inertia * share) for body in scenario.bodies]
    changes = {"bodies": tuple(bodies), "integrator": "rk4", "step": 1e-3, "end": 0.05, "save": 10}
    return with_kept_rows(replace(scenario, **changes))


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize("integrator", ["rk4", "Radau", "BDF"])
@pytest.mark.parametrize(
    ("q", "share", "rate"), [(0.9, 1e-4, 0.5), (0.6, 1e-7, 1.0), (1.1, 0.0, -1.0)]
)
def test_planar_governors(integrator, q, share, rate):
    """No more evaluations by a thin bar than the same integrator takes with thick ones."""
    scenario = replace(thin_governor(q, share, rate), integrator=integrator)
    exact = lagrangian.simulate(scenario, scenario.times)
    if integrator == "rk4":
        for arithmetic, bound in (("float64", 1e-9), ("float32", 1e-4)):
            run = native_runs.simulate(scenario, arithmetic)
            assert np.abs(run.q - exact.q).max() < bound
        return
    scenario = replace(scenario, tolerance=1e-8)
    run = adaptive.simulate(scenario)
    assert np.abs(run.q - exact.q).max() < 1e-6
    thick = replace(thin_governor(q, 1.0, rate), integrator=integrator, tolerance=1e-8)
    assert run.evaluations < 2 * adaptive.simulate(thick).evaluations
