"""Random programs and tables of the step array, what they cover, and what they give out."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pymodel.machine.array import Function, Segment
from pymodel.machine.isa import RARE, Location, Machine, Operand, Port, Word
from pymodel.machine.model import CallMemory, Twin, decoded
from pymodel.runs.array_runs import Array
from tb.common.step_programs import Coverage, Programs

REPAIRS = 400  # runs of the model in which results are made finite
CANDIDATES, MOST_CANDIDATES = 6, 60  # that are drawn, for the one that covers most; for any
TRIES = 200  # functions that are drawn until one outputs something
SPECIALS = 0.02  # part of registers and inputs that are corners of the format
MOST_SEGMENTS, MOST_FUNCTIONS = 8, 4  # that are drawn; the tables may be larger
MOST_REPEATS, MOST_LOOPS = 3, 3
MOST_WORDS = 160  # of a function's chain, about
SHORT = 4  # cycles of a segment behind which a bubble may come
DUMPS = 0.6  # part of the functions that end with their registers
FEWER = 0.2  # part of those that do not give all that they could
FROM_FIRST = 0.5  # part of those that begin with the first segment

FEATURES = (
    "repeats",
    "a stride up",
    "a stride down",
    "loops",
    "several rows",
    "a quiet segment",
    "a quiet segment that emits",
    "a segment of few cycles",
    "outputs of several segments",
    "an end that does not say that it emits",
)


class Origin(NamedTuple):
    """The program word that gave an output.

    Attributes
    ----------
    segment, repeat, cycle
        Number of the segment, which repeat of it, which of its words.
    """

    segment: int
    repeat: int
    cycle: int


class Pass(NamedTuple):
    """One repeat of a segment in a function's chain."""

    number: int
    segment: Segment
    repeat: int

    @property
    def last(self) -> bool:
        """Whether it is the last repeat."""
        return self.repeat == self.segment.repeat - 1

    @property
    def in_base(self) -> int:
        """What is added to the numbers of what it loads."""
        return self.segment.in_base + self.repeat * self.segment.in_stride

    @property
    def out_base(self) -> int:
        """What is added to the numbers of its outputs."""
        return self.segment.out_base + self.repeat * self.segment.out_stride


def array_of(
    machine: Machine,
    words: list[Word],
    segments: list[Segment],
    table: list[Function],
    image: dict[Location, int],
) -> Array:
    """What an array is loaded with that has no names."""
    rest = {"functions": {}, "scratch": machine.scratch_depth, "programs": {}}
    return Array(machine, words, segments, table, image=image, **rest)


def passes(segments: Sequence[Segment], function: Function) -> Iterator[Pass]:
    """All repeats of the segments of a function's chain, in order."""
    for number, segment in zip(function.numbers(), function.chain(segments), strict=True):
        for repeat in range(segment.repeat):
            yield Pass(number, segment, repeat)


def words_of(array: Array, segment: Segment) -> list[Word]:
    """The words of a segment."""
    return array.words[segment.start : segment.start + segment.length]


def origins(array: Array, function: Function) -> list[dict[int, Origin]]:
    """For each row of a function: number of an output -> what gave it."""
    lane = array.machine.output_lane
    rows, found = [], {}
    given: dict[int, list[tuple[int, int]]] = {}  # of a segment: cycles and outputs
    for item in passes(array.segments, function):
        if item.number not in given:
            given[item.number] = [
                (cycle, word.output)
                for cycle, word in enumerate(words_of(array, item.segment))
                if lane in word.issues and not word.to_scratch and not item.segment.quiet
            ]
        base = item.out_base
        for cycle, output in given[item.number]:
            number = (base + output) % array.machine.out_depth
            found[number] = Origin(item.number, item.repeat, cycle)
        if item.segment.emit and item.last:
            rows.append(found)
            found = {}
    return rows


