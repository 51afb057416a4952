"""Formulas in time: what they mean, and what is refused."""

import math
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pymodel.mechanism.formula import MAX_DEPTH, MAX_LENGTH, FormulaError, parse, value

LEAVES = st.floats(0.0, 8.0).map(repr) | st.sampled_from(["t", "pi"])


def larger(inner):
    """Texts of formulas around others; of quotients only those that are exact."""
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", " - ", "*"]), inner).map("".join),
        st.tuples(st.just("("), inner, st.sampled_from(["+", "-", "*"]), inner, st.just(")")).map(
            "".join
        ),
        st.tuples(st.sampled_from(["sin", "cos", "", "-"]), inner).map(lambda x: f"{x[0]}({x[1]})"),
        st.tuples(inner, st.sampled_from(["/2", " / 0.25", "**0", "**1", "**3"])).map("".join),
    )


@given(st.recursive(LEAVES, larger, max_leaves=12), st.floats(-10.0, 10.0))
def test_a_formula_is_what_python_computes(text, t):
    names = {"t": t, "pi": math.pi, "sin": math.sin, "cos": math.cos}
    try:
        want = float(eval(text, {"__builtins__": {}}, names))
        got = value(parse(text), t)
    except (FormulaError, ArithmeticError, ValueError):
        assume(False)  # beyond the range of numbers
    assert got == want or math.isnan(want)


def test_numbers():
    assert parse(" 2*pi / 4 ") == math.pi / 2
    assert parse("t**0 - cos(0)*2**3") == -7.0
    assert value(parse("6/(1 + t)"), 2.0) == pytest.approx(2.0, rel=1e-15)
    assert math.isnan(value(parse("1/t"), 0.0))


def test_what_fits():
    assert value(parse("+".join(MAX_DEPTH * ["t"])), 2.0) == 2.0 * MAX_DEPTH
    assert parse((MAX_LENGTH - 1) * " " + "t") == "t"


@pytest.mark.parametrize("keyword", ["and ", "else ", "for ", "if ", "in ", "is ", "not in ", "or"])
@pytest.mark.parametrize("number", ["1", "1.", ".5", "1e5", "0x1f", "0b1", "0o7", "1_0", "2j"])
def test_what_python_would_warn_of_is_refused_in_silence(number, keyword, monkeypatch):
    """And without the filters of warnings, which are the whole process'."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with monkeypatch.context() as patched:
            patched.setattr(warnings, "catch_warnings", None)
            for text in (
                f"t + {number}{keyword}t",
                rf"'\d'*{number}",
                f'f"{{{number}{keyword}t}}"',
            ):
                with pytest.raises(FormulaError, match="not a formula"):
                    parse(text)
            assert parse("sin(0x10*2)") == math.sin(32.0)
    assert not heard


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a formula (of numbers, t, pi, "),
        ("2*", "not a formula"),
        ("2 t", "not a formula"),
        ("1and t", "not a formula"),
        ("t if t else 1", "not a formula"),
        ("t < 1", "not a formula"),
        ("t // 2", "not a formula"),
        ("[t]", "not a formula"),
        ("t.real", "not a formula"),
        ("'t'", "not a formula"),
        ("True", "not a formula"),
        ("2j", "not a formula"),
        ("(lambda: 1)()", "not a formula"),
        ("300*(t", "not a formula"),
        (300 * "(" + "t" + 300 * ")", "not a formula"),
        ("x + 1", "unknown name x in a formula (known: t, pi, sin, cos)"),
        ("exp(t)", "unknown function exp in a formula (known: t, pi, sin, cos)"),
        ("__import__('os')", "unknown function __import__"),
        ("sin + 1", "sin needs one argument, in parentheses"),
        ("cos(t, t)", "cos needs one argument"),
        ("sin(x=t)", "sin needs one argument"),
        ("t**0.5", "an exponent must be written as a whole number of 0 to 16"),
        ("t**-1", "an exponent must be"),
        ("t**17", "an exponent must be"),
        ("2**t", "an exponent must be"),
        ("t**2**3", "an exponent must be"),
        ("t/0", "the formula divides by zero"),
        ("1/(2 - 2)", "the formula divides by zero"),
        ("t/1e-320", "a number in the formula is not finite"),
        ("1e999*t", "a number in the formula is not finite"),
        (400 * "9" + "*t", "a number in the formula is not finite"),
        ("1e300**2", "a number in the formula is not finite"),
        ("\N{GREEK SMALL LETTER PI}*t", "a formula is a line of ASCII characters"),
        ("t\n+ 1", "a formula is a line of ASCII characters"),
        ("+".join((MAX_DEPTH + 1) * ["t"]), "a formula nests at most 100 operations"),
        (200 * "-" + "t", "a formula nests at most 100 operations"),
        (MAX_LENGTH * " " + "t", "a formula has at most 1000 characters, got 1001"),
    ],
)
def test_what_is_no_formula(text, said):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert str(caught.value).startswith(said)
