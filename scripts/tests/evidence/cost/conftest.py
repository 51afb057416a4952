"""Points of the made-up rows."""

import pytest

from pymodel.machine.isa import Machine
from scripts.evidence.cost.points import combine
from scripts.tests.evidence.cost.made import measured_rows


@pytest.fixture(scope="session")
def points():
    """Measurements of the stages that engines have, and few others."""
    machine = Machine()  # other depths only take time
    few = (
        None,
        2,
        machine.add_stages,
        machine.mul_stages,
        machine.rec_stages,
        machine.sincos_stages,
    )
    return combine([row for row in measured_rows() if row["stages"] in few])
