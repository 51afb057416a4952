"""Command-line options of the benches (the Makefile's SIM, SEED, TEST, CONFIG, WAVES)."""

import os
import random
from typing import Any

import pytest

from tb.common.bench import DEFAULT_SEED
from tb.common.simulators import SIMULATORS, usable


def pytest_addoption(parser):
    group = parser.getgroup("benches")
    group.addoption("--sim", choices=(*SIMULATORS, "all"), default="all", help="simulator")
    group.addoption("--seed", default=str(DEFAULT_SEED), help="a number, or 'random'")
    group.addoption("--cocotb-test", help="run only this cocotb test of the bench")
    group.addoption("--config", help="run only this configuration of the bench")
    group.addoption("--waves", action="store_true", help="write one FST a test to build/waves")


def pytest_configure(config):
    seed = config.getoption("seed")
    if hasattr(config, "workerinput"):
        config.bench_seed = config.workerinput["bench_seed"]
    elif seed == "random":
        config.bench_seed = random.SystemRandom().randrange(2**31)
    elif seed.isdigit():
        config.bench_seed = int(seed)
    else:
        raise pytest.UsageError(f"--seed must be a number or 'random', not {seed!r}")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give every xdist worker the seed that the session chose."""
    node.workerinput["bench_seed"] = node.config.bench_seed


def pytest_report_header(config):
    return f"bench seed: {config.bench_seed}"


def pytest_generate_tests(metafunc):
    """A case for each simulator and configuration of a bench, random ones from the seed."""
    bench = getattr(metafunc.function, "bench", None)
    if bench is None:
        return
    chosen = bench.chosen(metafunc.config.bench_seed, metafunc.config.getoption("config"))
    cases = [
        pytest.param(simulator, config.name, id=f"{simulator}-{config.name}")
        for config in chosen
        for simulator in config.sims
    ]
    metafunc.parametrize(("simulator", "config"), cases)


def pytest_collection_modifyitems(config, items):
    sim, name = config.getoption("sim"), config.getoption("config")
    have = {simulator: usable(simulator) for simulator in SIMULATORS}
    chosen, dropped = [], []
    for item in items:
        case = getattr(item, "callspec", None)
        if case is None or "simulator" not in case.params:
            chosen.append(item)
            continue
        wanted = sim in (case.params["simulator"], "all")
        wanted = wanted and name in (None, case.params["config"])
        (chosen if wanted else dropped).append(item)
        if not have[case.params["simulator"]] and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(f"{case.params['simulator']} is not installed"))
    config.hook.pytest_deselected(items=dropped)
    items[:] = chosen


@pytest.fixture
def bench_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of :meth:`tb.common.bench.Bench.run`, from the command line."""
    config = request.config
    return {
        "seed": config.bench_seed,
        "testcase": config.getoption("cocotb_test"),
        "waves": config.getoption("waves"),
        "live": config.getoption("capture") == "no",
    }
