"""The simulations that code coverage is merged from: one configuration of a bench each.

They are a part of the regression's, with less stimulus, and meet what all of it meets: small
formats, few lanes, every schedule and every method.
"""

import contextlib
import importlib
import io
import json
import resource
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.hardware.bench import Bench
from pymodel.hardware.simulators import COVERAGE_ARGS
from scripts.evidence.coverage.code.moved import Moved, keep, moved_counts
from scripts.kernel.inputs import rtl_of
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.simulations import digest_of

FOLDER = BUILD / "coverage" / "code"
SOURCES = FOLDER / "sources"  # what was simulated, for the places of its counts
SIMULATOR = "verilator"


@dataclass(frozen=True)
class Run:
    """A simulation.

    Attributes
    ----------
    bench, config
        Names.
    settings, params
        What differs from the configuration.
    """

    bench: str
    config: str
    settings: dict[str, Any] = field(default_factory=dict)
    params: dict[str, int] = field(default_factory=dict)

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


def _vectors(count: int) -> dict[str, Any]:
    return {"vectors": {SIMULATOR: count}}


def _of(what: str, count: int) -> dict[str, Any]:
    return {what: {SIMULATOR: count}}


HALF, SMALL = {"EXP_W": 5, "MAN_W": 10}, {"EXP_W": 5, "MAN_W": 4}
#: Of units that take long to compile and to simulate: those with more stages are left out.
FEW_LANES = {"LANES": 4, "MAX_STAGES": 3}
MANY, FEWER, SOME = 1 << 14, 1 << 12, 1 << 10
RUNS = (
    # Formats of the float units at which their shifts, counts and products differ in shape.
    Run("fp_add", "e5m12", _vectors(MANY)),
    Run("fp_add", "e4m3", _vectors(MANY)),
    Run("fp_mul", "half", _vectors(MANY)),
    Run("fp_mul", "e4m3-finite", _vectors(MANY)),
    Run("fp_mul", "binary32-dsp18", _vectors(MANY)),
    Run("fp_recip", "half", _vectors(FEWER), FEW_LANES),
    Run("fp_recip", "binary32-dsp18", _vectors(FEWER), FEW_LANES | {"EXP_W": 5, "MAN_W": 18}),
    Run("fp_recip_stream", "array", _vectors(SOME), HALF),
    Run("fp_recip_stream", "table", _vectors(SOME), HALF),
    Run("fp_recip_stream", "iterative", _vectors(SOME), HALF),
    Run("fp_sincos", "half", _vectors(FEWER)),
    Run("fp_sincos", "binary32-dsp18", _vectors(FEWER), FEW_LANES),
    # Inverters of either schedule, with and without stages.
    Run("inv_adjugate_2x2", "half", _of("runs", SOME)),
    Run("inv_ldup", "serial-3", _of("runs", 500)),
    Run("inv_ldup", "serial-4-pipelined", _of("runs", 200), HALF),
    Run("inv_ldup", "parallel-3-5.10-pipelined", params={"EXP_W": 4, "MAN_W": 5}),
    Run("ldup_coprocessor", "serial"),
    Run("ldup_coprocessor", "half-2-parallel-pipelined"),
    Run("hdca_engine", "pipelined", params=SMALL),
    Run("hdca_engine", "one-pass", _of("runs", 100), SMALL),
    # Engines without stages, with different ones, with contexts; arrays of two systems and more.
    Run("step_engine", "least-half"),
    Run("step_engine", "mixed-stages"),
    Run("step_engine", "barrel-of-4"),
    Run("step_array", "least-half"),
    Run("step_array", "two-of-2-half", _of("tables", 16)),
    Run("step_array", "two-of-8"),
    Run("hdca_coprocessor", "two-passes"),
)
