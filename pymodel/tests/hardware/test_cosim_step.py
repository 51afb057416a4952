"""What the co-simulation of the step engine runs."""

from pathlib import Path

from pymodel.tests.places import SCENARIOS
from tb.cosim_step.bench import BENCH


def test_every_shipped_scenario_runs_on_the_step_engine():
    runs = [run for config in BENCH.configs.values() for run in config.settings["runs"]]
    run = {Path(run["scenario"]).stem for run in runs}
    assert run == {path.stem for path in SCENARIOS.glob("*.toml")}, "see tb/cosim_step/bench.py"
