"""The demo whose co-processor this bench runs, as a user runs it."""

import pytest

from pymodel.app.demo import demo
from pymodel.app.table import NAMED
from pymodel.hardware.cosim.hdca import CONFIG
from pymodel.hardware.places import BUILD, RESULTS
from tb.common.demo import STEPS, demo_steps, judge


@pytest.mark.rtl_of("hdca_coprocessor", "step_engine")
@pytest.mark.parametrize(("simulator", "config"), [("verilator", CONFIG)])
def test_demo(simulator, config, bench_options):
    """What `make pendulum` does: 9.1 mJ is Euler's truncation error, rounding adds about 1 %."""
    steps = demo_steps(bench_options)
    out = BUILD / ("pendulum" if steps == STEPS else "pendulum-begun")
    asked = NAMED["demo"].asked(
        name="pendulum",
        out=str(out),
        steps=steps,
        simulator=simulator,
        seed=bench_options["seed"],
        waves=bench_options["waves"],
        results=str(RESULTS),
    )
    summaries, status = demo(asked)
    assert status == 0
    judge(summaries, (out, out / "step"), steps, difference_j=9.1e-3, rounding_below_j=0.1e-3)
