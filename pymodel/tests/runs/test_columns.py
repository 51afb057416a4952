"""Long runs: memory stays flat in the number of steps, and the numbers are those of short ones."""

import subprocess
import sys
from dataclasses import replace

import pytest

from pymodel.mechanism.scenario_file import load
from pymodel.runs import columns
from pymodel.runs.conserved import conserved
from pymodel.runs.finished import FinishedRun
from pymodel.runs.judgement import warnings_of
from pymodel.runs.simulate import simulate
from pymodel.runs.summary import summarise
from pymodel.tests.places import ROOT, SCENARIOS

STEPS = 21


@pytest.mark.parametrize("size", [2, 5, 20, 21])
def test_blocks_have_all_rows_and_none_is_alone(size):
    for rows in range(2, 50):
        found = list(columns.blocks(rows, size))
        assert [k for part in found for k in range(part.start, part.stop)] == list(range(rows))
        assert all(part.stop - part.start > 1 for part in found)
    assert [*columns.blocks(1)] == [slice(0, 1)] and not [*columns.blocks(0)]


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
@pytest.mark.nightly(every=4)
def test_blocks_change_no_bit(path, monkeypatch, tmp_path):
    scenario = replace(load(path, STEPS), save=1)
    if scenario.adaptive:
        pytest.skip("its results come at once")
    whole = simulate(scenario)
    before = about(scenario, whole)
    monkeypatch.setattr(columns.blocks, "__defaults__", (4,))
    monkeypatch.setattr(columns, "LONG", 3)
    with columns.on_disk(tmp_path):
        parts = simulate(scenario)
        assert parts == whole
        assert about(scenario, parts) == before
    assert not list(tmp_path.iterdir())


def about(scenario, run):
    changes = [quantity.change(run).tobytes() for quantity in conserved(scenario)]
    sizes = [quantity.size(run) for quantity in conserved(scenario)]
    summary = summarise(FinishedRun(scenario, run), None, None, run)
    return (
        summary,
        changes,
        sizes,
        warnings_of(scenario, run, "float32", run),
        len(run.finite_part()),
    )


def test_a_disk_without_room_is_told_before(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "LONG", 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(columns.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"), columns.on_disk(tmp_path):
        columns.empty(10)


MEASURE = """
import resource, sys
from array import array
from pathlib import Path
import numpy as np
from pymodel.arith import scalars
from pymodel.hardware.handover import Handover
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.runs import columns, engine_runs, files, lagrangian, plots
from pymodel.runs.finished import FinishedRun
from pymodel.runs.recorder import Recorder
from pymodel.runs.trajectory import Trajectory

kind, rows, out = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
columns.LONG = 1 << 14
columns.blocks.__defaults__ = (1 << 13,)
plots.MOST_DRAWN = 1000
scenario, some = load("scenarios/double_pendulum.toml", rows - 1), np.linspace(0.1, 0.2, 8192)
some = np.array([some, -some]).T

def run():
    recorder = Recorder(scenario, scalars.Float64())
    for first in range(0, rows, len(some)):
        recorder.extend(some[: rows - first], some[: rows - first], some[: rows - first])
    return recorder.trajectory()

class Solver:  # whose steps would take a minute
    def __init__(self, scenario, rates, t, progress):
        self.t = t
    def run(self, start):
        states = columns.empty(len(self.t), 4)
        for here in columns.blocks(len(states)):
            states[here] = 0.1
        return states, None

lagrangian._Solver = Solver
with files.run_folder(out, scenario) as new:
    if kind == "engine":
        plots.plot_run = lambda *arguments, **options: []
        prepared = engine_runs.prepare(Machine().boundless, [scenario])
        bits = prepared.program.machine.fmt.from_float(0.5)
        ((found, _),) = prepared.trajectories(array("Q", [bits]) * (6 * rows))
        Handover(rows - 1, found, None, rows, {}, {}, {}, 0).write(new)
        found = Handover.read(new).trajectory
    else:
        found = run()
    run_ = FinishedRun(scenario, found)
    files.write_run(run_, out, twin=run(), with_reference=True, forces=kind == "model")
assert len(found) == rows
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("kind", ["model", "engine"])
@pytest.mark.nightly
def test_memory_of_a_long_run(tmp_path, kind):
    """At most 120 bytes a row, where run, twin, reference and forces have 88 each and 72."""
    peaks, rows = [], (30_000, 90_000)
    for number in rows:
        words = [sys.executable, "-c", MEASURE, kind, str(number), str(tmp_path / "out")]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert (peaks[1] - peaks[0]) / (rows[1] - rows[0]) < 120.0
