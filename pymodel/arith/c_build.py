"""C built by the machine's compiler into shared libraries, which are kept by their content."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
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


class NoCompilerError(Error, RuntimeError):
    """There is no C compiler, not one that builds this, or no folder to build it in."""


def shared_library(
    files: Mapping[str, str],
    options: Sequence[str],
    common: Mapping[str, str] = MappingProxyType({}),
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

    Returns
    -------
    Path

    Raises
    ------
    NoCompilerError
        If it cannot be built.
    """
    path = cache_folder() / f"{_digest(options, files, common)}.so"
    if not _whole(path):
        compiler().build(files, options, path, common)
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
    ) -> None:
        """Compile files into a shared library, all at once."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _sweep(path.parent)
            # Beside what is kept, so that it only needs another name there when it is whole.
            folder = partial(tempfile.TemporaryDirectory, prefix=BUILDING, dir=path.parent)
            with folder() as own, folder() as shared:
                self._build(Path(own), Path(shared), files, options, path, common)
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
    ) -> None:
        kept = _digest(options, common)  # names of objects begin with it
        for place, some in ((own, files), (shared, common)):
            for name, text in some.items():
                (place / name).write_text(text)

        def compiled(source: Path) -> Path:
            made = source.with_suffix(".o")
            found = path.with_name(f"{kept}.{made.name}")
            if source.parent == own or not _whole(found):
                self._run(made, *options, "-I", str(shared), "-c", source.name)
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
        """Let the compiler make a file, in its folder."""
        done = subprocess.run(
            [*shlex.split(self.command), *arguments, "-o", made.name],
            cwd=made.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stderr.splitlines()
        if done.returncode:
            reason = ([line for line in lines if "error" in line] or lines or ["failed"])[0]
        elif not made.exists():
            reason = "it makes no file"
        else:
            return
        raise NoCompilerError(f"{self.command} cannot build native code: {reason}")


#: The last bytes of what is kept, which linkers and loaders never read: a file that was cut has
#: lost them, and loading it could end the process.
_END = b"\nwhole\n"


def _whole(path: Path) -> bool:
    """Whether a file is kept, with all its bytes."""
    try:
        with path.open("rb") as file:
            file.seek(-len(_END), os.SEEK_END)
            return file.read() == _END
    except OSError:  # there is none, or it is shorter
        return False


def _sweep(folder: Path) -> None:
    """Remove what builds that were killed have left."""
    now = time.time()
    for left in folder.glob(f"{BUILDING}*"):
        with suppress(OSError):  # another process does the same
            if now - left.stat().st_mtime > LONGEST_BUILD_S:
                shutil.rmtree(left)


def _moved(made: Path, path: Path) -> None:
    """Move a file to where others may look for it: whoever else makes the same leaves the same."""
    with made.open("ab") as file:
        file.write(_END)
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
