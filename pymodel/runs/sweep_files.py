"""The files of a sweep: its table, what is said of it, and the parts of one under way.

Columns are arrays of one length. A table ``sweep.parquet`` or ``sweep.csv`` is described in
``sweep.parquet.json``. Until all rows are there they are kept in the folder
``sweep.parquet.parts``, a file for each chunk, which appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import parse
from pymodel.runs.alone import alone_at
from pymodel.runs.input_error import InputError
from pymodel.runs.outcome import STATUSES
from pymodel.runs.whole import whole_file

Columns = dict[str, np.ndarray]
Table = tuple[list[str], list[np.ndarray]]  #: names of columns as a file has them, and the columns
ENDINGS = (".parquet", ".csv")
EXTRA = "pip install 'hdca-accelerator[sweeps]'"


class Parts:
    """The rows that a sweep has so far, kept in a folder beside its table.

    Parameters
    ----------
    out : str or path-like
        The table to come.
    description : dict
        What the sweep is, in JSON's types.

    Raises
    ------
    InputError
        If the table cannot be of this name, or another sweep has left files of this name.
    OSError
        If nothing can be written there.
    """

    def __init__(self, out: str | os.PathLike[str], description: Mapping[str, Any]) -> None:
        self.out = Path(out)
        check_ending(self.out, f"--out {out}")
        self.folder = Path(f"{out}.parts")
        self._beside = Path(f"{out}.json")
        self._about = self.folder / "sweep.json"
        self.description = json.loads(json.dumps(description))
        self.finished = False
        if self._about.exists() or self._parts():  # which are of nothing that is known
            self._compare(self._about)
        elif self.out.exists():
            self._compare(self._beside)
            self.finished = True
        self.out.parent.mkdir(parents=True, exist_ok=True)
        if not self.finished and not self.folder.exists():
            self.folder.mkdir()  # refused now, not after the first chunk
            self.folder.rmdir()

    @classmethod
    @contextlib.contextmanager
    def alone(cls, out: str | os.PathLike[str], description: Mapping[str, Any]) -> Iterator[Parts]:
        """The rows that a sweep has, for the time of a ``with``, in which no other can add any.

        Raises
        ------
        InputError, OSError
            As above, and if another process writes this table.
        """
        check_ending(Path(out), f"--out {out}")
        with alone_at(Path(out)):
            yield cls(out, description)

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*.json"))

    def _compare(self, path: Path) -> None:
        place = self.folder if path == self._about else self.out
        try:
            found = json.loads(path.read_text())
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict):
            reason = f"is there, and {path.name} does not say of which sweep: remove it, or"
            raise InputError(f"{place}: {reason} give another --out")
        keys = found.keys() | self.description.keys()
        other = sorted(k for k in keys if found.get(k) != self.description.get(k))
        if other:
            what = ", ".join(other)
            reason = f"of another sweep, not of this {what}: remove it, or give another --out"
            raise InputError(f"{place}: {reason}")

    def read(self, names: Sequence[str], given: Columns) -> list[Columns]:
        """The rows that are there: those of the finished table, or of each part.

        A table that lacked rows, and was not completed yet, still has all others.

        Parameters
        ----------
        names
            Columns of the table.
        given
            Its index and varied values, of all rows that it is to have.

        Raises
        ------
        InputError
            If a file is damaged, or has other columns, rows or varied values.
        """
        paths = [] if self.finished else self._parts()
        if self.out.exists() and self._is_described():
            paths.append(self.out)
        found: list[Columns] = []
        for path in paths:
            try:
                columns = (read_table if path == self.out else _read_part)(path)
                _check_rows(path, columns, names, given)
                _check_cells(path, columns, given)
            except InputError as error:
                raise InputError(f"{error}: remove it, or give another --out") from None
            if path == self.out and found:  # whose other rows are in parts by now
                in_parts = np.concatenate([one["index"] for one in found])
                new = ~np.isin(columns["index"], in_parts)
                columns = {name: column[new] for name, column in columns.items()}
            if columns["index"].size:
                found.append(columns)
        return found

    def _is_described(self) -> bool:
        """Whether the table that is there is of this sweep."""
        try:
            return bool(json.loads(self._beside.read_text()) == self.description)
        except (OSError, ValueError):
            return False

    def add(self, columns: Columns) -> None:
        """Keep the rows of a chunk.

        Raises
        ------
        InputError
            If what is there has become another sweep's, whose files are left alone.
        """
        if self._about.exists() or self._parts():
            self._compare(self._about)
        else:
            self.folder.mkdir(exist_ok=True)
            _write(self._about, json.dumps(self.description, indent=1))
        values = {name: column.tolist() for name, column in columns.items()}
        _write(self.folder / f"{values['index'][0]:08d}.json", json.dumps(values))

    def finish(self, columns: Columns) -> None:
        """Write the table in place of the parts, and of one that lacked rows.

        Raises
        ------
        InputError
            If what is there has become another sweep's, whose files are left alone.
        """
        self._compare(self._about)
        if self.out.exists():
            self._compare(self._beside)
        with whole_file(self.out) as beside:
            WRITERS[self.out.suffix](beside, columns)
            _write(self._beside, json.dumps(self.description, indent=1))
        gone = self.folder.with_name(f".{self.folder.name}")
        shutil.rmtree(gone, ignore_errors=True)  # of one that was killed here
        os.replace(self.folder, gone)  # parts without their description would be anybody's
        shutil.rmtree(gone)


def check_ending(path: Path, name: str) -> None:
    """Refuse a table of an unknown ending, by an InputError that begins with its name."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{name}: must end in {' or '.join(ENDINGS)}")
    if path.suffix == ".parquet":
        import_pyarrow()


