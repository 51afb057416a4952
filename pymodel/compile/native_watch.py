"""Steps of native code that are watched as the model watches its own, in C.

What a run does not keep and nobody has to look at leaves no trace: the C (``native_watch.c``) takes
some steps, looks at what they left, and takes the next ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cffi import FFI

from pymodel.arith.c_build import compiler, opened, shared_library
from pymodel.compile.native import OPTIONS, NativeKernel, checked, multiples
from pymodel.compile.watched_step import WatchedStep

_SOURCE = Path(__file__).with_suffix(".c")
_DECLARATIONS = """
typedef struct {
  int64_t lanes, carried, results, ranges; const int32_t *finite;
  int64_t nonzeros; const int32_t *nonzero; int64_t joints, parts; const int32_t *joint;
  int64_t kept; const int32_t *keep; int64_t shown; const int32_t *show;
} layout;
typedef struct {
  int64_t blocks, first, steps, every, save, fixed, fixed_special, span;
  double limit;
} course;
unsigned watch(const layout *l, const course *c, void *advance, const void *in, void *state,
               const void *k, const void *k_special, void *room, const uint8_t *definite,
               double *kept, int64_t kept_rows, double *shown, int64_t *done, double *worst,
               int64_t *worst_step);
"""
#: Numbers that steps leave before they are looked at: they are to stay in the processor's cache.
_ROOM = 4096
#: Steps that are taken together at most.
_SPAN = 64


@cache
def _library(carrier: int) -> tuple[FFI, Any]:
    """The built C for kernels whose numbers have so many bits."""
    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    options = [*OPTIONS, f"-DCARRIER={carrier}", *compiler().float_options]
    built = shared_library({_SOURCE.name: _SOURCE.read_text()}, options)
    return ffi, opened(ffi, built)


class Watched(NamedTuple):
    """What steps of N systems left.

    Attributes
    ----------
    state : ndarray
        In blocks, as it was given, after all steps; of a system that ended it means nothing.
    done : ndarray of int, shape (N,)
        Steps before the first one that is not right.
    worst, worst_step : ndarray, shape (N,)
        Largest condition number of a joint matrix in these, -inf without any, and the first step
        that has it.
    kept : ndarray, shape (N, kept steps, names)
        Numbers of the steps to keep, as far as there are such before ``done``.
    shown : ndarray, shape (N, steps, names)
        Numbers of all steps before ``done``.
    flags : int
        Of all steps that were taken.
    """

    state: np.ndarray
    done: np.ndarray
    worst: np.ndarray
    worst_step: np.ndarray
    kept: np.ndarray
    shown: np.ndarray
    flags: int


@dataclass(frozen=True)
class Systems:
    """What systems have that run at once.

    Attributes
    ----------
    rows : int
        Their number, N.
    fixed, fixed_special : ndarray
        What :meth:`NativeKernel.fixed` gives for a step, and for the special one.
    limit : float
        Condition number of a joint matrix (33) from which a step is not right.
    definite : ndarray of bool, shape (N,)
        As for :func:`pymodel.algorithms.conditions.joint_condition`.
    """

    rows: int
    fixed: np.ndarray
    fixed_special: np.ndarray
    limit: float
    definite: np.ndarray


class WatchedKernel:
    """The built steps of a :class:`WatchedStep`.

    Parameters
    ----------
    kernel : NativeKernel
    step : WatchedStep
        What it was built of.
    keep, show : sequence of str
        Names of carried values and outputs to keep of the steps that are saved, and of all steps.
    joints : bool
        Judge the joint matrices (33), which must be of two rows.
    """

    def __init__(
        self,
        kernel: NativeKernel,
        step: WatchedStep,
        keep: Sequence[str],
        show: Sequence[str],
        joints: bool,
    ) -> None:
        self.kernel, self.keep, self.show = kernel, keep, show
        names = [*kernel.kernel.carried, *kernel.kernel.outputs]
        place = {name: index for index, name in enumerate(names)}
        judged = [index for index, name in enumerate(names) if not name.startswith("joint")]
        self._ffi, self._library = _library(kernel.code.carrier)
        matrices = step.joint if joints else []
        parts = max(map(len, matrices), default=0)
        joint = [
            place.get(name, -1)
            for matrix in matrices
            for part in [*matrix, *[None] * (parts - len(matrix))]
            for name in ((part[0][0], part[0][1], part[1][1]) if part else [""] * 3)
        ]
        places = {
            "finite": _ranges(judged),
            "nonzero": [place[name] for name in step.nonzero],
            "joint": joint,
            "keep": [place[name] for name in keep],
            "show": [place[name] for name in show],
        }
        self._places = {name: np.array(x, np.int32) for name, x in places.items()}
        self._layout = self._ffi.new("layout *")
        sizes = {"lanes": kernel.lanes, "carried": len(kernel.kernel.carried)}
        sizes |= {"results": len(names), "ranges": len(self._places["finite"]) // 2}
        sizes |= {"nonzeros": len(step.nonzero), "joints": len(matrices), "parts": parts}
        sizes |= {"kept": len(keep), "shown": len(show)}
        for name, size in sizes.items():
            setattr(self._layout, name, size)
        for name, x in self._places.items():
            setattr(self._layout, name, self._ffi.from_buffer("int32_t[]", x))
        self._span = max(min(_ROOM // (len(names) * kernel.lanes), _SPAN), 1)
        self._room = np.empty(self._span * len(names) * kernel.lanes, kernel.dtype)
        self._advance = self._ffi.cast("void *", kernel.address("advance"))

    def advance(
        self, systems: Systems, state: np.ndarray, first: int, steps: int, every: int, save: int
    ) -> Watched:
        """Take steps, each of which is watched; the state is changed in place.

        Parameters
        ----------
        systems : Systems
        state : ndarray
            The carried values in blocks, as :meth:`NativeKernel.blocks` gives them.
        first, steps, every, save : int
            As for :meth:`NativeKernel.advance`; save is 1 or more.
        """
        ffi, lanes = self._ffi, self.kernel.lanes
        blocks, size = len(state), len(state) * lanes
        definite = np.ones(size, np.uint8)
        definite[: systems.rows] = systems.definite
        layout, kept_rows = self._layout, multiples(first, steps, save)
        kept = np.empty((size, kept_rows, layout.kept))
        shown = np.zeros((size, steps, layout.shown))
        done, worst_step = np.empty(size, np.int64), np.empty(size, np.int64)
        worst = np.empty(size)
        own = self.kernel.code.own_parameters
        counts = blocks, first, steps, every, save
        fixed = [x[0].size if own else 0 for x in (systems.fixed, systems.fixed_special)]
        course = ffi.new("course *", [*counts, *fixed, self._span, systems.limit])

        def pointer(x: np.ndarray, kind: str = "void *") -> Any:
            return ffi.cast(kind, x.ctypes.data)

        flags = checked(
            self._library.watch(
                layout,
                course,
                self._advance,
                pointer(state),  # there are no inputs
                pointer(state),
                pointer(systems.fixed),
                pointer(systems.fixed_special),
                pointer(self._room),
                pointer(definite, "uint8_t *"),
                pointer(kept, "double *"),
                kept_rows,
                pointer(shown, "double *"),
                pointer(done, "int64_t *"),
                pointer(worst, "double *"),
                pointer(worst_step, "int64_t *"),
            )
        )
        given = slice(systems.rows)
        found = done[given], worst[given], worst_step[given], kept[given], shown[given]
        return Watched(state, *found, flags)


def _ranges(places: Sequence[int]) -> list[int]:
    """Ascending places as ranges: the first one, and that behind the last, of each."""
    found: list[int] = []
    for place in places:
        if found and found[-1] == place:
            found[-1] += 1
        else:
            found += [place, place + 1]
    return found
