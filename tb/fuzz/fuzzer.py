"""A top that is fuzzed, its model, and what both answer."""

import random
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cocotb.triggers import FallingEdge, ValueChange
from cocotb.utils import get_sim_time

from pymodel.hardware import times
from pymodel.hardware.axil import CHANNELS
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.results import add_note
from pymodel.hardware.simulation import Task
from tb.fuzz import model as models
from tb.fuzz.stimulus import Read, Stimulus, Write
from tb.fuzz.top import OPERATIONS, PROGRESS

TEST = "fuzz"  # name of the cocotb test
SHARES = (0.0, 0.0, 0.1, 0.5, 0.9)  # of the accesses that a channel is held back in
RESETS, LOOKS = 0.1, 0.05  # of the batches that end in a reset, that are behind by a look at all
RESET_CYCLES = 1500  # that one comes within
TOLD = 50  # batches between lines of progress
OKAY, SLVERR = 0, 2
NAMES = {OKAY: "OKAY", SLVERR: "SLVERR"}


def now() -> int:
    """Clock cycles since the simulation began, at a falling edge."""
    return int(get_sim_time("ns")) // PERIOD_NS


def answers(value: Any, octets: int, count: int) -> list[int]:
    """The first words of a port, of so many octets each."""
    data = int(value).to_bytes(octets * OPERATIONS, "little")
    return memoryview(data).cast({4: "I", 8: "Q"}[octets])[:count].tolist()


