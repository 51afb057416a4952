"""The reciprocal between handshakes, by every method."""

from tb.common.bench import Bench
from tb.common.configs import Config
from tb.common.simulators import SIMULATORS

ARRAY, TABLE, ITERATIVE = 0, 1, 2  # METHOD


def _config(
    name: str,
    method: int,
    stages: int = 0,
    fmt: tuple[int, int] = (8, 23),
    sims: tuple[str, ...] = SIMULATORS,
) -> Config:
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1], "STAGES": stages, "METHOD": method}
    vectors = 100 if method == ITERATIVE else 400
    return Config(name, params, {"vectors": {"icarus": vectors, "verilator": 2 * vectors}}, sims)


BENCH = Bench(
    __file__,
    toplevel="fp_recip_stream",
    configs=[
        _config("array", ARRAY, stages=3),
        _config("array-binary64", ARRAY, stages=6, fmt=(11, 52), sims=("icarus",)),
        _config("table", TABLE, stages=6),
        _config("table-combinational", TABLE, sims=("icarus",)),
        _config("table-one-stage", TABLE, stages=1, fmt=(5, 10), sims=("icarus",)),
        _config("iterative", ITERATIVE),
        _config("iterative-binary64", ITERATIVE, fmt=(11, 52), sims=("icarus",)),
        _config("iterative-e5m2", ITERATIVE, fmt=(5, 2), sims=("icarus",)),
    ],
)