def import_pyarrow() -> Any:
    """The module pyarrow.parquet; an InputError says where it comes from."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"a .parquet table needs pyarrow: {EXTRA}; a .csv needs nothing") from None
    return parquet


def _write(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with whole_file(path) as beside:
        beside.write_text(text)


def _read_part(path: Path) -> Columns:
    try:
        return {name: np.array(values) for name, values in json.loads(path.read_text()).items()}
    except (ValueError, AttributeError):
        raise InputError(f"{path}: not rows of a sweep") from None


def _check_rows(path: Path, columns: Columns, names: Sequence[str], given: Columns) -> None:
    """Refuse what are not rows of a table, each once, by an InputError."""
    if [*columns] != [*names]:
        raise InputError(f"{path}: has other columns than this sweep's table")
    index = columns["index"]
    lengths = {column.shape for column in columns.values()}
    whole = index.dtype.kind in "iu" or not index.size
    once = np.isin(index, given["index"]).all() and len(np.unique(index)) == index.size
    if not (whole and once) or lengths != {(index.size,)}:
        raise InputError(f"{path}: has other rows than this sweep's table")


def _check_cells(path: Path, columns: Columns, given: Columns) -> None:
    """Refuse other varied values, words for numbers, and no status, by an InputError."""
    index = columns["index"]
    for name, column in columns.items() if index.size else ():
        if name in given:
            right, must = _same(column, given[name][index]), "not what this sweep varies"
        elif name == "status":
            right, must = np.isin(column, STATUSES), f"none of {', '.join(STATUSES)}"
        elif name == "reason" or column.dtype.kind in "if":
            continue
        else:
            right, must = [_is_number(x) for x in column.tolist()], "no number"
        if not np.all(right):
            row = int(np.argmin(right))
            raise InputError(f"{path}: index {index[row]}: {name} is {column[row]}, {must}")


def _same(column: np.ndarray, wanted: np.ndarray) -> np.ndarray | list[bool]:
    """Whether values are those wanted; a file may hold numbers as words, and the reverse."""
    if column.dtype.kind in "if" and wanted.dtype.kind in "if":
        same: np.ndarray = column == wanted
        return same
    pairs = zip(column.tolist(), wanted.tolist(), strict=True)
    return [x == y or (_is_number(x) and _is_number(y) and float(x) == float(y)) for x, y in pairs]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def joined(parts: list[Columns]) -> Columns:
    """The rows of all parts as one table, in the order of their indices."""
    order = np.argsort(np.concatenate([part["index"] for part in parts]))
    return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}


def read_table(path: str | os.PathLike[str]) -> Columns:
    """Read a table of a sweep.

    Parameters
    ----------
    path : str or path-like
        It ends in ``.parquet`` or ``.csv``.

    Returns
    -------
    dict
        Name of a column -> array, every number with the bits that were written.

    Raises
    ------
    InputError
        If it has another ending, is no table, or has two columns of one name.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    check_ending(path, str(path))
    names, columns = READERS[path.suffix](path)
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise InputError(f"{path}: two columns {twice[0]}")
    return dict(zip(names, columns, strict=True))


def scenario_of(path: str | os.PathLike[str]) -> Scenario | None:
    """The scenario that a table's sweep varied; None where nothing beside the table says so."""
    try:
        return parse(json.loads(Path(f"{path}.json").read_text())["scenario"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_csv(path: Path, columns: Columns) -> None:
    """Numbers as the shortest text that reads back to the same bits."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _read_csv(path: Path) -> Table:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # spreadsheets mark it
            header, *rows = [*csv.reader(file)] or [[]]
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}: not a table: {error}") from None
    if not header:
        raise InputError(f"{path}: line 1: not the header of a table")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            said = f"{len(row)} values for {len(header)} columns"
            raise InputError(f"{path}: line {number}: {said}")
    return header, [_array([row[k] for row in rows]) for k in range(len(header))]


def _array(texts: list[str]) -> np.ndarray:
    """Whole numbers, or numbers, or words."""
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts])
        except ValueError:
            continue
    return np.array(texts)


def _write_parquet(path: Path, columns: Columns) -> None:
    import pyarrow

    import_pyarrow().write_table(pyarrow.table(columns), path)


def _read_parquet(path: Path) -> Table:
    parquet = import_pyarrow()
    from pyarrow import ArrowException

    with open(path, "rb") as file:  # whose OSError names the file
        try:
            table = parquet.ParquetFile(file).read()
        except (ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"{path}: not a table: {reason}") from None
    columns = [column.to_numpy() for column in table.columns]
    return table.column_names, [x.astype(str) if x.dtype == object else x for x in columns]


WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
}
READERS: dict[str, Callable[[Path], Table]] = {".parquet": _read_parquet, ".csv": _read_csv}
