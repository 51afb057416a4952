"""What the simulator's process tells the one that started it about a closed loop."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "loop.json"


@dataclass(frozen=True)
class LoopHandover:
    """A closed loop in hardware.

    Attributes
    ----------
    rows
        Bits of each step, see :attr:`pymodel.runs.closed_loop.ClosedLoop.columns`.
    cycles, steps
        Clock cycles of the run, and the steps of the engine.
    flags
        Sticky float flags.
    """

    rows: list[list[int]]
    cycles: int
    steps: int
    flags: int

    def write(self, folder: Path) -> None:
        """Write the file."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> "LoopHandover | None":
        """Read what :meth:`write` wrote; None if it has not."""
        path = folder / FILE
        return cls(**json.loads(path.read_text())) if path.exists() else None

    @staticmethod
    def forget(folder: Path) -> None:
        """Remove what an earlier run has left."""
        (folder / FILE).unlink(missing_ok=True)
