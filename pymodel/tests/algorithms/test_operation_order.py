"""The order of float operations is what ``operation_order.txt`` says, phase by phase."""

import pytest

from pymodel.tests import operation_order
from pymodel.tests.operation_order import assembly_trees, everything, formulas, pinned

PINNED = pinned()
SHOWN = 3  # quantities of a phase
COMMAND = "python -m pymodel.tests.operation_order"


def differences(phase, now):
    """What is not as pinned: a block of three lines for each quantity."""
    meant = PINNED.get(phase, {})
    return [
        f"{phase}: the order of operations of {name} changed\n"
        f"  pinned  {meant.get(name, 'nothing')}\n"
        f"  now     {now.get(name, 'nothing')}"
        for name in {**meant, **now}
        if meant.get(name) != now.get(name)
    ]


@pytest.mark.parametrize("phase", operation_order.PHASES)
def test_order_of_operations(phase):
    found = differences(phase, formulas(phase))
    lines = ["", *found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more; what follows may only have other numbers v..")
    lines.append(f"on purpose? CONTRIBUTING.md, 'Changing the order of operations': {COMMAND}")
    if found:
        pytest.fail("\n".join(lines), pytrace=False)


def test_order_of_assembly():
    assert not differences("order of assembly: topology.build_tree", assembly_trees())


def test_every_phase_is_pinned():
    assert list(PINNED) == list(everything()), f"a new phase? {COMMAND} writes it"


def test_a_phase_that_is_not_pinned_is_shown():
    first, *_ = differences("a new one", {"x": "a + b"})
    assert first.splitlines() == [
        "a new one: the order of operations of x changed",
        "  pinned  nothing",
        "  now     a + b",
    ]


def test_a_formula_shows_the_order():
    """Regrouping shows; exchanging the operands of one operation does not, as it changes no bit."""
    graph = operation_order.Graph(fold=False)
    a, b, c = (graph.input(name) for name in "abc")
    quantities = {"left": (a - b) + c, "right": a + (c - b), "products": ((a + b) * b) * (c * -a)}
    written = operation_order.write(graph, quantities)
    assert written == {
        "left": "(a - b) + c",
        "right": "(c - b) + a",
        "products": "-((a + b)*b)*(a*c)",
    }
    exchanged = {"left": c + (a - b), "right": (c - b) + a, "products": (c * -a) * (b * (b + a))}
    assert operation_order.write(graph, exchanged) == written


def test_what_is_used_twice_is_written_once():
    graph = operation_order.Graph(fold=False)
    a, b = graph.input("a"), graph.input("b")
    both = a + b
    quantities = {"x": both * both, "y": graph.recip(both) - a, "z": both, "w": -(a * b)}
    assert operation_order.write(graph, quantities) == {
        "z": "a + b",
        "x": "z*z",
        "y": "(1/z) - a",
        "w": "-a*b",
    }
