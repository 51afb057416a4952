"""The HDCA model: against Lagrange's equations, in every format, along whole runs."""

import dataclasses
import functools
import math
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipj

from pymodel.algorithms import two_handles
from pymodel.algorithms.bodies import FreeBody, body_coefficients
from pymodel.algorithms.integrators import INTEGRATORS, ITERATIONS, integrate
from pymodel.algorithms.requests import (
    Assemble,
    ConnectBase,
    Disassemble,
    SingularError,
    answer,
    serve,
)
from pymodel.algorithms.space import Plane, Twist
from pymodel.algorithms.step import Chain, base_open
from pymodel.arith.fp import BINARY32, DIV_BY_ZERO, INEXACT, INVALID, OVERFLOW, UNDERFLOW, Format
from pymodel.arith.scalars import BitExact, Float64, parse
from pymodel.mechanism import schema
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import INTEGRATORS as NAMES
from pymodel.mechanism.scenario import Body, Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.topology import SHAPES, build_tree
from pymodel.runs import lagrangian, native_runs
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.simulate import simulate
from pymodel.tests.chains import difference, evaluate, random_assembly, random_chain
from pymodel.tests.places import ROOT, SCENARIOS

SIZES = (1, 2, 3, 5, 7, 8, 16, 33, 64)
SEEDS = range(5)
QUANTITIES = ("q", "qd", "p")


def rounding(n):
    """Relative bound for float64 results of n bodies.

    The condition of the equations grows with n. Over 20 random chains a size, the largest
    differences seen were 8e-14 (n = 2), 4e-13 (8), 1e-11 (33) and 1e-10 (64).
    """
    return min(1e-13 * max(n, 2) ** 2, 1e-9)


def state(scenario, seed=0):
    """A random posture, and the momenta of random velocities."""
    n = len(scenario.bodies)
    q, qd = np.random.default_rng([n, seed, 1]).uniform((-3, -2), (3, 2), (n, 2)).T
    return q, lagrangian.momenta(scenario, q, qd)


def worst(run, exact):
    """Largest difference of angles and momenta over a run."""
    return max(np.abs(run.q - exact.q).max(), np.abs(run.p - exact.p).max())


# --- one evaluation -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.nightly(every=4)
def test_rates_are_those_of_lagranges_equations(n, seed):
    scenario = random_chain(np.random.default_rng([n, seed]), n)
    q, p = state(scenario, seed)
    assert np.abs(p).min() > 0  # a wrong bias or v x T term hides at rest
    q_dot, p_dot = evaluate(Float64(), scenario, q, p)
    exact_q_dot, exact_p_dot = lagrangian.canonical_rates(scenario, q, p)
    assert difference(q_dot, exact_q_dot) < rounding(n)
    assert difference(p_dot, exact_p_dot) < rounding(n)


