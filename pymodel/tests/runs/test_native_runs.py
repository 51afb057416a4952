"""Native runs are the model's: trajectories, flags, conditions, and how they break off."""

import dataclasses

import numpy as np
import pytest

from pymodel.algorithms.conditions import eta_condition, joint_condition
from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import SingularError, joint_matrix, serve
from pymodel.algorithms.step import Rates, prepare, rates
from pymodel.arith.float_units import evaluate
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.graph import RecordingError
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, native_runs, session
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

STEPS = 150
NOTED = ("flags", "condition", "condition_time", "joint_condition", "joint_condition_time")
NOTED += ("spring_lengths",)


def shipped(name, steps=STEPS, **changes):
    return dataclasses.replace(load(SCENARIOS / f"{name}.toml", steps=steps), **changes)


def outcome(run, *arguments, **options):
    """A trajectory, and why it ended early."""
    try:
        return run(*arguments, **options), None
    except ArithmeticError as error:
        return error.trajectory, (type(error), str(error))


def check(*arguments, **options):
    (want, why), (found, reason) = (
        outcome(run, *arguments, **options) for run in (simulate, native_runs.simulate)
    )
    assert reason == why
    assert (found is None) == (want is None)
    if want is not None:
        for name, column in want.columns().items():
            got = found.columns()[name]
            assert np.array_equal(got.view(np.uint64), column.view(np.uint64)), name
        assert [getattr(found, name) for name in NOTED] == [getattr(want, name) for name in NOTED]
    return why


@pytest.mark.parametrize("arithmetic", ["float32", "float64", "5/10"])
@pytest.mark.parametrize("name", ["double_pendulum", "tree", "four_bar"])
def test_trajectories(name, arithmetic):
    assert check(shipped(name), arithmetic) is None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("four_bar", {"base": "blocks", "rebase": 7}),
        ("coupled_loops", {"rebase": 1}),
        ("chain_8", {"shape": "left"}),
    ],
)
def test_options(name, options):
    assert check(shipped(name), "float32", **options) is None


def test_steps_that_are_not_kept():
    assert check(shipped("double_pendulum", save=7, integrator="rk4"), "float32") is None


def test_implicit_midpoint():
    loops = shipped("coupled_loops", steps=50, integrator="implicit-midpoint")
    assert check(loops, "float32", rebase=3) is None


def test_chunks(monkeypatch):
    monkeypatch.setattr(native_runs, "CHUNK", 1000)
    assert check(shipped("four_bar", save=4), "float32", rebase=3) is None


def test_a_run_that_explodes():
    scenario = shipped("double_pendulum")
    stiff = [dataclasses.replace(body, spring=1e9) for body in scenario.bodies]
    why = check(dataclasses.replace(scenario, bodies=tuple(stiff)), "float32")
    assert why is not None


@pytest.mark.parametrize("limit", [1.5, 4.05])
def test_a_joint_matrix_beyond_the_limit(limit):
    check(shipped("double_pendulum"), "float64", limit=limit)


def test_an_angle_that_is_too_large():
    scenario = shipped("double_pendulum")
    fast = dataclasses.replace(scenario.bodies[0], q=131000.0, qd=1e5)
    scenario = dataclasses.replace(scenario, bodies=(fast, *scenario.bodies[1:]), step=1e-3)
    _, reason = check(scenario, "float32")
    assert "sine and cosine end at 2^17" in reason


def test_an_angle_of_a_formula_that_is_too_large():
    scenario = shipped("double_pendulum")
    driven = dataclasses.replace(scenario.bodies[1], torque="cos(2 + sin(-2e7*t)) - t")
    scenario = dataclasses.replace(scenario, bodies=(scenario.bodies[0], driven), step=1e-3)
    _, reason = check(scenario, "float32")
    assert reason.endswith(
        "step 8: result is not finite: body[1].torque: an angle of its formula is 180000 rad; "
        "sine and cosine end at 2^17 = 131072 rad"
    )


