"""C built by the machine's compiler into shared libraries, which are kept by their content.

What is kept is run as code: every file ends in a checksum of all of it, which is compared before
each use, and folder and files must be the user's own, which nobody else can write.
"""

from __future__ import annotations

import errno
import grp
import hashlib
import os
import pwd
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import platformdirs

from pymodel.arith.errors import Error

#: Folder of what was built, instead of the user's cache folder.
CACHE_VARIABLE = "PYMODEL_CACHE"
BUILDING = "building-"  # how the name of a folder begins that something is built in
LONGEST_BUILD_S = 24 * 3600.0
SYSTEM_USERS = 0, 65534  # root; nobody, as whom a container may show it
SIZE_LIMIT = "File size limit exceeded"  # a shell's words for a program that this has ended
ROOM = 1 << 20  # bytes that a disk has not that a compiler has filled


class NoCompilerError(Error, RuntimeError):
    """There is no C compiler, not one that builds this, or no folder to build it in."""


def shared_library(
    files: Mapping[str, str],
    options: Sequence[str],
    common: Mapping[str, str] = MappingProxyType({}),
    more: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Path:
    """Build a shared library, or find it built.

    Parameters
    ----------
    files : dict
        Name -> text; those that end in ``.c`` are compiled.
    options : sequence of str
        Of the compiler.
    common : dict, optional
        Such files that other libraries have, too; they include no others. What is compiled of them
        is kept as well.
    more : dict, optional
        Name of one of the files -> options that follow the others when it is compiled.

    Returns
    -------
    Path

    Raises
    ------
    NoCompilerError
        If it cannot be built.
    """
    words = {name: " ".join(some) for name, some in more.items()}
    path = cache_folder() / f"{_digest(options, files, common, words)}.so"
    _require_own_folder(path.parent)
    if not _whole(path):
        compiler().build(files, options, path, common, more)
    return path


def opened(ffi: Any, path: Path) -> Any:
    """Load a shared library into this process, by cffi.

    Raises
    ------
    NoCompilerError
        If it cannot be loaded: it was built for another system, or its folder must not be executed.
    """
    try:
        return ffi.dlopen(str(path))
    except OSError as error:
        raise NoCompilerError(f"native code cannot be loaded: {error}") from None


def check() -> None:
    """Build the least library that there is, or find it built.

    Raises
    ------
    NoCompilerError
        If no library can be built.
    """
    shared_library({"nothing.c": "int nothing;\n"}, ["-fPIC"])


def _digest(options: Sequence[str], *files: Mapping[str, str]) -> str:
    texts = [word for some in files for pair in some.items() for word in pair]
    content = [compiler().identity, *options, *texts]
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:32]


def cache_folder() -> Path:
    """Where libraries are kept: ``$PYMODEL_CACHE``, or the user's cache folder."""
    given = os.environ.get(CACHE_VARIABLE)
    found = Path(given) if given else Path(platformdirs.user_cache_dir("pymodel"), "native")
    return found.absolute()  # the compiler runs in another folder