@pytest.mark.parametrize("load", ["gravity", "torque", "spring", "damping"])
def test_every_load_alone(load):
    """Each of them changes p-dot by what the reference says, and q-dot not at all."""
    full = random_chain(np.random.default_rng(7), 4)
    zero = dict.fromkeys(("torque", "spring", "damping"), 0.0)
    bare = dataclasses.replace(
        full,
        gravity=(0.0, 0.0),
        bodies=tuple(dataclasses.replace(body, **zero) for body in full.bodies),
    )
    if load == "gravity":
        one = dataclasses.replace(bare, gravity=full.gravity)
    else:
        bodies = zip(bare.bodies, full.bodies, strict=True)
        one = dataclasses.replace(
            bare,
            bodies=tuple(dataclasses.replace(b, **{load: getattr(f, load)}) for b, f in bodies),
        )
    q, p = state(full)
    got, without = (evaluate(Float64(), scenario, q, p) for scenario in (one, bare))
    exact, exact_without = (lagrangian.canonical_rates(s, q, p) for s in (one, bare))
    assert got[0].tobytes() == without[0].tobytes()
    change = exact[1] - exact_without[1]
    assert np.abs(change).min() > 1e-3
    np.testing.assert_allclose(got[1] - without[1], change, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", SIZES[1:])
def test_every_assembly_tree_gives_the_same(n):
    """To rounding only: trees sum in different orders, so the bound is that of the reference."""
    rng = np.random.default_rng(n)
    scenario = random_chain(rng, n)
    q, p = state(scenario)
    balanced = evaluate(Float64(), scenario, q, p)
    for shape in ("left", "right", *(random_assembly(rng, 0, n) for _ in range(3))):
        for value, expected in zip(
            evaluate(Float64(), scenario, q, p, shape), balanced, strict=True
        ):
            assert difference(value, expected) < rounding(n)


@pytest.mark.parametrize("shape", ["left", "right", build_tree("left", 1200)])
@pytest.mark.nightly("left")
def test_an_assembly_tree_has_any_depth(shape):
    scenario = random_chain(np.random.default_rng(1), 1200)
    q_dot, *_ = evaluate(Float64(), scenario, *state(scenario), shape)
    assert len(q_dot) == 1200


def test_initial_momenta():
    """p = M q-dot, rounded once to the format."""
    for n in SIZES:
        scenario = random_chain(np.random.default_rng(n), n)
        expected = lagrangian.momenta(scenario, scenario.q0, scenario.qd0)
        momenta = joint_momenta(scenario, scenario.q0, scenario.qd0)
        assert difference(momenta, expected) < rounding(n)
        twin = BitExact()
        q, p = Chain(twin, scenario).initial_state(scenario)
        assert [twin.to_float(x) for x in q] == list(np.float32(scenario.q0))
        assert [twin.to_float(x) for x in p] == list(np.float32(momenta))


def test_where_the_chain_hangs_and_its_last_tip_change_nothing():
    scenario = random_chain(np.random.default_rng(3), 3)
    q, p = state(scenario)
    before = evaluate(Float64(), scenario, q, p)
    first, second, last = scenario.bodies
    moved = (dataclasses.replace(first, attach=(5.0, 6.0)), second)
    last = dataclasses.replace(last, tip=(7.0, -8.0))
    after = evaluate(Float64(), dataclasses.replace(scenario, bodies=(*moved, last)), q, p)
    for value, expected in zip(after, before, strict=True):
        assert difference(value, expected) < rounding(3)


# --- parts of the text --------------------------------------------------------------------------


def shift(s):
    """S of (1) for the vector s from one handle to the other point."""
    return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-s[1], s[0], 1.0]])


