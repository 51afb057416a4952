"""What rounding costs the velocities: the estimate against measured errors, and who warns of it."""

from dataclasses import replace

import numpy as np
import pytest

import pymodel
from pymodel.app.command import main
from pymodel.arith.perturbed import ERROR, PerturbedArrays
from pymodel.arith.scalars import BitExact
from pymodel.mechanism.scenario import GROUND, SPHERICAL, Body, Loop, Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import session
from pymodel.runs.judgement import LOSS_WARNING
from pymodel.runs.loss import losses, with_loss
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests.calibration import error_of, points, velocities
from pymodel.tests.places import SCENARIOS
from pymodel.tests.thin import shaft_and_arm

pytestmark = pytest.mark.usefixtures("undrawn")

FLOAT32 = BitExact(fold=True)


def test_perturbed_numbers_lose_what_cancels():
    arithmetic = PerturbedArrays(1, 10_000)
    one, small = arithmetic.const(1.0), arithmetic.const(2.0**-20)
    assert np.array_equal(one.values, np.ones(10_000))
    left = (one + small) - one  # error of the sum, as a share of what is left
    errors = np.abs(left.values / 2.0**-20 - 1.0)
    assert 0.98 < errors.max() / (2.0**20 * ERROR) < 1.01
    third = np.abs(arithmetic.recip(arithmetic.const(3.0)).values * 3.0 - 1.0)
    assert 0.98 < third.max() / ERROR < 1.02
    tenth = np.abs(arithmetic.const(0.1).values * 10.0 - 1.0)  # a format rounds it
    assert 0.98 < tenth.max() / ERROR < 1.02
    assert not arithmetic.is_zero(left) and not arithmetic.spoiled.any()
    assert not arithmetic.is_zero(left - arithmetic.const(2.0**-20))
    assert arithmetic.spoiled.all()
    sin, cos = arithmetic.sincos(one)
    assert np.ptp((sin * sin + cos * cos).values) > ERROR


# --- the estimate ---------------------------------------------------------------------------------


def judged(seeds):
    """Recall and false alarms, and estimate over error where there is a digit."""
    found = list(points(seeds))
    alarms = np.array([not x.estimate < LOSS_WARNING for x in found])
    errors = np.array([x.error for x in found])
    spoiled, fine = ~(errors < 1e-3), errors < 1e-5
    some = (errors > 0.0) & (errors < 0.1)
    ratios = np.array([x.estimate for x in found])[some] / errors[some]
    return alarms[spoiled], alarms[fine], ratios


def test_thin_mechanisms_without_lending(unlent):
    """Of 200 seeds 620 of 620 are seen, and none of the 119 below 1e-5."""
    hits, false_alarms, ratios = judged(range(16))
    assert len(hits) > 40 and hits.all()
    assert len(false_alarms) > 6 and not false_alarms.any()
    assert 2.0 < np.median(ratios) < 10.0 and np.percentile(ratios, 5) > 0.5


def test_thin_mechanisms_that_lend():
    """Of 200 seeds 234 of 234 are seen, and none of the 392 below 1e-5."""
    hits, false_alarms, ratios = judged(range(16))
    assert len(hits) > 12 and hits.all()
    assert len(false_alarms) > 25 and not false_alarms.any()
    assert 2.0 < np.median(ratios) < 10.0 and np.percentile(ratios, 5) > 0.5


# --- what passed in silence -----------------------------------------------------------------------


def light_between_heavy(ratio):
    """Three bars of 1 m on pins, the middle one lighter: lending does not help it."""
    bar = Body(1.0, 1.0 / 12.0, com=(0.5, 0.0), tip=(1.0, 0.0), q=0.4, qd=1.0)
    light = replace(bar, mass=ratio, inertia=ratio / 12.0, parent=0, attach=(1.0, 0.0), qd=-0.7)
    last = replace(bar, parent=1, attach=(1.0, 0.0), q=-0.9, qd=0.5)
    return Scenario("light", (0.0, -9.81), 1e-3, 0.02, (bar, light, last), integrator="rk4")


