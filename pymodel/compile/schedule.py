"""The scheduler: a kernel becomes a program of the step engine.

List scheduling: cycle by cycle, the ready operation with the longest way to the end goes first, if
a lane and the read ports that it needs are free; its operands may change places. Registers are
allocated afterwards (:mod:`pymodel.compile.allocate`). A cycle of a schedule is a program word: one
clock cycle of each context.

The new value of a carried one is written in place, by a lane of its bank, after the last read of
the old value.
"""

import bisect
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum

from pymodel.arith.errors import require
from pymodel.compile import collector
from pymodel.compile.allocate import Homes, addresses
from pymodel.compile.kernel import Kernel, storable
from pymodel.compile.placement import Issue, Placement, values_of
from pymodel.compile.retime import retimed
from pymodel.machine.isa import (
    OFFERED,
    RARE,
    SIDES,
    Machine,
    Operand,
    Port,
    Program,
    ProgramError,
    Word,
)

Read = tuple[int, int]  #: (bank, value)

#: How far a system runs ahead of the next one, in cycles of its longest path: all are tried.
STAGGERS = (0, 2, 4, 6, 8, 10, 12, 14, 17, 20, 24, 30, 40)
STAGGERS_WHEN_LARGE = (10,)
LARGE = 4000  # operations
TRIES = (24,)  # operations a cycle that are looked at, for each kind, beyond the lanes
TRIES_WHEN_THOROUGH = (100, 1000)
TRIES_WHEN_HUGE = (400,)
TRIES_OF_SEGMENTS = (4000,)  # of a huge kernel that keeps values for others
HUGE = 20_000  # operations, of which one order is tried only


@collector.paused()
def schedule(
    machine: Machine, main: Kernel, special: Kernel | None = None, thorough: bool = False
) -> Program:
    """Schedule a kernel, and the one that replaces it every so many times to re-base momenta.

    Where that makes the main segment shorter, in memories of the same size, an evaluation ends with
    what the next one begins with (:mod:`pymodel.compile.retime`); such a program has a prologue.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    main, special : pymodel.compile.kernel.Kernel
        With the same inputs, carried values and outputs.
    thorough : bool
        Try several orders, for the shortest; it takes some times longer.

    Returns
    -------
    Program

    Raises
    ------
    ProgramError
        If the machine has too few registers or program words.
    """
    require(machine, Machine, "Machine")
    kernels = [main] if special is None else [main, special]
    for kernel in kernels:
        require(kernel, Kernel, "record")
    program = _segments(machine, kernels, thorough)
    ahead = None if machine.streams else retimed(kernels, machine.latency)
    if ahead is not None:
        with suppress(ProgramError):
            other = _segments(machine, ahead, thorough)
            if other.main < program.main and _depth_w(other) <= _depth_w(program):
                return other
    return program


def _depth_w(program: Program) -> int:
    """Bits of an address in banks that hold a program; the usual ones cost nothing more."""
    return (max(*program.registers, Machine.depth) - 1).bit_length()


def _segments(machine: Machine, kernels: Sequence[Kernel], thorough: bool) -> Program:
    """Schedule the segments of a program that is alone."""
    kernels = storable(kernels)
    program = _program(machine, kernels, Homes(machine, kernels).of_program(kernels), thorough)
    _check_words(machine, len(program.words))
    return program


