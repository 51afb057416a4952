"""What the integrators do to the structure of a Hamiltonian system, and to its energy in long runs.

The orders are in test_step.py.
"""

import dataclasses

import numpy as np
import pytest

from pymodel.algorithms import integrators
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.arith.scalars import Float64Arrays
from pymodel.mechanism.scenario import INTEGRATORS
from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs
from pymodel.tests.places import SCENARIOS


def conservative(name, **changes):
    """A shipped scenario without motors and dampers."""
    scenario = load(SCENARIOS / f"{name}.toml")
    bodies = [dataclasses.replace(body, torque=0.0, damping=0.0) for body in scenario.bodies]
    return dataclasses.replace(scenario, bodies=tuple(bodies), **changes)


# --- the symplectic form --------------------------------------------------------------------------


def moving_state(name):
    """A mechanism and its q and p after 0.7 s."""
    scenario = conservative(name, integrator="rk4", step=5e-3, end=0.7)
    run = native_runs.fastest(scenario)
    assert np.abs(run.qd[-1]).max() > 2.0
    return scenario, np.concatenate((run.q[-1], run.p[-1]))


def defect(scenario, state):
    """Largest entry of M^T J M - J of a step, M being its derivative by q and p (complex steps)."""
    n, tiny = len(state) // 2, 1e-30
    columns = state[:, None] + 1j * tiny * np.eye(2 * n)
    arithmetic = Float64Arrays()
    text = integrators.integrate(prepare(arithmetic, scenario), [*columns[:n]], [*columns[n:]])
    q, p, _ = serve(arithmetic, text)
    matrix = np.array([*q, *p]).imag / tiny
    form = np.kron([[0, 1], [-1, 0]], np.eye(n))
    return np.abs(matrix.T @ form @ matrix - form).max()


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize("name", ["double_pendulum", "chain_8", "tree", "general_four_bar"])
def test_only_the_implicit_midpoint_is_symplectic(name):
    """At 1 ms; the semi-implicit method is no better than Euler's. Docs/theory.md has the table."""
    scenario, state = moving_state(name)
    found = {
        integrator: defect(dataclasses.replace(scenario, integrator=integrator, step=1e-3), state)
        for integrator in INTEGRATORS
    }
    assert found["euler"] > 5e-5 and found["semi-implicit"] > 0.5 * found["euler"]
    assert 100 * found["implicit-midpoint"] < found["rk4"] < 1e-8
    assert found["implicit-midpoint"] < 1e-10  # 4.1e-11 of the chain of 8, which turns at 17 rad/s


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize("iterations", [1, 3, 5])
def test_what_the_iterations_leave(monkeypatch, iterations):
    """So many leave an error of the form whose order in the step is two more."""
    monkeypatch.setattr(integrators, "ITERATIONS", iterations)
    scenario, state = moving_state("tree")
    coarse, fine = (
        defect(dataclasses.replace(scenario, integrator="implicit-midpoint", step=step), state)
        for step in (5e-3, 2.5e-3)
    )
    assert np.log2(coarse / fine) == pytest.approx(iterations + 2, abs=0.15)


# --- energy in long runs --------------------------------------------------------------------------


def energy_errors(name, integrator, arithmetic, rebase=0, **times):
    """Worst error of the energy, J, in each tenth of a run."""
    scenario = conservative(name, integrator=integrator, **times)
    run = native_runs.fastest(scenario, arithmetic, rebase=rebase)
    energy = run.kinetic + run.potential
    return [np.abs(part - energy[0]).max() for part in np.array_split(energy, 10)]


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
@pytest.mark.nightly("float64")
def test_energy_of_a_double_pendulum_over_1000_s(arithmetic):
    """Of 7.8 J, after each step: the midpoint's error has no trend, the others drift away."""
    found = {
        name: energy_errors("double_pendulum", name, arithmetic, step=5e-3, end=1e3)
        for name in INTEGRATORS
    }
    assert found["implicit-midpoint"][0] == pytest.approx(0.031, abs=5e-4)
    assert max(found["implicit-midpoint"]) < 0.04
    assert np.mean(found["implicit-midpoint"][5:]) < 1.3 * np.mean(found["implicit-midpoint"][:5])
    assert found["rk4"][-1] > 8 * found["rk4"][0] and found["rk4"][-1] > 0.05
    assert found["semi-implicit"][-1] > 4.0
    assert max(found["euler"]) > 8.0


def test_energy_of_a_compound_pendulum_over_1000_s():
    """One joint: p-dot does not depend on p, and momenta first is symplectic here."""
    found = {
        name: energy_errors("compound_pendulum", name, "float64", step=1e-2, end=1e3)
        for name in INTEGRATORS
    }
    for name in ("semi-implicit", "implicit-midpoint"):
        assert max(found[name]) < 1.001 * found[name][0] < 0.06
    assert found["rk4"][-1] > 9 * found["rk4"][0]
    assert found["euler"][-1] > 9 * found["euler"][0]


def test_energy_of_a_four_bar_over_200_s():
    """Re-based in each step."""
    times = {"step": 5e-3, "end": 200.0}
    found = energy_errors("general_four_bar", "implicit-midpoint", "float64", rebase=1, **times)
    assert max(found) < 5e-3
