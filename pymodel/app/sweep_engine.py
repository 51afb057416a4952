"""The step engine's simulated RTL, as a place where the variations of a sweep run."""

import contextlib
import fcntl
import hashlib
import io
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from pymodel.algorithms.requests import BASE
from pymodel.app.engines import check_word, engine
from pymodel.app.options import ENGINE
from pymodel.app.table import NAMED
from pymodel.hardware.cosim.step import BENCH, CONFIG
from pymodel.hardware.cosim.variations import SETTING, TEST, Variations
from pymodel.hardware.places import BUILD, shown
from pymodel.hardware.rtl_files import needed
from pymodel.hardware.simulators import simulator_version
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_writer import tables, write_scenario
from pymodel.runs import engine_runs
from pymodel.runs.backends import Backend, package
from pymodel.runs.options import projection
from pymodel.runs.outcome import FAILED, Outcome

CHUNK = 8  # variations of one simulation
FAILURES = BUILD / "sweeps" / "failed"  # scenarios that have failed
DIGITS = 16  # of the digest that names such a file


def backend(arithmetic: str, lanes: str, simulator: str) -> Backend:
    """The engine of some lanes under a simulator.

    Raises
    ------
    InputError
        If it cannot compute in this format or on these lanes.
    """
    engine(arithmetic, lanes)
    return Backend(
        f"engine {lanes}",
        partial(run, lanes=lanes, simulator=simulator),
        CHUNK,
        identity=partial(identity, simulator),
    )


def identity(simulator: str) -> dict[str, str]:
    """What decides on rows: the simulator, and a digest of RTL, bench and model."""
    found = hashlib.sha256(package()["code"].encode())
    for file in needed(BENCH.device.toplevel, BENCH.device.sources):
        found.update(file.read_bytes() + b"\0")
    return {"simulator": version_of(simulator), "code": found.hexdigest()[:DIGITS]}


@cache
def version_of(simulator: str) -> str:
    """The version of a simulator, asked for once."""
    return simulator_version(simulator)


def run(
    scenarios: Sequence[Scenario],
    arithmetic: str,
    lanes: str,
    simulator: str,
    **options: str | int,
) -> list[Outcome]:
    """Run scenarios in one simulation, each compared with the model bit for bit.

    Parameters
    ----------
    scenarios, arithmetic, options
        As for :data:`pymodel.runs.backends.Runs`.
    lanes, simulator
        As for :func:`backend`.
    """
    machine = engine(arithmetic, lanes)
    for scenario in scenarios:
        machine = engine_runs.fitting(machine, [scenario], **options)
    check_word(machine, lanes)
    with tempfile.TemporaryDirectory() as folder, _place() as place:
        asked = Variations(scenarios, options, Path(folder))
        asked.ask()
        with contextlib.redirect_stderr(io.StringIO()):  # cocotb-test names what failed there
            row = BENCH.run(
                simulator,
                CONFIG,
                testcase=TEST,
                params=rtl_parameters(machine),
                settings={SETTING: folder},
                place=place,
            )
        found = asked.answers()
    missing = Outcome.failure(row["message"].strip() or "its simulation has ended")
    found += [missing] * (len(scenarios) - len(found))
    rebase = int(options.get("rebase", 0))
    project: int | None = int(options.get("project", 0))
    if project == projection(None, scenarios[0], arithmetic, rebase):
        project = None
    again = partial(
        NAMED["run"].asked,
        target=ENGINE,
        arithmetic=arithmetic,
        lanes=lanes,
        rebase=rebase,
        project=project,
        base=None if options.get("base", BASE) == BASE else options["base"],
    )
    for number, (scenario, outcome) in enumerate(zip(scenarios, found, strict=True)):
        if outcome.status == FAILED:
            alone = again(scenario=_kept(scenario))
            command = alone.again(simulator=simulator, waves=True)
            found[number] = replace(outcome, reason=f"{outcome.reason}; rerun: {command}")
    return found


def _kept(scenario: Scenario) -> str:
    """Write the file of a scenario that has failed: its path."""
    name = hashlib.sha256(repr(tables(scenario)).encode()).hexdigest()[:DIGITS]
    FAILURES.mkdir(parents=True, exist_ok=True)
    file = FAILURES / f"{name}.toml"
    write_scenario(file, scenario)
    return str(shown(file))


@contextlib.contextmanager
def _place() -> Iterator[str]:
    """A place to build and simulate that no other process has: it keeps its build for the next."""
    folder = BUILD / "sim" / "places"
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count():
        with open(folder / str(number), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield f"-{number}"
            return
