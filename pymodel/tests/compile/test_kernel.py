"""Kernels: recorded, made storable, scheduled and run on the engine's model as they evaluate."""

import dataclasses
import traceback

import numpy as np
import pytest

from pymodel.arith.arrays import FormatArrays
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32, INVALID
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.graph import Graph, RecordingError, Ref
from pymodel.compile.kernel import Carried, Kernel, interleave, listing, record, storable
from pymodel.compile.registry import REGISTRY, recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.machine.model import Twin
from pymodel.mechanism.scenario_file import load
from pymodel.runs.engine_calls import prepare_call
from pymodel.tests.places import SCENARIOS
from pymodel.tests.recordings import random_kernel

ROOMY = Machine(depth=1024, program_depth=1 << 16)


def counter(arithmetic, values):
    """Carries x, which grows by a b each time; shows the square of what it found."""
    x = values["x"]
    return {"x": x + values["a"] * values["b"], "square": x * x}


def test_a_recorded_function():
    kernel = record(counter, inputs=["a"], carried=["x"], parameters={"b": 0.5})
    assert [*kernel.inputs] == ["a"] and [*kernel.carried] == ["x"]
    assert [*kernel.outputs] == ["square"] and kernel.parameters == {"b": 0.5}
    assert [*kernel.results] == ["x", "square"]
    assert kernel.evaluate(Float64(), {"a": 4.0, "x": 3.0}) == {"x": 5.0, "square": 9.0}
    assert kernel.evaluate(Float64(), {"a": 4.0, "x": 3.0}, {"b": 2.0})["x"] == 11.0
    assert listing(kernel)[-2:] == ["x := %4", "square := %5"]


def test_functions_that_cannot_be_recorded():
    with pytest.raises(ValueError, match="names taken twice: a"):
        record(counter, inputs=["a", "x"], parameters={"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="names taken twice: a"):
        record(lambda ar, v: {"x": v["a"] * ar.parameter("a", 3.0)}, inputs=["a"])
    with pytest.raises(ValueError, match="returns no new value of y"):
        record(counter, inputs=["a", "b", "x"], carried=["y"])
    with pytest.raises(RecordingError, match="without pivoting"):
        recorded("step", load(SCENARIOS / "four_bar.toml"), base="ldup")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"function": None}, "function: must be one, got NoneType"),
        ({"inputs": 5}, "inputs: must be names, got 5"),
        ({"inputs": [1, 2]}, r"inputs: must be names, got \[1, 2\]"),
        ({"carried": None}, "carried: must be names, got None"),
        ({"parameters": [1.0]}, "parameters must be a dict, name -> number, got list"),
        ({"parameters": {"b": "2"}}, "b: must be a number, or an array of numbers"),
        ({"parameters": {"b": [2.0]}}, "b: must be a number, got an array"),
    ],
)
def test_arguments_of_another_kind(arguments, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        record(**{"function": counter, "inputs": "ax", "parameters": {"b": 1.0}} | arguments)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("stepp", {}, "function: must be one of step, rates, got 'stepp'"),
        ([], {}, r"function: must be one of step, rates, got \[\]"),
        ("step", {"base": "x"}, "base: must be one of ldl, blocks, ldup, got 'x'"),
        ("rates", {"base": None}, "base: must be one of ldl, blocks, ldup, got None"),
        ("rates", {"shape": "x"}, "shape: must be one of balanced, left, right, got 'x'"),
        ("rates", {"shape": None}, "shape: must be one of balanced, left, right, got None"),
        ("rates", {"rebasing": True}, "rebasing: only for a step with loops"),
        ("step", {"rebase_now": True}, "rebase_now: only with rebasing"),
        ("step", {"rebasing": "yes"}, "rebasing: must be True or False, got 'yes'"),
    ],
)
def test_options_of_a_recording(name, options, said):
    with pytest.raises(InputError, match=f"^{said}$"):
        recorded(name, load(SCENARIOS / "four_bar.toml"), **options)


@pytest.mark.parametrize("options", [{"base": "blocks"}, {"rebasing": True}])
def test_options_that_an_open_chain_has_no_use_for(options):
    with pytest.raises(InputError, match="^(base: only for a chain of|rebasing: only for a step)"):
        recorded("step", load(SCENARIOS / "double_pendulum.toml"), **options)


