"""Which lanes and stages? Time a step of the double pendulum against area, on the step engine.

Every combination of lanes and of measured stages is scheduled; its clock is that of its slowest
float unit on ecp5, its area that of its units on xc7 and what the measured engine with as many
lanes has beside them. Engines that were placed as a whole are drawn with the clock they reached.
Reads build/synth/summary.json; writes pareto.json and pareto.png into build/synth and prints the
best of each number of lanes. Exit status 2, after one line, for bad input.
"""

import argparse
import itertools
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodel.machine.isa import Machine
from pymodel.runs import plots
from scripts import step_cycles, synth

ROOT = Path(__file__).resolve().parents[1]

SCENARIO = "double_pendulum"
JSON, PICTURE = synth.OUT / "pareto.json", synth.OUT / "pareto.png"
OPS = tuple(synth.LANE_UNITS)
PAPER_US = 19.0  # a step's register writes alone
PAPER_DSP = 150  # of its 75 multipliers
GOAL_US, GOAL_LUT, GOAL_DSP = 1.5, 8000, 12
TICKS_US = (0.5, 1, 2, 3, 5, 10, 20)
COLOURS = dict(zip(synth.ENGINE_LANES, ("#D55E00", "#E69F00", "#009E73", "#0072B2"), strict=True))
# Labels of placed engines, in points from them: those of neighbours are apart.
LABEL_AT = dict(zip(synth.ENGINE_LANES, ((-12, 12), (0, -20), (5, 13), (14, -20)), strict=True))
BEST = 3  # combinations that are printed for each number of lanes


def lanes_of(op, lanes):
    return lanes if op in ("add", "mul") else 1


def units(rows, op):
    """{(variant, stages): row of cells and clock} of the pipelined units for an operation."""
    found = {}
    for row in rows:
        mode, *variant = row["config"].split(", ")
        plain = row["unit"] == synth.LANE_UNITS[op] and row["format"] == list(synth.BINARY32)
        # Without infinities a multiplier cannot be used: the engine stops at them.
        if plain and row["stages"] and mode == "speed" and "zero only" not in variant:
            entry = found.setdefault((", ".join(variant), row["stages"]), {})
            entry |= (
                {"fmax_mhz": row["fmax_mhz"]}
                if row["family"] == "ecp5"
                else {"lut": row["lut"], "dsp": row["dsp"]}
            )
    return {key: entry for key, entry in found.items() if len(entry) == 3}


def whole_engines(rows):
    """{lanes: {what: number}} of the engines that were measured on xc7, placed or not."""
    found = {}
    for row in rows:
        mine = row["unit"] == "step_engine" and row["format"] == list(synth.BINARY32)
        if mine and row["lut"] is not None:
            entry = found.setdefault(row["parameters"]["NUM_ADD"], {"fmax_mhz": None})
            if row["family"] == "ecp5":
                entry["fmax_mhz"] = row["fmax_mhz"]
            else:
                entry |= {"lut": row["lut"] + row["lutram"], "dsp": row["dsp"]}
                entry["stages"] = [row["parameters"][f"{op.upper()}_STAGES"] for op in OPS]
    return {lanes: entry for lanes, entry in found.items() if "lut" in entry}


def combine(rows, step=None):
    """All points: estimates for every combination, and the engines that were placed."""
    step = step or step_cycles.traced(SCENARIO)
    choices = {op: units(rows, op) for op in OPS}
    points = []
    for lanes, engine in whole_engines(rows).items():
        own = _own_units(choices, engine["stages"])
        if engine["fmax_mhz"]:
            slowest = min((unit["fmax_mhz"] for unit in own), default=None) if own else None
            points.append(
                _point(
                    step,
                    lanes,
                    engine["stages"],
                    synth.LANE_VARIANTS.values(),
                    engine["fmax_mhz"],
                    engine["lut"],
                    engine["dsp"],
                )
                | {"measured": True, "slowest_unit_mhz": slowest}
            )
        if not own:
            continue
        rest = {
            what: engine[what]
            - sum(unit[what] * lanes_of(op, lanes) for op, unit in zip(OPS, own, strict=True))
            for what in ("lut", "dsp")
        }
        for combination in itertools.product(*(choices[op].items() for op in OPS)):
            clock = min(unit["fmax_mhz"] for _, unit in combination)
            area = {
                what: rest[what]
                + sum(
                    unit[what] * lanes_of(op, lanes)
                    for op, (_, unit) in zip(OPS, combination, strict=True)
                )
                for what in rest
            }
            variants, stages = zip(*(key for key, _ in combination), strict=True)
            points.append(
                _point(step, lanes, list(stages), variants, clock, **area)
                | {"measured": False, "slowest_unit_mhz": clock}
            )
    return points


