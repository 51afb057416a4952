"""What a run is asked for: the options of ``make run`` and of the demos.

Messages name an option as the Makefile does: ``STEPS=0: must be ...``.
"""

import argparse
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from pymodel.algorithms.requests import BASE, CLOSED_BASES, RECORDED_BASES
from pymodel.algorithms.unused_options import unused_options
from pymodel.arith import scalars
from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED
from pymodel.hardware.cosim import co_simulation as cosim
from pymodel.hardware.simulators import SIMULATORS
from pymodel.machine.isa import MAX_LANES, Machine
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import MAX_STEPS
from pymodel.runs.input_error import InputError
from pymodel.runs.options import MAX_REBASE

AUTO = "auto"  # the fastest simulator that is there
MODEL, NATIVE, COPROCESSOR, STEP = "model", "native", "coprocessor", "step"
ARRAY = "array"
LANES = "2+2"

#: How a target can connect the base of a closed chain, its default first.
BASES = {
    MODEL: (BASE, *(base for base in CLOSED_BASES if base != BASE)),
    NATIVE: (BASE, *(base for base in RECORDED_BASES if base != BASE)),
    COPROCESSOR: (cosim.BASE,),
    STEP: (BASE, *(base for base in RECORDED_BASES if base != BASE)),
}
#: Options that only some targets can use: the option's name in the Makefile, and the targets.
USED_BY = {
    "simulator": ("SIM", (COPROCESSOR, STEP)),
    "seed": ("SEED", (COPROCESSOR, STEP)),
    "waves": ("WAVES", (COPROCESSOR, STEP)),
    "lanes": ("LANES", (STEP,)),
}


DEFAULTS = {"simulator": AUTO, "lanes": LANES, "seed": DEFAULT_SEED}


