"""The subcommand `count`: float operations of the sub-designs, of a time step, of a robot."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.call import HEADINGS, is_robot, operations
from pymodel.app.checks import require_used
from pymodel.app.options import Asked
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import PATIENCE, progress

DONE = 0  # exit status

OPERATION_SIGNS = {"add": "+", "mul": "x", "rec": "1/x"}

# Title, headings, rows; columns with these headings hold text, the others numbers.
TableData = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
TEXT_COLUMNS = ("sub-design", "equation", "units", "operation", "function", "method")


def count(arguments: Asked) -> int:
    """Count the float operations of the sub-designs and of a scenario's step, or of a robot."""
    tables = _counted(arguments)
    if arguments.markdown:
        print("\n".join(_markdown(*table) for table in tables), end="")
        return DONE
    console = Console()
    for title, headings, rows in tables:
        table = Table(title=Text(title))  # Text: brackets are no markup
        for heading in headings:
            text = heading in TEXT_COLUMNS
            table.add_column(Text(heading), justify="left" if text else "right", no_wrap=not text)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    return DONE


def _counted(arguments: Asked) -> list[TableData]:
    """The tables of `count`."""
    path = arguments.source
    options = (
        arguments.floating,
        arguments.parameters_as_data,
        arguments.snap,
        arguments.gravity,
    )
    robot = path and is_robot(path)
    given = (*options, arguments.link, not arguments.mimic)
    if any(given) and not robot:
        names = "--floating, --link, --parameters-as-data, --snap, --gravity, --no-mimic"
        raise InputError(f"{names}: only for a robot file")
    if arguments.shape is not None and (robot or not path):
        raise InputError("--shape: only for a scenario")
    if robot:
        title, rows = operations(path, *options, arguments.mimic, arguments.link)
        return [(title, HEADINGS, rows)]
    if not path:
        return _subdesign_tables()
    shape = "balanced" if arguments.shape is None else arguments.shape
    scenario = load(path)
    require_used(scenario, shape=arguments.shape)
    return [*_subdesign_tables(), _step_table(scenario, shape)]


def _subdesign_tables() -> list[TableData]:
    """Our own table 4, and the units that its passes need."""
    from pymodel.algorithms import two_handles
    from pymodel.compile import count as counting

    rows = counting.subdesigns()
    formulas = [_formula(function) for _, function, *_ in two_handles.SUBDESIGNS]
    passes = {0: "own units", 1: "1", 2: "2"}
    lines = [
        (
            str(number),
            row["name"],
            f"({row['equation']})",
            formula,
            *(str(row[op]) for op in OPERATION_SIGNS),
            passes[row["pass"]],
        )
        for number, (row, formula) in enumerate(zip(rows, formulas, strict=True), start=1)
    ]
    total = (str(sum(row[op] for row in rows)) for op in OPERATION_SIGNS)
    lines.append(("", "total", "", "", *total, ""))
    pool = counting.pool(rows)
    units = [
        (text, *(str(pool[op][key]) for op in OPERATION_SIGNS))
        for key, text in (("two_passes", "two passes"), ("one_pass", "one pass"))
    ]
    units.append(
        (
            "Turno and Malczyk, 2022, two passes",
            *(str(counting.PAPER_POOL.get(op, "-")) for op in OPERATION_SIGNS),
        )
    )
    signs = tuple(OPERATION_SIGNS.values())
    return [
        (
            "Operations of the sub-designs",
            ("no.", "sub-design", "eq.", "equation", *signs, "pass"),
            lines,
        ),
        ("Float units, both phases together", ("units", *signs), units),
    ]


def _formula(function: Callable[..., Any]) -> str:
    """The equation in the first line of a sub-design's docstring, without the words behind it."""
    line = (function.__doc__ or "").partition("\n")[0]
    found = re.match(r"\(\d+\): (.*?)(?:[;,] .*| \(symmetric\))?\.$", line)
    assert found is not None
    return found[1]


def _step_table(scenario: Scenario, shape: str) -> TableData:
    """Operations and the longest dependency path of one whole step."""
    from pymodel.compile import count as counting

    with progress(scenario.name, "recording", patience=PATIENCE):
        step = counting.step(scenario, shape=shape)
    rows = [
        (OPERATION_SIGNS.get(op, op), *map(str, (step["operations"][op], step["path"][op], cycles)))
        for op, cycles in counting.LATENCY.items()
    ]
    rows.append(("cycles", "", str(step["critical_path"]), ""))
    title = f"One step of {scenario.name}: {len(scenario.bodies)} bodies, {scenario.integrator}"
    headings = ("operation", "in all", "on the longest path", "latency [cycles]")
    return f"{title}, {shape} tree", headings, rows


def _markdown(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table as markdown; equations as code."""
    equation = headings.index("equation") if "equation" in headings else -1
    marks = [" --- " if heading in TEXT_COLUMNS else " ---: " for heading in headings]
    lines = [f"### {title}", "", f"| {' | '.join(headings)} |", f"|{'|'.join(marks)}|"]
    for row in rows:
        cells = [f"`{c}`" if k == equation and c else c for k, c in enumerate(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
