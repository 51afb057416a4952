"""Long runs: memory stays flat in the number of steps, and the numbers are those of short ones."""

import subprocess
import sys

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
def test_blocks_change_no_bit(path, monkeypatch, tmp_path):
    scenario = load(path, STEPS * load(path).save)
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
from pathlib import Path
import numpy as np
from pymodel.arith import scalars
from pymodel.mechanism.scenario_file import load
from pymodel.runs import files, plots
from pymodel.runs.finished import FinishedRun
from pymodel.runs.recorder import Recorder
from pymodel.runs.trajectory import read_csv
rows, out = int(sys.argv[1]), Path(sys.argv[2])
plots.plot_run = lambda *arguments, **options: []  # whose memory does not depend on the rows
scenario, some = load("scenarios/double_pendulum.toml", rows - 1), np.linspace(0.1, 0.2, 20000)
some = np.array([some, -some]).T
def run():
    recorder = Recorder(scenario, scalars.Float64())
    for first in range(0, rows, len(some)):
        recorder.extend(some[: rows - first], some[: rows - first], some[: rows - first])
    return recorder.trajectory()
with files.run_folder(out, scenario):
    found = FinishedRun(scenario, run())
    files.write_run(found, out, twin=run(), with_reference=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_memory_of_a_long_run(tmp_path):
    """At most 120 bytes a row, where those of the run and of its twin alone have 176."""
    peaks = []
    for rows in (300_000, 600_000):
        words = [sys.executable, "-c", MEASURE, str(rows), str(tmp_path / "out")]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert (peaks[1] - peaks[0]) / 300_000 < 120.0
