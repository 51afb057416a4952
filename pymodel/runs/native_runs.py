"""Whole runs as native code, with the bits, the watch and the errors of the model.

The built code runs many steps and looks at all that the model would have looked at; of joints that
are no planar pins, and of loops, numpy looks at the matrices. The step in which anything is wrong,
and where it is no Euler step the last evaluation, are the model's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pymodel.algorithms.conditions import eta_condition, joint_condition
from pymodel.algorithms.requests import BASE, RECORDED_BASES, SingularError
from pymodel.algorithms.step import Mechanism, prepare
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.arith.fp import INEXACT
from pymodel.compile import native
from pymodel.compile.native_watch import Systems, Watched, WatchedKernel
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.compile.registry import clock_names, split_state, state_names, t_cut_names
from pymodel.compile.watched_step import WatchedStep, watched_step
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import simulate as model
from pymodel.runs.recorder import UNSOLVABLE, NonFiniteError, Recorder
from pymodel.runs.simulate import Progress, State, completed
from pymodel.runs.trajectory import Trajectory

#: Numbers that a chunk of steps leaves at most: what numpy looks at is to stay in the cache.
CHUNK = 500_000

#: Operations of a chunk, for Ctrl-C: some hundredths of a second.
WORK = 10_000_000


#: Steps as they were recorded and built, the last ones used last: a run of the same mechanism, in
#: the plane of the same wiring, begins at once. At most KEPT of them, of MOST_KEPT nodes each.
_BUILT: dict[str, tuple[WatchedStep, native.NativeKernel, WatchedKernel]] = {}
KEPT = 16
MOST_KEPT = 50_000

#: Steps from which a run is worth building code for, which takes a second.
WORTH_BUILDING = 1000


def fastest(
    scenario: Scenario,
    arithmetic: str | scalars.Float64 | scalars.BitExact = "float64",
    progress: Progress | None = None,
    limit: float | None = None,
    **options: Any,
) -> Trajectory:
    """Run a scenario as native code where that pays and is possible, otherwise on the model.

    The trajectory is the same bit for bit; arguments and exceptions are those of
    :func:`pymodel.runs.simulate.simulate`.
    """
    ar = scalars.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    if scenario.steps >= WORTH_BUILDING and possible(scenario, ar, options.get("base", BASE)):
        with suppress(native.NoCompilerError, TooManyOperationsError):
            return simulate(scenario, ar, progress, limit, **options)
    return model.simulate(scenario, ar, progress, limit, **options)


def possible(scenario: Scenario, arithmetic: Any, base: str) -> bool:
    """Whether a run can be native: with fixed steps, no pivots to choose, formats up to 8/23."""
    fixed = not scenario.adaptive and (base in RECORDED_BASES or not scenario.loops)
    return fixed and narrow(arithmetic)


def narrow(arithmetic: scalars.Float64 | scalars.BitExact) -> bool:
    """Whether there is code of an arithmetic: float64, and formats up to 8/23."""
    return not isinstance(arithmetic, scalars.BitExact) or arithmetic.fmt.has_sincos


@np.errstate(over="ignore", invalid="ignore")  # a result that is not finite ends the run
def simulate(
    scenario: Scenario,
    arithmetic: str | scalars.Float64 | scalars.BitExact = "float64",
    progress: Progress | None = None,
    limit: float | None = None,
    **options: Any,
) -> Trajectory:
    """Run a scenario as native code; the trajectory is that of the model, bit for bit.

    Parameters
    ----------
    scenario, arithmetic, progress, limit, options
        As for :func:`pymodel.runs.simulate.simulate`.

    Raises
    ------
    ScenarioError, SingularError, NonFiniteError
        As :func:`pymodel.runs.simulate.simulate`.
    ValueError
        If the arithmetic has no native code.
    pymodel.compile.graph.RecordingError
        If the base is ``ldup``: a recording cannot choose pivots.
    pymodel.compile.native.NoCompilerError
        If there is no C compiler.
    """
    (steps,) = _several([scenario], arithmetic, limit, options)
    steps.run(progress)
    (one,) = steps.systems
    return one.trajectory(progress)


@np.errstate(over="ignore", invalid="ignore")
def simulate_many(
    scenarios: Sequence[Scenario],
    arithmetic: str | scalars.Float64 | scalars.BitExact = "float64",
    limit: float | None = None,
    **options: Any,
) -> list[Trajectory | RunError]:
    """Run many scenarios as native code, those of one structure at once.

    Parameters
    ----------
    scenarios : sequence of Scenario
    arithmetic, limit, options
        As for :func:`simulate`.

    Returns
    -------
    list
        Of each scenario what :func:`simulate` gives, or the SingularError or NonFiniteError that it
        raises.

    Raises
    ------
    ScenarioError, ValueError, RecordingError, NoCompilerError
        As :func:`simulate`.
    """
    found: dict[int, Trajectory | RunError] = {}
    for group in _several(scenarios, arithmetic, limit, options):
        if len(group.systems) > 1:
            group.run(None)
        for system in group.systems:
            found[system.number] = system.finished(group, arithmetic, limit, options)
    return [found[number] for number in range(len(scenarios))]


@dataclass
class _System:
    """One of the systems that run at once.

    Attributes
    ----------
    exact : Mechanism
        Its mechanism in float64.
    parameters : dict
        Name -> value that this was prepared with.
    """

    number: int
    scenario: Scenario
    arithmetic: Any
    recorder: Recorder
    exact: Mechanism[Any]
    parameters: Mapping[str, float]

    @cached_property
    def mechanism(self) -> Mechanism[Any]:
        """Its mechanism in its arithmetic: steps that are native code's need none."""
        return self.exact.on(self.arithmetic)

    @cached_property
    def state(self) -> State:
        """Where it is: at first at t = 0."""
        if self.scenario.is_driven or self.exact.gears:  # motions and formulas: of the arithmetic
            return State(*self.mechanism.initial_state(self.scenario))
        q, p = self.exact.initial_state(self.scenario)
        return State([*map(self.arithmetic.const, q)], [*map(self.arithmetic.const, p)])

    def trajectory(self, progress: Progress | None = None) -> Trajectory:
        """Its trajectory, the end of which is the model's if native code has not reached it."""
        if self.recorder.step > self.scenario.steps:
            return self.recorder.trajectory()
        return completed(self.mechanism, self.scenario, self.recorder, progress, self.state)

    @property
    def every(self) -> int:
        """Steps between projections, or re-basings; 0 never."""
        return (self.exact.project or self.exact.rebase) if self.scenario.loops else 0

    def steps(self, options: Mapping[str, Any]) -> tuple[WatchedStep, WatchedStep | None]:
        """Its recorded step, and the one that projects, or re-bases."""
        chosen = {"base": BASE} | dict(options)
        for name in ("rebase", "project"):
            chosen.pop(name, None)
        chosen["fold"] = getattr(self.arithmetic, "fold", False)
        if not self.every:
            return watched_step(self.scenario, **chosen), None
        if self.exact.project:
            special = watched_step(self.scenario, project_now=True, **chosen)
            return watched_step(self.scenario, beside=special, **chosen), special
        chosen["rebasing"] = True
        special = watched_step(self.scenario, rebase_now=True, **chosen)
        return watched_step(self.scenario, **chosen), special

    def structure(self, options: Mapping[str, Any]) -> str:
        """What systems that run at once have in common: all but their numbers.

        With other joints than planar pins the step depends on some numbers, too, those that are 0
        or 1: there the recorded steps are compared. The order of assembly follows from the wiring
        and the options, which all have in common.
        """
        scenario = self.scenario
        steps = (step and step.kernel.structure for step in self.steps(options))
        own = () if scenario.pins_only else tuple(steps)
        return repr((scenario.steps, scenario.save, self.wiring, own))

    @property
    def wiring(self) -> tuple[Any, ...]:
        """What its steps depend on besides the options and numbers."""
        mechanism = self.exact
        topology = mechanism.topology
        springs = [spring.structure for spring in mechanism.springs]
        drives = {k: drive.structure for k, drive in mechanism.drives.items()}
        kinds = type(mechanism).__name__, self.scenario.integrator
        drives |= {(k, "moved"): motion.structure for k, motion in mechanism.motions.items()}
        rubbing = tuple(mechanism.friction)
        gears = tuple((gear.own, gear.of) for gear in mechanism.gears)
        return *kinds, topology.parents, topology.joints, springs, drives, rubbing, gears

    def text(self, options: Mapping[str, Any]) -> str:
        """What the code of its steps depends on: in the plane not on numbers, which are data."""
        scenario, arithmetic = self.scenario, self.arithmetic
        numbers = ""
        if getattr(arithmetic, "fold", False) or not scenario.pins_only:
            bodies = tuple(replace(body, q=0.0, qd=0.0) for body in scenario.bodies)
            alike: dict[str, Any] = {"name": "", "source": "", "end": scenario.step, "save": 1}
            numbers = repr(replace(scenario, bodies=bodies, **alike))
        return repr((self.wiring, arithmetic.name, sorted(options.items()), numbers))

    def finished(
        self, group: _NativeSteps, arithmetic: Any, limit: float | None, options: Mapping[str, Any]
    ) -> Trajectory | RunError:
        """Its trajectory, or the error that ended it."""
        try:
            if len(group.systems) > 1 and group.flags in (0, INEXACT):
                self.arithmetic.flags |= group.flags
                steps = self.scenario.steps
                if self.recorder.step > steps or self.state.step == steps:
                    return self.trajectory()
            # Whose flags they are shows when it runs alone.
            return simulate(self.scenario, arithmetic, None, limit, **options)
        except (SingularError, NonFiniteError) as error:
            return error


