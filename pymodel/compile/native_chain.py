"""Chains in native code: each stage read as a list, repeats side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pymodel.compile import native_list
from pymodel.compile.chains import Chain, Part
from pymodel.compile.native import Arithmetic

SYSTEMS = 64  #: systems that are evaluated at once at least, by several repeats if need be


class NativeChain:
    """A chain of stages that carry nothing, whose repeats are therefore systems like others.

    Parameters
    ----------
    chain : Chain
        It runs once, and emits at its end.
    arithmetic, flags
        As for :func:`pymodel.compile.native.build`.

    Raises
    ------
    ValueError, NoCompilerError
        As :func:`pymodel.compile.native_list.build`; if the chain loops or emits before its end.
    """

    def __init__(self, chain: Chain, arithmetic: str | Arithmetic, *, flags: bool = False) -> None:
        if (
            chain.loops != 1
            or [part.emit for part in chain.parts].index(True) < len(chain.parts) - 1
        ):
            raise ValueError("a chain that loops, or emits before its end")
        self.chain = chain
        self._built = {
            name: native_list.build(stage.kernel, arithmetic, flags=flags)
            for name, stage in chain.stages.items()
        }

    def evaluate(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """As :meth:`pymodel.compile.native.NativeKernel.evaluate`, parameters as recorded."""
        return self.evaluate_with_flags(inputs)[0]

    def evaluate_with_flags(self, inputs: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], int]:
        """The same, with the float flags."""
        given = {name: np.asarray(inputs[name], float) for name in self.chain.inputs}
        rows = max((x.size for x in given.values()), default=1)
        call = _Call({name: np.broadcast_to(x, rows) for name, x in given.items()}, rows)
        for part in self.chain.parts:
            together = max(SYSTEMS // rows, 1)
            for begin in range(0, part.repeat, together):
                self._run(call, part, range(begin, min(begin + together, part.repeat)))
        return {name: call.found[k] for k, name in enumerate(self.chain.outputs)}, call.flags

    def _run(self, call: _Call, part: Part, repeats: range) -> None:
        """Evaluate some repeats of a part."""
        stage, built = self.chain.stages[part.stage], self._built[part.stage]
        values = {}
        for name in stage.kernel.inputs:
            if name not in stage.loads:
                values[name] = np.tile(call.registers[name], len(repeats))
                continue
            number, from_scratch = stage.loads[name]
            places = [number + repeat * part.in_stride for repeat in repeats]
            values[name] = np.concatenate(
                [
                    call.scratch[k] if from_scratch else call.given[self.chain.inputs[k]]
                    for k in places
                ]
            )
        found, flags = built.evaluate_with_flags(values)
        call.flags |= flags
        for name, x in found.items():
            slot = stage.stores.get(name)
            if slot is None:
                call.registers[name] = x[-call.rows :]
                continue
            stored = call.scratch if slot.scratch else call.found
            for k, repeat in enumerate(repeats):
                place = slot.number + repeat * part.out_stride
                stored[place] = x[k * call.rows : (k + 1) * call.rows]


class _Call:
    """Values of an evaluation: arrays of one number a row."""

    def __init__(self, given: Mapping[str, np.ndarray], rows: int) -> None:
        self.given, self.rows, self.flags = given, rows, 0
        self.registers: dict[str, np.ndarray] = {}
        self.scratch: dict[int, np.ndarray] = {}
        self.found: dict[int, np.ndarray] = {}
