"""Register allocation: homes of what stays, and addresses of what comes and goes.

Inputs, carried values, outputs and parameters have registers of their own throughout, the same in
all segments of a program. Several programs share those of inputs, carried values, parameters, and
what one of them keeps for the others; all others belong to the program that runs. Inputs come
first: one after the other through the banks, so that a host or a feeder fills them in one sweep
over consecutive locations. A result that is nothing but another value shares that one's home. All
other results get a register for the time between their arrival and their last read.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy

from pymodel.compile.kernel import Kernel, result_kinds
from pymodel.compile.placement import Placement
from pymodel.machine.isa import Location, Machine

READ_WEIGHT = 2  # of a parameter's read against a result, when parameters are spread over banks


class Homes:
    """Registers of their own for inputs, carried values, outputs and parameters.

    Parameters
    ----------
    machine : Machine
    kernels : sequence of Kernel
        As :func:`pymodel.compile.kernel.storable` gives them. Inputs of the same name are the same,
        and so are parameters, carried values and what is kept of the same owner and name.

    Attributes
    ----------
    inputs, parameters : dict
        Name -> Location.
    carried, kept, outputs : dict
        Likewise, of one program: empty before :meth:`of_program`. What another program keeps for
        it is among them.
    """

    def __init__(self, machine: Machine, kernels: Sequence[Kernel]) -> None:
        self.machine, self.banks = machine, machine.banks
        self._used = [0] * machine.banks
        self._results: Counter[str] = Counter()  # kind -> results that have a home
        kept = {(kernel.owner, name) for kernel in kernels for name in kernel.kept}
        names = dict.fromkeys(
            name for kernel in kernels for name in kernel.inputs if (kernel.owner, name) not in kept
        )
        self.inputs = {name: self._take(k % machine.banks) for k, name in enumerate(names)}
        self._owned: dict[
            tuple[str, str], Location
        ] = {}  # owner and name -> Location of carried values, and of what is kept
        for kernel in kernels:
            kinds = result_kinds(kernel)
            for name in kernel.results:
                if name in kernel.outputs and name not in kernel.kept:
                    continue
                if (kernel.owner, name) not in self._owned:
                    self._owned[kernel.owner, name] = self._take_result(kinds[name])
        self.carried: dict[str, Location] = {}
        self.kept: dict[str, Location] = {}
        self.outputs: dict[str, Location] = {}
        self.parameters = self._spread(machine, kernels)

    def of_program(self, kernels: Sequence[Kernel]) -> "Homes":
        """The homes of one program, with its outputs in registers that other programs may use.

        Parameters
        ----------
        kernels : sequence of Kernel
            Its segments.
        """
        own = copy(self)
        own._used, own._results = list(self._used), Counter(self._results)
        own.inputs = {
            name: self.inputs[name] for k in kernels for name in k.inputs if name in self.inputs
        }
        own.kept = {
            name: self._owned[k.owner, name]
            for k in kernels
            for name in (*k.inputs, *k.kept)
            if self.machine.streams and (k.owner, name) in self._owned  # else it is an input
        }
        own.carried = {name: self._owned[k.owner, name] for k in kernels for name in k.carried}
        leaves = {name for k in kernels for name in k.fixed_leaves.values()}
        own.parameters = {name: x for name, x in self.parameters.items() if name in leaves}
        own.outputs = {}
        there = own.parameters | own.inputs | own.carried | own.kept
        for kernel in kernels:
            kinds = result_kinds(kernel)
            for name in kernel.outputs:
                shared = kinds[name].partition(":")[2]
                if name in kernel.kept:
                    own.outputs[name] = own.kept[name]
                elif shared:
                    own.outputs[name] = own.outputs.get(shared) or there[shared]
                elif name not in own.outputs and kinds[name] != "output":
                    own.outputs[name] = own._take_result(kinds[name])
        return own

    def _take(self, bank: int) -> Location:
        self._used[bank] += 1
        return Location(bank, self._used[bank] - 1)

    def _take_result(self, kind: str) -> Location:
        """Home of a result that an operation gives: in the next bank of its lanes."""
        banks = self.machine.result_banks[kind]
        self._results[kind] += 1
        return self._take(banks[(self._results[kind] - 1) % len(banks)])

    def _spread(self, machine: Machine, kernels: Sequence[Kernel]) -> dict[str, Location]:
        """Parameters go to the banks that are read least."""
        reads: Counter[str] = Counter()
        results: Counter[str] = Counter()
        load = [0.0] * machine.banks
        for kernel in kernels:
            nodes, leaves, parameters = kernel.graph.nodes, kernel.leaves, kernel.fixed_leaves
            for index in kernel.operations:
                results[nodes[index].op] += 1
                if nodes[index].op == "load":  # read from one of these banks
                    weight = READ_WEIGHT * len(kernel.readers.get(index, ()))
                    for bank in machine.rare_banks:
                        load[bank] += weight / len(machine.rare_banks)
                for arg, _ in kernel.arguments(index):
                    if arg in parameters:
                        reads[parameters[arg]] += 1
                    elif leaves.get(arg) in kernel.inputs:
                        name = leaves[arg]
                        home = self.inputs.get(name) or self._owned[kernel.owner, name]
                        load[home.bank] += READ_WEIGHT
            reads.update(dict.fromkeys(parameters.values(), 0))
        lanes = Counter(lane.op for lane in machine.lanes)
        for lane in machine.lanes:
            for bank in lane.banks:
                load[bank] += results[lane.op] / lanes[lane.op]
        homes = {}
        for name, count in sorted(reads.items(), key=lambda item: (-item[1], item[0])):
            bank = min(range(machine.banks), key=lambda b: (load[b], b))
            load[bank] += READ_WEIGHT * max(count, 1)
            homes[name] = self._take(bank)
        return homes

    def of_leaf(self, name: str) -> Location:
        """Home of an input, a carried or kept value, or a parameter."""
        for homes in (self.carried, self.kept, self.inputs, self.parameters):
            if name in homes:
                return homes[name]
        raise KeyError(name)

    def of_results(self, kernel: Kernel) -> dict[int, Location]:
        """Value (node) -> home of each result that an operation gives."""
        homes = self.outputs | self.carried
        kinds = result_kinds(kernel)
        return {
            ref.node: homes[name]
            for name, ref in kernel.results.items()
            if kinds[name] != "output" and not kinds[name].startswith("name:")
        }

    def first_free(self, bank: int) -> int:
        """First address of a bank that is nobody's home."""
        return self._used[bank]


