"""What an option and a subcommand are, how their values are read, and what is refused.

The options themselves stand in :mod:`pymodel.app.table`.  A kind reads the text of a value; its
ValueError says what the value must be.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pymodel.app import words
from pymodel.arith.errors import InputError
from pymodel.arith.meant import meant as nearest

Kind = Callable[[str], Any]

MODEL, NATIVE, TWIN = "model", "native", "twin"
COPROCESSOR, ENGINE, ARRAY = "coprocessor", "engine", "array"
BOARD = "board"
TARGETS = (MODEL, NATIVE, TWIN, COPROCESSOR, ENGINE, ARRAY, BOARD)
SIMULATED = (COPROCESSOR, ENGINE, ARRAY)  # in RTL
OF_RESULTS = ("out", "show", "animate", "view")  # say what becomes of results, not what they are
STEP = "step"  # the old name of the engine in make, of its model in `call`


# --- kinds ----------------------------------------------------------------------------------------


class OneOf:
    """One of some words, or another name of one; the words may be a constant of a module."""

    def __init__(
        self, *allowed: str, of: str | None = None, also: Mapping[str, str] | None = None
    ) -> None:
        self._allowed, self._of = allowed, of
        self.also = also or {}

    @property
    def allowed(self) -> tuple[str, ...]:
        """The words."""
        return (*self._allowed, *(constant(self._of) if self._of else ()))

    def __call__(self, text: str) -> str:
        """Read a value."""
        if text in self.allowed:
            return text
        if text in self.also:
            return self.also[text]
        raise ValueError(f"must be {either(self.allowed)}")


class Whole:
    """A whole number of a range; its end may be a constant of a module."""

    def __init__(self, least: int, most: int | str) -> None:
        self.least, self._most = least, most

    @property
    def most(self) -> int:
        """The largest one."""
        return constant(self._most) if isinstance(self._most, str) else self._most

    def __call__(self, text: str) -> int:
        """Read a value."""
        if re.fullmatch("[0-9]{1,20}", text) and self.least <= int(text) <= self.most:
            return int(text)
        raise ValueError(f"must be a whole number, {self.least} to {self.most}")


def constant(name: str) -> Any:
    """The value of ``module:NAME``; the module is imported now, so that the table is quick."""
    module, _, own = name.partition(":")
    return getattr(importlib.import_module(module), own)


def either(allowed: Sequence[str]) -> str:
    """Words as a message lists them."""
    *others, last = allowed
    return f"{', '.join(others)} or {last}" if others else last


def arithmetic(text: str) -> str:
    """The name of an arithmetic."""
    from pymodel.arith import scalars

    try:
        return scalars.parse(text).name
    except ValueError:
        allowed = "float32, float64 or <EXP_W>/<MAN_W> with EXP_W 4 to 11 and MAN_W 2 to 52"
        raise ValueError(f"must be {allowed}") from None


def lanes(text: str) -> str:
    """Lanes of the step engine."""
    from pymodel.machine.isa import MAX_LANES, Machine

    try:
        Machine.parse(text)
    except ValueError:
        allowed = f"<adders>+<multipliers>, 1+1 to {MAX_LANES}+{MAX_LANES}"
        raise ValueError(f"must be {allowed}") from None
    return text


def decimal_number(text: str) -> float:
    """A finite number in decimal digits."""
    from pymodel.mechanism.decimals import decimal

    try:
        return decimal(text)
    except ValueError:
        raise ValueError("must be a number") from None


def positive_number(text: str) -> float:
    """A finite number above 0 in decimal digits."""
    found = decimal_number(text)
    if not found > 0.0:
        raise ValueError("must be above 0")
    return found


def vector(text: str) -> tuple[float, ...]:
    """Three finite numbers in decimal digits, with commas between."""
    try:
        x, y, z = map(decimal_number, text.split(","))
    except ValueError:
        raise ValueError("must be three numbers, as 0,0,-1.62") from None
    return Vector((x, y, z))


def decimal_numbers(text: str) -> tuple[float, ...]:
    """Finite numbers in decimal digits, with commas between."""
    return Vector(map(decimal_number, text.split(",")))


def displacement(text: str) -> tuple[float, ...]:
    """Six finite numbers in decimal digits, with commas between."""
    found = decimal_numbers(text)
    if len(found) != 6:
        raise ValueError("must be six numbers: x,y,z in m, and a rotation vector in rad")
    return found


def names_with_commas(text: str) -> tuple[str, ...]:
    """Names with commas between."""
    found = Names(name.strip() for name in text.split(","))
    if not all(found):
        raise ValueError("must be names, with commas between")
    return found


class Names(tuple[str, ...]):
    """Names that are written as on the command line."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(self)


