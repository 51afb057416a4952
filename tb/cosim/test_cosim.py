"""Co-simulation: Python plays the processor, the RTL does assembly and disassembly.

Body update, base connection, rates and integration run in the bit-exact arithmetic; every
assembly and disassembly goes through the co-processor's registers and is compared with the model
word by word, and at the end the whole trajectory with an all-model run. ``make run`` and
``make pendulum`` run this bench with the user's scenario.

Settings: ``scenario`` (path), ``steps`` (default: the scenario's), ``out`` (folder for run.csv and
cosim.json).
"""

import json
from pathlib import Path

import numpy as np
import pytest

from pymodel import dynamics, hdca, simulate
from pymodel.arith import BitExact
from pymodel.fp import Format
from pymodel.scenario import load
from pymodel.trajectory import write_csv
from tb.common import clock
from tb.common.bench import BUILD, ROOT, Bench, Config
from tb.common.hdca_coprocessor import HdcaCoprocessor

PROGRESS = "@progress"  # a line of output: @progress <steps done> <steps>
PROGRESS_LINES = 200


def _config(name, scenario, steps=None, sims=("icarus", "verilator"), params=None):
    settings = {"scenario": f"scenarios/{scenario}.toml", "steps": steps}
    return Config(name, params or {}, settings, sims)


CONFIG = "double_pendulum"  # the configuration that runs of other scenarios derive from
PIPELINED = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}
BENCH = Bench(
    __file__,
    toplevel="hdca_coprocessor",
    configs=[
        _config(CONFIG, "double_pendulum", sims=()),  # whole: see test_demo
        _config("double_pendulum-short", "double_pendulum", steps=300, sims=("icarus",)),
        _config("general_chain_2", "general_chain_2", steps=40),
        _config("pipelined", "double_pendulum", steps=100, params=PIPELINED, sims=("verilator",)),
        _config("half", "double_pendulum", steps=100, params={"EXP_W": 5, "MAN_W": 10}),
    ],
)


class Hardware:
    """Answers the algorithm's requests with the co-processor, and checks every answer."""

    def __init__(self, board, coprocessor, fmt, processor):
        self.board = board
        self.coprocessor = coprocessor
        self.fmt = fmt
        self.processor = processor  # arithmetic that the answers are scalars of
        self.model = BitExact(fmt)  # what the hardware must do; its flags are the hardware's
        self.joint = None  # the model's idea of what the hardware holds
        self.step = 0

    async def answer(self, request):
        if isinstance(request, dynamics.ConnectBase):
            return dynamics.answer(self.processor, request)
        if isinstance(request, dynamics.Assemble):
            return await self._assemble(*self.model.adopt(request))
        joint, t_1c, t_2c = self.model.adopt((self.joint, request.t_1c, request.t_2c))
        got = await self.coprocessor.disassemble(_bits(t_1c), _bits(t_2c))
        self._check("T_1B", got, hdca.disassemble(joint, t_1c, t_2c))
        return self._scalars(got)

    async def _assemble(self, a, b):
        words = [_bits(hdca.to_words(body)) for body in (a, b)]
        got = await self.coprocessor.assemble(*words)
        compound, self.joint, _ = hdca.assemble(self.model, a, b)
        self._check("COMPOUND", got, hdca.to_words(compound))
        if self.coprocessor.field("STATUS", "SINGULAR", self.coprocessor.status):
            raise dynamics.SingularError("joint matrix (33) is singular")
        return hdca.from_words(self._scalars(got)), None  # the joint stays in the hardware

    def _scalars(self, words):
        return tuple(self.processor.scalar(word) for word in words)

    def _check(self, name, got, want):
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            self.board.compare(f"{name}[{i}]", g, w.bits, self.fmt, context=f"step {self.step}")


def _bits(scalars):
    return [scalar.bits for scalar in scalars]


async def _drive(generator, hardware):
    """Like dynamics.serve, with the hardware answering."""
    reply = None
    while True:
        try:
            request = generator.send(reply)
        except StopIteration:
            return
        reply = await hardware.answer(request)


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    scenario = load(ROOT / BENCH.settings["scenario"], BENCH.settings["steps"])
    fmt = Format(BENCH.params.get("EXP_W", 8), BENCH.params.get("MAN_W", 23))
    await clock.hold_reset(dut)
    coprocessor = HdcaCoprocessor(dut)
    await clock.release_reset(dut)

    processor = BitExact(fmt)
    hardware = Hardware(board, coprocessor, fmt, processor)

    def progress(step, steps):
        hardware.step = step
        if step % max(1, steps // PROGRESS_LINES) == 0:
            print(PROGRESS, step, steps, flush=True)

    recorder = simulate.Recorder(scenario, processor)
    run = simulate.run(dynamics.Chain(processor, scenario), scenario, recorder, progress)
    stopped = None
    try:
        await _drive(run, hardware)
    except dynamics.SingularError as error:
        stopped = recorder.where(error)
    except simulate.NonFiniteError as error:
        stopped = str(error)
    _leave_behind(scenario, recorder, coprocessor, hardware, stopped)

    status = await coprocessor.read("STATUS")
    flags = coprocessor.field("STATUS", "FLAGS", status)
    board.compare("STATUS.FLAGS", flags, hardware.model.flags)
    assert stopped is None, stopped
    model = simulate.simulate(scenario, BitExact(fmt))
    _compare(board, recorder.trajectory(), model)
    board.compare("float flags of the run", processor.flags | flags, model.flags)


def _compare(board, run, model):
    """Every value of every kept step, exactly."""
    for name, column in run.columns().items():
        want = model.columns()[name]
        differ = np.flatnonzero(column.view(np.uint64) != want.view(np.uint64))
        first = [f"row {i}: {column[i]!r}, model {want[i]!r}" for i in differ[:1]]
        board.compare(f"differing rows of {name}", len(differ), 0, context="".join(first))


def _leave_behind(scenario, recorder, coprocessor, hardware, stopped):
    default = BUILD / "cosim" / f"{BENCH.config.name}-{BENCH.simulator}"
    out = Path(BENCH.settings.get("out") or default)
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / "run.csv", recorder.trajectory())
    report = {
        "steps": scenario.steps,
        "stopped": stopped,
        "flags": hardware.processor.flags | hardware.model.flags,
        "evaluations": coprocessor.runs["assembly"],
        "bus_and_run_cycles": dict(coprocessor.cycles),
        "engine_cycles": dict(coprocessor.engine_cycles),
        "registers_moved": dict(coprocessor.words),
        "words_compared": hardware.board.transactions,
    }
    (out / "cosim.json").write_text(json.dumps(report, indent=1))


test_cosim = BENCH.pytest()


@pytest.mark.parametrize(("simulator", "config"), [("verilator", CONFIG)])
def test_demo(simulator, config, bench_options):
    """What `make pendulum` does: 10 000 steps, bit-identical, as accurate as Euler's method is."""
    from scripts import run

    out = BUILD / "pendulum"
    words = ["--scenario", str(ROOT / "scenarios" / f"{config}.toml"), "--target", "coprocessor"]
    words += ["--sim", simulator, "--out", str(out), "--seed", str(bench_options["seed"])]
    assert run.main(words + ["--waves"] * bench_options["waves"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["identical_to_model"]
    assert summary["steps"] == 10_000
    # 9.1 mJ is the truncation error of explicit Euler at this step; rounding adds about 1 %
    assert summary["kinetic_difference_max_J"] == pytest.approx(9.1e-3, abs=0.05e-3)
    assert summary["kinetic_rounding_max_J"] < 0.1e-3
    assert len(list(out.glob("*.png"))) >= 3
