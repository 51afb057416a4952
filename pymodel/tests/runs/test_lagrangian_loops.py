"""The reference for closed loops: closed forms, free bodies with pins, identities, refusals."""

import dataclasses
import functools

import numpy as np
import pytest
import scipy
from scipy.integrate import cumulative_simpson, solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Body, Loop, Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import lagrangian
from pymodel.runs.files import write_run
from pymodel.runs.finished import FinishedRun
from pymodel.runs.lagrangian import Lagrangian, NoReferenceError
from pymodel.runs.summary import summarise
from pymodel.runs.trajectory import read_csv
from pymodel.tests import loops
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

FILES = ("four_bar", "general_four_bar", "five_bar")
STEP = 1e-30  # of complex derivatives, which are exact to rounding


def branched(rng, *, loads=True):
    """Six bodies on two ground pins with a loop to the ground and one between two branches."""
    scenario = loops.damped_chain(rng, 6, end=0.5)
    parents = (-1, 0, 1, -1, 3, 1)
    bodies = tuple(
        dataclasses.replace(body, parent=parent)
        for body, parent in zip(scenario.bodies, parents, strict=True)
    )
    scenario = dataclasses.replace(scenario, bodies=bodies)
    scenario = loops.close(rng, scenario, [(2, -1), (5, 4)])
    return scenario if loads else loops.unloaded(scenario)


CASES = {
    "four_bar": lambda: load(SCENARIOS / "four_bar.toml"),
    "general_four_bar": lambda: load(SCENARIOS / "general_four_bar.toml"),
    "five_bar": lambda: load(SCENARIOS / "five_bar.toml"),
    "loop_3": lambda: loops.random_loop(np.random.default_rng(3), 3),
    "loop_7": lambda: loops.random_loop(np.random.default_rng(7), 7),
    "two_loops": lambda: branched(np.random.default_rng(1)),
}


@functools.cache
def solved(name):
    """The case and its run at its own times; nobody changes them."""
    scenario = CASES[name]()
    return scenario, lagrangian.simulate(scenario, scenario.times)


@pytest.fixture(params=CASES)
def scenario(request):
    return CASES[request.param]()


def random_state(scenario, rng):
    """Angles as they are, any velocities that fit the loops, and impulses of the cut pins."""
    jacobian = kinematics.loop_jacobian(scenario, scenario.q0)
    qd = rng.normal(size=len(scenario.bodies))
    for _ in range(2):
        qd = qd - np.linalg.pinv(jacobian) @ (jacobian @ qd)
    return scenario.q0, qd, rng.normal(size=len(jacobian))


# --- the motion ---------------------------------------------------------------------------------


def rhombus(t, start):
    """Angle and rate of the demo's crank with gravity along +y if start = pi/4, mirrored otherwise.

    All sides parallel to one bar and the ground: one pendulum of rate^2 = 1.2 g / L about the
    posture where the crank points along gravity, released at `start` rad from there.
    """
    rate = np.sqrt(1.2 * 9.80665 / 0.4)
    k = np.sin(start / 2)
    sn, cn, dn, _ = ellipj(rate * t, k**2)
    return 2 * np.arcsin(k * cn / dn), -2 * k * rate * np.sqrt(1 - k**2) * sn / dn


def test_rhombus_against_elliptic_functions():
    scenario, run = solved("four_bar")
    swing, rate = rhombus(scenario.times, np.pi / 4)
    crank = np.pi / 2 - swing
    q = np.stack((crank, -crank, crank - np.pi), axis=-1)
    qd = np.stack((-rate, rate, -rate), axis=-1)
    assert swing[-1] < 0.5 and np.ptp(swing) > 1.57  # there and on the way back
    np.testing.assert_allclose(run.q, q, rtol=0, atol=2e-12)
    np.testing.assert_allclose(run.qd, qd, rtol=0, atol=5e-12)
    energy = run.kinetic + run.potential
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=5e-12)


