"""Random valid programs of the step engine and the step array, and what they cover."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random

import numpy as np

from pymodel.arith.stimulus import corners
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.machine.isa import (
    OFFERED,
    RARE,
    SIDES,
    Location,
    Machine,
    Operand,
    Port,
    Program,
    Word,
)
from pymodel.machine.model import Twin
from tb.common.coverage import engine

REPAIRS = 200  # runs of the model in which a program is made healthy
LOADED = 0.3  # part of what is loaded that a bank takes
SCRATCH = (0.6, 0.4)  # part of the loads and outputs that are of the scratch memory
SPECIALS = 0.04  # part of the registers that hold corners of the format
QUARTER_TURNS = 0.02  # part of them that hold a quarter turn


class Coverage:
    """What programs did whose results were stored; :meth:`missing` names what they did not.

    - ``path``: an operand of a lane from a register of a bank, or from what the bank is offered,
      with and without its sign flipped
    - ``store``: a bank stored the result of a lane (reciprocal and sine share one), and a result
      that came in the cycle after another one of its lane
    - ``next``, ``same``: a port read a register in the cycle after it was stored, in the same cycle
    - ``common``: a port gave all contexts the register of context 0
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.count = Counter()
        ports = [Port(bank, side) for bank in range(machine.banks) for side in range(SIDES)]
        self.wanted = {(what, port) for what in ("next", "same") for port in ports}
        if machine.contexts > 1:
            self.wanted |= {("common", port) for port in ports}
        for index, lane in enumerate(machine.lanes):
            self.wanted |= {
                ("path", index, port, fresh, negative)
                for port in ports
                if port.side in lane.sides
                for fresh in (False, True)
                for negative in (False, True)
            }
            self.wanted |= {
                ("store", index, bank, chased) for bank in lane.banks for chased in (False, True)
            }

    def cover(self, board: Scoreboard, unit: str) -> None:
        """Tell the scoreboard of a unit's bench what was met."""
        point = engine.cases(unit, self.machine, self.wanted)
        met = [item for item in self.wanted if self.count[item]]
        board.cover(unit, point.name, [(engine.case_text(self.machine, item),) for item in met])
        point = engine.hazards(self.machine)
        for what, *rest in self.count:
            if what == "distance":
                index, operand, distance = rest
                lane = engine.lane_name(self.machine, index)
                board.met(point, (lane, engine.OPERANDS[operand], distance))

    def hazards_missing(self) -> bool:
        """Whether some lane has not yet read an operand of some age."""
        met = sum(what == "distance" for what, *_ in self.count)
        return met < len(engine.hazards(self.machine).bins)

    def missing(self) -> list[tuple]:
        """What is wanted and has not been met."""
        return [item for item in self.wanted if not self.count[item]]

    def collect(self, words: Sequence[Word]) -> None:
        """Add a segment."""
        machine = self.machine
        stored: dict[Location, int] = {}  # the cycle of the last store
        for cycle, word in enumerate(words):
            for index, operands in word.issues.items():
                if not self._stored(words, cycle, index):
                    continue
                sides = machine.lanes[index].sides
                for number, (side, operand) in enumerate(zip(sides, operands, strict=True)):
                    bank, negative = operand
                    port = Port(bank, side)
                    fresh = word.reads[port] is OFFERED
                    self.count["path", index, port, fresh, bool(negative)] += 1
                    if fresh:
                        self.count["distance", index, number, engine.DISTANCES[0]] += 1
                        continue
                    self._hazards(words, cycle, port)
                    location = Location(bank, word.reads[port])
                    if word.writes.get(bank) == location.address:
                        stored[location] = cycle
                    if location in stored:
                        distance = engine.distance_of(cycle - stored[location])
                        self.count["distance", index, number, distance] += 1
                    self.count["common", port] += port in word.common
            stored |= {Location(*store): cycle for store in word.writes.items()}
        for index in range(len(machine.lanes)):
            for cycle, word in enumerate(words):
                if index in word.issues:
                    chased = cycle > 0 and index in words[cycle - 1].issues
                    for bank in self._stored(words, cycle, index):
                        self.count["store", index, bank, chased] += 1

    def _stored(self, words: Sequence[Word], cycle: int, index: int) -> list[int]:
        """Banks that store the result of what a lane was issued in a cycle."""
        lane = self.machine.lanes[index]
        arrival = words[cycle + self.machine.latency[lane.op]]
        shared = self.machine.shared_bank
        return [
            bank
            for bank in lane.banks
            if bank in arrival.writes and (bank != shared or arrival.sine == (lane.op == "sincos"))
        ]

    def _hazards(self, words: Sequence[Word], cycle: int, port: Port) -> None:
        address = words[cycle].reads[port]
        if words[cycle].writes.get(port.bank) == address:
            self.count["same", port] += 1
        if cycle and words[cycle - 1].writes.get(port.bank) == address:
            self.count["next", port] += 1