@pytest.mark.nightly
def test_a_singular_posture():
    """The rhombus with gravity along -y goes flat."""
    scenario = shipped("four_bar", steps=2800, gravity=(0.0, -9.80665))
    kind, _ = check(scenario, "8/12")
    assert kind is SingularError


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_the_engine_has_the_same_bits(name):
    """With what is zero by structure folded, as in the engine's program."""
    scenario = shipped(name)
    machine = engine_runs.fitting(Machine(), [scenario])
    prepared = engine_runs.prepare(machine, [scenario])
    ((want, _),), twin = prepared.on_twin()
    assert bool(prepared.every) == bool(scenario.loops), "it projects"
    found = native_runs.simulate(scenario, BitExact(fold=True), project=prepared.every)
    for column in ("q", "qd", "p"):
        got = getattr(found, column)
        assert np.array_equal(got.view(np.uint64), getattr(want, column).view(np.uint64)), column
    assert found.flags == twin.flags


def test_pivots_cannot_be_recorded():
    with pytest.raises(RecordingError, match="choose an algorithm without pivoting"):
        native_runs.simulate(shipped("four_bar"), "float32", base="ldup")


def test_the_fastest_way(monkeypatch):
    """Long runs are native, if that is possible; short ones and those with pivots are not."""
    ran = []
    for module, word in ((native_runs, "native"), (native_runs.model, "model")):
        whole = module.simulate
        monkeypatch.setattr(
            module, "simulate", lambda *a, w=word, f=whole, **o: ran.append(w) or f(*a, **o)
        )
    monkeypatch.setattr(native_runs, "WORTH_BUILDING", 20)
    native_runs.fastest(shipped("four_bar", steps=20))
    native_runs.fastest(shipped("four_bar", steps=19))
    native_runs.fastest(shipped("four_bar", steps=20), "float32", base="ldup")
    native_runs.fastest(shipped("double_pendulum", steps=20), "11/52")
    assert ran == ["native", "model", "model", "model"]
    monkeypatch.setattr(native, "build", lambda *a, **o: no_compiler())
    monkeypatch.setattr(native_runs, "_BUILT", {})
    native_runs.fastest(shipped("four_bar", steps=20))
    assert ran[4:] == ["native", "model"]
    monkeypatch.setattr(native_runs, "watched_step", too_many)
    native_runs.fastest(shipped("four_bar", steps=20))
    assert ran[6:] == ["native", "model"]


def too_many(*_, **options):
    raise TooManyOperationsError("step of it: about 3e6 operations")


def other(scenario):
    """The same wiring with other numbers, zeros among them, at another state."""
    bodies = list(scenario.bodies)
    bodies[0] = dataclasses.replace(bodies[0], mass=2.5, com=(0.1, 0.0), q=0.3, qd=-0.7)
    return dataclasses.replace(
        scenario, bodies=tuple(bodies), name="other", end=30 * scenario.step, step=scenario.step / 2
    )


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_a_second_run_of_the_same_wiring_builds_nothing(monkeypatch, arithmetic):
    monkeypatch.setattr(native_runs, "_BUILT", {})
    first = shipped("tree", steps=20)
    native_runs.simulate(first, arithmetic)
    monkeypatch.setattr(native, "build", lambda *a, **o: no_compiler())
    assert check(other(first), arithmetic) is None
    assert check(first, arithmetic) is None
    with pytest.raises(native.NoCompilerError):
        native_runs.simulate(dataclasses.replace(first, integrator="rk4"), arithmetic)
    with pytest.raises(native.NoCompilerError):
        native_runs.simulate(shipped("double_pendulum", steps=20), arithmetic)


def test_in_space_other_numbers_are_built_anew(monkeypatch):
    """There the text of a step depends on them; states and the length of the run are free."""
    monkeypatch.setattr(native_runs, "_BUILT", {})
    first = shipped("bennett", steps=20)
    native_runs.simulate(first)
    built = []
    whole = native.build
    monkeypatch.setattr(native, "build", lambda *a, **o: built.append(1) or whole(*a, **o))
    assert check(dataclasses.replace(first, end=5 * first.step)) is None
    assert not built
    assert check(dataclasses.replace(first, gravity=(0.0, 0.0, -1.0))) is None
    assert len(built) == 1


