"""Time of built kernels: loops in C around them, all arrays prepared."""

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from pymodel.compile.native import NativeKernel
from scripts.evidence.benchmarks.peers import building

Values = Mapping[str, np.ndarray]

_SOURCE = Path(__file__).with_suffix(".c")
_FLAGS = ("-O2", "-shared", "-fPIC")


@cache
def _clock() -> ctypes.CDLL:
    library = ctypes.CDLL(str(building.compiled(_SOURCE, "gcc", _FLAGS, ["cffi"])))
    pointer, size, integer = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
    library.evaluations_ns.restype = library.steps_ns.restype = ctypes.c_double
    library.evaluations_ns.argtypes = [
        *(pointer, pointer, size, ctypes.c_int),
        *(pointer, pointer, size, ctypes.c_double),
    ]
    library.steps_ns.argtypes = [
        *(pointer, pointer, pointer, size, pointer),
        *(size, integer, ctypes.c_double),
    ]
    return library


def evaluation_ns(built: NativeKernel, inputs: Values, together: int, budget: float) -> float:
    """Time of one evaluation.

    Parameters
    ----------
    built : NativeKernel
    inputs : dict
        Name -> array (N,): the states that are evaluated in turn.
    together : int
        Systems of a call; as many lanes as the kernel has, or a multiple.
    budget : float
        Seconds to spend.

    Returns
    -------
    float
        ns a system, of the fastest round.
    """
    given = _in_blocks(built, [inputs[name] for name in built.kernel.inputs])
    blocks = together // built.lanes
    count = len(given) // blocks
    results = _aligned((blocks, len(built.kernel.results), built.lanes), built.dtype)
    fixed = built.fixed()
    address = built.address("evaluate")
    ns = _clock().evaluations_ns(
        *(address, given.ctypes.data, given[:blocks].nbytes, count),
        *(results.ctypes.data, fixed.ctypes.data, blocks, 1e9 * budget),
    )
    return ns / count / together


def step_ns(built: NativeKernel, state: Values, steps: int, budget: float) -> float:
    """Time of one step of one system, in runs of so many steps from the same state.

    Parameters
    ----------
    built : NativeKernel
    state : dict
        Name -> array (N,) of the carried values.
    steps : int
    budget : float
        Seconds to spend.

    Returns
    -------
    float
        ns, of the fastest run.
    """
    start = _in_blocks(built, [state[name] for name in built.kernel.carried])
    now = _aligned(start.shape, built.dtype)
    fixed = built.fixed()
    ns = _clock().steps_ns(
        *(built.address("advance"), start.ctypes.data, now.ctypes.data, start.nbytes),
        *(fixed.ctypes.data, len(start), steps, 1e9 * budget),
    )
    return ns / steps / len(start) / built.lanes


def _in_blocks(built: NativeKernel, columns: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers as built code takes them: by block of systems, name, system in the block."""
    table = np.array(columns, built.dtype).reshape(len(columns), -1, built.lanes)
    found = _aligned((table.shape[1], len(columns), built.lanes), built.dtype)
    found[:] = table.swapaxes(0, 1)
    return found


def _aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array that begins on a cache line."""
    line = 64
    bytes_ = np.empty(int(np.prod(shape)) * dtype.itemsize + line, np.uint8)
    first = -bytes_.ctypes.data % line
    return bytes_[first : first + bytes_.size - line].view(dtype).reshape(shape)
