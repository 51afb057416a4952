"""The goals of the step array, and what was found: a section of docs/array_results.md."""

from collections.abc import Callable
from typing import NamedTuple

from pymodel.machine.isa import Machine
from scripts.evidence.benchmarks.array_devices import ECP5, fitting
from scripts.evidence.benchmarks.array_others import step_engine
from scripts.evidence.benchmarks.array_rows import NONE, Row, Rows, shape_of
from scripts.evidence.cost.counts import LFE5U_85F
from scripts.evidence.cost.points import on_engine
from scripts.kernel.documents import table

MULTIPLIERS = 8  # of all datapaths together, where shapes are compared
WORD_GOALS = {
    ("iiwa14", "ID"): 44,
    ("iiwa14", "FD"): 75,
    ("iiwa14", "dID"): 134,
    ("iiwa14", "diFD"): 215,
    ("iiwa14", "dFD"): 245,
    ("hyq", "dFD"): 1060,
    ("atlas", "dFD"): 5250,
}


class Goal(NamedTuple):
    """A goal, and what was found."""

    what: str
    goal: float
    found: float | None
    least: bool = True  # or most

    @property
    def verdict(self) -> str:
        """`met`, or by how much it is missed."""
        if self.found is None:
            return "not measured"
        met = self.found >= self.goal if self.least else self.found <= self.goal
        return "met" if met else f"missed, {self.found / self.goal:.2f} of it"


def cycles_of(rows: Rows, robot: str, kernel: str, lanes: int) -> float | None:
    """The fewest cycles of a call on eight multipliers, in datapaths of so many."""
    found = [
        row["cycles_per_call"]
        for row in rows
        if (row["robot"], row["kernel"], row["adders"]) == (robot, kernel, lanes)
        and row["multipliers"] * row["datapaths"] == MULTIPLIERS
    ]
    return min(found, default=None)


def word_goals(rows: Rows) -> str:
    """Cycles a call on eight multipliers against the goals for one datapath of 8 + 8 lanes."""
    body = []
    for (robot, kernel), goal in WORD_GOALS.items():
        cells = [cycles_of(rows, robot, kernel, lanes) for lanes in (8, 4, 2)]
        shown = (NONE if x is None else f"{x:.1f}" for x in cells)
        best = min((x for x in cells if x is not None), default=None)
        body.append((f"{robot} {kernel}", goal, *shown, Goal("", goal, best, False).verdict))
    return table(("function", "goal", "1 x 8+8", "2 x 4+4", "4 x 2+2", "best"), body)


def goals(rows: Rows, besides: Rows = ()) -> str:
    """Goals of throughput, and how far they are met; `besides` as :func:`devices` takes them."""

    def best(
        robot: str | None, kernel: str, value: Callable[[Row], float], needs: str, pick: Callable
    ) -> float | None:
        mine = [row for row in rows if (row["robot"], row["kernel"]) == (robot, kernel)]
        found = [value(row) for row in mine if all(row[key] is not None for key in needs.split())]
        return pick(found) if found else None

    def clock(lanes: int) -> float | None:
        found = [row["mhz"] for row in rows if row["adders"] == lanes and row["mhz"] is not None]
        return max(found, default=None)

    def on_ecp5(row: Row) -> float | None:
        """Steps a second of as many datapaths as an ECP5-85k holds by count, at this clock."""
        return (
            row["calls_per_s"] / row["datapaths"] * fitting([*rows, *besides], row, LFE5U_85F, ECP5)
        )

    def area_time(row: Row) -> float:
        """Million LUT6 x cycles."""
        return row["lut6"] * row["cycles_per_call"] / 1e6

    arm = [row for row in rows if (row["robot"], row["kernel"]) == ("iiwa14", "dFD")]
    least = min((row for row in arm if row["lut6"] is not None), key=area_time, default=None)
    one = step_engine(Machine().adders)
    found = [
        Goal("clock of 2+2 with 8 contexts, MHz", 120, clock(2)),
        Goal("clock of 8+8 with 8 contexts, MHz", 100, clock(8)),
        Goal(
            "iiwa diFD per second and per DSP48E1, thousands",
            20,
            best(
                "iiwa14",
                "diFD",
                lambda row: row["calls_per_s"] / row["dsp48"] / 1e3,
                "mhz dsp48",
                max,
            ),
        ),
        Goal(
            f"LUT6 x cycles of an iiwa dFD{least and ' on ' + shape_of(least) or ''}, millions",
            3.5,
            least and area_time(least),
            least=False,
        ),
        Goal(
            "double pendulums on an ECP5-85k by count, million steps a second",
            10,
            best(None, "double_pendulum", lambda row: on_ecp5(row) / 1e6, "mhz", max),
        ),
        Goal(
            "double pendulum on the step engine, one system, µs a step",
            1.5,
            one and on_engine("double_pendulum", Machine()) / one["mhz"],
            least=False,
        ),
    ]
    return table(
        ("goal", "wanted", "found", ""),
        [
            (
                goal.what,
                f"{goal.goal:g}",
                NONE if goal.found is None else f"{goal.found:.4g}",
                goal.verdict,
            )
            for goal in found
        ],
    )
