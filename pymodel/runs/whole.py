"""Files that are whole or absent: written beside, and renamed when they are complete."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from pymodel.runs.alone import alone_in
from pymodel.runs.input_error import InputError

#: Folders inside that of the results: what is being written, and what is whole and takes the
#: place of earlier files, which a process that was killed meanwhile has left to the next one.
NEW, READY = ".new", ".ready"
OF_A_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
PLAN = "plan.json"  # what is to be done with those files


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file beside its place, where it then appears whole; an earlier one stays until then.

    Behind a link the file is that which the link names. What is no file, as ``/dev/stdout``, is
    written as it stands.

    Yields
    ------
    pathlib.Path
        What is to be written.

    Raises
    ------
    OSError
        With the name of the file, if it cannot be written.
    """
    given, path = Path(path), Path(os.path.realpath(path))
    if given.exists() and not given.is_file():
        with _naming({}, given):
            yield given
        return
    own = f"{os.getpid()}-{threading.get_ident()}"
    partial = path.with_name(f".{path.stem}.{own}{path.suffix}")  # which says what format it has
    try:
        with _naming({partial: given}, given):
            yield partial
            if path.exists():
                shutil.copymode(path, partial)
            os.replace(partial, path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _naming(names: dict[Path, Path], other: Path) -> Iterator[None]:
    """Name files in errors as the user knows them; ``other`` is told where there is no name."""
    try:
        yield
    except OSError as error:
        if not error.filename and error.errno not in OF_A_DISK:
            raise  # no file's
        told = Path(os.fsdecode(error.filename)) if error.filename else other
        for inner, outer in names.items():
            if told.is_relative_to(inner):
                told = outer / told.relative_to(inner)
        raise OSError(error.errno, error.strerror, str(told)) from error


_entered = threading.local()  # folders that this thread replaces files of


@contextlib.contextmanager
def replacing(out: Path, names: Collection[str], last: str) -> Iterator[Path]:
    """Write a set of files, which takes the place of an earlier one when it is whole.

    Nobody else may write there meanwhile. Where an exception ends it, or the last file is not
    there, nothing has changed. A part of the set that calls this for the same folder adds to it.

    Parameters
    ----------
    out
        The folder; it is made.
    names
        All files that such a set may have. Those that the new one has not are removed.
    last
        The one without which the others are no set; while they are renamed it is not there.

    Yields
    ------
    pathlib.Path
        The folder to write the files into.

    Raises
    ------
    InputError
        If another process works in the folder, or a link stands where a file is to be.
    OSError
        With the name of the file, if one cannot be written.
    """
    folders = vars(_entered).setdefault("folders", {})
    key = out.resolve()
    if key in folders:
        yield folders[key]
        return
    made = not out.exists()
    try:
        with _replacing(out, names, last) as new:
            yield new
    except BaseException:
        if made:  # nothing has changed
            with contextlib.suppress(OSError):  # somebody else has put something there
                out.rmdir()
        raise


@contextlib.contextmanager
def _replacing(out: Path, names: Collection[str], last: str) -> Iterator[Path]:
    """As :func:`replacing`, the outermost; the folder stays."""
    folders, key = vars(_entered)["folders"], out.resolve()
    with alone_in(out), _naming({out / NEW: out, out / READY: out}, out):
        _move(out)
        _refuse_links(out, names)
        new = out / NEW
        shutil.rmtree(new, ignore_errors=True)  # of a process that was killed
        new.mkdir()
        folders[key] = new
        try:
            yield new
            if (new / last).exists():
                gone = [name for name in names if not (new / name).exists()]
                (new / PLAN).write_text(json.dumps({"last": last, "gone": gone}))
                new.rename(out / READY)
                _move(out)
        finally:
            del folders[key]
            shutil.rmtree(new, ignore_errors=True)


def _move(out: Path) -> None:
    """Let what is ready take its place, also what a process that was killed meanwhile has left."""
    ready = out / READY
    if (ready / PLAN).exists():
        plan = json.loads((ready / PLAN).read_text())
        if (ready / plan["last"]).exists():  # or this is all that was left to do
            for name in (plan["last"], *plan["gone"]):
                (out / name).unlink(missing_ok=True)
            made = {path.name for path in ready.iterdir()} - {PLAN, plan["last"]}
            for name in (*sorted(made), plan["last"]):
                os.replace(ready / name, out / name)
        (ready / PLAN).unlink()
    shutil.rmtree(ready, ignore_errors=True)


def _refuse_links(out: Path, names: Collection[str]) -> None:
    for name in names:
        if (out / name).is_symlink():
            reason = "is a link, and would be replaced: remove it, or give another folder"
            raise InputError(f"{out / name}: {reason}")
