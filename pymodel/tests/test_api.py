"""The public names of the package, and what they are good for beyond their modules' tests."""

import dataclasses
import inspect
import io
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import pymodel
from pymodel.app.command import main
from pymodel.mechanism.kinematics import loop_tilt, point_position
from pymodel.tests.places import ROOT, SCENARIOS

pytestmark = pytest.mark.reads("docs")

PAGE = (ROOT / "docs" / "python_api.md").read_text()
DOUBLE_PENDULUM = SCENARIOS / "double_pendulum.toml"


def three(arithmetic, values):
    a, b, c = (values[name] for name in "abc")
    return {"product": a * b, "sum": a * b + c, "reciprocal": arithmetic.recip(a + c)}


@pytest.mark.parametrize("name", pymodel.__all__)
def test_public_name(name):
    thing = getattr(pymodel, name)
    assert thing.__doc__ and name in dir(pymodel)
    if inspect.isfunction(thing):
        assert "Parameters" in thing.__doc__
        assert thing.__annotations__.keys() == {*inspect.signature(thing).parameters, "return"}
    if inspect.isclass(thing) and issubclass(thing, Exception):
        assert issubclass(thing, pymodel.Error)


@pytest.mark.parametrize("name", [n for n in pymodel.__all__ if n.endswith("Error")])
def test_an_exception_passes_between_processes(name):
    """One that cannot be read back lets a multiprocessing.Pool wait for ever."""
    kind = getattr(pymodel, name)
    _, *named = inspect.signature(kind.__init__).parameters.values()
    words = [x.name for x in named if x.kind is x.POSITIONAL_OR_KEYWORD]
    error = kind(*(words or ["reason"]))
    error.trajectory = "until then"
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is kind and str(found) == str(error) and vars(found) == vars(error)


@pytest.mark.parametrize("name", [n for n in pymodel.__all__ if n != "Twin"])
def test_public_name_is_on_the_page(name):
    assert re.search(rf"\b{name}\b", PAGE)


def test_names_listed_are_the_public_ones():
    """Also where modules were imported, which Python keeps as names of the package, too."""
    assert "app" in vars(pymodel) and "arith" in vars(pymodel)
    assert dir(pymodel) == sorted(pymodel.__all__)
    assert not [name for name in dir(pymodel) if name.startswith("_")]


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        pymodel.simulat  # noqa: B018, the look-up is the test


def test_the_package_alone_imports_little():
    """Processes that need one module do not load scipy for the others."""
    code = "import sys, pymodel; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_call_with_numbers():
    call = pymodel.prepare_call(pymodel.Machine(), pymodel.record(three, inputs="abc"))
    a = np.array([0.1, 0.2, 0.3])
    found = call.evaluate({"a": a, "b": 3.0, "c": [0.25, 0.5, 1.0]})
    single = np.float32
    want = a.astype(single) * single(3.0)
    np.testing.assert_array_equal(found["product"], want)
    np.testing.assert_array_equal(found["sum"], want + np.array([0.25, 0.5, 1.0], single))
    assert found["reciprocal"].dtype == np.float64 and found["reciprocal"].shape == (3,)
    assert call.evaluate({"a": 1.0, "b": 2.0, "c": 1.0})["sum"].tolist() == [3.0]


def test_calls_with_numbers_that_cannot_be():
    call = pymodel.prepare_call(pymodel.Machine(), pymodel.record(three, inputs="abc"))
    with pytest.raises(ValueError, match="inputs must be a, b, c; missing or unknown: c"):
        call.evaluate({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="shape"):
        call.evaluate({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0], "c": 0.0})
    with pytest.raises(pymodel.NonFiniteError, match="evaluation 1: a result is infinite"):
        call.evaluate({"a": [1.0, 0.0, 1.0], "b": 1.0, "c": 0.0})


