"""Retiming: what depends on carried values alone is computed by the evaluation before.

A time step begins with sine and cosine of the coordinates. The new coordinates are known some time
before the new momenta are, so the end of a step can compute what the next step begins with, and
carry it there. The operations and their operands stay the same, and so do all bits; a *cut* says
which operations move. The first evaluation finds what a *prologue* has computed from the carried
values: a kernel of its own, which runs before every run.

The rule is that of C. Leiserson and J. Saxe, "Retiming synchronous circuitry" (1991), with one
evaluation's delay at most.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pymodel.compile.graph import NAMED, Graph, Node, Ref
from pymodel.compile.kernel import Carried, Kernel, formula


def retimed(kernels: Sequence[Kernel], latency: Mapping[str, int]) -> list[Kernel] | None:
    """Move operations to the evaluation before, where that shortens the longest path.

    Parameters
    ----------
    kernels : sequence of Kernel
        Segments of one program, which carry the same; the first one's path counts.
    latency : dict
        Words of each operation.

    Returns
    -------
    list of Kernel or None
        The segments, then the prologue. They carry what is moved, too, by the names in
        :attr:`pymodel.compile.kernel.Kernel.early`. None if there is nothing to gain.
    """
    main = kernels[0]
    moved = _Paths(main, latency).best_cut()
    if not moved:
        return None
    names = _formulas(main)
    stays = [index for index in main.needed if index not in moved]
    read = {arg for index in stays for arg in main.graph.operands(index)}
    read |= {ref.node for ref in main.results.values()}
    early = {names[index]: index for index in sorted(moved & read)}
    found = [_with_early(kernel, main, moved, early) for kernel in kernels]
    return [*found, _prologue(main, moved, early)]


class _Paths:
    """Longest paths of a kernel, with some operations moved to its end.

    Parameters
    ----------
    kernel : Kernel
    latency : dict
        Words of each operation.
    """

    def __init__(self, kernel: Kernel, latency: Mapping[str, int]) -> None:
        self.kernel, self.graph, self.margin = kernel, kernel.graph, latency["sincos"]
        members, nodes = set(kernel.operations), kernel.graph.nodes
        self.words = {i: latency[nodes[i].op] if i in members else 0 for i in kernel.needed}
        #: What is carried and computed from what varies: of that, more can be computed.
        self.successors = {
            old.node: new.node
            for old, new in kernel.carried.values()
            if old.node in self.words and new.node in members and self._varies(new.node)
        }

    def best_cut(self) -> set[int]:
        """Nodes to move, for the shortest longest path; as few as that takes, or none."""
        if not self.successors:
            return set()
        arrival, length = self._paths(())
        late = self._late(arrival)
        cuts = {time for time in late.values() if time <= length + self.margin}
        tried = [(length, -1), *((self._paths(self._cut(late, cut))[1], cut) for cut in cuts)]
        _, best = min(tried)
        return self._cut(late, best)

    def _varies(self, index: int) -> bool:
        """Whether an operation depends on more than parameters and constants."""
        return not self.kernel.fixed.issuperset(self.graph.operands(index))

    @staticmethod
    def _cut(late: Mapping[int, int], last: int) -> set[int]:
        return {index for index, time in late.items() if time <= last}

    def _late(self, arrival: Mapping[int, int]) -> dict[int, int]:
        """Node that can move -> when it would be there if it were evaluated behind the end."""
        fixed = self.kernel.fixed
        start = {old: arrival[new] for old, new in self.successors.items()}
        found = dict.fromkeys(fixed, 0) | start
        for index in self.kernel.needed:
            operands = self.graph.operands(index)
            if index not in found and self._varies(index) and all(arg in found for arg in operands):
                found[index] = self.words[index] + max(found[arg] for arg in operands)
        return {index: time for index, time in found.items() if index not in fixed | start.keys()}

    def _paths(self, moved: Collection[int]) -> tuple[dict[int, int], int]:
        """When each node is there, words after the begin; the longest path."""
        arrival: dict[int, int] = {}
        for index in self.kernel.needed:
            operands = self.graph.operands(index)
            latest = max((arrival[arg] for arg in operands), default=0)
            arrival[index] = 0 if index in moved else latest + self.words[index]
        behind = {old: arrival[new] for old, new in self.successors.items()}
        for index in sorted(moved):
            latest = max(behind.get(arg, 0) for arg in self.graph.operands(index))
            behind[index] = latest + self.words[index]
        return arrival, max([*arrival.values(), *behind.values()], default=0)


def _formulas(kernel: Kernel) -> dict[int, str]:
    """Node -> name of its value."""
    names: dict[int, str] = {}
    for index in kernel.needed:
        names[index] = formula(kernel.graph.nodes[index], names, kernel.owner)
    return names


class _Copy:
    """A graph that takes nodes of others.

    Parameters
    ----------
    graphs : iterable of Graph
        Whose parameters it has.
    """

    def __init__(self, graphs: Iterable[Graph]) -> None:
        self.graph = Graph()
        self.context: dict[int, int] = {}
        self._fixed: dict[Node, Ref] = {}
        for graph in graphs:
            self.graph.parameters.update(graph.parameters)

    def take(self, kernel: Kernel, indices: Iterable[int], taken: dict[int, Ref]) -> None:
        """Copy nodes of a kernel, operands first; ``taken`` maps nodes to what stands for them."""
        for index in indices:
            if index in taken:
                continue
            node = kernel.graph.nodes[index]
            if node.op not in NAMED:
                operands = ((taken[arg], negative) for arg, negative in node.args)
                node = Node(node.op, tuple((x.node, x.negative ^ sign) for x, sign in operands))
            if index in kernel.fixed and node in self._fixed:
                taken[index] = self._fixed[node]
                continue
            taken[index] = self._append(node, kernel.context.get(index))
            if index in kernel.fixed:
                self._fixed[node] = taken[index]

    def input(self, name: str, context: int | None) -> Ref:
        """A value that is there before an evaluation."""
        return self._append(Node("input", (name,)), context)

    def _append(self, node: Node, context: int | None) -> Ref:
        index = self.graph.append(node)
        if context is not None:
            self.context[index] = context
        return Ref(self.graph, index)

    def evaluated(
        self, main: Kernel, moved: Collection[int], carried: Mapping[str, Ref]
    ) -> dict[int, Ref]:
        """Evaluate what moves, of carried values: node of ``main`` -> its value here."""
        taken = {main.carried[name].old.node: ref for name, ref in carried.items()}
        fixed = main.graph.ancestors(moved) & main.fixed
        self.take(main, sorted(fixed | set(moved)), taken)
        return taken


def _with_early(
    kernel: Kernel, main: Kernel, moved: Collection[int], early: Mapping[str, int]
) -> Kernel:
    """The kernel that finds the early values, and leaves those of the next evaluation."""
    copy, names = _Copy((main.graph, kernel.graph)), _formulas(kernel)
    taken: dict[int, Ref] = {}
    old = {name: copy.input(name, main.context.get(index)) for name, index in early.items()}
    taken |= {index: old[name] for index, name in names.items() if name in old}
    given = {
        *(x.old.node for x in kernel.carried.values()),
        *(x.node for x in kernel.inputs.values()),
    }
    copy.take(kernel, sorted(given | set(kernel.needed)), taken)

    def ref(there: Ref) -> Ref:
        here = taken[there.node]
        return Ref(copy.graph, here.node, here.negative ^ there.negative)

    carried = {name: Carried(ref(x.old), ref(x.new)) for name, x in kernel.carried.items()}
    new = copy.evaluated(main, moved, {name: x.new for name, x in carried.items()})
    carried |= {name: Carried(old[name], new[index]) for name, index in early.items()}
    return replace(
        kernel,
        graph=copy.graph,
        inputs={name: ref(x) for name, x in kernel.inputs.items()},
        outputs={name: ref(x) for name, x in kernel.outputs.items()},
        carried=carried,
        context=copy.context,
        early=frozenset(early),
    )


def _prologue(main: Kernel, moved: Collection[int], early: Mapping[str, int]) -> Kernel:
    """The kernel that computes the early values from what is carried."""
    copy = _Copy((main.graph,))

    def inputs(nodes: Mapping[str, int]) -> dict[str, Ref]:
        return {name: copy.input(name, main.context.get(node)) for name, node in nodes.items()}

    found = inputs({name: x.old.node for name, x in main.carried.items()})
    old, new = inputs(early), copy.evaluated(main, moved, found)
    carried = {name: Carried(old[name], new[index]) for name, index in early.items()}
    return Kernel(
        copy.graph,
        inputs={},
        outputs={},
        carried=carried,
        context=copy.context,
        owner=main.owner,
        early=frozenset(early),
    )
