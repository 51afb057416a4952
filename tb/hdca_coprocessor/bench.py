"""The HDCA co-processor behind its bus."""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import FORMATS, STAGES, Config, RandomConfigs, fits_word
from pymodel.hardware.simulators import SIMULATORS

DAILY = 20  # runs of a configuration in `make test`


def _config(
    name: str,
    passes: int = 2,
    stages: tuple[int, int, int] = (0, 0, 0),
    fmt: tuple[int, int] = (8, 23),
    runs: int = 40,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1], "PASSES": passes}
    params |= Stages(*stages).parameters()
    settings = {"runs": {"icarus": runs // 4, "verilator": runs}}
    daily = {"runs": {"icarus": DAILY // 4, "verilator": DAILY}}
    return Config(name, params, settings, nightly=nightly, daily=daily)


BENCH = Bench(
    __file__,
    toplevel="hdca_coprocessor",
    configs=[
        _config("two-passes", nightly=SIMULATORS),
        _config("one-pass", passes=1, nightly=SIMULATORS),
        _config("pipelined", stages=(3, 3, 6), nightly=("icarus",)),
        _config("half", fmt=(5, 10), nightly=SIMULATORS),
    ],
    random=RandomConfigs(
        FORMATS | {"PASSES": range(1, 3)} | STAGES,
        count=1,
        daily=0,
        settings={"runs": {"icarus": 8}},
        legal=fits_word,
    ),
)