FILE = "file"  #: where limits are asked for: those of the robot's file


def positive_numbers(text: str) -> tuple[float, ...]:
    """Finite numbers above 0 in decimal digits, with commas between."""
    return Vector(map(positive_number, text.split(",")))


def limits(text: str) -> tuple[float, ...] | str:
    """Finite numbers above 0 with commas between, or ``file``."""
    return text if text == FILE else positive_numbers(text)


class Vector(tuple[float, ...]):
    """Numbers that are written as on the command line."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(map(repr, self))


class RefusedError(InputError):
    """A value that is refused: what it was given to, itself, and why.

    Its text is as `hdca` says it; see :meth:`Command.said`.
    """

    def __init__(self, given_to: str, value: str | None, why: str) -> None:
        super().__init__(
            f"{given_to} {value}: {why}" if value is not None else f"{given_to}: {why}"
        )
        self.given_to, self.value, self.why = given_to, value, why


# --- options and subcommands ----------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """An option of a subcommand.

    Attributes
    ----------
    name
        ``steps``: `--steps` of `hdca`, `STEPS` of make.
    help
        What it is for.
    kind
        Reads its value; None of a switch.
    metavar
        What stands for the value in the help.
    default
        What it is if it is not given; a function finds it from all that is asked for.
    used_by
        Targets that have a use for it; empty: all, or there are none.
    by_target
        Target -> the values that it takes, where they differ.
    needed
        It must be given.
    repeated
        It may be given again, in make as one text of values between spaces.
    attribute
        Where its value is found, if not under its name.
    off
        Make's variable that it is the 0 of; `--no-reference` is `REFERENCE=0`.
    hidden
        Not in the help, and not in make.
    """

    name: str
    help: str
    kind: Kind | None = None
    metavar: str | None = None
    default: Any = None
    used_by: tuple[str, ...] = ()
    by_target: Mapping[str, Sequence[str]] | None = None
    needed: bool = False
    repeated: bool = False
    attribute: str = ""
    off: str = ""
    hidden: bool = False

    @property
    def key(self) -> str:
        """The attribute of its value."""
        return self.attribute or self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Its variable in make."""
        return self.off or words.variable(self.name)

    @property
    def unset(self) -> Any:
        """Its value where it is not given: None, False of a switch."""
        return bool(self.off) if self.kind is None else None

    def read(self, text: str) -> Any:
        """The value of a text.

        Raises
        ------
        InputError
            In one line.
        """
        assert self.kind is not None
        try:
            return self.kind(text)
        except ValueError as error:
            raise self.refused(text, str(error)) from None

    def refused(self, value: Any, why: str) -> RefusedError:
        """The error that says why a value is refused."""
        return RefusedError(f"--{self.name}", None if self.kind is None else str(value), why)


@dataclass(frozen=True)
class Argument:
    """What a subcommand takes without dashes.

    Attributes
    ----------
    name
        In capitals, as make calls it.
    help
        What it is.
    kind
        Reads it.
    optional
        It need not be given.
    many
        It is a list.
    attribute
        Where its value is found, if not under its name.
    """

    name: str
    help: str
    kind: Kind = str
    optional: bool = False
    many: bool = False
    attribute: str = ""

    @property
    def key(self) -> str:
        """The attribute of its value."""
        return self.attribute or self.name.lower()

    def read(self, text: str) -> Any:
        """The value of a text; raises an InputError, in one line."""
        try:
            return self.kind(text)
        except ValueError as error:
            raise RefusedError(self.name, text, str(error)) from None


