"""The reference for all joints against Pinocchio, Lagrange's equations and closed formulas."""

import dataclasses

import numpy as np
import pinocchio
import pytest

from pymodel.mechanism import kinematics
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import GROUND, PRISMATIC, REVOLUTE, SPHERICAL, Body, Spring
from pymodel.mechanism.scenario_file import load
from pymodel.runs import lagrangian
from pymodel.runs.lagrangian import Lagrangian
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests import loops, mechanisms, space
from pymodel.tests.pinocchio_scenario import PinocchioTree
from pymodel.tests.places import SCENARIOS


def scale(values):
    return max(1.0, abs(values).max())


def drives(scenario, q, qd):
    """Torques, springs and dampers of the joints, (nv,)."""
    found = np.zeros(scenario.nv)
    for body, at, own in zip(scenario.bodies, scenario.q_slices, scenario.v_slices, strict=True):
        if own.stop - own.start == 1:
            found[own] = body.torque - body.spring * (q[at] - body.rest) - body.damping * qd[own]
    return found


@pytest.mark.parametrize("seed", range(10))
def test_trees_against_pinocchio(seed):
    """M, p = M qd, p-dot = C^T qd - g + tau, and the accelerations."""
    rng = np.random.default_rng(seed)
    tree = space.random_mechanism(rng, 8, spatial=seed % 3 > 0)
    its, ours = PinocchioTree(tree), NewtonEuler(tree)
    for _ in range(3):
        q = displaced(tree, tree.q0, rng.uniform(-1, 1, tree.nv))
        qd = rng.uniform(-2, 2, tree.nv)
        matrix = its.mass_matrix(q, qd)
        np.testing.assert_allclose(ours.mass_matrix(q), matrix, rtol=0, atol=1e-13 * scale(matrix))
        p = matrix @ qd
        np.testing.assert_allclose(ours.momenta(q, qd), p, rtol=0, atol=1e-13 * scale(p))
        tau = drives(tree, q, qd)
        rates = its.momentum_rates(q, qd) + tau
        found_qd, found_pd = ours.canonical_rates(q, p)
        np.testing.assert_allclose(found_qd, qd, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found_pd, rates, rtol=0, atol=1e-10 * scale(rates))
        order = its.ours(np.arange(tree.nv)).astype(int)  # where ours stand in Pinocchio's
        state = its.state(q, qd)
        theirs = pinocchio.aba(its.model, its.data, *state, tau[np.argsort(order)])[order]
        error = ours.accelerations(q, qd) - theirs
        assert abs(error).max() < 1e-10 * scale(theirs)


@pytest.mark.parametrize("seed", range(5))
def test_mechanisms_of_pins_against_lagrange(seed):
    """With loops and springs between points."""
    rng = np.random.default_rng(seed)
    loop_count = seed % 3
    if loop_count:
        scenario = mechanisms.random_mechanism(rng, 5, loop_count)
    else:
        scenario = mechanisms.random_tree(rng, 5)
    springs = (
        Spring(0, (0.1, 0.2), GROUND, (-1.0, 0.5), 30.0, 0.4, 0.7),
        Spring(3, (0.1, -0.2), 1, (0.3, 0.5), 20.0, 0.0, 0.0),
    )
    scenario = dataclasses.replace(scenario, springs=springs)
    ours, theirs = NewtonEuler(scenario), Lagrangian(scenario)
    q, qd = scenario.q0, scenario.qd0
    np.testing.assert_allclose(ours.mass_matrix(q), theirs.mass_matrix(q), rtol=0, atol=1e-13)
    pairs = [(ours.accelerations(q, qd), theirs.accelerations(q, qd))]
    p = theirs.momenta(q, qd)
    if scenario.loops:
        pairs += zip(
            ours.constrained_accelerations(q, qd),
            theirs.constrained_accelerations(q, qd),
            strict=True,
        )
        p = p - theirs.gaps(q)[1].T @ rng.uniform(-1, 1, 2 * len(scenario.loops))
    pairs += zip(ours.canonical_rates(q, p), theirs.canonical_rates(q, p), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * scale(expected))


CLOSED = space.closed_mechanisms() | space.turning_planes()


@pytest.fixture(params=CLOSED)
def mechanism(request):
    return CLOSED[request.param]


