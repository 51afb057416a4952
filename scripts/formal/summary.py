"""build/formal/summary.json: what every proof found, and with which sources."""

import json
from typing import Any

from scripts.formal.errors import FormalError
from scripts.formal.proof import Proof
from scripts.formal.proofs import PROOFS
from scripts.formal.sby import ENGINE, OUT, PROVED, Outcome, key
from scripts.places import ROOT

SUMMARY = ROOT / OUT / "summary.json"

Row = dict[str, Any]


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


def read_summary() -> dict[str, Row]:
    """Name of a proof -> its row, of all runs.

    Raises
    ------
    FormalError
        If the file is not a summary.
    """
    if not SUMMARY.exists():
        return {}
    try:
        return {row["name"]: row for row in json.loads(SUMMARY.read_text())}
    except (ValueError, KeyError, TypeError):
        raise FormalError(f"{SUMMARY} is not a summary: remove it") from None


def write_summary(rows: dict[str, Row]) -> None:
    """Write the rows of the proofs that there still are, in their order."""
    kept = [rows[proof.name] for proof in PROOFS if proof.name in rows]
    SUMMARY.parent.mkdir(parents=True, exist_ok=True)
    new = SUMMARY.with_suffix(".new")
    new.write_text(json.dumps(kept, indent=1) + "\n")
    new.replace(SUMMARY)


def is_current(proof: Proof, rows: dict[str, Row]) -> bool:
    """Whether a proof holds, and nothing that it was given has changed."""
    row = rows.get(proof.name)
    return row is not None and row["status"] == PROVED and row["key"] == key(proof)