class Asked(argparse.Namespace):
    """What a subcommand is asked for: an attribute for each argument and option."""

    command: Command
    target: str

    def but(self, **changed: Any) -> Asked:
        """The same with something changed."""
        return Asked(**(vars(self) | changed))

    def again(self, **changed: Any) -> str:
        """The line for a shell that asks for the same, but for what is changed.

        Options that are what they are by default are left out; so is where results go.
        """
        values = vars(self) | changed
        arguments = {x.name: values[x.key] for x in self.command.arguments}
        options: dict[str, Any] = {}
        for option in self.command.options:
            value = values[option.key]
            default = self.command.default(option, self)
            if option.hidden or option.key in OF_RESULTS or value in (None, default):
                continue
            if option.off:
                off = {option.off: 0} if words.by_make() else {option.name: True}
                options |= off
            else:
                options[option.name] = value
        return words.command_line(self.command.name, arguments, options)


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Attributes
    ----------
    name
        What it is called.
    help
        What it does, in a line.
    runs
        ``module:function`` that runs it and gives its exit status.
    arguments, options
        What it takes.
    targets
        Of those of :data:`TARGETS`, which it can use.
    example
        Values of its arguments and of the options that it needs.
    aliases
        Other names.
    leaves_nothing
        Where Ctrl-C ends it, none of its files is left.
    """

    name: str
    help: str
    runs: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    targets: tuple[str, ...] = ()
    example: Mapping[str, Any] | None = None
    aliases: tuple[str, ...] = ()
    leaves_nothing: bool = False

    def said(self, error: Exception) -> str:
        """An error's message in the words of who speaks."""
        switches = {
            option.name: f"{option.variable}={0 if option.off else 1}"
            for option in self.options
            if option.kind is None
        }
        named = {option.name: option.variable for option in self.options if option.kind}
        named |= {argument.name: argument.name for argument in self.arguments}
        if not isinstance(error, RefusedError):
            return words.said(str(error), switches, named)
        given_to = words.said(error.given_to, switches, named)
        equals = "=" if words.by_make() else " "
        value = "" if error.value is None else f"{equals}{error.value}"
        return f"{given_to}{value}: {words.said(error.why, switches, named)}"

    @property
    def takes(self) -> tuple[Argument | Option, ...]:
        """Arguments and options."""
        return (*self.arguments, *self.options)

    def default(self, option: Option, asked: Asked) -> Any:
        """What an option is by default, where the rest is asked for."""
        default = option.default
        if self.targets and option.used_by and asked.target not in option.used_by:
            default = None
        if callable(default):
            default = default(asked)
        return option.unset if default is None else default

    def asked(self, **values: Any) -> Asked:
        """What a call from Python asks for; values that are not given are the defaults.

        Raises
        ------
        InputError
            If the target has no use for what is given.
        """
        known = {x.key for x in self.takes}
        assert values.keys() <= known, f"{self.name}: no {values.keys() - known}"
        missing = [x for x in self.takes if self._lacks(x, values)]
        if missing:
            raise InputError(self._lacking(missing))
        asked = Asked(command=self)
        for each in self.takes:
            unset = each.unset if isinstance(each, Option) else None
            setattr(asked, each.key, values.get(each.key, unset))
        if self.targets:
            if asked.target is None:
                asked.target = self.targets[0]
            self._refuse_unused(asked)
        for option in self.options:
            if getattr(asked, option.key) is option.unset:
                setattr(asked, option.key, self.default(option, asked))
        return asked

    def _lacks(self, each: Argument | Option, values: Mapping[str, Any]) -> bool:
        needed = each.needed if isinstance(each, Option) else not each.optional
        return needed and values.get(each.key) in (None, [])

    def _lacking(self, missing: Sequence[Argument | Option]) -> str:
        if words.by_make():
            names = [x.variable if isinstance(x, Option) else x.name for x in missing]
        else:
            names = [f"--{x.name}" if isinstance(x, Option) else x.name for x in missing]
        example = dict(self.example or {})
        arguments = {x.name: example.pop(x.name) for x in self.arguments if x.name in example}
        line = words.command_line(self.name, arguments, example)
        return f"{self.name}: say {' and '.join(names)}" + (f": {line}" if self.example else "")

    def _refuse_unused(self, asked: Asked) -> None:
        for option in self.options:
            value = getattr(asked, option.key)
            if value is option.unset:
                continue
            if self.targets and option.used_by and asked.target not in option.used_by:
                able = either([target for target in self.targets if target in option.used_by])
                raise option.refused(value, f"only for --target {able}")
            if option.by_target and value not in option.by_target[asked.target]:
                allowed = either(option.by_target[asked.target])
                reason = f"must be {allowed} for --target {asked.target}"
                raise option.refused(value, reason)

    # --- from a command line ----------------------------------------------------------------------

    def parser(self) -> OptionParser:
        """The parser of its command line, which gives what :meth:`parse` reads."""
        parser = OptionParser(prog=f"{words.program()} {self.name}", description=f"{self.help}.")
        add = parser.add_argument
        for argument in self.arguments:
            count = "*" if argument.many else "?"  # whether it must be there is said by us
            name = argument.name
            add(argument.key, metavar=name, nargs=count, type=str, help=argument.help)
        for option in self.options:
            text = argparse.SUPPRESS if option.hidden else self._help(option)
            flag = f"--{option.name}"
            if option.kind is None:
                action = "store_false" if option.off else "store_true"
                add(flag, dest=option.key, action=action, help=text)
            else:
                action = "append" if option.repeated else "store"
                metavar = option.metavar or option.name.upper()
                add(flag, dest=option.key, action=action, metavar=metavar, type=str, help=text)
        return parser

    def _help(self, option: Option) -> str:
        text, default = option.help, option.default
        if isinstance(option.kind, OneOf):
            text += f": {either(option.kind.allowed)}"
        elif option.name == "target":
            text += f": {either(self.targets)}"
        if option.used_by:
            able = [target for target in self.targets if target in option.used_by]
            if len(able) < len(self.targets):
                text += f"; only for {either(able)}"
        if option.needed:
            text += " (needed)"
        elif default is not None and not callable(default):
            text += f" (default: {default})"
        return text.replace("%", "%%")

    def parse(self, texts: Sequence[str]) -> Asked:
        """Read a command line.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        found = vars(self.parser().parse_args(texts))
        return self._of_texts(found)

    def of_make(self, variables: Mapping[str, str]) -> Asked:
        """Read make's variables, all of :attr:`variables`.

        Raises
        ------
        InputError
            If they cannot be read.
        """
        found: dict[str, Any] = {}
        arguments = {x.name: x for x in self.arguments}
        options = {x.variable: x for x in self.options if not x.hidden}
        for name, text in variables.items():
            if name in arguments:
                found[arguments[name].key] = text.split() if arguments[name].many else text
                continue
            option = options[name]
            if option.kind is None:
                if text not in ("0", "1"):
                    raise InputError(f"{name}={text}: must be 0 or 1")
                found[option.key] = text == "1"
            else:
                found[option.key] = text.split() if option.repeated else text
        return self._of_texts(found)

    @property
    def variables(self) -> str:
        """Make's variables that it takes, as a message lists them."""
        names = [x.name for x in self.arguments]
        return " ".join([*names, *(x.variable for x in self.options if not x.hidden)])

    def _of_texts(self, found: Mapping[str, Any]) -> Asked:
        """Read values that are texts yet."""
        values: dict[str, Any] = {}
        for each in self.takes:
            text = found.get(each.key)
            if text is None or text == "":
                continue
            switch = isinstance(each, Option) and each.kind is None
            if switch:
                values[each.key] = text
            elif isinstance(text, list):
                values[each.key] = [*map(each.read, text)]
            else:
                values[each.key] = each.read(text)
        return self.asked(**values)


