"""The reference solver against closed forms, identities and conservation laws."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

from pymodel.mechanism import kinematics
from pymodel.mechanism.frames import planar
from pymodel.mechanism.scenario import Body, Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import lagrangian
from pymodel.runs.lagrangian import Lagrangian
from pymodel.tests.places import SCENARIOS


def mechanism(rng, parents, *, loads=False):
    """A random mechanism with the given parents; with `loads` also joint torques and springs."""
    bodies = []
    for parent in parents:
        length = rng.uniform(0.2, 0.5)
        extra = ("torque", "spring", "rest", "damping") if loads else ()
        bodies.append(
            Body(
                mass=rng.uniform(0.3, 1.5),
                inertia=rng.uniform(0.005, 0.03),
                com=(rng.uniform(0.3, 0.7) * length, rng.uniform(-0.05, 0.05)),
                tip=(length, 0.0),
                parent=parent,
                attach=(0.1, -0.2) if parent < 0 else bodies[parent].tip,
                q=rng.uniform(-3, 3),
                qd=rng.uniform(-2, 2),
                **{key: rng.uniform(0.1, 1.0) for key in extra},
            )
        )
    gravity = tuple(rng.uniform(-10, 10, 2))
    return Scenario("random", gravity, step=1e-3, end=1.0, bodies=tuple(bodies))


def tree(rng, n):
    return [int(rng.integers(-1, k)) if k else -1 for k in range(n)]


SHAPES = {
    "chain_1": [-1],
    "chain_2": [-1, 0],
    "chain_8": list(range(-1, 7)),
    "chain_33": list(range(-1, 32)),
    "star": [-1, 0, 0, 0],
    "two_roots": [-1, 0, -1, 2, 2, 1],
    "tree_20": tree(np.random.default_rng(20), 20),
}


@pytest.fixture(params=SHAPES)
def scenario(request):
    return mechanism(np.random.default_rng(5), SHAPES[request.param], loads=True)


def compound_pendulum(t):
    """Closed form of scenarios/compound_pendulum.toml: q and qd at `t`, and the period."""
    body = load(SCENARIOS / "compound_pendulum.toml").bodies[0]
    arm = body.com[0]
    rate = np.sqrt(body.mass * 9.80665 * arm / (body.inertia + body.mass * arm**2))
    k = np.sin(np.pi / 4)  # of half the amplitude, which is 90 degrees
    sn, cn, dn, _ = ellipj(rate * t, k**2)
    q = 2 * np.arcsin(k * cn / dn) - np.pi / 2
    qd = -2 * k * rate * np.sqrt(1 - k**2) * sn / dn
    return q, qd, 4 * ellipk(k**2) / rate


def test_compound_pendulum_against_elliptic_functions():
    scenario = load(SCENARIOS / "compound_pendulum.toml")
    run = lagrangian.simulate(scenario, scenario.times)
    q, qd, _ = compound_pendulum(scenario.times)
    np.testing.assert_allclose(run.q[:, 0], q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.qd[:, 0], qd, rtol=0, atol=1e-10)


def test_compound_pendulum_period():
    scenario = load(SCENARIOS / "compound_pendulum.toml")
    _, _, period = compound_pendulum(0.0)

    def turning(t):
        return lagrangian.simulate(scenario, np.array([t])).qd[0, 0]

    measured = brentq(turning, 0.9 * period, 1.1 * period, xtol=1e-13, rtol=1e-13)
    assert measured == pytest.approx(period, rel=1e-11)


def test_mass_matrix_is_symmetric_and_positive_definite(scenario):
    equations = Lagrangian(scenario)
    rng = np.random.default_rng(1)
    for _ in range(5):
        matrix = equations.mass_matrix(rng.uniform(-3, 3, len(scenario.bodies)))
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-14, atol=1e-15)
        assert np.linalg.eigvalsh(matrix).min() > 0


def test_momenta_are_mass_matrix_times_velocity(scenario):
    equations = Lagrangian(scenario)
    q, qd = np.random.default_rng(12).uniform(-3, 3, (2, 700, len(scenario.bodies)))
    p = lagrangian.momenta(scenario, q, qd)
    assert p.shape == q.shape
    for k in (0, 350, 699):
        expected = equations.mass_matrix(q[k]) @ qd[k]
        for value in (p[k], lagrangian.momenta(scenario, q[k], qd[k])):
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_mass_matrix_is_the_kinetic_energy(scenario):
    """1/2 qd^T M qd equals the kinetic energy, which is computed without any Jacobian."""
    equations = Lagrangian(scenario)
    rng = np.random.default_rng(2)
    q, qd = rng.uniform(-3, 3, (2, len(scenario.bodies)))
    energy = kinematics.kinetic_energy(scenario, q, qd)
    assert 0.5 * qd @ equations.mass_matrix(q) @ qd == pytest.approx(energy, rel=1e-13)


def complex_energies(scenario, q, qd):
    """Kinetic and potential energy in complex numbers, written out body by body."""
    kinetic = potential = 0.0
    states = []
    for k, body in enumerate(scenario.bodies):
        angle, rate, pin, speed = (
            states[body.parent] if body.parent >= 0 else (0.0, 0.0, np.zeros(2), np.zeros(2))
        )
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        arm = turn @ body.attach
        pin = pin + arm
        speed = speed + rate * np.array([-arm[1], arm[0]])
        angle, rate = angle + q[k], rate + qd[k]
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        arm = turn @ body.com
        velocity = speed + rate * np.array([-arm[1], arm[0]])
        kinetic += 0.5 * (body.mass * velocity @ velocity + body.inertia * rate**2)
        potential -= body.mass * (pin + arm) @ scenario.gravity
        potential += 0.5 * body.spring * (q[k] - body.rest) ** 2
        states.append((angle, rate, pin, speed))
    return kinetic, potential


def complex_step(function, x):
    """Gradient of a real function of x by complex steps: exact to rounding."""
    step = 1e-30
    return np.array([function(x + 1j * step * unit).imag / step for unit in np.eye(len(x))])


def mass_matrix_derivative(scenario, q):
    """dM/dq in kg m^2, (n, n, n): the last index is the joint angle.

    Joint k moves the centre of mass of every body i that hangs on it as a lever r_Ci - r_k turned
    by 90 degrees; the second derivative by q_k and q_l is minus the lever on the outer of the two.
    """
    n = len(scenario.bodies)
    moves = np.eye(n, dtype=bool)  # [i, k]: body i hangs on joint k; parents come first
    for i, body in enumerate(scenario.bodies):
        if body.parent >= 0:
            moves[i] |= moves[body.parent]
    com, pin = kinematics.centres_of_mass(scenario, q), kinematics.handle_positions(scenario, q)
    lever = (com[:, None] - pin) * moves[..., None]
    first = planar(-lever[..., 1], lever[..., 0])
    both = moves[:, :, None] & moves[:, None, :]
    second = -lever[:, np.maximum.outer(np.arange(n), np.arange(n))] * both[..., None]
    mass = np.array([body.mass for body in scenario.bodies])
    half = np.einsum("ikjx,ilx,i->klj", second, first, mass)
    return half + half.transpose(1, 0, 2)


def test_lagrangian_by_complex_steps(scenario):
    """p = dL/dqd and pd = dL/dq + torque - damping qd, and the mass matrix' own derivative."""
    n = len(scenario.bodies)
    rng = np.random.default_rng(3)
    q, qd = rng.uniform(-3, 3, (2, n))
    equations = Lagrangian(scenario)

    p = complex_step(lambda x: complex_energies(scenario, q, x)[0], qd)
    np.testing.assert_allclose(equations.momenta(q, qd), p, rtol=0, atol=1e-13 * abs(p).max())

    def lagrange(x):
        kinetic, potential = complex_energies(scenario, x, qd)
        return kinetic - potential

    joint = np.array([b.torque - b.damping * r for b, r in zip(scenario.bodies, qd, strict=True)])
    pd = complex_step(lagrange, q) + joint
    rates = lagrangian.canonical_rates(scenario, q, p)
    np.testing.assert_allclose(rates[0], qd, rtol=0, atol=1e-9 if n > 30 else 1e-11)
    np.testing.assert_allclose(rates[1], pd, rtol=0, atol=1e-9 * max(1.0, abs(pd).max() / 100))

    by_tensor = 0.5 * np.einsum("klj,k,l->j", mass_matrix_derivative(scenario, q), qd, qd)
    by_tensor += equations.forces(q, qd)
    np.testing.assert_allclose(by_tensor, pd, rtol=0, atol=1e-12 * abs(pd).max())


