"""Scenarios that one simulation runs one after the other, and what they come to.

They go to the simulator's process and back in files of Python's own: both are ours.
"""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.hardware.bench import Bench
from pymodel.hardware.places import ROOT
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.outcome import Outcome

TEST = "variations"  # the cocotb test
SETTING = "variations"  # the setting with the folder
SCENARIOS, OUTCOMES = "scenarios.pickle", "outcomes.pickle"
SHORT_STEPS = 3  # of what the regression runs
#: Systems of one run start this far apart, rad or m: each has a trajectory of its own.
APART = 0.01


def systems(settings: dict[str, Any]) -> list[Scenario]:
    """The scenarios of a run: copies of one, the first joint moved a little in each but the first.

    Where it has many coordinates it moves along the first of its velocities.
    """
    first = load(ROOT / settings["scenario"], settings.get("steps"))
    given = {key: settings[key] for key in ("step", "save", "integrator") if settings.get(key)}
    first = replace(first, **given)
    unit = np.eye(first.nv)[0]
    others = [
        first.with_state(displaced(first, first.q0, APART * context * unit), first.qd0)
        for context in range(1, settings.get("contexts") or 1)
    ]
    return [first, *others]


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
        short = [replace(x, end=SHORT_STEPS * x.step, save=1) for x in scenarios]
        return cls(short, {"project": 0})  # programs of a bench's engine have room for no more

    @property
    def _files(self) -> Path:
        assert self.folder is not None
        return self.folder

    def ask(self) -> None:
        """Write the scenarios, for the simulator's process."""
        asked = (list(self.scenarios), self.options)
        (self._files / SCENARIOS).write_bytes(pickle.dumps(asked))

    def answer(self, outcome: Outcome) -> None:
        """Add the outcome of the next scenario."""
        if self.folder:
            with open(self.folder / OUTCOMES, "ab") as file:
                pickle.dump(outcome, file)

    def answers(self) -> list[Outcome]:
        """The outcomes, of the first scenarios if the simulation has ended early."""
        path, found = self._files / OUTCOMES, []
        if not path.exists():
            return []
        with open(path, "rb") as file:
            while file.peek(1):
                found.append(pickle.load(file))
        return found
