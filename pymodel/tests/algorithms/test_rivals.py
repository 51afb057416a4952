"""HDCA's rivals against Lagrange's equations and Pinocchio, at states that fit the loops."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.rivals import ALGORITHMS, recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import (
    FIXED,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    ScenarioError,
    Spring,
)
from pymodel.runs.engine_calls import prepare_fitting_call
from pymodel.runs.lagrangian import Lagrangian
from pymodel.tests import loops, space
from pymodel.tests.chains import difference, random_chain
from pymodel.tests.mechanisms import hang, random_tree
from pymodel.tests.pinocchio_scenario import PinocchioTree

TOLERANCE = 1e-9
SEEDS = range(3)


def double_loop(rng):
    """Eight bodies as in paper 001's third case: a chain pinned to the ground, one on two of it."""
    tree = hang(random_chain(rng, 8), (-1, 0, 1, 2, 0, 4, 5, 6))
    return loops.close(rng, tree, [(3, GROUND), (7, 2)])


OPEN = {f"chain_{n}": lambda rng, n=n: random_chain(rng, n) for n in (1, 2, 3, 8, 17)}
OPEN |= {f"tree_{n}": lambda rng, n=n: random_tree(rng, n) for n in (4, 11)}
CLOSED = {
    "loop_4": lambda rng: loops.random_loop(rng, 4),
    "loop_8": lambda rng: loops.random_loop(rng, 8),
    "double_loop_8": double_loop,
}


def random_state(scenario, rng):
    """Angles and rates: anywhere for a tree, near the start and fitting where there are loops."""
    n = len(scenario.bodies)
    if not scenario.loops:
        return rng.uniform(-3, 3, n), rng.normal(size=n)
    q, qd = scenario.q0 + rng.uniform(-0.05, 0.05, n), rng.normal(size=n)
    for _ in range(2):  # the start is farther from the loops than what this is made for
        q, qd = Lagrangian(scenario).onto_loops(q, qd)
    return q, qd


def evaluated(name, scenario, q, x, shape="balanced"):
    return ALGORITHMS[name].evaluate(Float64(), scenario, q.tolist(), x.tolist(), shape)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", OPEN)
@pytest.mark.nightly(every=4)
def test_open_chains_and_trees(case, seed):
    rng = np.random.default_rng([seed, *case.encode()])
    scenario = OPEN[case](rng)
    reference = Lagrangian(scenario)
    q, qd = random_state(scenario, rng)
    p = reference.momenta(q, qd)
    for name in ("dca", "aba"):
        found = evaluated(name, scenario, q, qd)["qdd"]
        assert difference(found, reference.accelerations(q, qd)) < TOLERANCE
    exact = reference.canonical_rates(q, p)
    for name in ("hdca", "naudet"):
        found = evaluated(name, scenario, q, p)
        assert difference(found["qd"], exact[0]) < TOLERANCE
        assert difference(found["pd"], exact[1]) < TOLERANCE


def pinocchios(scenario):
    """Momenta, their rates and accelerations at the initial state, by Pinocchio."""
    q, qd = scenario.q0, scenario.qd0
    tree = PinocchioTree(scenario)
    drives = np.zeros(scenario.nv)
    for body, own in zip(scenario.bodies, scenario.v_slices, strict=True):
        drives[own] = body.torque - body.spring * (body.q - body.rest) - body.damping * body.qd
    mass = tree.mass_matrix(q, qd)
    state = tree.state(q, qd)
    felt = tree.ours(pinocchio.rnea(tree.model, tree.data, *state, np.zeros(scenario.nv)))
    rates = tree.momentum_rates(q, qd) + drives
    return mass @ qd, rates, np.linalg.solve(mass, drives - felt)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spatial", [True, False], ids=["space", "plane"])
@pytest.mark.parametrize("chain", [True, False], ids=["chain", "tree"])
@pytest.mark.nightly(every=4)
def test_joints_of_one_coordinate_against_pinocchio(chain, spatial, seed):
    rng = np.random.default_rng([seed, chain, spatial])
    joints = (REVOLUTE,) if seed % 2 else (REVOLUTE, PRISMATIC, FIXED)
    parents = range(-1, 6) if chain else None
    scenario = space.random_mechanism(rng, 7, spatial, joints, parents)
    p, pd, qdd = pinocchios(scenario)
    for name, algorithm in ALGORITHMS.items():
        state = p if algorithm.state == "p" else scenario.qd0
        found = evaluated(name, scenario, scenario.q0, state)
        for kind, exact in {"qd": scenario.qd0, "pd": pd, "qdd": qdd}.items():
            if kind in found:
                assert difference(found[kind], exact) < TOLERANCE, (name, kind)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CLOSED)
