"""Thin bodies that no joint holds: their own axis loses no digits in float32."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Mechanism, rates
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import inertia_matrix
from pymodel.mechanism.scenario_file import parse
from pymodel.runs import native_runs

GRAVITY = np.array([0.0, 0.0, -9.81])  # m/s^2
STEP, END = 1e-3, 5.0  # s
#: Of the quaternion, and of the angular velocity in rad/s. Rounded Euler's equations in numpy's
#: float32 are 1.7e-4 and 1.9e-3 off.
BOUNDS = 5e-4, 6e-3


#: Length and diameter in m, mass in kg.
BARS = {
    "1 m": (1.0, 0.01, 0.3),
    "needle": (0.3, 0.001, 0.002),
    "pole": (4.0, 0.06, 30.0),
    "wire": (0.8, 0.002, 0.02),
}


def thin_bar(joint, rates, moment=5e-6, across=0.0250025, length=1.0, mass=0.3):
    """A rod with its frame's x axis along it: of 1 m and 10 mm."""
    body = {
        "joint": joint,
        "mass": mass,
        "inertia": [moment, across, across],
        "com": [length / 2, 0.0, 0.0],
        "tip": [length, 0.0, 0.0],
        "qd": rates,
    }
    time = {"step": STEP, "end": END, "integrator": "rk4"}
    return parse({"name": "bar", "gravity": [*GRAVITY], "time": time, "body": [body]})


def turned(quaternion):
    """The rotation matrix of a quaternion x, y, z, w."""
    *v, w = quaternion / np.linalg.norm(quaternion)
    x, y, z = v
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def euler(scenario, inertia, torque, quaternion, omega, times):
    """Euler's equations in float64: quaternion and angular velocity, body axes, at some times."""

    def rates(_, state):
        (*v, w), rate = state[:4], state[4:]
        turning = np.concatenate([w * rate + np.cross(v, rate), [-np.dot(v, rate)]]) / 2
        moment = torque(turned(state[:4])) - np.cross(rate, inertia @ rate)
        return np.concatenate([turning, np.linalg.solve(inertia, moment)])

    start = np.concatenate([quaternion, omega])
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "t_eval": times}
    return solve_ivp(rates, (0, END), start, **options).y.T


def about_the_joint(body):
    """Inertia about handle 1, kg m^2."""
    c = np.array(body.com)
    return inertia_matrix(body.moments) + body.mass * (c @ c * np.eye(3) - np.outer(c, c))


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize("name", BARS)
def test_a_thin_bar_on_a_ball_joint(name):
    length, diameter, mass = BARS[name]
    moments = mass * diameter**2 / 8, mass * (length**2 / 12 + diameter**2 / 16)
    scenario = thin_bar("spherical", [0.0, 0.5, 1.0], *moments, length, mass)
    (body,) = scenario.bodies
    run = native_runs.simulate(scenario, "float32")

    def weight(pose):
        return np.cross(body.com, body.mass * pose.T @ GRAVITY)

    expected = euler(scenario, about_the_joint(body), weight, run.q[0], run.qd[0], run.t)
    pairs = zip((run.q, run.qd), np.split(expected, [4], axis=1), BOUNDS, strict=True)
    for found, exact, bound in pairs:
        assert np.abs(found - exact).max() < bound
    assert not run.warnings


def test_a_thin_bar_thrown():
    scenario = thin_bar("free", [0.3, 0.1, 2.0, 20.0, 0.5, 1.0])
    (body,) = scenario.bodies
    run = native_runs.simulate(scenario, "float32")
    inertia, omega = inertia_matrix(body.moments), run.qd[0][3:]
    expected = euler(scenario, inertia, lambda _: np.zeros(3), run.q[0][3:], omega, run.t)
    found = run.q[:, 3:], run.qd[:, 3:]
    pairs = zip(found, np.split(expected, [4], axis=1), BOUNDS, strict=True)
    for some, exact, bound in pairs:
        assert np.abs(some - exact).max() < bound


@pytest.mark.parametrize("moment", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_rates_are_as_right_as_the_momenta(joint, moment):
    """Each component by itself, in float32, whatever the moment about the thin axis (kg m^2)."""
    qd = [0.0, 0.0, 0.0][: 3 * (joint == "free")] + [3.0, 0.5, 1.0]
    scenario = thin_bar(joint, qd, moment)
    q = [0.1, 0.2, 0.3][: 3 * (joint == "free")] + [0.3, -0.2, 0.5, 0.7]
    p = joint_momenta(scenario, q, qd)
    arithmetic = BitExact(BINARY32)
    q_word, p_word = ([arithmetic.const(x) for x in values] for values in (q, p))
    found = serve(arithmetic, rates(Mechanism(arithmetic, scenario), q_word, p_word)).q_dot
    omega = np.array([arithmetic.to_float(x) for x in found[-3:]])
    assert np.abs(omega / qd[-3:] - 1).max() < 1e-6
