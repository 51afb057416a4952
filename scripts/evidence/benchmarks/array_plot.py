"""The picture of `array`: cycles of a call against lanes, contexts and datapaths."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

DPI = 130
ROBOT = "iiwa14"
WIDTH = 0.8  # of a group of bars


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw rows of array.json."""
    figure = Figure(figsize=(13, 5), layout="constrained")
    cycles, work = figure.subplots(1, 2)
    mine = [row for row in rows if row["robot"] == ROBOT]
    _bars(cycles, mine, lambda row: row["cycles_per_call"])
    cycles.set_ylabel("cycles a call, all systems busy")
    cycles.set_title(f"{ROBOT}: functions by shape of the array")
    _bars(work, mine, lambda row: row["cycles_per_call"] * row["multipliers"] * row["datapaths"])
    work.set_ylabel("cycles a call x multipliers")
    work.set_title("the same by multiplier: lower is busier lanes")
    cycles.legend(fontsize=8)
    figure.savefig(path, dpi=DPI)


def _bars(axes: Axes, rows: Sequence[dict[str, Any]], value: Any) -> None:
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    shapes = list(dict.fromkeys(_shape(row) for row in rows))
    for place, shape in enumerate(shapes):
        some = {row["kernel"]: value(row) for row in rows if _shape(row) == shape}
        at = [k + WIDTH * ((place + 0.5) / len(shapes) - 0.5) for k in range(len(kernels))]
        heights = [some[kernel] for kernel in kernels]
        axes.bar(at, heights, WIDTH / len(shapes), label=shape)
    axes.set_xticks(range(len(kernels)), kernels)
    axes.set_yscale("log", base=2)  # replaces the formatters
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3, axis="y")


def _shape(row: dict[str, Any]) -> str:
    numbers = [(row["contexts"], "context"), (row["datapaths"], "datapath")]
    each = ", ".join(f"{n} {what}{'s' * (n > 1)}" for n, what in numbers)
    return f"{row['adders']}+{row['multipliers']} lanes, {each}"
