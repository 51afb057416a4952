"""Commands that are killed at random times, on a disk that is full now and then: what they leave.

Each attempt starts a run, a call or a sweep where an earlier attempt has left its files, and kills
it (SIGKILL) at a time that is drawn. In a fifth of them files cannot grow beyond a size that is
drawn, too. Then every file that a later command would take for a whole one must be whole: that of
one run, old or new, not of both.

    .venv/bin/python -m pymodel.tests.runs.kills --count 200 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pymodel.mechanism import urdf
from pymodel.runs import files, robot_calls
from pymodel.runs.sweep_files import read_table
from pymodel.runs.trajectory import TrajectoryError
from pymodel.tests.places import ROOT, SCENARIOS
from pymodel.tests.robots import ROBOTS

FULL = 0.2  # share of the attempts whose disk is full
END_S = 20.0  # how long workers may take to notice
PNG_END = b"IEND\xaeB`\x82"
PENDULUM, ARM = str(SCENARIOS / "double_pendulum.toml"), str(ROBOTS / "iiwa14.urdf")


class Kind:
    """A command with two variants, whose files must not mix.

    Parameters
    ----------
    folder
        Where it writes.
    """

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.whole: list[object] = []
        self.seconds, self.largest = 0.0, 0
        for variant in (0, 1):
            start = time.monotonic()
            subprocess.run(self.words(variant), cwd=ROOT, check=True, capture_output=True)
            self.seconds = max(self.seconds, time.monotonic() - start)
            self.whole.append(self.found())
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            self.largest = max(self.largest, *sizes)
            self.clear()

    def clear(self) -> None:
        """Remove what would keep the other variant out."""

    def words(self, variant: int) -> list[str]:
        """The command."""
        raise NotImplementedError

    def found(self) -> object:
        """What a later command would take for whole; None if there is nothing."""
        raise NotImplementedError


def pymodel(*words: str | Path) -> list[str]:
    """A command of the package."""
    return [sys.executable, "-m", "pymodel", *map(str, words)]


class Run(Kind):
    """Files of a run; they are compared without what they say of the machine."""

    name = "run"

    def words(self, variant: int) -> list[str]:
        """The command."""
        steps = ("60", "90")[variant]
        return pymodel("simulate", PENDULUM, "--steps", steps, "--forces", "--out", self.folder)

    def found(self) -> object:
        """What a later command would take for whole."""
        try:
            run, summary = files.read_run(self.folder), files.read_summary(self.folder)
        except TrajectoryError:
            return None
        assert run.t.size == summary["rows"]
        paths = sorted(self.folder.glob("[!.]*"))
        pictures = [path for path in paths if path.suffix == ".png"]
        assert all(path.read_bytes().endswith(PNG_END) for path in pictures), pictures
        others = {path.name: path.read_bytes() for path in paths if path.suffix != ".png"}
        return others, [path.name for path in pictures]


class Call(Kind):
    """The table of calls."""

    name = "call"

    def __init__(self, folder: Path) -> None:
        self.inputs = [folder.with_name(f"in{k}.csv") for k in (0, 1)]
        for seed, path in enumerate(self.inputs):
            robot_calls.write_table(
                path, robot_calls.random_states(urdf.load(ARM), "ID", 1500, seed)
            )
        super().__init__(folder)

    def words(self, variant: int) -> list[str]:
        """The command."""
        given, out = self.inputs[variant], self.folder / "out.csv"
        return pymodel("call", "ID", ARM, "--inputs", given, "--out", out)

    def found(self) -> object:
        """What a later command would take for whole."""
        path = self.folder / "out.csv"
        return path.read_bytes() if path.exists() else None


class Sweep(Kind):
    """A sweep's table, its description, and the rows that it has so far."""

    name = "sweep"

    def words(self, variant: int) -> list[str]:
        """The command."""
        vary, steps = "body[0].mass=1:2:60", ("8", "9")[variant]
        words = pymodel("sweep", PENDULUM, "--vary", vary, "--steps", steps, "--workers", "1")
        return [*words, "--out", str(self.folder / "a.csv")]

    def found(self) -> object:
        """What a later command would take for whole."""
        path = self.folder / "a.csv"
        if not path.exists():
            return None
        assert len(read_table(path)["index"]) == 60
        return path.read_bytes(), path.with_name("a.csv.json").read_bytes()

    def clear(self) -> None:
        """A sweep goes on until its table is there; the next one begins."""
        if (self.folder / "a.csv").exists():
            shutil.rmtree(self.folder)
            self.folder.mkdir()


def attempt(kind: Kind, variant: int, rng: random.Random) -> str:
    """Kill a command; how it ended."""
    limit = rng.randrange(kind.largest) if rng.random() < FULL else resource.RLIM_INFINITY
    after = rng.uniform(0.0, 1.1 * kind.seconds)

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = subprocess.Popen(
        kind.words(variant),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=full,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=after)
        ended = "done" if process.returncode == 0 else "refused"
        assert "Traceback" not in said and process.returncode in (0, 2), said
        if ended == "refused":
            assert limit != resource.RLIM_INFINITY, said
            assert "File too large" in said or "a file has" in said, said
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        ended = "killed"
    until = time.monotonic() + END_S
    while members(process.pid):
        assert time.monotonic() < until, "workers outlive their command"
        time.sleep(0.05)
    return ended if limit == resource.RLIM_INFINITY else f"{ended}, full disk"


def members(session: int) -> list[str]:
    """Processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().rpartition(")")
            state, _, _, own = rest.split()[:4]
            if state != "Z" and int(own) == session:
                found.append(name)
    return found


def campaign(count: int, seed: int, kinds: Sequence[type[Kind]] = (Run, Call, Sweep)) -> Counter:
    """Kill so many commands; how they ended, by kind.

    Raises
    ------
    AssertionError
        If a file that is not whole would be taken for one.
    """
    rng, ends = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        all_ = [kind(Path(folder) / kind.name) for kind in kinds]
        variants = dict.fromkeys((kind.name for kind in all_), 0)
        for _ in range(count):
            kind = rng.choice(all_)
            before, variant = kind.found(), variants[kind.name]
            ended = attempt(kind, variant, rng)
            ends[f"{kind.name}: {ended}"] += 1
            found = kind.found()
            assert found in (None, *kind.whole), f"{kind.name}: {ended}: not whole"
            assert found is not None or before is None or kind.name == "run", "the old one is gone"
            if kind.name != "sweep" or found is not None:
                variants[kind.name] = 1 - variant
            kind.clear()
        for kind in all_:  # whatever is left, the next command does its work
            variant = variants[kind.name]
            subprocess.run(kind.words(variant), cwd=ROOT, check=True, capture_output=True)
            assert kind.found() == kind.whole[variant], f"{kind.name}: the next is not whole"
    return ends


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for ended, number in sorted(campaign(options.count, options.seed).items()):
        print(f"{number:4d} {ended}")
    print("every file that a later command would take for a whole one is whole")


if __name__ == "__main__":
    main()
