"""The repository's Python files that a module depends on."""

import ast
import functools

from scripts.kernel.places import ROOT


@functools.cache
def sources_of(module: str) -> list[str]:
    """Its own file and those that it imports, directly or not, relative to ROOT."""
    found, new = set(), {file_of(module)}
    while new:
        found |= new
        named = set()
        for file in new:
            for node in ast.walk(ast.parse((ROOT / file).read_text())):
                if isinstance(node, ast.Import):
                    named |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    named |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        new = {file for name in named if (file := file_of(name))} - found
    return sorted(found)


def file_of(module: str) -> str | None:
    """The file of a module of the repository; None if it is none."""
    stem = module.replace(".", "/")
    return next((x for x in (f"{stem}.py", f"{stem}/__init__.py") if (ROOT / x).exists()), None)


def module_of(file: str) -> str:
    """The module of a file: the inverse of :func:`file_of`."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