def test_other_parameters_in_the_same_program():
    scenario = pymodel.load(DOUBLE_PENDULUM)
    kernel, machine = pymodel.recorded("rates", scenario), pymodel.Machine()
    call = pymodel.prepare_call(machine, kernel)
    heavy = dataclasses.replace(scenario.bodies[1], mass=2.0, com=(0.11, 0.0))
    other = dataclasses.replace(scenario, bodies=(scenario.bodies[0], heavy))
    fresh = pymodel.recorded("rates", other)
    image = call.program.image(kernel.values(machine.fmt, fresh.parameters))
    at = {"q[0]": 0.5, "q[1]": -0.2, "p[0]": 0.3, "p[1]": 0.1}
    found = dataclasses.replace(call, image=image).evaluate(at)
    assert found == pymodel.prepare_call(machine, fresh).evaluate(at) != call.evaluate(at)


def test_parameters_of_another_structure():
    scenario = pymodel.load(DOUBLE_PENDULUM)
    kernel = pymodel.recorded("rates", scenario)
    damped = dataclasses.replace(scenario.bodies[1], damping=0.1)
    other = dataclasses.replace(scenario, bodies=(scenario.bodies[0], damped))
    parameters = pymodel.recorded("rates", other).parameters
    with pytest.raises(ValueError, match=r"missing or unknown: body\[1\].damping"):
        kernel.values(pymodel.Format(8, 23), parameters)
    with pytest.raises(ValueError, match="missing or unknown"):
        kernel.values(pymodel.Format(8, 23), {})


# --- runs and functions on a target ---------------------------------------------------------------


@pytest.fixture(scope="module")
def scenario():
    return pymodel.load(DOUBLE_PENDULUM, steps=20)


CHANGE = {"q": [0.5, -0.2], "qd": np.array([0.0, 1.0]), "mass": 2.0, "damping": [0.0, 0.1]}


@pytest.mark.parametrize("arithmetic", ["float32", "5/10", "float64"])
def test_native_runs_are_the_models(scenario, arithmetic):
    run = pymodel.simulate(scenario, arithmetic, **CHANGE)
    assert run.q[0] == pytest.approx(CHANGE["q"], rel=1e-3)
    native = pymodel.simulate(scenario, arithmetic, target="native", **CHANGE)
    assert pymodel.compare(native, run).identical and native.flags == run.flags


@pytest.mark.parametrize("target", ["native", "step"])
def test_a_compiled_scenario_takes_other_numbers(scenario, target):
    swing = pymodel.compiled(scenario, target, "float32")
    for change in ({}, CHANGE):
        run = pymodel.simulate(scenario, "float32", **change)
        found = swing(**change)
        assert pymodel.compare(found, run).identical and run.flags & ~found.flags == 0


@pytest.mark.parametrize("target", ["native", "step"])
def test_a_compiled_run_that_cannot_go_on(scenario, target):
    swing = pymodel.compiled(scenario, target, "float32")
    with pytest.raises(pymodel.RunError, match="double_pendulum.toml: step ") as caught:
        swing(torque=1e38)
    with pytest.raises(pymodel.RunError) as models:
        pymodel.simulate(scenario, "float32", torque=1e38)
    found, want = caught.value.trajectory, models.value.trajectory
    assert len(found) == len(want) > 0


def test_a_compiled_kernel_on_both_targets(scenario):
    kernel = pymodel.recorded("rates", scenario)
    states = {name: np.linspace(-1.0, 1.0, 9) for name in kernel.inputs} | {"q[0]": 0.3}
    native, step = (pymodel.compiled(kernel, x, "float32")(states) for x in ("native", "step"))
    assert native.keys() == step.keys() == {"qd[0]", "qd[1]", "pd[0]", "pd[1]"}
    for name, values in native.items():
        assert values.dtype == np.float64
        np.testing.assert_array_equal(values, step[name])


