"""Tables of the step array that are written, not drawn, with the program that they are of.

Most are of :func:`doubling_words`. Each is given the bench's generator, for its machine, numbers
and registers.
"""

from copy import deepcopy
from dataclasses import replace
from itertools import chain

import numpy as np

from pymodel.machine.array import Function, Segment
from pymodel.machine.isa import OFFERED, SIDES, Location, Machine, Operand, Port, Word
from pymodel.runs.array_runs import Array
from tb.common.array_tables import Tables, array_of, given, passes
from tb.common.coprocessor_bench import ALL_BITS

PIECE, REST = "piece", "rest"
LOAD, FILL, FILL_SCRATCH = "load", "fill", "fill scratch"
TO_SCRATCH, FROM_SCRATCH = "to scratch", "from scratch"
AGAIN, QUIET = 0.15, 0.2  # parts of the segments
MOST_REPEATS = MOST_LOOPS = 2
TRIES = 400  # functions that are drawn until one outputs something


def doubling_words(machine: Machine) -> list[Word]:
    """Output what is loaded, and store twice that in the last word."""
    shared, ops = machine.shared_bank, [lane.op for lane in machine.lanes]
    adder, load, output = (ops.index(op) for op in ("add", "load", "output"))
    arrives = machine.latency["load"]
    words = [Word() for _ in range(arrives + machine.latency["add"] + 1)]
    words[0].issues[load] = ()
    both = words[arrives]
    both.loaded = {shared}
    both.reads = {Port(shared, side): OFFERED for side in range(SIDES)}
    both.issues = {adder: (Operand(shared),) * 2, output: (Operand(shared),)}
    words[-1].writes[0] = 0
    return words


def filling(tables: Tables, most: int = ALL_BITS) -> Array:
    """A table for :func:`doubling_words`.

    Calls fill the memory of inputs, and their rows that of outputs, up to so many words.
    """
    machine, words = tables.machine, doubling_words(tables.machine)
    inputs, outputs = min(machine.in_depth, most), min(machine.out_depth, most)
    segments = [Segment(0, len(words), outputs, out_stride=1, emit=True)]
    table = [Function(0, 0, 0, 1, inputs, outputs)]
    return array_of(machine, words, segments, table, tables.programs.registers())


def backwards(tables: Tables) -> Array:
    """A table for :func:`doubling_words` that begins at the last places and goes back."""
    machine, words = tables.machine, doubling_words(tables.machine)
    inputs, outputs = (
        int(tables.rng.integers(1, d + 1)) for d in (machine.in_depth, machine.out_depth)
    )
    back = -1 if inputs >= outputs else 0
    segment = Segment(0, len(words), outputs, inputs - 1, back, outputs - 1, -1, emit=True)
    table = [Function(0, 0, 0, 1, inputs, outputs)]
    return array_of(machine, words, [segment], table, tables.programs.registers())


def quiet_end(tables: Tables) -> Array:
    """A table for :func:`doubling_words`.

    Its function loops over a segment that outputs and a quiet one, behind which that leaves.
    """
    machine, words = tables.machine, doubling_words(tables.machine)
    length = len(words)
    segments = [Segment(0, length), Segment(0, length, quiet=True, emit=True)]
    table = [Function(0, 1, 0, 2, 1, 1)]
    return array_of(machine, words, segments, table, tables.programs.registers())


def doubling(tables: Tables) -> Array:
    """A table for :func:`doubling_words`.

    Function 0 does so with its first input and then with its second one, function 1 with its only
    one twice.
    """
    machine, words = tables.machine, doubling_words(tables.machine)
    length = len(words)
    segments = [Segment(0, length, emit=True), Segment(0, length, in_base=1, emit=True)]
    table = [Function(0, 1, 1, 1, 2, 1), Function(0, 0, 0, 2, 1, 1)]
    return array_of(machine, words, segments, table, tables.programs.registers())


def telling(tables: Tables, image: dict[Location, int]) -> Array:
    """A table whose function outputs what the first register of the shared bank holds."""
    machine, words = tables.machine, [Word()]
    shared, output = machine.shared_bank, machine.output_lane
    words[0].reads = {Port(shared, 0): 0}
    words[0].issues = {output: (Operand(shared),)}
    segments, table = [Segment(0, 1, emit=True)], [Function(0, 0, 0, 1, 1, 1)]
    return array_of(machine, words, segments, table, image)


