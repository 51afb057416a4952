"""Kinematics of all joints, in the plane and in space, against Pinocchio and by differences."""

import dataclasses

import numpy as np
import pinocchio
import pytest

from pymodel.mechanism import kinematics, rotations
from pymodel.mechanism.coordinates import coordinate_rates, displaced
from pymodel.mechanism.scenario import FIXED, FREE, GROUND, JOINTS, REVOLUTE, SPHERICAL, Spring
from pymodel.tests import mechanisms, space
from pymodel.tests.pinocchio_scenario import PinocchioTree

STEP = 1e-6  # of central differences: errors of 1e-12 and 1e-10 by rounding


@pytest.fixture(params=range(8))
def tree(request):
    """Trees with all joints, every second one in space."""
    rng = np.random.default_rng(request.param)
    return space.random_mechanism(rng, 7, spatial=bool(request.param % 2))


def states(scenario, count=4, seed=0):
    """Random states (count, nq) and (count, nv)."""
    rng = np.random.default_rng(seed)
    start = np.broadcast_to(scenario.q0, (count, scenario.nq))
    steps, qd = rng.uniform(-1, 1, (2, count, scenario.nv))
    return displaced(scenario, start, steps), qd


def differences(function, scenario, q, qd):
    """Time derivative of a function of q along qd."""
    ahead, back = (function(displaced(scenario, q, sign * STEP * qd)) for sign in (1, -1))
    return (ahead - back) / (2 * STEP)


def test_all_joints_are_drawn():
    rng = np.random.default_rng(0)
    for spatial in (False, True):
        bodies = space.random_mechanism(rng, 60, spatial, parents=[GROUND] * 60).bodies
        assert {body.joint for body in bodies} == set(JOINTS) - (set() if spatial else {SPHERICAL})


def test_bodies_and_momenta_against_pinocchio(tree):
    its = PinocchioTree(tree)
    data = its.data
    q, qd = states(tree)
    d = len(tree.gravity)
    turns, linear, angular = (
        kinematics.body_rotations(tree, q),
        *kinematics.total_momenta(tree, q, qd),
    )
    p, kinetic = kinematics.joint_momenta(tree, q, qd), kinematics.kinetic_energy(tree, q, qd)
    springless = dataclasses.replace(
        tree, bodies=tuple(dataclasses.replace(body, spring=0.0) for body in tree.bodies)
    )
    potential = kinematics.potential_energy(springless, q)
    handles = kinematics.handle_positions(tree, q)
    speeds = kinematics.handle_velocities(tree, q, qd)
    rates = kinematics.angular_velocities(tree, q, qd)
    energies = []
    for row, (own, v) in enumerate(zip(q, qd, strict=True)):
        state = its.state(own, v)
        matrix = its.mass_matrix(own, v)
        pinocchio.computeAllTerms(its.model, data, *state)
        pinocchio.computeCentroidalMomentum(its.model, data, *state)
        np.testing.assert_allclose(p[row], matrix @ v, rtol=0, atol=1e-12)
        assert kinetic[row] == pytest.approx(data.kinetic_energy, rel=1e-13)
        energies.append(data.potential_energy)
        momentum = pinocchio.SE3(np.eye(3), data.com[0]) * data.hg
        np.testing.assert_allclose(linear[row], momentum.linear[:d], rtol=0, atol=1e-12)
        turning = momentum.angular if d == 3 else momentum.angular[2:]
        np.testing.assert_allclose(angular[row], turning, rtol=0, atol=1e-12)
        for k, body in enumerate(tree.bodies):
            if body.joint == FIXED:
                continue
            joint = its.model.getJointId(str(k))
            place = data.oMi[joint]
            np.testing.assert_allclose(turns[row, k], place.rotation, rtol=0, atol=1e-14)
            np.testing.assert_allclose(handles[row, k], place.translation[:d], rtol=0, atol=1e-14)
            motion = pinocchio.SE3(place.rotation, np.zeros(3)) * data.v[joint]
            np.testing.assert_allclose(speeds[row, k], motion.linear[:d], rtol=0, atol=1e-13)
            turning = motion.angular if d == 3 else motion.angular[2]
            np.testing.assert_allclose(rates[row, k], turning, rtol=0, atol=1e-13)
    # Pinocchio leaves out bodies that are fixed to the ground.
    np.testing.assert_allclose(np.diff(potential), np.diff(energies), rtol=0, atol=1e-12)


