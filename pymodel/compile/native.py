"""Kernels as machine code: C built by the machine's compiler, called on numpy arrays.

The bits are those of the model: float64 as Python computes it, binary32 and narrower formats as the
hardware units do. What was built once is kept in the user's cache folder, by its content.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from cffi import FFI

from pymodel.arith import scalars, sincos
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.c_build import NoCompilerError as NoCompilerError
from pymodel.arith.c_build import check as check
from pymodel.arith.c_build import compiler, opened, shared_library
from pymodel.arith.errors import require_flag
from pymodel.arith.fp import BINARY32
from pymodel.arith.numbers import check_dict, check_names, numbers, whole
from pymodel.compile.emit_c import Emitted, emit
from pymodel.compile.graph import Ref
from pymodel.compile.kernel import Kernel

OPTIONS = (
    "-O2",
    "-march=native",
    "-mprefer-vector-width=512",
    "-std=gnu11",
    "-fPIC",
    "-ffp-contract=off",  # a b + c keeps both roundings
    "-fno-fast-math",  # nor does $CC change them, or the subnormals of the whole process
    "-fno-unsafe-math-optimizations",
    "-fwrapv",  # angles are fixed point, modulo a turn
    "-fno-math-errno",
    "-fno-tree-slp-vectorize",
    "-Wno-psabi",
)
#: A kernel of more operations is compiled by fewer passes, some pieces a file: it takes two thirds
#: of the compiler's time, and the code is as fast.
LARGE, LARGE_OPTIONS, PIECES_OF_LARGE = 20_000, ("-O1",), 8
HERE = Path(__file__).parent
_COMMON = ("native.h", "native_call.h", "native_sincos.c")
_RUN = "native_run.c"
_NO_MEMORY = 0xFFFFFFFF
MAX_LANES = 64  # more take a compiler minutes, and are no faster
_CALL = 10_000_000  # operations of a call at most, for Ctrl-C: some hundredths of a second
_SINE = 20  # of those that a sine takes as long as
_SOME = 100  # steps of a call at least, if there are as many: what systems leave stays in the cache
_MOST = (1 << 62) - 1  # steps: the number of the last one is of 64 bits with a sign

#: Of what ``native_call.h`` defines.
CALL_DECLARATIONS = """
void from_doubles(const double *x, {number} *y, size_t count);
"""
_DECLARATIONS = """
unsigned evaluate(const {number} *in, {number} *out, const {number} *k, size_t blocks);
unsigned advance(const {number} *in, {number} *state, {number} *trace, const {number} *k,
                 const {number} *k_special, size_t blocks, size_t rows, int64_t first,
                 int64_t steps, int64_t every, int64_t save);
