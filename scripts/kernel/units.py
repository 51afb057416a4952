"""The record of each module of the RTL: ``units/<module>.toml``, how it is verified and measured.

A record says it itself, or is ``part_of`` units that are built from the module and have it, or
gives the reason in its table ``without``. What has none of the three is missing:
:mod:`scripts.kernel.unit_check` names it.
"""

import functools
import importlib
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pymodel.arith.errors import Error
from pymodel.hardware.rtl_files import rtl_files
from scripts.kernel import expression
from scripts.kernel.places import ROOT

FOLDER = "units"
#: What every record has, is part of, or gives a reason for not having.
ASPECTS = ("benches", "parameters", "coverage", "code_coverage", "proofs", "mutation", "cost")
#: The same, of a module with a register bus at its ports.
BUS_ASPECTS = ("fuzz", "faults")

Numbers = dict[str, int]


class UnitError(Error):
    """A record that cannot be read: file, key and reason in one line."""


@dataclass(frozen=True)
class Parameter:
    """The values that a parameter may have by itself.

    Attributes
    ----------
    least, most
        Limits; None: no check has an upper one.
    power
        Only powers of two from 2 on, and zero where that is in the limits.
    places
        Of a memory: none at all is an illegal value of its own.
    bit
        A parameter of one bit: what is beyond has no meaning, and nothing refuses it.
    small
        A value with which the module elaborates soon, for checks that are not about this
        parameter; None: `least`.
    not_drawn
        Why no seed draws all of its legal values.
    """

    least: int
    most: int | None = None
    power: bool = False
    places: bool = False
    bit: bool = False
    small: int | None = None
    not_drawn: str = ""


@dataclass(frozen=True)
class Rule:
    """What parameters that are legal by themselves must obey together.

    Attributes
    ----------
    text
        In words.
    holds
        As an expression of them (:mod:`scripts.kernel.expression`).
    function
        Instead, the dotted name of a function of all parameters that says whether they do.
    """

    text: str
    holds: str = ""
    function: str = ""


@dataclass(frozen=True)
class CodeRun:
    """A simulation that code coverage is merged from.

    Attributes
    ----------
    bench, config
        Names.
    settings, params
        What differs from the configuration.
    """

    bench: str
    config: str
    settings: dict[str, Any] = field(default_factory=dict)
    params: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Proofs:
    """Proofs by one harness: one for each combination of its parameters' values.

    Attributes
    ----------
    harness, mode, boxes, map, complete, floats
        As of :class:`scripts.evidence.formal.proof.Proof`.
    values
        Parameters of the harness; a list has one proof for each.
    depth
        Steps; or an expression of the parameters.
    fast
        Whether CI runs them; or parameter -> values of those that it runs.
    """

    harness: str
    depth: int | str
    values: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    mode: str = "bmc"
    boxes: tuple[str, ...] = ()
    map: str = ""
    fast: bool | dict[str, tuple[int, ...]] = True
    complete: bool = False
    floats: tuple[str, ...] = ()

    def each(self) -> Iterator[tuple[Numbers, int, bool]]:
        """Values, depth, and whether CI runs it, of each proof."""
        lists = [x if isinstance(x, tuple) else (x,) for x in self.values.values()]
        for numbers in product(*lists):
            values = dict(zip(self.values, numbers, strict=True))
            depth = self.depth
            steps = expression.value(depth, values) if isinstance(depth, str) else depth
            fast = self.fast
            if isinstance(fast, dict):
                fast = all(values[name] in some for name, some in fast.items())
            yield values, steps, fast


@dataclass(frozen=True)
class RegisterMap:
    """The register map of the instance that `formal/top_formal.sv` has.

    Attributes
    ----------
    of
        Dotted name of a map, or of a function that gives it.
    arguments
        Of the function.
    machine
        Fields of a :class:`pymodel.machine.isa.Machine`, the words of whose bus are one more.
    """

    of: str
    arguments: tuple[int, ...] = ()
    machine: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Mutants:
    """A campaign of mutants.

    Attributes
    ----------
    bench, config
        Names: of the bench that must find the mutants, and of the configuration that it runs.
    name
        As the user calls it, if it is not the module's.
    variants
        Parameters of the module besides those of the configuration, one mapping a netlist.
    lanes
        The bench's top level is fp_lanes: the module is mutated without stages, its results then
        delayed by as many clocks as the lane asks for.
    boxes
        Modules below it that stay as they are.
    control
        Registers of few bits that tell the steps of the module apart, or bits of a register: SAT
        compares in the steps that are reached.
    never
        Bits of modules inside that are never 1, as SAT has to prove of these modules first.
    before
        Registers whose values are those that they were given in a cycle before, where SAT finds no
        proof for any values.
    apart
        Counters that may go through other values with a fault, in the same number of steps, or
        registers that may hold others where nobody looks -> registers of few bits that tell when
        that is, besides `control`.
    all_inputs
        Each input is tried where SAT finds no proof: all that comes in is of few bits.
    argued
        Part of a mutation's text -> why it is equivalent where SAT, which takes every state and
        any answer of the boxes for possible, sees a difference.
    goal
        Share of the mutants that are not equivalent which must be killed, in %.
    """

    bench: str
    config: str
    name: str = ""
    variants: tuple[Numbers, ...] = ({},)
    lanes: bool = False
    boxes: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    apart: dict[str, tuple[str, ...]] = field(default_factory=dict)
    all_inputs: bool = False
    argued: dict[str, str] = field(default_factory=dict)
    goal: float = 97.0


