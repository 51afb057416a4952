"""`make report`: the regression report from the results at hand."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from scripts.dev.report.page import write_report
from scripts.kernel.places import BUILD


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="write build/report/index.html")
    parser.add_argument("--build", type=Path, default=BUILD, help="default: build")
    print(write_report(parser.parse_args(arguments).build))
    return 0
