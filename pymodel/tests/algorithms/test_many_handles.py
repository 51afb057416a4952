"""Trees and any loops on the model: against Lagrange's equations, in every arithmetic."""

import dataclasses

import numpy as np
import pytest

from pymodel.algorithms import many_handles
from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import SingularError, serve
from pymodel.algorithms.step import Chain, Mechanism, Rates, prepare, rates
from pymodel.algorithms.sums import inward_sums, outward_sums
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile import count, registry
from pymodel.compile.graph import Graph
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import GROUND, INTEGRATORS, Body, Loop, ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.topology import SHAPES, Topology
from pymodel.runs import lagrangian, native_runs
from pymodel.runs.simulate import simulate
from pymodel.tests.chains import difference, random_chain
from pymodel.tests.loops import random_loop
from pymodel.tests.mechanisms import (
    FORMS,
    hang,
    random_mechanism,
    random_parents,
    random_tree,
)
from pymodel.tests.places import SCENARIOS
from pymodel.tests.recordings import record

SEEDS = range(8)
BOUND = 1e-11  # relative, float64; the largest differences seen are in the docstrings
BOUND_LOOPS = 1e-9  # any p means impulses that are large next to the motion
NAMES = ("tree", "coupled_loops")


def evaluate(scenario, q, p, t_cut=None, arithmetic=None, kind=Mechanism, **options):
    """One evaluation: the rates as floats."""
    arithmetic = arithmetic or Float64()
    mechanism = kind(arithmetic, scenario, **options)
    state = ([arithmetic.const(x) for x in values] for values in (q, p))
    found = serve(arithmetic, rates(mechanism, *state, t_cut))
    values = (found.q_dot, found.p_dot, found.p, found.t_cut)
    floats = ([arithmetic.to_float(x) for x in vector] for vector in values)
    return Rates(*map(np.array, floats), found.eta, found.q_rate)


def state(rng, scenario):
    """A random posture, and the momenta of random velocities."""
    q, qd = rng.uniform((-3, -2), (3, 2), (len(scenario.bodies), 2)).T
    return q, lagrangian.momenta(scenario, q, qd)


def assert_exact(got, scenario, q, p):
    bound = BOUND_LOOPS if scenario.loops else BOUND
    exact_q_dot, exact_p_dot = lagrangian.canonical_rates(scenario, q, p)
    assert difference(got.q_dot, exact_q_dot) < bound
    assert difference(got.p_dot, exact_p_dot) < bound


# --- one evaluation -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 20])
@pytest.mark.nightly(every=5)
def test_rates_of_random_trees(n, seed):
    """Largest difference seen: 8e-13; joints in the same place and several roots included."""
    rng = np.random.default_rng([n, seed])
    scenario = random_tree(rng, n)
    q, p = state(rng, scenario)
    assert np.abs(p).min() > 0  # a wrong bias or v x T term hides at rest
    got = evaluate(scenario, q, p)
    assert_exact(got, scenario, q, p)
    assert got.eta is None and len(got.t_cut) == 0


@pytest.mark.parametrize("n", [2, 6, 12])
@pytest.mark.parametrize("form", FORMS)
def test_rates_of_special_trees_in_any_order_of_assembly(form, n):
    """Largest difference seen: 5e-14."""
    rng = np.random.default_rng(n)
    scenario = hang(random_chain(rng, n), FORMS[form](n)[:n])
    q, p = state(rng, scenario)
    for shape in (*SHAPES, *(rng.permutation(n).tolist() for _ in range(3))):
        assert_exact(evaluate(scenario, q, p, shape=shape), scenario, q, p)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("n", "loops"), [(3, 1), (5, 1), (6, 2), (8, 2), (10, 3), (14, 4)])
