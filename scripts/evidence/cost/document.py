"""Write docs/hardware_cost.md and its pictures from what `make synth` left in build/.

Run by `make cost`, after `pareto` and `formats`. Numbers are never typed by hand, but for those of
others. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pymodel.compile.latency import Stages
from pymodel.runs.summary import MILLI
from scripts.evidence.cost import formats, pareto
from scripts.evidence.cost import points as of_engines
from scripts.evidence.cost.counts import ZYNQ_7020
from scripts.evidence.cost.formats import COSTS, FLOAT64, Run, costs, label
from scripts.evidence.cost.goals import (
    BARREL_MHZ,
    ENGINE_CLOCK_SHARE,
    ENGINE_DSP,
    ENGINE_LUT,
    ENGINE_US,
    Goal,
    goal_of,
)
from scripts.evidence.cost.job import (
    AREA,
    FAMILIES,
    SPEED,
    Row,
    config_of,
    in_binary32,
    is_unit,
    mode_and_variant,
    row_key,
)
from scripts.evidence.cost.jobs import (
    ENGINE,
    FLAGS,
    HDCA,
    JOBS,
    LANE_UNITS,
    LANE_VARIANTS,
    LDUP,
    SWEEP_LANES,
    TABLE,
    ZERO_ONLY,
    box_stages,
    is_barrel,
    machine_of,
    stages_of,
)
from scripts.evidence.cost.measure import current_rows
from scripts.evidence.cost.pareto import JSON
from scripts.evidence.cost.synth import shorten
from scripts.kernel.documents import MissingError, copy_picture, read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DEMOS, DOCS, ROOT

NONE = "–"


def cell(value: float | None, form: str = "{:g}") -> str:
    """A number, or a dash for None."""
    return NONE if value is None else form.format(value)


def title(unit: str, config: str) -> str:
    """A top as it is called in lists and tables."""
    return f"`{unit}`, {config}"


def verdict(met: bool) -> str:
    """Whether a goal is met."""
    return "met" if met else "**missed**"


class Peer(NamedTuple):
    """What others have: LUT / DSP."""

    unit: str
    goal: Goal
    paper: str = NONE
    best_open: str = NONE


PEERS = [
    Peer(
        "add, combinational",
        goal_of("fp_add", 0),
        "339 / 0",
        "FloPoCo 343 to 357 (own format), HardFloat's core 499",
    ),
    Peer("add, 3 stages", goal_of("fp_add", 3), best_open="bsg 532 LUT, 106 MHz"),
    Peer("add, 6 stages", goal_of("fp_add", 6), best_open="bsg 532 LUT, 106 MHz"),
    Peer("multiply, combinational", goal_of("fp_mul", 0), best_open="FloPoCo 74 / 2"),
    Peer("multiply, zero only, combinational", goal_of("fp_mul", 0, ZERO_ONLY), "47 / 2"),
    Peer("multiply, 3 stages", goal_of("fp_mul", 3), best_open="bsg 90 MHz"),
    Peer("multiply, 5 stages", goal_of("fp_mul", 5), best_open="bsg 90 MHz"),
    Peer("reciprocal, array, combinational", goal_of("fp_recip", 0), "1409 / 0"),
    Peer(
        "reciprocal, iterative",
        goal_of("fp_recip_iterative", None),
        best_open="HardFloat's divider 640 / 0",
    ),
    Peer(
        "reciprocal, table, combinational",
        goal_of("fp_recip", 0, TABLE),
        best_open="7 DSP, and wrong",
    ),
    Peer("reciprocal, table, 6 stages", goal_of("fp_recip", 6, TABLE)),
]


def peers(rows: Sequence[Row]) -> str:
    """A table of them, what was measured, and the goals."""
    lines = []
    for peer in PEERS:
        mine = [row for row in rows if peer.goal.is_for(row) and in_binary32(row)]
        measured = ", ".join(map(_measured, mine)) or "not measured"
        goals = [f"{text}: {verdict(met)}" for row in mine for text, met in peer.goal.judge(row)]
        lines.append((peer.unit, peer.paper, peer.best_open, measured, "; ".join(goals) or NONE))
    head = ("unit, LUT / DSP", "paper (zero only)", "best open peer", "measured", "goal")
    return table(head, lines)


def _measured(row: Row) -> str:
    if row["family"] == "ecp5":
        return f"{cell(row['fmax_mhz'])} MHz"
    inverters = f" + {row['inv']} INV" if row["inv"] else ""
    delay = f", {row['logic_ns']:.1f} ns" if row["logic_ns"] else ""
    return f"{row['lut']}{inverters} / {row['dsp']}{delay}"


UNITS = (
    "unit",
    "stages",
    "LUT, least area",
    "INV",
    "DSP",
    "FF",
    "LUT, speed",
    "logic ns",
    "ecp5 LUT",
    "DSP",
    "FF",
    "MHz",
)


def units(rows: Sequence[Row]) -> str:
    """A table of those in binary32."""
    found = {}
    for row in rows:
        mode, variant = mode_and_variant(row)
        if is_unit(row) and in_binary32(row) and FLAGS not in variant:
            key = row["unit"], ", ".join(variant), row["stages"]
            found.setdefault(key, {})[mode if row["family"] == "xc7" else "ecp5"] = row
    lines = []
    for (unit, variant, stages), flows in found.items():
        area, speed, placed = (flows.get(flow, {}) for flow in (AREA, SPEED, "ecp5"))
        lines.append(
            (
                f"`{unit}`, {variant}" if variant else f"`{unit}`",
                cell(stages),
                *(cell(area.get(name)) for name in ("lut", "inv", "dsp", "ff")),
                cell(speed.get("lut")),
                cell(speed.get("logic_ns"), "{:.1f}"),
                *(cell(placed.get(name)) for name in ("lut", "dsp", "ff", "fmax_mhz")),
            )
        )
    return table(UNITS, lines)


TOPS = (
    "top",
    "LUT",
    "LUTRAM",
    "DSP48E1",
    "FF",
    "BRAM36",
    f"fits a Zynq 7020 ({ZYNQ_7020['lut']} LUT, {ZYNQ_7020['dsp']} DSP)",
    "ecp5 LUT",
    "18 × 18",
    "BRAM",
    "MHz",
)


class Top(NamedTuple):
    """Rows of a top in binary32; one of them may be empty."""

    unit: str
    config: str
    cells: Row  # on xc7
    placed: Row  # on ecp5

    @property
    def title(self) -> str:
        """As lists and tables call it."""
        return title(self.unit, self.config)

    @property
    def any_row(self) -> Row:
        """For what both rows say."""
        return self.cells or self.placed


def tops(rows: Sequence[Row]) -> list[Top]:
    """All that were measured."""
    found = {}
    for row in rows:
        if not is_unit(row) and in_binary32(row):
            found.setdefault((row["unit"], row["config"]), {})[row["family"]] = row
    return [Top(*key, flows.get("xc7", {}), flows.get("ecp5", {})) for key, flows in found.items()]


def counted(rows: Sequence[Row]) -> str:
    """The float units of each co-processor, as a list."""
    lines = []
    for top in tops(rows):
        units = top.any_row.get("units", {})
        if units:
            number = ", ".join(f"{n} `{unit}`" for unit, n in units.items() if n)
            lines.append(f"- {top.title}: {number}")
    return "\n".join(lines)


def areas(rows: Sequence[Row]) -> str:
    """A table of cells, and of clocks where there are."""
    lines = []
    for top in tops(rows):
        lines.append(
            (
                top.title,
                *(cell(top.cells.get(name)) for name in ("lut", "lutram", "dsp", "ff", "bram")),
                _fits(top.cells),
                *(cell(top.placed.get(name)) for name in ("lut", "dsp", "bram")),
                top.placed.get("note") or cell(top.placed.get("fmax_mhz")),
            )
        )
    return table(TOPS, lines)


def _fits(row: Row) -> str:
    """Whether a row of xc7 fits the device; what it has too little of stands behind the colon."""
    if not row:
        return NONE
    return f"no: {row['note'].split(': ', 1)[1]}" if row["note"] else "yes"


CLOCKS = ("top", "seeds", "MHz, median", "of", "LUT4", "FF", "18 × 18", "BRAM", "FF moved")


def clocks(rows: Sequence[Row]) -> str:
    """A table of the tops that were placed with folded registers, in all formats."""
    lines = []
    for row in rows:
        if "moved" in row:
            found = row["fmax_mhz_of_seeds"]
            lines.append(
                (
                    title(row["unit"], row["config"]),
                    len(found),
                    f"{median(found):.1f}",
                    ", ".join(f"{clock:g}" for clock in found),
                    *(cell(row[name]) for name in ("lut", "ff", "dsp", "bram")),
                    row["moved"]["flip_flops"],
                )
            )
    return table(CLOCKS, lines) if lines else "None was."


TIMES = (
    "top",
    "task",
    "cycles a step",
    "MHz",
    "clock of",
    "**µs a step**",
    "steps/s",
    "steps/s per DSP48E1",
)
HZ_PER_MHZ = 1e6
MHZ_OF_1_NS = 1e3


def cycles_of(unit: str, parameters: Mapping[str, int]) -> dict[str, int]:
    """Task -> cycles a step, of a top with these parameters."""
    if unit == HDCA:
        return {"double_pendulum": of_engines.on_hdca_coprocessor(Stages.of(parameters))}
    if unit == LDUP:
        parallel = bool(parameters["PARALLEL"])
        return {"four_bar": of_engines.on_ldup_coprocessor(parallel, Stages.of(parameters))}
    machine = machine_of(parameters)
    return {task: of_engines.on_engine(task, machine) for task in DEMOS}


def times(rows: Sequence[Row]) -> str:
    """A table of all tops and tasks; a barrel, which steps many systems at once, has none."""
    lines = []
    for top in tops(rows):
        if is_barrel(top.any_row["parameters"]):
            continue
        mhz, where = _clock(rows, top)
        for task, n in cycles_of(top.unit, top.any_row["parameters"]).items():
            us = rate = share = None
            if mhz:
                us, rate = n / mhz, HZ_PER_MHZ * mhz / n
            if rate and top.cells.get("dsp"):
                share = rate / top.cells["dsp"]
            lines.append(
                (
                    top.title,
                    DEMOS[task],
                    n,
                    cell(mhz, "{:.1f}"),
                    where,
                    cell(us, "{:.2f}"),
                    cell(rate, "{:,.0f}"),
                    cell(share, "{:,.0f}"),
                )
            )
    return table(TIMES, lines)


def unit_clock(rows: Sequence[Row], unit: str, stages: int, variant: str = "") -> float | None:
    """The clock in MHz that a unit was placed with; None if it was not."""
    wanted = (unit, config_of(SPEED, variant), stages, "ecp5")
    return next((row["fmax_mhz"] for row in rows if row_key(row) == wanted), None)


def _clock(rows: Sequence[Row], top: Top) -> tuple[float | None, str]:
    """MHz, if there is a clock, and where it is from."""
    if top.any_row.get("units"):
        mhz = _slowest_box(rows, top.any_row)
        return mhz, "slowest unit" if mhz else NONE
    if top.placed.get("fmax_mhz"):
        return top.placed["fmax_mhz"], "ecp5"
    if top.cells.get("logic_ns"):
        return MHZ_OF_1_NS / top.cells["logic_ns"], "xc7, logic alone"
    return None, NONE


def _slowest_box(rows: Sequence[Row], row: Row) -> float | None:
    """The clock of a co-processor's slowest unit: None without registers, or if not measured."""
    stages = box_stages(row["parameters"])
    found = [unit_clock(rows, unit, n) for unit, n in stages.items() if row["units"][unit]]
    return min(found) if all(found) and all(stages.values()) else None


