"""The document of the step array, from made-up measurements."""

import pytest

from scripts.benchmarks.array_devices import fitting
from scripts.benchmarks.array_document import document
from scripts.benchmarks.array_goals import goals
from scripts.benchmarks.array_others import others
from scripts.cost.devices import LFE5U_85F

pytestmark = pytest.mark.rtl_of()

PLACED = {"lut": 10_000, "dsp": 20, "mhz": 110.0, "lut6": 8_000, "dsp48": 12}
MISSING = dict.fromkeys(PLACED)


def row(kernel, robot, datapaths=1, cycles=100.0, lanes=2, **placed):
    placed = placed or PLACED
    return {
        "kernel": kernel,
        "robot": robot,
        "adders": lanes,
        "multipliers": lanes,
        "contexts": 8,
        "datapaths": datapaths,
        "cycles_per_call": cycles,
        "words": 100,
        "calls_per_s": placed["mhz"] and placed["mhz"] * 1e6 / cycles,
        "identical": True,
        **placed,
    }


def line(text, start):
    return next(one for one in text.splitlines() if one.startswith(f"| {start}"))


def test_goals_say_by_how_much_they_are_missed():
    text = goals([row("diFD", "iiwa14", cycles=1000.0), row("dFD", "iiwa14", cycles=300.0)])
    assert line(text, "clock of 2+2").endswith("| 120 | 110 | missed, 0.92 of it |")
    assert line(text, "iiwa diFD").endswith("| 20 | 9.167 | missed, 0.46 of it |")
    assert line(text, "LUT6 x cycles").endswith("| 3.5 | 2.4 | met |")
    assert line(text, "clock of 8+8").endswith("| – | not measured |")


def test_rates_by_dsp_stand_beside_those_of_others():
    text = " ".join(others([row("diFD", "iiwa14", cycles=1000.0)]).split())
    assert "2.4 to 2.7 thousand per second and per DSP: our estimate" in text
    assert "9.2 on 2+2, C 8, V 1." in text


def test_what_was_not_placed_has_no_rate():
    text = document([row("ID", "iiwa14", **MISSING), row("four_bar", None, **MISSING)])
    assert "No shape was placed." in text
    assert line(text, "step of four_bar").endswith("| 100.0 |")
    assert "not measured" in text


def test_datapaths_that_fit_by_what_one_more_costs():
    few, many = row("ID", "iiwa14"), row("ID", "iiwa14", 3, lut=20_000, dsp=40, mhz=100.0,
                                         lut6=16_000, dsp48=24)  # fmt: skip
    count = fitting([few, many], few, LFE5U_85F, "lut", "dsp")
    assert count == pytest.approx(min((0.8 * 83_640 - 10_000) // 5_000, (156 - 20) // 10) + 1)
    alone = fitting([few], few, LFE5U_85F, "lut", "dsp")
    assert alone == pytest.approx(0.8 * 83_640 / 10_000)
