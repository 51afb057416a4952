"""Runs with scipy's integrators: as right as their tolerance, on the time grid, and refused where
each step has to be the same program."""

import dataclasses
import math

import numpy as np
import pytest

from pymodel.app import command as cli
from pymodel.app.start import BAD_INPUT
from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.compile.registry import recorded
from pymodel.mechanism.scenario import ADAPTIVE, ScenarioError
from pymodel.mechanism.scenario_file import load, parse
from pymodel.mechanism.scenario_writer import varied, write_scenario
from pymodel.runs import adaptive, lagrangian, native_runs, session, targets
from pymodel.runs.backends import BACKENDS
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

CART = """
name = "cart"
gravity = [0.0, 0.0]
[time]
step = 1e-3
end = 10.0
integrator = "rk4"
save = 100
[[body]]
joint = "prismatic"
axis = [1.0, 0.0]
mass = 1.0
inertia = 0.01
com = [0.0, 0.0]
tip = [0.0, 0.0]
"""


def shipped(name, integrator, **changes):
    return varied(load(SCENARIOS / f"{name}.toml"), integrator=integrator, **changes)


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_a_double_pendulum_is_as_right_as_the_tolerance(integrator):
    scenario = shipped("double_pendulum", integrator, step=1e-2, end=0.5, save=5)
    exact = lagrangian.simulate(scenario, scenario.times)
    worst, evaluations = [], []
    for tolerance in (1e-4, 1e-7):
        run = simulate(varied(scenario, tolerance=tolerance))
        np.testing.assert_array_equal(run.t, exact.t)
        worst.append(np.abs(run.q - exact.q).max())
        evaluations.append(run.evaluations)
    assert worst[1] < 2e-5 and worst[0] > 10 * worst[1]
    assert 30 < evaluations[0] < evaluations[1]


