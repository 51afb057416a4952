"""The files made from a layout and a waveform."""

import re

import pytest

from scripts.dev.waves import layout
from scripts.dev.waves.filters import filter_scripts
from scripts.dev.waves.gtkwave import gtkwave_save
from scripts.dev.waves.layout import expand
from scripts.dev.waves.lines import arrange, ports
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.surfer import item_number, surfer_commands
from scripts.dev.waves.viewer import write
from scripts.tests.dev.waves.made import FORMATS, scope, variable, words


def test_repetition_that_the_waveform_lacks_is_left_out(wave):
    lanes = (scope(f"lane[{i}]", variable("y_o", 1)) for i in range(2))
    made = wave(8, 23, hierarchy=scope("dut", variable("clk_i", 1), *lanes))
    signals = ["clk_i", "lane[{i}].y_o", "lane[{i}].gone"]
    layout = {"group": [{"name": "lane {i}", "repeat": 3, "signals": signals}]}
    groups, missing = arrange(layout, made)
    assert [group.name for group in groups] == ["lane 0", "lane 1"]
    assert missing == ["lane[0].gone", "lane[1].gone"]


def test_much_that_a_waveform_lacks_is_one_short_line(wave, capsys):
    write(wave(8, 23), "step_array")
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"waves: not in this waveform: (\S+; ){3}\d+ more", line)


def test_the_waveform_of_another_bench_is_refused(wave):
    """Its signals are not those that the layout names; a bench of the same top level shares it."""
    foreign = wave(8, 23, bench="step_engine", toplevel="step_engine")
    with pytest.raises(Problem, match=r"first\.fst: is of step_engine .*, not of fp_mul$"):
        write(foreign, "fp_mul")
    hierarchy = scope("step_engine", variable("clk_i", 1))
    write(wave(8, 23, hierarchy, bench="cosim_step", toplevel="step_engine"), "step_engine")


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_gtkwave_save(wave, fmt):
    width = 1 + sum(fmt)
    made = wave(*fmt, hierarchy=words(*fmt))
    entry = {"path": "x_i", "radix": "float", "words": ["v[3]"]}
    layout = {"group": [{"name": "all", "closed": True, "signals": ["clk_i", "gone", entry]}]}
    groups, missing = arrange(layout, made)
    assert missing == ["gone"]
    lines = gtkwave_save(groups, made).splitlines()
    body = lines[lines.index("@c00200") :]
    assert body[:4] == ["@c00200", "-all", "@28", "dut.clk_i"]
    assert body[-2:] == ["@1401200", "-all"]
    filtered = f"^>1 ./wave_{fmt[0]}_{fmt[1]}.sh"
    full = f"dut.x_i[{3 * width - 1}:0]"
    for i in range(3):  # word 0 is the lowest: GTKWave counts bits from the left
        flags, name, bits = body[4 + 3 * i : 7 + 3 * i]
        assert (flags, name) == ("@4022", filtered)
        left = (2 - i) * width
        assert bits.split() == [f"#{{v[{i}]}}", *(f"({left + b}){full}" for b in range(width))]
    (script,) = filter_scripts(groups, made).values()
    assert script.endswith(f"-m scripts.dev.waves.float_filter {fmt[0]} {fmt[1]}\n")


def test_every_radix(wave):
    made = wave(8, 23)
    radixes = {"hex": "22", "decimal": "24", "signed": "424", "bin": "28", "flags": "4022"}
    signals = [{"path": "u_add.y_o", "radix": radix, "name": radix} for radix in radixes]
    groups, _ = arrange({"group": [{"name": "all", "signals": signals}]}, made)
    text = gtkwave_save(groups, made)
    for radix, flags in radixes.items():
        extra = "^>1 ./wave_flags.sh\n" if radix == "flags" else ""
        assert f"@{flags}\n{extra}+{{{radix}}} dut.u_add.y_o[31:0]\n" in text


def test_float_in_a_wider_word_is_its_low_bits(wave):
    made = wave(5, 10)
    layout = {"group": [{"name": "g", "signals": [{"path": "u_add.y_o", "radix": "float"}]}]}
    (group,), _ = arrange(layout, made)
    assert (group.lines[0].low, group.lines[0].width) == (0, 16)
    assert "#{y_o} (16)dut.u_add.y_o[31:0] (17)" in gtkwave_save([group], made)


