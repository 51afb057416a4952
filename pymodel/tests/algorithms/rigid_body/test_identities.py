"""Identities that the rigid-body functions must hold, without any number from elsewhere.

Derivatives are compared with complex-step ones, which are exact to rounding.
"""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.tests.trees import function, moved, random_robot, random_state

ROBOTS = {
    f"{'floating' if floating else 'fixed'}-{seed}": random_robot(seed, 7, floating)
    for seed, floating in ((1, False), (2, False), (3, True), (4, True))
}
STEP = 1e-30  # of a complex-step derivative, whose error is its square


@pytest.fixture(params=ROBOTS, scope="module")
def robot(request):
    return ROBOTS[request.param]


@pytest.fixture(params=[(), (2, 5)], ids=["free", "pushed"])
def state(request, robot):
    return random_state(robot, 5, request.param)


def close(found, expected, tolerance=1e-11):
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def derivative(robot, name, state, by, method=""):
    """Columns of d function / d by, in the tangent space of q, all at once."""
    directions = 1j * STEP * np.eye(robot.nv)
    if by == "q":
        value = np.array([moved(robot, state["q"], direction) for direction in directions]).T
    else:
        value = state[by][:, None] + directions
    return function(name, robot, state | {by: value}, method).imag / STEP


@pytest.mark.parametrize("method", FUNCTIONS["FD"].methods)
def test_forward_undoes_inverse_dynamics(robot, state, method):
    tau = function("ID", robot, state)
    close(function("FD", robot, state | {"tau": tau}, method), state["qdd"])


def test_inverse_dynamics_is_mass_times_acceleration(robot, state):
    still = function("ID", robot, state | {"qdd": np.zeros(robot.nv)})
    close(function("ID", robot, state) - still, function("M", robot, state) @ state["qdd"])


def test_mass_matrix_times_its_inverse_is_one(robot, state):
    product = function("M", robot, state) @ function("Minv", robot, state)
    close(product, np.eye(robot.nv))


def test_mass_matrix_is_positive_definite(robot, state):
    assert np.linalg.eigvalsh(function("M", robot, state)).min() > 0


@pytest.mark.parametrize("by", ["q", "qd"])
@pytest.mark.nightly(every=5)
def test_derivatives_of_inverse_dynamics(robot, state, by):
    found = dict(zip(("q", "qd"), function("dID", robot, state), strict=True))
    close(found[by], derivative(robot, "ID", state, by))


@pytest.mark.parametrize("by", ["q", "qd"])
@pytest.mark.parametrize("method", FUNCTIONS["dFD"].methods)
@pytest.mark.nightly(every=5)
def test_derivatives_of_forward_dynamics(robot, state, by, method):
    found = dict(zip(("q", "qd"), function("dFD", robot, state, method), strict=True))
    close(found[by], derivative(robot, "FD", state, by))


def test_derivatives_with_the_inverse_given(robot, state):
    given = {"qdd": function("FD", robot, state), "minv": function("Minv", robot, state)}
    close(function("diFD", robot, state | given), function("dFD", robot, state))


def test_energy_rate_is_power(robot, state):
    """Without gravity, friction and wrenches, d/dt (qd M qd / 2) = qd tau."""
    links = tuple(replace(link, damping=0.0) for link in robot.links)
    robot = replace(robot, links=links, gravity=0.0)
    state = {name: x for name, x in state.items() if not name.startswith("fext")}
    qd, qdd = state["qd"], state["qdd"]
    turned = moved(robot, state["q"], 1j * STEP * qd)
    m, rate = function("M", robot, state), function("M", robot, state | {"q": turned}).imag / STEP
    close(qd @ function("ID", robot, state), qd @ m @ qdd + qd @ rate @ qd / 2)


def test_gravity_does_not_know_the_place(robot, state):
    """Zero columns of a floating base: nothing depends on where it is."""
    if not robot.floating:
        pytest.skip("the base is fixed")
    assert not function("dID", robot, state)[0][:, :3].any()
    assert not function("dFD", robot, state)[0][:, :3].any()


def test_gravity_turns_with_the_base(robot, state):
    """Columns 3..5 of dqdd/dq: as the base turns, only gravity's part of its own changes."""
    if not robot.floating:
        pytest.skip("the base is fixed")
    assert not function("dFD", robot, state)[0][3:, 3:6].any()


def test_damping_adds_to_torques_and_derivatives(robot, state):
    links = tuple(replace(link, damping=0.0) for link in robot.links)
    smooth = replace(robot, links=links)
    damping = np.zeros(robot.nv)
    damping[6 * robot.floating :] = [link.damping for link in robot.links[robot.first :]]
    close(function("ID", robot, state) - function("ID", smooth, state), damping * state["qd"])
    difference = function("dID", robot, state) - function("dID", smooth, state)
    close(difference, np.array([np.zeros((robot.nv, robot.nv)), np.diag(damping)]))


def test_friction_adds_to_torques_and_derivatives(robot, state):
    """Size tanh(N artanh y), y = qd / (N scale); its derivative is size / scale (1 - f^2) ..."""
    links = tuple(
        replace(link, friction=0.2 + 0.1 * i, friction_scale=0.4)
        for i, link in enumerate(robot.links)
    )
    rubbing = replace(robot, links=links)
    size = np.zeros(robot.nv)
    size[6 * robot.floating :] = [link.friction for link in links[robot.first :]]
    y = state["qd"] / (256 * 0.4)
    share = np.tanh(256 * np.arctanh(y))
    close(function("ID", rubbing, state) - function("ID", robot, state), size * share)
    slope = size / 0.4 * (1 - share**2) / (1 - y**2)
    difference = function("dID", rubbing, state) - function("dID", robot, state)
    close(difference[1], np.diag(slope), 1e-10)
    assert not difference[0].any()
    tau = function("ID", rubbing, state)
    for method in FUNCTIONS["FD"].methods:
        close(function("FD", rubbing, state | {"tau": tau}, method), state["qdd"])


def test_armature_adds_to_the_mass_matrix(robot, state):
    links = tuple(replace(link, armature=0.0) for link in robot.links)
    bare = replace(robot, links=links)
    armature = np.zeros(robot.nv)
    armature[6 * robot.floating :] = [link.armature for link in robot.links[robot.first :]]
    close(function("M", robot, state) - function("M", bare, state), np.diag(armature))


def test_parameters_as_data_change_nothing(robot, state):
    for name in FUNCTIONS:
        given = state | {"minv": function("Minv", robot, state)}
        close(function(name, robot, given, parameters_as_data=True), function(name, robot, given))
