"""Differential dynamic programming: least costs, limits, and what is expected of a step."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pymodel.control import ddp, se3
from pymodel.control.costs import Link, Reach
from pymodel.control.motion import Approximation, Motion
from pymodel.control.receding import Plant, drive, heavier
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import ROBOTS

KNOTS, STEP = 20, 0.02


class Quadratic:
    """A cost that is quadratic by itself."""

    def __init__(self, nx, nu, seed):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(nx, nx)), rng.normal(size=(nu, nu))
        self.lxx, self.luu = a @ a.T / nx + np.eye(nx), 0.01 * (b @ b.T / nu + np.eye(nu))
        self.goal = rng.uniform(-0.5, 0.5, nx)

    def value(self, xs, us, lanes=slice(None)):
        x, us = xs[..., lanes] - self.goal[:, None], us[..., lanes]
        states = np.einsum("kil,ij,kjl->l", x, self.lxx, x)
        return 0.5 * (states + np.einsum("kil,ij,kjl->l", us, self.luu, us))

    def approximated(self, xs, us):
        lxx = np.broadcast_to(self.lxx, (len(xs), *self.lxx.shape))
        luu = np.broadcast_to(self.luu, (len(us), *self.luu.shape))
        return Approximation((xs - self.goal) @ self.lxx, lxx, us @ self.luu, luu)


@pytest.fixture(scope="module")
def gripper():
    return robot_file.load(ROBOTS / "gripper.urdf")


@pytest.fixture(scope="module")
def motion(gripper):
    return Motion(reduced(gripper), STEP, "step")


def problem_of(motion, limit=np.inf):
    most = np.full(motion.nu, limit)
    return ddp.Problem(motion, Quadratic(motion.nx, motion.nu, 7), -most, most)


def begin(motion):
    return np.full(motion.nx, 0.1), motion.open(np.zeros((KNOTS, motion.nu)))


@pytest.mark.parametrize("arithmetic", ["float64", "float32", "8/17"])
def test_motions_and_derivatives_are_the_functions(gripper, arithmetic):
    """All knots of a motion by the robot's functions one after the other, to the bit."""
    motion = Motion(reduced(gripper), STEP, "step", arithmetic)
    robot, rng = RobotModel(gripper, arithmetic), np.random.default_rng(9)
    us = rng.uniform(-1, 1, (KNOTS, motion.nu))
    start, _ = begin(motion)
    none = np.full(motion.nu, np.inf)
    xs, taken = motion.under(motion.open(us), start, np.ones(motion.lanes), -none, none)
    A, B = motion.linearised(xs[..., 0], us)
    x = start
    for k, u in enumerate(us):
        np.testing.assert_array_equal(xs[k, :, -1], x)
        by_x, by_u = robot.step_derivatives(*np.split(x, 2), u, STEP)
        np.testing.assert_array_equal(A[k], by_x)
        np.testing.assert_array_equal(B[k], by_u)
        x = np.concatenate(robot.step(*np.split(x, 2), u, STEP))
    np.testing.assert_array_equal(xs[-1, :, 0], x)
    np.testing.assert_array_equal(taken[..., 0], us)


