"""The driver in C loads program images into the engine, and runs and calls their programs.

Every word that it gives back is that of the engine's twin: traces, outputs, carried values, steps,
cycles and flags.
"""

from dataclasses import replace

from pymodel.compile.robot_kernels import recorded
from pymodel.hardware import clock
from pymodel.hardware.batch import now
from pymodel.hardware.places import BUILD, ROOT
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.waiting import AnswerError, HangError, TraceError
from pymodel.machine.c_driver import Status
from pymodel.machine.model import Twin
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.scenario_file import load
from pymodel.runs.compiled import library_image, run_image
from pymodel.runs.engine_calls import changed, prepare_library
from pymodel.runs.engine_runs import prepare
from tb.cosim_driver.bench import BENCH
from tb.cosim_driver.host import Host

CALL_LOOKS, STEP_LOOKS = 200, 50  # at STATUS, before a call, and each step of a run, is late
CYCLES_OF_A_LOOK = 4  # at STATUS, at least
ROBOT = "robots/iiwa14.urdf"
RUNS = (("double_pendulum", 0), ("four_bar", 3))  # scenario, re-basing every so many steps


def looks(steps):
    """At STATUS, before a run is late: a few times what it takes, so a hang is soon red."""
    return CALL_LOOKS + STEP_LOOKS * steps


class _Session:
    """The driver on the engine, the engine's twin, and how they are compared."""

    def __init__(self, dut, board):
        self.engine = StepEngine(dut, machine_of(BENCH.params))
        self.machine, self.fmt = self.engine.machine, self.engine.machine.fmt
        self.twin = Twin(self.machine)
        self._board = board
        folder = BUILD / "sim" / "cosim_driver" / f"driver-{BENCH.config.name}-{BENCH.simulator}"
        self._host = Host(self.engine, folder)

    async def do(self, function, *arguments):
        """Call the driver."""
        return await self._host.call(function, *arguments)

    async def expect(self, status, function, *arguments):
        """Call the driver, and compare what it says of it."""
        start = now()
        found = await self.do(function, *arguments)
        found, values = found if isinstance(found, tuple) else (found, None)
        if found in (Status.LATE, Status.BUSY) and found != status:
            self.engine.status = self._host.busy  # the driver may have reset it since
            said = f"`{function}` of the driver is {found.name}, not {status.name}"
            raise HangError(f"a run to end, {self.engine.state()}; {said}", now() - start)
        if found != status:
            raise AnswerError("call", function, f"{found.name}, expected {status.name}")
        self._board.compare(f"status of {function}", found, status)
        return values

    def compare(self, what, got, want, context):
        """Compare words, one by one."""
        if len(got) != len(want):
            raise AnswerError("read", what, f"{len(got)} words, not {len(want)}, {context}")
        for index, (word, expected) in enumerate(zip(got, want, strict=True)):
            self._board.compare(f"{what}[{index}]", word, expected, self.fmt, context=context)

    async def compare_report(self, context):
        """What the engine says of its last run is what the twin says of it."""
        report, twin = await self.do("report"), self.twin
        for name, got, want in (
            ("STEPS_DONE", report.steps, twin.steps_done),
            ("CYCLES", report.cycles, twin.cycles),
            ("FLAGS", report.flags, twin.flags),
        ):
            self._board.compare(name, got, want, context=context)

    async def run(self, run, number, steps, save, context):
        """Run both from the carried values that they have, and compare all that is left."""
        self.twin.flags = 0  # the driver begins a run with none
        before, after = run.before.values(), run.after.values()
        want = self.twin.run(run.program, steps, run.every, save, before, after)
        got = await self.expect(Status.OK, "run", number, steps, save, len(want), looks(steps))
        self.compare("trace", got, want, context)
        await self.compare_report(context)
        homes = run.program.carried.values()
        state = await self.expect(Status.OK, "read_carried", number, len(homes))
        self.compare("carried", state, [self.twin.read(x) for x in homes], context)

    async def take(self, count, steps, room):
        """A run's trace, at most ``room()`` words at a time, until it has ``count`` or is late."""
        words = []
        for _ in range(looks(steps)):
            words += await self.do("take", room())
            if len(words) >= count:
                break
        return words

    async def call(self, call, rng, context, late=False):
        """Call both with random inputs, and compare the outputs, also of a call that was late."""
        self.twin.flags = 0
        inputs = {name: self.fmt.from_float(float(rng.normal())) for name in call.program.inputs}
        want = call.evaluate_on(self.twin, inputs)
        size = len(call.outputs)
        polls, status = (1, Status.LATE) if late else (CALL_LOOKS, Status.OK)
        got = await self.expect(status, "call", call.number, [*inputs.values()], size, polls)
        if late:
            await self.expect(Status.OK, "wait", CALL_LOOKS)
            got = await self.expect(Status.OK, "read_outputs", call.number, size)
        self.compare("outputs", got, [want[name] for name in call.outputs], context)
        await self.compare_report(context)


