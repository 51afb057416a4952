"""The regression report as a plugin of pytest."""

import pytest

from pymodel.hardware.simulators import SIMULATORS, usable
from scripts.kernel.places import BUILD, ROOT

SESSION = pytest.StashKey[pytest.Session]()
COVERAGE = pytest.StashKey[list[str]]()
SHOWN = 10  # bins that were not met
ALL = "all"
#: Options that leave tests out, or parts of simulations.
SELECTING = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "cocotb_test", "config")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: pytest.ExitCode | int) -> None:
    """Merge functional coverage; of a green regression every bin must have been met.

    Not judged where a simulator is missing: some bins are met under Verilator only. Nothing is said
    of a selection, which need not meet all.
    """
    if hasattr(session.config, "workerinput"):
        return
    session.config.stash[SESSION] = session
    if exitstatus == pytest.ExitCode.INTERRUPTED or _is_selection(session.config):
        return
    from scripts.evidence.coverage.command import CoverageError, merge

    try:
        merged = merge()
    except CoverageError as error:
        lines, complete = [f"coverage: {error}"], False
    else:
        lines = [merged.line, *(f"not met: {text}" for text in merged.missing[:SHOWN])]
        complete = not merged.missing
    session.config.stash[COVERAGE] = lines
    # The session's status: an empty one of `make test CHANGED=1` is green by now.
    green = session.exitstatus == pytest.ExitCode.OK
    if not complete and all(map(usable, SIMULATORS)) and green:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _is_selection(config: pytest.Config) -> bool:
    """Whether tests were chosen on the command line or in PYTEST_ADDOPTS, or parts of benches."""
    given = config.option
    usual = ("", *config.getini("addopts"))
    return (
        config.args_source == pytest.Config.ArgsSource.ARGS
        or given.markexpr not in usual
        or any(getattr(given, name, None) for name in SELECTING)
        or getattr(given, "sim", ALL) != ALL
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write it: by now junit.xml is written, and the closing line is still to come.

    There is none of a regression that was interrupted. One that ends because a bench is red has
    failed by now, whatever pytest took it for.
    """
    if SESSION not in terminalreporter.config.stash:  # a worker's
        return
    for line in terminalreporter.config.stash.get(COVERAGE, []):
        terminalreporter.write_line(line)
    session = terminalreporter.config.stash[SESSION]
    if session.exitstatus == pytest.ExitCode.INTERRUPTED:
        (BUILD / "report" / "junit.xml").unlink(missing_ok=True)
        terminalreporter.write_line("report: not written, the regression was interrupted")
        return
    try:
        from scripts.dev.report.page import write_report

        path = write_report(BUILD)
        terminalreporter.write_line(f"report: {path.relative_to(ROOT)}")
    except Exception as error:  # a broken report must not hide the tests' own verdict
        terminalreporter.write_line(f"report: not written ({type(error).__name__}: {error})")
