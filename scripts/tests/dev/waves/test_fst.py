"""The hierarchy of a waveform."""

import gzip

import pytest

from scripts.dev.waves.fst import signals
from scripts.dev.waves.lz4 import lz4_block
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.waveform import Waveform
from scripts.tests.dev.waves.made import HIERARCHY, SIZE, block, lz4


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
    assert {s.path: (s.name, s.width) for s in signals(path).values()} == {
        "dut.clk_i": ("dut.clk_i", 1),
        "dut.x_i": ("dut.x_i[95:0]", 96),
        "dut.u_add.y_o": ("dut.u_add.y_o[31:0]", 32),
        "dut.u_add.memory[3]": ("dut.u_add.memory[3][7:0]", 8),
        "$rootio.clk_i": ("$rootio.clk_i", 1),
    }


def test_lz4_matches_may_overlap():
    # one literal, a match of 4 + 15 + 3 at distance 1, two literals
    assert lz4_block(b"\x1fa\x01\x00\x03\x20bc") == b"a" * 23 + b"bc"


@pytest.mark.parametrize("data", [b"", b"not a waveform", block(0, bytes(321))])
def test_incomplete_waveform_is_one_line(tmp_path, data):
    path = tmp_path / "a.fst"
    path.write_bytes(data)
    with pytest.raises(Problem, match="not a complete FST"):
        Waveform.read(path)
