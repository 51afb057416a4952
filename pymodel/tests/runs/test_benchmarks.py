"""Published benchmarks, against their published or closed-form solutions."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import Float64
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import lagrangian, native_runs
from pymodel.runs.joint_forces import joint_forces
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
    assert run.loop_position.max() < 1e-12
    inertia = (count + 1) / 3 + count  # kg m^2, of all bars to the angle of the uprights
    moment = GRAVITY * ((count + 1) / 2 + count)  # N m, of all weights when they lie flat
    theta = run.q[:, 0]
    flat_passes = np.abs(np.diff(np.sign(np.sin(theta)))).sum() / 2
    assert flat_passes >= 2 and run.condition > 1e5
    rate = -np.sqrt(1.0 + 2.0 * moment / inertia * (1.0 - np.sin(theta)))
    # A gap g of the loops turns a flat posture by g / sin(theta), and the rates by as much again:
    # how near to flat a sample lies, and how rounding falls there, differs between machines.
    near_flat = run.loop_position.max() * np.abs(rate) / np.sin(theta) ** 2
    assert (np.abs(run.qd[:, 0] - rate) < 1e-7 + near_flat).all()
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


# --- slider-crank and four-bar over a run, by closed formulas of the crank's angle ----------------
# With the angles and places of all bodies as functions of the crank's angle theta the mechanism is
# one equation, M theta'' + 1/2 M' theta'^2 = - V' - D theta', with sums over bodies as M, V and D.


class Path:
    """A vector or an angle as a function of the crank's angle, with two derivatives."""

    def __init__(self, value, first, second):
        self.value, self.first, self.second = value, first, second

    def __add__(self, other):
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Path(*(a + b for a, b in pairs))

    def moving(self, rate, acceleration):
        """Velocity and acceleration at this rate and acceleration of the crank."""
        return self.first * rate, self.first * acceleration + self.second * rate**2


def carried(point, angle):
    """The path of a body's point about its handle 1, the body turning so."""
    (x, y), (sin, cos) = point, (np.sin(angle.value), np.cos(angle.value))
    arm, ahead = np.array((x * cos - y * sin, x * sin + y * cos)), angle.first
    across = np.array((-arm[1], arm[0]))
    return Path(arm, across * ahead, across * angle.second - arm * ahead**2)


def crank_angle(theta):
    return Path(theta, np.ones_like(theta), np.zeros_like(theta))


def slider_crank_paths(scenario, theta):
    """Angles (None of the slider) and handles of the bodies; the slider is on the x axis."""
    (r, _), (length, _) = (body.tip for body in scenario.bodies[:2])
    rod = -np.arcsin(r / length * np.sin(theta))
    first = -r * np.cos(theta) / (length * np.cos(rod))
    second = (r * np.sin(theta) + length * np.sin(rod) * first**2) / (length * np.cos(rod))
    crank, rod = crank_angle(theta), Path(rod, first, second)
    tip = carried((r, 0.0), crank)
    return [crank, rod, None], [None, tip, tip + carried((length, 0.0), rod)]


def four_bar_paths(scenario, theta):
    """Angles and handles: the coupler's by the law of cosines, then the rocker's by its ends."""
    crank, (loop,) = crank_angle(theta), scenario.loops
    r, coupler, rocker = (body.tip[0] for body in scenario.bodies)
    tip = carried((r, 0.0), crank)
    x, y = np.array(loop.at)[:, None] - tip.value
    distance = np.hypot(x, y)
    opening = (coupler**2 + distance**2 - rocker**2) / (2 * coupler * distance)
    mu = np.arctan2(y, x) + np.arccos(opening)
    nu = np.arctan2(y - coupler * np.sin(mu), x - coupler * np.cos(mu))
    mu_1 = -r * np.sin(nu - theta) / (coupler * np.sin(nu - mu))
    nu_1 = -r * np.sin(mu - theta) / (rocker * np.sin(mu - nu))
    mu_2 = r * np.cos(nu - theta) + coupler * np.cos(nu - mu) * mu_1**2 + rocker * nu_1**2
    nu_2 = r * np.cos(mu - theta) + coupler * mu_1**2 + rocker * np.cos(mu - nu) * nu_1**2
    angles = [
        crank,
        Path(mu, mu_1, mu_2 / (coupler * np.sin(nu - mu))),
        Path(nu, nu_1, nu_2 / (rocker * np.sin(mu - nu))),
    ]
    return angles, [None, tip, tip + carried((coupler, 0.0), angles[1])]


def crank_acceleration(scenario, angles, handles, rate):
    """theta'' by the equation above."""
    mass = mass_1 = force = 0.0
    for body, angle, handle in zip(scenario.bodies, angles, handles, strict=True):
        centre = handle
        if angle is not None:
            own = carried(body.com, angle)
            centre = own if handle is None else handle + own
            mass = mass + body.inertia * angle.first**2
            mass_1 = mass_1 + 2 * body.inertia * angle.first * angle.second
        mass = mass + body.mass * (centre.first**2).sum(axis=0)
        mass_1 = mass_1 + 2 * body.mass * (centre.first * centre.second).sum(axis=0)
        force = force + body.mass * np.array(scenario.gravity) @ centre.first
        if body.damping:  # of the slider, along x
            force = force - body.damping * centre.first[0] ** 2 * rate
    return (force - 0.5 * mass_1 * rate**2) / mass