def test_accelerations_and_hamiltons_equations_are_the_same_motion(scenario):
    """d(M qd)/dt along the accelerations equals p-dot: two routes through dM/dq."""
    n = len(scenario.bodies)
    rng = np.random.default_rng(4)
    q, qd = rng.uniform(-3, 3, (2, n))
    equations = Lagrangian(scenario)
    qdd = equations.accelerations(q, qd)
    derivative = np.einsum("klj,j->kl", mass_matrix_derivative(scenario, q), qd)
    along = equations.mass_matrix(q) @ qdd + derivative @ qd
    _, pd = equations.canonical_rates(q, equations.momenta(q, qd))
    np.testing.assert_allclose(along, pd, rtol=0, atol=1e-9 * abs(pd).max())


@pytest.mark.parametrize("name", ["double_pendulum", "chain_8", "compound_pendulum"])
def test_energy_is_conserved(name):
    scenario = load(SCENARIOS / f"{name}.toml")
    run = lagrangian.simulate(scenario, scenario.times[::20])
    energy = run.kinetic + run.potential
    assert run.kinetic.max() > 1.0
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-10)
    assert not run.loop_position.any() and not run.loop_velocity.any()


@pytest.mark.parametrize("shape", ["chain_2", "star", "two_roots"])
def test_torque_and_damping_do_the_work_that_the_energy_gains(shape):
    scenario = mechanism(np.random.default_rng(6), SHAPES[shape], loads=True)
    t = np.linspace(0.0, 1.0, 16001)
    run = lagrangian.simulate(scenario, t)
    torque = np.array([body.torque for body in scenario.bodies])
    damping = np.array([body.damping for body in scenario.bodies])
    work = (run.q - run.q[0]) @ torque
    lost = cumulative_simpson(run.qd**2 @ damping, x=t, initial=0.0)
    energy = run.kinetic + run.potential
    assert np.abs(work).max() > 0.01 and lost[-1] > 0.01
    np.testing.assert_allclose(energy - energy[0], work - lost, rtol=0, atol=1e-9)


