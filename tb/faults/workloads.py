"""What a host does with each top while a register is hit: one short session over the bus."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pymodel.algorithms import two_handles
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.hardware.axil import Registers
from pymodel.hardware.coprocessor import Coprocessor
from pymodel.hardware.hdca_coprocessor import HdcaCoprocessor
from pymodel.hardware.ldup_coprocessor import LdupCoprocessor
from pymodel.hardware.places import ROOT
from pymodel.hardware.programmable import ALL_BITS
from pymodel.hardware.step_array import StepArray
from pymodel.hardware.step_array import machine_of as array_of
from pymodel.hardware.step_engine import StepEngine
from pymodel.hardware.step_engine import machine_of as engine_of
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs
from pymodel.runs.array_runs import SHOWN, Ensemble, prepare_array
from pymodel.runs.conserved import conserved
from tb.common import bodies

Registers.alone = True  # the host of a session accesses whole words only
SEED = 1  # of what a session computes; the injections have another


@dataclass(frozen=True)
class Seen:
    """What the host has at the end of a session.

    Attributes
    ----------
    words
        Results, as bits.
    status
        Bits of STATUS that say what went wrong, and float flags.
    numbers
        What it can count: words traced, steps done, calls given, dropped.
    """

    words: list[int]
    status: int
    numbers: list[int]


class Workload:
    """A session on one top.

    Attributes that a subclass gives: ``RESIDUAL``, what it checks its results with, in words.
    """

    RESIDUAL = ""

    def __init__(self, dut: Any, params: dict[str, Any]) -> None:
        self.fmt = Format(params["EXP_W"], params["MAN_W"])
        self.rng = np.random.default_rng(SEED)
        self.host = self.driver(dut, params)

    def driver(self, dut: Any, params: dict[str, Any]) -> Coprocessor:
        """What drives the registers of this DUT."""
        raise NotImplementedError

    async def load(self) -> None:
        """Write what a host writes once, and clear all of STATUS."""
        await self.host.write("STATUS", ALL_BITS)

    async def session(self) -> Seen:
        """Write operands, run, read results: what a register is hit in."""
        raise NotImplementedError

    def residual(self, words: Sequence[int]) -> float:
        """How far the results are from what they must fulfil; NaN if one is not finite."""
        raise NotImplementedError

    async def status(self) -> int:
        """STATUS without the state."""
        status = self.host.map["STATUS"]
        states = sum(status.field(name).mask for name in ("IDLE", "BUSY", "DONE"))
        return await self.host.read("STATUS") & ~states

    async def recover(self) -> None:
        """Stop whatever runs: CTRL.RESET."""
        await self.host.write("CTRL", self.host.mask("CTRL", "RESET"))

    def floats(self, words: Sequence[int]) -> np.ndarray:
        """The numbers that words stand for."""
        return np.array([self.fmt.to_float(word) for word in words])

    def is_finite(self, words: Sequence[int]) -> bool:
        """Whether no result is infinite or not a number: the host sees that at once."""
        return all(map(math.isfinite, self.floats(words)))


class Hdca(Workload):
    """Two rigid bodies: an assembly, and the disassembly of their joint."""

    RESIDUAL = "velocities of the compound's handles and of the joint by A, B and C, symmetry of C"

    def driver(self, dut: Any, params: dict[str, Any]) -> HdcaCoprocessor:
        """One HDCA co-processor."""
        arithmetic = BitExact(self.fmt)
        self.bodies = [
            [x.bits for x in two_handles.to_words(bodies.physical(arithmetic, self.rng))]
            for _ in "AB"
        ]
        self.impulses = [self.fmt.from_float(x) for x in self.rng.normal(size=4)]
        return HdcaCoprocessor(dut)

    async def session(self) -> Seen:
        """Both phases."""
        compound = await self.host.assemble(*self.bodies)
        inner = await self.host.disassemble(self.impulses[:2], self.impulses[2:])
        return Seen([*compound, *inner], await self.status(), [])

    def residual(self, words: Sequence[int]) -> float:
        """Relative to the largest velocity; of xi_11 and xi_22, to their largest entry."""
        a, b, c = (
            [np.array(part) for part in two_handles.from_words(self.floats(body).tolist())]
            for body in (*self.bodies, words[: two_handles.WORDS])
        )
        impulses = self.floats([*self.impulses, *words[two_handles.WORDS :]])
        t_1c, t_2c, t_1b = (np.append(pair, 0.0) for pair in impulses.reshape(3, 2))
        (v_1a, v_2a), (v_1b, v_2b), (v_1c, v_2c) = (
            (
                xi_11 @ t_1 + xi_12 @ t_2 + xi_10,
                xi_12.T @ t_1 + xi_22 @ t_2 + xi_20,
            )
            for (xi_11, xi_12, xi_22, xi_10, xi_20), t_1, t_2 in (
                (a, t_1c, -t_1b),
                (b, t_1b, t_2c),
                (c, t_1c, t_2c),
            )
        )
        gaps = [v_1a - v_1c, v_2b - v_2c, (v_2a - v_1b)[:2]]
        scale = max(np.abs(v).max() for v in (v_1a, v_2a, v_1b, v_2b))
        skew = max(np.abs(xi - xi.T).max() / np.abs(xi).max() for xi in (c[0], c[2]))
        return float(max(max(np.abs(gap).max() for gap in gaps) / scale, skew))


class Ldup(Workload):
    """One matrix and its inverse."""

    RESIDUAL = "largest entry of A X - I"

    def driver(self, dut: Any, params: dict[str, Any]) -> LdupCoprocessor:
        """One LDUP co-processor."""
        self.n = params["N"]
        self.matrix = [self.fmt.from_float(x) for x in self.rng.normal(size=self.n**2)]
        return LdupCoprocessor(dut, self.n)

    async def session(self) -> Seen:
        """An inversion."""
        words = await self.host.invert(self.matrix)
        return Seen(words, await self.status(), [])

    def residual(self, words: Sequence[int]) -> float:
        """Of the inverse in float64."""
        a, x = (self.floats(m).reshape(self.n, self.n) for m in (self.matrix, words))
        return float(np.abs(a @ x - np.eye(self.n)).max())


def swinging(steps: int, save: int) -> Scenario:
    """The double pendulum in full swing, with long steps: a short run that moves."""
    scenario = replace(load(ROOT / "scenarios" / "double_pendulum.toml", steps), save=save)
    return scenario.with_state(np.array([-0.5, 0.3]), np.array([3.0, -2.0]))


class Step(Workload):
    """Ten steps of a double pendulum in full swing; every step is traced."""

    RESIDUAL = "energy of every step against that of the start, relative to the kinetic energy"
    STEPS = 10

    def driver(self, dut: Any, params: dict[str, Any]) -> StepEngine:
        """One step engine."""
        self.scenario = swinging(self.STEPS, 1)
        machine = engine_of(params)
        self.run = engine_runs.prepare(machine, [self.scenario])
        ((clean, _),), _ = self.run.on_twin()
        self.start = conserved(self.scenario)[0].values(clean)[0]
        return StepEngine(dut, machine)

    async def load(self) -> None:
        """The program."""
        await super().load()
        self.host.trace_depth = 0
        await self.host.load_program(self.run.program.encoded())

    async def session(self) -> Seen:
        """Parameters and state in, run, trace out."""
        run = self.run
        await self.host.write_registers(run.image)
        outcome = await self.host.run(
            run.program, run.steps, run.every, run.save, run.before.values(), run.after.values()
        )
        return Seen(outcome.trace, await self.status(), [len(outcome.trace), outcome.steps_done])

    def residual(self, words: Sequence[int]) -> float:
        """Largest change of the energy."""
        ((found, _),) = self.run.trajectories(words)
        energy = conserved(self.scenario)[0]
        return float(np.abs(energy.values(found) - self.start).max() / energy.scale(found))


class Array(Workload):
    """Four four-bars of different masses on two datapaths of two contexts; a step of each."""

    RESIDUAL = "how far each loop is open, m, and the velocity of its ends, m/s, after each step"
    SPREAD = 0.2  # of the masses

    def driver(self, dut: Any, params: dict[str, Any]) -> StepArray:
        """One step array."""
        machine = array_of(params)
        first = replace(load(ROOT / "scenarios" / "four_bar.toml", 1), save=1)
        self.scenarios = [
            replace(
                first,
                bodies=tuple(
                    replace(body, mass=body.mass * (1 + self.SPREAD * self.rng.uniform(-1, 1)))
                    for body in first.bodies
                ),
            )
            for _ in range(machine.systems)
        ]
        function = Ensemble.of(self.scenarios, self.fmt)
        self.array = prepare_array(machine, {"step": function})
        self.calls = [
            (self.array.functions["step"].number, self.array.words_of("step", words))
            for words in (function.words(scenario, self.fmt) for scenario in self.scenarios)
        ]
        return StepArray(dut, machine)

    async def load(self) -> None:
        """Program, parameters, tables."""
        await super().load()
        await self.host.load(self.array)

    async def session(self) -> Seen:
        """Calls in, rows out."""
        outcome = await self.host.run(self.calls)
        self.given = outcome.given
        words = [word for item in outcome.given for word in item.words]
        numbers = [item.function for item in outcome.given] + [item.fault for item in outcome.given]
        return Seen(words, await self.status(), [*numbers, len(words), outcome.dropped])

    async def recover(self) -> None:
        """The streams are emptied, too."""
        await super().recover()
        self.host.drop()

    def residual(self, words: Sequence[int]) -> float:
        """Largest gap of a loop."""
        names = self.array.functions["step"].outputs
        rows = np.array(self.floats(words)).reshape(-1, len(names))
        columns = dict(zip(names, rows.T, strict=True))
        scenario = self.scenarios[0]
        q, qd = (
            np.stack([columns[name] for name in group], axis=1)
            for group in (
                [f"{SHOWN}q[{k}]" for k in range(scenario.nq)],
                [f"qd[{k}]" for k in range(scenario.nv)],
            )
        )
        gaps = kinematics.loop_position(scenario, q), kinematics.loop_velocity(scenario, q, qd)
        return float(np.max(gaps))
