"""The step array behind its bus and its streams.

Settings: ``tables``, so many random programs with their tables run, by simulator.
"""

from pymodel.arith.fp import Format
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import STAGES, Config, RandomConfigs
from pymodel.hardware.simulators import SIMULATORS
from pymodel.hardware.step_array import rtl_parameters
from pymodel.machine.isa import Machine
from tb.common import array_watch

HALF = Format(5, 10)
LANES = range(1, 5)
MOST_LANES = 5  # more, or more systems, take long to build
MOST_SYSTEMS = 12
DAILY = 6  # tables of a configuration in `make test`
STREAM_DEPTHS = (2, 4, 8, 16, 32)


def _is_legal(values: dict[str, int]) -> bool:
    """Small enough, and a block RAM only where it has its output register."""
    small = values["NUM_ADD"] + values["NUM_MUL"] <= MOST_LANES
    small &= values["CONTEXTS"] * values["DATAPATHS"] <= MOST_SYSTEMS
    return small and values["BLOCK_RAM"] <= values["READ_STAGES"]


def _config(
    name: str,
    machine: Machine,
    tables: int,
    sims: tuple[str, ...] = ("verilator",),
    nightly: tuple[str, ...] = (),
) -> Config:
    settings = {"tables": {"icarus": 3, "verilator": tables}}
    daily = {"tables": DAILY}
    return Config(name, rtl_parameters(machine), settings, sims, nightly=nightly, daily=daily)


def _stages(add: int, mul: int, rec: int, sincos: int) -> dict[str, int]:
    return {"add_stages": add, "mul_stages": mul, "rec_stages": rec, "sincos_stages": sincos}


SMALL = {
    "depth": 4,
    "program_depth": 96,
    "in_depth": 4,
    "out_depth": 8,
    "scratch_depth": 4,
    "segments": 8,
    "functions": 3,
    "fmt": HALF,
}
BENCH = Bench(
    __file__,
    toplevel="step_array",
    configs=[
        _config(
            "least-half",
            Machine(
                1,
                1,
                **_stages(0, 0, 0, 0),
                depth=8,
                program_depth=64,
                in_depth=2,
                out_depth=16,
                segments=3,
                functions=2,
                fmt=HALF,
            ),
            tables=20,
            sims=SIMULATORS,
            nightly=SIMULATORS,
        ),
        # Its last word's output is what the drain reads first, through the most stages: it shows
        # an `emitted_o` that comes two cycles too early. The drain's `full_q` hides a single one.
        _config(
            "one-system-half",
            Machine(
                1,
                1,
                **_stages(0, 0, 0, 0),
                read_stages=2,
                operand_stages=1,
                **SMALL,
            ),
            tables=16,
            nightly=("verilator",),
        ),
        _config(
            "two-of-8",
            Machine(
                2,
                1,
                contexts=8,
                datapaths=2,
                depth=8,
                program_depth=256,
                in_depth=16,
                out_depth=32,
                scratch_depth=64,
            ),
            tables=16,
        ),
        _config(
            "seven-of-3",
            Machine(
                1,
                2,
                **_stages(5, 1, 2, 7),
                contexts=3,
                datapaths=7,
                depth=4,
                program_depth=200,
                in_depth=4,
                out_depth=16,
                segments=12,
                functions=5,
            ),
            tables=16,
            nightly=("verilator",),
        ),
        _config(
            "two-of-2-half",
            Machine(
                1,
                1,
                **_stages(1, 2, 3, 4),
                contexts=2,
                datapaths=2,
                **SMALL,
            ),
            tables=16,
            sims=("icarus",),
            nightly=("icarus",),
        ),
        # Formats of one multiplier a product
        _config(
            "no-multipliers-8-17",
            Machine(1, 1, contexts=3, datapaths=2, rare_logic=1, **SMALL | {"fmt": Format(8, 17)}),
            tables=16,
            nightly=("verilator",),
        ),
        _config(
            "two-of-2-8-16",
            Machine(1, 1, contexts=2, datapaths=2, **SMALL | {"fmt": Format(8, 16)}),
            tables=8,
            nightly=("verilator",),
        ),
    ],
    random=RandomConfigs(
        {"NUM_ADD": LANES, "NUM_MUL": LANES, "EXP_W": range(4, 9), "MAN_W": range(2, 24)}
        | STAGES
        | {
            "SINCOS_STAGES": range(17),
            "RARE_LOGIC": range(2),
            "DEPTH": (2, 4, 8),
            "PROGRAM_DEPTH": range(32, 129),
        }
        | {
            "CONTEXTS": range(1, MOST_SYSTEMS + 1),
            "READ_STAGES": range(3),
            "OPERAND_STAGES": range(2),
        }
        | {"BLOCK_RAM": range(2), "DATAPATHS": range(1, MOST_SYSTEMS + 1)}
        | {"IN_DEPTH": STREAM_DEPTHS, "OUT_DEPTH": STREAM_DEPTHS}
        | {"SCRATCH_DEPTH": (0, *STREAM_DEPTHS)}
        | {"SEGMENTS": range(2, 20), "FUNCTIONS": range(2, 20)},
        count=1,
        daily=0,
        settings={"tables": {"verilator": 6}},
        sims=("verilator",),
        legal=_is_legal,
    ),
    signals=("busy", "done_state", "parts_rst_n", *array_watch.SIGNALS),
    modelled=array_watch.modelled,
)