def test_what_is_recorded_is_a_scenario():
    with pytest.raises(InputError, match=r"a Scenario, as pymodel.load makes one, got str"):
        recorded("step", "scenarios/four_bar.toml")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda _, v: {"x": 1.0}, "result x: float: a scalar .* arithmetic.const makes one"),
        (lambda _, v: {"x": None}, "result x: NoneType: a scalar"),
        (lambda _, v: {"x": (v["a"],)}, "result x: tuple: a scalar"),
        (lambda _, v: v["a"], "the function returns a Ref, must be a dict of scalars by name"),
        (lambda _, v: None, "the function returns a NoneType, must be a dict of scalars by name"),
        (lambda _, v: {"x": _.const(0.0) if v["a"] == v["a"] * v["a"] else v["a"]}, "compare"),
        (lambda _, v: {"x": v["b"]}, "the function reads 'b', which is none of its scalars: a$"),
        (lambda _, v: {"x": np.sin(v["a"])}, "the function calls numpy with recorded scalars: "),
        (lambda _, v: {"x": np.linalg.det([[v["a"]]])}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": np.arctan2(v["a"], v["a"])}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": np.hypot([v["a"]], 1.0)[0]}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": np.fmod(v["a"], v["a"])}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": np.copysign(v["a"], 1)}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": np.sqrt([v["a"]])[0]}, "the function calls numpy with recorded"),
        (lambda _, v: {"x": _.parameter("k", 3.0) + _.parameter("k", 4.0)}, "parameter k has the"),
    ],
)
def test_what_a_recording_refuses(function, reason):
    with pytest.raises(RecordingError, match=reason):
        record(function, inputs="a")


@pytest.mark.parametrize(
    ("mistake", "kind"),
    [
        (lambda _, v: len(3), TypeError),
        (lambda _, v: {}["b"], KeyError),
        (lambda _, v: np.add("a", 1), TypeError),
        (lambda _, v: np.sin("a"), TypeError),
        (lambda _, v: np.sin(np.array([None])), TypeError),
        (lambda _, v: np.isnan("a"), TypeError),
        (lambda _, v: np.arctan2(None, None), AttributeError),
        (lambda _, v: v["a"].value, AttributeError),
    ],
)
def test_mistakes_of_the_function_itself_stay(mistake, kind):
    with pytest.raises(kind) as caught:
        record(mistake, inputs="a")
    assert not issubclass(caught.type, RecordingError)


@pytest.mark.parametrize("call", [np.hypot, lambda a, b: np.hypot([a], [b])])
def test_where_numpy_is_called_is_not_hidden(call):
    def wrong(_, v):
        return {"x": call(v["a"], v["a"])}

    with pytest.raises(RecordingError) as caught:
        record(wrong, inputs="a")
    assert "in wrong\n" in "".join(traceback.format_exception(caught.value))


def test_sums_and_products_of_numpy_are_recorded():
    def text(_, v):
        a, b = v["a"], v["b"]
        array = np.array([a, b])
        array *= b
        array[:1] += a
        found = np.add(a, b), np.subtract(a, b), np.multiply(a, b), np.negative(a), np.square(a)
        found += (*(array - a), *(array * b), np.dot([a, b], [b, a]), np.sum([a, b]), np.sum(a))
        x, y = a * b + a, b * b
        same = a + b, a - b, a * b, -a, a * a, x - a, y - a, x * b, y * b, a * b + b * a, a + b, a
        assert [x.key for x in found] == [x.key for x in same]
        return {}

    record(text, "ab")


def test_results_may_come_in_pairs():
    kernel = record(lambda _, v: [("x", v["a"] * v["a"])], inputs="a")
    assert list(kernel.outputs) == ["x"]


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_a_parameter_has_no_name_of_an_input(value):
    with pytest.raises(ValueError, match="names taken twice: a"):
        record(lambda ar, v: {"x": ar.parameter("a", value) + v["a"]}, inputs="a")


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("scenario", ["double_pendulum", "general_four_bar", "coupled_loops"])
def test_signatures_of_the_registry(name, scenario):
    """What an entry says that its function takes and gives is what it takes and gives."""
    scenario = load(SCENARIOS / f"{scenario}.toml")
    rebases = name == "step" and scenario.loops
    for options in ({}, {"rebasing": True}) if rebases else ({},):
        kernel = recorded(name, scenario, **options)
        signature = REGISTRY[name].signature(scenario, **options)
        assert kernel.inputs.keys() == signature.inputs.keys()
        assert kernel.carried.keys() == signature.carried.keys()
        assert kernel.outputs.keys() == signature.outputs.keys()
        units = signature.inputs | signature.carried | signature.outputs
        assert all(units.values())


