"""Co-simulation of open two-body chains with the HDCA co-processor."""

from pymodel.compile.latency import PIPELINED
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import hdca
from pymodel.hardware.simulators import SIMULATORS

DAILY_STEPS = 20  # in `make test`, at most


def _config(
    name: str,
    scenario: str,
    steps: int | None = None,
    sims: tuple[str, ...] = SIMULATORS,
    params: dict[str, int] | None = None,
    long: bool = False,
    folder: str = "scenarios",
    nightly: tuple[str, ...] = (),
) -> Config:
    settings = {"scenario": f"{folder}/{scenario}.toml", "steps": steps}
    daily = {"steps": min(steps, DAILY_STEPS)} if steps else {}
    return Config(name, params or {}, settings, sims, long, nightly, daily)


BENCH = hdca.bench(
    [
        _config(hdca.CONFIG, "double_pendulum", sims=(), long=True),  # whole: see test_demo
        _config("double_pendulum-short", "double_pendulum", steps=100, sims=("icarus",)),
        _config("general_chain_2", "general_chain_2", steps=20, nightly=SIMULATORS),
        _config("driven_arm", "driven_arm", steps=10, sims=("icarus",), nightly=("icarus",)),
        _config("diverging", "diverging", sims=("icarus",), folder="tb/cosim_hdca"),
        _config(
            "pipelined",
            "double_pendulum",
            steps=100,
            params=PIPELINED.parameters(),
            sims=("verilator",),
            nightly=("verilator",),
        ),
        _config(
            "half",
            "double_pendulum",
            steps=100,
            params={"EXP_W": 5, "MAN_W": 10},
            nightly=SIMULATORS,
        ),
    ]
)
