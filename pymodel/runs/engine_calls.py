"""Calls on a step engine: what it is loaded with, and what its trace means.

A :class:`Call` evaluates a kernel, once for each set of inputs; a :class:`Library` is several
calls, whose programs the engine holds at once. Nothing here depends on whether the engine is the
model (:class:`pymodel.machine.model.Twin`) or the RTL.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pymodel.arith.errors import require
from pymodel.arith.numbers import check_names, numbers
from pymodel.compile.kernel import Kernel, apart
from pymodel.compile.schedule import schedule, schedule_library
from pymodel.machine.isa import Location, Machine, Program, ProgramError
from pymodel.machine.model import Twin
from pymodel.runs.recorder import NonFiniteError


@dataclass(frozen=True)
class Call:
    """A function on one engine: from inputs to outputs.

    Attributes
    ----------
    kernel : Kernel
    program : Program
    image : dict
        Location -> bits: what to load once, the parameters.
    number, start, entry : int
        In a library: the program's number, its first word, and its first entry of the trace list.
    """

    kernel: Kernel
    program: Program
    image: dict[Location, int]
    number: int = 0
    start: int = 0
    entry: int = 0

    def __repr__(self) -> str:
        return f"<Call: {self.kernel!r} as {self.program!r}>"

    @property
    def outputs(self) -> dict[str, Location]:
        """Name -> Location, of context 0: what to trace after an evaluation."""
        return self.program.outputs

    @property
    def traced(self) -> list[Location]:
        """The outputs of all contexts, one context after the other."""
        contexts = range(self.program.machine.contexts)
        return [self.program.at(name, context) for context in contexts for name in self.outputs]

    def registers(self, *inputs: Mapping[str, int]) -> dict[Location, int]:
        """Find what to load for one evaluation.

        Parameters
        ----------
        *inputs : dict
            Name -> bits of every input, for one context after the other; those that are left have
            the same as the last one.

        Returns
        -------
        dict
            Location -> bits; consecutive locations, except in a library.

        Raises
        ------
        ValueError
            If an input is missing, or a name is no input.
        """
        return _placed(self.program, self.program.inputs, inputs, "inputs")

    def state(self, *values: Mapping[str, int]) -> dict[Location, int]:
        """Find what to load to begin with: as :meth:`registers`, for every carried value."""
        return _placed(self.program, self.program.carried, values, "carried values")

    def results(self, trace: Sequence[int]) -> dict[str, int]:
        """Read the trace of :attr:`outputs`: name -> bits of every one."""
        return dict(zip(self.outputs, trace, strict=True))

    def results_of_contexts(self, trace: Sequence[int]) -> list[dict[str, int]]:
        """Read the trace of :attr:`traced`: as :meth:`results`, for each context."""
        size = len(self.outputs)
        contexts = range(self.program.machine.contexts)
        return [self.results(trace[k * size : (k + 1) * size]) for k in contexts]

    def with_parameters(self, kernel: Kernel) -> Call:
        """The call of the same program with the parameters of another kernel.

        Parameters
        ----------
        kernel : Kernel
            Of the same structure: the same function of another robot, for example.

        Raises
        ------
        ValueError
            If the structure differs.
        """
        kernel = replace(kernel, owner=self.kernel.owner)
        if kernel.structure != self.kernel.structure:
            raise ValueError(
                "parameters of another structure: operations, inputs, or what is zero differ"
            )
        homes, values = self.program.parameters, kernel.values(self.program.machine.fmt)
        image = self.image | {homes[name]: bits for name, bits in values.items()}
        return replace(self, kernel=kernel, image=image)

    def evaluate_on(self, twin: Twin, inputs: Mapping[str, int]) -> dict[str, int] | None:
        """Evaluate once on the engine's model, where the image and any state have been loaded.

        With several contexts all do the same.

        Returns
        -------
        dict or None
            Name -> bits of every output; None after a result that is not finite.
        """
        twin.load(self.registers(inputs))
        trace = twin.run(self.program, steps=1, save=1, after=self.outputs.values())
        return self.results(trace) if twin.steps_done else None

    def on_twin(self, batch: Iterable[Mapping[str, int]]) -> tuple[list[dict[str, int]], Twin]:
        """Evaluate a batch on the engine's model.

        Parameters
        ----------
        batch : iterable of dict
            Name -> bits of every input, for each evaluation.

        Returns
        -------
        results : list of dict
            Name -> bits of every output; it ends early where a result is not finite, before the
            evaluations of all contexts at that time.
        twin : Twin
            The engine afterwards: its flags, its cycles, whether it stopped.
        """
        twin, results = Twin(self.program.machine), []
        twin.load(self.image)
        for together in batched(batch, self.program.machine.contexts):
            twin.load(self.registers(*together))
            trace = twin.run(self.program, steps=1, save=1, after=self.traced)
            if not twin.steps_done:
                break
            results += self.results_of_contexts(trace)[: len(together)]
        return results, twin

    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        """Evaluate on the engine's model, with numbers instead of bits.

        Parameters
        ----------
        inputs : dict
            Name -> float, or array of shape (N,), of every input. Each number is rounded to the
            engine's format once; a single one is the same in all N evaluations.

        Returns
        -------
        dict
            Name -> float64 array, shape (N,), of every output; (1,) if all inputs are single
            numbers. Units are those of the function.

        Raises
        ------
        ValueError
            If an input is missing, a name is no input, something is no number, or shapes differ.
        NonFiniteError
            If a result is infinite or not a number.
        """
        fmt = self.program.machine.fmt
        check_names("inputs", inputs, self.program.inputs)
        columns = [np.atleast_1d(numbers(name, x)) for name, x in inputs.items()]
        try:
            (count,) = np.broadcast_shapes((1,), *(column.shape for column in columns))
        except ValueError:
            shapes = ", ".join(f"{name} {np.shape(x)}" for name, x in inputs.items())
            raise ValueError(f"inputs must be arrays of one length, shapes are {shapes}") from None
        rows = [np.broadcast_to(column, count).tolist() for column in columns]
        batch = [
            {name: fmt.from_float(row[k]) for name, row in zip(inputs, rows, strict=True)}
            for k in range(count)
        ]
        results, twin = self.on_twin(batch)
        if twin.stopped:
            where = f"evaluation {len(results)}"
            raise NonFiniteError(f"{where}: a result is infinite, not a number or invalid")
        return {
            name: np.array([fmt.to_float(result[name]) for result in results])
            for name in self.outputs
        }


def batched(batch: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Split a batch into those that run at the same time, one for each context at most."""
    rest = iter(batch)
    while together := list(itertools.islice(rest, size)):
        yield together


