"""Runs that a format cannot bear say so: joint matrices near to singular, rounding, angles."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from pymodel.algorithms.linalg import condition_2x2
from pymodel.algorithms.requests import SingularError
from pymodel.arith import scalars
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism.kinematics import spring_lengths
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, native_runs, recorder, session
from pymodel.runs.finished import FinishedRun, HardwareResult
from pymodel.runs.judgement import LOSS_WARNING, warnings_of
from pymodel.runs.loss import with_loss
from pymodel.runs.recorder import JOINT_WARNING, ORDINARY_JOINT, NonFiniteError
from pymodel.runs.simulate import simulate
from pymodel.runs.targets import simulate as api_simulate
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

SHIPPED = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
ARITHMETICS = ("float32", "float64")
HARDWARE = HardwareResult(
    simulator="icarus",
    seed=1,
    identical=True,
    words_compared=1,
    cycles_by_part={"run run": 1},
    engine_cycles={"run": 1},
    registers_traced=0,
    registers_moved={"run run": 1},
    evaluations=1,
    in_hardware="all",
    float_units={"add": 1},
    versions={},
)


def near_points(inertia, steps=20, **first):
    """A double pendulum whose bodies are nearly point masses, at their tips."""
    scenario = load(SCENARIOS / "double_pendulum.toml", steps=steps)
    bodies = [dataclasses.replace(b, inertia=inertia, com=b.tip) for b in scenario.bodies]
    bodies[0] = dataclasses.replace(bodies[0], **first)
    return dataclasses.replace(scenario, bodies=tuple(bodies))


def pin_on_the_ground(inertia, steps=20, others=()):
    """One bar that is nearly a point mass, off its axis, and what it carries."""
    scenario = load(SCENARIOS / "compound_pendulum.toml", steps=steps)
    bar = dataclasses.replace(scenario.bodies[0], inertia=inertia, com=(0.3, 0.2))
    return dataclasses.replace(scenario, bodies=(bar, *others))


@pytest.fixture
def unwritten(monkeypatch):
    """No files and no tables, which take seconds."""
    monkeypatch.setattr(session, "write_run", lambda *given, **more: {"reference_missing": None})
    monkeypatch.setattr(session, "print_summary", lambda *given: None)


def finished(scenario, arithmetic, out):
    return session.run_model(scenario, arithmetic, out, with_reference=False)


def test_condition_of_2x2_matrices():
    rng = np.random.default_rng(1)
    for _ in range(100):
        q, _ = np.linalg.qr(rng.normal(size=(2, 2)))
        m = q @ np.diag(10 ** rng.uniform(-3, 3, 2)) @ q.T
        m[1, 0] = m[0, 1]
        assert condition_2x2(m) == pytest.approx(np.linalg.cond(m), rel=1e-6)
    assert condition_2x2(((1.0, 1.0), (1.0, 1.0))) == math.inf


@pytest.mark.parametrize(("arithmetic", "inertia"), [("float32", 4e-6), ("float64", 1e-12)])
@pytest.mark.usefixtures("unlent")
def test_near_point_masses_warn(tmp_path, capsys, arithmetic, inertia):
    summary, _ = finished(near_points(inertia), arithmetic, tmp_path)
    expected = 1 + 2 * 0.4**2 / inertia  # of the pin on the ground
    assert summary["joint_condition_max"] == pytest.approx(expected, rel=1e-2)
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written["joint_condition_max"] == summary["joint_condition_max"]
    assert written["loss_max"] == summary["loss_max"] > 1e5
    error = written["velocity_error_estimate"]
    assert error == written["loss_max"] * scalars.parse(arithmetic).unit_roundoff
    first, *_ = capsys.readouterr().err.splitlines()
    assert f"warning: rounding is magnified {written['loss_max']:.1e} times at t = " in first
    left = f"in {arithmetic} {-math.log10(error):.1f} digits of the velocities are left; "
    assert left in first
    assert ("; float64 keeps 1" in first) == (arithmetic == "float32")


@pytest.mark.usefixtures("unlent")
def test_a_joint_that_the_format_cannot_bear_stops_the_run():
    with pytest.raises(
        SingularError, match=r"step 0: joint matrix \(33\) has condition 8\.\de\+06"
    ):
        simulate(near_points(1e-8), "float32")
    assert len(simulate(near_points(1e-8), "float64")) == 21


@pytest.mark.parametrize("simulate", [simulate, native_runs.simulate])
@pytest.mark.usefixtures("unlent")
def test_the_pin_on_the_ground_is_watched(tmp_path, capsys, simulate):
    """It alone turns the first body: no other joint of an open chain sees that inertia."""
    point = pin_on_the_ground(1e-13)
    lengths = 0.3**2 + 0.2**2
    condition = 1 + lengths * point.bodies[0].mass / 1e-13
    assert simulate(point).joint_condition == pytest.approx(condition, rel=1e-2)
    with pytest.raises(SingularError, match=r"joint matrix .* condition 1\.\de\+15, too much"):
        simulate(pin_on_the_ground(1e-16))
    with pytest.raises(SingularError, match="step 0: joint matrix .*, too much for float32"):
        simulate(pin_on_the_ground(1e-8), "float32")
    with pytest.raises(SingularError, match=r"joint matrix .* condition .*, the limit is 1\.5$"):
        simulate(point, limit=1.5)
    bar = load(SCENARIOS / "compound_pendulum.toml").bodies[0]
    at_tip = pin_on_the_ground(1e-10, others=[bar])
    first = dataclasses.replace(at_tip.bodies[0], com=at_tip.bodies[0].tip)
    at_tip = dataclasses.replace(at_tip, bodies=(first, bar))
    assert simulate(at_tip).joint_condition > 1e9
    summary, status = finished(at_tip, "float64", tmp_path)
    assert summary["velocity_error_estimate"] < 1e-5  # a joint so bad need not cost digits
    assert status == 0 and not capsys.readouterr().err


SLIDERS = {
    "plane": {"inertia": 1e-16, "com": [0.3, 0.2], "axis": [1.0, 0.0]},
    "space": {"inertia": [1e15, 0.01, 0.01], "com": [0.0, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]}
    | {"rotation": [0.0, 0.5, 0.0]},
}


@pytest.mark.parametrize("simulate", [simulate, native_runs.simulate])
@pytest.mark.parametrize("slider", SLIDERS.values(), ids=SLIDERS)
@pytest.mark.usefixtures("unlent")
def test_a_joint_matrix_that_is_singular_in_advance(slider, simulate):
    """It depends on no coordinate, so its determinant is known before any step."""
    body = {"joint": "prismatic", "mass": 1.0, "tip": slider["com"]} | slider
    gravity = [0.0] * (len(slider["com"]) - 1) + [-9.81]
    time = {"step": 1e-3, "end": 0.01}
    scenario = load({"name": "slider", "gravity": gravity, "time": time, "body": [body]})
    for arithmetic in ("float64", "float32"):
        with pytest.raises(SingularError, match=r"step 0: joint matrix \(33\) is singular or"):
            simulate(scenario, arithmetic)


@pytest.mark.parametrize(
    ("joint", "q", "said"),
    [
        (
            {},
            1e13,
            "reaches 1e+13 rad, where float64 counts by 0.00222 rad, and turns by at most 0.",
        ),
        ({}, 1e10, None),
        (
            {"axis": [0.0, 1.0]},
            -1e15,
            "reaches 1e+15 m, where float64 counts by 0.222 m, and moves by",
        ),
        ({"axis": [0.0, 1.0]}, 1e9, None),
    ],
)
def test_a_coordinate_that_steps_hardly_change_warns(joint, q, said):
    """The body at rest does not, however large its angle."""
    kind = {"joint": "prismatic"} | joint if joint else {}
    body = {"mass": 1.0, "inertia": 0.01, "com": [0.1, 0.0], "tip": [0.2, 0.0]}
    still = body | {"parent": "ground", "q": -math.pi / 2}
    time = {"step": 1e-2, "end": 0.3, "integrator": "rk4"}
    moving = {"name": "far", "gravity": [0.0, -9.81], "time": time}
    run = api_simulate(load(moving | {"body": [body | kind | {"q": q}, still]}))
    if said is None:
        assert not run.warnings
    else:
        (warning,) = run.warnings
        assert f"warning: body[0]: its joint {said}" in warning
        assert warning.endswith(" a step: few digits of the motion are left")


def test_a_free_body_in_space_that_steps_hardly_move_warns():
    """Its quaternion is never large."""
    body = {"mass": 1.0, "inertia": [0.01, 0.02, 0.03], "com": [0.0, 0.0, 0.0]}
    body |= {"tip": [0.0, 0.0, 0.1], "joint": "free", "q": [0.0, 1e17, 0.0, 0.0, 0.0, 0.0, 1.0]}
    body |= {"qd": [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]}
    scenario = {"name": "far", "gravity": [0.0, 0.0, 0.0], "time": {"step": 1e-2, "end": 0.1}}
    (warning,) = api_simulate(load(scenario | {"body": [body]})).warnings
    assert "reaches 1e+17 m, where float64 counts by 22.2 m, and moves by at most 0.01 m" in warning


TOO_FAST = {
    "space": {"inertia": [0.01, 0.01, 0.002], "joint": "spherical"}
    | {"q": [0.2, 0.0, 0.0, 0.98], "qd": [0.0, 0.0, 2e4]},
    "plane": {"inertia": 0.01, "qd": 1e9, "spring": 1e6},
}


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("simulate", [simulate, native_runs.simulate])
@pytest.mark.parametrize("case", TOO_FAST)
def test_a_step_that_diverges_is_not_said_to_be_singular(case, simulate, arithmetic):
    """The state before it is finite, those between it and the next are not."""
    gravity = [0.0, 0.0, -9.81][-2 if case == "plane" else -3 :]
    places = {name: [0.0] * (len(gravity) - 1) + [0.3] for name in ("com", "tip")}
    body = {"mass": 1.0} | places | TOO_FAST[case]
    time = {"step": 1e-3, "end": 1.0, "integrator": "rk4"}
    scenario = load({"name": "fast", "gravity": gravity, "time": time, "body": [body]})
    with pytest.raises(NonFiniteError, match=r"step \d+: result is not finite$"):
        simulate(scenario, arithmetic)


@pytest.mark.usefixtures("unlent")
def test_an_adaptive_run_watches_the_pin_on_the_ground():
    point = dataclasses.replace(pin_on_the_ground(1e-16), integrator="RK45")
    with pytest.raises(SingularError, match="joint matrix .* too much for float64"):
        simulate(point)


@pytest.mark.parametrize(
    ("speed", "warns"),
    [(10.0, {}), (20.0, {"float64": "1.6e-13"}), (400.0, dict.fromkeys(ARITHMETICS, "2.4e-02"))],
)
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.usefixtures("unwritten")
def test_a_spring_far_from_its_natural_length_warns(tmp_path, capsys, arithmetic, speed, warns):
    """Within 16 of its natural lengths, somewhat beyond, where only float64 sees it, and far."""
    body = {"joint": "prismatic", "axis": [1.0, 0.0], "attach": [1.5, 0.0], "qd": speed}
    body |= {"mass": 1.0, "inertia": 1.0, "com": [0.0, 0.0], "tip": [0.0, 0.0]}
    ends = {"body": 0, "point": [0.0, 0.0], "to": "ground", "at": [0.0, 0.0]}
    spring = ends | {"length": 0.1, "stiffness": 1e-3}
    time = {"step": 1e-3, "end": 0.01 if speed < 100.0 else 0.025}
    data = {"name": "s", "gravity": [0.0, 0.0], "time": time, "body": [body], "spring": [spring]}
    assert finished(load(data), arithmetic, tmp_path)[1] == 0
    said = capsys.readouterr().err
    if arithmetic not in warns:
        assert not said
        return
    reached = 1.5 + speed * time["end"]
    assert said == (
        f"<scenario>: warning: spring[0] is {reached:.3g} m long at t = {time['end']:g} s, too far "
        "from its natural 0.1 m: the length that its force is computed from is off by "
        f"{warns[arithmetic]} of it\n"
    )


def sprung_slider(**time):
    """It passes the ground's end of its spring, 1 m long when slack, at a distance of 1 mm."""
    body = {"joint": "prismatic", "axis": [1.0, 0.0], "q": 0.1, "qd": -1.5}
    body |= {"mass": 1.0, "inertia": 1.0, "com": [0.0, 0.0], "tip": [0.0, 0.0]}
    spring = {"body": 0, "point": [0.0, 0.001], "to": -1, "at": [0.0, 0.0]}
    spring |= {"stiffness": 2.0, "length": 1.0, "damping": 3.0}
    time = {"step": 2e-5, "end": 0.2, "integrator": "rk4"} | time
    data = {"name": "s", "gravity": [0.0, 0.0], "time": time, "body": [body], "spring": [spring]}
    return load(data)


