"""Crocoddyl's example of a reaching Talos arm, with its own dynamics and with ours: prints JSON.

Runs in the environment of crocoddyl_peer.py, with this repository on the path. Its argument is the
most iterations; with `disagree` behind it Pinocchio is made to differ first, as in a pair of
packages that does not go together.
"""

import json
import sys
import time
from typing import Any

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio

from pymodel.control.crocoddyl import ForwardDynamics
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import load_robot

ARMATURE = (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.0)
KNOTS, STEP = 250, 1e-3
START = (0.173046, 1.0, -0.52366, 0.0, 0.0, 0.1, -0.005)


def solved(robot: Any, actions: Any, iterations: int) -> Any:
    """The example, its action models made by a function of state, actuation and costs."""
    state = crocoddyl.StateMultibody(robot.model)
    actuation = crocoddyl.ActuationModelFull(state)
    goal = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 0.4]))
    frame = robot.model.getFrameId("gripper_left_joint")
    place = crocoddyl.ResidualModelFramePlacement(state, frame, goal)
    terms = {
        "place": crocoddyl.CostModelResidual(state, place),
        "state": crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state)),
        "control": crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state)),
    }

    def action(step: float, **weights: float) -> Any:
        costs = crocoddyl.CostModelSum(state)
        for name, weight in weights.items():
            costs.addCost(name, terms[name], weight)
        return crocoddyl.IntegratedActionModelEuler(actions(state, actuation, costs), step)

    running = action(STEP, place=1e-3, state=1e-7, control=1e-7)
    start = np.array([*START, *np.zeros(robot.model.nv)])
    problem = crocoddyl.ShootingProblem(start, [running] * KNOTS, action(0.0, place=1.0))
    solver = crocoddyl.SolverDDP(problem)
    begun = time.perf_counter()
    solver.solve([], [], iterations)
    seconds = time.perf_counter() - begun
    return solver, seconds


def main() -> None:
    """Solve twice, compare."""
    if "disagree" in sys.argv:
        aba = pinocchio.aba
        pinocchio.aba = lambda *given: aba(*given) + 1.0
    robot = example_robot_data.load("talos_arm")
    names = list(robot.model.names)[1:]
    ours = load_robot(robot.urdf, armature=dict(zip(names, ARMATURE, strict=True)))

    robot.model.armature = np.array(ARMATURE)
    sides = {}
    try:
        for side, actions in (
            ("ours", lambda *given: ForwardDynamics(*given, ours)),
            ("Crocoddyl", crocoddyl.DifferentialActionModelFreeFwdDynamics),
        ):
            sides[side] = solved(robot, actions, int(sys.argv[1]))
    except InputError as error:
        sys.exit(str(error))
    found = {
        side: {"cost": solver.cost, "iterations": solver.iter, "seconds": seconds}
        for side, (solver, seconds) in sides.items()
    }
    us = {side: np.array(solver.us) for side, (solver, _) in sides.items()}
    off = np.abs(us["ours"] - us["Crocoddyl"]).max() / np.abs(us["Crocoddyl"]).max()
    json.dump({**found, "torque_difference": off}, sys.stdout)


main()
