"""`make bench`: all measurements, or one of them with ONLY=<part>."""

import importlib
import sys
from collections.abc import Sequence

from pymodel.app.options import OptionParser, one_of
from pymodel.runs.input_error import InputError

#: Parts in the order in which they run; each is a module beside this with a `main`.
PARTS = ("speed", "step_engine", "array", "native", "waiting", "mpc")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.benchmarks.bench", description=__doc__)
    parts = one_of("ONLY", *PARTS)
    parser.add_argument("--only", type=parts, help=f"one part: {', '.join(PARTS)}")
    try:
        only = parser.parse_args(arguments).only
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    for part in PARTS if only is None else [only]:
        importlib.import_module(f"scripts.evidence.benchmarks.{part}").main()
    return 0