class Move(NamedTuple):
    """A value of a segment that is computed or stored.

    Attributes
    ----------
    target
        A register, (bank, address), or the result of a lane, ("result", lane, cycle).
    seen
        Items that it meets, as bits.
    sources
        What it is computed from, written as the target is.
    word
        The program word, if it outputs or loads from the scratch memory.
    """

    target: tuple
    seen: int
    sources: list
    word: Word | None


class StreamCoverage(Coverage):
    """What led to words that left on the stream, and what tables had.

    Besides what the base class wants:

    - ``path`` of the output lane, ``store`` of what was loaded
    - ``scratch``: what was loaded from there, stored there by the same segment, another one, a
      quiet one
    - ``table``: what segments and functions had, :data:`FEATURES`

    A result counts if what leaves for a call was computed from it. A lane that datapaths share is
    chased by what is issued as soon after it as may be.
    """

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.wanted |= {("table", feature) for feature in FEATURES}
        if machine.contexts >= SHORT:
            self.wanted.remove(("table", "a segment of few cycles"))
        if machine.scratch:
            self.wanted |= {("scratch", what) for what in ("same", "other", "quiet")}
        self._bit = {item: 1 << i for i, item in enumerate(sorted(self.wanted, key=str))}

    def collect_array(self, array: Array) -> None:
        """Add programs and tables."""
        self.count.update(self.met(array))

    def met(self, array: Array) -> set[tuple]:
        """What programs and tables meet."""
        moves = {}  # of pieces of the program
        return set().union(*(self._met(array, function, moves) for function in array.table))

    def _met(self, array: Array, function: Function, moves: dict) -> set[tuple]:
        segments = [*function.chain(array.segments)]
        rows = origins(array, function)
        features = {
            "repeats": any(s.repeat > 1 for s in segments),
            "a stride up": any(s.repeat > 1 and s.in_stride > 0 for s in segments),
            "a stride down": any(s.repeat > 1 and s.in_stride < 0 for s in segments),
            "loops": function.loops > 1,
            "several rows": len(rows) > 1,
            "a quiet segment": any(s.quiet for s in segments),
            "a quiet segment that emits": any(s.quiet and s.emit for s in segments),
            "a segment of few cycles": any(
                s.length * s.repeat * self.machine.contexts < SHORT for s in segments
            ),
            "outputs of several segments": any(
                len({row[k].segment for k in range(function.outputs)}) > 1 for row in rows
            ),
            "an end that does not say that it emits": not array.segments[function.last].emit,
        }
        seen, found, outputs, scratch = 0, {}, {}, {}
        for item in passes(array.segments, function):
            body = item.segment.start, item.segment.length
            if body not in moves:
                moves[body] = self._moves(words_of(array, item.segment))
            self._pass(moves[body], item, found, outputs, scratch)
            if item.segment.emit and item.last:
                for k in range(function.outputs):
                    seen |= outputs[k]
                outputs = {}
        met = {item for item, bit in self._bit.items() if seen & bit}
        return met | {("table", name) for name, there in features.items() if there}

    def _moves(self, words: Sequence[Word]) -> list[Move]:
        """What a segment moves, in order."""
        machine, bit, moves = self.machine, self._bit, []
        for cycle, (word, issues, writes) in enumerate(decoded(machine, words)):
            before = words[cycle - 1].writes if cycle else {}
            for (lane, _), _, operands in issues:
                seen, sources = 0, []
                for (port, address, origin, own, _), operand in zip(
                    operands, word.issues[lane], strict=True
                ):
                    fresh = address < 0
                    seen |= bit["path", lane, port, fresh, bool(operand.negative)]
                    if fresh:
                        sources += [("result", *origin.issue)] if origin else []
                        continue
                    sources.append((port.bank, address))
                    if not own:
                        seen |= bit["common", port]
                    if word.writes.get(port.bank) == address:
                        seen |= bit["same", port]
                    if before.get(port.bank) == address:
                        seen |= bit["next", port]
                op = machine.lanes[lane].op
                transfer = word if op == "output" or op == "load" and word.from_scratch else None
                moves.append(Move(("result", lane, cycle), seen, sources, transfer))
            for bank, address, origin in writes:
                lane, issued = origin.issue
                turn = machine.datapaths if machine.lanes[lane].op in RARE else 1
                chased = issued >= turn and lane in words[issued - turn].issues
                seen = bit["store", lane, bank, chased]
                moves.append(Move((bank, address), seen, [("result", lane, issued)], None))
        return moves

    def _pass(
        self, moves: Sequence[Move], item: Pass, found: dict, outputs: dict, scratch: dict
    ) -> None:
        """Follow what the values of a pass came from: sets of items, as bits.

        ``found``: of registers, and of results of this pass.
        """
        for target, seen, sources, word in moves:
            for source in sources:
                seen |= found.get(source, 0)
            if word is None:
                pass
            elif not sources:
                more, stored = scratch[item.in_base + word.load]
                same = "same" if stored.number == item.number else "other"
                seen |= more | self._bit["scratch", same]
                if stored.segment.quiet:
                    seen |= self._bit["scratch", "quiet"]
            elif word.to_scratch:
                scratch[item.out_base + word.output] = seen, item
            elif not item.segment.quiet:
                outputs[item.out_base + word.output] = seen
            found[target] = seen


