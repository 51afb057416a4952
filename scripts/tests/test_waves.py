"""Waveform layouts, the files made from them, the float filter, and what the user is told."""

import gzip
import importlib
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.algorithms import two_handles
from pymodel.arith.fp import Format
from scripts import fst, wave_float, waves

LAYOUTS = sorted((waves.ROOT / "tb").glob("*/waves.toml"))
FORMATS = [(8, 23), (5, 10), (8, 7), (11, 52), (4, 3), (5, 2), (4, 2)]


# --- a made-up waveform -------------------------------------------------------------------------


def variable(name: str, width: int, kind: int = 16) -> bytes:
    """A variable in a hierarchy; kind 16 is a wire."""
    return bytes([kind, 0]) + name.encode() + b"\0" + varint(width) + b"\0"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def scope(name: str, *inside: bytes) -> bytes:
    return b"\xfe\0" + name.encode() + b"\0\0" + b"".join(inside) + b"\xff"


def block(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + (len(body) + 8).to_bytes(8, "big") + body


def lz4(data: bytes) -> bytes:
    """As an LZ4 block of literals only."""
    assert len(data) >= 15
    rest = len(data) - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


SIZE = bytes(8)  # of the uncompressed data, not needed
HIERARCHY = scope(
    "dut",
    variable("clk_i", 1),
    variable("EXP_W [31:0]", 32, kind=2),
    variable("x_i [95:0]", 96),
    scope("u_add", variable("y_o [31:0]", 32), variable("memory[3] [7:0]", 8)),
) + scope("$rootio", variable("clk_i", 1))


@pytest.fixture
def wave(tmp_path):
    """A waveform of a made-up bench with its JSON: call it with a float format."""

    def make(exp_w, man_w, hierarchy=HIERARCHY):
        path = tmp_path / "small-icarus-first.fst"
        path.write_bytes(block(0, bytes(321)) + block(4, SIZE + gzip.compress(hierarchy)))
        about = {
            "toplevel": "dut",
            "params": {"EXP_W": exp_w, "MAN_W": man_w},
            "rerun": "make dut WAVES=1",
        }
        path.with_suffix(".json").write_text(json.dumps(about))
        return waves.Wave.read(path)

    return make


def words(exp_w, man_w, count=3):
    """The hierarchy with count floats in x_i."""
    width = count * (1 + exp_w + man_w)
    return scope("dut", variable("clk_i", 1), variable(f"x_i [{width - 1}:0]", width))


# --- the hierarchy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "blocks",
    [
        block(4, SIZE + gzip.compress(HIERARCHY)),
        block(6, SIZE + lz4(HIERARCHY)),
        block(7, SIZE + SIZE + lz4(lz4(HIERARCHY))),
        block(254, SIZE + gzip.compress(block(0, bytes(9)) + block(6, SIZE + lz4(HIERARCHY)))),
    ],
    ids=["gzip", "lz4", "lz4 twice", "packed whole"],
)
def test_hierarchy(tmp_path, blocks):
    path = tmp_path / "a.fst"
    path.write_bytes(block(0, bytes(321)) + blocks)
    assert {s.path: (s.name, s.width) for s in fst.signals(path).values()} == {
        "dut.clk_i": ("dut.clk_i", 1),
        "dut.x_i": ("dut.x_i[95:0]", 96),
        "dut.u_add.y_o": ("dut.u_add.y_o[31:0]", 32),
        "dut.u_add.memory[3]": ("dut.u_add.memory[3][7:0]", 8),
        "$rootio.clk_i": ("$rootio.clk_i", 1),
    }


def test_lz4_matches_may_overlap():
    # one literal, a match of 4 + 15 + 3 at distance 1, two literals
    assert fst.lz4_block(b"\x1fa\x01\x00\x03\x20bc") == b"a" * 23 + b"bc"


@pytest.mark.parametrize("data", [b"", b"not a waveform", block(0, bytes(321))])
def test_incomplete_waveform_is_one_line(tmp_path, data):
    path = tmp_path / "a.fst"
    path.write_bytes(data)
    with pytest.raises(waves.Problem, match="not a complete FST"):
        waves.Wave.read(path)


