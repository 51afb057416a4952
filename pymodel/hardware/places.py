"""Where things are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
COVERED = BUILD / "coverage" / "met"  # bins that simulations have met
RESULTS = BUILD / "results"  # the regression's result rows