def _own_units(choices, stages):
    """The units that a measured engine has; None if one was not measured itself."""
    keys = zip(OPS, stages, strict=True)
    found = [choices[op].get((synth.LANE_VARIANTS[op], n)) for op, n in keys]
    return None if None in found else found


_CYCLES = {}


def _point(step, lanes, stages, variants, clock, lut, dsp):
    key = id(step), lanes, tuple(stages)
    if key not in _CYCLES:
        depths = {f"{op}_stages": n for op, n in zip(OPS, stages, strict=True)}
        _CYCLES[key] = step_cycles.on_engine(step, adders=lanes, multipliers=lanes, **depths)
    cycles = _CYCLES[key]
    return {
        "lanes": lanes,
        "stages": stages,
        "variants": list(variants),
        "cycles": cycles,
        "fmax_mhz": clock,
        "us": cycles / clock,
        "lut": lut,
        "dsp": dsp,
    }


def front(points, *costs):
    """The points that no other one beats in time and all of these costs."""
    keys = ("us", *costs)
    kept = []
    for point in sorted(points, key=lambda p: tuple(p[key] for key in keys)):
        if not any(all(other[key] <= point[key] for key in keys) for other in kept):
            kept.append(point)
    return kept


def name(point):
    """`2+2 lanes, 3, 3, 6, 12 stages`, with the variants of units that have any."""
    depths = (
        f"{n} {variant}".strip()
        for n, variant in zip(point["stages"], point["variants"], strict=True)
    )
    return f"{point['lanes']}+{point['lanes']} lanes, {', '.join(depths)} stages"


def best(points, lanes):
    """The fastest estimates with so many lanes, the smaller one of equals."""
    some = [point for point in points if point["lanes"] == lanes and not point["measured"]]
    return sorted(some, key=lambda p: (p["us"], p["lut"], p["dsp"]))[:BEST]


def show(points, console):
    table = Table(title=f"step engine, {SCENARIO.replace('_', ' ')}: fastest by lanes")
    table.add_column("stages: add, mul, rec, sin cos")
    for head in ("cycles", "MHz", "us a step", "LUT", "DSP"):
        table.add_column(head, justify="right")
    table.add_column("clock")
    for lanes in sorted({point["lanes"] for point in points}):
        measured = [point for point in points if point["measured"] and point["lanes"] == lanes]
        for point in best(points, lanes) + measured:
            table.add_row(
                name(point),
                str(point["cycles"]),
                f"{point['fmax_mhz']:.1f}",
                f"{point['us']:.2f}",
                str(point["lut"]),
                str(point["dsp"]),
                "placed" if point["measured"] else "slowest unit's",
            )
        table.add_section()
    console.print(table)


