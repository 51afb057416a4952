"""Published benchmarks of planar mechanisms, against their published or closed-form solutions."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import Float64
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario_file import load, varied
from pymodel.runs import lagrangian, native_runs
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS

# --- Andrews' squeezing mechanism -----------------------------------------------------------------
# "Test set for initial value problem solvers", problem andrews: initial values and the reference
# solution at t = 0.03 s. Its order is beta, Theta, gamma, phi, delta, Omega, epsilon.

BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON = range(7)
ORDER = [BETA, THETA, GAMMA, DELTA, PHI, EPSILON, OMEGA]  # of the scenario's joints
INITIAL = [
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
]
ACCELERATIONS = [14222.4439199541138705911625887, -10666.8329399655854029433719415, 0, 0, 0, 0, 0]
FINAL = [
    0.1581077119629904e2,
    -0.1575637105984298e2,
    0.4082224013073101e-1,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    0.1048080741042263e1,
]


def integrated(scenario, tolerance):
    """q and p at the end, by an adaptive method."""
    asked = {"integrator": "DOP853", "tolerance": tolerance, "step": scenario.end, "save": 1}
    run = simulate(varied(scenario, **asked))
    return run.q[-1], run.p[-1]


@pytest.fixture(scope="module")
def andrews():
    return load(SCENARIOS / "andrews.toml")


def test_andrews_starts_as_published(andrews):
    """The guesses close the loops at the test set's angles, and the motion begins as it says."""
    np.testing.assert_allclose(andrews.q0, np.array(INITIAL)[ORDER], rtol=0, atol=1e-14)
    qdd, _ = lagrangian.Lagrangian(andrews).constrained_accelerations(andrews.q0, andrews.qd0)
    np.testing.assert_allclose(qdd, np.array(ACCELERATIONS)[ORDER], rtol=1e-12, atol=1e-8)


def test_andrews_ends_as_published(andrews):
    """The seven angles at 0.03 s, to 1e-6 rad; and in the test set's measure at its tolerance."""
    final = np.array(FINAL)[ORDER]
    q, p = integrated(andrews, 1e-8)
    np.testing.assert_allclose(q, final, rtol=0, atol=1e-6)
    assert kinematics.loop_position(andrews, q) < 1e-9
    exact = lagrangian.canonical_rates(andrews, q, p)
    got = serve(Float64(), rates(prepare(Float64(), andrews), list(q), list(p)))
    for value, expected in zip((got.q_dot, got.p_dot), exact, strict=True):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    q, _ = integrated(andrews, 1e-7)
    assert (np.abs(q - final) / (1.0 + np.abs(final))).max() < 1e-6  # mixed absolute and relative


def test_andrews_as_it_is_shipped(andrews):
    """Fixed steps; the energy is what the motor gives."""
    run = native_runs.simulate(andrews)
    np.testing.assert_allclose(run.q[-1], np.array(FINAL)[ORDER], rtol=0, atol=1e-7)
    work = andrews.bodies[0].torque * (run.q[:, 0] - run.q[0, 0])
    energy = run.kinetic + run.potential
    assert np.ptp(run.potential) > 0.2 and work[-1] > 0.5
    np.testing.assert_allclose(energy - energy[0], work, rtol=0, atol=1e-8)


# --- N four-bars (IFToMM library of computational benchmark problems, A02) ------------------------
# 2 N + 1 uniform bars of 1 m and 1 kg, N + 1 of them upright at the start, and B_0, the tip of the
# first, at 1 m/s to the right; 9.81 m/s^2 downward. Every time the bars lie flat the posture is
# singular: there the mechanism could move in N + 1 ways.

GRAVITY = 9.81


