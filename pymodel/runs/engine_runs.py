"""Whole runs on a step engine: what it is loaded with, and what its trace means.

Nothing here depends on whether the engine is the model (:class:`pymodel.machine.model.Engine`) or
the RTL.
"""

from dataclasses import dataclass

from pymodel.algorithms import step as hdca_step
from pymodel.algorithms.requests import SingularError, serve
from pymodel.algorithms.step import Rates, rates
from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import context_name, interleave, t_cut_names, trace
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Program, ProgramError
from pymodel.mechanism.scenario import ScenarioError
from pymodel.runs.recorder import Recorder

#: How a closed base is connected on the engine by default: without pivoting, which it cannot do.
BASE = "ldl"
BASES = (BASE, "blocks")


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
        As for :meth:`pymodel.machine.model.Engine.run`.
    before, after : dict
        Name -> :class:`pymodel.machine.isa.Location` of the registers to trace.
    """

    scenarios: tuple
    program: Program
    image: dict
    steps: int
    every: int
    save: int
    before: dict
    after: dict

    def steps_traced(self, words):
        """Steps that a trace of so many words has come to."""
        return words // (len(self.before) + len(self.after)) * self.save

    def trajectories(self, words, stopped_at=None):
        """What a trace says: a list of (trajectory or None, reason to stop or None), one a system.

        Parameters
        ----------
        words : sequence of int
            The trace.
        stopped_at : int, optional
            Step in which the engine stopped because a result was not finite.
        """
        names = [*self.before, *self.after]
        size, fmt = len(names), self.program.machine.fmt
        whole = range(0, len(words) - size + 1, size)  # a step that stops leaves half a row
        rows = [dict(zip(names, words[i : i + size], strict=True)) for i in whole]
        return [
            self._trajectory(context, scenario, rows, BitExact(fmt), stopped_at)
            for context, scenario in enumerate(self.scenarios)
        ]

    def _trajectory(self, context, scenario, rows, arithmetic, stopped_at):
        recorder = Recorder(scenario, arithmetic)
        momenta = "p_used" if self.every and scenario.loops else "p"
        mechanism = hdca_step.prepare(BitExact(arithmetic.fmt, fold_zeros=True), scenario)
        stopped = None
        try:
            for index, row in enumerate(rows):
                recorder.step = index * scenario.save
                q, p, qd = (
                    [
                        arithmetic.scalar(row[context_name(context, f"{name}[{k}]")])
                        for k in range(len(scenario.bodies))
                    ]
                    for name in ("q", momenta, "qd")
                )
                recorder.keep(q, Rates(qd, None, p, None, _eta(mechanism, q, p)))
        except SingularError as error:
            stopped = recorder.where(error)
        if stopped is None and stopped_at is not None:
            recorder.step = stopped_at
            stopped = recorder.where("a result is infinite or not a number")
        return recorder.trajectory() if recorder.rows else None, stopped


def _eta(mechanism, q, p):
    """What connects the loops, (43), which the engine does not show; None without loops."""
    if not mechanism.closed:
        return None
    return serve(mechanism.arithmetic, rates(mechanism, q, p)).eta


def fitting(machine, scenarios, **options):
    """The machine, its memories made as large as a run of these scenarios needs.

    For the arguments and errors see :func:`prepare`.
    """
    return machine.holding(prepare(machine.boundless, scenarios, **options).program)


def prepare(machine, scenarios, base=BASE, rebase=0, shape="balanced"):
    """Trace and schedule a run, and put its parameters and initial states in place.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
    scenarios : sequence of Scenario
        Independent systems that run interleaved, with the same number of steps.
    base, rebase, shape
        As for :func:`pymodel.prepare`; base must be one of :data:`BASES`.

    Returns
    -------
    Run

    Raises
    ------
    ScenarioError
        If the scenarios cannot run, or not together.
    pymodel.machine.isa.ProgramError
        If the machine is too small for them.
    """
    first, *others = scenarios
    for other in others:
        for key in ("steps", "save"):
            if getattr(other, key) != getattr(first, key):
                raise ScenarioError(other.source, key, f"not that of {first.source}")
    every = rebase if any(scenario.loops for scenario in scenarios) else 0

    def rebasing(scenario):
        return bool(every and scenario.loops)

    def step(rebase_now):
        return interleave(
            [
                trace(
                    scenario,
                    rebasing(scenario),
                    rebasing(scenario) and rebase_now,
                    base=base,
                    shape=shape,
                )
                for scenario in scenarios
            ]
        )

    main, special = step(False), step(True) if every else None
    program = schedule(machine, main, special)
    values = main.values(machine.fmt) | (special.values(machine.fmt) if special else {})
    before, after = {}, dict(program.observables)
    for context, scenario in enumerate(scenarios):
        mechanism = hdca_step.prepare(BitExact(machine.fmt), scenario)
        for letter, vector in zip("qp", mechanism.initial_state(scenario), strict=True):
            for k, x in enumerate(vector):
                name = context_name(context, f"{letter}[{k}]")
                values[name] = x.bits
                if letter == "q" or not rebasing(scenario):
                    before[name] = program.state[name]
        if rebasing(scenario):
            values |= {context_name(context, name): 0 for name in t_cut_names(scenario)}
    if len(before) + len(after) > machine.trace_registers:
        raise ProgramError(
            f"the run traces {len(before) + len(after)} registers, the engine's list has "
            f"{machine.trace_registers}"
        )
    return Run(
        tuple(scenarios),
        program,
        program.image(values),
        first.steps + 1,
        every,
        first.save,
        before,
        after,
    )
