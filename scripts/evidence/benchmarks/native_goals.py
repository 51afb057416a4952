"""What the native kernels are to reach against their peers, and what others print."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pymodel.mechanism.scenario import Scenario
from scripts.evidence.benchmarks.native_work import BATCH, ONE
from scripts.evidence.benchmarks.peers import casadi_peer, mujoco_peer, pinocchio_peer
from scripts.evidence.benchmarks.peers.pinocchio_peer import CALLS

#: How many times faster than a peer.
STEPS = {"double_pendulum": 4.0, "four_bar": 6.0}
MUJOCO = 1.0
ONE_CALL = {"ID": 1.0, "FD": 1.0}  # in float64
GENERATED = {"ID": 1.6, "FD": 2.0, "dID": 3.0, "dFD": 3.0}  # likewise, against CasADi's C
BATCHES = {"ID": 15.0, "FD": 15.0, "dID": 15.0, "dFD": 10.0}  # in float32


def goal(row: Mapping[str, Any]) -> float | None:
    """The ratio that a row is to reach, None if there is none."""
    name, _, function = row["work"].partition(" ")
    if name in STEPS:
        return MUJOCO if row["peer"] == mujoco() else STEPS[name]
    if row["peer"] == casadi_call(function):
        return GENERATED[function] if (row["format"], row["mode"]) == ("float64", ONE) else None
    goals = {("float64", ONE): ONE_CALL, ("float32", BATCH): BATCHES}
    return goals.get((row["format"], row["mode"]), {}).get(function)


def mujoco() -> str:
    """What MuJoCo's column says."""
    return f"{mujoco_peer.NAME} {mujoco_peer.CALL}"


def pinocchio_step(scenario: Scenario) -> str:
    """What Pinocchio's column says of a mechanism."""
    return f"{pinocchio_peer.NAME} {pinocchio_peer.call_of(scenario)}"


def pinocchio_call(function: str) -> str:
    """What Pinocchio's column says of a robot's function."""
    return f"{pinocchio_peer.NAME} {CALLS[function]}"


def casadi_call(function: str) -> str:
    """What the column of CasADi's C says of a robot's function."""
    return f"{casadi_peer.NAME} {CALLS[function]}"


class Printed(NamedTuple):
    """What authors print of their own work; nothing of it was measured here.

    Attributes
    ----------
    what, machine : str
    figure : str
        As it is printed.
    ns : float
        What it comes to for one evaluation.
    source : str
    """

    what: str
    machine: str
    figure: str
    ns: float
    source: str


#: Typed from their texts; what is not printed there is not claimed.
PRINTED = (
    Printed(
        "GRiD, dFD of iiwa",
        "GPU, RTX 3080",
        "23 µs for 256",
        23e3 / 256,
        "Plancher et al., GRiD, ICRA 2022",
    ),
    Printed(
        "frax, dynamics of an arm",
        "GPU, not named there",
        "upwards of 100 million a second",
        10.0,
        "Morton and Pavone, arXiv 2604.04310, abstract",
    ),
    Printed(
        "Dadu-RBD, diFD of iiwa",
        "FPGA, XCVU9P",
        "0.76 µs, one",
        760.0,
        "Dadu-RBD's paper",
    ),
    Printed(
        "Robomorphic, diFD of iiwa",
        "FPGA, XCVU9P",
        "0.61 µs, one",
        610.0,
        "Dadu-RBD's paper",
    ),
)
