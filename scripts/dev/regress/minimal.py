"""The shortest stimulus that still makes a test fail, and its waveform.

Where a test tells the number of the item of its stimulus that failed (a vector, a round, a call:
:meth:`pymodel.hardware.bench.Bench.items`), items before it are left out: all of them, if it fails
alone, otherwise as many as do not matter. Elsewhere the counts in the configuration's settings are
bisected. What fails otherwise than the whole test did does not count.
"""

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scripts.kernel.journal import Row
from scripts.kernel.places import ROOT
from scripts.kernel.simulations import FOLDER, Unit, bench_named, simulated

MOST_RUNS = 30  # of a test; the shortest so far is then taken
Settings = dict[str, Any]


class Failure(NamedTuple):
    """A test that failed in a unit."""

    unit: Unit
    test: str

    @property
    def key(self) -> str:
        """Name of its row in the journal."""
        return f"{self.unit.key} {self.test}"


class Minimal(NamedTuple):
    """The shortest run that was found.

    Attributes
    ----------
    row
        For the journal: ``key``, ``settings``, ``rerun`` (its command), ``how`` (what was left
        out), ``why`` (the failure in one line), ``ns`` (simulated), ``runs`` (that it took) and
        ``waves`` (its waveform, relative to the repository; empty if there is none).
    waves
        The waveform and the file that belongs to it, by the end of their names.
    """

    row: Row
    waves: dict[str, bytes]


class _Search:
    """Runs of one test until the shortest is found."""

    def __init__(self, failure: Failure) -> None:
        self.failure, self.runs = failure, 0
        self.folder = failure.unit.folder.with_name(f"{failure.unit.folder.name}-{failure.test}")
        self.kind = ""  # of the failure
        self.ns = 0.0  # simulated by the last run that failed
        self.last: Row = {}

    def run(self, settings: Settings, waves: bool = False) -> Row | None:
        """The row of the test if it fails, and in the same way; otherwise None."""
        unit, test = self.failure
        self.runs += 1
        row = simulated(unit, self.folder, testcase=test, settings=settings, waves=waves)
        found = [t for t in row["tests"] if t["name"] == test and t["result"] == "fail"]
        kind = kind_of(found[0]) if found else ""
        if not found or self.kind not in ("", kind):
            return None
        self.kind, self.last, self.ns = kind, row, found[0]["sim_ns"]
        return found[0]

    def fails(self, settings: Settings) -> bool:
        """Whether it still does, as long as runs are left."""
        return self.runs < MOST_RUNS and bool(self.run(settings))


def kind_of(test: Row) -> str:
    """What a failure has in common with those of other stimulus: its first line up to the time."""
    said = (test.get("why") or test["message"]).splitlines() or [""]
    return re.sub(r"\d+", "", said[0].partition(" at ")[0])


def minimised(failure: Failure) -> Minimal:
    """Search; the last run dumps waves."""
    search, unit = _Search(failure), failure.unit
    try:
        test = search.run({})
        if test is None:
            return Minimal(_row(search, {}, "fails only after the bench's other tests", ""), {})
        settings, how = _part(search, test.get("reached") or {})
        if not settings:
            settings, how = _counts(search)
        test = search.run(settings, waves=True)
        if test is None:
            return Minimal(_row(search, settings, f"{how}; passes with waves", ""), {})
        waves = {path.suffix: path.read_bytes() for path in _waves(search.folder)}
        name = f"{unit.config}-{unit.simulator}-{failure.test}-seed{unit.seed}"
        file = FOLDER / unit.bench / "waves" / f"{name}.fst"
        return Minimal(_row(search, settings, how, str(file.relative_to(ROOT))), waves)
    finally:
        shutil.rmtree(search.folder, ignore_errors=True)


def _waves(folder: Path) -> list[Path]:
    """The one waveform in a folder, and what is beside it."""
    return [path for wave in folder.glob("*.fst") for path in (wave, wave.with_suffix(".json"))]


def _row(search: _Search, settings: Settings, how: str, waves: str) -> Row:
    unit, name = search.failure
    tests = [t for t in search.last.get("tests", []) if t["name"] == name]
    rerun = search.last.get("rerun", "") + (" WAVES=1" if waves else "")
    return {
        "key": search.failure.key,
        "settings": settings,
        "rerun": rerun
        or f"make {unit.bench} SIM={unit.simulator} CONFIG={unit.config} SEED={unit.seed}",
        "how": how,
        "why": (tests[0].get("why") or tests[0]["message"].splitlines()[0]) if tests else "",
        "ns": tests[0]["sim_ns"] if tests else 0,
        "runs": search.runs,
        "waves": waves,
    }


def least(passes: int, fails: int, still: Callable[[int], bool]) -> int:
    """The least number that fails, by bisection: one that passes and one that fails are known."""
    while fails - passes > 1:
        middle = (passes + fails) // 2
        passes, fails = (passes, middle) if still(middle) else (middle, fails)
    return fails


def _part(search: _Search, reached: Row) -> tuple[Settings, str]:
    """The last items up to that which failed; nothing if there are no items."""
    if "item" not in reached:
        return {}, ""
    item, states = reached["item"], reached.get("states")

    def last(size: int) -> Settings:
        first = item + 1 - size
        state = {"state": states[first]} if states and first < len(states) else {}
        return {"first": first, "items": size} | (state if first else {})

    size, passes = 1, 0
    while size <= item and not search.fails(last(size)):
        passes, size = size, 2 * size
    if size > item:
        size = item + 1  # from the start, nothing is left out but what comes after
    size = least(passes, size, lambda count: search.fails(last(count)))
    text = f"item {item} alone" if size == 1 else f"items {item + 1 - size} to {item}"
    return last(size), text


def _counts(search: _Search) -> tuple[Settings, str]:
    """Counts of the settings, each as small as can be; those alone that shorten the run."""
    unit, found, shortest = search.failure.unit, {}, search.ns
    own = bench_named(unit.bench).config_named(unit.config).settings
    for name, value in own.items():
        count = value.get(unit.simulator) if isinstance(value, dict) else value
        if type(count) is not int or count < 2:
            continue

        fewer = partial(_fewer, search, dict(found), name)
        fewest = least(0, count, fewer)
        if fewest < count and search.ns < shortest:
            found[name], shortest = fewest, search.ns
    words = [f"{name} {count}" for name, count in found.items()]
    return found, ", ".join(words) or "the whole test, until it fails"


def _fewer(search: _Search, settings: Settings, name: str, count: int) -> bool:
    return search.fails(settings | {name: count})
