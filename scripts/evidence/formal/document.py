"""Write docs/formal.md from what `make formal` left in build/formal.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.plants import read_plants
from scripts.evidence.formal.proof import Proof
from scripts.evidence.formal.proofs import PROOFS
from scripts.evidence.formal.sby import ENGINE
from scripts.evidence.formal.summary import SUMMARY, is_current
from scripts.kernel.documents import table, write_document
from scripts.kernel.journal import Row
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "formal.md"
PAGE = Path(__file__).with_name("formal.md.jinja")
COMMAND = "make formal-results"


def measured() -> dict[str, Row]:
    """Name of a proof -> its row, of all proofs.

    Raises
    ------
    FormalError
        If one did not run on these sources, or does not hold.
    """
    rows = SUMMARY.read()
    for proof in PROOFS:
        if not is_current(proof, rows):
            raise FormalError(f"{proof.name} was not proved on these sources: run `make formal`")
    return rows


def proofs_table(proofs: Iterable[Proof], rows: dict[str, Row]) -> str:
    """Proofs with their times, those of a unit that differ in register stages in one row."""
    groups: dict[tuple, list[Proof]] = {}
    for proof in proofs:
        others = tuple((name, value) for name, value in proof.values.items() if name != "STAGES")
        groups.setdefault((proof.unit, proof.harness, others), []).append(proof)
    cells = []
    for (unit, harness, others), group in groups.items():
        stages = [proof.values["STAGES"] for proof in group if "STAGES" in proof.values]
        shown = [f"{name}={value}" for name, value in others]
        if stages:
            shown.append(
                f"STAGES={stages[0]}..{stages[-1]}" if stages[1:] else f"STAGES={stages[0]}"
            )
        seconds = sum(rows[proof.name]["seconds"] for proof in group)
        reach = group[-1].reach
        in_ci = sum(proof.fast for proof in group)
        cells.append((unit, harness, " ".join(shown), reach, len(group), in_ci, f"{seconds:.0f}"))
    head = ("module", "harness", "parameters", "holds for", "proofs", "in CI", "s")
    return table(head, cells, numbers=False)


def document(rows: dict[str, Row]) -> str:
    """The text."""
    total = sum(rows[proof.name]["seconds"] for proof in PROOFS)
    fast = [proof for proof in PROOFS if proof.fast]
    fast_s = sum(rows[proof.name]["seconds"] for proof in fast)
    plants = read_plants()
    adder, others = (_formats(unit, True) for unit in ("fp_add", "fp_mul"))
    more = _formats("fp_add", False)
    return render(
        PAGE,
        command=COMMAND,
        engine=ENGINE,
        adder_formats=adder,
        other_formats=others,
        more_formats=more,
        plants=len(plants),
        proofs=len(PROOFS),
        minutes=f"{total / 60:.0f}",
        fast_proofs=len(fast),
        fast_minutes=f"{fast_s / 60:.0f}",
        proofs_table=proofs_table(PROOFS, rows),
    )


def _formats(unit: str, deep: bool) -> str:
    """Formats in which a unit is compared with the specification: at every depth, or at none."""
    depths = Counter(
        (proof.values["EXP_W"], proof.values["MAN_W"])
        for proof in PROOFS
        if proof.unit == unit and "COMBINATIONAL" not in proof.values
    )
    forms = (form for form, count in depths.items() if (count > 1) == deep)
    return " and ".join(f"{exp_w}/{man_w}" for exp_w, man_w in forms)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, lambda: document(measured()), arguments)
