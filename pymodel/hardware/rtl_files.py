"""The reader of rtl/rtl.f, the one list of RTL files."""

import re
from collections.abc import Sequence
from pathlib import Path

from pymodel.hardware.places import ROOT

FILE_LIST = "rtl/rtl.f"
RULES = ".vlt"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def rtl_files(root: Path = ROOT) -> list[str]:
    """The files that rtl/rtl.f names, in compile order, relative to the repository.

    One file a line; ``//`` starts a comment, as in every tool that reads the list.

    Parameters
    ----------
    root : Path
        The repository.

    Returns
    -------
    list of str

    Raises
    ------
    FileNotFoundError
        When there is no list.
    """
    lines = (root / FILE_LIST).read_text().splitlines()
    files = [line.split("//")[0].strip() for line in lines]
    return [file for file in files if file]


def unlisted(root: Path = ROOT) -> list[str]:
    """SystemVerilog below rtl/ that rtl/rtl.f does not name, relative to the repository."""
    found = {path.relative_to(root).as_posix() for path in root.glob("rtl/**/*.sv")}
    return sorted(found - set(rtl_files(root)))


def needed(top: str, files: Sequence[Path]) -> list[Path]:
    """The files that a module is built from: what the others hold cannot change it.

    A file holds the module or package of its name, and needs all those that it names, comments left
    out. Rules of Verilator (.vlt) hold none and stay.

    Parameters
    ----------
    top : str
        Name of the module.
    files : sequence of Path
        In compile order.

    Returns
    -------
    list of Path
        Some of the files, in their order.

    Raises
    ------
    KeyError
        When none of the files holds the module.
    """
    by_name = {file.stem: file for file in files}
    if top not in by_name:
        raise KeyError(f"no module {top}: is its file in {FILE_LIST}?")
    found, new = set(), {top}
    while new:
        found |= new
        texts = (_COMMENT.sub(" ", by_name[name].read_text()) for name in new)
        new = {word for text in texts for word in re.findall(r"\w+", text)} & by_name.keys() - found
    return [file for file in files if file.stem in found or file.suffix == RULES]