def test_few_built_steps_are_kept(monkeypatch):
    monkeypatch.setattr(native_runs, "_BUILT", {})
    monkeypatch.setattr(native_runs, "KEPT", 1)
    for name in ("double_pendulum", "tree"):
        native_runs.simulate(shipped(name, steps=5))
        (text,) = native_runs._BUILT
    monkeypatch.setattr(native_runs, "MOST_KEPT", 1)
    native_runs.simulate(shipped("double_pendulum", steps=5))
    assert list(native_runs._BUILT) == [text]


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_a_run_of_euler_steps_needs_no_model(monkeypatch, arithmetic):
    """The rates at its end are those that one more step begins with."""
    scenario = shipped("tree", steps=20, integrator="euler")
    want = simulate(scenario, arithmetic)
    monkeypatch.setattr(native_runs, "completed", None)
    found = native_runs.simulate(scenario, arithmetic)
    assert found == want
    many = native_runs.simulate_many([scenario, scenario], arithmetic)
    assert many == [want, want]


def test_a_last_step_that_fails_is_the_models():
    """Its rates are right, but the next state, which nobody wants, is not finite."""
    scenario = shipped("double_pendulum", steps=3, integrator="euler")
    heavy = [dataclasses.replace(body, torque=1e30) for body in scenario.bodies]
    scenario = dataclasses.replace(scenario, bodies=tuple(heavy))
    for steps in (1, 2, 3):
        check(dataclasses.replace(scenario, end=steps * scenario.step), "float32")
        check(dataclasses.replace(scenario, end=steps * scenario.step), "5/10")


def no_compiler():
    raise native.NoCompilerError("no C compiler (cc): install gcc, or set CC")


def test_target_native(monkeypatch, tmp_path, capsys):
    scenario = shipped("double_pendulum", steps=20)
    summary, status = session.run_model(
        scenario, "float32", tmp_path, target="native", with_reference=False
    )
    assert (summary["target"], status) == ("native", session.DONE)
    monkeypatch.setattr(native, "build", lambda *a, **o: no_compiler())
    monkeypatch.setattr(native_runs, "_BUILT", {})
    summary, status = session.run_model(
        scenario, "float32", tmp_path, target="native", with_reference=False
    )
    assert (summary["target"], status) == ("model", session.DONE)
    assert "install gcc, or set CC; running on the model instead" in capsys.readouterr().err


def variations(name, count, seed, **changes):
    """A scenario with other masses and momenta; every fourth one with another structure."""
    rng, scenario = np.random.default_rng(seed), shipped(name, steps=40, **changes)
    found = []
    for k in range(count):
        bodies = [
            dataclasses.replace(body, mass=body.mass * rng.uniform(0.5, 2), torque=rng.normal())
            for body in scenario.bodies
        ]
        save = 3 if k % 4 == 3 else 1
        found.append(dataclasses.replace(scenario, bodies=tuple(bodies), save=save))
    return found


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), [("tree", {}), ("four_bar", {"rebase": 3})])
@pytest.mark.nightly("tree-options0-float32", "four_bar-options1-float64")
def test_many_at_once(monkeypatch, name, options, arithmetic):
    monkeypatch.setattr(native_runs, "CHUNK", 20_000)
    scenarios = variations(name, 21, seed=1)
    stiff = [dataclasses.replace(body, spring=1e12) for body in scenarios[5].bodies]
    scenarios[5] = dataclasses.replace(scenarios[5], bodies=tuple(stiff))
    many = native_runs.simulate_many(scenarios, arithmetic, **options)
    assert isinstance(many[5], ArithmeticError)
    for k, found in enumerate(many):
        want, why = outcome(simulate, scenarios[k], arithmetic, **options)
        if why:
            assert (type(found), str(found)) == why
            continue
        for column, expected in want.columns().items():
            got = found.columns()[column]
            assert np.array_equal(got.view(np.uint64), expected.view(np.uint64)), (k, column)
        assert [getattr(found, x) for x in NOTED] == [getattr(want, x) for x in NOTED], k


