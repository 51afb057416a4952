"""The shortest stimulus that still fails, and the parts of stimulus that it is made of."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from pymodel.hardware.bench import for_simulator, set_state, state_of
from scripts.dev.regress import minimal
from scripts.dev.regress.minimal import Failure, kind_of, least, minimised
from scripts.kernel import simulations as units
from scripts.kernel.places import ROOT
from scripts.kernel.simulations import Unit, digest_of
from tb.fp_add.bench import BENCH as FP_ADD
from tb.inv_adjugate_2x2.bench import BENCH as INVERTER

ADDER = "rtl/fp/fp_add.sv"
STICKY = "in.lesser, in.lost != '0}"
RARE = "in.lesser, in.lost != '0 && in.common.exponent[1:0] != 2'd3}"  # one exponent of 4


@pytest.mark.parametrize("first", range(1, 40))
def test_bisection_finds_the_least_that_fails(first):
    asked = []

    def fails(number):
        asked.append(number)
        return number >= first

    assert least(0, 39, fails) == first and len(asked) <= 6


def test_a_generator_goes_on_where_it_was():
    rng = np.random.default_rng([7, *b"test"])
    rng.integers(10, size=3, dtype=np.uint32)  # an odd number of halves
    text, want = state_of(rng), rng.normal(size=4).tolist()
    other = np.random.default_rng([7, *b"test"])
    set_state(other, text)
    assert other.normal(size=4).tolist() == want


def test_a_number_stands_for_the_simulators_own():
    settings = {"vectors": {"icarus": 5, "verilator": 9}, "most": 3}
    given = {"vectors": 2, "most": 1, "out": "x"}
    found = {"vectors": {"icarus": 2}, "most": 1, "out": "x"}
    assert for_simulator(settings, given, "icarus") == found


def test_failures_are_told_apart_by_what_they_say():
    def of(text):
        return kind_of({"why": text})

    assert of("y_o[3] differs at 425 ns (run 8)") == of("y_o[11] differs at cycle 9 (run 1)")
    assert of("y_o[3] differs at 425 ns") != of("flags_o[3] differs at 425 ns")


class Bench:
    """A test of so many items, of which one fails, or needs others before it.

    Of fewer than `same` items, it fails otherwise.
    """

    def __init__(self, needs=1, item=9, settings=None, waves=True, same=0):
        self.needs, self.item, self.waves, self.same = needs, item, waves, same
        self.settings = settings or {}

    def config_named(self, name):
        return self

    def simulated(self, unit, folder, testcase, settings, waves):
        first, count = settings.get("first", 0), settings.get("items", 1000)
        fails = first <= self.item - self.needs + 1 and first + count > self.item
        if "steps" in settings:
            fails = settings["steps"] >= 5
        fails &= self.waves or not waves
        said = "y differs" if count >= self.same else "flags differ"
        test = {"name": testcase, "result": "fail" if fails else "pass", "message": said}
        test["sim_ns"] = 100.0 * settings.get("steps", 8)
        if not self.settings:
            states = [f"{number:x}" for number in range(first, self.item + 1)]
            test["reached"] = {"item": self.item, "states": states}
        return {"tests": [test], "rerun": f"make it {settings}"}


@pytest.fixture
def shortest(monkeypatch):
    def search(bench):
        monkeypatch.setattr(minimal, "simulated", bench.simulated)
        monkeypatch.setattr(minimal, "bench_named", lambda name: bench)
        return minimised(Failure(Unit("fp_add", "half", "icarus", 1, ""), "corners")).row

    return search


@pytest.mark.parametrize(("needs", "item"), [(1, 9), (1, 0), (2, 9), (5, 9), (7, 100), (10, 9)])
def test_as_many_items_as_it_takes(shortest, needs, item):
    row = shortest(Bench(needs, item))
    first = item - needs + 1
    state = {"state": f"{first:x}"} if first else {}
    assert row["settings"] == {"first": first, "items": needs} | state
    assert row["runs"] <= 16


def test_what_fails_otherwise_is_another_failure(shortest):
    row = shortest(Bench(same=5))
    assert row["settings"]["items"] == 5 and row["why"] == "y differs"


def test_counts_as_small_as_can_be(shortest):
    row = shortest(Bench(settings={"steps": {"icarus": 8}, "robot": "x", "rows": None}))
    assert row["settings"] == {"steps": 5} and row["how"] == "steps 5"


def test_counts_that_matter_not_stay(shortest):
    row = shortest(Bench(settings={"calls": 8}))
    assert row["settings"] == {} and row["how"] == "the whole test, until it fails"
    assert row["rerun"] == "make it {} WAVES=1"


def test_what_fails_otherwise_is_said(shortest):
    row = shortest(Bench(item=-1))
    assert row["how"] == "fails only after the bench's other tests"
    assert row["rerun"] == "make fp_add SIM=icarus CONFIG=half SEED=1"
    assert shortest(Bench(waves=False))["how"] == "item 9 alone; passes with waves"


@pytest.fixture
def planted(monkeypatch, tmp_path):
    """Have a bench run with a bug in one of its files."""

    def plant(bench, file, right, wrong):
        text = (ROOT / file).read_text()
        assert text.count(right) == 1, f"{file} must have once: {right}"
        bug = tmp_path / file.rpartition("/")[2]
        bug.write_text(text.replace(right, wrong))
        broken = copy.copy(bench)
        sources = tuple(bug if x == ROOT / file else x for x in bench.device.sources)
        broken.device = replace(bench.device, sources=sources)
        for module in (units, minimal):
            monkeypatch.setattr(module, "FOLDER", tmp_path / "build")
            monkeypatch.setattr(module, "bench_named", lambda name: broken)
        monkeypatch.setattr(minimal, "ROOT", tmp_path)
        monkeypatch.setattr(units, "PLACE", "-planted")
        units._files.cache_clear()

    yield plant
    units._files.cache_clear()


@pytest.mark.rtl_of("fp_add", "fp_mul", "fp_recip", "fp_sincos")
def test_a_vector_of_many_fails_alone(planted):
    planted(FP_ADD, ADDER, STICKY, RARE)
    unit = Unit("fp_add", "random-8.16", "icarus", 3, digest_of("fp_add", "icarus"))
    found = minimised(Failure(unit, "many_operands"))
    assert found.row["settings"]["items"] == 1 and found.row["settings"]["first"] > 0
    assert " differs at cycle 6, 79 ns (add a=" in found.row["why"]
    settings = json.dumps(found.row["settings"])
    assert found.row["rerun"] == (
        "make fp_add SIM=icarus CONFIG=random-8.16 SEED=3 TEST=many_operands "
        f"SETTINGS='{settings}' WAVES=1"
    )
    about = json.loads(found.waves[".json"])
    assert found.waves[".fst"] and about["rerun"] == found.row["rerun"]
    assert about["failure"]["why"] == found.row["why"]


@pytest.mark.rtl_of("inv_adjugate_2x2", "fp_recip", "fp_units")
@pytest.mark.nightly
def test_a_round_fails_alone_from_where_its_random_numbers_were(planted):
    """The round's operands are those that it had in the whole test."""
    planted(INVERTER, ADDER, STICKY, RARE)
    digest = digest_of("inv_adjugate_2x2", "icarus")
    unit = Unit("inv_adjugate_2x2", "random-8.23.0.0.0", "icarus", 1, digest)
    found = minimised(Failure(unit, "random_matrices"))
    assert found.row["settings"]["items"] == 1
    first = found.row["settings"]["first"]
    assert first > 0 and found.row["settings"]["state"]
    assert found.row["how"] == f"item {first} alone" and f"run {first}" in found.row["why"]
