"""The tops that are fuzzed, of the records in units/."""

from scripts.kernel.units import records
from tb.fuzz.units import Unit

UNITS = {
    top: Unit(top, record.fuzz.model, record.fuzz.params)
    for top, record in records().items()
    if record.fuzz
}