def test_a_spring_warns_of_steps_that_are_not_kept():
    runs = {save: native_runs.simulate(sprung_slider(save=save)) for save in (1, 7, 10_000)}
    said = [warnings_of(sprung_slider(), run, "float64") for run in runs.values()]
    assert said == [said[0]] * 3 and len(said[0]) == 1
    assert "spring[0] is 0.001 m long at t = " in said[0][0] and "off by 3.0e+00" in said[0][0]
    lengths = spring_lengths(sprung_slider(), runs[1].q)[:, 0]
    step = int(lengths.argmin())
    assert [run.spring_lengths for run in runs.values()] == [[[0, lengths[step], step * 2e-5]]] * 3


@pytest.mark.parametrize("steps", [1, 100])
@pytest.mark.nightly("100")
def test_the_model_looks_at_springs_of_all_steps(monkeypatch, steps):
    """Together with others, or alone; so does native code, of many systems at once, too."""
    monkeypatch.setattr(recorder, "STEPS_AT_ONCE", steps)
    scenarios = [sprung_slider(step=1e-3, save=save, end=0.15) for save in (1, 50, 150)]
    found = [simulate(scenario).spring_lengths for scenario in scenarios]
    found += [run.spring_lengths for run in native_runs.simulate_many(scenarios[:1] * 2)]
    ((number, length, time),) = found[0]
    assert number == 0 and length < 1 / 16 and 0.0 < time < 0.15
    assert found == [[[0, length, time]]] * 5


