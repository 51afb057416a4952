"""All benches of tb/."""

import importlib
from functools import cache

from pymodel.hardware.bench import Bench
from scripts.kernel.places import ROOT


@cache
def all_benches() -> tuple[Bench, ...]:
    """In the order of their names."""
    names = sorted(path.parent.name for path in (ROOT / "tb").glob("*/Makefile"))
    return tuple(importlib.import_module(f"tb.{name}.bench").BENCH for name in names)