class Tables:
    """A generator of programs with their tables and registers.

    Parameters
    ----------
    machine
        What they run on, with streams.
    rng
        They are a function of its state.
    """

    def __init__(self, machine: Machine, rng: np.random.Generator) -> None:
        self.machine, self.rng = machine, rng
        self.programs = Programs(machine, rng)
        self.programs.coverage = self.coverage = StreamCoverage(machine)

    def array(self, apart: bool = False) -> Array:
        """What an array is loaded with; a run from these registers stores few infinite results.

        ``apart``: no register is both read and stored, so that a call does not depend on those
        before.
        """
        wanted, found, most = set(self.coverage.missing()), None, -1
        for drawn in range(MOST_CANDIDATES):
            array = self._array(apart)
            new = len(wanted & self.coverage.met(array))
            if new > most:
                found, most = array, new
            if drawn >= CANDIDATES and (most or not wanted):
                break
        found = replace(found, image=self.programs.registers(SPECIALS))
        self._repair(found)
        self.coverage.collect_array(found)
        return found

    def _array(self, apart: bool) -> Array:
        machine, rng = self.machine, self.rng
        self.programs.share()
        bodies = self._bodies(apart)
        total = sum(map(len, bodies))
        gap = int(rng.integers(min(machine.program_depth - total, SHORT) + 1))
        words, starts = [Word() for _ in range(gap)], []
        for body in bodies:
            starts.append(len(words))
            words += body
        while True:
            segments = self._segments(bodies, starts)
            array = array_of(machine, words, segments, [], {})
            self._keep_inside(array)
            count = int(rng.integers(1, min(machine.functions, MOST_FUNCTIONS) + 1))
            table = [self._function(array) for _ in range(count)]
            if all(table):
                break
        self._load_what_is_there(array, table)
        array = replace(array, table=[self._with_inputs(array, function) for function in table])
        return array

    def call(self, array: Array, function: int, specials: float = SPECIALS) -> list[int]:
        """Words of a call."""
        return self.programs.numbers(array.table[function].inputs, specials)

    def _bodies(self, apart: bool) -> list[list[Word]]:
        """Pieces of the program that become segments; the last one outputs registers."""
        machine, rng = self.machine, self.rng
        longest = max(machine.latency.values())
        left = machine.program_depth
        dump = self._dump(min(left // 3, machine.out_depth), apart)
        left -= len(dump)
        bodies = []
        for _ in range(int(rng.integers(1, 4))):
            length = int(rng.integers(1, longest + 20))
            if rng.random() < 0.2:
                length = int(rng.integers(1, SHORT))
            length = min(length, left)
            if not length:
                break
            left -= length
            loads = int(rng.integers(1, machine.in_depth + 1))
            body = self.programs.segment(length, apart, loads, machine.out_depth)
            self._number_outputs(body)
            bodies.append(body)
        return [*bodies, dump]

    def _number_outputs(self, body: Sequence[Word]) -> None:
        """Give them numbers from 0 on, some of them several times."""
        lane, rng = self.machine.output_lane, self.rng
        words = [word for word in body if lane in word.issues and not word.to_scratch]
        if words:
            span = int(rng.integers((len(words) + 1) // 2, len(words) + 1))
            span = min(span, self.machine.out_depth)
            for word, number in zip(words, rng.permutation(len(words)), strict=True):
                word.output = int(number) % span

    def _dump(self, most: int, apart: bool) -> list[Word]:
        """Words that output registers, a different one each; ``apart``: that are never stored."""
        machine, rng = self.machine, self.rng
        lane, registers = machine.output_lane, machine.banks * machine.depth // (1 + apart)
        chosen = rng.permutation(registers)[: max(1, most)]
        words = []
        for number, register in enumerate(map(int, chosen)):
            bank, address = register % machine.banks, register // machine.banks
            operand = Operand(bank, bool(rng.integers(2)))
            words.append(Word({Port(bank, 0): address}, issues={lane: (operand,)}, output=number))
        return words

    def _segments(self, bodies: Sequence[list[Word]], starts: Sequence[int]) -> list[Segment]:
        """Segments of these pieces, some of them several times; the last one is the last piece."""
        machine, rng = self.machine, self.rng
        most = min(machine.segments, MOST_SEGMENTS)
        segments = []
        for _ in range(int(rng.integers(1, most))):
            number = int(rng.integers(len(bodies)))
            body = bodies[number]
            repeat = int(rng.integers(1, MOST_REPEATS + 1))
            in_base, in_stride = self.places(machine.in_depth, _loads(machine, body), repeat)
            out_base, out_stride = self.places(machine.out_depth, _outputs(machine, body), repeat)
            quiet, emit = rng.random() < 0.25, rng.random() < 0.3
            if rng.random() < 0.5:
                out_base = out_stride = 0
            if machine.scratch and rng.random() < 0.5:
                in_base = in_stride = 0
            segments.append(
                Segment(
                    starts[number],
                    len(body),
                    repeat,
                    in_base,
                    in_stride,
                    out_base,
                    out_stride,
                    bool(quiet),
                    bool(emit),
                )
            )
        return [*segments, Segment(starts[-1], len(bodies[-1]), emit=True)]

    def places(self, depth: int, span: int, repeat: int) -> tuple[int, int]:
        """Base and stride with which so many words stay inside a memory."""
        room, rng = depth - span, self.rng
        first, last = (int(x) for x in rng.integers(room + 1, size=2))
        stride = 0
        if repeat > 1:
            stride = (last - first) // (repeat - 1)
            if first + stride * (repeat - 1) < 0:
                stride += 1
        return first, stride

    def _function(self, array: Array) -> Function | None:
        """A chain of these segments that outputs something; None if none is found."""
        rng, segments = self.rng, array.segments
        for _ in range(TRIES):
            last = len(segments) - 1
            if rng.random() >= DUMPS:
                last = int(rng.integers(len(segments)))
            first = 0 if rng.random() < FROM_FIRST else int(rng.integers(last + 1))
            loop_from = int(rng.integers(first, last + 1))
            loops = int(rng.integers(1, MOST_LOOPS + 1))
            function = Function(first, last, loop_from, loops, 1, 1)
            words = sum(item.segment.length for item in passes(segments, function))
            outputs = given(array, function) if words <= MOST_WORDS else 0
            if not outputs:
                continue
            if rng.random() < FEWER:
                outputs = int(rng.integers(1, outputs + 1))
            return replace(function, outputs=outputs)
        return None

    def _with_inputs(self, array: Array, function: Function) -> Function:
        """The function with as many inputs as it needs, or more."""
        chain = passes(array.segments, function)
        inputs = max(1, *(_needed(array, item) for item in chain))
        if self.rng.random() < 0.5:
            inputs = int(self.rng.integers(inputs, self.machine.in_depth + 1))
        return replace(function, inputs=inputs)

    def _keep_inside(self, array: Array) -> None:
        """What would lie beyond the scratch memory is not stored there."""
        for number, segment in enumerate(array.segments):
            for repeat in range(segment.repeat):
                base = Pass(number, segment, repeat).out_base
                for word in words_of(array, segment):
                    word.to_scratch &= base + word.output < self.machine.scratch_depth

    def _load_what_is_there(self, array: Array, table: Sequence[Function]) -> None:
        """What a function would load from the scratch memory before it is there is an input."""
        machine = self.machine
        load, output = _load_lane(machine), machine.output_lane
        for function in table:
            clock, stored = 0, {}  # number -> clock
            for item in passes(array.segments, function):
                for word in words_of(array, item.segment):
                    number = item.in_base + word.load
                    before = stored.get(number, clock)
                    if output in word.issues and word.to_scratch:
                        stored[item.out_base + word.output] = clock
                    there = clock - before >= machine.scratch_words
                    there &= stored.get(number) != clock  # it outputs this one itself
                    word.from_scratch &= load not in word.issues or there
                    clock += 1

    def _repair(self, array: Array) -> None:
        """What a call of each function would store that is infinite is not stored."""
        calls = [self.call(array, number, 0) for number in range(len(array.table))]
        for _ in range(REPAIRS):
            faults = [
                fault
                for function, call in zip(array.table, calls, strict=True)
                for fault in self._faults(array, function, call)
            ]
            if not faults:
                return
            for word, bank in faults:
                word.writes.pop(bank, None)
        raise AssertionError(f"no healthy program after {REPAIRS} repairs")

    def _faults(
        self, array: Array, function: Function, call: Sequence[int]
    ) -> list[tuple[Word, int]]:
        """The first stores that are infinite: [(word, bank)]."""
        fmt = self.machine.fmt
        twin, memory = Twin(self.machine), CallMemory(call)
        twin.load(array.image)
        for item in passes(array.segments, function):
            words, segment = words_of(array, item.segment), item.segment
            memory.in_base = item.in_base
            memory.out_base, memory.quiet = item.out_base, segment.quiet
            if not twin.run_context(words, 0, memory):
                found = {
                    (store.cycle, store.bank)
                    for store in twin.stores
                    if store.bits & ~fmt.sign_mask >= fmt.inf
                }
                return [(words[cycle], bank) for cycle, bank in sorted(found)]
        return []


def _load_lane(machine: Machine) -> int:
    return next(i for i, lane in enumerate(machine.lanes) if lane.op == "load")


def _loads(machine: Machine, words: Sequence[Word]) -> int:
    """1 + the highest number of a word that is loaded; 0 if none is."""
    lane = _load_lane(machine)
    return max((1 + word.load for word in words if lane in word.issues), default=0)


def _inputs(machine: Machine, words: Sequence[Word]) -> int:
    """1 + the highest number of an input that is loaded; 0 if none is."""
    return _loads(machine, [word for word in words if not word.from_scratch])


def _outputs(machine: Machine, words: Sequence[Word]) -> int:
    """1 + the highest number of a word that is output; 0 if none is."""
    lane = machine.output_lane
    return max((1 + word.output for word in words if lane in word.issues), default=0)


def _needed(array: Array, item: Pass) -> int:
    """Words of a call that a pass needs."""
    loads = _inputs(array.machine, words_of(array, item.segment))
    return item.in_base + loads if loads else 0


def given(array: Array, function: Function) -> int:
    """Outputs, from 0 on, that all rows of a function give."""
    least = array.machine.out_depth
    for row in origins(array, function):
        least = min(least, next((k for k in range(least) if k not in row), least))
    return least