@pytest.mark.parametrize("target", ["native", "step"])
def test_a_compiled_function_of_a_robot(target):
    robot = pymodel.load_robot(ROOT / "robots/iiwa14.urdf", arithmetic="float32")
    q, qd, tau = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 2, robot.nv))
    inverse = pymodel.compiled(robot, target, "float32", function="ID")
    np.testing.assert_array_equal(inverse(q, qd, tau), robot.inverse_dynamics(q, qd, tau))


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (("float3",), {}, "arithmetic 'float3': must be float32, float64 or"),
        ((32,), {}, "arithmetic '32': must be"),
        ((), {"target": "step"}, "target 'step': must be one of model, native"),
        ((), {"base": "qr"}, "base: must be one of ldl, blocks, ldup, got 'qr'"),
        ((), {"base": []}, r"base: must be one of ldl, blocks, ldup, got \[\]"),
        ((), {"shape": "x"}, "shape: must be one of balanced, left, right, got 'x'"),
        ((), {"shape": None}, "shape: must be one of balanced, left, right, got None"),
        ((), {"rebase": -1}, "rebase: must be a whole number of 0 to 4294967294, got -1"),
        ((), {"rebase": 2.5}, "rebase: must be a whole number of 0 to 4294967294, got 2.5"),
        ((), {"rebase": "1"}, "rebase: must be a whole number of 0 to 4294967294, got '1'"),
        ((), {"rebase": np.nan}, "rebase: must be a whole number of 0 to 4294967294, got nan"),
        ((), {"rebase": 10**30}, "rebase: must be a whole number of 0 to 4294967294, got 10"),
        ((), {"limit": 0}, "limit: must be a number above 1, got 0"),
        ((), {"limit": 1.0}, "limit: must be a number above 1, got 1.0"),
        ((), {"limit": np.nan}, "limit: must be a number above 1, got nan"),
        ((), {"limit": "x"}, "limit: must be a number above 1, got 'x'"),
        ((), {"bases": "ldl"}, "double_pendulum.toml: bases: unknown key"),
        ((), {"base": "blocks"}, "base: only for a chain of bodies that is closed to the ground"),
        ((), {"rebase": 2}, "rebase: only for a mechanism with loops"),
        ((), {"target": {}}, "target {}: must be one of model, native"),
        ((), {"q": np.zeros(3)}, r"double_pendulum.toml: q: must have the shape \(2,\)"),
        ((), {"mass": [1.0, 0.0]}, r"double_pendulum.toml: body\[1\].mass: must be positive"),
    ],
)
def test_mistakes_of_a_run(scenario, arguments, options, said):
    with pytest.raises(ValueError, match=said) as caught:
        pymodel.simulate(scenario, *arguments, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("target", ["model", "native"])
def test_a_whole_number_may_be_numpys(target):
    closed = pymodel.load(SCENARIOS / "four_bar.toml", steps=4)
    run = pymodel.simulate(closed, target=target, rebase=np.int64(2), limit=np.float32(1e6))
    assert pymodel.compare(run, pymodel.simulate(closed, rebase=2)).identical


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rebase": -1}, "rebase: must be a whole number of 0 to 4294967294, got -1"),
        ({"rebase": 1.5}, "rebase: must be a whole number of 0 to 4294967294, got 1.5"),
        ({"base": "x"}, "base: must be one of ldl, blocks, ldup, got 'x'"),
        ({"base": []}, r"base: must be one of ldl, blocks, ldup, got \[\]"),
        ({"shape": None}, "shape: must be one of balanced, left, right, got None"),
    ],
)
def test_mistakes_of_an_engines_run(options, said):
    closed = pymodel.load(SCENARIOS / "four_bar.toml", steps=4)
    for call in (pymodel.prepare_run, pymodel.fitting):
        with pytest.raises(pymodel.InputError, match=said):
            call(pymodel.Machine(), [closed], **options)


POINT = {"mass": 1.0, "inertia": 1e-4, "com": [0.4, 0.0], "tip": [0.4, 0.0]}
TIME = {"step": 1e-3, "end": 0.4}
NEAR_POINTS = {"name": "p", "gravity": [0.0, -9.81], "time": TIME, "body": [POINT, POINT]}


@pytest.mark.parametrize("target", ["model", "native"])
@pytest.mark.usefixtures("unlent")
@pytest.mark.nightly("native")
@pytest.mark.usefixtures("undrawn")
def test_a_run_that_rounding_has_spoiled_says_so_as_the_command_does(tmp_path, capsys, target):
    path = tmp_path / "p.toml"
    pymodel.write_scenario(path, pymodel.load(NEAR_POINTS))
    points = pymodel.load(path)
    run = pymodel.simulate(points, "float32", target=target)
    digits, rounding = run.warnings
    assert f"magnified {run.loss:.1e} times at t = {run.loss_time:.6g} s" in digits
    assert "in float32 0.5 digits of the velocities are left; float64 keeps 9.2, masses" in digits
    words = ["simulate", str(path), "--target", target, "--no-reference", "--out", str(tmp_path)]
    assert main(words) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert said == [digits, rounding]  # besides what is told of the progress
    assert "rounding reaches" in said[1] and "more than 1% of the motion's energy" in said[1]
    assert dataclasses.replace(run, warnings=()) == run
    assert not pymodel.simulate(points, target=target).warnings


