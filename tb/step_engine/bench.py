"""The step engine behind its bus."""

from pymodel.arith.fp import Format
from pymodel.hardware import step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import STAGES, Config, RandomConfigs
from pymodel.hardware.simulators import SIMULATORS
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine

HALF = Format(5, 10)
BARREL = {"CONTEXTS": range(1, 17), "READ_STAGES": range(3), "OPERAND_STAGES": range(2)}
BARREL |= {"BLOCK_RAM": range(2)}
LANES = range(1, 13)
ICARUS, VERILATOR = ("icarus",), ("verilator",)  # by day Icarus has the engine in tb/cosim_step
MOST_LANES = 13  # more take long to build


def _is_legal(values: dict[str, int]) -> bool:
    """Small enough, and a block RAM only where it has its output register."""
    small = values["NUM_ADD"] + values["NUM_MUL"] <= MOST_LANES
    return small and values["BLOCK_RAM"] <= values["READ_STAGES"]


def _config(
    name: str,
    machine: Machine,
    trace: tuple[int, int] = (64, 16),
    sims: tuple[str, ...] = SIMULATORS,
    programs: int = 120,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = rtl_parameters(machine)
    params |= dict(zip(("TRACE_DEPTH", "TRACE_REGISTERS"), trace, strict=True))
    settings = {"programs": {"icarus": 6, "verilator": programs}}
    return Config(name, params, settings, sims, nightly=nightly)


def _stages(add: int, mul: int, rec: int, sincos: int) -> dict[str, int]:
    return {"add_stages": add, "mul_stages": mul, "rec_stages": rec, "sincos_stages": sincos}


BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        _config("default", Machine(), trace=(512, 128), programs=60, nightly=ICARUS),
        _config(
            "least-half",
            Machine(1, 1, **_stages(0, 0, 0, 0), depth=8, program_depth=96, programs=3, fmt=HALF),
            trace=(2, 2),
            nightly=ICARUS,
        ),
        _config(
            "mixed-stages",
            Machine(1, 1, **_stages(3, 0, 6, 3), depth=16, program_depth=128),
            trace=(16, 5),
            sims=VERILATOR,
            nightly=VERILATOR,
        ),
        _config(
            "most-stages",
            Machine(2, 2, **_stages(6, 6, 6, 16), rare_logic=1, depth=32, program_depth=200),
            sims=VERILATOR,
            nightly=VERILATOR,
        ),
        _config(
            "three-adders-half",
            Machine(3, 1, **_stages(0, 3, 6, 0), depth=16, program_depth=256, fmt=HALF),
            sims=VERILATOR,
            nightly=VERILATOR,
        ),
        _config(
            "barrel-of-4",
            Machine(1, 1, depth=16, program_depth=128, contexts=4),
            sims=VERILATOR,
            programs=60,
            nightly=VERILATOR,
        ),
        _config(
            "barrel-of-3-half",
            Machine(1, 1, **_stages(2, 1, 0, 4), depth=8, program_depth=96, fmt=HALF, contexts=3),
            trace=(8, 7),
            sims=ICARUS,
            nightly=ICARUS,
        ),
    ],
    random=RandomConfigs(
        {"NUM_ADD": LANES, "NUM_MUL": LANES, "EXP_W": range(4, 9)}
        | {"MAN_W": range(2, 24)}
        | STAGES
        | {"SINCOS_STAGES": range(17), "RARE_LOGIC": range(2)}
        | {"DEPTH": (2, 4, 8, 16, 32), "PROGRAM_DEPTH": range(16, 257)}
        | {"TRACE_DEPTH": (2, 4, 8, 16, 32), "TRACE_REGISTERS": range(2, 17)}
        | {"PROGRAMS": range(2, 17)}
        | BARREL,
        count=1,
        daily=0,
        settings={"programs": {"verilator": 16}},
        sims=("verilator",),
        legal=_is_legal,
    ),
    signals=("busy", "full", "pop_q", "push", *step_watch.SIGNALS),
    modelled=step_watch.modelled,
)
