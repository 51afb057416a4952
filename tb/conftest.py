"""Command-line options of the benches: the Makefile's SIM, SEED, TEST, CONFIG, WAVES, SETTINGS."""

import importlib
import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED, PART
from pymodel.hardware.places import BUILD
from pymodel.hardware.simulators import SIMULATORS, usable
from tb.common import interrupt
from tb.common.nights import leave_to_the_night

ALL = "all"
SIM = BUILD / "sim"
TB = Path(__file__).resolve().parent
LEAST = {"first": 0, "rebase": 0, "project": 0}  # of counts in SETTINGS, where it is not 1
KINDS = {  # of other settings: their types, and in words
    bool: ((bool,), "true or false"),
    float: ((float, int), "a number"),
    list: ((list,), "a list"),
    str: ((str,), "a text"),
}


def pytest_addoption(parser):
    group = parser.getgroup("benches")
    group.addoption("--sim", default=ALL, help="icarus, verilator or all")
    group.addoption("--seed", default=str(DEFAULT_SEED), help="a number, or 'random'")
    group.addoption("--cocotb-test", help="run only this cocotb test of the bench")
    group.addoption("--config", help="run only this configuration of the bench")
    group.addoption("--waves", action="store_true", help="write one FST a test to build/waves")
    group.addoption("--quick", action="store_true", help="of each bench its quickest case alone")
    group.addoption("--daily", action="store_true", help="without what is left to the night")
    group.addoption("--settings", default="", help="settings of the configuration to change, JSON")


def pytest_configure(config):
    interrupt.install()
    check_simulator(config.getoption("sim"))
    config.bench_seed = chosen_seed(config)
    check_names(config)
    config.bench_settings = chosen_settings(config)
    # Whether simulations run as in `make test`: whole, and of the device that has no waves.
    part = config.getoption("cocotb_test") or config.bench_settings
    config.bench_as_usual = not part and not config.getoption("waves")
    check_folder(SIM)


def refuse(variable, value, allowed):
    """End pytest before it starts, with one line in the Makefile's words."""
    raise pytest.UsageError(f"{variable}={value}: must be {allowed}")


def check_simulator(name):
    if name not in (*SIMULATORS, ALL):
        refuse("SIM", name, f"{', '.join(SIMULATORS)} or {ALL}")
    if name != ALL and not usable(name):
        raise pytest.UsageError(f"SIM={name}: not installed; `make doctor` says how to get it")


def check_folder(folder):
    """Refuse a folder that cannot be written, in the words of the other commands."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise pytest.UsageError(f"{folder}: {error.strerror}") from None


def chosen_seed(config):
    if hasattr(config, "workerinput"):
        return config.workerinput["bench_seed"]
    seed = config.getoption("seed")
    if seed == "random":
        return random.SystemRandom().randrange(MAX_SEED + 1)
    if not re.fullmatch("[0-9]{1,10}", seed) or int(seed) > MAX_SEED:
        refuse("SEED", seed, f"a whole number, 0 to {MAX_SEED}, or random")
    return int(seed)


def check_names(config):
    """Refuse a configuration or a cocotb test that the bench does not have."""
    name, test = config.getoption("config"), config.getoption("cocotb_test")
    folders = [Path(argument).resolve() for argument in config.args]
    benches = [folder.name for folder in folders if folder.parent == TB]
    if (name is None and test is None) or len(benches) != 1:
        return
    (bench,) = benches
    # As a simulator does: the bench knows its tests once their module is imported.
    found = importlib.import_module(f"tb.{bench}.test_{bench}").BENCH
    if name is not None:
        try:
            found.config_named(name)
        except KeyError as error:
            raise pytest.UsageError(error.args[0]) from None
    if test is not None and test not in found.tests:
        refuse("TEST", test, f"one of {', '.join(found.tests)}")


def chosen_settings(config):
    """Settings that take the place of a configuration's own; of one that is named only."""
    text, name = config.getoption("settings"), config.getoption("config")
    if not text:
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=different)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        refuse("SETTINGS", text, """JSON, as '{"vectors": 13}'""")
    benches = [Path(argument).resolve() for argument in config.args]
    if name is None or [folder.parent for folder in benches] != [TB]:
        raise pytest.UsageError("SETTINGS: are those of one bench and one CONFIG, say which")
    bench = importlib.import_module(f"tb.{benches[0].name}.bench").BENCH
    own = bench.config_named(name).settings
    for key, value in settings.items():
        if key not in (*own, *PART):
            known = ", ".join((*own, *PART))
            raise pytest.UsageError(f"SETTINGS: no {key!r}; CONFIG={name} has {known}")
        check_setting(key, value, own.get(key))
    return settings