def _placed(
    program: Program,
    homes: Mapping[str, Location],
    contexts: Sequence[Mapping[str, int]],
    what: str,
) -> dict[Location, int]:
    machine = program.machine
    found: dict[Location, int] = {}
    for context in range(machine.contexts):
        values = contexts[min(context, len(contexts) - 1)]
        check_names(what, values, homes)
        found |= {machine.of_context(homes[name], context): values[name] for name in homes}
    return found


def changed(before: Mapping[Location, int], after: Mapping[Location, int]) -> dict[Location, int]:
    """Compare images: location -> bits of what to load in the second one's place of the first."""
    return {location: bits for location, bits in after.items() if before.get(location) != bits}


def prepare_call(machine: Machine, kernel: Kernel) -> Call:
    """Schedule a kernel that carries nothing, and put its parameters in place.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    kernel : Kernel

    Returns
    -------
    Call

    Raises
    ------
    ValueError
        If the kernel carries values.
    pymodel.machine.isa.ProgramError
        If the machine is too small for it.
    """
    require(machine, Machine, "Machine")
    require(kernel, Kernel, "record")
    if kernel.carried:
        raise ValueError(f"a call carries nothing, this kernel {', '.join(kernel.carried)}")
    program = schedule(machine, kernel, thorough=True)
    check_trace(machine, machine.contexts * len(program.outputs))
    return Call(kernel, program, program.image({}))


def prepare_fitting_call(machine: Machine, kernel: Kernel) -> Call:
    """As :func:`prepare_call`, with the machine's memories as large as the program needs."""
    found = prepare_call(machine.boundless, kernel)
    holding = machine.holding(found.program)
    return replace(found, program=replace(found.program, machine=holding))


def check_trace(machine: Machine, traced: int) -> None:
    """Refuse, by a ProgramError, what traces more registers than the engine's list holds."""
    if traced > machine.trace_registers:
        raise ProgramError(
            f"{traced} registers are traced, the engine's list has {machine.trace_registers}"
        )


# --- libraries ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """Functions that one engine holds at once.

    Parameters
    ----------
    calls : dict
        Name -> Call, in the order of their numbers.

    Raises
    ------
    ValueError
        If programs share a parameter and give it different values.
    """

    calls: dict[str, Call]

    def __post_init__(self) -> None:
        image: dict[Location, int] = {}
        for name, call in self.calls.items():
            for parameter, location in call.program.parameters.items():
                bits = call.image[location]
                if image.setdefault(location, bits) != bits:
                    raise ValueError(
                        f"{name}: parameter {parameter} is shared and has another value before"
                    )

    def call(self, which: str | int) -> Call:
        """The call of a program's name or number."""
        return self.calls[which] if isinstance(which, str) else [*self.calls.values()][which]

    @property
    def image(self) -> dict[Location, int]:
        """Location -> bits: what to load once, the parameters of all."""
        return {x: bits for call in self.calls.values() for x, bits in call.image.items()}

    def encoded(self) -> list[int]:
        """The bits of all program words, from address 0 on."""
        return [word for call in self.calls.values() for word in call.program.encoded()]

    def with_parameters(self, kernels: Mapping[str, Kernel]) -> Library:
        """The same programs, some of them with the parameters of other kernels.

        Load :func:`changed` of the two images before the next call.

        Parameters
        ----------
        kernels : dict
            Name of a program -> kernel of the same structure.

        Raises
        ------
        ValueError
            If the structure differs, or programs that share parameters do not agree.
        """
        exchanged = {name: self.call(name).with_parameters(k) for name, k in kernels.items()}
        return Library(self.calls | exchanged)


def prepare_library(
    machine: Machine, kernels: Mapping[str, Kernel], owners: Mapping[str, str] | None = None
) -> Library:
    """Schedule kernels that one engine holds at once, and put their parameters in place.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    kernels : dict
        Name of a program -> Kernel. The first one gets number 0.
    owners : dict, optional
        As for :func:`pymodel.compile.kernel.apart`.

    Raises
    ------
    ValueError
        If programs share a parameter and give it different values.
    pymodel.machine.isa.ProgramError
        If the machine is too small for them.
    """
    kernels = apart(kernels, owners)
    calls, start, entry = {}, 0, 0
    for number, (name, program) in enumerate(
        schedule_library(machine, kernels, thorough=True).items()
    ):
        calls[name] = Call(kernels[name], program, program.image({}), number, start, entry)
        start += len(program.words)
        entry += machine.contexts * len(program.outputs)
    check_trace(machine, entry)
    return Library(calls)
