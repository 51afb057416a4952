"""Every file of boards/ has what `make bitstream` takes from it."""

import re

import pytest

from scripts.evidence import bitstream
from scripts.kernel.errors import CostError

pytestmark = pytest.mark.rtl_of()
PINS = {"clk", "rx", "tx", "led"}
DEVICES = {"25k", "45k", "85k"}  # nextpnr's names


def test_there_are_two_boards():
    assert bitstream.boards() == ["colorlight_i9", "ulx3s"]


@pytest.mark.parametrize("name", bitstream.boards())
def test_a_board_is_complete(name):
    board = bitstream.board_named(name)
    assert board["source"].startswith("https://github.com/")
    assert board["programmer"].startswith("openFPGALoader --board=")
    assert board["device"] in DEVICES
    assert board["package"].startswith("CABGA")
    assert board["speed"] in (6, 7, 8)
    assert board["pins"].keys() == PINS
    lines = bitstream.constraints(board).splitlines()
    sites = [line for line in lines if re.fullmatch(r'LOCATE COMP "\w+" SITE "[A-Z]+\d+";', line)]
    assert len(set(sites)) == len(PINS)
    assert f'FREQUENCY PORT "clk" {board["crystal_mhz"]} MHZ;' in lines
    assert 'FREQUENCY NET "clock" 250 MHZ;' in lines  # asked for, whatever the PLL gives
    assert 9_600 <= board["baud"] <= 12_500_000


def test_a_board_that_is_not_there_is_refused():
    with pytest.raises(CostError, match="did you mean ulx3s"):
        bitstream.board_named("ulx3")
