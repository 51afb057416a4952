"""How many bits the job needs."""

from collections.abc import Sequence

from pymodel.runs.summary import MILLI
from scripts.evidence.cost.formats_result import COSTS, FLOAT64, Run, costs, label
from scripts.evidence.cost.rows import Row
from scripts.evidence.cost.sections.cells import cell
from scripts.kernel.documents import table
from scripts.kernel.places import DEMOS

HEAD = (
    "demo",
    "format",
    "LUT",
    "DSP48E1",
    "FF",
    "MHz",
    "energy − reference [mJ]",
    "of it rounding [mJ]",
    "angle − reference [rad]",
    "loop gap [m]",
    "stops",
)


def sweep(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """A table of errors and costs."""
    engine = costs(rows)
    lines = []
    for run in runs:
        cost = engine.get(run["arith"], {})
        lines.append(
            (
                DEMOS[run["demo"]],
                label(run["arith"]).replace("\n", " "),
                *(cell(cost.get(name)) for name in COSTS),
                _milli(run["kinetic_difference_max_J"]),
                _milli(run["kinetic_rounding_max_J"]),
                cell(run["angle_max_rad"], "{:.2g}"),
                cell(run["loop_position_max_m"] or None, "{:.2g}"),
                _stops(run),
            )
        )
    return table(HEAD, lines)


def _milli(value: float | None) -> str:
    return cell(None if value is None else MILLI * value, "{:.3g}")


def _stops(run: Run) -> str:
    if not run["stopped"]:
        return "no"
    return "at once" if run["end_s"] is None else f"at {run['end_s']:.3g} s"


def enough(runs: Sequence[Run]) -> str:
    """From which format on the step size, not the arithmetic, limits: a sentence for each demo."""
    sentences = []
    for demo, name in DEMOS.items():
        mine = [run for run in runs if run["demo"] == demo and run["arith"] != FLOAT64]
        good = [run for run in mine if _truncation_prevails(run)]
        if good:
            least = min(good, key=lambda run: int(run["arith"].split("/")[1]))
            sentences.append(
                f"{name}: from {least['arith']} on, rounding adds less error to the kinetic "
                "energy than the step size does."
            )
        else:
            sentences.append(f"{name}: in none of these formats.")
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _truncation_prevails(run: Run) -> bool:
    rounding, truncation = run["kinetic_rounding_max_J"], run["kinetic_difference_float64_max_J"]
    return not run["stopped"] and rounding is not None and rounding < truncation
