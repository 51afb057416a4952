"""The document of the step array, from made-up measurements."""

import pytest

from pymodel.machine.isa import MAX_DATAPATHS
from scripts.evidence.benchmarks import array_document
from scripts.evidence.benchmarks.array_devices import ECP5, XC7, devices, fitting
from scripts.evidence.benchmarks.array_document import document
from scripts.evidence.benchmarks.array_goals import goals
from scripts.evidence.benchmarks.array_others import others
from scripts.evidence.cost.counts import LFE5U_85F, ZYNQ_7020
from scripts.kernel.documents import MissingError

pytestmark = pytest.mark.rtl_of()

PLACED = {"lut": 10_000, "dsp": 20, "bram": 12.0, "mhz": 110.0}
PLACED |= {"lut6": 8_000, "dsp48": 12, "bram36": 6.5}
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
    assert "9.2 on 2+2, C 8, V 1 (5.5 by multiplier of the ECP5)." in text


def test_a_page_without_clocks_replaces_none(monkeypatch):
    rows = [row("ID", "iiwa14", **MISSING)]
    monkeypatch.setattr(array_document, "read", lambda *words: rows)
    monkeypatch.setattr(array_document, "with_hardware", lambda rows: rows)
    with pytest.raises(MissingError, match="no shape was placed: run `make synth UNITS=step_array"):
        array_document.from_results()


@pytest.mark.nightly
def test_what_was_not_placed_has_no_rate():
    text = document([row("ID", "iiwa14", **MISSING), row("four_bar", None, **MISSING)])
    assert "No shape was placed." in text
    assert line(text, "step of four_bar").endswith("| 100.0 |")
    assert "not measured" in text


def test_datapaths_that_fit_by_what_one_more_costs():
    few = row("ID", "iiwa14")
    many = row("ID", "iiwa14", 3, **PLACED | {"lut": 20_000, "dsp": 40, "bram": 16.0})
    count = fitting([few, many], few, LFE5U_85F, ECP5)
    assert count == min((0.8 * 83_640 - 10_000) // 5_000, (156 - 20) // 10, (208 - 12) // 2) + 1
    assert fitting([few, many], row("ID", "iiwa14", **MISSING), LFE5U_85F, ECP5) is None


def test_whole_arrays_fit():
    one, pair = row("ID", "iiwa14"), row("ID", "iiwa14", datapaths=2)
    assert fitting([one], one, LFE5U_85F, ECP5) == int(0.8 * 83_640 / 10_000) == 6
    assert fitting([pair], pair, LFE5U_85F, ECP5) == 12


def test_block_ram_bounds_what_fits():
    few = row("double_pendulum", None, **PLACED | {"bram": 48.0, "bram36": 23.0})
    assert fitting([few], few, LFE5U_85F, ECP5) == 208 // 48 == 4
    text = goals([few])
    assert line(text, "double pendulums on an ECP5").endswith("| 10 | 4.4 | missed, 0.44 of it |")
    more = {"lut": 20_000, "dsp": 40, "bram": 96.0, "lut6": 8_100, "dsp48": 14, "bram36": 53.0}
    many = row("double_pendulum", None, 3, **PLACED | more)
    assert fitting([few, many], many, ZYNQ_7020, XC7) == (140 - 23) // 15 + 1 == 8
    arrays = 4 * MAX_DATAPATHS + (2160 - 4 * (8 + MAX_DATAPATHS * 15) - 8) // 15
    assert line(devices([few, many]), "2+2, C 8, V 1").endswith(f"| 8 | 7 | {arrays} |")


def test_a_shape_on_which_nothing_ran_says_what_one_datapath_more_costs():
    """4 + 4 lanes as in docs/hardware_cost.md."""
    cost = {"lut6": 15350, "dsp48": 24, "bram36": 37.5}
    pair = row("ID", "iiwa14", 2, lanes=4, **MISSING | cost)
    one = row("ID", "iiwa14", 1, lanes=4, **MISSING | {"lut6": 9846, "dsp48": 16, "bram36": 24.5})
    assert line(devices([pair]), "4+4, C 8, V 2").endswith("| 4 | – | 114 |")
    assert line(devices([pair], [one]), "4+4, C 8, V 2").endswith("| 6 | – | 160 |")