async def _started(dut, board):
    await clock.hold_reset(dut)
    host = _Session(dut, board)
    await clock.release_reset(dut)
    await host.expect(Status.OK, "open")
    return host


def _run_of(machine, scenario, rebase):
    return prepare(machine, [load(ROOT / "scenarios" / f"{scenario}.toml")], rebase=rebase)


def _library(machine, factor=1.0):
    """Functions of the robot with its inertias scaled."""
    robot = urdf.load(ROOT / ROBOT, snap=SNAP)
    links = tuple(replace(link, inertia=factor * link.inertia) for link in robot.links)
    small = reduced(replace(robot, links=links))
    functions = BENCH.settings["functions"]
    kernels = {name: recorded(small, name, parameters_as_data=True) for name in functions}
    return prepare_library(machine, kernels)


@BENCH.test(timeout_us=50_000)
async def runs(dut, board):
    """Time steps with their traces: longer than the engine's memory of it, sparse, and none."""
    host = await _started(dut, board)
    steps = BENCH.settings["steps"]
    for scenario, rebase in RUNS:
        run = _run_of(host.machine, scenario, rebase)
        await host.expect(Status.OK, "load", run_image(run).encode())
        host.twin.load(run.image)
        await host.run(run, 0, steps, 1, scenario)
        await host.run(run, 0, steps // 4, 7, f"{scenario}, on from there")
        await host.run(run, 0, 5, 0, f"{scenario}, without a trace")
        await host.run(run, 0, 0, 1, f"{scenario}, without a step")
        await host.expect(Status.OK, "restart", 0)
        host.twin.load(run.image)
        await host.run(run, 0, 5, 1, f"{scenario}, from the beginning")
        homes = run.program.carried.values()
        state = {x: host.fmt.from_float(float(board.rng.normal())) for x in homes}
        await host.expect(Status.OK, "write_carried", 0, [*state.values()])
        host.twin.load(state)
        await host.run(run, 0, 5, 1, f"{scenario}, from another state")


@BENCH.test(timeout_us=50_000)
async def runs_by_parts(dut, board):
    """Started, its trace taken a few words at a time, and waited for."""
    host = await _started(dut, board)
    run = _run_of(host.machine, *RUNS[0])
    await host.expect(Status.OK, "load", run_image(run).encode())
    host.twin.load(run.image)
    steps = BENCH.settings["steps"] // 2
    before, after = run.before.values(), run.after.values()
    want = host.twin.run(run.program, steps, 0, 1, before, after)
    await host.expect(Status.OK, "start", 0, steps, 1)
    got = await host.take(len(want), steps, lambda: int(board.rng.integers(1, 20)))
    await host.expect(Status.OK, "wait", CALL_LOOKS)
    if await host.do("take", 1):
        raise TraceError("more words than the run traces")
    host.compare("trace", got, want, "by parts")
    await host.compare_report("by parts")

    # nobody takes the trace: the run is late until somebody does
    steps = BENCH.settings["steps"]
    want = host.twin.run(run.program, steps, 0, 1, before, after)
    assert len(want) > BENCH.params["TRACE_DEPTH"]
    await host.expect(Status.OK, "start", 0, steps, 1)
    await host.expect(Status.LATE, "wait", host.twin.cycles // CYCLES_OF_A_LOOK)
    assert (await host.do("report")).cycles > host.twin.cycles, "looked at too early"
    got = await host.take(len(want), steps, lambda: len(want))
    await host.expect(Status.OK, "wait", CALL_LOOKS)
    host.compare("trace", got, want, "full")


@BENCH.test(timeout_us=50_000)
async def calls(dut, board):
    """Functions of a robot in any order; masses are exchanged, and single parameters."""
    host = await _started(dut, board)
    library, rng = _library(host.machine), board.rng
    await host.expect(Status.OK, "load", library_image(library).encode())
    host.twin.load(library.image)
    for name, call in library.calls.items():
        assert await host.do("find", name) == call.number
    for index in range(BENCH.settings["calls"]):
        if index % 4 == 1:
            before, library = library, _library(host.machine, float(rng.choice((0.5, 1.25, 3.0))))
            await host.expect(Status.OK, "exchange", library_image(library).encode())
            host.twin.load(changed(before.image, library.image))
        if index % 5 == 2:
            host.engine.stall(rng, float(rng.choice((0.2, 0.5, 0.8))))
        call = library.call(int(rng.integers(len(library.calls))))
        await host.call(call, rng, f"call {index}", late=index % 3 == 1)
    call = library.call("ID")
    homes = call.program.parameters
    name = str(rng.choice(sorted(homes)))
    await host.expect(Status.OK, "set", name, host.fmt.one)
    host.twin.load({homes[name]: host.fmt.one})
    await host.call(call, rng, f"with {name} = 1")


@BENCH.test(timeout_us=50_000)
async def refusals(dut, board):
    """What goes wrong has its status, and does no harm to what was loaded."""
    host = await _started(dut, board)
    machine, fmt = host.machine, host.fmt
    run = _run_of(machine, *RUNS[0])
    data = run_image(run).encode()
    other = _run_of(replace(machine, adders=machine.adders + 1), *RUNS[0])
    await host.expect(Status.UNKNOWN, "start", 0, 1, 1)
    await host.expect(Status.OTHER_MACHINE, "load", run_image(other).encode())
    await host.expect(Status.OK, "load", data)
    host.twin.load(run.image)
    await host.expect(Status.NO_IMAGE, "load", data[::-1])
    await host.expect(Status.OTHER_VERSION, "load", data[:4] + b"\x09" + data[5:])
    await host.expect(Status.CUT_SHORT, "load", data[:-4])
    await host.expect(Status.DAMAGED, "load", data[:-4] + b"\xff" + data[-3:])
    four_bar = run_image(_run_of(machine, *RUNS[1])).encode()
    await host.expect(Status.OTHER_PROGRAM, "exchange", four_bar)
    await host.expect(Status.UNKNOWN, "set", "mass of nothing", 0)
    await host.expect(Status.UNKNOWN, "run", 1, 1, 1, 100, CALL_LOOKS)
    await host.expect(Status.NO_ROOM, "run", 0, 2, 1, 11, CALL_LOOKS)
    await host.run(run, 0, 3, 1, "after refusals")

    await host.expect(Status.LATE, "run", 0, 10_000, 0, 0, 3)
    for function in ("start", "restart", "load", "read_carried"):
        arguments = {"start": (0, 1, 1), "load": (data,), "read_carried": (0, 4)}
        await host.expect(Status.BUSY, function, *arguments.get(function, (0,)))
    await host.do("reset")
    await host.expect(Status.OK, "restart", 0)
    host.twin.load(run.image)
    await host.run(run, 0, 3, 1, "after a reset")

    # an angle that is infinite: the run stops, and leaves the trace up to there
    carried = run.program.carried
    state = dict.fromkeys(carried.values(), 0) | {[*carried.values()][0]: fmt.inf}
    await host.expect(Status.OK, "write_carried", 0, [*state.values()])
    host.twin.load(state)
    host.twin.flags = 0
    want = host.twin.run(run.program, 4, 0, 1, run.before.values(), run.after.values())
    got = await host.expect(Status.STOPPED, "run", 0, 4, 1, 100, CALL_LOOKS)
    host.compare("trace", got, want, "stopped")
    await host.compare_report("stopped")
    host.twin.stopped = False

    await host.expect(Status.OK, "restart", 0)
    await host.engine.write("TRACE_AFTER", machine.trace_registers + 1)
    await host.expect(Status.REFUSED, "run", 0, 1, 1, 100, CALL_LOOKS)
    await host.expect(Status.OK, "load", data)
    host.twin.load(run.image)
    await host.run(run, 0, 3, 1, "loaded again")


test_cosim_driver = BENCH.pytest()