def test_hamiltons_equations_give_the_same_trajectory():
    scenario = mechanism(np.random.default_rng(7), SHAPES["two_roots"], loads=True)
    n = len(scenario.bodies)
    p0 = lagrangian.momenta(scenario, scenario.q0, scenario.qd0)
    solution = solve_ivp(
        lambda _, y: np.concatenate(lagrangian.canonical_rates(scenario, y[:n], y[n:])),
        (0.0, 0.5),
        np.concatenate((scenario.q0, p0)),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    run = lagrangian.simulate(scenario, np.array([0.0, 0.5]))
    np.testing.assert_allclose(run.p[0], p0, rtol=1e-13)
    np.testing.assert_allclose(solution.y[:n, -1], run.q[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(solution.y[n:, -1], run.p[-1], rtol=0, atol=1e-9)


def test_a_tree_of_two_chains_moves_as_the_two_chains():
    """Branches that meet on the ground do not feel each other, in whatever order they stand."""
    rng = np.random.default_rng(8)
    whole = mechanism(rng, [-1, -1, 0, 1, 2])
    t = np.linspace(0.0, 0.5, 11)
    run = lagrangian.simulate(whole, t)
    for members in ([0, 2, 4], [1, 3]):
        bodies = tuple(
            dataclasses.replace(whole.bodies[k], parent=place - 1)
            for place, k in enumerate(members)
        )
        alone = lagrangian.simulate(dataclasses.replace(whole, bodies=bodies), t)
        np.testing.assert_allclose(run.q[:, members], alone.q, rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.p[:, members], alone.p, rtol=0, atol=1e-10)


def test_a_body_pinned_at_its_centre_of_mass_is_a_point_mass():
    """The tree with such a rider on its parent's centre of mass moves as the heavier chain."""
    base = mechanism(np.random.default_rng(9), [-1, 0])
    first, second = base.bodies
    rider = Body(mass=0.4, inertia=1.0, com=(0.0, 0.0), tip=(0.1, 0.0), parent=0, attach=first.com)
    # A pin through the centre of mass passes no torque: the rider keeps its absolute spin.
    rider = dataclasses.replace(rider, q=0.3, qd=-first.qd)
    heavier = dataclasses.replace(first, mass=first.mass + rider.mass)
    tree_run = lagrangian.simulate(
        dataclasses.replace(base, bodies=(first, second, rider)), np.linspace(0, 0.5, 6)
    )
    chain_run = lagrangian.simulate(
        dataclasses.replace(base, bodies=(heavier, second)), np.linspace(0, 0.5, 6)
    )
    np.testing.assert_allclose(tree_run.q[:, :2], chain_run.q, rtol=0, atol=1e-10)
    spin = kinematics.angular_velocities(base, tree_run.q[:, [0, 2]], tree_run.qd[:, [0, 2]])
    np.testing.assert_allclose(spin[:, 1], 0.0, rtol=0, atol=1e-10)


def test_exact_times_and_start():
    scenario = load(SCENARIOS / "double_pendulum.toml")
    t = scenario.times[::1000]
    run = lagrangian.simulate(scenario, t)
    assert run.t.tobytes() == t.tobytes()
    assert np.array_equal(run.q[0], scenario.q0) and np.array_equal(run.qd[0], scenario.qd0)
    assert lagrangian.simulate(scenario, np.array([0.0])).q.shape == (1, 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "solved"),
    [({"q": 1e10}, True), ({"spring": 1e30}, False), ({"step": 1e6}, False)],
)
def test_work_is_bounded_and_what_there_is_is_kept(monkeypatch, change, solved):
    """Motions that take hours to follow: the solver says where it gave up, and shows progress."""
    monkeypatch.setattr(lagrangian, "MIN_EVALUATIONS", 2000)
    scenario = load(SCENARIOS / "double_pendulum.toml", steps=20)
    step = change.pop("step", scenario.step)
    first, second = scenario.bodies
    bodies = (dataclasses.replace(first, **change), second)
    scenario = dataclasses.replace(scenario, step=step, end=20 * step, bodies=bodies)
    shown = []
    with pytest.raises(lagrangian.NoReferenceError) as caught:
        lagrangian.simulate(scenario, scenario.times, lambda *done: shown.append(done))
    message = f"{scenario.source}: reference solver: given up at t = "
    end = f" of {20 * step:.4g} s, after 2000 evaluations"
    assert str(caught.value).startswith(message) and str(caught.value).endswith(end)
    kept = caught.value.trajectory
    assert (len(kept) > 1) == solved and np.array_equal(kept.q[0], scenario.q0)
    assert len(shown) == 2000 and shown[-1] == (len(kept), 21)


def test_work_may_grow_with_the_number_of_results(monkeypatch):
    monkeypatch.setattr(lagrangian, "MIN_EVALUATIONS", 1)
    scenario = load(SCENARIOS / "double_pendulum.toml", steps=100)
    lagrangian.simulate(scenario, scenario.times)
    with pytest.raises(lagrangian.NoReferenceError, match="after 10 evaluations") as caught:
        lagrangian.simulate(scenario, scenario.times[-1:])
    assert caught.value.trajectory is None
