"""Commands that are killed at random times, on a disk that is full now and then: what they leave.

Each attempt starts a run, calls, a sweep or a regression where an earlier attempt has left its
files, and kills it (SIGKILL) at a time that is drawn, or, each second one, at a change of its files
that is. In a fifth of them files cannot grow beyond a size that is drawn, too. Then every file that
a later command would take for a whole one must be whole: that of one variant of the command, not of
both.

    .venv/bin/python -m pymodel.tests.runs.kills --count 200 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pymodel.mechanism import urdf
from pymodel.runs import files, robot_calls
from pymodel.runs.sweep_files import read_table
from pymodel.runs.trajectory import TrajectoryError
from pymodel.tests.places import ROOT, SCENARIOS
from pymodel.tests.processes import session_members
from pymodel.tests.robots import ROBOTS

LOOK_S = 0.001  # between two looks at files
FULL = 5  # attempts, of which the disk is full in one
END_S = 20.0  # how long workers may take to notice
PNG_END = b"IEND\xaeB`\x82"
PENDULUM, ARM = str(SCENARIOS / "double_pendulum.toml"), str(ROBOTS / "iiwa14.urdf")


class Kind:
    """A command with two variants, whose files must not mix.

    Parameters
    ----------
    folder
        Where it writes.

    Attributes
    ----------
    whole
        What each variant leaves.
    seconds
        That a variant takes at most.
    changes
        Of its files, that are seen.
    largest
        Size of the largest file that one writes, bytes.
    """

    name = ""
    keeps_old = True  # until the new one takes its place
    goes_on = False  # where it was killed, with the same variant
    said_of_full_disk = r"File too large|a file has"
    refused = (2,)  # exit statuses where the disk is full

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.whole: list[object] = []
        self.seconds, self.changes, self.largest = 0.0, 1, 0
        for variant in (0, 1):
            start = time.monotonic()
            self.done(variant)
            self.seconds = max(self.seconds, time.monotonic() - start)
            self.whole.append(self.found())
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            self.largest = max(self.largest, *sizes)
            self.clear()
        assert None not in self.whole and self.whole[0] != self.whole[1], self.name

    def done(self, variant: int) -> None:
        """Run the command, undisturbed."""
        process = self.start(variant)
        self.changes = max(self.changes, self.followed(process))
        _, said = process.communicate()
        assert process.returncode == 0, said

    def start(self, variant: int, limit: int = resource.RLIM_INFINITY) -> subprocess.Popen[str]:
        """Start the command, whose files must not grow beyond a limit."""
        return subprocess.Popen(
            self.words(variant),
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            start_new_session=True,
        )

    def followed(
        self, process: subprocess.Popen[str], changes: float = math.inf, seconds: float = math.inf
    ) -> int:
        """Wait for the end, for changes of files, or for a time; how many changes were seen."""
        until, before, seen = time.monotonic() + seconds, self._sizes(), 0
        while process.poll() is None and seen < changes and time.monotonic() < until:
            time.sleep(LOOK_S)
            now = self._sizes()
            seen += now != before
            before = now
        return seen

    def _sizes(self) -> dict[str, int]:
        """Of the files, by their paths."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for path in (os.path.join(folder, name) for name in names):
                with contextlib.suppress(OSError):  # it is gone meanwhile
                    found[path] = os.path.getsize(path)
        return found

    def clear(self, killed: bool = False) -> None:
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
    keeps_old = False  # where it is killed as files are renamed the next command completes them

    def words(self, variant: int) -> list[str]:
        """The command."""
        steps = ("60", "90")[variant]
        return pymodel("run", PENDULUM, "--steps", steps, "--forces", "--out", self.folder)

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
    """The table of calls, and the cache of native code that they run as."""

    name = "call"
    said_of_full_disk = r"File too large|file size|a file has"

    def __init__(self, folder: Path) -> None:
        self.inputs = [folder.with_name(f"in{k}.csv") for k in (0, 1)]
        for seed, path in enumerate(self.inputs):
            robot_calls.write_table(
                path, robot_calls.random_states(urdf.load(ARM), "ID", 1500, seed)
            )
        super().__init__(folder)

    def words(self, variant: int) -> list[str]:
        """The command."""
        self.environment["PYMODEL_CACHE"] = str(self.folder / "cache")
        given, out = self.inputs[variant], self.folder / "out.csv"
        return pymodel("call", "ID", ARM, "--inputs", given, "--out", out, "--target", "native")

    def found(self) -> object:
        """What a later command would take for whole."""
        path = self.folder / "out.csv"
        return path.read_bytes() if path.exists() else None

    def clear(self, killed: bool = False) -> None:
        """Build again, unless there is what a kill has left."""
        if not killed:
            shutil.rmtree(self.folder / "cache", ignore_errors=True)


