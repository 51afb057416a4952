"""The demos as a user runs them, judged by the regression."""

import json

import pytest

from tb.common.bench import BUILD, RESULTS

TOLERANCE_J = 0.05e-3  # of the demos' figures


def judge(name, simulator, options, difference_j, truncation_j, rounding_below_j):
    """Run a demo through scripts/demo.py into build/<name> and judge its summaries.

    Parameters
    ----------
    difference_j : float
        Largest difference of the kinetic energy to the reference, met within TOLERANCE_J.
    truncation_j : float
        The same of the algorithm in float64: a property of the integrator and its step, met within
        TOLERANCE_J.
    rounding_below_j : float
        Bound on the difference between the two runs.
    """
    from scripts import demo

    out = BUILD / name
    words = [name, "--out", str(out), "--sim", simulator, "--seed", str(options["seed"])]
    words += ["--results", str(RESULTS)]
    assert demo.main(words + ["--waves"] * options["waves"]) == 0
    for folder in (out, out / "step"):
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["identical_to_model"]
        assert summary["steps"] == 10_000
        for key, quoted in (
            ("kinetic_difference_max_J", difference_j),
            ("kinetic_difference_float64_max_J", truncation_j),
        ):
            assert summary[key] == pytest.approx(quoted, abs=TOLERANCE_J)
        assert summary["kinetic_rounding_max_J"] < rounding_below_j
        assert len(list(folder.glob("*.png"))) >= 3
