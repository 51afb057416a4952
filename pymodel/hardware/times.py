"""How messages say when something was."""

from cocotb.utils import get_sim_time


def now_ns() -> float:
    """Simulated time, ns; 0 outside of a simulation."""
    try:
        return get_sim_time("ns")
    except RuntimeError:
        return 0.0


def text(ns: float) -> str:
    """A time in nanoseconds, with all its digits: ``1180465 ns``, ``56.001 ns``."""
    return f"{ns:.3f}".rstrip("0").rstrip(".") + " ns"