def addresses(placement: Placement, homes: Homes) -> tuple[dict[int, int], list[int]]:
    """Find an address for each value.

    Returns
    -------
    address : dict
        Value (node) -> address in its bank.
    used : list of int
        Registers in use of each bank.
    """
    kernel, arrival = placement.kernel, placement.arrival
    last_read: defaultdict[int, int] = defaultdict(int)
    for issue in placement.issues:
        for arg, _ in issue.args:
            if arrival[arg] != issue.cycle:
                last_read[arg] = max(last_read[arg], issue.cycle)
    stays = homes.of_results(kernel)
    address = {node: homes.of_leaf(name).address for node, name in kernel.leaves.items()}
    temporary = defaultdict(list)
    for issue in placement.issues:
        for value in placement.values[issue.node]:
            if value in stays:
                address[value] = stays[value].address
            else:
                temporary[placement.bank[value]].append((arrival[value], value))
    used = [homes.first_free(bank) for bank in range(homes.banks)]
    for bank, values in temporary.items():
        busy: list[tuple[int, int]] = []  # heap: (last read, address)
        free: list[int] = []  # heap of addresses
        for first, value in sorted(values):
            while busy and busy[0][0] <= first:
                heapq.heappush(free, heapq.heappop(busy)[1])
            if not free:
                free.append(used[bank])
                used[bank] += 1
            address[value] = heapq.heappop(free)
            heapq.heappush(busy, (max(last_read[value], first + 1), address[value]))
    return address, used
