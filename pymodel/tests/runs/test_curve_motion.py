"""Motions of joints that are curves through values: on all targets, from files, and refused."""

import dataclasses

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from pymodel.algorithms.drives import CurveMotion
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Curve, ScenarioError
from pymodel.mechanism.scenario_file import load, parse
from pymodel.mechanism.scenario_writer import tables, varied, write_scenario
from pymodel.runs import adaptive, engine_runs, lagrangian, native_runs
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS

TIMES, VALUES = (0.0, 0.1, 0.35, 0.5, 1.0), (0.4, 0.7, -0.2, 0.1, 1.5)
CURVE = {"times": list(TIMES), "values": list(VALUES)}


def pendulum(curve=CURVE, **changes):
    """The shipped one on a rod that is moved along a curve."""
    data = tables(load(SCENARIOS / "double_pendulum.toml"))
    data["body"][0] |= {"motion": curve}
    for key in ("q", "qd", "torque"):
        del data["body"][0][key]
    data["time"] |= {"step": 1e-3, "end": 1.0, "integrator": "rk4", **changes}
    return data


def same(run, other):
    for name, column in other.columns().items():
        assert np.array_equal(run.columns()[name].view(np.uint64), column.view(np.uint64)), name


@pytest.mark.parametrize("ends", ["natural", "clamped"])
@pytest.mark.parametrize(("arithmetic", "error"), [(Float64(), 1e-14), (BitExact(), 2e-5)])
def test_the_curve_and_its_derivatives(ends, arithmetic, error):
    """Those of scipy, also at the times themselves, of which a run meets some."""
    exact = CubicSpline(TIMES, VALUES, bc_type=ends)
    motion = CurveMotion(arithmetic, "x", Curve(TIMES, VALUES, ends))
    orders = motion.position, motion.velocity, motion.acceleration
    for t in (*TIMES, *np.linspace(0.0, 1.0, 23)):
        for order, text in enumerate(orders):
            scale = np.abs(exact(np.linspace(0, 1, 50), order)).max()
            found = arithmetic.to_float(text(arithmetic.const(t)))
            assert abs(found - exact(t, order)) < error * scale, (t, order)


def test_the_motion_is_kept_and_all_else_moves_with_it():
    scenario = parse(pendulum())
    run = native_runs.simulate(scenario)
    exact = CubicSpline(TIMES, VALUES, bc_type="natural")
    np.testing.assert_allclose(run.q[:, 0], exact(run.t), rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.qd[:, 0], exact(run.t, 1), rtol=0, atol=1e-12)
    solved = lagrangian.simulate(scenario, run.t[::100])
    for name in ("q", "qd", "p"):
        got, want = getattr(run, name)[::100], getattr(solved, name)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-7)
    forces = joint_forces(scenario, run)
    np.testing.assert_allclose(forces.acceleration[:, 0], exact(run.t, 2), rtol=0, atol=1e-11)
    # d(energy)/dt is the power of the motor
    power = np.gradient(run.kinetic + run.potential, run.t, edge_order=2)
    np.testing.assert_allclose((forces.motor * run.qd)[1:-1, 0], power[1:-1], rtol=0, atol=0.1)
    smooth = dataclasses.replace(scenario, integrator="DOP853", end=0.5)
    found = adaptive.simulate(smooth)
    np.testing.assert_allclose(found.q, run.q[: len(found)], rtol=0, atol=1e-7)


def test_the_same_bits_on_model_native_code_and_engine():
    scenario = parse(pendulum(step=0.025, end=0.2, integrator="semi-implicit"))
    run = simulate(scenario)
    same(native_runs.simulate(scenario), run)
    same(engine_runs.simulate(Machine(), scenario), simulate(scenario, BitExact(fold=True)))


def test_files(tmp_path):
    """Written and read again; from a table beside the file; changed in Python."""
    scenario = parse(pendulum())
    write_scenario(tmp_path / "a.toml", scenario)
    assert load(tmp_path / "a.toml").bodies == scenario.bodies
    lines = ["t,q", *(f"{t!r},{q!r}" for t, q in zip(TIMES, VALUES, strict=True))]
    (tmp_path / "swing.csv").write_text("\n".join(lines) + "\n")
    source = str(tmp_path / "b.toml")
    assert parse(pendulum({"csv": "swing.csv"}), source).bodies == scenario.bodies
    free = load(SCENARIOS / "double_pendulum.toml")
    curve = np.array([{"times": [0.0, 60.0], "values": [0.0, 6.0]}, None], dtype=object)
    moved = varied(free, motion=curve, torque=0.0)
    assert moved.bodies[0].motion == Curve((0.0, 60.0), (0.0, 6.0)) and moved.qd0[0] == 0.1


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ({"times": [0.0], "values": [1.0]}, ".times: must be 2 to 1000 times, got 1"),
        ({"times": [0.0, 0.0], "values": [1, 2]}, ".times: must ascend from 0"),
        ({"times": [0.1, 2.0], "values": [1, 2]}, ".times: must ascend from 0"),
        ({"times": [0.0, 2.0], "values": [1]}, ".values: must be one for each time, 2, got 1"),
        ({"times": [0.0, 2.0]}, ".values: required key is missing, without a csv"),
        ({"times": [0.0, 2.0], "values": [1, float("nan")]}, ".values: must be finite, got nan"),
        ({"times": [0, 1e-300], "values": [0, 1e30]}, ".times: are too close together"),
        (CURVE | {"ends": "free"}, '.ends: must be one of natural, clamped, got "free"'),
        (CURVE | {"csv": "a.csv"}, ".times: the csv has them"),
        ({"csv": "a.csv"}, '.csv: cannot read "a.csv": No such file or directory'),
        ({"csv": "b.csv"}, '.csv: "b.csv", line 3: no finite number q'),
        ({"csv": "c.csv"}, '.csv: "c.csv" has no column q'),
        ({"times": [0.0, 0.5], "values": [1, 2]}, ".times: ends at 0.5 s, before the run does"),
    ],
)
def test_what_makes_no_sense_is_refused(curve, said, tmp_path):
    (tmp_path / "b.csv").write_text("t,q\n0,1\n1,nan\n")
    (tmp_path / "c.csv").write_text("t,x\n0,1\n1,2\n")
    with pytest.raises(ScenarioError) as caught:
        parse(pendulum(curve), str(tmp_path / "x.toml"))
    assert f"body[0].motion{said}" in str(caught.value)


def test_a_run_that_outlasts_it_is_refused_as_it_starts():
    scenario = dataclasses.replace(parse(pendulum()), end=2.0)
    with pytest.raises(ScenarioError, match=r"body\[0\].motion.times: ends at 1.0 s, before"):
        simulate(scenario)
    narrow = BitExact(Format(4, 10))
    with pytest.raises(ScenarioError, match=r"too few exponents|cannot count"):
        simulate(parse(pendulum(step=0.25)), narrow)
