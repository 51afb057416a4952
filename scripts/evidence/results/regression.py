"""What the regression checked."""

import json
from collections import defaultdict

from scripts.kernel.documents import MissingError, table
from scripts.kernel.places import BUILD


def regression() -> str:
    """Values checked by each bench, both simulators.

    Raises
    ------
    MissingError
        If it has not run.
    """
    found = sorted((BUILD / "results").glob("*.json"))
    if not found:
        raise MissingError("build/results is empty: run `make test WHOLE=1` first")
    benches = defaultdict(lambda: defaultdict(list))
    for path in found:
        row = json.loads(path.read_text())
        benches[row["bench"]][row["simulator"]].append(row)
    rows = []
    for bench, sims in benches.items():
        for sim, runs in sims.items():
            rows.append(
                (
                    bench,
                    sim,
                    len(runs),
                    sum(len(run["tests"]) for run in runs),
                    f"{sum(run['transactions'] for run in runs):,}",
                    f"{sum(run['wall_s'] for run in runs):.0f}",
                    "pass" if all(run["result"] == "pass" for run in runs) else "**FAIL**",
                )
            )
    head = ("bench", "simulator", "configurations", "tests", "values checked", "s", "result")
    return table(head, rows)
