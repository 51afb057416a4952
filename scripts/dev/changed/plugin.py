"""The plugin of pytest that knows which tests have passed, and on what.

What passed is kept in build/changed/passed.json, with digests of its inputs. With --changed a test
does not run if its inputs are those that it passed with. The benches nearest to changed RTL begin
first; if one is red, the rest does not run.

A pass is not recorded of a test whose inputs have changed while the session ran, nor of a
simulation that has run in part, or with waves.

A test of the model that reads a file which is none of its inputs is red; so is one with the marker
`rtl_of` that reads such RTL.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pymodel.hardware.places import BUILD, RESULTS, ROOT
from scripts.dev.changed.near import NearestFirst, changed_files, nearest_to_changes
from scripts.dev.changed.reading import Reads, read_files, strangers
from scripts.dev.changed.session import FOLDER, begin, leave_out, left_out
from scripts.dev.changed.stamps import Stamps
from scripts.kernel.benches import all_benches
from scripts.kernel.digest import key_of
from scripts.kernel.inputs import (
    READS,
    RTL,
    RTL_OF,
    bench_of,
    digest_of,
    is_input,
    is_of_model,
    places_of,
    rtl_digests,
    rtl_of,
)

PASSED = BUILD / FOLDER / "passed.json"
INPUTS = "inputs"  # property of a test's report
PLACES = "places"  # likewise: what it depends on
SEPARATOR = ":"  # of places
PHASES = 3  # of a test: set-up, call, tear-down
Outcome = tuple[str, dict[str, object]]  # of a phase, with the test's properties

SETS = "rtl.json"
NEAR = pytest.StashKey[list[str]]()  # names of the benches nearest to what has changed
KNOWN = pytest.StashKey[dict[str, str]]()  # what has passed: test -> digest
OUTCOMES = pytest.StashKey[dict[str, list[Outcome]]]()  # of this session
READ = pytest.StashKey[Reads]()
STAMPS = pytest.StashKey[Stamps]()
UNSURE = pytest.StashKey[dict[str, str]]()  # test -> an input that changed in this session


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--changed`."""
    parser.addoption("--changed", action="store_true", help="only tests whose inputs have changed")


@pytest.hookimpl(trylast=True)  # tb/conftest.py has chosen the seed then
def pytest_configure(config: pytest.Config) -> None:
    """Read what has passed."""
    config.stash[KNOWN] = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    config.stash[OUTCOMES] = {}
    config.stash[UNSURE] = {}
    config.stash[STAMPS] = Stamps()
    if not hasattr(config, "workerinput"):
        begin(PASSED.parent, everything=not config.getoption("changed"))
    config.pluginmanager.register(_Outcomes(config.stash[OUTCOMES]), "changed-outcomes")
    if not config.getoption("changed"):
        return
    benches = all_benches()
    files = changed_files(config.stash[KNOWN], _sets(), benches, _seed(config))
    config.stash[NEAR] = nearest_to_changes(files, benches)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(NearestFirst(config, config.stash[NEAR]))


def _sets() -> dict[str, dict[str, str]]:
    """The RTL that simulations passed with: key -> file -> digest."""
    file = PASSED.with_name(SETS)
    return json.loads(file.read_text()) if file.exists() else {}


