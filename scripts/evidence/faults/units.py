"""The tops that faults are injected into, of the records in units/."""

from scripts.kernel.units import records
from tb.faults.units import Unit

UNITS = {
    top: Unit(top, record.faults.workload, record.faults.params)
    for top, record in records().items()
    if record.faults
}