class Fuzzer:
    """A top, its model, and what is sent; the arguments are those of the cocotb test."""

    def __init__(self, dut: Any, task: Task) -> None:
        self.dut, self.task = dut, task
        self.rng = random.Random(f"{task.seed} {task.config}")
        self.model = getattr(models, task.settings["model"])(task.params)
        self.stimulus = Stimulus(self.model, self.rng)
        self.started = 0
        self.counts: Counter[str] = Counter()
        self.complete: int | None = None  # accesses before the last look
        self.seconds = 0.0

    async def run(self, count: int) -> None:
        """So many accesses, and a look at all that can be read."""
        start = time.process_time()
        await self.all(self.stimulus.preamble(), [])
        batch = 0
        while self.accesses < count:
            share = self.rng.choice(SHARES)
            resets = self.rng.random() < RESETS
            writes = self.stimulus.repair()
            writes += self.stimulus.batch(OPERATIONS - len(writes), share)
            reads = [self.stimulus.read(share) for _ in range(OPERATIONS)]
            cycle = self.rng.randrange(RESET_CYCLES) if resets else None
            await self.batch(writes, reads, cycle)
            if self.rng.random() < LOOKS:
                await self.look()
            batch += 1
            if batch % TOLD == 0:
                print(f"{PROGRESS}{self.accesses}", flush=True)
        self.complete = self.accesses
        await self.look()
        self.seconds = time.process_time() - start

    @property
    def accesses(self) -> int:
        """Done so far."""
        return self.counts["reads"] + self.counts["writes"]

    async def look(self) -> None:
        """Stop whatever runs, and read all that can be read."""
        ctrl = self.model.map["CTRL"].offset
        await self.batch([Write(ctrl, models.RESET)], [], None)
        await self.all([], self.stimulus.everything())
        self.counts["looks"] += 1

    async def all(self, writes: list[Write], reads: list[Read]) -> None:
        """Do lists of any length."""
        for i in range(0, max(len(writes), len(reads)), OPERATIONS):
            await self.batch(writes[i : i + OPERATIONS], reads[i : i + OPERATIONS], None)

    async def batch(self, writes: list[Write], reads: list[Read], reset: int | None) -> None:
        """Do accesses, and compare what they answer with the model."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.write_ops_i.value = sum(x.packed << 64 * i for i, x in enumerate(writes))
        dut.read_ops_i.value = sum(x.packed << 32 * i for i, x in enumerate(reads))
        dut.writes_i.value, dut.reads_i.value = len(writes), len(reads)
        dut.reset_i.value, dut.reset_cycle_i.value = int(reset is not None), reset or 0
        self.started ^= 1
        dut.start_i.value = self.started
        base = now()
        if int(dut.done_o.value) != self.started:
            await ValueChange(dut.done_o)
        await FallingEdge(dut.clk_i)
        if int(dut.extra_o.value):  # then other answers may be of nothing, too
            self.check_bus(base)
        self.compare(writes, reads, base)
        if reset is not None and now() - base > reset:
            came = self.writes_seen
            self.model.reset(tuple(writes[came][:3]) if came < len(writes) else None)
            self.counts["resets"] += 1
        self.check_bus(base)

    def check_bus(self, base: int) -> None:
        """No hang, no response of nothing, none that changes."""
        dut, time = self.dut, times.text(get_sim_time("ns"))
        at = f"at {time}, in the batch from {base * PERIOD_NS} ns"
        if int(dut.hung_o.value):
            ends = iter(str(dut.handshakes_o.value))
            levels = ", ".join(f"{name} {next(ends)}/{next(ends)}" for name in CHANNELS)
            self.fail(f"hang {at}: no handshake (valid/ready: {levels})", get_sim_time("ns"))
        wrong = {
            "a response without a request": dut.extra_o,
            "a response that changed before it was taken": dut.unstable_o,
        }
        for what, port in wrong.items():
            bits = int(port.value)
            if bits:
                channel = " and ".join(name for i, name in enumerate("BR") if bits >> i & 1)
                self.fail(f"{what} {at}: channel {channel}", get_sim_time("ns"))

    def compare(self, writes: list[Write], reads: list[Read], base: int) -> None:
        """Give all that came to the model, by the cycle of the access."""
        events = []
        dut, self.writes_seen = self.dut, int(self.dut.written_o.value)
        for i, word in enumerate(answers(dut.write_answers_o.value, 4, self.writes_seen)):
            events.append((word >> 8, 1, i, word & 3, word >> 2 & 1, 0))
        for i, word in enumerate(answers(dut.read_answers_o.value, 8, int(dut.read_o.value))):
            head, data = word >> 32, word & models.WORD
            events.append((head >> 8, 0, i, head & 3, head >> 2 & 1, data))
        for stamp, is_write, i, response, irq, data in sorted(events):
            cycle = base + stamp - 1  # the response is there a cycle behind the access
            self.same_interrupt(writes[i] if is_write else reads[i], irq, cycle)
            if is_write:
                write = writes[i]
                want = self.model.write(cycle, write.address, write.data, write.strobes)
                self.same_response("write", "bresp", write, response, want, base + stamp)
                self.counts["writes"] += 1
                self.counts["write errors"] += not want
            else:
                read = reads[i]
                want, words = self.model.read(cycle, read.address)
                self.same_response("read", "rresp", read, response, want, base + stamp)
                self.counts["reads"] += 1
                self.counts["read errors"] += not want
                self.same_word(read, data, words, base + stamp)

    def same_interrupt(self, access: Write | Read, got: int, cycle: int) -> None:
        """A cycle behind an access ``irq_o`` is what STATUS and IRQ_ENABLE were in its cycle."""
        want = int(self.model.interrupt(cycle))
        self.counts["interrupts"] += want
        if got != want:
            what = "write" if isinstance(access, Write) else "read"
            self.mismatch(f"irq_o behind a {what}", "irq_o", access, str(got), str(want), cycle + 1)

    def same_response(
        self, what: str, signal: str, access: Write | Read, got: int, okay: bool, cycle: int
    ) -> None:
        """The response is that of the model."""
        want = OKAY if okay else SLVERR
        if got != want:
            texts = [NAMES.get(x, f"response {x}") for x in (got, want)]
            self.mismatch(what, f"s_axil_{signal}", access, *texts, cycle)

    def same_word(self, read: Read, got: int, words: tuple[int, ...] | None, cycle: int) -> None:
        """The word is one that the model allows; a constant that of its first read."""
        register, _ = self.model.at.get(read.address & -4, (None, 0))
        if words is None and register is not None and register.name in models.CONSTANTS:
            words = (self.model.seen.setdefault(register.name, got),)
        if words is not None and got not in words:
            want = " or ".join(f"{word:#010x}" for word in dict.fromkeys(words))
            self.mismatch("read", "s_axil_rdata", read, f"{got:#010x}", want, cycle)

    def mismatch(
        self, what: str, signal: str, access: Write | Read, got: str, want: str, cycle: int
    ) -> None:
        """Say what differs."""
        register, index = self.model.at.get(access.address & -4, (None, 0))
        name = f"{register.name}[{index}]" if register else "no register"
        written = isinstance(access, Write)
        sent = f" of {access.data:#010x}, strobes {access.strobes:04b}," if written else ""
        ns = (cycle + 1) * PERIOD_NS + PERIOD_NS // 2  # the falling edge that shows it
        self.fail(
            f"{what} of {access.address:#05x} ({name}){sent} differs at {ns} ns\n"
            f"  got       {got}\n  expected  {want}",
            ns,
            {"signal": signal, "got": got, "expected": want},
        )

    def fail(self, why: str, ns: float, shown: Mapping[str, str] | None = None) -> None:
        """Name the command that does it again, and mark the time in the waveform."""
        failure = {"ns": ns, "why": why.partition("\n")[0]} | dict(shown or {})
        add_note(self.task.notes, TEST, failure=failure)
        count = self.accesses + 1 if self.complete is None else self.complete
        command = f"make fuzz UNITS={self.task.config} COUNT={count} SEED={self.task.seed}"
        raise AssertionError(f"{self.task.config}: {why}\n  rerun     {command} WAVES=1")

    def summary(self) -> dict[str, Any]:
        """What was done."""
        cycles = now()
        return dict(self.counts + self.model.met) | {
            "cycles": cycles,
            "cpu_s": round(self.seconds, 1),
        }
