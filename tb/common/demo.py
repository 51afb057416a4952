"""What the regression asks of a demo."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

STEPS, DAILY_STEPS = 10_000, 500  # of the whole motion; of it in `make test`
TOLERANCE_J = 0.05e-3  # of the demos' figures


def demo_steps(options: dict[str, Any]) -> int:
    """How many steps of a demo run: all but by day."""
    return DAILY_STEPS if options["daily"] else STEPS


def judge(
    summaries: Sequence[dict[str, Any]],
    folders: Sequence[Path],
    steps: int,
    difference_j: float,
    rounding_below_j: float,
) -> None:
    """Judge the runs of a demo; AssertionError if one is not as it must be.

    Parameters
    ----------
    summaries, folders
        Results of the co-processor and the step engine.
    steps
        How many they are of.
    difference_j
        Largest difference of the kinetic energy to the reference, met within TOLERANCE_J by the run
        and by the algorithm in float64: a property of the integrator and its step. The beginning
        of the motion differs by less.
    rounding_below_j
        Bound on the difference between the two.
    """
    assert summaries[-1]["identical_to_native"] == "yes"
    for summary, folder in zip(summaries, folders, strict=True):
        assert summary["identical_to_model"]
        assert summary["steps"] == steps
        for key in ("kinetic_difference_max_J", "kinetic_difference_float64_max_J"):
            if steps == STEPS:
                assert summary[key] == pytest.approx(difference_j, abs=TOLERANCE_J)
            assert 0 < summary[key] < difference_j + TOLERANCE_J
        assert summary["kinetic_rounding_max_J"] < rounding_below_j
        assert len(list(folder.glob("*.png"))) >= 3
