"""The LDUP co-processor behind its bus."""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import FORMATS, STAGES, Config, RandomConfigs, fits_word
from pymodel.hardware.simulators import SIMULATORS


def _config(
    name: str,
    n: int = 4,
    parallel: bool = False,
    stages: tuple[int, int, int] = (0, 0, 0),
    fmt: tuple[int, int] = (8, 23),
    sims: tuple[str, ...] = SIMULATORS,
    runs: int = 80,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = {"N": n, "PARALLEL": int(parallel), "EXP_W": fmt[0], "MAN_W": fmt[1]}
    params |= Stages(*stages).parameters()
    settings = {"runs": {"icarus": runs // 4, "verilator": runs}}
    return Config(name, params, settings, sims, nightly=nightly)


def _is_small(values: dict[str, int]) -> bool:
    """Whether the registers hold it and Icarus takes seconds only, as for tb/inv_ldup."""
    return fits_word(values) and (values["N"] < 4 or not values["PARALLEL"])


BENCH = Bench(
    __file__,
    toplevel="ldup_coprocessor",
    configs=[
        _config("serial", nightly=SIMULATORS),
        _config("parallel", parallel=True, nightly=("icarus",)),
        _config(
            "half-2-parallel-pipelined",
            n=2,
            parallel=True,
            stages=(3, 3, 6),
            fmt=(5, 10),
            nightly=SIMULATORS,
        ),
        _config(
            "serial-8-pipelined",
            n=8,
            stages=(1, 2, 3),
            sims=("verilator",),
            runs=20,
            nightly=("verilator",),
        ),
    ],
    random=RandomConfigs(
        {"N": range(2, 9), "PARALLEL": range(2)} | FORMATS | STAGES,
        count=1,
        settings={"runs": {"icarus": 12}},
        legal=_is_small,
    ),
)
