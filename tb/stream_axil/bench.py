"""The streams of a step array behind registers, with FIFOs of two sizes each.

Settings: ``packets``, so many go each way in each round.
"""

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config

BENCH = Bench(
    __file__,
    toplevel="stream_axil",
    configs=[
        Config(
            "small",
            {"IN_WORDS": 2, "OUT_WORDS": 4, "USER_W": 1},
            {"packets": 8},
            ("icarus",),
        ),
        Config(
            "board",
            {"IN_WORDS": 64, "OUT_WORDS": 16, "USER_W": 4},
            {"packets": 30},
            nightly=("icarus",),
            daily={"packets": 8},
        ),
    ],
    signals=("run_n",),
)