@pytest.mark.usefixtures("unlent")
def test_a_run_that_ends_early_has_its_warnings():
    points = pymodel.load(NEAR_POINTS, steps=10)
    worst = pymodel.simulate(points, "float32").joint_condition  # after some steps
    with pytest.raises(pymodel.SingularError) as caught:
        pymodel.simulate(points, "float32", limit=worst)
    (digits,) = caught.value.trajectory.warnings
    assert "rounding is magnified" in digits


@pytest.mark.parametrize("target", ["model", "native"])
@pytest.mark.nightly("native")
@pytest.mark.usefixtures("undrawn")
def test_a_run_ends_where_an_energy_is_not_finite(tmp_path, capsys, target):
    """As the command's does."""
    bar = {"mass": 1.0, "inertia": 1.0, "com": [0.0, 0.0], "tip": [0.2, 0.0], "qd": 1e160}
    bar = pymodel.load({"name": "f", "gravity": [0.0, 0.0], "time": TIME, "body": [bar]})
    runs = [pymodel.compiled(bar, target="native", arithmetic="float64")]
    for run in (lambda: pymodel.simulate(bar, target=target), *runs):
        with pytest.raises(pymodel.NonFiniteError, match="<scenario>: an energy is not finite"):
            run()
    slider = POINT | {"joint": "prismatic", "axis": [0.0, 1.0]}
    path = tmp_path / "s.toml"
    time = {"step": 0.2, "end": 0.4}
    falling = {"name": "s", "gravity": [0.0, -1e155], "time": time, "body": [slider]}
    pymodel.write_scenario(path, pymodel.load(falling))
    with pytest.raises(pymodel.NonFiniteError) as caught:
        pymodel.simulate(pymodel.load(path), target=target)
    assert caught.value.trajectory.kinetic == [0.0]
    words = ["simulate", str(path), "--target", target, "--no-reference", "--out", str(tmp_path)]
    assert main([*words, "--arith", "float64"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == f"{caught.value}; the run ends there"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base": "blocks"}, "base: only for a chain of bodies that is closed to the ground"),
        ({"rebase": 2}, "rebase: only for a mechanism with loops"),
        ({"shape": "left"}, "shape: only for a mechanism like this of three or more bodies"),
    ],
)
def test_options_that_change_nothing_in_an_engines_run(scenario, options, said):
    machine = pymodel.Machine(depth=2048, program_depth=8192)
    for call in (pymodel.prepare_run, pymodel.fitting):
        with pytest.raises(pymodel.InputError, match=said):
            call(machine, [scenario, scenario], **options)
    if "rebase" in options:  # one of the systems has a use for it
        closed = pymodel.load(SCENARIOS / "four_bar.toml", steps=4)
        pendulum = pymodel.load(DOUBLE_PENDULUM, steps=4)
        systems = [pendulum, pymodel.varied(closed, save=pendulum.save)]
        assert pymodel.prepare_run(machine, systems, **options).every == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": True}, r"body: must be a whole number of 0 to 1, or -1 for the ground, got True"),
        ({"body": -2}, r"body: must be a whole number of 0 to 1, .*, got -2"),
        ({"body": 2}, r"body: must be a whole number of 0 to 1, .*, got 2"),
        ({"body": "bar"}, r"body: must be a whole number of 0 to 1, .*, got 'bar'"),
        ({"body": 1.0}, r"body: must be a whole number of 0 to 1, .*, got 1\.0"),
        ({"point": (0.1, np.nan)}, r"point: must be 2 finite numbers, got \[0\.1, nan\]"),
        ({"point": (0.1, 0.0, 0.0)}, r"point: must be 2 finite numbers, got \[0\.1, 0\.0, 0\.0"),
        ({"point": "tip"}, "point: must be a number, or an array of numbers"),
        ({"q": np.zeros((5, 3))}, r"q: shape \(5, 3\), must end with \(2,\)"),
        ({"q": 0.0}, r"q: shape \(\), must end with \(2,\)"),
        ({"q": "x"}, "q: must be a number, or an array of numbers"),
        ({"scenario": "tree.toml"}, "must be a Scenario, as pymodel.load makes one, got str"),
    ],
)
def test_mistakes_of_places(scenario, change, said):
    given = {"scenario": scenario, "q": np.zeros((5, 2)), "body": 1, "point": (0.1, 0.0)}
    assert point_position(**given).shape == (5, 2)
    assert point_position(**(given | {"body": np.int64(-1)})).tolist() == [[0.1, 0.0]] * 5
    with pytest.raises(pymodel.InputError, match=said) as caught:
        point_position(**(given | change))
    assert "\n" not in str(caught.value)
    if change.keys() <= {"scenario", "q"}:
        arguments = (given | change)["scenario"], (given | change)["q"]
        with pytest.raises(pymodel.InputError, match=said):
            loop_tilt(*arguments)