def test_loops(case, seed):
    """Off rest, with rates that fit the loops; HDCA's momenta with impulses of the cut pins."""
    rng = np.random.default_rng([seed, *case.encode()])
    scenario = CLOSED[case](rng)
    reference = Lagrangian(scenario)
    assert loops.condition(scenario) < 1e4
    q, qd = random_state(scenario, rng)
    assert kinematics.loop_position(scenario, q) < 1e-12
    exact, _ = reference.constrained_accelerations(q, qd)
    assert difference(evaluated("dca", scenario, q, qd)["qdd"], exact) < TOLERANCE
    jacobian = kinematics.loop_jacobian(scenario, q)
    p = reference.momenta(q, qd) - jacobian.T @ rng.normal(size=len(jacobian))
    found = evaluated("hdca", scenario, q, p)
    for name, value in zip(("qd", "pd"), reference.canonical_rates(q, p), strict=True):
        assert difference(found[name], value) < TOLERANCE


def test_every_assembly_order_gives_the_same():
    rng = np.random.default_rng(4)
    for scenario in (random_chain(rng, 6), random_tree(rng, 6), double_loop(rng)):
        q, qd = random_state(scenario, rng)
        balanced, left, right = (
            evaluated("dca", scenario, q, qd, shape)["qdd"]
            for shape in ("balanced", "left", "right")
        )
        assert difference(left, balanced) < TOLERANCE
        assert difference(right, balanced) < TOLERANCE


@pytest.mark.parametrize("name", ALGORITHMS)
def test_recordings_and_programs_have_the_bits_of_the_text(name):
    """The engine's model also refuses a schedule that is no program."""
    scenario = random_chain(np.random.default_rng(9), 4)
    arithmetic = BitExact(BINARY32, fold=True)
    rng = np.random.default_rng(10)
    kernel = recorded(name, scenario)
    inputs = {
        key: arithmetic.const(x) for key, x in zip(kernel.inputs, rng.normal(size=8), strict=True)
    }
    values = list(inputs.values())
    own = ALGORITHMS[name].evaluate(arithmetic, scenario, values[:4], values[4:], "balanced")
    text = [x.bits for row in own.values() for x in row]
    assert [x.bits for x in kernel.evaluate(arithmetic, inputs).values()] == text
    for lanes in ("2+2", "8+8"):
        call = prepare_fitting_call(Machine.parse(lanes), kernel)
        (found,), twin = call.on_twin([{key: x.bits for key, x in inputs.items()}])
        assert list(found.values()) == text
        assert not twin.stopped


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_recording_in_space_has_the_bits_of_the_text(name):
    scenario = space.random_mechanism(np.random.default_rng(1), 2, joints=(REVOLUTE,))
    arithmetic = BitExact(BINARY32, fold=True)
    kernel = recorded(name, scenario)
    rng = np.random.default_rng(10)
    inputs = {
        key: arithmetic.const(x) for key, x in zip(kernel.inputs, rng.normal(size=4), strict=True)
    }
    values = list(inputs.values())
    found = kernel.evaluate(arithmetic, inputs)
    own = ALGORITHMS[name].evaluate(arithmetic, scenario, values[:2], values[2:], "balanced")
    assert [x.bits for x in found.values()] == [x.bits for row in own.values() for x in row]


@pytest.mark.parametrize("name", ["aba", "naudet"])
def test_the_recursive_ones_refuse_joints_with_several_coordinates(name):
    scenario = space.random_mechanism(np.random.default_rng(1), 2, joints=(SPHERICAL,))
    with pytest.raises(ScenarioError, match=r"body\[0\].joint: must have one coordinate"):
        recorded(name, scenario)


@pytest.mark.parametrize("name", ["aba", "naudet"])
@pytest.mark.parametrize("spatial", [True, False], ids=["space", "plane"])
def test_the_recursive_ones_refuse_springs(name, spatial):
    scenario = space.random_mechanism(np.random.default_rng(1), 2, spatial, (REVOLUTE,))
    point = (0.0,) * len(scenario.gravity)
    scenario = replace(scenario, springs=(Spring(1, point, GROUND, point, 1.0),))
    with pytest.raises(ScenarioError, match="spring: recursive algorithms take no springs"):
        recorded(name, scenario)


@pytest.mark.parametrize("name", ["aba", "naudet"])
def test_the_recursive_ones_refuse_loops(name):
    scenario = loops.random_loop(np.random.default_rng(1), 3)
    with pytest.raises(ScenarioError, match="loop: recursive algorithms take trees only"):
        recorded(name, scenario)
