"""The HDCA engine: assembly, disassembly, unit pool."""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import ENGINE_STAGES, FORMATS, Config, RandomConfigs, fits_word
from pymodel.hardware.simulators import SIMULATORS

ICARUS_RUNS = 100  # at most: a run takes it 0.1 s
DAILY = 400  # runs of a configuration in `make test`, at most
VERILATOR = ("verilator",)


def _config(
    name: str,
    passes: int = 2,
    stages: tuple[int, int, int] = (0, 0, 0),
    fmt: tuple[int, int] = (8, 23),
    sims: tuple[str, ...] = SIMULATORS,
    runs: int = 100,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1], "PASSES": passes}
    params |= Stages(*stages).parameters()
    icarus = min(runs // 4, ICARUS_RUNS)
    settings = {"runs": {"icarus": icarus, "verilator": runs}}
    daily = {"runs": {"icarus": min(icarus, DAILY // 4), "verilator": min(runs, DAILY)}}
    return Config(name, params, settings, sims, nightly=nightly, daily=daily)


BENCH = Bench(
    __file__,
    toplevel="hdca_engine",
    configs=[
        _config("two-passes", runs=2000, nightly=SIMULATORS),
        _config("one-pass", passes=1, runs=2000, nightly=("icarus",)),
        _config("pipelined", stages=(3, 2, 6), nightly=("icarus",)),
        _config("one-pass-pipelined", passes=1, stages=(1, 4, 5), sims=VERILATOR),
        _config("half", fmt=(5, 10), nightly=VERILATOR),
        _config("bfloat16", fmt=(8, 7), passes=1, sims=VERILATOR, nightly=VERILATOR),
        _config("binary64", fmt=(11, 52), sims=VERILATOR, nightly=VERILATOR),
    ],
    random=RandomConfigs(
        FORMATS | {"PASSES": range(1, 3)} | ENGINE_STAGES,
        count=1,
        daily=0,
        settings={"runs": {"icarus": 4}},
        legal=fits_word,  # wider ones take Icarus a minute
    ),
)
