"""Where things stand: the folders that scripts read and write."""

from pathlib import Path

from pymodel.hardware.places import BUILD, ROOT

__all__ = [
    "BUILD",
    "DEMOS",
    "DEMO_SCENARIOS",
    "DOCS",
    "IMAGES",
    "ROOT",
    "SCENARIOS",
    "scenario_file",
]

DOCS = ROOT / "docs"
IMAGES = DOCS / "img"
SCENARIOS = ROOT / "scenarios"

#: The shipped scenarios of the demos.
DEMOS = {"double_pendulum": "double pendulum", "four_bar": "four-bar"}
#: What `make` calls the demos, and their folders in build/: the scenario of each.
DEMO_SCENARIOS = {"pendulum": "double_pendulum", "fourbar": "four_bar"}


def scenario_file(name: str) -> Path:
    """The file of a shipped scenario, by its name."""
    return SCENARIOS / f"{name}.toml"
