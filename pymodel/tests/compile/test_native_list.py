"""Kernels that are read as lists, and chains of them: the bits and flags of the model."""

import re

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import force_columns
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64Arrays
from pymodel.compile import native, native_list, recording_limit, robot_kernels
from pymodel.compile.chains import Chain, Part, Stage
from pymodel.compile.kernel import Slot, record
from pymodel.compile.native import HERE
from pymodel.compile.native_chain import SYSTEMS, NativeChain
from pymodel.compile.operation_list import OPERATIONS, listed
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.runs import robot_calls
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_calls import random_states
from pymodel.tests.places import ROOT
from pymodel.tests.recordings import random_kernel
from pymodel.tests.robots import ROBOTS
from pymodel.tests.trees import random_robot

FORMATS = [BINARY32, Format(8, 17), Format(5, 10)]
CORNERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, 3e4)


def test_the_reader_knows_the_operations_in_this_order():
    (names,) = re.findall(r"enum \{ (SUM.*?) \}", (HERE / "native_list.c").read_text(), re.DOTALL)
    words = [name.lower().replace("_", " ") for name in re.split(r",\s+", names)]
    assert words == [name.replace(",", "") for name in OPERATIONS]


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_any_kernel(fmt, seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, carried=0, inputs=4, size=120)
    built = native_list.build(kernel, BitExact(fmt), flags=True)
    rows = [rng.choice(CORNERS, 4), *rng.normal(size=(2 * built.lanes, 4))]
    given = dict(zip(kernel.inputs, np.transpose(rows), strict=True))
    found, flags = built.evaluate_with_flags(given)
    raised = 0
    for k, row in enumerate(rows):
        exact = BitExact(fmt)
        numbers = map(exact.const, row.tolist())
        want = kernel.evaluate(exact, dict(zip(kernel.inputs, numbers, strict=True)))
        raised |= exact.flags
        for name, x in want.items():
            here = float(found[name][k])
            assert (fmt.from_float(here), np.signbit(here)) == (
                x.bits,
                bool(x.bits & fmt.sign_mask),
            ), (name, row.tolist())
    assert flags == raised


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_signs(fmt):
    """Of operands and results, those of leaves too: a NaN is the one that there is."""

    def text(arithmetic, v):
        sine, cosine = arithmetic.sincos(-v["a"])
        alone, _ = arithmetic.sincos(-v["b"])
        found = {"rec": arithmetic.recip(-v["a"]), "product": -v["a"] * v["b"], "leaf": -v["b"]}
        found |= {"sin": sine, "cos": -cosine, "alone": -alone, "sum": -v["a"] - v["b"]}
        return found | {"left": v["b"] - v["a"], "right": v["a"] - v["b"], "again": v["a"]}

    kernel = record(text, "ab")
    pairs = [(x, y) for x in CORNERS for y in CORNERS]
    built = native_list.build(kernel, BitExact(fmt))
    found = built.evaluate(dict(zip("ab", np.transpose(pairs), strict=True)))
    for k, pair in enumerate(pairs):
        exact = BitExact(fmt)
        want = kernel.evaluate(exact, dict(zip("ab", map(exact.const, pair), strict=True)))
        for name, x in want.items():
            here = float(found[name][k])
            bits = fmt.from_float(here) | fmt.sign_mask * bool(np.isnan(here) and np.signbit(here))
            assert bits == x.bits, (name, pair)


def test_slots_are_used_again():
    kernel = robot_kernels.recorded(reduced(load(ROBOTS / "iiwa14.urdf")), "dFD")
    found = listed(kernel)
    assert len(found.words) == 4 * (len(kernel.operations) + len(kernel.results))
    assert found.slots < len(kernel.operations) / 5


def test_what_carries_values_is_refused():
    kernel = record(lambda _, v: {"x": v["x"] + v["x"]}, carried="x")
    with pytest.raises(ValueError, match=r"a list of operations carries nothing: x$"):
        native_list.build(kernel)


# --- robots -------------------------------------------------------------------------------------


@pytest.fixture
def no_compiler_for_kernels(monkeypatch):
    """What is longer than nothing is long."""
    monkeypatch.setattr(native, "LARGE", 0)
    monkeypatch.setattr(native, "build", lambda *_, **__: pytest.fail("compiled"))


@pytest.mark.parametrize("arithmetic", ["float64", "float32", "8/17"])
def test_a_large_function_is_not_compiled_for_a_few_rows(no_compiler_for_kernels, arithmetic):
    robot = reduced(load(ROBOTS / "iiwa14.urdf"))
    states = random_states(robot, "dFD", 3, seed=1)
    found, want = (
        robot_calls.call(robot, "dFD", states, arithmetic, target)
        for target in (robot_calls.NATIVE, robot_calls.MODEL)
    )
    for name, x in want.table.items():
        np.testing.assert_array_equal(found.table[name], x)
    assert found.flags == want.flags


