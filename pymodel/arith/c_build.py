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
from functools import cache
from pathlib import Path

import platformdirs

from pymodel.arith.errors import Error

#: Folder of what was built, instead of the user's cache folder.
CACHE_VARIABLE = "PYMODEL_CACHE"


class NoCompilerError(Error, RuntimeError):
    """There is no C compiler, or not one that builds this."""


def shared_library(files: Mapping[str, str], options: Sequence[str]) -> Path:
    """Build a shared library, or find it built.

    Parameters
    ----------
    files : dict
        Name -> text; those that end in ``.c`` are compiled.
    options : sequence of str
        Of the compiler.

    Returns
    -------
    Path

    Raises
    ------
    NoCompilerError
        If it cannot be built.
    """
    content = [compiler().identity, *options, *(x for pair in files.items() for x in pair)]
    digest = hashlib.sha256("\0".join(content).encode()).hexdigest()
    path = cache_folder() / f"{digest[:32]}.so"
    if not path.exists():
        compiler().build(files, options, path)
    return path


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

    def build(self, files: Mapping[str, str], options: Sequence[str], path: Path) -> None:
        """Compile files into a shared library, all at once."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            said = f"{path.parent}: {error.strerror}; {CACHE_VARIABLE} names another folder"
            raise NoCompilerError(f"no folder for native code: {said}") from None
        with tempfile.TemporaryDirectory(prefix="pymodel-") as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text)
            sources = [name for name in files if name.endswith(".c")]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(lambda name: self._run(folder, *options, "-c", name), sources))
            objects = [str(Path(name).with_suffix(".o")) for name in sources]
            self._run(folder, "-shared", *objects, "-o", "kernel.so", "-lm")
            ours = path.with_suffix(f".{os.getpid()}")
            shutil.copy(Path(folder) / "kernel.so", ours)
            ours.replace(path)  # whoever else builds the same leaves the same

    def _run(self, folder: str, *arguments: str) -> None:
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
