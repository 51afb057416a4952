"""How many bits does the job need? Errors of both demos in several float formats, by the model.

Runs the demos in every format that `make synth` measures the step engine in, and in float64, into
build/formats/<demo>-<format>; the summaries say how far they are from the reference. Writes
build/formats/formats.json and, with the costs that build/synth/summary.json has, formats.png.
Exit status 2, after one line, for bad input.
"""

import contextlib
import io
import json
import multiprocessing
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pymodel.app.options import OptionParser, whole
from pymodel.arith.errors import Error
from pymodel.mechanism.scenario_file import MAX_STEPS, load
from pymodel.runs import plots, session
from scripts.evidence.cost.job import FORMATS, Row, arithmetic, format_name, width
from scripts.evidence.cost.jobs import ENGINE, SWEEP_LANES, is_barrel
from scripts.evidence.cost.measure import current_rows
from scripts.kernel.documents import read
from scripts.kernel.places import BUILD, DEMOS, ROOT, scenario_file

OUT = BUILD / "formats"
RESULT = OUT / "formats.json"
PICTURE = OUT / "formats.png"
FLOAT64 = "float64"
#: What an engine costs, and the flow that says it.
COSTS = {"lut": "xc7", "dsp": "xc7", "ff": "xc7", "fmax_mhz": "ecp5"}

#: One run: demo, arith, what `formats.KEPT` names, angle_max_rad.
Run = dict[str, Any]


def arithmetics() -> list[str]:
    """All formats as the model's command line takes them, fewest mantissa bits first."""
    return [*map(arithmetic, sorted(FORMATS, key=lambda fmt: fmt[1])), FLOAT64]


def label(name: str) -> str:
    """Lines that name an arithmetic: `5/10`, `16 bits`, `half`."""
    if name == FLOAT64:
        return FLOAT64
    fmt = next(fmt for fmt in FORMATS if arithmetic(fmt) == name)
    lines = [name, f"{width(fmt)} bits", format_name(fmt)]
    return "\n".join(dict.fromkeys(lines))


def costs(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Arithmetic -> what the step engine costs in it, as far as it was measured."""
    found = {}
    for row in rows:
        mine = row["unit"] == ENGINE and f"{SWEEP_LANES}+" in row["config"]
        if mine and not is_barrel(row["parameters"]):
            of_format = found.setdefault(arithmetic(row["format"]), {})
            for name, family in COSTS.items():
                if row["family"] == family and row[name] is not None:
                    of_format[name] = row[name]
    return found


#: What the engine costs: text, colour.
COST_STYLE = {
    "lut": ("LUT, no LUTRAM", plots.BLUE),
    "dsp": ("DSP48E1", plots.VERMILION),
    "ff": ("FF", plots.PURPLE),
    "fmax_mhz": ("MHz", plots.GREEN),
}
DEMO_COLOURS = dict(zip(DEMOS, (plots.BLUE, plots.VERMILION), strict=True))
#: The formats along the axis.
NAMES = arithmetics()[:-1]


def plot(runs: Sequence[Run], engine: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draw it.

    Parameters
    ----------
    runs : sequence of dict
    engine : mapping
        As `formats_result.costs` gives it.
    path : Path
        PNG file.
    """
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(15, 5), layout="constrained")
        grid = figure.add_gridspec(len(COSTS), 3)
        energy, motion = (figure.add_subplot(grid[:, column]) for column in range(2))
        costs = [figure.add_subplot(grid[row, 2]) for row in range(len(COSTS))]
        for demo, colour in DEMO_COLOURS.items():
            _draw_demo(energy, motion, _by_format(runs, demo), DEMOS[demo], colour)
        closed = _by_format(runs, "four_bar")
        gap = {"color": plots.GREEN, "linestyle": "-.", "marker": "D"}
        _curve(motion, closed, "loop_position_max_m", label="four-bar: loop gap [m]", **gap)
        energy.set_title("kinetic energy, worst difference to the reference [J]")
        motion.set_title("worst angle error, and gap of the closed loop")
        for axes in (energy, motion):
            axes.set_yscale("log")
            axes.margins(y=0.12)
            axes.legend(fontsize=8)
        _draw_costs(costs, engine)
        for axes in (energy, motion, *costs):
            labels = [] if axes in costs[:-1] else map(label, NAMES)
            axes.set_xticks(range(len(NAMES)), labels)
            axes.set_xlim(-0.5, len(NAMES) - 0.5)
        figure.savefig(path, dpi=plots.DPI)


def _by_format(runs: Sequence[Run], demo: str) -> dict[str, Run]:
    return {run["arith"]: run for run in runs if run["demo"] == demo}


def _draw_demo(
    energy: Axes, motion: Axes, found: Mapping[str, Run], text: str, colour: str
) -> None:
    """The curves of a demo, its limits in float64, and where it cannot start."""
    line = {"color": colour, "linestyle": "-", "marker": "o"}
    dotted = {"color": colour, "linestyle": ":", "marker": "v"}
    _curve(energy, found, "kinetic_difference_max_J", label=f"{text}: run", **line)
    _curve(energy, found, "kinetic_rounding_max_J", label=f"{text}: rounding", **dotted)
    _limit(energy, found, "kinetic_difference_max_J", colour, f"{text}: float64")
    _curve(motion, found, "angle_max_rad", label=f"{text}: angle [rad]", **line)
    _limit(motion, found, "angle_max_rad", colour, f"{text}: angle, float64")
    never = [i for i, name in enumerate(NAMES) if name in found and found[name]["end_s"] is None]
    for axes in (energy, motion):
        for i in never:
            axes.annotate(
                f"{text}\ncannot start",
                (i, 1),
                fontsize=8,
                color=colour,
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                xytext=(0, -4),
                textcoords="offset points",
            )


