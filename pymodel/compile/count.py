"""Operation counts, read off the algorithm text."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pymodel.algorithms import two_handles
from pymodel.compile.graph import Graph, Ref, flatten, symbols
from pymodel.compile.kernel import Kernel
from pymodel.compile.registry import record_function
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Scenario

#: Latencies (cycles) that longest paths are quoted with: those of the engine's default stages.
LATENCY = Machine().latency

#: Units that paper 000, section 4.3, has for two passes; it does not say how many reciprocals.
PAPER_POOL = {"add": 57, "mul": 75}


def subdesigns() -> list[dict[str, Any]]:
    """Count the operations of each sub-design, nothing shared or folded.

    Returns
    -------
    list of dict
        Keys ``name``, ``equation``, ``pass`` (0: units of its own), ``add``, ``mul``, ``rec``.
    """
    rows = []
    for name, function, equation, shapes, in_pass in two_handles.SUBDESIGNS:
        graph = Graph(fold=False)
        counts = graph.count(flatten(function(*subdesign_operands(graph, function, shapes))))
        counts.pop("sincos")
        rows.append({"name": name, "equation": equation, "pass": in_pass, **counts})
    return rows


_JOINT_SHAPES = {"W_A": (2, 3), "W_B": (2, 3), "beta_hat": (2,)}


def subdesign_operands(
    graph: Graph, function: Callable[..., Any], shapes: Sequence[Any]
) -> list[Any]:
    """Make the operands of a sub-design: inputs of a graph, named as the function's arguments.

    Parameters
    ----------
    graph : Graph
    function, shapes
        As in :data:`pymodel.algorithms.two_handles.SUBDESIGNS`.

    Returns
    -------
    list
        The graph itself where the shape is None, otherwise nested tuples of Refs.
    """
    names = inspect.signature(function).parameters
    return [
        graph
        if shape is None
        else two_handles.Joint(*(symbols(graph, f, s) for f, s in _JOINT_SHAPES.items()))
        if shape is two_handles.Joint
        else symbols(graph, operand, shape)
        for operand, shape in zip(names, shapes, strict=True)
    ]


def pool(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Count the units of a sharing in two passes: the larger pass, and what is always connected."""
    total = {}
    for op in ("add", "mul", "rec"):
        per_pass = [sum(row[op] for row in rows if row["pass"] == p) for p in (0, 1, 2)]
        total[op] = {"two_passes": per_pass[0] + max(per_pass[1:]), "one_pass": sum(per_pass)}
    return total


class Unpivoted(Graph):
    """Counts an algorithm with pivoting as if every pivot stood where it belongs.

    Exchanged rows are wires: they change neither the number of operations nor the longest path.
    For counting only: such a recording must not be scheduled.
    """

    def larger(self, x: Ref, y: Ref) -> bool:
        """Return False: no exchange."""
        return False


def kernel(kernel: Kernel, latency: Mapping[str, int] = LATENCY) -> dict[str, Any]:
    """Count the operations of a kernel and find its longest dependency path.

    Masses, lengths, gravity and the step size are parameters; products of parameters alone are
    never part of the text. Common terms are shared, structure folds, results nobody needs drop out.
    Carried values count if there are any, and otherwise the outputs: what a time step shows besides
    its state costs nothing more.

    Parameters
    ----------
    kernel : Kernel
    latency : dict
        Cycles of each operation.

    Returns
    -------
    dict
        ``operations`` and ``path`` ({op: count}), ``critical_path`` (cycles).
    """
    results = [new for _, new in kernel.carried.values()] or list(kernel.outputs.values())
    length, path = kernel.graph.critical_path(results, latency)
    return {"operations": kernel.graph.count(results), "critical_path": length, "path": path}


def step(scenario: Scenario, **options: Any) -> dict[str, Any]:
    """Count one time step of a scenario; the options are those of its mechanism."""
    return kernel(record_function("step", scenario, **options))
