"""What a test depends on: its files, and a digest of them."""

import functools
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pymodel.hardware.bench import Bench
from pymodel.hardware.on_bus import MASTERS
from pymodel.hardware.places import ROOT
from pymodel.hardware.rtl_files import needed, rtl_files
from pymodel.hardware.simulators import SIMULATORS, simulator_version, usable
from scripts.kernel.digest import bytes_digest, digest, file_digest, key_of, rtl_text

#: Tests of the model are below it, but for those of the bench kit, which may use any bench.
MODEL_TESTS, KIT_TESTS = "pymodel/tests/", "pymodel/tests/hardware/"
SETUP = ("pyproject.toml", "requirements.txt")
MODEL = (*SETUP, "pymodel", "robots", "scenarios", "sw")
#: Of every simulation besides its RTL.
BENCH = (*MODEL, "tb", "rtl/lint.vlt")
EVERYTHING = (".",)
#: The marker that adds places to those of a test of the model.
READS = "reads"
#: The marker that names the only top levels whose RTL another test depends on.
RTL_OF = "rtl_of"
RTL = "rtl"
LISTS = ("rtl/rtl.f", "rtl/hdca.f", "rtl/lint.vlt")  # of the RTL, for everybody
MADE = ("build", "sim_build", "__pycache__")  # what tools make is nobody's input
#: All other hidden names are of tools, too.
HIDDEN = (".ci", ".github", ".gitignore", ".pre-commit-config.yaml", ".rules.verible_lint")


def places_of(item: pytest.Function) -> tuple[str, ...]:
    """Files and folders that a test depends on, relative to the repository."""
    bench = bench_of(item)
    if bench is not None:
        return (*_beside(bench), *rtl_of(bench))
    if is_of_model(item.path.relative_to(ROOT).as_posix()):
        marks = item.iter_markers(READS)
        return (*MODEL, *(place for mark in marks for place in mark.args))
    marks = list(item.iter_markers(RTL_OF))
    if not marks:
        return EVERYTHING
    tops = sorted({top for mark in marks for top in mark.args})
    try:
        rtl = [file for top in tops for file in rtl_below(top)]
    except KeyError as error:
        raise pytest.UsageError(f"{item.path}, {RTL_OF}: {error.args[0]}") from None
    return (*_all_but_rtl(), *LISTS, *rtl)


def is_of_model(file: str) -> bool:
    """Whether a file of the repository has tests of the model, or a test is one, by its name."""
    return file.startswith(MODEL_TESTS) and not file.startswith(KIT_TESTS)


def bench_of(item: pytest.Function) -> Bench | None:
    """The bench whose simulation a test is; None of any other test."""
    return getattr(item.function, "bench", None)


def sources_of(bench: Bench) -> tuple[str, ...]:
    """All files that a bench's device is built from, in compile order."""
    return _needed(bench.device.toplevel, tuple(bench.device.sources))


def rtl_of(bench: Bench) -> tuple[str, ...]:
    """Those of the RTL."""
    return tuple(file for file in sources_of(bench) if file.startswith(f"{RTL}/"))


def _beside(bench: Bench) -> tuple[str, ...]:
    """What its simulations depend on besides the RTL."""
    others = (file for file in sources_of(bench) if not file.startswith(f"{RTL}/"))
    return (*BENCH, *(f"pymodel/hardware/{file}" for file in MASTERS), *others)


@functools.cache
def _all_but_rtl() -> tuple[str, ...]:
    names = (path.name for path in ROOT.iterdir() if path.name != RTL and not is_made(path))
    return tuple(sorted(names))


def rtl_below(top: str) -> tuple[str, ...]:
    """The RTL files that a top level of the repository is built from."""
    return _needed(top, tuple(ROOT / file for file in rtl_files()))


@functools.cache
def _needed(top: str, sources: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(file.relative_to(ROOT).as_posix() for file in needed(top, sources))


def is_input(path: Path, places: Iterable[str]) -> bool:
    """Whether a file or folder of the repository is one of these places, or in one of them."""
    return any(path.is_relative_to(ROOT / place) for place in places)


def is_made(path: Path) -> bool:
    """Whether a path below the repository's root is made by a tool, as hidden ones are."""
    return any(map(_is_made, path.relative_to(ROOT).parts))


def _is_made(name: str) -> bool:
    return name in MADE or (name.startswith(".") and name not in HIDDEN)


def digest_of(item: pytest.Function, seed: int | None) -> str:
    """Changes with the files that a test depends on, with the tools, and with the seed.

    That of a simulation does not change with comments and layout of its RTL; see
    :func:`digest_of_bench`.
    """
    bench = bench_of(item)
    return _digest(places_of(item), seed, False) if bench is None else digest_of_bench(bench, seed)


def digest_of_bench(bench: Bench, seed: int | None) -> str:
    """The digest of a bench's simulations: of all besides the RTL, and the RTL's key, two words.

    The key is that of :func:`scripts.kernel.digest.key_of`.
    """
    rest = digest(f"{_digest(_beside(bench), seed, True)}\n{rtl_text(bench.device.around())}")
    return f"{rest} {key_of(rtl_of(bench))}"


def rtl_digests(files: Iterable[str]) -> dict[str, str]:
    """Files of the RTL -> digests of what they hold."""
    return {file: file_digest(file) for file in files}


@functools.cache
def _digest(places: tuple[str, ...], seed: int | None, simulates: bool) -> str:
    files = sorted({file for place in places for file in _files(place)})
    words = [str(seed), *_tools()]
    for file in files:
        words += [file, file_digest(ROOT / file) if simulates else bytes_digest(ROOT / file)]
    return digest("\n".join(words))


@functools.cache
def _tools() -> list[str]:
    found = [simulator_version(name) for name in SIMULATORS if usable(name)]
    return [platform.python_version(), *found]


@functools.cache
def _files(place: str) -> list[str]:
    """Files in a folder of the repository, or the one file that it is."""
    if not (ROOT / place).exists():
        raise FileNotFoundError(f"a test depends on {place}, which is not there")
    return list(walk(place))


def walk(place: str) -> Iterator[str]:
    """Files in a folder of the repository, or the one file that it is; none of what is not there.

    Without what tools make.
    """
    if (ROOT / place).is_file():
        yield place
    root = f"{ROOT}{os.sep}"
    for folder, folders, files in os.walk(root if place == "." else f"{root}{place}"):
        folders[:] = [name for name in folders if not _is_made(name)]
        inside = os.path.join(folder, "").removeprefix(root)
        yield from (inside + name for name in files if not _is_made(name))