def engine_goals(rows: Sequence[Row]) -> str:
    """Clocks next to those of the slowest units, and the goals of 2+2 lanes, as a list."""
    lines = []
    for top in tops(rows):
        if top.unit != ENGINE or not top.placed.get("fmax_mhz"):
            continue
        if is_barrel(top.placed["parameters"]):
            lines += _barrel_clock(top)
            continue
        clocks = _unit_clocks(rows, top)
        if None in clocks.values():
            continue
        lines.append(_clock_line(top, clocks))
        if top.cells and top.placed["parameters"]["NUM_ADD"] == SWEEP_LANES:
            lines += _sizes(top)
    return "\n".join(lines) or "Not measured."


def _unit_clocks(rows: Sequence[Row], top: Top) -> dict[str, float | None]:
    """Operation -> clock of its unit alone, None if that was not placed."""
    stages = stages_of(top.placed["parameters"])
    return {
        op: unit_clock(rows, unit, stages[op], LANE_VARIANTS[op]) for op, unit in LANE_UNITS.items()
    }


def _clock_line(top: Top, clocks: dict[str, float]) -> str:
    slowest = min(clocks, key=clocks.get)
    stages = stages_of(top.placed["parameters"])[slowest]
    share = top.placed["fmax_mhz"] / clocks[slowest]
    return (
        f"- {top.config}: {top.placed['fmax_mhz']} MHz, {share:.0%} of the {clocks[slowest]} MHz "
        f"of its slowest unit (`{LANE_UNITS[slowest]}`, {stages} stages); at least "
        f"{ENGINE_CLOCK_SHARE:.0%}: {verdict(share >= ENGINE_CLOCK_SHARE)}"
    )


