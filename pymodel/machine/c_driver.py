"""The driver of the step engine (sw/step_engine.c), compiled as it is and called from Python.

Its accesses to registers are two functions of Python: those of a simulated engine's bus, for
example, or of a device. What it returns is a :class:`Status`; see sw/step_engine.h.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from pymodel.arith.numbers import whole

Read = Callable[[int], int]
Write = Callable[[int, int], None]

_READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
_WRITE = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)

_MOST = (1 << 32) - 1  # of a word

#: Values of a program, by the name of their count in ``struct step_program``.
_GROUPS = {"inputs": "inputs", "carried": "carried values", "after": "outputs"}

#: What ships is compiled with all warnings as errors.
STRICT = ("-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")

#: An engine's base is where its accesses are.
_ACCESS = """\
#include <stdint.h>
struct bus {
  uint32_t (*read)(uint32_t offset);
  void (*write)(uint32_t offset, uint32_t word);
};
#define STEP_BUS(engine) ((const struct bus *)(uintptr_t)(engine)->base)
#define STEP_READ(engine, offset) (STEP_BUS(engine)->read(offset))
#define STEP_WRITE(engine, offset, word) (STEP_BUS(engine)->write(offset, word))
"""


class Status(IntEnum):
    """What a function of the driver returns: ``enum step_status``."""

    OK = 0
    NO_IMAGE = 1
    OTHER_VERSION = 2
    CUT_SHORT = 3
    DAMAGED = 4
    NO_ENGINE = 5
    OTHER_MACHINE = 6
    TOO_LARGE = 7
    OTHER_PROGRAM = 8
    UNKNOWN = 9
    NO_ROOM = 10
    BUSY = 11
    REFUSED = 12
    LATE = 13
    STOPPED = 14
    NULL = 15
    CHANGED = 16
    LOST = 17


def _words(*names: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_uint32) for name in names]


class _Bus(ctypes.Structure):
    _fields_ = [("read", _READ), ("write", _WRITE)]


class _Image(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_void_p),
        *_words("config", "lanes", "depth", "words", "bus_words", "entries"),
        *_words("programs", "parameters", "values", "check", "described"),
        *((name, ctypes.c_size_t) for name in ("values_at", "words_at", "names_at", "size")),
    ]


class _Program(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        *_words("start", "main", "special", "prologue", "every", "steps", "save", "entry"),
        *_words("inputs", "carried", "before", "after", "first"),
    ]


class _Engine(ctypes.Structure):
    _fields_ = [
        ("base", ctypes.c_void_p),
        ("image", _Image),
        *_words("banks", "common"),
        ("loaded", ctypes.c_int),
        ("set", ctypes.c_int),
    ]


class Report(ctypes.Structure):
    """What a run left behind: ``struct step_report``."""

    _fields_ = _words("steps", "cycles", "flags")


def compiler() -> str | None:
    """The machine's C compiler, None without one."""
    return shutil.which("cc") or shutil.which("gcc")


def build(sources: Path, folder: Path, *options: str) -> Path:
    """Compile the driver into a shared object.

    Parameters
    ----------
    sources : Path
        The repository's ``sw``.
    folder : Path
        For the shared object and what its accesses are made of.
    *options : str
        More ones of the compiler.

    Returns
    -------
    Path
        The shared object.

    Raises
    ------
    RuntimeError
        If there is no compiler, or it has something to say.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "access.h").write_text(_ACCESS)
    options = ("-shared", "-fPIC", '-DSTEP_ACCESS="access.h"', "-I", str(folder), *options)
    return _compiled(folder / "step_engine.so", options, [sources / "step_engine.c"])


def build_host(sources: Path, folder: Path, *options: str) -> Path:
    """Compile the host of an engine behind a serial port (sw/step_host.c).

    Parameters
    ----------
    sources, folder, *options
        As for :func:`build`.

    Returns
    -------
    Path
        The program.

    Raises
    ------
    RuntimeError
        If there is no compiler, or it has something to say.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [sources / f"{name}.c" for name in ("step_host", "step_link", "step_engine")]
    return _compiled(folder / "step_host", ('-DSTEP_ACCESS="step_link.h"', *options), files)


