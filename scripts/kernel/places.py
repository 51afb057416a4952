"""Where things stand: the folders that scripts read and write."""

from pymodel.app.shipped import DEMO_SCENARIOS, scenario_file
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