def _several(
    scenarios: Sequence[Scenario],
    arithmetic: str | scalars.Float64 | scalars.BitExact,
    limit: float | None,
    options: Mapping[str, Any],
) -> list[_NativeSteps]:
    """Systems by their structure."""
    groups: dict[str, list[_System]] = {}
    for number, scenario in enumerate(scenarios):
        ar = scalars.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
        noted = _Parameters()
        exact = prepare(noted, scenario, **options)
        recorder = Recorder(scenario, ar, limit)
        system = _System(number, scenario, ar, recorder, exact, noted.found)
        # A system alone needs no comparison, which takes a recording.
        structure = system.structure(options) if len(scenarios) > 1 else ""
        groups.setdefault(structure, []).append(system)
    return [_NativeSteps(systems, options) for systems in groups.values()]


class _Parameters(scalars.Float64):
    """The arithmetic that notes parameters: name -> value."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def parameter(self, name: str, x: float) -> float:
        self.found[name] = x
        return super().parameter(name, x)


class _NativeSteps:
    """The native steps of systems of one structure.

    Attributes
    ----------
    systems : list of _System
    flags : int
        Raised by any of the systems.
    """

    def __init__(self, systems: list[_System], options: Mapping[str, Any]) -> None:
        self.systems, self.options = systems, options
        self.scenario, self.arithmetic = systems[0].scenario, systems[0].arithmetic
        self.every = systems[0].every
        self.state_names = state_names(self.scenario)
        rebases = self.every and not systems[0].exact.project
        self.cut_names = t_cut_names(self.scenario) if rebases else []
        self.alone = len(systems) == 1
        self.flags = 0
        #: Whether steps that are not kept leave nothing: no spring's length is watched in them.
        self.all_kept = any(system.recorder.natural for system in systems)
        self.save = 1 if self.all_kept else self.scenario.save

    def run(self, progress: Progress | None) -> None:
        """Run every system as far as everything is right, and leave its state there."""
        self._build()
        vectors = [[*system.state.q, *system.state.p] for system in self.systems]
        numbers = np.array([list(map(self.arithmetic.to_float, x)) for x in vectors]).T
        given = dict(zip(self.state_names, numbers, strict=True))
        others = [*self.cut_names, *clock_names(self.scenario)]
        given |= dict.fromkeys(others, np.zeros(len(self.systems)))
        carried = {name: given[name] for name in self.kernel.kernel.carried}
        state = self.kernel.blocks(carried, len(self.systems))
        running = np.ones(len(self.systems), bool)
        step, steps = 0, self.scenario.steps
        while running.any() and step < steps:
            count = min(self.chunk, steps - step)
            state, done = self._advance(state, step, count, running)
            running &= done == count
            step = step + int(done[0]) if self.alone else step + count
            if progress:
                progress(step, steps)
        columns = self.kernel.by_name(state, len(self.systems)).astype(float)
        for k in np.flatnonzero(running) if not self.alone else [0]:
            self._leave(int(k), dict(zip(carried, columns[:, k], strict=True)), step)
        if step == steps and running.any() and self.scenario.integrator == "euler":
            self._advance(state, step, 1, running, last=True)

    def _build(self) -> None:
        text = f"{self.alone} {self.systems[0].text(self.options)}"
        found = _BUILT.pop(text, None)
        if found is None:
            main, special = self.systems[0].steps(self.options)
            kernel = native.build(
                main.kernel,
                self.arithmetic,
                None if special is None else special.kernel,
                lanes=1 if self.alone else None,
                flags=isinstance(self.arithmetic, scalars.BitExact),
                own_parameters=not self.alone,
            )
            found = main, kernel, self._watched(main, kernel)
        if len(found[0].kernel.graph.nodes) <= MOST_KEPT:
            _BUILT[text] = found
        while len(_BUILT) > KEPT:
            del _BUILT[next(iter(_BUILT))]
        self.main, self.kernel, self.watched = found
        parameters = self._parameters()
        fixed = self.kernel.fixed(parameters, len(self.systems))
        other = self.kernel.code.special
        recorders = [system.recorder for system in self.systems]
        self.given = Systems(
            len(self.systems),
            fixed,
            self.kernel.fixed(parameters, len(self.systems), other) if other else fixed,
            recorders[0].limit,
            np.array([recorder.definite for recorder in recorders]),
        )
        left = len(self.watched.keep) / self.save + len(self.watched.show)
        most = CHUNK / left, WORK * self.kernel.lanes / self.kernel.work
        self.chunk = max(int(min(most) / len(self.systems)), 1)

    def _watched(self, main: WatchedStep, kernel: native.NativeKernel) -> WatchedKernel:
        """What takes the built steps, and gives back what is kept, and what numpy looks at."""
        sizes = {"q": self.scenario.nq, "qd": self.scenario.nv, "p_used": self.scenario.nv}
        keep = [f"{kind}[{k}]" for kind, size in sizes.items() for k in range(size)]
        pins = self.scenario.pins_only
        show = [name for row in main.eta for name in row]
        if not pins:
            show += [x for parts in main.joint for part in parts for row in part for x in row]
        return WatchedKernel(kernel, main, keep, list(dict.fromkeys(show)), joints=pins)

    def _parameters(self) -> dict[str, Any]:
        """Name -> array (N,) of the systems' own parameters; a float of one alone."""
        noted = [system.parameters for system in self.systems]
        names = [name for name in noted[0] if name in self.kernel.parameters]
        if self.alone:
            return {name: noted[0][name] for name in names}
        return {name: np.array([found[name] for found in noted]) for name in names}

    def _leave(self, k: int, numbers: Mapping[str, float], step: int) -> None:
        """Leave a system in front of a step."""
        system = self.systems[k]
        values = {name: self.arithmetic.const(float(x)) for name, x in numbers.items()}
        q, p = split_state(system.scenario, [values[name] for name in self.state_names])
        t_cut = tuple(values[name] for name in self.cut_names)
        rebases = step and system.exact.rebases_at(step)
        system.state = State(q, p, t_cut if rebases else None, step)

    def _advance(
        self, state: np.ndarray, first: int, steps: int, running: np.ndarray, last: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run a chunk and keep it, as far as everything is right; steps done, of each system.

        Of the last step only the rates at its start are wanted: a system alone is given up where
        the rest may have raised other flags.
        """
        after, again = state.copy(), (self.every, self.save)
        found = self.watched.advance(self.given, after, first, steps, *again)
        conditions = self._conditions(found.shown)
        right = self._right(*conditions)
        done = np.minimum(found.done, np.where(right.all(axis=0), steps, right.argmin(axis=0)))
        flags = found.flags
        if self.alone and last and flags & ~self.arithmetic.flags:
            return state, np.zeros(1, int)
        if self.alone and done[0] < steps:  # flags of the steps before, and of no other
            after = state.copy()
            found = self.watched.advance(self.given, after, first, int(done[0]), *again)
            flags = found.flags
        self.flags |= flags
        if self.alone:
            self.arithmetic.flags |= self.flags
        for k in np.flatnonzero(running).tolist():
            self._keep(k, first, int(done[k]), found, conditions)
        return after, done

    def _keep(
        self, k: int, first: int, done: int, found: Watched, conditions: Sequence[Any]
    ) -> None:
        """Note what a system's steps have left."""
        recorder = self.systems[k].recorder
        recorder.note_conditions(*(x if x is None else x[:done, k] for x in conditions))
        if np.isfinite(found.worst[k]):
            recorder.note_conditions(None, found.worst[k : k + 1], found.worst_step[k : k + 1])
        rows = found.kept[k, : native.multiples(first, done, self.save)]
        nq, nv = self.scenario.nq, self.scenario.nv
        columns = rows[:, :nq], rows[:, nq : nq + nv], rows[:, nq + nv :]
        if self.all_kept:
            recorder.extend(*columns)
        else:
            numbers = np.arange(first + -first % self.save, first + done, self.save)
            recorder.keep_all(numbers, *columns)
            recorder.step += done

    def _conditions(self, shown: np.ndarray) -> tuple[Any, Any]:
        """Largest condition numbers (T, N) that numpy finds, of eta and of the joint matrices."""
        eta: Any = None
        joint: Any = None
        trace = dict(zip(self.watched.show, shown.transpose(2, 1, 0), strict=True))
        if self.main.eta:
            matrices = np.array([[trace[name] for name in row] for row in self.main.eta])
            eta = eta_condition(self.scenario, np.moveaxis(matrices, (0, 1), (-2, -1)))
        if self.main.joint and not self.scenario.pins_only:
            sums: list[Any] = [self._sum(parts, trace) for parts in self.main.joint]
            found: list[Any] = [joint_condition(self.scenario, x) for x in sums]
            definite = self.given.definite
            if not all(definite):
                signless = [joint_condition(self.scenario, x, False) for x in sums]
                found = [np.where(definite, *pair) for pair in zip(found, signless, strict=True)]
            joint = np.max(found, 0)
        return eta, joint

    @staticmethod
    def _sum(parts: Sequence[Any], trace: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.sum([[[trace[name] for name in row] for row in part] for part in parts], axis=0)

    def _right(self, eta: np.ndarray | None, joint: np.ndarray | None) -> np.ndarray:
        """Whether the model would go on after each step for what numpy looks at, (T, N)."""
        right: Any = np.ones((1, len(self.systems)), bool)
        if joint is not None:
            right = right & (joint < self.given.limit)
        if eta is not None:
            right = right & (eta * self.arithmetic.unit_roundoff < UNSOLVABLE)
        return right