def test_sweep_is_the_riccati_recursion(motion):
    """Without limits: gains and expected change by numpy."""
    rng = np.random.default_rng(9)
    nx, nu = motion.nx, motion.nu
    A, B = np.eye(nx) + 0.1 * rng.normal(size=(KNOTS, nx, nx)), rng.normal(size=(KNOTS, nx, nu))
    a, b = rng.normal(size=(KNOTS + 1, nx, nx)), rng.normal(size=(KNOTS, nu, nu))
    lxx, luu = a @ a.transpose(0, 2, 1), b @ b.transpose(0, 2, 1) + np.eye(nu)
    lx, lu = rng.normal(size=(KNOTS + 1, nx)), rng.normal(size=(KNOTS, nu))
    free = np.full((KNOTS, nu), np.inf)
    found = motion.backward(A, B, Approximation(lx, lxx, lu, luu), -free, free, 0.0)
    assert found is not None
    k, K, expected = found
    V, v, first = lxx[-1], lx[-1], 0.0
    for t in reversed(range(KNOTS)):
        Quu, Qux = luu[t] + B[t].T @ V @ B[t], B[t].T @ V @ A[t]
        Qx, Qu = lx[t] + A[t].T @ v, lu[t] + B[t].T @ v
        feed, gain = -np.linalg.solve(Quu, Qu), -np.linalg.solve(Quu, Qux)
        np.testing.assert_allclose(k[t], feed, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(K[t], gain, rtol=1e-9, atol=1e-11)
        first += feed @ Qu
        V = lxx[t] + A[t].T @ V @ A[t] + Qux.T @ gain
        v = Qx + Qux.T @ feed
    assert expected[0] == pytest.approx(first)
    assert expected[1] == pytest.approx(-first)


@pytest.mark.parametrize("limit", [np.inf, 0.004])
def test_least_cost_is_that_of_another_optimiser(motion, limit):
    problem, (x, start) = problem_of(motion, limit), begin(motion)

    def cost(us):
        held = motion.open(us.reshape(KNOTS, -1))
        ones = np.ones(motion.lanes)
        return float(problem.cost.value(*motion.under(held, x, ones, problem.low, problem.high))[0])

    found = ddp.solve(problem, x, start)
    us = found.policy.us
    assert found.converged and np.all(np.diff(found.costs) < 0)
    assert np.abs(us).max() <= limit
    assert (np.abs(us) > limit * (1 - 1e-12)).any() == np.isfinite(limit)
    bounds = [(-limit, limit)] * us.size if np.isfinite(limit) else None
    options = {"maxiter": 2000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-9}
    other = minimize(cost, us.ravel(), bounds=bounds, method="L-BFGS-B", options=options)
    assert found.costs[-1] <= other.fun * (1 + 1e-7)


def test_what_is_not_positive_definite_is_regularised(motion):
    """A cost of torques that is negative alone has no least one in a knot."""
    problem = problem_of(motion)
    problem.cost.luu = -0.1 * np.eye(motion.nu)
    x, start = begin(motion)
    linear = motion.linearised(*(array[..., 0] for array in _held(motion, x, start)))
    approximation = problem.cost.approximated(np.zeros((KNOTS + 1, motion.nx)), start.us)
    free = np.full(start.us.shape, np.inf)
    last = without_end(approximation)
    assert motion.backward(*linear, last, -free, free, 0.0) is None
    assert motion.backward(*linear, last, -free, free, 10.0) is not None


def _held(motion, x, start):
    none = np.full(motion.nu, np.inf)
    return motion.under(start, x, np.zeros(motion.lanes), -none, none)


def without_end(approximation):
    """Without a cost of the end, so that nothing outweighs that of the torques there."""
    lxx = np.array(approximation.lxx)
    lxx[-1] = 0.0
    return approximation._replace(lxx=lxx)


WEIGHTS = {"place": 2.0, "place_at_end": 5.0, "state": 0.1, "control": 0.3}


@pytest.fixture(scope="module")
def link(gripper):
    return Link(gripper, "right_tip")


@pytest.fixture(scope="module")
def reach(link):
    return Reach(
        link, *link.placement(np.array([0.3, 0.2])), np.array([0.1, -0.1]), STEP, **WEIGHTS
    )


def test_reach_counts_placement_state_and_torques(link, reach):
    """Of some lanes of motions, by numpy."""
    rng, count = np.random.default_rng(9), 6
    xs, us = rng.uniform(-1, 1, (count + 1, 4, 5)), rng.uniform(-1, 1, (count, 2, 5))
    rotation, position = link.placement(np.array([0.3, 0.2]))
    rest, places = np.array([0.1, -0.1, 0, 0]), [STEP * WEIGHTS["place"]] * count + [5.0]
    for first, lanes in ((0, slice(0, 1)), (1, slice(1, None))):
        for lane, found in enumerate(reach.value(xs, us, lanes), first):
            total = 0.5 * STEP * WEIGHTS["control"] * (us[..., lane] ** 2).sum()
            for k, place in enumerate(places):
                x = xs[k, :, lane]
                R, p = link.placement(x[:2])
                away = rotation.T @ (p - position)
                away = se3.log6((rotation.T @ R).reshape(9, 1), away[:, None])
                np.testing.assert_allclose(reach.missing(x[None]), away.T, atol=1e-14)
                far = WEIGHTS["state"] * ((x - rest) ** 2).sum()
                total += 0.5 * (place * (away**2).sum() + (STEP if k < count else 1.0) * far)
            assert found == pytest.approx(total, rel=1e-12)


def test_reach_is_differentiated_as_differences_tend_to(reach):
    """Slopes by those of the cost, curvature by those of the placement that is missing."""
    rng = np.random.default_rng(9)
    xs, us = rng.uniform(-1, 1, (KNOTS + 1, 4)), rng.uniform(-1, 1, (KNOTS, 2))
    found = reach.approximated(xs, us)
    near, by_x, by_u = 1e-6, rng.normal(size=xs.shape), rng.normal(size=us.shape)

    def cost(share):
        return reach.value((xs + share * by_x)[..., None], (us + share * by_u)[..., None])[0]

    slope = (cost(near) - cost(-near)) / (2 * near)
    assert (found.lx * by_x).sum() + (found.lu * by_u).sum() == pytest.approx(slope, rel=1e-6)
    J = np.stack([reach.missing(xs + near * x) - reach.missing(xs - near * x) for x in np.eye(4)])
    J /= 2 * near
    places = np.append(np.full(KNOTS, STEP * WEIGHTS["place"]), WEIGHTS["place_at_end"])
    states = np.append(np.full(KNOTS, STEP), 1.0) * WEIGHTS["state"]
    wanted = places[:, None, None] * np.einsum("ika,jka->kij", J, J)
    wanted += states[:, None, None] * np.eye(4)
    np.testing.assert_allclose(found.lxx, wanted, atol=1e-8)
    np.testing.assert_array_equal(found.luu, np.tile(STEP * 0.3 * np.eye(2), (KNOTS, 1, 1)))


def test_a_horizon_that_recedes_brings_a_heavier_robot_there(gripper, motion):
    """With noise and a delay of a tick, nearer than the plan alone."""
    problem, (x, start) = problem_of(motion, 5.0), begin(motion)
    plan = ddp.solve(problem, x, start)
    true, ticks = heavier(gripper, 0.5), 60
    assert true.links[-1].mass == pytest.approx(1.5 * gripper.links[-1].mass)
    plant = Plant(Motion(reduced(true), STEP / 4, "rk4", derivatives=False), 4)
    ideal = drive(problem, Plant(motion, 1), plan.policy, ticks)
    driven = drive(problem, plant, plan.policy, ticks, noise=1e-4, seed=3)
    np.testing.assert_allclose(ideal.xs[:2], plan.policy.xs[:2], atol=1e-12)
    alone = [x]
    for k in range(ticks):
        alone.append(plant.after(alone[-1], plan.policy.us[min(k, KNOTS - 1)]))
    left = [np.abs(xs[-1] - ideal.xs[-1]).max() for xs in (driven.xs, alone)]
    assert left[0] < 0.1 * left[1]
    again = drive(problem, plant, plan.policy, 5, noise=1e-4, seed=3)
    np.testing.assert_array_equal(again.xs, driven.xs[:6])


@pytest.mark.parametrize("seed", range(6))
def test_a_step_within_limits_is_the_least_of_its_quadratic_programme(motion, seed):
    """In one knot, with limits that bind below and above; what is at a limit has no feedback."""
    rng, nx, nu = np.random.default_rng(seed), motion.nx, motion.nu
    b = rng.normal(size=(nu, nu))
    H, g = b @ b.T + 0.1 * np.eye(nu), 3.0 * rng.normal(size=nu)
    low, high = -rng.uniform(0.1, 1.0, nu), rng.uniform(0.1, 1.0, nu)
    zero = np.zeros((2, nx, nx))
    cost = Approximation(np.zeros((2, nx)), zero, g[None], H[None])
    none = np.zeros((1, nx, nx)), np.zeros((1, nx, nu))
    found = motion.backward(*none, cost, low[None], high[None], 0.0)
    assert found is not None
    wanted = minimize(
        lambda u: 0.5 * u @ H @ u + g @ u,
        np.zeros(nu),
        jac=lambda u: H @ u + g,
        bounds=list(zip(low, high, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    np.testing.assert_allclose(found[0][0], wanted.x, atol=1e-8)
