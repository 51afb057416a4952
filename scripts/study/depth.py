"""How operations and the longest path of HDCA and its rivals grow with the length of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from pymodel.compile import count
from pymodel.compile.rivals import ALGORITHMS, recorded
from pymodel.runs.plots import BLUE, DPI, GREEN, PURPLE, STYLE, VERMILION
from scripts.documents import table
from scripts.places import BUILD
from scripts.study.cases import hanging_chain

SIZES = (4, 8, 16, 32, 64)
LANES = (1, 2, 4, 8, 16, 32)  # adders, and as many multipliers
RATIOS = (0.5, 1, 2, 4, 8)  # ticks
RECURSIVE = ("aba", "naudet")
PICTURE = BUILD / "study" / "study_depth.png"
COLOURS = dict(zip(ALGORITHMS, (BLUE, VERMILION, PURPLE, GREEN), strict=True))
LANE_MARKS = dict(zip(LANES, "os^DvP", strict=True))

Row = Mapping[str, Any]


def measure() -> Iterator[Row]:
    """Operations and longest path of one evaluation, by algorithm and length."""
    for n in SIZES:
        for name in ALGORITHMS:
            found = count.kernel(recorded(name, hanging_chain(n)))
            yield {"n": n, "algorithm": name, "path": found["critical_path"], **found["operations"]}


def bound(row: Row, lanes: int) -> int:
    """Cycles that no schedule on so many lanes can go below."""
    return max(row["path"], *(-(-row[op] // lanes) for op in ("add", "mul")))


def _by_size(rows: Sequence[Row]) -> dict[int, dict[str, Row]]:
    return {n: {row["algorithm"]: row for row in rows if row["n"] == n} for n in SIZES}


def first_win(rows: Sequence[Row], name: str, lanes: int) -> int | None:
    """The shortest chain from which on an algorithm's bound is below both recursive ones'."""
    found = None
    for n, some in reversed(_by_size(rows).items()):
        if bound(some[name], lanes) >= min(bound(some[other], lanes) for other in RECURSIVE):
            break
        found = n
    return found


def draw(rows: Sequence[Row]) -> None:
    """Operations, longest path, and the bounds' ratio, by length."""
    by_size = _by_size(rows)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 3.8), layout="constrained")
        work, path, ratio = figure.subplots(1, 3)
        for name, algorithm in ALGORITHMS.items():
            own = [by_size[n][name] for n in SIZES]
            style = {"color": COLOURS[name], "label": algorithm.title}
            work.loglog(SIZES, [row["add"] + row["mul"] for row in own], "o-", **style)
            path.loglog(SIZES, [row["path"] for row in own], "o-", **style)
        for lanes in LANES:
            ratios = [
                min(bound(by_size[n][other], lanes) for other in RECURSIVE)
                / bound(by_size[n]["hdca"], lanes)
                for n in SIZES
            ]
            mark = LANE_MARKS[lanes] + "-"
            ratio.loglog(SIZES, ratios, mark, markersize=4, label=f"{lanes} + {lanes} lanes")
        ratio.axhline(1.0, color="black", linewidth=0.8)
        ratio.set_yticks(RATIOS, map(str, RATIOS))
        work.set_title("additions and multiplications")
        path.set_title("longest path [cycles]")
        ratio.set_title("bound of the best recursive one / HDCA's")
        for axes in (work, path, ratio):
            axes.set_xlabel("bodies")
            axes.set_xticks(SIZES, map(str, SIZES))
            axes.minorticks_off()
            axes.legend(fontsize=8)
        figure.savefig(PICTURE, dpi=DPI)


def section(rows: Sequence[Row]) -> str:
    """What the page says of it."""
    numbers = table(
        ("bodies, algorithm", "×", "+", "longest path", *(f"{n} + {n}" for n in LANES)),
        [
            (
                f"{row['n']}, {ALGORITHMS[row['algorithm']].title}",
                *(row[key] for key in ("mul", "add", "path")),
                *(bound(row, lanes) for lanes in LANES),
            )
            for row in rows
        ],
    )
    work = {
        name: sum(_by_size(rows)[SIZES[-1]][name][op] for op in ("add", "mul"))
        for name in ALGORITHMS
    }
    latency = ", ".join(f"{op} {cycles}" for op, cycles in count.LATENCY.items())
    return f"""Open chains of the same bars, balanced assembly for HDCA and DCA. The longest path is
in cycles ({latency}); behind it, for adders + multipliers,
the cycles that no schedule can go below: the path, or operations by lanes. These are bounds, not
schedules. The recursive texts are written for few operations; their path grows with n however a
body's own sums are ordered.

![operations and longest path by length](img/study_depth.png)

**When does log n win?** {_answer(rows, "hdca")} {_answer(rows, "dca")} On 2 + 2
lanes the two are close, as the picture shows: there schedules decide. All this is one system at a
time. Where many are computed at once the lanes never wait, only operations count, and recursion
wins: with {SIZES[-1]} bodies HDCA has {work["hdca"] / work["naudet"]:.1f} times Naudet's, DCA
{work["dca"] / work["aba"]:.1f} times those of articulated bodies.

{numbers}

Paper 003 prints 185 n - 245 multiplications and 178 n - 230 additions for its algorithm, that is
for pins in space, with vectors and inertias turned from body to body. Ours is the plane's, in the
ground frame: 32 n - 29 and 30 n - 39 for these bars, with n reciprocals and n sines and cosines
besides, which the paper does not list. So the two do not compare with each other; our own columns
do."""


def _answer(rows: Sequence[Row], name: str) -> str:
    won: dict[int | None, list[str]] = {}
    for lanes in LANES:
        won.setdefault(first_win(rows, name, lanes), []).append(f"{lanes} + {lanes}")
    parts = [
        f"{'never' if n is None else f'from {n} bodies'} on {', '.join(lanes)} lanes"
        for n, lanes in won.items()
    ]
    title = ALGORITHMS[name].title
    return f"{title}'s bound is below that of the better recursive algorithm {'; '.join(parts)}."
