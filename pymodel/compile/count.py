"""Operation counts, read off the algorithm text."""

import inspect

from pymodel.algorithms import two_handles
from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.compile.graph import Graph, flatten, symbols

#: Latencies (cycles) that critical paths are quoted with.
LATENCY = {"add": 3, "mul": 3, "rec": 8, "sincos": 16}


def subdesigns():
    """Operations of each sub-design of the assembly and disassembly, nothing shared or folded.

    Returns
    -------
    list of dict
        Keys ``name``, ``equation``, ``pass`` (0: units of its own), ``add``, ``mul``, ``rec``.
    """
    rows = []
    for name, function, equation, shapes, in_pass in two_handles.SUBDESIGNS:
        graph = Graph(fold=False)
        names = inspect.signature(function).parameters
        operands = [
            graph
            if shape is None
            else two_handles.Joint(*(symbols(graph, f, s) for f, s in _JOINT_SHAPES.items()))
            if shape is two_handles.Joint
            else symbols(graph, operand, shape)
            for operand, shape in zip(names, shapes, strict=True)
        ]
        counts = graph.count(flatten(function(*operands)))
        counts.pop("sincos")
        rows.append({"name": name, "equation": equation, "pass": in_pass, **counts})
    return rows


_JOINT_SHAPES = {"W_A": (2, 3), "W_B": (2, 3), "beta_hat": (2,)}


def pool(rows):
    """Units that the paper's sharing needs: the larger pass, plus the always connected ones."""
    total = {}
    for op in ("add", "mul", "rec"):
        per_pass = [sum(row[op] for row in rows if row["pass"] == p) for p in (0, 1, 2)]
        total[op] = {"two_passes": per_pass[0] + max(per_pass[1:]), "one_pass": sum(per_pass)}
    return total


def step(scenario, shape="balanced"):
    """Operations and dependency path of one whole time step of a scenario.

    Masses, lengths, gravity and step count as parameters; products of parameters alone are never
    part of the text. Common terms are shared, zeros and ones fold, results nobody needs drop out.

    Returns
    -------
    dict
        ``operations`` and ``path`` ({op: count}), ``critical_path`` (cycles at :data:`LATENCY`).
    """
    graph = Graph()
    mechanism = prepare(graph, scenario, shape)
    n = mechanism.size
    q = [graph.input(f"q{k}") for k in range(n)]
    p = [graph.input(f"p{k}") for k in range(n)]
    q_new, p_new, _ = serve(graph, integrate(mechanism, q, p))
    outputs = [*q_new, *p_new]
    length, path = graph.critical_path(outputs, LATENCY)
    return {"operations": graph.count(outputs), "critical_path": length, "path": path}