def test_packed_array_that_verilator_splits(wave):
    parts = scope("a_i", *(variable(f"a_i[{i}] [15:0]", 16) for i in (1, 0)))
    made = wave(5, 10, hierarchy=scope("dut", variable("clk_i", 1), parts))
    made.params["LANES"] = 2
    entry = {"path": "a_i", "radix": "float", "words": ["a[LANES]"]}
    groups, missing = arrange({"group": [{"name": "g", "signals": [entry]}]}, made)
    assert missing == []
    assert [(line.name, line.signal.name) for line in groups[0].lines] == [
        ("a[0]", "dut.a_i.a_i[0][15:0]"),
        ("a[1]", "dut.a_i.a_i[1][15:0]"),
    ]


def test_surfer_commands(wave):
    made = wave(8, 23)
    signals = ["clk_i", {"path": "u_add.y_o", "radix": "float"}]
    signals.append({"path": "x_i", "radix": "float", "words": ["x[3]"]})
    groups, _ = arrange({"group": [{"name": "ins, outs", "signals": signals}]}, made)
    assert surfer_commands(groups, made).splitlines() == [
        "divider_add ins_outs",
        "variable_add dut.clk_i",
        "variable_add dut.u_add.y_o",
        "item_focus c_dut.u_add.y_o",
        "item_set_format FP: 32-bit IEEE 754",
        "variable_add dut.x_i",
        "item_focus d_dut.x_i",
        "item_set_format Hexadecimal",
        "item_unfocus",
    ]
    assert item_number(15, 16) == "ap" and item_number(3, 15) == "d"


def test_bench_without_layout_shows_its_ports(wave):
    (group,) = ports(wave(8, 23))
    assert [line.name for line in group.lines] == ["clk_i", "x_i"]
    split = scope("a_i", variable("a_i[0] [15:0]", 16))
    made = wave(5, 10, hierarchy=scope("dut", variable("clk_i", 1), variable("sum", 1), split))
    (group,) = ports(made)
    assert [line.name for line in group.lines] == ["clk_i", "a_i[0]"]


def test_repeat_and_parameters():
    assert expand(["m[2][N]", "e"], {"N": 2}) == [
        "m[0][0]",
        "m[0][1]",
        "m[1][0]",
        "m[1][1]",
        "e",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"path": "x_i", "radix": "flaot"}, "x_i: no radix 'flaot'; there are auto, "),
        ({"path": "x_i", "words": ["x[5]"]}, "x_i: 96 bits are not 5 words"),
        ({"path": "x_i", "words": ["x[0]"]}, "x_i: 96 bits are not 0 words"),
        ({"path": "x_i", "words": ["x[N]"]}, r"words, x\[N\]: N is no parameter of the top level"),
        ({"path": "x_i", "words": "body"}, "x_i, words: no body, must be a list"),
        ({"path": "x_i", "name": 1}, "x_i: name = 1, must be a text"),
        ({"radix": "hex"}, "group 1, a signal: no path, must be a text"),
        (3, "group 1, a signal: must be a table, not 3"),
    ],
)
def test_wrong_signal_is_one_line(wave, entry, said):
    with pytest.raises(Problem, match=said):
        arrange({"group": [{"name": "g", "signals": [entry]}]}, wave(8, 23))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[group]]\nsignals = []", "group 1: no name, must be a text"),
        ("[[group]]\nname = 'g'", "group 1: no signals, must be a list"),
        (
            "[[group]]\nname = 'g'\nsignals = []\nrepeat = 'x'",
            "group 1: repeat = 'x', must be a whole number",
        ),
        ("[group]", "layout: group = {}, must be a list"),
        ("group = [1]", "group 1: must be a table, not 1"),
        ("[[group", "Expected ']]' at the end of an array declaration (at end of document)"),
    ],
)
def test_wrong_layout_is_one_line_that_names_the_file(wave, tmp_path, monkeypatch, text, said):
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    file = tmp_path / "tb" / "adder" / layout.FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(Problem) as caught:
        write(wave(8, 23), "adder")
    assert str(caught.value) == f"{file}: {said}"
