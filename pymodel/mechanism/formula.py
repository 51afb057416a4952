"""Formulas in time, as scenario files write them: ``2*sin(2*pi*0.5*t) + 0.1*t``.

A formula is read into a tree and never run as Python. What is constant in it is computed here, in
float64; a formula without ``t`` is a number.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

TIME = "t"
NAMES: dict[str, float | str] = {TIME: TIME, "pi": math.pi}
FUNCTIONS = ("sin", "cos")
NOTATION = "numbers, t, pi, + - * / **, parentheses, sin() and cos()"
MAX_LENGTH = 1000  # characters
MAX_DEPTH = 100  # operations inside each other; a sum of so many terms
MAX_EXPONENT = 16


class FormulaError(ValueError):
    """A text that is no formula; ``str()`` says why."""


class Operation(NamedTuple):
    """An operation of a formula.

    Attributes
    ----------
    name : str
        ``add``, ``sub``, ``mul``, ``neg``, ``recip``, ``sin``, ``cos`` or ``power``.
    operands : tuple
        Operations, numbers (float) and :data:`TIME`; of a power the base and the exponent, an int
        from 2 on.
    """

    name: str
    operands: tuple[Formula, ...]


Formula = Operation | float | str  #: a tree; its leaves are numbers and :data:`TIME`

#: What no formula has, and what Python's parser would warn of: a keyword on the heels of a number,
#: an escape in a string.
_WARNED_OF = re.compile(r"\b\d[\w.]*?(and|else|for|if|in|is|not|or)|\\")
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}


def parse(text: str) -> Formula:
    """Read a formula.

    Parameters
    ----------
    text : str
        Of :data:`NOTATION`, in Python's order of operations.

    Returns
    -------
    Formula
        A float if it does not depend on time.

    Raises
    ------
    FormulaError
        If it is no formula, too long, or divides by zero.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"a formula has at most {MAX_LENGTH} characters, got {len(text)}")
    if not (text.isascii() and text.isprintable()):
        raise FormulaError("a formula is a line of ASCII characters")
    try:
        if _WARNED_OF.search(text):
            raise SyntaxError
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"not a formula (of {NOTATION})") from None
    return _read(tree.body, MAX_DEPTH)


def value(formula: Formula, t: float) -> float:
    """The value of a formula at the time t (s), in float64; inf or NaN where it has none."""
    if isinstance(formula, str):  # TIME
        return t
    if not isinstance(formula, Operation):
        return formula
    operands = [value(operand, t) for operand in formula.operands]
    try:
        return _VALUES[formula.name](*operands)
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


def derivative(formula: Formula) -> Formula:
    """The derivative of a formula by the time, 1/s of its unit; what is 0 or 1 is left out of it.

    Raises
    ------
    FormulaError
        If a number in it is not finite.
    """
    if not isinstance(formula, Operation):
        return 1.0 if isinstance(formula, str) else 0.0
    name, operands = formula
    if name == "power":
        base, exponent = operands
        assert isinstance(exponent, int)
        lower = base if exponent == 2 else Operation("power", (base, exponent - 1))
        return _product(_product(float(exponent), lower), derivative(base))
    rates = [derivative(operand) for operand in operands]
    match name, operands:
        case "neg", _:
            return _minus(rates[0])
        case "add", _:
            return _sum(*rates)
        case "sub", _:
            return _sum(rates[0], _minus(rates[1]))
        case "mul", (x, y):
            return _sum(_product(rates[0], y), _product(x, rates[1]))
        case "sin", (x,):
            return _product(Operation("cos", (x,)), rates[0])
        case "cos", (x,):
            return _minus(_product(Operation("sin", (x,)), rates[0]))
    (x,) = operands  # its reciprocal
    return _minus(_product(Operation("power", (formula, 2)), rates[0]))


def _minus(x: Formula) -> Formula:
    return _number(-x) if isinstance(x, float) else Operation("neg", (x,))


def _sum(x: Formula, y: Formula) -> Formula:
    if x == 0.0 or y == 0.0:
        return y if x == 0.0 else x
    if isinstance(y, Operation) and y.name == "neg":
        return _operation("sub", x, *y.operands)
    return _operation("add", x, y)


def _product(x: Formula, y: Formula) -> Formula:
    if x == 0.0 or y == 0.0:
        return 0.0
    if x == 1.0 or y == 1.0:
        return y if x == 1.0 else x
    return _operation("mul", x, y)


def angles(formula: Formula, t: float) -> Iterator[float]:
    """What the sines and cosines of a formula are of at the time t (s), in float64, rad."""
    if isinstance(formula, Operation):
        for operand in formula.operands:
            yield from angles(operand, t)
        if formula.name in FUNCTIONS:
            yield value(formula.operands[0], t)


_VALUES: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "neg": lambda x: -x,
    "recip": lambda x: 1.0 / x,
    "power": lambda x, exponent: x**exponent,
    "sin": math.sin,
    "cos": math.cos,
}


def _read(node: ast.expr, depth: int) -> Formula:
    if not depth:
        raise FormulaError(f"a formula nests at most {MAX_DEPTH} operations")
    match node:
        case ast.Constant(int() | float() as x) if not isinstance(x, bool):
            return _number(x)
        case ast.Name(name) if name in NAMES:
            return NAMES[name]
        case ast.Name(name) if name in FUNCTIONS:
            raise FormulaError(f"{name} needs one argument, in parentheses")
        case ast.Name(name) | ast.Call(ast.Name(name)) if name not in FUNCTIONS:
            known = ", ".join((*NAMES, *FUNCTIONS))
            what = "function" if isinstance(node, ast.Call) else "name"
            raise FormulaError(f"unknown {what} {name} in a formula (known: {known})")
        case ast.Call(ast.Name(name), [x], []):
            return _operation(name, _read(x, depth - 1))
        case ast.Call(ast.Name(name)):
            raise FormulaError(f"{name} needs one argument, in parentheses")
        case ast.UnaryOp(ast.USub(), x):
            return _operation("neg", _read(x, depth - 1))
        case ast.UnaryOp(ast.UAdd(), x):
            return _read(x, depth - 1)
        case ast.BinOp(x, ast.Pow(), exponent):
            return _power(_read(x, depth - 1), exponent)
        case ast.BinOp(x, ast.Div(), y):
            return _quotient(_read(x, depth - 1), _read(y, depth - 1))
        case ast.BinOp(x, operator, y) if type(operator) in _OPERATORS:
            which = _OPERATORS[type(operator)]
            return _operation(which, _read(x, depth - 1), _read(y, depth - 1))
    raise FormulaError(f"not a formula (of {NOTATION})")


def _number(x: float) -> float:
    try:
        number = float(x)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FormulaError("a number in the formula is not finite")
    return number


def _operation(name: str, *operands: Formula) -> Formula:
    """An operation, or its value if that is constant."""
    operation = Operation(name, operands)
    if all(isinstance(operand, float | int) for operand in operands):
        return _number(value(operation, 0.0))
    return operation


def _power(base: Formula, exponent: ast.expr) -> Formula:
    match exponent:
        case ast.Constant(int() as k) if not isinstance(k, bool) and 0 <= k <= MAX_EXPONENT:
            if k == 0:
                return 1.0
            return base if k == 1 else _operation("power", base, k)
    raise FormulaError(f"an exponent must be written as a whole number of 0 to {MAX_EXPONENT}")


def _quotient(x: Formula, y: Formula) -> Formula:
    if y == 0.0:
        raise FormulaError("the formula divides by zero")
    if isinstance(x, float) and isinstance(y, float):
        return _number(x / y)
    return _operation("mul", x, _operation("recip", y))
