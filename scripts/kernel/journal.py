"""Files of rows in JSON: a journal, one a line, that outlives its writer; a summary."""

import json
import os
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from pymodel.runs.alone import alone_with
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


@dataclass(frozen=True)
class Summary:
    """A file with a row of each thing that was measured, which runs replace one by one.

    Attributes
    ----------
    file
        May be missing.
    order
        Keys of the rows, in their order. A row of no other key is kept.
    key
        The key of a row.
    inside
        The file's key that holds the rows, if it is not the file itself.
    """

    file: Path
    order: Iterable[Hashable]
    key: Callable[[Row], Hashable] = itemgetter("unit")
    inside: str = ""

    def read(self) -> dict[Any, Row]:
        """The rows by their keys; none if the file is missing.

        Raises
        ------
        InputError
            If the file is no summary.
        """
        if not self.file.exists():
            return {}
        try:
            found = json.loads(self.file.read_text())
            return {self.key(row): row for row in (found[self.inside] if self.inside else found)}
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{self.file} is not a summary: remove it") from None

    def replace(self, key: Hashable, row: Row | None) -> None:
        """Put a row in the place of the older one of its key; None: there is none any more.

        Raises
        ------
        InputError
            If the file is no summary.
        """
        with alone_with(self.file):
            rows = self.read() | {key: row}
            kept = [rows[key] for key in self.order if rows.get(key)]
            content = {self.inside: kept} if self.inside else kept
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps(content, indent=1) + "\n")
            new.replace(self.file)
