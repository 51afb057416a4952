"""What a top level is made of: its instances, elaborated by slang."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.equivalence.errors import EquivalenceError

PACKAGE = re.compile(r"^\s*package\s+(?:automatic\s+|static\s+)?(\w+)", re.M)


@dataclass(frozen=True)
class Instance:
    """An instance of a module, and all that the text around it can mean otherwise through it.

    Attributes
    ----------
    path : str
        From the top level on.
    module : str
    params : tuple
        Name and value of each parameter, as slang writes it.
    ports : tuple
        Name, direction and type of each port, in their order.
    unconnected : tuple
        Names of ports that are connected to nothing.
    signals : tuple
        Name and type of the signals inside that were asked for, also of those in generate blocks.
    """

    path: str
    module: str
    params: tuple[tuple[str, str], ...]
    ports: tuple[tuple[str, str, str], ...] = ()
    unconnected: tuple[str, ...] = ()
    signals: tuple[tuple[str, str], ...] = ()


def instances(
    top: str, params: Mapping[str, Any], sources: Sequence[Path], signals: Container[str] = ()
) -> list[Instance]:
    """The instances below a top level, itself included.

    Parameters
    ----------
    top : str
        Its module.
    params : mapping
        Its parameters, as far as given.
    sources : sequence of Path
        All files, in compile order.
    signals : container of str
        Those that are asked for, as `<module>.<name>`.

    Raises
    ------
    EquivalenceError
        If pyslang is missing, or finds an error, or a port has a default.
    """
    compilation = _compiled(top, params, sources)
    from pyslang.ast import SymbolKind

    blocks = (SymbolKind.GenerateBlock, SymbolKind.GenerateBlockArray, SymbolKind.InstanceArray)
    kinds = (SymbolKind.Variable, SymbolKind.Net)
    found: list[Instance] = []

    def inside(scope: Any) -> Iterator[Any]:
        for member in scope:
            if member.kind in blocks and not getattr(member, "isUninstantiated", False):
                yield from inside(member)
            else:
                yield member

    def visit(instance: Any) -> None:
        module, body, own = instance.definition.name, instance.body, list(inside(instance.body))
        if any(getattr(port, "initializer", None) for port in body.portList):
            raise EquivalenceError(f"a port of {module} has a default")
        open_ = [one for one in instance.portConnections if one.expression is None]
        found.append(
            Instance(
                instance.hierarchicalPath,
                module,
                tuple((one.name, _value(one)) for one in body.parameters if not one.isLocalParam),
                tuple((one.name, f"{one.direction}", f"{one.type}") for one in body.portList),
                tuple(one.port.name for one in open_),
                tuple(
                    (one.name, str(one.type))
                    for one in own
                    if one.kind in kinds and f"{module}.{one.name}" in signals
                ),
            )
        )
        for member in own:
            if member.kind == SymbolKind.Instance:
                visit(member)

    for instance in compilation.getRoot().topInstances:
        visit(instance)
    return found


def members(
    package: str, top: str, params: Mapping[str, Any], sources: Sequence[Path]
) -> dict[str, str]:
    """What a package declares: name -> type and value of a constant, type and text of all else.

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
        words = [str(getattr(member, "type", ""))]
        if member.kind == SymbolKind.Parameter:
            words.append(str(member.value))
        else:
            words += [line.strip() for line in str(member.syntax).splitlines() if line.strip()]
        found[member.name or f"{number}"] = "\n".join(words)  # an import has no name
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
