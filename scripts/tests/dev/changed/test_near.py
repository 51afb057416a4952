"""A session ends once the benches nearest to a change are known to be red."""

import os
import re
import subprocess
import sys

import pytest

from scripts.dev.changed.near import NearestFirst, changed_files, nearest, nearest_to_changes
from scripts.kernel.benches import all_benches
from scripts.kernel.inputs import digest_of_bench, rtl_digests, rtl_of
from scripts.kernel.places import ROOT
from tb.inv_adjugate_2x2.bench import BENCH as INVERTER

NEAR, FAR = 2, 20
TESTS = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_it(number):
    assert number != {wrong}
"""
PLUGIN = """
from pathlib import Path

from scripts.dev.changed.near import NearestFirst
from scripts.dev.report import plugin

plugin.ROOT = Path(__file__).parent
plugin.BUILD = plugin.ROOT / "build"

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(NearestFirst(config, {near}))
"""


@pytest.mark.parametrize("workers", [[], ["-n", "1", "--maxschedchunk", "1"]])
@pytest.mark.parametrize(
    ("near", "wrong", "stops"),
    [(["first"], 0, True), (["other"], 0, False)],
)
@pytest.mark.nightly("near0-0-True-workers1", "near1-0-False-workers0")
def test_a_red_bench_that_is_near_ends_the_session(tmp_path, workers, near, wrong, stops):
    """Once all its tests have run. The report is of this session."""
    for name, count, bad in (("first", NEAR, wrong), ("second", FAR, None)):
        module = tmp_path / "tb" / name / f"test_{name}.py"
        module.parent.mkdir(parents=True)
        module.write_text(TESTS.format(count=count, wrong=bad))
    (tmp_path / "conftest.py").write_text(PLUGIN.format(near=near))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    report = tmp_path / "build" / "report"
    report.mkdir(parents=True)
    (report / "junit.xml").write_text('<testsuite><testcase classname="test_old"/></testsuite>')
    words = ["-p", "no:cacheprovider", "-p", "scripts.dev.report.plugin"]
    words += ["--junitxml=build/report/junit.xml"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tb", *workers, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    *_, last = done.stdout.splitlines()
    ran = sum(map(int, re.findall(r"(\d+) (?:passed|failed)", last)))
    assert (ran < NEAR + FAR) == (NearestFirst.STOPPED in done.stdout) == stops
    assert ran >= NEAR
    assert "report: build/report/index.html" in done.stdout
    assert (report / "junit.xml").exists()
    page = (report / "index.html").read_text()
    assert f"{ran} pytest cases" in page and "1 failed</span>" in page and "test_old" not in page
    if stops and not workers:  # a worker has its next tests already
        assert ran == NEAR


ADDER = "rtl/fp/fp_add.sv"
INVERTED = "tb/inv_adjugate_2x2/test_inv_adjugate_2x2.py::test_inv_adjugate_2x2[icarus-e4m3]"


@pytest.mark.parametrize(
    ("file", "names"),
    [
        (ADDER, ["fp_add"]),
        ("rtl/step/step_bank.sv", ["step_engine"]),
        ("rtl/nothing.sv", []),
    ],
)
def test_the_nearest_bench(file, names):
    assert [bench.name for bench in nearest(file, all_benches())] == names


def test_every_file_of_the_rtl_has_a_nearest_bench():
    benches = all_benches()
    for file in {file for bench in benches for file in rtl_of(bench)}:
        assert nearest(file, benches), file


@pytest.mark.parametrize(
    ("rest", "known", "found"),
    [
        ("same", True, ["fp_add"]),
        ("other", True, []),  # more than the RTL has changed: there is no nearest bench
        ("same", False, []),  # what the RTL was is not known
    ],
)
def test_changed_rtl_is_found_by_its_digests(rest, known, found):
    today = digest_of_bench(INVERTER, 1).split()[0]
    before = rtl_digests(rtl_of(INVERTER)) | {ADDER: "other"}
    passed = {INVERTED: f"{today if rest == 'same' else rest} old"}
    sets = {"old": before} if known else {}
    files = changed_files(passed, sets, [INVERTER], 1)
    assert files == ({ADDER} if found else set())
    assert nearest_to_changes(files, all_benches()) == found
