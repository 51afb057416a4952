"""build/formal/summary.json: what every proof found, and with which sources."""

from operator import itemgetter

from scripts.evidence.formal.proof import Proof
from scripts.evidence.formal.proofs import PROOFS
from scripts.evidence.formal.sby import ENGINE, OUT, PROVED, Outcome, key
from scripts.kernel.journal import Row, Summary
from scripts.kernel.places import ROOT

SUMMARY = Summary(ROOT / OUT / "summary.json", [proof.name for proof in PROOFS], itemgetter("name"))


def row_of(proof: Proof, outcome: Outcome) -> Row:
    """What is kept of a proof."""
    return {
        "name": proof.name,
        "unit": proof.unit,
        "parameters": proof.values,
        "mode": proof.mode,
        "depth": proof.depth,
        "engine": ENGINE,
        "boxes": list(proof.boxes),
        "status": outcome.status,
        "seconds": outcome.seconds,
        "failed": list(outcome.failed),
        "step": outcome.step,
        "trace": outcome.trace,
        "key": key(proof),
    }


def is_current(proof: Proof, rows: dict[str, Row]) -> bool:
    """Whether a proof holds, and nothing that it was given has changed."""
    row = rows.get(proof.name)
    return row is not None and row["status"] == PROVED and row["key"] == key(proof)