def test_no_step_has_no_springs_to_look_at(monkeypatch):
    """Native code goes no step where the first one of a chunk is wrong."""
    monkeypatch.setattr(recorder, "STEPS_AT_ONCE", 1)
    found = recorder.Recorder(sprung_slider(), Float64())
    for steps in (1, 0):
        found.extend(*(np.ones((steps, 1)),) * 3)
    ((_, length, time),) = found.trajectory().spring_lengths
    assert (length, time) == (math.hypot(1.0, 0.001), 0.0)


def test_the_results_of_an_engine_and_an_adaptive_integrator_are_looked_at():
    scenario = sprung_slider(step=1e-3, end=0.15, integrator="euler", save=5)
    engine = engine_runs.simulate(Machine(), scenario)
    adaptive = simulate(sprung_slider(step=1e-3, end=0.15, integrator="RK45", save=5))
    for run in (engine, adaptive):
        lengths = spring_lengths(scenario, run.q)[:, 0]
        row = int(lengths.argmin())
        assert run.spring_lengths == [[0, lengths[row], row * 5 * 1e-3]]


@pytest.mark.parametrize("inertia", [[1.0, 2.0, 3.02], [1.0, 2.0, 3.04]])
@pytest.mark.usefixtures("unwritten")
def test_an_inertia_that_no_body_has_warns(tmp_path, capsys, inertia):
    body = {"mass": 1.0, "inertia": inertia, "com": [0.1, 0.0, 0.0], "tip": [1.0, 0.0, 0.0]}
    body |= {"name": "bar", "axis": [0.0, 1.0, 0.0]}
    time = {"step": 1e-3, "end": 1e-3}
    data = {"name": "s", "gravity": [0.0, 0.0, -9.81], "time": time, "body": [body]}
    assert finished(load(data), "float64", tmp_path)[1] == 0
    said = "body[0] (bar): no body has this inertia: a principal moment is beyond the sum of the "
    warning = f"<scenario>: warning: {said}others, 3.04 > 1 + 2 kg m^2\n"
    assert capsys.readouterr().err == (warning if inertia[2] > 3.03 else "")


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.nightly("bennett", "five_bar", "tree")
def test_shipped_scenarios_do_not_warn(name):
    """Native code notes the model's conditions, which test_native_runs compares."""
    scenario = load(SCENARIOS / f"{name}.toml")
    run = with_loss(scenario, native_runs.simulate(scenario))
    assert run.loss * BitExact().unit_roundoff < LOSS_WARNING / 2
    assert not warnings_of(scenario, run, "float32")
    assert run.joint_condition < 40 < ORDINARY_JOINT  # as docs/theory.md says
    assert run.joint_condition**2 * BitExact().unit_roundoff < JOINT_WARNING / 100
    assert run.joint_condition_time <= run.t[-1]


