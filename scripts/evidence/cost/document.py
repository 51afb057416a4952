"""Write docs/hardware_cost.md and its pictures from what `make synth` left in build/.

Run by `make cost`, after `pareto` and `formats`. Numbers are never typed by hand, but for those of
others. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Iterable, Sequence

from scripts.evidence.cost import formats_result, pareto
from scripts.evidence.cost.engine import SWEEP_LANES
from scripts.evidence.cost.formats_result import Run
from scripts.evidence.cost.jobs import JOBS
from scripts.evidence.cost.rows import Row, is_unit
from scripts.evidence.cost.sections.commands import commands
from scripts.evidence.cost.sections.engine_goals import engine_goals
from scripts.evidence.cost.sections.formats import enough, sweep
from scripts.evidence.cost.sections.introduction import INTRODUCTION
from scripts.evidence.cost.sections.lanes import CHOICE, choices
from scripts.evidence.cost.sections.peers import peers
from scripts.evidence.cost.sections.times import times
from scripts.evidence.cost.sections.tops import areas, counted
from scripts.evidence.cost.sections.units import units
from scripts.evidence.cost.summary import current_rows
from scripts.kernel.documents import MissingError, copy_picture, read, write_document
from scripts.kernel.places import DOCS, ROOT

#: Of the table of tops, written by hand; to be removed after the next whole `make synth`.
EARLIER = """All rows were measured on earlier RTL of the tops: of four that were
synthesised again since, for the 7 series alone, 1+1 lanes have 0.5 % fewer LUT today, 2+2 lanes
0.1 % fewer, the array of 2+2 lanes, C 8, V 1 has 0.3 % more, the serial LDUP co-processor with
stages 3.4 % fewer. No clock was placed again."""
DOC = DOCS / "hardware_cost.md"
PICTURES = {"pareto": ROOT / pareto.PICTURE, "formats": formats_result.PICTURE}


def document(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """The text, from rows of `make synth` and runs of `formats`.

    Raises
    ------
    MissingError
        If `pareto` has not run.
    """
    missing = len(JOBS) - len(rows)
    note = f"\n{missing} of {len(JOBS)} measurements were not made.\n" if missing else ""
    return f"""{INTRODUCTION}{note}
## Float units next to others

LUT / DSP of binary32 for least area, logic delay; clock on ecp5. The other figures are those of the
paper and of other open units, measured with the same commands.

{peers(rows)}

## All float units

{units(rows)}

Command: `make synth UNITS="{_units(filter(is_unit, rows))}"`

## Tops

The co-processors' units are combinational or have 3, 3, 6 stages (add, mul, rec), the step engine's
those of its defaults. A co-processor's row is not one netlist: it is its own logic plus, for each
float unit, what that unit takes alone with its flags: nothing is optimised across the border of a
unit, and no co-processor was placed. Engine and array are one netlist each, and were placed where
they have a clock. {EARLIER}

The units:

{counted(rows)}

{areas(rows)}

Command: `make synth UNITS="{_units(row for row in rows if not is_unit(row))}"`

## Time of a step

Cycles as the scheduler and the model of our simulated bus have them; both equal what the benches
measure ([results](results.md)). The step engine does the whole step. Of the co-processors' steps
this is their part only, and moving its words; the processor does the rest. The paper reports
19 µs a step for register writes. A clock from xc7 has no wires in it: too fast. That of a slowest
unit, placed alone, is a bound that the co-processor around it may miss.

{times(rows)}

{engine_goals(rows)}

## Which lanes and stages

Every combination of lanes and stages, scheduled for the double pendulum: time of a step against
area. The small points have the clock of their slowest unit, the large ones were placed and routed
as a whole.

![time of a step against area](img/pareto.png)

The fastest of each number of lanes, and the engines measured:

{choices()}

{CHOICE}

Command: `make cost`

## How many bits does this job need?

The demos in five formats, evaluated by the bit-exact model, against the reference; dashed, the same
algorithm in float64: what is left is the truncation error of the step size. The engine has
{SWEEP_LANES} + {SWEEP_LANES} lanes; its LUT are without those of memories (LUTRAM).
The four-bar's base is closed by LDLᵀ here, by LDUP in the [demo](results.md#four-bar-accuracy),
whose numbers differ a little.

![errors and cost by format](img/formats.png)

{enough(runs)}

{sweep(rows, runs)}

Command: `make cost`

## Commands

As they ran, for the first row of each kind. All of them are in `build/synth/summary.json`.

{commands(rows)}
"""


def _units(rows: Iterable[Row]) -> str:
    """Names of what was measured, each once."""
    return " ".join(dict.fromkeys(row["unit"] for row in rows))


def from_results() -> str:
    """The text of what the commands have left, its pictures copied.

    Raises
    ------
    MissingError
        If something has to run first.
    """
    rows = current_rows()
    if not rows:
        raise MissingError("no current row in build/synth/summary.json: run `make synth` first")
    text = document(rows, read(formats_result.RESULT, "make cost"))
    for name, source in PICTURES.items():
        copy_picture(name, source, "make cost")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
