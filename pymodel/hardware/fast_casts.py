"""Icarus in two thirds of its time: see ``fast_casts.c``."""

import os
import sys
from functools import cache

from pymodel.arith.c_build import NoCompilerError, shared_library
from pymodel.hardware.places import HARDWARE

SOURCE = HARDWARE / "fast_casts.c"
OPTIONS = ("-O2", "-fPIC", "-ftls-model=initial-exec")  # loaded with the program, not later
VARIABLE = "LD_PRELOAD"


def environment(simulator: str) -> dict[str, str]:
    """What a simulator's process gets besides; nothing where it would not help or cannot be built.

    What is simulated is the same either way.
    """
    if simulator != "icarus" or not sys.platform.startswith("linux"):
        return {}
    library = _library()
    others = os.environ.get(VARIABLE, "").split()
    return {VARIABLE: " ".join([library, *others])} if library else {}


@cache
def _library() -> str:
    """Path of the shared library; empty if it cannot be built."""
    try:
        return str(shared_library({SOURCE.name: SOURCE.read_text()}, OPTIONS))
    except NoCompilerError:
        return ""