# --- save files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_gtkwave_save(wave, fmt):
    width = 1 + sum(fmt)
    made = wave(*fmt, hierarchy=words(*fmt))
    entry = {"path": "x_i", "radix": "float", "words": ["v[3]"]}
    layout = {"group": [{"name": "all", "closed": True, "signals": ["clk_i", "gone", entry]}]}
    groups, missing = waves.arrange(layout, made)
    assert missing == ["gone"]
    lines = waves.gtkwave_save(groups, made).splitlines()
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
    (script,) = waves.filter_scripts(groups, made).values()
    assert script.endswith(f"-m scripts.wave_float {fmt[0]} {fmt[1]}\n")


def test_every_radix(wave):
    made = wave(8, 23)
    radixes = {"hex": "22", "decimal": "24", "signed": "424", "bin": "28", "flags": "4022"}
    signals = [{"path": "u_add.y_o", "radix": radix, "name": radix} for radix in radixes]
    groups, _ = waves.arrange({"group": [{"name": "all", "signals": signals}]}, made)
    text = waves.gtkwave_save(groups, made)
    for radix, flags in radixes.items():
        extra = "^>1 ./wave_flags.sh\n" if radix == "flags" else ""
        assert f"@{flags}\n{extra}+{{{radix}}} dut.u_add.y_o[31:0]\n" in text


def test_float_in_a_wider_word_is_its_low_bits(wave):
    made = wave(5, 10)
    layout = {"group": [{"name": "g", "signals": [{"path": "u_add.y_o", "radix": "float"}]}]}
    (group,), _ = waves.arrange(layout, made)
    assert (group.traces[0].low, group.traces[0].width) == (0, 16)
    assert "#{y_o} (16)dut.u_add.y_o[31:0] (17)" in waves.gtkwave_save([group], made)


def test_packed_array_that_verilator_splits(wave):
    parts = scope("a_i", *(variable(f"a_i[{i}] [15:0]", 16) for i in (1, 0)))
    made = wave(5, 10, hierarchy=scope("dut", variable("clk_i", 1), parts))
    made.params["LANES"] = 2
    entry = {"path": "a_i", "radix": "float", "words": ["a[LANES]"]}
    groups, missing = waves.arrange({"group": [{"name": "g", "signals": [entry]}]}, made)
    assert missing == []
    assert [(trace.name, trace.signal.name) for trace in groups[0].traces] == [
        ("a[0]", "dut.a_i.a_i[0][15:0]"),
        ("a[1]", "dut.a_i.a_i[1][15:0]"),
    ]


def test_surfer_commands(wave):
    made = wave(8, 23)
    signals = ["clk_i", {"path": "u_add.y_o", "radix": "float"}]
    signals.append({"path": "x_i", "radix": "float", "words": ["x[3]"]})
    groups, _ = waves.arrange({"group": [{"name": "ins, outs", "signals": signals}]}, made)
    assert waves.surfer_commands(groups, made).splitlines() == [
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
    assert waves.surfer_index(15, 16) == "ap" and waves.surfer_index(3, 15) == "d"


def test_bench_without_layout_shows_its_ports(wave):
    (group,) = waves.ports(wave(8, 23))
    assert [trace.name for trace in group.traces] == ["clk_i", "x_i"]
    split = scope("a_i", variable("a_i[0] [15:0]", 16))
    made = wave(5, 10, hierarchy=scope("dut", variable("clk_i", 1), variable("sum", 1), split))
    (group,) = waves.ports(made)
    assert [trace.name for trace in group.traces] == ["clk_i", "a_i[0]"]


def test_repeat_and_parameters():
    assert waves.expand(["m[2][N]", "e"], {"N": 2}) == [
        "m[0][0]",
        "m[0][1]",
        "m[1][0]",
        "m[1][1]",
        "e",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"path": "x_i", "radix": "flaot"}, "no radix 'flaot'"),
        ({"path": "x_i", "words": ["x[5]"]}, "96 bits are not 5 words"),
    ],
)
def test_wrong_layout_is_one_line(wave, entry, said):
    with pytest.raises(waves.Problem, match=said):
        waves.arrange({"group": [{"name": "g", "signals": [entry]}]}, wave(8, 23))


