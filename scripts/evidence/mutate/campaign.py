"""The mutants of one unit, judged one by one; a campaign that was cut short goes on."""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pymodel.hardware.bench import DEFAULT_SEED
from scripts.evidence.formal.sby import HARNESSES
from scripts.evidence.mutate import equivalence, exhaustion, known, proofs
from scripts.evidence.mutate.errors import MutateError
from scripts.evidence.mutate.judge import SIMULATOR, Judge, Server
from scripts.evidence.mutate.netlist import Mutation, Netlists, describe
from scripts.evidence.mutate.units import Unit
from scripts.kernel.digest import digest as digest_of_text
from scripts.kernel.digest import key_of, pinned
from scripts.kernel.journal import Journal, Row
from scripts.kernel.measured_rtl import KEY, rtl_digest
from scripts.kernel.modules import files_by_name, needed_files
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.simulations import version_of
from scripts.kernel.sources import sources_of
from scripts.kernel.tools import GROUP

KILLED, EQUIVALENT, SURVIVED = "killed", "equivalent", "survived"
SHOWN = equivalence.EQUIVALENT, exhaustion.SAME  # that a mutation changes nothing
FOLDER = BUILD / "mutate"
#: What `make formal` proves the RTL with.
HARNESS_FILES = [f"{HARNESSES}/{path.name}" for path in sorted((ROOT / HARNESSES).glob("*.sv"))]


def digest(unit: Unit) -> str:
    """Of what a verdict depends on besides the mutation: RTL, bench and proofs, how all are run."""
    top = unit.shared_bench().device.toplevel
    files = needed_files(top if top in files_by_name() else unit.module)
    files += sources_of(f"tb.{unit.bench}.test_{unit.bench}")
    files += ["tb/common/fp_lanes.sv"] if unit.lanes else []
    files += HARNESS_FILES
    versions = pinned(GROUP), version_of(SIMULATOR)
    told = [unit.config, *unit.told, *map(repr, proofs.PROOFS)]
    return key_of(files, *versions, *told)


