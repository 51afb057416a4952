"""Loops with constraints to spare, singular postures, and what is solved from guesses in space."""

import dataclasses
import math

import numpy as np
import pytest

from pymodel.mechanism import kinematics
from pymodel.mechanism.checks import check_loops
from pymodel.mechanism.closure import with_closed_loops
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import FREE, GROUND, REVOLUTE, SPHERICAL, Loop, ScenarioError
from pymodel.mechanism.scenario_file import load, parse
from pymodel.runs import lagrangian, native_runs
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.places import SCENARIOS

PLANES = space.turning_planes()
SINGULAR = r"depend on each other at the initial posture \(a singular one\)"


def kept(scenario):
    return [loop.kept for loop in with_kept_rows(scenario).loops]


def kept_jacobian(scenario, q):
    """Rows of the constraints that a scenario keeps."""
    jacobian = kinematics.loop_jacobian(scenario, q)
    rows = zip(scenario.loops, kinematics.loop_rows(scenario), strict=True)
    return np.concatenate(
        [jacobian[own][slice(None) if loop.kept is None else list(loop.kept)] for loop, own in rows]
    )


def rounded(scenario, digits=6):
    """The scenario with axes, places and angles of so many decimals, as one types them."""

    def short(value):
        if isinstance(value, tuple):
            return tuple(round(x, digits) for x in value)
        return round(value, digits) if isinstance(value, float) else value

    def typed(part, keys):
        return dataclasses.replace(part, **{key: short(getattr(part, key)) for key in keys})

    bodies = tuple(typed(body, ("attach", "rotation", "q", "qd")) for body in scenario.bodies)
    loops = tuple(typed(loop, ("point", "at")) for loop in scenario.loops)
    return dataclasses.replace(scenario, bodies=bodies, loops=loops)


@pytest.mark.parametrize("q", [0.5, 2.0, -1.0])
def test_bennett_keeps_two_of_five(q):
    """Two that stay independent far from the start; as it goes round, each pair fails somewhere."""
    scenario = with_kept_rows(space.bennett(q=q))
    assert len(scenario.loops[0].kept) == 2
    for angle in q + np.linspace(-1.2, 1.2, 20):
        posture = space.bennett(q=angle).q0
        values = np.linalg.svd(kept_jacobian(scenario, posture), compute_uv=False)
        assert values[-1] > 0.02


def test_a_typed_bennett_keeps_two_of_five():
    typed = rounded(space.bennett(qd=1.0))
    assert 1e-8 < kinematics.loop_position(typed, typed.q0) < 1e-6
    check_loops(typed)
    assert len(kept(typed)[0]) == 2


def locomotive():
    """Three parallel cranks and their rod, in the plane: one constraint follows from the others."""
    wheel = {"mass": 2.0, "inertia": 0.05, "com": [0.0, 0.0], "tip": [0.2, 0.0], "q": 1.0}
    rod = {"mass": 3.0, "inertia": 0.4, "com": [0.6, 0.0], "tip": [1.2, 0.0], "q": -1.0}
    middle, rear = (wheel | {"parent": -1, "attach": [x, 0.0]} for x in (0.6, 1.2))
    loops = [
        {"body": 1, "point": [x, 0.0], "to": to, "at": [0.2, 0.0]} for x, to in ((0.6, 2), (1.2, 3))
    ]
    bodies = [wheel | {"torque": 0.5}, rod, middle, rear]
    time = {"step": 1e-3, "end": 0.3, "integrator": "rk4"}
    return parse(
        {"name": "locomotive", "gravity": [0.0, -9.81], "time": time, "body": bodies, "loop": loops}
    )


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_parallel_cranks_run_in_the_plane_as_in_space(arithmetic):
    planar = locomotive()
    assert sorted(map(str, kept(planar))) == ["(1,)", "None"]
    spatial = with_kept_rows(space.in_space(planar))
    runs = [native_runs.simulate(one, arithmetic) for one in (planar, spatial)]
    bound = 1e-12 if arithmetic == "float64" else 2e-5
    assert np.abs(runs[0].q - runs[1].q).max() < bound
    exact = lagrangian.simulate(planar, planar.times)
    assert np.abs(runs[0].q - exact.q).max() < max(bound, 1e-9)
    assert np.ptp(exact.q[:, 0]) > 0.1


def test_a_pin_that_is_there_twice_is_held_once():
    four_bar = load(SCENARIOS / "four_bar.toml")
    twice = with_kept_rows(dataclasses.replace(four_bar, loops=2 * four_bar.loops))
    assert sum(len(loop.kept if loop.kept is not None else (0, 1)) for loop in twice.loops) == 2


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "coupled_loops"])
def test_planar_loops_of_hinges_in_space(name):
    """They keep the two translations of the plane; balls have the third one to spare."""
    planar = load(SCENARIOS / f"{name}.toml")
    count = len(planar.loops)
    assert kept(planar) == [None] * count
    assert kept(space.in_space(planar)) == [(0, 1)] * count
    assert kept(space.in_space(planar, hinges=False)) == [(0, 1)] * count


