"""The reciprocal between handshakes, by every method."""

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import FORMATS, RECIP_MAX_STAGES, Config, RandomConfigs
from pymodel.hardware.simulators import SIMULATORS

ARRAY, TABLE, ITERATIVE = 0, 1, 2  # METHOD
TABLE_MAX_MAN_W = 23
ICARUS = ("icarus",)


def _config(
    name: str,
    method: int,
    stages: int = 0,
    fmt: tuple[int, int] = (8, 23),
    sims: tuple[str, ...] = SIMULATORS,
    nightly: tuple[str, ...] = (),
) -> Config:
    params = {"EXP_W": fmt[0], "MAN_W": fmt[1], "STAGES": stages, "METHOD": method}
    vectors = 100 if method == ITERATIVE else 400
    settings = {"vectors": {"icarus": vectors, "verilator": 2 * vectors}}
    return Config(name, params, settings, sims, nightly=nightly)


def _has_method(values: dict[str, int]) -> bool:
    """Whether the method divides significands of this width."""
    return values["METHOD"] != TABLE or values["MAN_W"] <= TABLE_MAX_MAN_W


BENCH = Bench(
    __file__,
    toplevel="fp_recip_stream",
    configs=[
        _config("array", ARRAY, stages=3, nightly=ICARUS),
        _config("array-binary64", ARRAY, stages=6, fmt=(11, 52), sims=ICARUS, nightly=ICARUS),
        _config("table", TABLE, stages=6, nightly=("verilator",)),
        _config("table-deep", TABLE, stages=RECIP_MAX_STAGES, sims=ICARUS),
        _config("table-combinational", TABLE, sims=ICARUS),
        _config("table-one-stage", TABLE, stages=1, fmt=(5, 10), sims=ICARUS, nightly=ICARUS),
        _config("iterative", ITERATIVE),
        _config("iterative-binary64", ITERATIVE, fmt=(11, 52), sims=ICARUS, nightly=ICARUS),
        _config("iterative-e5m2", ITERATIVE, fmt=(5, 2), sims=ICARUS),
    ],
    random=RandomConfigs(
        FORMATS | {"METHOD": range(3), "STAGES": range(RECIP_MAX_STAGES + 1)},
        count=3,
        daily=1,
        settings={"vectors": {"icarus": 60}},
        legal=_has_method,
    ),
)
