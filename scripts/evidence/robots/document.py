"""Write docs/robots_results.md from what `scripts.evidence.robots.measure` left in build/robots.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodel.machine.isa import Machine
from scripts.evidence.robots.cases import (
    ARM,
    CLOSED_LOOP,
    FORMATS,
    LANES,
    LOOP,
    LOOP_COMMAND,
    LOOP_FORMATS,
    MEASURED,
    NAMES,
    PICTURE,
    ROBOTS,
    STATES,
    closed_loop_summary,
    robot,
)
from scripts.evidence.robots.field import field, placed, verdict
from scripts.kernel.documents import copy_picture, read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "robots_results.md"
PAGE = Path(__file__).with_name("robots_results.md.jinja")
COMMAND = "make robots-tables"
NONE = "–"
#: Errors that formats are judged by, relative to the largest entry.
GOALS = (1e-2, 1e-3, 1e-4, 1e-5)

Rows = Sequence[Mapping[str, Any]]


def _title(name: str) -> str:
    return f"{name} ({robot(name).nv})"


def _by_robot(rows: Rows, cell: Callable[[Mapping[str, Any]], str], title: str) -> str:
    """A table of functions by robots."""
    found = {(row["robot"], row["function"]): cell(row) for row in rows}
    return table(
        (title, *map(_title, ROBOTS)),
        [(function, *(found[name, function] for name in ROBOTS)) for function in NAMES],
    )


def errors(rows: Rows) -> str:
    """Worst and median errors in float32."""
    return _by_robot(rows, lambda row: f"{row['worst']:.1e} / {row['median']:.1e}", "float32")


def formats(rows: Rows) -> str:
    """Worst and median errors by format."""
    found = {(row["format"], row["function"]): row for row in rows}

    def cell(row: Mapping[str, Any]) -> str:
        median = NONE if row["median"] is None else f"{row['median']:.1e}"
        return f"{row['worst']:.1e} / {median}"

    return table(
        (f"{ARM}: format", *NAMES),
        [(str(fmt), *(cell(found[str(fmt), function]) for function in NAMES)) for fmt in FORMATS],
    )


def enough(rows: Rows) -> str:
    """The narrowest format whose worst error is below a bound."""
    found = {(row["format"], row["function"]): row for row in rows}

    def narrowest(function: str, bound: float) -> str:
        for fmt in sorted(FORMATS, key=lambda fmt: fmt.width):
            row = found[str(fmt), function]
            if row["finite"] == STATES and row["worst"] < bound:
                return str(fmt)
        return NONE

    return table(
        ("worst error below", *NAMES),
        [(f"{bound:g}", *(narrowest(function, bound) for function in NAMES)) for bound in GOALS],
    )


def loop_formats(rows: Rows) -> str:
    """Errors of the closed loop by format."""
    found = {row["format"]: row for row in rows}
    return table(
        (f"{ARM} under control: format", "joint angles [rad]", "torques, by the largest"),
        [
            (str(fmt), *(f"{found[str(fmt)][key]:.1e}" for key in ("q", "tau")))
            for fmt in LOOP_FORMATS
        ],
    )


def counts(rows: Rows) -> str:
    """Operations and longest paths."""

    def cell(row: Mapping[str, Any]) -> str:
        return f"{row['mul']} + {row['add']} ({row['rec']}; {row['path']})"

    return _by_robot(rows, cell, "× and + (1/x; path)")


def schedules(rows: Rows) -> str:
    """Cycles by lanes, and the memory that the programs need."""
    found = {(row["robot"], row["function"], row["lanes"]): row for row in rows}

    def cells(name: str, function: str) -> list[str]:
        some = [found[name, function, lanes] for lanes in LANES]
        cycles = [
            f"{row['cycles']} ({row['bound']}, +{row['cycles'] / row['bound'] - 1:.1%})"
            for row in some
        ]
        return [*cycles, *(str(row["registers"]) for row in some)]

    named = [(name, function) for name in ROBOTS for function in NAMES] + [(ARM, LOOP)]
    lanes = [f"{n}+{n}" for n in LANES]
    return table(
        (
            "robot, function",
            *(f"cycles on {x}" for x in lanes),
            *(f"registers, {x}" for x in lanes),
        ),
        [(f"{name} {function}", *cells(name, function)) for name, function in named],
    )


def closed_loop(summary: Mapping[str, Any]) -> str:
    """The run in RTL."""
    clock = placed(int(summary["lanes"].partition("+")[0])).mhz
    step = summary["cycles_of_a_step"]
    rows = [
        ("robot", f"{summary['robot']}, {summary['degrees_of_freedom']} degrees of freedom"),
        ("steps", f"{summary['steps']} of {1e3 * summary['step_s']:g} ms"),
        ("identical to the model, bit for bit", "yes" if summary["identical"] else "NO"),
        ("words compared", summary["words_compared"]),
        (
            f"cycles per step, {summary['lanes']} lanes",
            f"{step}, lower bound {summary['bound_of_a_step']}",
        ),
        (f"time per step at {clock:g} MHz (placed, an estimate)", f"{step / clock:.2f} µs"),
        ("registers per bank", summary["registers_of_a_bank"]),
        ("distance to the target [rad]", f"{summary['left_to_the_target']:.2g}"),
        *(
            (f"{name}, largest difference to Pinocchio [{unit}]", f"{found:.1e}")
            for name, unit in (("q", "rad"), ("qd", "rad/s"), ("tau", "N m"))
            for found in [summary[f"{name}_error_to_Pinocchio"]]
        ),
    ]
    return table(("PD control with gravity compensation, float32, RTL", "value"), rows)


def document(tables: Mapping[str, Rows], loop: Mapping[str, Any]) -> str:
    """The text."""
    return render(
        PAGE,
        command=COMMAND,
        hyq=_title("hyq"),
        atlas=_title("atlas"),
        states=STATES,
        errors=errors(tables["errors"]),
        formats=formats(tables["formats"]),
        enough=enough(tables["formats"]),
        loop_formats=loop_formats(tables["closed_loop"]),
        counts=counts(tables["counts"]),
        schedules=schedules(tables["schedules"]),
        closed_loop=closed_loop(loop),
        loop_command=LOOP_COMMAND,
        depth=Machine().depth,
        program_depth=Machine().program_depth,
        field=field(tables),
        verdict=verdict(tables),
    )


def from_results() -> str:
    """The text of what the commands have left, its pictures copied."""
    tables = read(MEASURED, COMMAND)
    text = document(tables, closed_loop_summary())
    copy_picture("robot_formats", PICTURE, COMMAND)
    copy_picture("closed_loop", CLOSED_LOOP / "motion.png", LOOP_COMMAND)
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
