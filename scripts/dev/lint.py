"""`make lint`: the RTL under Verilator -Wall, verible and scripts.dev.rtl_style, Python under ruff.

The types of pymodel are checked by mypy; pyproject.toml says how strictly.

Each module of rtl/rtl.f is linted as top, with its default parameters and with those of `lint` in
its record (units/). One line a failure, then what the tools said, then a closing count. Exit status
1 when anything failed, 2 for a record that cannot be read.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pymodel.app.doctor import VERILATOR_NEEDED, dotted
from pymodel.hardware.rtl_files import FILE_LIST, ROOT, rtl_files, unlisted
from scripts.dev import rtl_style
from scripts.kernel.modules import bench_files, modules
from scripts.kernel.units import records

BIN = Path(sys.executable).parent
WAIVERS = "rtl/lint.vlt"
ALONE = "LINT_ALONE"  # without the waivers that a design around a module needs
VERIBLE_RULES = ".rules.verible_lint"


#: What is checked, and how: whether all is well, and what there is to say.
Check = tuple[str, Callable[[], tuple[bool, str]]]


def lint_jobs(root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """(label, verilator arguments) for each module and parameter set."""
    jobs, known = [], records(root)
    for file in rtl_files(root):
        for module in modules(root / file):
            for chosen in [{}, *(known[module].lint if module in known else ())]:
                values = [f"{name}={value}" for name, value in chosen.items()]
                arguments = ["--top-module", module, *(f"-G{value}" for value in values)]
                jobs.append((" ".join([module, *values]), arguments))
    return jobs


def run(command: list[str]) -> tuple[bool, str]:
    """Run a command in the repository: whether it succeeded, and all that it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def check_style(file: str) -> tuple[bool, str]:
    """Whether a file keeps to scripts.dev.rtl_style, and one line for each violation."""
    found = rtl_style.violations((ROOT / file).read_text())
    return not found, "\n".join(f"{file}:{line}: {message}" for line, message in found)


def find_verilator() -> bool:
    """Whether there is a Verilator that is new enough."""
    return run(["pymodel/hardware/get_verilator.sh", "--check"])[0]


def verilator_checks() -> list[Check]:
    """Verilator -Wall, for each of :func:`lint_jobs`."""
    command = ["verilator", "--lint-only", "-Wall", "--quiet", f"-D{ALONE}"]
    return [
        (f"verilator: {label}", partial(run, [*command, *arguments, WAIVERS, "-f", FILE_LIST]))
        for label, arguments in lint_jobs()
    ]


def dialect_checks() -> list[Check]:
    """verible and scripts.dev.rtl_style, for each file of RTL and each wrapper of a bench."""
    checks: list[Check] = []
    command = [str(BIN / "verible-verilog-lint"), "--rules_config", VERIBLE_RULES]
    command += ["--waiver_files", "rtl/lint.vbl"]
    for file in [*rtl_files(), *bench_files()]:
        checks.append((f"verible: {file}", partial(run, [*command, file])))
        checks.append((f"style: {file}", partial(check_style, file)))
    return checks


def mypy(*files: Path) -> tuple[bool, str]:
    """Whether types are right, of files or else of all of pymodel, and what mypy says."""
    return run([str(BIN / "mypy"), "--no-error-summary", *map(str, files)])


def python_checks() -> list[Check]:
    """Mypy, and ruff for what the Python says and for its format."""
    ruff = str(BIN / "ruff")
    return [
        ("mypy: pymodel", mypy),
        ("ruff: Python", partial(run, [ruff, "check", "--quiet", "."])),
        ("ruff: format", partial(run, [ruff, "format", "--check", "--quiet", "."])),
    ]


def main(arguments: Sequence[str] = ()) -> int:
    """Run all checks side by side and print what failed; the exit status."""
    missing = [file for file in rtl_files() if not (ROOT / file).exists()]
    if missing:
        print(f"lint: {FILE_LIST} names what is not there: {' '.join(missing)}")
        return 1
    if found := unlisted(ROOT):
        print(f"lint: {FILE_LIST} does not name: {' '.join(found)}")
        return 1
    checks = [*dialect_checks(), *python_checks()]
    skipped = []
    if find_verilator():
        checks = [*verilator_checks(), *checks]
    else:
        needed = dotted(VERILATOR_NEEDED)
        skipped.append(f"verilator (no Verilator >= {needed}; `make doctor` says how to get it)")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda check: (check[0], *check[1]()), checks))
    failed = [(label, said) for label, good, said in results if not good]
    said_before = set()
    for label, said in failed:
        print(f"FAIL {label}")
        if said not in said_before:  # the same warning for each parameter set is shown once
            print("  " + said.replace("\n", "\n  "))
        said_before.add(said)
    for name in skipped:
        print(f"skipped: {name}")
    print(f"lint: {len(checks) - len(failed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or (skipped and os.environ.get("CI") == "true") else 0