def test_constraints_and_their_rates(mechanism):
    """J as the kinematics have it, and J-dot qd by differences along the motion."""
    equations = NewtonEuler(mechanism)
    q, qd = mechanism.q0, mechanism.qd0
    _, expected = equations.gaps(q)
    jacobian, rate = equations._constraints(equations._motion(q, qd))
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=1e-14)
    step = 1e-6
    ahead, back = (equations.gaps(displaced(mechanism, q, s * step * qd))[1] for s in (1, -1))
    np.testing.assert_allclose(rate, (ahead - back) / (2 * step), rtol=0, atol=1e-8)


def test_rates_of_momenta_are_those_of_the_motion(mechanism):
    """d(M qd)/dt = p-dot + J^T lambda + J-dot^T sigma, with M qd by differences: sigma = 0 here."""
    equations = NewtonEuler(mechanism)
    q, qd = mechanism.q0, mechanism.qd0
    p = equations.momenta(q, qd)
    found_qd, pd = equations.canonical_rates(q, p)
    np.testing.assert_allclose(found_qd, qd, rtol=0, atol=1e-10)
    qdd, forces = equations.constrained_accelerations(q, qd)
    step = 1e-6
    ahead, back = (
        equations.momenta(displaced(mechanism, q, s * step * qd), qd + s * step * qdd)
        for s in (1, -1)
    )
    expected = (ahead - back) / (2 * step) - equations.gaps(q)[1].T @ forces
    np.testing.assert_allclose(pd, expected, rtol=0, atol=1e-7 * scale(expected))


def test_an_impulse_in_a_loop_moves_nothing(mechanism):
    """p and p + J^T sigma have the same velocities, and sigma is found again."""
    equations = NewtonEuler(mechanism)
    q, qd = mechanism.q0, mechanism.qd0
    sigma = np.random.default_rng(0).uniform(-1, 1, equations.constraints)
    p = equations.momenta(q, qd) - equations.gaps(q)[1].T @ sigma
    found_qd, found = equations.velocities(q, p)
    np.testing.assert_allclose(found_qd, qd, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found, sigma, rtol=0, atol=1e-10)
    table = lagrangian.impulses(mechanism, q[None], p[None])[0]
    kept = [loop.kept for loop in mechanism.loops]
    assert table.shape == (len(kept), 5 if mechanism.spatial else 2)
    np.testing.assert_allclose(table[table != 0.0], sigma, rtol=0, atol=1e-10)
    if kept[0] is not None:
        assert np.flatnonzero(table[0]).tolist() == list(kept[0])


def run(scenario, end, count=41):
    return lagrangian.simulate(scenario, np.linspace(0.0, end, count))


@pytest.mark.parametrize("joints", [(REVOLUTE,), (SPHERICAL, PRISMATIC)])
def test_floating_trees_keep_energy_and_momenta(joints):
    scenario = space.random_floating(np.random.default_rng(1), 4, joints)
    motion = run(scenario, 2.0)
    linear, angular = kinematics.total_momenta(scenario, motion.q, motion.qd)
    for values in (motion.kinetic, linear, angular):
        np.testing.assert_allclose(values, values[:1].repeat(41, 0), rtol=0, atol=1e-11)
    assert abs(motion.qd - motion.qd[0]).max() > 0.1


LINKAGES = {
    "bennett": with_kept_rows(space.bennett()),
    "rssr": space.rssr(qd=2.0),
    "slider_crank": space.slider_crank(qd=3.0),
}


@pytest.fixture(scope="module", params=LINKAGES)
def linkage(request):
    scenario = LINKAGES[request.param]
    return request.param, scenario, run(scenario, 1.0)


def test_linkages_keep_energy_and_stay_closed(linkage):
    _, scenario, motion = linkage
    energy = motion.kinetic + motion.potential
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-11)
    assert motion.loop_position.max() < 1e-14
    assert motion.loop_velocity.max() < 1e-13
    assert kinematics.loop_tilt(scenario, motion.q).max() < 1e-14
    assert abs(motion.q[:, 0] - motion.q[0, 0]).max() > 1.0


