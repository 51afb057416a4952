"""One measurement, its files and its row."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT
from scripts.kernel.units import records

FloatFormat = tuple[int, int]

BINARY32 = (8, 23)
#: Formats of the arithmetic sweep.
FORMATS = tuple(dict.fromkeys((x.format[0], x.format[1]) for x in records()["step_engine"].cost))
NAMES = {BINARY32: "binary32", (5, 10): "half", (8, 7): "bfloat16"}


def arithmetic(fmt: FloatFormat) -> str:
    """As the model's command line takes it: `8/23`."""
    exp_w, man_w = fmt
    return f"{exp_w}/{man_w}"


def format_name(fmt: FloatFormat) -> str:
    """`binary32`, `half`, or `8/19` for a format without a name."""
    return NAMES.get(fmt, arithmetic(fmt))


def width(fmt: FloatFormat) -> int:
    """Bits of a number."""
    return 1 + sum(fmt)


FAMILIES = ("xc7", "ecp5")
AREA, SPEED = "area", "speed"
#: Placements on ecp5 unless the command line or the job says otherwise.
SEEDS = 3
#: Bits of ports that do not follow from a format.
PORT_WIDTHS = {"flags_o": 5, "rst_ni": 1, "valid_i": 1, "ready_i": 1, "valid_o": 1, "ready_o": 1}

#: Unit, config, stages and family: what identifies a measurement, or its row.
Key = tuple[str, str, int | None, str]


def config_of(mode: str, *extra: str) -> str:
    """The name of a configuration: `area`, `speed, table`, `speed, half`."""
    return ", ".join([mode, *filter(None, extra)])


@dataclass(frozen=True)
class Job:
    """One measurement.

    Attributes
    ----------
    unit : str
        The module.
    config : str
        Its name among those of this module, stages and flow; `area` in it: optimised for that.
    family : str
        The flow, one of `FAMILIES`.
    stages : int or None
        STAGES of a unit; None if it has no such parameter, and for a top.
    inputs, outputs : tuple of str
        Ports of a unit besides `clk_i`; none for a top. A width that neither the format nor
        `PORT_WIDTHS` gives follows the name: `count_o:6`.
    parameters : dict
        Parameters of the module besides the format.
    fmt : tuple of int
        EXP_W, MAN_W.
    boxed : bool
        Float units are black boxes, each counted as that unit alone: neither timed nor placed.
    most_seeds : int
        Placements at most, as those of large tops take long.
    """

    unit: str
    config: str
    family: str
    stages: int | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: dict[str, int] = field(default_factory=dict, hash=False)
    fmt: FloatFormat = BINARY32
    boxed: bool = False
    most_seeds: int = SEEDS

    @property
    def key(self) -> Key:
        """What identifies it."""
        return self.unit, self.config, self.stages, self.family

    @property
    def name(self) -> str:
        """That of its files, in which no other measurement is."""
        words = [self.unit, *re.findall(r"\w+", self.config), self.stages, self.family]
        return "-".join(str(word) for word in words if word is not None)

    @property
    def is_unit(self) -> bool:
        """Whether it is measured inside a wrapper."""
        return bool(self.inputs)

    @property
    def values(self) -> dict[str, int]:
        """Parameters that are set, those of the format included."""
        if self.fmt == BINARY32:
            return self.parameters
        return dict(zip(("EXP_W", "MAN_W"), self.fmt, strict=True)) | self.parameters

    def widths(self, ports: tuple[str, ...]) -> dict[str, int]:
        """Bits of each of these ports."""
        found = {}
        for port in ports:
            name, _, bits = port.partition(":")
            found[name] = int(bits or PORT_WIDTHS.get(name, width(self.fmt)))
        return found


#: Of build/synth/summary.json, one a measurement, with the keys of `measure.measure`.
Row = dict[str, Any]


def row_key(row: Row) -> Key:
    """The key of the row's job."""
    return row["unit"], row["config"], row["stages"], row["family"]


def mode_and_variant(row: Row) -> tuple[str, list[str]]:
    """What a row of a unit was optimised for, and what else its config says."""
    mode, *variant = row["config"].split(", ")
    return mode, variant


def in_binary32(row: Row) -> bool:
    """Whether the row's format is binary32."""
    return row["format"] == list(BINARY32)


def is_unit(row: Row) -> bool:
    """Whether the row is of a float unit, not of a top."""
    return row["unit"].startswith("fp_")


def path_of(job: Job, ending: str) -> Path:
    """A file of a job, relative to ROOT: `build/synth/fp_add-area-0-xc7.stat.json`."""
    return OUT / f"{job.name}.{ending}"


def read_output(job: Job, ending: str) -> str:
    """What stands in a file of a job."""
    return (ROOT / path_of(job, ending)).read_text()
