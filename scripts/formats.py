"""How many bits does the job need? Errors of both demos in several float formats, by the model.

Runs the demos in every format that `make synth` measures the step engine in, and in float64, into
build/formats/<demo>-<format>; the summaries say how far they are from the reference. Writes
build/formats/formats.json and, with the costs that build/synth/summary.json has, formats.png.
Exit status 2, after one line, for bad input.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import sys
from pathlib import Path

from pymodel.cli import main as model
from pymodel.runs import engine_runs, plots
from scripts import synth
from scripts.bench_step import DEMOS

ROOT = Path(__file__).resolve().parents[1]

OUT = ROOT / "build" / "formats"
RESULT = OUT / "formats.json"
FLOAT64 = "float64"
MILLI = 1e3
# What the engine costs: text, colour.
COST_STYLE = {
    "lut": ("LUT", plots.BLUE),
    "dsp": ("DSP48E1", plots.VERMILION),
    "ff": ("FF", plots.PURPLE),
    "fmax_mhz": ("MHz", plots.GREEN),
}
COST_FAMILY = {"fmax_mhz": "ecp5"}
DEMO_COLOURS = dict(zip(DEMOS, (plots.BLUE, plots.VERMILION), strict=True))


def arithmetics():
    """Names of all formats as the model's command line takes them, fewest mantissa bits first."""
    formats = sorted(synth.FORMATS, key=lambda fmt: fmt[1])
    return [*(f"{exp_w}/{man_w}" for exp_w, man_w in formats), FLOAT64]


def simulate(task):
    """One run: a row of the result. A run that stops is judged up to there."""
    demo, arithmetic, steps = task
    out = OUT / f"{demo}-{arithmetic.replace('/', '-')}"
    summary = out / "summary.json"
    summary.unlink(missing_ok=True)
    words = ["simulate", str(ROOT / "scenarios" / f"{demo}.toml"), "--arith", arithmetic]
    words += ["--out", str(out), "--base", engine_runs.BASE]
    words += ["--steps", str(steps)] if steps else []
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        model(words)
    found = json.loads(summary.read_text()) if summary.exists() else {}
    row = {"demo": demo, "arith": arithmetic}
    row |= {
        name: found.get(name)
        for name in (
            "stopped",
            "end_s",
            "kinetic_difference_max_J",
            "kinetic_difference_float64_max_J",
            "kinetic_rounding_max_J",
            "loop_position_max_m",
            "loop_velocity_max_m_s",
            "flags",
        )
    }
    if not found:  # not even the first step
        row["stopped"] = said.getvalue().strip().splitlines()[-1]
    differences = found.get("differences_to_reference") or {}
    row["angle_max_rad"] = differences.get("q", {}).get("max")
    return row


def run_all(steps):
    tasks = [(demo, name, steps) for demo in DEMOS for name in arithmetics()]
    rows = []
    with multiprocessing.Pool(2) as pool:
        for row in pool.imap(simulate, tasks):
            rows.append(row)
            print(f"{row['demo']} in {row['arith']}: {row['stopped'] or 'done'}", file=sys.stderr)
    return rows


def costs(rows):
    """{arithmetic: {what: number}} of the step engine, as far as it was measured."""
    found = {}
    for row in rows:
        if row["unit"] == "step_engine" and f"{synth.SWEEP_LANES}+" in row["config"]:
            values = found.setdefault("{}/{}".format(*row["format"]), {})
            for name in COST_STYLE:
                if row["family"] == COST_FAMILY.get(name, "xc7") and row[name] is not None:
                    values[name] = row[name]
    return found


def label(arithmetic):
    if arithmetic == FLOAT64:
        return FLOAT64
    fmt = tuple(map(int, arithmetic.split("/")))
    name = synth.format_name(fmt)
    return f"{arithmetic}\n{1 + sum(fmt)} bits" + (f"\n{name}" if name != arithmetic else "")


