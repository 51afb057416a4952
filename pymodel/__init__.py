"""Planar mechanisms by HDCA: a bit-exact model of the hardware, and what compiles programs for it.

What a user needs has a flat name here; docs/python_api.md shows it at work::

    import pymodel

    run = pymodel.simulate(pymodel.load("scenarios/four_bar.toml"), "float32")
    print(run.t.shape, run.q.shape)

Angles are in rad, lengths in m, momenta in N m s, everything else in SI units; arrays are numpy's,
float64. A module is imported when one of its names is used first.
"""

from importlib import import_module
from typing import Any

#: Public name -> module, and its name there if it is another one.
_HOMES = {
    # scenarios
    "load": "mechanism.scenario_file",
    "parse": "mechanism.scenario_file",
    "Scenario": "mechanism.scenario",
    "Body": "mechanism.scenario",
    "Loop": "mechanism.scenario",
    "ScenarioError": "mechanism.scenario",
    # runs of the model
    "simulate": "runs.simulate",
    "reference": "runs.lagrangian:simulate",
    "differences": "runs.summary",
    "Trajectory": "runs.trajectory",
    "read_csv": "runs.trajectory",
    "write_csv": "runs.trajectory",
    "NoReferenceError": "runs.lagrangian",
    "NonFiniteError": "runs.recorder",
    "SingularError": "algorithms.requests",
    # many runs
    "sweep": "runs.sweep",
    "Uniform": "runs.ensemble",
    "Normal": "runs.ensemble",
    "read_table": "runs.sweep_files",
    # robots
    "load_robot": "runs.robot_model:load",
    "RobotModel": "runs.robot_model",
    "RobotError": "mechanism.urdf",
    # programs for the step engine
    "Format": "arith.fp",
    "Machine": "machine.isa",
    "ProgramError": "machine.isa",
    "Twin": "machine.model",
    "Kernel": "compile.kernel",
    "record": "compile.kernel",
    "recorded": "compile.registry",
    "RecordingError": "compile.graph",
    "schedule": "compile.schedule",
    "prepare_call": "runs.engine_runs",
    "prepare_run": "runs.engine_runs:prepare",
    "fitting": "runs.engine_runs",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Find a public name in its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), own or name)


def __dir__() -> list[str]:
    """List the public names, besides what every module has."""
    return sorted([*globals(), *_HOMES])