def test_body_coefficients_are_products_of_the_shift_matrices():
    """(13)-(19): xi_gh = S_gC^-T M_C^-1 S_hC^-1 and xi_g0 = (p_1 - p_2) xi_gg H, spelled out."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        body = random_chain(rng, 1)
        constants = Chain(Float64(), body).bodies[0]
        s_1c, s_2c = rng.uniform(-1, 1, (2, 2))
        momentum = rng.normal()
        got = body_coefficients(constants, tuple(s_1c), tuple(s_2c), momentum)
        body = body.bodies[0]
        inverse_mass = np.diag([1 / body.mass, 1 / body.mass, 1 / body.inertia])
        to_1, to_2 = np.linalg.inv(shift(s_1c)), np.linalg.inv(shift(s_2c))
        expected = {
            "xi_11": to_1.T @ inverse_mass @ to_1,
            "xi_12": to_1.T @ inverse_mass @ to_2,
            "xi_22": to_2.T @ inverse_mass @ to_2,
        }
        expected["xi_10"] = momentum * expected["xi_11"][:, 2]
        expected["xi_20"] = momentum * expected["xi_22"][:, 2]
        # (14) as printed, with S_12 from handle 1 to handle 2
        s_12 = shift(np.subtract(s_1c, s_2c))
        np.testing.assert_allclose(expected["xi_11"] @ s_12, expected["xi_12"], rtol=1e-12)
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(got, name), value, rtol=1e-13, atol=1e-13)


def test_base_of_an_open_chain_keeps_the_pin_at_rest():
    """(40): D^T (xi_11 T_1 + xi_10) = 0."""
    rng = np.random.default_rng(2)
    constants = Chain(Float64(), random_chain(rng, 1)).bodies[0]
    levers = [tuple(s) for s in rng.uniform(-1, 1, (2, 2))]
    known = Twist(None, (rng.normal(),))
    inverse_inertia = ((constants.inverse_inertia,),)
    free = FreeBody(Plane(Float64()), constants.inverse_mass, inverse_inertia, levers, known)
    a = free.coefficients()
    t_1 = answer(Float64(), base_open(a))
    velocity = np.array(a.xi_11)[:, :2] @ t_1 + a.xi_10
    np.testing.assert_allclose(velocity[:2], 0.0, rtol=0, atol=1e-13 * np.abs(a.xi_10).max())
    (turning,) = free.angular_velocity([Twist(t_1, None), Twist((0.0, 0.0), None)])
    assert turning == pytest.approx(velocity[2], rel=1e-13)


def test_trees():
    assert build_tree("balanced", 5) == (((0, 1), 2), (3, 4))
    assert build_tree("left", 4) == (((0, 1), 2), 3)
    assert build_tree("right", 4) == (0, (1, (2, 3)))
    assert build_tree((0, ((1, 2), 3)), 4) == (0, ((1, 2), 3))
    assert {build_tree(shape, 1) for shape in SHAPES} == {0}
    for wrong in ((1, 0), (0, 1), (0, (1, 3))):
        with pytest.raises(ValueError, match=r"leaves must be 0\.\.2 in order"):
            build_tree(wrong, 3)
    with pytest.raises(ValueError, match="must be one of balanced, left, right"):
        build_tree("bushy", 3)


@pytest.mark.parametrize(
    ("integrator", "evaluations"),
    [("euler", 1), ("semi-implicit", 2), ("rk4", 4), ("implicit-midpoint", 6)],
)
def test_a_step_asks_for_every_joint_once_an_evaluation(integrator, evaluations):
    """Whoever drives the generator sees all requests, and only its answers count."""
    scenario = random_chain(np.random.default_rng(5), 6, integrator=integrator)
    exact, twin = Float64(), BitExact()
    chain = Chain(exact, scenario)
    kinds, reply = [], None
    step = integrate(chain, *chain.initial_state(scenario))
    with pytest.raises(StopIteration) as stop:
        while True:
            request = step.send(reply)
            kinds.append(type(request))
            reply = to_float(twin, answer(twin, const(twin, request)))
    joints = len(scenario.bodies) - 1
    assembly, disassembly = [Assemble] * joints, [Disassemble] * joints
    assert kinds == (assembly + [ConnectBase] + disassembly) * evaluations
    own = serve(exact, integrate(chain, *chain.initial_state(scenario)))
    answered = stop.value.value
    for name in range(2):
        assert 1e-10 < difference(answered[name], own[name]) < 1e-4  # float32 answers were used


def const(arithmetic, values):
    """A request's scalars in another arithmetic."""
    if isinstance(values, str):
        return values
    if not isinstance(values, tuple):
        return arithmetic.const(values)
    mapped = [const(arithmetic, value) for value in values]
    return values._make(mapped) if hasattr(values, "_make") else tuple(mapped)


def to_float(arithmetic, values):
    """The way back."""
    if not isinstance(values, tuple):
        return arithmetic.to_float(values)
    mapped = [to_float(arithmetic, value) for value in values]
    return values._make(mapped) if hasattr(values, "_make") else tuple(mapped)


# --- whole runs ---------------------------------------------------------------------------------


def explicit_euler(f, q, p, h):
    q_dot, p_dot = f(q, p)
    return q + h * q_dot, p + h * p_dot


def momenta_first(f, q, p, h):
    p = p + h * f(q, p)[1]
    return q + h * f(q, p)[0], p


def runge_kutta(f, q, p, h):
    def slope(y):
        return np.concatenate(f(*np.split(y, 2)))

    y = np.concatenate((q, p))
    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    return np.split(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), 2)


def implicit_midpoint(f, q, p, h):
    slope = f(q, p)
    for _ in range(ITERATIONS):
        slope = f(q + h / 2 * slope[0], p + h / 2 * slope[1])
    return q + h * slope[0], p + h * slope[1]


STEPPERS = {
    "euler": explicit_euler,
    "semi-implicit": momenta_first,
    "rk4": runge_kutta,
    "implicit-midpoint": implicit_midpoint,
}
ORDERS = {"euler": 1, "semi-implicit": 1, "rk4": 4, "implicit-midpoint": 2}


