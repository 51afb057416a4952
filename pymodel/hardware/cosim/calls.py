"""What the simulator's process tells the one that started it about a function's calls."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "calls.json"


@dataclass(frozen=True)
class Calls:
    """Calls of one function in hardware.

    Attributes
    ----------
    results
        For each call name -> bits of every output; None after a result that was not finite.
    words_compared
        Words from the hardware that are compared with the text.
    cycles
        Clock cycles of the last call: its program, the start, and the trace of its outputs.
    flags
        Sticky float flags of all calls.
    """

    results: list[Mapping[str, int] | None]
    words_compared: int
    cycles: int
    flags: int

    def write(self, folder: Path) -> None:
        """Write the file."""
        (folder / FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> "Calls | None":
        """Read what :meth:`write` wrote; None if it has not."""
        path = folder / FILE
        return cls(**json.loads(path.read_text())) if path.exists() else None

    @staticmethod
    def forget(folder: Path) -> None:
        """Remove what an earlier run has left."""
        (folder / FILE).unlink(missing_ok=True)
