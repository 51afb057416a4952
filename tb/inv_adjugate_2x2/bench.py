"""The 2x2 inverter, linked to float units."""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import ENGINE_STAGES, FORMATS, Config, RandomConfigs
from pymodel.hardware.simulators import SIMULATORS


def _config(
    name: str,
    fmt: tuple[int, int] = (8, 23),
    stages: tuple[int, int, int] = (0, 0, 0),
    runs: int = 8000,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1]}
    params |= Stages(*stages).parameters()
    settings = {"runs": {"icarus": runs // 8, "verilator": runs}}
    return Config(name, params, settings, nightly=nightly)


BENCH = Bench(
    __file__,
    toplevel="inv_adjugate_2x2_linked",
    sources=["tb/inv_adjugate_2x2/inv_adjugate_2x2_linked.sv"],
    configs=[
        _config("binary32", nightly=("icarus",)),
        _config("pipelined", stages=(2, 3, 4), runs=1600, nightly=("verilator",)),
        _config("half", fmt=(5, 10), nightly=SIMULATORS),
        _config("e4m3", fmt=(4, 3), nightly=SIMULATORS),
        _config("binary64", fmt=(11, 52), nightly=SIMULATORS),
    ],
    random=RandomConfigs(
        FORMATS | ENGINE_STAGES, count=2, daily=1, settings={"runs": {"icarus": 200}}
    ),
)
