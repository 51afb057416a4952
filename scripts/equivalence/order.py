"""Procedural blocks that simulators run in an order of their own, where Yosys sees logic only."""

from collections.abc import Iterator
from typing import Any

from scripts.equivalence.errors import EquivalenceError


def check_order(name: str, text: str) -> None:
    """Refuse a module whose value depends on when a simulator runs a block.

    A variable that an ``always_comb`` reads before it assigns it has the value of the run before. A
    register with a blocking assignment is read by other blocks before or after it, as they come.

    Parameters
    ----------
    name : str
        The module.
    text : str
        Its file.

    Raises
    ------
    EquivalenceError
        If it has one, or pyslang is missing.
    """
    try:
        from pyslang.syntax import SyntaxKind, SyntaxTree
    except ImportError:
        raise EquivalenceError("pyslang is missing (make formal installs it)") from None
    for block in _nodes(SyntaxTree.fromText(text).root):
        if block.kind == SyntaxKind.AlwaysFFBlock:
            own = _declared(block)
            early = {what for what, written in _accesses(block) if written} - own
            if early:
                raise EquivalenceError(f"{name} has a blocking assignment to {min(early)}")
        elif block.kind == SyntaxKind.AlwaysCombBlock:
            accesses = list(_accesses(block))
            written = {what for what, is_written in accesses if is_written}
            for what, is_written in accesses:
                if is_written:
                    written.discard(what)
                elif what in written:
                    raise EquivalenceError(f"{name} reads {what} before it is assigned")


def _nodes(node: Any) -> Iterator[Any]:
    """A node and all below it, in the order of the text."""
    yield node
    for child in _below(node):
        yield from _nodes(child)


def _below(node: Any) -> list[Any]:
    return [child for child in node if hasattr(child, "kind") and not _is_token(child)]


def _is_token(child: Any) -> bool:
    return hasattr(child, "valueText")


def _declared(block: Any) -> set[str]:
    """Variables that a block declares itself."""
    from pyslang.syntax import SyntaxKind

    return {node.name.valueText for node in _nodes(block) if node.kind == SyntaxKind.Declarator}


def _accesses(node: Any) -> Iterator[tuple[str, bool]]:
    """Names in the order in which a run of a block meets them, and whether it assigns them.

    What a non-blocking assignment assigns has its value later: it is none of these.
    """
    from pyslang.syntax import SyntaxKind

    kind = node.kind
    if kind in (SyntaxKind.IdentifierName, SyntaxKind.IdentifierSelectName):
        yield node.identifier.valueText, False
        for child in _below(node):
            yield from _accesses(child)
    elif kind == SyntaxKind.ScopedName:  # a member, or something of a package
        yield from _accesses(node.left)
    elif kind in (SyntaxKind.Declarator, SyntaxKind.NonblockingAssignmentExpression):
        for child in _below(node)[kind != SyntaxKind.Declarator :]:
            yield from _accesses(child)
        if kind == SyntaxKind.Declarator:
            yield node.name.valueText, True
    elif kind.name.endswith("AssignmentExpression"):
        if kind != SyntaxKind.AssignmentExpression:  # such as +=
            yield from _accesses(node.left)
        yield from _accesses(node.right)
        yield from _targets(node.left)
    elif kind.name.startswith(("Postincrement", "Postdecrement", "UnaryPreincr", "UnaryPredecr")):
        yield from _accesses(node.operand)
        yield from _targets(node.operand)
    else:
        for child in _below(node):
            yield from _accesses(child)


def _targets(node: Any) -> Iterator[tuple[str, bool]]:
    """What stands left of an assignment: its selectors are read, then its names assigned."""
    from pyslang.syntax import SyntaxKind

    if node.kind == SyntaxKind.ConcatenationExpression:
        for child in _below(node):
            yield from _targets(child)
        return
    (name, _), *inside = _accesses(node)
    yield from inside
    yield name, True
