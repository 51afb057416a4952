"""Programs of one library, called in any order by number: each is as if it were alone.

Every output is that of the direct evaluation and of the engine's twin, carried values survive the
calls of all other programs, and parameters are exchanged between calls.
"""

from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.machine.model import Twin
from pymodel.runs.engine_calls import changed, prepare_library
from tb.cosim_library.bench import BENCH, PROGRAMS

FACTORS = (0.5, 0.8, 1.0, 1.25)
EXCHANGES = 0.1  # part of the calls before which an owner's parameters are exchanged


class _Session:
    """A library on the engine and on its twin, and what the direct evaluation says of it."""

    def __init__(self, board, engine, names):
        self.board, self.engine, self.machine = board, engine, engine.machine
        self.fmt, self.rng = engine.machine.fmt, board.rng
        self.sources = {name: PROGRAMS[name] for name in names}
        self.names = [*names]
        kernels = {name: source.kernel(1.0) for name, source in self.sources.items()}
        owners = {name: source.owner for name, source in self.sources.items()}
        self.library = prepare_library(self.machine, kernels, owners)
        self.twin = Twin(self.machine)
        self.state = {
            name: {key: self.fmt.from_float(x) for key, x in source.state.items()}
            for name, source in self.sources.items()
        }
        self.met = set()  # (program, the one that follows it)
        self.last = None

    async def load(self):
        """Programs, parameters and carried values, onto the engine and its twin."""
        await self.engine.load_library(self.library)
        await self._write(self.library.image)
        for name, state in self.state.items():
            await self._write(self.library.call(name).state(state))

    async def _write(self, registers):
        self.twin.load(registers)
        await self.engine.write_registers(registers)

    def choose(self):
        """A program's number, often one that did not follow the last program before."""
        numbers = range(len(self.names))
        new = [number for number in numbers if (self.last, number) not in self.met]
        if new and self.rng.random() < 0.5:
            numbers = new
        number = int(self.rng.choice(numbers))
        self.met.add((self.last, number))
        self.last = number
        return number

    async def exchange(self):
        """Give all programs of one owner other parameters; only what differs is written."""
        owner = self.rng.choice(sorted({source.owner for source in self.sources.values()}))
        factor = float(self.rng.choice(FACTORS))
        kernels = {
            name: source.kernel(factor)
            for name, source in self.sources.items()
            if source.owner == owner
        }
        before, self.library = self.library, self.library.with_parameters(kernels)
        await self._write(changed(before.image, self.library.image))

    async def call(self, number, context):
        """Call a program with random inputs, and check all that it gives."""
        name, call, fmt = self.names[number], self.library.call(number), self.fmt
        context = f"{context}: {name}"
        inputs = {key: fmt.from_float(float(self.rng.normal())) for key in call.program.inputs}
        outcome = await self.engine.call(call, inputs)
        direct = BitExact(fmt, fold=True)
        given = {key: direct.scalar(bits) for key, bits in (inputs | self.state[name]).items()}
        want = {key: x.bits for key, x in call.kernel.evaluate(direct, given).items()}
        assert not outcome.stopped, f"{context}: a result is not finite: {want}"
        self.state[name] = {key: want[key] for key in self.state[name]}
        twin = call.evaluate_on(self.twin, inputs)
        compare = self.board.compare
        for key, bits in call.results(outcome.trace).items():
            compare(key, bits, want[key], fmt, context=context)
            compare(f"{key} of the twin", twin[key], want[key], fmt, context=context)
        compare("CYCLES", outcome.cycles, self.twin.cycles, context=context)
        compare("FLAGS", outcome.flags, self.twin.flags, context=context)

    async def check_state(self, context):
        """Carried values and parameters of all programs are what they must be."""
        want = dict(self.library.image)
        for name, state in self.state.items():
            want |= self.library.call(name).state(state)
        for location, bits in (await self.engine.read_registers(want)).items():
            self.board.compare(f"{location}", bits, want[location], self.fmt, context=context)


async def _interleave(dut, board, stalls):
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine_of(BENCH.params))
    await clock.release_reset(dut)
    session = _Session(board, engine, BENCH.settings["programs"])
    await session.load()
    calls = BENCH.settings["calls"]
    for index in range(calls):
        if stalls:
            engine.stall(board.rng, float(board.rng.choice((0.2, 0.5, 0.8))))
        if board.rng.random() < EXCHANGES:
            await session.exchange()
        await session.call(session.choose(), f"call {index}")
        if index % 10 == 9 or index == calls - 1:
            await session.check_state(f"after call {index}")
    numbers = range(len(session.names))
    missing = {(a, b) for a in numbers for b in numbers} - session.met
    assert not missing or not BENCH.whole, f"never one after the other: {sorted(missing)}"


@BENCH.test(timeout_us=5_000_000)
async def interleaved(dut, board):
    """Every program after every other one, each call as if it were the only program."""
    await _interleave(dut, board, stalls=False)


@BENCH.test(timeout_us=5_000_000)
async def stalled(dut, board):
    """The same with every channel of the bus held back at random, more or less."""
    await _interleave(dut, board, stalls=True)


test_cosim_library = BENCH.pytest()
