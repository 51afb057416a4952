"""Operations, longest path and schedules of HDCA and its rivals, by the length of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from pymodel.compile import count
from pymodel.compile.kernel import Kernel, interleave
from pymodel.compile.rivals import ALGORITHMS, recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.plots import BLUE, DPI, GREEN, PURPLE, STYLE, VERMILION
from scripts.evidence.study.cases import hanging_chain, hinged_chain
from scripts.evidence.study.workers import in_parallel
from scripts.kernel.documents import table

SIZES = (4, 8, 16, 32, 64)
ENGINES = {lanes: Machine.parse(lanes) for lanes in ("1+1", "2+2", "4+4", "8+8", "16+16", "32+32")}
DIVIDED, RECURSIVE = ("hdca", "dca"), ("aba", "naudet")
COLOURS = dict(zip(ALGORITHMS, (BLUE, VERMILION, PURPLE, GREEN), strict=True))
DASHES = {"2+2": ":", "8+8": "--", "32+32": "-"}  # engines whose cycles are drawn as curves
WINS = LinearSegmentedColormap.from_list("wins", (VERMILION, "white", BLUE))
PATH: Mapping[str, Any] = {"linestyle": "", "marker": "_", "markersize": 14}
WIDTHS = {"aba": 4.0}  # of a curve that Naudet's covers: they have as many operations
FACTOR = 8  # between cycles, where a colour is full
CLEAR = 1.05  # times as fast: a win; less is what another order of the same schedule may change
SEVERAL = (1, 2, 4, 8)  # systems at once
SHARED, SHARED_SIZE = "8+8", 8  # by which lanes, of how many bodies
#: What paper 003 prints for Naudet's algorithm, of pins in space: for each body, and besides.
PAPER_003 = {"mul": (185, -245), "add": (178, -230)}

COMMAND = "make study ONLY=depth"

Row = Mapping[str, Any]
Rows = Mapping[tuple[int, str], Row]  #: of one kind of chain, by length and algorithm


class Chain(NamedTuple):
    """A kind of chain.

    Attributes
    ----------
    title : str
    scenario : callable
        Number of bodies -> Scenario.
    """

    title: str
    scenario: Callable[[int], Scenario]


NEAR = 1.2  # of a path: cycles that follow it
#: Kinds of chains that are measured; each has its part of the picture and of the page.
CHAINS = {
    "plane": Chain("Pins in the plane", hanging_chain),
    "space": Chain("Hinges in space", hinged_chain),
}


# --- measurement ----------------------------------------------------------------------------------


class Job(NamedTuple):
    """What is scheduled on all engines."""

    chain: str
    n: int
    algorithm: str


def measure() -> list[Row]:
    """Operations, longest path and schedules of one evaluation, by chain, length and algorithm."""
    jobs = [Job(*job) for job in product(CHAINS, SIZES, ALGORITHMS)]
    found = dict(in_parallel(_measured, jobs[::-1], "scheduling", "right-hand sides"))
    return [found[job] for job in jobs]


def _measured(job: Job) -> tuple[Job, Row]:
    kernel = recorded(job.algorithm, CHAINS[job.chain].scenario(job.n))
    counted = count.kernel(kernel)
    programs = {
        lanes: schedule(engine.boundless, kernel, thorough=True)
        for lanes, engine in ENGINES.items()
    }
    return job, {
        **job._asdict(),
        **counted["operations"],
        "path": counted["critical_path"],
        "cycles": {lanes: program.main for lanes, program in programs.items()},
        "registers": {lanes: max(program.registers) for lanes, program in programs.items()},
        "together": _together(kernel) if job.n == SHARED_SIZE else {},
    }


def _together(kernel: Kernel) -> dict[str, float]:
    """Cycles of a system where several of them are interleaved."""
    engine = ENGINES[SHARED].boundless
    return {
        f"{n}": schedule(engine, interleave([kernel] * n), thorough=True).main / n for n in SEVERAL
    }


# --- comparison -----------------------------------------------------------------------------------


def of_chain(rows: Sequence[Row], chain: str) -> Rows:
    """The rows of one kind of chain."""
    return {(row["n"], row["algorithm"]): row for row in rows if row["chain"] == chain}


def gain(rows: Rows, n: int, name: str, lanes: str) -> float:
    """Cycles of the better recursive algorithm by those of another one: above 1 that one wins."""
    best = min(rows[n, other]["cycles"][lanes] for other in RECURSIVE)
    return best / rows[n, name]["cycles"][lanes]


def first_win(rows: Rows, name: str, lanes: str) -> int | None:
    """The shortest chain from which on an algorithm clearly beats both recursive ones."""
    found = None
    for n in reversed(SIZES):
        if gain(rows, n, name, lanes) < CLEAR:
            break
        found = n
    return found


def bound(row: Row, lanes: str) -> int:
    """Cycles that no schedule on these lanes can go below."""
    engine = ENGINES[lanes]
    return max(row["path"], -(-row["add"] // engine.adders), -(-row["mul"] // engine.multipliers))


# --- picture --------------------------------------------------------------------------------------


def draw(rows: Sequence[Row], picture: Path) -> None:
    """Draw operations, cycles, and who is faster where: a block for each kind of chain."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 8 * len(CHAINS)), layout="constrained")
        blocks = figure.subfigures(len(CHAINS), 1, squeeze=False)[:, 0]
        for block, (chain, (title, _)) in zip(blocks, CHAINS.items(), strict=True):
            _draw_chain(block, title, of_chain(rows, chain))
        figure.savefig(picture, dpi=DPI)


