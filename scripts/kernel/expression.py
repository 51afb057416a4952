"""Expressions of whole numbers in the records of units: ``METHOD != 1 or MAN_W <= 23``.

They are read into a tree and never run as Python.
"""

import ast
import operator
from collections.abc import Mapping

from pymodel.arith.errors import Error

NOTATION = "whole numbers, names, + - *, comparisons, and, or, not, parentheses"
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class ExpressionError(Error):
    """A text that is no expression, or names what has no value."""


def parse(text: str) -> ast.expr:
    """The tree of an expression.

    Raises
    ------
    ExpressionError
        If it is none.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"not an expression (of {NOTATION})") from None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    _value(tree, dict.fromkeys(names, 0))
    return tree


def names(text: str) -> set[str]:
    """The names in an expression.

    Raises
    ------
    ExpressionError
        If it is none.
    """
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


def value(text: str, values: Mapping[str, int]) -> int:
    """The value of an expression; of a comparison, whether it holds.

    Raises
    ------
    ExpressionError
        If it is none, or a name in it has no value.
    """
    return _value(parse(text), values)


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(int() as x) if not isinstance(x, bool):
            return x
        case ast.Name(name):
            if name not in values:
                raise ExpressionError(f"{name} has no value")
            return values[name]
        case ast.BinOp(x, op, y) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_value(x, values), _value(y, values))
        case ast.Compare(x, [op], [y]) if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)](_value(x, values), _value(y, values))
        case ast.UnaryOp(ast.Not(), x):
            return not _value(x, values)
        case ast.BoolOp(op, parts):  # all of them: each must be an expression
            every = [_value(part, values) for part in parts]
            return all(every) if isinstance(op, ast.And) else any(every)
    raise ExpressionError(f"not an expression (of {NOTATION})")