@pytest.mark.nightly(every=5)
def test_rates_and_impulses_of_random_loops(n, loops, seed):
    """Any sigma: p is any. Largest difference of rates seen: 2e-11, median 1e-14."""
    rng = np.random.default_rng([n, loops, seed])
    scenario = random_mechanism(rng, n, loops)
    q = scenario.q0
    p = lagrangian.momenta(scenario, q, scenario.qd0) + rng.normal(size=n)
    impulses = lagrangian.impulses(scenario, q, p).ravel()
    for shape in (*SHAPES, rng.permutation(n).tolist()):
        got = evaluate(scenario, q, p, shape=shape)
        assert_exact(got, scenario, q, p)
        assert difference(got.t_cut, impulses) < BOUND_LOOPS
        eta = np.array(got.eta)
        assert eta.shape == (2 * loops,) * 2 and np.array_equal(eta, eta.T)
        assert np.linalg.eigvalsh(eta).min() > 0


@pytest.mark.parametrize(
    "scenario",
    [
        *(random_chain(np.random.default_rng(n), n) for n in (1, 2, 3, 8, 33)),
        *(random_loop(np.random.default_rng(n), n) for n in (3, 4, 6)),
    ],
    ids=lambda scenario: f"{len(scenario.bodies)}-{len(scenario.loops)}",
)
def test_a_chain_is_a_mechanism(scenario):
    """To rounding, and re-basing bit for bit."""
    rng = np.random.default_rng(1)
    p = rng.normal(size=len(scenario.bodies))
    one, other = (evaluate(scenario, scenario.q0, p, kind=kind) for kind in (Chain, Mechanism))
    for name in ("q_dot", "p_dot", *(["t_cut"] if scenario.loops else [])):
        assert difference(getattr(other, name), getattr(one, name)) < BOUND
    if scenario.loops:
        t_cut = tuple(one.t_cut)
        one, other = (
            evaluate(scenario, scenario.q0, p, t_cut, kind=kind) for kind in (Chain, Mechanism)
        )
        assert other.p.tobytes() == one.p.tobytes()


@pytest.mark.parametrize("seed", SEEDS)
def test_rebasing_changes_no_motion_and_removes_sigma(seed):
    rng = np.random.default_rng(seed)
    scenario = random_mechanism(rng, 8, 1 + seed % 3)
    q, p = scenario.q0, rng.normal(size=8)
    before = evaluate(scenario, q, p)
    after = evaluate(scenario, q, p, tuple(before.t_cut))
    assert difference(after.q_dot, before.q_dot) < BOUND_LOOPS
    assert np.abs(after.t_cut).max() < BOUND_LOOPS * np.abs(before.t_cut).max()
    assert difference(after.p, lagrangian.momenta(scenario, q, after.q_dot)) < BOUND_LOOPS
    assert difference(before.p, after.p) > 1e-3


def test_initial_momenta():
    rng = np.random.default_rng(5)
    for n in (1, 4, 20):
        scenario = random_tree(rng, n)
        expected = lagrangian.momenta(scenario, scenario.q0, scenario.qd0)
        momenta = joint_momenta(scenario, scenario.q0, scenario.qd0)
        assert difference(momenta, expected) < 1e-13
        twin = BitExact()
        q, p = Mechanism(twin, scenario).initial_state(scenario)
        assert [twin.to_float(x) for x in q] == list(np.float32(scenario.q0))
        assert [twin.to_float(x) for x in p] == list(np.float32(momenta))


def test_which_text_runs_a_scenario():
    chain = random_chain(np.random.default_rng(1), 4)
    loop = Loop(body=3, point=(0.1, 0.0), to=GROUND, at=(0.5, 0.0))
    tree = hang(chain, (-1, 0, 0, 2))
    others = {
        "tree": tree,
        "roots": hang(chain, (-1, 0, -1, 2)),
        "closed tree": dataclasses.replace(tree, loops=(loop,)),
        "inner": dataclasses.replace(chain, loops=(dataclasses.replace(loop, to=0),)),
        "not the last": dataclasses.replace(chain, loops=(dataclasses.replace(loop, body=2),)),
        "two": dataclasses.replace(chain, loops=(loop, loop)),
    }
    for scenario in (chain, dataclasses.replace(chain, loops=(loop,))):
        assert type(prepare(Float64(), scenario)) is Chain
    for scenario in others.values():
        options = {"shape": "left", "base": "ldl", "rebase": 3}
        mechanism = prepare(Float64(), scenario, **options)
        assert type(mechanism) is Mechanism
        assert mechanism.rebases_at(3) == mechanism.closed == bool(scenario.loops)
        with pytest.raises(ScenarioError, match="body: not a planar chain of pins, each body"):
            Chain(Float64(), scenario)


