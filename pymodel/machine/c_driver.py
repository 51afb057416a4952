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

Read = Callable[[int], int]
Write = Callable[[int, int], None]

_READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
_WRITE = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)

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


def _words(*names: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_uint32) for name in names]


class _Bus(ctypes.Structure):
    _fields_ = [("read", _READ), ("write", _WRITE)]


class _Image(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_void_p),
        *_words("config", "lanes", "depth", "words", "bus_words", "entries"),
        *_words("programs", "parameters", "values", "check"),
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
    found = compiler()
    if found is None:
        raise RuntimeError("no C compiler")
    target = folder / "step_engine.so"
    command = [found, *STRICT, "-O2", "-shared", "-fPIC", '-DSTEP_ACCESS="access.h"', *options]
    command += ["-I", str(folder), str(sources / "step_engine.c")]
    done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True)
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
        driver raises that made the access.
    """

    def __init__(self, library: Path, read: Read, write: Write) -> None:
        self._code = ctypes.CDLL(str(library))
        self._code.step_take.restype = ctypes.c_size_t
        self._code.step_report.restype = Report
        self._error: BaseException | None = None
        self._bus = _Bus(_READ(self._guarded(read)), _WRITE(self._guarded(write)))
        self._engine = _Engine(base=ctypes.addressof(self._bus))
        self._images: list[tuple[Any, _Image]] = []  # the engine points to them

    def _guarded(self, access: Callable[..., Any]) -> Callable[..., Any]:
        """An access that keeps what it raises, which C cannot pass on; nothing is accessed then."""

        def guarded(*arguments: int) -> int:
            if self._error is None:
                try:
                    return access(*arguments) or 0
                except BaseException as error:
                    self._error = error
            return 0

        return guarded

    def _call(self, name: str, *arguments: Any) -> Status:
        found = getattr(self._code, name)(ctypes.byref(self._engine), *arguments)
        self._raise()
        return Status(found)

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _image(self, data: bytes) -> tuple[Status, _Image]:
        memory = ctypes.create_string_buffer(data, max(len(data), 1))
        image = _Image()
        status = Status(self._code.step_parse(ctypes.byref(image), memory, _size(len(data))))
        self._images.append((memory, image))
        return status, image

    def parse(self, data: bytes) -> Status:
        """Check an image."""
        return self._image(data)[0]

    def open(self) -> Status:
        """Find the engine."""
        return self._call("step_open", ctypes.c_void_p(self._engine.base))

    def load(self, data: bytes) -> Status:
        """Check an image, and load it."""
        status, image = self._image(data)
        return self._call("step_load", ctypes.byref(image)) if status == Status.OK else status

    def exchange(self, data: bytes) -> Status:
        """Check an image, and take its parameters."""
        status, image = self._image(data)
        return self._call("step_exchange", ctypes.byref(image)) if status == Status.OK else status

    def set(self, name: str, bits: int) -> Status:
        """Write a parameter."""
        return self._call("step_set", name.encode(), _word(bits))

    def find(self, name: str) -> int | None:
        """Number of a program; None if there is none of this name."""
        number, image = ctypes.c_uint32(), ctypes.byref(self._engine.image)
        known = self._engine.loaded and not self._code.step_find(
            image, name.encode(), ctypes.byref(number)
        )
        return number.value if known else None

    def restart(self, number: int) -> Status:
        """Write a program's initial carried values."""
        return self._call("step_restart", _word(number))

    def write_inputs(self, number: int, bits: Sequence[int]) -> Status:
        """Write all inputs of a program."""
        return self._call("step_write_inputs", _word(number), _array(bits))

    def write_carried(self, number: int, bits: Sequence[int]) -> Status:
        """Write all carried values of a program."""
        return self._call("step_write_carried", _word(number), _array(bits))

    def read_carried(self, number: int, count: int) -> tuple[Status, list[int]]:
        """Read all carried values of a program."""
        found = _array([0] * count)
        return self._call("step_read_carried", _word(number), found), list(found)

    def read_outputs(self, number: int, count: int) -> tuple[Status, list[int]]:
        """Read all outputs of the program that ran last."""
        found = _array([0] * count)
        return self._call("step_read_outputs", _word(number), found), list(found)

    def call(
        self, number: int, inputs: Sequence[int], outputs: int, polls: int
    ) -> tuple[Status, list[int]]:
        """Evaluate a program once: its outputs."""
        found = _array([0] * outputs)
        arguments = (_word(number), _array(inputs), found, _word(polls))
        return self._call("step_call", *arguments), list(found)

    def run(
        self, number: int, steps: int, save: int, room: int, polls: int
    ) -> tuple[Status, list[int]]:
        """Run a program: its trace."""
        trace, taken = _array([0] * room), ctypes.c_size_t()
        arguments = (_word(number), _word(steps), _word(save), trace, _size(room), _word(polls))
        status = self._call("step_run", *arguments, ctypes.byref(taken))
        return status, trace[: taken.value]

    def start(self, number: int, steps: int, save: int) -> Status:
        """Start a run."""
        return self._call("step_start", _word(number), _word(steps), _word(save))

    def take(self, room: int) -> list[int]:
        """Take words of the trace, at most so many."""
        words = _array([0] * room)
        count = self._code.step_take(ctypes.byref(self._engine), words, _size(room))
        self._raise()
        return words[:count]

    def wait(self, polls: int) -> Status:
        """Wait for the end of a run."""
        return self._call("step_wait", _word(polls))

    def report(self) -> Report:
        """What the last run left behind."""
        found = self._code.step_report(ctypes.byref(self._engine))
        self._raise()
        return found

    def reset(self) -> None:
        """Stop any run."""
        self._code.step_reset(ctypes.byref(self._engine))
        self._raise()


def _word(number: int) -> ctypes.c_uint32:
    return ctypes.c_uint32(number)


def _size(number: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(number)


def _array(words: Sequence[int]) -> Any:
    return (ctypes.c_uint32 * len(words))(*words)
