"""The picture of the formats: errors of the functions of an arm, and of its closed loop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from pymodel.runs import plots
from scripts.evidence.robots.cases import FORMATS, NAMES, STATES

MARKERS = "osDv^P*"


def plot(
    errors: Sequence[Mapping[str, Any]], closed_loop: Sequence[Mapping[str, Any]], path: Path
) -> None:
    """Draw it.

    Parameters
    ----------
    errors : sequence of dict
        Rows with function, format, worst and median.
    closed_loop : sequence of dict
        Rows with format, q (rad) and tau.
    path : Path
        PNG file.
    """
    places = {str(fmt): place for place, fmt in enumerate(FORMATS)}
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(14, 5), layout="constrained")
        median, worst, loop = figure.subplots(1, 3)
        for function, colour, marker in zip(NAMES, plots.JOINT_COLOURS, MARKERS, strict=False):
            rows = [row for row in errors if row["function"] == function]
            style = {"color": colour, "marker": marker, "ms": 4, "label": function}
            for axes, key in ((median, "median"), (worst, "worst")):
                drawn = [row for row in rows if row[key] is not None and row["finite"]]
                axes.semilogy(
                    [places[row["format"]] for row in drawn], [row[key] for row in drawn], **style
                )
        x = [places[row["format"]] for row in closed_loop]
        angles = {"color": plots.BLUE, "marker": "o", "label": "joint angles [rad]"}
        torques = {"color": plots.VERMILION, "marker": "s", "label": "torques, by the largest"}
        loop.semilogy(x, [row["q"] for row in closed_loop], **angles)
        loop.semilogy(x, [row["tau"] for row in closed_loop], **torques)
        median.set_title(f"median of {STATES} states, relative to the largest entry")
        worst.set_title(f"worst of {STATES} states, relative to the largest entry")
        loop.set_title("closed loop: largest difference in a second")
        worst.legend(ncols=2, fontsize=8)
        loop.legend(fontsize=8)
        for axes in (median, worst, loop):
            axes.set_xticks(list(places.values()), list(places))
            axes.set_xlabel("format, exponent/mantissa bits")
        limits = [limit for axes in (median, worst) for limit in axes.get_ylim()]
        for axes in (median, worst):
            axes.set_ylim(min(limits), max(limits))
        figure.savefig(path, dpi=plots.DPI)
