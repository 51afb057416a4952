"""The picture of `step_engine`: growth with the number of bodies, and what interleaving does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.evidence.benchmarks.scenarios import CHAINS, CONTEXTS, LANES, OUT, chain_name
from scripts.kernel.places import DEMOS

COLOURS = dict(zip(LANES, ("#d55e00", "#e69f00", "#009e73", "#0072b2"), strict=True))
STYLES = dict(zip(DEMOS, ("o-", "s--"), strict=True))
DPI = 130


def plot(rows: Sequence[dict[str, Any]]) -> Path:
    """Draw rows of step_engine.json; returns the PNG file."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    growth, filled = figure.subplots(1, 2)
    for lanes, colour in COLOURS.items():
        mine = [row for row in rows if row["adders"] == lanes]
        chains = _chains(mine)
        cycles = [row["cycles"] for row in chains]
        growth.plot(CHAINS, cycles, "o-", color=colour, label=f"{lanes} + {lanes} lanes")
        for demo, style in STYLES.items():
            cycles = [row["cycles_per_system_step"] for row in mine if row["scenario"] == demo]
            label = f"{demo.replace('_', ' ')}, {lanes} + {lanes}"
            filled.plot(CONTEXTS, cycles, style, color=colour, label=label)
    paths = [row["critical_path"] for row in chains]
    growth.plot(CHAINS, paths, "k:", label="dependencies alone")
    growth.set_xscale("log", base=2)
    growth.set_yscale("log", base=2)
    growth.set_xticks(CHAINS, CHAINS)
    _describe(growth, "one system", "bodies of the chain", "cycles a step")
    filled.set_yscale("log", base=2)
    filled.set_xticks(CONTEXTS, CONTEXTS)
    _describe(filled, "several systems", "systems interleaved", "cycles a system and step")
    path = OUT / "step_engine.png"
    figure.savefig(path, dpi=DPI)
    return path


def _chains(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of chains, one system each."""
    names = set(map(chain_name, CHAINS))
    return [row for row in rows if row["scenario"] in names and row["contexts"] == 1]


def _describe(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