@pytest.mark.parametrize(("rows", "times"), [(100, 1), (40, 3), (1, 7)])
def test_for_many_rows_it_is(no_compiler_for_kernels, monkeypatch, rows, times):
    """Of all calls together, of which each takes as long as sixteen rows at least."""
    monkeypatch.setattr(robot_calls, "COMPILED_ROWS", 100)
    robot = reduced(load(ROBOTS / "iiwa14.urdf"))
    states = random_states(robot, "ID", rows, 1)

    def call(arithmetic="float32"):
        robot_calls.call(robot, "ID", states, arithmetic, target=robot_calls.NATIVE)

    for _ in range(times - 1):
        call()
    if times > 1:  # others count for themselves
        call("8/17")
    with pytest.raises(pytest.fail.Exception, match="compiled"):
        call()


# --- columns ------------------------------------------------------------------------------------


def every_kind(name):
    """Robots of all kinds of joints."""
    if name.isdigit():
        return random_robot(int(name), 7, floating=int(name) % 2 > 0)
    return reduced(load(ROBOTS / f"{name}.urdf", floating=name == "hyq"))


@pytest.mark.parametrize("name", ["1", "2", "3", "4", "mobile_arm", "tethered", "hyq"])
def test_columns_are_those_of_the_whole_function(name):
    """To rounding; what the function has not is zero."""
    robot = every_kind(name)
    chain, whole = robot_kernels.in_columns(robot), robot_kernels.recorded(robot, "dFD")
    assert whole.outputs.keys() <= set(chain.outputs) and tuple(whole.inputs) == chain.inputs
    states = random_states(robot, "dFD", 20, seed=2)
    states = {column: states[column] for column in whole.inputs}
    (found,) = chain.evaluate(Float64Arrays(), states)
    want = whole.evaluate(Float64Arrays(), states)
    scale = np.max([np.abs(x).max() for x in want.values()])
    for column, x in found.items():
        np.testing.assert_allclose(x, want.get(column, 0.0), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("rows", [1, 3, SYSTEMS + 1])
@pytest.mark.parametrize("arithmetic", ["float32", "8/17"])
def test_native_columns_have_the_models_bits(monkeypatch, arithmetic, rows):
    robot, first = every_kind("hyq"), slice(3)
    states = random_states(robot, "dFD", rows, seed=3)
    too_large(monkeypatch, "dFD")
    assert isinstance(robot_kernels.evaluable(robot, "dFD"), Chain)
    found = robot_calls.call(robot, "dFD", states, arithmetic, robot_calls.NATIVE)
    few = {name: x[first] for name, x in states.items()}
    want = robot_calls.call(robot, "dFD", few, arithmetic)
    assert want.finite
    for name, x in want.table.items():
        np.testing.assert_array_equal(found.table[name][first], x)
    known = found.flags if rows <= 3 else found.flags & want.flags  # of others there are more
    assert known == want.flags


def too_large(monkeypatch, name):
    """As if a function had too many operations."""
    recorded = robot_kernels.recorded

    def record_others(robot, function, *rest, **more):
        if function == name:
            raise TooManyOperationsError(f"{name} of {robot.name}: too many")
        return recorded(robot, function, *rest, **more)

    monkeypatch.setattr(robot_kernels, "recorded", record_others)


def test_columns_are_counted(monkeypatch):
    robot = every_kind("hyq")
    chain = robot_kernels.in_columns(robot)
    first, column = (stage.kernel for stage in chain.stages.values())
    too_large(monkeypatch, "dFD")
    found = robot_kernels.count(robot, "dFD")
    assert found.method == robot_kernels.BY_COLUMNS
    times = len(robot_kernels.solved_columns.solved(robot))
    assert times == 2 * robot.nv - 9
    products = [robot_kernels.operations(kernel)["mul"] for kernel in (first, column)]
    assert found.mul == products[0] + times * products[1]
    assert robot_kernels.executed(chain) == found.mul + found.add + found.rec + found.sincos


def test_where_there_are_no_columns_it_is_refused(monkeypatch):
    """Of what is no derivative of FD; where joints follow others; where dID is too large, too."""
    robot = every_kind("hyq")
    too_large(monkeypatch, "FD")
    with pytest.raises(TooManyOperationsError, match="FD of hyq: too many"):
        robot_calls.call(robot, "FD", random_states(robot, "FD", 1, 1))
    too_large(monkeypatch, "dFD")
    follows = every_kind("gripper")
    assert follows.mimics
    with pytest.raises(TooManyOperationsError, match="dFD of gripper: too many"):
        robot_kernels.evaluable(follows, "dFD")
    monkeypatch.setattr(robot_kernels, "FIRST", (7, 8))
    monkeypatch.setattr(recording_limit, "FEW", 9)
    monkeypatch.setattr(recording_limit, "MOST", 100)
    with pytest.raises(InputError, match=r"dFD of hyq: about .* operations, at most 1e\+02"):
        robot_kernels.in_columns(every_kind("hyq"))


def test_a_chain_that_emits_twice_is_refused():
    chain = robot_kernels.in_columns(every_kind("1"))
    parts = [part._replace(emit=True) for part in chain.parts]
    twice = Chain(chain.stages, parts, chain.inputs, chain.outputs)
    with pytest.raises(ValueError, match="does not emit at its end alone"):
        NativeChain(twice, "float64")


@pytest.mark.parametrize("kept", ["", "scratch", "register"])
def test_a_chain_whose_repeats_hand_something_on_is_refused(kept):
    """Word k of the call plus what repeat k - 1 has given; or alone."""
    kernel = record(lambda _, v: {"y": v["a"] + v["y"] if kept else v["a"] + v["a"]}, "ay")
    loads, stores = {"a": Slot(0)}, {"y": Slot(1, scratch=kept == "scratch")}
    loads |= {} if kept == "register" else {"y": Slot(0, scratch=kept == "scratch")}
    first = Stage(record(lambda _, v: {"y": v["a"]}, "a"), {"a": Slot(0)}, {})
    if kept == "register":
        stores = {}
    parts = Part("first"), Part("each", 3, 1, 1, emit=True)
    chain = Chain({"first": first, "each": Stage(kernel, loads, stores)}, parts, "abc", "xyz")
    if not kept:
        NativeChain(chain, "float64")
        return
    with pytest.raises(ValueError, match="^a repeat of stage 'each' takes y of another one$"):
        NativeChain(chain, "float64")


def test_what_a_chain_is_given():
    """As a kernel: no row, one number for all, and what it refuses."""
    robot = every_kind("1")
    chain = NativeChain(robot_kernels.in_columns(robot), "float32")
    state = {name: x[:2] for name, x in random_states(robot, "dFD", 2, seed=1).items()}
    name, *_ = state
    several = chain.evaluate(state | {name: 0.5})
    assert {x.shape for x in several.values()} == {(2,)}
    none = chain.evaluate({name: x[:0] for name, x in state.items()})
    assert {x.shape for x in none.values()} == {(0,)}
    for given, said in (
        ({}, "missing or unknown: q0,"),
        (state | {"more": 1.0}, "more"),
        (state | {name: np.zeros((2, 2))}, r"\(2, 2\), must be \(N,\)"),
        (state | {name: np.zeros(3)}, "arrays differ in length: 2, 3"),
        (state | {name: "x"}, name),
    ):
        with pytest.raises(ValueError, match=said):
            chain.evaluate(given)


def test_wrenches_and_parameters_by_columns():
    robot, links = every_kind("3"), (2, 4)
    states = random_states(robot, "dFD", 3, seed=5)
    pushed = {name: np.linspace(-1, 1, 3) for name in force_columns(links)}
    given = states | pushed
    chain = robot_kernels.in_columns(robot, links, True)
    whole = robot_kernels.recorded(robot, "dFD", None, links, True)
    want = whole.evaluate(Float64Arrays(), given)
    scale = np.max([np.abs(x).max() for x in want.values()])
    found = NativeChain(chain, "float64").evaluate({name: given[name] for name in chain.inputs})
    assert want.keys() <= found.keys()
    for column, x in found.items():
        np.testing.assert_allclose(x, want.get(column, 0.0), rtol=0, atol=1e-12 * scale)


# --- calls --------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [native.build, native_list.build])
def test_many_systems_are_several_calls(monkeypatch, build):
    """Between which Python looks for Ctrl-C."""
    kernel = record(lambda _, v: {"x": v["a"] * v["b"] + v["a"]}, "ab")
    given = {"a": np.linspace(-3, 5, 1000), "b": np.linspace(7, 1, 1000)}
    built = build(kernel, "8/17", flags=True)
    want, flags = built.evaluate_with_flags(given)
    calls, evaluate = [], built._evaluate_blocks
    monkeypatch.setattr(native, "_CALL", 10 * built.work)
    monkeypatch.setattr(
        built, "_evaluate_blocks", lambda *x: calls.append(x[1]) or evaluate(*x), raising=True
    )
    found, again = built.evaluate_with_flags(given)
    assert max(calls) == 10 and sum(calls) == len(built.blocks(given, 1000))
    np.testing.assert_array_equal(found["x"], want["x"])
    assert again == flags


def test_calls_take_the_parameters_of_their_own_systems(monkeypatch):
    def text(arithmetic, v):
        return {"x": v["a"] * arithmetic.parameter("k", 1.0)}

    kernel, given = record(text, "a"), {"a": np.linspace(-3, 5, 1000)}
    built = native.build(kernel, "float64", own_parameters=True)
    parameters = {"k": np.arange(1000.0)}
    monkeypatch.setattr(native, "_CALL", 10 * built.work)
    found = built.evaluate(given, parameters)
    np.testing.assert_array_equal(found["x"], given["a"] * parameters["k"])


@pytest.mark.reads("docs")
def test_when_a_large_function_is_compiled_stands_in_the_docs():
    page = (ROOT / "docs" / "native.md").read_text()
    assert f"more than {native.LARGE // 1000} 000 operations before they have evaluated" in page
    assert f"evaluated {robot_calls.COMPILED_ROWS // 1000} 000 states of it" in page
    assert f"a call counts as {robot_calls.CALL_ROWS} at least" in page


def test_a_list_has_no_address():
    with pytest.raises(ValueError, match="^advance: a kernel that is read as a list has no addr"):
        native_list.build(record(lambda _, v: {"x": v["a"] + v["a"]}, "a")).address("advance")
