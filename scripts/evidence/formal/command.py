"""`make formal`: proofs about the RTL, two at a time, and planted bugs that they must find.

A proof that held is not repeated until something that it is given has changed. Results go into
build/formal/summary.json. Exit status 1 if a proof fails or a planted bug is not found, 2 after
one line for bad input or a missing tool.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.markup import escape

from pymodel.app.options import OptionParser
from pymodel.arith.errors import Error
from pymodel.arith.fp import Format
from pymodel.runs.alone import alone_in
from scripts.evidence.formal import plants
from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.proof import Proof
from scripts.evidence.formal.proofs import chosen
from scripts.evidence.formal.sby import DISPROVED, OUT, PROVED, Outcome, end, run
from scripts.evidence.formal.summary import SUMMARY, is_current, row_of
from scripts.evidence.formal.waveform import show
from scripts.kernel.campaign import bar, in_threads, wide_console
from scripts.kernel.places import ROOT
from scripts.kernel.set_up import add_set_up, set_up

PARALLEL = 2


def run_all(names: Sequence[str], work: Sequence[Callable[[], Any]], console: Console) -> list[Any]:
    """Do all of the work, some at the same time, with a bar.

    Raises
    ------
    FormalError
        The first one of the work; what runs is finished. Ctrl-C ends it.
    """
    with bar(console, "proofs", len(work)) as shown:

        def one(name: str, do: Callable[[], Any]) -> Any:
            shown.name(name)
            done = do()
            shown.advance()
            return done

        pairs = zip(names, work, strict=True)
        return in_threads([partial(one, *pair) for pair in pairs], PARALLEL, end)


def explain(proof: Proof, outcome: Outcome) -> list[str]:
    """Lines on a proof that failed: properties, signals of the counterexample, waveform."""
    again = f'make formal UNITS="{proof.unit}"'
    if outcome.status != DISPROVED:
        why = f"does not follow: {', '.join(outcome.failed)}" if outcome.failed else "no time left"
        waves = f"; waveform of the induction: {outcome.trace}" if outcome.trace else ""
        return [f"{proof.name}: {outcome.status}, {why}{waves}; again: {again}"]
    lines = [
        f"{proof.name}: {', '.join(outcome.failed)} fails in step {outcome.step}; "
        f"waveform: {outcome.trace}; again: {again}"
    ]
    if outcome.trace and outcome.step is not None:
        values = proof.values
        fmt = Format(values.get("EXP_W", 4), values.get("MAN_W", 2)) if proof.floats else None
        signals = show(ROOT / outcome.trace, outcome.step, proof.floats, fmt)
        lines += [f"    {signal}" for signal in signals]
    return lines


def prove(proofs: Sequence[Proof], again: bool, console: Console) -> int:
    """Run proofs; the exit status.

    Raises
    ------
    FormalError
        If a tool is missing or cannot read what it is given.
    """
    rows = SUMMARY.read()
    todo = [proof for proof in proofs if again or not is_current(proof, rows)]
    console.print(f"{len(todo)} proofs to run, {len(proofs) - len(todo)} at hand")

    def one(proof: Proof) -> Outcome:
        outcome = run(proof)
        SUMMARY.replace(proof.name, row_of(proof, outcome))
        if not console.is_terminal:
            text = f"  {proof.name}: {outcome.status}, {outcome.seconds} s"
            console.print(text, highlight=False)
        return outcome

    work = [lambda proof=proof: one(proof) for proof in todo]
    outcomes = run_all([proof.name for proof in todo], work, console)
    failed = [
        (proof, outcome)
        for proof, outcome in zip(todo, outcomes, strict=True)
        if outcome.status != PROVED
    ]
    for proof, outcome in failed:
        for line in explain(proof, outcome):
            console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(f"{len(proofs) - len(failed)} of {len(proofs)} proofs hold ({OUT}/summary.json)")
    return 1 if failed else 0


def plant(units: Sequence[str], console: Console) -> int:
    """Plant bugs; the exit status.

    Raises
    ------
    FormalError
        As for `prove`, or if a plant does not fit.
    """
    todo = plants.read_plants(units)
    names = [f"{one.number}: {one.property} in {one.proof}" for one in todo]

    def one(bug: plants.Plant) -> bool:
        proof, outcome = plants.check(bug)
        found = plants.is_found(bug, outcome)
        said = f"fails in step {outcome.step}" if found else f"MISSED ({outcome.status})"
        text = f"  plant {bug.number}, {bug.file}: {bug.property} of {proof.name} {said}"
        console.print(escape(f"{text}, {outcome.seconds} s"), highlight=False, soft_wrap=True)
        return found

    found = sum(run_all(names, [lambda bug=bug: one(bug) for bug in todo], console))
    console.print(f"{found} of {len(todo)} planted bugs are found")
    return 0 if found == len(todo) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(
        prog="scripts.evidence.formal.command", description=__doc__.splitlines()[0]
    )
    parser.add_argument("units", nargs="*", help="modules (default: all that have proofs)")
    parser.add_argument("--fast", action="store_true", help="only what CI runs")
    parser.add_argument("--plant", action="store_true", help="plant bugs instead")
    parser.add_argument("--again", action="store_true", help="prove what is at hand, too")
    add_set_up(parser)
    console = wide_console()
    try:
        options = parser.parse_args(arguments)
        if options.plant and (options.fast or options.again):
            raise FormalError("PLANT goes with UNITS only")
        proofs = chosen(options.units, options.fast)
        set_up(options.set_up)
        with alone_in(ROOT / OUT):
            if options.plant:
                return plant(options.units, console)
            return prove(proofs, options.again, console)
    except Error as error:
        print(f"formal: {error}", file=sys.stderr)
        return 2
