"""Write docs/results.md and its pictures from what other commands left in build/.

Run by `make results` after `make test WHOLE=1`, `make bench` and `make longrun`. Numbers are never
typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Sequence
from pathlib import Path

from pymodel.machine.isa import Machine
from scripts.evidence.benchmarks import longrun
from scripts.evidence.results.accuracy import four_bar, long_run, pendulum
from scripts.evidence.results.benchmarks import speed, step_engine
from scripts.evidence.results.cycles import four_bar_cycles, pendulum_cycles, side_by_side
from scripts.evidence.results.operations import operations, subdesigns
from scripts.evidence.results.regression import regression
from scripts.kernel.documents import copy_picture, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import BUILD, DOCS

DOC = DOCS / "results.md"
PAGE = Path(__file__).with_name("results.md.jinja")
#: Each gives the Markdown of a section's numbers.
SECTIONS = (
    pendulum,
    pendulum_cycles,
    four_bar,
    four_bar_cycles,
    long_run,
    side_by_side,
    step_engine,
    subdesigns,
    operations,
    regression,
    speed,
)
#: Pictures of the documentation, and where commands leave them in build/.
PICTURES = {
    "pendulum": ("pendulum/overview.png", "make pendulum"),
    "kinetic_energy": ("pendulum/kinetic_energy.png", "make pendulum"),
    "four_bar": ("fourbar/overview.png", "make fourbar"),
    "loop": ("fourbar/loop.png", "make fourbar"),
    "loop_errors": ("longrun/loop_errors.png", "make longrun"),
    "step_engine": ("bench/step_engine.png", "make bench"),
    "gantt": ("bench/gantt.png", "make bench"),
}


def document() -> str:
    """The text.

    Raises
    ------
    MissingError
        If something has to run first.
    """
    stages = ", ".join(str(cycles - 1) for cycles in Machine().latency.values())
    sections = {section.__name__: section() for section in SECTIONS}
    return render(PAGE, stages=stages, saved=longrun.SAVE, **sections)


def from_results() -> str:
    """The text, the pictures copied."""
    text = document()
    for name, (source, command) in PICTURES.items():
        copy_picture(name, BUILD / source, command)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
