"""The model's values as signals of the simulation, beside those of the RTL.

A simulation that dumps waves has a scope ``model`` in the top level that is simulated. For each
output port of the device, and each path below it that the bench names, it has a signal of the same
width with what the model says, and a bit ``<signal>_differs``. The test drives them; whatever
dumps the RTL dumps them too, at the same times, so that every viewer shows one beside the other.

Nothing has been said of a signal before the model's first word on it: it is 0 until then.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

SCOPE = "model"
DIFFERS = "_differs"
#: A word of a vector, as benches name it: ``y_o[3]``, ``compound_o[3] = xi_11[1][0]``.
WORD = re.compile(r"([\w.\[\]]*?\w)\[(\d+)\](?: = .*)?")
_OUTPUT = re.compile(r"^ *output +logic +((?:\[[^\]]*\] *)*)(\w+),?(?: *//.*)?$", re.M)
_END = re.compile(r"^endmodule\b", re.M)


def signal_name(path: str) -> str:
    """The model's signal for one of the RTL: ``u_a.gen_b[0].y`` is ``u_a_gen_b_0_y``."""
    return re.sub(r"\W+", "_", path).strip("_")


def outputs_of(source: str) -> dict[str, str]:
    """The output ports in the text of a module, each with its ranges; those of a bus left out."""
    found = _OUTPUT.findall(source)
    return {name: ranges.strip() for ranges, name in found if not name.startswith("s_axil_")}


def with_model(source: str, ports: Mapping[str, str], below: Mapping[str, int]) -> str:
    """The text of a top level with the scope in it, if the model says anything at all.

    Parameters
    ----------
    source
        The text without.
    ports
        Ports of the device with their ranges.
    below
        Paths below the device with their widths in bits.
    """
    ranges = dict(ports) | {path: f"[{width - 1}:0]" for path, width in below.items()}
    if not ranges:
        return source
    lines = [f"  if (1) begin : {SCOPE}"]
    for path, range_ in ranges.items():
        name = signal_name(path)
        lines.append(f"    logic {range_} {name} /* verilator public_flat_rw */ = '0;")
        lines.append(f"    logic {name}{DIFFERS} /* verilator public_flat_rw */ = '0;")
    (end,) = _END.finditer(source)
    return "\n".join([source[: end.start()] + lines[0], *lines[1:], "  end", source[end.start() :]])


class ModelSignals:
    """Drives the scope; without one it does nothing.

    There is none in a simulation that dumps no waves, and where a device has a bus only.

    Parameters
    ----------
    dut
        The top level that is simulated; None for none.

    Attributes
    ----------
    shown : set of str
        Paths in the RTL of which the model has said something.
    """

    def __init__(self, dut: Any = None) -> None:
        self._scope = None if dut is None else getattr(dut, SCOPE, None)
        self._values: dict[str, int] = {}
        self.shown: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there is a scope."""
        return self._scope is not None

    def show(self, values: Mapping[str, int]) -> None:
        """From now on the model says these values, by path in the RTL."""
        if not self:
            return
        for path, value in values.items():
            if self._values.get(path) != value and self._drive(signal_name(path), value):
                self._values[path] = value
                self.shown.add(path)

    def differs(self, paths: Iterable[str]) -> None:
        """From now on the RTL differs from the model in these paths."""
        for path in paths:
            self._drive(signal_name(path) + DIFFERS, 1)

    def mismatch(self, signal: str, want: int, bits: int | None = None) -> None:
        """Show what was wanted of a signal that differs now, or of a word of it.

        Parameters
        ----------
        signal
            As the scoreboard names it.
        want
            What the model says.
        bits
            Width of a word.
        """
        if not self:
            return
        word = WORD.fullmatch(signal)
        path, index = (word[1], int(word[2])) if word else (signal, 0)
        if word and bits:
            mask = ((1 << bits) - 1) << bits * index
            want = self._values.get(path, 0) & ~mask | want << bits * index
        elif word:
            return
        self.show({path: want})
        self.differs([path])

    def _drive(self, name: str, value: int) -> bool:
        """Drive a signal, if there is such a one of enough bits."""
        handle = getattr(self._scope, name, None)
        if handle is None or value < 0 or value >> len(handle):
            return False
        handle.value = value
        return True
