"""The serial link at ratios of clock and baud, with registers behind it (``link_bench.sv``)."""

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config

CLOCK_HZ = 100_000_000  # of every bench


def _config(name: str, baud: int, addr_w: int, rounds: int, sims: tuple[str, ...]) -> Config:
    params = {"CLOCK_HZ": CLOCK_HZ, "BAUD": baud, "ADDR_W": addr_w}
    return Config(name, params, {"rounds": rounds}, sims)


BENCH = Bench(
    __file__,
    toplevel="link_bench",
    configs=[
        _config("fast", 12_500_000, 12, 3, ("icarus",)),
        _config("usb", 3_000_000, 16, 6, ("verilator",)),
    ],
    sources=("tb/uart_axil/link_bench.sv",),
)
