"""Run docs/notebook.ipynb from top to bottom: what `make notebook` and the regression call."""

import argparse
import sys
from pathlib import Path

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from scripts.kernel.places import BUILD, DOCS, ROOT

NOTEBOOK = DOCS / "notebook.ipynb"
TIMEOUT_S = 300  # of a cell


def executed(path: Path = NOTEBOOK) -> NotebookNode:
    """Run a notebook in the repository's root, by this Python, and return it with its outputs.

    Raises
    ------
    CellExecutionError
        If a cell fails; the message has its code and what it said.
    """
    notebook = nbformat.read(path, as_version=4)
    kernel = KernelManager(kernel_name="python3", transport="ipc")
    kernel.kernel_spec.argv[0] = sys.executable
    resources = {"metadata": {"path": str(ROOT)}}
    client = NotebookClient(notebook, km=kernel, timeout=TIMEOUT_S, resources=resources)
    try:
        return client.execute()
    finally:
        kernel.shutdown_kernel(now=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the notebook and leave it, with its outputs, in the folder for results."""
    parser = argparse.ArgumentParser(
        prog="scripts.evidence.notebook", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=BUILD / NOTEBOOK.name)
    out = parser.parse_args(arguments).out
    try:
        notebook = executed()
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, out)
    print(f"all cells ran: {out}")
    return 0
