"""The engine behind a serial line, with a host's whole program at the other end of it."""

from pymodel.hardware.configs import Config
from pymodel.hardware.cosim.board import CLOCK_HZ, bench, command

SIMS = ("verilator",)  # Icarus takes minutes to load a program
STEPS, CYCLES = 2, 8  # of a bit, the least
LINE = {"CLOCK_HZ": CLOCK_HZ, "BAUD": CLOCK_HZ // CYCLES}
#: All parameters of the module are others than by default.
OTHER = {
    "CLOCK_HZ": CLOCK_HZ // 2,
    "BAUD": CLOCK_HZ // 2 // CYCLES,
    "NUM_ADD": 1,
    "NUM_MUL": 1,
    "EXP_W": 7,
    "MAN_W": 15,
    "ADD_STAGES": 2,
    "MUL_STAGES": 1,
    "REC_STAGES": 5,
    "SINCOS_STAGES": 12,
    "DEPTH": 128,
    "PROGRAM_DEPTH": 512,
    "TRACE_DEPTH": 64,
    "TRACE_REGISTERS": 64,
    "PROGRAMS": 4,
}
SELFTEST = ["board", "selftest", "--short", "--report", "build/cosim_board/selftest.json"]
BENCH = bench(
    [
        Config("other", OTHER, {"command": [*command(STEPS), "--arith", "7/15"]}, SIMS),
        Config("c", LINE, {"c_steps": STEPS}, SIMS, nightly=SIMS),
        Config("selftest", LINE, {"command": SELFTEST}, SIMS, nightly=SIMS),
        Config("fast", LINE, {"command": command(STEPS)}, SIMS, nightly=SIMS),
    ]
)
