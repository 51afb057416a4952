"""Co-simulation: Python plays the processor, a co-processor answers what it can.

Everything that the co-processor does not do runs in the bit-exact arithmetic. Each of its answers
is compared with the model word by word, and at the end the whole trajectory with an all-model run.

A bench's settings: ``scenario`` (path), ``steps`` (default: the scenario's), ``rebase``, ``out``
(folder for run.csv and cosim.json).
"""

import json
import re
from pathlib import Path

import numpy as np

from pymodel.algorithms.requests import SingularError, answer
from pymodel.algorithms.step import Chain
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.mechanism.scenario_file import load
from pymodel.runs import simulate
from pymodel.runs.recorder import NonFiniteError, Recorder
from pymodel.runs.trajectory import write_csv
from tb.common import clock
from tb.common.bench import BUILD, ROOT

BINARY64 = Format(11, 52)
BASE = "ldup"  # how the co-processors' runs connect a closed base: the inverse that is in hardware
PROGRESS = "@progress"  # a line of output: @progress <steps done> <steps>
PROGRESS_LINES = 200


class Hardware:
    """Answers the algorithm's requests; a subclass sends some of them to its co-processor.

    Attributes
    ----------
    processor : BitExact
        What Python computes in, and what the answers are scalars of.
    model : BitExact
        What the hardware must do; its flags are those that the hardware must have.
    """

    def __init__(self, board, coprocessor, fmt):
        self.board = board
        self.coprocessor = coprocessor
        self.fmt = fmt
        self.processor = BitExact(fmt)
        self.model = BitExact(fmt)
        self.recorder = None

    async def answer(self, request):
        """The answer to a request of :mod:`pymodel.algorithms.step`."""
        return answer(self.processor, request)

    def scalars(self, words):
        """Words from the hardware, as the processor's scalars."""
        return tuple(self.processor.scalar(word) for word in words)

    def check(self, name, got, want, names=None):
        """Compare words from the hardware with the model's scalars."""
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            signal = f"{name}[{i}]" + (f" = {names[i]}" if names else "")
            context = f"step {self.recorder.step}"
            self.board.compare(signal, g, w.bits, self.fmt, context=context)


def bits(scalars):
    """Words to send."""
    return [scalar.bits for scalar in scalars]


async def co_simulate(bench, dut, board, hardware_type, coprocessor_type):
    """The body of a co-simulation test."""
    settings = bench.settings
    scenario = load(ROOT / settings["scenario"], settings.get("steps"))
    options = {"rebase": settings.get("rebase") or 0, "base": BASE}
    fmt = Format(bench.params.get("EXP_W", 8), bench.params.get("MAN_W", 23))
    await clock.hold_reset(dut)
    coprocessor = coprocessor_type(dut)
    await clock.release_reset(dut)

    hardware = hardware_type(board, coprocessor, fmt)
    recorder = hardware.recorder = Recorder(scenario, hardware.processor)
    chain = Chain(hardware.processor, scenario, **options)
    stopped = None
    try:
        await _drive(simulate.run(chain, scenario, recorder, progress), hardware)
    except SingularError as error:
        stopped = recorder.where(error)
    except NonFiniteError as error:
        stopped = str(error)
    run = recorder.trajectory() if recorder.rows else None
    leave_behind(
        bench,
        scenario,
        run,
        stopped,
        coprocessor,
        flags=hardware.processor.flags | hardware.model.flags,
        evaluations=max(coprocessor.runs.values()),
        compared=board.transactions,
    )

    flags = coprocessor.field("STATUS", "FLAGS", await coprocessor.read("STATUS"))
    board.compare("STATUS.FLAGS", flags, hardware.model.flags)
    model, model_stopped = all_model(scenario, BitExact(fmt), **options)
    assert stopped == model_stopped, f"hardware: {stopped}; all-model run: {model_stopped}"
    if model is not None:
        compare(board, run, model, fmt)
        board.compare("float flags of the run", hardware.processor.flags | flags, model.flags)


async def _drive(generator, hardware):
    """Like serve, with the hardware answering."""
    reply = None
    while True:
        try:
            request = generator.send(reply)
        except StopIteration:
            return
        reply = await hardware.answer(request)


def progress(step, steps):
    """Print how far the run is, for whoever watches the output."""
    if step % max(1, steps // PROGRESS_LINES) == 0:
        print(PROGRESS, step, steps, flush=True)


def all_model(scenario, arithmetic, **options):
    """The run on the model alone: (trajectory or None, reason to stop or None)."""
    try:
        return simulate.simulate(scenario, arithmetic, **options), None
    except (SingularError, NonFiniteError) as error:
        return error.trajectory, str(error)


def compare(board, run, model, fmt, rows=None):
    """Every value of every kept step, exactly; of the first ``rows`` steps only if given.

    Coordinates, velocities and momenta are floats of ``fmt``, all else is computed in float64.
    """
    for name, column in run.columns().items():
        want = model.columns()[name][:rows]
        assert len(column) == len(want), f"{len(column)} rows, all-model run {len(want)}"
        differ = np.flatnonzero(column.view(np.uint64) != want.view(np.uint64))
        first = int(differ[0]) if len(differ) else 0
        own = fmt if re.fullmatch(r"(q|qd|p)\d+", name) else BINARY64
        board.transactions += len(column) - 1  # and one more by the comparison
        got, expected = (own.from_float(float(values[first])) for values in (column, want))
        context = f"row {first} of run.csv, the first of {len(differ)} rows"
        board.compare(name, got, expected, own, context=context)


def leave_behind(
    bench, scenario, run, stopped, coprocessor, *, flags, evaluations, compared, **more
):
    """Write run.csv and cosim.json, which scripts/run.py makes a report of.

    Parameters
    ----------
    run : Trajectory or None
    stopped : str or None
        Why the run ended early.
    flags : int
        Sticky float flags of everything that the run computed.
    evaluations : int
        Times that the rates were evaluated: what costs are divided by.
    compared : int
        Words from the hardware that were compared with the model.
    more
        More entries for cosim.json.
    """
    default = BUILD / bench.name / f"{bench.config.name}-{bench.simulator}"
    out = Path(bench.settings.get("out") or default)
    out.mkdir(parents=True, exist_ok=True)
    if run is not None:
        write_csv(out / "run.csv", run)
    report = {
        "steps": scenario.steps,
        "stopped": stopped,
        "rows": 0 if run is None else len(run),
        "flags": flags,
        "condition": run and run.condition,
        "condition_time": run and run.condition_time,
        "evaluations": evaluations,
        "bus_and_run_cycles": dict(coprocessor.cycles),
        "engine_cycles": dict(coprocessor.engine_cycles),
        "registers_moved": dict(coprocessor.words),
        "words_compared": compared,
    }
    (out / "cosim.json").write_text(json.dumps(report | more, indent=1))