def _draw_chain(block: SubFigure, title: str, rows: Rows) -> None:
    block.suptitle(f"{title}: {_short(rows)}", weight="bold")
    (work, time), maps = block.subplots(2, 2)
    for name, algorithm in ALGORITHMS.items():
        own = [rows[n, name] for n in SIZES]
        style = {"color": COLOURS[name], "markersize": 4}
        operations = [row["add"] + row["mul"] for row in own]
        width = WIDTHS.get(name)
        work.loglog(SIZES, operations, "o-", linewidth=width, label=algorithm.title, **style)
        for lanes, dash in DASHES.items():
            time.loglog(SIZES, [row["cycles"][lanes] for row in own], f"o{dash}", **style)
        time.loglog(SIZES, [row["path"] for row in own], color=COLOURS[name], **PATH)
    work.set_title("additions and multiplications")
    work.legend()
    time.set_title("cycles")
    keys = [Line2D([], [], color="black", linestyle=dash) for dash in DASHES.values()]
    keys.append(Line2D([], [], color="black", **PATH))
    time.legend(keys, [*(f"{lanes} lanes" for lanes in DASHES), "longest path"])
    for axes in (work, time):
        axes.set_xlabel("bodies")
        axes.set_xticks(SIZES, map(str, SIZES))
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    for axes, name in zip(maps, DIVIDED, strict=True):
        _draw_gains(axes, rows, name)


def _draw_gains(axes: Axes, rows: Rows, name: str) -> None:
    """How many times as fast as the better recursive algorithm, by length and lanes."""
    gains = np.array([[gain(rows, n, name, lanes) for n in SIZES] for lanes in ENGINES])
    full = np.log2(FACTOR)
    axes.imshow(np.log2(gains), cmap=WINS, vmin=-full, vmax=full, origin="lower", aspect="auto")
    for (y, x), value in np.ndenumerate(gains):
        weight = "bold" if value >= CLEAR else "normal"
        axes.text(x, y, f"{value:.2f}", ha="center", va="center", weight=weight)
    axes.set_xticks(range(len(SIZES)), map(str, SIZES))
    axes.set_yticks(range(len(ENGINES)), ENGINES)
    axes.grid(False)
    axes.set(xlabel="bodies", ylabel="adders + multipliers")
    axes.set_title(f"{ALGORITHMS[name].title} is so many times as fast as recursion")


