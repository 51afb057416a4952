"""Chains: functions that an array runs segment by segment.

A segment is a kernel that may repeat, with numbers of words that advance from repeat to repeat.
Segments hand on what they keep in registers, and what one stores in the scratch memory a later one
loads. A chain of one segment is a plain call.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.compile.kernel import Kernel, Slot
from pymodel.compile.streams import numbered, sent, streamed


@dataclass(frozen=True)
class Stage:
    """A kernel of a chain, and where its words are in the first repeat.

    Attributes
    ----------
    kernel : Kernel
        Not streamed. What it carries lasts from repeat to repeat.
    loads, stores : dict
        Name of an input, or of an output -> :class:`Slot`. Other outputs are kept in registers,
        and other inputs are what earlier stages keep.
    varied : tuple of str
        As for :func:`pymodel.compile.streams.streamed`; they are among ``loads``.
    """

    kernel: Kernel
    loads: Mapping[str, Slot]
    stores: Mapping[str, Slot]
    varied: Collection[str] = ()

    @property
    def kept(self) -> set[str]:
        """Names of the outputs that stay in registers."""
        return self.kernel.outputs.keys() - self.stores.keys()

    @property
    def streamed(self) -> Kernel:
        """The kernel as it is scheduled."""
        return streamed(self.kernel, self.varied, self.loads, self.stores)


class Part(NamedTuple):
    """A segment of a chain; its fields are those of :class:`pymodel.machine.array.Segment`."""

    stage: str
    repeat: int = 1
    in_stride: int = 0
    out_stride: int = 0
    quiet: bool = False
    emit: bool = False


@dataclass(frozen=True)
class Chain:
    """A function of an array.

    Attributes
    ----------
    stages : dict
        Name -> :class:`Stage`; the name is "" of the one that is called like the function.
    parts : tuple of Part
        In the order in which they run.
    inputs, outputs : tuple of str
        Names of the words of a call on the streams, in their order.
    loop_from : int, optional
        From this part on the chain runs ``loops`` times; default: the last one.
    loops : int

    Raises
    ------
    ValueError
        If a stage has an input that is neither loaded nor kept by an earlier one.
    """

    stages: Mapping[str, Stage]
    parts: Sequence[Part]
    inputs: Sequence[str]
    outputs: Sequence[str]
    loop_from: int | None = None
    loops: int = 1

    def __post_init__(self) -> None:
        kept: set[str] = set()
        for part in self.parts:
            stage = self.stages[part.stage]
            missing = stage.kernel.inputs.keys() - stage.loads.keys() - kept
            if missing:
                names = ", ".join(sorted(missing))
                raise ValueError(f"stage {part.stage!r}: nobody has kept {names}")
            kept |= stage.kept

    @classmethod
    def of(cls, kernel: Kernel) -> "Chain":
        """A call of a kernel.

        Raises
        ------
        ValueError
            If it carries values.
        """
        if kernel.carried:
            raise ValueError(f"a call carries nothing, this kernel {', '.join(kernel.carried)}")
        stage = Stage(kernel, numbered(sent(kernel)), numbered(kernel.outputs))
        return cls({"": stage}, (Part("", emit=True),), tuple(stage.loads), tuple(stage.stores))

    @property
    def scratch(self) -> int:
        """Words of the scratch memory that it uses."""
        numbers = [
            slot.number + (part.repeat - 1) * stride
            for part in self.parts
            for slots, stride in (
                (self.stages[part.stage].loads, part.in_stride),
                (self.stages[part.stage].stores, part.out_stride),
            )
            for slot in slots.values()
            if slot.scratch
        ]
        return max(numbers, default=-1) + 1

    def order(self) -> Iterator[Part]:
        """Its parts in the order in which they run, those of the loop again and again."""
        loop_from = len(self.parts) - 1 if self.loop_from is None else self.loop_from
        yield from self.parts[:loop_from]
        for _ in range(self.loops):
            yield from self.parts[loop_from:]

    def evaluate(
        self, arithmetic: SupportsArithmetic[S], inputs: Mapping[str, S]
    ) -> list[dict[str, S]]:
        """Evaluate its kernels one after the other.

        Parameters
        ----------
        arithmetic : SupportsArithmetic
        inputs : dict
            Name -> scalar.

        Returns
        -------
        list of dict
            For each part that emits: name -> scalar of every output.

        Raises
        ------
        KeyError
            If a stage reads what no stage has stored before, or has data of a call as a parameter.
        """
        registers: dict[str, S] = {}
        scratch: dict[int, S] = {}
        given: dict[str, S] = {}
        rows = []
        for part in self.order():
            stage = self.stages[part.stage]
            if stage.varied:
                raise KeyError(f"data of each call: {', '.join(stage.varied)}")
            for repeat in range(part.repeat):
                values = dict(registers)
                for name, (number, from_scratch) in stage.loads.items():
                    number += repeat * part.in_stride
                    values[name] = scratch[number] if from_scratch else inputs[self.inputs[number]]
                for name, value in stage.kernel.evaluate(arithmetic, values).items():
                    slot = stage.stores.get(name)
                    if slot is None:
                        registers[name] = value
                        continue
                    number = slot.number + repeat * part.out_stride
                    if slot.scratch:
                        scratch[number] = value
                    elif not part.quiet:
                        given[self.outputs[number]] = value
            if part.emit:
                rows.append({name: given[name] for name in self.outputs})
        return rows
