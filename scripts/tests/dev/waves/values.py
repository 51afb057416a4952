"""The values in a waveform."""

from bisect import bisect_right
from pathlib import Path

import pylibfst
from pylibfst import lib


class Values:
    """All values of a waveform, by path without range.

    Parameters
    ----------
    wave
        The file.
    """

    def __init__(self, wave: Path) -> None:
        reader = lib.fstReaderOpen(str(wave).encode())
        _, signals = pylibfst.get_scopes_signals2(reader)
        self._codes = {name.partition(" ")[0]: one.handle for name, one in signals.by_name.items()}
        self._changes: dict[int, tuple[list[int], list[str]]] = {}
        lib.fstReaderSetFacProcessMaskAll(reader)
        pylibfst.fstReaderIterBlocks(reader, self._add)
        lib.fstReaderClose(reader)

    def _add(self, _: object, time: int, code: int, value: object) -> None:
        times, values = self._changes.setdefault(code, ([], []))
        times.append(time)
        values.append(pylibfst.string(value))

    def times(self, path: str) -> list[int]:
        """When a signal changes, ps."""
        return self._changes[self._codes[path]][0]

    def at(self, path: str, time: int) -> int | None:
        """What stands on a signal at a time, ps; None if a bit is unknown."""
        times, values = self._changes[self._codes[path]]
        bits = values[bisect_right(times, time) - 1]
        return int(bits, 2) if set(bits) <= {"0", "1"} else None
