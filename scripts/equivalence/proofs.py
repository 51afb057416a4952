"""What has to be proved of a design whose files have changed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scripts.equivalence.elaboration import PACKAGE, Instance, instances, members, packages_of
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.order import check_order
from scripts.equivalence.proof import Proof
from tb.common.rtl_files import needed

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
#: Comments that Yosys obeys, directives, and what it passes over or takes for something else.
PRAGMA = re.compile(r"(?://|/\*)\s*(?:synthesis|synopsys|pragma|translate_o)")
UNREADABLE = re.compile(
    r"`|\b(?:(?:final|wait|fork|unique0?|priority|wand|wor|triand|trior)\b|always\s*@)"
)


def proofs_of(
    top: str,
    params: Mapping[str, Any],
    before: Sequence[Path],
    now: Sequence[Path],
    watched: Sequence[str] = (),
) -> set[Proof]:
    """What shows that a top level behaves as before: a proof of each module that has changed.

    A module has changed if its file has, or a package that it depends on. A package has not if its
    constants have the same types and values, and all else the same text. Where the instances below
    a module are others, or have other parameters or ports, it is compared with all that is below.

    Parameters
    ----------
    top : str
        The top level.
    params : mapping
        Its parameters, as far as given.
    before, now : sequence of Path
        The files of either version, in compile order. They hold the module or package of their
        name; a path stands for its content.
    watched : sequence of str
        Signals that somebody reads, as `<module>.<name>`.

    Raises
    ------
    EquivalenceError
        If it cannot be shown in this way, or a tool is missing.
    """
    old, new = ({file.stem: file for file in files} for files in (before, now))
    if list(old) != list(new):
        raise EquivalenceError("it is made of other files")
    changed = {name for name in new if old[name] != new[name]}
    for name in sorted(changed):
        check_readable(name, old[name].read_text(), new[name].read_text())
    given, asked = tuple(sorted(params.items())), frozenset(watched)
    changed -= {name for name in changed if _means_the_same(name, top, given, old, new)}
    was, is_ = (
        {one.path: one for one in _instances(top, given, tuple(files), asked)}
        for files in (before, now)
    )
    flat = _around_what_differs(was, is_)
    found = set()
    for path, one in is_.items():
        own = {one.module, *_packages(one.module, tuple(before))}
        own |= _packages(one.module, tuple(now))
        if _is_below(path, flat) or (path not in flat and not own & changed):
            continue
        files = tuple(needed(one.module, before)), tuple(needed(one.module, now))
        inside = (name.removeprefix(f"{one.module}.") for name in watched)
        signals = tuple(sorted(set(inside) - set(watched)))
        read_below = any(other.signals and _is_below(below, [path]) for below, other in is_.items())
        found.add(Proof(one.module, one.params, *files, signals, path in flat, read_below))
    return found


def _around_what_differs(was: Mapping[str, Instance], is_: Mapping[str, Instance]) -> set[str]:
    """The instances, the same in both versions, below which all lies that is not.

    Raises
    ------
    EquivalenceError
        If the top level differs, or a signal is read below such an instance.
    """
    same = {path for path, one in is_.items() if was.get(path) == one}
    found = set()
    for path in (was.keys() | is_.keys()) - same:
        while path not in same:
            path = path.rpartition(".")[0]
            if not path:
                raise EquivalenceError("it has other parameters, ports or signals")
        found.add(path)
    for path, one in (*was.items(), *is_.items()):
        if one.signals and _is_below(path, found):
            raise EquivalenceError("a signal is read where instances are others")
    return {path for path in found if not _is_below(path, found)}


def _is_below(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(f"{other}.") for other in others)


def check_readable(name: str, old: str, new: str) -> None:
    """Refuse texts that Yosys reads in another way than a simulator does, or not at all.

    Raises
    ------
    EquivalenceError
        If they are such ones.
    """
    if PACKAGE.findall(old) == PACKAGE.findall(new) == [name]:
        if [line for line in old.splitlines() if "`" in line] != [
            line for line in new.splitlines() if "`" in line
        ]:
            raise EquivalenceError(f"directives of the preprocessor have changed in {name}")
        return
    for text in (old, new):
        if re.findall(r"^\s*module\s+(\w+)", text, re.M) != [name]:
            raise EquivalenceError(f"{name} is no file of the one module of this name")
        if found := PRAGMA.search(text) or UNREADABLE.search(COMMENT.sub("", text)):
            raise EquivalenceError(f"{name} has {found[0]!r}")
        check_order(name, text)


def _means_the_same(
    name: str, top: str, params: tuple, old: Mapping[str, Path], new: Mapping[str, Path]
) -> bool:
    """Whether a file is a package that declares the same. What nobody names may be new."""
    if name not in PACKAGE.findall(new[name].read_text()):
        return False
    was, is_ = (_members(name, top, params, tuple(files.values())) for files in (old, new))
    texts = (file.read_text() for other, file in new.items() if other != name)
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return was.items() <= is_.items() and not words & (is_.keys() - was.keys())


@cache
def _members(package: str, top: str, params: tuple, files: tuple[Path, ...]) -> dict[str, str]:
    return members(package, top, dict(params), files)


@cache
def _instances(
    top: str, params: tuple, files: tuple[Path, ...], signals: frozenset[str]
) -> list[Instance]:
    return instances(top, dict(params), files, signals)


@cache
def _packages(module: str, files: tuple[Path, ...]) -> set[str]:
    return packages_of(module, {file.stem: file.read_text() for file in files})
