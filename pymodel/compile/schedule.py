"""The scheduler: a traced step becomes a program of the step engine.

List scheduling: cycle by cycle, the ready operation with the longest way to the end goes first, if
a lane and the read ports that it needs are free; its operands may change places. Registers are
allocated afterwards, bank by bank,
for the time between a value's arrival and its last read. Parameters, states and observables have
registers of their own throughout.

A state's successor overwrites it, so it is written after all others have read the old value, by the
adder of the state's bank.
"""

import heapq
from collections import Counter, defaultdict
from typing import NamedTuple

from pymodel.machine.isa import OFFERED, Location, Operand, Port, Program, ProgramError, Word

#: How far a system runs ahead of the next one, in cycles of its longest path: all are tried.
STAGGERS = (0, 2, 4, 6, 8, 10, 12, 14, 17, 20, 24, 30, 40)
STAGGERS_WHEN_LARGE = (10,)
LARGE = 4000  # operations
MAX_TRIES = 24  # operations a cycle that are looked at, for each kind, beyond the lanes
READ_WEIGHT = 2  # of a parameter's read against a result, when parameters are spread over banks


class Issue(NamedTuple):
    """An operation at its place."""

    cycle: int
    lane: int
    node: int


def schedule(machine, main, special=None):
    """Schedule a step, and the special one that replaces it every so many times.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    main, special : pymodel.compile.kernel.Step
        With the same states and observables.

    Returns
    -------
    Program

    Raises
    ------
    ProgramError
        If the machine has too few registers or program words, or no sin/cos.
    """
    steps = [step for step in (main, special) if step is not None]
    homes = _Homes(machine, steps)
    words, lengths, registers = [], [], [0] * machine.banks
    for step in steps:
        placement = _best_placement(machine, step, homes)
        addresses, used = _allocate(machine, step, placement, homes)
        words += _words(machine, step, placement, addresses)
        lengths.append(placement.length)
        registers = [max(pair) for pair in zip(registers, used, strict=True)]
    if max(registers) > machine.depth:
        raise ProgramError(
            f"the program needs {max(registers)} registers a bank, the engine has {machine.depth}"
        )
    if len(words) > machine.program_depth:
        raise ProgramError(
            f"the program has {len(words)} words, the engine holds {machine.program_depth}"
        )
    return Program(
        machine, words, lengths[0], homes.parameters, homes.state, homes.observables, registers
    )