def adding(tables: Tables) -> Array:
    """A table whose function outputs its first input, and stores the sum of its two inputs."""
    machine = tables.machine
    shared, ops = machine.shared_bank, [lane.op for lane in machine.lanes]
    adder, load, output = (ops.index(op) for op in ("add", "load", "output"))
    arrives = machine.latency["load"]
    words = [Word() for _ in range(arrives + machine.latency["add"] + 2)]
    for number in range(2):
        words[number].issues[load] = ()
        words[number].load = number
        words[arrives + number].loaded = {shared}
    words[arrives].writes[shared] = 0
    both = words[arrives + 1]
    both.reads = {Port(shared, 0): 0, Port(shared, 1): OFFERED}
    both.issues = {adder: (Operand(shared),) * 2, output: (Operand(shared),)}
    words[-1].writes[0] = 1
    segments, table = [Segment(0, len(words), emit=True)], [Function(0, 0, 0, 1, 2, 1)]
    return array_of(machine, words, segments, table, tables.programs.registers())


def through_scratch(tables: Tables) -> Array:
    """A table whose function outputs its input by way of the scratch memory, as soon as it may."""
    machine, shared = tables.machine, tables.machine.shared_bank
    load, output = ([lane.op for lane in machine.lanes].index(op) for op in ("load", "output"))
    arrives = machine.latency["load"]
    passing = [Word() for _ in range(arrives + 1)]
    passing[0].issues[load] = ()
    passing[-1].loaded = {shared}
    passing[-1].reads = {Port(shared, 0): OFFERED}
    passing[-1].issues = {output: (Operand(shared),)}
    there, back = deepcopy(passing), deepcopy(passing)
    there[-1].to_scratch = back[0].from_scratch = True
    there += [Word()] * (machine.scratch_words - 1)
    segments = [Segment(0, len(there)), Segment(len(there), len(back), emit=True)]
    table = [Function(0, 1, 0, 1, 1, 1)]
    return array_of(machine, there + back, segments, table, tables.programs.registers())


def full(tables: Tables, most: int) -> Array:
    """Tables without an empty entry, of segments from all of a program that fills its memory.

    The program begins with words that output a register each: any piece of them is a segment, and
    so is the program from any of them on. Behind these stand :func:`doubling_words`, words that
    fill the memory of outputs, and, if there is a scratch memory, and room, those that fill this,
    that load from there, and that output there. The segments that fill memories are the first of
    the table, and stand again among the others; every function begins with these. The last one
    loops over a quiet segment, which is its end. Bases and strides lead beyond the memories.

    Parameters
    ----------
    tables
        Its machine and numbers are used.
    most
        Words of the first function's chain, about.
    """
    machine, rng = tables.machine, tables.rng
    depth = machine.program_depth
    parts = _parts(machine, rng)
    room = depth - sum(map(len, parts.values()))
    words, place = _telling_words(machine, rng, room, 1), {}
    for part, own in parts.items():
        place[part] = len(words), len(own)
        words += own
    pieces = [part for part in (LOAD, TO_SCRATCH, FROM_SCRATCH) if part in parts]
    pieces += [PIECE, REST] * (room > 0)

    def segment() -> Segment:
        part, repeat = str(rng.choice(pieces)), int(rng.integers(1, MOST_REPEATS + 1))
        if part == PIECE:
            piece = _piece(rng, room)
        elif part == REST:
            start = int(rng.integers(room))
            piece = start, depth - start
        else:
            piece = place[part]
        places = (_base_and_stride(rng, bits) for bits in (machine.in_w, machine.out_w))
        return Segment(*piece, repeat, *chain(*places), quiet=bool(rng.random() < QUIET))

    fills = [Segment(*place[part]) for part in (FILL, FILL_SCRATCH) if part in parts]
    segments, begins = [], []
    while len(segments) < machine.segments:
        is_last = len(segments) + len(fills) >= machine.segments
        if segments and (is_last or rng.random() >= AGAIN):
            segments.append(segment())
            continue
        if segments:
            segments[-1] = replace(segments[-1], emit=bool(rng.integers(2)))
        begins.append(len(segments))
        segments += fills
    del segments[machine.segments :]
    segments[-1] = replace(segments[-1], quiet=True, emit=False)
    array = array_of(machine, words, segments, [], tables.programs.registers())
    table = [_function(array, rng, begins, most)]
    table += [_function(array, rng, begins) for _ in range(machine.functions - 2)]
    table.append(_function(array, rng, begins, to_end=True))
    return replace(array, table=table)


