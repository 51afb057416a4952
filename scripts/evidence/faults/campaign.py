"""The injections of one top; a campaign that was cut short goes on."""

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pymodel.arith.errors import Error
from pymodel.hardware.on_bus import MASTERS
from pymodel.hardware.places import HARDWARE
from pymodel.hardware.simulation import Task, simulate
from scripts.kernel.digest import key_of, rtl_text
from scripts.kernel.journal import Journal, Row, read_rows
from scripts.kernel.measured_rtl import KEY, rtl_digest
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.simulations import version_of
from scripts.kernel.sources import sources_of
from tb.faults.registers import BUS, KINDS, MEMORY, Register
from tb.faults.units import Unit
from tb.faults.verdicts import CRASH, DETECTED, DONE, HANG, MASKED, SILENT, STOPPED, Place

FOLDER = BUILD / "faults"
BENCH, TEST, SIMULATOR = "faults", "inject", "verilator"
MODULE = f"tb.{BENCH}.test_{BENCH}"
SIMULATION_SEED = 1  # of the registers' first values
SMALL = 5  # bits of a register of the bus that holds handshakes, not a word
HANDSHAKE_SHARE = 0.2  # as many injections more into those alone
MEMORY_SHARE = 0.2  # of the injections, where there are memories


class FaultsError(Error):
    """Bad input, or a simulation that fails without a flip: one line, exit status 2."""