def _barrel_clock(top: Top) -> list[str]:
    mhz, least = top.placed["fmax_mhz"], BARREL_MHZ.get(top.placed["parameters"]["NUM_ADD"])
    if least is None:
        return []
    return [f"- {top.config}: {mhz} MHz; at least {least}: {verdict(mhz >= least)}"]


def _sizes(top: Top) -> list[str]:
    us = cycles_of(top.unit, top.placed["parameters"])["double_pendulum"] / top.placed["fmax_mhz"]
    luts, dsps = top.cells["lut"] + top.cells["lutram"], top.cells["dsp"]
    values = (
        (us, ENGINE_US, f"{us:.2f} µs a step of the double pendulum"),
        (dsps, ENGINE_DSP, f"{dsps} DSP48E1"),
        (luts, ENGINE_LUT, f"{luts} LUT, memories included"),
    )
    return [
        f"- {top.config}: {text}; at most {limit:g}: {verdict(value <= limit)}"
        for value, limit, text in values
    ]


CHOICES = (
    "lanes; stages of add, mul, rec, sin cos",
    "cycles",
    "MHz",
    "µs a step",
    "LUT",
    "DSP48E1",
    "clock of",
)


def choices() -> str:
    """A table of the fastest of each number of lanes, and of the engines measured.

    Raises
    ------
    MissingError
        If `pareto` has not run.
    """
    points = read(ROOT / JSON, "make cost")
    lines = [
        (
            of_engines.name(point),
            point["cycles"],
            f"{point['fmax_mhz']:.1f}",
            f"{point['us']:.2f}",
            point["lut"],
            point["dsp"],
            "placed engine" if point["measured"] else "slowest unit",
        )
        for of_lanes in of_engines.told(points, best=1).values()
        for point in of_lanes
    ]
    return table(CHOICES, lines)


