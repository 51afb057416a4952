"""Kernels for the tests of recording, counting and scheduling."""

import numpy as np

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.compile.graph import Graph, Ref, flatten
from pymodel.compile.kernel import Carried, Kernel
from pymodel.mechanism.scenario import Scenario


def record(graph: Graph, scenario: Scenario) -> list[Ref]:
    """Record one step of a scenario: q and p after it, q-dot and p-dot before it.

    The inputs are named ``("q", k)`` and ``("p", k)``.
    """
    mechanism = prepare(graph, scenario)
    q, p = ([graph.input((name, k)) for k in range(mechanism.size)] for name in "qp")
    q_new, p_new, rates = serve(graph, integrate(mechanism, q, p))
    return flatten([q_new, p_new, rates.q_dot, rates.p_dot])


def random_kernel(
    rng: np.random.Generator, carried: int = 3, inputs: int = 2, size: int = 40
) -> Kernel:
    """Any kernel: carried values that swap, copy and mix; outputs of all kinds."""
    graph = Graph(fold=bool(rng.integers(2)))
    old = [graph.input(f"x{k}") for k in range(carried)]
    new = [graph.input(f"u{k}") for k in range(inputs)]
    values = [*old, *new, graph.parameter("a", 0.75), graph.parameter("b", -1.25)]
    values += [graph.const(1.0), graph.structural("s", -1.0), graph.parameter("z", 0.0)]
    for _ in range(size):
        x, y = (values[rng.integers(len(values))] for _ in range(2))
        kind = rng.integers(5)
        if kind < 2:
            values.append(x + y if rng.random() < 0.5 else x - y)
        elif kind == 2:
            values.append(-(x * y))
        elif kind == 3:
            values += graph.sincos(x)
        elif graph.structure(x) is None:
            values.append(graph.recip(x))
    pick = rng.integers(len(values), size=3 * carried)
    sign = rng.random(3 * carried) < 0.3
    chosen = [-values[i] if s else values[i] for i, s in zip(pick, sign, strict=True)]
    return Kernel(
        graph,
        {f"u{k}": ref for k, ref in enumerate(new)},
        {f"y{k}": ref for k, ref in enumerate(chosen[carried:])},
        {f"x{k}": Carried(old[k], chosen[k]) for k in range(carried)},
    )
