"""Time steps recorded on a graph of one's own, for the tests of recording and counting."""

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.compile.graph import Graph, Ref, flatten
from pymodel.mechanism.scenario import Scenario


def record(graph: Graph, scenario: Scenario) -> list[Ref]:
    """Record one step of a scenario: q and p after it, q-dot and p-dot before it.

    The inputs are named ``("q", k)`` and ``("p", k)``.
    """
    mechanism = prepare(graph, scenario)
    q, p = ([graph.input((name, k)) for k in range(mechanism.size)] for name in "qp")
    q_new, p_new, rates = serve(graph, integrate(mechanism, q, p))
    return flatten([q_new, p_new, rates.q_dot, rates.p_dot])
