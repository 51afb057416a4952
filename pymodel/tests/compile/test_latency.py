"""The engines' cycles, compared with what the documentation and the RTL say.

That the RTL takes so many is for the benches.
"""

import pytest

from pymodel.compile.latency import (
    COMBINATIONAL,
    PIPELINED,
    Stages,
    assembly,
    disassembly,
    inversion,
)
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.reads("docs", "rtl")

PHASES = ("assembly", "disassembly")


def formula(cycles):
    """`5 add + 4 mul + rec + 1`, of a function that is linear in the stages."""
    constant = cycles(COMBINATIONAL)
    terms = []
    for op in Stages._fields:
        factor = cycles(COMBINATIONAL._replace(**{op: 1})) - constant
        terms += [f"{factor} {op}" if factor > 1 else op] if factor else []
    return " + ".join([*terms, str(constant)])


@pytest.mark.parametrize(
    "cycles",
    [
        lambda stages: assembly(stages, passes=1),
        lambda stages: assembly(stages) - assembly(stages, passes=1),
        disassembly,
    ],
    ids=["pass 1", "pass 2", "disassembly"],
)
def test_formulas_are_those_of_the_documentation(cycles):
    assert f"| {formula(cycles)} |" in (ROOT / "docs/architecture.md").read_text()
    headers = [(ROOT / f"rtl/hdca/hdca_{phase}.sv").read_text() for phase in PHASES]
    assert any(formula(cycles).upper() in header for header in headers)


@pytest.mark.parametrize(("n", "cycles"), [(2, 12), (4, 47)])
def test_inversions_of_combinational_units_take_their_steps(n, cycles):
    """Latencies in the header of rtl/linalg/inv_ldup_serial.sv; all at once where parallel."""
    assert inversion(n, False, COMBINATIONAL) == cycles
    assert inversion(n, True, COMBINATIONAL) == 1


def test_stages_are_parameters():
    parameters = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}
    assert PIPELINED.parameters() == parameters and PIPELINED.text == "3, 3, 6"
    assert Stages.of(parameters | {"N": 4}) == PIPELINED
    assert Stages.of({}) == COMBINATIONAL
