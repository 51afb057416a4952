"""Which lanes and stages to take."""

from scripts.evidence.cost import points as of_engines
from scripts.evidence.cost.pareto import JSON
from scripts.kernel.documents import read, table
from scripts.kernel.places import ROOT

HEAD = (
    "lanes; stages of add, mul, rec, sin cos",
    "cycles",
    "MHz",
    "µs a step",
    "LUT",
    "DSP48E1",
    "clock of",
)

#: Why the defaults of the step engine are what they are: written by hand, once measured.
CHOICE = """The defaults are 3, 2, 6 and 13 stages on 2 + 2 lanes. By the clocks of the units alone
no other stages give a shorter step: a sine of 12 stages would save one cycle, but then it would be
slower than the adder, and set the clock. Placed and routed, wires take more of a clock than logic,
and the more so the larger the engine is: 2 + 2 lanes were the fastest found. 4 + 4 lanes had one
seed against three, and the clocks of seeds can differ by more than these two steps do. A second
multiplier and adder take 14 % off the cycles of a double pendulum; more lanes take little, unless
several systems run interleaved ([results](results.md))."""


def choices() -> str:
    """A table of the fastest of each number of lanes, and of the engines measured.

    Raises
    ------
    MissingError
        If `pareto` has not run.
    """
    points = read(ROOT / JSON, "make cost")
    lines = [
        (
            of_engines.name(point),
            point["cycles"],
            f"{point['fmax_mhz']:.1f}",
            f"{point['us']:.2f}",
            point["lut"],
            point["dsp"],
            "placed engine" if point["measured"] else "slowest unit",
        )
        for of_lanes in of_engines.told(points, best=1).values()
        for point in of_lanes
    ]
    return table(HEAD, lines)
