"""Runs, tables and pictures of mechanisms in space, and of sliders: all that takes their states."""

import dataclasses

import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Line3D
from PIL import Image

from pymodel.arith.scalars import BitExact
from pymodel.machine.isa import Machine
from pymodel.mechanism.kinematics import point_position
from pymodel.mechanism.scenario import (
    FREE,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Spring,
)
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, native_runs, plots, recorder, skeleton
from pymodel.runs.animation import animate
from pymodel.runs.ensemble import kinds
from pymodel.runs.outcome import Outcome
from pymodel.runs.simulate import simulate
from pymodel.runs.summary import compared_units
from pymodel.runs.sweep_plot import unit_of
from pymodel.runs.trajectory import read_csv, write_csv
from pymodel.tests.every_joint import every_joint
from pymodel.tests.places import SCENARIOS
from pymodel.tests.space import rssr, slider_crank

STEPS = 8


def steps(scenario, count=STEPS):
    return dataclasses.replace(scenario, end=scenario.step * count)


def floating():
    """A free body with a slider on it."""
    return every_joint((FREE, PRISMATIC))


MECHANISMS = {"rssr": rssr, "slider-crank": slider_crank, "floating": floating}


@pytest.fixture(params=MECHANISMS)
def scenario(request):
    return steps(MECHANISMS[request.param]())


def assert_same(got, want):
    for name, column in want.columns().items():
        np.testing.assert_array_equal(got.columns()[name].view(int), column.view(int), name)
    assert (got.condition, got.flags) == (want.condition, want.flags)


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize("options", [{"rebase": 3, "project": 0}, {"project": 4}])
def test_native_code_and_engine_have_the_bits_of_the_model(scenario, options, tmp_path):
    options = options if scenario.loops else {}
    run = simulate(scenario, "float32", **options)
    assert (run.nq, run.nv) == (scenario.nq, scenario.nv) and len(run) == STEPS + 1
    native = native_runs.simulate(scenario, "float32", **options)
    assert_same(native, run)
    assert native.joint_condition == run.joint_condition < recorder.ORDINARY_JOINT
    folded = simulate(scenario, BitExact(fold=True), **options)
    assert_same(engine_runs.simulate(Machine(), scenario, **options), folded)
    write_csv(tmp_path / "run.csv", run)
    back = read_csv(tmp_path / "run.csv")
    assert_same(dataclasses.replace(back, condition=run.condition, flags=run.flags), run)


def test_systems_whose_numbers_are_zero_or_one_run_apart():
    scenario = steps(slider_crank())
    crank, *others = scenario.bodies
    cranks = [
        dataclasses.replace(crank, mass=mass, com=com)
        for mass, com in ((2.0, crank.com), (2.5, crank.com), (1.0, crank.com), (2.0, (0.0, 0.0)))
    ]
    all_ = [dataclasses.replace(scenario, bodies=(one, *others)) for one in cranks]
    for one, run in zip(all_, native_runs.simulate_many(all_, "float64"), strict=True):
        assert_same(run, simulate(one, "float64"))


def test_outcomes_and_units():
    scenario = steps(floating())
    outcome = Outcome.of(scenario, simulate(scenario), arithmetic="float64")
    cells = outcome.cells(scenario.nq, scenario.nv)
    failed = Outcome.failure("why").cells(scenario.nq, scenario.nv)
    assert list(cells) == list(failed) and {"q7", "qd6", "p6"} <= cells.keys()
    assert "qd7" not in cells and np.isnan(failed["q7"])
    assert compared_units(scenario) | {"kinetic": "J", "potential": "J"} == {
        "q": "m or dimensionless (quaternion)",
        "qd": "m/s or rad/s",
        "p": "N s or N m s",
        "kinetic": "J",
        "potential": "J",
    }
    assert (unit_of("q0", scenario), unit_of("q3", scenario)) == ("m", "")
    assert (unit_of("p6", scenario), unit_of("t", scenario), unit_of("q3")) == ("N s", "s", "rad")
    crank = load(SCENARIOS / "slider_crank.toml")
    units = {
        "body[0].q": "rad",
        "body[2].q": "m",
        "body[2].qd": "m/s",
        "body[0].mass": "kg",
        "body[0].com[1]": "m",
        "body[1].torque": "N m",
        "body[2].torque": "N",
        "body[2].spring": "N/m",
        "body[0].damping": "N m s/rad",
        "body[2].damping": "N s/m",
        "body[2].rotation": "rad",
        "gravity[1]": "m/s²",
        "time.step": "s",
        "loop[0].at[0]": "m",
        "spring[3].stiffness": "N/m",
        "status": "",
        "body[0].what": "",
        "no.such": "",
    }
    assert {key: unit_of(key, crank) for key in units} == units
    free = [unit_of(f"body[0].q[{k}]", scenario) for k in (0, 2, 3, 6)]
    assert (free, unit_of("body[1].qd")) == (["m", "m", "", ""], "rad/s")


