"""`make doctor`: prints a table. Exit status 1 when something required is missing."""

import sys
from pathlib import Path

from scripts.dev.doctor.finding import MISSING, Finding
from scripts.dev.doctor.python import check_packages, check_python
from scripts.dev.doctor.simulators import (
    check_ccache,
    check_compiler,
    check_fst_headers,
    check_icarus,
    check_verilator,
)
from scripts.dev.doctor.tools import check_make, check_verible, check_viewer
from scripts.kernel.places import ROOT


def examine(root: Path = ROOT) -> "list[Finding]":
    """All that there is to find."""
    return [
        check_python(),
        check_make(),
        check_packages(root),
        check_icarus(),
        check_compiler(),
        *check_verilator(root),
        check_fst_headers(),
        check_verible(root),
        check_viewer(),
        check_ccache(),
    ]


def main() -> int:
    """The command."""
    findings = examine()
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.state:8}{finding.what:{width}}  {finding.found}")
        if finding.fix:
            print(f"{'':8}{'':{width}}  -> {finding.fix}")
    missing = [finding.what for finding in findings if finding.state == MISSING]
    if missing:
        print(f"\nRequired and missing: {', '.join(missing)}. `make setup` tries to provide all.")
        return 1
    print("\nEverything required is here.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
