"""Chains in native code: each stage read as a list, several repeats of it at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pymodel.compile import native_list
from pymodel.compile.chains import Chain, Part
from pymodel.compile.native import Arithmetic, arrays_of, rows_of

SYSTEMS = 64  #: systems that are evaluated at once at least, by several repeats if need be


class NativeChain:
    """A chain whose repeats of a stage are evaluated at once, as systems are.

    Parameters
    ----------
    chain : Chain
        It runs once, and emits at its end. No repeat of a part takes what another one of the same
        part gives, neither through the scratch memory nor in a register, as of
        :func:`pymodel.compile.robot_kernels.in_columns`.
    arithmetic, flags
        As for :func:`pymodel.compile.native.build`.

    Raises
    ------
    ValueError, NoCompilerError
        As :func:`pymodel.compile.native_list.build`; if the chain is no such.
    """

    def __init__(self, chain: Chain, arithmetic: str | Arithmetic, *, flags: bool = False) -> None:
        *before, last = [part.emit for part in chain.parts]
        if chain.loops != 1 or any(before) or not last:
            raise ValueError("a chain that loops, or does not emit at its end alone")
        for part in chain.parts:
            if part.repeat > 1 and (name := _handed_on(chain, part)):
                raise ValueError(f"a repeat of stage {part.stage!r} takes {name} of another one")
        self.chain = chain
        self._built = {
            name: native_list.build(stage.kernel, arithmetic, flags=flags)
            for name, stage in chain.stages.items()
        }

    def evaluate(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Evaluate once for each system, with the recorded parameters.

        Parameters
        ----------
        inputs : dict
            Name -> float, or array of shape (N,), of every input of the chain.

        Returns
        -------
        dict
            Name -> array (N,) of the outputs; its dtype is that of
            :attr:`pymodel.compile.native.NativeKernel.dtype`.

        Raises
        ------
        ValueError
            If an input is missing, a name is no input, something is no number, or shapes differ.
        """
        return self.evaluate_with_flags(inputs)[0]

    def evaluate_with_flags(self, inputs: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], int]:
        """The same, with the float flags."""
        given = arrays_of(self.chain.inputs, inputs)
        rows = rows_of(given)
        call = _Call({name: np.broadcast_to(x, rows) for name, x in given.items()}, rows)
        for part in self.chain.parts:
            together = max(SYSTEMS // max(rows, 1), 1)
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


def _handed_on(chain: Chain, part: Part) -> str:
    """What a repeat of a part takes that another one gives; nothing if there is nothing."""
    stage = chain.stages[part.stage]
    written = {
        slot.number + repeat * part.out_stride
        for slot in stage.stores.values()
        if slot.scratch
        for repeat in range(part.repeat)
    }
    for name in stage.kernel.inputs:
        number, from_scratch = stage.loads.get(name, (0, False))
        places = {number + repeat * part.in_stride for repeat in range(part.repeat)}
        if (from_scratch and places & written) or name in stage.kept - stage.loads.keys():
            return name
    return ""


class _Call:
    """Values of an evaluation: arrays of one number a row."""

    def __init__(self, given: Mapping[str, np.ndarray], rows: int) -> None:
        self.given, self.rows, self.flags = given, rows, 0
        self.registers: dict[str, np.ndarray] = {}
        self.scratch: dict[int, np.ndarray] = {}
        self.found: dict[int, np.ndarray] = {}