def _compiled(target: Path, options: Sequence[str], files: Sequence[Path]) -> Path:
    found = compiler()
    if found is None:
        raise RuntimeError("no C compiler")
    command = [found, *STRICT, "-O2", *options, *map(str, files), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return target


class Driver:
    """One engine behind the driver.

    Parameters
    ----------
    library : Path
        What :func:`build` gave; any number of drivers may use it.
    read, write : callable
        Read the register at a byte offset; write a word to it. What they raise, the call of the
        driver raises that made the access, and nothing more is accessed in it. Where that left out
        a write, also behind a read that raised, nothing is loaded any more.

    Raises
    ------
    ValueError
        By all that take numbers or words, before any access: if one is no whole number of 32 bits;
        if the words are not as many as the program that is loaded has. By :meth:`set` and
        :meth:`find`: if the name has a zero byte.
    """

    def __init__(self, library: Path, read: Read, write: Write) -> None:
        self._code = ctypes.CDLL(str(library))
        self._code.step_take.restype = ctypes.c_size_t
        self._code.step_report.restype = Report
        self._error: BaseException | None = None
        self._lost = False  # a write
        self._read, self._write = read, write
        self._bus = _Bus(_READ(self._guarded_read), _WRITE(self._guarded_write))
        self._engine = _Engine(base=ctypes.addressof(self._bus))
        self._memory: Any = None  # what the engine's image points to

    # C cannot pass on what an access raises: it is kept, and nothing more is accessed.

    def _guarded_read(self, offset: int) -> int:
        if self._error is None:
            try:
                return _word("what was read", self._read(offset)).value
            except BaseException as error:
                self._error = error
        return 0

    def _guarded_write(self, offset: int, word: int) -> None:
        if self._error is None:
            try:
                self._write(offset, word)
                return
            except BaseException as error:
                self._error = error
        self._lost = True

    def _call(self, name: str, *arguments: Any) -> Status:
        found = getattr(self._code, name)(ctypes.byref(self._engine), *arguments)
        self._raise()
        return Status(found)

    def _raise(self) -> None:
        error, self._error = self._error, None
        if self._lost:  # C holds for written what was not: in a run, where the main segment stands
            self._lost, self._engine.loaded = False, 0
        if error is not None:
            raise error

    def _parsed(self, data: bytes) -> tuple[Status, _Image, Any]:
        """An image, and the memory that it points to."""
        memory, image = ctypes.create_string_buffer(data, max(len(data), 1)), _Image()
        size = ctypes.c_size_t(len(data))
        return Status(self._code.step_parse(ctypes.byref(image), memory, size)), image, memory

    def _take_image(self, name: str, data: bytes) -> Status:
        """Parse an image, give it to a function, and keep its bytes if the engine reads them."""
        status, image, memory = self._parsed(data)
        if status != Status.OK:
            return status
        try:
            return self._call(name, ctypes.byref(image))
        finally:
            if self._engine.image.bytes == ctypes.addressof(memory):
                self._memory = memory

    def _program(self, number: ctypes.c_uint32) -> _Program | None:
        """A program of what is loaded; None without it, which all that needs it says, too."""
        found, image = _Program(), ctypes.byref(self._engine.image)
        if not self._engine.loaded or self._code.step_program(image, number, ctypes.byref(found)):
            return None
        return found

    def _require(self, number: ctypes.c_uint32, **counts: int) -> None:
        """Compare counts of words with those of a program, as C takes arrays of any length."""
        program = self._program(number)
        for name, count in counts.items():
            if program is not None and count != (needed := getattr(program, name)):
                raise ValueError(f"{_GROUPS[name]} are {count} words, must be {needed}")

    def parse(self, data: bytes) -> Status:
        """Check an image."""
        return self._parsed(data)[0]

    def open(self) -> Status:
        """Find the engine."""
        return self._call("step_open", ctypes.c_void_p(self._engine.base))

    def load(self, data: bytes) -> Status:
        """Check an image, and load it."""
        return self._take_image("step_load", data)

    def exchange(self, data: bytes) -> Status:
        """Check an image, and take its parameters."""
        return self._take_image("step_exchange", data)

    def set(self, name: str, bits: int) -> Status:
        """Write a parameter."""
        return self._call("step_set", _name(name), _word("bits", bits))

    def find(self, name: str) -> int | None:
        """Number of a program; None if there is none of this name."""
        number, image = ctypes.c_uint32(), ctypes.byref(self._engine.image)
        arguments = (image, _name(name), ctypes.byref(number))
        known = self._engine.loaded and not self._code.step_find(*arguments)
        return number.value if known else None

    def restart(self, number: int) -> Status:
        """Write a program's initial carried values."""
        return self._call("step_restart", _word("number", number))

    def write_inputs(self, number: int, bits: Sequence[int]) -> Status:
        """Write all inputs of a program."""
        chosen, words = _word("number", number), _words_of(bits)
        self._require(chosen, inputs=len(words))
        return self._call("step_write_inputs", chosen, words)

    def write_carried(self, number: int, bits: Sequence[int]) -> Status:
        """Write all carried values of a program."""
        chosen, words = _word("number", number), _words_of(bits)
        self._require(chosen, carried=len(words))
        return self._call("step_write_carried", chosen, words)

    def read_carried(self, number: int, count: int) -> tuple[Status, list[int]]:
        """Read all carried values of a program."""
        chosen, size = _word("number", number), _word("count", count).value
        self._require(chosen, carried=size)
        found = _room(size)
        return self._call("step_read_carried", chosen, found), list(found)

    def read_outputs(self, number: int, count: int) -> tuple[Status, list[int]]:
        """Read all outputs of the program that ran last."""
        chosen, size = _word("number", number), _word("count", count).value
        self._require(chosen, after=size)
        found = _room(size)
        return self._call("step_read_outputs", chosen, found), list(found)

    def call(
        self, number: int, inputs: Sequence[int], outputs: int, polls: int
    ) -> tuple[Status, list[int]]:
        """Evaluate a program once: its outputs."""
        chosen, words = _word("number", number), _words_of(inputs)
        size, looks = _word("outputs", outputs).value, _word("polls", polls)
        self._require(chosen, inputs=len(words), after=size)
        found = _room(size)
        return self._call("step_call", chosen, words, found, looks), list(found)

    def run(
        self, number: int, steps: int, save: int, room: int, polls: int
    ) -> tuple[Status, list[int]]:
        """Run a program: its trace, for which there must be room."""
        chosen, size = _word("number", number), _word("room", room).value
        counts, looks = (_word("steps", steps), _word("save", save)), _word("polls", polls)
        program = self._program(chosen)
        columns = program.before + program.after if program is not None else 0
        rows = -(-counts[0].value // counts[1].value) if counts[1].value else 0
        size = min(size, rows * columns)
        trace, taken = _room(size), ctypes.c_size_t()
        arguments = (chosen, *counts, trace, ctypes.c_size_t(size), looks)
        status = self._call("step_run", *arguments, ctypes.byref(taken))
        return status, trace[: taken.value]

    def start(self, number: int, steps: int, save: int) -> Status:
        """Start a run."""
        arguments = (_word("number", number), _word("steps", steps), _word("save", save))
        return self._call("step_start", *arguments)

    def take(self, room: int) -> list[int]:
        """Take words of the trace, at most so many."""
        words = _room(_word("room", room).value)
        size = ctypes.c_size_t(len(words))
        count = self._code.step_take(ctypes.byref(self._engine), words, size)
        self._raise()
        return words[:count]

    def wait(self, polls: int) -> Status:
        """Wait for the end of a run."""
        return self._call("step_wait", _word("polls", polls))

    def report(self) -> Report:
        """What the last run left behind."""
        found = self._code.step_report(ctypes.byref(self._engine))
        self._raise()
        return found

    def reset(self) -> None:
        """Stop any run."""
        self._code.step_reset(ctypes.byref(self._engine))
        self._raise()


def _word(name: str, number: int) -> ctypes.c_uint32:
    found = whole(name, number)
    if not 0 <= found <= _MOST:
        raise ValueError(f"{name} is {found}, must lie in 0..{_MOST}")
    return ctypes.c_uint32(found)


def _name(name: str) -> bytes:
    found = name.encode()
    if b"\0" in found:
        raise ValueError(f"{name!r} has a zero byte, where C ends a name")
    return found


def _room(count: int) -> Any:
    return (ctypes.c_uint32 * count)()


def _words_of(bits: Sequence[int]) -> Any:
    words = [_word(f"bits[{index}]", word) for index, word in enumerate(bits)]
    return (ctypes.c_uint32 * len(words))(*words)