@dataclass(frozen=True)
class Cost:
    """Configurations whose area and clock are measured, on every family.

    Attributes
    ----------
    config
        Its name; of a float unit, what the names have besides `speed` and `area`.
    parameters
        Of the module besides the format.
    stages
        Of a float unit, the values of STAGES that are measured; none: it has no such parameter.
    inputs, outputs
        Ports of a float unit besides `clk_i` and `flags_o`; none for a top.
    format
        EXP_W and MAN_W.
    boxed
        Float units are black boxes, each counted as that unit alone.
    seeds
        Placements at most.
    """

    config: str = ""
    parameters: Numbers = field(default_factory=dict)
    stages: tuple[int, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    format: tuple[int, ...] = (8, 23)
    boxed: bool = False
    seeds: int = 3


@dataclass(frozen=True)
class Fuzz:
    """How a top's registers are fuzzed: a class of :mod:`tb.fuzz.model`, the top's parameters."""

    model: str
    params: Numbers


@dataclass(frozen=True)
class Faults:
    """How bits of a top are flipped: a class of :mod:`tb.faults.workloads`, its parameters."""

    workload: str
    params: Numbers


@dataclass(frozen=True)
class Record:
    """All that is known of a module.

    Attributes
    ----------
    benches
        Benches that verify it.
    part_of
        Units that are built from it: what they have, it has by them.
    parameters
        Its parameters and their legal values.
    rules
        Between these.
    lint
        Parameters that it is linted with besides the defaults.
    coverage
        Dotted names of points of functional coverage: a point, some, or a function that gives them,
        of the first bench.
    code_coverage, proofs, mutation, cost
        Simulations, proofs, campaigns and measurements.
    register_map
        Of a top.
    fuzz, faults
        Of a top.
    without
        Name of one of the others -> the reason why it is not there.
    """

    benches: tuple[str, ...] = ()
    part_of: tuple[str, ...] = ()
    parameters: dict[str, Parameter] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    lint: tuple[Numbers, ...] = ()
    coverage: tuple[str, ...] = ()
    code_coverage: tuple[CodeRun, ...] = ()
    proofs: tuple[Proofs, ...] = ()
    mutation: tuple[Mutants, ...] = ()
    cost: tuple[Cost, ...] = ()
    register_map: RegisterMap | None = None
    fuzz: Fuzz | None = None
    faults: Faults | None = None
    without: dict[str, str] = field(default_factory=dict)


def files(root: Path = ROOT) -> dict[str, Path]:
    """Module -> the file of its record, of all that there are."""
    return {path.stem: path for path in sorted((root / FOLDER).glob("*.toml"))}


@functools.cache
def records(root: Path = ROOT) -> Mapping[str, Record]:
    """Module -> its record, in the order of rtl/rtl.f; modules without one are left out.

    Raises
    ------
    UnitError
        If one cannot be read.
    """
    known = files(root)
    names = (Path(file).stem for file in rtl_files(root))  # of their modules, too
    return {name: read(known[name]) for name in names if name in known}


def read(path: Path) -> Record:
    """The record in a file.

    Raises
    ------
    UnitError
        If it cannot be read, has a key that no record has, or a value of another kind.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UnitError(f"{where}: {error}") from None
    return _built(Record, table, where, "")


def named(dotted: str) -> Any:
    """What a dotted name of a record names.

    Raises
    ------
    UnitError
        If there is no such thing.
    """
    module, _, name = dotted.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise UnitError(f"there is no {dotted}") from None


_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def _built(kind: Any, given: Any, where: str, key: str) -> Any:
    """What a value of TOML is as a value of a kind."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return given
    if origin in (types.UnionType, typing.Union):
        return _one_of(inside, given, where, key)
    if is_dataclass(kind):
        return _table(kind, given, where, key)
    if origin is dict and isinstance(given, dict):
        return {name: _built(inside[1], x, where, f"{key}.{name}") for name, x in given.items()}
    if origin is tuple and isinstance(given, list):
        return tuple(_built(inside[0], x, where, f"{key}[{i}]") for i, x in enumerate(given, 1))
    if kind is float and type(given) is int:
        return float(given)
    if origin is None and type(given) is kind:
        return given
    raise UnitError(f"{where}: {key}: must be {_text(kind)}")


def _text(kind: Any) -> str:
    origin = typing.get_origin(kind)
    return _WORDS.get(kind) or ("a list" if origin is tuple else "a table")


def _one_of(kinds: tuple[Any, ...], given: Any, where: str, key: str) -> Any:
    some = [kind for kind in kinds if kind is not types.NoneType]
    for kind in some:
        try:
            return _built(kind, given, where, key)
        except UnitError:
            if len(some) == 1:
                raise
    raise UnitError(f"{where}: {key}: must be {' or '.join(map(_text, some))}")


def _table(kind: Any, given: Any, where: str, key: str) -> Any:
    if not isinstance(given, dict):
        raise UnitError(f"{where}: {key}: must be a table")
    hints = typing.get_type_hints(kind)
    at = f"{key}." if key else ""
    for name in given.keys() - hints.keys():
        raise UnitError(f"{where}: {at}{name}: no such key; there are {', '.join(hints)}")
    for one in fields(kind):
        if one.name not in given and one.default is one.default_factory is MISSING:
            raise UnitError(f"{where}: {at}{one.name}: is missing")
    return kind(**{n: _built(hints[n], x, where, f"{at}{n}") for n, x in given.items()})
