"""The demos as a user runs them, judged by the regression."""

import json

import pytest

from tb.common.bench import BUILD, RESULTS, ROOT

TOLERANCE_J = 0.05e-3  # of the demos' figures


def judge(name, config, simulator, options, difference_j, truncation_j, rounding_below_j):
    """Run a demo through scripts/run.py into build/<name> and judge its summary.

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
    from scripts import run

    out = BUILD / name
    words = ["--scenario", str(ROOT / "scenarios" / f"{config}.toml"), "--target", "coprocessor"]
    words += ["--sim", simulator, "--out", str(out), "--seed", str(options["seed"])]
    words += ["--results", str(RESULTS)]
    assert run.main(words + ["--waves"] * options["waves"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["identical_to_model"]
    assert summary["steps"] == 10_000
    for key, quoted in (
        ("kinetic_difference_max_J", difference_j),
        ("kinetic_difference_float64_max_J", truncation_j),
    ):
        assert summary[key] == pytest.approx(quoted, abs=TOLERANCE_J)
    assert summary["kinetic_rounding_max_J"] < rounding_below_j
    assert len(list(out.glob("*.png"))) >= 3
