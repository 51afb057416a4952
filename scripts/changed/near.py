"""Stops a session early when a bench nearest to a change is red."""

from collections.abc import Iterable

import pytest


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