def test_velocities_are_derivatives_of_positions(tree):
    q, qd = states(tree)
    d = len(tree.gravity)
    point = tuple(np.linspace(0.2, 0.4, d))
    for body in range(len(tree.bodies)):
        place = differences(
            lambda x, body=body: kinematics.point_position(tree, x, body, point), tree, q, qd
        )
        found = kinematics.point_velocity(tree, q, qd, body, point)
        np.testing.assert_allclose(found, place, rtol=0, atol=1e-8)
    for positions, velocities in (
        (kinematics.handle_positions, kinematics.handle_velocities),
        (kinematics.centres_of_mass, kinematics.centre_of_mass_velocities),
    ):
        rate = differences(lambda x, positions=positions: positions(tree, x), tree, q, qd)
        np.testing.assert_allclose(velocities(tree, q, qd), rate, rtol=0, atol=1e-8)
    rates = differences(lambda x: x, tree, q, qd)
    np.testing.assert_allclose(coordinate_rates(tree, q, qd), rates, rtol=0, atol=1e-9)


def test_momenta_are_derivatives_of_the_kinetic_energy(tree):
    """T = qd . p / 2, and p = dT/dqd by polarisation: exact, T being quadratic."""
    q, qd = states(tree, 1)
    p = kinematics.joint_momenta(tree, q[0], qd[0])
    for k, unit in enumerate(np.eye(tree.nv)):
        ahead, back = (kinematics.kinetic_energy(tree, q[0], qd[0] + s * unit) for s in (0.5, -0.5))
        assert ahead - back == pytest.approx(p[k], abs=1e-12)


def test_quaternions_of_any_length_mean_the_same():
    rng = np.random.default_rng(3)
    scenario = space.random_mechanism(rng, 4, joints=(FREE, SPHERICAL), parents=(-1, 0, 1, 0))
    q, qd = states(scenario, 1)
    longer = q.copy()
    for own in scenario.q_slices:
        longer[:, own.stop - 4 : own.stop] *= 1.0 + 1e-3
    for function in (kinematics.handle_velocities, kinematics.joint_momenta):
        np.testing.assert_allclose(
            function(scenario, longer, qd), function(scenario, q, qd), rtol=0, atol=1e-14
        )


@pytest.mark.parametrize("n", [1, 5, 12])
def test_planar_mechanisms_are_the_same_in_space(n):
    rng = np.random.default_rng(n)
    planar = space.random_mechanism(rng, n, spatial=False, joints=(REVOLUTE, "prismatic", FIXED))
    spring = Spring(0, (0.1, 0.2), GROUND, (-1.0, 0.5), 3.0, 0.4, 0.1)
    planar = dataclasses.replace(planar, springs=(spring,))
    end = dataclasses.replace(spring, point=(0.1, 0.2, 0.0), at=(-1.0, 0.5, 0.0))
    lifted = dataclasses.replace(space.in_space(planar), springs=(end,))
    q, qd = states(planar)
    for function in ("handle_positions", "centres_of_mass", "tip_positions"):
        flat, raised = (getattr(kinematics, function)(x, q) for x in (planar, lifted))
        np.testing.assert_allclose(raised, np.pad(flat, ((0, 0), (0, 0), (0, 1))), atol=1e-13)
    for function in ("kinetic_energy", "joint_momenta"):
        flat, raised = (getattr(kinematics, function)(x, q, qd) for x in (planar, lifted))
        np.testing.assert_allclose(raised, flat, rtol=1e-12, atol=1e-12)
    flat, raised = (kinematics.potential_energy(x, q) for x in (planar, lifted))
    np.testing.assert_allclose(raised, flat, rtol=1e-12)


def linkages():
    rng = np.random.default_rng(5)
    tree = space.random_mechanism(rng, 8)
    loops = [(7, GROUND, REVOLUTE), (6, 2, SPHERICAL), (5, 1, REVOLUTE)]
    planar = space.random_mechanism(rng, 8, spatial=False)
    return {
        "bennett": space.bennett(qd=1.3),
        "rssr": space.rssr(qd=2.0),
        "slider_crank": space.slider_crank(qd=3.0),
        "space": space.with_loops(rng, tree, loops),
        "plane": space.with_loops(rng, planar, [(7, GROUND, REVOLUTE), (5, 2, REVOLUTE)]),
    }


