"""The table of the iiwa's diFD by datapaths and formats."""

import pytest

from scripts.evidence.benchmarks.array_formats import BUILDS, Build, by_format
from scripts.evidence.cost.jobs import ARRAY, JOBS

pytestmark = pytest.mark.reads("units")


def test_every_build_is_measured():
    configs = {job.config for job in JOBS if (job.unit, job.family) == (ARRAY, "ecp5")}
    assert {build.config for build in BUILDS} <= configs


def test_rates_against_goals(monkeypatch):
    monkeypatch.setattr(Build, "words", 1000)
    one, four = BUILDS[0], BUILDS[-1]
    rows = [
        {"fmax_mhz": 120.0, "fmax_mhz_of_seeds": [120.0, 100.0, 117.0], "lut": 10000},
        {"fmax_mhz": 125.0, "fmax_mhz_of_seeds": [125.0], "lut": 20000},
    ]
    for row, build in zip(rows, (one, four), strict=True):
        row |= {"unit": ARRAY, "family": "ecp5", "config": build.config}
    lines = by_format(rows).splitlines()[2:]
    # 117 MHz / 1000 words is 117 thousand a second, by 12 DSP48E1 9.8, by 10 thousand LUT4 11.7
    assert "| 12 | 10000 | 117.0 (≥ 118: **missed**), of 120 100 117 | 117 | 9.8 (≥ 30" in lines[0]
    assert "11.7 (≥ 20: **missed**)" in lines[0]
    # 4 datapaths: 500, by 8 DSP48E1
    assert "| logic | 1000 | 8 | 20000 | 125.0 (≥ 105: met) | 500 | 62.5 (≥ 60: met)" in lines[-1]
    assert lines[1].count("| – ") == 5
