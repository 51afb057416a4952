"""Points of the step engine and the step array: operand paths, hazards, segments and traces.

Paths and stores are those of one configuration; the benches ask them of every other one, too.
"""

from collections.abc import Callable, Iterable

from pymodel.hardware.coverage_point import Bin, Point
from pymodel.machine.isa import Machine

ENGINE, ARRAY = "step_engine", "step_array"
#: The configuration whose paths and stores are the bins.
CONFIGS = {ENGINE: "default", ARRAY: "two-of-8"}
OPERANDS = ("a", "b")
#: Cycles from the store of a register to its read; 0: the read is too early for what is stored.
DISTANCES = ("offered", "0", "1", "2", "more")
SPECIAL = ("none", "every step", "every other step or less")
STEPS = ("one", "more")
ENDS = ("complete", "stopped")
SAVES = ("none", "every step", "every other step or less")
LISTS = ("empty", "registers")

SEGMENTS = Point(
    ENGINE, "segments of a run", {"special segment": SPECIAL, "steps": STEPS, "end": ENDS}
)
TRACES = Point(
    ENGINE, "trace of a run", {"saved": SAVES, "before a step": LISTS, "after it": LISTS}
)


def lane_name(machine: Machine, index: int) -> str:
    """`add 1`, `sincos`; the number tells lanes of one operation apart."""
    lanes = machine.lanes
    op = lanes[index].op
    if sum(lane.op == op for lane in lanes) == 1:
        return op
    return f"{op} {sum(lane.op == op for lane in lanes[:index])}"


def case_text(machine: Machine, item: Bin) -> str:
    """A case of :class:`tb.common.step_programs.Coverage` in words."""
    what, *rest = item
    if what == "path":
        index, port, fresh, negative = rest
        source = "what it is offered" if fresh else "a register"
        sign = ", negated" if negative else ""
        return (
            f"{lane_name(machine, index)} reads {source} of bank {port.bank}, "
            f"side {port.side}{sign}"
        )
    if what == "store":
        index, bank, chased = rest
        close = ", right behind another result" if chased else ""
        return f"bank {bank} stores what {lane_name(machine, index)} gives{close}"
    if what in ("next", "same", "common"):
        when = {
            "next": "reads what was stored a cycle ago",
            "same": "reads in the cycle of the store",
            "common": "gives all contexts the register of the first",
        }[what]
        (port,) = rest
        return f"bank {port.bank}, side {port.side} {when}"
    return " ".join(map(str, item))


def cases(unit: str, machine: Machine, wanted: Iterable[Bin]) -> Point:
    """What random programs of a configuration are to meet."""
    texts = sorted(case_text(machine, item) for item in wanted)
    return Point(unit, "operand paths, stores and tables", {"case": tuple(texts)})


def hazards(machine: Machine) -> Point:
    """How long before an operand is read it was stored."""
    lanes = {lane_name(machine, i): len(lane.sides) for i, lane in enumerate(machine.lanes)}

    def why_not(bin_: Bin) -> str:
        lane, operand, _ = bin_
        there = OPERANDS.index(operand) < lanes[lane]
        return "" if there else f"{lane} has one operand"

    parts = {"lane": tuple(lanes), "operand": OPERANDS, "distance": DISTANCES}
    return Point(ENGINE, "hazards", parts, why_not)


def distance_of(cycles: int) -> str:
    """The value of `DISTANCES` for an operand that is not offered."""
    return DISTANCES[min(1 + cycles, len(DISTANCES) - 1)]


def cover_run(
    tell: Callable[[Point, Bin], None],
    steps: int,
    every: int,
    save: int,
    before: int,
    after: int,
    stopped: bool,
) -> None:
    """Tell what a run was: its arguments (`before`, `after`: traced registers) and its end."""
    special = SPECIAL[min(every, len(SPECIAL) - 1)]
    tell(SEGMENTS, (special, STEPS[steps > 1], ENDS[stopped]))
    saved = SAVES[min(save, len(SAVES) - 1)]
    tell(TRACES, (saved, LISTS[before > 0], LISTS[after > 0]))
