"""A session ends once the benches nearest to a change are known to be red."""

import os
import re
import subprocess
import sys

import pytest

from scripts.changed.near import NearestFirst
from scripts.places import ROOT

NEAR, FAR = 2, 20
TESTS = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_it(number):
    assert number != {wrong}
"""
PLUGIN = """
from pathlib import Path

from scripts.changed.near import NearestFirst
from scripts.report import plugin

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
    words = ["-p", "no:cacheprovider", "-p", "scripts.report.plugin"]
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