def oblique_bar(about_axis):
    """A thin bar on a ball joint, its axis oblique in its frame."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    inertia = turn @ np.diag((about_axis, 1.0 / 12.0, 1.0 / 12.0)) @ turn.T
    bar = Body(
        mass=1.0,
        inertia=tuple(inertia[np.triu_indices(3)].tolist()),
        com=tuple((0.5 * turn[:, 0]).tolist()),
        tip=tuple(turn[:, 0].tolist()),
        attach=(0.0,) * 3,
        joint=SPHERICAL,
        rotation=(0.0,) * 3,
        q=(0.0, 0.0, 0.0, 1.0),
        qd=(1.0, -0.5, 0.3),
    )
    return Scenario("oblique", (0.0, 0.0, -9.81), 1e-3, 0.02, (bar,), integrator="rk4")


def slow_loop(speed):
    """A rhombus of bars that hangs straight down, and swings: the loop's momenta grow with time."""
    bar = Body(1.0, 1.0 / 75.0, com=(0.2, 0.0), tip=(0.4, 0.0))
    attach = (0.4, 0.0)
    bodies = (
        replace(bar, q=np.pi / 2, qd=speed),
        replace(bar, parent=0, attach=attach, q=-np.pi / 2, qd=-speed),
        replace(bar, parent=1, attach=attach, q=np.pi / 2 - np.pi, qd=speed),
    )
    loops = (Loop(2, attach, GROUND, attach),)
    return Scenario("slow", (0.0, 9.81), 1e-3, 1.0, bodies, loops, integrator="rk4", save=20)


CASES = {
    "shaft and arm": (shaft_and_arm(1e-6), 1e-2),
    "light body": (light_between_heavy(1e-5), 10.0),
    "oblique axis": (oblique_bar(1e-6), 1e-3),
}


@pytest.mark.parametrize(("scenario", "least"), CASES.values(), ids=CASES)
def test_what_spoils_the_velocities_of_float32_warns(unlent, scenario, least):
    """The joint matrices of the first and the last have conditions of 14 and 3.2."""
    q, qd = scenario.q0, scenario.qd0
    p = NewtonEuler(scenario).momenta(q, qd)
    assert error_of(velocities(FLOAT32, scenario, q, p), qd) > least
    run = pymodel.simulate(replace(scenario, end=0.004), "float32")
    error = run.loss * FLOAT32.unit_roundoff
    assert least < error < 1000.0 * least
    (said,) = [text for text in run.warnings if "rounding is magnified" in text]
    left = f"{-np.log10(error):.1f}" if error < 1.0 else "no"
    assert f"magnified {run.loss:.1e} times at t = {run.loss_time:.6g} s: in float32 {left}" in said
    assert f"float64 keeps {-np.log10(run.loss * 2.0**-53):.1f}, masses and moments" in said


def test_a_shaft_and_an_arm_that_lend_do_not_warn():
    run = pymodel.simulate(replace(shaft_and_arm(1e-6), end=0.004), "float32")
    assert run.loss < 100.0 and not run.warnings


# --- loops, and what stands still -----------------------------------------------------------------


def test_a_loop_that_hangs_still_has_no_loss():
    """All that moves is rounding: its share would be without limit."""
    run = pymodel.simulate(slow_loop(0.0), "float32", target="native")
    assert np.abs(run.qd).max() > 0.0
    assert run.loss is run.loss_time is None and not run.warnings


