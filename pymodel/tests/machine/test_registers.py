"""Register maps: consistent in themselves, and everything generated from them is up to date."""

import dataclasses
import hashlib
import json
import math
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from pymodel.machine import register_files, registers
from pymodel.machine.registers import BUS_W, MAPS, READ_ONLY, READ_WRITE, WORD_BYTES, Home
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.reads("docs", "rtl")

COMPILER = shutil.which("cc") or shutil.which("gcc")
#: Every top has these, so that software can tell what it talks to: name, offset, access.
CONTRACT = [
    ("ID", 0x00, READ_ONLY),
    ("VERSION", 0x04, READ_ONLY),
    ("CONFIG", 0x08, READ_ONLY),
    ("CTRL", 0x0C, READ_WRITE),
    ("STATUS", 0x10, READ_WRITE),
    ("CYCLES", 0x14, READ_ONLY),
    ("IRQ_ENABLE", 0x18, READ_WRITE),
]

every_map = pytest.mark.parametrize("map_", MAPS, ids=lambda map_: map_.name)


@pytest.mark.parametrize("path", register_files.generated_files())
def test_generated_files_are_up_to_date(path):
    same = (ROOT / path).read_text() == register_files.generated_files()[path]
    assert same, f"{path} is stale or was edited: `python -m scripts.dev.generate`"


def test_each_map_becomes_constants_header_documentation_and_a_block():
    """The common registers need no block: coprocessor_control is theirs."""
    names = {map_.name for map_ in MAPS}
    assert len(names) == len(MAPS)
    files = {f"rtl/top/{name}_regs_pkg.sv" for name in names}
    files |= {f"rtl/top/{name}_regs.sv" for name in names - {"coprocessor"}}
    files |= {f"sw/{name}_regs.h" for name in names} | {"docs/register_map.md"}
    files |= {"docs/program_image.md", "sw/step_image.h"}
    assert set(register_files.generated_files()) == files


@pytest.mark.parametrize(
    ("decoded_ahead", "one", "several"),
    [
        (False, "write_addr_i == ONE", "in_range(32'(write_addr_i), 32'(SEVERAL), SEVERAL_WORDS)"),
        (True, "at_one_q", "|at_several_q"),
    ],
    ids=["decoded in its cycle", "decoded ahead"],
)
def test_a_write_is_told_of_any_word(decoded_ahead, one, several):
    """Of a register through the hardware; of a held one each word knows its own address."""
    map_ = registers.Map(
        "made_up",
        6,
        "",
        (
            registers.held("HELD", 0x00, "", words=2),
            registers.given("GIVEN", 0x08, ""),
            registers.through("ONE", 0x0C, READ_WRITE, ""),
            registers.through("SEVERAL", 0x10, READ_WRITE, "", words=3),
        ),
        decoded_ahead=decoded_ahead,
    )
    text = register_files.block(map_)
    assert f"  assign one_write_o = write_i && {one};\n" in text
    assert f"  assign several_write_o = write_i && {several};\n" in text
    own = "at_held_q[i]" if decoded_ahead else "write_addr_i == HELD + WORD_W'(i)"
    assert f"if ({own}) begin\n          held_q[DATA_W*i+:DATA_W] <=" in text
    loops = re.findall(r"at_several_q\[i\] <= write_addr_i == SEVERAL \+ WORD_W'\(i\);", text)
    assert len(loops) == decoded_ahead


@every_map
def test_registers_lie_apart_inside_the_address_space(map_):
    spans = sorted((r.offset, r.offset + WORD_BYTES * r.words, r.name) for r in map_.registers)
    for (_, end, name), (start, _, following) in pairwise(spans):
        assert end <= start, f"{name} overlaps {following}"
    assert spans[0][0] == 0 and spans[-1][1] <= 1 << map_.addr_w
    for register in map_.registers:
        assert register.offset % WORD_BYTES == 0 and register.words >= 1
        assert register.access in (READ_ONLY, READ_WRITE)
        assert map_[register.name] is register
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", register.name) and register.text


@every_map
def test_fields_lie_apart_inside_the_word(map_):
    for register in map_.registers:
        taken = 0
        for field in register.fields:
            assert field.width >= 1 and field.low >= 0 and field.low + field.width <= BUS_W
            assert not taken & field.mask, f"{register.name}.{field.name} overlaps"
            taken |= field.mask
            assert register.field(field.name) is field
            assert field.get(field.mask) == (1 << field.width) - 1
            assert field.get(~field.mask & 0xFFFF_FFFF) == 0
            assert field.get(0xFFFF_FFFF) << field.low == field.mask
        assert not register.fields or register.words == 1


