"""Where the variations of a sweep can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pymodel.algorithms.requests import SingularError
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.outcome import Outcome
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.simulate import simulate

#: (scenarios, arithmetic, **options of :func:`pymodel.runs.simulate.simulate`) -> their outcomes
Runs = Callable[..., list[Outcome]]


@dataclass(frozen=True)
class Backend:
    """Something that runs scenarios.

    Attributes
    ----------
    name
        What the sweep's description calls it.
    run
        Runs some scenarios; it must be importable where the workers are. A scenario that it cannot
        run is an exception; the others are then tried without it.
    chunk
        How many it is given at once.
    """

    name: str
    run: Runs
    chunk: int


def run_each(
    backend: Backend, scenarios: Sequence[Scenario], arithmetic: str, **options: Any
) -> list[Outcome]:
    """Run scenarios; those that a backend cannot run become failures, the others run."""
    try:
        return backend.run(scenarios, arithmetic, **options)
    except Exception as error:  # whatever it is, it is told in a row and ends no sweep
        if len(scenarios) == 1:
            return [Outcome.failure(error)]
    half = len(scenarios) // 2
    parts = (scenarios[:half], scenarios[half:])
    return [one for part in parts for one in run_each(backend, part, arithmetic, **options)]


def _model(scenarios: Sequence[Scenario], arithmetic: str, **options: Any) -> list[Outcome]:
    return [_on_model(scenario, arithmetic, **options) for scenario in scenarios]


def _on_model(scenario: Scenario, arithmetic: str, **options: Any) -> Outcome:
    try:
        return Outcome.of(scenario, simulate(scenario, arithmetic, **options))
    except (SingularError, NonFiniteError) as error:
        return Outcome.of(scenario, error.trajectory, str(error))


#: Backends of the package, by their names.
BACKENDS = {entry.name: entry for entry in (Backend("model", _model, chunk=4),)}
