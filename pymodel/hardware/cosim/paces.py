"""What the simulator's process tells the one that started it about the cycles of its jobs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FILE = "paces.json"


class Pace(NamedTuple):
    """Cycles of a job: all of the run, and those in which a datapath executed words."""

    cycles: int
    word_cycles: int


def write_paces(folder: Path, paces: Sequence[Pace]) -> None:
    """Write the file."""
    (folder / FILE).write_text(json.dumps(paces))


def read_paces(folder: Path) -> list[Pace]:
    """Read what :func:`write_paces` wrote."""
    return [Pace(*pair) for pair in json.loads((folder / FILE).read_text())]