def different(pairs):
    """An object of JSON; refuse a key that is twice, of which Python would take the last."""
    found = {}
    for key, value in pairs:
        if key in found:
            raise pytest.UsageError(f"SETTINGS: {key!r} is given twice")
        found[key] = value
    return found


def check_setting(key, value, own):
    """Refuse a value that is not of the kind of the configuration's own."""
    if key == "state":
        if not re.fullmatch(r"[0-9a-f]+(\.[0-9a-f]+)?", str(value)):
            refuse("SETTINGS, state", value, "what `make regress` has printed")
    elif key in PART or type(own) in (int, dict):  # a dict has a count by simulator
        least = LEAST.get(key, 1)
        alike = type(own) is dict and type(value) is dict and value.keys() == own.keys()
        counts = value.values() if alike else [value]
        if not all(type(count) is int and count >= least for count in counts):
            refuse(f"SETTINGS, {key}", value, f"a whole number, at least {least}")
    elif own is not None:
        types, kind = KINDS[type(own)]
        if type(value) not in types:
            refuse(f"SETTINGS, {key}", value, kind)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config):
    """Tell what is refused in one line, with the status of other commands."""
    try:
        return (yield)
    except pytest.UsageError as error:
        print(*error.args, file=sys.stderr)
        return 2


def pytest_runtest_logreport(report):
    """Show a failure as it happens, not after all configurations."""
    if report.failed:
        print(f"\n{report.nodeid}\n{report.longreprtext}", flush=True)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Failures have been shown."""
    session.config.option.tbstyle = "no"


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt(excinfo):
    """Spare pytest the sources of a traceback that it does not print: seconds."""
    excinfo.traceback = excinfo.traceback[-1:]


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
    if metafunc.config.getoption("quick"):
        found = [quickest(bench)]
    else:
        config = metafunc.config
        daily = config.getoption("daily")
        chosen = bench.chosen(config.bench_seed, config.getoption("config"), daily)
        found = [
            (simulator, config.name)
            for config in chosen
            for simulator in config.sims
            if not (daily and simulator in config.nightly)
        ]
    cases = [pytest.param(*case, id="-".join(case)) for case in found]
    metafunc.parametrize(("simulator", "config"), cases)


def quickest(bench):
    """A bench's case of `make check`: under Icarus, which builds in no time, if that is possible.

    The configuration that is called short, or the one of the narrowest format.
    """
    icarus = [config for config in bench.configs.values() if "icarus" in config.sims]

    def cost(config):
        width = config.params.get("EXP_W", 8) + config.params.get("MAN_W", 23)
        return config.name != "short", width

    config = min(icarus or bench.configs.values(), key=cost)
    return ("icarus" if icarus else config.sims[0]), config.name


def case_of(item):
    """The parameters of a test; none of one that is not parametrized."""
    case = getattr(item, "callspec", None)
    return case.params if case else {}


def pytest_collection_modifyitems(config, items):
    if config.getoption("quick"):  # nothing that simulates more than one case of a bench
        left = [x for x in items if hasattr(x.function, "bench") or not x.path.is_relative_to(TB)]
        config.hook.pytest_deselected(items=[x for x in items if x not in left])
        items[:] = left
    if config.getoption("daily"):
        leave_to_the_night(config, items)
    sim, name = config.getoption("sim"), config.getoption("config")
    have = {simulator: usable(simulator) for simulator in SIMULATORS}
    chosen, dropped = [], []
    for item in items:
        case = case_of(item)
        if "simulator" not in case:
            chosen.append(item)
            continue
        wanted = sim in (case["simulator"], "all")
        wanted = wanted and name in (None, case.get("config"))
        (chosen if wanted else dropped).append(item)
        if not have[case["simulator"]] and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(f"{case['simulator']} is not installed"))
    if dropped and not any("simulator" in case_of(item) for item in chosen):
        cases = [case_of(item) for item in dropped]
        sims = {case["simulator"] for case in cases if name in (None, case.get("config"))}
        refuse("SIM", sim, " or ".join(sorted(sims)) + (f" for CONFIG={name}" if name else ""))
    config.hook.pytest_deselected(items=dropped)
    # Simulations take longest: begun first, they leave no worker idle at the end.
    items[:] = sorted(chosen, key=lambda item: "simulator" not in case_of(item))


@pytest.fixture
def bench_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of :meth:`pymodel.hardware.bench.Bench.run`, from the command line, and ``daily``."""
    config = request.config
    return {
        "seed": config.bench_seed,
        "testcase": config.getoption("cocotb_test"),
        "waves": config.getoption("waves"),
        "settings": config.bench_settings,
        "live": config.getoption("capture") == "no",
        "daily": config.getoption("daily"),
    }
