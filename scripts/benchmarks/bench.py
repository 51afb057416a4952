"""`make bench`: all measurements, or one of them with ONLY=<part>."""

import argparse
import importlib
import sys
from collections.abc import Sequence

#: Parts in the order in which they run; each is a module beside this with a `main`.
PARTS = ("speed", "step_engine", "array", "native")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="PART", help=f"one of {', '.join(PARTS)}")
    only = parser.parse_args(arguments).only
    if only is not None and only not in PARTS:
        print(f"ONLY={only}: must be one of {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for part in PARTS if only is None else [only]:
        importlib.import_module(f"scripts.benchmarks.{part}").main()
    return 0
