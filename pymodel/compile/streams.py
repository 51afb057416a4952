"""Kernels whose inputs come from a stream and whose outputs go to one.

An engine with streams (rtl/top/step_array.sv) has no registers for them: a program *loads* a word
of its call from the input memory when it needs it, and *outputs* a word to the output memory when
it has it. Both are operations that the scheduler places on lanes of their own.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pymodel.compile.graph import NAMED, Graph, Node, Ref
from pymodel.compile.kernel import Carried, Kernel, record


def streamed(kernel: Kernel, varied: Collection[str] = ()) -> Kernel:
    """Rewrite a kernel so that it loads its inputs and outputs its results.

    Parameters
    ----------
    kernel : Kernel
        Not rewritten yet.
    varied : collection of str
        Names of fixed leaves (:attr:`Kernel.fixed_leaves`) that are data of each call instead of
        the program's: they follow the inputs on the stream.

    Returns
    -------
    Kernel
        With the same results in value, and :attr:`Kernel.stream`: the order of the inputs. The
        order of the outputs is that of its dict. What is carried stays so.
    """
    graph, moved = Graph(kernel.graph.fold), {}
    graph.parameters.update(kernel.parameters)
    names = kernel.leaves
    loaded = {node: name for node, name in kernel.fixed_leaves.items() if name in varied}
    loaded |= {ref.node: name for name, ref in kernel.inputs.items() if ref.node in names}
    for index in kernel.needed:
        node = kernel.graph.nodes[index]
        if index in loaded:
            node = Node("load", (loaded[index],))
        elif node.op not in NAMED:
            node = Node(node.op, tuple((moved[arg], negative) for arg, negative in node.args))
        moved[index] = graph.append(node)

    def ref(old: Ref) -> Ref:
        return Ref(graph, moved[old.node], old.negative)

    missing = [name for name, (old, _) in kernel.carried.items() if old.node not in moved]
    for name in missing:  # nobody reads what it replaces
        moved[kernel.carried[name].old.node] = graph.input(name).node
    outputs = {
        name: Ref(graph, graph.append(Node("output", (ref(old).key,))))
        for name, old in kernel.outputs.items()
    }
    return Kernel(
        graph,
        inputs={},
        outputs=outputs,
        carried={name: Carried(ref(old), ref(new)) for name, (old, new) in kernel.carried.items()},
        owner=kernel.owner,
        stream=(*kernel.inputs, *sorted(loaded[i] for i in loaded if loaded[i] in varied)),
    )


def first_values(carried: Iterable[str]) -> Kernel:
    """Record what a run begins with: it carries what it finds on its inputs, named alike."""
    carried = list(carried)

    def text(_: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[first_name(name)] for name in carried}

    return record(text, inputs=map(first_name, carried), carried=carried)


def first_name(name: str) -> str:
    """Name of the input that a carried value begins with."""
    return f"first {name}"