"""


Arithmetic = scalars.Float64 | scalars.BitExact


def build(
    kernel: Kernel,
    arithmetic: str | Arithmetic = "float32",
    special: Kernel | None = None,
    *,
    lanes: int | None = None,
    flags: bool = False,
    own_parameters: bool = False,
) -> NativeKernel:
    """Build a kernel, or find it built.

    Parameters
    ----------
    kernel : Kernel
    arithmetic : str or an arithmetic
        ``float64``, ``float32``, or ``<EXP_W>/<MAN_W>`` of at most 8/23.
    special : Kernel, optional
        What some steps do instead, with the same inputs, carried values and outputs.
    lanes : int, optional
        Systems that are computed at once, a power of two: 1, or by default as many as the machine's
        vectors hold.
    flags : bool
        Keep the float flags, which costs time.
    own_parameters : bool
        Each system has parameters of its own.

    Returns
    -------
    NativeKernel

    Raises
    ------
    ValueError
        If the arithmetic is unknown or too wide, the lanes are no power of two or too many, the
        kernels do not go together, or flags or own_parameters is neither True nor False.
    NoCompilerError
        If it cannot be built here.
    """
    if lanes is not None:
        lanes = whole("lanes", lanes)
        if not 1 <= lanes <= MAX_LANES or lanes & (lanes - 1):
            raise ValueError(f"lanes is {lanes}, must be a power of two, 1 to {MAX_LANES}")
    switches = require_flag("flags", flags), require_flag("own_parameters", own_parameters)
    return NativeKernel(Code(kernel, arithmetic_of(arithmetic), special, lanes or 0, *switches))


def arithmetic_of(arithmetic: str | Arithmetic) -> Arithmetic:
    """Find the arithmetic of a name.

    Raises
    ------
    ValueError
        If there is no such arithmetic, or no native code in it.
    """
    found = scalars.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    if not isinstance(found, Arithmetic):
        raise ValueError(f"arithmetic is {found!r}, must be a name or an arithmetic")
    if isinstance(found, scalars.BitExact) and not found.fmt.has_sincos:
        raise ValueError(f"native code of {found.name}: must be float64, or not wider than float32")
    return found


@dataclass(frozen=True)
class Code:
    """A kernel's C; the attributes are those of :func:`build`, ``lanes`` 0 for the machine's."""

    kernel: Kernel
    arithmetic: Arithmetic
    special: Kernel | None = None
    lanes: int = 0
    flags: bool = False
    own_parameters: bool = False

    def __post_init__(self) -> None:
        if self.special is not None and any(
            list(getattr(self.kernel, kind)) != list(getattr(self.special, kind))
            for kind in ("inputs", "carried", "outputs")
        ):
            raise ValueError("the special kernel has other inputs, carried values or outputs")

    @property
    def carrier(self) -> int:
        """Bits of the machine's floats that hold the numbers."""
        return 32 if getattr(self.arithmetic, "fmt", None) == BINARY32 else 64

    @property
    def definitions(self) -> dict[str, int]:
        """What ``native.h`` wants to know."""
        fmt = getattr(self.arithmetic, "fmt", None)
        exp_w, man_w = (fmt.exp_w, fmt.man_w) if fmt else (11, 52)
        return {
            "LANES": self.lanes or compiler().vector_bits // self.carrier,
            "CARRIER": self.carrier,
            "EXP_W": exp_w,
            "MAN_W": man_w,
            "FLAGS": int(self.flags),
            "PER_ROW": int(self.own_parameters),
        }

    @cached_property
    def files(self) -> dict[str, str]:
        """Name -> text of the kernel's own files; those that end in ``.c`` are compiled."""
        kernels = {"MAIN": emit(self.kernel, "main_piece")}
        if self.special is not None:
            kernels["SPECIAL"] = emit(self.special, "special_piece")
        found = {_RUN: (HERE / _RUN).read_text(), "kernel.h": self._kernel_h(kernels)}
        for name, emitted in kernels.items():
            together = PIECES_OF_LARGE if self.large else 1
            for first in range(0, len(emitted.pieces), together):
                texts = ['#include "native.h"\n', *emitted.pieces[first : first + together]]
                found[f"{name.lower()}_{first}.c"] = "\n".join(texts)
        return found

    @cached_property
    def large(self) -> bool:
        """Whether compiling it takes long."""
        kernels = filter(None, (self.kernel, self.special))
        return any(len(kernel.operations) > LARGE for kernel in kernels)

    def _kernel_h(self, kernels: Mapping[str, Emitted]) -> str:
        sizes = {
            "INPUTS": len(self.kernel.inputs),
            "CARRIED": len(self.kernel.carried),
            "OUTPUTS": len(self.kernel.outputs),
            "FIXED": len(self.kernel.fixed_leaves),
            "SPECIAL_FIXED": len(self.special.fixed_leaves) if self.special else 0,
            "WORKSPACE": max(emitted.workspace for emitted in kernels.values()),
        }
        lines = [f"#define {name} {value}" for name, value in sizes.items()]
        for name, emitted in kernels.items():
            names = [f"{name.lower()}_piece_{k}" for k in range(len(emitted.pieces))]
            lines += [f"void {piece}(PIECE_ARGUMENTS);" for piece in names]
            calls = " ".join(f"{piece}(in, out, k, w);" for piece in names)
            lines.append(f"#define {name}(in, out, k, w) {calls}")
        if "SPECIAL" not in kernels:
            lines.append("#define SPECIAL MAIN")
        return "\n".join([*lines, ""])

    @cached_property
    def library(self) -> Path:
        """The shared library; built if it is not in the cache.

        Raises
        ------
        NoCompilerError
            If it cannot be built.
        """
        options = [*OPTIONS, *(f"-D{name}={value}" for name, value in self.definitions.items())]
        options += compiler().float_options
        straight = [x for x in self.files if x.startswith(("main_", "special_"))]
        more = dict.fromkeys(straight, LARGE_OPTIONS) if self.large else {}
        return shared_library(self.files, options, _common(), more)


