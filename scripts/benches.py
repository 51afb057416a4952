"""All benches of tb/."""

import importlib
from functools import cache

from scripts.places import ROOT
from tb.common.bench import Bench


@cache
def all_benches() -> tuple[Bench, ...]:
    """In the order of their names."""
    names = sorted(path.parent.name for path in (ROOT / "tb").glob("*/Makefile"))
    return tuple(importlib.import_module(f"tb.{name}.bench").BENCH for name in names)
