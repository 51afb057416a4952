"""A journal: a file of rows in JSON, one a line, that outlives whoever writes it."""

import json
import os
from pathlib import Path
from typing import Any

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
        self.rows: dict[str, Row] = {}
        if file.exists():
            whole = file.read_text().split("\n")[:-1]
            self.rows = {row["key"]: row for row in map(_row, whole) if row}

    def add(self, row: Row) -> None:
        """Keep a row, in the place of an older one of its key."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(self._file, "ab+") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            cut = file.read(1) not in (b"", b"\n")
            file.write((b"\n" if cut else b"") + json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[row["key"]] = row


def _row(line: str) -> Row | None:
    try:
        return json.loads(line)
    except ValueError:
        return None