def test_every_integrator_is_tried():
    """By its order, and step by step against the textbook; both below."""
    lists = {
        "pymodel.algorithms.integrators.INTEGRATORS": INTEGRATORS,
        "pymodel.mechanism.scenario.INTEGRATORS": NAMES,
        "STEPPERS here": STEPPERS,
        "ORDERS here": ORDERS,
    }
    every = set().union(*lists.values())
    lacking = {text: sorted(every.difference(names)) for text, names in lists.items()}
    wrong = [f"{text} lacks {', '.join(names)}" for text, names in lacking.items() if names]
    assert not wrong, "; ".join(wrong)


def test_every_integrator_has_its_order():
    """Which is named in the reference of the scenarios."""
    (text,) = (key.text for key in schema.TIME if key.name == "integrator")
    for name, order in ORDERS.items():
        assert re.search(rf"`{name}` \([^)]*\border {order}\b", text), f"schema.TIME: {name}"


@pytest.mark.reads("docs")
def test_the_theory_has_every_integrator():
    """The table of docs/theory.md, with its orders."""
    section = (ROOT / "docs/theory.md").read_text().partition("\n## Integrators\n")[2]
    table = section[section.index("| `integrator` |") :].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| (\d) \| \w+ \| \d+ \|$", table, re.M)
    found = {name: int(order) for name, order in rows}
    assert found == ORDERS, "docs/theory.md, Integrators: names and orders of its table"


@pytest.mark.parametrize("integrator", STEPPERS)
def test_two_steps_by_textbook(integrator):
    """Two steps of the reference's rates, integrated by numpy."""
    scenario = random_chain(np.random.default_rng(4), 3, step=0.01, end=0.02, integrator=integrator)
    run = simulate(scenario)
    q = scenario.q0
    p = lagrangian.momenta(scenario, q, scenario.qd0)
    for row in range(3):
        q_dot, _ = lagrangian.canonical_rates(scenario, q, p)
        for name, expected in (("q", q), ("qd", q_dot), ("p", p)):
            assert difference(getattr(run, name)[row], expected) < 1e-12
        q, p = STEPPERS[integrator](
            lambda *s: lagrangian.canonical_rates(scenario, *s), q, p, scenario.step
        )


STEPS = (50, 100, 200)


@functools.cache
def converging(name):
    """A scenario, and its reference at the times of so many steps; of no integrator."""
    if name == "random":
        scenario = random_chain(np.random.default_rng(3), 3, end=0.1)
    else:
        scenario = dataclasses.replace(load(SCENARIOS / f"{name}.toml"), end=0.4)
    finer = {steps: dataclasses.replace(scenario, step=scenario.end / steps) for steps in STEPS}
    return {steps: (fine, lagrangian.simulate(fine, fine.times)) for steps, fine in finer.items()}


@pytest.mark.parametrize(("integrator", "order"), ORDERS.items())
@pytest.mark.parametrize("name", ["double_pendulum", "random"])
def test_runs_converge_to_the_reference(name, integrator, order):
    errors = []
    for steps, (fine, exact) in converging(name).items():
        run = simulate(dataclasses.replace(fine, integrator=integrator))
        assert len(run) == steps + 1 and np.array_equal(run.t, exact.t)
        errors.append(worst(run, exact))
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def test_compound_pendulum_against_elliptic_functions():
    scenario = dataclasses.replace(
        load(SCENARIOS / "compound_pendulum.toml"), step=1e-3, integrator="rk4"
    )
    run = simulate(scenario)
    bar = scenario.bodies[0]
    arm, k = bar.com[0], np.sin(np.pi / 4)  # of half the amplitude, which is 90 degrees
    rate = np.sqrt(bar.mass * 9.80665 * arm / (bar.inertia + bar.mass * arm**2))
    sn, cn, dn, _ = ellipj(rate * run.t, k**2)
    q = 2 * np.arcsin(k * cn / dn) - np.pi / 2
    qd = -2 * k * rate * np.sqrt(1 - k**2) * sn / dn
    # 4.5e-11 rad seen, which is RK4's truncation (16 times more at twice the step)
    np.testing.assert_allclose(run.q[:, 0], q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.qd[:, 0], qd, rtol=0, atol=1e-9)
    inertia_at_pin = bar.inertia + bar.mass * arm**2
    np.testing.assert_allclose(run.p[:, 0], inertia_at_pin * qd, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["double_pendulum", "chain_8"])
