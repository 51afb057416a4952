"""The step engine's simulated RTL, as a place where the variations of a sweep run."""

import contextlib
import fcntl
import io
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pymodel.algorithms.requests import BASE
from pymodel.app.options import STEP, RunOptions
from pymodel.hardware.cosim.step import BENCH, CONFIG
from pymodel.hardware.cosim.variations import SETTING, TEST, Variations
from pymodel.hardware.places import BUILD, ROOT
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_writer import tables, write_scenario
from pymodel.runs import engine_runs
from pymodel.runs.backends import Backend
from pymodel.runs.outcome import FAILED, Outcome
from scripts.hardware_targets import check_word, engine
from scripts.kernel.digest import digest as digest_of_text
from scripts.kernel.simulations import digest, sources_of_bench, version_of

CHUNK = 8  # variations of one simulation
FAILURES = BUILD / "sweeps" / "failed"  # scenarios that have failed
DIGITS = 16  # of the digest that names such a file
MAKES_ROWS = ("pymodel.runs.sweep", __name__)  # besides the bench's own Python


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
    files = sources_of_bench(BENCH.name, *MAKES_ROWS)
    return {"simulator": version_of(simulator), "code": digest(files)}


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
    again = partial(
        RunOptions,
        out="",
        target=STEP,
        arithmetic=arithmetic,
        lanes=lanes,
        rebase=options.get("rebase", 0),
        base=None if options.get("base", BASE) == BASE else options["base"],
    )
    for number, (scenario, outcome) in enumerate(zip(scenarios, found, strict=True)):
        if outcome.status == FAILED:
            command = f"{again(_kept(scenario)).command(simulator)} WAVES=1"
            found[number] = replace(outcome, reason=f"{outcome.reason}; rerun: {command}")
    return found


def _kept(scenario: Scenario) -> str:
    """Write the file of a scenario that has failed: its path."""
    name = digest_of_text(repr(tables(scenario)))[:DIGITS]
    FAILURES.mkdir(parents=True, exist_ok=True)
    file = FAILURES / f"{name}.toml"
    write_scenario(file, scenario)
    return str(file.relative_to(ROOT))


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
