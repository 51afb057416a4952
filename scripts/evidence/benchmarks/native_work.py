"""What the native kernels are timed at: time steps of mechanisms, functions of robots.

Each piece of work gives its kernel, states to run it from, and what the model makes of some of
them, to compare every bit with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from pymodel.arith import scalars
from pymodel.compile import native, registry, robot_kernels
from pymodel.compile.kernel import Kernel
from pymodel.compile.native import NativeKernel
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.lagrangian import momenta
from pymodel.runs.robot_calls import random_states
from scripts.evidence.benchmarks import native_clock
from scripts.evidence.benchmarks.peers.states import SEED, moving
from scripts.evidence.robots.cases import ROBOTS, small
from scripts.kernel.places import DEMOS, scenario_file

Values = dict[str, np.ndarray]

ONE, BATCH = "one", "batch"
#: Systems of a batch: arrays of many do not fit into the caches.
SYSTEMS = (64, 256, 4096)
CHECKED = 4  # systems whose bits are compared
CHECKED_STEPS = 25
CALLS = 64  # states of calls one at a time


@dataclass(frozen=True)
class Step:
    """Time steps of a mechanism, the whole step in C.

    Attributes
    ----------
    mechanism : str
        Name of a shipped scenario.
    """

    mechanism: str

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.mechanism} step"

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario."""
        return load(scenario_file(self.mechanism))

    @cached_property
    def kernel(self) -> Kernel:
        """What is built."""
        return registry.recorded("step", self.scenario)

    def states(self, count: int) -> Values:
        """States to begin with."""
        q, qd = moving(self.scenario, count)
        if count == 1:  # the run of the demo
            q, qd = np.array([self.scenario.q0]), np.array([self.scenario.qd0])
        p = momenta(self.scenario, q, qd)
        columns = {"q": q, "p": p}
        return {
            f"{name}[{k}]": table[:, k]
            for name, table in columns.items()
            for k in range(table.shape[1])
        }

    def ns(self, built: NativeKernel, systems: int, budget: float) -> float:
        """Time of a step of one system, nothing kept but the last state."""
        steps = max(self.scenario.steps // systems, 10)
        return native_clock.step_ns(built, states(self, systems), steps, budget)

    def identical(self, built: NativeKernel) -> bool:
        """Whether some steps of some systems have the model's bits."""
        before = self.states(CHECKED)
        found, _ = built.advance(before, CHECKED_STEPS, save=0)
        arithmetic = built.code.arithmetic
        for system in range(CHECKED):
            now = {name: arithmetic.const(float(x[system])) for name, x in before.items()}
            for _ in range(CHECKED_STEPS):
                after = self.kernel.evaluate(arithmetic, now)
                now = {name: after[name] for name in self.kernel.carried}
            if not _same(arithmetic, now, found, system):
                return False
        return True


@dataclass(frozen=True)
class Call:
    """Calls of a robot's function.

    Attributes
    ----------
    robot, function : str
    """

    robot: str
    function: str

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.robot} {self.function}"

    @cached_property
    def kernel(self) -> Kernel:
        """What is built."""
        return robot_kernels.recorded(small(self.robot), self.function)

    def states(self, count: int) -> Values:
        """Random inputs."""
        table = random_states(small(self.robot), self.function, count, SEED)
        return {name: table[name] for name in self.kernel.inputs}

    def ns(self, built: NativeKernel, systems: int, budget: float) -> float:
        """Time of a call for one system."""
        given = states(self, max(systems, CALLS))
        return native_clock.evaluation_ns(built, given, systems, budget)

    def identical(self, built: NativeKernel) -> bool:
        """Whether all results of some calls have the model's bits."""
        given = self.states(CHECKED)
        found = built.evaluate(given)
        arithmetic = built.code.arithmetic
        return all(
            _same(
                arithmetic,
                self.kernel.evaluate(
                    arithmetic,
                    {name: arithmetic.const(float(x[system])) for name, x in given.items()},
                ),
                found,
                system,
            )
            for system in range(CHECKED)
        )


Work = Step | Call


@cache
def states(work: Work, count: int) -> Values:
    """States of a piece of work, kept: they are timed more than once."""
    return work.states(count)


#: Function of robots, in the order of the table.
FUNCTIONS = ("ID", "FD", "dID", "dFD")
STEPS = tuple(Step(name) for name in DEMOS)
CALLS_OF_ROBOTS = tuple(Call(name, function) for name in ROBOTS for function in FUNCTIONS)


def build(work: Work, arithmetic: str, mode: str) -> NativeKernel:
    """Build a kernel for one system at a time, or for as many as a vector holds.

    Raises
    ------
    pymodel.compile.native.NoCompilerError
        If it cannot be built here.
    """
    return native.build(work.kernel, arithmetic, lanes=1 if mode == ONE else None)


def _same(
    arithmetic: scalars.Float64 | scalars.BitExact,
    right: Mapping[str, object],
    found: Mapping[str, np.ndarray],
    system: int,
) -> bool:
    """Whether values are those of the model, zeros' signs included."""
    names = list(right)
    model = np.array([arithmetic.to_float(right[name]) for name in names])
    ours = np.array([found[name][system] for name in names], float)
    return model.tobytes() == ours.tobytes()
