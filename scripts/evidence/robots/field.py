"""The step engine next to what others print, for one arm."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scripts.evidence.robots.cases import ARM, LANES
from scripts.kernel.documents import MissingError, table
from scripts.kernel.places import DOCS

COST = DOCS / "hardware_cost.md"
NONE = "–"
WIDTH = 100  # of a line
COMPARED = ("ID", "FD", "dID", "diFD", "dFD")


class Placed(NamedTuple):
    """An engine as it was placed and routed on an ECP5 for an estimate of its clock.

    Attributes
    ----------
    mhz : float
    lut, dsp : int
        In cells of a 7 series.
    """

    mhz: float
    lut: int
    dsp: int


class Peer(NamedTuple):
    """What others print: of the arm iiwa, in µs."""

    name: str
    part: str
    clock: str
    dsp: str
    us: Mapping[str, str]
    source: str


DADU_DSP = 4241  # 62 % of the part's 6840
ROBOMORPHIC_US = 0.61  # a diFD

#: Typed from their papers; what is not printed there is not claimed.
PEERS = (
    Peer(
        "Robomorphic",
        "XCVU9P",
        "56 MHz",
        "at least half of 6840",
        {"diFD": str(ROBOMORPHIC_US)},
        "Dadu-RBD's paper",
    ),
    Peer(
        "Dadu-RBD",
        "XCVU9P",
        "125 MHz",
        f"62 % of 6840: {DADU_DSP}",
        {"diFD": "0.76"},
        "its paper",
    ),
    Peer("GRiD", "RTX 3080", NONE, NONE, {"dFD": "23 for 256 calls"}, "its paper"),
    Peer(
        "Pinocchio, C++",
        "i7-10700K",
        NONE,
        NONE,
        {"ID": "0.3", "FD": "0.9", "dID": "1.4", "dFD": "2.9"},
        "published",
    ),
)


def placed(lanes: int) -> Placed:
    """Find an engine of default stages in docs/hardware_cost.md.

    Raises
    ------
    MissingError
        If it is not there.
    """
    row = re.compile(rf"\| {lanes}\+{lanes} lanes,[^|]*(?:\|([^|]*)){{5}}\| placed engine \|")
    found = row.search(COST.read_text()) if COST.exists() else None
    if not found:
        raise MissingError(f"docs/hardware_cost.md has no placed engine of {lanes}+{lanes} lanes")
    _, _, _, mhz, _, lut, dsp, *_ = found[0].split("|")
    return Placed(float(mhz), int(lut), int(dsp))


def _ours(schedules: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for lanes in sorted({row["lanes"] for row in schedules}):
        engine = placed(lanes)
        cycles = {
            row["function"]: row["cycles"]
            for row in schedules
            if row["robot"] == ARM and row["lanes"] == lanes
        }
        times = [f"{cycles[function] / engine.mhz:.2f}" for function in COMPARED]
        name = f"step engine, {lanes}+{lanes} lanes"
        yield (
            name,
            "ECP5-85k, estimate",
            f"{engine.mhz:g} MHz",
            str(engine.dsp),
            *times,
            "this table",
        )


def field(tables: Mapping[str, Any]) -> str:
    """Time of a call, µs."""
    (pinocchio,) = tables["pinocchio"]
    here, calling = pinocchio["us"][ARM], pinocchio["calling_us"]

    def row(name: str, times: Mapping[str, float]) -> tuple[str, ...]:
        cells = [f"{times[f]:.2f}" if f in times else NONE for f in COMPARED]
        return (name, pinocchio["processor"], NONE, NONE, *cells, "this table")

    rows = [
        *_ours(tables["schedules"]),
        *(
            (
                peer.name,
                peer.part,
                peer.clock,
                peer.dsp,
                *(peer.us.get(function, NONE) for function in COMPARED),
                peer.source,
            )
            for peer in PEERS
        ),
        row(f"Pinocchio {pinocchio['version']} from Python", here),
        row("of which the calling", calling),
    ]
    head = ("what", "part", "clock", "DSP", *(f"{f} [µs]" for f in COMPARED), "from")
    return table(head, rows)


def verdict(tables: Mapping[str, Any]) -> str:
    """What the comparison with the accelerators comes to."""
    function, lanes = "diFD", max(LANES)
    (cycles,) = (
        row["cycles"]
        for row in tables["schedules"]
        if (row["robot"], row["function"], row["lanes"]) == (ARM, function, lanes)
    )
    engine, least = placed(lanes), min(LANES)
    slower = [
        f"{cycles / engine.mhz / float(peer.us[function]):.1f}"
        for peer in reversed(PEERS)
        if function in peer.us
    ]
    text = (
        f"A single call is slower here than on the accelerators, {function} on {lanes}+{lanes} "
        f"lanes {' and '.join(slower)} times, and than Pinocchio in C++ on a desktop processor. "
        "The accelerators are made for one robot at a time; Dadu-RBD has "
        f"{round(DADU_DSP / engine.dsp)} times the DSP of {lanes}+{lanes} lanes, and "
        f"{round(DADU_DSP / placed(least).dsp)} times those of {least}+{least}. Here one engine "
        "takes any robot and any function as a program, in any format, and every bit is checked."
    )
    return textwrap.fill(text, WIDTH)