def test_energy(name):
    """Runge-Kutta keeps it to its truncation, which shrinks with order 4 or better.

    Native code runs it, with the model's bits, which test_native_runs compares.
    """
    drift = []
    for step in (2e-3, 1e-3):
        scenario = load(SCENARIOS / f"{name}.toml")
        changed = dataclasses.replace(scenario, step=step, end=0.4, integrator="rk4")
        run = native_runs.simulate(changed)
        energy = run.kinetic + run.potential
        assert np.ptp(run.kinetic) > 1.0
        drift.append(np.abs(energy - energy[0]).max())
    assert drift[1] < 1e-8 and np.log2(drift[0] / drift[1]) > 3.8


def test_the_demo_loses_the_kinetic_energy_of_its_truncation():
    """Explicit Euler, 1e-4 s, 1 s: 9.1 mJ, as an independent implementation found.

    Native code runs it, as above.
    """
    scenario = load(SCENARIOS / "double_pendulum.toml")
    run = native_runs.simulate(scenario)
    exact = lagrangian.simulate(scenario, run.t)
    assert np.abs(run.kinetic - exact.kinetic).max() == pytest.approx(9.1e-3, abs=5e-5)


def test_every_kth_step_is_kept():
    scenario = dataclasses.replace(load(SCENARIOS / "double_pendulum.toml"), end=0.01)
    run, kept = simulate(scenario), simulate(dataclasses.replace(scenario, save=7))
    assert kept.t.tobytes() == scenario.times[::7].tobytes()
    for name in QUANTITIES:
        assert getattr(kept, name).tobytes() == getattr(run, name)[::7].tobytes()


def test_progress_and_the_shape_reach_the_run():
    scenario = dataclasses.replace(load(SCENARIOS / "chain_8.toml"), end=5e-4)
    told = []
    left = simulate(scenario, progress=lambda *at: told.append(at), shape="left")
    assert told == [(k, 5) for k in range(1, 6)]
    balanced = simulate(scenario)
    assert left.qd.tobytes() != balanced.qd.tobytes()
    np.testing.assert_allclose(left.qd, balanced.qd, rtol=1e-11)


# --- the bit-exact twin -------------------------------------------------------------------------


class PythonFloats(Float64):
    """The machine's float64 for + - * and 1/x, sin and cos from the twin."""

    def __init__(self):
        self.twin = BitExact(Format(11, 52))

    def sincos(self, x):
        return [self.twin.to_float(y) for y in self.twin.sincos(self.twin.const(x))]


@pytest.mark.parametrize("integrator", STEPPERS)
@pytest.mark.parametrize("name", ["double_pendulum", "random"])
def test_twin_in_binary64_is_the_machines_arithmetic(name, integrator):
    """Both run one text: every operation of the twin must round as IEEE 754 does."""
    if name == "random":
        scenario = random_chain(np.random.default_rng(5), 5, end=5e-3, integrator=integrator)
    else:
        scenario = load(SCENARIOS / f"{name}.toml")
        scenario = dataclasses.replace(scenario, step=1e-3, end=0.05, integrator=integrator)
    twin = BitExact(Format(11, 52))
    run, machine = simulate(scenario, twin), simulate(scenario, PythonFloats())
    assert run.flags == twin.flags == INEXACT  # no underflow: nothing was flushed
    for name in QUANTITIES:
        assert getattr(run, name).tobytes() == getattr(machine, name).tobytes()
    assert np.abs(run.qd).max() > 0.1


@pytest.mark.parametrize("fmt", [BINARY32, Format(5, 10), Format(8, 7), Format(11, 52)], ids=str)
def test_twin_scalars_stay_in_their_format(fmt):
    twin = BitExact(fmt)
    run = simulate(dataclasses.replace(load(SCENARIOS / "double_pendulum.toml"), end=2e-3), twin)
    values = np.concatenate([getattr(run, name).ravel() for name in QUANTITIES])
    assert np.count_nonzero(values) > len(values) / 2
    assert all(fmt.to_float(fmt.from_float(x)) == x for x in values)