# --- compounds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two", "loop", "ground"])
def test_eliminating_a_joint(kind):
    """Velocities of what is left, with the joint's impulse from its constraint alone, densely."""
    rng = np.random.default_rng(3)

    def part(handles):
        root = rng.normal(size=(2 * len(handles),) * 2)
        dense, bias = root @ root.T, rng.normal(size=2 * len(handles))
        at = {h: slice(2 * i, 2 * i + 2) for i, h in enumerate(handles)}
        blocks = {(g, h): tuple(map(tuple, dense[at[g], at[h]])) for g in at for h in at if g <= h}
        xi_0 = {h: tuple(bias[at[h]]) for h in at}
        return many_handles.Compound(blocks, xi_0), dense, bias

    if kind == "two":
        (one, xi_one, bias_one), (two, xi_two, bias_two) = part([0, 2, 5]), part([1, 3])
        parts, handles = (one, two), [0, 2, 5, 1, 3]
        zero = np.zeros((6, 4))
        xi = np.block([[xi_one, zero], [zero.T, xi_two]])
        bias = np.concatenate((bias_one, bias_two))
        a, b = 2, 1
    else:
        handles = [0, 1, 2, 4]
        one, xi, bias = part(handles)
        parts, a, b = (one,), 2 if kind == "loop" else None, 1
    whole, elimination, singular = many_handles.eliminate(Float64(), parts, a, b)
    assert not singular and set(whole.xi_0) == set(handles) - {a, b}

    def columns(h):
        return slice(2 * handles.index(h), 2 * handles.index(h) + 2)

    gap = np.zeros((2, len(bias)))  # velocity of b less that of a
    gap[:, columns(b)] = np.eye(2)
    if a is not None:
        gap[:, columns(a)] = -np.eye(2)
    for _ in range(3):
        outer = {h: rng.normal(size=2) for h in whole.xi_0}
        t = np.zeros(len(bias))
        for h, impulse in outer.items():
            t[columns(h)] = impulse
        s = np.linalg.solve(gap @ xi @ gap.T, -gap @ (xi @ t + bias))
        found = many_handles.recover(elimination, {h: tuple(x) for h, x in outer.items()})
        np.testing.assert_allclose(found, s, rtol=1e-11)
        v = xi @ (t + gap.T @ s) + bias
        for g in whole.xi_0:
            got = whole.xi_0[g] + sum(np.array(whole.block(g, h)) @ outer[h] for h in whole.xi_0)
            np.testing.assert_allclose(got, v[columns(g)], rtol=1e-10, atol=1e-11)


def test_sums_along_the_tree():
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 40):
        topology = Topology(hang(random_chain(rng, n), random_parents(rng, n)))
        values = rng.integers(100, size=n).tolist()
        ways = [topology.way(k, GROUND) for k in range(n)]
        assert outward_sums(topology, values) == [sum(values[j] for j in way) for way in ways]
        inward = [sum(values[j] for j in carried) for carried in topology.carried]
        assert inward_sums(topology, values) == inward
        assert all((j in topology.carried[k]) == (k in ways[j]) for j in range(n) for k in range(n))
        hanging = [
            None if p == GROUND else x for p, x in zip(topology.parents, values, strict=True)
        ]
        want = [sum(values[j] for j in way[1:]) if len(way) > 1 else None for way in ways]
        assert outward_sums(topology, hanging) == want
        light = [sum(path[0] in way for path in topology.paths) for way in ways]
        assert max(light) <= np.log2(n) + 1


def test_order_of_assembly():
    scenario = hang(random_chain(np.random.default_rng(1), 6), (-1, 0, 1, -1, 3, 1))
    loops = (Loop(2, (0.1, 0.0), -1, (0.0, 0.0)), Loop(5, (0.1, 0.0), 4, (0.2, 0.0)))
    closed = Topology(dataclasses.replace(scenario, loops=loops))
    assert closed.assembly_order("left") == [0, 1, 2, 6, 3, 4, 5, 7]
    assert closed.assembly_order("right") == [5, 4, 3, 2, 1, 0, 6, 7]
    assert closed.assembly_order([3, 4, 5, 1, 0, 2]) == [3, 4, 5, 1, 0, 7, 2, 6]
    assert sorted(closed.assembly_order()) == list(range(8))
    chain = Topology(random_chain(np.random.default_rng(1), 7))
    assert chain.assembly_order()[-1] == 4 - 1  # four with the ground, four beyond
    for wrong in ("bushy", [0, 1], [0, 1, 2, 3, 4, 5, 5]):
        with pytest.raises(ValueError, match="shape"):
            closed.assembly_order(wrong)


