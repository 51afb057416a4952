"""One call at a time, and published accelerators: sections of docs/array_results.md."""

import textwrap

from pymodel.compile.robot_kernels import recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from scripts.evidence.benchmarks.array import FUNCTIONS, MECHANISMS
from scripts.evidence.benchmarks.array_rows import NONE, Row, Rows, shape_of
from scripts.evidence.cost.job import FAMILIES
from scripts.evidence.cost.jobs import ENGINE
from scripts.evidence.cost.measure import current_rows
from scripts.evidence.cost.points import step_of
from scripts.evidence.robots.cases import small
from scripts.evidence.robots.field import DADU_DSP, ROBOMORPHIC_US, WIDTH
from scripts.kernel.documents import table

ARM = "iiwa14"
SINGLE_LANES = (2, 4)  # of step engines that run one call at a time
#: Batched diFD of the iiwa, as Dadu-RBD's paper prints them: how often Dadu-RBD is Robomorphic.
DADU_TIMES = (6.3, 7.0)


def step_engine(lanes: int) -> Row | None:
    """What `make synth` left of the step engine of so many lanes of a kind; None if nothing."""
    config = f"{lanes}+{lanes} lanes"
    found = {
        row["family"]: row
        for row in current_rows()
        if row["unit"] == ENGINE and row["config"] == config
    }
    if len(found) < len(FAMILIES):
        return None
    return {"mhz": found["ecp5"]["fmax_mhz"], "dsp48": found["xc7"]["dsp"]}


def single_calls() -> str:
    """Functions of the iiwa, and steps, on the engine that runs one at a time.

    Scheduled as users get them: functions thoroughly, steps not.
    """
    head, body = ["kernel"], []
    machines = {lanes: Machine(lanes, lanes) for lanes in SINGLE_LANES}
    engines = {lanes: step_engine(lanes) for lanes in SINGLE_LANES}
    for lanes in SINGLE_LANES:
        head += [f"{lanes}+{lanes}: cycles", "µs", "thousand/s per DSP48E1"]
    kernels = {f"{ARM} {name}": recorded(small(ARM), name) for name in FUNCTIONS}
    steps = {f"step of {name}": step_of(name) for name in MECHANISMS}
    for name, kernel in (kernels | steps).items():
        cells = []
        for lanes, machine in machines.items():
            program = schedule(machine.boundless, kernel, thorough=name not in steps)
            cycles, engine = program.main, engines[lanes]
            cells.append(str(cycles))
            if engine is None:
                cells += [NONE, NONE]
            else:
                us = cycles / engine["mhz"]
                cells += [f"{us:.2f}", f"{1e3 / us / engine['dsp48']:.1f}"]
        body.append((name, *cells))
    return table(head, body)


def others(rows: Rows) -> str:
    """The array beside published accelerators, by DSP."""
    low, high = (times / ROBOMORPHIC_US * 1e3 / DADU_DSP for times in DADU_TIMES)
    ours = [
        f"{row['calls_per_s'] / row['dsp48'] / 1e3:.1f} on {shape_of(row)} "
        f"({row['calls_per_s'] / row['dsp'] / 1e3:.1f} by multiplier of the ECP5)"
        for row in rows
        if (row["robot"], row["kernel"]) == (ARM, "diFD")
        and None not in (row["calls_per_s"], row["dsp48"])
    ]
    text = (
        "Dadu-RBD's paper ([Yang, Chen and Han, 2023](glossary.md#papers)) prints no throughput in "
        f"calls a second. It runs batches of the iiwa's diFD {DADU_TIMES[0]} to {DADU_TIMES[1]} "
        f"times as fast as Robomorphic, where a call takes {ROBOMORPHIC_US} µs. If calls follow "
        f"one another there, Dadu-RBD's {DADU_DSP} DSP give {low:.1f} to {high:.1f} thousand per "
        "second and per DSP: our estimate, not their figure. Here thousand diFD per second and per "
        f"DSP48E1 at the placed clock: {'; '.join(ours) or 'not placed'}. "
        "This divides the clock of one device by the DSP of another. The FPGAs are of different "
        "families; theirs ran at 125 MHz on an XCVU9P. One call alone "
        "is slower here ([robots](robots_results.md))."
    )
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)