def free_bodies(scenario):
    """The mechanism as free bodies (x, y, angle) that every pin constrains: no joint angles.

    Returns rates(t, state) of state = (r, angle, v, omega, sigma), sigma being the impulses of the
    loops' pins, and the initial state.
    """
    n = len(scenario.bodies)
    mass = np.array([[b.mass] * 2 for b in scenario.bodies]).ravel()
    inertia = np.array([b.inertia for b in scenario.bodies])
    diagonal = np.concatenate((mass, inertia))
    # (body, arm from its centre of mass, other body, its arm or the point of the ground)
    pins = []
    for k, b in enumerate(scenario.bodies):
        offset = np.zeros(2) if b.parent < 0 else np.array(scenario.bodies[b.parent].com)
        pins.append((k, -np.array(b.com), b.parent, b.attach - offset))
    for loop in scenario.loops:
        offset = np.zeros(2) if loop.to < 0 else np.array(scenario.bodies[loop.to].com)
        arm = loop.point - np.array(scenario.bodies[loop.body].com)
        pins.append((loop.body, arm, loop.to, loop.at - offset))

    def rates(_, state):
        r, angle, v, omega = np.split(state[: 6 * n], [2 * n, 3 * n, 5 * n])
        force = np.concatenate((mass * np.tile(scenario.gravity, n), np.zeros(n)))
        for k, b in enumerate(scenario.bodies):
            turn = angle[k] - (angle[b.parent] if b.parent >= 0 else 0.0)
            speed = omega[k] - (omega[b.parent] if b.parent >= 0 else 0.0)
            torque = b.torque - b.spring * (turn - b.rest) - b.damping * speed
            force[2 * n + k] += torque
            if b.parent >= 0:
                force[2 * n + b.parent] -= torque
        rows = np.zeros((2 * len(pins), 3 * n))
        right = np.zeros(2 * len(pins))
        for index, (body, arm, other, other_arm) in enumerate(pins):
            for sign, k, point in ((1, body, arm), (-1, other, other_arm)):
                if k < 0:
                    continue
                c, s = np.cos(angle[k]), np.sin(angle[k])
                x, y = c * point[0] - s * point[1], s * point[0] + c * point[1]
                for axis in (0, 1):
                    rows[2 * index + axis, 2 * k + axis] = sign
                rows[2 * index, 2 * n + k] = -sign * y
                rows[2 * index + 1, 2 * n + k] = sign * x
                right[2 * index : 2 * index + 2] += sign * omega[k] ** 2 * np.array([x, y])
        system = np.block([[np.diag(diagonal), -rows.T], [rows, np.zeros((len(rows),) * 2)]])
        solution = np.linalg.solve(system, np.concatenate((force, right)))
        return np.concatenate((v, omega, solution[: 3 * n], solution[3 * n + 2 * n :]))

    com = kinematics.centres_of_mass(scenario, scenario.q0).ravel()
    speed = kinematics.centre_of_mass_velocities(scenario, scenario.q0, scenario.qd0).ravel()
    angle = kinematics.absolute_angles(scenario, scenario.q0)
    omega = kinematics.angular_velocities(scenario, scenario.q0, scenario.qd0)
    sigma = np.zeros(2 * len(scenario.loops))
    return rates, np.concatenate((com, angle, speed, omega, sigma))


def test_motion_and_impulses_against_free_bodies_with_pins(scenario):
    """Nothing in common: constant masses, one constraint a pin, no joint angle, no projection."""
    n = len(scenario.bodies)
    t = np.linspace(0.0, 0.4, 5)
    rates, start = free_bodies(scenario)
    solution = solve_ivp(
        rates, (0.0, t[-1]), start, method="DOP853", t_eval=t, rtol=1e-12, atol=1e-12
    )
    run = lagrangian.simulate(scenario, t)
    angle, omega = solution.y[2 * n : 3 * n].T, solution.y[5 * n : 6 * n].T
    np.testing.assert_allclose(
        kinematics.absolute_angles(scenario, run.q), angle, rtol=0, atol=2e-10
    )
    spin = kinematics.angular_velocities(scenario, run.q, run.qd)
    np.testing.assert_allclose(spin, omega, rtol=0, atol=1e-9 * abs(omega).max())
    sigma = solution.y[6 * n :].T
    found = lagrangian.impulses(scenario, run.q, run.p)
    assert found.shape == (len(t), len(scenario.loops), 2) and abs(sigma[-1]).max() > 0.1
    np.testing.assert_allclose(
        found.reshape(len(t), -1), sigma, rtol=0, atol=1e-9 * abs(sigma).max()
    )