def test_numbers_of_joints_may_be_varied():
    scenario = every_joint((REVOLUTE, SPHERICAL))
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1], "com": [0.1, 0.0, 0.0], "tip": [0.2, 0.0, 0.0]}
    bodies = [
        body | {"joint": REVOLUTE, "axis": [0, 0, 1]},
        body | {"joint": SPHERICAL, "q": [0, 0, 0, 1]},
    ]
    data = {"name": "two", "gravity": [0, 0, -9.8], "time": {"step": 1, "end": 1}, "body": bodies}
    found = kinds(data, scenario)
    expected = ["gravity[2]", "body[0].q", "body[0].axis[2]", "body[1].q[3]", "body[1].inertia[2]"]
    assert all(found[key] == "number" for key in expected)
    assert not {"body[0].joint", "body[1].q", "body[1].qd", "body[0].inertia"} & found.keys()


def test_an_angle_of_a_joint_in_space_is_named():
    scenario = rssr()
    found = recorder.Recorder(scenario, BitExact())
    found.q[5] = 2e5
    assert "body[2]: its joint's angle is 200000 rad; sine and cosine" in found.where("stopped")
    found.q[1:6] = [2e5] * 4 + [0.0]  # a quaternion has no sine
    assert found.where("stopped").endswith("stopped")


def test_what_is_drawn_of_sliders():
    scenario = slider_crank()
    run = simulate(steps(scenario))
    (slider,) = skeleton.sliders(scenario, run.q)
    assert scenario.bodies[slider.body].joint == PRISMATIC
    handle = point_position(scenario, run.q, slider.body, (0.0, 0.0))
    np.testing.assert_allclose(slider.block.mean(axis=1), handle, atol=1e-15)
    axis = np.array(scenario.bodies[slider.body].axis)
    for ends in (slider.block, slider.guide):
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        np.testing.assert_allclose(along, length * axis, atol=1e-12)
    assert skeleton.pins(scenario, run.q).shape == (len(run), 2, 2)
    assert len(skeleton.ground_pins(scenario)) == 1 + sum(loop.to < 0 for loop in scenario.loops)


def test_what_is_drawn_in_space():
    scenario = rssr()
    scenario = dataclasses.replace(
        scenario, springs=(Spring(2, (0.1, 0.0, 0.0), -1, (0.0, 0.0, 1.0), 1.0),)
    )
    q = simulate(steps(scenario)).q
    assert {ends.shape for _, ends in skeleton.bars(scenario, q)} == {(len(q), 2, 3)}
    (corners,) = skeleton.coils(scenario, q)
    np.testing.assert_allclose(corners[:, 0], [[0.0, 0.0, 1.0]] * len(q), atol=1e-15)
    own = point_position(scenario, q, 2, (0.1, 0.0, 0.0))
    np.testing.assert_allclose(corners[:, -1], own, atol=1e-15)
    assert skeleton.pins(scenario, q).shape == (len(q), 3, 3)
    assert skeleton.loop_pins(scenario, q).shape == (len(q), len(scenario.loops), 3)


@pytest.mark.nightly("floating")
def test_pictures(scenario, tmp_path):
    run = simulate(dataclasses.replace(scenario, end=scenario.step * 40))
    figures = {
        kind: plots.plot(run, scenario, kind)
        for kind in ("joints", "overview", *(["loop"] if scenario.loops else []))
    }
    labels = [axes.get_ylabel() for axes in figures["joints"].axes]
    slides = PRISMATIC in {body.joint for body in scenario.bodies}
    assert any("[m]" in label for label in labels) == slides
    assert any("quaternion" in label for label in labels) == (run.nq > run.nv)
    if scenario.loops:
        tilts = scenario.spatial and any(loop.axis for loop in scenario.loops)
        assert ("angle between" in figures["loop"].axes[-1].get_ylabel()) == tilts
    spaces = [axes for axes in figures["overview"].axes if axes.name == "3d"]
    assert len(spaces) == scenario.spatial
    for space in spaces:
        assert space.get_zlabel() == "z [m]"
        assert all(isinstance(line, Line3D) for line in space.lines) and space.lines
    path = animate(run.first(6), scenario, tmp_path / "run.gif")
    with Image.open(path) as image:
        assert image.n_frames > 1
