"""The rules by which terms save operations."""

import pytest

from pymodel.arith.scalars import Float64
from pymodel.arith.terms import Terms, total
from pymodel.compile.graph import Graph
from pymodel.compile.kernel import record


class Counting(Float64):
    """Float64 that says what it was asked for, as a formula."""

    def const(self, x):
        return Formula(repr(x))

    def parameter(self, name, x):
        return Formula(name)

    def recip(self, x):
        return Formula(f"1/{x.text}")

    def sincos(self, x):
        return Formula(f"sin({x.text})"), Formula(f"cos({x.text})")


class Formula:
    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Formula(f"({self.text} + {other.text})")

    def __sub__(self, other):
        return Formula(f"({self.text} - {other.text})")

    def __mul__(self, other):
        return Formula(f"{self.text} {other.text}")

    def __neg__(self):
        return Formula(f"-{self.text}")


def formula(function, names="abcd", **options):
    """What Terms makes of a function of inputs."""
    terms = Terms(Counting(), **options)
    return terms.value(function(terms, *(terms.given(Formula(name)) for name in names))).text


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda t, a, b, c, d: a + t.zero, "a"),
        (lambda t, a, b, c, d: t.zero - a, "-a"),
        (lambda t, a, b, c, d: a * t.zero, "0.0"),
        (lambda t, a, b, c, d: -t.one * a, "-a"),
        (lambda t, a, b, c, d: a - a, "0.0"),
        (lambda t, a, b, c, d: (a + b) - (b + a), "0.0"),
        (lambda t, a, b, c, d: -a - b, "-(a + b)"),
        (lambda t, a, b, c, d: b - a, "-(a - b)"),
        (lambda t, a, b, c, d: (-a) * b, "-a b"),
        (lambda t, a, b, c, d: t.const(2.0) * a, "(a + a)"),
        (lambda t, a, b, c, d: t.const(3.0) * (t.const(5.0) * a), "15.0 a"),
        (lambda t, a, b, c, d: t.const(3.0) + t.const(5.0) * t.const(0.5), "5.5"),
        (lambda t, a, b, c, d: t.recip(-a), "-1/a"),
        (lambda t, a, b, c, d: t.recip(t.const(4.0)), "0.25"),
        (lambda t, a, b, c, d: t.recip(a - a), "1/0.0"),
        (lambda t, a, b, c, d: t.recip(t.const(1e-200) * t.const(1e-200)), "1/0.0"),
        (lambda t, a, b, c, d: t.parameter("m", 0.0) + a, "a"),
        (lambda t, a, b, c, d: t.parameter("m", -1.0) * a, "-a"),
        (lambda t, a, b, c, d: t.parameter("m", 2.5) * a, "2.5 a"),
        (lambda t, a, b, c, d: t.const(1 + 1e-15) * a, "a"),
        (lambda t, a, b, c, d: (t.const(0.1) + t.const(0.2) - t.const(0.3)) * a, "0.0"),
    ],
)
def test_rules(function, expected):
    found = formula(function)
    assert found.replace("a 2.5", "2.5 a").replace("a 15.0", "15.0 a") == expected


def test_small_numbers_are_not_zero():
    assert "1e-15" in formula(lambda t, a, b, c, d: t.const(1e-15) * a)


@pytest.mark.parametrize(("apart", "same"), [(4e-16, True), (3e-15, True), (1e-14, False)])
@pytest.mark.parametrize("number", [0.7, 0.4999999999999998, 3e-9, 1.0])
def test_numbers_few_roundings_apart_are_one(number, apart, same):
    """Wherever their decimals end. What is farther apart, a model means."""
    terms = Terms(Float64())
    one, other = terms.const(number), terms.const(-number * (1 + apart))
    assert (one.node == other.node) == same
    assert (one + other).is_zero == same


def test_parameters_as_data_keep_their_names():
    found = formula(
        lambda t, a, b, c, d: t.parameter("m", 2.5) * (t.parameter("k", 3.0) * a),
        parameters_as_data=True,
    )
    assert sorted(found.split()) == ["a", "k", "m"]
    assert "k" in found.split()[:2] or "m" in found.split()[:2]


def test_parameters_whose_sum_is_zero_are_structure():
    def difference(t, a, b, c, d):
        return (t.parameter("xx", 0.25) - t.parameter("yy", 0.25)) * a + b

    assert formula(difference, parameters_as_data=True) == "b"


def test_a_sum_adds_what_is_ready_first():
    # a b is ready late: the sum of the others waits for it, not the other way round.
    assert formula(lambda t, a, b, c, d: total([a * b, c, d])) in (
        "((c + d) + a b)",
        "(a b + (c + d))",
    )


def test_equal_operations_are_done_once():
    asked = []

    class Asked(Counting):
        def recip(self, x):
            asked.append(x.text)
            return super().recip(x)

    terms = Terms(Asked())
    a = terms.given(Formula("a"))
    assert terms.recip(a).node == terms.recip(-a).node
    assert asked == ["a"]


def test_a_negative_sum_that_nothing_else_needs_turns_its_signs():
    terms = Terms(Counting())
    a, b = terms.given(Formula("a")), terms.given(Formula("b"))
    (found,) = terms.results([-a - b])
    assert found.text == "(-a - b)"
    both = terms.results([-a - b, a + b])
    assert [x.text for x in both] == ["-(a + b)", "(a + b)"]


def test_a_recording_through_terms_needs_no_more_operations():
    def function(arithmetic, values):
        terms = Terms(arithmetic)
        a, b = (terms.given(values[name]) for name in "ab")
        return {"y": terms.value((a + b) * (b + a) - terms.zero)}

    kernel = record(function, "ab")
    assert isinstance(kernel.graph, Graph)
    assert kernel.graph.count(kernel.outputs.values()) == {
        "add": 1,
        "mul": 1,
        "rec": 0,
        "sincos": 0,
    }