class Programs:
    """A generator of programs.

    Parameters
    ----------
    machine
        What they run on.
    rng
        The programs are a function of its state.
    """

    def __init__(self, machine: Machine, rng: np.random.Generator) -> None:
        self.machine = machine
        self.rng = rng
        self.coverage = Coverage(machine)
        self._common = 0  # registers of a bank that a program may read in common and never stores
        self._corners = corners(machine.fmt)
        addresses = range(machine.contexts * machine.depth)
        self._locations = [Location(x, y) for x in range(machine.banks) for y in addresses]
        self._choose = Random()  # of a segment: numpy's generator is slow to draw one by one
        self._uncovered = {  # of a lane and a side: operands by what they are in the coverage
            (index, side): {
                ("path", index, Port(bank, side), fresh, negative): Operand(bank, negative)
                for bank in range(machine.banks)
                for fresh in (False, True)
                for negative in (False, True)
            }
            for index, lane in enumerate(machine.lanes)
            for side in lane.sides
        }

    def registers(self, specials: float = SPECIALS) -> dict[Location, int]:
        """Bits for all registers: numbers of order one, in this part corners of the format."""
        return dict(zip(self._locations, self.numbers(len(self._locations), specials), strict=True))

    def numbers(self, count: int, specials: float = SPECIALS) -> list[int]:
        """Bits of numbers of order one, and with this probability of corners of the format.

        Some are a quarter turn, whose cosine is next to nothing.
        """
        rng, from_float = self.rng, self.machine.fmt.from_float
        values = rng.standard_normal(count) * 2.0 ** rng.integers(-3, 4, count)
        values[rng.random(count) < QUARTER_TURNS] = math.pi / 2
        words = [from_float(value) for value in values.tolist()]
        for place in np.flatnonzero(rng.random(count) < specials).tolist():
            words[place] = self._corners[int(rng.integers(len(self._corners)))]
        return words

    def share(self) -> None:
        """Choose which registers the segments from now on read in common, and never store."""
        if self.machine.contexts > 1:
            self._common = int(self.rng.integers(self.machine.depth // 2 + 1))

    def program(self, length: int, special: int = 0, apart: bool = False) -> Program:
        """A program of these segment lengths.

        ``apart``: no register is both read and stored, so that whatever is stored does not depend
        on the steps before.
        """
        self.share()
        words = self.segment(length, apart) + self.segment(special, apart)
        return Program(self.machine, words, main=length, registers=[])

    def healthy(
        self,
        registers: dict[Location, int],
        steps: int,
        every: int = 0,
        **program: int | bool,
    ) -> Program:
        """A program that runs all its steps from these registers: what would stop it is not stored.

        Coverage is collected.
        """
        program = self.program(**program)
        for _ in range(REPAIRS):
            faults = _faults(self.machine, program, registers, steps, every)
            for word, bank in faults:
                del word.writes[bank]
            if not faults:
                break
        else:
            raise AssertionError(f"no healthy program after {REPAIRS} repairs")
        self.coverage.collect(program.words[: program.main])
        self.coverage.collect(program.words[program.main :])
        return program

    def segment(
        self, length: int, apart: bool = False, loads: int = 0, outputs: int = 0
    ) -> list[Word]:
        """One segment: a list of words.

        With streams, it loads words of a call below ``loads`` and outputs those below ``outputs``,
        some from and to the scratch memory if there is one; datapaths never meet at a unit that
        they share.
        """
        machine = self.machine
        choose = self._choose = Random(int(self.rng.integers(1 << 63)))
        for uncovered in self._uncovered.values():
            for path in self.coverage.count.keys() & uncovered.keys():
                del uncovered[path]
        busy = choose.uniform(0.2, 1.0)  # of the lanes
        arrivals = [set() for _ in range(length)]  # lanes
        used_last = {}  # lane -> cycle
        words = []
        for cycle in range(length):
            word = Word(sine=choose.random() < 0.5)
            offered = self._offered(word, arrivals[cycle])
            before = words[-1].writes if words else {}
            for bank in offered:
                if choose.random() < 0.8:
                    word.writes[bank] = self._address("store", apart)
            fresh = {}  # of the ports in use
            for index, lane in enumerate(machine.lanes):
                arrival = cycle + machine.latency[lane.op]
                fits = arrival < length
                if lane.op in RARE:
                    since = cycle - used_last.get(index, -machine.datapaths)
                    fits &= min(since, length - cycle) >= machine.datapaths
                elif lane.op == "load":
                    fits &= loads > 0
                elif lane.op == "output":
                    fits = outputs > 0  # gives no result
                if fits and choose.random() < busy:
                    if lane.op != "output":
                        arrivals[arrival].add(index)
                    used_last[index] = cycle
                    word.issues[index] = tuple(
                        self._operand(index, side, offered, fresh) for side in lane.sides
                    )
            if loads:
                word.load = choose.randrange(loads)
            if outputs:
                word.output = choose.randrange(outputs)
            if machine.scratch:
                word.from_scratch, word.to_scratch = (choose.random() < part for part in SCRATCH)
            for port, new in fresh.items():
                address = OFFERED
                if not new:
                    address = self._read_address(port.bank, word, before, apart)
                    if address < self._common and choose.random() < 0.7:
                        word.common.add(port)
                word.reads[port] = address
            words.append(word)
        return words

    def _offered(self, word: Word, arrived: set[int]) -> list[int]:
        """Banks that are offered a result; chooses reciprocal or sine if only one is there.

        Who is offered what was loaded is chosen at random.
        """
        lanes = self.machine.lanes
        shared = self.machine.shared_bank
        there = {lanes[index].op for index in arrived} & set(RARE)
        if len(there) == 1:
            word.sine = there == {"sincos"}
        banks = {lanes[index].banks[0] for index in arrived if lanes[index].op in ("add", "mul")}
        banks |= {shared} if there else set()
        if "load" in {lanes[index].op for index in arrived}:
            rare = self.machine.rare_banks
            word.loaded = {bank for bank in rare if self._choose.random() < LOADED}
        return sorted(banks | word.loaded | ({shared + 1} if "sincos" in there else set()))

    def _address(self, what: str, apart: bool) -> int:
        depth = self.machine.depth
        if not apart:
            return self._choose.randrange(self._common if what == "store" else 0, depth)
        half = depth // 2
        return self._choose.randrange(half) + (half if what == "store" else 0)

    def _read_address(self, bank: int, word: Word, before: Mapping[int, int], apart: bool) -> int:
        choice = self._choose.random()
        if not apart and choice < 0.3 and bank in before:
            return before[bank]
        if not apart and choice > 0.8 and bank in word.writes:
            return word.writes[bank]
        return self._address("read", apart)

    def _operand(
        self, index: int, side: int, offered: Collection[int], fresh: dict[Port, bool]
    ) -> Operand:
        """A random operand, rather one that is not covered yet.

        Decides for its port whether that gives what its bank is ``offered``: ``fresh``.
        """
        choose, uncovered = self._choose, self._uncovered[index, side]
        if uncovered and choose.random() < 0.5:
            wanted = [
                (port, new, operand)
                for (_, _, port, new, _), operand in uncovered.items()
                if new == fresh.get(port, new and port.bank in offered)
            ]
            if wanted:
                port, new, operand = choose.choice(wanted)
                fresh[port] = new
                return operand
        operand = Operand(choose.randrange(self.machine.banks), choose.random() < 0.5)
        fresh.setdefault(
            Port(operand.bank, side), operand.bank in offered and choose.random() < 0.3
        )
        return operand


def _faults(
    machine: Machine, program: Program, registers: Mapping[Location, int], steps: int, every: int
) -> list[tuple[Word, int]]:
    """What stops a run: [(word, bank)], empty if nothing does."""
    engine, fmt = Twin(machine), machine.fmt
    engine.load(registers)
    engine.run(program, steps, every)
    if not engine.stopped:
        return []
    words = program.segment(engine.steps_done, every)
    faults = {
        (store.cycle, store.bank)
        for store in engine.stores
        if store.bits & ~fmt.sign_mask >= fmt.inf
    }
    return [(words[cycle], bank) for cycle, bank in sorted(faults)]
