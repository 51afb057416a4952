"""Rows of build/synth/summary.json, one a measurement: dicts with the keys of `measure.measure`."""

from typing import Any

from scripts.evidence.cost.float_formats import BINARY32
from scripts.evidence.cost.job import Key

Row = dict[str, Any]


def key_of(row: Row) -> Key:
    """The key of the row's job."""
    return row["unit"], row["config"], row["stages"], row["family"]


def mode_and_variant(row: Row) -> tuple[str, list[str]]:
    """What a row of a unit was optimised for, and what else its config says."""
    mode, *variant = row["config"].split(", ")
    return mode, variant


def in_binary32(row: Row) -> bool:
    """Whether the row's format is binary32."""
    return row["format"] == list(BINARY32)


def is_unit(row: Row) -> bool:
    """Whether the row is of a float unit, not of a top."""
    return row["unit"].startswith("fp_")