def test_tilt_of_another_mechanism():
    bennett = pymodel.load(SCENARIOS / "bennett.toml", steps=1)
    with pytest.raises(pymodel.InputError, match=r"q: shape \(7, 2\), must end with \(3,\)"):
        loop_tilt(bennett, np.zeros((7, 2)))


def test_a_run_of_no_scenario():
    with pytest.raises(pymodel.InputError, match=r"a Scenario, as pymodel.load makes one, got str"):
        pymodel.simulate("scenarios/tree.toml")


def test_mistakes_of_compiling(scenario):
    kernel = pymodel.record(three, inputs="abc")
    adaptive = pymodel.varied(scenario, integrator="DOP853")
    robot = pymodel.load_robot(ROOT / "robots/iiwa14.urdf")
    for arguments, options, said in (
        ((scenario, "model"), {}, "target 'model': must be one of native, twin"),
        ((scenario, "step", "float64"), {}, "arithmetic 'float64': the engine has formats up to"),
        ((scenario, "native", "11/52"), {}, "'11/52': native code and the engine have formats up"),
        ((scenario, "native"), {"lanes": "2+2"}, r"lanes '2\+2': only for the target twin"),
        ((scenario, "step"), {"lanes": "2x2"}, "lanes '2x2': must be <adders>"),
        ((scenario,), {"function": "FD"}, "function 'FD': only for a robot"),
        ((robot,), {}, "function: needed for a robot, such as FD"),
        ((robot,), {"function": "F"}, "function 'F': must be one of ID, FD"),
        ((robot,), {"function": ["FD"]}, r"function \['FD'\]: must be one of ID, FD"),
        ((robot,), {"function": "FD", "rebase": 2}, "rebase: only for a scenario"),
        ((kernel,), {"shape": "left"}, "shape: only for a scenario"),
        ((kernel,), {"base": "x"}, "base: only for a scenario"),
        ((12,), {}, "must be a Kernel, a Scenario or a RobotModel, got int"),
        ((scenario, []), {}, r"target \[\]: must be one of native, twin"),
        ((scenario,), {"base": "ldup"}, "base: only for a chain of bodies that is closed"),
        ((scenario,), {"rebase": 3}, "rebase: only for a mechanism with loops"),
        ((adaptive,), {}, "time.integrator: DOP853 chooses its steps"),
        ((scenario,), {"shape": "x"}, "shape: must be one of balanced, left, right, got 'x'"),
        ((scenario,), {"rebase": 1.5}, "rebase: must be a whole number of 0 to 4294967294, got"),
    ):
        with pytest.raises(ValueError, match=said):
            pymodel.compiled(*arguments, **options)
    closed = pymodel.load(SCENARIOS / "four_bar.toml", steps=4)
    with pytest.raises(pymodel.RecordingError, match="base 'ldup': decides on data, as no"):
        pymodel.compiled(closed, base="ldup")


