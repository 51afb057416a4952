"""`make lint`: every RTL module under Verilator -Wall and verible, the Python under ruff.

Each module of rtl/rtl.f is linted as top, with its default parameters and, in rtl/fp, with the
corner parameter sets of `FP_SETS` (only the parameters that a module has). One line a failure,
then what the tools said, then a closing count. Exit status 1 when anything failed.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.rtl_files import FILE_LIST, ROOT, rtl_files

WAIVERS = "rtl/lint.vlt"

# The smallest and the largest format of the specification, no and most register stages.
FP_SETS = [
    {"EXP_W": 4, "MAN_W": 2},
    {"EXP_W": 11, "MAN_W": 52},
    {"STAGES": 0},
    {"STAGES": 6},
]
# Modules with sets of their own, instead of these.
OWN_SETS: dict[str, list[dict[str, int]]] = {
    "fp_recip_table": [*FP_SETS[:1], {"CUTS": 5}],  # formats up to binary32
    "fp_sincos": [*FP_SETS[:1], {"STAGES": 0}, {"STAGES": 16}],  # formats up to binary32
}

MODULE = re.compile(r"^\s*module\s+(\w+)(?:\s*import\s[^;]*;)*([^;]*);", re.M)
PARAMETER = re.compile(r"\bparameter\b[^,=]*?(\w+)\s*=")


def modules(path: Path) -> dict[str, set[str]]:
    """The modules a file declares, with the names of the parameters in their headers."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
    return {m[1]: set(PARAMETER.findall(m[2])) for m in MODULE.finditer(text)}


def lint_jobs(root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """(label, verilator arguments) for each module and parameter set."""
    jobs = []
    for file in rtl_files(root):
        for module, has in modules(root / file).items():
            corners = FP_SETS if file.startswith("rtl/fp/") else []
            sets = [{}, *OWN_SETS.get(module, corners)]
            for chosen in [s for s in sets if set(s) <= has]:
                values = [f"{name}={value}" for name, value in chosen.items()]
                arguments = ["--top-module", module, *(f"-G{value}" for value in values)]
                jobs.append((" ".join([module, *values]), arguments))
    return jobs


def run(command: list[str]) -> tuple[bool, str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def check(label: str, command: list[str]) -> tuple[str, bool, str]:
    return (label, *run(command))


def find_verilator() -> bool:
    return run(["scripts/get_verilator.sh", "--check"])[0]


def main() -> int:
    missing = [file for file in rtl_files() if not (ROOT / file).exists()]
    if missing:
        print(f"lint: {FILE_LIST} names what is not there: {' '.join(missing)}")
        return 1
    python_bin = Path(sys.executable).parent
    work: list[tuple[str, list[str]]] = []
    skipped = []
    if find_verilator():
        flags = ["verilator", "--lint-only", "-Wall", "--quiet"]
        waivers = [WAIVERS] if (ROOT / WAIVERS).exists() else []
        work += [
            (f"verilator: {label}", [*flags, *arguments, *waivers, "-f", FILE_LIST])
            for label, arguments in lint_jobs()
        ]
    else:
        skipped.append("verilator (no Verilator >= 5.036; `make doctor` tells how to get it)")
    verible = [str(python_bin / "verible-verilog-lint"), "--rules_config", ".rules.verible_lint"]
    verible += ["--waiver_files", "rtl/lint.vbl"]
    work += [(f"verible: {file}", [*verible, file]) for file in rtl_files()]
    work.append(("ruff: Python", [str(python_bin / "ruff"), "check", "--quiet", "."]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: check(*job), work))
    failed = [(label, said) for label, good, said in results if not good]
    said_before = set()
    for label, said in failed:
        print(f"FAIL {label}")
        if said not in said_before:  # the same warning for each parameter set is shown once
            print("  " + said.replace("\n", "\n  "))
        said_before.add(said)
    for name in skipped:
        print(f"skipped: {name}")
    print(f"lint: {len(work) - len(failed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or (skipped and os.environ.get("CI") == "true") else 0


if __name__ == "__main__":
    sys.exit(main())