def plot(rows, engine, path):
    """Errors of both demos, and what the engine costs, over the formats."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = arithmetics()[:-1]
    places = range(len(names))
    with matplotlib.rc_context(plots.STYLE):
        figure = pyplot.figure(figsize=(15, 5), layout="constrained")
        grid = figure.add_gridspec(len(COST_STYLE), 3)
        energy, motion = (figure.add_subplot(grid[:, column]) for column in range(2))
        costs = [figure.add_subplot(grid[row, 2]) for row in range(len(COST_STYLE))]
        for demo, colour in DEMO_COLOURS.items():
            found = {row["arith"]: row for row in rows if row["demo"] == demo}
            text = demo.replace("_", " ")
            _curve(energy, found, names, "kinetic_difference_max_J", colour, f"{text}: run")
            _curve(
                energy,
                found,
                names,
                "kinetic_rounding_max_J",
                colour,
                f"{text}: rounding",
                style=":",
                marker="v",
            )
            _limit(energy, found, "kinetic_difference_max_J", colour, f"{text}: float64")
            _curve(motion, found, names, "angle_max_rad", colour, f"{text}: angle [rad]")
            _limit(motion, found, "angle_max_rad", colour, f"{text}: angle, float64")
            never = [
                i for i, name in enumerate(names) if name in found and found[name]["end_s"] is None
            ]
            for axis in (energy, motion):
                for i in never:
                    axis.annotate(
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
        closed = {row["arith"]: row for row in rows if row["demo"] == "four_bar"}
        _curve(
            motion,
            closed,
            names,
            "loop_position_max_m",
            plots.GREEN,
            "four bar: loop gap [m]",
            style="-.",
            marker="D",
        )
        energy.set_title("kinetic energy, worst difference to the reference [J]")
        motion.set_title("worst angle error, and gap of the closed loop")
        for axis in (energy, motion):
            axis.set_yscale("log")
            axis.margins(y=0.12)
            axis.legend(fontsize=8)
        _plot_costs(costs, engine, names)
        for axis in (energy, motion, *costs):
            axis.set_xticks(places, map(label, names) if axis not in costs[:-1] else [])
            axis.set_xlim(-0.5, len(names) - 0.5)
        figure.savefig(path, dpi=plots.DPI)
        pyplot.close(figure)


def _curve(axis, found, names, key, colour, text, style="-", marker="o"):
    """A quantity over the formats; runs that stopped early are crossed out."""
    points = [(i, found[name]) for i, name in enumerate(names) if name in found]
    points = [(i, row) for i, row in points if row[key]]
    axis.plot(
        [i for i, _ in points],
        [row[key] for _, row in points],
        style,
        marker=marker,
        color=colour,
        label=text,
    )
    for i, row in points:
        if row["stopped"]:
            axis.plot(i, row[key], "x", color="black", markersize=12)
            axis.annotate(
                f"stops at {row['end_s']:.2g} s",
                (i, row[key]),
                fontsize=8,
                xytext=(8, 4),
                textcoords="offset points",
            )


def _limit(axis, found, key, colour, text):
    if FLOAT64 in found and found[FLOAT64][key]:
        axis.axhline(found[FLOAT64][key], color=colour, linestyle="--", linewidth=1, label=text)


def _plot_costs(axes, engine, names):
    """A bar chart of each cost, one above the other."""
    lanes = f"{synth.SWEEP_LANES} + {synth.SWEEP_LANES}"
    axes[0].set_title(f"step engine, {lanes} lanes")
    for axis, (key, (text, colour)) in zip(axes, COST_STYLE.items(), strict=True):
        axis.set_ylabel(text)
        found = {i: engine.get(name, {}).get(key) for i, name in enumerate(names)}
        found = {i: value for i, value in found.items() if value is not None}
        axis.bar_label(axis.bar(found.keys(), found.values(), 0.6, color=colour), fontsize=8)
        axis.set_axisbelow(True)
        axis.margins(y=0.3)
        if not found:
            axis.text(0.5, 0.5, "not measured: make synth", transform=axis.transAxes, ha="center")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, help="run this many steps instead of until the end")
    parser.add_argument("--replot", action="store_true", help="draw what earlier runs left")
    arguments = parser.parse_args(arguments)
    try:
        if arguments.steps is not None:
            synth.positive("steps", arguments.steps)
        if arguments.replot and not RESULT.exists():
            raise synth.SynthError(f"{RESULT.relative_to(ROOT)} is missing: run without --replot")
        OUT.mkdir(parents=True, exist_ok=True)
        rows = json.loads(RESULT.read_text()) if arguments.replot else run_all(arguments.steps)
        RESULT.write_text(json.dumps(rows, indent=1) + "\n")
        plot(rows, costs(synth.current(synth.read_summary()[0])), OUT / "formats.png")
    except synth.SynthError as error:
        print(f"formats: {error}", file=sys.stderr)
        return 2
    for path in (RESULT, OUT / "formats.png"):
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