def target_option(targets: Sequence[str], also: Mapping[str, str] | None = None) -> Option:
    """The option that names a target, one of some.

    Parameters
    ----------
    targets
        Those that can be used, the default first.
    also
        Old names: name -> target.
    """

    def read(text: str) -> str:
        accepted = dict(also or {})
        if words.by_make() and ENGINE in targets:
            accepted[STEP] = ENGINE
        return OneOf(*targets, also=accepted)(text)

    return Option("target", "where it runs", read, "TARGET", targets[0])


# --- command lines of the repository's own programs -----------------------------------------------


class _Store(argparse.Action):
    """Stores a value, or a list without what stands in it already."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        merged = list(dict.fromkeys(values)) if isinstance(values, list) else values
        setattr(namespace, self.dest, merged)


class OptionParser(argparse.ArgumentParser):
    """Raises an InputError for what it refuses, in one line; merges what a list has twice."""

    def __init__(self, **options: Any) -> None:
        super().__init__(exit_on_error=False, allow_abbrev=False, **options)
        self.register("action", None, _Store)

    def parse_args(self, *arguments: Any) -> argparse.Namespace:  # type: ignore[override] # of all
        """Parse; a refused value's message is that of its type alone."""
        try:
            return super().parse_args(*arguments)
        except argparse.ArgumentError as error:
            own = error.message.startswith(("invalid ", "expected "))  # argparse's, without a name
            raise InputError(str(error) if own else error.message) from None

    def error(self, message: str) -> NoReturn:
        """Refuse what is not one option's value."""
        raise InputError(message)


def named(name: str, kind: Kind) -> Kind:
    """A type of argparse that says which variable of make it refuses."""

    def parse(text: str) -> Any:
        try:
            return kind(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{name}={text}: {error}") from None

    return parse


def one_of(name: str, *allowed: str) -> Kind:
    """A type of argparse: one of some words."""
    return named(name, OneOf(*allowed))


def whole(name: str, least: int, most: int) -> Kind:
    """A type of argparse: a whole number of a range."""
    return named(name, Whole(least, most))


def fill_in(options: Any, defaults: Mapping[str, Any]) -> None:
    """Give options that are None their default values, once they have been checked."""
    for option, default in defaults.items():
        if getattr(options, option) is None:
            setattr(options, option, default)


def meant(word: str, known: Sequence[str]) -> str:
    """A word that is not known, with the known one that it may stand for."""
    near = nearest(word, known)
    return f", did you mean {near}?" if near else ""
