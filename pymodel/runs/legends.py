"""Legends inside their axes, above what is drawn there: the limits make room for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Shares of the axes that a legend may take: of their width, and of their height.
WIDEST, HIGHEST = 0.97, 0.45
SPACING = {"borderaxespad": 0.3, "borderpad": 0.2, "columnspacing": 1.4, "handlelength": 1.8}


def place(figure: Figure, wanted: Sequence[tuple[Axes, Sequence[Artist]]]) -> None:
    """Give axes legends along their upper edge, once all of the figure is drawn.

    A legend that would take more than :data:`HIGHEST` of its axes stands to the right of them.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        With a layout engine.
    wanted : sequence of (matplotlib.axes.Axes, sequence of matplotlib.artist.Artist)
        Axes with a linear scale upwards, and what their legends name.
    """
    figure.draw_without_rendering()  # the layout says how wide the axes are
    for axes, handles in wanted:
        height = above(axes, handles)
        if height > HIGHEST:
            beside(axes, handles)
        else:
            _make_room(axes, height)


def above(axes: Axes, handles: Sequence[Artist]) -> float:
    """Give axes a legend along their upper edge, in as many columns as there is room for.

    Returns
    -------
    float
        The share of the height of the axes that it takes.
    """
    for columns in range(len(handles), 0, -1):
        legend = axes.legend(handles=handles, loc="upper left", ncols=columns, **SPACING)
        box = legend.get_window_extent()
        if box.width <= WIDEST * axes.bbox.width:
            break
    return (axes.bbox.y1 - box.y0) / axes.bbox.height


def beside(axes: Axes, handles: Sequence[Artist]) -> None:
    """Put the legend to the right of the axes."""
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _make_room(axes: Axes, share: float) -> None:
    """Raise the upper limit of axes, so that what is drawn leaves a share of their height."""
    bottom, top = axes.get_ylim()
    raised = bottom + (top - bottom) / (1.0 - share)
    if np.isfinite(raised):
        axes.set_ylim(bottom, raised)