@pytest.mark.parametrize("name", CASES)
def test_loops_stay_closed_and_momenta_start_unaugmented(name):
    scenario, run = solved(name)
    # a rounding of the angles moves the last pin by 1e-16 m, and by that much a turn more
    turns = max(1.0, abs(kinematics.absolute_angles(scenario, run.q)).max())
    assert run.loop_position.max() < 1e-15 * turns
    assert run.loop_velocity.max() < 1e-15 * turns * max(1.0, abs(run.qd).max())
    np.testing.assert_allclose(run.q[0], scenario.q0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(run.qd[0], scenario.qd0, rtol=0, atol=1e-14)
    p = lagrangian.momenta(scenario, run.q, run.qd)
    np.testing.assert_allclose(run.p[0], p[0], rtol=0, atol=1e-14)
    assert abs(run.p[-1] - p[-1]).max() > 0.01


@pytest.mark.parametrize("name", ["loop_3", "loop_7", "two_loops"])
def test_energy_is_conserved(name):
    scenario = loops.unloaded(CASES[name]())
    run = lagrangian.simulate(scenario, np.linspace(0.0, 0.5, 51))
    energy = run.kinetic + run.potential
    assert np.ptp(run.kinetic) > 1.0
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-10)


def test_torque_and_damping_do_the_work_that_the_energy_gains():
    scenario, run = solved("five_bar")
    work = (run.q - run.q[0]) @ np.array([body.torque for body in scenario.bodies])
    damping = np.array([body.damping for body in scenario.bodies])
    lost = cumulative_simpson(run.qd**2 @ damping, x=run.t, initial=0.0)
    energy = run.kinetic + run.potential
    assert np.abs(work).max() > 0.1 and lost[-1] > 0.1
    np.testing.assert_allclose(energy - energy[0], work - lost, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["general_four_bar", "five_bar"])
def test_looser_tolerances_change_nothing_that_counts(monkeypatch, name):
    scenario, tight = solved(name)
    monkeypatch.setattr(lagrangian, "TOLERANCE", 2 * lagrangian.TOLERANCE)
    loose = lagrangian.simulate(scenario, tight.t[::1000])
    for quantity in ("q", "qd", "p"):
        value, other = getattr(tight, quantity)[::1000], getattr(loose, quantity)
        np.testing.assert_allclose(other, value, rtol=0, atol=1e-11 * max(1, abs(value).max()))


def test_energy_is_conserved_by_the_general_four_bar():
    _, run = solved("general_four_bar")
    energy = run.kinetic + run.potential
    assert np.ptp(run.kinetic) > 1.0
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-11)


@pytest.mark.parametrize(("drift", "fewest"), [(1e-15, 10), (np.inf, 1)])
def test_starting_again_on_the_loops_cannot_be_seen_in_the_motion(monkeypatch, drift, fewest):
    scenario = load(SCENARIOS / "general_four_bar.toml")
    starts = []

    class Counted(scipy.integrate.DOP853):
        def __init__(self, *arguments, **keys):
            starts.append(arguments[1])
            super().__init__(*arguments, **keys)

    monkeypatch.setattr(scipy.integrate, "DOP853", Counted)
    monkeypatch.setattr(lagrangian, "DRIFT", drift)
    run = lagrangian.simulate(scenario, np.linspace(0.0, 1.0, 11))
    assert len(starts) >= fewest and starts[0] == 0.0
    assert drift < 1.0 or len(starts) == 1
    np.testing.assert_allclose(run.q, solved("general_four_bar")[1].q[::1000], rtol=0, atol=1e-11)


# --- the equations ------------------------------------------------------------------------------


def points(scenario, q):
    """Centres of mass and gaps in (complex) numbers, written out body by body."""
    states = []

    def at(body, arm):
        if body < 0:
            return np.array(arm)
        (x, y), angle = states[body]
        c, s = np.cos(angle), np.sin(angle)
        return np.array([x + c * arm[0] - s * arm[1], y + s * arm[0] + c * arm[1]])

    for k, body in enumerate(scenario.bodies):
        angle = states[body.parent][1] if body.parent >= 0 else 0.0
        states.append((at(body.parent, body.attach), angle + q[k]))
    com = np.array([at(k, body.com) for k, body in enumerate(scenario.bodies)])
    gaps = [at(loop.body, loop.point) - at(loop.to, loop.at) for loop in scenario.loops]
    return com, np.concatenate(gaps), np.array([angle for _, angle in states])


