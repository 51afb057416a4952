"""A red run of the step array, seen from inside: its first store that is not the model's.

A run is judged by what leaves on the stream and what the bus shows. Where that is wrong, the same
run is done once more in the same simulation, and every store of every bank, and every write to an
output memory, is compared with the model's: those of a system in their order, up to the first that
differs. A green run pays nothing for it.
"""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import cocotb

from pymodel.hardware.model_signals import ModelSignals
from pymodel.hardware.on_bus import inside
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_array import StepArray, machine_of
from pymodel.hardware.step_watch import (
    Bits,
    Wrong,
    bits_of,
    said,
    value_text,
    watched,
    write_ports,
)
from pymodel.hardware.waiting import HangError
from pymodel.machine.array import ArrayTwin
from pymodel.machine.isa import OFFERED, Lane, Location, Machine, Operand, Port, Word
from pymodel.machine.model import CallMemory, Store, Twin
from pymodel.runs.array_runs import Array
from tb.common.array_calls import Call, batches_of
from tb.common.array_tables import Pass, passes

#: What is read below the top level.
SIGNALS = (
    "array_core.now",
    "array_core.live_q",
    "step_datapath.operand_q",
    *(
        f"{module}.write_{port}"
        for module in ("step_bank", "array_memory")
        for port in ("i", "address_i", "data_i")
    ),
)
OUTPUTS = "u_datapath.u_outputs"  # path of the output memory in a datapath


def modelled(params: Mapping[str, Any]) -> dict[str, int]:
    """Write ports of banks and output memories, by parameters of the module step_array."""
    machine = machine_of(params)
    every = range(machine.datapaths)
    banks = (_bank_path(v, bank) for v in every for bank in range(machine.banks))
    outputs = (_path(v, OUTPUTS) for v in every)
    halves = 2 * machine.out_depth  # one is written while the other is read
    return write_ports(banks, machine, machine.depth) | write_ports(outputs, machine, halves)


@dataclass
class Event:
    """What the model stores in one word of a system, or the word that it outputs.

    Attributes
    ----------
    call, item, cycle
        For which call; in which pass of its function; in which word of that.
    words
        Of the pass.
    stores
        Bank -> Store; empty for an output.
    output, bits
        Number of the output, and what it is.
    """

    call: int
    item: Pass
    cycle: int
    words: Sequence[Word]
    stores: dict[int, Store] = field(default_factory=dict)
    output: int = -1
    bits: int = 0


class _Outputs(dict):
    """Outputs of a call, and each that was written, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[tuple[int, int]] = []

    def __setitem__(self, number: int, bits: int) -> None:
        super().__setitem__(number, bits)
        self.written.append((number, bits))


class _Recorder(Twin):
    """A datapath's model that hands on what each pass did."""

    def __init__(
        self, machine: Machine, done: Callable[[int, Sequence[Word], list, list], None]
    ) -> None:
        super().__init__(machine)
        self._done = done

    def run_context(
        self, words: Sequence[Word], context: int, memory: CallMemory | None = None
    ) -> bool:
        if not isinstance(memory.outputs, _Outputs):
            memory.outputs = _Outputs()
        memory.outputs.written = []
        healthy = super().run_context(words, context, memory)
        self._done(context, words, self.stores, memory.outputs.written)
        return healthy


def events_of(
    array: Array, calls: Sequence[Call], stored: Sequence[int]
) -> tuple[dict[int, deque[Event]], dict[int, deque[Event]]]:
    """What every system stores, and outputs, in a run from the array's registers, in order."""
    machine = array.machine
    lane = machine.output_lane
    stores, outputs = defaultdict(deque), defaultdict(deque)
    chains, numbers = {}, {}  # system -> passes left of its call, the call

    def done(system: int, words: Sequence[Word], found: list, written: list) -> None:
        item, call = next(chains[system]), numbers[system]
        by_cycle = defaultdict(dict)
        for store in found:
            by_cycle[store.cycle][store.bank] = store
        stores[system].extend(
            Event(call, item, cycle, words, by_cycle[cycle]) for cycle in sorted(by_cycle)
        )
        given = (lane in word.issues and not word.to_scratch for word in words)
        issued = [cycle for cycle, there in enumerate(given) if there]
        for cycle, (number, bits) in zip(issued, written, strict=bool(written)):
            outputs[system].append(Event(call, item, cycle, words, output=number, bits=bits))

    twin = ArrayTwin(machine, array.words, array.segments, array.table)
    twin.datapaths = [
        _Recorder(
            machine,
            lambda context, *rest, first=machine.contexts * v: done(first + context, *rest),
        )
        for v in range(machine.datapaths)
    ]
    twin.load(array.image)
    for function, members in batches_of(array, calls, stored):
        for system, call in enumerate(members):
            chains[system] = passes(array.segments, array.table[function])
            numbers[system] = call
        twin.run([(function, calls[call].words) for call in members])
    return stores, outputs


