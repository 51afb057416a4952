"""The RTL files that a module depends on."""

import functools
import re

from scripts.cost.errors import CostError
from scripts.places import ROOT
from tb.common.rtl_files import rtl_files


@functools.cache
def words_of(file: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the modules and packages that a file declares, and all words of it."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", (ROOT / file).read_text(), flags=re.S)
    declared = re.findall(r"^\s*(?:module|package)\s+(\w+)", text, re.M)
    return frozenset(declared), frozenset(re.findall(r"\w+", text))


def files_by_name() -> dict[str, str]:
    """Module or package -> the file that declares it."""
    return {name: file for file in rtl_files() for name in words_of(file)[0]}


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
    files = files_by_name()
    needed, new = set(), {file_of(module)}
    while new:
        needed |= new
        named = {files[word] for file in new for word in words_of(file)[1] if word in files}
        new = named - needed
    return [file for file in rtl_files() if file in needed]


def parameters_of(module: str) -> list[str]:
    """Its parameters and local parameters, as its file declares them.

    Raises
    ------
    CostError
        As for `file_of`.
    """
    text = (ROOT / file_of(module)).read_text()
    return re.findall(r"\b(?:local)?param(?:eter)?\b[^=;]*?(\w+)\s*=", text)
