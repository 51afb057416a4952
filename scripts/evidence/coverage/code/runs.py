"""The simulations that code coverage is merged from: one configuration of a bench each.

They are a part of the regression's, with less stimulus, and meet what all of it meets: small
formats, few lanes, every schedule and every method.
"""

import contextlib
import importlib
import io
import json
import resource
from pathlib import Path

from pymodel.hardware.bench import Bench
from pymodel.hardware.simulators import COVERAGE_ARGS
from scripts.evidence.coverage.code.moved import Moved, keep, moved_counts
from scripts.kernel.inputs import rtl_of
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.simulations import digest_of
from scripts.kernel.units import CodeRun, records

FOLDER = BUILD / "coverage" / "code"
SOURCES = FOLDER / "sources"  # what was simulated, for the places of its counts
SIMULATOR = "verilator"


class Run(CodeRun):
    """A simulation."""

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.bench}-{self.config}"

    @property
    def data(self) -> Path:
        """What Verilator counted."""
        return FOLDER / f"{self.name}.dat"

    @property
    def about(self) -> Path:
        """JSON: ``key`` of what was simulated, its ``sources``, and ``cpu_s`` that it took."""
        return self.data.with_suffix(".json")

    @property
    def counts(self) -> Path:
        """What Verilator counted, by the lines of the RTL of today."""
        kept: dict[str, str] = json.loads(self.about.read_text())["sources"]
        now = keep(kept, SOURCES)
        old = {file: name for file, name in kept.items() if now[file] != name}
        if not old:
            return self.data
        moves = {
            str(ROOT / file): Moved((SOURCES / name).read_text(), (ROOT / file).read_text())
            for file, name in old.items()
        }
        file = self.data.with_suffix(".moved")
        file.write_text(moved_counts(self.data.read_text(), moves))
        return file

    @property
    def of_bench(self) -> Bench:
        """Its bench."""
        return importlib.import_module(f"tb.{self.bench}.bench").BENCH

    def key(self) -> str:
        """Hash of all that the counts depend on."""
        return digest_of(self.bench, SIMULATOR, repr((self, COVERAGE_ARGS)))

    def is_done(self) -> bool:
        """Whether its file is there, and of what there is now."""
        if not (self.data.exists() and self.about.exists()):
            return False
        return json.loads(self.about.read_text())["key"] == self.key()

    def do(self) -> str:
        """Simulate; returns why it failed, nothing if it passed."""
        key, before = self.key(), _cpu_s()
        sources = keep(rtl_of(self.of_bench), SOURCES)
        self.about.unlink(missing_ok=True)
        with contextlib.redirect_stderr(io.StringIO()):  # cocotb-test names what failed there
            row = self.of_bench.run(
                SIMULATOR,
                self.config,
                settings=self.settings,
                params=self.params,
                code_coverage=self.data,
            )
        if row["result"] == "pass":
            about = {"key": key, "sources": sources, "cpu_s": round(_cpu_s() - before, 1)}
            self.about.write_text(json.dumps(about) + "\n")
        return row["message"]


def _cpu_s() -> float:
    """CPU time of this process's children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


RUNS = tuple(Run(**vars(run)) for record in records().values() for run in record.code_coverage)