class Campaign:
    """The mutants of a unit and their verdicts, kept in build/mutate/<unit>/verdicts.jsonl.

    Parameters
    ----------
    unit
    count
        Of mutants, from each seed.
    seeds
        That they are drawn from.
    """

    def __init__(self, unit: Unit, count: int, seeds: Sequence[int]) -> None:
        self.unit, self.seeds = unit, seeds
        self.folder = FOLDER / unit.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.netlists = Netlists(unit, self.folder)
        self.netlists.read()
        self._digest = digest(unit)
        self.mutations = self.netlists.mutations(count, seeds, self._digest)
        self._journal = Journal(self.folder / "verdicts.jsonl")
        self._rtl = rtl_digest(unit.module)
        self._known = self._journal.rows
        self._lock = threading.Lock()
        self._states: dict[int, list[equivalence.State]] = {}

    def _key(self, mutation: Mutation) -> str:
        parts = (self._digest, str(mutation.variant), mutation.line)
        return digest_of_text("\0".join(parts))[:16]

    @property
    def todo(self) -> list[Mutation]:
        """Those without a verdict."""
        return [mutation for mutation in self.mutations if self._key(mutation) not in self._known]

    @property
    def verdicts(self) -> list[Row]:
        """The verdicts there are, one a mutation."""
        keys = map(self._key, self.mutations)
        return [self._known[key] for key in keys if key in self._known]

    def run(self, workers: int, tell: Callable[[Row], None]) -> None:
        """Judge what has no verdict yet.

        Parameters
        ----------
        workers
            Mutants judged at the same time.
        tell
            Is told each verdict.

        Raises
        ------
        MutateError
            If a tool fails, or the bench without a mutation.
        """
        todo = self.todo
        if not todo:
            return
        judge = Judge(self.unit, self.netlists.plant(self.mutations), DEFAULT_SEED)
        judge.build()
        waiting = queue.SimpleQueue()
        for mutation in todo:
            waiting.put(mutation)

        def work(worker: str) -> None:
            with judge.server(worker) as server, contextlib.suppress(queue.Empty):
                while True:
                    row = self._row(server, waiting.get_nowait(), worker)
                    with self._lock:
                        self._journal.add(row)
                        tell(row)

        with ThreadPoolExecutor(workers) as pool:
            for ended in [pool.submit(work, f"worker-{i}") for i in range(workers)]:
                ended.result()

    def _row(self, server: Server, mutation: Mutation, worker: str) -> Row:
        """The verdict of a mutation: by the bench, else by SAT, else by proofs."""
        verdict = server.judge(mutation.number)
        row = {
            "key": self._key(mutation),
            "variant": describe(self.unit.variants[mutation.variant]),
            "mutation": mutation.text,
            "line": mutation.line,
            "verdict": KILLED if verdict.killed else SURVIVED,
            "by": verdict.by,
            "seconds": verdict.seconds,
        }
        if not verdict.killed:
            row["proof"] = self._proof(mutation, self.folder / f"equivalence_{worker}.log")
            if row["proof"] in SHOWN:
                row["verdict"] = EQUIVALENT
            elif found := self._killed_by(mutation, worker):
                row |= {"verdict": KILLED, "proof": found}
        return row

    def _killed_by(self, mutation: Mutation, worker: str) -> str:
        """The property that fails with a mutation, and its proof; empty without one."""
        clean = self.netlists.clean(mutation.variant)
        return proofs.killed_by(clean, mutation, f"mutant-{self.unit.name}-{worker}", FOLDER)

    def _proof(self, mutation: Mutation, log: Path) -> str:
        """Whether a mutation changes anything, with all that the unit knows of its states."""
        for proof in self._proofs(mutation, log):
            if proof in SHOWN:
                break
        return proof

    def _proofs(self, mutation: Mutation, log: Path) -> Iterator[str]:
        """What SAT says in states that are reached, and where more is known; what a trial says."""
        clean, unit = self.netlists.clean(mutation.variant), self.unit
        with self._lock:
            if mutation.variant not in self._states:
                self._states[mutation.variant] = self._reached(clean, log)
        states = self._states[mutation.variant]
        given = clean, unit.module, mutation
        yield equivalence.compare(*given, log, known.reset_or_not(clean, states))
        if unit.all_inputs:
            tables = self.netlists.with_tables(mutation.variant)
            yield exhaustion.compare(tables, unit.module, mutation, log)
        if unit.before:
            yield equivalence.compare(*given, log, states, before=unit.before)
        for register, when in unit.apart.items():
            zeros, control = dict.fromkeys(unit.never, "0"), (*unit.control, *when)
            start = known.zeros_apart(clean, register, control) | zeros
            if equivalence.compare(*given, log, [start], apart=register) == equivalence.EQUIVALENT:
                pairs = known.reached_apart(*given, register, log, control, unit.never)
                pairs = [pair | zeros for pair in pairs]
                yield equivalence.compare(*given, log, pairs, apart=register)

    def _reached(self, clean: Path, log: Path) -> list[equivalence.State]:
        """The states of a netlist that are compared."""
        unit = self.unit
        for pin in unit.never:
            if not known.is_never_set(clean, pin, log):
                raise MutateError(f"{unit.name}: SAT does not say that {pin} is never 1")
        zeros = dict.fromkeys(unit.never, "0")
        given = clean, unit.module, unit.control, log, unit.never
        states = known.reached(*given) if unit.control else [{}]
        return [state | zeros for state in states]

    def summary(self) -> Row:
        """The unit's row of build/mutate/summary.json."""
        rows = [self._told(row) for row in self.verdicts]
        counts = {
            verdict: sum(row["verdict"] == verdict for row in rows)
            for verdict in (KILLED, EQUIVALENT, SURVIVED)
        }
        judged = counts[KILLED] + counts[SURVIVED]
        parameters = [describe(values) for values in self.netlists.parameters]
        return {
            "unit": self.unit.name,
            KEY: self._rtl,
            "bench": self.unit.bench,
            "config": self.unit.config,
            "parameters": parameters,
            "seeds": list(self.seeds),
            "mutants": len(rows),
            **counts,
            "score": round(100 * counts[KILLED] / judged, 2) if judged else 100.0,
            "goal": self.unit.goal,
            "left": [
                {name: row[name] for name in ("variant", "mutation", "verdict", "proof")}
                for row in rows
                if "proof" in row
            ],
        }

    def _told(self, row: Row) -> Row:
        """The verdict, another one where the unit says what becomes of a survivor."""
        if row["verdict"] != SURVIVED:
            return row
        for part, why in self.unit.argued.items():
            if part in row["mutation"]:
                return row | {"verdict": EQUIVALENT, "proof": why}
        return row