def test_momenta_of_a_loop_that_have_grown_warn_until_they_are_re_based():
    scenario = slow_loop(1e-3)
    run = pymodel.simulate(scenario, "float32", target="native", project=0)
    assert any("so do momenta that are re-based" in text for text in run.warnings)
    exact = pymodel.simulate(scenario, target="native")
    error = np.abs(run.qd - exact.qd).max() / np.abs(exact.qd).max()
    assert 0.3 < run.loss * FLOAT32.unit_roundoff / error < 3.0
    based = pymodel.simulate(scenario, "float32", target="native", rebase=1, project=0)
    assert based.loss < run.loss / 50.0 and len(based.warnings) < len(run.warnings)


def test_nothing_moves():
    scenario = shaft_and_arm(1e-3)
    still = np.zeros((1, 2))
    assert losses(scenario, still, still, np.zeros(1)) is None
    moved = losses(scenario, still, np.array([[0.0, np.inf]]), np.zeros(1))
    assert np.isinf(moved).all()


@pytest.mark.parametrize("seed", [32, 114])
def test_a_matrix_that_is_all_error_leaves_no_digit(unlent, seed):
    """Its inverse is small, so that all evaluations agree on velocities that are wrong."""
    (point,) = points(range(seed, seed + 1), ("float64",))
    assert point.error > 1e-3 and np.isinf(point.estimate)


def test_momenta_that_cancel():
    """Two wheels on one pin, the first a millionth of the other: it turns by (p_0 - p_1) / J_0."""
    wheel = Body(1.0, 1.0, com=(0.0, 0.0), tip=(1.0, 0.0))
    bodies = (replace(wheel, inertia=1e-6), replace(wheel, parent=0, attach=(0.0, 0.0)))
    scenario = Scenario("wheels", (0.0, 0.0), 1e-3, 1.0, bodies)
    (lost,) = losses(scenario, np.zeros((1, 2)), np.array([[1.0 + 1e-6, 1.0]]), np.zeros(1))
    assert 1.5e6 < lost < 2.1e6


def test_the_pivots_of_a_base_are_no_matter():
    scenario = load(SCENARIOS / "four_bar.toml", steps=20)
    run = pymodel.simulate(scenario, base="ldup")
    assert run.loss == pytest.approx(with_loss(scenario, run, base="ldl").loss)
    assert run.loss > 10.0


# --- every target ---------------------------------------------------------------------------------


def test_every_target_warns_alike(tmp_path, capsys, monkeypatch):
    finished = []  # no files and no tables, which take seconds
    monkeypatch.setattr(session, "write_run", lambda run, *given, **more: finished.append(run))
    monkeypatch.setattr(session, "print_summary", lambda *given: None)
    path = tmp_path / "light.toml"
    pymodel.write_scenario(path, light_between_heavy(1e-5))
    scenario = pymodel.load(path)
    model, native = (pymodel.simulate(scenario, "float32", target=x) for x in ("model", "native"))
    engine = pymodel.compiled(scenario, "step", "float32")()
    assert any("rounding is magnified" in text for text in model.warnings)
    assert model.warnings == native.warnings == engine.warnings
    assert model.loss == native.loss == engine.loss
    for target in ("model", "native", "twin"):
        words = ["simulate", str(path), "--target", target, "--no-reference"]
        assert main([*words, "--out", str(tmp_path / "out")]) == 0
        said = capsys.readouterr().err.splitlines()
        assert [line for line in said if "warning" in line] == list(model.warnings)
        assert finished.pop().trajectory.loss == model.loss


def test_an_engine_run_that_stops_has_its_loss():
    """Its angle passes what sine and cosine of the hardware know."""
    body = {"mass": 1.0, "inertia": 0.1, "com": [0.5, 0.0], "tip": [1.0, 0.0], "torque": 1e9}
    time = {"step": 1e-3, "end": 0.1}
    scenario = load({"name": "fast", "gravity": [0.0, 0.0], "time": time, "body": [body]})
    with pytest.raises(pymodel.RunError) as caught:
        pymodel.compiled(scenario, "step", "float32")()
    assert 1.0 < caught.value.trajectory.loss < 1e3
