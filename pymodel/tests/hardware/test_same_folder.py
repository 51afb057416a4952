"""Simulations that share a build folder: of two processes at once, or one after the other."""

import fcntl
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from pymodel.hardware.places import ROOT
from pymodel.hardware.simulation import build_folder
from pymodel.tests.hardware.planted import planted
from tb.fp_mul.bench import BENCH

pytestmark = pytest.mark.rtl_of("fp_mul")

SIMULATOR, CONFIG = "icarus", "e5m2"
RUN = f"""
from tb.fp_mul.bench import BENCH
row = BENCH.run("{SIMULATOR}", "{CONFIG}", place="%s", live=True)
assert row["result"] == "pass" and row["transactions"], row
"""


def build_in(place):
    return build_folder(BENCH.task(CONFIG, SIMULATOR, 1, place=place))


@pytest.mark.nightly
def test_one_waits_until_the_other_has_ended():
    place = "-waits"
    build = build_in(place)
    words = [sys.executable, "-c", RUN % place]
    build.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{build}.lock", "w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        waits = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        said = waits.stdout.readline()
        assert said == f"waiting for another simulation in {build.relative_to(ROOT)}\n"
        alone.close()
        ran, _ = waits.communicate(timeout=60)
    assert waits.returncode == 0 and "PASS=" in ran


@pytest.mark.parametrize("of_its_own", [False, True], ids=["shared", "of its own"])
@pytest.mark.nightly("shared")
def test_others_are_kept_out_while_files_are_shared(tmp_path, of_its_own):
    """Of a simulation with a folder of its own only the build is shared."""
    place = "-own" if of_its_own else "-shared"
    build, kept_out = build_in(place), []

    def watch(line):
        with open(f"{build}.lock") as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kept_out.append(False)
            return
        kept_out.append(True)

    folder = {"folder": tmp_path} if of_its_own else {}
    row = BENCH.run(SIMULATOR, CONFIG, place=place, watch=watch, **folder)
    assert row["result"] == "pass" and row["transactions"]
    if of_its_own:
        kept_out = kept_out[-1:]  # there may be something to build first
    assert kept_out and set(kept_out) == {not of_its_own}


@pytest.mark.nightly
def test_what_is_simulated_is_the_text_not_a_newer_build(tmp_path):
    right, wrong = "mantissa = normal_q.carry ?", "mantissa = !normal_q.carry ?"
    for changes, result in (({}, "pass"), ({right: wrong}, "fail"), ({}, "pass")):
        bench = planted(BENCH, tmp_path, "rtl/fp/fp_mul.sv", changes)
        os.utime(tmp_path / "fp_mul.sv", (0, 0))
        row = bench.run(SIMULATOR, CONFIG, place="-text")
        assert row["result"] == result and row["transactions"]
