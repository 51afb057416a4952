"""Configurations of a bench: fixed ones, and those that each run draws from its seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pymodel.hardware.simulators import SIMULATORS
from pymodel.machine.isa import LOGIC_STAGES, MAX_REC_STAGES, MAX_SINCOS_STAGES, MAX_STAGES

PREFIX = "random-"
# The values that the RTL allows: formats, and stages of a float unit (fp_pkg). A register of the
# tops holds no more stages of a reciprocal; without one it may have RECIP_MAX_STAGES.
FORMATS = {"EXP_W": range(4, 12), "MAN_W": range(2, 53)}
RECIP_MAX_STAGES = 8
RECIP_ARRAY_MAX_STAGES = 24  # by division without multipliers
SINCOS_LOGIC_MAX_STAGES = MAX_SINCOS_STAGES + LOGIC_STAGES  # without multipliers
STAGES = dict.fromkeys(("ADD_STAGES", "MUL_STAGES"), range(MAX_STAGES + 1))
STAGES |= {"REC_STAGES": range(MAX_REC_STAGES + 1)}
ENGINE_STAGES = STAGES | {"REC_STAGES": range(RECIP_MAX_STAGES + 1)}
WORD_W = 32  # of the co-processors' buses


def fits_word(values: dict[str, int]) -> bool:
    """Whether a float of the format fits a word of a co-processor's bus."""
    return 1 + values["EXP_W"] + values["MAN_W"] <= WORD_W


@dataclass(frozen=True)
class Config:
    """One way to build and run a bench.

    Parameters
    ----------
    name
        Shown in results; chosen with ``CONFIG=``.
    params
        Parameters of the top-level module.
    settings
        Anything JSON that the bench's stimulus reads from ``BENCH.settings`` (vector counts, ...).
    sims
        The simulators it runs under.
    long
        Whether it simulates for so long that it pays to have Verilator's model optimised.
    nightly
        Those of ``sims`` that ``make test`` leaves to ``make regress``, which runs every night:
        long ones, of which another case of the bench runs most.
    daily
        Settings of ``make test`` that take the place of ``settings``, fewer transactions: there
        it is a part of what ``make regress`` runs.
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    sims: tuple[str, ...] = SIMULATORS
    long: bool = False
    nightly: tuple[str, ...] = ()
    daily: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RandomConfigs:
    """A space of configurations of which each run draws some.

    The values of a configuration's parameters are its name, such as ``random-6.17``: the name
    alone runs it again, drawn or not.

    Parameters
    ----------
    ranges
        Name of a parameter -> its values, in the order of a configuration's name.
    count
        How many a run draws.
    daily
        How many of them ``make test`` runs; all unless given.
    settings
        Settings of every configuration.
    constants
        Further parameters of the top-level module.
    legal
        Whether values that lie in their ranges go together.
    sims
        The simulators that a configuration runs under: Icarus, which builds in a moment, unless
        it takes longer to simulate than Verilator takes to build.
    """

    ranges: dict[str, Sequence[int]]
    count: int
    settings: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    legal: Callable[[dict[str, int]], bool] = lambda values: True
    sims: tuple[str, ...] = ("icarus",)
    daily: int | None = None

    @property
    def form(self) -> str:
        """What the names look like: ``random-<EXP_W>.<MAN_W>``."""
        return PREFIX + ".".join(f"<{name}>" for name in self.ranges)

    def config(self, values: dict[str, int]) -> Config:
        """The configuration of these values."""
        name = PREFIX + ".".join(str(values[name]) for name in self.ranges)
        return Config(name, self.constants | values, self.settings, self.sims)

    def named(self, name: str) -> Config | None:
        """The configuration of a name; None if it is none, or not one of this space."""
        words = name.removeprefix(PREFIX).split(".")
        if len(words) != len(self.ranges) or not all(word.isdecimal() for word in words):
            return None
        values = dict(zip(self.ranges, map(int, words), strict=True))
        config = self.config(values)
        return config if config.name == name and self._holds(values) else None

    def draw(self, rng: np.random.Generator) -> list[Config]:
        """Different configurations, as many as `count`."""
        drawn: dict[str, Config] = {}
        while len(drawn) < self.count:
            config = self.draw_one(rng)
            drawn[config.name] = config
        return list(drawn.values())

    def draw_one(self, rng: np.random.Generator, **given: int) -> Config:
        """A configuration that has the given values, which must be legal; the others are drawn."""
        while True:
            values = {name: int(rng.choice(range_)) for name, range_ in self.ranges.items()}
            values |= given
            if self._holds(values):
                return self.config(values)

    def _holds(self, values: dict[str, int]) -> bool:
        inside = all(value in self.ranges[name] for name, value in values.items())
        return inside and self.legal(values)
