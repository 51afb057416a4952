"""The demos as a user runs them, judged by the regression."""

import json

import pytest

from tb.common.bench import BUILD, ROOT


def judge(name, config, simulator, options, kinetic_difference_j, rounding_below_j):
    """Run a demo through scripts/run.py into build/<name> and judge its summary.

    Parameters
    ----------
    kinetic_difference_j : float
        Largest difference of the kinetic energy to the reference; within 1 % of it.
    rounding_below_j : float
        Bound on the part of it that is rounding.
    """
    from scripts import run

    out = BUILD / name
    words = ["--scenario", str(ROOT / "scenarios" / f"{config}.toml"), "--target", "coprocessor"]
    words += ["--sim", simulator, "--out", str(out), "--seed", str(options["seed"])]
    assert run.main(words + ["--waves"] * options["waves"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["identical_to_model"]
    assert summary["steps"] == 10_000
    expected = pytest.approx(kinetic_difference_j, rel=0.01)
    assert summary["kinetic_difference_max_J"] == expected
    assert summary["kinetic_rounding_max_J"] < rounding_below_j
    assert len(list(out.glob("*.png"))) >= 3
