"""A finished run, wherever it ran: what its files, its summary and its plots are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pymodel.mechanism.scenario import Scenario
from pymodel.runs.trajectory import Trajectory


@dataclass(frozen=True)
class HardwareResult:
    """What simulated hardware adds to a run: how it was simulated, compared, and what it cost.

    Attributes
    ----------
    simulator
        Name of the simulator.
    seed
        Seed of its start values.
    identical
        Whether every word was that of the model, bit for bit.
    words_compared
        Words from the hardware that were compared.
    cycles_by_part
        Clock cycles, bus accesses included, by part: `<phase> write`, `run` or `read`.
    engine_cycles
        Clock cycles of it that the hardware ran, by phase.
    registers_moved
        Register words over the bus, by part.
    registers_traced
        Registers that the step engine traced, a clock cycle each.
    evaluations
        Times that the rates were evaluated: what costs are divided by.
    in_hardware
        What the hardware did, in words.
    float_units
        Number of float units by operation.
    versions
        Versions of the tools.
    """

    simulator: str
    seed: int
    identical: bool
    words_compared: int
    cycles_by_part: Mapping[str, int]
    engine_cycles: Mapping[str, int]
    registers_moved: Mapping[str, int]
    registers_traced: int
    evaluations: int
    in_hardware: str
    float_units: Mapping[str, int]
    versions: Mapping[str, str]

    @property
    def cycles(self) -> int:
        """Clock cycles of the whole run, bus accesses included."""
        return sum(self.cycles_by_part.values())

    @property
    def computing(self) -> int:
        """Clock cycles of it that the hardware computed, without those of its trace."""
        return sum(self.engine_cycles.values()) - self.registers_traced


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended, on the model or in hardware.

    Attributes
    ----------
    scenario
        What was run.
    trajectory
        The kept steps; None if not even the first could be evaluated.
    stopped
        Why the run broke off, None if it did not.
    target
        Where it ran: `model`, `coprocessor` or `step`.
    arithmetic
        Name of the arithmetic it ran in, for example `float32`.
    options
        Options of the algorithm that it ran with (`shape`, `base`, `rebase`), as far as given.
    hardware
        What hardware adds.
    """

    scenario: Scenario
    trajectory: Trajectory | None
    stopped: str | None = None
    target: str = "model"
    arithmetic: str = "float32"
    options: Mapping[str, Any] = field(default_factory=dict)
    hardware: HardwareResult | None = None

    @property
    def kept(self) -> Trajectory:
        """The trajectory of a run that has kept a step."""
        assert self.trajectory is not None
        return self.trajectory