class Judge:
    """Compares what an array stores and outputs with the model, cycle by cycle.

    Parameters
    ----------
    engine, array
        The array, and what is loaded.
    calls, stored
        Of the run; numbers of the functions that are stored.
    model
        Shows what the model stores and outputs: nothing for a context that has no call.
    """

    def __init__(
        self,
        engine: StepArray,
        array: Array,
        calls: Sequence[Call],
        stored: Sequence[int],
        model: ModelSignals,
    ) -> None:
        self._array, self._machine, self._model = array, array.machine, model
        self._stores, self._outputs = events_of(array, calls, stored)
        self._last: dict[tuple[str, int], Event] = {}  # that the model stored, or put out
        counts = [len(lane.sides) for lane in self._machine.lanes]
        self._first = list(accumulate(counts, initial=0))  # operand register of each lane
        core = inside(engine.dut).u_core
        self._datapaths = [
            _Datapath(core.gen_datapath[v], self._machine) for v in range(self._machine.datapaths)
        ]

    def cycle(self) -> Wrong | None:
        """Judge what stands in the array now."""
        found = []
        for v, datapath in enumerate(self._datapaths):
            datapath.look()
            found += [self._store(v, datapath), self._output(v, datapath)]
        return next(filter(None, found), None)

    def end(self) -> Wrong | None:
        """Judge the end of the run: nothing may be missing."""
        for what, events in (("stores", self._stores), ("outputs", self._outputs)):
            for system, left in sorted(events.items()):
                if left:
                    v, context = divmod(system, self._machine.contexts)
                    where = f"{what} that never came, or while live_q said that there is no call: "
                    where += self._where(left[0], v, context)
                    return Wrong(_path(v, "live_q"), 0, len(left), None, where)
        return None

    def _store(self, v: int, datapath: "_Datapath") -> Wrong | None:
        context, live = datapath.seen[-1]
        got = datapath.stores
        self._show(v, {})
        if context is None or live is None or context >= live or not got:
            return None
        events = self._stores[self._machine.contexts * v + context]
        if not events:
            where = self._ended("stored", v, context)
            return Wrong(_bank(v, min(got), "write_i"), 1, 0, None, where)
        event = self._last["stored", self._machine.contexts * v + context] = events.popleft()
        self._show(v, event.stores)
        for bank in sorted(got.keys() | event.stores.keys()):
            wrong = self._bank(v, context, bank, got.get(bank), event, datapath)
            if wrong:
                return wrong
        return None

    def _show(self, v: int, stores: Mapping[int, Store]) -> None:
        """Show what the model stores in a datapath."""
        self._model.show(said(lambda bank: _bank_path(v, bank), stores, self._machine.banks))

    def _bank(
        self,
        v: int,
        context: int,
        bank: int,
        got: tuple[Bits, Bits] | None,
        event: Event,
        datapath: "_Datapath",
    ) -> Wrong | None:
        want, where = event.stores.get(bank), self._where(event, v, context)
        details = self._details(event, want, datapath) if want else ()
        if got is None or want is None:
            args = (int(want is None), int(want is not None), None, where, details)
            return Wrong(_bank(v, bank, "write_i"), *args)
        for port, one, other, fmt in (
            ("write_address_i", got[0], want.address, None),
            ("write_data_i", got[1], want.bits, self._machine.fmt),
        ):
            if one != other:
                return Wrong(_bank(v, bank, port), one, other, fmt, where, details)
        return None

    def _output(self, v: int, datapath: "_Datapath") -> Wrong | None:
        machine = self._machine
        context, live = datapath.seen[-1 - min(machine.operand_latency, len(datapath.seen) - 1)]
        ports = _path(v, OUTPUTS)
        self._model.show({f"{ports}.write_i": 0})
        if datapath.output is None or context is None or live is None or context >= live:
            return None
        events = self._outputs[machine.contexts * v + context]
        address, bits = datapath.output
        if not events:
            where = self._ended("output", v, context)
            return Wrong(f"{ports}.write_i", 1, 0, None, where)
        event = self._last["output", machine.contexts * v + context] = events.popleft()
        where, fmt = self._where(event, v, context), machine.fmt
        place = None if address is None else address % (machine.contexts * machine.out_depth)
        want = context * machine.out_depth + event.output % machine.out_depth
        half = 0 if address is None else address - place
        shown = {"write_i": 1, "write_address_i": half + want, "write_data_i": event.bits}
        self._model.show({f"{ports}.{port}": value for port, value in shown.items()})
        lane = len(machine.lanes) - 1
        (operand,) = event.words[event.cycle].issues[lane]
        details = [
            ("outputs", f"{value_text(fmt, event.bits)} as output {event.output}"),
            ("operand", self._source(event, event.cycle, operand, 0)),
        ]
        if place != want:
            name = f"{ports}.write_address_i"
            return Wrong(name, place, want, None, f"{where}, without its half", details)
        if bits != event.bits:
            name = f"{ports}.write_data_i"
            return Wrong(name, bits, event.bits, fmt, where, details)
        return None

    def _ended(self, what: str, v: int, context: int) -> str:
        """Where the model did the last of what the RTL goes on to do."""
        last = self._last.get((what, self._machine.contexts * v + context))
        if last is None:
            return f"the model has no call there: datapath {v}, context {context}"
        return f"the model {what} its last word in {self._where(last, v, context)}"

    def _where(self, event: Event, v: int, context: int) -> str:
        segment, cycle = event.item.segment, event.cycle
        return (
            f"call {event.call}: datapath {v}, context {context}, program word "
            f"{segment.start + cycle}, word {cycle} of {segment.length} of segment "
            f"{event.item.number}, repeat {event.item.repeat}"
        )

    def _details(self, event: Event, store: Store, datapath: "_Datapath") -> list[tuple[str, str]]:
        """The operation that gives what is to be stored, and its operands."""
        machine, fmt = self._machine, self._machine.fmt
        index, lane = self._lane(event, store.bank)
        issued = event.cycle - machine.latency[lane.op]
        register = self._register(Location(store.bank, store.address % machine.depth))
        lines = [
            ("stores", f"{value_text(fmt, store.bits)} in {register}"),
            ("operation", f"{lane.op} in lane {index}, issued in word {issued}"),
        ]
        word = event.words[issued]
        if lane.op == "load":
            what = "scratch" if word.from_scratch else "input"
            return [*lines, (what, str(event.item.in_base + word.load))]
        back = machine.contexts * machine.latency[lane.op] - machine.operand_latency
        found = datapath.operands_before(back)
        operands = zip(store.operands, word.issues[index], lane.sides, strict=True)
        for i, (want, operand, side) in enumerate(operands):
            got = found[self._first[index] + i]
            text = f"{self._source(event, issued, operand, side)} = {value_text(fmt, want)}"
            differs = "" if got == want else f", but the lane got {value_text(fmt, got)}"
            lines.append((f"operand {'ab'[i]}", text + differs))
        return lines

    def _lane(self, event: Event, bank: int) -> tuple[int, Lane]:
        """The lane whose result a bank stores."""
        machine, word = self._machine, event.words[event.cycle]
        op = None
        if bank in word.loaded:
            op = "load"
        elif bank == machine.shared_bank:
            op = "sincos" if word.sine else "rec"
        return next(
            (i, lane)
            for i, lane in enumerate(machine.lanes)
            if bank in lane.banks and (lane.op == op if op else lane.op != "load")
        )

    def _source(self, event: Event, cycle: int, operand: Operand, side: int) -> str:
        """Where an operand comes from."""
        bank, negative = operand
        word, port = event.words[cycle], Port(bank, side)
        address = word.reads[port]
        if address is OFFERED:
            text = f"what bank {bank} is offered"
        else:
            text = self._register(Location(bank, address))
            text += " of context 0" if port in word.common else ""
        return f"-({text})" if negative else text

    def _register(self, location: Location) -> str:
        return f"register {location.address} of bank {location.bank}"


