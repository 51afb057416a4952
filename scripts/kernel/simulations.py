"""What a regression consists of: one configuration of a bench, a simulator, a seed."""

import contextlib
import importlib
import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pymodel.arith.c_build import require_room
from pymodel.hardware.bench import MAX_SEED, Bench
from pymodel.hardware.rtl_files import needed
from pymodel.hardware.simulation import COVERAGE
from pymodel.hardware.simulators import simulator_version, usable
from pymodel.runs.input_error import InputError
from scripts.kernel.digest import key_of, rtl_text
from scripts.kernel.journal import Row
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.sources import sources_of

FOLDER = BUILD / "regress"
PLACE = "-regress"  # of its builds, apart from those of `make <bench>`
#: Files that benches read besides the RTL, the Python that they import, and BUILD_FILES.
MECHANISMS = ("scenarios/*.toml", "robots/*.urdf", "robots/*.xml")
DATA = ("sw/*", "pymodel/*/*.[ch]", "requirements.txt")
#: Of a bench's folder, what its simulations do not read.
NOT_READ = ("Makefile", "waves.toml")
#: What simulations are built with, besides all of KIT that is no Python.
BUILD_FILES = ("rtl/lint.vlt", "pymodel/hardware/once.py")
KIT = ("tb/common/*.*", "pymodel/hardware/*.*")
NO_WORKER = "its worker died each time: out of memory, or a crash below Python"


class Unit(NamedTuple):
    """A unit of work.

    Attributes
    ----------
    bench, config, simulator
        Names.
    seed
        Of the stimulus, and of configurations that are drawn.
    digest
        Of the sources that it is to run on.
    """

    bench: str
    config: str
    simulator: str
    seed: int
    digest: str

    @property
    def key(self) -> str:
        """Name of its row in the journal: all that its verdict depends on."""
        return f"{self.digest} {self.name}"

    @property
    def name(self) -> str:
        """It, in one word."""
        return f"{self.bench}-{self.config}-{self.simulator}-{self.seed}"

    @property
    def folder(self) -> Path:
        """Where it runs."""
        return FOLDER / self.bench / "runs" / f"{self.config}-{self.simulator}-{self.seed}"


class Found(NamedTuple):
    """How a unit ended.

    Attributes
    ----------
    row
        For the journal: the result row of its bench and ``key``.
    met
        Bins that it has met, see :func:`pymodel.hardware.results.add_coverage`.
    """

    row: Row
    met: str


def bench_names() -> list[str]:
    """All benches, by their folders."""
    return sorted(path.parent.name for path in (ROOT / "tb").glob("*/Makefile"))


def bench_named(name: str) -> Bench:
    """A bench."""
    return importlib.import_module(f"tb.{name}.bench").BENCH


def chosen_benches(names: Sequence[str]) -> list[Bench]:
    """Benches by name, all if there are no names.

    Raises
    ------
    InputError
        If there is no such bench.
    """
    known = bench_names()
    for name in names:
        if name not in known:
            raise InputError(f"BENCHES={name}: must be of {', '.join(known)}")
    return [bench_named(name) for name in dict.fromkeys(names or known)]


@cache
def _files(bench: str) -> list[Path]:
    return [*sources_of_bench(bench), *_matching(MECHANISMS)]


def sources_of_bench(bench: str, *modules: str) -> list[Path]:
    """Files that a bench's simulations consist of: RTL, bench, model; not the mechanisms.

    Parameters
    ----------
    bench
        Its name.
    modules
        Python that counts, too, with all that it imports.
    """
    device = bench_named(bench).device
    named = (bench_named(bench).module, *modules)
    python = sorted({ROOT / file for module in named for file in sources_of(module)})
    common = [path for path in _matching(KIT) if path.suffix != ".py"]
    built = [*common, *(ROOT / file for file in BUILD_FILES)]
    own = [
        path
        for path in _matching([f"tb/{bench}/*"])
        if path.suffix not in (".py", ".sv") and path.name not in NOT_READ
    ]
    return [*own, *needed(device.toplevel, device.sources), *built, *python, *_matching(DATA)]


def _matching(patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()]


@cache
def version_of(simulator: str) -> str:
    """The version of a simulator, asked for once; "none" if it is not there."""
    return simulator_version(simulator) if usable(simulator) else "none"


def digest_of(bench: str, simulator: str, *words: str) -> str:
    """Of what a verdict depends on: RTL, bench, model, data, the simulator, and the words."""
    around = rtl_text(bench_named(bench).device.around())
    return digest(_files(bench), version_of(simulator), around, *words)


def digest(files: Iterable[Path], *words: str) -> str:
    """Changes with what the files hold, and with the words."""
    return key_of(files, *words)[:16]


def first_seeds(seed: int, count: int) -> Iterable[int]:
    """Seeds in a row."""
    return range(seed, seed + count)


def new_seeds(base: int) -> Iterator[int]:
    """Seeds without an end, drawn from one."""
    rng = np.random.default_rng(base)
    while True:
        yield int(rng.integers(MAX_SEED + 1))


def units_of(
    benches: Sequence[Bench], simulators: Sequence[str], seeds: Iterable[int]
) -> Iterator[Unit]:
    """Every configuration of each seed, fixed or drawn from it, under every simulator it has."""
    digests = {(b.name, s): digest_of(b.name, s) for b in benches for s in simulators}
    for seed in seeds:
        for bench in benches:
            for config in bench.chosen(seed):
                for simulator in simulators:
                    if simulator in config.sims:
                        digest = digests[bench.name, simulator]
                        yield Unit(bench.name, config.name, simulator, seed, digest)


def simulated(unit: Unit, folder: Path, **options: Any) -> Row:
    """The result row of a unit, or of a part of it.

    Parameters
    ----------
    unit
    folder
        Where it runs.
    options
        Of :meth:`pymodel.hardware.bench.Bench.run`.

    Raises
    ------
    InputError
        If the sources are others than those that it is to run on.
    """
    if digest_of(unit.bench, unit.simulator) != unit.digest:
        raise InputError(f"sources of {unit.bench} have changed; the same command goes on")
    bench = bench_named(unit.bench)
    with contextlib.redirect_stderr(io.StringIO()):  # cocotb-test names what failed there
        return bench.run(
            unit.simulator, unit.config, seed=unit.seed, place=PLACE, folder=folder, **options
        )


def run_unit(unit: Unit) -> Found:
    """Run a unit; what it leaves in its folder stays only if it fails.

    Raises
    ------
    InputError
        If the sources are others than those that it is to run on.
    OSError
        If it fails where the disk is full: that is no verdict on the sources.
    """
    row = simulated(unit, unit.folder)
    if row["result"] != "pass":
        try:
            require_room(unit.folder, row["message"])
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(unit.folder)) from None
    for test in row["tests"]:
        test.pop("reached", None)  # long, and found again by who needs it
    met = unit.folder / COVERAGE
    text = met.read_text() if met.exists() else ""
    if row["result"] == "pass":
        shutil.rmtree(unit.folder)
    return Found(row | {"key": unit.key}, text)


def dead(unit: Unit) -> Found:
    """What stands for a unit whose workers died."""
    row = {"bench": unit.bench, "config": unit.config, "simulator": unit.simulator}
    row |= {"seed": unit.seed, "result": "fail", "tests": [], "problems": [NO_WORKER]}
    row |= {"message": NO_WORKER, "rerun": "", "wall_s": 0.0, "transactions": 0}
    return Found(row | {"key": unit.key}, "")
