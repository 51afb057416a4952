"""The iiwa's diFD by datapaths, formats and rare units: a section of docs/array_results.md."""

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from pymodel.arith.fp import Format
from pymodel.compile.robot_kernels import recorded
from pymodel.hardware.cosim.array import STREAMS
from pymodel.machine.isa import Machine
from pymodel.runs.array_runs import fitting_array
from scripts.evidence.benchmarks.array_rows import NONE, Row, Rows
from scripts.evidence.cost.job import BINARY32, FloatFormat, arithmetic
from scripts.evidence.cost.jobs import ARRAY
from scripts.evidence.robots.cases import small
from scripts.kernel.documents import table

ARM, FUNCTION = "iiwa14", "diFD"
LANES, CONTEXTS = 2, 8
#: DSP48E1 of a product by format, and of one reciprocal and one sine and cosine.
PRODUCT_DSP = {BINARY32: 2, (8, 17): 1}
RARE_DSP = 8
#: By format: thousand calls a second for each DSP48E1, and for 1000 LUT4.
PER_DSP = {BINARY32: 30, (8, 17): 60}
PER_LUT = {BINARY32: 20, (8, 17): 30}
#: By datapaths, in MHz.
CLOCK = {1: 118, 2: 118, 4: 105}


class Build(NamedTuple):
    """An array of 2 + 2 lanes and 8 contexts."""

    datapaths: int
    fmt: FloatFormat
    rare_logic: int
    add_stages: int = Machine().add_stages

    @property
    def config(self) -> str:
        """The name of its measurement."""
        words = [f"{LANES}+{LANES} lanes, C {CONTEXTS}, V {self.datapaths}"]
        words += [f"ADD_STAGES {self.add_stages}"] * (self.add_stages != Machine().add_stages)
        words += ["rare logic"] * self.rare_logic
        words += [arithmetic(self.fmt)] * (self.fmt != BINARY32)
        return ", ".join(words)

    @property
    def dsp(self) -> int:
        """DSP48E1, by the count for each unit."""
        lanes = self.datapaths * LANES * PRODUCT_DSP[self.fmt]
        return lanes + (0 if self.rare_logic else RARE_DSP)

    @property
    def words(self) -> int:
        """Of the program."""
        machine = Machine(
            LANES,
            LANES,
            contexts=CONTEXTS,
            datapaths=self.datapaths,
            add_stages=self.add_stages,
            rare_logic=self.rare_logic,
            fmt=Format(*self.fmt),
            **STREAMS,
        )
        kernel = recorded(small(ARM), FUNCTION)
        return fitting_array(machine, {FUNCTION: kernel}).programs[FUNCTION].main


BUILDS = (
    Build(1, BINARY32, 0),
    Build(1, BINARY32, 0, add_stages=5),
    Build(2, BINARY32, 0),
    Build(4, BINARY32, 1),
    Build(1, (8, 17), 0),
    Build(4, (8, 17), 1),
)


def against(found: float, goal: float, form: str) -> str:
    """A figure, and whether it meets its goal."""
    return f"{found:{form}} (≥ {goal}: {'met' if found >= goal else '**missed**'})"


def _cells(build: Build, row: Row | None) -> Iterator[str]:
    words = build.words
    yield from (str(build.datapaths), arithmetic(build.fmt))
    yield str(build.add_stages)
    yield "logic" if build.rare_logic else "multipliers"
    yield from (str(words), str(build.dsp))
    if row is None or not row["fmax_mhz"]:
        yield from [NONE] * 5
        return
    mhz = median(row["fmax_mhz_of_seeds"])
    rate = mhz * 1e3 * build.datapaths / words  # thousand calls a second
    seeds = " ".join(f"{clock:g}" for clock in row["fmax_mhz_of_seeds"])
    yield f"{row['lut']}"
    yield against(mhz, CLOCK[build.datapaths], ".1f") + (f", of {seeds}" if " " in seeds else "")
    yield f"{rate:.0f}"
    yield against(rate / build.dsp, PER_DSP[build.fmt], ".1f")
    yield against(rate / row["lut"] * 1e3, PER_LUT[build.fmt], ".1f")


def by_format(rows: Rows) -> str:
    """The table; `rows` are those of `make synth`."""
    placed = {row["config"]: row for row in rows if (row["unit"], row["family"]) == (ARRAY, "ecp5")}
    head = (
        "datapaths",
        "format",
        "ADD_STAGES",
        "rare units",
        "words",
        "DSP48E1",
        "LUT4",
        "MHz",
        "thousand/s",
        "per DSP48E1",
        "per 1000 LUT4",
    )
    return table(head, [tuple(_cells(build, placed.get(build.config))) for build in BUILDS])
