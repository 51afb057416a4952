"""What bits say of memories and multipliers is compared with the netlist."""

import pytest

from scripts.evidence.read_back import compared

pytestmark = pytest.mark.rtl_of()
#: As nextpnr writes it: a memory of 36 bits with registers, one of 9 bits, a multiplier.
PLACED = """\
.device LFE5U-85F

.tile R1C1:PLC2
enum: SLICEA.MODE LOGIC

.tile_group R1C2:MIB_EBR0 R1C3:MIB_EBR1
enum: EBR0.MODE PDPW16KD
enum: EBR0.PDPW16KD.DATA_WIDTH_R 36
enum: EBR0.REGMODE_A OUTREG
enum: EBR0.REGMODE_B OUTREG
enum: EBR0.CLKAMUX CLKA
word: EBR0.WID 110000000

.tile_group R1C4:MIB_EBR2 R1C5:MIB_EBR3
enum: EBR1.MODE DP16KD
enum: EBR1.DP16KD.DATA_WIDTH_A 9
enum: EBR1.DP16KD.DATA_WIDTH_B 9
enum: EBR1.REGMODE_A NOREG
enum: EBR1.REGMODE_B NOREG

.tile_group R2C1:MIB_DSP0 R2C2:MIB_DSP1
enum: MULT18_0.REG_INPUTA_CLK CLK0
enum: MULT18_0.REG_INPUTB_CLK CLK0
enum: MULT18_0.REG_PIPELINE_CLK NONE
enum: MULT18_0.REG_OUTPUT_CLK NONE
enum: MULT18_0.CLK0_DIV ENABLED

.bram_init 3
001 002 003
004 005 006
"""
#: As ecpunpack does: by tiles, without defaults, and with all that bits in common may mean.
UNPACKED = """\
.device LFE5U-85F

.tile R1C2:MIB_EBR0
enum: EBR0.MODE PDPW16KD
enum: EBR0.PDPW16KD.DATA_WIDTH_R 36

.tile R1C3:MIB_EBR1
enum: EBR0.REGMODE_A OUTREG
enum: EBR0.REGMODE_B OUTREG
word: EBR0.WID 110000000

.tile R1C4:MIB_EBR2
enum: EBR1.MODE DP16KD
enum: EBR1.DP16KD.DATA_WIDTH_A 9

.tile R1C5:MIB_EBR3
enum: EBR1.MODE PDPW16KD
enum: EBR1.DP16KD.DATA_WIDTH_B 9

.tile R2C1:MIB_DSP0
enum: MULT18_0.REG_INPUTA_CLK CLK0
enum: MULT18_0.REG_PIPELINE_CLK NONE

.tile R2C2:MIB_DSP1
enum: MULT18_0.REG_INPUTB_CLK CLK0

.bram_init 3
001 002 003 004 005 006
"""
WIDE = {"DATA_WIDTH_A": f"{36:032b}", "DATA_WIDTH_B": f"{36:032b}"}
CELLS = [
    {"type": "LUT4", "parameters": {"INIT": "0110"}},
    {"type": "DP16KD", "parameters": WIDE | {"REGMODE_A": "OUTREG", "REGMODE_B": "OUTREG"}},
    {"type": "DP16KD", "parameters": {"DATA_WIDTH_A": f"{9:032b}", "DATA_WIDTH_B": f"{9:032b}"}},
    {"type": "MULT18X18D", "parameters": {"REG_INPUTA_CLK": "CLK0", "REG_INPUTB_CLK": "CLK0"}},
]


def test_bits_say_what_the_netlist_has():
    found = compared(CELLS, PLACED, UNPACKED)
    assert found == {"memories": 2, "multipliers": 1, "settings": 15, "wrong": []}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("DATA_WIDTH_R 36", "DATA_WIDTH_R 18", "DATA_WIDTH_R: 18 instead of 36"),
        ("enum: EBR0.REGMODE_B OUTREG\n", "", "REGMODE_B: NOREG instead of OUTREG"),
        ("enum: EBR1.DP16KD.DATA_WIDTH_A 9\n", "", "DATA_WIDTH_A: 18 instead of 9"),
        ("REG_PIPELINE_CLK NONE", "REG_PIPELINE_CLK CLK0", "REG_PIPELINE_CLK: CLK0 instead of"),
        ("enum: MULT18_0.REG_INPUTB_CLK CLK0\n", "", "REG_INPUTB_CLK: nothing instead of CLK0"),
        ("004 005", "004 007", "contents of memory 3"),
        (".bram_init 3", ".bram_init 4", "contents of memory 4"),
    ],
)
def test_what_bits_say_otherwise_is_told(old, new, said):
    assert UNPACKED.count(old) == 1
    wrong = compared(CELLS, PLACED, UNPACKED.replace(old, new))["wrong"]
    assert any(said in line for line in wrong), wrong


def test_a_block_that_the_netlist_does_not_have_is_told():
    wrong = compared(CELLS[:-1], PLACED, UNPACKED)["wrong"]
    assert wrong == ["MULT18X18D CLK0 CLK0 NONE NONE: 1 instead of 0"]
    wrong = compared([*CELLS, CELLS[2]], PLACED, UNPACKED)["wrong"]
    assert wrong == ["DP16KD 9 9 NOREG NOREG: 1 instead of 2"]