def power_of_sine(*exponents):
    """A formula, sin(pi t / 10 s) to the product of the exponents, and its integral over 10 s."""
    n, text = math.prod(exponents), "sin(pi*t/10)"
    for exponent in exponents:
        text = f"({text})**{exponent}"
    return text, 10 * (math.comb(n, n // 2) / 2**n)


#: Forces on a cart that are 0 for long, each with its impulse, N s.
PULSES = {
    "table": ({"times": [7.3003, 7.35, 7.4003], "values": [0.0, 20.0, 0.0]}, 1.0),
    "formula": power_of_sine(8, 8),
    "short-formula": power_of_sine(16, 16, 16),  # LSODA gives up where it is below 1e-308
}
PASSED_OVER = [
    *(("table", solver) for solver in (*ADAPTIVE, "reference")),
    ("formula", "BDF"),
    *(("short-formula", solver) for solver in ("RK45", "DOP853", "reference")),
]


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize(("pulse", "solver"), PASSED_OVER)
def test_a_short_pulse_is_not_passed_over(tmp_path, pulse, solver):
    torque, impulse = PULSES[pulse]
    file = tmp_path / "cart.toml"
    file.write_text(CART)
    scenario = varied(load(file), torque=torque)
    if solver == "reference":
        run = lagrangian.simulate(scenario, scenario.times)
    else:
        run = simulate(varied(scenario, integrator=solver))
    np.testing.assert_array_equal(run.t, scenario.times)
    assert run.qd[-1] == pytest.approx(impulse, abs=1e-6)


@pytest.mark.nightly
def test_pulses_on_loops_that_are_rebased():
    """Of two tables; corners are times of the grid, of re-basing, and others."""
    tables = [
        {"times": [0.05, 0.1, 0.1 + 1e-12, 0.113], "values": [0.0, 1.0, 1.0, 0.0]},
        {"times": [0.05, 0.0641, 0.2], "values": [0.0, 2.0, 0.0]},
    ]
    torques = [*tables, *3 * [0.0]]
    scenario = shipped("coupled_loops", "DOP853", step=1e-2, end=0.3, torque=torques)
    assert scenario.corners == pytest.approx([0.05, 0.0641, 0.1, 0.113, 0.2], abs=1e-8)
    exact = lagrangian.simulate(scenario, scenario.times)
    run = simulate(scenario, rebase=5)
    fine = native_runs.simulate(varied(scenario, integrator="rk4", step=1e-4, save=100), rebase=500)
    for other in (run, fine):
        np.testing.assert_allclose(other.q, exact.q, rtol=0, atol=1e-7)
        np.testing.assert_allclose(other.qd, exact.qd, rtol=0, atol=1e-5)
    unmoved = lagrangian.simulate(varied(scenario, torque=0.0), scenario.times)
    assert np.abs(unmoved.q - exact.q).max() > 1e-2


def test_loops_with_and_without_rebasing():
    scenario = shipped("coupled_loops", "DOP853", step=1e-2, end=0.3)
    exact = lagrangian.simulate(scenario, scenario.times)
    plain, rebased = simulate(scenario), simulate(scenario, rebase=10)
    for run in (plain, rebased):
        np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-7)
        np.testing.assert_allclose(run.qd, exact.qd, rtol=0, atol=1e-5)
        assert run.condition > 1.0 and run.joint_condition > 1.0
    np.testing.assert_allclose(plain.p, exact.p, rtol=0, atol=1e-6)
    assert not np.array_equal(plain.p[10], rebased.p[10])
    np.testing.assert_allclose(plain.p[:10], rebased.p[:10], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["tree", "four_bar"])
def test_the_model_without_a_compiler_has_the_same_bits(monkeypatch, name):
    scenario = shipped(name, "RK45", step=1e-2, end=0.1, tolerance=1e-6)
    compiled = simulate(scenario)
    with monkeypatch.context() as without:
        without.setattr(native, "build", lambda *a, **o: no_compiler())
        assert_same(simulate(scenario), compiled)
    monkeypatch.setattr(adaptive, "record_function", too_many)
    assert_same(simulate(scenario), compiled)


def too_many(*_, **options):
    raise TooManyOperationsError("rates of it: about 3e6 operations")


def no_compiler():
    raise native.NoCompilerError("no C compiler (cc): install gcc, or set CC")


def assert_same(run, other):
    for column, expected in other.columns().items():
        np.testing.assert_array_equal(run.columns()[column], expected, column)
    for noted in ("evaluations", "condition", "condition_time", "joint_condition"):
        assert getattr(run, noted) == getattr(other, noted)


def test_results_one_by_one_are_those_at_once(monkeypatch):
    scenario = shipped("four_bar", "RK45", step=1e-2, end=0.3, save=3, tolerance=1e-6)
    at_once = simulate(scenario)
    monkeypatch.setattr(adaptive, "_kept_at_once", lambda *arguments: False)
    one_by_one = simulate(scenario)
    for column, expected in at_once.columns().items():
        np.testing.assert_array_equal(one_by_one.columns()[column], expected, column)
    assert one_by_one.condition == pytest.approx(at_once.condition, rel=1e-12)
    assert one_by_one.condition_time == at_once.condition_time
    assert one_by_one.joint_condition == pytest.approx(at_once.joint_condition, rel=1e-12)


# --- runs that cannot go on -----------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["RK45", "RK23", "Radau"])
@pytest.mark.nightly("RK45")
def test_a_singular_posture(monkeypatch, tmp_path, capsys, integrator):
    """The rhombus with gravity along -y goes flat: steps get ever shorter there."""
    monkeypatch.setattr(adaptive, "PATIENCE", 1000)
    scenario = load(SCENARIOS / "four_bar.toml")
    scenario = varied(scenario, gravity=(0.0, -9.80665), step=1e-2, integrator=integrator)
    with pytest.raises(adaptive.ToleranceError, match="t = 0.2616.* s: .* gives up: ") as caught:
        simulate(scenario)
    part = caught.value.trajectory
    assert len(part) == 27 and part.evaluations > 100
    summary, status = session.run_model(scenario, "float64", tmp_path, with_reference=False)
    assert status == session.BROKE_OFF and summary["rows"] == 27
    assert "gives up" in capsys.readouterr().err


def test_a_joint_matrix_beyond_the_limit():
    """What the model stops at, it stops at here."""
    scenario = shipped("double_pendulum", "RK45", step=1e-2, end=0.1)
    with pytest.raises(ArithmeticError, match=r"step \d+: joint matrix \(33\) has condition"):
        simulate(scenario, limit=3.9)


def test_a_motion_that_is_not_finite(monkeypatch):
    scenario = shipped("double_pendulum", "Radau", step=1e-2, end=0.1)
    monkeypatch.setattr(
        adaptive.RightHandSide, "__call__", lambda self, t, y: np.full_like(y, np.nan)
    )
    for integrator in ADAPTIVE:
        with pytest.raises(adaptive.ToleranceError) as caught:
            simulate(dataclasses.replace(scenario, integrator=integrator))
        assert len(caught.value.trajectory) == 1


# --- where there is none --------------------------------------------------------------------------


def refusals(scenario):
    """What refuses an adaptive integrator."""
    yield lambda: simulate(scenario, "float32")
    yield lambda: simulate(scenario, BitExact())
    yield lambda: native_runs.simulate(scenario)
    yield lambda: targets.simulate(scenario, "float64", target="native")
    yield lambda: targets.compiled(scenario, "step")()
    yield lambda: recorded("step", scenario)
    yield lambda: BACKENDS["native"].check(scenario, "float64", base="ldl")
    yield lambda: BACKENDS["model"].check(scenario, "float32", base="ldl")


def test_fixed_programs_refuse_it():
    scenario = shipped("double_pendulum", "LSODA", step=1e-2)
    for run in refusals(scenario):
        with pytest.raises(ScenarioError, match="time.integrator: LSODA chooses its steps: only"):
            run()
    assert recorded("rates", scenario).outputs


@pytest.mark.parametrize("options", [[], ["--arith", "float64", "--target", "native"]])
def test_the_command_line_refuses_it_in_one_line(tmp_path, capsys, options):
    path, out = tmp_path / "adaptive.toml", tmp_path / "out"
    write_scenario(path, shipped("double_pendulum", "BDF", step=1e-2))
    assert cli.main(["simulate", str(path), "--out", str(out), *options]) == BAD_INPUT
    said = capsys.readouterr().err
    assert "time.integrator: BDF chooses its steps: only" in said and len(said.splitlines()) == 1
    assert not out.exists()


def test_the_summary_has_the_evaluations(tmp_path, capsys):
    scenario = shipped("double_pendulum", "RK45", step=1e-2, end=0.1)
    summary, status = session.run_model(scenario, "float64", tmp_path)
    assert status == session.DONE and summary["tolerance"] == 1e-9
    assert summary["evaluations"] == simulate(scenario).evaluations
    out = capsys.readouterr().out
    assert "RK45, tolerance 1e-09" in out and str(summary["evaluations"]) in out


@pytest.mark.parametrize("integrator", adaptive.OWN_JACOBIAN)
def test_a_jacobian_moves_an_angle_that_nothing_depends_on_a_little(monkeypatch, integrator):
    """A chain that turns freely about its pin: scipy's own differences move it by 1e4 rad."""
    bar = {"mass": 1.0, "inertia": 0.01, "com": [0.2, 0.0], "tip": [0.4, 0.0]}
    bodies = [bar | {"qd": 6.0}, bar | {"q": 1.0, "spring": 300.0}, bar | {"spring": 1e4}]
    bodies[2]["damping"] = 300.0
    time = {"step": 1e-2, "end": 0.1, "integrator": integrator, "tolerance": 1e-8}
    scenario = parse({"name": "rod", "gravity": [0.0, 0.0], "time": time, "body": bodies})
    seen, of_state = [], adaptive.RightHandSide.__call__

    def watched(self, t, state):
        seen.append(np.abs(state).max())
        return of_state(self, t, state)

    monkeypatch.setattr(adaptive.RightHandSide, "__call__", watched)
    run = simulate(scenario)
    assert run.evaluations == len(seen) > 1000
    assert max(seen) < 10 * np.abs(np.concatenate([run.q, run.p], axis=1)).max()
