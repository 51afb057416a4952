"""The demo whose co-processor this bench runs, as a user runs it."""

import pytest

from pymodel.app.demo import demo
from pymodel.app.table import NAMED
from pymodel.hardware.cosim.ldup import CONFIG
from pymodel.hardware.places import BUILD, RESULTS
from tb.common.demo import STEPS, demo_steps, judge


@pytest.mark.rtl_of("ldup_coprocessor", "step_engine")
@pytest.mark.parametrize(("simulator", "config"), [("verilator", CONFIG)])
def test_demo(simulator, config, bench_options):
    """What `make fourbar` does: Euler's truncation is 5.8 mJ, rounding adds less than 0.1 mJ."""
    steps = demo_steps(bench_options)
    out = BUILD / ("fourbar" if steps == STEPS else "fourbar-begun")
    asked = NAMED["demo"].asked(
        name="fourbar",
        out=str(out),
        steps=steps,
        simulator=simulator,
        seed=bench_options["seed"],
        waves=bench_options["waves"],
        results=str(RESULTS),
    )
    summaries, status = demo(asked)
    assert status == 0
    judge(summaries, (out, out / "step"), steps, difference_j=5.8e-3, rounding_below_j=0.1e-3)
