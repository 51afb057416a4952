"""The C of this folder, compiled for given sizes and declared to cffi by its own headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI

from pymodel.arith.c_build import opened, shared_library

OPTIONS = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-fno-math-errno")
_FOLDER = Path(__file__).parent
_ENTRIES = {"float64": "double", "float32": "float", "uint64": "size_t"}


def declarations(header: str, sizes: Mapping[str, Any]) -> str:
    """What cffi takes of a header: without preprocessor, with the sizes that are macros there."""
    text = re.sub(r"^#.*\n", "", header, flags=re.MULTILINE)
    for name, size in sizes.items():
        text = re.sub(rf"\b{name}\b", str(size), text)
    return text


class Library:
    """Functions and structures of some sources, ``name.c`` with ``name.h``.

    Parameters
    ----------
    *names : str
    **sizes
        Macro -> value, the same for all sources.

    Raises
    ------
    NoCompilerError
        If there is no C compiler.
    """

    def __init__(self, *names: str, **sizes: Any) -> None:
        files = {
            path.name: path.read_text()
            for name in names
            for path in (_FOLDER / f"{name}.c", _FOLDER / f"{name}.h")
        }
        self._ffi, self._kept = FFI(), list[Any]()
        for name in names:
            self._ffi.cdef(declarations(files[f"{name}.h"], sizes))
        options = [*OPTIONS, *(f"-D{name}={size}" for name, size in sizes.items())]
        self._library = opened(self._ffi, shared_library(files, options))

    def struct(self, kind: str, **values: Any) -> Any:
        """A structure, with its arrays, which are kept as long as this is.

        Arrays of whole numbers are of ``size_t``; an ``int`` for a function is its address.
        """
        found = self._ffi.new(f"{kind} *")
        fields = dict(self._ffi.typeof(kind).fields)
        for name, value in values.items():
            given = value
            if isinstance(value, np.ndarray):
                array = np.ascontiguousarray(value)
                self._kept.append(array)
                given = self._pointer(array)
            elif fields[name].type.kind == "pointer" or fields[name].type.kind == "function":
                given = self._ffi.cast(fields[name].type, value)
            setattr(found, name, given)
        return found

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function; arrays must be contiguous and are passed as pointers."""
        given = [self._pointer(x) if isinstance(x, np.ndarray) else x for x in arguments]
        return getattr(self._library, function)(*given)

    def _pointer(self, array: np.ndarray) -> Any:
        kind = _ENTRIES.get(array.dtype.name, "void")
        return self._ffi.cast(f"{kind} *", array.ctypes.data)


def doubles(x: Any) -> np.ndarray:
    """The array as C takes it."""
    return np.ascontiguousarray(x, dtype=np.float64)
