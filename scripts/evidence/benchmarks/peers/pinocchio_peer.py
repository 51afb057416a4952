"""Pinocchio's times in C++, by pinocchio.cpp."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, columns
from pymodel.arith.scalars import Float64Arrays
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import pinocchio_reference
from pymodel.runs.robot_calls import full_table, random_states
from scripts.evidence.benchmarks.peers import building
from scripts.evidence.benchmarks.peers.states import SEED, accelerations, moving

NAME = "Pinocchio"
#: Function -> what computes it there.
CALLS = {
    "ID": "rnea",
    "FD": "aba",
    "dID": "computeRNEADerivatives",
    "dFD": "computeABADerivatives",
}
TREE, LOOPS = "aba", "constraintDynamics"  #: likewise the accelerations of a mechanism
AGREES = 1e-9  # largest difference by the largest value
ROWS, SHOWN = 64, 4  # states that are timed, and compared
#: Accuracy, mu and iterations of the proximal solver: its defaults but for mu, which is 0 there. A
#: plane mechanism's pins in space have a direction to spare.
PROXIMAL = (1e-12, 1e-10, 1)

#: What Pinocchio's own CMake files define, and its headers' warnings off.
DEFINED = (
    "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "BOOST_FUSION_INVOKE_MAX_ARITY=12",
    "PINOCCHIO_DISABLE_UNSUPPORTED_WARNINGS",
)
#: What has the headers; those of Eigen are in none of pin's own dependencies.
PACKAGES = ("pin", "cmeel-boost", "cmeel-eigen")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG")
VARIANTS = ((), ("-DEIGEN_DONT_VECTORIZE",))


@dataclass(frozen=True)
class States:
    """Rows of q, qd, and accelerations or torques."""

    q: np.ndarray
    qd: np.ndarray
    x: np.ndarray

    def text(self) -> str:
        """Numbers of a state a line."""
        return "\n".join(map(building.numbers, np.hstack((self.q, self.qd, self.x))))


def include_flags() -> list[str]:
    """Where headers are, and what they want defined."""
    prefix = Path(importlib.util.find_spec("cmeel").origin).parents[1] / "cmeel.prefix" / "include"
    found = ["-isystem", str(prefix), "-isystem", str(prefix / "eigen3")]
    return [*(f"-D{name}" for name in DEFINED), *found]


def build() -> list[Path]:
    """Compile the program twice, with Eigen's vectors and without: either may be faster. 2 minutes.

    Returns
    -------
    list of Path

    Raises
    ------
    PeerError
        If a compiler or headers are missing.
    """

    def one(more: Sequence[str]) -> Path:
        flags = (*FLAGS, *more, *include_flags())
        return building.compiled(building.SOURCES / "pinocchio.cpp", "g++", flags, PACKAGES)

    return [one(more) for more in VARIANTS]


def robot_ns(
    programs: Sequence[Path], robot: Robot, functions: Sequence[str], budget: float
) -> dict[str, float]:
    """Time a robot's functions.

    Parameters
    ----------
    programs : sequence of Path
        What :func:`build` gave.
    robot : Robot
        As its file has it.
    functions : sequence of str
        Keys of :data:`CALLS`.
    budget : float
        Seconds to spend on each.

    Returns
    -------
    dict
        Function -> ns of a call.

    Raises
    ------
    PeerError
        If it computes something else.
    """
    its, states, right = robot_states(robot, functions)
    found = _measured(programs, _text(its, (), states, list(right), budget), right)
    return {function: found[CALLS[function]] for function in functions}


def robot_states(
    robot: Robot, functions: Sequence[str]
) -> tuple[pinocchio.Model, States, dict[str, np.ndarray]]:
    """A robot as Pinocchio reads it, its states, and our results of those shown, by call."""
    table = random_states(robot, "ID", ROWS, SEED)

    def array(kind: str) -> np.ndarray:
        return np.stack([table[name] for name in columns(robot, kind)], axis=-1)

    its = pinocchio_reference.model(robot)
    q = np.array([pinocchio_reference.configuration(its, row) for row in array("q")])
    states = States(q, array("qd"), array("qdd"))
    return its, states, {CALLS[function]: _ours(robot, function, table) for function in functions}


def call_of(scenario: Scenario) -> str:
    """What computes the accelerations of a mechanism there."""
    return LOOPS if scenario.loops else TREE


def scenario_ns(programs: Sequence[Path], scenario: Scenario, budget: float) -> float:
    """Time the accelerations of a mechanism, nothing integrated; see :func:`robot_ns`."""
    its = pinocchio.Model()
    its.gravity = pinocchio.Motion(np.array([*scenario.gravity, 0.0]), np.zeros(3))
    for index, body in enumerate(scenario.bodies):
        place = pinocchio.SE3(np.eye(3), np.array([*body.attach, 0.0]))
        joint = its.addJoint(body.parent + 1, pinocchio.JointModelRZ(), place, f"joint{index}")
        inertia = pinocchio.Inertia(body.mass, np.array([*body.com, 0.0]), body.inertia * np.eye(3))
        its.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    pins = [(loop.body + 1, *loop.point, 0.0, *loop.at, 0.0) for loop in scenario.loops]
    q, qd = moving(scenario, ROWS)
    call = call_of(scenario)
    torques = np.tile([body.torque for body in scenario.bodies], (ROWS, 1))
    right = {call: accelerations(scenario, q[:SHOWN], qd[:SHOWN])}
    return _measured(programs, _text(its, pins, States(q, qd, torques), [call], budget), right)[
        call
    ]


def _ours(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> np.ndarray:
    """What this project's model has for the states that are shown, in float64."""
    small = reduced(robot)
    kernel = recorded(small, function)
    renamed = {name.replace("tau", "qdd"): name for name in kernel.inputs}
    given = {name: table[column][:SHOWN] for column, name in renamed.items()}
    found = kernel.evaluate(Float64Arrays(), given)
    found = {name: np.broadcast_to(x, SHOWN) for name, x in found.items()}
    full = full_table(small, function, found, SHOWN)
    names = [name for kind in FUNCTIONS[function].gives for name in columns(small, kind)]
    return np.array([full[name] for name in names]).T


