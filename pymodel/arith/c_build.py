"""C built by the machine's compiler into shared libraries, which are kept by their content."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

import platformdirs

from pymodel.arith.errors import Error

#: Folder of what was built, instead of the user's cache folder.
CACHE_VARIABLE = "PYMODEL_CACHE"


class NoCompilerError(Error, RuntimeError):
    """There is no C compiler, or not one that builds this."""


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
    if not path.exists():
        compiler().build(files, options, path, common)
    return path


def _digest(options: Sequence[str], *files: Mapping[str, str]) -> str:
    texts = [word for some in files for pair in some.items() for word in pair]
    content = [compiler().identity, *options, *texts]
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:32]


def cache_folder() -> Path:
    """Where libraries are kept: ``$PYMODEL_CACHE``, or the user's cache folder."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else Path(platformdirs.user_cache_dir("pymodel")) / "native"


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
        except OSError as error:
            said = f"{path.parent}: {error.strerror}; {CACHE_VARIABLE} names another folder"
            raise NoCompilerError(f"no folder for native code: {said}") from None
        kept = _digest(options, common)  # names of objects begin with it
        folder = partial(tempfile.TemporaryDirectory, prefix="pymodel-")
        with folder() as own_name, folder() as shared_name:
            own, shared = Path(own_name), Path(shared_name)
            for place, some in ((own, files), (shared, common)):
                for name, text in some.items():
                    (place / name).write_text(text)

            def compiled(source: Path) -> Path:
                found = source.with_suffix(".o")
                if source.parent == shared:
                    found = path.with_name(f"{kept}.{source.stem}.o")
                if not found.exists():
                    made = source.with_suffix(".made")
                    words = [*options, "-I", str(shared), "-c", source.name, "-o", str(made)]
                    self._run(source.parent, *words)
                    _moved(made, found)
                return found

            sources = [*own.glob("*.c"), *shared.glob("*.c")]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = list(pool.map(compiled, sources))
            self._run(own, "-shared", *map(str, objects), "-o", "kernel.so", "-lm")
            _moved(own / "kernel.so", path)

    def _run(self, folder: Path, *arguments: str) -> None:
        done = subprocess.run(
            [*shlex.split(self.command), *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            reason = (errors or done.stderr.splitlines() or ["failed"])[0]
            raise NoCompilerError(f"{self.command} cannot build native code: {reason}")


def _moved(made: Path, path: Path) -> None:
    """Move a file to where others may look for it: whoever else makes the same leaves the same."""
    ours = path.with_name(f"{path.name}.{os.getpid()}")
    shutil.copy(made, ours)
    ours.replace(path)


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
        raise NoCompilerError(f"no C compiler ({command}): install gcc, or set CC") from None
    return Compiler(command, "\n".join(found))