def gradient(function, x):
    """Derivative by the last axis of a function of x, by complex steps."""
    columns = [np.imag(function(x + 1j * STEP * unit)) / STEP for unit in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def test_jacobian_by_complex_steps(scenario):
    equations = Lagrangian(scenario)
    rng = np.random.default_rng(2)
    q, other = rng.uniform(-3, 3, (2, len(scenario.bodies)))  # any posture, open loops too
    gap, jacobian = equations.gaps(q)
    np.testing.assert_allclose(gap, points(scenario, q)[1], rtol=0, atol=1e-14)
    expected = gradient(lambda x: points(scenario, x)[1], q)
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(jacobian, kinematics.loop_jacobian(scenario, q), rtol=0, atol=1e-14)
    many = equations.gaps(np.stack((other, q)))
    np.testing.assert_array_equal(many[1][1], jacobian)
    np.testing.assert_array_equal(many[0][0], equations.gaps(other)[0])


def test_hamiltons_equations_by_complex_steps(scenario):
    """p = dL/dqd and pd = dL/dq + tau with L = T - V - sigma . gap velocity, sigma as found."""
    rng = np.random.default_rng(4)
    q, qd, sigma = random_state(scenario, rng)
    mass = np.array([body.mass for body in scenario.bodies])
    inertia = np.array([body.inertia for body in scenario.bodies])
    spring = np.array([body.spring for body in scenario.bodies])
    rest = np.array([body.rest for body in scenario.bodies])

    def along(function, x, rate):
        """Time derivative of a function of q, differentiable by complex steps a second time."""
        step = 1e-3  # central differences of order 8, 1e-16 or so
        weights = zip((1, 2, 3, 4), (4 / 5, -1 / 5, 4 / 105, -1 / 280), strict=True)
        return sum(
            w * (function(x + k * step * rate) - function(x - k * step * rate)) / step
            for k, w in weights
        )

    def lagrange(x, rate):
        velocity = along(lambda y: points(scenario, y)[0], x, rate)
        spin = along(lambda y: points(scenario, y)[2], x, rate)
        kinetic = 0.5 * (mass @ (velocity**2).sum(axis=1) + inertia @ spin**2)
        height = mass @ points(scenario, x)[0] @ scenario.gravity
        energy = 0.5 * spring @ (x - rest) ** 2 - height
        return kinetic - energy - sigma @ along(lambda y: points(scenario, y)[1], x, rate)

    p = gradient(lambda rate: lagrange(q, rate), qd)
    joint = np.array([b.torque - b.damping * r for b, r in zip(scenario.bodies, qd, strict=True)])
    pd = gradient(lambda x: lagrange(x, qd), q) + joint
    found = lagrangian.canonical_rates(scenario, q, p)
    np.testing.assert_allclose(found[0], qd, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1], pd, rtol=0, atol=1e-9 * max(1, abs(pd).max()))
    impulses = lagrangian.impulses(scenario, q, p)
    np.testing.assert_allclose(impulses.ravel(), sigma, rtol=0, atol=1e-9)
    assert impulses.shape == (len(scenario.loops), 2)


def test_impulses_are_on_the_body_and_turn_it_about_every_joint():
    """p_k = (M qd)_k - (r_c - r_k) x sigma where the cut end hangs on all joints."""
    scenario = loops.random_loop(np.random.default_rng(11), 4)
    q, qd, sigma = random_state(scenario, np.random.default_rng(12))
    pins = kinematics.handle_positions(scenario, q)
    arm = kinematics.point_position(scenario, q, 3, scenario.loops[0].point) - pins
    moment = arm[:, 0] * sigma[1] - arm[:, 1] * sigma[0]
    p = lagrangian.momenta(scenario, q, qd) - moment
    np.testing.assert_allclose(lagrangian.impulses(scenario, q, p)[0], sigma, rtol=0, atol=1e-12)
    found, _ = lagrangian.canonical_rates(scenario, q, p)
    np.testing.assert_allclose(found, qd, rtol=0, atol=1e-12)


