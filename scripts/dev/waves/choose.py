"""Which waveform to open."""

import importlib
import re
from pathlib import Path

from scripts.dev.waves.problem import Problem
from scripts.kernel.places import ROOT


def choose(bench: str, config: str | None, file: str | None, root: Path = ROOT) -> Path:
    """The newest waveform of the bench (and configuration), or the one named.

    Raises
    ------
    Problem
        If there is none, or no such bench or configuration.
    """
    folder = root / "build" / "waves" / bench
    known = sorted(path.parent.name for path in (root / "tb").glob("*/Makefile"))
    if bench not in known:
        raise Problem(f"there is no bench {bench!r}; benches: {' '.join(known)}")
    if file and config:
        raise Problem("FILE and CONFIG: one of them says which")
    if file:
        for path in (Path(file), root / file, folder / file):
            if path.is_file():
                return path.resolve()
        raise Problem(f"there is no {file}")
    waves = sorted(folder.glob(f"{config or '*'}-*.fst"), key=lambda path: path.stat().st_mtime)
    if config:  # a name may begin with another one
        waves = [p for p in waves if re.match(rf"{re.escape(config)}-(icarus|verilator)-", p.name)]
    if not waves:
        if config:
            _check(bench, config)
        chosen = f" CONFIG={config}" if config else ""
        raise Problem(
            f"no waveform of {bench}{chosen} yet; get one with: make {bench} WAVES=1{chosen}"
        )
    return waves[-1]


def _check(bench: str, config: str) -> None:
    try:
        importlib.import_module(f"tb.{bench}.bench").BENCH.config_named(config)
    except KeyError as error:
        raise Problem(error.args[0]) from None


def shown(path: Path) -> Path:
    """A path as messages show it."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
