"""Files of rows in JSON: a journal, one a line, that outlives its writer; a summary, one a unit."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pymodel.runs.input_error import InputError

Row = dict[str, Any]


class Journal:
    """Rows by their ``key``, on disk as soon as they are added.

    A line that a killed process has left half written counts as not written.

    Parameters
    ----------
    file
        May be missing.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.rows: dict[str, Row] = {row["key"]: row for row in read_rows(file)}

    def add(self, *rows: Row) -> None:
        """Keep rows, in the place of older ones of their keys."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(self._file, "ab+") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            cut = file.read(1) not in (b"", b"\n")
            lines = "".join(f"{json.dumps(row)}\n" for row in rows)
            file.write((b"\n" if cut else b"") + lines.encode())
            file.flush()
            os.fsync(file.fileno())
        self.rows |= {row["key"]: row for row in rows}


def read_rows(file: Path) -> list[Row]:
    """The rows of a file, which may be missing, without a line that was left half written."""
    whole = file.read_text().split("\n")[:-1] if file.exists() else []
    return [row for row in map(_row, whole) if row]


def _row(line: str) -> Row | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


def read_units(summary: Path) -> dict[str, Row]:
    """The rows of a summary by unit; none if it is missing.

    Raises
    ------
    InputError
        If the file is no summary.
    """
    if not summary.exists():
        return {}
    try:
        return {row["unit"]: row for row in json.loads(summary.read_text())}
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{summary} is not a summary: remove it") from None


def replace_unit(summary: Path, unit: str, row: Row | None, order: Iterable[str]) -> None:
    """Put a unit's row into a summary, in the place of an older one.

    Parameters
    ----------
    summary
        May be missing.
    unit
    row
        None: there is none any more.
    order
        Of the units, by name. A row of none of them is left out.

    Raises
    ------
    InputError
        If the file is no summary.
    """
    rows = read_units(summary) | {unit: row}
    kept = [rows[name] for name in order if rows.get(name)]
    summary.parent.mkdir(parents=True, exist_ok=True)
    new = summary.with_suffix(".new")
    new.write_text(json.dumps(kept, indent=1))
    new.replace(summary)