# --- page -----------------------------------------------------------------------------------------


def section(rows: Sequence[Row]) -> str:
    """What the page says of it."""
    engine = Machine()
    registers = max(max(row["registers"].values()) for row in rows)
    words = max(max(row["cycles"].values()) for row in rows)
    widest = list(ENGINES)[-1]
    most = max(row["registers"][widest] for row in rows)
    wide = replace(ENGINES[widest], depth=1 << (most - 1).bit_length())
    chains = "\n\n".join(
        f"### {chain.title}\n\n{_chain(of_chain(rows, name))}" for name, chain in CHAINS.items()
    )
    return f"""One right-hand side of an open chain of the same bars, balanced assembly for HDCA and
DCA; `{COMMAND}` measures this alone. HDCA and Naudet's algorithm give velocities and
rates of momenta, DCA and articulated bodies accelerations. Cycles are those of programs for the
[step engine](architecture.md), by its own scheduler, with the banks and ports of its register file.
2+2 lanes are two adders and two multipliers; besides them every engine has one reciprocal and one
sine and cosine. Latencies are those of the default stages ({latencies()});
the longest path is in the same cycles.

Assumed: memories as large as a program needs, up to {registers} registers a bank and
{words} words, where the defaults are {engine.depth} and {engine.program_depth}. A word of
{widest} lanes then has {wide.word_w} bits, and more lanes make a slower clock
([hardware cost](hardware_cost.md)), which cycles do not show.

![operations, cycles, and who is faster](img/study_depth.png)

{chains}

### Operations

Multiplications and additions of one evaluation, and of each further body in the end; reciprocals
and sines with cosines of a body. [Naudet's paper](glossary.md#papers) prints
{_formula("mul")} multiplications and {_formula("add")} additions for its algorithm in space,
without the latter, and does not say how bodies are placed on each other. Ours there is in the
frames of the bodies as well; in the plane it is in the ground frame, where nothing is turned. HDCA
and DCA are in the ground frame.

{_operations(rows)}"""


def _chain(rows: Rows) -> str:
    cycles = table(
        ("bodies, algorithm", "longest path", *(f"{lanes} lanes" for lanes in ENGINES)),
        [
            (f"{n}, {ALGORITHMS[name].title}", row["path"], *row["cycles"].values())
            for (n, name), row in rows.items()
        ],
    )
    together = table(
        ("systems at once", *map(str, SEVERAL)),
        [
            (algorithm.title, *(f"{x:.0f}" for x in rows[SHARED_SIZE, name]["together"].values()))
            for name, algorithm in ALGORITHMS.items()
        ],
    )
    return f"""{_answer(rows)}

{cycles}

All this is one system at a time. Where many are computed at once, lanes never wait, only operations
count, and recursion wins: with {SIZES[-1]} bodies HDCA has {_work(rows, "hdca", "naudet")} times
the operations of Naudet's, DCA {_work(rows, "dca", "aba")} times those of articulated bodies.
Cycles a system of {SHARED_SIZE} bodies, where some are interleaved on {SHARED} lanes:

{together}"""


def _work(rows: Rows, name: str, other: str) -> str:
    """Operations of an algorithm by those of another one, for the longest chain."""
    own, others = (rows[SIZES[-1], x]["add"] + rows[SIZES[-1], x]["mul"] for x in (name, other))
    return f"{own / others:.1f}"


def _short(rows: Rows) -> str:
    """When log n wins, on the fewest lanes with which it does."""
    for lanes in ENGINES:
        if n := first_win(rows, "hdca", lanes):
            return f"HDCA beats recursion from {n} bodies and {lanes} lanes on"
    return "HDCA beats recursion nowhere"


