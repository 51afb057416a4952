"""The subcommand `compare`: two runs, column by column."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.options import Asked
from pymodel.runs.comparison import compare as compare_runs
from pymodel.runs.files import read_table
from pymodel.runs.input_error import InputError

DONE, NO = 0, 1  # exit status


def compare(arguments: Asked) -> int:
    """Compare two run.csv column by column; exit status 1 if any bit differs."""
    a, b = read_table(arguments.a), read_table(arguments.b)
    if (a.nq, a.nv) != (b.nq, b.nv):
        raise InputError(f"{arguments.b}: {b.size_text}, but {arguments.a} has {a.size_text}")
    found = compare_runs(a, b)
    table = Table(title=Text(f"{arguments.a} and {arguments.b}: {min(found.rows)} rows"))
    for name in ("column", "max abs difference", "bits", "rows that differ", "first at t [s]"):
        table.add_column(Text(name), justify="left" if name in ("column", "bits") else "right")
    for name, column in found.columns.items():
        bits = "identical" if column.identical else "differ"
        first = "" if column.time is None else repr(column.time)
        table.add_row(name, f"{column.largest:.6g}", bits, str(column.rows), first)
    console = Console()
    console.print(table)
    if len(a) != len(b):
        text = f"rows: {len(a)} in {arguments.a}, {len(b)} in {arguments.b}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print("bit-identical" if found.identical else "different")
    return DONE if found.identical else NO
