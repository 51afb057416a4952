"""A waveform of a test that failed opens there, with what was wrong."""

import pytest

from scripts.dev.waves.failure import failure_group, window
from scripts.dev.waves.gtkwave import gtkwave_save
from scripts.dev.waves.lines import arrange
from scripts.dev.waves.surfer import surfer_commands
from scripts.tests.dev.waves.made import scope, variable, words

FAILURE = {
    "ns": 425.0,
    "why": "x_i[1] differs at 425 ns (run 8)",
    "signal": "x_i[1]",
    "got": "0x0 = 0.0",
    "expected": "0x3f800000 = 1.0",
    "float": True,
    "bits": 32,
}
LAYOUT = {"group": [{"name": "folded", "closed": True, "signals": ["x_i"]}]}


def made_groups(made):
    return failure_group(made) + arrange(LAYOUT, made)[0]


def test_gtkwave_opens_at_the_failure(wave):
    made = wave(8, 23, words(8, 23), failure=FAILURE)
    lines = gtkwave_save(made_groups(made), made).splitlines()
    assert lines[1] == "[timestart] 375000"
    zoom, primary, first, *others = lines[4].removeprefix("*").split()
    assert (primary, first, set(others)) == ("425000", "425000", {"-1"})
    begin, end = lines.index("-failed at 425 ns"), lines.index("-folded")
    bits = " ".join(f"({32 + b})dut.x_i[95:0]" for b in range(32))
    assert lines[begin - 1 : end - 1] == [
        "@800200",  # not folded
        "-failed at 425 ns",
        "@28",
        "dut.clk_i",
        "@4022",
        "^>1 ./wave_8_23.sh",
        f"#{{x_i[1]}} {bits}",
        "@200",
        "-expected 0x3f800000 = 1.0",
        "@200",
        "-got 0x0 = 0.0",
        "@200",
        "-x_i[1] differs at 425 ns (run 8)",
        "@1000200",
        "-failed at 425 ns",
    ]


def test_surfer_opens_at_the_failure(wave):
    made = wave(8, 23, words(8, 23), failure=FAILURE | {"expected": "0xbf800000 = -1.0"})
    lines = surfer_commands(made_groups(made), made).splitlines()
    assert lines[0] == "divider_add failed_at_425_ns"
    assert lines[1:3] == ["variable_add dut.clk_i", "variable_add dut.x_i"]
    assert "divider_add expected_0xbf800000_-1.0" in lines
    assert lines[-4:] == [
        "cursor_set 425000",
        "marker_set failure 425000",
        "goto_time 425000",
        "zoom_to 375000 465000",
    ]


def test_a_test_that_passed_opens_at_the_start(wave):
    made = wave(8, 23, words(8, 23))
    assert failure_group(made) == [] and window(made) is None
    lines = gtkwave_save(made_groups(made), made).splitlines()
    assert lines[1] == "[timestart] 0"
    assert lines[4].endswith(" 0" + " -1" * 26)
    assert "cursor_set" not in surfer_commands(made_groups(made), made)


@pytest.mark.parametrize(
    ("signal", "shown"),
    [
        ("u_add.y_o", ["clk_i", "y_o"]),
        ("memory[3]", ["clk_i", "memory[3]"]),  # an element is a signal of its own
        ("part_i[1]", ["clk_i", "part_i[1]"]),  # as Verilator splits a packed array
        ("x_i[7]", ["clk_i", "x_i"]),  # no such word: all of it
        ("part_i[1] = y[0][1]", ["clk_i", "part_i[1] = y[0][1]"]),  # a word that has a name
        ("COMPOUND[3]", ["clk_i", "s_axil_rdata"]),  # a register: the bus that showed it
    ],
)
def test_the_signal_is_found(wave, signal, shown):
    hierarchy = scope(
        "dut",
        variable("clk_i", 1),
        variable("x_i [95:0]", 96),
        variable("s_axil_rdata [31:0]", 32),
        variable("memory[3] [31:0]", 32),
        scope("part_i", variable("part_i[1] [31:0]", 32)),
        scope("u_add", variable("y_o [31:0]", 32)),
    )
    made = wave(8, 23, hierarchy, failure=FAILURE | {"signal": signal})
    (group,) = failure_group(made)
    assert [line.name for line in group.lines] == shown
    assert not group.closed


def test_a_hang_has_a_place_but_no_signal(wave):
    failure = {"ns": 20.0, "why": "hang at 20 ns, after 2 cycles: " + "a run to end, " * 8}
    made = wave(8, 23, failure=failure)
    (group,) = failure_group(made)
    assert group.name == "failed at 20 ns" and not group.lines
    assert all(len(remark) <= 60 for remark in group.remarks)
    assert window(made) == (0, 20_000, 60_000)