def plot(points, path):
    """Time a step against LUT and against DSP: estimates small, placed engines large."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    estimates = [point for point in points if not point["measured"]]
    with matplotlib.rc_context(plots.STYLE):
        figure, axes = pyplot.subplots(1, 2, figsize=(13, 5.5), layout="constrained", sharey=True)
        for axis, cost in zip(axes, ("lut", "dsp"), strict=True):
            for lanes, colour in COLOURS.items():
                some = [point for point in estimates if point["lanes"] == lanes]
                axis.plot(
                    [p[cost] for p in some],
                    [p["us"] for p in some],
                    ".",
                    color=colour,
                    alpha=0.35,
                    markersize=5,
                    markeredgewidth=0,
                )
            edge = front(estimates, cost)
            axis.step(
                [p[cost] for p in reversed(edge)],
                [p["us"] for p in reversed(edge)],
                "-",
                where="post",
                color="black",
                linewidth=1,
                label="best estimates",
            )
            for point in (point for point in points if point["measured"]):
                axis.plot(
                    point[cost],
                    point["us"],
                    "o",
                    color=COLOURS[point["lanes"]],
                    markersize=11,
                    markeredgecolor="black",
                )
                axis.annotate(
                    f"{point['lanes']}+{point['lanes']}",
                    (point[cost], point["us"]),
                    xytext=LABEL_AT[point["lanes"]],
                    textcoords="offset points",
                    ha="center",
                    weight="bold",
                )
            axis.axhline(PAPER_US, color="grey", linestyle="--")
            axis.set_yscale("log")
            axis.set_yticks(TICKS_US, map("{:g}".format, TICKS_US))
            axis.yaxis.set_minor_formatter("")
        lut, dsp = axes
        dsp.plot(PAPER_DSP, PAPER_US, "*", color="grey", markersize=16)
        goal = f"goal of 2+2 lanes: {GOAL_US} µs, {GOAL_LUT} LUT, {GOAL_DSP} DSP"
        for axis, limit in ((lut, GOAL_LUT), (dsp, GOAL_DSP)):
            axis.plot(
                (0, limit, limit), (GOAL_US, GOAL_US, 0.1), ":", color=plots.PURPLE, label=goal
            )
            axis.set_xlim(left=0)
        shown = [point["us"] for point in points]
        lut.set_ylim(min([*shown, GOAL_US]) / 1.3, max([*shown, PAPER_US]) * 1.4)
        lut.set_xlabel("LUT (xc7 cells, those of memories included)")
        dsp.set_xlabel("DSP48E1")
        lut.set_ylabel("time of a step [µs]")
        lut.annotate(
            "paper: register writes alone",
            (0.02, PAPER_US),
            fontsize=9,
            color="grey",
            xycoords=("axes fraction", "data"),
            xytext=(0, 5),
            textcoords="offset points",
        )
        dsp.annotate(
            "paper: multipliers",
            (PAPER_DSP, PAPER_US),
            fontsize=9,
            color="grey",
            xytext=(-8, -16),
            textcoords="offset points",
            ha="right",
        )
        lut.set_title("double pendulum on the step engine: every combination of stages")
        for lanes, colour in COLOURS.items():
            lut.plot([], [], "o", color=colour, label=f"{lanes}+{lanes} lanes")
        lut.legend(fontsize=8, loc="upper right", bbox_to_anchor=(1, 0.86))
        dsp.set_title("small: clock of the slowest unit; large: engine placed and routed")
        figure.savefig(path, dpi=plots.DPI)
        pyplot.close(figure)


def check(rows):
    """SynthError if rows are missing without which there is nothing to compare."""
    missing = [unit for op, unit in synth.LANE_UNITS.items() if not units(rows, op)]
    if not whole_engines(rows):
        missing.append("step_engine")
    elif not any(
        _own_units({op: units(rows, op) for op in OPS}, engine["stages"])
        for engine in whole_engines(rows).values()
    ):
        missing = missing or [f"units of {Machine()}"]
    if missing:
        what = " ".join(missing)
        raise synth.SynthError(f'not measured: run `make synth UNITS="{what}"` first')


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        rows = synth.current(synth.read_summary()[0])
        check(rows)
    except synth.SynthError as error:
        print(f"pareto: {error}", file=sys.stderr)
        return 2
    points = combine(rows)
    (ROOT / JSON).write_text(json.dumps(points, indent=1) + "\n")
    plot(points, ROOT / PICTURE)
    show(points, Console(width=None if sys.stdout.isatty() else 150))
    for path in (JSON, PICTURE):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