@pytest.mark.parametrize(("name", "scenario"), linkages().items())
def test_loop_jacobian_is_the_derivative_of_the_errors(name, scenario):
    q = scenario.q0
    jacobian = kinematics.loop_jacobian(scenario, q)
    columns = [
        differences(lambda x: kinematics.loop_errors(scenario, x), scenario, q, unit)
        for unit in np.eye(scenario.nv)
    ]
    np.testing.assert_allclose(jacobian, np.transpose(columns), rtol=0, atol=1e-9)
    assert kinematics.loop_rows(scenario)[-1].stop == len(jacobian)
    qd = np.random.default_rng(1).uniform(-1, 1, scenario.nv)
    np.testing.assert_allclose(
        kinematics.loop_rates(scenario, q, qd), jacobian @ qd, rtol=0, atol=1e-14
    )
    for gap, velocity in (
        (kinematics.loop_gaps, kinematics.loop_gap_velocities),
        (kinematics.axis_gaps, kinematics.axis_gap_velocities),
    ):
        rate = differences(lambda x, gap=gap: gap(scenario, x), scenario, q, qd)
        np.testing.assert_allclose(velocity(scenario, q, qd), rate, rtol=0, atol=1e-9)


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, 3.1])
def test_tilt_of_a_hinge(angle):
    scenario = space.bennett()
    (loop,) = scenario.loops
    first, _ = rotations.hinge_directions(loop.to_axis)
    turned = rotations.about_axis(first, np.array(angle)) @ loop.to_axis
    tilted = dataclasses.replace(loop, to_axis=tuple(turned))
    tilted = dataclasses.replace(scenario, loops=(tilted,))
    assert kinematics.loop_tilt(tilted, tilted.q0) == pytest.approx(angle, rel=1e-6)
    assert kinematics.loop_tilt(scenario, np.broadcast_to(scenario.q0, (3, 3))).shape == (3,)


def test_hinge_directions():
    rng = np.random.default_rng(0)
    for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))):
        axis = axis / np.linalg.norm(axis)
        frame = np.array([*rotations.hinge_directions(axis), axis])
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
        assert np.linalg.det(frame) == pytest.approx(1.0)
    np.testing.assert_array_equal(rotations.hinge_directions((0.0, 0.0, 1.0)), np.eye(3)[:2])


def test_linkages_against_closed_formulas():
    for q in (0.4, 1.2, 2.5, -2.0):
        crank = space.slider_crank(0.2, 0.5, q, 1.7)
        sine, cosine = np.sin(q), np.cos(q)
        root = np.sqrt(0.5**2 - (0.2 * sine) ** 2)
        assert crank.q0[2] == pytest.approx(0.2 * cosine + root, rel=1e-14)
        speed = -0.2 * sine * 1.7 * (1.0 + 0.2 * cosine / root)
        assert crank.qd0[2] == pytest.approx(speed, rel=1e-13)
        linkage = space.bennett(0.4, 1.0, 1.9, q, 0.8)
        tangents = np.tan(0.5 * linkage.q0[:2])
        assert np.prod(tangents) == pytest.approx(space.bennett_constant(1.0, 1.9), rel=1e-12)
        # its derivative: sin(q) p-dot + sin(p) q-dot = 0
        rates = linkage.qd0[:2] @ np.sin(linkage.q0[1::-1])
        assert rates == pytest.approx(0.0, abs=1e-13)


def test_pins_of_one_body_stay_in_the_loop_with_a_free_base():
    """A closed ring that floats: its gaps do not depend on where it is."""
    rng = np.random.default_rng(8)
    ring = space.random_mechanism(rng, 5, joints=(FREE,), parents=(-1,) * 5)
    ring = dataclasses.replace(ring, bodies=ring.bodies[:1])
    rest = space.random_mechanism(rng, 5, joints=(REVOLUTE,), parents=(-1, 0, 1, 2, 3))
    ring = dataclasses.replace(ring, bodies=ring.bodies + rest.bodies[1:])
    ring = space.with_loops(rng, ring, [(4, 0, SPHERICAL)])
    np.testing.assert_allclose(
        kinematics.loop_jacobian(ring, ring.q0)[:, :6], 0.0, rtol=0, atol=1e-15
    )


def test_mechanisms_of_pins_keep_their_formulas():
    """A pin's angle adds to its parent's without a rotation between."""
    scenario = mechanisms.random_tree(np.random.default_rng(0), 6)
    assert scenario.pins_only
    np.testing.assert_array_equal(
        kinematics.absolute_angles(scenario, scenario.q0)[0], scenario.q0[0]
    )