@pytest.mark.parametrize("shape", ["left", "right"])
@pytest.mark.nightly
def test_systems_of_any_depth_run_at_once(shape):
    """Whether two have the same structure is asked without going down their trees."""
    pendulum = shipped("double_pendulum")
    links = [dataclasses.replace(pendulum.bodies[1], parent=k - 1) for k in range(1200)]
    scenario = dataclasses.replace(pendulum, bodies=tuple(links))
    other = dataclasses.replace(scenario, save=2)
    grouped = native_runs._several([scenario, other, scenario], "float64", 1e30, {"shape": shape})
    assert [[x.number for x in group.systems] for group in grouped] == [[0, 2], [1]]


class Units:
    """The arithmetic of many evaluations at once by the float units' operations, flags included."""

    name = "float32"

    def __init__(self):
        self.flags = 0

    def array(self, x):
        """Of floats that binary32 has."""
        bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
        return Bits(self, np.atleast_1d(bits))

    def const(self, x):
        return Bits(self, np.array([BINARY32.from_float(float(x))], np.uint64))

    def parameter(self, name, x):
        return self.const(x)

    structural = parameter

    def operation(self, name, *operands):
        bits = np.broadcast_arrays(*(operand.bits for operand in operands))
        *results, flags = evaluate(BINARY32, name, *bits)
        self.flags |= int(np.bitwise_or.reduce(flags))
        return [Bits(self, result) for result in results]

    def recip(self, x):
        return self.operation("recip", x)[0]

    def sincos(self, x):
        return tuple(self.operation("sincos", x))

    def is_zero(self, x):
        return bool((x.floats == 0.0).any())

    def is_finite(self, x):
        return bool(np.isfinite(x.floats).all())


class Bits:
    def __init__(self, arithmetic, bits):
        self.arithmetic, self.bits = arithmetic, bits

    @property
    def floats(self):
        return self.bits.astype(np.uint32).view(np.float32).astype(float)

    def __add__(self, other):
        return self.arithmetic.operation("add", self, other)[0]

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        return self.arithmetic.operation("mul", self, other)[0]

    def __neg__(self):
        return Bits(self.arithmetic, self.bits ^ np.uint64(BINARY32.sign_mask))


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_the_whole_motion_of_the_demos(name):
    """10 000 steps, which the co-simulations compare with native code.

    The model does each of them from where native code begins it, all at once. As the first state is
    the model's, and the next one of each is, so are all.
    """
    scenario, units = load(SCENARIOS / f"{name}.toml"), Units()
    run = native_runs.simulate(scenario, "float32")
    assert len(run) == scenario.steps + 1 == 10_001
    mechanism, joint, eta = prepare(units, scenario), [], []

    def values(vector):
        return np.transpose([np.broadcast_to(x.floats, vector[0].bits.shape) for x in vector])

    def same(found, wanted):
        assert np.array_equal(found.view(np.uint64), wanted.view(np.uint64))

    def watch(request, reply):
        parts = joint_matrix(request, reply)
        if parts is not None:
            floats = [[[x.floats for x in row] for row in part] for part in parts]
            joint[-1].append(joint_condition(scenario, np.sum(floats, axis=0)))

    def served(text, rows):
        q, p = ([units.array(x) for x in table[rows].T] for table in (run.q, run.p))
        joint.append([])
        found = serve(units, text(mechanism, q, p), watch)
        now = found if isinstance(found, Rates) else found[-1]
        same(values(now.q_dot), run.qd[rows])
        same(values(now.p), run.p[rows])
        joint[-1] = np.max(joint[-1], axis=0)
        if now.eta is not None:
            matrices = np.array([[x.floats for x in row] for row in now.eta])
            eta.append(eta_condition(scenario, np.moveaxis(matrices, (0, 1), (-2, -1))))
        return found

    q, p, _ = served(integrate, slice(None, -1))
    served(rates, slice(-1, None))
    for found, wanted, first in zip(
        (q, p), (run.q, run.p), mechanism.initial_state(scenario), strict=True
    ):
        same(values(first), wanted[:1])
        same(values(found), wanted[1:])
    assert units.flags == run.flags
    for kind, found in (("joint_condition", joint), ("condition", eta)):
        column = np.concatenate(found) if found else None
        worst = None if column is None else column.max()
        at = None if column is None else column.argmax() * scenario.step
        assert (getattr(run, kind), getattr(run, f"{kind}_time")) == (worst, at)