def four_bars(count, **time):
    """The scenario of so many four-bars."""
    bar = {"mass": 1.0, "inertia": 1.0 / 12.0, "com": [0.5, 0.0], "tip": [1.0, 0.0]}
    bodies = [bar | {"name": "upright 0", "q": math.pi / 2, "qd": -1.0}]
    loops, hinge, turn = [], "upright 0", -math.pi / 2
    for k in range(1, count + 1):
        coupler, upright = f"coupler {k}", f"upright {k}"
        bodies.append(bar | {"name": coupler, "parent": hinge, "q": turn, "guess": True})
        bodies.append(bar | {"name": upright, "parent": coupler, "q": -math.pi / 2, "guess": True})
        loops.append({"body": upright, "point": [1.0, 0.0], "to": "ground", "at": [float(k), 0.0]})
        hinge, turn = coupler, 0.0
    data = {"name": f"{count} four-bars", "gravity": [0.0, -GRAVITY], "body": bodies, "loop": loops}
    return load(data | {"time": {"integrator": "rk4", **time}})


@pytest.mark.parametrize(("count", "end"), [(1, 10.0), (2, 10.0), (5, 2.0)])
def test_n_four_bars(count, end):
    """Balance of energy, and the motion: the uprights turn together, the couplers do not turn."""
    scenario = four_bars(count, step=1e-3, end=end)
    run = native_runs.simulate(scenario)
    energy = run.kinetic + run.potential
    assert np.abs(energy - energy[0]).max() < 1e-7  # J, of 15 and more
    assert run.loop_position.max() < 1e-11
    inertia = (count + 1) / 3 + count  # kg m^2, of all bars to the angle of the uprights
    moment = GRAVITY * ((count + 1) / 2 + count)  # N m, of all weights when they lie flat
    theta = run.q[:, 0]
    flat_passes = np.abs(np.diff(np.sign(np.sin(theta)))).sum() / 2
    assert flat_passes >= 2 and run.condition > 1e5
    rate = -np.sqrt(1.0 + 2.0 * moment / inertia * (1.0 - np.sin(theta)))
    np.testing.assert_allclose(run.qd[:, 0], rate, rtol=0, atol=1e-6)
    exact = solve_ivp(
        lambda _, state: (state[1], -moment / inertia * math.cos(state[0])),
        (0.0, end),
        (math.pi / 2, -1.0),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    assert theta[-1] == pytest.approx(exact.y[0, -1], abs=1e-6)


# --- a four-bar against closed formulas -----------------------------------------------------------


def test_four_bar_against_freudensteins_equation():
    """The crank-rocker's rocker at every angle of the crank, solved from a rough guess."""
    scenario = load(SCENARIOS / "general_four_bar.toml")
    (loop,) = scenario.loops
    crank, coupler, rocker = 0.16, 0.42, 0.33
    ground, tilt = math.hypot(*loop.at), math.atan2(loop.at[1], loop.at[0])
    for angle in np.linspace(0.9, 0.9 + 2 * math.pi, 13)[:-1]:
        bodies = scenario.bodies
        q = [angle, *(body.q for body in bodies[1:])]
        guesses = {"q": q, "qd": [2.0, 0.0, 0.0], "guess": [False, True, True]}
        scenario = varied(scenario, **guesses)
        coupler_angle, rocker_angle = np.cumsum(scenario.q0)[1:]
        # K1 cos(psi) - K2 cos(phi) + K3 = cos(phi - psi), angles to the line of the ground pins
        phi, psi = angle - tilt, rocker_angle + math.pi - tilt
        k3 = (crank**2 - coupler**2 + rocker**2 + ground**2) / (2 * crank * rocker)
        left = ground / crank * math.cos(psi) - ground / rocker * math.cos(phi) + k3
        assert left == pytest.approx(math.cos(phi - psi), abs=1e-11)
        # velocities by the instant centre: crank sin(phi - mu) phi' = rocker sin(psi - mu) psi'
        rate = 2.0 * crank * math.sin(angle - coupler_angle)
        rate /= rocker * math.sin(rocker_angle + math.pi - coupler_angle)
        assert np.sum(scenario.qd0) == pytest.approx(rate, abs=1e-11)