@pytest.mark.parametrize(("inertia", "status"), [(4e-6, 0), (1e-8, 1)])
@pytest.mark.usefixtures("unlent")
def test_hardware_is_watched_by_its_twin(tmp_path, capsys, inertia, status):
    scenario = near_points(inertia)
    limited = simulate(scenario, BitExact(fold=True), limit=math.inf)
    unwatched = dataclasses.replace(limited, joint_condition=None, joint_condition_time=None)
    run = FinishedRun(scenario, unwatched, None, "step", "float32", {}, HARDWARE)
    summary, got = session.finish(run, tmp_path, with_reference=False)
    assert got == status and summary["joint_condition_max"] > 1e4
    assert summary["loss_max"] > 1e5
    assert "rounding is magnified" in capsys.readouterr().err


def test_rounding_above_a_share_of_the_energy_warns(tmp_path, capsys):
    scenario = load(SCENARIOS / "double_pendulum.toml", steps=200)
    summary, status = finished(scenario, "5/5", tmp_path)
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert status == 0 and summary["kinetic_rounding_max_J"] > 0
    assert "warning: rounding reaches" in line and "more than 1% of the motion's energy" in line
    finished(scenario, "float32", tmp_path)
    assert not capsys.readouterr().err


def test_a_mechanism_at_rest_does_not_warn_of_its_rounding(tmp_path, capsys):
    scenario = near_points(0.01, q=-math.pi / 2)
    finished(scenario, "float32", tmp_path)
    assert not capsys.readouterr().err


