"""Simulations whose result carries over to changed RTL, as that behaves as before.

Each module that has changed is proved to behave as it did when the simulation passed
(:mod:`scripts.equivalence`), with the parameters that it has there. The benches nearest to a file
that has changed run all the same, and begin first.
"""

import json
import os
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.benches import all_benches
from scripts.changed.inputs import RTL, digest_of_bench, rtl_of, rtl_texts, sources_of
from scripts.changed.kept import Kept
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.proof import EQUAL, Proof, prove
from scripts.equivalence.proofs import proofs_of
from tb.common.bench import Bench
from tb.common.places import ROOT

NEAR = "near"  # of the answer: names of benches
TOGETHER = 8  # proofs of one process, as its start takes longer than most of them
MOST_FAILED = 10  # proofs: then most of the others would, too
PROGRESS_S = 10  # between two lines about it
MOST = 600  # proofs: simulating takes less time than more of them


@dataclass(frozen=True)
class Case:
    """A simulation that passed with other RTL.

    Attributes
    ----------
    test : str
        Pytest's name of it.
    bench : Bench
    simulator, config : str
    before : str
        The digest that it passed with.
    now : str
        Today's.
    """

    test: str
    bench: Bench
    simulator: str
    config: str
    before: str
    now: str

    def versions(self, kept: Kept) -> list[dict[str, Path] | None]:
        """Where the RTL of either digest is kept: file -> place."""
        return [kept.places(digest.split()[1]) for digest in (self.before, self.now)]


def cases(known: Mapping[str, str], benches: Iterable[Bench], seed: int | None) -> list[Case]:
    """The simulations that passed, of which nothing but the RTL has changed.

    Parameters
    ----------
    known : mapping
        Test -> the digest that it passed with.
    benches : iterable of Bench
        All benches.
    seed : int or None
        The session's.
    """
    found = []
    for bench in benches:
        now = digest_of_bench(bench, seed)
        for test, before in known.items():
            form = rf"tb/{bench.name}/test_{bench.name}\.py::\w+\[([a-z]+)-(.+)\]"
            case = re.fullmatch(form, test)
            if case and before != now and before.split()[0] == now.split()[0]:
                found.append(Case(test, bench, *case.groups(), before, now))
    return found


def nearest(file: str, benches: Iterable[Bench]) -> list[Bench]:
    """The benches nearest to a file of the RTL: named after it, or of the fewest files with it.

    Of those, the ones that are named after what they test.
    """

    def distance(bench: Bench) -> tuple[bool, int, bool]:
        other = bench.name != bench.device.toplevel
        return bench.name != Path(file).stem, len(sources_of(bench)), other

    having = [bench for bench in benches if file in rtl_of(bench)]
    least = min(map(distance, having), default=None)
    return [bench for bench in having if distance(bench) == least]


def carried(
    todo: Iterable[Case], kept: Kept, near: Container[Bench], say: Callable[[str], None]
) -> dict[str, list[str]]:
    """The simulations that need not run: test -> the digest that it passed with, and today's.

    Parameters
    ----------
    todo : iterable of Case
        Those that would have to run.
    kept : Kept
        The RTL that they passed with, and today's.
    near : container of Bench
        Benches that run in any case.
    say : callable
        Told what is done, and what comes of it, a line at a time.
    """
    found: dict[Case, set[Proof]] = {}
    reasons: dict[str, set[str]] = defaultdict(set)  # why nothing is shown -> of what
    for case in todo:
        before, now = case.versions(kept)
        if before is None or now is None or case.bench in near:
            continue
        try:
            found[case] = _proofs(case, before, now)
        except EquivalenceError as error:
            reasons[str(error)].add(case.bench.name)
    proofs = sorted(set().union(*found.values()), key=str)
    if len(proofs) > MOST:
        say(f"it would take {len(proofs)} proofs: too many")
        return {}
    if proofs:
        say(f"trying {len(proofs)} proofs that the RTL behaves as when its simulations passed")
    try:
        answers = _answers(proofs, say)
    except EquivalenceError as error:
        say(f"not shown, {error}")
        return {}
    for proof, answer in answers.items():
        if answer != EQUAL:
            reasons[answer].add(str(proof))
    for reason, names in reasons.items():
        first, *others = sorted(names)
        more = f" and {len(others)} more" if others else ""
        say(f"not shown, {reason}: {first}{more}")
    if len(answers) < len(proofs):
        say(f"{len(proofs) - len(answers)} proofs left out, as {MOST_FAILED} did not hold")
    equal = {
        case.test: [case.before, case.now]
        for case, needed in found.items()
        if all(answers.get(proof) == EQUAL for proof in needed)
    }
    if equal:
        say(f"{len(equal)} simulations need not run again: their RTL behaves as before")
    return equal