def test_linkages_against_closed_formulas(linkage):
    name, _, motion = linkage
    q = motion.q
    if name == "bennett":
        product = np.tan(0.5 * q[:, 0]) * np.tan(0.5 * q[:, 1])
        np.testing.assert_allclose(product, space.bennett_constant(1.0, 1.9), rtol=1e-11)
        np.testing.assert_allclose(q[:, 2], -q[:, 0], rtol=0, atol=1e-12)
    elif name == "slider_crank":
        place = 0.2 * np.cos(q[:, 0]) + np.sqrt(0.25 - (0.2 * np.sin(q[:, 0])) ** 2)
        np.testing.assert_allclose(q[:, 2], place, rtol=0, atol=1e-13)
        # Its only freedom: the crank's speed follows from the energy.
        speed = 0.5 * (motion.kinetic[0] + motion.potential[0] - motion.potential)
        ratio = motion.qd / motion.qd[:, :1]
        reduced = kinematics.kinetic_energy(LINKAGES[name], q, ratio)
        found = abs(motion.qd[:, 0])
        np.testing.assert_allclose(found, np.sqrt(2.0 * speed / reduced), rtol=1e-10)


def test_momenta_of_a_run_have_the_rates_of_hamiltons_equations(linkage):
    """p of a run by differences, with the impulses of the loop that it has then."""
    _, scenario, motion = linkage
    step, at = 1e-3, 0.6
    near = lagrangian.simulate(scenario, at + step * np.arange(-4, 5))
    weights = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840 / step
    _, pd = lagrangian.canonical_rates(scenario, near.q[4], near.p[4])
    np.testing.assert_allclose(weights @ near.p, pd, rtol=0, atol=1e-8 * scale(pd))
    np.testing.assert_allclose(
        lagrangian.canonical_rates(scenario, near.q[4], near.p[4])[0], near.qd[4], atol=1e-10
    )


@pytest.mark.parametrize("hinges", [True, False])
def test_a_planar_four_bar_of_hinges_moves_as_in_the_plane(hinges):
    planar = load(SCENARIOS / "general_four_bar.toml")
    lifted = with_kept_rows(space.in_space(planar, hinges))
    flat, raised = run(planar, 0.2), run(lifted, 0.2)
    np.testing.assert_allclose(raised.q, flat.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(raised.p, flat.p, rtol=0, atol=1e-10)


def test_a_loop_without_constraints_of_its_own_changes_nothing():
    """A door with a second hinge swings like one without."""
    rng = np.random.default_rng(0)
    door = space.random_mechanism(rng, 1, joints=(REVOLUTE,), parents=[-1])
    (body,) = door.bodies
    loop = loops.Loop(
        0,
        (0.0, 0.0, 0.0),
        GROUND,
        body.attach,
        axis=body.axis,
        to_axis=tuple(kinematics.body_rotations(door, door.q0)[0] @ body.axis),
    )
    second = with_kept_rows(dataclasses.replace(door, loops=(loop,)))
    assert second.loops[0].kept == ()
    np.testing.assert_array_equal(run(second, 0.5, 5).q, run(door, 0.5, 5).q)


def test_a_heavy_top_precesses_steadily():
    """A symmetric top on a ball joint, at the slow rate that its spin keeps it at."""
    mass, height, gravity, along, across, tilt, spin = 1.3, 0.2, 9.81, 0.004, 0.03, 0.7, 200.0
    about = across + mass * height**2  # about the tip
    # (about - along) cos(tilt) w^2 - along spin w + mass gravity height = 0, spin: body's own rate
    factors = ((about - along) * np.cos(tilt), -along * spin, mass * gravity * height)
    slow = min(np.roots(factors), key=abs)
    lean = (0.0, float(np.sin(0.5 * tilt)), 0.0, float(np.cos(0.5 * tilt)))
    ground_rate = np.array((0.0, 0.0, slow))
    turn = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    body = Body(
        mass=mass,
        inertia=(across, 0.0, 0.0, across, 0.0, along),
        com=(0.0, 0.0, height),
        tip=(0.0, 0.0, 2 * height),
        attach=(0.0, 0.0, 0.0),
        rotation=(0.0, 0.0, 0.0),
        joint=SPHERICAL,
        q=lean,
        qd=tuple(turn.T @ ground_rate + (0.0, 0.0, spin)),
    )
    top = space.Scenario("top", (0.0, 0.0, -gravity), 1e-3, 1.0, (body,))
    motion = run(top, 0.3)
    centre = kinematics.centres_of_mass(top, motion.q)[:, 0]
    angle = slow * motion.t
    expected = height * np.stack(
        (np.sin(tilt) * np.cos(angle), np.sin(tilt) * np.sin(angle), np.full(41, np.cos(tilt))), 1
    )
    np.testing.assert_allclose(centre, expected, rtol=0, atol=1e-10)
