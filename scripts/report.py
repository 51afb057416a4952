"""The regression as one self-contained page, build/report/index.html.

Reads build/results/*.json (one per bench run, written by tb/common), build/report/junit.xml
(written by pytest) and the plots in build/pendulum and build/report. Anything may be missing.

    python scripts/report.py             from the results at hand
    pytest -p scripts.report ...         at the end of a test run, before pytest's closing line
"""

import argparse
import base64
import datetime
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = "report_template.html"


@dataclass
class BenchRun:
    """One build of a bench simulated once, with all of its tests."""

    bench: str
    config: str = ""
    simulator: str = ""
    params: dict = field(default_factory=dict)
    seed: int | None = None
    transactions: int = 0
    tests: list[dict] = field(default_factory=list)
    wall_s: float = 0.0
    result: str = "fail"
    rerun: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        return self.result != "pass" or any(t.get("result") != "pass" for t in self.tests)

    @property
    def sim_ns(self) -> float:
        return sum(t.get("sim_ns") or 0 for t in self.tests)

    @property
    def ordered_tests(self) -> list[dict]:
        return sorted(self.tests, key=lambda t: t.get("result") == "pass")


@dataclass
class PytestFile:
    """The cases of one test file, summed."""

    name: str
    passed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)  # (case, message)

    @property
    def failed(self) -> bool:
        return bool(self.failures)


def read_bench_runs(folder: Path) -> list[BenchRun]:
    """Bench runs, failed ones first; a file that cannot be read is a failed run."""
    known = set(BenchRun.__dataclass_fields__)
    runs = []
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text())
            runs.append(BenchRun(**{k: v for k, v in data.items() if k in known}))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            runs.append(BenchRun(bench=path.stem, message=f"{path.name} is unreadable: {error}"))
    return sorted(runs, key=lambda r: (not r.failed, r.bench, r.config, r.simulator))


def _file_of(classname: str) -> str:
    """pymodel.tests.test_arith.TestAdd -> pymodel/tests/test_arith.py"""
    parts = classname.split(".")
    ends = [i for i, part in enumerate(parts) if part.startswith("test_")]
    return "/".join(parts[: ends[-1] + 1]) + ".py" if ends else classname


def read_junit(path: Path) -> list[PytestFile]:
    """pytest's cases summed per file, files with failures first."""
    if not path.exists():
        return []
    files: dict[str, PytestFile] = {}
    for case in ET.parse(path).iter("testcase"):
        name = _file_of(case.get("classname") or case.get("name", "?"))
        entry = files.setdefault(name, PytestFile(name))
        entry.seconds += float(case.get("time") or 0)
        bad = [e for e in case if e.tag in ("failure", "error")]
        if bad:
            text = bad[0].text or bad[0].get("message") or ""
            entry.failures.append((case.get("name", "?"), text.strip()))
        elif case.find("skipped") is not None:
            entry.skipped += 1
        else:
            entry.passed += 1
    return sorted(files.values(), key=lambda f: (not f.failed, f.name))


def read_plots(build: Path) -> list[tuple[str, str]]:
    """(caption, data URI) of the demo's plots and of those beside the report."""
    paths = sorted((build / "pendulum").glob("*.png")) + sorted((build / "report").rglob("*.png"))
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


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return (done.stdout.strip() or "none").splitlines()[0]


def write_report(build: Path) -> Path:
    """Write `build`/report/index.html and return its path."""
    import jinja2

    runs = read_bench_runs(build / "results")
    files = read_junit(build / "report" / "junit.xml")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["duration"] = duration
    page = environment.get_template(TEMPLATE).render(
        runs=runs,
        files=files,
        plots=read_plots(build),
        failed_runs=sum(run.failed for run in runs),
        failed_cases=sum(len(file.failures) for file in files),
        cases=sum(len(f.failures) + f.passed for f in files),
        transactions=sum(run.transactions or 0 for run in runs),
        date=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        commit=_first_line("git", "describe", "--always", "--dirty"),
        tools=[_first_line("iverilog", "-V"), _first_line("verilator", "--version")],
    )
    target = build / "report" / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target


def pytest_terminal_summary(terminalreporter):
    """Pytest hook: by now junit.xml is written, and the closing line is still to come."""
    try:
        path = write_report(ROOT / "build")
        terminalreporter.write_line(f"report: {path.relative_to(ROOT)}")
    except Exception as error:  # a broken report must not hide the tests' own verdict
        terminalreporter.write_line(f"report: not written ({type(error).__name__}: {error})")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="write build/report/index.html")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="default: build")
    print(write_report(parser.parse_args(arguments).build))
    return 0


if __name__ == "__main__":
    sys.exit(main())