@dataclass(frozen=True)
class Compiler:
    """The machine's C compiler.

    Attributes
    ----------
    command : str
    identity : str
        Its version and what it defines for this processor.
    """

    command: str
    identity: str

    @property
    def vector_bits(self) -> int:
        """Bits of a vector register."""
        if "__AVX512DQ__" in self.identity:
            return 512
        return 256 if "__AVX__" in self.identity else 128

    @property
    def float_options(self) -> tuple[str, ...]:
        """Options by which a float operation rounds once, to its own format."""
        return ("-mfpmath=sse",) if "__SSE2__" in self.identity else ()

    def build(
        self,
        files: Mapping[str, str],
        options: Sequence[str],
        path: Path,
        common: Mapping[str, str],
        more: Mapping[str, Sequence[str]],
    ) -> None:
        """Compile files into a shared library, all at once."""
        try:
            for folder in (*reversed(path.parent.parents), path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            _sweep(path.parent)
            # Beside what is kept, so that it only needs another name there when it is whole.
            new_folder = partial(tempfile.TemporaryDirectory, prefix=BUILDING, dir=path.parent)
            with new_folder() as own, new_folder() as shared:
                self._build(Path(own), Path(shared), files, options, path, common, more)
        except OSError as error:
            said = (
                f"{path.parent}: {error.strerror or error}; {CACHE_VARIABLE} names another folder"
            )
            raise NoCompilerError(f"no folder for native code: {said}") from None

    def _build(
        self,
        own: Path,
        shared: Path,
        files: Mapping[str, str],
        options: Sequence[str],
        path: Path,
        common: Mapping[str, str],
        more: Mapping[str, Sequence[str]],
    ) -> None:
        kept = _digest(options, common)  # names of objects begin with it
        for place, some in ((own, files), (shared, common)):
            for name, text in some.items():
                (place / name).write_text(text)

        def compiled(source: Path) -> Path:
            made = source.with_suffix(".o")
            found = path.with_name(f"{kept}.{made.name}")
            if source.parent == own or not _whole(found):
                own_options = (*options, *more.get(source.name, ()))
                self._run(made, *own_options, "-I", str(shared), "-c", source.name)
                if source.parent == own:
                    return made
                _moved(made, found)
            return found

        sources = [*own.glob("*.c"), *shared.glob("*.c")]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, sources))
        library = own / "kernel.so"
        self._run(library, *options, "-shared", *map(str, objects), "-lm")
        _moved(library, path)

    def _run(self, made: Path, *arguments: str) -> None:
        """Let the compiler make a file, in its folder, where all that it writes meanwhile goes."""
        done = subprocess.run(
            [*shlex.split(self.command), *arguments, "-o", made.name],
            cwd=made.parent,
            env=os.environ | {"TMPDIR": str(made.parent), "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stderr.splitlines()
        if done.returncode:
            require_room(made.parent, done.stderr)
            reason = ([line for line in lines if "error" in line] or lines or ["failed"])[0]
        elif not made.exists():
            reason = "it makes no file"
        else:
            return
        raise NoCompilerError(f"{self.command} cannot build native code: {reason}")


def require_room(folder: Path, said: str) -> None:
    """Raise the OSError of a full disk, if that is why a program failed and whatever it said."""
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(number) in said or number == errno.EFBIG and SIZE_LIMIT in said:
            raise OSError(number, os.strerror(number))
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(ROOM))


_CHECKSUM = re.compile(rb"\nsha256 [0-9a-f]{64}\n")
_CHECKSUM_LENGTH = len("\nsha256 \n") + 64


def _checksum(name: str, content: bytes) -> bytes:
    """The last bytes of what is kept under a name, which linkers and loaders never read."""
    found = hashlib.sha256(name.encode() + b"\0" + content).hexdigest()
    return f"\nsha256 {found}\n".encode()


def _whole(path: Path) -> bool:
    """Whether a file is kept, with all the bytes that it was kept with.

    Raises
    ------
    NoCompilerError
        If it is, but is somebody else's, or others can write it.
    """
    try:
        with path.open("rb") as file:
            status, data = os.fstat(file.fileno()), file.read()
    except OSError:  # there is none, or it cannot be read: it is made again
        return False
    content, end = data[:-_CHECKSUM_LENGTH], data[-_CHECKSUM_LENGTH:]
    if not _CHECKSUM.fullmatch(end) or end != _checksum(path.name, content):
        return False
    _require_own(path, status)
    return True


def _require_own_folder(folder: Path) -> None:
    """Refuse a folder that is another user's, or that others can replace or write into.

    Raises
    ------
    NoCompilerError
        Naming it, or the one above it.
    """
    folder = Path(os.path.realpath(folder))
    for place in (folder, *folder.parents):
        with suppress(OSError):  # it is still to be made, in one of those above it
            _require_own(place, place.stat(), above=place != folder)


def _require_own(path: Path, status: os.stat_result, above: bool = False) -> None:
    """Refuse what is another user's, or what others can write.

    A folder above that of the libraries may be the system's, too, or one like /tmp, where nobody
    can rename what another user has, or writable by a group of which nobody else is.
    """
    if status.st_uid not in (os.geteuid(), *(SYSTEM_USERS if above else ())):
        reason = "it is another user's"
    elif _others_write(status) and not (above and _harmless(status)):
        reason = "others can write it (chmod go-w)"
    else:
        return
    said = f"native code is not loaded: {path}: {reason}; {CACHE_VARIABLE} names another folder"
    raise NoCompilerError(said)


def _others_write(status: os.stat_result) -> bool:
    return bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _harmless(status: os.stat_result) -> bool:
    """Whether others that can write into a folder cannot rename what is this user's there."""
    if status.st_mode & stat.S_ISVTX:
        return True
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    alone = group.gr_name == user.pw_name and {*group.gr_mem} <= {user.pw_name}
    return alone and not status.st_mode & stat.S_IWOTH


def _sweep(folder: Path) -> None:
    """Remove what builds that were killed have left."""
    now = time.time()
    for left in folder.glob(f"{BUILDING}*"):
        with suppress(OSError):  # another process does the same
            if now - left.stat().st_mtime > LONGEST_BUILD_S:
                shutil.rmtree(left)


def _moved(made: Path, path: Path) -> None:
    """Move a file to where others may look for it: whoever else makes the same leaves the same."""
    content = made.read_bytes()
    with made.open("ab") as file:
        file.write(_checksum(path.name, content))
    made.chmod(0o600)  # whatever the umask lets others do
    made.replace(path)


@cache
def compiler() -> Compiler:
    """Find the compiler: ``$CC``, which may have options, or ``cc``.

    Raises
    ------
    NoCompilerError
        If there is none.
    """
    command = os.environ.get("CC") or "cc"
    try:
        found = [
            subprocess.run(
                [*shlex.split(command), *arguments],
                input="",
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for arguments in (["--version"], ["-march=native", "-E", "-dM", "-x", "c", "-"])
        ]
    except (OSError, ValueError, subprocess.CalledProcessError):
        found = []
    if not found or "#define" not in found[-1]:
        raise NoCompilerError(f"no C compiler ({command}): install gcc, or set CC")
    return Compiler(command, "\n".join(found))
