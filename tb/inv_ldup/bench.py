"""The LDUP inverters.

Builds ldup_engine, which links an inverter to float units and which co-processors use.
"""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import ENGINE_STAGES, FORMATS, Config, RandomConfigs
from pymodel.hardware.simulators import SIMULATORS

DAILY = 400  # runs of a configuration in `make test`, at most
VERILATOR = ("verilator",)


def _config(
    n: int,
    parallel: bool,
    fmt: tuple[int, int] = (8, 23),
    stages: tuple[int, int, int] = (0, 0, 0),
    sims: tuple[str, ...] = ("verilator",),
    runs: int = 2000,
    icarus: int = 0,
    nightly: tuple[str, ...] = (),
) -> Config:
    name = f"{'parallel' if parallel else 'serial'}-{n}"
    name += "" if fmt == (8, 23) else f"-{fmt[0]}.{fmt[1]}"
    name += "-pipelined" if any(stages) else ""
    params = {"N": n, "PARALLEL": int(parallel), "EXP_W": fmt[0], "MAN_W": fmt[1]}
    params |= Stages(*stages).parameters()
    settings = {"runs": {"icarus": icarus, "verilator": runs}}
    daily = {"runs": {"icarus": min(icarus, DAILY // 4), "verilator": min(runs, DAILY)}}
    return Config(name, params, settings, sims, nightly=nightly, daily=daily)


def _is_small(values: dict[str, int]) -> bool:
    """Whether Icarus takes seconds only: a parallel inverter has 90 units for N = 4."""
    return values["N"] < 4 or not values["PARALLEL"]


HALF = (5, 10)
BENCH = Bench(
    __file__,
    toplevel="ldup_engine",
    configs=[
        _config(2, True, sims=SIMULATORS, icarus=300, nightly=VERILATOR),
        _config(2, False, HALF, sims=SIMULATORS, icarus=100, nightly=SIMULATORS),
        # The first reciprocal ends while multipliers still hold what a reset cut short.
        _config(2, False, HALF, stages=(0, 5, 0), sims=SIMULATORS, icarus=20, nightly=VERILATOR),
        _config(3, True, HALF, stages=(1, 0, 2)),
        _config(3, False),
        _config(4, True, sims=SIMULATORS, icarus=21, nightly=("icarus",)),
        _config(4, False, sims=SIMULATORS, icarus=40, nightly=VERILATOR),
        _config(4, True, stages=(2, 3, 4), runs=500, nightly=VERILATOR),
        _config(4, False, stages=(2, 3, 4), runs=500, nightly=VERILATOR),
        _config(6, True, HALF, runs=600, nightly=VERILATOR),
        _config(6, False, runs=600),
    ],
    random=RandomConfigs(
        {"N": range(2, 9), "PARALLEL": range(2)} | FORMATS | ENGINE_STAGES,
        count=1,
        settings={"runs": {"icarus": 21}},
        legal=_is_small,
    ),
)
