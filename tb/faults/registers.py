"""The registers of a device: by the text of its modules, and one by one inside a simulation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocotb.handle import ArrayObject, HierarchyArrayObject, HierarchyObject

_ASSIGNED = re.compile(r"^\s*([a-z]\w*)(?:\[[^=\n]*?\])*\s*<=", re.M)
_CONCATENATED = re.compile(r"^\s*\{([^{}]*)\}\s*<=", re.M)
MEMORY, BUS, ARITHMETIC, CONTROL = "memory", "bus", "arithmetic", "control"
#: Kinds of registers, the first whose pattern is found in the path; those in words are memories.
_PATTERNS = {
    BUS: r"\bu_axil\.",
    ARITHMETIC: r"\bgen_(add|mul|rec\w*|sincos\w*|register|stage\w*)\b|\bu_(rare|unit|datapath)\b",
    CONTROL: "",
}
KINDS = (BUS, CONTROL, ARITHMETIC, MEMORY)


def names_of(text: str) -> set[str]:
    """Names of what a module's text assigns at clock edges."""
    text = re.sub("//.*", "", text)
    names = set(_ASSIGNED.findall(text))
    for inside in _CONCATENATED.findall(text):
        names |= set(re.findall(r"[a-z]\w*", re.sub(r"\[[^\]]*\]", "", inside)))
    return names


def registers_of(files: Iterable[Path]) -> tuple[str, ...]:
    """``<module>.<name>`` of all that modules, one a file, assign at clock edges."""
    return tuple(
        f"{file.stem}.{name}" for file in files for name in sorted(names_of(file.read_text()))
    )


@dataclass(frozen=True)
class Register:
    """A register of a simulated device.

    Attributes
    ----------
    path
        Below the device.
    bits
        Its width, of each word.
    words
        Of a memory; 0 for flip-flops.
    """

    path: str
    bits: int
    words: int = 0

    @property
    def kind(self) -> str:
        """One of :data:`KINDS`."""
        if self.words:
            return MEMORY
        return next(kind for kind, found in _PATTERNS.items() if re.search(found, self.path))

    @property
    def total(self) -> int:
        """All its bits."""
        return self.bits * (self.words or 1)

    def place(self, number: int) -> str:
        """Name of one of all its bits."""
        if not self.words:
            return f"{self.path}[{number}]"
        word, bit = divmod(number, self.bits)
        return f"{self.path}[{word}][{bit}]"


def found_in(device: Any, names: Sequence[str]) -> Iterator[tuple[Register, Any]]:
    """The registers below a device, with their handles.

    Parameters
    ----------
    device
        Its handle.
    names
        ``<module>.<name>`` of :func:`registers_of`.
    """
    yield from _below(device, "", {name.partition(".")[2] for name in names})


def _below(scope: Any, path: str, wanted: set[str]) -> Iterator[tuple[Register, Any]]:
    for handle in scope:
        name = handle._name
        here = f"{path}{name}" if name.startswith("[") else f"{path}.{name}".lstrip(".")
        if isinstance(handle, HierarchyObject | HierarchyArrayObject):
            yield from _below(handle, here, wanted)
        elif name in wanted and isinstance(handle, ArrayObject):
            yield Register(here, len(handle[handle.range.left]), len(handle)), handle
        elif name in wanted:
            yield Register(here, len(handle)), handle


def flip(register: Register, handle: Any, number: int) -> None:
    """Invert one of all bits of a register, from now on until it is written."""
    word, bit = divmod(number, register.bits)
    if register.words:
        handle = handle[min(handle.range) + word]
    handle.value = int(handle.value) ^ 1 << bit