@every_map
def test_homes_of_registers(map_):
    """What each home needs, and what only those through the hardware can have."""
    for register in map_.registers:
        common = register.name in {name for name, _, _ in CONTRACT}
        assert (register.home is Home.CONTROL) == common
        if register.home in (Home.HELD, Home.GIVEN):
            assert (register.access == READ_WRITE) == (register.home is Home.HELD)
        if register.home is Home.THROUGH:
            assert register.words == 1
        else:
            assert not (register.checked or register.read_acts or register.locked)


@every_map
def test_sizes_are_the_words_of_the_instance(map_):
    """An instance's number of words is what the RTL computes from its parameters."""
    values = {name: value for name, value, _ in map_.parameters}
    for register in map_.registers:
        factors = [values[name] for name in register.size.split("*") if name]
        assert not factors or math.prod(factors) == register.words


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@every_map
def test_headers_compile(map_, tmp_path):
    """Every constant is one of C, with the map's value."""
    prefix, values = map_.name.upper(), {}
    for register in map_.registers:
        values[f"{prefix}_{register.name}"] = register.offset
        for field in register.fields:
            values[f"{prefix}_{register.name}_{field.name}_MASK"] = field.mask
    checks = [
        f"typedef char a{i}[{n} == {v}u ? 1 : -1];" for i, (n, v) in enumerate(values.items())
    ]
    source = tmp_path / "check.c"
    source.write_text("\n".join([f'#include "{map_.name}_regs.h"', *checks, ""]))
    command = [COMPILER, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [*command, "-I", str(ROOT / "sw"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@every_map
def test_the_contracts_registers(map_):
    found = [(r.name, r.offset, r.access) for r in map_.registers[: len(CONTRACT)]]
    assert found == CONTRACT
    control, status = map_["CTRL"], map_["STATUS"]
    assert (control.field("RUN").mask, control.field("RESET").mask) == (1, 2)
    common = {"IDLE": 1, "BUSY": 2, "DONE": 4, "ERROR": 8, "FLAGS": 0x1F00}
    assert {name: status.field(name).mask for name in common} == common


@every_map
def test_fields_of_config_hold_their_parameters(map_):
    """Formats up to 11/52, up to 6 register stages."""
    widths = {"EXP_W": 4, "MAN_W": 6, "PASSES": 2, "STAGES": 3}
    for field in map_["CONFIG"].fields:
        needed = [w for name, w in widths.items() if field.name.endswith(name)]
        assert not needed or field.width >= needed[0]


@every_map
def test_constants_of_the_rtl_and_of_c_are_the_maps(map_):
    """Read back from the generated texts, not through the generator."""
    package = dict(
        re.findall(
            r"localparam .*?(\w+) = (?:\d+'h)?(\w+);",
            (ROOT / f"rtl/top/{map_.name}_regs_pkg.sv").read_text(),
        )
    )
    header = dict(
        re.findall(r"#define (\w+) (\w+)u\b", (ROOT / f"sw/{map_.name}_regs.h").read_text())
    )
    prefix = map_.name.upper()
    assert int(package["ADDR_W"]) == int(package["WORD_W"]) + 2 == map_.addr_w
    for register in map_.registers:
        assert int(package[register.name], 16) * WORD_BYTES == register.offset
        assert int(header[f"{prefix}_{register.name}"], 16) == register.offset
        if register.words > 1:
            assert int(package[f"{register.name}_WORDS"]) == register.words
            assert int(header[f"{prefix}_{register.name}_WORDS"]) == register.words
        for field in register.fields:
            name = f"{register.name}_{field.name}"
            assert int(package[name]) == field.low
            assert int(package.get(f"{name}_W", 1)) == field.width
            mask, shift = (int(header[f"{prefix}_{name}_{x}"], 0) for x in ("MASK", "SHIFT"))
            assert (mask, shift) == (field.mask, field.low)


@every_map
def test_flags_stand_where_the_rtl_has_them(map_):
    """Bits of fp_pkg, behind the field's lowest one."""
    text = (ROOT / "rtl/fp/fp_pkg.sv").read_text()
    flags = {
        "INEXACT": "NX",
        "UNDERFLOW": "UF",
        "OVERFLOW": "OF",
        "DIV_BY_ZERO": "DZ",
        "INVALID": "NV",
    }
    header = (ROOT / f"sw/{map_.name}_regs.h").read_text()
    field = map_["STATUS"].field("FLAGS")
    for name, short in flags.items():
        at = field.low + int(re.search(rf"localparam int {name} = (\d+);", text)[1])
        assert f"STATUS_{short}_MASK 0x{1 << at:08x}u\n" in header
        plain = name.replace("_", " ").replace("DIV", "divide").lower()
        assert f"{at} {plain} ({short})" in field.text


@pytest.mark.parametrize("map_", MAPS[1:], ids=lambda map_: map_.name)
def test_the_version_is_that_of_the_rtl(map_):
    top = (ROOT / f"rtl/top/{map_.name}.sv").read_text()
    word = int(re.search(r"\.VERSION_VALUE\(32'h(\w+)\)", top)[1], 16)
    assert map_.version_word == word
    header = (ROOT / f"sw/{map_.name}_regs.h").read_text()
    for part, number in (("MAJOR", word >> 16), ("MINOR", word & 0xFFFF)):
        assert f"#define {map_.name.upper()}_VERSION_{part} {number}u\n" in header
    assert f"| 0x004 | VERSION | RO | 1 | major << 16 \\| minor: 0x{word:08x} |" in (
        register_files.markdown([map_])
    )


#: Version of each map, and digest of what hosts see of it.
PINNED = {
    "hdca_coprocessor": ((1, 1), "16ff4f9d6c9142a0"),
    "ldup_coprocessor": ((1, 1), "1045764ffbfd6942"),
    "step_engine": ((1, 4), "afbf07c7934fa7a3"),
    "step_array": ((1, 2), "0747035ec47952b4"),
}


def seen_by_hosts(map_):
    """Digest of a map without its texts, and without where in the hardware its values live."""
    registers_ = []
    for register in map_.registers:
        shape = dataclasses.asdict(register)
        del shape["text"], shape["home"]
        fields = [(field.name, field.low, field.width, field.bits) for field in register.fields]
        registers_.append(shape | {"fields": fields})
    parameters = [(name, value) for name, value, _ in map_.parameters]
    letters = map_["ID"].text
    text = json.dumps([map_.name, map_.addr_w, letters, parameters, registers_], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("map_", MAPS[1:], ids=lambda map_: map_.name)
def test_what_hosts_see_counts_as_a_version(map_):
    """Hosts tell maps apart by VERSION: another map of the same version is none."""
    version, digest = PINNED[map_.name]
    seen = seen_by_hosts(map_)
    assert (map_.version != version) or (digest == seen), (
        f"hosts see another {map_.name} than version {version}: raise `version=` in "
        "pymodel/machine/registers.py (the minor number if hosts of the old map still work, else "
        f"the major one) and VERSION_VALUE in rtl/top/{map_.name}.sv, write the files again by "
        "`python -m scripts.dev.generate`, put the new version here with digest "
        f"{seen!r}"
    )
    assert (map_.version, seen) == (version, digest), (
        f"PINNED has version {version} of {map_.name}: put {(map_.version, seen)} there"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"name": "OTHER"},
        {"offset": 0x800},
        {"access": READ_WRITE},
        {"words": 2},
        {"locked": True},
        {"fields": (registers.Field("X", 0, 2, ""),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_counts_as_a_version(change):
    """Whatever software could come to know; texts are no part of it."""
    map_ = registers.STEP_ENGINE
    *others, last = (*map_.registers, registers.given("NEW", 0x900, "new"))

    def digest(**changes):
        changed = dataclasses.replace(last, **changes)
        return seen_by_hosts(dataclasses.replace(map_, registers=(*others, changed)))

    assert digest(**change) != digest() != seen_by_hosts(map_)
    assert digest(text="other", home=Home.THROUGH) == digest()


@every_map
def test_registers_are_listed_by_address(map_):
    for text in (register_files.markdown([map_]), register_files.c_header(map_)):
        offsets = re.findall(r"(?:^\| |\w )0x(\w{3})(?: |u)", text, re.M)
        assert len(offsets) == len(map_.registers) and offsets == sorted(offsets)


def test_masks_of_neighbours():
    field = registers.Field("X", 4, 6, "")
    assert field.mask == 0x3F0 and field.get(0xFFFF_FA5F) == 0x25


def test_overlaps_would_be_noticed():
    """The checks above, on a map that is wrong."""
    wrong = registers.Map(
        "wrong",
        4,
        "",
        (
            registers.given("A", 0, "a", words=2),
            registers.given(
                "B",
                4,
                "b",
                fields=(registers.Field("X", 0, 2, ""), registers.Field("Y", 1, 2, "")),
            ),
        ),
    )
    for check in (
        test_registers_lie_apart_inside_the_address_space,
        test_fields_lie_apart_inside_the_word,
    ):
        with pytest.raises(AssertionError, match="overlaps"):
            check(wrong)
