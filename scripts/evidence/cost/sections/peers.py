"""Float units next to the paper's and other open ones."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.evidence.cost.goals import Goal, goal_of
from scripts.evidence.cost.rows import Row, in_binary32
from scripts.evidence.cost.sections.cells import NONE, cell, verdict
from scripts.evidence.cost.units import TABLE, ZERO_ONLY
from scripts.kernel.documents import table


class Peer(NamedTuple):
    """What others have: LUT / DSP."""

    unit: str
    goal: Goal
    paper: str = NONE
    best_open: str = NONE


PEERS = [
    Peer(
        "add, combinational",
        goal_of("fp_add", 0),
        "339 / 0",
        "FloPoCo 343 to 357 (own format), HardFloat's core 499",
    ),
    Peer("add, 3 stages", goal_of("fp_add", 3), best_open="bsg 532 LUT, 106 MHz"),
    Peer("add, 6 stages", goal_of("fp_add", 6), best_open="bsg 532 LUT, 106 MHz"),
    Peer("multiply, combinational", goal_of("fp_mul", 0), best_open="FloPoCo 74 / 2"),
    Peer("multiply, zero only, combinational", goal_of("fp_mul", 0, ZERO_ONLY), "47 / 2"),
    Peer("multiply, 3 stages", goal_of("fp_mul", 3), best_open="bsg 90 MHz"),
    Peer("multiply, 5 stages", goal_of("fp_mul", 5), best_open="bsg 90 MHz"),
    Peer("reciprocal, array, combinational", goal_of("fp_recip", 0), "1409 / 0"),
    Peer(
        "reciprocal, iterative",
        goal_of("fp_recip_iterative", None),
        best_open="HardFloat's divider 640 / 0",
    ),
    Peer(
        "reciprocal, table, combinational",
        goal_of("fp_recip", 0, TABLE),
        best_open="7 DSP, and wrong",
    ),
    Peer("reciprocal, table, 6 stages", goal_of("fp_recip", 6, TABLE)),
]


def peers(rows: Sequence[Row]) -> str:
    """A table of them, what was measured, and the goals."""
    lines = []
    for peer in PEERS:
        mine = [row for row in rows if peer.goal.is_for(row) and in_binary32(row)]
        measured = ", ".join(map(_measured, mine)) or "not measured"
        goals = [f"{text}: {verdict(met)}" for row in mine for text, met in peer.goal.judge(row)]
        lines.append((peer.unit, peer.paper, peer.best_open, measured, "; ".join(goals) or NONE))
    head = ("unit, LUT / DSP", "paper (zero only)", "best open peer", "measured", "goal")
    return table(head, lines)


def _measured(row: Row) -> str:
    if row["family"] == "ecp5":
        return f"{cell(row['fmax_mhz'])} MHz"
    inverters = f" + {row['inv']} INV" if row["inv"] else ""
    delay = f", {row['logic_ns']:.1f} ns" if row["logic_ns"] else ""
    return f"{row['lut']}{inverters} / {row['dsp']}{delay}"
