"""What a simulator's process hands to the one that started it: how far a run is, and its end.

Progress goes over the output, as lines ``@progress <steps done> <steps>``. A finished run goes
through files: the trajectory as run.csv, all else as cosim.json.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.hardware.bench import Bench
from pymodel.hardware.coprocessor import Coprocessor
from pymodel.hardware.places import BUILD
from pymodel.runs.trajectory import Trajectory, read_csv, write_csv

PROGRESS = "@progress"
PROGRESS_LINES = 200
TABLE, ENTRIES = "run.csv", "cosim.json"
BESIDE = ("flags", "condition", "condition_time", "spring_lengths")  # of a trajectory, not in TABLE


def print_progress(step: int, steps: int) -> None:
    """Print how far the run is, for whoever watches the output."""
    if step % max(1, steps // PROGRESS_LINES) == 0:
        print(PROGRESS, step, steps, flush=True)


def read_progress(line: str) -> tuple[int, int] | None:
    """Steps done and all steps, if a line of output holds them."""
    found = re.match(rf"{PROGRESS} (\d+) (\d+)$", line)
    return (int(found[1]), int(found[2])) if found else None


def folder_of(bench: Bench) -> Path:
    """The folder for files: the setting ``out``, or one of the configuration and simulator."""
    default = BUILD / bench.name / f"{bench.config.name}-{bench.simulator}"
    return Path(bench.settings.get("out") or default)


@dataclass(frozen=True)
class Handover:
    """A finished run in hardware.

    Attributes
    ----------
    steps
        Steps of the scenario.
    trajectory
        The kept steps; None if there is none. Its flags are those of everything that the run
        computed.
    stopped
        Why the run ended early, None if it did not.
    evaluations
        Times that the rates were evaluated: what costs are divided by.
    bus_and_run_cycles, registers_moved
        Clock cycles and register words, by part: ``<phase> write``, ``run`` or ``read``.
    engine_cycles
        Clock cycles that the hardware computed, by phase.
    words_compared
        Words from the hardware that were compared with the model.
    runs
        Where a simulation makes several runs, what each has cost.
    """

    steps: int
    trajectory: Trajectory | None
    stopped: str | None
    evaluations: int
    bus_and_run_cycles: dict[str, int]
    engine_cycles: dict[str, int]
    registers_moved: dict[str, int]
    words_compared: int
    runs: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        coprocessor: Coprocessor,
        steps: int,
        trajectory: Trajectory | None,
        stopped: str | None,
        evaluations: int,
        words_compared: int,
        runs: Sequence[dict[str, Any]] = (),
    ) -> "Handover":
        """The run of a co-processor, which has counted what it cost."""
        return cls(
            steps,
            trajectory,
            stopped,
            evaluations,
            dict(coprocessor.cycles),
            dict(coprocessor.engine_cycles),
            dict(coprocessor.words),
            words_compared,
            list(runs),
        )

    def write(self, folder: Path) -> None:
        """Write the files."""
        folder.mkdir(parents=True, exist_ok=True)
        entries = {name: value for name, value in vars(self).items() if name != "trajectory"}
        run = self.trajectory
        if run is not None:
            write_csv(folder / TABLE, run)
        entries["rows"] = 0 if run is None else len(run)
        for name in BESIDE:
            entries[name] = run and getattr(run, name)
        (folder / ENTRIES).write_text(json.dumps(entries, indent=1))

    @classmethod
    def read(cls, folder: Path) -> "Handover | None":
        """Read what :meth:`write` wrote; None if it has not."""
        if not (folder / ENTRIES).exists():
            return None
        entries = json.loads((folder / ENTRIES).read_text())
        rows = entries.pop("rows")
        beside = {name: entries.pop(name) for name in BESIDE}
        trajectory = None
        if rows:
            trajectory = read_csv(folder / TABLE)
            for name, value in beside.items():
                setattr(trajectory, name, value)
        return cls(trajectory=trajectory, **entries)

    @staticmethod
    def forget(folder: Path) -> None:
        """Remove what an earlier run has left."""
        (folder / ENTRIES).unlink(missing_ok=True)
