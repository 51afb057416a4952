"""Scenarios that one simulation runs one after the other, and what they come to.

They go to the simulator's process and back in files of Python's own: both are ours.
"""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pymodel.hardware.bench import Bench
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.outcome import Outcome
from tb.cosim_step.bench import systems

TEST = "variations"  # the cocotb test
SETTING = "variations"  # the setting with the folder
SCENARIOS, OUTCOMES = "scenarios.pickle", "outcomes.pickle"
SHORT_STEPS = 3  # of what the regression runs


@dataclass(frozen=True)
class Variations:
    """Scenarios to run.

    Attributes
    ----------
    scenarios
        In their order.
    options
        Those of :func:`pymodel.runs.engine_runs.prepare`.
    folder
        For the files; None: nobody wants the outcomes.
    """

    scenarios: Sequence[Scenario]
    options: dict[str, Any]
    folder: Path | None = None

    @classmethod
    def asked(cls, bench: Bench) -> "Variations":
        """What the setting names, or two systems of each of the bench's first runs."""
        if folder := bench.settings.get(SETTING):
            scenarios, options = pickle.loads((Path(folder) / SCENARIOS).read_bytes())
            return cls(scenarios, options, Path(folder))
        runs = [run | {"contexts": 2} for run in bench.settings["runs"][:2]]
        scenarios = [one for run in runs for one in systems(run)]
        return cls([replace(x, end=SHORT_STEPS * x.step, save=1) for x in scenarios], {})

    def ask(self) -> None:
        """Write the scenarios, for the simulator's process."""
        asked = (list(self.scenarios), self.options)
        (self.folder / SCENARIOS).write_bytes(pickle.dumps(asked))

    def answer(self, outcome: Outcome) -> None:
        """Add the outcome of the next scenario."""
        if self.folder:
            with open(self.folder / OUTCOMES, "ab") as file:
                pickle.dump(outcome, file)

    def answers(self) -> list[Outcome]:
        """The outcomes, of the first scenarios if the simulation has ended early."""
        path, found = self.folder / OUTCOMES, []
        if not path.exists():
            return []
        with open(path, "rb") as file:
            while file.peek(1):
                found.append(pickle.load(file))
        return found