def _answer(rows: Rows) -> str:
    *_, second, longest = SIZES
    path = {n: rows[n, "hdca"]["path"] for n in SIZES}
    several = list(ENGINES)[1:]
    enough = max(rows[n, "hdca"]["cycles"][f"{n // 2}+{n // 2}"] / path[n] for n in SIZES)
    waits = max(
        rows[n, name]["cycles"][lanes] / rows[n, name]["path"]
        for n, name, lanes in product(SIZES, RECURSIVE, several)
    )
    above = max(
        rows[n, name]["cycles"][lanes] / bound(rows[n, name], lanes)
        for n, name, lanes in product(SIZES, DIVIDED, several)
    )
    follows = (
        f"Cycles follow it as far as there are lanes: at most {enough - 1:.0%} above on n/2 + n/2"
    )
    if enough > NEAR:
        follows = (
            f"Even n/2 + n/2 lanes are too few for it: cycles are up to {enough - 1:.0%} above"
        )
    helps = "would not help it" if waits <= CLEAR else "could save that at most"
    gains = ", ".join(f"{gain(rows, longest, 'hdca', lanes):.2f} on {lanes}" for lanes in ENGINES)
    return f"""**When does log n win?** {_short(rows)}. By lanes, at least
{CLEAR - 1:.0%} faster than the better recursive algorithm:
{"; ".join(_by_lanes(name, rows) for name in DIVIDED)}.

How much it wins depends on the lanes. With {longest} bodies HDCA is so many times as fast:
{gains} lanes.
Its longest path grows as log n, by {path[longest] - path[second]} cycles from {second} to {longest}
bodies. {follows}. On a fixed number of lanes they grow as n in the
end, as recursion does, so that HDCA wins a factor there and not an order.

Recursion waits for its own results. From {several[0]} lanes on its cycles are within
{waits - 1:.0%} of its longest path, which grows with n however a body's own sums are ordered: more
lanes or a better scheduler {helps}. HDCA's and DCA's cycles are at most {above - 1:.0%}
above what no schedule can go below (the path, or operations by lanes)."""


def _by_lanes(name: str, rows: Rows) -> str:
    together: dict[int | None, list[str]] = {}
    for lanes in ENGINES:
        together.setdefault(first_win(rows, name, lanes), []).append(lanes)
    parts = [
        f"{'never' if n is None else f'from {n} bodies'} on {', '.join(some)}"
        for n, some in together.items()
    ]
    return f"{ALGORITHMS[name].title} {', '.join(parts)}"


def _operations(rows: Sequence[Row]) -> str:
    counts = {
        f"{chain.title}: {algorithm.title}": [of_chain(rows, key)[n, name] for n in SIZES]
        for (key, chain), (name, algorithm) in product(CHAINS.items(), ALGORITHMS.items())
    }
    counts["Pins in space: Naudet, as his paper prints"] = [paper_003(n) for n in SIZES]
    lines = [
        (title, *map(_both, some), _both(_further(*some[-2:])), *_besides(some[-1]))
        for title, some in counts.items()
    ]
    return table(("bodies", *map(str, SIZES), "each further", "1/x", "sin, cos"), lines)


def _besides(row: Row) -> list[str]:
    """Other operations of each body of the longest chain; "-" if they are not known."""
    found = (row.get(op) for op in ("rec", "sincos"))
    return ["-" if total is None else f"{total / SIZES[-1]:.3g}" for total in found]


def _both(counts: Mapping[str, float]) -> str:
    return f"{counts['mul']:.0f} × {counts['add']:.0f} +"


def _further(row: Mapping[str, int], longest: Mapping[str, int]) -> dict[str, float]:
    """Operations that each body adds to the two longest chains."""
    return {op: (longest[op] - row[op]) / (SIZES[-1] - SIZES[-2]) for op in ("mul", "add")}


def paper_003(n: int) -> dict[str, int]:
    """Operations that paper 003 prints for Naudet's algorithm."""
    return {op: each * n + besides for op, (each, besides) in PAPER_003.items()}


def latencies() -> str:
    """Those that longest paths are quoted with."""
    return ", ".join(f"{op} {cycles}" for op, cycles in count.LATENCY.items())


def _formula(op: str) -> str:
    each, besides = PAPER_003[op]
    return f"{each} n - {-besides}"
