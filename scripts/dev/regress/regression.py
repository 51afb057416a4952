"""A regression: its units, their verdicts, and the bins that they have met."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pymodel.hardware.coverage_point import Bin
from scripts.dev.regress.met import Met
from scripts.dev.regress.minimal import Failure, Minimal
from scripts.evidence.coverage.functional import by_unit, fill, rows
from scripts.evidence.coverage.units import all_points
from scripts.kernel.journal import Journal, Row
from scripts.kernel.places import ROOT
from scripts.kernel.simulations import FOLDER, Found, Unit, dead


class Regression:
    """Units, their verdicts, and what they have met.

    Parameters
    ----------
    units
        All of them, without an end where time sets it.
    until
        Time, as :func:`time.time` counts it, from which on no unit is begun; None: never.
    """

    def __init__(self, units: Iterable[Unit], until: float | None) -> None:
        self._units, self._until = iter(units), until
        self._journals: dict[str, Journal] = {}
        self._met: dict[Path, Met] = {}
        self.asked: list[Unit] = []
        self.rows: dict[str, Row] = {}  # of what was asked, by the unit's key
        self.known = 0  # of these, from the journal

    def journal(self, bench: str) -> Journal:
        """The journal of a bench."""
        if bench not in self._journals:
            self._journals[bench] = Journal(FOLDER / bench / "journal.jsonl")
        return self._journals[bench]

    def todo(self) -> Iterator[Unit]:
        """Units without a verdict, one when it is asked for, as long as there is time."""
        for unit in self._units:
            row = self.journal(unit.bench).rows.get(unit.key)
            if row is None and self._until is not None and time.time() >= self._until:
                return
            if unit.key not in self.rows:
                self.asked.append(unit)
            if row is None:
                yield unit
            else:
                self.known += 1
                self.rows[unit.key] = row

    def add(self, unit: Unit, found: Found | None) -> Row:
        """Keep what a unit found.

        It runs again next time if its workers died (None), or its simulator was killed.
        """
        if found is None:
            row, met = dead(unit)
        else:
            row, met = found
            self._met_by(unit.bench, unit.digest).add(met)
            if not row.get("killed"):
                self.journal(unit.bench).add(row)
        self.rows[unit.key] = row
        return row

    @property
    def found(self) -> list[Row]:
        """The rows that there are of what was asked, in this order."""
        return [self.rows[unit.key] for unit in self.asked if unit.key in self.rows]

    @property
    def failed(self) -> list[Unit]:
        """Units that failed, quick ones first."""
        found = [u for u in self.asked if self.rows.get(u.key, {}).get("result") == "fail"]
        return sorted(found, key=lambda unit: self.rows[unit.key]["wall_s"])

    @property
    def failures(self) -> list[Failure]:
        """Of each test of a bench that failed, the unit where it did so soonest."""
        found: dict[tuple[str, str], Failure] = {}
        for unit in self.failed:
            for test in self.rows[unit.key]["tests"]:
                if test["result"] == "fail":
                    found.setdefault((unit.bench, test["name"]), Failure(unit, test["name"]))
        return list(found.values())

    def seeds_that_fail(self, failure: Failure) -> set[int]:
        """The seeds with which a test has failed, in any configuration."""
        return {
            unit.seed
            for unit in self.failed
            for test in self.rows[unit.key]["tests"]
            if (unit.bench, test["name"]) == (failure.unit.bench, failure.test)
            and test["result"] == "fail"
        }

    def minimal(self) -> dict[str, Row]:
        """The shortest runs that are known, by the key of the failure."""
        known = {f.key: self.journal(f.unit.bench).rows.get(f.key) for f in self.failures}
        return {key: row for key, row in known.items() if row}

    def keep(self, failure: Failure, found: Minimal | None) -> None:
        """Keep the shortest run of a failure, and its waveform."""
        if found is None:
            return
        if found.row["waves"]:
            file = ROOT / found.row["waves"]
            file.parent.mkdir(parents=True, exist_ok=True)
            for suffix, content in found.waves.items():
                file.with_suffix(suffix).write_bytes(content)
        self.journal(failure.unit.bench).add(found.row)

    def coverage(self) -> list[dict[str, Any]]:
        """Of each unit of hardware with a bin that was met: unit, bins, hit, excluded."""
        found: dict[tuple[str, str], set[Bin]] = {}
        for bench, digest in {(unit.bench, unit.digest) for unit in self.asked}:
            for point, bins in self._met_by(bench, digest).bins.items():
                found.setdefault(point, set()).update(bins)
        points = all_points()
        fill(points, found)
        return [row for row in by_unit(rows(points)) if row["hit"]]

    def _met_by(self, bench: str, digest: str) -> Met:
        """The bins that a bench has met on some sources."""
        file = FOLDER / bench / f"met-{digest}.jsonl"
        if file not in self._met:
            self._met[file] = Met(file)
        return self._met[file]
