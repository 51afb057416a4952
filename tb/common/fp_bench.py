"""What the benches of the float units share: configurations, and a stream of operands.

A bench runs ``fp_lanes``: many copies of its unit side by side, lane i with ``i % 7`` register
stages (``i % 25``, ``i % 28``), so that every vector count covers every depth of the pipeline.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodel.arith import float_units
from pymodel.arith.fp import Format, flag_text
from pymodel.arith.stimulus import ALL_PAIRS_MAX_WIDTH, all_pairs, corner_pairs, random_pairs
from pymodel.hardware import wide
from pymodel.hardware.bench import Bench
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.configs import FORMATS as LEGAL_FORMATS
from pymodel.hardware.configs import MAX_STAGES, Config, RandomConfigs
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.simulators import SIMULATORS
from tb.common.coverage.float_units import sample

TOP = "fp_lanes"
UNITS = ("fp_add", "fp_mul", "fp_recip", "fp_sincos")
FORMATS = {
    "binary32": (8, 23),
    "half": (5, 10),
    "bfloat16": (8, 7),
    "binary64": (11, 52),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
RANDOM_FORMATS = 4  # in a run
RANDOM_VECTORS = 1 << 13  # in each of their tests
LANES_MAIN, LANES_OTHER = 63, 17  # or a little less: as many of each depth as of any other
#: What `make test` leaves out of these formats; of others, and of variants, it leaves out all.
NIGHTLY = {"binary32": ("verilator",), "half": ("icarus",)}  # binary32 takes long to build
DAILY_VECTORS = {"verilator": 1 << 17, "icarus": 1 << 13}
FLAGS_W = 5
STEPS = 64  # of a clock each, that one access from Python moves; Icarus is slower with many
CHUNK_STEPS = 16 * STEPS  # steps prepared at a time
COVERED = 1 << 15  # vectors looked at together: their columns stay in the processor's cache
SPECIFIED = 2048  # vectors of a stream that the specification itself evaluates, too


class Steps(NamedTuple):
    """As many clock cycles as one access moves.

    Attributes
    ----------
    driven
        Of each operand the word of all lanes in all steps.
    wanted
        Of each output the word of all lanes in all steps.
    vectors
        What each lane shows, shape (kinds, steps x lanes): its operands and its outputs.
    """

    driven: tuple[int, ...]
    wanted: tuple[int, ...]
    vectors: np.ndarray


class FloatBench(Bench):
    """The bench of one unit, compared with one operation of ``pymodel.arith.fp.Format``.

    Parameters
    ----------
    file
        The ``__file__`` of its bench.py.
    unit
        Its module, one of `UNITS`.
    operation
        Name of the method.
    formats
        Name of a configuration -> (exp_w, man_w).
    legal
        The values of EXP_W and MAN_W that the unit takes, and of parameters of its own; each run
        draws some more.
    results
        The ports with the method's results, flags left out.
    max_stages
        The most register stages that the unit can be given.
    twin
        A port that must show what the last of `results` does.
    variants
        Name of a further configuration -> (name of its format, more parameters of the unit).
    """

    def __init__(
        self,
        file: str,
        unit: str,
        operation: str,
        formats: dict[str, tuple[int, int]] = FORMATS,
        legal: dict[str, range] = LEGAL_FORMATS,
        results: tuple[str, ...] = ("y_o",),
        max_stages: int = MAX_STAGES,
        twin: str | None = None,
        variants: dict[str, tuple[str, dict[str, int]]] | None = None,
    ) -> None:
        configs = []
        depths = max_stages + 1
        unit_params = {"UNIT": UNITS.index(unit), "MAX_STAGES": max_stages}
        variants = {name: (name, {}) for name in formats} | (variants or {})
        for name, (format_name, more) in variants.items():
            exp_w, man_w = formats[format_name]
            main = name == "binary32"
            params = unit_params | {"EXP_W": exp_w, "MAN_W": man_w} | more
            params["LANES"] = max((LANES_MAIN if main else LANES_OTHER) // depths, 1) * depths
            vectors = {"verilator": 1 << 20 if main else 1 << 17, "icarus": 1 << 14}
            settings, daily = {"vectors": vectors}, {"vectors": DAILY_VECTORS}
            nightly = NIGHTLY.get(name, SIMULATORS)
            configs.append(Config(name, params, settings, nightly=nightly, daily=daily))
        random = RandomConfigs(
            legal,
            count=RANDOM_FORMATS,
            daily=0,
            settings={"vectors": {"icarus": RANDOM_VECTORS}, "most": RANDOM_VECTORS},
            constants=unit_params | {"LANES": depths},
        )
        super().__init__(file, TOP, configs, random, [f"tb/common/{TOP}.sv"])
        others = tuple(other for other in UNITS if other != unit)  # are no part of the device
        own = [path for path in self.device.sources if not path.stem.startswith(others)]
        self.device = replace(self.device, sources=tuple(own))
        self.unit = unit
        self.operation = operation
        self.outputs = (*results, *([twin] if twin else []), "flags_o")
        self.max_stages = max_stages
        self.twin = twin

    def simulated_params(self, simulator: str, waves: bool) -> dict[str, int]:
        """An access moves many steps of Verilator, one where each is to be seen when it is."""
        return {"STEPS": STEPS if simulator == "verilator" and not waves else 1}

    @property
    def fmt(self) -> Format:
        """The format that this simulation runs."""
        return Format(self.params["EXP_W"], self.params["MAN_W"])

    @property
    def vectors(self) -> int:
        """How many random operands (or pairs of them) this simulation gets."""
        return self.settings["vectors"][self.simulator]

    def corner_pairs(self) -> Sequence[np.ndarray]:
        """Every pair of corners."""
        return self._allowed(corner_pairs(self.fmt))

    def every_class(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        """Numbers of every class and sign, pairs of them for two operands, for every lane depth."""
        fmt, one = self.fmt, lambda least, size: least + int(rng.integers(size))
        positive = [
            *(0, one(1, fmt.min_normal - 1)),
            *(one(e << fmt.man_w, fmt.min_normal) for e in (1, fmt.bias, 2 * fmt.bias)),
            *(fmt.inf, one(fmt.inf + 1, fmt.min_normal - 1)),
        ]
        numbers = [x | sign for x in positive for sign in (0, fmt.sign_mask)]
        count = float_units.OPERATIONS[self.operation][0]
        tuples = np.array(list(itertools.product(numbers, repeat=count)), np.uint64)
        return self._allowed(tuples.repeat(self.max_stages + 1, axis=0).T)

    def many_pairs(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        """Every pair of a small format, random pairs of a large one."""
        if self.fmt.width <= ALL_PAIRS_MAX_WIDTH:
            return self._allowed(all_pairs(self.fmt))
        return self._allowed(random_pairs(self.fmt, rng, self.vectors))

    def _allowed(self, pairs: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The pairs that the unit takes: without SPECIALS, only those of finite numbers."""
        if self.params.get("SPECIALS", 1):
            return pairs
        inf = np.uint64(self.fmt.inf)
        finite = np.all([side & inf != inf for side in pairs], axis=0)
        return [side[finite] for side in pairs]

    async def stream(self, dut: Any, board: Scoreboard, *operands: np.ndarray) -> None:
        """Feed operands, new ones every clock; check each lane exactly its stages later.

        Operands change at the falling edge and results are read just before the rising one, so
        that a lane without stages must have answered already.

        Parameters
        ----------
        operands
            One uint64 array for each operand, all of one length. Of more than the setting `most`
            allows, as many are taken at random.
        """
        most = self.settings.get("most", len(operands[0]))
        if most < len(operands[0]):
            taken = board.rng.choice(len(operands[0]), most, replace=False)
            operands = tuple(side[taken] for side in operands)
        numbers = np.arange(len(operands[0]))[self.window]
        self.check_part(board, len(numbers))
        operands = tuple(side[self.window] for side in operands)
        self._check_model(board, operands)
        self._cover(board, operands)
        ports = [self._signal(dut, port) for port in ("a_i", "b_i")[: len(operands)]]
        steps = self.params["STEPS"]
        edge = FallingEdge(dut.clk_i)
        before_last_edge = Timer(steps * PERIOD_NS - PERIOD_NS // 2 - 1, "ns")
        cocotb.start_soon(Clock(dut.clk_i, PERIOD_NS, unit="ns", impl="gpi").start())
        dut.start_i.value = 1
        await edge
        await edge
        dut.start_i.value = 0
        pairs = itertools.pairwise(itertools.chain(self._steps(operands), [None]))
        for (moved, following), cycle in zip(pairs, itertools.count(0, steps), strict=False):
            for port, word in zip(ports, moved.driven, strict=True):
                wide.put(port, word)
            if cycle >= self.max_stages:
                board.model.show(dict(zip(self.outputs, moved.wanted, strict=True)))
            await before_last_edge
            ns = get_sim_time("ns")
            if steps > 1:  # the results are there after the rising edge
                await edge
            if cycle + steps > self.max_stages:
                self._check(dut, board, moved, cycle, ns, numbers)
            if board.model and following and cycle + 1 >= self.max_stages:
                await RisingEdge(dut.clk_i)
                board.model.show(self._registered(moved, following))
            if steps == 1:
                await edge

    def _registered(self, moved: Steps, following: Steps) -> dict[str, int]:
        """What the outputs show in a step from the rising edge on, before its operands change.

        Lanes with registers have what the following step is compared with, the others what this is.
        """
        said = {}
        words = zip(self.outputs, moved.wanted, following.wanted, self._shapes, strict=True)
        for port, now, then, (width, _) in words:
            lanes = range(0, self.params["LANES"], self.max_stages + 1)  # without registers
            mask = sum(((1 << width) - 1) << width * lane for lane in lanes)
            said[port] = now & mask | then & ~mask
        return said

    def _cover(self, board: Scoreboard, operands: Sequence[np.ndarray]) -> None:
        """Tell what the operands meet, each in the lane that it goes to."""
        stages = np.arange(len(operands[0])) % self.params["LANES"] % (self.max_stages + 1)
        for start in range(0, len(stages), COVERED):
            *sides, part = (column[start : start + COVERED] for column in (*operands, stages))
            for point, bins in sample(self.fmt, self.unit, sides, part):
                board.cover(self.unit, point, bins)

    def _check_model(self, board: Scoreboard, operands: Sequence[np.ndarray]) -> None:
        """The model of whole streams must give what the specification does."""
        count = len(operands[0])
        some = board.rng.choice(count, min(count, SPECIFIED), replace=False)
        sides = [side[some] for side in operands]
        model = float_units.evaluate(self.fmt, self.operation, *sides)
        specification = float_units.specified(self.fmt, self.operation, *sides)
        assert all(map(np.array_equal, model, specification)), "native code is not the model"

    def _signal(self, dut: Any, port: str) -> Any:
        """What stands for a port in all steps."""
        if self.params["STEPS"] == 1:
            return getattr(dut, port)
        return getattr(dut.gen_steps, port.rpartition("_")[0])

    def _check(
        self,
        dut: Any,
        board: Scoreboard,
        moved: Steps,
        cycle: int,
        ns: float,
        numbers: np.ndarray,
    ) -> None:
        """Compare what the outputs show now, word by word, lane by lane only if one differs.

        Operands have ``numbers``; the first step is that of ``cycle``, the last one is over right
        behind ``ns``. Steps in which the deepest pipeline fills are left out.
        """
        got = tuple(wide.get(self._signal(dut, port)) for port in self.outputs)
        if got == moved.wanted and cycle >= self.max_stages:
            board.transactions += moved.vectors[-len(got) :].size
            return
        steps, lanes = self.params["STEPS"], self.params["LANES"]
        by_step = moved.vectors.reshape(-1, steps, lanes).swapaxes(0, 1).tolist()
        for step in range(max(0, self.max_stages - cycle), steps):
            words = [
                word >> step * lanes * width & (1 << lanes * width) - 1
                for word, (width, _) in zip(got, self._shapes, strict=True)
            ]
            at = ns - PERIOD_NS * (steps - 1 - step)
            self._check_step(board, words, by_step[step], cycle + step, at, numbers)

    @property
    def _shapes(self) -> list[tuple[int, Format | None]]:
        """Of each output the width of a lane, and the format of a float."""
        return [(self.fmt.width, self.fmt)] * (len(self.outputs) - 1) + [(FLAGS_W, None)]

    def _check_step(
        self,
        board: Scoreboard,
        got: Sequence[int],
        vectors: Sequence[Sequence[int]],
        cycle: int,
        ns: float,
        numbers: np.ndarray,
    ) -> None:
        """Compare what the outputs showed in a step, at a time in nanoseconds, lane by lane."""
        *operands, flags = (*vectors[: -len(got)], vectors[-1])

        def context(lane: int) -> str:
            words = zip("ab", operands, strict=False)
            words = " ".join(f"{name}={side[lane]:#x}" for name, side in words)
            stages = lane % (self.max_stages + 1)
            fed = (cycle - stages - self.max_stages) * self.params["LANES"] + lane
            board.reached = {"item": int(numbers[np.clip(fed, 0, len(numbers) - 1)])}
            return f"{self.operation} {words}, flags {flag_text(flags[lane])}, {stages} stages"

        outputs = zip(self.outputs, got, vectors[-len(got) :], self._shapes, strict=True)
        for port, word, wants, (width, of) in outputs:
            board.compare_lanes(port, word, wants, width, of, cycle, context, ns)

    def _steps(self, operands: Sequence[np.ndarray]) -> Iterator[Steps]:
        """The cycles of a stream.

        The first one comes again before and the last one after the others, for as long as the
        deepest pipeline takes to fill and to drain.
        """
        lanes, deepest, fmt = self.params["LANES"], self.max_stages, self.fmt
        word = lanes * self.params["STEPS"]
        fill = deepest * lanes
        drain = fill + -(2 * fill + len(operands[0])) % word
        operands = [np.pad(side, (fill, drain), mode="edge") for side in operands]
        lane = np.arange(lanes)
        chunk = CHUNK_STEPS * lanes
        before = None  # the steps before a chunk that the deepest pipeline still holds
        for start in range(0, len(operands[0]), chunk):
            sides = [side[start : start + chunk] for side in operands]
            *results, flags = float_units.evaluate(fmt, self.operation, *sides)
            twin = results[-1:] if self.twin else []
            fed = np.array([*sides, *results, *twin, flags], np.uint64)
            fed = fed.reshape(len(fed), -1, lanes)
            before = fed[:, :1].repeat(deepest, axis=1) if before is None else before
            history = np.concatenate([before, fed], axis=1)
            before = history[:, -deepest:]
            step = deepest + np.arange(fed.shape[1])[:, None] - lane % (deepest + 1)
            vectors = history[:, step, lane].reshape(len(fed), -1, word)
            *words, flags = vectors[len(sides) :]
            driven = zip(*(_pack(side, word, fmt.width) for side in sides), strict=True)
            words = [_pack(side, word, fmt.width) for side in words]
            wanted = zip(*words, _pack(flags, word, FLAGS_W), strict=True)
            yield from map(Steps, driven, wanted, vectors.swapaxes(0, 1))


def _pack(values: np.ndarray, lanes: int, width: int) -> list[int]:
    """Whole vectors of lanes as Python ints, lane 0 lowest."""
    octets = values.astype("<u8", order="C").view(np.uint8).reshape(-1, 8)
    binary = np.unpackbits(octets, axis=1, bitorder="little")[:, :width]
    vectors = np.packbits(binary.reshape(-1, lanes * width), axis=1, bitorder="little")
    return [int.from_bytes(vector.tobytes(), "little") for vector in vectors]
