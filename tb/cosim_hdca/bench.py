"""Co-simulation of open two-body chains with the HDCA co-processor."""

from pymodel.compile import count
from pymodel.compile.latency import PIPELINED
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.simulators import SIMULATORS

IN_HARDWARE = "assembly, disassembly"
FLOAT_UNITS = {op: row["two_passes"] for op, row in count.pool(count.subdesigns()).items()}
CONFIG = "double_pendulum"  # the configuration that runs of other scenarios derive from


def _config(
    name: str,
    scenario: str,
    steps: int | None = None,
    sims: tuple[str, ...] = SIMULATORS,
    params: dict[str, int] | None = None,
    long: bool = False,
    folder: str = "scenarios",
) -> Config:
    settings = {"scenario": f"{folder}/{scenario}.toml", "steps": steps}
    return Config(name, params or {}, settings, sims, long)


BENCH = Bench(
    __file__,
    toplevel="hdca_coprocessor",
    configs=[
        _config(CONFIG, "double_pendulum", sims=(), long=True),  # whole: see test_demo
        _config("double_pendulum-short", "double_pendulum", steps=100, sims=("icarus",)),
        _config("general_chain_2", "general_chain_2", steps=20),
        _config("driven_arm", "driven_arm", steps=10, sims=("icarus",)),
        _config("diverging", "diverging", sims=("icarus",), folder="tb/cosim_hdca"),
        _config(
            "pipelined",
            "double_pendulum",
            steps=100,
            params=PIPELINED.parameters(),
            sims=("verilator",),
        ),
        _config("half", "double_pendulum", steps=100, params={"EXP_W": 5, "MAN_W": 10}),
    ],
)