class Campaign:
    """The injections of a top and their rows, kept in build/faults/<top>/rows.jsonl.

    Parameters
    ----------
    unit
    workers
        Injections at the same time.
    folder
        Instead of build/faults/<top>.
    """

    def __init__(self, unit: Unit, workers: int, folder: Path | None = None) -> None:
        self.unit, self.workers = unit, workers
        self.folder = folder or FOLDER / unit.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.listing: Row = {}
        self._journal = Journal(self.folder / "rows.jsonl")
        self._digest = self._digest_now()
        self._rtl = rtl_digest(unit.name)
        self._listing = self.folder / f"listing-{self._digest}.json"

    def _digest_now(self) -> str:
        """Of all that a verdict depends on besides its place."""
        files = [*self.unit.device.sources]
        files += [ROOT / file for file in sources_of(MODULE)]
        files += [HARDWARE / file for file in MASTERS]
        around = rtl_text(self.unit.device.around())
        return key_of(files, version_of(SIMULATOR), around, repr(self.unit))[:16]

    def look(self) -> None:
        """Simulate once without a flip: which registers there are, how long a session takes.

        Raises
        ------
        FaultsError
            If that fails; it names the command of the unit's bench, with waves.
        """
        if not self._listing.exists():
            try:
                self._simulate(lambda line: None, listing=self._listing)
            except FaultsError as error:
                rerun = f"make {self.unit.name} SIM={SIMULATOR} WAVES=1"
                raise FaultsError(f"{error} (without a flip); rerun: {rerun}") from None
        try:
            self.listing = json.loads(self._listing.read_text())
        except ValueError:
            raise FaultsError(f"{self._listing} is cut short: remove it") from None

    @property
    def registers(self) -> list[Register]:
        """All registers."""
        return [Register(**fields) for fields in self.listing["registers"]]

    def draw(self, count: int, seed: int) -> list[Place]:
        """Places of injections.

        Cycles are uniform over the session, bits uniform over all flip-flops, and for
        :data:`MEMORY_SHARE` of them over all bits of memories.
        """
        memories = [x for x in self.registers if x.kind == MEMORY]
        others = [x for x in self.registers if x.kind != MEMORY]
        of_memories = round(count * MEMORY_SHARE) if memories else 0
        return [
            *self._drawn(others, count - of_memories, seed),
            *self._drawn(memories, of_memories, seed),
        ]

    def handshakes(self, count: int, seed: int) -> list[Place]:
        """More places: bits of the bus' registers of a few bits alone."""
        small = [x for x in self.registers if x.kind == BUS and x.bits <= SMALL]
        return self._drawn(small, round(count * HANDSHAKE_SHARE), seed)

    def _drawn(self, registers: Sequence[Register], count: int, seed: int) -> list[Place]:
        rng = np.random.default_rng([seed, len(registers), *self.unit.name.encode()])
        ends = np.cumsum([register.total for register in registers])
        found = []
        for _ in range(count):
            bit, cycle = int(rng.integers(ends[-1])), int(rng.integers(self.listing["cycles"]))
            which = int(np.searchsorted(ends, bit, side="right"))
            register = registers[which]
            found.append(Place(register.path, bit - int(ends[which]) + register.total, cycle))
        return found

    def place(self, text: str) -> Place:
        """The place that ``<register>[<bit>]@<cycle>`` names, as rows show it.

        Raises
        ------
        FaultsError
            If there is none; it says which part is wrong.
        """
        unit, cycles = self.unit.name, self.listing["cycles"]
        if not re.fullmatch(r".+\[[0-9]+\]@[0-9]+", text):
            form = "register[bit]@cycle, such as u_control.done_q[0]@78"
            raise FaultsError(f"AT={text}: must be {form}")
        name, _, cycle = text.rpartition("@")
        found = {
            register.place(number): Place(register.path, number, int(cycle))
            for register in self.registers
            if name.startswith(f"{register.path}[")
            for number in range(register.total)
        }
        if not found:
            raise FaultsError(f"AT={text}: {unit} has no such register")
        if name not in found:
            *_, last = found
            raise FaultsError(f"AT={text}: no such bit, the register of {unit} ends at {last}")
        if int(cycle) >= cycles:
            raise FaultsError(f"AT={text}: no such cycle, the session of {unit} has {cycles}")
        return found[name]

    def text(self, row: Row) -> str:
        """What :meth:`place` takes, for a row."""
        register = next(x for x in self.registers if x.path == row["path"])
        return f"{register.place(row['number'])}@{row['cycle']}"

    def known(self) -> dict[Place, Row]:
        """The rows that there are."""
        self._keep()  # of a campaign that was cut short
        return {
            Place(row["path"], row["number"], row["cycle"]): row
            for row in self._journal.rows.values()
            if row["digest"] == self._digest
        }

    def run(self, places: Sequence[Place], tell: Callable[[], None]) -> None:
        """Inject what has no row yet.

        Parameters
        ----------
        places
        tell
            Is told of each that is done.

        Raises
        ------
        FaultsError
            If the simulation fails.
        """
        known = self.known()
        todo = [place for place in dict.fromkeys(places) if place not in known]
        if not todo:
            return
        try:
            self._inject(todo, tell, waves=False)
        finally:
            self._keep()

    def _keep(self) -> None:
        """Take what a simulation has left, one that was cut short, too."""
        new = self.folder / "new.jsonl"
        rows = read_rows(new)
        if rows:
            self._journal.add(*(row | {"key": _key(row)} for row in rows))
        new.unlink(missing_ok=True)

    def again(self, place: Place, waves: bool) -> Row:
        """Do one injection again, with waves if wanted; its row, and whether it is ``bad``."""
        self._keep()
        file = self.folder / "new.jsonl"
        self._inject([place], lambda: None, waves)
        row = json.loads(file.read_text())
        return row | {"bad": is_bad(row)}

    def _inject(self, places: Sequence[Place], tell: Callable[[], None], waves: bool) -> None:
        """Simulate; the rows go to new.jsonl."""
        orders, rows = self.folder / "orders.json", self.folder / "new.jsonl"
        rows.unlink(missing_ok=True)
        orders.write_text(json.dumps(places))
        self._simulate(
            lambda line: tell() if line.strip() == DONE else None,
            waves=waves,
            at=self.text(places[0]._asdict()) if waves else "",
            listing=self._listing,
            orders=orders,
            rows=rows,
        )

    def _simulate(
        self, watch: Callable[[str], None], waves: bool = False, at: str = "", **files: Path
    ) -> None:
        settings = {
            "workload": self.unit.workload,
            "names": self.unit.device.writable,
            "workers": self.workers,
            "digest": self._digest,
            **{name: str(file) for name, file in files.items()},
        }
        words = ["make", "faults", f"UNITS={self.unit.name}", *([f"AT={at}"] if at else [])]
        task = Task(
            BENCH, self.unit.name, SIMULATOR, SIMULATION_SEED, self.unit.params, settings,
            MODULE, command=shlex.join(words), place=os.environ.get("PYTEST_XDIST_WORKER", ""),
        )  # fmt: skip
        tests, problem, _ = simulate(self.unit.device, task, TEST, waves, watch)
        wrong = problem.splitlines()[:1] if problem else []
        for test in tests:
            if test["result"] == "fail":
                said = " ".join(test["message"].splitlines()[:2])
                wrong.append(re.sub(r"^(\w+\.)+", "", said))  # an exception's module
        if wrong or not tests:
            raise FaultsError(f"{self.unit.name}: {(wrong or ['no test ran'])[0]}")

    def summary(self, places: Sequence[Place], handshakes: Sequence[Place], seed: int) -> Row:
        """The top's row of build/faults/summary.json: of what was drawn, and of handshakes.

        Raises
        ------
        FaultsError
            If one of them was not done.
        """
        known = self.known()
        lost = sum(place not in known for place in (*places, *handshakes))
        if lost:
            raise FaultsError(f"{self.unit.name}: {lost} injections left no row")
        rows, more = ([known[place] for place in some] for some in (places, handshakes))
        total = Counter()
        for register in self.registers:
            total[register.kind] += register.total
        return {
            "unit": self.unit.name,
            KEY: self._rtl,
            "params": self.unit.params,
            "seed": seed,
            "cycles": self.listing["cycles"],
            "checks": self.listing["checks"],
            "residual": self.listing["residual"],
            "bits": {kind: total[kind] for kind in KINDS},
            **counts(rows),
            "kinds": {kind: counts([x for x in rows if x["kind"] == kind]) for kind in KINDS},
            "handshakes": counts(more),
            "bad": [
                {"at": self.text(row), "verdict": row["verdict"], "why": row.get("why", "")}
                for row in [*rows, *more]
                if is_bad(row)
            ],
        }


def _key(row: Row) -> str:
    """Of an injection's row in the journal."""
    return " ".join(str(row[name]) for name in ("digest", "path", "number", "cycle"))


def is_bad(row: Row) -> bool:
    """Whether that may not be: the bus hangs, or neither clear nor reset helps."""
    return row["verdict"] in (HANG, CRASH) or (row["verdict"] == STOPPED and not row["recovered"])


def counts(rows: Sequence[Row]) -> Row:
    """How many injections came to what."""
    verdicts = Counter(row["verdict"] for row in rows)
    found = sum(row["verdict"] == SILENT and row["found"] for row in rows)
    return {
        "injections": len(rows),
        "masked": verdicts[MASKED],
        "detected": verdicts[DETECTED],
        "alarms": sum(row["verdict"] == DETECTED and not row["differs"] for row in rows),
        "stopped": verdicts[STOPPED],
        "by_pin": sum(row.get("recovered") == "rst_ni" for row in rows),
        "silent": verdicts[SILENT],
        "found_by_residual": found,
        "undetected_with_residual": verdicts[SILENT] - found,
        "hangs": verdicts[HANG],
        "crashes": verdicts[CRASH],
    }