# --- the layouts of the benches -----------------------------------------------------------------


def module_text(bench, name: str) -> str:
    """The source of a module, without comments."""
    for source in bench.sources:
        text = re.sub(r"//[^\n]*", "", Path(source).read_text())
        if re.search(rf"^module {name}\b", text, re.M):
            return text
    raise AssertionError(f"no module {name}")


def declared(bench, toplevel: str, path: str) -> bool:
    """Does a path name something that the RTL declares? Follows instances and generate blocks."""
    text = module_text(bench, toplevel)
    *scopes, name = path.split(".")
    for part in scopes:
        part = part.split("[")[0]
        block_start = re.search(rf"begin\s*:\s*{part}\b", text)
        if block_start:
            text = text[block_start.end() :]
            continue
        parameters = r"(?:#\s*\((?:[^()]|\([^()]*\))*\)\s*)?"
        instance = re.search(rf"(\w+)\s+{parameters}{part}\s*\(", text)
        if not instance:
            return False
        text = module_text(bench, instance[1])
    return re.search(rf"\blogic\b[^;()]*\b{name}\b", text) is not None


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.parent.name)
def test_layout_names_what_the_rtl_has(path):
    name = path.parent.name
    bench = importlib.import_module(f"tb.{name}.bench").BENCH.device
    layout = waves.read_layout(name)
    named = 0
    for group in layout["group"]:
        assert set(group) <= {"name", "closed", "repeat", "signals"}
        for item in group["signals"]:
            item = {"path": item} if isinstance(item, str) else item
            assert set(item) <= {"path", "radix", "name", "words"}
            assert item.get("radix", "auto") in waves.RADIXES
            assert declared(bench, bench.toplevel, item["path"]), item["path"]
            named += 1
    assert named
    assert not declared(bench, bench.toplevel, "no_such_signal")


def test_every_bench_has_a_layout():
    assert {path.parent.name for path in LAYOUTS} >= {
        "fp_add",
        "fp_mul",
        "fp_recip",
        "inv_adjugate_2x2",
        "hdca_engine",
        "hdca_coprocessor",
    }


@pytest.mark.parametrize("bench", ["hdca_engine", "hdca_coprocessor"])
def test_a_body_has_all_its_words(bench):
    names = waves.expand(waves.read_layout(bench)["words"]["body"], {})
    assert len(names) == len(set(names)) == two_handles.WORDS


# --- the filter ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_filter_reads_back_as_the_same_float(fmt):
    fmt = Format(*fmt)
    translate = wave_float.translator([str(fmt.exp_w), str(fmt.man_w)])

    def hexadecimal(bits):
        return f"{bits:0{(fmt.width + 3) // 4}x}"

    for bits in (fmt.one, fmt.one + 1, fmt.max_finite, fmt.min_normal, fmt.sign_mask | fmt.one):
        text = translate(hexadecimal(bits))
        assert fmt.from_float(float(text)) == bits
        assert math.isclose(float(text), fmt.to_float(bits), rel_tol=5e-6)
    assert translate(hexadecimal(fmt.one)) == "1"
    assert translate(hexadecimal(0)) == "0"
    assert translate(hexadecimal(fmt.sign_mask)) == "-0"
    assert translate(hexadecimal(fmt.inf)) == "inf"
    assert translate(hexadecimal(fmt.sign_mask | fmt.inf)) == "-inf"
    assert translate(hexadecimal(fmt.canonical_nan)) == "nan"
    assert translate(hexadecimal(1)) == "0"  # a subnormal counts as zero
    assert translate(hexadecimal(fmt.sign_mask | 1)) == "-0"


