"""Co-simulation of closed chains with the LDUP co-processor."""

from pymodel.compile.latency import PIPELINED
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import ldup
from pymodel.hardware.simulators import SIMULATORS

DAILY_STEPS = 20  # in `make test`, at most


def _config(
    name: str,
    scenario: str,
    steps: int | None = None,
    sims: tuple[str, ...] = SIMULATORS,
    params: dict[str, int] | None = None,
    rebase: int = 0,
    long: bool = False,
    folder: str = "scenarios",
    nightly: tuple[str, ...] = (),
) -> Config:
    settings = {"scenario": f"{folder}/{scenario}.toml", "steps": steps, "rebase": rebase}
    daily = {"steps": min(steps, DAILY_STEPS)} if steps else {}
    return Config(name, ldup.PARAMS | (params or {}), settings, sims, long, nightly, daily)


BENCH = ldup.bench(
    [
        _config(ldup.CONFIG, "four_bar", sims=(), long=True),  # whole: see test_demo
        _config("four_bar-short", "four_bar", steps=150, sims=("icarus",)),
        _config("general_four_bar", "general_four_bar", steps=150, nightly=SIMULATORS),
        _config("five_bar-rebased", "five_bar", steps=150, rebase=10, nightly=("verilator",)),
        _config("diverging", "diverging", sims=("icarus",), folder="tb/cosim_ldup"),
        _config(
            "pipelined",
            "four_bar",
            steps=100,
            params=PIPELINED.parameters(),
            sims=("verilator",),
            nightly=("verilator",),
        ),
        _config(
            "parallel-pipelined",
            "four_bar",
            steps=100,
            params=PIPELINED.parameters() | {"PARALLEL": 1},
            sims=("verilator",),
            nightly=("verilator",),
        ),
    ]
)