def test_constrained_accelerations_obey_the_pins(scenario):
    """J qdd = -J-dot qd by differences, and the multipliers do what the tree lacks."""
    equations = Lagrangian(scenario)
    q, qd, _ = random_state(scenario, np.random.default_rng(6))
    qdd, force = equations.constrained_accelerations(q, qd)
    step = 1e-4

    def gap(time):
        return points(scenario, q + time * qd + 0.5 * time**2 * qdd)[1]

    curvature = (gap(step) - 2 * gap(0.0) + gap(-step)) / step**2
    np.testing.assert_allclose(curvature, 0.0, atol=1e-6 * max(1, abs(qdd).max()))
    _, jacobian = equations.gaps(q)
    lacking = equations.mass_matrix(q) @ (qdd - equations.accelerations(q, qd))
    np.testing.assert_allclose(
        lacking, jacobian.T @ force, rtol=0, atol=1e-11 * max(1, abs(lacking).max())
    )


def test_rates_are_the_derivatives_along_a_run(scenario):
    step = 2e-3
    run = lagrangian.simulate(scenario, 0.1 + step * np.arange(9))
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    qd, pd = lagrangian.canonical_rates(scenario, run.q[4], run.p[4])
    np.testing.assert_allclose(qd, run.qd[4], rtol=0, atol=1e-10)
    for found, values in ((qd, run.q), (pd, run.p)):
        slope = weights @ values / step
        np.testing.assert_allclose(found, slope, rtol=0, atol=1e-7 * max(1, abs(slope).max()))


