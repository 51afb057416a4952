"""The picture of native kernels: how many times faster than their peers, and than which goal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pymodel.runs import plots
from scripts.evidence.benchmarks.native_goals import goal

COLOURS = dict(zip((True, False), (plots.BLUE, plots.VERMILION), strict=True))


def plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the rows that have a peer.

    Parameters
    ----------
    rows : sequence of dict
        Rows of native.json.
    path : Path
        PNG file.
    """
    drawn = [row for row in rows if row["ratio"] is not None][::-1]
    names = [f"{row['work']}, {row['format']} {row['mode']}, {row['peer']}" for row in drawn]
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(10, 1.5 + 0.24 * len(drawn)), layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(drawn):
            bound = goal(row)
            reached = bound is None or row["ratio"] >= bound
            axes.barh(place, row["ratio"], height=0.7, color=COLOURS[reached])
            if bound is not None:
                axes.plot([bound, bound], [place - 0.45, place + 0.45], "k-", linewidth=2)
        axes.set_xscale("log")
        axes.axvline(1, color="k", linewidth=0.8)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_ylim(-0.7, len(drawn) - 0.3)
        axes.set_xlabel("times faster than the peer, one core")
        axes.legend(handles=[Line2D([], [], color="k", linewidth=2, label="goal")], fontsize=8)
        figure.savefig(path, dpi=plots.DPI)