def _curve(axes: Axes, found: Mapping[str, Run], key: str, **style: str) -> None:
    """A quantity over the formats; runs that stopped early are crossed out."""
    points = [(i, found[name]) for i, name in enumerate(NAMES) if name in found]
    points = [(i, run) for i, run in points if run[key]]
    axes.plot([i for i, _ in points], [run[key] for _, run in points], **style)
    for i, run in points:
        if run["stopped"]:
            axes.plot(i, run[key], "x", color="black", markersize=12)
            axes.annotate(
                f"stops at {run['end_s']:.2g} s",
                (i, run[key]),
                fontsize=8,
                xytext=(8, 4),
                textcoords="offset points",
            )


def _limit(axes: Axes, found: Mapping[str, Run], key: str, colour: str, text: str) -> None:
    if FLOAT64 in found and found[FLOAT64][key]:
        axes.axhline(found[FLOAT64][key], color=colour, linestyle="--", linewidth=1, label=text)


def _draw_costs(all_axes: Sequence[Axes], engine: Mapping[str, Mapping[str, float]]) -> None:
    """A bar chart of each cost, one above the other."""
    all_axes[0].set_title(f"step engine, {SWEEP_LANES} + {SWEEP_LANES} lanes")
    for axes, (key, (text, colour)) in zip(all_axes, COST_STYLE.items(), strict=True):
        axes.set_ylabel(text)
        found = {i: engine.get(name, {}).get(key) for i, name in enumerate(NAMES)}
        found = {i: value for i, value in found.items() if value is not None}
        axes.bar_label(axes.bar(found.keys(), found.values(), 0.6, color=colour), fontsize=8)
        axes.set_axisbelow(True)
        axes.margins(y=0.3)
        if not found:
            axes.text(0.5, 0.5, "not measured: make synth", transform=axes.transAxes, ha="center")


#: What is kept of the summary of a run.
KEPT = (
    "stopped",
    "end_s",
    "kinetic_difference_max_J",
    "kinetic_difference_float64_max_J",
    "kinetic_rounding_max_J",
    "loop_position_max_m",
    "loop_velocity_max_m_s",
    "flags",
)


def run_model(demo: str, arithmetic: str, steps: int | None) -> tuple[dict[str, Any], str | None]:
    """Run a demo on the model and leave its files in its folder, silently.

    Parameters
    ----------
    demo : str
        A shipped scenario.
    arithmetic : str
    steps : int, optional
        Instead of those of the scenario.

    Returns
    -------
    summary : dict
        Empty if not even the first step could be evaluated.
    stopped : str or None
        Why the run broke off.
    """
    out = OUT / f"{demo}-{arithmetic.replace('/', '-')}"
    (out / "summary.json").unlink(missing_ok=True)
    scenario = load(scenario_file(demo), steps)
    # Two processes write at the same time: neither shows its progress or its summary.
    silence = io.StringIO()
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        run = session.simulated(scenario, arithmetic)
        summary, _ = session.finish(run, out)
    return summary or {}, run.stopped


def study(task: tuple[str, str, int | None]) -> Run:
    """A row of the result, of (demo, arithmetic, steps). A run that stops is judged up to there."""
    demo, arithmetic, _ = task
    summary, stopped = run_model(*task)
    row = {"demo": demo, "arith": arithmetic} | {name: summary.get(name) for name in KEPT}
    differences = summary.get("differences_to_reference") or {}
    angle = differences.get("q", {}).get("max")
    return row | {"stopped": stopped, "angle_max_rad": angle}


def run_all(steps: int | None) -> list[Run]:
    """Both demos in all formats, each told on stderr when it is done."""
    tasks = [(demo, name, steps) for demo in DEMOS for name in arithmetics()]
    rows = []
    with multiprocessing.Pool(2) as pool:
        for row in pool.imap(study, tasks):
            rows.append(row)
            print(f"{row['demo']} in {row['arith']}: {row['stopped'] or 'done'}", file=sys.stderr)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.cost.formats", description=__doc__.splitlines()[0])
    text = "run this many steps instead of until the end"
    parser.add_argument("--steps", type=whole("--steps", 1, MAX_STEPS), help=text)
    parser.add_argument("--replot", action="store_true", help="draw what earlier runs left")
    try:
        options = parser.parse_args(arguments)
        OUT.mkdir(parents=True, exist_ok=True)
        rows = read(RESULT, "make cost") if options.replot else run_all(options.steps)
        RESULT.write_text(json.dumps(rows, indent=1) + "\n")
        plot(rows, costs(current_rows()), PICTURE)
    except Error as error:
        print(f"formats: {error}", file=sys.stderr)
        return 2
    for path in (RESULT, PICTURE):
        print(path.relative_to(ROOT))
    return 0
