"""The benches whose runs are measured: the only module here that imports from tb/."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymodel.hardware.cosim import array, hdca, step
from pymodel.hardware.cosim.co_simulation import TEST
from pymodel.hardware.cosim.paces import Pace, read_paces
from pymodel.hardware.simulators import usable
from pymodel.hardware.step_array import rtl_parameters as array_parameters
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from tb.cosim_hdca.bench import BENCH as HDCA_BENCH

SIMULATORS = ("verilator", "icarus")


def usable_simulators() -> list[str]:
    """Those that are installed, the faster one first."""
    return [name for name in SIMULATORS if usable(name)]


def run_hdca(simulator: str, steps: int) -> float:
    """Run the double pendulum with the HDCA co-processor.

    Returns
    -------
    float
        Seconds of the test itself, the build not counted.

    Raises
    ------
    SystemExit
        If the hardware differs from the model.
    """
    row = HDCA_BENCH.run(simulator, hdca.CONFIG, settings={"steps": steps})
    _check(row)
    return sum(test["wall_s"] for test in row["tests"])


def run_step_engine(
    machine: Machine, runs: Sequence[dict[str, Any]], out: Path
) -> list[dict[str, Any]]:
    """Run scenarios on a step engine under Verilator.

    Parameters
    ----------
    machine : Machine
    runs : sequence of dict
        Settings of tb/cosim_step: scenario, steps, save, contexts.
    out : Path
        Folder for what the co-simulation leaves.

    Returns
    -------
    list of dict
        What cosim.json says of each run: scenario, contexts, steps, cycles, traced.

    Raises
    ------
    SystemExit
        If the hardware differs from the model.
    """
    row = step.BENCH.run(
        "verilator",
        step.CONFIG,
        testcase=TEST,
        params=rtl_parameters(machine),
        settings={"runs": list(runs), "out": str(out)},
    )
    _check(row)
    return json.loads((out / "cosim.json").read_text())["runs"]


def run_array(machine: Machine, jobs: Sequence[dict[str, Any]], out: Path) -> list[Pace]:
    """Run jobs on a step array under Verilator, its streams never held back.

    Parameters
    ----------
    machine : Machine
    jobs : sequence of dict
        As tb/cosim_array takes them.
    out : Path
        Folder for what the co-simulation leaves.

    Returns
    -------
    list of Pace
        Of each job.

    Raises
    ------
    SystemExit
        If the hardware differs from the text.
    """
    out.mkdir(parents=True, exist_ok=True)
    row = array.BENCH.run(
        "verilator",
        array.CONFIG,
        params=array_parameters(machine),
        settings={"jobs": list(jobs), "stalls": 0, "out": str(out)},
    )
    _check(row)
    return read_paces(out)


def _check(row: dict[str, Any]) -> None:
    if row["result"] != "pass":
        raise SystemExit(row["message"])