#: Relative error of q-dot of a random chain in binary32, from an independent implementation.
TYPICAL_BINARY32 = {2: 2e-6, 8: 2e-5, 16: 2e-4, 64: 2e-3}
UNIT_BINARY32 = 2.0**-24
#: Bound of the error in units of the rounding times the condition of the mass matrix. Over the
#: chains below at most 60 (n = 2), 14 (8), 2 (16), 0.7 (64) in binary32, 75 in the narrow formats.
WORST = 100


def rounding_errors(fmt, n):
    """Errors of q-dot over 30 random chains, relative; each checked against its condition."""
    unit = 2.0 ** -(fmt.man_w + 1)
    errors = []
    for seed in range(30):
        scenario = random_chain(np.random.default_rng([n, seed]), n)
        twin = BitExact(fmt)
        q, p = ([twin.to_float(twin.const(x)) for x in values] for values in state(scenario, seed))
        exact = evaluate(Float64(), scenario, q, p)
        errors.append(difference(evaluate(twin, scenario, q, p)[0], exact[0]))
        assert twin.flags & INEXACT and not twin.flags & (INVALID | OVERFLOW)
        condition = np.linalg.cond(lagrangian.Lagrangian(scenario).mass_matrix(np.array(q)))
        assert unit / 8 < errors[-1] < WORST * unit * condition
    return errors


@pytest.mark.parametrize("n", TYPICAL_BINARY32)
@pytest.mark.nightly("2", "8", "16")
def test_rounding_of_binary32_grows_with_the_chain(n):
    """Medians seen: 7.8e-7, 1.6e-5, 7.4e-5, 1.5e-3."""
    assert TYPICAL_BINARY32[n] / 5 < np.median(rounding_errors(BINARY32, n)) < TYPICAL_BINARY32[n]


@pytest.mark.parametrize(
    ("fmt", "n"), [(Format(5, 10), 2), (Format(5, 10), 8), (Format(8, 7), 2)], ids=str
)
def test_rounding_scales_with_the_format(fmt, n):
    """These numbers, in units of the format's rounding (longer chains: no digit is left)."""
    units = TYPICAL_BINARY32[n] / UNIT_BINARY32
    median = np.median(rounding_errors(fmt, n)) * 2.0 ** (fmt.man_w + 1)
    assert units / 5 < median < units


def test_sticky_flags():
    """Flags of every operation are kept: those of constants are not, nor are any dropped."""
    twin = BitExact(Format(5, 10))
    third, small = twin.const(1 / 3), twin.const(2.0**-14)
    assert twin.flags == 0
    assert twin.to_float(twin.const(1.0) + twin.const(2.0)) == 3.0 and twin.flags == 0
    _ = third * third
    assert twin.flags == INEXACT
    _ = small * small
    assert twin.flags == INEXACT | UNDERFLOW
    _ = third + third  # exact, and takes nothing away
    assert twin.flags == INEXACT | UNDERFLOW
    _ = twin.const(6e4) - twin.const(-6e4)
    assert twin.flags == INEXACT | UNDERFLOW | OVERFLOW
    infinite = twin.recip(twin.const(-0.0))
    assert twin.to_float(infinite) == -np.inf and twin.flags & DIV_BY_ZERO
    _ = infinite - infinite
    assert twin.flags == 31
    fresh = BitExact(Format(5, 10))
    small, third = fresh.adopt(two_handles.Joint((small,), (third,), (third,)))[:2]
    assert fresh.flags == 0
    _ = third[0] * small[0]
    assert (fresh.flags, twin.flags) == (INEXACT | UNDERFLOW, 31)


def test_twin_of_sine_and_cosine():
    """The unit's, with its flags; wider formats take float64's, rounded once; never a trap."""
    twin = BitExact()
    sin, cos = twin.sincos(twin.const(0.7))
    assert (sin.bits, cos.bits, twin.flags) == BINARY32.sincos(twin.const(0.7).bits)
    assert twin.flags == INEXACT
    wide = BitExact(Format(11, 52))
    sin, cos = wide.sincos(wide.const(0.7))
    assert (wide.to_float(sin), wide.to_float(cos)) == (math.sin(0.7), math.cos(0.7))
    for odd in (np.inf, -np.inf, np.nan):
        for ar in (twin, wide):
            assert all(np.isnan(ar.to_float(x)) for x in ar.sincos(ar.const(odd)))
    assert twin.flags == INEXACT | INVALID


