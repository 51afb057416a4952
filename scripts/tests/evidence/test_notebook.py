"""The notebook runs from top to bottom, and stands in the repository without outputs."""

import nbformat
import pytest

from scripts.evidence.notebook import NOTEBOOK, executed

pytestmark = pytest.mark.rtl_of("step_engine")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_it_is_committed_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert len(cells) > 10
    assert not [cell.source for cell in cells if cell.outputs or cell.execution_count]


@pytest.mark.nightly
def test_every_cell_runs():
    """Bits and numbers are asserted in the notebook itself; a cell that fails ends the run."""
    cells = code_cells(executed())
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    said = "".join(output.text for output in outputs if output.output_type == "stream")
    assert said.count("bit-identical") == 3
    shown = {kind for output in outputs for kind in output.get("data", ())}
    assert shown >= {"image/png", "image/gif"}