@collector.paused()
def schedule_library(
    machine: Machine, kernels: Mapping[str, Kernel], thorough: bool = False
) -> dict[str, Program]:
    """Schedule kernels that one engine holds at once, each of which can run at any time.

    Inputs of the same name share a register, and so do parameters, carried values and what is kept,
    of the same owner and name, and constants; programs store nothing there but the carried values
    and what they keep. All other registers are free for the program that runs: its outputs stand
    until another one does.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    kernels : dict
        Name of a program -> :class:`pymodel.compile.kernel.Kernel`, as
        :func:`pymodel.compile.kernel.apart` names them.
    thorough : bool
        As for :func:`schedule`.

    Returns
    -------
    dict
        Name -> Program. They follow one another in the program memory.

    Raises
    ------
    ProgramError
        If the machine has too few registers, program words, or programs.
    """
    carried: dict[str, set[str]] = {kernel.owner: set() for kernel in kernels.values()}
    for kernel in kernels.values():
        carried[kernel.owner] |= kernel.carried.keys()
    members = {name: storable([x], carried[x.owner]) for name, x in kernels.items()}
    homes = Homes(machine, [kernel for segments in members.values() for kernel in segments])
    programs = {
        name: _program(machine, segments, homes.of_program(segments), thorough)
        for name, segments in members.items()
    }
    if not machine.streams and len(programs) > machine.programs:
        raise ProgramError(f"{len(programs)} programs, the engine has {machine.programs}")
    _check_words(machine, sum(len(program.words) for program in programs.values()))
    return programs


def _program(machine: Machine, kernels: Sequence[Kernel], homes: Homes, thorough: bool) -> Program:
    """Schedule the segments of a program."""
    words, lengths, registers = [], [], [0] * machine.banks
    for kernel in kernels:
        placement = _best_placement(machine, kernel, homes, thorough)
        address, used = addresses(placement, homes)
        words += _words(machine, placement, address)
        lengths.append(placement.length)
        registers = [max(pair) for pair in zip(registers, used, strict=True)]
    if max(registers) > machine.depth:
        raise ProgramError(
            f"the program needs {max(registers)} registers a bank, the engine has {machine.depth}"
        )
    early = kernels[0].early
    return Program(
        machine=machine,
        words=words,
        main=lengths[0],
        prologue=lengths[-1] if early else 0,
        inputs=homes.inputs,
        carried={name: x for name, x in homes.carried.items() if name not in early},
        early={name: x for name, x in homes.carried.items() if name in early},
        outputs=homes.outputs,
        parameters=homes.parameters,
        data={k: bits for kernel in kernels for k, bits in kernel.values(machine.fmt).items()},
        registers=registers,
    )


def _check_words(machine: Machine, words: int) -> None:
    if words > machine.program_depth:
        raise ProgramError(
            f"the program has {words} words, the engine holds {machine.program_depth}"
        )


def bounds(machine: Machine, kernel: Kernel) -> dict[str, int]:
    """Find cycles that no schedule can beat, of the kernel or, if that is less, of it retimed.

    Returns
    -------
    dict
        ``dependencies``: the longest path. ``lanes``: operations by lanes, of the busiest kind.
        ``both``: the operations of one kind that come late and are far from the end, by lanes, with
        the shortest ways before and after them; at least the other two.
    """
    ahead = None if machine.streams else retimed([kernel], machine.latency)
    found = (_bounds(machine, form) for form in [kernel, *(ahead or ())[:1]])
    return min(found, key=lambda low: low["both"])


