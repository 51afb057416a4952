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
from collections.abc import Sequence
from typing import Any

from pymodel.app.options import OptionParser, whole
from pymodel.arith.errors import Error
from pymodel.mechanism.scenario_file import MAX_STEPS, load
from pymodel.runs import session
from scripts.evidence.cost.formats_plot import plot
from scripts.evidence.cost.formats_result import OUT, PICTURE, RESULT, Run, arithmetics, costs
from scripts.evidence.cost.summary import current_rows
from scripts.kernel.documents import read
from scripts.kernel.places import DEMOS, ROOT, scenario_file

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
