"""The reader of rtl/rtl.f, the one list of RTL files."""

from pathlib import Path

from tb.common.places import ROOT

FILE_LIST = "rtl/rtl.f"


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