FORMATS = (
    "demo",
    "format",
    "LUT",
    "DSP48E1",
    "FF",
    "MHz",
    "energy − reference [mJ]",
    "of which rounding [mJ]",
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
    return table(FORMATS, lines)


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


def commands(rows: Sequence[Row]) -> str:
    """One command of each kind, of rows that were measured."""
    lines = []
    for unit in ("fp_add", ENGINE):
        for family in FAMILIES:
            some = [row for row in rows if row["unit"] == unit and row["family"] == family]
            for command in some[0]["commands"][:2] if some else ():
                lines.append(f"{unit}, {family}:\n    {shorten(command)}")
    return "```\n" + "\n".join(lines) + "\n```"


DOC = DOCS / "hardware_cost.md"
PAGE = Path(__file__).with_name("hardware_cost.md.jinja")
PICTURES = {"pareto": ROOT / pareto.PICTURE, "formats": formats.PICTURE}


def document(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """The text, from rows of `make synth` and runs of `formats`.

    Raises
    ------
    MissingError
        If `pareto` has not run.
    """
    missing = len(JOBS) - len(rows)
    note = f"\n{missing} of {len(JOBS)} measurements were not made.\n" if missing else ""
    return render(
        PAGE,
        note=note,
        peers=peers(rows),
        units=units(rows),
        measured_units=_units(filter(is_unit, rows)),
        counted=counted(rows),
        areas=areas(rows),
        clocks=clocks(rows),
        measured_tops=_units(row for row in rows if not is_unit(row)),
        times=times(rows),
        engine_goals=engine_goals(rows),
        choices=choices(),
        sweep_lanes=SWEEP_LANES,
        formats=len(formats.FORMATS),
        enough=enough(runs),
        sweep=sweep(rows, runs),
        commands=commands(rows),
    )


def _units(rows: Iterable[Row]) -> str:
    """Names of what was measured, each once."""
    return " ".join(dict.fromkeys(row["unit"] for row in rows))


def from_results() -> str:
    """The text of what the commands have left, its pictures copied.

    Raises
    ------
    MissingError
        If something has to run first.
    """
    rows = current_rows()
    if not rows:
        raise MissingError("no current row in build/synth/summary.json: run `make synth` first")
    text = document(rows, read(formats.RESULT, "make cost"))
    for name, source in PICTURES.items():
        copy_picture(name, source, "make cost")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