def refuse_unused(options: Any, used_by: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
    """Refuse what is given and the target cannot use.

    Parameters
    ----------
    options
        With the attribute ``target``; None and False are not given.
    used_by
        As :data:`USED_BY`.

    Raises
    ------
    InputError
        Naming the option as the Makefile does.
    """
    for option, (name, targets) in used_by.items():
        given = getattr(options, option)
        if given not in (None, False) and options.target not in targets:
            word = f"{name}={1 if given is True else given}"
            raise InputError(f"{word}: only for TARGET={' or '.join(targets)}")


def make_command(goal: str, words: Mapping[str, Any]) -> str:
    """A line for a shell that calls make: variable -> its value, left out where that is None."""
    given = [f"{name}={value}" for name, value in words.items() if value is not None]
    return shlex.join(["make", goal, *given]).replace("$", "$$")


def fill_in(options: Any, defaults: Mapping[str, Any] = DEFAULTS) -> None:
    """Give options that are None their default values, once they have been checked."""
    for option, default in defaults.items():
        if getattr(options, option) is None:
            object.__setattr__(options, option, default)


@dataclass(frozen=True)
class RunOptions:
    """A run of a scenario.

    Attributes
    ----------
    scenario, out
        Scenario file, and folder for the results.
    target
        Where it runs: ``model``, ``native``, ``coprocessor`` or ``step``.
    simulator
        ``auto``, ``icarus`` or ``verilator``; default ``auto``.
    arithmetic
        ``float32``, ``float64`` (not on hardware) or ``<EXP_W>/<MAN_W>``.
    steps
        So many instead of until the end.
    rebase
        Re-base the momenta of a mechanism with loops every so many steps; 0 never.
    base
        How the base of a closed chain is solved, see :data:`BASES`; None for the target's default:
        see :meth:`algorithm`.
    lanes
        Adders + multipliers of the step engine; default :data:`LANES`.
    seed
        Start values of the simulator; default :data:`pymodel.hardware.bench.DEFAULT_SEED`.
    waves
        Write an FST into build/waves.
    results
        Folder for the bench's result row.
    reference
        Compare with the reference solver.
    animate
        Draw the mechanism in motion, too.
    forces
        Write the forces of the joints, too.

    Raises
    ------
    InputError
        If the target cannot use an option that is given.
    """

    scenario: str
    out: str
    target: str = MODEL
    simulator: str | None = None
    arithmetic: str = "float32"
    steps: int | None = None
    rebase: int = 0
    base: str | None = None
    lanes: str | None = None
    seed: int | None = None
    waves: bool = False
    results: str | None = None
    reference: bool = True
    animate: bool = False
    forces: bool = False

    def __post_init__(self) -> None:
        refuse_unused(self, USED_BY)
        bases = BASES[self.target]
        if self.base not in (None, *bases):
            allowed = f"must be {either(bases)} for TARGET={self.target}"
            raise InputError(f"BASE={self.base}: {allowed}")
        fill_in(self)

    def command(self, simulator: str) -> str:
        """The command that does the same in hardware, under a simulator."""
        words = {
            "SCENARIO": self.scenario,
            "TARGET": self.target,
            "LANES": self.lanes if self.target == STEP else None,
            "ARITH": self.arithmetic,
            "SIM": simulator,
            "SEED": self.seed,
            "STEPS": self.steps,
            "REBASE": self.rebase or None,
            "BASE": self.base,
        }
        return make_command("run", words)

    def algorithm(self, scenario: Scenario) -> dict[str, Any]:
        """The options of the algorithm, ``base`` and ``rebase``.

        Raises
        ------
        InputError
            If one is given that would change nothing for this scenario.
        """
        for option, use in unused_options(scenario, self.base, self.rebase, self.forces).items():
            given = getattr(self, option)
            raise InputError(f"{option.upper()}={1 if given is True else given}: {use}")
        return {"base": self.base or BASES[self.target][0], "rebase": self.rebase}


class _Store(argparse.Action):
    """Stores a value, or a list without what stands in it already."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        merged = list(dict.fromkeys(values)) if isinstance(values, list) else values
        setattr(namespace, self.dest, merged)


class OptionParser(argparse.ArgumentParser):
    """Raises an InputError for what it refuses, in one line; merges what a list has twice."""

    def __init__(self, **options: Any) -> None:
        super().__init__(exit_on_error=False, **options)
        self.register("action", None, _Store)

    def parse_args(self, *arguments: Any) -> argparse.Namespace:  # type: ignore[override] # of all
        """Parse; a refused value's message is that of its type alone."""
        try:
            return super().parse_args(*arguments)
        except argparse.ArgumentError as error:
            own = error.message.startswith("invalid ")  # argparse's, which names no option
            raise InputError(str(error) if own else error.message) from None

    def error(self, message: str) -> NoReturn:
        """Refuse what is not one option's value."""
        raise InputError(message)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add everything but scenario, target and folder; each argument is named as its option."""
    add = parser.add_argument
    add_engine_options(parser)
    text = "run this many steps instead of until the end"
    add("--steps", type=whole("STEPS", 1, MAX_STEPS), help=text)
    text = "re-base the momenta of a mechanism with loops every so many steps (default: 0, never)"
    add("--rebase", type=whole("REBASE", 0, MAX_REBASE), default=RunOptions.rebase, help=text)
    bases = tuple(dict.fromkeys(base for own in BASES.values() for base in own))
    text = f"how the base of a closed chain is solved: {either(bases)}, not all on every target"
    text += f" (default: {BASE}, coprocessor: {cosim.BASE})"
    add("--base", help=text)
    text = "folder for the bench's result row (the regression's)"
    add("--results", help=text)
    text = "skip the reference solver and comparison"
    add("--no-reference", dest="reference", action="store_false", help=text)


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add what a simulation of any hardware takes."""
    add = parser.add_argument
    simulators = (AUTO, *SIMULATORS)
    text = f"simulator: {either(simulators)} (default: {AUTO}, the fastest that is there)"
    add("--sim", dest="simulator", type=one_of("SIM", *simulators), help=text)
    text = f"float32, float64 or <EXP_W>/<MAN_W> (default: {RunOptions.arithmetic})"
    add("--arith", dest="arithmetic", type=_arithmetic, default=RunOptions.arithmetic, help=text)
    text = f"adders + multipliers of the step engine (default: {LANES})"
    add("--lanes", type=lanes_of, help=text)
    text = f"of random numbers and start values (default: {DEFAULT_SEED})"
    add("--seed", type=whole("SEED", 0, MAX_SEED), help=text)
    add("--waves", action="store_true", help="FST into build/waves/cosim_*")


def one_of(name: str, *allowed: str) -> Callable[[str], str]:
    """A type of argparse: one of some words."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"{name}={text}: must be {either(allowed)}")
        return text

    return parse


def whole(name: str, least: int, most: int) -> Callable[[str], int]:
    """A type of argparse: a whole number of a range."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,20}", text) or not least <= int(text) <= most:
            allowed = f"a whole number, {least} to {most}"
            raise argparse.ArgumentTypeError(f"{name}={text}: must be {allowed}")
        return int(text)

    return parse


def _arithmetic(text: str) -> str:
    try:
        return scalars.parse(text).name
    except ValueError:
        allowed = "float32, float64 or <EXP_W>/<MAN_W> with EXP_W 4 to 11 and MAN_W 2 to 52"
        raise argparse.ArgumentTypeError(f"ARITH={text}: must be {allowed}") from None


def lanes_of(text: str) -> str:
    """A type of argparse: lanes of the step engine."""
    try:
        Machine.parse(text)
    except ValueError:
        allowed = f"<adders>+<multipliers>, 1+1 to {MAX_LANES}+{MAX_LANES}"
        raise argparse.ArgumentTypeError(f"LANES={text}: must be {allowed}") from None
    return text


def either(words: tuple[str, ...]) -> str:
    """Words as a message lists them."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
