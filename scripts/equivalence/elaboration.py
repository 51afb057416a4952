"""What a top level is made of: its instances, elaborated by slang."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.equivalence.errors import EquivalenceError

PACKAGE = re.compile(r"^\s*package\s+(\w+)", re.M)


@dataclass(frozen=True)
class Instance:
    """An instance of a module.

    Attributes
    ----------
    path : str
        From the top level on.
    module : str
    params : tuple
        Name and value of each parameter, as slang writes it.
    """

    path: str
    module: str
    params: tuple[tuple[str, str], ...]


def instances(top: str, params: Mapping[str, Any], sources: Sequence[Path]) -> list[Instance]:
    """The instances below a top level, itself included.

    Parameters
    ----------
    top : str
        Its module.
    params : mapping
        Its parameters, as far as given.
    sources : sequence of Path
        All files, in compile order.

    Raises
    ------
    EquivalenceError
        If pyslang is missing, or finds an error.
    """
    compilation = _compiled(top, params, sources)
    from pyslang.ast import SymbolKind

    scopes = (SymbolKind.GenerateBlock, SymbolKind.GenerateBlockArray, SymbolKind.InstanceArray)
    found: list[Instance] = []

    def walk(scope: Any) -> None:
        for member in scope:
            if member.kind == SymbolKind.Instance:
                parameters = (one for one in member.body.parameters if not one.isLocalParam)
                values = tuple((one.name, _value(one)) for one in parameters)
                found.append(Instance(member.hierarchicalPath, member.definition.name, values))
                walk(member.body)
            elif member.kind in scopes and not getattr(member, "isUninstantiated", False):
                walk(member)

    walk(compilation.getRoot())
    return found


def members(
    package: str, top: str, params: Mapping[str, Any], sources: Sequence[Path]
) -> dict[str, str]:
    """What a package declares: name -> type and value of a constant, text of anything else.

    Parameters
    ----------
    package : str
    top, params, sources
        As for :func:`instances`.

    Raises
    ------
    EquivalenceError
        As for :func:`instances`.
    """
    compilation = _compiled(top, params, sources)
    from pyslang.ast import SymbolKind

    found = {}
    for number, member in enumerate(compilation.getPackage(package)):
        if member.kind == SymbolKind.Parameter:
            found[member.name] = f"{member.type} {member.value}"
        else:  # some have no name
            found[member.name or f"{number}"] = " ".join(str(member.syntax).split())
    return found


def _compiled(top: str, params: Mapping[str, Any], sources: Sequence[Path]) -> Any:
    try:
        from pyslang.driver import Driver
    except ImportError:
        raise EquivalenceError("pyslang is missing (make formal installs it)") from None
    driver = Driver()
    driver.addStandardArgs()
    given = [word for name, value in params.items() for word in ("-G", f"{name}={value}")]
    line = " ".join(["slang", "--top", top, *given, *(f'"{source}"' for source in sources)])
    read = driver.parseCommandLine(line) and driver.processOptions() and driver.parseAllSources()
    compilation = driver.createCompilation()
    if not read or any(found.isError() for found in compilation.getAllDiagnostics()):
        raise EquivalenceError(f"slang finds an error in {top}")
    return compilation


def _value(parameter: Any) -> str:
    """A parameter's value; the type that a type parameter stands for."""
    return str(getattr(parameter, "value", None) or parameter.targetType)


def packages_of(module: str, texts: Mapping[str, str]) -> set[str]:
    """The packages that a module's own text depends on, those that they name included.

    Parameters
    ----------
    module : str
    texts : mapping
        Name of a module or package -> its text.
    """
    packages = {name for name, text in texts.items() if name in PACKAGE.findall(text)}
    found: set[str] = set()
    new = {module}
    while new:
        words = {word for name in new for word in re.findall(r"\w+", texts[name])}
        found |= new
        new = (words & packages) - found
    return found - {module}