@cache
def _common() -> dict[str, str]:
    """Name -> text of the files that all kernels have."""
    found = {name: (HERE / name).read_text() for name in _COMMON}
    return found | {"native_tables.h": sincos.c_tables()}


# --- the built kernel -----------------------------------------------------------------------------


class NativeKernel:
    """A kernel that was built.

    Parameters
    ----------
    code : Code

    Attributes
    ----------
    code : Code
    lanes : int
    dtype : numpy.dtype
        Of the numbers: float32 for binary32, float64 for all others.
    parameters : set of str
        Names of the parameters of the kernel, and of the special one.
    flags : int
        Sticky float flags of all evaluations (bits 4..0 as in ``fflags``), if they are kept.
    """

    DECLARATIONS: ClassVar[str] = CALL_DECLARATIONS + _DECLARATIONS

    def __init__(self, code: Code) -> None:
        self.code, self.kernel = code, code.kernel
        self.parameters = set(code.kernel.parameters)
        if code.special:
            self.parameters |= code.special.parameters.keys()
        self.lanes = code.definitions["LANES"]
        self.dtype = np.dtype(np.float32 if code.carrier == 32 else np.float64)
        self.flags = 0
        self._ffi = FFI()
        self._number = "float" if code.carrier == 32 else "double"
        self._ffi.cdef(self.DECLARATIONS.format(number=self._number))
        self._library = opened(self._ffi, code.library)

    def evaluate(
        self, inputs: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
    ) -> dict[str, np.ndarray]:
        """Evaluate once for each system. Ctrl-C ends it, as Python code.

        Parameters
        ----------
        inputs : dict
            Name -> float, or array of shape (N,), of every input and carried value. A float is
            rounded once, and a whole number taken as the nearest float64; a single one is the same
            for all.
        parameters : dict, optional
            Name -> float, or array (N,) if systems have their own, in place of the recorded ones.

        Returns
        -------
        dict
            Name -> array (N,) of the carried values after it, and of the outputs; its dtype is
            :attr:`dtype`.

        Raises
        ------
        ValueError
            If an input is missing, a name is no input or no parameter, something is no number, or
            shapes differ; and for arrays of a parameter without ``own_parameters``.
        """
        found, flags = self.evaluate_with_flags(inputs, parameters)
        self.flags |= flags
        return found

    def evaluate_with_flags(
        self, inputs: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], int]:
        """As :meth:`evaluate`, with the flags of this evaluation alone: threads may share it."""
        names = [*self.kernel.inputs, *self.kernel.carried]
        arrays = arrays_of(names, inputs)
        rows = rows_of(arrays, self._given(parameters))
        given = self.blocks(arrays, rows)
        own = parameters or self.code.own_parameters
        fixed = self.fixed(parameters, rows) if own else self._recorded_fixed
        found, flags = self._evaluated(given, fixed)
        return dict(zip(self.kernel.results, self.by_name(found, rows), strict=True)), flags

    def evaluate_rows(self, values: np.ndarray) -> np.ndarray:
        """Evaluate with rows of an array in place of names, and the recorded parameters.

        Parameters
        ----------
        values : numpy.ndarray, shape (inputs,) or (inputs, N)
            The inputs, then the carried values.

        Returns
        -------
        numpy.ndarray, shape (results,) or (results, N)
            What :meth:`evaluate` gives, in its order.

        Raises
        ------
        ValueError
            If there is another number of rows, something is no number, or systems have parameters
            of their own.
        """
        names = [*self.kernel.inputs, *self.kernel.carried]
        values = numbers("values", values)
        if np.shape(values)[:1] != (len(names),) or self.code.own_parameters:
            raise ValueError(f"values must be those of {', '.join(names)}, parameters recorded")
        values = np.ascontiguousarray(values)
        table = values.reshape(len(values), math.prod(values.shape[1:]))
        found, flags = self._evaluated(self._rounded(table), self._recorded_fixed)
        self.flags |= flags
        found = self.by_name(found, table.shape[1])
        return found.reshape(len(found), *values.shape[1:])

    def _evaluated(self, given: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, int]:
        """Results of blocks of systems, in blocks, and their flags."""
        blocks, flags = len(given), 0
        found = np.empty((blocks, len(self.kernel.results), self.lanes), self.dtype)
        size, _ = self._call(blocks, 1)
        for begin in range(0, blocks, size):
            some = slice(begin, begin + size)
            own = fixed[some] if self.code.own_parameters else fixed
            pointers = [self._pointer(x) for x in (given[some], found[some], own)]
            flags |= checked(self._evaluate_blocks(pointers, min(size, blocks - begin)))
        return found, flags

    def _evaluate_blocks(self, pointers: Sequence[Any], blocks: int) -> int:
        """Evaluate blocks: inputs, results and fixed leaves are where the pointers say."""
        flags: int = self._library.evaluate(*pointers, blocks)
        return flags

    def evaluate_bits(self, words: Sequence[int]) -> list[int]:
        """Evaluate one system, from bits to bits of the format.

        Parameters
        ----------
        words : sequence of int
            Bits of the inputs, then of the carried values; a NaN among them is the canonical one,
            and none is subnormal: the units give no others.

        Returns
        -------
        list of int
            Bits of the carried values after it, then of the outputs.

        Raises
        ------
        ValueError
            If there are more or fewer words, they are no bits of the format, or the code is in
            float64.
        """
        if not isinstance(self.code.arithmetic, scalars.BitExact):
            raise ValueError("bits are those of a format of the hardware, not of float64")
        fmt = self.code.arithmetic.fmt
        words = self._words(words, fmt.width)
        single = self.code.carrier == BINARY32.width
        given = (
            np.array(words, np.uint32).view(np.float32)
            if single
            else np.array([fmt.to_float(word) for word in words])
        )
        given = np.repeat(given, self.lanes).reshape(1, len(given), self.lanes)
        found, flags = self._evaluated(given, self._recorded_fixed)
        self.flags |= flags
        if single:
            bits: list[int] = found[0, :, 0].view(np.uint32).tolist()
            return bits
        return [fmt.from_float(x) for x in found[0, :, 0].tolist()]

    def _words(self, words: Sequence[int], width: int) -> array[int]:
        """Words of all inputs and carried values, which must be numbers of so many bits."""
        inputs, carried = self.kernel.inputs, self.kernel.carried
        try:
            found = array("I", list(words))  # a list: of bytes it would take the memory
            if len(found) == len(inputs) + len(carried) and not max(found, default=0) >> width:
                return found
        except (TypeError, OverflowError):  # something is no whole number, negative, or too large
            pass
        names = [*inputs, *carried]
        raise ValueError(f"words must be {len(names)} numbers of {width} bits: {', '.join(names)}")

    @cached_property
    def _recorded_fixed(self) -> np.ndarray:
        return self.fixed()

    def advance(
        self,
        state: Mapping[str, Any],
        steps: int,
        *,
        first: int = 0,
        every: int = 0,
        save: int = 1,
        inputs: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Evaluate a kernel with carried values so many times, one after the other.

        Ctrl-C ends it, as Python code.

        Parameters
        ----------
        state : dict
            Name -> float or array (N,) of the carried values to begin with.
        steps : int
        first : int
            Number of the first step.
        every : int
            Steps every, 2 every, ... are those of the special kernel; 0: none.
        save : int
            Keep steps 0, save, 2 save, ...; 0: none.
        inputs : dict, optional
            Name -> float or array (N,): the same in all steps.
        parameters : dict, optional
            As for :meth:`evaluate`.

        Returns
        -------
        state : dict
            Name -> array (N,) of the carried values afterwards.
        trace : dict
            Name -> array (T, N) of carried values before the kept steps, and of their outputs.

        Raises
        ------
        ValueError
            As :meth:`evaluate`; if nothing is carried, or there is no special kernel; if steps,
            first, every or save is no whole number, or negative.
        """
        if not self.kernel.carried:
            raise ValueError("a kernel that carries nothing has no steps")
        counts = {"steps": steps, "first": first, "every": every, "save": save}
        counts = {name: whole(name, count) for name, count in counts.items()}
        for name, count in counts.items():
            if not 0 <= count <= _MOST:
                raise ValueError(f"{name} is {count}, must lie in 0..{_MOST}")
        steps, first, every, save = counts.values()
        if every and self.code.special is None:
            raise ValueError("there is no special kernel for some of the steps")
        carried = arrays_of(self.kernel.carried, state)
        others = arrays_of(self.kernel.inputs, {} if inputs is None else inputs)
        rows = rows_of(carried, others, self._given(parameters))
        before, given = self.blocks(carried, rows), self.blocks(others, rows)
        names = [*self.kernel.carried, *self.kernel.outputs]
        kept = multiples(first, steps, save)
        blocks = len(before)
        trace = np.empty((blocks, kept, len(names), self.lanes), self.dtype)
        fixed = [self.fixed(parameters, rows)]
        if self.code.special is not None:
            fixed.append(self.fixed(parameters, rows, self.code.special))
        size, length = self._call(blocks, steps)
        if size >= blocks and length >= steps:
            self._take(given, before, trace, fixed, (kept, first, steps, every, save))
        else:
            for block in range(0, blocks, size):
                some = slice(block, block + size)
                own = [x[some] for x in fixed] if self.code.own_parameters else fixed
                for step in range(first, first + steps, length):
                    rest = trace[some, multiples(first, step - first, save) :]
                    part = kept, step, min(length, first + steps - step), every, save
                    self._take(given[some], before[some], rest, own, part)
        after = dict(zip(self.kernel.carried, self.by_name(before, rows), strict=True))
        shape = len(names), kept, blocks * self.lanes
        columns = trace.transpose(2, 1, 0, 3).reshape(shape)[..., :rows]
        return after, dict(zip(names, columns, strict=True))

    def _take(
        self,
        given: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
        fixed: Sequence[np.ndarray],
        counts: tuple[int, ...],
    ) -> None:
        """Take steps of blocks of systems: rows of the trace, first, how many, every, save."""
        pointers = map(self._pointer, (given, state, trace, fixed[0], fixed[-1]))
        self.flags |= checked(self._library.advance(*pointers, len(state), *counts))

    def _call(self, blocks: int, steps: int) -> tuple[int, int]:
        """Blocks and steps of a call: Python looks for Ctrl-C between calls only."""
        if self._most_work * blocks * steps <= _CALL:  # all in one, nothing is counted
            return max(blocks, 1), max(steps, 1)
        size = max(_CALL // (self.work * max(min(steps, _SOME), 1)), 1)
        return size, max(_CALL // (self.work * max(min(blocks, size), 1)), 1)

    @cached_property
    def _most_work(self) -> int:
        """No less than :attr:`work`, which takes longer to count."""
        kernels = filter(None, (self.kernel, self.code.special))
        return sum((1 + _SINE) * len(x.graph.nodes) + len(x.results) for x in kernels)

    @cached_property
    def work(self) -> int:
        """Operations of a step at most, a sine as many, and what a step moves."""
        kernels = filter(None, (self.kernel, self.code.special))
        counts = [(kernel, kernel.graph.count(kernel.results.values())) for kernel in kernels]
        return max(
            sum(found.values()) + _SINE * found["sincos"] + len(kernel.results)
            for kernel, found in counts
        )

    def address(self, function: str) -> int:
        """Address of a function of ``native_run.c``, for callers in C."""
        found = self._ffi.addressof(self._library, function)
        return int(self._ffi.cast("uintptr_t", found))

    def fixed(
        self,
        parameters: Mapping[str, Any] | None = None,
        rows: int = 1,
        kernel: Kernel | None = None,
    ) -> np.ndarray:
        """What depends on parameters and constants alone, as the built code takes it."""
        kernel = kernel or self.kernel
        arithmetic: Any = self.code.arithmetic
        parameters = kernel.parameters | {
            name: x for name, x in self._given(parameters).items() if name in kernel.parameters
        }
        if self.code.own_parameters:
            fmt = getattr(arithmetic, "fmt", None)
            arithmetic = FormatArrays(fmt) if fmt else scalars.Float64Arrays()
            parameters = {
                name: np.broadcast_to(np.asarray(x, float), rows) for name, x in parameters.items()
            }
            given = {name: arithmetic.array(x) if fmt else x for name, x in parameters.items()}
        else:
            given = {name: arithmetic.const(x) for name, x in parameters.items()}
        refs = [Ref(kernel.graph, index) for index in kernel.fixed_leaves]
        found = kernel.graph.evaluate(arithmetic, {}, refs, given)
        if not self.code.own_parameters:
            return np.array([arithmetic.to_float(x) for x in found], self.dtype)
        values = [np.broadcast_to(getattr(x, "values", x), rows) for x in found]
        return self._in_blocks(np.array(values, self.dtype).reshape(len(values), rows))

    def _given(self, parameters: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
        """Parameters that somebody gives, each of one of the kernels."""
        parameters = {} if parameters is None else parameters
        check_dict("parameters", parameters)
        unknown = [str(name) for name in parameters if name not in self.parameters]
        if unknown:
            raise ValueError(f"no parameters of this kernel: {', '.join(unknown)}")
        found = {name: numbers(name, x) for name, x in parameters.items()}
        for name, x in found.items():
            if x.ndim and not self.code.own_parameters:
                raise ValueError(f"{name}: an array, which takes own_parameters=True")
        return found

    def blocks(self, arrays: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
        """Numbers of systems by name, rounded, (blocks, names, lanes)."""
        table = np.empty((len(arrays), rows))
        for k, x in enumerate(arrays.values()):
            table[k] = x
        return self._rounded(table)

    def _rounded(self, table: np.ndarray) -> np.ndarray:
        """Numbers in blocks, of a table of doubles by name and system."""
        found = np.empty(table.shape, self.dtype)
        self._library.from_doubles(
            self._ffi.from_buffer("double[]", table), self._pointer(found), table.size
        )
        return self._in_blocks(found)

    def _in_blocks(self, table: np.ndarray) -> np.ndarray:
        """By block, name and system; the last system fills the last block."""
        names, rows = table.shape
        blocks = -(-rows // self.lanes)
        padded = np.empty((names, blocks * self.lanes), table.dtype)
        padded[:, :rows], padded[:, rows:] = table, table[:, -1:]
        return np.ascontiguousarray(padded.reshape(names, blocks, self.lanes).transpose(1, 0, 2))

    @staticmethod
    def by_name(blocks: np.ndarray, rows: int) -> np.ndarray:
        """Of blocks (blocks, names, lanes) by name and system."""
        shape = blocks.shape[1], len(blocks) * blocks.shape[2]
        return blocks.transpose(1, 0, 2).reshape(shape)[:, :rows]

    def _pointer(self, array: np.ndarray) -> Any:
        return self._ffi.cast(f"{self._number} *", array.ctypes.data)


def checked(flags: int) -> int:
    """The flags that built code gives back."""
    if flags == _NO_MEMORY:
        raise MemoryError("native code: no memory for its workspace")
    return flags


def multiples(first: int, steps: int, save: int) -> int:
    """How many of these steps leave a row."""
    return len(range(-first % save + first, first + steps, save)) if save else 0


def arrays_of(names: Collection[str], values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of inputs, or of what is carried, in the order of their names."""
    check_names("values", values, names, "those of this kernel")
    return {name: numbers(name, values[name]) for name in names}


def rows_of(*groups: Mapping[str, np.ndarray]) -> int:
    """How many systems there are in all these values."""
    lengths = set()
    for name, x in ((name, x) for group in groups for name, x in group.items() if x.ndim):
        if x.ndim > 1:
            raise ValueError(f"{name}: shape {x.shape}, must be (N,)")
        lengths.add(len(x))
    if len(lengths - {1}) > 1:
        raise ValueError(f"arrays differ in length: {', '.join(map(str, sorted(lengths)))}")
    return max(lengths - {1}, default=1)
