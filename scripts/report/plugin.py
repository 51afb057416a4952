"""The regression report as a plugin of pytest."""

import pytest

from scripts.places import BUILD, ROOT


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode | int
) -> None:
    """Write it: by now junit.xml is written, and the closing line is still to come.

    There is none of a regression that was interrupted.
    """
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        (BUILD / "report" / "junit.xml").unlink(missing_ok=True)
        terminalreporter.write_line("report: not written, the regression was interrupted")
        return
    try:
        from scripts.report.page import write_report

        path = write_report(BUILD)
        terminalreporter.write_line(f"report: {path.relative_to(ROOT)}")
    except Exception as error:  # a broken report must not hide the tests' own verdict
        terminalreporter.write_line(f"report: not written ({type(error).__name__}: {error})")