def test_filter_digits():
    translate = wave_float.translator(["8", "23"])
    assert translate("3dcccccd") == "0.1"
    assert translate("40490fdb") == "3.1415927"
    assert translate("$40490FDB") == "3.1415927"  # with GTKWave's base marker
    assert translate("7f7fffff") == "3.4028235e+38"
    assert wave_float.translator(["5", "2"])("39") == "0.625"  # 0.6 would read back, too
    double = wave_float.translator(["11", "52"])
    assert double("400921fb54442d18") == str(math.pi)
    assert double("7fefffffffffffff") == "1.7976931348623157e+308"
    assert translate("xxxxxxxx") == translate("zzzz0000") == "x"
    assert wave_float.translator(["flags"])("05") == "OF+NX"


def test_filter_answers_line_by_line():
    """As GTKWave uses it: the next value is sent after the answer."""
    command = [sys.executable, "-m", "scripts.wave_float", "5", "10"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=waves.ROOT, **pipes) as process:
        for value, text in (("3C00", "1"), ("C000", "-2"), ("xxxx", "x")):
            process.stdin.write(f"{value}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{text}\n"
        process.stdin.close()
    assert process.returncode == 0


# --- choosing and opening -----------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """A repository with benches `adder` and `other`; call it to add a waveform of `adder`."""
    for bench in ("adder", "other"):
        (tmp_path / "tb" / bench).mkdir(parents=True)
        (tmp_path / "tb" / bench / "Makefile").touch()
    folder = tmp_path / "build" / "waves" / "adder"

    def add(name, age):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.touch()
        os.utime(path, (10_000 - age, 10_000 - age))
        return path

    add.root = tmp_path
    return add


def test_newest_waveform_is_chosen(tree):
    tree("one-icarus-first.fst", age=3)
    newest = tree("two-verilator-first.fst", age=1)
    half = tree("one-half-icarus-first.fst", age=2)
    assert waves.choose("adder", None, None, tree.root) == newest
    assert waves.choose("adder", "one-half", None, tree.root) == half
    assert waves.choose("adder", "one", None, tree.root).name == "one-icarus-first.fst"
    assert waves.choose("adder", None, half.name, tree.root) == half.resolve()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("adder", "one", None),
            "no waveform of adder CONFIG=one yet; .*make adder WAVES=1 CONFIG=one",
        ),
        (("other", None, None), "no waveform of other yet; get one with: make other WAVES=1$"),
        (("addr", None, None), "there is no bench 'addr'; benches: adder other"),
        (("adder", None, "gone.fst"), "there is no gone.fst"),
    ],
)
def test_nothing_to_open_is_one_line(tree, arguments, said):
    tree("two-icarus-first.fst", age=1)
    with pytest.raises(waves.Problem, match=said) as caught:
        waves.choose(*arguments, tree.root)
    assert "\n" not in str(caught.value)


@pytest.fixture
def viewers(tmp_path, monkeypatch):
    """An empty PATH and a display; call the result with the viewers that are installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def install(*names):
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)

    return install


FILES = {"gtkwave": Path("a.gtkw"), "surfer": Path("a.sucl")}


def test_viewer_is_chosen(viewers):
    viewers("surfer")
    command = ["surfer", "--command-file", "a.sucl", "a.fst"]
    assert waves.viewer_command(Path("a.fst"), FILES) == command
    viewers("gtkwave")
    assert waves.viewer_command(Path("a.fst"), FILES) == ["gtkwave", "a.fst", "a.gtkw"]


def test_no_viewer_is_one_line(viewers):
    with pytest.raises(waves.Problem, match="apt-get install gtkwave.*surfer-project") as caught:
        waves.viewer_command(Path("a.fst"), FILES)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs no DISPLAY elsewhere")
def test_no_display_is_one_line(viewers, monkeypatch):
    viewers("gtkwave")
    monkeypatch.delenv("DISPLAY")
    with pytest.raises(waves.Problem, match="no display .*a.fst with gtkwave and a.gtkw") as caught:
        waves.viewer_command(Path("a.fst"), FILES)
    assert "\n" not in str(caught.value)


def test_exit_status():
    """As `make waves` runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.waves", "no_such_bench"],
        cwd=waves.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("waves: there is no bench 'no_such_bench'")
    assert done.stderr.count("\n") == 1
