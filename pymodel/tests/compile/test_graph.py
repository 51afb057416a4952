"""The recording arithmetic: what it shares and folds, counts, and that it means the same."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from pymodel.algorithms import linalg, two_handles
from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Chain
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.graph import OPERATIONS, Graph, RecordingError, Ref, flatten, symbols
from pymodel.mechanism.scenario import INTEGRATORS
from pymodel.mechanism.scenario_file import load
from pymodel.tests.chains import difference, random_chain
from pymodel.tests.places import SCENARIOS
from pymodel.tests.recordings import record

LATENCY = {"add": 3, "mul": 5, "rec": 11, "sincos": 17}


def test_equal_operations_are_one_node():
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    assert (a + b).key == (b + a).key and (a * b).key == (b * a).key
    assert (a * b).key == (-a * -b).key and (-a * b).key == (-(a * b)).key == (a * -b).key
    assert (a - b).key == (-b + a).key != (b - a).key
    assert graph.recip(-a).key == (-graph.recip(a)).key
    assert graph.sincos(a)[0].key != graph.sincos(-a)[0].key
    assert [x.key for x in graph.sincos(a)] == [x.key for x in graph.sincos(a)]
    # a+b, a-b, b-a, ab, 1/a, and sincos of two arguments: nothing else was made
    assert [graph.count(all_refs(graph))[op] for op in OPERATIONS] == [3, 1, 1, 2]
    assert graph.input("a").key == a.key


def all_refs(graph):
    return [Ref(graph, k) for k in range(len(graph.nodes))]


def test_structure_folds():
    graph = Graph()
    a, zero = graph.input("a"), graph.parameter("zero", 0.0)
    one, minus_one = graph.structural("axis.x", 1.0), graph.structural("axis.y", -1.0)
    assert (a + zero).key == (zero + a).key == (a - zero).key == a.key
    assert (zero - a).key == (-a).key and (-zero).key == zero.key
    assert (a * one).key == (one * a).key == a.key
    assert (a * minus_one).key == (minus_one * a).key == (-a).key
    assert (a * zero).key == (zero * -a).key == zero.key
    assert graph.structural("axis.z", 0.0).key == zero.key
    assert graph.count(all_refs(graph)) == dict.fromkeys(OPERATIONS, 0)
    assert graph.parameters == {}


def test_numbers_and_other_parameters_are_data():
    """Also where they are zero or one: what folds must not depend on data."""
    graph = Graph()
    a, half = graph.input("a"), graph.structural("axis.x", 0.5)
    sums = [a + graph.const(0.0), a * graph.const(1.0), a * graph.parameter("b", 1.0), a * half]
    assert len({ref.key for ref in sums}) == 4
    assert graph.const(-2.0).key == (-graph.const(2.0)).key and graph.const(2).key
    assert graph.const(-0.0).negative and graph.const(0.0).key != graph.const(-0.0).key


@pytest.mark.parametrize("ask", ["to_float", "larger"])
def test_a_recording_takes_no_decision_on_data(ask):
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    with pytest.raises(RecordingError):
        graph.to_float(a) if ask == "to_float" else graph.larger(a, b)
    with pytest.raises(RecordingError, match="without pivoting"):
        linalg.inv_ldup(graph, ((a, b), (b, a)))


@pytest.mark.parametrize(
    "decide",
    [
        lambda a, b: a == b,
        lambda a, b: a != b,
        lambda a, b: a in [b],
        lambda a, b: a > b,
        lambda a, b: a <= b,
        lambda a, b: max(a, b),
        lambda a, b: a == 0.0,
        lambda a, b: abs(a),
        lambda a, b: not a,
    ],
)
def test_a_comparison_is_refused(decide):
    """It must not give the answer of one time for all data."""
    graph = Graph()
    with pytest.raises(RecordingError, match="cannot compare or test scalars: compute the same op"):
        decide(graph.input("a"), graph.input("b"))


def test_a_scalar_is_not_what_is_no_number():
    a = Graph().input("a")
    assert a != None and a != "a" and a in [a]  # noqa: E711


@pytest.mark.parametrize(
    ("compute", "hint"),
    [
        (lambda a: a + 1.0, "float: a scalar .* arithmetic.const"),
        (lambda a: a - 1, "int: a scalar .* arithmetic.const"),
        (lambda a: a * "b", "str: a scalar .* arithmetic.const"),
        (lambda a: a * np.ones(2), "ndarray: a scalar .* arithmetic.const"),
        (lambda a: 1.0 + a, "take arithmetic.const"),
        (lambda a: 1.0 - a, "take arithmetic.const"),
        (lambda a: np.float64(2.0) * a, "take arithmetic.const"),
        (lambda a: sum([a, a]), "take arithmetic.const"),
        (lambda a: a / a, "no division: multiply by arithmetic.recip"),
        (lambda a: 1.0 / a, "no division: multiply by arithmetic.recip"),
        (lambda a: a // a, "no quotients and remainders"),
        (lambda a: 1.0 // a, "no quotients and remainders"),
        (lambda a: a % 1.0, "no quotients and remainders"),
        (lambda a: divmod(a, a), "no quotients and remainders"),
        (lambda a: a**2, "no powers: multiply"),
        (lambda a: float(a), "has no values: compute with the scalars"),
        (lambda a: int(a), "has no values: compute with the scalars"),
        (lambda a: round(a), "has no values: compute with the scalars"),
        (lambda a: math.sin(a), "has no values: compute with the scalars"),
        (lambda a: a.graph.const(a), "has no values: compute with the scalars"),
        (lambda a: a.graph.recip(2.0), "float: a scalar .* arithmetic.const"),
        (lambda a: a.graph.sincos(2.0), "float: a scalar .* arithmetic.const"),
        (lambda a: a + Graph().input("a"), "a scalar of another recording"),
    ],
)
def test_what_is_no_operation_of_a_recording(compute, hint):
    with pytest.raises(RecordingError, match=hint):
        compute(Graph().input("a"))


def test_a_plus_sign_changes_nothing():
    a = Graph().input("a")
    assert (+a).key == a.key and (+-a).key == (-a).key


@pytest.mark.parametrize("values", [(3.0, 4.0), (0.0, 4.0), (3.0, 0.0)])
@pytest.mark.parametrize("fold", [False, True])
def test_a_parameter_has_one_value(values, fold):
    graph = Graph(fold)
    first, second = values
    assert graph.parameter("k", first).key == graph.parameter("k", first).key
    with pytest.raises(RecordingError, match=f"parameter k has the values {first} and {second}"):
        graph.parameter("k", second)


@pytest.mark.parametrize(("first", "second"), [(1.0, 0.5), (0.5, 1.0), (1.0, -1.0)])
def test_an_entry_of_an_axis_has_one_value(first, second):
    graph = Graph(fold=True)
    graph.structural("k", first)
    with pytest.raises(RecordingError, match=f"parameter k has the values {first} and {second}"):
        graph.structural("k", second)


@pytest.mark.parametrize("values", [(0.0, 1.0, -1.0, 2.5), (-0.0, -1.0, 1.0, 0.0)])
def test_what_folds_is_what_the_twin_folds(values):
    """Every way gives the same bits, the signs of zeros included."""

    def text(arithmetic, x, y):
        axis = [arithmetic.structural(f"axis[{i}]", c) for i, c in enumerate((0, 1, -1, 0.6))]
        load = [arithmetic.parameter(f"load[{i}]", c) for i, c in enumerate((0, -3.0))]
        products = [a * b for a in (*axis, *load) for b in (x, -y)]
        sums = [a + b for a in products for b in (x, load[0], -load[1])]
        return [
            *products,
            *sums,
            *(-a * axis[2] for a in sums),
            *(a - b for a in axis for b in load),
        ]

    graph, twin = Graph(), BitExact(fold=True)
    outputs = text(graph, graph.input("x"), graph.input("y"))
    for x, y in itertools.product(values, repeat=2):
        inputs = {"x": twin.const(x), "y": twin.const(y)}
        want = text(twin, inputs["x"], inputs["y"])
        got = graph.evaluate(BitExact(), inputs, outputs)
        assert [a.bits for a in got] == [a.bits for a in want]


def test_parameters_can_be_given_anew():
    graph = Graph()
    a, b = graph.input("a"), graph.parameter("b", 2.0)
    product = [a * b]
    assert graph.evaluate(Float64(), {"a": 3.0}, product) == [6.0]
    assert graph.evaluate(Float64(), {"a": 3.0}, product, {"b": 5.0}) == [15.0]
    with pytest.raises(KeyError):
        graph.evaluate(Float64(), {}, product)


def test_without_folding_every_operation_stays():
    graph = Graph(fold=False)
    a, zero, one = graph.input("a"), graph.parameter("z", 0.0), graph.structural("o", 1.0)
    refs = [a + zero, a + zero, a * one, a * zero, zero * a, graph.recip(a), graph.recip(a)]
    refs += graph.sincos(a) + graph.sincos(a)
    assert len({ref.key for ref in refs}) == len(refs)
    assert [graph.count(refs)[op] for op in OPERATIONS] == [2, 3, 2, 2]


def test_only_what_the_outputs_need_is_counted():
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    used = a * b + c
    _ = graph.recip(a) * c
    assert graph.count([used]) == {"add": 1, "mul": 1, "rec": 0, "sincos": 0}
    assert graph.reachable([used]) == [0, 1, 2, 3, 4]
    assert graph.count([graph.sincos(a)[0]])["sincos"] == 1


def test_critical_path_of_a_known_graph():
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    sin, _ = graph.sincos(a + b)
    deep = sin * c + graph.recip(c)  # add, sincos, mul, add: 3 + 17 + 5 + 3
    shallow = (a * b) * c
    assert graph.critical_path([deep, shallow], LATENCY) == (
        28,
        {"add": 2, "mul": 1, "rec": 0, "sincos": 1},
    )
    slow = LATENCY | {"rec": 40}
    assert graph.critical_path([deep], slow) == (43, {"add": 1, "mul": 0, "rec": 1, "sincos": 0})
    for nothing in ([a, -b], []):
        assert graph.critical_path(nothing, LATENCY) == (0, dict.fromkeys(OPERATIONS, 0))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_critical_path_is_the_longest_one(n):
    """Against relaxation from the inputs, which follows the edges the other way."""
    graph = Graph()
    outputs = record(graph, random_chain(np.random.default_rng(n), n))
    start = [0] * len(graph.nodes)
    finish = list(start)
    for index, node in enumerate(graph.nodes):
        finish[index] = start[index] + LATENCY.get(node.op, 0)
        for user in range(index + 1, len(graph.nodes)):
            if index in graph.operands(user):
                start[user] = max(start[user], finish[index])
    length, path = graph.critical_path(outputs, LATENCY)
    assert length == max(finish[ref.node] for ref in outputs)
    assert length == sum(LATENCY[op] * count for op, count in path.items())


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.nightly(every=3)
def test_the_recorded_step_is_the_step(n, fold, integrator):
    """Bit for bit where nothing is folded, otherwise to rounding (sharing changes no value)."""
    scenario = random_chain(np.random.default_rng(n), n, integrator=integrator)
    compare_with_numbers(Graph(fold), scenario, exactly=not fold)


def compare_with_numbers(graph, scenario, exactly):
    outputs = record(graph, scenario)
    exact = Float64()
    chain = Chain(exact, scenario)
    q, p = chain.initial_state(scenario)
    inputs = {
        (name, k): x
        for name, values in zip("qp", (q, p), strict=True)
        for k, x in enumerate(values)
    }
    q_new, p_new, rates = serve(exact, integrate(chain, q, p))
    expected = [*q_new, *p_new, *rates.q_dot, *rates.p_dot]
    values = graph.evaluate(exact, inputs, outputs)
    assert len(values) == 4 * chain.size
    if exactly:
        assert np.array(values).tobytes() == np.array(expected).tobytes()
    else:
        assert difference(values, expected) < 1e-13


@pytest.mark.parametrize("name", ["double_pendulum", "chain_8"])
def test_folding_parameters_of_zero_and_one(name):
    """The demos have many of them: folded, there is less to do and the same result."""
    scenario = load(SCENARIOS / f"{name}.toml")
    bodies = (dataclasses.replace(body, qd=0.7 + k) for k, body in enumerate(scenario.bodies))
    scenario = dataclasses.replace(scenario, bodies=tuple(bodies))
    folded, plain = Graph(), Graph(fold=False)
    compare_with_numbers(folded, scenario, exactly=False)
    compare_with_numbers(plain, scenario, exactly=True)
    less, all_ = (graph.count(record(graph, scenario)) for graph in (folded, plain))
    assert less["mul"] < 0.9 * all_["mul"] and less["add"] < 0.9 * all_["add"]
    assert less["rec"] == all_["rec"] == less["sincos"] == all_["sincos"] == len(scenario.bodies)


def test_parameters_are_data_but_for_zero():
    graph = Graph()
    a, b, zero = (graph.parameter(name, x) for name, x in (("a", 2.0), ("b", 2.0), ("c", 0.0)))
    assert a.key != b.key, "equal values today are not the same parameter"
    assert graph.parameters == {"a": 2.0, "b": 2.0}
    assert (a + zero).key == a.key and (zero - a).key == (-a).key
    assert (a * zero).key == zero.key
    Graph(fold=False).parameter("c", 0.0)


def test_symbols_and_flatten():
    graph = Graph()
    joint = two_handles.Joint(
        *(
            symbols(graph, name, shape)
            for name, shape in (("W_A", (2, 3)), ("W_B", (2, 3)), ("beta_hat", (2,)))
        )
    )
    assert joint.W_B[1][2].key == graph.input("W_B[1][2]").key
    assert symbols(graph, "x", ()).key == graph.input("x").key
    refs = flatten([joint, graph, 5, ([joint.beta_hat[0]],)])
    assert len(refs) == 15 and refs[-1].key == refs[12].key