def _bounds(machine: Machine, kernel: Kernel) -> dict[str, int]:
    (kernel,) = storable([kernel])
    nodes, latency = kernel.graph.nodes, machine.latency
    lanes = Counter(lane.op for lane in machine.lanes)
    head: defaultdict[int, int] = defaultdict(int)  # cycles before a node's issue
    tail: defaultdict[int, int] = defaultdict(int)  # from it on
    members = set(kernel.operations)
    for index in kernel.needed:
        own = latency[nodes[index].op] if index in members else 0
        before = (head[arg] for arg in kernel.graph.operands(index))
        head[index] = own + max(before, default=0)
    for index in reversed(kernel.needed):
        own = latency[nodes[index].op] if index in members else 0
        tail[index] += own
        head[index] -= own
        for arg in kernel.graph.operands(index):
            tail[arg] = max(tail[arg], tail[index])
    paths = (head[i] + tail[i] for i in kernel.operations)
    found = {"dependencies": max(paths, default=0), "lanes": 0, "both": 0}
    for op, count in lanes.items():
        mine = [index for index in kernel.operations if nodes[index].op == op]
        found["lanes"] = max(found["lanes"], -(-len(mine) // count))
        for first in {head[index] for index in mine}:
            tails = sorted((tail[index] for index in mine if head[index] >= first), reverse=True)
            for position, last in enumerate(tails):
                found["both"] = max(found["both"], first + position // count + last)
    found["both"] = max(found.values())
    return found


class _Sides:
    """Which operand reads on which side, in one cycle.

    Two values of a bank need different sides. Operations of two operands may be turned round, so
    this ties operations together in groups that are only turned as a whole; one with an operation
    of a single operand is never turned.
    """

    def __init__(self) -> None:
        self.turned: dict[int, bool] = {}  # operation -> are its operands exchanged?
        self._group: dict[
            int, list[int]
        ] = {}  # operation -> list of the operations in its group, shared by them
        self._fixed: list[int] = []
        # bank -> [(value, operation, side if not turned)]
        self._readers: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._given: defaultdict[int, set[int]] = defaultdict(set)  # bank -> values of its ports
        self.full: dict[
            int, set[int]
        ] = {}  # bank without a port left -> values that its ports give

    def take(self, operation: int, sides: Sequence[int], values: Sequence[Read]) -> bool:
        """Give an operation the ports for its values, [(bank, value)], if that is possible."""
        turns: dict[
            int, tuple[list[int], bool]
        ] = {}  # id of a group -> the group, must it be turned?
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
            given = self._given[bank]
            given.add(value)
            if len(given) == SIDES:
                self.full[bank] = given
        return True


class _Order(Enum):
    """Which of the operations that are equally far from the end go first."""

    FIRST = "those that the text names first"
    LAST = "those that the text names last"
    FRESH = "those whose latest operand the text names last"
    RARE = "those whose operands are read least"


class _Problem:
    """What every placement of the operations of a kernel has in common.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
        With storable results.
    homes : Homes
    """

    def __init__(self, machine: Machine, kernel: Kernel, homes: Homes) -> None:
        self.machine, self.kernel, self.nodes = machine, kernel, kernel.graph.nodes
        self.lanes = defaultdict(list)  # kind of operation -> its lanes
        for number, lane in enumerate(machine.lanes):
            self.lanes[lane.op].append(number)
        self.of_kind = Counter(self.nodes[index].op for index in kernel.operations)
        self.values = values_of(kernel)
        self.wanted = {  # operation -> reads of what it gives
            index: sum(len(kernel.readers.get(value, ())) for value in some)
            for index, some in self.values.items()
        }
        self.homes = homes.of_results(kernel)
        self.homed = {  # operation -> its values that have a home
            index: [value for value in some if value in self.homes]
            for index, some in self.values.items()
        }
        self.rare = machine.rare_banks if machine.streams else (machine.shared_bank,)
        self.apart = machine.datapaths  # words between uses of a unit that datapaths share
        self.bank = {node: homes.of_leaf(name).bank for node, name in kernel.leaves.items()}
        self.height, self.urgency = self._heights()
        # What an operation waits for: operands, and readers of what it overwrites.
        self.missing = {
            index: sum(arg not in self.bank for arg, _ in kernel.arguments(index))
            for index in kernel.operations
        }
        self.overwrites = defaultdict(list)  # operation -> carried values (nodes)
        self.unread = {}  # carried value (node) -> its readers
        operation_of = {value: index for index, some in self.values.items() for value in some}
        for old, new in kernel.carried.values():
            writer = operation_of[new.node]
            self.overwrites[writer].append(old.node)
            self.unread[old.node] = len(set(kernel.readers.get(old.node, ())) - {writer})

    def _heights(self) -> tuple[dict[int, int], dict[int, int]]:
        """Operation -> the longest way to the end, without and with outputs that come after it."""
        kernel, behind = self.kernel, self._behind()
        height: dict[int, int] = {}
        urgency: dict[int, int] = {}
        for index in reversed(kernel.operations):
            below = [
                reader for value in self.values[index] for reader in kernel.readers.get(value, ())
            ]
            own = self.machine.latency[self.nodes[index].op]
            height[index] = own + max((height[x] for x in below), default=0)
            urgency[index] = own + max((urgency[x] for x in below), default=0)
            urgency[index] += behind.get(index, 0)
        return height, urgency

    def _behind(self) -> dict[int, int]:
        """Output -> how many others come after it: one leaves a word, the earliest ones first."""
        head = dict.fromkeys(self.kernel.leaves, 0)  # words before a value is there
        for index in self.kernel.operations:
            before = (head[arg] for arg, _ in self.kernel.arguments(index))
            done = max(before, default=0) + self.machine.latency[self.nodes[index].op]
            head |= dict.fromkeys(self.values[index], done)
        outputs = [index for index in self.kernel.operations if self.nodes[index].op == "output"]
        shown = {index: self.kernel.arguments(index)[0][0] for index in outputs}
        order = sorted(outputs, key=lambda index: (head[shown[index]], index), reverse=True)
        return {index: position for position, index in enumerate(order)}

    def in_order(self, stagger: int, order: _Order) -> list[int]:
        """Operations by the longest way to the end, which a later system's are behind with."""
        context = self.kernel.context

        def key(index: int) -> tuple[int, ...]:
            least = stagger * context.get(index, 0) - self.urgency[index]
            return (least, *self._tie(index, order), index)

        return sorted(self.kernel.operations, key=key)

    def _tie(self, index: int, order: _Order) -> tuple[int, ...]:
        args = [arg for arg, _ in self.kernel.arguments(index)]
        if order is _Order.RARE:
            return sum(len(self.kernel.readers[arg]) for arg in args), -index
        if order is _Order.FRESH:
            return -max(args, default=0), index
        return (-index if order is _Order.LAST else index,)


class _ListScheduler:
    """Places the operations of one kernel; :meth:`place` does it once.

    Parameters
    ----------
    problem : _Problem
    stagger : int
        How far a system runs ahead of the next one, cycles.
    tries : int
        Operations a cycle that are looked at, for each kind, beyond the lanes.
    order : _Order
    """

    def __init__(self, problem: _Problem, stagger: int, tries: int, order: _Order) -> None:
        self.problem, self.tries = problem, tries
        self.machine, self.kernel, self.nodes = problem.machine, problem.kernel, problem.nodes
        self.in_order = problem.in_order(stagger, order)
        # The work in progress.
        self.used = dict.fromkeys(RARE, -problem.apart)  # operation -> its last cycle
        self.read: Counter[int] = Counter()  # rare bank -> reads of what was loaded there
        self.bank = dict(problem.bank)
        self.arrival = dict.fromkeys(problem.bank, -1)
        self.missing = dict(problem.missing)
        self.unread = dict(problem.unread)  # carried value (node) -> readers that are not placed
        self.issues: list[tuple[int, int, int]] = []  # (cycle, lane, operation)
        self.sides: list[_Sides] = []  # of each cycle
        self.load: Counter[int] = Counter()  # lane -> reads of what it gives
        self.taken: set[tuple[int | None, int]] = (
            set()
        )  # (bank, cycle) in which a bank of several lanes stores something
        self.ready_at: defaultdict[int, list[int]] = defaultdict(list)
        for index, missing in self.missing.items():
            if not missing:
                self.ready_at[0].append(index)

    def place(self, shorter_than: float = math.inf) -> Placement | None:
        """Place all operations; None as soon as it cannot end that early."""
        in_order, lanes, height = self.in_order, self.problem.lanes, self.problem.height
        apart, latency = self.problem.apart, self.machine.latency
        rank = {index: position for position, index in enumerate(in_order)}
        reads: dict[int, list[Read]] = {}  # operation -> [(bank, value)], where its operands are
        ready: dict[str, list[int]] = {op: [] for op in lanes}  # ranks, in order
        left, cycle = Counter(self.problem.of_kind), 0
        while left:
            for index in self.ready_at.pop(cycle, ()):
                reads[index] = [(self.bank[arg], arg) for arg, _ in self.kernel.arguments(index)]
                bisect.insort(ready[self.nodes[index].op], rank[index])
            heads = [(some[0], op) for op, some in ready.items() if some]
            last = max(-(-count // len(lanes[op])) + latency[op] for op, count in left.items())
            longest = max((1 + height[in_order[position]] for position, _ in heads), default=0)
            if cycle + max(last, longest) >= shorter_than:
                return None
            heads = [
                (position, op)
                for position, op in heads
                if op not in self.used or cycle >= self.used[op] + apart
            ]
            free = {op: list(lanes[op]) for _, op in heads}
            most = {op: min(len(lanes[op]) + self.tries, len(ready[op])) for _, op in heads}
            looked_at = dict.fromkeys(free, 0)
            issued = []
            sides = _Sides()
            full = sides.full  # filled as operations take their ports
            self.sides.append(sides)
            while heads:
                head = min(heads)
                heads.remove(head)
                index, op = in_order[head[0]], head[1]
                for bank, value in reads[index]:
                    if bank in full and value not in full[bank]:
                        break
                else:
                    if self._issue(index, cycle, free[op], sides, reads[index]):
                        issued.append(head)
                looked_at[op] += 1
                if looked_at[op] < most[op] and free[op]:
                    heads.append((ready[op][looked_at[op]], op))
            for position, op in issued:
                del ready[op][bisect.bisect_left(ready[op], position)]
                left[op] -= 1
                if not left[op]:
                    del left[op]
            cycle += 1
        issues = [
            Issue(cycle, lane, index, self._arguments(index, cycle))
            for cycle, lane, index in self.issues
        ]
        length = max(1 + max(self.arrival.values(), default=0), *self._ends())
        if length >= shorter_than:
            return None
        return Placement(self.kernel, issues, self.problem.values, self.bank, self.arrival, length)

    def _ends(self) -> tuple[int, ...]:
        """Cycles in which it may end: all is output, and in the scratch memory; units are free."""
        last = max((cycle for cycle, *_ in self.issues), default=0)
        outputs, slots = self.kernel.outputs, self.kernel.stores
        stores = {outputs[name].node for name, slot in slots.items() if slot.scratch}
        written = (cycle for cycle, _, index in self.issues if index in stores)
        there = max(written, default=-self.machine.scratch_words) + self.machine.scratch_words
        return last + 1, max(self.used.values()) + self.problem.apart, there

    def _issue(
        self, index: int, cycle: int, free: list[int], sides: _Sides, reads: Sequence[Read]
    ) -> bool:
        """Issue an operation that reads [(bank, value)] in a cycle if that is possible."""
        node, machine, readers = self.nodes[index], self.machine, self.kernel.readers
        values, overwrites = self.problem.values[index], self.problem.overwrites.get(index, ())
        lane = self._lane(index, free)
        if lane is None or (overwrites and any(self.unread[old] for old in overwrites)):
            return False
        done = cycle + machine.latency[node.op]
        banks = [self._bank_of(value, lane, done) for value in values]
        taken = {(bank, done) for bank in banks if bank in self.problem.rare}
        given = [bank for bank in banks if bank is not None]
        if len(given) < len(banks) or taken & self.taken:
            return False
        if not sides.take(index, machine.lanes[lane].sides, reads):
            return False

        free.remove(lane)
        self.load[lane] += self.problem.wanted[index]
        self.taken |= taken
        if node.op in self.used:
            self.used[node.op] = cycle
        if node.op == "load":
            self.read[given[0]] += self.problem.wanted[index]
        self.issues.append((cycle, lane, index))
        if self.unread:
            for old in {value for _, value in reads} & self.unread.keys():
                if old not in overwrites:
                    self.unread[old] -= 1
        for value, bank in zip(values, given, strict=True):
            self.bank[value], self.arrival[value] = bank, done
            for reader in readers.get(value, ()):
                self.missing[reader] -= 1
                if not self.missing[reader]:
                    args = (arg for arg, _ in self.nodes[reader].args)
                    self.ready_at[max(self.arrival[arg] for arg in args)].append(reader)
        return True

    def _arguments(self, index: int, cycle: int) -> tuple[tuple[int, bool], ...]:
        """Operands of an operation that is issued in a cycle, in the order of its lane's."""
        args = self.kernel.arguments(index)
        return args[::-1] if self.sides[cycle].turned[index] else args

    def _lane(self, index: int, free: list[int]) -> int | None:
        """The free lane that is read least, of those that give the home of a result."""
        homed, homes = self.problem.homed[index], self.problem.homes
        if homed:
            free = [
                lane
                for lane in free
                if all(homes[value].bank == self._bank_of(value, lane) for value in homed)
            ]
        return min(free, key=self.load.__getitem__, default=None)

    def _bank_of(self, value: int, lane: int, done: int = 0) -> int | None:
        """Where a result goes; None if what is loaded can go nowhere at that time."""
        banks = self.machine.lanes[lane].banks
        if self.nodes[value].op == "load":
            free = [bank for bank in banks if (bank, done) not in self.taken]
            return min(free, key=self.read.__getitem__, default=None)
        return banks[-1] if self.nodes[value].op == "cos" else banks[0]


def _best_placement(machine: Machine, kernel: Kernel, homes: Homes, thorough: bool) -> Placement:
    contexts = len(set(kernel.context.values()))
    staggers = STAGGERS_WHEN_LARGE if len(kernel.operations) > LARGE else STAGGERS
    barrel = machine.contexts > 1  # lanes and ports are what is short: every order helps somewhere
    tries: tuple[int, ...] = TRIES
    orders: tuple[_Order, ...] = (_Order.FIRST,)
    if thorough and len(kernel.operations) > HUGE:
        tries = TRIES_OF_SEGMENTS if kernel.kept else TRIES_WHEN_HUGE
        orders = (_Order.FRESH,) if barrel else orders
    elif thorough:
        tries = TRIES_WHEN_THOROUGH
        orders = tuple(_Order) if barrel else (_Order.FIRST, _Order.LAST)
    problem = _Problem(machine, kernel, homes)
    best: Placement | None = None
    for choice in itertools.product(staggers if contexts > 1 else (0,), tries, orders):
        shortest = best.length if best else math.inf
        best = _ListScheduler(problem, *choice).place(shorter_than=shortest) or best
    assert best is not None
    return best


def _words(machine: Machine, placement: Placement, address: dict[int, int]) -> list[Word]:
    words = [Word() for _ in range(placement.length)]
    bank, arrival = placement.bank, placement.arrival
    kernel, nodes = placement.kernel, placement.kernel.graph.nodes
    outputs = {kernel.outputs[name].node: slot for name, slot in kernel.stores.items()}
    common = kernel.fixed_leaves if machine.contexts > 1 else ()
    for issue in placement.issues:
        word = words[issue.cycle]
        for (arg, _), side in zip(issue.args, machine.lanes[issue.lane].sides, strict=True):
            fresh, port = arrival[arg] == issue.cycle, Port(bank[arg], side)
            word.reads[port] = OFFERED if fresh else address[arg]
            if arg in common:
                word.common.add(port)
        word.issues[issue.lane] = tuple(
            Operand(bank[arg], negative) for arg, negative in issue.args
        )
        if nodes[issue.node].op == "load":
            (name,) = nodes[issue.node].args
            word.load, word.from_scratch = kernel.loads[name]
        elif nodes[issue.node].op == "output":
            word.output, word.to_scratch = outputs[issue.node]
        for value in placement.values[issue.node]:
            done = words[arrival[value]]
            done.writes[bank[value]] = address[value]
            if nodes[value].op == "sin":
                done.sine = True
            elif nodes[value].op == "load":
                done.loaded.add(bank[value])
    return words
