"""The HDCA co-processor through its bus: results, status, errors, stalls, strobes, resets."""

from cocotb.triggers import ClockCycles, FallingEdge

from pymodel import hdca
from pymodel.arith import BitExact
from pymodel.fp import Format
from pymodel.regs import READ_WRITE, WORD_BYTES
from tb.common import bodies, clock
from tb.common.bench import Bench, Config
from tb.common.hdca_coprocessor import ASSEMBLY, DISASSEMBLY, HdcaCoprocessor


def _config(name, passes=2, stages=(0, 0, 0), fmt=(8, 23), runs=40):
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1], "PASSES": passes}
    params |= dict(zip(("ADD_STAGES", "MUL_STAGES", "REC_STAGES"), stages, strict=True))
    return Config(name, params, {"runs": {"icarus": runs // 4, "verilator": runs}})


BENCH = Bench(
    __file__,
    toplevel="hdca_coprocessor",
    configs=[
        _config("two-passes"),
        _config("one-pass", passes=1),
        _config("pipelined", stages=(3, 3, 6)),
        _config("half", fmt=(5, 10)),
    ],
)

OPERANDS = ("BODY_A", "BODY_B", "T_1C", "T_2C")
RESULTS = ("COMPOUND", "T_1B", "WEIGHT_A", "WEIGHT_B", "BETA_HAT")


class Bus:
    """The co-processor, the model's expectation of it, and the scoreboard."""

    def __init__(self, dut, board):
        self.dut, self.board = dut, board
        self.fmt = Format(BENCH.params["EXP_W"], BENCH.params["MAN_W"])
        self.registers = HdcaCoprocessor(dut)

    async def compare(self, name, want, fmt=None, context=""):
        """Read a register and check all its words."""
        got = await self.registers.read(name)
        got, want = ([x] if isinstance(x, int) else list(x) for x in (got, want))
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            self.board.compare(f"{name}[{i}]", g, w, fmt, context=context)

    async def status(self, flags=0, context="", **fields):
        """Check STATUS: the flags, and the fields given (all others 0)."""
        want = flags << self.registers.map["STATUS"].field("FLAGS").low
        for name, value in fields.items():
            want |= self.registers.mask("STATUS", name) if value else 0
        await self.compare("STATUS", want, context=context)

    def random_operands(self):
        arithmetic = BitExact(self.fmt)
        rng = self.board.rng
        a, b = (bodies.any_body(arithmetic, rng) for _ in range(2))
        t_1c, t_2c = (tuple(map(arithmetic.const, rng.normal(size=2))) for _ in range(2))
        return a, b, t_1c, t_2c

    async def both_phases(self, operands, context):
        """Both phases with random operands; returns (flags, singular) that the model expects."""
        arithmetic = BitExact(self.fmt)
        a, b, t_1c, t_2c = arithmetic.adopt(tuple(operands))
        compound, joint, singular = hdca.assemble(arithmetic, a, b)
        got = await self.registers.assemble(_bits(hdca.to_words(a)), _bits(hdca.to_words(b)))
        self.check("COMPOUND", got, hdca.to_words(compound), context)
        await self.compare("WEIGHT_A", _bits([*joint.W_A[0], *joint.W_A[1]]), self.fmt, context)
        await self.compare("WEIGHT_B", _bits([*joint.W_B[0], *joint.W_B[1]]), self.fmt, context)
        await self.compare("BETA_HAT", _bits(joint.beta_hat), self.fmt, context)
        got = await self.registers.disassemble(_bits(t_1c), _bits(t_2c))
        self.check("T_1B", got, hdca.disassemble(joint, t_1c, t_2c), context)
        return arithmetic.flags, singular

    def check(self, name, got, want, context):
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            self.board.compare(f"{name}[{i}]", g, w.bits, self.fmt, context=context)

    def latency(self, phase):
        add, mul, rec = (BENCH.params[f"{unit}_STAGES"] for unit in ("ADD", "MUL", "REC"))
        if phase == DISASSEMBLY:
            return 3 * add + mul + 1
        first = 5 * add + 4 * mul + rec + 1
        return first if BENCH.params["PASSES"] == 1 else first + 2 * add + mul + 1

    async def command(self, *fields):
        await self.registers.write("CTRL", self.registers.mask("CTRL", *fields))


def _bits(scalars):
    return [scalar.bits for scalar in scalars]


async def _start(dut, board):
    await clock.hold_reset(dut)
    bus = Bus(dut, board)
    await clock.release_reset(dut)
    return bus


@BENCH.test(timeout_us=10_000)
async def back_to_back_runs(dut, board):
    """Runs without a pause or a clear; results, CYCLES, and flags that accumulate until cleared."""
    bus = await _start(dut, board)
    await bus.status(IDLE=1)
    flags, singular = 0, False
    for run in range(BENCH.settings["runs"][BENCH.simulator]):
        new_flags, new_singular = await bus.both_phases(bus.random_operands(), f"run {run}")
        flags, singular = flags | new_flags, singular or new_singular
        await bus.status(flags, DONE=1, SINGULAR=singular, context=f"run {run}")
        await bus.compare("CYCLES", bus.latency(DISASSEMBLY))
        if run % 8 == 7:  # clear one flag, then everything
            inexact = 1 << bus.registers.map["STATUS"].field("FLAGS").low
            await bus.registers.write("STATUS", inexact)
            await bus.status(flags & ~1, DONE=1, SINGULAR=singular, context="inexact cleared")
            await bus.registers.write("STATUS", 0xFFFF_FFFF)
            await bus.status(IDLE=1, context="all cleared")
            flags, singular = 0, False


@BENCH.test(timeout_us=10_000)
async def stalled_runs(dut, board):
    """The same with every channel held back at random."""
    bus = await _start(dut, board)
    bus.registers.stall(board.rng)
    flags, singular = 0, False
    for run in range(BENCH.settings["runs"][BENCH.simulator] // 4):
        new_flags, new_singular = await bus.both_phases(bus.random_operands(), f"run {run}")
        flags, singular = flags | new_flags, singular or new_singular
    await bus.status(flags, DONE=1, SINGULAR=singular)


@BENCH.test(timeout_us=1_000)
async def identity(dut, board):
    """ID, VERSION and CONFIG tell what this instance is."""
    bus = await _start(dut, board)
    await bus.compare("ID", int.from_bytes(b"HDCA", "big"))
    await bus.compare("VERSION", 0x0001_0000)
    word = await bus.registers.read("CONFIG")
    for field in bus.registers.map["CONFIG"].fields:
        board.compare(f"CONFIG.{field.name}", field.get(word), BENCH.params[field.name])


@BENCH.test(timeout_us=10_000)
async def byte_strobes(dut, board):
    """Writes of one to four bytes at every offset change those bytes of operands, and no other."""
    bus = await _start(dut, board)
    bus.registers.stall(board.rng, 0.2)
    mask = (1 << bus.fmt.width) - 1
    for name in OPERANDS:
        register = bus.registers.map[name]
        words = [int(x) for x in board.rng.integers(1 << 32, size=register.words)]
        await bus.registers.write(name, *words)
        data = bytearray(b"".join(word.to_bytes(4, "little") for word in words))
        for _ in range(12):
            offset = int(board.rng.integers(len(data)))
            length = int(board.rng.integers(1, min(5, len(data) - offset + 1)))
            patch = board.rng.bytes(length)
            await bus.registers.write_bytes(register.offset + offset, patch)
            data[offset : offset + length] = patch
        want = [int.from_bytes(data[i : i + 4], "little") & mask for i in range(0, len(data), 4)]
        await bus.compare(name, want)


@BENCH.test(timeout_us=10_000)
async def bad_addresses(dut, board):
    """Every word of the address space answers as the map says; errors change nothing."""
    bus = await _start(dut, board)
    await bus.both_phases(bus.random_operands(), "first")
    registers = bus.registers
    mapped = {
        register.offset + WORD_BYTES * word: register
        for register in registers.map.registers
        for word in range(register.words)
    }
    before = {name: await registers.read(name) for name in (*OPERANDS, *RESULTS, "STATUS")}
    for address in range(0, 1 << registers.map.addr_w, WORD_BYTES):
        register = mapped.get(address)
        _, okay = await registers.read_bytes(address, WORD_BYTES)
        board.compare(f"read of {address:#x} is OKAY", int(okay), int(register is not None))
        if register is None or register.access != READ_WRITE:
            okay = await registers.write_bytes(address, b"\xff\xff\xff\xff")
            board.compare(f"write of {address:#x} is OKAY", int(okay), 0)
    for name, want in before.items():
        await bus.compare(name, want, context="after all erroneous accesses")


@BENCH.test(timeout_us=10_000)
async def access_while_busy(dut, board):
    """A run while busy is refused and sets error; operands are locked; the run is not disturbed."""
    bus = await _start(dut, board)
    registers = bus.registers
    if bus.latency(ASSEMBLY) < 30:
        # the bus is slower than the run: put run and the next write into the pipeline together
        await _hammer(bus)
        return
    operands = bus.random_operands()
    await bus.both_phases(operands, "before")
    want = await registers.read("T_1B")
    compound = await registers.read("COMPOUND")
    await registers.write("STATUS", 0xFFFF_FFFF)
    await bus.command("RUN")
    await bus.command("RUN", "PHASE")
    okay = await registers.write_bytes(registers.map["BODY_A"].offset, bytes(4))
    board.compare("operand write while busy is OKAY", int(okay), 0)
    word = await registers.read("STATUS")
    board.compare("BUSY", registers.field("STATUS", "BUSY", word), 1)
    board.compare("ERROR", registers.field("STATUS", "ERROR", word), 1)
    while registers.field("STATUS", "BUSY", await registers.read("STATUS")):
        pass
    await bus.compare("COMPOUND", compound, bus.fmt)
    await bus.compare("T_1B", want, bus.fmt)
    await bus.compare("CYCLES", bus.latency(ASSEMBLY))
    await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    word = await registers.read("STATUS")
    board.compare("ERROR after clear", registers.field("STATUS", "ERROR", word), 0)


async def _hammer(bus):
    """Writes of CTRL.RUN straight after one another, so that one meets a run of few cycles."""
    registers, board = bus.registers, bus.board
    await bus.both_phases(bus.random_operands(), "before")
    compound = await registers.read("COMPOUND")
    run = registers.mask("CTRL", "RUN").to_bytes(WORD_BYTES, "little")
    offset = registers.map["CTRL"].offset
    await registers.write("STATUS", 0xFFFF_FFFF)
    writes = [registers.master.init_write(offset, run) for _ in range(8)]
    for write in writes:
        await write.wait()
    word = await registers.read("STATUS")
    board.compare("ERROR", registers.field("STATUS", "ERROR", word), 1)
    await bus.compare("COMPOUND", compound, bus.fmt)
    await bus.compare("CYCLES", bus.latency(ASSEMBLY))


@BENCH.test(timeout_us=10_000)
async def resets(dut, board):
    """Reset by CTRL and by the pin, in every cycle of a run: idle, clean, the next run right."""
    bus = await _start(dut, board)
    operands = bus.random_operands()
    for when in range(0, bus.latency(ASSEMBLY) + 8):
        await bus.both_phases(operands, f"before reset {when}")
        await bus.command("RUN")
        await ClockCycles(dut.clk_i, when)
        if when % 2:
            await bus.command("RESET", "RUN")  # reset wins
            await bus.compare("BODY_A", _bits(hdca.to_words(operands[0])), bus.fmt)
        else:
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 0
            await ClockCycles(dut.clk_i, 2)
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 1
            await bus.compare("BODY_A", [0] * hdca.WORDS)
        await bus.status(IDLE=1, context=f"reset {when} cycles after a run")
        await bus.compare("CYCLES", 0)
        await bus.compare("COMPOUND", [0] * hdca.WORDS)


@BENCH.test(timeout_us=10_000)
async def singular_status(dut, board):
    """A singular joint sets the sticky status and the float flags; a regular run keeps it set."""
    bus = await _start(dut, board)
    arithmetic = BitExact(bus.fmt)
    a, b = (hdca.to_words(bodies.physical(arithmetic, board.rng)) for _ in range(2))
    regular = hdca.from_words(a), hdca.from_words(b)
    for i in (0, 1, 3, 4):  # D^T xi_22^A D and D^T xi_11^B D
        a[18 + i] = b[i] = arithmetic.const(0.0)
    impulses = [(arithmetic.const(1.0), arithmetic.const(-1.0))] * 2
    singular = hdca.from_words(a), hdca.from_words(b)
    flags, is_singular = await bus.both_phases((*singular, *impulses), "singular")
    board.compare("the model agrees", int(is_singular), 1)
    await bus.status(flags, DONE=1, SINGULAR=1)
    more_flags, _ = await bus.both_phases((*regular, *impulses), "regular")
    await bus.status(flags | more_flags, DONE=1, SINGULAR=1)


test_hdca_coprocessor = BENCH.pytest()