@pytest.mark.parametrize("name", PLANES)
def test_planar_loops_on_a_base_that_turns(name):
    """They keep two translations, which are as independent wherever the base turns."""
    scenario = PLANES[name]
    assert [len(loop.kept) for loop in scenario.loops] == [2] * len(scenario.loops)
    own = scenario.v_slices[0]

    def least(turn):
        step = np.zeros(scenario.nv)
        step[own] = turn
        jacobian = kept_jacobian(scenario, displaced(scenario, scenario.q0, step))
        return np.linalg.svd(jacobian, compute_uv=False)[-1]

    start = least(0.0)
    assert start > 0.05
    for turn in np.random.default_rng(3).uniform(-3, 3, (20, own.stop)):
        assert least(turn) == pytest.approx(start, rel=1e-9)


def test_loops_without_redundancy_keep_all():
    rng = np.random.default_rng(2)
    tree = space.random_mechanism(rng, 9, parents=range(-1, 8), joints=(REVOLUTE, SPHERICAL))
    assert kept(space.with_loops(rng, tree, [(8, GROUND, REVOLUTE)])) == [None]
    assert kept(space.rssr()) == [None]
    assert kept(space.slider_crank()) == [None]


def test_a_loop_that_follows_from_another_keeps_nothing():
    """A door with a second and a third hinge."""
    door = space.random_mechanism(np.random.default_rng(0), 1, joints=(REVOLUTE,), parents=[-1])
    axis = np.array(door.bodies[0].axis)
    loops = []
    for height in (0.3, 0.7):
        at = kinematics.point_position(door, door.q0, 0, tuple(height * axis))
        to_axis = kinematics.body_rotations(door, door.q0)[0] @ axis
        ends = (0, tuple(height * axis), GROUND, tuple(at))
        loops.append(Loop(*ends, axis=tuple(axis), to_axis=tuple(to_axis)))
    assert kept(dataclasses.replace(door, loops=tuple(loops))) == [(), ()]


@pytest.mark.parametrize("hinges", [True, False])
def test_a_flat_four_bar_is_singular_in_space(hinges):
    planar = load(SCENARIOS / "four_bar.toml").with_state(np.array([0.0, 0.0, np.pi]), np.zeros(3))
    with pytest.raises(ScenarioError, match=SINGULAR):
        with_kept_rows(space.in_space(planar, hinges))
    with pytest.raises(ScenarioError, match=SINGULAR):
        with_kept_rows(planar)


def test_a_shaky_truss_is_singular():
    """Two bars in line between pins of the ground move at first order only."""
    bar = space.slider_crank().bodies[0]
    bars = (
        dataclasses.replace(bar, q=0.0),
        dataclasses.replace(bar, parent=0, attach=(0.2, 0.0), q=0.0),
    )
    planar = dataclasses.replace(
        space.slider_crank(), bodies=bars, loops=(Loop(1, (0.2, 0.0), GROUND, (0.4, 0.0)),)
    )
    with pytest.raises(ScenarioError, match=SINGULAR):
        with_kept_rows(space.in_space(planar))


def test_what_cannot_move_is_refused():
    bar = space.slider_crank().bodies[0]
    bars = (
        dataclasses.replace(bar, q=1.0),
        dataclasses.replace(bar, parent=0, attach=(0.2, 0.0), q=-2.0),
    )
    at = (float(0.4 * np.cos(1.0)), 0.0)
    planar = dataclasses.replace(
        space.slider_crank(), bodies=bars, loops=(Loop(1, (0.2, 0.0), GROUND, at),)
    )
    for truss in (planar, space.in_space(planar)):
        with pytest.raises(ScenarioError, match="loop: nothing can move: the loops hold all"):
            with_kept_rows(truss)
    rigid = dataclasses.replace(bar, joint="fixed", q=0.0, qd=0.0)
    still = dataclasses.replace(planar, bodies=(rigid,), loops=())
    with pytest.raises(ScenarioError, match="body: nothing can move: all joints are fixed"):
        with_kept_rows(still)


def guessed(scenario, rng, size=0.1):
    """The scenario with all joints but the first one near where they should be, as guesses."""
    step = rng.uniform(-size, size, scenario.nv)
    step[scenario.v_slices[0]] = 0.0
    qd = scenario.qd0
    qd[scenario.v_slices[0].stop :] = 0.0
    near = scenario.with_state(displaced(scenario, scenario.q0, step), qd)
    first, *rest = near.bodies
    bodies = (first, *(dataclasses.replace(body, guess=True) for body in rest))
    return dataclasses.replace(near, bodies=bodies)