def test_names_of_arithmetics():
    names = [parse(name).name for name in ("float64", "float32", "8/23", "5/10")]
    assert names == ["float64", "float32", "float32", "5/10"]
    for wrong in ("float16", "5", "3/10", "5/53", "5/10/2"):
        with pytest.raises(ValueError):
            parse(wrong)


# --- runs that break off ------------------------------------------------------------------------


def bars(mass, inertia, **keys):
    """Two bars in line, in a format whose range their coefficients exceed."""
    bar = Body(mass, inertia, com=(0.2, 0.0), tip=(0.4, 0.0))
    bodies = (bar, dataclasses.replace(bar, parent=0, attach=(0.4, 0.0)))
    return Scenario("bars", (0.0, -9.8), step=0.02, end=1.0, bodies=bodies, **keys)


@pytest.mark.usefixtures("unlent")
def test_a_singular_joint_ends_the_run_and_leaves_what_it_has():
    """1/J is large: once the bars are tilted the determinant is infinity minus infinity.

    The watch of the joint matrices would end the run earlier.
    """
    scenario, twin = bars(10.0, 1 / 12800), BitExact(Format(5, 10))
    with pytest.raises(SingularError, match=r"joint matrix \(33\) is singular or") as stopped:
        simulate(scenario, twin, limit=np.inf)
    partial = stopped.value.trajectory
    assert partial.flags == twin.flags and partial.flags & OVERFLOW and partial.flags & INVALID
    assert 1 < len(partial) < scenario.steps
    whole = dataclasses.replace(scenario, end=(len(partial) - 1) * scenario.step)
    whole = simulate(whole, BitExact(Format(5, 10)), limit=np.inf)
    for name in QUANTITIES:
        assert getattr(partial, name).tobytes() == getattr(whole, name).tobytes()


def test_a_singular_first_step_leaves_no_trajectory():
    """1/m is so small that the determinant counts as zero."""
    with pytest.raises(SingularError) as stopped:
        simulate(bars(600.0, 10.0), BitExact(Format(5, 10)))
    assert stopped.value.trajectory is None


STIFF = "8/24"  # a format as wide in exponents as float32, whose sine takes any angle


def test_numbers_that_run_away_end_the_run():
    bar = Body(1.0, 0.01, com=(0.2, 0.0), tip=(0.4, 0.0), q=0.1, spring=1e6)
    scenario = Scenario("stiff", (0.0, -9.8), step=1.0, end=20.0, bodies=(bar,), source="s.toml")
    with pytest.raises(NonFiniteError, match=r"^s\.toml: step 11: result is not finite$") as stop:
        simulate(scenario, STIFF)
    partial = stop.value.trajectory
    assert partial.t.tolist() == list(range(11)) and np.isfinite(partial.qd).all()
    assert partial.flags & OVERFLOW
    # seen at steps that are not kept, too, the last included
    sparse = dataclasses.replace(scenario, save=1000, end=scenario.step * 11)
    with pytest.raises(NonFiniteError, match=r"^s\.toml: step 11: result is not finite$"):
        simulate(sparse, STIFF)
    with pytest.raises(NonFiniteError):  # infinite angles have no sine
        huge = dataclasses.replace(bar, qd=1e300)
        simulate(dataclasses.replace(scenario, step=1e9, end=5e9, bodies=(huge,)), "float64")
    fast = dataclasses.replace(scenario, bodies=(dataclasses.replace(bar, qd=1e39),))
    with pytest.raises(NonFiniteError, match="step 0") as stop:
        simulate(fast, STIFF)
    assert stop.value.trajectory is None


def test_angles_beyond_the_sine_end_the_run():
    """A bar that turns 2**16 rad a step: at 2**17 rad its sine is NaN, and nothing goes on."""
    bar = Body(1.0, 1e6, com=(0.0, 0.0), tip=(0.4, 0.0), qd=2.0**16)
    scenario = Scenario("fast", (0.0, 0.0), step=1.0, end=20.0, bodies=(bar,), source="s.toml")
    with pytest.raises(NonFiniteError, match=r"^s\.toml: step 2: ") as stop:
        simulate(scenario, "float32")
    partial = stop.value.trajectory
    assert partial.q[:, 0].tolist() == [0.0, 2.0**16]
    assert partial.flags & INVALID