def test_parameters_alone_are_computed_before():
    def function(arithmetic, values):
        return {"x": values["x"] + arithmetic.recip(values["a"] * values["b"])}

    kernel = record(function, carried=["x"], parameters={"a": 3.0, "b": 0.1})
    assert [kernel.graph.nodes[i].op for i in kernel.operations] == ["add"]
    ar = BitExact()
    product = ar.recip(ar.const(3.0) * ar.const(0.1))
    values = kernel.values(BINARY32)
    assert product.bits in values.values()
    program = schedule(Machine(), kernel)
    twin = Twin(Machine())
    twin.load(program.image({"x": ar.const(1.0).bits}))
    twin.run(program, 2)
    want = ar.const(1.0) + product + product
    assert twin.read(program.carried["x"]) == want.bits


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((3,), "must be a Format, as pymodel.Format makes one, got int"),
        ((BINARY32, 3), "parameters must be a dict, name -> number, got int"),
        ((BINARY32, {"a": 1.0, 2: 1.0}), "not the parameters of this kernel; .*: 2, b"),
        ((BINARY32, {"a": 1.0, "b": np.nan}), "parameters: b: must be finite, got nan"),
        ((BINARY32, {"a": -np.inf, "b": 1.0}), "parameters: a: must be finite, got -inf"),
        ((BINARY32, {"a": 1.0, "b": "x"}), "parameters: b: must be a number, or an array"),
    ],
)
def test_mistakes_of_values(arguments, said):
    kernel = record(lambda _, x: {"y": x["a"] * x["b"]}, parameters={"a": 3.0, "b": 0.1})
    with pytest.raises(InputError, match=said):
        kernel.values(*arguments)


def test_two_segments_that_compute_other_values_of_parameters():
    """Each reads its own, also where both are the first node after the parameters."""

    def inverse(arithmetic, values):
        return {"x": values["x"] + arithmetic.recip(values["a"])}

    def square(arithmetic, values):
        return {"x": values["x"] + values["a"] * values["a"]}

    main, other = (record(f, carried=["x"], parameters={"a": 3.0}) for f in (inverse, square))
    program = schedule(Machine(), main, other)
    ar, twin = BitExact(), Twin(Machine())
    twin.load(program.image({"x": ar.const(1.0).bits}))
    twin.run(program, 3, every=2)
    third, nine = ar.recip(ar.const(3.0)), ar.const(3.0) * ar.const(3.0)
    assert twin.read(program.carried["x"]) == (ar.const(1.0) + third + third + nine).bits


# --- results that can be stored ------------------------------------------------------------------


def cost(kernel):
    """Operations that storing the results adds."""
    (stored,) = storable([kernel])
    return len(stored.operations) - len(kernel.operations)


def test_outputs_cost_as_little_as_they_can():
    """A product, an input, a parameter, the same twice: nothing. Only a negative sum is copied."""

    def function(arithmetic, values):
        a, b, c = (values[name] for name in "abc")
        sin, cos = arithmetic.sincos(a)
        product = a * b
        return {
            "product": product,
            "again": product,
            "negative product": -(b * b),
            "negative reciprocal": -arithmetic.recip(b),
            "input": a,
            "parameter": c,
            "zero": arithmetic.parameter("zero", 0.0),
            "of parameters": c * c,
            "negative parameter": -c,
            "sine": sin,
            "cosine": cos,
            "sum": a + product,
        }

    assert cost(record(function, inputs="ab", parameters={"c": 3.0})) == 0
    negative = record(lambda _, v: {"y": -(v["a"] + v["b"])}, inputs="ab")
    assert cost(negative) == 1, "-(a + b) is not (-a) + (-b) where the sum is zero"
    seen = record(lambda _, v: {"x": v["x"] + v["a"], "old": v["x"]}, inputs="a", carried="x")
    assert cost(seen) == 1, "what a carried value was is gone after the evaluation"
    after = record(lambda _, v: {"x": v["x"] + v["a"], "new": v["x"] + v["a"]}, "a", "x")
    assert cost(after) == 0


