"""The RTL that a row of a summary was measured on, and whether it is today's."""

from collections.abc import Mapping
from typing import Any

from scripts.kernel.digest import key_of
from scripts.kernel.inputs import rtl_below

KEY = "rtl"  # of a row


def rtl_digest(top: str) -> str:
    """Changes with the RTL that a module is built from."""
    return key_of(rtl_below(top))[:16]


def unit_cell(row: Mapping[str, Any], top: str) -> str:
    """A row's unit in a document, marked if the RTL of its module has changed since."""
    mark = "" if row.get(KEY) == rtl_digest(top) else " (RTL has changed since)"
    return f"`{row['unit']}`{mark}"
