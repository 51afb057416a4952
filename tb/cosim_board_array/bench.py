"""The array behind a serial line, with a host's whole program at the other end of it."""

from pymodel.hardware.configs import Config
from pymodel.hardware.cosim.board import CLOCK_HZ
from pymodel.hardware.cosim.board_array import bench, command
from pymodel.hardware.simulators import SIMULATORS

ROWS, CYCLES = 5, 8  # of a bit, the least
CALLED = "FK", "mobile_arm"  # of few words, as Icarus takes minutes to load many
LINE = {"CLOCK_HZ": CLOCK_HZ, "BAUD": CLOCK_HZ // CYCLES}
#: All parameters of the module are others than by default: small ones, as most is to be loaded.
OTHER = {
    "CLOCK_HZ": CLOCK_HZ // 2,
    "BAUD": CLOCK_HZ // 2 // CYCLES,
    "IN_WORDS": 16,
    "OUT_WORDS": 8,
    "NUM_ADD": 1,
    "NUM_MUL": 1,
    "EXP_W": 7,
    "MAN_W": 15,
    "ADD_STAGES": 2,
    "MUL_STAGES": 1,
    "REC_STAGES": 5,
    "SINCOS_STAGES": 12,
    "RARE_LOGIC": 1,
    "DEPTH": 64,
    "CONTEXTS": 2,
    "READ_STAGES": 0,
    "OPERAND_STAGES": 1,
    "BLOCK_RAM": 0,
    "DATAPATHS": 2,
    "PROGRAM_DEPTH": 128,
    "IN_DEPTH": 16,
    "OUT_DEPTH": 64,
    "SCRATCH_DEPTH": 4,
    "SEGMENTS": 4,
    "FUNCTIONS": 4,
}
SELFTEST = ["board", "selftest", "--short", "--report", "build/cosim_board_array/selftest.json"]
BENCH = bench(
    [
        Config(
            "other",
            OTHER,
            {"command": [*command(ROWS, *CALLED), "--arith", "7/15"]},
            SIMULATORS,
            nightly=("icarus",),
        ),
        Config("selftest", LINE, {"command": SELFTEST}, ("verilator",), nightly=("verilator",)),
    ]
)
