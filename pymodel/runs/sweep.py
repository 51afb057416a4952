"""Sweeps: thousands of variations of a scenario, on all cores or a cluster, as one table."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pymodel.algorithms.requests import BASE
from pymodel.algorithms.unused_options import unused_options
from pymodel.arith import scalars
from pymodel.mechanism.scenario import Scenario, ScenarioError
from pymodel.mechanism.scenario_file import parse, read
from pymodel.mechanism.scenario_writer import tables
from pymodel.runs.backends import BACKENDS, Backend, run_each
from pymodel.runs.ensemble import Ensemble, Vary, ensemble, variation
from pymodel.runs.input_error import (
    InputError,
    require_function,
    require_one_of,
    require_whole,
)
from pymodel.runs.options import algorithm_options, projection
from pymodel.runs.outcome import Outcome
from pymodel.runs.sweep_files import Columns, Parts, joined
from pymodel.runs.workers import Run, workers

Progress = Callable[[int, int], None]  #: (variations done, variations)
Chunk = Columns  #: index and varied values of some variations

KEPT_STEPS = 2_000_000  # of all runs of a chunk: some 200 MB
KILLED = "its worker died each time: out of memory, or a crash below Python"


@dataclass(frozen=True)
class Sweep:
    """What is run, without who runs it.

    Attributes
    ----------
    ensemble
        The variations.
    backend
        Where each runs.
    arithmetic
        Name of the arithmetic.
    options
        ``base``, ``rebase``, ``shape``, ``project`` of :func:`pymodel.algorithms.step.prepare`.
    chunk
        Variations that a worker is given at once, at most.
    identity
        The backend's when the sweep began.
    """

    ensemble: Ensemble
    backend: Backend
    arithmetic: str
    options: dict[str, Any]
    chunk: int
    identity: dict[str, str]

    @property
    def description(self) -> dict[str, Any]:
        """What decides on the table's rows, in JSON's types."""
        about = {"target": self.backend.name, "arithmetic": self.arithmetic}
        return self.ensemble.description | about | self.options | self.identity

    @property
    def task(self) -> Callable[[Chunk], Columns]:
        """The function that turns a chunk into rows, as it is sent to workers."""
        all_ = self.ensemble
        return partial(
            rows,
            all_.data,
            all_.source,
            all_.steps,
            (all_.scenario.nq, all_.scenario.nv),
            backend=self.backend,
            arithmetic=self.arithmetic,
            options=self.options,
            identity=self.identity,
        )


def rows(
    data: dict[str, Any],
    source: str,
    steps: int | None,
    size: tuple[int, int],
    chunk: Chunk,
    backend: Backend,
    arithmetic: str,
    options: dict[str, Any],
    identity: dict[str, str],
) -> Columns:
    """Run some variations: the rows of the table.

    Parameters
    ----------
    data, source, steps
        As for :func:`pymodel.runs.ensemble.variation`.
    size
        Numbers of coordinates and velocities.
    chunk
        Index and varied values of the variations.
    backend, arithmetic, options, identity
        As for :class:`Sweep`.

    Raises
    ------
    InputError
        If the backend's identity is another one here and now.
    """
    now = backend.identity()
    if other := [key for key in identity if now.get(key) != identity[key]]:
        what = " and ".join(other)
        raise InputError(f"not the {what} that the sweep began with; what is done is kept")
    names = [name for name in chunk if name != "index"]
    outcomes, scenarios = {}, {}
    for place, values in enumerate(zip(*(chunk[name].tolist() for name in names), strict=True)):
        try:
            given = dict(zip(names, values, strict=True))
            scenarios[place] = variation(data, source, given, steps)
        except ScenarioError as error:
            outcomes[place] = Outcome.failure(error)
    if scenarios:
        found = run_each(backend, list(scenarios.values()), arithmetic, **options)
        outcomes |= zip(scenarios, found, strict=True)
    return _table(chunk, [outcomes[place] for place in sorted(outcomes)], size)


def _table(chunk: Chunk, outcomes: Sequence[Outcome], size: tuple[int, int]) -> Columns:
    cells = [outcome.cells(*size) for outcome in outcomes]
    return chunk | {name: np.array([row[name] for row in cells]) for name in cells[0]}


def sweep(
    scenario: Scenario | str | os.PathLike[str] | dict[str, Any],
    vary: Vary,
    out: str | os.PathLike[str] | None = None,
    *,
    count: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    arithmetic: str = "float64",
    target: str | Backend = "model",
    base: str | None = None,
    rebase: int = 0,
    shape: str = "balanced",
    project: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Columns:
    """Run variations of a scenario on all cores, or on a cluster.

    What is in a row depends neither on the workers nor on the order in which they finish: it is
    that of :func:`pymodel.runs.simulate.simulate` of this variation, bit for bit. A variation that
    cannot be run is a row that says so.

    Parameters
    ----------
    scenario : Scenario, str, path-like or dict
        Scenario, its file, or what such a file holds.
    vary : dict
        Key of the file, as ``body[0].mass``, -> its values: a sequence of them, or a text:
        ``0.5:2.0:11`` (first, last, how many), ``random(-3.1,3.1)``, ``normal(1.0,0.1)``.
    out : str or path-like, optional
        Table to write, ``.parquet`` or ``.csv``. The rows that are there are kept beside it until
        the end: the same call goes on after an interruption.
    count, seed : int, optional
        Draws of the random values at each point of the grid of the others; their seed.
    steps : int, optional
        Number of steps of every run, instead of its ``end``.
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str or Backend
        Where each runs, a name in :data:`pymodel.runs.backends.BACKENDS` or a backend.
    base, rebase, shape, project
        As for :func:`pymodel.runs.targets.simulate`.
    workers : int, optional
        Processes; unless given as many as there are cores. 0: all in this process.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers are used instead.
    progress : callable, optional
        Told (variations done, variations).

    Returns
    -------
    dict
        Name of a column -> array of shape (variations,): ``index``, the varied keys, and those of
        :class:`pymodel.runs.outcome.Outcome`.

    Raises
    ------
    ScenarioError
        If the scenario as it stands cannot be run.
    InputError
        If an argument makes no sense, the scheduler does not answer or is lost, damaged files, or
        those of another sweep, stand where the table is to be, or what computes the rows changes
        meanwhile.
    """
    with _naming_arguments():
        asked = prepare(
            scenario,
            vary,
            count=count,
            seed=seed,
            steps=steps,
            arithmetic=arithmetic,
            target=target,
            base=base,
            rebase=rebase,
            shape=shape,
            project=project,
        )
        require_function("progress", progress)
        if out is None:
            return run(asked, None, workers, scheduler, progress)
        with Parts.alone(out, asked.description) as parts:
            return run(asked, parts, workers, scheduler, progress)


@contextlib.contextmanager
def _naming_arguments() -> Iterator[None]:
    """Let errors name arguments of :func:`sweep`, not options of the command: without dashes.

    Dashes of anything else, such as in a file's name, stay.
    """
    try:
        yield
    except InputError as error:
        names = "|".join(inspect.signature(sweep).parameters)
        said = re.sub(rf"(?<!\S)--(?=({names})(?![^\s:,;]))", "", str(error))
        raise InputError(said) from error.__cause__


def prepare(
    scenario: Scenario | str | os.PathLike[str] | dict[str, Any],
    vary: Vary,
    *,
    count: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    arithmetic: str = "float64",
    target: str | Backend = "model",
    base: str | None = None,
    rebase: int = 0,
    shape: str = "balanced",
    project: int | None = None,
) -> Sweep:
    """Check what a sweep is to do; as :func:`sweep`, but errors name the command's options."""
    if isinstance(scenario, Scenario):
        data, source = tables(scenario), scenario.source
    elif isinstance(scenario, dict):
        data, source = scenario, "<scenario>"
    elif isinstance(scenario, str | os.PathLike):
        data, source = read(scenario), os.fspath(scenario)
    else:
        known = "a Scenario, a file, or the dictionary that it holds"
        raise InputError(f"scenario: must be {known}, got {type(scenario).__name__}")
    variations = ensemble(data, source, vary, count, seed, steps)
    if steps is not None and "time.end" in variations.varied:
        raise InputError("--vary time.end: would change nothing, --steps says how long a run is")
    if not isinstance(target, Backend):
        target = BACKENDS[require_one_of("--target", target, BACKENDS)]
    chosen = shape, BASE if base is None else base, rebase
    algorithm_options(*chosen, project or 0, dashes="--")
    plain = parse(data, source, steps)
    for option, use in unused_options(
        plain, base, rebase, shape=shape, project=project or 0
    ).items():
        raise InputError(f"--{option}: {use}")
    try:
        arithmetic = scalars.parse(str(arithmetic)).name
    except ValueError as error:
        raise InputError(str(error)) from None
    every = projection(project, plain, arithmetic, rebase)
    options = algorithm_options(*chosen, every, dashes="--")
    target.check(plain, arithmetic, **options)
    chunk = min(target.chunk, max(1, KEPT_STEPS // (plain.steps // plain.save + 1)))
    return Sweep(variations, target, arithmetic, options, chunk, target.identity())


def run(
    asked: Sweep,
    parts: Parts | None = None,
    count: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Columns:
    """Run what :func:`prepare` gave.

    Parameters
    ----------
    asked
        What is run.
    parts
        Where the rows are kept, and the table goes; None: nowhere.
    count, scheduler, progress
        As for :func:`sweep`, where the first is called ``workers``.

    Raises
    ------
    InputError
        If the workers make no sense or are lost, rows that are kept are damaged, or what computes
        the others has changed since.
    """
    if count is not None:
        count = require_whole("--workers", count, 0)
        if scheduler:
            raise InputError("--workers: the scheduler's are used")
    total, base = len(asked.ensemble), asked.ensemble.scenario
    columns = {"index": np.arange(total)} | asked.ensemble.columns()
    names = [*columns, *Outcome.failure("").cells(base.nq, base.nv)]
    found = parts.read(names, columns) if parts else []
    missing = np.ones(total, dtype=bool)
    for part in found:
        missing[part["index"]] = False
    report = progress or (lambda done, total: None)
    if missing.any():
        left = {name: values[missing] for name, values in columns.items()}
        size = len(left["index"])
        done = total - size
        with workers(count, scheduler) as (at_once, run_chunks):
            report(done, total)
            length = max(1, min(asked.chunk, size // (2 * at_once)))
            chunks = [_slice(left, i, length) for i in range(0, size, length)]
            for part in _rows_of(asked, run_chunks, chunks):
                if parts:
                    parts.add(part)
                found.append(part)
                done += len(part["index"])
                report(done, total)
    table = joined(found)
    if parts and (missing.any() or not parts.finished):
        parts.finish(table)
    return table


def _rows_of(asked: Sweep, run_chunks: Run, chunks: Sequence[Chunk]) -> Iterator[Columns]:
    """The rows of all chunks as they come.

    A worker that dies leaves many suspects: every variation of every chunk that was there. They run
    once more at the end, one by one, so that only what kills its worker by itself has failed.
    """
    suspects = []
    for chunk, found in run_chunks(asked.task, chunks):
        if found is None:
            suspects += [_slice(chunk, i, 1) for i in range(len(chunk["index"]))]
        else:
            yield found
    for one in suspects:
        ((_, found),) = run_chunks(asked.task, [one])
        if found is None:
            base = asked.ensemble.scenario
            found = _table(one, [Outcome.failure(KILLED)], (base.nq, base.nv))
        yield found


def _slice(columns: Columns, first: int, length: int) -> Columns:
    return {name: values[first : first + length] for name, values in columns.items()}
