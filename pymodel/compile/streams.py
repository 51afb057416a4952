"""Kernels whose inputs come from a stream and whose outputs go to one.

An engine with streams (rtl/top/step_array.sv) has no registers for them: a program *loads* a word
of its call from the input memory when it needs it, and *outputs* a word to the output memory when
it has it. Both are operations that the scheduler places on lanes of their own.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pymodel.compile.graph import NAMED, Graph, Node, Ref
from pymodel.compile.kernel import Carried, Kernel, Slot, record


def streamed(
    kernel: Kernel,
    varied: Collection[str] = (),
    loads: Mapping[str, Slot] | None = None,
    stores: Mapping[str, Slot] | None = None,
) -> Kernel:
    """Rewrite a kernel so that it loads its inputs and outputs its results.

    Parameters
    ----------
    kernel : Kernel
        Not rewritten yet.
    varied : collection of str
        Names of fixed leaves (:attr:`Kernel.fixed_leaves`) that are data of each call instead of
        the program's.
    loads : dict, optional
        Name -> :class:`pymodel.compile.kernel.Slot` of inputs and of what is varied. Other inputs
        stay in registers, where another kernel keeps them. Default: all, on the stream.
    stores : dict, optional
        Name -> Slot of outputs. Other outputs are kept. Default: all, on the stream.

    Returns
    -------
    Kernel
        With the same results in value. What is carried stays so.
    """
    graph = Graph(kernel.graph.fold)
    moved: dict[int, int] = {}
    graph.parameters.update(kernel.parameters)
    names = kernel.leaves
    loads = numbered(sent(kernel, varied)) if loads is None else dict(loads)
    stores = numbered(kernel.outputs) if stores is None else dict(stores)
    loaded = {node: name for node, name in kernel.fixed_leaves.items() if name in varied}
    inputs = {ref.node: name for name, ref in kernel.inputs.items() if ref.node in names}
    loaded |= {node: name for node, name in inputs.items() if name in loads}
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
    outputs = {name: ref(old) for name, old in kernel.outputs.items()}
    for name, value in outputs.items():
        if name in stores:
            outputs[name] = Ref(graph, graph.append(Node("output", (value.key,))))
    return Kernel(
        graph,
        inputs={name: Ref(graph, moved[i]) for i, name in inputs.items() if i not in loaded},
        outputs=outputs,
        carried={name: Carried(ref(old), ref(new)) for name, (old, new) in kernel.carried.items()},
        owner=kernel.owner,
        loads=loads,
        stores=stores,
        kept=frozenset(outputs.keys() - stores.keys()),
    )


def sent(kernel: Kernel, varied: Collection[str] = ()) -> list[str]:
    """Names of what a kernel takes of a call: its inputs, then what is varied."""
    fixed = sorted(name for name in kernel.fixed_leaves.values() if name in varied)
    return [*kernel.inputs, *fixed]


def numbered(names: Iterable[str], scratch: bool = False) -> dict[str, Slot]:
    """Give names the words of a call, or of the scratch memory, one after the other."""
    return {name: Slot(number, scratch) for number, name in enumerate(names)}


def first_values(carried: Iterable[str]) -> Kernel:
    """Record what a run begins with: it carries what it finds on its inputs, named alike."""
    carried = list(carried)

    def text(_: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[first_name(name)] for name in carried}

    return record(text, inputs=map(first_name, carried), carried=carried)


def first_name(name: str) -> str:
    """Name of the input that a carried value begins with."""
    return f"first {name}"