def nearest_to_changes(todo: Iterable[Case], kept: Kept, benches: Sequence[Bench]) -> list[Bench]:
    """The benches nearest to any of the files that have changed, where the old ones are kept."""
    changed = set()
    for case in todo:
        before, now = case.versions(kept)
        if before is not None and now is not None:
            changed |= {file for file in now if before.get(file) != now[file]}
    near = [bench for file in changed for bench in nearest(file, benches)]
    return [bench for bench in benches if bench in near]


def _proofs(case: Case, before: Mapping[str, Path], now: Mapping[str, Path]) -> set[Proof]:
    """What has to be proved for a simulation.

    Raises
    ------
    EquivalenceError
        If nothing can be, or the module around the device would be another one.
    """
    if list(before) != list(now):
        raise EquivalenceError("it is made of other files")
    device, sources = case.bench.device, sources_of(case.bench)
    versions = [
        tuple(files[file] if file.startswith(f"{RTL}/") else ROOT / file for file in sources)
        for files in (before, now)
    ]
    if len({replace(device, sources=files).around() for files in versions}) > 1:
        raise EquivalenceError("its ports are written otherwise")
    params = case.bench.task(case.config, case.simulator, 0).params
    return proofs_of(device.toplevel, params, *versions, device.public)


def _answers(proofs: Sequence[Proof], say: Callable[[str], None]) -> dict[Proof, str]:
    """Proofs -> what came of them, until so many do not hold that little would be spared."""
    answers: dict[Proof, str] = {}
    ended, lock, said = threading.Event(), threading.Lock(), time.monotonic()

    def some(chosen: Sequence[Proof]) -> None:
        nonlocal said
        if ended.is_set():
            return
        try:
            found = prove(chosen)
        except BaseException:
            ended.set()
            raise
        with lock:
            answers.update(found)
            if sum(answer != EQUAL for answer in answers.values()) >= MOST_FAILED:
                ended.set()
            if time.monotonic() - said > PROGRESS_S:
                said = time.monotonic()
                say(f"{len(answers)} of {len(proofs)}")

    parts = [proofs[first : first + TOGETHER] for first in range(0, len(proofs), TOGETHER)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            list(pool.map(some, parts))
        finally:
            ended.set()
    return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """The command that the plugin runs: what has passed, the seed, and the file for the answer.

    It is a process of its own because of pyslang, which at the end of pytest's complains of what is
    left over.
    """
    passed, seed, answer = arguments or sys.argv[1:]
    known = json.loads(Path(passed).read_text())
    kept, benches = Kept(Path(passed).with_name(RTL)), all_benches()
    for bench in benches:
        kept.keep(rtl_texts(rtl_of(bench)))
    todo = cases(known, benches, int(seed) if seed else None)
    near = nearest_to_changes(todo, kept, benches)
    equal = carried(todo, kept, near, lambda line: print(f"changed: {line}", flush=True))
    names = [bench.name for bench in near]
    Path(answer).write_text(json.dumps({EQUAL: equal, NEAR: names}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
