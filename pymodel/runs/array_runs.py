"""Calls and ensembles on an array: its program and tables, and what its streams mean.

A *function* of the array is a :class:`pymodel.compile.chains.Chain` of segments, such as a kernel
that carries nothing, or an :class:`Ensemble`: steps of mechanisms of one structure that differ in
parameters and initial states, whose rows leave on the stream. Nothing here depends on whether the
array is the model (:class:`ArrayTwin`) or the RTL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

from pymodel.algorithms import step
from pymodel.algorithms.requests import BASE
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.chains import Chain, Part, Stage
from pymodel.compile.kernel import Kernel, apart
from pymodel.compile.registry import clock_names, record_function
from pymodel.compile.schedule import schedule_library
from pymodel.compile.streams import first_name, first_values, numbered, sent
from pymodel.machine.array import ArrayTwin, Function, Given, Segment
from pymodel.machine.isa import Location, Machine, Program, ProgramError, Word
from pymodel.machine.registers import STEP_ARRAY, STEP_MAX_REPEAT
from pymodel.mechanism.scenario import Scenario, ScenarioError

SHOWN = "at "  # before the name of a carried value that a row shows
BEGINNING = "beginning"  # name of the stage of an ensemble that takes the initial state


@dataclass(frozen=True)
class Ensemble:
    """Steps of mechanisms, each with parameters and a state of its own.

    Attributes
    ----------
    kernel : Kernel
        A time step, recorded from the first of them.
    steps : int
        Of each mechanism.
    save : int
        Steps from one row to the next; they divide ``steps``. A row has the state before a step
        and the outputs of that step, from step 0 to step ``steps``.
    varied : tuple of str
        The fixed leaves of the kernel in which they differ.
    """

    kernel: Kernel
    steps: int
    save: int
    varied: tuple[str, ...]

    @classmethod
    def of(cls, scenarios: Sequence[Scenario], fmt: Format, base: str = BASE) -> Ensemble:
        """Record an ensemble of scenarios.

        Parameters
        ----------
        scenarios : sequence of Scenario
            With the same steps and the same rows to keep.
        fmt : pymodel.arith.fp.Format
        base : str
            As for :func:`pymodel.runs.engine_runs.prepare`.

        Raises
        ------
        ScenarioError
            If a scenario has another structure than the first one: other bodies, joints, or other
            parameters that are zero.
        """
        first = scenarios[0]
        kernels = [record_function("step", scenario, base=base) for scenario in scenarios]
        values = [kernel.values(fmt) for kernel in kernels]
        for scenario, kernel in zip(scenarios, kernels, strict=True):
            for key in ("steps", "save"):
                if getattr(scenario, key) != getattr(first, key):
                    raise ScenarioError(scenario.source, key, f"not that of {first.source}")
            if kernel.structure != kernels[0].structure:
                raise ScenarioError(
                    scenario.source, "body", f"not of the structure of {first.source}"
                )
        if first.steps % first.save:
            raise ScenarioError(first.source, "save", f"does not divide {first.steps} steps")
        varied = [name for name, bits in values[0].items() if any(x[name] != bits for x in values)]
        return cls(kernels[0], first.steps, first.save, tuple(sorted(varied)))

    def words(self, scenario: Scenario, fmt: Format, base: str = BASE) -> dict[str, int]:
        """Name -> bits of what a scenario's call sends: its state, and where it differs."""
        values = record_function("step", scenario, base=base).values(fmt)
        found = {name: values[name] for name in self.varied}
        mechanism = step.prepare(BitExact(fmt), scenario)
        for letter, vector in zip("qp", mechanism.initial_state(scenario), strict=True):
            found |= {first_name(f"{letter}[{k}]"): x.bits for k, x in enumerate(vector)}
        return found | {first_name(name): 0 for name in clock_names(scenario)}

    @property
    def shown(self) -> Kernel:
        """The kernel whose outputs are a row."""
        state = {SHOWN + name: old for name, (old, _) in self.kernel.carried.items()}
        return replace(self.kernel, outputs=state | self.kernel.outputs)

    @property
    def chain(self) -> Chain:
        """Its segments: the initial state, the first row, and what is done for each other one."""
        begin = first_values(self.kernel.carried)
        loads = numbered((*sent(begin), *sent(self.shown, self.varied)))  # one call has them all
        stores = numbered(self.shown.outputs)
        stages = {
            BEGINNING: Stage(begin, loads, {}),
            "": Stage(self.shown, loads, stores, self.varied),
        }
        row = Part("", emit=True)
        between = [Part("", self.save - 1, quiet=True)] if self.save > 1 else []
        parts = (Part(BEGINNING, quiet=True), row, *between, row)
        return Chain(stages, parts, tuple(loads), tuple(stores), 2, self.steps // self.save)


@dataclass(frozen=True)
class ArrayFunction:
    """A function of an array.

    Attributes
    ----------
    name : str
    number : int
        What TUSER of its calls is.
    inputs, outputs : tuple of str
        Names of the words of a call on the streams, in their order.
    rows : int
        How many times a call gives its outputs.
    """

    name: str
    number: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: int = 1

    def words(self, values: Mapping[str, int]) -> list[int]:
        """The words of a call from bits by name.

        Raises
        ------
        ValueError
            If a name is missing or unknown.
        """
        if values.keys() != set(self.inputs):
            differ = ", ".join(sorted(values.keys() ^ set(self.inputs)))
            raise ValueError(f"inputs of {self.name}; missing or unknown: {differ}")
        return [values[name] for name in self.inputs]

    def results(self, words: Sequence[int]) -> dict[str, int]:
        """Bits by name from the words that left for a call."""
        return dict(zip(self.outputs, words, strict=True))


@dataclass(frozen=True)
class Array:
    """What an array is loaded with.

    Attributes
    ----------
    machine : pymodel.machine.isa.Machine
    words : list of Word
    segments : list of Segment
    table : list of Function
    functions : dict
        Name -> :class:`ArrayFunction`.
    scratch : int
        Words of the scratch memory that a call uses at most.
    programs : dict
        Name of a function, or of another stage of its chain -> Program.
    image : dict
        Location -> bits: parameters, the same in all datapaths.
    """

    machine: Machine
    words: list[Word]
    segments: list[Segment]
    table: list[Function]
    functions: dict[str, ArrayFunction]
    scratch: int
    programs: dict[str, Program] = field(repr=False)
    image: dict[Location, int] = field(repr=False)

    @cached_property
    def encoded(self) -> list[int]:
        """The bits of the program's words."""
        return [self.machine.encode(word) for word in self.words]

    def twin(self) -> ArrayTwin:
        """The array's model, loaded."""
        found = ArrayTwin(self.machine, self.words, self.segments, self.table)
        found.load(self.image)
        return found

    def on_twin(
        self, calls: Iterable[tuple[str, Mapping[str, int]]]
    ) -> tuple[list[list[dict[str, int]]], ArrayTwin]:
        """Run calls on the model.

        Parameters
        ----------
        calls : iterable of (str, dict)
            Function, and bits of its inputs by name.

        Returns
        -------
        rows : list of list of dict
            For each call, for each of its rows: bits of every output by name.
        twin : ArrayTwin
        """
        calls, twin = list(calls), self.twin()
        words = [(self.functions[name].number, self.words_of(name, x)) for name, x in calls]
        given = twin.run(words)
        return self.rows([name for name, _ in calls], given), twin

    def words_of(self, name: str, values: Mapping[str, int]) -> list[int]:
        """As :meth:`ArrayFunction.words`."""
        return self.functions[name].words(values)

    def rows(self, names: Sequence[str], given: Sequence[Given]) -> list[list[dict[str, int]]]:
        """Sort what left on the stream by calls.

        Parameters
        ----------
        names : sequence of str
            Functions of the calls, in their order.
        given : sequence of Given

        Returns
        -------
        list of list of dict
            For each call, for each of its rows: bits of every output by name.
        """
        found: list[list[dict[str, int]]] = [[] for _ in names]
        for call, item in zip(self.order(names), given, strict=True):
            found[call].append(self.functions[names[call]].results(item.words))
        return found

    def order(self, names: Sequence[str]) -> list[int]:
        """The calls (their indices) in the order in which their rows leave."""
        return [
            call
            for name, batch in self.batches(names)
            for _ in range(self.functions[name].rows)
            for call in batch
        ]

    def batches(self, names: Sequence[str]) -> list[tuple[str, range]]:
        """The batches that calls make: their function, and the calls (their indices)."""
        found, at = [], 0
        for name, group in groupby(names):
            end = at + len(list(group))
            for first in range(at, end, self.machine.systems):
                found.append((name, range(first, min(first + self.machine.systems, end))))
            at = end
        return found

    def word_cycles(self, names: Sequence[str]) -> int:
        """Cycles in which a datapath executes words for calls of these functions."""
        words = 0
        for name, _ in self.batches(names):
            chain = self.table[self.functions[name].number].chain(self.segments)
            words += sum(segment.length * segment.repeat for segment in chain)
        return self.machine.contexts * words


def prepare_array(
    machine: Machine,
    functions: Mapping[str, Kernel | Chain | Ensemble],
    owners: Mapping[str, str] | None = None,
    thorough: bool = True,
) -> Array:
    """Schedule functions for an array, and make its tables.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
        With streams.
    functions : dict
        Name -> a kernel that carries nothing, a :class:`pymodel.compile.chains.Chain`, or an
        :class:`Ensemble`.
    owners : dict, optional
        Name -> whose parameters it has, such as a robot's name; by default each has its own.
    thorough : bool
        As for :func:`pymodel.compile.schedule.schedule`.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If a kernel carries values, or functions of one owner keep values of the same name.
    pymodel.machine.isa.ProgramError
        If the machine is too small for them.
    """
    chains = {name: _chain(name, function) for name, function in functions.items()}
    kernels: dict[str, Kernel] = {}
    given_owners: dict[str, str] = {}
    kept: dict[tuple[str, str], str] = {}
    for name, chain in chains.items():
        owner = (owners or {}).get(name, name)
        for value in {value for stage in chain.stages.values() for value in stage.kept}:
            if kept.setdefault((owner, value), name) != name:
                raise ValueError(f"{kept[owner, value]} and {name} of {owner} keep both {value}")
        stages = {_program_name(name, key): stage for key, stage in chain.stages.items()}
        kernels |= {key: stage.streamed for key, stage in stages.items()}
        given_owners |= dict.fromkeys(stages, owner)
    programs = schedule_library(machine, apart(kernels, given_owners), thorough)
    words: list[Word] = []
    starts: dict[str, int] = {}
    image: dict[Location, int] = {}
    for name, program in programs.items():
        starts[name] = len(words)
        words += program.words
        image |= program.image({})
    segments: list[Segment] = []
    table: list[Function] = []
    found: dict[str, ArrayFunction] = {}
    for name, chain in chains.items():
        first = len(segments)
        for stage, *fields in chain.parts:
            key = _program_name(name, stage)
            repeat, in_stride, out_stride, quiet, emit = fields
            segments.append(
                Segment(
                    starts[key],
                    len(programs[key].words),
                    repeat,
                    in_stride=in_stride,
                    out_stride=out_stride,
                    quiet=bool(quiet),
                    emit=bool(emit),
                )
            )
        last = len(segments) - 1
        loop_from = last if chain.loop_from is None else first + chain.loop_from
        inputs, outputs = tuple(chain.inputs), tuple(chain.outputs)
        entry = Function(first, last, loop_from, chain.loops, len(inputs), len(outputs))
        table.append(entry)
        found[name] = ArrayFunction(name, len(found), inputs, outputs, entry.rows(segments))
    scratch = max(chain.scratch for chain in chains.values())
    array = Array(machine, words, segments, table, found, scratch, programs, image)
    _check(array)
    return array


def _chain(name: str, function: Kernel | Chain | Ensemble) -> Chain:
    if isinstance(function, Ensemble):
        return function.chain
    if isinstance(function, Chain):
        return function
    try:
        return Chain.of(function)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _program_name(function: str, stage: str) -> str:
    return f"{stage} of {function}" if stage else function


def _check(array: Array) -> None:
    machine = array.machine
    for what, needed, there in (
        ("segments", len(array.segments), min(machine.segments, _most("SEGMENTS"))),
        ("functions", len(array.table), min(machine.functions, _most("FUNCTIONS"))),
        ("input words of a call", max(x.inputs for x in array.table), machine.in_depth),
        ("output words of a call", max(x.outputs for x in array.table), machine.out_depth),
        ("scratch words of a call", array.scratch, machine.scratch_depth),
        ("repeats of a segment", max(x.repeat for x in array.segments), STEP_MAX_REPEAT),
        ("rows of a call", max(x.loops for x in array.table), STEP_MAX_REPEAT),
    ):
        if needed > there:
            raise ProgramError(f"{needed} {what}, the array has {there}")


def fitting_array(
    machine: Machine,
    functions: Mapping[str, Kernel | Chain | Ensemble],
    owners: Mapping[str, str] | None = None,
) -> Array:
    """As :func:`prepare_array`, with the machine's memories as large as needed.

    Without a chain that needs it there is no scratch memory.
    """
    found = prepare_array(replace(machine, scratch_depth=2).boundless, functions, owners)
    fitted = _fitted(machine, found)
    return replace(found, machine=fitted)


def _fitted(machine: Machine, array: Array) -> Machine:
    def power_of_two(least: int) -> int:
        return 1 << max(1, (least - 1).bit_length())

    programs = array.programs.values()
    return replace(
        machine,
        depth=power_of_two(max(max(program.registers) for program in programs)),
        program_depth=power_of_two(len(array.words)),
        in_depth=power_of_two(max(x.inputs for x in array.table)),
        out_depth=power_of_two(max(x.outputs for x in array.table)),
        scratch_depth=power_of_two(array.scratch) if array.scratch else 0,
        segments=min(power_of_two(len(array.segments)), _most("SEGMENTS")),
        functions=min(power_of_two(len(array.table)), _most("FUNCTIONS")),
    )


def _most(table: str) -> int:
    """Entries that a table can have: its size is read from a field of this name."""
    return (1 << STEP_ARRAY["ARRAY"].field(table).width) - 1
