"""The order of float operations is what ``operation_order.txt`` says, phase by phase."""

import ast
import sys

import pytest

from pymodel.tests import operation_order, operation_texts
from pymodel.tests.operation_order import TREES, assembly_trees, formulas, pinned

PINNED = pinned()
SHOWN = 3  # quantities of a phase
COMMAND = "python -m pymodel.tests.operation_order"

#: Modules and functions of pymodel/algorithms that are in no phase, though they add or multiply.
#: Of the rivals only results and counts are compared; nothing that is shipped computes with them.
NOT_PINNED = {
    "rivals/recursive": "a rival",
    "rivals/recursive_space": "a rival",
    "rivals/screw_tree": "of rivals",
    "conditions": "float64 arrays, in no result",
    "linalg: condition_2x2": "float64 arrays, in no result",
    "springs: length_error": "float64 arrays, an estimate",
    "drives: check": "numbers of steps",
    "rigid_body/functions: require_loops": "numbers of constraints",
}


def differences(phase, now):
    """What is not as pinned: a block of three lines for each quantity; digests are last.

    Of whole texts: numbered formulas that their function has not had, with what it had instead.
    """
    meant = PINNED.get(phase, {})
    whose = function if phase in operation_texts.TEXTS else str
    had, has = ({(whose(name), formula) for name, formula in x.items()} for x in (meant, now))
    changed = {
        name: [
            x[name] if name in x and (whose(name), x[name]) not in others else None
            for x, others in ((meant, has), (now, had))
        ]
        for name in {**meant, **now}
    }
    return [
        f"{phase}: the order of operations of {name} changed\n"
        f"  pinned  {before or 'nothing'}\n"
        f"  now     {after or 'nothing'}"
        for name, (before, after) in sorted(changed.items(), key=lambda item: is_digest(item[0]))
        if before or after
    ]


def computing_lines(tree, before=""):
    """Of each function, nested ones apart: the lines of each sum, difference and product."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from computing_lines(node, f"{before}{node.name}.")
        else:
            operation = isinstance(node, ast.BinOp | ast.AugAssign)
            if before and operation and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
                yield before.rstrip("."), range(node.lineno, node.end_lineno + 1)
            yield from computing_lines(node, before)


def is_digest(name):
    return name.endswith((", operands", ", results"))


def function(name):
    """Of ``function 3`` the function; all other names stand for themselves."""
    first, _, number = name.rpartition(" ")
    return first if number.isdecimal() else name


LONG = "robots with loops: rigid_body", "robots with given accelerations: rigid_body"


@pytest.mark.parametrize(
    "phase",
    [
        pytest.param(phase, marks=[pytest.mark.nightly] * (phase in LONG))
        for phase in (*operation_order.PHASES, *operation_texts.TEXTS)
    ],
)
def test_order_of_operations(phase):
    found = differences(phase, formulas(phase))
    lines = ["", *found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more; what follows may only have other numbers v..")
    lines.append(f"on purpose? CONTRIBUTING.md, 'Changing the order of operations': {COMMAND}")
    if found:
        pytest.fail("\n".join(lines), pytrace=False)


def test_order_of_assembly():
    assert not differences(TREES, assembly_trees())


def test_every_phase_is_pinned():
    phases = [*operation_order.PHASES, *operation_texts.TEXTS, TREES]
    assert list(PINNED) == phases, f"a new phase? {COMMAND} writes it"


@pytest.mark.nightly
def test_every_operation_of_the_text_is_in_a_phase():
    """All lines of pymodel/algorithms that add, subtract or multiply run while they record."""
    left = {
        (str(file), lines): f"{module}: {name}"
        for file in sorted(operation_texts.ALGORITHMS.rglob("*.py"))
        for module in [file.relative_to(operation_texts.ALGORITHMS).with_suffix("").as_posix()]
        if module not in NOT_PINNED
        for name, lines in computing_lines(ast.parse(file.read_text()))
    }
    waiting = {}  # id of a code (its hash takes long) -> what is left of its lines

    def calls(frame, *_):
        code = frame.f_code
        found = waiting.get(id(code))
        if found is None:
            own = {line for *_, line in code.co_lines()}
            found = waiting[id(code)] = {
                line: place
                for place in left
                if place[0] == code.co_filename
                for line in own.intersection(place[1])
            }
        return lines if found else None

    def lines(frame, event, _):
        line, own = frame.f_lineno, waiting[id(frame.f_code)]
        if event == "line" and line in own:
            left.pop(own[line], None)
            del own[line]
        return lines if own else None

    before = sys.gettrace()  # of a debugger or a coverage tool
    sys.settrace(calls)
    try:
        for record in operation_order.recorders():
            record()
            if NOT_PINNED.keys() >= set(left.values()):
                break
    finally:
        sys.settrace(before)
    missing = sorted(set(left.values()) - NOT_PINNED.keys())
    assert not missing, f"in no phase of {operation_texts.__name__}: {', '.join(missing)}"


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