def _seed(config: pytest.Config) -> int | None:
    return getattr(config, "bench_seed", None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    """Leave out what passed as it is."""
    chosen, dropped = [], []
    again = config.getoption("changed")
    near = config.stash.get(NEAR, [])
    for item in items:
        digest, known = digest_of(item, _seed(config)), config.stash[KNOWN].get(item.nodeid)
        item.user_properties.append((INPUTS, digest))
        item.user_properties.append((PLACES, SEPARATOR.join(places_of(item))))
        same = again and known == digest and _has_result(item)
        (dropped if same else chosen).append(item)
    config.hook.pytest_deselected(items=dropped)
    if again:
        rows = [_result(item).stem for item in dropped if bench_of(item)]
        leave_out(PASSED.parent, [item.nodeid for item in dropped], rows)
    items[:] = sorted(chosen, key=lambda item: _name(item) not in near)


def _name(item: pytest.Function) -> str | None:
    """The name of the bench whose simulation a test is."""
    bench = bench_of(item)
    return bench and bench.name


def _has_result(item: pytest.Function) -> bool:
    """Whether the result of a simulation, which the report is made from, is there still."""
    return bench_of(item) is None or _result(item).exists()


def _result(item: pytest.Function) -> Path:
    case = item.callspec.params
    return RESULTS / f"{_name(item)}-{case['config']}-{case['simulator']}.json"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """See what a test module reads when it is imported."""
    with read_files() as collector.stash[READ]:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Function) -> Iterator[None]:
    """See what a test reads, fixtures included."""
    with read_files() as item.stash[READ]:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Function) -> Iterator[None]:
    """Judge what a test has read whose inputs are less than everything."""
    result = yield
    of_model = is_of_model(item.nodeid)
    if of_model or item.get_closest_marker(RTL_OF):
        module = item.getparent(pytest.Module)
        found = strangers(item.stash[READ].all() | module.stash[READ].all(), places_of(item))
        if not of_model:  # all the rest is an input, also what is not there
            found = [path for path in found if path.partition("/")[0] == RTL]
        if found:
            said = f"a test of the model; add pytest.mark.{READS}({found[0]!r})"
            if not of_model:
                said = f"this test; pytest.mark.{RTL_OF} must name what it is built from"
            pytest.fail(f"reads {', '.join(found)}: no input of {said}", pytrace=False)
    return result


class _Outcomes:
    """Collects those of all phases of all tests."""

    def __init__(self, found: dict[str, list[Outcome]]) -> None:
        self.found = found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        phases = self.found.setdefault(report.nodeid, [])
        phases.append((report.outcome, dict(report.user_properties)))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what has passed. That nothing had to run is no failure."""
    if hasattr(session.config, "workerinput"):
        return
    known, unsure = session.config.stash[KNOWN], session.config.stash[UNSURE]
    as_usual = getattr(session.config, "bench_as_usual", True)
    changed = session.config.stash[STAMPS].changed()
    for test, phases in session.config.stash[OUTCOMES].items():
        if len(phases) < PHASES or any(outcome != "passed" for outcome, _ in phases):
            known.pop(test, None)
            continue
        _, properties = phases[-1]
        digest, places = str(properties[INPUTS]), str(properties[PLACES]).split(SEPARATOR)
        written = next((file for file in changed if is_input(ROOT / file, places)), None)
        if written:
            unsure[test] = written
        elif as_usual or not _of_simulation(digest):
            known[test] = digest
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    keys = {digest.split()[1] for digest in known.values() if _of_simulation(digest)}
    sets = _sets() | {key_of(rtl_of(x)): rtl_digests(rtl_of(x)) for x in all_benches()}
    _replace(PASSED.with_name(SETS), {key: sets[key] for key in keys & sets.keys()})
    _replace(PASSED, known)
    nothing = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    if nothing and session.config.getoption("changed"):
        session.exitstatus = pytest.ExitCode.OK


def _replace(file: Path, content: dict[str, Any]) -> None:
    new = file.with_suffix(".new")
    new.write_text(json.dumps(content, indent=0))
    new.replace(file)


def _of_simulation(digest: str) -> bool:
    """Whether a digest is that of a simulation: it has two words."""
    return " " in digest


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests are left out, and which passes are not recorded."""
    if hasattr(config, "workerinput"):
        return
    if count := len(left_out(PASSED.parent)["tests"]):
        terminalreporter.write_line(
            f"changed: {count} tests left out: they have passed with the same inputs"
        )
    unsure = config.stash[UNSURE]
    if unsure:
        files = sorted(set(unsure.values()))
        more = f" and {len(files) - 1} more" if files[1:] else ""
        terminalreporter.write_line(
            f"changed: {len(unsure)} passes not recorded: {files[0]}{more} changed meanwhile"
        )