# --- cost ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["chain", "comb", "fork", "binary"])
def test_time_is_logarithmic_in_the_bodies(form, monkeypatch):
    """Also where each body carries a second one, and where chains branch."""
    monkeypatch.setattr(registry, "prepare", Mechanism)
    sizes = (7, 15, 31, 63)
    steps = [
        count.step(hang(random_chain(np.random.default_rng(n), n), FORMS[form](n)[:n]))
        for n in sizes
    ]
    mul = [step["operations"]["mul"] for step in steps]
    assert (mul[3] - mul[2]) / 32 == pytest.approx((mul[2] - mul[1]) / 16, rel=0.1)
    cycles = [step["critical_path"] for step in steps]
    assert np.diff(cycles).min() > 0 and np.diff(cycles).max() < 115
    assert cycles[-1] < 518
    assert steps[-1]["operations"]["rec"] == steps[-1]["operations"]["sincos"] == 63


#: Operations of one step, and cycles of the longest path with the engine's latencies.
STEPS = {
    "tree": ({"add": 316, "mul": 428, "rec": 6, "sincos": 6}, 219),
    "coupled_loops": ({"add": 510, "mul": 682, "rec": 7, "sincos": 5}, 347),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_whole_step(name):
    step = count.step(load(SCENARIOS / f"{name}.toml"))
    assert (step["operations"], step["critical_path"]) == STEPS[name]


# --- arithmetics --------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", [Format(8, 23), Format(11, 52)], ids=str)
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.nightly(every=4)
def test_the_recorded_step_is_the_step_with_folded_zeros(name, integrator, fmt):
    """Bit for bit."""
    scenario = load(SCENARIOS / f"{name}.toml")
    scenario = dataclasses.replace(scenario, integrator=integrator, step=1e-2)
    twin = BitExact(fmt, fold=True)
    mechanism = prepare(twin, scenario)
    q, p = mechanism.initial_state(scenario)
    p = [x + twin.const(0.1) for x in p]
    inputs = {(name, k): x for name, xs in zip("qp", (q, p), strict=True) for k, x in enumerate(xs)}
    q_new, p_new, now = serve(twin, integrate(mechanism, q, p))
    graph = Graph()
    values = graph.evaluate(twin, inputs, record(graph, scenario))
    expected = [*q_new, *p_new, *now.q_dot, *now.p_dot]
    assert [x.bits for x in values] == [x.bits for x in expected]
    assert len({x.bits for x in values}) > len(values) / 2


def test_names_of_parameters_are_their_own():
    """With every parameter another number, none gets lost under the name of another one."""
    rng = np.random.default_rng(4)
    scenario = random_mechanism(rng, 7, 2)
    asked = []

    class Named(Float64):
        def parameter(self, name, x):
            asked.append(name)
            return x

    Mechanism(Named(), scenario)
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("n", [2, 8, 16])
def test_float32_is_close_to_float64(n):
    """Median error of q-dot over 10 trees; the bounds are those of chains, see test_step."""
    errors = []
    for seed in range(10):
        rng = np.random.default_rng([n, seed])
        scenario, twin = random_tree(rng, n), BitExact()
        q, p = ([twin.to_float(twin.const(x)) for x in xs] for xs in state(rng, scenario))
        exact = evaluate(scenario, q, p)
        errors.append(difference(evaluate(scenario, q, p, arithmetic=twin).q_dot, exact.q_dot))
    assert 1e-8 < np.median(errors) < {2: 2e-6, 8: 2e-5, 16: 2e-4}[n]


# --- whole runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_whole_runs(name):
    """RK4: the reference's motion to order 4, its momenta, loops that stay closed.

    Native code runs it, with the model's bits, which test_native_runs compares.
    """
    scenario = dataclasses.replace(load(SCENARIOS / f"{name}.toml"), integrator="rk4", end=0.3)
    errors = []
    for step in (2e-3, 1e-3):
        run = native_runs.simulate(dataclasses.replace(scenario, step=step))
        exact = lagrangian.simulate(scenario, run.t)
        errors.append(max(np.abs(run.q - exact.q).max(), np.abs(run.p - exact.p).max()))
        assert run.loop_velocity.max() < 1e-11
    assert errors[1] < 1e-6
    assert np.log2(errors[0] / errors[1]) > 3.7
    assert np.ptp(run.kinetic) > 0.3


def test_a_random_run_with_loops():
    scenario = random_mechanism(np.random.default_rng(3), 7, 2, step=1e-3, end=0.1)
    run = simulate(dataclasses.replace(scenario, integrator="rk4"))
    exact = lagrangian.simulate(scenario, run.t)
    assert np.abs(run.q - exact.q).max() < 1e-6 and np.abs(run.p - exact.p).max() < 1e-6


@pytest.mark.nightly("7")
@pytest.mark.parametrize("rebase", [1, 7])
def test_a_rebased_run_moves_like_any_other(rebase):
    """Native code runs it, as above."""
    scenario = load(SCENARIOS / "coupled_loops.toml")
    scenario = dataclasses.replace(scenario, integrator="rk4", step=1e-3, end=0.3)
    plain, rebased = (native_runs.simulate(scenario, rebase=every) for every in (0, rebase))
    assert np.abs(plain.q - rebased.q).max() < 1e-9
    assert np.abs(plain.p - rebased.p).max() > 1e-3
    single = dataclasses.replace(scenario, integrator="euler", end=0.2)
    plain, rebased = (
        native_runs.simulate(single, "float32", rebase=every).loop_velocity.max()
        for every in (0, rebase)
    )
    assert rebased < plain and rebased < 2e-5


# --- singular -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "reason"),
    [(None, r"joint matrix \(33\) has condition"), (np.inf, r"singular posture: eta \(43\)")],
)
def test_a_singular_posture_ends_the_run_with_what_there_is(limit, reason):
    """A rhombus that goes flat, with a light pendulum on its coupler.

    The matrix of its loop is one of (33), watched as such, and a block of eta.
    """
    scenario = load(SCENARIOS / "four_bar.toml")
    light = Body(1e-3, 1e-5, com=(0.05, 0.0), tip=(0.1, 0.0), parent=1, attach=(0.2, 0.0))
    scenario = dataclasses.replace(
        scenario, bodies=(*scenario.bodies, light), gravity=(0.0, -9.80665), step=1e-3
    )
    with pytest.raises(SingularError, match=rf"step 26\d: {reason}") as stop:
        simulate(scenario, "float32", limit=limit)
    partial = stop.value.trajectory
    assert 0.25 < partial.t[-1] < 0.263 and partial.condition > 1e4
    assert all(np.isfinite(column).all() for column in partial.columns().values())


def test_dependent_loops_are_singular():
    """A pin that occurs twice: what eliminating the first leaves of the second is nothing."""
    scenario = random_mechanism(np.random.default_rng(3), 5, 1)
    q, p = scenario.q0, np.ones(5)
    twice = dataclasses.replace(scenario, loops=scenario.loops * 2)
    try:
        eta = evaluate(twice, q, p).eta
    except SingularError:
        return
    assert np.linalg.cond(eta) > 1e14


def test_a_singular_joint_is_told():
    """1/m and 1/J are so small that the determinant counts as zero."""
    bar = Body(600.0, 10.0, com=(0.2, 0.0), tip=(0.4, 0.0))
    scenario = load(SCENARIOS / "tree.toml")
    bodies = tuple(
        dataclasses.replace(bar, parent=body.parent, attach=body.attach) for body in scenario.bodies
    )
    with pytest.raises(SingularError, match=r"joint matrix \(33\) is singular or") as stopped:
        simulate(dataclasses.replace(scenario, bodies=bodies), BitExact(Format(5, 10)))
    assert stopped.value.trajectory is None
