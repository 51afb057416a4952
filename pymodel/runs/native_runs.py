"""Whole runs as native code, with the bits, the watch and the errors of the model.

The built code runs many steps and leaves all that the model would have looked at; numpy looks at
it. The step in which anything is wrong, and the last evaluation, are the model's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from pymodel.algorithms.linalg import condition_2x2
from pymodel.algorithms.requests import BASE, RECORDED_BASES
from pymodel.algorithms.step import Mechanism, prepare
from pymodel.arith import scalars
from pymodel.compile import native
from pymodel.compile.registry import state_names, t_cut_names
from pymodel.compile.watched_step import watched_step
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import simulate as model
from pymodel.runs.recorder import UNSOLVABLE, Recorder
from pymodel.runs.simulate import Progress, State, completed
from pymodel.runs.trajectory import Trajectory

#: Numbers that a chunk of steps leaves at most: what numpy looks at is to stay in the cache.
CHUNK = 500_000


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
        with suppress(native.NoCompilerError):
            return simulate(scenario, ar, progress, limit, **options)
    return model.simulate(scenario, ar, progress, limit, **options)


def possible(scenario: Scenario, arithmetic: Any, base: str) -> bool:
    """Whether a run can be native: not with pivots to choose, nor in formats wider than 8/23."""
    wide = isinstance(arithmetic, scalars.BitExact) and not arithmetic.fmt.has_sincos
    return not wide and (base in RECORDED_BASES or not scenario.loops)


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
    ar = scalars.parse(arithmetic) if isinstance(arithmetic, str) else arithmetic
    mechanism = prepare(ar, scenario, **options)
    recorder = Recorder(scenario, ar, limit)
    state = _NativeSteps(mechanism, scenario, recorder, options).run(progress)
    return completed(mechanism, scenario, recorder, progress, state)


class _NativeSteps:
    """The steps of one run that are native."""

    def __init__(
        self,
        mechanism: Mechanism,
        scenario: Scenario,
        recorder: Recorder,
        options: Mapping[str, Any],
    ) -> None:
        self.mechanism, self.scenario, self.recorder = mechanism, scenario, recorder
        self.arithmetic = mechanism.arithmetic
        self.every = mechanism.rebase if scenario.loops else 0
        chosen = {"base": BASE} | dict(options)
        chosen.pop("rebase", None)
        chosen |= {"rebasing": bool(self.every), "fold": getattr(self.arithmetic, "fold", False)}
        self.main = watched_step(scenario, **chosen)
        special = watched_step(scenario, rebase_now=True, **chosen) if self.every else None
        self.kernel = native.build(
            self.main.kernel,
            self.arithmetic,
            special and special.kernel,
            lanes=1,
            flags=isinstance(self.arithmetic, scalars.BitExact),
        )
        self.chunk = max(CHUNK // len(self.main.kernel.results), 1)

    def run(self, progress: Progress | None) -> State:
        """Run as far as everything is right; the state before the first step that is not."""
        q, p = self.mechanism.initial_state(self.scenario)
        cuts = t_cut_names(self.scenario) if self.every else []
        numbers = map(self.arithmetic.to_float, (*q, *p))
        state = dict(zip(state_names(self.scenario), numbers, strict=True))
        state |= dict.fromkeys(cuts, 0.0)
        healthy = np.isfinite(list(state.values())).all()
        while healthy and self.recorder.step < self.scenario.steps:
            first = self.recorder.step
            steps = min(self.chunk, self.scenario.steps - first)
            state, done = self._advance(state, first, steps)
            healthy = done == steps
            if progress:
                progress(self.recorder.step, self.scenario.steps)
        q, p, t_cut = (
            [self._scalar(state[name]) for name in names]
            for names in (*self._vectors(state_names(self.scenario)), cuts)
        )
        step = self.recorder.step
        rebases = step and self.mechanism.rebases_at(step)
        return State(q, p, tuple(t_cut) if rebases else None, step)

    @staticmethod
    def _vectors(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The names of q and p."""
        half = len(names) // 2
        return names[:half], names[half:]

    def _scalar(self, x: np.ndarray) -> Any:
        return self.arithmetic.const(float(np.ravel(x)[0]))

    def _advance(self, state: dict[str, Any], first: int, steps: int) -> tuple[dict, int]:
        """Run a chunk and keep it, as far as everything is right."""
        self.kernel.flags = 0
        after, trace = self.kernel.advance(state, steps, first=first, every=self.every)
        trace = {name: column[:, 0].astype(float) for name, column in trace.items()}
        eta, joint = self._conditions(trace)
        right = self._right(trace, after, eta, joint)
        done = steps if right.all() else int(right.argmin())
        if done < steps:
            self.kernel.flags = 0
            after, _ = self.kernel.advance(state, done, first=first, every=self.every, save=0)
        self.arithmetic.flags |= self.kernel.flags
        recorder = self.recorder
        recorder.note_conditions(*(x if x is None else x[:done] for x in (eta, joint)))
        names = [
            [f"{kind}[{k}]" for k in range(self.mechanism.size)] for kind in ("q", "qd", "p_used")
        ]
        recorder.extend(*(np.column_stack([trace[name][:done] for name in some]) for some in names))
        return after, done

    def _conditions(self, trace: Mapping[str, np.ndarray]) -> tuple:
        """Largest condition numbers of each step, of eta and of the joint matrices."""
        eta = joint = None
        if self.main.eta:
            matrices = np.array([[trace[name] for name in row] for row in self.main.eta])
            matrices = np.moveaxis(matrices, -1, 0)
            finite = np.isfinite(matrices).all(axis=(1, 2))
            eta = np.full(len(matrices), np.inf)
            eta[finite] = np.linalg.cond(matrices[finite])
        if self.main.joint:
            joint = np.max([condition_2x2(self._sum(parts, trace)) for parts in self.main.joint], 0)
        return eta, joint

    @staticmethod
    def _sum(parts: Sequence, trace: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.sum([[[trace[name] for name in row] for row in part] for part in parts], axis=0)

    def _right(
        self,
        trace: Mapping[str, np.ndarray],
        after: Mapping[str, np.ndarray],
        eta: np.ndarray | None,
        joint: np.ndarray | None,
    ) -> np.ndarray:
        """Whether the model would go on, after each step."""
        judged = {
            name: x for name, x in trace.items() if "[" in name and not name.startswith("joint")
        }
        right = np.isfinite(list(judged.values())).all(axis=0)
        right[:-1] &= right[1:]
        right[-1] &= np.isfinite(list(after.values())).all()
        if self.main.nonzero:
            right &= (np.array([trace[name] for name in self.main.nonzero]) != 0.0).all(axis=0)
        if joint is not None:
            right &= joint < self.recorder.limit
        if eta is not None:
            right &= eta * self.arithmetic.unit_roundoff < UNSOLVABLE
        return right
