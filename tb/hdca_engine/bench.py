"""The HDCA engine: assembly, disassembly, unit pool."""

from pymodel.compile.latency import Stages
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import ENGINE_STAGES, FORMATS, Config, RandomConfigs, fits_word
from pymodel.hardware.simulators import SIMULATORS

ICARUS_RUNS = 100  # at most: a run takes it 0.1 s


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
    return Config(
        name, params, {"runs": {"icarus": icarus, "verilator": runs}}, sims, nightly=nightly
    )


BENCH = Bench(
    __file__,
    toplevel="hdca_engine",
    configs=[
        _config("two-passes", runs=2000, nightly=("icarus",)),
        _config("one-pass", passes=1, runs=2000, nightly=("icarus",)),
        _config("pipelined", stages=(3, 2, 6), nightly=("icarus",)),
        _config("one-pass-pipelined", passes=1, stages=(1, 4, 5), sims=("verilator",)),
        _config("half", fmt=(5, 10)),
        _config("bfloat16", fmt=(8, 7), passes=1, sims=("verilator",)),
        _config("binary64", fmt=(11, 52), sims=("verilator",)),
    ],
    random=RandomConfigs(
        FORMATS | {"PASSES": range(1, 3)} | ENGINE_STAGES,
        count=1,
        settings={"runs": {"icarus": 4}},
        legal=fits_word,  # wider ones take Icarus a minute
    ),
)
