"""Print how many microseconds a Python takes for some work; less is better.

    python3.11 scripts/dev/python_speed.py

Exit status 1: it cannot make .venv, as it is too old, has no module to make one with, or no shared
library, which simulators load. It is written for any Python 3.
"""

import sys
import sysconfig
from pathlib import Path
from time import perf_counter

NEEDED = (3, 11)
ROUNDS = 50  # half a second: a machine that halts for some of it changes nothing


def can_make_venv() -> bool:
    """Whether .venv can be made with this Python as it is."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    value = sysconfig.get_config_var
    library = Path(str(value("LIBDIR")), str(value("INSTSONAME")))
    return sys.version_info >= NEEDED and library.suffix != ".a" and library.exists()


def seconds() -> float:
    """Wall-clock time of work as benches do it: calls, tuples, dictionaries, integers."""
    start, last = perf_counter(), {}
    for number in range(30_000):
        key = number & 1023
        last[key] = (number, len(last.get(key, ())) + (number ^ key))
    return perf_counter() - start


if __name__ == "__main__":
    if not can_make_venv():
        sys.exit(1)
    print(round(1e6 * min(seconds() for _ in range(ROUNDS))))
