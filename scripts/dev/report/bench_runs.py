"""Results of the benches, build/results/*.json: one file a run."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


@dataclass
class BenchRun:
    """One build of a bench simulated once, with all of its tests.

    The attributes are those of a result row of pymodel/hardware/bench.py, and whether the row is
    older than the last session of `make test CHANGED=1`, which has not run this.
    """

    bench: str
    config: str = ""
    simulator: str = ""
    params: dict[str, int] = field(default_factory=dict)
    seed: int | None = None
    transactions: int = 0
    tests: list[dict[str, Any]] = field(default_factory=list)
    wall_s: float = 0.0
    result: str = "fail"
    rerun: str = ""
    problems: list[str] = field(default_factory=list)
    message: str = ""
    earlier: bool = False

    @property
    def failed(self) -> bool:
        """Whether the run or one of its tests did."""
        return self.result != "pass" or any(t.get("result") != "pass" for t in self.tests)

    def debug(self, test: dict[str, Any]) -> str:
        """The command that shows where a test fails; empty where it does not."""
        if test.get("result") != "fail":
            return ""
        words = f"BENCH={self.bench} CONFIG={self.config} SIM={self.simulator} SEED={self.seed}"
        return f"make debug {words} TEST={test['name']}"

    @property
    def sim_ns(self) -> float:
        """Simulated time of all tests."""
        return sum(t.get("sim_ns") or 0 for t in self.tests)

    @property
    def ordered_tests(self) -> list[dict[str, Any]]:
        """Failed tests first."""
        return sorted(self.tests, key=lambda t: t.get("result") == "pass")


def read_bench_runs(folder: Path, earlier: Collection[str] = ()) -> list[BenchRun]:
    """Bench runs, failed ones first; a file that cannot be read is a failed run.

    ``earlier`` are names of rows that the last session has neither made nor shown to hold.
    """
    known = {field.name for field in fields(BenchRun)}
    runs = []
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text())
            row = {k: v for k, v in data.items() if k in known}
            runs.append(BenchRun(**row | {"earlier": path.stem in earlier}))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            runs.append(BenchRun(bench=path.stem, problems=[f"{path.name} is unreadable: {error}"]))
    return sorted(runs, key=lambda r: (not r.failed, r.earlier, r.bench, r.config, r.simulator))