class _Datapath:
    """What stands in a datapath, now and some cycles ago."""

    def __init__(self, scope: Any, machine: Machine) -> None:
        lanes = scope.u_datapath.u_lanes
        self._now, self._live = scope.now, scope.live_q
        self._banks = [lanes.gen_bank[i].u_bank for i in range(machine.banks)]
        operands = range(sum(len(lane.sides) for lane in machine.lanes))
        self._operands = [lanes.gen_operand[i].operand_q for i in operands]
        self._memory = scope.u_datapath.u_outputs
        history = 1 + machine.contexts * max(machine.latency.values()) + machine.operand_latency
        self.seen: deque = deque(maxlen=history)  # context, and systems that are live
        self._past: deque = deque(maxlen=history)

    def look(self) -> None:
        """Take what stands there in this cycle."""
        self.seen.append((bits_of(self._now), bits_of(self._live)))
        self._past.append([bits_of(operand) for operand in self._operands])

    @property
    def stores(self) -> dict[int, tuple[Bits, Bits]]:
        """Bank -> address and bits that it stores."""
        return {i: _write(bank) for i, bank in enumerate(self._banks) if bits_of(bank.write_i) != 0}

    @property
    def output(self) -> tuple[Bits, Bits] | None:
        """Address and bits of what is written to the output memory."""
        return _write(self._memory) if bits_of(self._memory.write_i) != 0 else None

    def operands_before(self, cycles: int) -> list[Bits]:
        """What stood in the operand registers so many cycles ago."""
        return self._past[-1 - min(cycles, len(self._past) - 1)]