def bounds(machine, step):
    """Cycles that no schedule can beat.

    Returns
    -------
    dict
        ``dependencies``: the longest path. ``lanes``: operations by lanes, of the busiest kind.
        ``both``: the operations of one kind that come late and are far from the end, by lanes, with
        the shortest ways before and after them; at least the other two.
    """
    nodes, latency = step.graph.nodes, machine.latency
    lanes = Counter(lane.op for lane in machine.lanes)
    operations = step.operations()
    head, tail = defaultdict(int), defaultdict(int)  # cycles before a node's issue, and from it on
    members = set(operations)
    for index in step.graph.reachable(step.outputs):
        own = latency[nodes[index].op] if index in members else 0
        before = (head[arg] for arg in step.graph.operands(index))
        head[index] = own + max(before, default=0)
    for index in reversed(step.graph.reachable(step.outputs)):
        own = latency[nodes[index].op] if index in members else 0
        tail[index] += own
        head[index] -= own
        for arg in step.graph.operands(index):
            tail[arg] = max(tail[arg], tail[index])
    found = {"dependencies": max(head[i] + tail[i] for i in operations), "lanes": 0, "both": 0}
    for op, count in lanes.items():
        mine = [index for index in operations if nodes[index].op == op]
        found["lanes"] = max(found["lanes"], -(-len(mine) // count))
        for first in {head[index] for index in mine}:
            tails = sorted((tail[index] for index in mine if head[index] >= first), reverse=True)
            for position, last in enumerate(tails):
                found["both"] = max(found["both"], first + position // count + last)
    found["both"] = max(found.values())
    return found


class _Homes:
    """Registers of their own for parameters, states and observables, the same in all segments."""

    def __init__(self, machine, steps):
        self._used = [0] * machine.banks
        names = {}  # as an ordered set
        for step in steps:
            names |= dict.fromkeys((*step.state, *step.observables))
        self.outputs = {name: self._take(k % machine.adders) for k, name in enumerate(names)}
        self.state = {name: self.outputs[name] for step in steps for name in step.state}
        self.observables = {name: self.outputs[name] for step in steps for name in step.observables}
        self.parameters = self._spread(machine, steps)

    def _take(self, bank):
        self._used[bank] += 1
        return Location(bank, self._used[bank] - 1)

    def _spread(self, machine, steps):
        """Parameters go to the banks that are read least."""
        reads, results = Counter(), Counter()
        for step in steps:
            leaves, nodes = step.leaves(), step.graph.nodes
            for index in step.operations():
                results[nodes[index].op] += 1
                for arg, _ in nodes[index].args:
                    if arg in leaves and leaves[arg] not in step.state:
                        reads[leaves[arg]] += 1
            reads.update(dict.fromkeys((n for n in leaves.values() if n not in step.state), 0))
        lanes = Counter(lane.op for lane in machine.lanes)
        load = [0.0] * machine.banks
        for lane in machine.lanes:
            for bank in lane.banks:
                load[bank] += results[lane.op] / lanes[lane.op]
        homes = {}
        for name, count in sorted(reads.items(), key=lambda item: (-item[1], item[0])):
            bank = min(range(machine.banks), key=lambda b: (load[b], b))
            load[bank] += READ_WEIGHT * max(count, 1)
            homes[name] = self._take(bank)
        return homes

    def first_free(self, bank):
        return self._used[bank]


class _Sides:
    """Which operand reads on which side, in one cycle.

    Two values of a bank need different sides. Operations of two operands may be turned round, so
    this ties operations together in groups that are only turned as a whole; one with an operation
    of a single operand is never turned.
    """

    def __init__(self):
        self.turned = {}  # operation -> are its operands exchanged?
        self._group = {}  # operation -> list of the operations in its group, shared by them
        self._fixed = []
        self._readers = defaultdict(list)  # bank -> [(value, operation, side if not turned)]

    def take(self, operation, sides, values):
        """Give an operation the ports for its values, [(bank, value)], if that is possible."""
        turns = {}  # id of a group -> the group, must it be turned?
        for side, (bank, value) in zip(sides, values, strict=True):
            for other_value, other, other_side in self._readers[bank]:
                if other_value != value:
                    group = self._group[other]
                    turn = side == other_side ^ self.turned[other]
                    if turns.setdefault(id(group), (group, turn))[1] != turn:
                        return False
        single = len(sides) == 1
        in_fixed, turned = turns.pop(id(self._fixed), (None, False))
        if single and turned:
            return False

        merged = self._fixed if single or in_fixed else []
        for group, turn in turns.values():
            for member in group:
                self.turned[member] ^= turn ^ turned
                self._group[member] = merged
            merged += group
        merged.append(operation)
        self._group[operation] = merged
        self.turned[operation] = turned
        for side, (bank, value) in zip(sides, values, strict=True):
            self._readers[bank].append((value, operation, side))
        return True


class _Placement:
    """Operations of a step placed in time and on lanes.

    Attributes
    ----------
    issues : list of Issue
    sides : list of _Sides
        Of each cycle.
    bank, arrival : dict
        Of each value (node): where it is stored, and in which cycle; a leaf arrives before 0.
    writes : dict
        Operation (node) -> name of the output that it writes.
    length : int
        Cycles, the last result stored.
    """

    def __init__(self, machine, step, homes, stagger):
        self.machine, self.step = machine, step
        self.nodes = step.graph.nodes
        self.issues, self.sides, self.bank, self.arrival = [], [], {}, {}
        self.writes = {}
        for name, ref in _outputs(step).items():
            self.writes[ref.node] = name
        self._homes = homes
        self._prepare(stagger)
        self._place()
        self.length = 1 + max(self.arrival.values(), default=0)

    def _prepare(self, stagger):
        operations = self.step.operations()
        self.results = defaultdict(list)  # operation -> values (nodes) that it gives
        needed = self.step.graph.reachable(self.step.outputs)
        members = set(operations)
        for index in needed:
            op = self.nodes[index].op
            if index in members and op != "sincos":
                self.results[index] = [index]
            elif op in ("sin", "cos") and self.nodes[index].args[0][0] in members:
                self.results[self.nodes[index].args[0][0]].append(index)
        self.readers = self.step.readers()
        for node, name in self.step.leaves().items():
            home = self._homes.state.get(name) or self._homes.parameters[name]
            self.bank[node], self.arrival[node] = home.bank, -1

        height = {}
        latency = self.machine.latency
        for index in reversed(operations):
            below = (height[r] for value in self.results[index] for r in self.readers[value])
            height[index] = latency[self.nodes[index].op] + max(below, default=0)
        context = self.step.context
        self.priority = {
            index: (stagger * context.get(index, 0) - height[index], index) for index in operations
        }
        self.waiting = {}
        self.ready_at = defaultdict(list)
        for index in operations:
            missing = sum(arg not in self.arrival for arg, _ in self.nodes[index].args)
            self.waiting[index] = missing
            if not missing:
                self.ready_at[0].append(index)
        # readers of a state that must have read it before its successor is written
        self.before = {}
        self.unread = {}
        for old, new in self.step.state.values():
            self.before[new.node] = old.node
            self.unread[old.node] = len(set(self.readers[old.node]) - {new.node})

    def _place(self):
        machine = self.machine
        lanes = defaultdict(list)
        for index, lane in enumerate(machine.lanes):
            lanes[lane.op].append(index)
        self._load = Counter()
        self._shared = set()  # cycles in which the shared bank stores something
        ready = {op: [] for op in lanes}
        left, cycle = len(self.priority), 0
        while left:
            for index in self.ready_at.pop(cycle, ()):
                heapq.heappush(ready[self.nodes[index].op], (self.priority[index], index))
            free = {op: list(some) for op, some in lanes.items()}
            tries = {op: len(some) + MAX_TRIES for op, some in lanes.items()}
            sides, aside = _Sides(), []
            self.sides.append(sides)
            while True:
                kinds = [op for op in lanes if free[op] and ready[op] and tries[op]]
                if not kinds:
                    break
                op = min(kinds, key=lambda kind: ready[kind][0])
                entry = heapq.heappop(ready[op])
                tries[op] -= 1
                if self._issue(entry[1], cycle, free[op], sides):
                    left -= 1
                else:
                    aside.append((op, entry))
            for op, entry in aside:
                heapq.heappush(ready[op], entry)
            cycle += 1

    def _issue(self, index, cycle, free, sides):
        """Issue an operation in a cycle if that is possible."""
        node = self.nodes[index]
        lane = self._lane(index, free)
        if lane is None or self.unread.get(self.before.get(index), 0):
            return False
        machine = self.machine
        done = cycle + machine.latency[node.op]
        shared = machine.shared_bank
        banks = [self._bank_of(value, lane) for value in self.results[index]]
        if shared in banks and done in self._shared:
            return False
        values = [(self.bank[arg], arg) for arg, _ in node.args]
        if not sides.take(index, machine.lanes[lane].sides, values):
            return False

        free.remove(lane)
        self._load[lane] += sum(len(self.readers[value]) for value in self.results[index])
        if shared in banks:
            self._shared.add(done)
        self.issues.append(Issue(cycle, lane, index))
        for old in {arg for arg, _ in node.args} & self.unread.keys():
            if self.before.get(index) != old:
                self.unread[old] -= 1
        for value, bank in zip(self.results[index], banks, strict=True):
            self.bank[value], self.arrival[value] = bank, done
            for reader in self.readers[value]:
                self.waiting[reader] -= 1
                if not self.waiting[reader]:
                    args = (arg for arg, _ in self.nodes[reader].args)
                    self.ready_at[max(self.arrival[arg] for arg in args)].append(reader)
        return True

    def arguments(self, issue):
        """Of an operation, in the order of its lane's operands."""
        args = self.nodes[issue.node].args
        return args[::-1] if self.sides[issue.cycle].turned[issue.node] else args

    def _lane(self, index, free):
        if index in self.writes:
            bank = self._homes.outputs[self.writes[index]].bank
            return bank if bank in free else None
        return min(free, key=lambda lane: self._load[lane])

    def _bank_of(self, value, lane):
        banks = self.machine.lanes[lane].banks
        return banks[-1] if self.nodes[value].op == "cos" else banks[0]


def _outputs(step):
    """Name -> Ref of everything that a step writes."""
    return {name: new for name, (_, new) in step.state.items()} | step.observables


def _best_placement(machine, step, homes):
    contexts = len(set(step.context.values()))
    large = len(step.operations()) > LARGE
    staggers = STAGGERS_WHEN_LARGE if large else STAGGERS
    tried = (_Placement(machine, step, homes, s) for s in (staggers if contexts > 1 else (0,)))
    return min(tried, key=lambda placement: placement.length)


def _allocate(machine, step, placement, homes):
    """Addresses of all values: ({node: address}, registers used of each bank)."""
    last_read = defaultdict(int)
    for issue in placement.issues:
        for arg, _ in placement.nodes[issue.node].args:
            if placement.arrival[arg] != issue.cycle:
                last_read[arg] = max(last_read[arg], issue.cycle)
    address = {
        node: (homes.state.get(name) or homes.parameters[name]).address
        for node, name in step.leaves().items()
    }
    temporary = defaultdict(list)
    for issue in placement.issues:
        for value in placement.results[issue.node]:
            if issue.node in placement.writes:
                address[value] = homes.outputs[placement.writes[issue.node]].address
            else:
                temporary[placement.bank[value]].append((placement.arrival[value], value))
    used = [homes.first_free(bank) for bank in range(machine.banks)]
    for bank, values in temporary.items():
        busy, free = [], []  # heaps: (last read, address), addresses
        for arrival, value in sorted(values):
            while busy and busy[0][0] <= arrival:
                heapq.heappush(free, heapq.heappop(busy)[1])
            if not free:
                free.append(used[bank])
                used[bank] += 1
            address[value] = heapq.heappop(free)
            heapq.heappush(busy, (max(last_read[value], arrival + 1), address[value]))
    return address, used


def _words(machine, step, placement, address):
    words = [Word() for _ in range(placement.length)]
    for issue in placement.issues:
        word = words[issue.cycle]
        args = placement.arguments(issue)
        for (arg, _), side in zip(args, machine.lanes[issue.lane].sides, strict=True):
            fresh = placement.arrival[arg] == issue.cycle
            word.reads[Port(placement.bank[arg], side)] = OFFERED if fresh else address[arg]
        word.issues[issue.lane] = tuple(
            Operand(placement.bank[arg], negative) for arg, negative in args
        )
        for value in placement.results[issue.node]:
            done = words[placement.arrival[value]]
            done.writes[placement.bank[value]] = address[value]
            if placement.nodes[value].op == "sin":
                done.sine = True
    return words
