"""The picture of docs/faults.md: what becomes of flipped bits, by top and kind of register."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tb.faults.registers import KINDS

DPI, WIDTH, PERCENT = 130, 0.7, 100
HEADROOM = 1.1  # above the tallest bar, for its number
#: Label -> colour and the counts of a row that it sums.
PARTS = {
    "detected": ("tab:blue", ("detected",)),
    "run stopped, recovered": ("tab:cyan", ("stopped",)),
    "wrong, found by the residual": ("tab:orange", ("found_by_residual",)),
    "wrong, undetected": ("tab:red", ("undetected_with_residual",)),
    "bus hangs": ("black", ("hangs",)),
}


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw rows of build/faults/summary.json."""
    figure = Figure(figsize=(12, 4.5), layout="constrained")
    tallest = 0.0
    axes = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    for own, row in zip(axes, rows, strict=True):
        kinds = [kind for kind in KINDS if row["kinds"][kind]["injections"]]
        below = [0.0] * len(kinds)
        for label, (colour, names) in PARTS.items():
            heights = [
                PERCENT
                * sum(row["kinds"][kind][name] for name in names)
                / row["kinds"][kind]["injections"]
                for kind in kinds
            ]
            own.bar(kinds, heights, WIDTH, bottom=below, label=label, color=colour)
            below = [a + b for a, b in zip(below, heights, strict=True)]
        tallest = max(tallest, *below)
        for place, kind in enumerate(kinds):
            count = row["kinds"][kind]["injections"]
            own.annotate(f"n = {count}", (place, below[place]), (0, 3), fontsize=8,
                         textcoords="offset points", ha="center")  # fmt: skip
        own.set_title(row["unit"], fontsize=10)
        own.grid(alpha=0.3, axis="y")
        own.tick_params(axis="x", labelrotation=20)
    axes[0].set_ylim(0, HEADROOM * tallest)
    axes[0].set_ylabel("of flips of one bit, %; the rest is masked")
    axes[-1].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
