"""Runs on a step engine: what it is loaded with, and what its trace means.

A :class:`Run` is a trajectory: time steps, one after the other, of one or more mechanisms. Nothing
here depends on whether the engine is the model (:class:`pymodel.machine.model.Twin`) or the RTL.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymodel.algorithms import step
from pymodel.algorithms.conditions import eta_condition
from pymodel.algorithms.requests import BASE, SingularError, serve
from pymodel.algorithms.unused_options import refuse_unused
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import Kernel, context_name, interleave
from pymodel.compile.registry import clock_names, record_function, t_cut_names
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Location, Machine, Program, ProgramError
from pymodel.machine.model import Twin
from pymodel.mechanism.scenario import Scenario, ScenarioError
from pymodel.runs.engine_calls import check_trace
from pymodel.runs.input_error import InputError, require
from pymodel.runs.options import algorithm_options, projection
from pymodel.runs.recorder import UNSOLVABLE, NonFiniteError, Recorder
from pymodel.runs.trajectory import Trajectory

#: Rows of a trace that are evaluated together: many of them, and not much memory.
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Run:
    """A run of one or more independent systems on one engine.

    Attributes
    ----------
    scenarios : tuple of Scenario
    program : Program
    image : dict
        :class:`pymodel.machine.isa.Location` -> bits: all registers to load.
    steps : int
        Steps of the engine: one more than those of the scenario, as the velocities of the last
        state come from evaluating it.
    every, save : int
        As for :meth:`pymodel.machine.model.Twin.run`.
    before, after : dict
        Name -> :class:`pymodel.machine.isa.Location` of the registers to trace.
    """

    scenarios: tuple[Scenario, ...]
    program: Program
    image: dict[Location, int]
    steps: int
    every: int
    save: int
    before: dict[str, Location]
    after: dict[str, Location]

    def steps_traced(self, words: int) -> int:
        """Count the steps that a trace of so many words has come to; it has the start, too."""
        return min(
            words // (len(self.before) + len(self.after)) * self.save, self.scenarios[0].steps
        )

    def on_twin(self) -> tuple[list[tuple[Trajectory | None, str | None]], Twin]:
        """Run on the engine's model.

        Returns
        -------
        found : list
            Of each system, as for :meth:`trajectories`.
        twin : Twin
            The engine afterwards: its flags, its cycles, whether it stopped.
        """
        twin = Twin(self.program.machine)
        twin.load(self.image)
        words = array("Q")  # of a long run: it takes less memory than a list
        twin.run(
            self.program,
            self.steps,
            self.every,
            self.save,
            self.before.values(),
            self.after.values(),
            words,
        )
        if not twin.stopped:
            return self.trajectories(words), twin
        stopped_at, again = twin.steps_done, deepcopy(twin)
        carried: Any = map(again.read, self.results)
        if self.program.opening is not None and self.may_lack(words, carried):
            again.run(self.program.opening, 1)
            if not again.steps_done:
                missing: Any = map(twin.read, self.lacking(stopped_at))
                words.extend(missing)
                stopped_at += 1
                again.step(self.program.segment(stopped_at, self.every))
                twin.flags = again.flags
        return self.trajectories(words, stopped_at), twin

    # A retimed step computes what the next one begins with, so that is judged with it. Who finds
    # that the prologue stops at it, too, completes the trace: the step itself was right.

    @property
    def results(self) -> list[Location]:
        """Registers of carried values and outputs, of all contexts."""
        machine, program = self.program.machine, self.program
        contexts = range(machine.contexts)
        carried = [machine.of_context(x, k) for k in contexts for x in program.carried.values()]
        return carried + [program.at(name, k) for k in contexts for name in program.outputs]

    def may_lack(self, words: Sequence[int], results: Iterable[int]) -> bool:
        """Whether a run may have stopped at what belongs to the next step.

        Parameters
        ----------
        words : sequence of int
            Its trace; empty if the prologue stopped it.
        results : iterable of int
            Bits of :attr:`results`.
        """
        fmt = self.program.machine.fmt
        if not self.program.prologue or not words:
            return False
        return all(bits & ~fmt.sign_mask < fmt.inf for bits in results)

    def lacking(self, stopped_at: int) -> list[Location]:
        """Registers that complete the trace of a run that stopped at what belongs to the next step.

        Parameters
        ----------
        stopped_at : int
            The step in which the engine stopped; it ends where the next one stops.
        """
        lists = ((self.after, stopped_at), (self.before, stopped_at + 1))
        return [x for homes, step in lists if step % self.save == 0 for x in homes.values()]

    def trajectories(
        self, words: Sequence[int], stopped_at: int | None = None
    ) -> list[tuple[Trajectory | None, str | None]]:
        """Read a trace.

        Parameters
        ----------
        words : sequence of int
            The trace.
        stopped_at : int, optional
            Step in which the engine stopped because a result was not finite.

        Returns
        -------
        list
            (trajectory or None, reason to stop or None) of each system.
        """
        names = [*self.before, *self.after]
        places, fmt = {name: place for place, name in enumerate(names)}, self.program.machine.fmt
        table = np.asarray(words, dtype=np.uint64)
        table, rest = np.split(table, [len(table) // len(names) * len(names)])
        half = dict(zip(names, rest.tolist(), strict=False))  # a step that stops leaves half a row
        if not len(words):  # stopped by the prologue
            half = {name: self.image[location] for name, location in self.before.items()}
        given = places, table.reshape(-1, len(names)), half
        return [
            self._trajectory(context, scenario, *given, BitExact(fmt), stopped_at)
            for context, scenario in enumerate(self.scenarios)
        ]

    @np.errstate(over="ignore", invalid="ignore")  # its numbers may be beyond float64
    def _trajectory(
        self,
        context: int,
        scenario: Scenario,
        places: Mapping[str, int],
        table: np.ndarray,
        half: Mapping[str, int],
        arithmetic: BitExact,
        stopped_at: int | None,
    ) -> tuple[Trajectory | None, str | None]:
        """Of one system: what a row of the table has at which place, the table, half a row."""
        recorder, fmt = Recorder(scenario, arithmetic), arithmetic.fmt
        re_based = context_name(context, "p_used[0]") in places
        momenta = "p_used" if re_based else "p"
        sizes = {"q": scenario.nq, momenta: scenario.nv, "qd": scenario.nv}
        vectors = [
            [places[context_name(context, f"{name}[{k}]")] for k in range(size)]
            for name, size in sizes.items()
        ]
        mechanism = step.prepare(BitExact(fmt, fold=True), scenario)
        stopped = None
        try:
            for first in range(0, len(table), ROWS_AT_ONCE):
                some = table[first : first + ROWS_AT_ONCE].tolist()
                numbers = np.arange(first, first + len(some)) * scenario.save
                floats = [
                    np.array([[fmt.to_float(row[place]) for place in vector] for row in some])
                    for vector in vectors
                ]
                right = _keep_right(recorder, mechanism, numbers, *floats)
                for number, row in zip(numbers[right:].tolist(), some[right:], strict=True):
                    recorder.step = number
                    q, p, qd = ([arithmetic.scalar(row[x]) for x in vector] for vector in vectors)
                    recorder.keep(q, qd, p, _eta(mechanism, q, p, number))
        except SingularError as error:
            stopped = recorder.where(error)
        if stopped is None and stopped_at is not None:
            recorder.step = stopped_at
            names = [context_name(context, f"q[{k}]") for k in range(scenario.nq)]
            if half.keys() >= set(names):
                recorder.q = [fmt.to_float(half[name]) for name in names]
            stopped = recorder.where("a result is infinite or not a number")
        return recorder.trajectory() if recorder.rows else None, stopped


def _keep_right(
    recorder: Recorder,
    mechanism: step.Mechanism[Any],
    numbers: np.ndarray,
    q: np.ndarray,
    p: np.ndarray,
    qd: np.ndarray,
) -> int:
    """Record rows (T, n) as far as nothing is wrong, all at once; returns how many."""
    finite = np.isfinite(np.hstack([q, p, qd])).all(axis=1)
    right = len(finite) if finite.all() else int(finite.argmin())
    numbers, q, p, qd = (x[:right] for x in (numbers, q, p, qd))
    if right and mechanism.closed:
        conditions = _eta_conditions(mechanism, numbers, q, p)
        if conditions is None:
            return 0
        solvable = conditions * recorder.arithmetic.unit_roundoff < UNSOLVABLE
        right = right if solvable.all() else int(solvable.argmin())
        recorder.note_conditions(conditions[:right], None, numbers[:right])
    if right:
        recorder.keep_all(*(x[:right] for x in (numbers, q, qd, p)))
    return right


def _eta_conditions(
    mechanism: step.Mechanism[Any], numbers: np.ndarray, q: np.ndarray, p: np.ndarray
) -> np.ndarray | None:
    """Condition numbers (T,) of the eta of rows; None if the rows are to be looked at one by one.

    Arrays do not fold, which differs in the sign of a zero, and where zero meets an infinity.
    """
    arrays = FormatArrays(mechanism.arithmetic.fmt)
    place, momenta = ([arrays.array(x) for x in vector.T] for vector in (q, p))
    try:
        eta = _eta(mechanism.on(arrays), place, momenta, numbers)
    except SingularError:  # of one of them
        return None
    if eta is None:  # all constraints of the loops are redundant
        return None
    matrices = np.array([[np.broadcast_to(x.values, len(numbers)) for x in row] for row in eta])
    return np.asarray(eta_condition(mechanism.scenario, np.moveaxis(matrices, (0, 1), (-2, -1))))


def _eta(mechanism: step.Mechanism[Any], q: list[Any], p: list[Any], number: Any) -> Any:
    """The matrix eta of the loop closures, which the engine does not show; None without loops."""
    if not mechanism.closed:
        return None
    time = mechanism.time(mechanism.arithmetic.const(number))
    return serve(mechanism.arithmetic, step.rates(mechanism, q, p, time=time)).eta


def simulate(machine: Machine, scenario: Scenario, **options: Any) -> Trajectory:
    """Run a scenario on the engine's model, its memories as large as the run needs.

    Parameters
    ----------
    machine, scenario, **options
        As for :func:`prepare`.

    Returns
    -------
    Trajectory
        With the engine's sticky float flags.

    Raises
    ------
    NonFiniteError
        If the run stops; the exception's ``trajectory`` holds the steps so far.
    ScenarioError
        As for :func:`prepare`.
    """
    fitted = fitting(machine, [scenario], **options)
    ((trajectory, stopped),), twin = prepare(fitted, [scenario], **options).on_twin()
    if trajectory is not None:
        trajectory.flags = twin.flags
    if trajectory is None or stopped:
        error = NonFiniteError(stopped)
        error.trajectory = trajectory
        raise error
    return trajectory


def fitting(machine: Machine, scenarios: Sequence[Scenario], **options: Any) -> Machine:
    """Make the memories of a machine as large as a run of these scenarios needs.

    Parameters
    ----------
    machine, scenarios, **options
        As for :func:`prepare`.

    Returns
    -------
    pymodel.machine.isa.Machine
        The same lanes and stages.

    Raises
    ------
    ScenarioError
        As for :func:`prepare`.
    """
    require(machine, Machine, "Machine")
    return machine.holding(prepare(machine.boundless, scenarios, **options).program)


@np.errstate(over="ignore", invalid="ignore")  # a state that is not finite stops the run
def prepare(
    machine: Machine,
    scenarios: Sequence[Scenario],
    base: str = BASE,
    rebase: int = 0,
    shape: str = "balanced",
    project: int | None = None,
) -> Run:
    """Record and schedule a run, and put its parameters and initial states in place.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    scenarios : sequence of Scenario
        Independent systems with the same number of steps: on one context they run interleaved in
        one program; on a barrel each in a context of its own, and they differ in their states
        only. Contexts that are left do the same as the last one.
    base, rebase, shape
        As for :func:`pymodel.algorithms.step.prepare`; base must be one of
        :data:`pymodel.algorithms.requests.RECORDED_BASES`.
    project
        The same; by default as :func:`pymodel.runs.options.projection` says, if any of them has
        loops.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If an option is none of those, or would change nothing.
    ScenarioError
        If the scenarios cannot run, or not together.
    pymodel.machine.isa.ProgramError
        If the machine is too small for them.
    """
    require(machine, Machine, "Machine")
    algorithm_options(shape, base, rebase, project or 0)
    if isinstance(scenarios, Scenario) or not scenarios:
        raise InputError("scenarios: must be a list of one or more")
    for scenario in scenarios:
        require(scenario, Scenario, "load")
    refuse_unused(*scenarios, shape=shape, base=base, rebase=rebase, project=project or 0)
    name, by_default = BitExact(machine.fmt).name, project is None
    project = max(projection(project, one, name, rebase) for one in scenarios)
    shape, base, rebase, project = algorithm_options(shape, base, rebase, project).values()
    first, *others = scenarios
    for other in others:
        for key in ("steps", "save"):
            if getattr(other, key) != getattr(first, key):
                raise ScenarioError(other.source, key, f"not that of {first.source}")
    every = (project or rebase) if any(scenario.loops for scenario in scenarios) else 0

    def rebasing(scenario: Scenario) -> bool:  # a step that projects re-bases with its own impulses
        return bool(every and not project and scenario.loops)

    barrel = machine.contexts > 1

    def kernel(special: bool) -> Kernel:
        kernels = [
            record_function(
                "step",
                scenario,
                rebasing=rebasing(scenario),
                rebase_now=rebasing(scenario) and special,
                project_now=bool(project and scenario.loops and special),
                base=base,
                shape=shape,
            )
            for scenario in scenarios
        ]
        return _same(machine, kernels, scenarios) if barrel else interleave(kernels)

    main, special = kernel(False), kernel(True) if every else None
    try:
        program = schedule(machine, main, special)
    except ProgramError as error:
        if project and by_default:
            raise ProgramError(f"{error}; without projection (project 0) it is shorter") from None
        raise

    def home(context: int, name: str) -> Location:
        if barrel:
            return machine.of_context(program.carried[name], context)
        return program.carried[context_name(context, name)]

    state, before, after = {}, {}, dict(program.outputs)
    if barrel:
        after = {
            context_name(context, name): program.at(name, context)
            for context in range(len(scenarios))
            for name in program.outputs
        }
    left = machine.contexts - len(scenarios) if barrel else 0
    for context, scenario in enumerate([*scenarios, *[scenarios[-1]] * left]):
        mechanism = step.prepare(BitExact(machine.fmt), scenario)
        for letter, vector in zip("qp", mechanism.initial_state(scenario), strict=True):
            for k, x in enumerate(vector):
                name = f"{letter}[{k}]"
                state[home(context, name)] = x.bits
                traced = context < len(scenarios)
                if traced and (letter == "q" or not rebasing(scenario)):
                    before[context_name(context, name)] = home(context, name)
        zero = clock_names(scenario)
        if rebasing(scenario):
            zero = [*zero, *t_cut_names(scenario)]
        state |= {home(context, name): 0 for name in zero}
    check_trace(machine, len(before) + len(after))
    return Run(
        scenarios=tuple(scenarios),
        program=program,
        image=program.image({}) | state,
        steps=first.steps + 1,
        every=every,
        save=first.save,
        before=before,
        after=after,
    )


prepare_run = prepare  #: its name in the package


def _same(machine: Machine, kernels: Sequence[Kernel], scenarios: Sequence[Scenario]) -> Kernel:
    """The kernel that all contexts of a barrel run."""
    if len(kernels) > machine.contexts:
        raise ProgramError(f"{len(kernels)} systems, the engine has {machine.contexts} contexts")
    first, *others = kernels
    values = first.values(machine.fmt)
    for other, scenario in zip(others, scenarios[1:], strict=True):
        if other.structure != first.structure or other.values(machine.fmt) != values:
            source = scenarios[0].source
            raise ScenarioError(scenario.source, "body", f"not the mechanism of {source}")
    return first