@pytest.mark.parametrize("build", [space.bennett, space.rssr, space.slider_crank])
def test_guesses_close_linkages(build):
    exact = build(qd=1.5)
    rng = np.random.default_rng(4)
    solved = with_closed_loops(guessed(exact, rng))
    q, qd = solved.q0, solved.qd0
    assert kinematics.loop_position(solved, q) < 1e-14
    assert kinematics.loop_tilt(solved, q) < 1e-14
    assert kinematics.loop_velocity(solved, q, qd) < 1e-13
    assert solved.bodies[0].q == exact.bodies[0].q
    assert solved.bodies[0].qd == exact.bodies[0].qd
    if build is not space.rssr:  # its coupler may turn about its line
        np.testing.assert_allclose(q, exact.q0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(qd, exact.qd0, rtol=0, atol=1e-11)
    assert with_closed_loops(solved) == solved


def test_guesses_close_a_typed_bennett():
    typed = rounded(space.bennett(qd=1.5))
    solved = with_closed_loops(guessed(typed, np.random.default_rng(4)))
    check_loops(solved)
    assert kinematics.loop_position(solved, solved.q0) < 1e-6
    assert with_closed_loops(solved) == solved


@pytest.mark.parametrize("shift", [0.0, 1e-3])
def test_guesses_close_a_spherical_four_bar(shift):
    """Nothing of it but axes can move apart, also where its centre is the ground's origin."""
    axes = [(math.sin(angle), 0.0, math.cos(angle)) for angle in (0.0, 0.5, 1.5)]
    body = {"mass": 1.0, "inertia": [0.01, 0.02, 0.025], "com": [0.2, 0.05, 0.02]}
    body |= {"tip": [0.0, 0.0, 0.0]}
    bodies = [
        body | {"axis": axis, "q": q, "guess": True}
        for axis, q in zip(axes, (0.4, 0.5, 1.0), strict=True)
    ]
    bodies[0] |= {"guess": False, "qd": 1.0, "attach": [shift, 0.0, 0.0]}
    loop = {"body": 2, "point": [0.0, 0.0, 0.0], "to": "ground", "at": [shift, 0.0, 0.0]}
    loop |= {"axis": [0.0, math.sin(0.3), math.cos(0.3)]}
    loop |= {"to_axis": [math.sin(1.2), 0.3, math.cos(1.2)]}
    data = {"name": "spherical", "gravity": [0.0, 0.0, -9.81], "body": bodies, "loop": [loop]}
    data |= {"time": {"step": 1e-3, "end": 0.5}}
    solved = load(data)
    q, qd = solved.q0, solved.qd0
    assert kinematics.loop_tilt(solved, q) < 1e-14
    assert np.abs(kinematics.axis_gap_velocities(solved, q, qd)).max() < 1e-14
    assert qd[0] == 1.0 and qd.all()
    bodies[2] |= {"q": float(q[2]), "guess": False}  # it stands still
    with pytest.raises(ScenarioError, match="ends part at 0 m/s, axes at 0.[0-9]* rad/s"):
        load(data)


def test_guesses_do_not_close_with_the_axis_reversed():
    exact = space.bennett()
    (loop,) = exact.loops
    loop = dataclasses.replace(loop, axis=tuple(-x for x in loop.axis))
    turned = dataclasses.replace(exact, loops=(loop,))
    with pytest.raises(ScenarioError, match=r"loop\[0\]: does not .*: its axes are 3.14 rad apart"):
        check_loops(turned)
    with pytest.raises(ScenarioError, match="close no posture: (pins|axes) stay"):
        with_closed_loops(guessed(turned, np.random.default_rng(4)))


def test_axes_that_part_are_refused():
    """A ball would let the body turn so; a hinge does not."""
    base = space.random_mechanism(np.random.default_rng(1), 1, joints=(FREE,))
    free = space.with_loops(np.random.default_rng(2), base, [(0, GROUND, SPHERICAL)])
    check_loops(free)
    turns = kinematics.body_rotations(free, free.q0)
    (loop,) = free.loops
    axis = (0.0, 0.0, 1.0)
    hinge = dataclasses.replace(
        loop, joint=REVOLUTE, axis=axis, to_axis=tuple((turns[0] @ axis).tolist())
    )
    with pytest.raises(ScenarioError, match=r"loop\[0\]: initial velocities .*: its axes part"):
        check_loops(dataclasses.replace(free, loops=(hinge,)))


def test_rows_kept_of_a_loop_are_part_of_what_is_built():
    """Native steps of other rows are others, one after the other and together."""
    first = dataclasses.replace(locomotive(), end=0.02)
    assert sorted(map(str, kept(first))) == ["(1,)", "None"]
    one, other = first.loops
    loops = (dataclasses.replace(one, kept=other.kept), dataclasses.replace(other, kept=one.kept))
    both = [first, dataclasses.replace(first, loops=loops)]
    right = [simulate(one) for one in both]
    for found in ([native_runs.simulate(one) for one in both], native_runs.simulate_many(both)):
        for one, exact in zip(found, right, strict=True):
            assert np.array_equal(one.q, exact.q) and np.array_equal(one.p, exact.p)
    assert not np.array_equal(right[0].p, right[1].p)
