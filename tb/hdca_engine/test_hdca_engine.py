"""The HDCA engine against the model: every output word, flag and status, latencies, and states."""

from itertools import product

from cocotb.triggers import FallingEdge

from pymodel.algorithms import two_handles
from pymodel.arith.fp import INEXACT, UNDERFLOW, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile import latency
from pymodel.hardware import clock
from pymodel.hardware.waiting import Deadline, follow_run
from tb.common import bodies, matrices
from tb.common.coverage import assembly
from tb.common.words import pack, unpack
from tb.hdca_engine.bench import BENCH

ASSEMBLY, DISASSEMBLY = 0, 1
BODY_WORDS, IMPULSE_WORDS = 33, 2
XI_12, XI_10, XI_20 = 9, 27, 30  # first words
IMPULSES = 64  # pairs of special ones
EXACT = {"icarus": 4, "verilator": 32}  # runs with exact sums
UNDERFLOWS = {"icarus": 6, "verilator": 24}  # runs with a product that is too small
RESULTS = (
    *("weight_a_o", "weight_b_o", "beta_hat_o", "compound_o", "t_1b_o"),
    *("singular_o", "flags_o"),
)
HELD_CYCLES = 4  # that results are seen to stay where nothing is asked for


class Engine:
    """Drives one engine and compares it with the model."""

    def __init__(self, dut, board):
        self.dut, self.board = dut, board
        self.fmt = Format(BENCH.params["EXP_W"], BENCH.params["MAN_W"])

    def new_arithmetic(self):
        return BitExact(self.fmt)

    async def reset(self):
        for port in ("run_i", "phase_i", "clear_i", "body_a_i", "body_b_i", "t_1c_i", "t_2c_i"):
            getattr(self.dut, port).value = 0
        await clock.start(self.dut)

    def latency(self, phase):
        """Busy cycles of a run."""
        stages = latency.Stages.of(BENCH.params)
        if phase == DISASSEMBLY:
            return latency.disassembly(stages)
        return latency.assembly(stages, BENCH.params["PASSES"])

    async def start(self, phase):
        self.dut.phase_i.value = phase
        self.dut.run_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.run_i.value = 0

    async def run(self, phase, results=None):
        """One run to its end; its length is checked, and that done comes in the last cycle."""
        await self.start(phase)
        width = self.fmt.width
        said = {
            port: pack([x.bits for x in words], width) for port, words in (results or {}).items()
        }
        await follow_run(self.dut, self.board, self.latency(phase), results=said)

    def put(self, port, words):
        getattr(self.dut, port).value = pack([word.bits for word in words], self.fmt.width)

    def check(self, port, words, context="", names=None):
        got = unpack(int(getattr(self.dut, port).value), len(words), self.fmt.width)
        for i, (value, word) in enumerate(zip(got, words, strict=True)):
            signal = f"{port}[{i}]" + (f" = {names[i]}" if names else "")
            self.board.compare(signal, value, word.bits, self.fmt, context=context)

    async def assemble(self, a, b, context=""):
        """Assembly in both; returns the model's joint."""
        arithmetic = self.new_arithmetic()
        a, b = arithmetic.adopt((a, b))
        compound, joint, singular = two_handles.assemble(arithmetic, a, b)
        self.put("body_a_i", two_handles.to_words(a))
        self.put("body_b_i", two_handles.to_words(b))
        weights = [[*weight[0], *weight[1]] for weight in (joint.W_A, joint.W_B)]
        results = {
            "weight_a_o": weights[0],
            "weight_b_o": weights[1],
            "beta_hat_o": joint.beta_hat,
            "compound_o": two_handles.to_words(compound),
        }
        await self.run(ASSEMBLY, results)
        await self.check_results(results, arithmetic.flags, int(singular), context)
        self.cover("(35) W^A", weights[0])
        self.cover("(36) W^B", weights[1])
        self.cover("(37) beta_hat", joint.beta_hat)
        names = [name.split("[")[0] for name in two_handles.WORD_NAMES]
        words = list(zip(names, two_handles.to_words(compound), strict=True))
        for design in assembly.SUB_DESIGNS:
            self.cover(design, [word for name, word in words if design.endswith(name)])
        stages = assembly.stages_of(BENCH.params)
        matrix = assembly.JOINTS[singular]
        self.board.met(assembly.STATUS, (BENCH.params["PASSES"], stages, matrix))
        return joint

    def cover(self, sub_design, words):
        assembly.cover_words(self.board.met, BENCH.params, sub_design, self.fmt, words)

    async def disassemble(self, joint, t_1c, t_2c, context=""):
        arithmetic = self.new_arithmetic()
        t_1b = two_handles.disassemble(*arithmetic.adopt((joint, t_1c, t_2c)))
        self.put("t_1c_i", t_1c)
        self.put("t_2c_i", t_2c)
        await self.run(DISASSEMBLY, {"t_1b_o": t_1b})
        await self.check_results({"t_1b_o": t_1b}, arithmetic.flags, 0, context)
        self.cover("disassembly", t_1b)

    async def check_results(self, results, flags, singular, context=""):
        """Words of some ports, flags and status.

        After half of the runs a cycle later, too: they stand. The others go on at once.
        """
        names = {"compound_o": two_handles.WORD_NAMES}
        for later in range(self.board.rng.integers(1, 3)):
            if later:
                await FallingEdge(self.dut.clk_i)
                context = f"{context}, a cycle later"
            for port, words in results.items():
                self.check(port, words, context, names.get(port))
            for port, want in (("flags_o", flags), ("singular_o", singular)):
                got = int(getattr(self.dut, port).value)
                self.board.compare(port, got, want, context=context)

    async def pulse(self, port):
        """A cycle in which a command is given; the reset is low-active."""
        level = int(port != "rst_ni")
        getattr(self.dut, port).value = level
        await FallingEdge(self.dut.clk_i)
        getattr(self.dut, port).value = 1 - level

    def expect_state(self, state, context=""):
        """Exactly one of the three states is shown."""
        for name in assembly.STATES:
            got = int(getattr(self.dut, f"{name}_o").value)
            self.board.compare(f"{name}_o", got, int(name == state), context=context)

    def random_impulse(self):
        """Of ordinary size, so large that sums overflow, or so small that products flush."""
        arithmetic, rng = self.new_arithmetic(), self.board.rng
        scale = 2.0 ** int(rng.choice([0, 0, self.fmt.bias - 3, 3 - self.fmt.bias]))
        return tuple(arithmetic.const(x * scale) for x in rng.normal(size=2))


