"""The demos as a user runs them, judged by the regression."""

import json

import pytest

from tb.common.bench import BUILD, ROOT

TOLERANCE_J = 0.05e-3  # half of the last digit that the demos' figures are quoted with


def judge(name, config, simulator, options, truncation_j, rounding_below_j):
    """Run a demo through scripts/run.py into build/<name> and judge its summary.

    Parameters
    ----------
    truncation_j : float
        Largest difference of the kinetic energy to the reference that the same algorithm has in
        float64: a property of the integrator and its step, met within TOLERANCE_J, as is the run's.
    rounding_below_j : float
        Bound on what rounding adds to it.
    """
    from scripts import run

    out = BUILD / name
    words = ["--scenario", str(ROOT / "scenarios" / f"{config}.toml"), "--target", "coprocessor"]
    words += ["--sim", simulator, "--out", str(out), "--seed", str(options["seed"])]
    assert run.main(words + ["--waves"] * options["waves"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["identical_to_model"]
    assert summary["steps"] == 10_000
    truncation = summary["kinetic_difference_float64_max_J"]
    assert truncation == pytest.approx(truncation_j, abs=TOLERANCE_J)
    assert summary["kinetic_difference_max_J"] == pytest.approx(truncation_j, abs=TOLERANCE_J)
    assert summary["kinetic_rounding_max_J"] < rounding_below_j
    assert len(list(out.glob("*.png"))) >= 3
