"""Where the cycles of a step go."""

from collections.abc import Mapping

from pymodel.app.demo import COLUMNS, rows
from pymodel.compile.latency import PIPELINED
from scripts.kernel.documents import read, table
from scripts.kernel.places import BUILD, DEMO_SCENARIOS, DEMOS

WHOLE = "make test WHOLE=1"
PIPELINED_UNITS = f"{PIPELINED.text} stages"


def _cycles(hardware: str, folders: Mapping[str, str]) -> str:
    """Where the cycles of a step go; `folders`: which hardware -> its co-simulation."""
    runs = {name: read(BUILD / path / "cosim.json", WHOLE) for name, path in folders.items()}
    body = []
    for name, run in runs.items():
        n = run["evaluations"]
        total = sum(run["bus_and_run_cycles"].values())
        for part, spent in run["bus_and_run_cycles"].items():
            words = run["registers_moved"][part] / n
            body.append((name, part, f"{words:.0f}", f"{spent / n:.1f}", f"{spent / total:.0%}"))
        busy = sum(run["engine_cycles"].values())
        body.append((name, "**total**", "", f"**{total / n:.1f}**", "100%"))
        body.append((name, "of which computing", "", f"{busy / n:.1f}", f"{busy / total:.0%}"))
    return table((hardware, "part", "words per step", "cycles per step", "share"), body)


def pendulum_cycles() -> str:
    """Our version of the paper's table 6."""
    return _cycles(
        "float units",
        {
            "combinational": "pendulum",
            f"{PIPELINED_UNITS} (add, mul, rec)": "cosim_hdca/pipelined-verilator",
        },
    )


def four_bar_cycles() -> str:
    """Our version of the paper's table 7."""
    return _cycles(
        "inverter, float units",
        {
            "serial, combinational": "fourbar",
            f"serial, {PIPELINED_UNITS} (add, mul, rec)": "cosim_ldup/pipelined-verilator",
            f"parallel, {PIPELINED_UNITS}": "cosim_ldup/parallel-pipelined-verilator",
        },
    )


def side_by_side() -> str:
    """The demos on everything that runs them."""
    parts = []
    for demo, scenario in DEMO_SCENARIOS.items():
        folders = (BUILD / demo, BUILD / demo / "step")
        pair = (read(folder / "summary.json", f"make {demo}") for folder in folders)
        head = (DEMOS[scenario], *COLUMNS)
        parts.append(table(head, rows(*pair)))
    return "\n\n".join(parts)
