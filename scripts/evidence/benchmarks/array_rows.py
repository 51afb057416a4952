"""Rows of array.json, what they are called in docs/array_results.md, and what they cost."""

from collections.abc import Mapping, Sequence
from typing import Any

NONE = "–"

Row = Mapping[str, Any]
Rows = Sequence[Row]


def shape_of(row: Row) -> str:
    """`4+4, C 8, V 2`."""
    lanes = f"{row['adders']}+{row['multipliers']}"
    return f"{lanes}, C {row['contexts']}, V {row['datapaths']}"