def test_watching_changes_no_result_and_no_flag():
    """The observer computes in float64: same bits, same flags."""
    scenario = load(SCENARIOS / "tree.toml", steps=5)
    exact, watched = BitExact(), simulate(scenario, "float32")
    unwatched = simulate(scenario, exact, limit=math.inf)
    for name, column in watched.columns().items():
        assert column.tobytes() == unwatched.columns()[name].tobytes()
    assert watched.flags == exact.flags


@pytest.mark.parametrize("angles", [(2e5, 0.0), (1e5, 5e4)])
def test_an_angle_beyond_the_sine_is_named(tmp_path, capsys, angles):
    scenario = near_points(0.01, q=angles[0])
    bodies = (scenario.bodies[0], dataclasses.replace(scenario.bodies[1], q=angles[1], name="rod"))
    scenario = dataclasses.replace(scenario, bodies=bodies)
    body = "body[1] (rod)" if angles[1] else "body[0]"
    said = f"{body}: its angle, the sum of the joint angles up to it, is "
    said += f"{sum(angles):.0f} rad"
    assert finished(scenario, "float32", tmp_path) == (None, 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert f"step 0: {said}" in line and "sine and cosine end at 2^17 = 131072 rad" in line
    assert len(simulate(scenario, Float64())) == 21
    for run in (simulate, native_runs.simulate):
        with pytest.raises(NonFiniteError, match=rf"step 0: {re.escape(said)}"):
            run(scenario, "float32")

    machine = engine_runs.fitting(Machine.parse("2+2"), [scenario])
    ((trajectory, stopped),), twin = engine_runs.prepare(machine, [scenario]).on_twin()
    assert twin.stopped
    assert trajectory is None
    assert f"step 0: a result is infinite or not a number: {said}" in stopped


@pytest.mark.filterwarnings("error")
def test_a_mechanism_beyond_float64_ends_in_one_line(tmp_path, capsys):
    scenario = near_points(1.0, tip=(1.7e308, 1.7e308), qd=1e200)
    assert finished(scenario, "float64", tmp_path) == (None, 1)
    assert len(capsys.readouterr().err.splitlines()) == 1