class Sweep(Kind):
    """A sweep's table, its description, and the rows that it has so far."""

    name = "sweep"
    goes_on = True

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

    def clear(self, killed: bool = False) -> None:
        """A sweep goes on until its table is there; the next one begins."""
        if (self.folder / "a.csv").exists():
            shutil.rmtree(self.folder)
            self.folder.mkdir()


#: A regression whose files are all in a folder: verdicts, builds, what a unit leaves.
REGRESS = """
import sys
from pathlib import Path
from pymodel.hardware import simulation
from scripts.dev.regress import command, regression
from scripts.kernel import simulations
folder = Path(sys.argv[1])
command.FOLDER = regression.FOLDER = simulations.FOLDER = folder
command.JUNIT, command.COVERED = folder / "junit.xml", folder / "coverage.json"
simulation.BUILD = folder / "build"
if __name__ == "__main__":  # workers import it, too
    sys.exit(command.main(sys.argv[2:]))
"""


class Regress(Kind):
    """Verdicts of a regression, and what it reports of them."""

    name = "regress"
    keeps_old, goes_on = False, True
    refused = (1, 2)  # units fail, too
    said_of_full_disk = ""

    def __init__(self, folder: Path) -> None:
        self.program = folder.with_name("regression.py")
        self.program.write_text(REGRESS)
        super().__init__(folder)

    def words(self, variant: int) -> list[str]:
        """The command."""
        words = ["fp_recip_stream", "--sim", "icarus", "--workers", "1", "--seed", str(variant + 1)]
        return [sys.executable, str(self.program), str(self.folder), *words]

    def found(self) -> object:
        """What a later command would take for whole."""
        journal = self.folder / "fp_recip_stream" / "journal.jsonl"
        for line in journal.read_text().split("\n")[:-1] if journal.exists() else []:
            row = json.loads(line) if line.endswith("}") else {"result": "pass"}
            assert row["result"] == "pass", f"a verdict of a full disk: {row}"
        for name in ("coverage.json", "junit.xml"):
            if not (self.folder / name).exists():
                return None
        covered = json.loads((self.folder / "coverage.json").read_text())
        cases = ET.parse(self.folder / "junit.xml").iter("testcase")
        tests = [(x.get("classname"), x.get("name"), x.find("failure") is None) for x in cases]
        return (covered, tests) if all(passed for *_, passed in tests) else None

    def clear(self, killed: bool = False) -> None:
        """Begin again where all units of a variant have a verdict."""
        if self.found() in self.whole:
            shutil.rmtree(self.folder)
            self.folder.mkdir()


def attempt(kind: Kind, variant: int, rng: random.Random, number: int) -> str:
    """Kill a command, whose disk may be full; how it ended."""
    full = number % FULL == FULL - 1
    limit = rng.randrange(kind.largest) if full else resource.RLIM_INFINITY
    process = kind.start(variant, limit)
    if number % 2:
        kind.followed(process, changes=rng.randint(1, kind.changes))
    else:
        kind.followed(process, seconds=rng.uniform(0.0, 1.1 * kind.seconds))
    process.kill()
    _, said = process.communicate()
    ended = {0: "done", -signal.SIGKILL: "killed"}.get(process.returncode, "refused")
    assert "Traceback" not in said, said
    if ended == "refused":
        assert full and process.returncode in kind.refused, said
        assert re.search(kind.said_of_full_disk, said), said
    until = time.monotonic() + END_S
    while session_members(process.pid):
        assert time.monotonic() < until, "workers outlive their command"
        time.sleep(0.05)
    return f"{ended}, full disk" if full else ended


def campaign(count: int, seed: int, kinds: Sequence[type[Kind]]) -> Counter[str]:
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
        for number in range(count):
            kind = rng.choice(all_)
            before, variant = kind.found(), variants[kind.name]
            ended = attempt(kind, variant, rng, number)
            ends[f"{kind.name}: {ended}"] += 1
            found = kind.found()
            assert found in (None, *kind.whole), f"{kind.name}: {ended}: not whole"
            assert found is not None or before is None or not kind.keeps_old, "the old one is gone"
            if kind.goes_on and found is None:
                continue
            variants[kind.name] = 1 - variant
            kind.clear("done" not in ended)
        for kind in all_:  # whatever is left, the next command does its work
            variant = variants[kind.name]
            kind.done(variant)
            assert kind.found() == kind.whole[variant], f"{kind.name}: the next is not whole"
    return ends


KINDS = {kind.name: kind for kind in (Run, Call, Sweep, Regress)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    kinds = [KINDS[name] for name in options.kinds]
    for ended, number in sorted(campaign(options.count, options.seed, kinds).items()):
        print(f"{number:4d} {ended}")
    print("every file that a later command would take for a whole one is whole")


if __name__ == "__main__":
    main()
