"""Co-simulation of closed chains with the LDUP co-processor."""

from pymodel.compile.latency import PIPELINED
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.simulators import SIMULATORS

CONFIG = "four_bar"  # the configuration that runs of other scenarios derive from
SIZE = 4  # eta of a planar chain with both ends on the ground
IN_HARDWARE = "inverse of eta"
FLOAT_UNITS = {"add": SIZE - 1, "mul": SIZE, "rec": 1}  # of one elimination row


def _config(
    name: str,
    scenario: str,
    steps: int | None = None,
    sims: tuple[str, ...] = SIMULATORS,
    params: dict[str, int] | None = None,
    rebase: int = 0,
    long: bool = False,
    folder: str = "scenarios",
) -> Config:
    settings = {"scenario": f"{folder}/{scenario}.toml", "steps": steps, "rebase": rebase}
    return Config(name, {"N": SIZE} | (params or {}), settings, sims, long)


BENCH = Bench(
    __file__,
    toplevel="ldup_coprocessor",
    configs=[
        _config(CONFIG, "four_bar", sims=(), long=True),  # whole: see test_demo
        _config("four_bar-short", "four_bar", steps=150, sims=("icarus",)),
        _config("general_four_bar", "general_four_bar", steps=150),
        _config("five_bar-rebased", "five_bar", steps=150, rebase=10),
        _config("diverging", "diverging", sims=("icarus",), folder="tb/cosim_ldup"),
        _config(
            "pipelined", "four_bar", steps=100, params=PIPELINED.parameters(), sims=("verilator",)
        ),
        _config(
            "parallel-pipelined",
            "four_bar",
            steps=100,
            params=PIPELINED.parameters() | {"PARALLEL": 1},
            sims=("verilator",),
        ),
    ],
)
