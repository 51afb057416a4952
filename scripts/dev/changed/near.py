"""The benches nearest to changed RTL: they run first, and a red one stops the session."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from pymodel.hardware.bench import Bench
from scripts.kernel.inputs import digest_of_bench, rtl_digests, rtl_of, sources_of

Sets = Mapping[str, Mapping[str, str]]  # key of a set of RTL files -> file -> its digest


def nearest(file: str, benches: Iterable[Bench]) -> list[Bench]:
    """The benches nearest to a file of the RTL: named after it, or of the fewest files with it.

    Of those, the ones that are named after what they test.
    """

    def distance(bench: Bench) -> tuple[bool, int, bool]:
        other = bench.name != bench.device.toplevel
        return bench.name != Path(file).stem, len(sources_of(bench)), other

    having = [bench for bench in benches if file in rtl_of(bench)]
    least = min(map(distance, having), default=None)
    return [bench for bench in having if distance(bench) == least]


def changed_files(
    known: Mapping[str, str], sets: Sets, benches: Iterable[Bench], seed: int | None
) -> set[str]:
    """RTL files that are others than those which simulations passed with, all else being equal.

    Parameters
    ----------
    known : mapping
        Test -> the digest that it passed with, two words of a simulation.
    sets : mapping
        The RTL behind the second word.
    benches : iterable of Bench
    seed : int or None
        The session's.
    """
    found: set[str] = set()
    for bench in benches:
        rest, key = digest_of_bench(bench, seed).split()
        now = rtl_digests(rtl_of(bench))
        prefix = f"tb/{bench.name}/"
        passed = {tuple(d.split()) for test, d in known.items() if test.startswith(prefix)}
        for before in (sets.get(old, {}) for same, old in passed if same == rest and old != key):
            found |= {file for file in now if file in before and before[file] != now[file]}
    return found


def nearest_to_changes(files: Iterable[str], benches: Sequence[Bench]) -> list[str]:
    """Names of the benches nearest to any of some RTL files."""
    near = [bench for file in files for bench in nearest(file, benches)]
    return [bench.name for bench in benches if bench in near]


class NearestFirst:
    """Ends the session once the benches nearest to a change have run, if one of them is red.

    A plugin of pytest, for the process that collects the results.

    Parameters
    ----------
    config : pytest.Config
        The session's.
    near : iterable of str
        Names of these benches.
    """

    STOPPED = "a bench nearest to changed RTL is red: the rest has not run"

    def __init__(self, config: pytest.Config, near: Iterable[str]) -> None:
        self.config = config
        self.modules = tuple(f"tb/{name}/test_{name}.py::" for name in near)
        self.session: pytest.Session | None = None
        self.left: set[str] = set()
        self.red = self.stopped = False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Without workers it is the session that is stopped."""
        self.session = session

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What will run, without workers."""
        self._will_run(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Iterable[str]) -> None:
        """What will run, with workers."""
        self._will_run(ids)

    def _will_run(self, tests: Iterable[str]) -> None:
        self.left |= {test for test in tests if test.startswith(self.modules)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Stop after the last test of these benches."""
        if report.nodeid not in self.left:
            return
        self.red |= report.failed
        if report.when == "teardown":
            self.left.discard(report.nodeid)
        if self.red and not self.left:
            loop = self.config.pluginmanager.get_plugin("dsession") or self.session
            loop.shouldstop, self.stopped = self.STOPPED, True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A session that was stopped here has failed; it was not interrupted by the user."""
        if self.stopped:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