@BENCH.test(timeout_us=10_000)
async def random_bodies(dut, board):
    """Assembly, then disassembly with both impulses non-zero: physical and arbitrary bodies."""
    engine = Engine(dut, board)
    await engine.reset()
    for run in BENCH.items(board, range(BENCH.settings["runs"][BENCH.simulator])):
        a, b = (bodies.any_body(engine.new_arithmetic(), board.rng) for _ in range(2))
        joint = await engine.assemble(a, b, f"run {run}")
        t_1c, t_2c = engine.random_impulse(), engine.random_impulse()
        await engine.disassemble(joint, t_1c, t_2c, f"run {run}")


@BENCH.test(timeout_us=1_000)
async def special_impulses(dut, board):
    """Impulses that are infinite, no number or the largest raise every flag of a disassembly."""
    engine = Engine(dut, board)
    await engine.reset()
    infinity = engine.fmt.inf
    positive = (engine.fmt.one, infinity - 1, infinity, infinity + 1)  # the last one signals
    odd = [bits | sign for bits in positive for sign in (0, engine.fmt.sign_mask)]
    for run in range(IMPULSES):
        if run % 4 == 0:
            body = (bodies.physical, bodies.arbitrary)[run // 4 % 2]
            a, b = (body(engine.new_arithmetic(), board.rng) for _ in range(2))
            joint = await engine.assemble(a, b, f"before run {run}")
        arithmetic = engine.new_arithmetic()
        words = [arithmetic.scalar(odd[i]) for i in board.rng.integers(len(odd), size=4)]
        await engine.disassemble(joint, tuple(words[:2]), tuple(words[2:]), f"run {run}")


@BENCH.test(timeout_us=1_000)
async def exact_sums(dut, board):
    """Weights and impulses that are integers, short or long: sums are exact, no flag is raised.

    A bit that is wrong in an operand of any adder makes some of them inexact, and a flag tells.
    """
    engine = Engine(dut, board)
    await engine.reset()
    long = max(1, min(engine.fmt.man_w, engine.fmt.bias) - 2)  # bits: a sum of five still fits
    short = min(3, long)
    const = engine.new_arithmetic().const

    def integer():
        bits = int(board.rng.choice([board.rng.integers(1, short + 1), long]))
        return const(float(board.rng.choice([-1, 1]) * board.rng.integers(1 << bits)))

    for run in BENCH.items(board, range(EXACT[BENCH.simulator])):
        words = [[const(0.0)] * BODY_WORDS for _ in range(2)]
        for i in (0, 4):  # xi_11 of B, the joint's matrix: its inverse is that of one
            words[1][i] = const(1.0)
        for body in words:
            body[XI_12 : XI_12 + 9] = [integer() for _ in range(9)]
        words[1][XI_10 : XI_10 + 2] = [integer() for _ in range(2)]
        joint = await engine.assemble(*map(two_handles.from_words, words), f"run {run}")
        ones = [const(x) for x in board.rng.choice([-1.0, 1.0], size=4)]
        await engine.disassemble(joint, tuple(ones[:2]), tuple(ones[2:]), f"run {run}")
        board.compare("flags of exact sums", int(dut.flags_o.value), 0, context=f"run {run}")


def _bodies(arithmetic, values):
    """Bodies of zeros and some values, by body and word; the joint's matrix is that of one."""
    words = [[arithmetic.const(0.0)] * BODY_WORDS for _ in range(2)]
    for body, word in ((1, 0), (1, 4)):  # xi_11 of B: so is its inverse
        words[body][word] = arithmetic.const(1.0)
    for (body, word), value in values.items():
        words[body][word] = arithmetic.const(value)
    return tuple(map(two_handles.from_words, words))


@BENCH.test(timeout_us=1_000)
async def one_product_underflows(dut, board):
    """All is exact but a few products that are too small: inexact comes from these alone."""
    engine = Engine(dut, board)
    await engine.reset()
    least = engine.fmt.to_float(engine.fmt.min_normal)

    def bodies_with(tiny, half):
        return _bodies(engine.new_arithmetic(), {(0, tiny): least, (1, half): 0.5})

    def flags_with(*places):
        arithmetic = engine.new_arithmetic()
        two_handles.assemble(arithmetic, *arithmetic.adopt(bodies_with(*places)))
        return arithmetic.flags

    behind = range(XI_12, BODY_WORDS)  # xi_11
    pairs = [x for x in product(behind, behind) if flags_with(*x) == UNDERFLOW | INEXACT]
    for run in BENCH.items(board, range(UNDERFLOWS[BENCH.simulator])):
        places = pairs[board.rng.integers(len(pairs))]
        await engine.assemble(*bodies_with(*places), f"run {run}: words {places}")


@BENCH.test(timeout_us=1_000)
async def one_sum_underflows(dut, board):
    """All is exact but a sum that is too small: of the first pass, the second, a disassembly."""
    engine = Engine(dut, board)
    await engine.reset()
    least = engine.fmt.to_float(engine.fmt.min_normal)
    for run in BENCH.items(board, range(UNDERFLOWS[BENCH.simulator])):
        row, column = board.rng.integers(3), board.rng.integers(2)
        less, more = least * board.rng.choice([(1, 1.5), (-1, -1.5), (1.5, 1), (-1.5, -1)])
        beta_hat = {(1, XI_10 + column): -less}  # it is less
        by_pass = [
            {(0, XI_20 + column): more, (1, XI_10 + column): less},
            {(0, XI_10 + row): more, (0, XI_12 + 3 * row + column): 1.0} | beta_hat,
            {(0, XI_12 + column): -1.0} | beta_hat,  # W^A is 1
        ]
        where = ("the first pass", "the second pass", "the disassembly")[run % 3]
        context = f"run {run}: a sum of {where}, row {row}, column {column}"
        zero, impulse = (engine.new_arithmetic().const(x) for x in (0.0, more))
        joint = await engine.assemble(*_bodies(engine.new_arithmetic(), by_pass[run % 3]), context)
        if run % 3 == 2:
            await engine.disassemble(joint, (impulse, zero), (zero, zero), context)
        board.compare("flags", int(dut.flags_o.value), UNDERFLOW | INEXACT, context=context)


@BENCH.test(timeout_us=1_000)
async def singular_joint(dut, board):
    """Joint matrices of determinant zero, and whose inverses overflow, raise the status.

    Some of these have one entry that is not finite. Determinants however small or large do not.
    """
    engine = Engine(dut, board)
    await engine.reset()
    scale = engine.fmt.to_float(engine.fmt.min_normal)
    singular = [(0, 0, 0, 0), (1, 1, 1, 1), (1, 2, 2, 4)]
    singular += matrices.one_cofactor_too_large(engine.fmt)
    regular = matrices.one_bit_in_the_exponent(engine.fmt)
    for entries in (*singular, *regular, (1, 0, 0, scale), (1, 0, 0, 1)):
        a, b = (bodies.physical(engine.new_arithmetic(), board.rng) for _ in range(2))
        words = [two_handles.to_words(body) for body in (a, b)]
        const = engine.new_arithmetic().const
        for i, entry in zip((0, 1, 3, 4), entries, strict=True):
            words[0][18 + i] = const(0.0)  # xi_22 of A
            words[1][i] = const(entry)  # xi_11 of B
        await engine.assemble(*map(two_handles.from_words, words), f"joint matrix {entries}")
        want = int(entries in singular)
        board.compare("singular_o", int(dut.singular_o.value), want, context=f"{entries}")


@BENCH.test(timeout_us=1_000)
async def zero_words(dut, board):
    """Bodies that hold nothing but their joint's matrix: zeros of both signs in every result."""
    engine = Engine(dut, board)
    await engine.reset()
    for run in range(4):
        const = engine.new_arithmetic().const
        rows = [[const(board.rng.choice([0.0, -0.0])) for _ in range(BODY_WORDS)] for _ in range(2)]
        for words, first in zip(rows, (18, 0), strict=True):  # xi_22 of A, xi_11 of B
            for i in (0, 4):
                words[first + i] = const(1.0 + run)
        joint = await engine.assemble(*map(two_handles.from_words, rows), f"run {run}")
        zeros = (const(0.0), const(-0.0))
        await engine.disassemble(joint, zeros, zeros, f"run {run}")


@BENCH.test(timeout_us=1_000)
async def commands(dut, board):
    """Every command in every state: figure 4 has the answer, and the next run is right."""
    engine = Engine(dut, board)
    await engine.reset()
    a, b = (bodies.physical(engine.new_arithmetic(), board.rng) for _ in range(2))
    ports = dict(zip(assembly.COMMANDS, ("run_i", "run_i", "clear_i", "rst_ni"), strict=True))
    for state in assembly.STATES:
        for command, port in ports.items():
            context = f"{command} while {state}"
            joint = await engine.assemble(a, b, f"before {context}")
            if state == "idle":
                await engine.pulse("clear_i")
            elif state == "busy":
                await engine.start(ASSEMBLY)
            engine.expect_state(state, f"before {context}")
            board.met(assembly.OF_COMMANDS, (state, command))
            dut.phase_i.value = DISASSEMBLY if command == "run disassembly" else ASSEMBLY
            await engine.pulse(port)
            if command == "reset" or (command == "clear" and state != "busy"):
                engine.expect_state("idle", context)
                continue
            running = DISASSEMBLY if command == "run disassembly" and state != "busy" else ASSEMBLY
            # a run that begins with this pulse has had no cycle, one that went on has had one
            cycles = engine.latency(running) - (state == "busy")
            for _ in range(cycles):
                engine.expect_state("busy", context)
                await FallingEdge(dut.clk_i)
            engine.expect_state("read", context)
            if running == ASSEMBLY:
                engine.check("beta_hat_o", joint.beta_hat, context)


@BENCH.test(timeout_us=1_000)
async def states(dut, board):
    """Figure 4: idle, busy, read; a run while busy does nothing; clear; reset from anywhere."""
    engine = Engine(dut, board)
    await engine.reset()

    expect = engine.expect_state
    a, b = (bodies.physical(engine.new_arithmetic(), board.rng) for _ in range(2))
    expect("idle")
    joint = await engine.assemble(a, b)
    expect("read")
    status = {port: int(getattr(dut, port).value) for port in ("flags_o", "singular_o")}
    for _ in range(HELD_CYCLES):
        await FallingEdge(dut.clk_i)
        expect("read")
    # a second run straight from read, with more run pulses while it is busy
    await engine.start(ASSEMBLY)
    cycles, limit = 0, Deadline(engine.latency(ASSEMBLY), lambda: "a run to end, busy_o 1")
    while int(dut.busy_o.value):
        limit.check()
        expect("busy")
        dut.run_i.value = 1
        dut.phase_i.value = DISASSEMBLY
        cycles += 1
        if int(dut.done_o.value):
            dut.run_i.value = 0
        await FallingEdge(dut.clk_i)
    board.compare("busy cycles of a run with refused runs", cycles, engine.latency(ASSEMBLY))
    expect("read")
    engine.check("beta_hat_o", joint.beta_hat)
    for port, value in status.items():
        board.compare(f"{port} of a run with refused runs", int(getattr(dut, port).value), value)
    await engine.pulse("clear_i")
    expect("idle")
    # reset in every cycle of a run leaves it clean: the next run is right
    for when in range(engine.latency(ASSEMBLY)):
        await engine.start(ASSEMBLY)
        for _ in range(when):
            await FallingEdge(dut.clk_i)
        expect("busy")
        await engine.pulse("rst_ni")
        expect("idle")
        for port in RESULTS:
            board.compare(f"{port} after reset", int(getattr(dut, port).value), 0)
        await engine.assemble(a, b, f"after a reset in cycle {when}")


test_hdca_engine = BENCH.pytest()