@pytest.mark.parametrize("target", ["native", "step"])
def test_what_a_compiled_kernel_takes(target):
    """Numbers and arrays of one length, by name; none where that is 0."""
    call = pymodel.compiled(pymodel.record(three, inputs="abc"), target)
    assert call({"a": [1.0], "b": [1.0, 2.0], "c": 0.5})["sum"].tolist() == [1.5, 2.5]
    assert call({"a": [], "b": [], "c": 0.5})["sum"].shape == (0,)
    for given, said in (
        ([1.0, 2.0, 3.0], "must be a dict, name -> number, got list"),
        (None, "must be a dict, name -> number, got NoneType"),
        ({1: 2.0, "b": 1.0, "c": 1.0}, "missing or unknown: 1, a"),
        ({"a": np.ones((2, 2)), "b": 1.0, "c": 1.0}, r"\(2, 2\)"),
        ({"a": [[1.0], [1.0, 2.0]], "b": 1.0, "c": 1.0}, "a: must be a number, or an array"),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            call(given)
        assert "\n" not in str(caught.value)


def test_machines_and_kernels_of_another_kind(scenario):
    machine, kernel = pymodel.Machine(), pymodel.record(three, inputs="abc")
    for call, said in (
        (lambda: pymodel.prepare_call(machine, None), "a Kernel, as pymodel.record makes one"),
        (lambda: pymodel.prepare_call(kernel, machine), "a Machine, as pymodel.Machine makes one"),
        (lambda: pymodel.schedule("2+2", kernel), "a Machine, as pymodel.Machine makes one, got s"),
        (lambda: pymodel.schedule(machine, scenario), "a Kernel, as pymodel.record makes one"),
        (lambda: pymodel.Twin(None), "a Machine, as pymodel.Machine makes one, got NoneType"),
        (lambda: pymodel.fitting("4+4", [scenario]), "a Machine, as pymodel.Machine makes one"),
        (lambda: pymodel.prepare_run(machine, scenario), "scenarios: must be a list of one or mo"),
        (lambda: pymodel.prepare_run(machine, []), "scenarios: must be a list of one or more"),
        (lambda: pymodel.fitting(machine, [None]), "a Scenario, as pymodel.load makes one, got No"),
    ):
        with pytest.raises(pymodel.InputError, match=said):
            call()


def test_a_limit_larger_than_any_float(scenario):
    assert len(pymodel.simulate(scenario, limit=10**400)) == len(pymodel.simulate(scenario))


@pytest.mark.parametrize("options", [{"target": "nativ"}, {"arithmetic": "float3"}])
def test_mistakes_of_a_robot_are_told_when_it_is_loaded(options):
    with pytest.raises(pymodel.InputError, match=f"{next(iter(options.values()))}': must be"):
        pymodel.load_robot(ROOT / "robots/iiwa14.urdf", **options)


@pytest.mark.parametrize("t", ["x", [0.0, None], np.ma.array([0.0, 1e-3], mask=[0, 1])])
def test_times_of_a_reference_that_are_no_numbers(scenario, t):
    with pytest.raises(pymodel.InputError, match="^t: (must be a number|has masked entries)"):
        pymodel.reference(scenario, t)


@pytest.mark.filterwarnings("error")
def test_numbers_near_the_end_of_float64_are_told_of_by_the_package_alone(scenario, tmp_path):
    """Not by numpy, whose lines are about the package's inside."""
    run = pymodel.simulate(scenario)
    signs = np.where(np.arange(len(run)) % 2, 1e308, -1e308)
    energies = dataclasses.replace(run, kinetic=signs)
    rates = dataclasses.replace(run, qd=np.stack((signs, -signs), axis=-1))
    other = dataclasses.replace(run, qd=-rates.qd)
    assert pymodel.compare(rates, other).largest("qd") == np.inf
    assert pymodel.differences(rates, other)["qd"]["max"] == np.inf
    assert pymodel.plot(energies, scenario, "conserved", path=tmp_path / "x.png").axes
    for change in ({"mass": 1.7e308}, {"inertia": 1.7e308}):
        with pytest.raises(pymodel.NoReferenceError):
            pymodel.reference(pymodel.varied(scenario, **change))
    for change in ({"rest": 1e200, "spring": 1e200}, {"qd": 1.7e308}):
        with pytest.raises(pymodel.NonFiniteError, match="step 0: a result is infinite"):
            pymodel.compiled(scenario, "step")(**change)


def test_what_a_prompt_shows_is_a_line(scenario):
    closed = pymodel.load(SCENARIOS / "four_bar.toml", steps=100)
    run = pymodel.simulate(closed)
    kernel = pymodel.recorded("rates", scenario)
    call = pymodel.prepare_call(pymodel.Machine(), kernel)
    shown = "<Kernel: 4 inputs, 0 carried, 4 outputs, 15 parameters>"
    program = f"<Program: {len(call.program.words)} words for 2+2 lanes>"
    for thing, text in (
        (run, "<Trajectory: 3 coordinates, 101 rows, t = 0 to 0.01 s>"),
        (run.first(0), "<Trajectory: 3 coordinates, 0 rows>"),
        (pymodel.joint_forces(closed, run), "<JointForces: 4 joints, 101 rows>"),
        (kernel, shown),
        (call.program, program),
        (call, f"<Call: {shown} as {program}>"),
    ):
        assert repr(thing) == text
    found = pymodel.differences(run, run)["q"]
    assert repr(found) == "{'max': 0.0, 'unit': 'rad', 'time_s': 0.0}"


# --- pictures -------------------------------------------------------------------------------------


def test_a_picture_in_an_open_file(scenario):
    file = io.BytesIO()
    pymodel.plot(pymodel.simulate(scenario), scenario, path=file)
    assert file.getvalue().startswith(b"\x89PNG")


def test_pictures(scenario, tmp_path):
    run = pymodel.simulate(scenario)
    for kind in ("overview", "joints", "kinetic_energy", "conserved"):
        path = tmp_path / f"{kind}.png"
        assert pymodel.plot(run, scenario, kind, path=path).axes and path.stat().st_size > 10_000
    assert pymodel.plot(run, kind="joints", reference=pymodel.reference(scenario)).axes


def test_pictures_that_cannot_be(scenario):
    run = pymodel.simulate(scenario)
    other = pymodel.load(SCENARIOS / "four_bar.toml")
    for arguments, said in (
        ((run,), "kind 'overview': needs a scenario"),
        ((run, scenario, "loop"), "kind 'loop': needs a scenario with loops"),
        ((run, scenario, "lop"), "kind 'lop': must be one of joints, kinetic_energy, overview, c"),
        ((run, scenario, []), r"kind \[\]: must be one of joints, kinetic_energy, overview"),
        ((run, other), "four_bar.toml: 3 coordinates, the trajectory has 2"),
        ((run, "tree"), "must be a Scenario, as pymodel.load makes one, got str"),
        (("run.csv", scenario), "must be a Trajectory, as pymodel.simulate makes one, got str"),
        (("run.csv", None, "joints"), "must be a Trajectory, as pymodel.simulate makes one, got s"),
        ((run.first(0), scenario), "a trajectory of no rows cannot be drawn"),
        ((run.first(0), scenario, "conserved"), "a trajectory of no rows cannot be drawn"),
    ):
        with pytest.raises(pymodel.InputError, match=said):
            pymodel.plot(*arguments)


@pytest.mark.nightly
def test_companions_of_a_picture(scenario):
    """A reference may end early; otherwise it and the twin are at the times of the run."""
    run, twin = pymodel.simulate(scenario), pymodel.simulate(scenario)
    other = pymodel.simulate(pymodel.varied(scenario, step=2e-4))
    closed = pymodel.simulate(pymodel.load(SCENARIOS / "four_bar.toml", 20))
    for kind in ("overview", "kinetic_energy", "joints"):
        for count in (0, 5):
            assert pymodel.plot(run, scenario, kind, reference=run.first(count), twin=twin)
        for companion, said in (
            ({"reference": other}, "reference: not at the times of the trajectory"),
            ({"twin": other}, "twin: not at the times of the trajectory"),
            ({"twin": run.first(5)}, "twin: not at the times of the trajectory"),
            ({"twin": closed}, "runs of 2 coordinates and 3 coordinates cannot be compared"),
            ({"reference": closed}, "runs of 2 coordinates and 3 coordinates cannot be compared"),
            ({"twin": "x"}, "must be a Trajectory, as pymodel.simulate makes one, got str"),
        ):
            with pytest.raises(pymodel.InputError, match=said):
                pymodel.plot(run, scenario, kind, **companion)


def test_differences_of_other_times(scenario):
    run = pymodel.simulate(scenario)
    with pytest.raises(pymodel.TrajectoryError, match="not at the same times"):
        pymodel.differences(run.first(5), run)


def test_differences_that_cannot_be(scenario):
    run = pymodel.simulate(scenario)
    closed = pymodel.simulate(pymodel.load(SCENARIOS / "four_bar.toml", 20))
    for arguments, said in (
        ((run, closed), "runs of 2 coordinates and 3 coordinates cannot be compared"),
        ((run, None), "must be a Trajectory, as pymodel.simulate makes one, got NoneType"),
        ((None, run), "must be a Trajectory, as pymodel.simulate makes one, got NoneType"),
        ((run.first(0), run.first(0)), "a trajectory of no rows has no differences"),
    ):
        with pytest.raises(pymodel.InputError, match=said):
            pymodel.differences(*arguments)


# --- arguments that are nothing of the kind -------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s, run: pymodel.read_csv(None), "path: must be that of a file, got None"),
        (lambda s, run: pymodel.write_csv(None, run), "path: must be that of a file, got None"),
        (lambda s, run: pymodel.write_scenario(None, s), "path: must be that of a file, got None"),
        (lambda s, run: pymodel.load_robot(None), "path: must be that of a file, got None"),
        (lambda s, run: pymodel.animate(run, s, None), "path: must be that of a file, got None"),
        (lambda s, run: pymodel.simulate(s, progress=5), "progress: must be a function, got 5"),
        (
            lambda s, run: pymodel.sweep(DOUBLE_PENDULUM, {"body[0].mass": [1.0]}, progress=5),
            "progress: must be a function, got 5",
        ),
        (
            lambda s, run: pymodel.sweep(DOUBLE_PENDULUM, {"body[0].mass": [[1.0, 2.0]]}),
            r"body\[0\].mass: must be one sequence of values, got \(1, 2\)",
        ),
        (lambda s, run: run.first(-1), "count: must be a whole number of 0 or more, got -1"),
        (lambda s, run: run.first(1.5), "count: must be a whole number of 0 or more, got 1.5"),
        (
            lambda s, run: pymodel.Format(8, 23).from_float("a"),
            "must be a number that float64 holds, got 'a'",
        ),
        (
            lambda s, run: pymodel.Format(8, 23).from_float(10**400),
            "must be a number that float64 holds, got 1000",
        ),
        (
            lambda s, run: pymodel.Machine().holding([]),
            "must be a Program, as pymodel.schedule makes one, got list",
        ),
        (
            lambda s, run: pymodel.Twin(pymodel.Machine()).run(None, 1),
            "must be a Program, as pymodel.schedule makes one, got NoneType",
        ),
        (
            lambda s, run: pymodel.Twin(pymodel.Machine()).read(None),
            "must be the Location of a register, got None",
        ),
        (
            lambda s, run: pymodel.Twin(pymodel.Machine()).load(None),
            "registers: must be a dict, Location -> bits, got NoneType",
        ),
        (
            lambda s, run: pymodel.Twin(pymodel.Machine()).load({"a": 1}),
            "must be the Location of a register, got 'a'",
        ),
        (
            lambda s, run: pymodel.record(three, inputs="abc").evaluate(None, {}),
            "arithmetic: must be an arithmetic of pymodel.arith.scalars, got None",
        ),
        (
            lambda s, run: pymodel.record(lambda a, v: {"y": a.parameter("m", "q")}, inputs="a"),
            "parameter 'm': must be a number",
        ),
    ],
)
def test_arguments_of_another_kind(scenario, call, said):
    with pytest.raises(ValueError, match=said) as caught:
        call(scenario, pymodel.simulate(scenario))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["steps", "every", "save"])
def test_a_twin_runs_no_negative_steps(scenario, option):
    kernel = pymodel.recorded("step", scenario)
    machine = pymodel.fitting(pymodel.Machine(), [scenario])
    program = pymodel.schedule(machine, kernel)
    with pytest.raises(ValueError, match=f"{option}: must be 0 or more, got -1"):
        pymodel.Twin(machine).run(program, **{"steps": 1} | {option: -1})
