"""The scenarios that are shipped, and the demos among them."""

from pathlib import Path

from pymodel.hardware.places import SCENARIOS

#: Names of the demos: the shipped scenario of each.
DEMO_SCENARIOS = {"pendulum": "double_pendulum", "fourbar": "four_bar"}


def scenario_file(name: str) -> Path:
    """The file of a shipped scenario, by its name."""
    return SCENARIOS / f"{name}.toml"
