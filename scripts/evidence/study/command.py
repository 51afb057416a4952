"""Paper 001's study of HDCA against DCA: runs, tables, pictures and docs/study.md.

`make study` writes build/study: ``study.json`` with all results, a table over time of each case
and algorithm (CSV), pictures; and the page with its pictures. Two processes, half an hour. With
``--only`` one part of it is measured again, and the others stay as study.json has them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.app.options import OptionParser, one_of
from pymodel.compile import count
from pymodel.compile.rivals import recorded
from pymodel.mechanism import kinematics
from pymodel.runs import lagrangian
from pymodel.runs.input_error import InputError
from scripts.evidence.study import amounts, depth, document, plots, thin
from scripts.evidence.study.cases import CASES, CONTESTANTS, METHODS, SHOWN, TOLERANCES
from scripts.evidence.study.runs import Job, Series, right_hand_side, solved
from scripts.evidence.study.workers import in_parallel
from scripts.kernel.places import BUILD, DOCS, IMAGES, ROOT

OUT = BUILD / "study"
RESULTS = OUT / "study.json"
SHOWN_METHOD = "RK45"
REFERENCE = "1"  # the case whose motion is compared with Lagrange's equations
HALF = 5.0  # s


def _shown(job: Job) -> bool:
    return job.method == SHOWN_METHOD and job.tolerance == SHOWN


def _run(job: Job) -> tuple[Job, Series | None, dict[str, Any]]:
    series, row = solved(job)
    return job, series if _shown(job) else None, row


def _growth(series: Series) -> dict[str, float]:
    """Exponents of time by which worst errors so far grow, from half the run to its end."""
    first = series.t <= HALF
    return {
        name: float(np.log2(abs(values).max() / abs(values[first]).max()))
        for name in ("position", "velocity")
        for values in [getattr(series, name)]
    }


def _difference(series: Series) -> dict[str, float]:
    """Worst differences of K's height and its rate to Lagrange's equations, and the range."""
    _, scenario, body, _ = CASES[REFERENCE]
    run = lagrangian.simulate(scenario, series.t)
    point = scenario.bodies[body].tip
    y = kinematics.point_position(scenario, run.q, body, point)[:, 1]
    y_dot = kinematics.point_velocity(scenario, run.q, run.qd, body, point)[:, 1]
    return {
        "y": float(abs(series.y - y).max()),
        "y_dot": float(abs(series.y_dot - y_dot).max()),
        "range": float(np.ptp(y)),
        "range_dot": float(np.ptp(y_dot)),
    }


def _evaluation(case: str, algorithm: str) -> dict[str, Any]:
    """Operations and time of one right-hand side."""
    found = count.kernel(recorded(algorithm, CASES[case].scenario))
    return {
        "case": case,
        "algorithm": algorithm,
        "microseconds": 1e6 * right_hand_side(case, algorithm).seconds(),
        "path": found["critical_path"],
        **found["operations"],
    }


def _write_runs() -> tuple[dict[str, Any], list[Path]]:
    """All runs, and the files that show them: what is kept of them, and the pictures."""
    results, series = _measure()
    for (case, name), values in series.items():
        np.savetxt(
            OUT / f"case{case}_{name}.csv",
            np.column_stack(values),
            delimiter=",",
            comments="",
            header=",".join(Series._fields),
        )
    return results, plots.draw(results["rows"], series, OUT)


def _measure() -> tuple[dict[str, Any], dict[tuple[str, str], Series]]:
    """All runs; what is kept of them, and the series of the pictures."""
    jobs = [Job(*job) for job in product(CASES, CONTESTANTS, METHODS, TOLERANCES)]
    jobs.sort(key=lambda job: (not _shown(job), job.method != "RK23", job.tolerance))
    rows, series = [], {}
    evaluations = [_evaluation(case, name) for case in CASES for name in ("hdca", "dca")]
    for job, shown, row in in_parallel(_run, jobs, "compiling", "runs"):
        rows.append(row)
        if shown is not None:
            series[job.case, job.contestant] = shown
    rows.sort(key=lambda row: [list(row.values())[:3], -row["tolerance"]])
    results = {
        "rows": rows,
        "evaluations": evaluations,
        "growth": {
            f"{case} {name}": _growth(values) for (case, name), values in sorted(series.items())
        },
        "difference": _difference(series[REFERENCE, "hdca"]),
    }
    return results, series


def _write_depth() -> tuple[dict[str, Any], list[Path]]:
    """Operations, paths and schedules of chains, and their picture."""
    rows = depth.measure()
    depth.draw(rows, picture := OUT / "study_depth.png")
    return {"depth": rows}, [picture]


def _write_thin() -> tuple[dict[str, Any], list[Path]]:
    """Errors of thin bodies' rates, and their picture."""
    rows = thin.measure()
    thin.draw(rows, picture := OUT / "study_thin.png")
    return {"thin": rows}, [picture]


#: Part of the study -> what measures and draws it: its results, and its pictures.
PARTS: Mapping[str, Callable[[], tuple[dict[str, Any], list[Path]]]] = {
    "runs": _write_runs,
    "depth": _write_depth,
    "thin": _write_thin,
    "amounts": lambda: ({"amounts": amounts.measure()}, []),
}
#: What of their results the page needs.
NEEDED = {"rows", "depth", "thin", "amounts"}


def study(parts: Iterable[str]) -> dict[str, Any]:
    """Measure some parts of the study, with the others as study.json has them."""
    OUT.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    others = PARTS.keys() - set(parts)
    results = json.loads(RESULTS.read_text()) if others and RESULTS.exists() else {}
    for part in parts:
        found, pictures = PARTS[part]()
        results |= found
        for picture in pictures:
            (IMAGES / picture.name).write_bytes(picture.read_bytes())
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(
        prog="scripts.evidence.study.command", description=__doc__.splitlines()[0]
    )
    parts = one_of("ONLY", *PARTS)
    parser.add_argument("--only", type=parts, help=f"one part: {', '.join(PARTS)}")
    try:
        only = parser.parse_args(arguments).only
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    results = study([only] if only else PARTS)
    print(OUT.relative_to(ROOT))
    page = DOCS / "study.md"
    if results.keys() >= NEEDED:
        page.write_text(document.document(results))
        print(page.relative_to(ROOT))
    else:
        print(f"{page.relative_to(ROOT)} stays: it needs the other parts, `{document.COMMAND}`")
    return 0