@pytest.mark.parametrize(
    ("name", "paths"),
    [("slider_crank", slider_crank_paths), ("general_four_bar", four_bar_paths)],
)
def test_against_closed_formulas(name, paths):
    """Positions, velocities and accelerations of all joints over the run, and theta in time."""
    asked = {"integrator": "DOP853", "tolerance": 1e-11, "step": 0.01, "save": 1}
    scenario = varied(load(SCENARIOS / f"{name}.toml"), **asked)
    run = simulate(scenario)
    theta, rate = run.q[:, 0], run.qd[:, 0]
    angles, handles = paths(scenario, theta)
    acceleration = crank_acceleration(scenario, angles, handles, rate)
    found = joint_forces(scenario, run).acceleration
    assert np.ptp(theta) > 2.0 and np.abs(acceleration).max() > 20.0
    np.testing.assert_allclose(found[:, 0], acceleration, rtol=0, atol=1e-7)

    def all_joints(values):
        """Those of a chain of bars from absolute ones, and of a slider."""
        of_bars = np.array([row for angle, row in zip(angles, values, strict=True) if angle])
        return np.diff(of_bars, axis=0, prepend=0.0).T

    bars = sum(angle is not None for angle in angles)
    turning = [angle and angle.moving(rate, acceleration) for angle in angles]
    q = np.exp(1j * all_joints([angle and angle.value for angle in angles]))
    np.testing.assert_allclose(np.exp(1j * run.q[:, :bars]), q, rtol=0, atol=1e-9)
    qd, qdd = (all_joints([one and one[k] for one in turning]) for k in (0, 1))
    np.testing.assert_allclose(run.qd[:, :bars], qd, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[:, :bars], qdd, rtol=0, atol=1e-7)
    if bars < len(angles):
        x, (x_dot, x_ddot) = handles[-1], handles[-1].moving(rate, acceleration)
        np.testing.assert_allclose(run.q[:, -1], x.value[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.qd[:, -1], x_dot[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found[:, -1], x_ddot[0], rtol=0, atol=1e-7)

    def motion(_, state):
        at = paths(scenario, state[:1])
        return state[1], crank_acceleration(scenario, *at, state[1:])[0]

    start = (scenario.q0[0], scenario.qd0[0])
    exact = solve_ivp(motion, (0.0, run.t[-1]), start, "DOP853", rtol=1e-11, atol=1e-11)
    assert theta[-1] == pytest.approx(exact.y[0, -1], abs=1e-7)


# --- Bricard's mechanism (IFToMM library of computational benchmark problems, A05) ----------------
# Five rods of 1 m and 1 kg along the edges of a cube, and six hinges, each across its two rods. It
# moves although counting constraints says that it is locked. Released from rest it must keep its
# energy for 10 s. HDCA needs moments of inertia, so the rods have some about their own axes.

CORNERS = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1), (0, 0, 0)]
THIN = 1e-4  # kg m^2, of a round rod of 14 mm radius


def bricard(**time):
    """The scenario; at the start all bodies' frames are parallel to the ground's."""
    edges = np.diff(np.array(CORNERS, dtype=float), axis=0)
    axes = np.cross(np.roll(edges, 1, axis=0), edges)
    bodies = [
        {
            "mass": 1.0,
            "inertia": np.where(edge == 0.0, 1.0 / 12.0, THIN),
            "com": 0.5 * edge,
            "tip": edge,
            "axis": axis,
        }
        for edge, axis in zip(edges[:5], axes, strict=False)
    ]
    loop = {"body": 4, "point": edges[4], "axis": axes[5]}
    loop |= {"to": "ground", "at": CORNERS[5], "to_axis": axes[5]}
    data = {"name": "Bricard", "gravity": [0.0, -GRAVITY, 0.0], "body": bodies, "loop": [loop]}
    return load(data | {"time": time})


def test_bricard():
    """Energy over 10 s, and the symmetry and the closed formula of its angles.

    Every second angle is the same. Two neighbours theta = q0 + pi / 2 and phi = q1 + pi / 2 fulfil
    cos(theta) + cos(phi) + cos(theta) cos(phi) = 0 (Chen, You and Tarnai, "Threefold-symmetric
    Bricard linkages for deployable structures", 2005, at twists of 90 degrees).
    """
    scenario = bricard(step=0.05, end=10.0, integrator="DOP853", tolerance=1e-8)
    assert len(scenario.loops[0].kept) == 4, "one of the five constraints follows from the others"
    run = simulate(scenario)
    energy = run.kinetic + run.potential
    assert np.abs(energy - energy[0]).max() < 1e-5  # J
    assert np.ptp(run.potential) > 4.0 and np.ptp(run.q[:, 0]) > 2.5
    assert run.loop_position.max() < 1e-7 and run.condition < 100.0
    q = run.q
    for other in (q[:, 2], q[:, 4]):
        np.testing.assert_allclose(other, q[:, 0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(q[:, 3], q[:, 1], rtol=0, atol=1e-7)
    theta, phi = np.cos(0.5 * np.pi + q[:, :2].T)
    np.testing.assert_allclose(theta + phi + theta * phi, 0.0, rtol=0, atol=1e-7)