def _text(
    its: pinocchio.Model,
    pins: Sequence[Sequence[float]],
    states: States,
    calls: Sequence[str],
    budget: float,
) -> str:
    """What pinocchio.cpp reads."""
    lines = [model_text(its), str(len(pins))]
    lines += [f"{joint} {building.numbers(places)}" for joint, *places in pins]
    *accuracies, iterations = PROXIMAL
    lines.append(f"{building.numbers(accuracies)} {iterations}")
    lines += [f"{len(states.q)} {SHOWN} {budget!r}", states.text(), *calls]
    return "\n".join(lines) + "\n"


def model_text(its: pinocchio.Model) -> str:
    """What pinocchio_model.hpp reads."""
    lines = [building.numbers(its.gravity.linear), str(its.njoints - 1)]
    for k in range(1, its.njoints):
        place, inertia = its.jointPlacements[k], its.inertias[k]
        parts = [place.rotation, place.translation, inertia.mass, inertia.lever, inertia.inertia]
        written = building.numbers(np.hstack([np.ravel(part) for part in parts]))
        lines.append(f"{its.parents[k]} {its.joints[k].shortname()} {written}")
    return "\n".join([*lines, building.numbers(its.armature)])


def _measured(
    programs: Sequence[Path], text: str, right: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """Call -> ns of the faster program; all results of the shown states are compared."""
    best = dict.fromkeys(right, np.inf)
    for program in programs:
        lines = [line.split() for line in building.output(program, (), text)]
        for start in range(0, len(lines), SHOWN + 1):
            (name, ns), *shown = lines[start : start + SHOWN + 1]
            building.check(f"{NAME}'s {name}", np.array(shown, float), right[name], AGREES)
            best[name] = min(best[name], float(ns))
    return best
