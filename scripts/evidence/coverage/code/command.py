"""``make code-coverage``: lines, branches and toggles that the benches meet under Verilator.

Simulates what is missing or out of date in build/coverage/code (so what was cut short goes on where
it was), merges, and compares the holes with ``waivers.toml``. Writes into build/coverage: code.json
(rows: file, lines, lines_hit, branches, branches_hit, toggles, toggles_hit, excluded), code.info
(for lcov), code-waivers.json (what docs/code_coverage.md is made of besides). Exit status 1 if a
hole has no waiver, a waiver is wrong or a bench fails; 2, after one line, for bad input.
"""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from pymodel.app.options import OptionParser, whole
from pymodel.hardware.simulators import require_usable
from pymodel.runs.input_error import InputError
from scripts.evidence.coverage.code.points import BRANCH, LINE, TOGGLE, Place, merged, read
from scripts.evidence.coverage.code.runs import FOLDER, RUNS, Run
from scripts.evidence.coverage.code.waivers import FILE, Judged, Sources, judge, load
from scripts.evidence.coverage.functional import CoverageError
from scripts.kernel.campaign import bar, wide_console
from scripts.kernel.places import BUILD, ROOT

OUT = BUILD / "coverage"
ROWS, INFO, WAIVED = OUT / "code.json", OUT / "code.info", OUT / "code-waivers.json"
COLUMNS = {LINE: "lines", BRANCH: "branches", TOGGLE: "toggles"}
MOST_WORKERS = 64
QUIETLY = (signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a traceback
INDEX = re.compile(r"\[\d+\]")


def simulate(runs: Sequence[Run], workers: int, console: Console) -> list[str]:
    """Do the runs that are not done; what failed, in words."""
    left = [run for run in runs if not run.is_done()]
    failed = []
    with (
        multiprocessing.Pool(workers, signal.signal, QUIETLY) as pool,
        bar(console, "simulations", len(runs), len(runs) - len(left)) as shown,
    ):
        for number, (name, message) in enumerate(pool.imap_unordered(_do, left), 1):
            shown.advance()
            if not console.is_terminal:
                console.print(f"simulation {number} of {len(left)}: {name}", highlight=False)
            if message:
                failed.append(f"{name} failed: {message}")
    return failed


def _do(run: Run) -> tuple[str, str]:
    return run.name, run.do()


def merge(runs: Sequence[Run]) -> Counter[Place]:
    """The counts of all runs; writes code.info."""
    whole = FOLDER / "merged.data"
    files = [str(run.counts) for run in runs]
    for option, target in (("--write", whole), ("--write-info", INFO)):
        command = ["verilator_coverage", option, str(target), *files]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CoverageError(f"verilator_coverage: {(done.stderr or done.stdout).strip()}")
        files = [str(whole)]
    return merged(read(whole, ROOT))


def rows(counts: Counter[Place], judged: Judged) -> list[dict[str, Any]]:
    """The rows of code.json, one a file; what is waived counts as excluded only."""
    found: dict[str, dict[str, Any]] = {}
    for place in sorted(counts):
        names = [name for column in COLUMNS.values() for name in (column, f"{column}_hit")]
        zeros = {"file": place.file} | dict.fromkeys([*names, "excluded"], 0)
        row = found.setdefault(place.file, zeros)
        if place in judged.waived:
            row["excluded"] += 1
            continue
        row[COLUMNS[place.kind]] += 1
        row[f"{COLUMNS[place.kind]}_hit"] += counts[place] > 0
    return list(found.values())


def by_folder(some: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of files, summed by folder; ``file`` is the folder's name."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in some:
        folder = row["file"].rpartition("/")[0]
        found[folder].update({name: n for name, n in row.items() if name != "file"})
    return [{"file": folder, **counts} for folder, counts in found.items()]


def cells(row: dict[str, Any]) -> list[str]:
    """`rtl/fp`, `190 of 191`, ..., `12`."""
    kinds = (f"{row[f'{column}_hit']} of {row[column]}" for column in COLUMNS.values())
    return [row["file"], *kinds, str(row["excluded"])]


def hole_lines(holes: Sequence[Place], sources: Sources) -> list[str]:
    """Holes for the terminal: the bits of a signal in one line."""
    found: dict[str, list[str]] = defaultdict(list)
    for hole in holes:
        where = f"{hole.file}:{hole.line}: {hole.kind}"
        name = sources.name(hole)
        if hole.kind == TOGGLE:
            found[f"{where} {INDEX.sub('[]', name.partition(':')[0])}"].append(name)
        else:
            found[f"{where} {name}"] = []
    return [f"{where}{_bits(names)}" for where, names in found.items()]


def _bits(names: Sequence[str]) -> str:
    """`: [3] [4] [5] 0->1`, or nothing where a signal has no bits."""
    edges: dict[str, list[str]] = defaultdict(list)
    for name in names:
        bit, _, edge = name.partition(":")
        edges["".join(INDEX.findall(bit))].append(edge)
    words = [bit if len(some) == 2 else f"{bit} {some[0]}" for bit, some in edges.items()]
    return f": {', '.join(words)}" if any(words) else ""


def write(counts: Counter[Place], judged: Judged, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Write the JSON files; returns the rows of code.json."""
    found = rows(counts, judged)
    ROWS.write_text(json.dumps(found, indent=1) + "\n")
    places = Counter(judged.waived.values())
    about = {
        "waivers": [
            {
                "files": waiver.files,
                "group": waiver.group,
                "reason": waiver.reason,
                "places": places[waiver],
            }
            for waiver in sorted(places, key=lambda w: (w.files, w.group))
        ],
        "runs": {run.name: json.loads(run.about.read_text())["cpu_s"] for run in runs},
    }
    WAIVED.write_text(json.dumps(about, indent=1) + "\n")
    return found


def print_table(some: Sequence[dict[str, Any]], console: Console) -> None:
    """What was met, by folder."""
    table = Table(title="code coverage")
    table.add_column("folder")
    for name in (*COLUMNS.values(), "waived"):
        table.add_column(name, justify="right")
    for row in by_folder(some):
        table.add_row(*cells(row))
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(
        prog="scripts.evidence.coverage.code.command", description=__doc__.splitlines()[0]
    )
    workers = whole("WORKERS", 1, MOST_WORKERS)
    parser.add_argument("--workers", type=workers, default=os.cpu_count(), help="at the same time")
    console = wide_console()
    try:
        options = parser.parse_args(arguments)
        require_usable("verilator")
        waivers = load(FILE)
        failed = simulate(RUNS, options.workers, console)
        if failed:
            print("\n\n".join(failed))
            return 1
        counts = merge(RUNS)
        sources = Sources(ROOT, counts)
        judged = judge(counts, waivers, sources)
        found = write(counts, judged, RUNS)
    except (CoverageError, InputError) as error:
        print(f"code coverage: {error}", file=sys.stderr)
        return 2
    print_table(found, console)
    for text in hole_lines(judged.holes, sources):
        print(f"not met: {text}")
    for text in judged.wrong:
        print(f"wrong waiver: {text}")
    print(f"{len(judged.holes)} holes without a waiver, {len(judged.waived)} with one")
    for path in (ROWS, INFO, WAIVED):
        print(path.relative_to(ROOT))
    return 1 if judged.holes or judged.wrong else 0
