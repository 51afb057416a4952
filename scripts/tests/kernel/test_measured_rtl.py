"""What tells that the RTL has changed since something was measured on it."""

from scripts.kernel import measured_rtl
from scripts.kernel.measured_rtl import rtl_digest, unit_cell


def test_a_row_is_marked_where_the_rtl_of_its_unit_has_changed(monkeypatch):
    row = {"unit": "adder", "rtl": rtl_digest("fp_add")}
    assert unit_cell(row, "fp_add") == "`adder`"
    assert unit_cell(row, "fp_mul") == "`adder` (RTL has changed since)"
    monkeypatch.setattr(measured_rtl, "key_of", lambda files: "other")
    assert unit_cell(row, "fp_add") == "`adder` (RTL has changed since)"