def test_hamiltons_equations_give_the_same_trajectory(scenario):
    n = len(scenario.bodies)
    p0 = lagrangian.momenta(scenario, scenario.q0, scenario.qd0)
    solution = solve_ivp(
        lambda _, y: np.concatenate(lagrangian.canonical_rates(scenario, y[:n], y[n:])),
        (0.0, 0.3),
        np.concatenate((scenario.q0, p0)),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    run = lagrangian.simulate(scenario, np.array([0.3]))
    np.testing.assert_allclose(solution.y[:n, -1], run.q[0], rtol=0, atol=1e-9)
    scale = max(1, abs(run.p).max())
    np.testing.assert_allclose(solution.y[n:, -1], run.p[0], rtol=0, atol=1e-9 * scale)


def test_old_impulses_change_no_motion():
    """Adding J^T sigma_0 to p adds sigma_0 to the impulses and leaves the velocities alone."""
    scenario = load(SCENARIOS / "five_bar.toml")
    q, p = scenario.q0, lagrangian.momenta(scenario, scenario.q0, scenario.qd0)
    shift = np.array([3.0, -2.0])
    moved = p - kinematics.loop_jacobian(scenario, q).T @ shift
    np.testing.assert_allclose(lagrangian.impulses(scenario, q, p), 0.0, atol=1e-13)
    np.testing.assert_allclose(lagrangian.impulses(scenario, q, moved)[0], shift, atol=1e-12)
    velocities = [lagrangian.canonical_rates(scenario, q, x)[0] for x in (p, moved)]
    np.testing.assert_allclose(*velocities, rtol=0, atol=1e-13)


# --- files, starts and refusals -----------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_files_are_closed_and_far_from_singular(name):
    scenario, run = solved(name)
    assert kinematics.loop_position(scenario, scenario.q0) < 1e-15
    assert kinematics.loop_velocity(scenario, scenario.q0, scenario.qd0) < 1e-15
    equations = Lagrangian(scenario)
    assert max(equations.condition(q) for q in run.q[::50]) < 20.0
    if name == "general_four_bar":
        assert loops.is_grashof(scenario) and np.ptp(run.q[:, 0]) > 2  # the crank's swing, rad
        assert len(set(loops.link_lengths(scenario).round(3))) == 4


def test_write_run_compares_loops_with_the_reference(tmp_path):
    scenario = dataclasses.replace(load(SCENARIOS / "general_four_bar.toml"), end=0.02)
    run = lagrangian.simulate(scenario, scenario.times)
    summary = write_run(FinishedRun(scenario, run, arithmetic="float64"), tmp_path)
    assert summary["reference_missing"] is None
    assert summary["differences_to_reference"]["p"]["max"] == 0.0
    exact = read_csv(tmp_path / "reference.csv")
    assert exact.p.tobytes() == run.p.tobytes() and exact.loop_position.max() < 1e-15
    # Re-basing gives the same motion other momenta.
    based = summarise(
        FinishedRun(scenario, run, arithmetic="float64", options={"rebase": 1}), exact, None, run
    )
    compared = summary["differences_to_reference"].keys() - based["differences_to_reference"].keys()
    assert compared == {"p"}


def test_typed_decimals_are_taken_onto_the_loops():
    """The angles by the least change, the velocities as the momenta of the file have them."""
    exact = load(SCENARIOS / "general_four_bar.toml")
    bodies = tuple(
        dataclasses.replace(body, q=round(body.q, 6), qd=round(body.qd, 6)) for body in exact.bodies
    )
    scenario = dataclasses.replace(exact, bodies=bodies)
    assert kinematics.loop_position(scenario, scenario.q0) > 1e-8
    run = lagrangian.simulate(scenario, np.array([0.0, 0.1]))
    assert run.loop_position.max() < 1e-15 and run.loop_velocity.max() < 1e-14
    change = run.q[0] - scenario.q0
    jacobian = kinematics.loop_jacobian(scenario, run.q[0])
    free = np.linalg.svd(jacobian)[2][2]
    assert 1e-8 < abs(change).max() < 2e-6 and abs(free @ change) < 1e-11
    start = lagrangian.momenta(scenario, run.q[0], scenario.qd0)
    np.testing.assert_allclose(run.p[0], start, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.q, lagrangian.simulate(exact, run.t).q, rtol=0, atol=1e-5)


def test_start_alone_and_grids_without_it():
    scenario = load(SCENARIOS / "five_bar.toml")
    run = lagrangian.simulate(scenario, np.zeros(2))
    assert run.q.shape == (2, 4) and np.array_equal(run.q[0], run.q[1])
    later = lagrangian.simulate(scenario, np.array([0.1, 0.2]))
    whole = lagrangian.simulate(scenario, np.array([0.0, 0.1, 0.2]))
    np.testing.assert_allclose(later.q, whole.q[1:], rtol=0, atol=1e-12)


def test_a_rhombus_that_goes_flat_is_solved_until_then():
    scenario = load(SCENARIOS / "four_bar.toml")
    scenario = dataclasses.replace(scenario, gravity=(0.0, -9.80665))
    k = np.sin(3 * np.pi / 8)
    rate = np.sqrt(1.2 * 9.80665 / 0.4)
    flat = (ellipk(k**2) - ellipkinc(np.arcsin(np.sin(np.pi / 4) / k), k**2)) / rate
    assert flat == pytest.approx(0.262, abs=5e-4)
    with pytest.raises(NoReferenceError) as caught:
        lagrangian.simulate(scenario, scenario.times)
    time = float(str(caught.value).split()[-2])
    assert str(caught.value) == f"{scenario.source}: loop: singular posture at t = {time:.4g} s"
    assert flat - 5e-4 < time < flat
    run = caught.value.trajectory
    assert run.t[-1] <= time + 5e-5 and run.t[-1] > time - 2e-4
    swing, _ = rhombus(run.t, 3 * np.pi / 4)
    np.testing.assert_allclose(run.q[:, 0], swing - np.pi / 2, rtol=0, atol=1e-11)
    # a run that ends before is solved
    whole = lagrangian.simulate(scenario, run.t[:2601])
    np.testing.assert_allclose(whole.q, run.q[:2601], rtol=0, atol=1e-12)


def test_a_singular_posture_between_two_steps_is_seen(monkeypatch):
    """A solver with large steps jumps over the flat rhombus; the side of the loop shows it."""
    scenario = load(SCENARIOS / "four_bar.toml")
    scenario = dataclasses.replace(scenario, gravity=(0.0, -9.80665))
    monkeypatch.setattr(lagrangian, "TOLERANCE", 1e-6)
    monkeypatch.setattr(lagrangian, "SINGULAR_CONDITION", 1e12)
    with pytest.raises(NoReferenceError, match=r"singular posture at t = 0\.261\d s$") as caught:
        lagrangian.simulate(scenario, scenario.times)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.2616)  # flat at 0.26167 s


