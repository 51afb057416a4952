"""The RTL that simulations have passed with, kept as it was.

Below a folder each text has a folder of its own, named after its digest. A set of files has a list,
named after the list's digest, its key: a line for each file.
"""

import functools
import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

LISTS = "lists"
YOUNG_S = 86_400  # another session may have written it, and will read it


class Kept:
    """What is kept.

    Parameters
    ----------
    folder : Path
        Where. It need not be there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, texts: Mapping[str, str]) -> None:
        """Keep a set of files: name -> text."""
        _write(self._list(key_of(texts)), _listed(texts))
        for file, text in texts.items():
            _write(self._place(digest(text), file), text)

    def places(self, key: str) -> dict[str, Path] | None:
        """Where the files of a set are, in the order they were given; None if one is not."""
        listed = self._list(key)
        if not listed.exists():
            return None
        lines = (line.split() for line in listed.read_text().splitlines())
        places = {file: self._place(digest_, file) for file, digest_ in lines}
        return places if all(place.exists() for place in places.values()) else None

    def forget_all_but(self, keys: Iterable[str]) -> None:
        """Remove what belongs to none of these sets, and is older than what a session needs."""
        keys = set(keys)
        places = [place for key in keys for place in (self.places(key) or {}).values()]
        needed = {place.parent.name for place in places} | {LISTS}
        for folder in self.folder.glob("*"):
            if folder.name not in needed and _is_old(folder):
                shutil.rmtree(folder, ignore_errors=True)
        for listed in self.folder.glob(f"{LISTS}/*"):
            if listed.name not in keys and _is_old(listed):
                listed.unlink(missing_ok=True)

    def _list(self, key: str) -> Path:
        return self.folder / LISTS / key

    def _place(self, digest_: str, file: str) -> Path:
        """A file keeps its name, which is that of its module."""
        return self.folder / digest_ / Path(file).name


def _is_old(place: Path) -> bool:
    return time.time() - place.stat().st_mtime > YOUNG_S


def key_of(texts: Mapping[str, str]) -> str:
    """The key of a set of files: name -> text."""
    return digest(_listed(texts))


@functools.cache
def digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _listed(texts: Mapping[str, str]) -> str:
    return "".join(f"{file} {digest(text)}\n" for file, text in texts.items())


def _write(place: Path, text: str) -> None:
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(place)
