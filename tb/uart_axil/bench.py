"""The serial link at ratios of clock and baud, with registers behind it (``link_bench.sv``)."""

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config

CLOCK_HZ = 100_000_000  # that is simulated

DAILY = 3  # rounds in `make test`
ICARUS = ("icarus",)  # at night: by day Verilator has the link at another rate


def _config(
    name: str, clock_hz: int, baud: int, addr_w: int, rounds: int, sims: tuple[str, ...]
) -> Config:
    params = {"CLOCK_HZ": clock_hz, "BAUD": baud, "ADDR_W": addr_w}
    nightly = ICARUS if sims == ICARUS else ()
    return Config(name, params, {"rounds": rounds}, sims, nightly=nightly, daily={"rounds": DAILY})


BENCH = Bench(
    __file__,
    toplevel="link_bench",
    configs=[
        _config("fast", CLOCK_HZ, 12_500_000, 12, 3, ICARUS),
        _config("usb", 80_000_000, 3_000_000, 16, 6, ("verilator",)),
    ],
    sources=("tb/uart_axil/link_bench.sv",),
)