def most_repeats(tables: Tables, repeat: int, loops: int) -> Array:
    """A table whose function 1 outputs a register as often as it can, function 0 once."""
    machine = tables.machine
    words = _telling_words(machine, tables.rng, 1)
    segments = [Segment(0, 1), Segment(0, 1, repeat)]
    table = [Function(0, 0, 0, 1, 1, 1), Function(1, 1, 1, loops, 1, 1)]
    return array_of(machine, words, segments, table, tables.programs.registers())


def _parts(machine: Machine, rng: np.random.Generator) -> dict[str, list[Word]]:
    """What stands at the end of the program of :func:`full`."""
    parts = {LOAD: doubling_words(machine)}
    parts[FILL] = _telling_words(machine, rng, min(machine.out_depth, machine.program_depth // 4))
    if not machine.scratch_depth:
        return parts
    fill = _telling_words(machine, rng, machine.scratch_depth)
    store, load = doubling_words(machine), doubling_words(machine)
    for word in (*fill, store[machine.latency["load"]]):
        word.to_scratch = True
    load[0].from_scratch = True
    until_there = [Word()] * machine.scratch_words
    more = {FILL_SCRATCH: fill + until_there, TO_SCRATCH: store + until_there, FROM_SCRATCH: load}
    fits = sum(map(len, (*parts.values(), *more.values()))) <= machine.program_depth
    return parts | more if fits else parts


def _telling_words(
    machine: Machine, rng: np.random.Generator, count: int, numbers: int = ALL_BITS
) -> list[Word]:
    """Output registers that :func:`doubling_words` does not store, with so many numbers."""
    words = []
    for k in range(count):
        bank, address = int(rng.integers(machine.banks)), int(rng.integers(1, machine.depth))
        issues = {machine.output_lane: (Operand(bank, bool(rng.integers(2))),)}
        words.append(Word({Port(bank, 0): address}, issues=issues, output=k % numbers))
    return words


def _base_and_stride(rng: np.random.Generator, bits: int) -> tuple[int, int]:
    """Any: numbers that they lead to count modulo the depth of the memory."""
    return int(rng.integers(1 << bits)), int(rng.integers(1 - (1 << bits), 1 << bits))


def _piece(rng: np.random.Generator, room: int) -> tuple[int, int]:
    """Start and length."""
    start = int(rng.integers(room))
    return start, int(rng.integers(1, room - start + 1))


def _function(
    array: Array, rng: np.random.Generator, begins: list[int], most: int = 0, to_end: bool = False
) -> Function:
    """A chain that begins with one of these segments; of about so many words, if that is more.

    ``to_end``: it loops, and ends with the table's last segment.
    """
    segments = array.machine.segments
    for _ in range(TRIES):
        first = int(rng.choice(begins))
        last = int(rng.integers(segments - 1 if to_end else first, segments))
        loop_from = int(rng.integers(first, last + 1))
        loops = int(rng.integers(1 + to_end, MOST_LOOPS + 1))
        found = Function(first, last, loop_from, loops, array.machine.in_depth, 1)
        if most:
            once, twice = (_words(array, replace(found, loops=loops)) for loops in (1, 2))
            found = replace(found, loops=loops + max(0, most - once) // (twice - once))
        outputs = given(array, replace(found, loops=min(2, found.loops)))
        if outputs:
            return replace(found, outputs=outputs)
    raise AssertionError(f"no function that outputs anything after {TRIES} tries")


def _words(array: Array, function: Function) -> int:
    """How many its chain has."""
    return sum(item.segment.length for item in passes(array.segments, function))