def _write(scope: Any) -> tuple[Bits, Bits]:
    return bits_of(scope.write_address_i), bits_of(scope.write_data_i)


def _path(v: int, name: str) -> str:
    return f"u_core.gen_datapath[{v}].{name}"


def _bank(v: int, bank: int, port: str) -> str:
    return f"{_bank_path(v, bank)}.{port}"


def _bank_path(v: int, bank: int) -> str:
    return _path(v, f"u_datapath.u_lanes.gen_bank[{bank}].u_bank")


@asynccontextmanager
async def seen_from_inside(
    engine: StepArray,
    board: Scoreboard,
    array: Array,
    calls: Sequence[Call],
    stored: Sequence[int],
    again: Callable[[], Awaitable[Any]],
) -> AsyncIterator[None]:
    """Around a run and its checks: where they fail, report the first store that is wrong.

    Parameters
    ----------
    engine, board
        The array, with program and tables loaded; the scoreboard.
    array, calls, stored
        What is loaded, the calls of the run, and the functions that are stored.
    again
        Does the run once more.
    """
    try:
        yield
    except HangError:
        raise
    except AssertionError as error:
        if not hasattr(inside(engine.dut), "u_sequencer"):  # a netlist in the array's place
            raise
        await engine.write("CTRL", engine.mask("CTRL", "RESET"))
        engine.drop()
        await engine.write_registers(array.image)
        judge = Judge(engine, array, calls, stored, board.model)
        run = cocotb.start_soon(_end_of(again()))
        wrong, part = await watched(engine.dut.clk_i, run, judge.cycle, board.model)
        wrong = wrong or judge.end()
        engine.sink.assert_reset(True)  # of what comes while waves go on, nothing is to be taken
        first, *rest = str(error).splitlines()
        if wrong is None:
            right = f"all that {part} stores and puts out is right"
            text = f"done once more, {right}: look at tokens and streams"
            rest = rest or [f"  rerun     {board.rerun}"]
            raise AssertionError("\n".join([first, *rest, f"  inside    {text}"])) from None
        raise AssertionError(wrong.told(board, first)) from None


async def _end_of(run: Awaitable[Any]) -> None:
    """The end of a run, wrong or not."""
    with suppress(AssertionError):
        await run
