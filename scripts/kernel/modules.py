"""Modules of the RTL: their files, those that they depend on, their parameters."""

import re
from pathlib import Path

from pymodel.hardware.rtl_files import needed, rtl_files
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT

MODULE = re.compile(r"^\s*module\s+(\w+)(?:\s*import\s[^;]*;)*([^;]*);", re.M)
PARAMETER = re.compile(r"\bparameter\b[^,=]*?(\w+)\s*=")


def files_by_name() -> dict[str, str]:
    """Module or package -> the file that declares it, and is named after it."""
    return {Path(file).stem: file for file in rtl_files()}


def file_of(module: str) -> str:
    """The file that declares a module.

    Raises
    ------
    CostError
        If rtl/rtl.f has no such module.
    """
    files = files_by_name()
    if module not in files:
        raise CostError(f"rtl/rtl.f has no module {module}")
    return files[module]


def needed_files(module: str) -> list[str]:
    """The module's file and those with what their words name, in compile order.

    Raises
    ------
    CostError
        As for `file_of`.
    """
    file_of(module)
    files = needed(module, [ROOT / file for file in rtl_files()])
    return [file.relative_to(ROOT).as_posix() for file in files]


def parameters_of(module: str) -> list[str]:
    """Its parameters and local parameters, as its file declares them.

    Raises
    ------
    CostError
        As for `file_of`.
    """
    text = (ROOT / file_of(module)).read_text()
    return re.findall(r"\b(?:local)?param(?:eter)?\b[^=;]*?(\w+)\s*=", text)


def modules(path: Path) -> dict[str, set[str]]:
    """The modules a file declares, with the names of the parameters in their headers."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
    return {m[1]: set(PARAMETER.findall(m[2])) for m in MODULE.finditer(text)}


def bench_files(root: Path = ROOT) -> list[str]:
    """The wrappers around devices under test, which rtl/rtl.f does not name."""
    found = (*root.glob("pymodel/hardware/*.sv"), *root.glob("tb/*/*.sv"))
    return sorted(str(path.relative_to(root)) for path in found)
