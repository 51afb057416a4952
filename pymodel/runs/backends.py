"""Where the variations of a sweep can run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from pymodel.algorithms.requests import RECORDED_BASES
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.compile import native
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import engine_runs, native_runs, simulate
from pymodel.runs.input_error import InputError
from pymodel.runs.outcome import Outcome

#: (scenarios, arithmetic, **options of :func:`pymodel.runs.simulate.simulate`) -> their outcomes
Runs = Callable[..., list[Outcome]]

PACKAGE = Path(__file__).parents[1]
CODE = (".py", ".c", ".h")  # endings of its files that compute


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
    check
        Refuses what it can never run, by an InputError, before workers start: it is called with the
        scenario as it stands, the arithmetic and the options.
    identity
        What else decides on its rows, such as a digest of what computes them, here and now: words
        for the sweep's description. A table where they differ is another sweep's, and a worker
        where they do ends the sweep.
    """

    name: str
    run: Runs
    chunk: int
    check: Callable[..., None] = lambda scenario, arithmetic, **options: None
    identity: Callable[[], dict[str, str]] = dict


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
    found = []
    for scenario in scenarios:
        try:
            run, stopped = simulate.simulate(scenario, arithmetic, **options), None
        except RunError as error:
            run, stopped = error.trajectory, str(error)
        found.append(Outcome.of(scenario, run, stopped, arithmetic=arithmetic))
    return found


def _check_model(scenario: Scenario, arithmetic: str, **options: Any) -> None:
    """Refuse an adaptive integrator in another arithmetic than float64, by a ScenarioError."""
    if arithmetic != "float64":
        scenario.require_fixed_steps()


def _native(scenarios: Sequence[Scenario], arithmetic: str, **options: Any) -> list[Outcome]:
    runs = native_runs.simulate_many(scenarios, arithmetic, **options)
    return [
        Outcome.of(scenario, run.trajectory, str(run), arithmetic=arithmetic)
        if isinstance(run, RunError)
        else Outcome.of(scenario, run, arithmetic=arithmetic)
        for scenario, run in zip(scenarios, runs, strict=True)
    ]


def _check_native(scenario: Scenario, arithmetic: str, base: str, **options: Any) -> None:
    """Refuse what has no native code, by an InputError or a ScenarioError."""
    scenario.require_fixed_steps()
    if not native_runs.possible(scenario, scalars.parse(arithmetic), base):
        reason = f"no code for {arithmetic} with the base {base}: formats end at 8/23, and ldup "
        raise InputError(f"--target native: {reason}chooses pivots")
    try:
        native.check()
    except native.NoCompilerError as error:
        raise InputError(f"--target native: {error}") from None


def twin_backend(lanes: str) -> Backend:
    """The cycle-accurate model of the engine of some lanes, such as ``2+2``."""
    return Backend(
        f"twin {lanes}",
        partial(_on_twin, lanes=lanes),
        chunk=4,
        check=_check_twin,
        identity=package,
    )


def _on_twin(
    scenarios: Sequence[Scenario], arithmetic: str, lanes: str, **options: Any
) -> list[Outcome]:
    parsed = scalars.parse(arithmetic)
    assert isinstance(parsed, scalars.BitExact)  # as checked
    machine = Machine.parse(lanes, fmt=parsed.fmt)
    found = []
    for scenario in scenarios:
        fitted = engine_runs.fitting(machine, [scenario], **options)
        ((run, stopped),), twin = engine_runs.prepare(fitted, [scenario], **options).on_twin()
        if run is not None:
            run.flags = twin.flags
        found.append(Outcome.of(scenario, run, stopped, twin.cycles, arithmetic=arithmetic))
    return found


def _check_twin(scenario: Scenario, arithmetic: str, base: str, **options: Any) -> None:
    """Refuse what has no program, by an InputError or a ScenarioError."""
    scenario.require_fixed_steps()
    parsed = scalars.parse(arithmetic)
    if not isinstance(parsed, scalars.BitExact) or not parsed.fmt.has_sincos:
        raise InputError(f"--target twin: the engine has formats up to 8/23, not {arithmetic}")
    if base not in RECORDED_BASES:
        raise InputError(f"--target twin: the base must be {' or '.join(RECORDED_BASES)}")


@cache  # what a process has imported stays, whatever becomes of the files
def package() -> dict[str, str]:
    """A digest of the package's files, without the command line and the tests."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.glob("*/**/*")):
        own = path.relative_to(PACKAGE).parts
        hidden = any(part.startswith(".") for part in own)  # of an editor or a notebook
        if path.suffix in CODE and own[0] not in ("app", "tests") and not hidden:
            found.update(path.read_bytes() + b"\0")
    return {"code": found.hexdigest()[:16]}


#: Backends of the package, by their names.
BACKENDS = {
    entry.name: entry
    for entry in (
        Backend("model", _model, chunk=4, check=_check_model, identity=package),
        Backend("native", _native, chunk=64, check=_check_native, identity=package),
    )
} | {"twin": twin_backend("2+2")}