def test_a_copy_is_made_only_where_it_is_needed():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    simple, early = x + y, y + y
    late = simple * early + x
    carried = {
        "x": Carried(x, early),  # `simple` and `late` read x, but not before `early`
        "y": Carried(y, late),
    }
    (kernel,) = storable([Kernel(graph, {}, {"seen": Ref(graph, x.node)}, carried)])
    assert kernel.carried["y"].new.key == late.key
    assert kernel.carried["x"].new.key != early.key, "x is read by what depends on its successor"
    assert graph.nodes[kernel.outputs["seen"].node].op == "add"


def test_segments_agree_on_their_outputs():
    """An output that a segment multiplies and another one adds is copied in both."""
    one = record(lambda _, v: {"y": v["a"] * v["b"], "z": v["a"] + v["b"]}, inputs="ab")
    other = record(lambda _, v: {"y": v["a"] + v["b"], "z": v["b"] + v["a"]}, inputs="ab")
    stored = storable([one, other])
    for kernel in stored:
        assert {kernel.graph.nodes[ref.node].op for ref in kernel.outputs.values()} == {"add"}
    assert [len(k.operations) for k in stored] == [4, 3]


def test_a_negated_result_has_the_one_nan():
    """The units have no other; what the engine stores is a copy that one of them gives."""

    def negated(arithmetic, values):
        a, b = values["a"], values["b"]
        sin, cos = arithmetic.sincos(a)
        found = {"sum": -(a + b), "product": -(a * (b + a)), "input": -values["c"]}
        return found | {"x": -sin, "cosine": -cos, "plain": values["c"]}

    kernel = record(negated, "abc", "x")
    given = {"a": np.inf, "b": -np.inf, "c": np.nan, "x": 0.0}
    for form in (kernel, *storable([kernel])):
        exact, arrays = BitExact(), FormatArrays(BINARY32)
        found = form.evaluate(exact, {name: exact.const(x) for name, x in given.items()})
        assert {name: x.bits for name, x in found.items()} == dict.fromkeys(found, 0x7FC00000)
        assert exact.flags == INVALID
        found = form.evaluate(
            arrays, {name: arrays.array(np.full(2, x)) for name, x in given.items()}
        )
        for name, x in found.items():
            assert np.isnan(x.values).all() and not np.signbit(x.values).any(), name


@pytest.mark.parametrize("bits", [1, 0x80000001, 0x007FFFFF, 0x80000000])
def test_a_negated_input_is_what_the_engine_stores(bits):
    """Also of bits that no operation gives: a subnormal number becomes zero."""
    kernel = record(lambda _, x: {"minus": -x["a"], "product": x["a"] * x["b"]}, "ab", "")
    given = {"a": bits, "b": BINARY32.one}
    (found,), _ = prepare_call(Machine(), kernel).on_twin([given])
    exact = BitExact()
    want = kernel.evaluate(exact, {name: exact.scalar(x) for name, x in given.items()})
    assert found == {name: x.bits for name, x in want.items()}


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.nightly(every=6)
def test_any_kernel(seed):
    """Whatever carried values do, three runs of the program are three evaluations of the graph."""
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, carried=int(rng.integers(1, 4)))
    if seed % 5 == 0:
        kernel = interleave([kernel, random_kernel(rng)])
    machine = dataclasses.replace(
        ROOMY,
        adders=int(rng.integers(1, 4)),
        multipliers=int(rng.integers(1, 3)),
        add_stages=int(rng.integers(0, 4)),
    )
    program, twin = schedule(machine, kernel), Twin(machine)
    fmt = machine.fmt

    def numbers(names):
        return {name: fmt.from_float(float(rng.normal())) for name in names}

    carried = numbers(kernel.carried)
    twin.load(program.image(carried))
    for _ in range(3):
        inputs = numbers(kernel.inputs)
        twin.load(program.image(inputs))
        direct = BitExact(fmt)
        given = {name: direct.scalar(bits) for name, bits in (inputs | carried).items()}
        want = {name: x.bits for name, x in kernel.evaluate(direct, given).items()}
        twin.run(program, 1)
        if twin.stopped:
            break
        for name, home in (program.carried | program.outputs).items():
            assert fmt.fields(twin.read(home)) == fmt.fields(want[name]), name
        carried = {name: want[name] for name in kernel.carried}
