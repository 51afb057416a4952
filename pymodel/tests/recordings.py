"""Steps recorded by hand, for the tests of the recording and of what it counts."""

import operator

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.arith.scalars import Float64
from pymodel.compile.graph import flatten


def run(graph, outputs, inputs, arithmetic=None):
    """Evaluate a graph, in float64 by default: the values of its outputs."""
    arithmetic, values = arithmetic or Float64(), []
    operations = {
        "add": operator.add,
        "mul": operator.mul,
        "rec": arithmetic.recip,
        "sincos": arithmetic.sincos,
        "sin": operator.itemgetter(0),
        "cos": operator.itemgetter(1),
    }

    def value(node, negative):
        return -values[node] if negative else values[node]

    for node in graph.nodes:
        if node.op == "const":
            values.append(arithmetic.const(node.args[0]))
        elif node.op == "parameter":
            values.append(arithmetic.const(graph.parameters[node.args[0]]))
        elif node.op == "input":
            values.append(inputs[node.args[0]])
        else:
            args = [value(*arg) for arg in node.args]
            values.append(operations[node.op](*args))
    return [value(*ref.key) for ref in outputs]


def record(graph, scenario):
    """One step of a scenario: the refs of q and p after it, of q-dot and p-dot before it."""
    mechanism = prepare(graph, scenario)
    q, p = ([graph.input((name, k)) for k in range(mechanism.size)] for name in "qp")
    q_new, p_new, rates = serve(graph, integrate(mechanism, q, p))
    return flatten([q_new, p_new, rates.q_dot, rates.p_dot])
