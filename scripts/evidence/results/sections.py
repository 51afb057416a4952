"""The sections, in their order."""

from collections.abc import Callable
from dataclasses import dataclass

from pymodel.machine.isa import Machine
from scripts.evidence.benchmarks import longrun
from scripts.evidence.results.accuracy import four_bar, long_run, pendulum
from scripts.evidence.results.benchmarks import speed, step_engine
from scripts.evidence.results.cycles import four_bar_cycles, pendulum_cycles, side_by_side
from scripts.evidence.results.operations import operations, subdesigns
from scripts.evidence.results.regression import regression

STAGES = ", ".join(str(cycles - 1) for cycles in Machine().latency.values())
BUS_NOTE = (
    "Cycles on our simulated bus, one AXI4-Lite word a clock at best; `run` includes the command "
    "and polling STATUS."
)


@dataclass(frozen=True)
class Section:
    """A section of the document.

    Attributes
    ----------
    title : str
    body : callable
        Gives its Markdown.
    command : str
        What makes the numbers.
    note : str
        What stands above them.
    """

    title: str
    body: Callable[[], str]
    command: str
    note: str = ""

    def text(self) -> str:
        """Its Markdown, heading and command included.

        Raises
        ------
        MissingError
            If something has to run first.
        """
        note = [self.note, ""] if self.note else []
        lines = [f"## {self.title}", "", *note, self.body(), "", f"Command: `{self.command}`", ""]
        return "\n".join(lines)


SECTIONS = (
    Section(
        "Double pendulum: accuracy",
        pendulum,
        "make pendulum",
        "![kinetic energy](img/kinetic_energy.png)",
    ),
    Section(
        "Double pendulum: where the cycles go",
        pendulum_cycles,
        "make cosim_hdca SIM=verilator",
        f"{BUS_NOTE} The paper reports 19 µs a step for register writes.",
    ),
    Section(
        "Four-bar: accuracy",
        four_bar,
        "make fourbar",
        "![four-bar](img/four_bar.png)\n\n![loop](img/loop.png)",
    ),
    Section(
        "Four-bar: where the cycles go",
        four_bar_cycles,
        "make cosim_ldup SIM=verilator",
        BUS_NOTE,
    ),
    Section(
        "Four-bar on the model: 100 s",
        long_run,
        "make longrun",
        "![loop errors](img/loop_errors.png)\n\n"
        f"Errors are the largest of every {longrun.SAVE}th step.",
    ),
    Section(
        "Co-processors and step engine side by side",
        side_by_side,
        "make pendulum fourbar",
        "Cycles count what our simulated bus takes. The step engine's include the registers that "
        "it traces in every step. The co-processors' units here are combinational, the step "
        f"engine's have {STAGES} stages (add, mul, rec, sin cos).",
    ),
    Section(
        "Step engine: cycles a system and step",
        step_engine,
        "make bench",
        "Without tracing; stages as above; closed base by LDLᵀ; the longest path is that of the "
        "[retimed](step_engine.md#over-the-steps-end-retiming) step.\n\n"
        "![step engine](img/step_engine.png)",
    ),
    Section(
        "Sub-designs of the assembly engine",
        subdesigns,
        ".venv/bin/python -m pymodel count",
        "Equations of the paper. xi_11 and xi_22 are symmetric: their upper triangle is computed. "
        "Impulses are 2-vectors. (29) is a transpose, for nothing.",
    ),
    Section(
        "Operations of a whole time step",
        operations,
        "make results",
        "Chain of bars in the plane, explicit Euler; terms shared, zeros folded. "
        "The paths are those of the step as it is written; programs of the step engine are "
        "[retimed](step_engine.md#over-the-steps-end-retiming), which makes most of them shorter.",
    ),
    Section("Regression", regression, "make test"),
    Section(
        "Speed of the simulations",
        speed,
        "make bench",
        "Each was timed once, so that the machine's other work counts.",
    ),
)
