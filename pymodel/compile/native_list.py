"""Kernels read as lists of operations by compiled C: at once there, slower in each call.

For functions of tens of thousands of operations that are called some thousand times: a compiler
takes longer for them than all the calls. The bits are those of :mod:`pymodel.compile.native`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from pymodel.arith.errors import require_flag
from pymodel.compile.kernel import Kernel
from pymodel.compile.native import (
    CALL_DECLARATIONS,
    HERE,
    Arithmetic,
    Code,
    NativeKernel,
    arithmetic_of,
)
from pymodel.compile.operation_list import listed

_READER = "native_list.c"
_DECLARATIONS = """
unsigned evaluate_list(const {number} *in, {number} *out, const {number} *k, size_t blocks,
                       const int32_t *list, size_t length, size_t inputs, size_t fixed,
                       size_t results, size_t slots);
"""


def build(
    kernel: Kernel, arithmetic: str | Arithmetic = "float32", *, flags: bool = False
) -> ListedKernel:
    """Write a kernel's list, and build what reads lists, or find it built.

    Parameters
    ----------
    kernel : Kernel
        It carries nothing.
    arithmetic, flags
        As for :func:`pymodel.compile.native.build`.

    Returns
    -------
    ListedKernel
        To be evaluated: it takes no steps and has no address for callers in C.

    Raises
    ------
    ValueError, NoCompilerError
        As :func:`pymodel.compile.native.build`; if it carries values.
    """
    if kernel.carried:
        raise ValueError(f"a list of operations carries nothing: {', '.join(kernel.carried)}")
    return ListedKernel(
        ListedCode(kernel, arithmetic_of(arithmetic), flags=require_flag("flags", flags))
    )


class ListedCode(Code):
    """What reads a kernel's list: the same C for all kernels of an arithmetic."""

    large = False

    @cached_property
    def files(self) -> dict[str, str]:
        """Name -> text of the reader."""
        return {_READER: (HERE / _READER).read_text()}


class ListedKernel(NativeKernel):
    """A kernel that is read; see :class:`pymodel.compile.native.NativeKernel`."""

    DECLARATIONS: ClassVar[str] = CALL_DECLARATIONS + _DECLARATIONS

    def __init__(self, code: ListedCode) -> None:
        super().__init__(code)
        self.list = listed(code.kernel)
        kernel = code.kernel
        self._operations = self._ffi.from_buffer("int32_t[]", self.list.words)
        self._sizes = (
            len(self.list.words) // 4,
            len(kernel.inputs),
            len(kernel.fixed_leaves),
            len(kernel.results),
            self.list.slots,
        )

    def address(self, function: str) -> int:
        """There is none for callers in C, who have no list: a ValueError."""
        raise ValueError(f"{function}: a kernel that is read as a list has no address")

    def _evaluate_blocks(self, pointers: Sequence[Any], blocks: int) -> int:
        flags: int = self._library.evaluate_list(*pointers, blocks, self._operations, *self._sizes)
        return flags