def bars(count, q, loop_pins):
    """Equal bars in a row with loops that pin their ends to the ground where they are."""
    bar = Body(mass=1.0, inertia=0.01, com=(0.2, 0.0), tip=(0.4, 0.0))
    bodies = tuple(
        dataclasses.replace(bar, parent=k - 1, attach=(0.4, 0.0) if k else (0.0, 0.0), q=q[k])
        for k in range(count)
    )
    scenario = Scenario("bars", (0.0, -9.8), step=1e-3, end=0.1, bodies=bodies, source="b.toml")
    pins = tuple(
        Loop(k, (0.4, 0.0), -1, tuple(kinematics.tip_positions(scenario, scenario.q0)[k]))
        for k in loop_pins
    )
    return dataclasses.replace(scenario, loops=pins)


@pytest.mark.parametrize(
    ("count", "q", "pins"),
    [
        (3, [0.0, 0.0, 0.0], [2]),  # flat
        (4, [0.3, 0.5, 0.7, 0.9], [3, 3]),  # the same pin twice
        (3, [0.3, 0.5, 0.7], [1, 2]),  # more constraints than joints
    ],
)
def test_dependent_constraints_are_refused_in_one_line(count, q, pins):
    scenario = bars(count, q, pins)
    line = "b.toml: loop: constraints depend on each other at this posture (redundant or singular)"
    for call in (lagrangian.simulate, lagrangian.canonical_rates, lagrangian.impulses):
        arguments = [scenario.times] if call is lagrangian.simulate else [scenario.q0, scenario.q0]
        with pytest.raises(NoReferenceError) as caught:
            call(scenario, *arguments)
        assert str(caught.value) == line
    assert caught.value.trajectory is None


def test_a_structure_stands_still():
    scenario = bars(2, [0.9, -1.8], [1])
    run = lagrangian.simulate(scenario, scenario.times)
    np.testing.assert_allclose(run.q, np.tile(scenario.q0, (len(run), 1)), rtol=0, atol=1e-15)
    assert abs(run.qd).max() < 1e-14
    # Each pin carries the weight of one bar, the two being each other's mirror image.
    impulse = lagrangian.impulses(scenario, run.q, run.p)[-1, 0]
    assert impulse[1] == pytest.approx(9.8 * run.t[-1], rel=1e-12)


# --- the generator ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(3, 8))
def test_random_loops_are_closed_moving_and_far_from_singular(n):
    for seed in range(10):
        scenario = loops.random_loop(np.random.default_rng(seed), n, end=0.1, step=0.01)
        assert scenario.is_chain and len(scenario.bodies) == n and scenario.steps == 10
        (loop,) = scenario.loops
        assert (loop.body, loop.to) == (n - 1, -1)
        assert kinematics.loop_position(scenario, scenario.q0) < 1e-15
        assert kinematics.loop_velocity(scenario, scenario.q0, scenario.qd0) < 2e-15
        assert abs(scenario.qd0).max() > 0.5 and loops.condition(scenario) < loops.CONDITION
        assert scenario == loops.random_loop(np.random.default_rng(seed), n, end=0.1, step=0.01)
    run = lagrangian.simulate(scenario, scenario.times)
    assert run.loop_position.max() < 1e-14


@pytest.mark.parametrize("grashof", [True, False])
def test_random_four_bars(grashof):
    """Their condition stays low wherever they move; a Grashof one can turn a link round."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scenario = loops.random_four_bar(rng, grashof, loads=False)
        length = np.sort(loops.link_lengths(scenario))
        assert (length[0] + length[3] < length[1] + length[2]) == grashof
        run = lagrangian.simulate(scenario, np.linspace(0.0, 0.3, 16))
        equations = Lagrangian(scenario)
        assert max(equations.condition(q) for q in run.q) < 500
        energy = run.kinetic + run.potential
        np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-10)


def test_two_bodies_are_no_loop_that_moves():
    with pytest.raises(ValueError, match="^n: a loop that moves has 3 bodies or more, got 2$"):
        loops.random_loop(np.random.default_rng(1), 2)
