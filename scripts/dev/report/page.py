"""The page: the template, filled."""

import base64
import datetime
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pymodel.hardware.simulators import SIMULATORS, simulator_version, usable
from scripts.dev.changed.session import FOLDER, of_earlier_sessions
from scripts.dev.report.bench_runs import BenchRun, read_bench_runs
from scripts.dev.report.pytest_files import PytestFile, read_junit
from scripts.kernel.pages import template
from scripts.kernel.places import DEMO_SCENARIOS, ROOT

TEMPLATE = Path(__file__).with_name("page.html")
COVERAGE = "../coverage/index.html"  # as the page links to it


def read_plots(build: Path) -> list[tuple[str, str]]:
    """(caption, data URI) of the demos' plots and of those next to the report."""
    paths = [path for demo in DEMO_SCENARIOS for path in sorted((build / demo).glob("*.png"))]
    paths += sorted((build / "report").rglob("*.png"))
    return [
        (
            path.relative_to(build).as_posix(),
            "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode(),
        )
        for path in paths
    ]


def duration(seconds: float) -> str:
    """1.5e-5 -> '15 us'; three digits, unit by size."""
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}".replace("e+03", "000")
    return "0 s"


def _commit() -> str:
    command = ("git", "describe", "--always", "--dirty")
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return done.stdout.strip() or "none"


def title_of(runs: Sequence[BenchRun], files: Sequence[PytestFile]) -> str:
    """What a report is of: without cases of pytest it is not of a regression, but of benches."""
    benches = list(dict.fromkeys(run.bench for run in runs))
    if files or not benches:
        return "Regression report"
    return (
        f"Report of bench {benches[0]}"
        if len(benches) == 1
        else f"Report of {len(benches)} benches"
    )


def write_report(build: Path) -> Path:
    """Write `build`/report/index.html and return its path."""
    results = build / "results"
    runs = read_bench_runs(results, of_earlier_sessions(build / FOLDER, results))
    files = read_junit(build / "report" / "junit.xml")
    page = template(TEMPLATE, duration=duration).render(
        title=title_of(runs, files),
        runs=runs,
        files=files,
        told={run.message.strip() for run in runs},
        plots=read_plots(build),
        coverage=COVERAGE if (build / "report" / COVERAGE).exists() else None,
        failed_runs=sum(run.failed for run in runs),
        earlier_runs=sum(run.earlier for run in runs),
        failed_cases=sum(len(file.failures) for file in files),
        cases=sum(len(f.failures) + f.passed for f in files),
        transactions=sum(run.transactions or 0 for run in runs if not run.earlier),
        date=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        commit=_commit(),
        tools=[simulator_version(x) if usable(x) else f"no {x}" for x in SIMULATORS],
    )
    target = build / "report" / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target
