"""The signals of an FST waveform, read by GTKWave's own library.

Of others, pywellen gives the elements of Verilator's unpacked arrays other names: `memory.[3]` for
`memory.memory[3]`, and of two dimensions `wide.[0].wide.[0].`, which ends with no name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pylibfst import ffi, lib, string

RANGE = re.compile(r" ?\[(-?\d+)(?::(-?\d+))?\]$")
PARAMETERS = (lib.FST_VT_VCD_PARAMETER, lib.FST_VT_VCD_REAL_PARAMETER)


class FstError(Exception):
    """The file is no FST, or was not closed by the simulator."""


@dataclass(frozen=True)
class Signal:
    """A variable.

    Attributes
    ----------
    path : str
        `top.u_unit.a_i`, without the range.
    width : int
        Bits.
    left, right : int
        Its range.
    ranged : bool
        Whether its name carries the range.
    """

    path: str
    width: int
    left: int
    right: int
    ranged: bool

    @property
    def name(self) -> str:
        """The name by which GTKWave knows it."""
        if not self.ranged:
            return self.path
        return f"{self.path}[{self.left}:{self.right}]"

    @property
    def last_name(self) -> str:
        """That within its scope."""
        return self.path.rpartition(".")[2]


def signals(path: Path) -> dict[str, Signal]:
    """The variables of a waveform by path, parameters left out.

    Raises
    ------
    FstError
        If the file is not a complete waveform.
    """
    reader = lib.fstReaderOpen(str(path).encode())
    if reader == ffi.NULL:
        raise FstError(f"{path} is not a complete FST waveform")
    try:
        found: dict[str, Signal] = {}
        for scopes, name, width in _variables(reader):
            signal = _signal(scopes, name, width)
            found.setdefault(signal.path, signal)
    except (IndexError, ValueError) as error:
        raise FstError(f"{path} is not a complete FST waveform ({error})") from error
    finally:
        lib.fstReaderClose(reader)
    if not found:
        raise FstError(f"{path} is not a complete FST waveform (no signals in it)")
    return found


def _variables(reader: ffi.CData) -> Iterator[tuple[list[str], str, int]]:
    """Scopes, name and bits of each variable that is no parameter."""
    scopes: list[str] = []
    while (item := lib.fstReaderIterateHier(reader)) != ffi.NULL:
        if item.htyp == lib.FST_HT_SCOPE:
            scopes.append(string(item.u.scope.name))
        elif item.htyp == lib.FST_HT_UPSCOPE:
            scopes.pop()
        elif item.htyp == lib.FST_HT_VAR and item.u.var.typ not in PARAMETERS:
            yield scopes, string(item.u.var.name), item.u.var.length


def _signal(scopes: list[str], name: str, width: int) -> Signal:
    match = RANGE.search(name)
    left, right = (int(match[1]), int(match[2] or match[1])) if match else (width - 1, 0)
    if not match or abs(left - right) + 1 != width or (width == 1 and match[2] is None):
        # no range: `[3]` belongs to the name of an array's element
        return Signal(".".join([*scopes, name]), width, width - 1, 0, ranged=False)
    return Signal(".".join([*scopes, name[: match.start()]]), width, left, right, ranged=True)
