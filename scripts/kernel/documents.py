"""What the generated documents share: results of earlier commands, Markdown tables, pictures."""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pymodel.arith.errors import Error
from scripts.kernel.journal import Row, Summary
from scripts.kernel.places import IMAGES, ROOT


class MissingError(Error, FileNotFoundError):
    """Something that has to run first did not, or left a damaged file."""


def read(path: Path, command: str) -> Any:
    """A JSON file of the build folder.

    Parameters
    ----------
    path : Path
    command : str
        What makes the file.

    Raises
    ------
    MissingError
        One line with the command, if there is no such file, or what is there is no JSON.
    """
    if not path.exists():
        raise MissingError(f"{path.relative_to(ROOT)} is missing: run `{command}` first")
    try:
        return json.loads(path.read_text())
    except ValueError:
        raise MissingError(f"{path.relative_to(ROOT)} is damaged: run `{command}` again") from None


def read_all(
    summary: Summary, command: str, least: int, what: str, count: Callable[[Row], int]
) -> list[Row]:
    """The rows of a summary that has all of them: a page of a trial would replace a whole one.

    Parameters
    ----------
    summary : Summary
    command : str
        What makes the file.
    least : int
        Size of a row's sample that its figures need.
    what : str
        What the sample is of.
    count : callable
        Size of a row's sample.

    Raises
    ------
    MissingError
        One line with the command, if there is no such file, rows are missing, or are too small.
    """
    rows = read(summary.file, command)
    sizes = {summary.key(row): count(row) for row in rows}
    small = {str(unit): sizes.get(unit, 0) for unit in summary.order if sizes.get(unit, 0) < least}
    if small:
        said = ", ".join(f"{unit} has {size}" for unit, size in small.items())
        again = f'{command} UNITS="{" ".join(small)}"'
        raise MissingError(f"{said} of {least} {what} or more: run `{again}` first")
    return rows


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: bool = True) -> str:
    """A Markdown table; the first column left, the others right if they are numbers."""
    cells = [head, ["---"] + ["---:" if numbers else "---"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in cells)


def copy_picture(name: str, source: Path, command: str) -> None:
    """Copy a picture into docs/img.

    Parameters
    ----------
    name : str
        What it is called there, without its ending.
    source : Path
    command : str
        What makes the file.

    Raises
    ------
    MissingError
        One line with the command, if there is no such file.
    """
    if not source.exists():
        raise MissingError(f"{name}.png is missing: run `{command}` first")
    IMAGES.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, IMAGES / f"{name}.png")


def write_document(
    doc: Path, text: Callable[[], str], arguments: Sequence[str] | None = None
) -> int:
    """The command that writes a document; its exit status.

    Parameters
    ----------
    doc : Path
    text : callable
        Makes its text; an `Error` is told in one line, exit status 2.
    arguments : sequence of str, optional
        Those of the command line: none but ``--help``.
    """
    argparse.ArgumentParser(description=f"Write {doc.relative_to(ROOT)}.").parse_args(arguments)
    try:
        written = text()
    except Error as error:
        print(f"{doc.stem}: {error}", file=sys.stderr)
        return 2
    doc.write_text(written)
    print(doc.relative_to(ROOT))
    return 0
