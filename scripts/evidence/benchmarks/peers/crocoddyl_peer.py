"""The reaching task by Crocoddyl, in an environment of its own: reads JSON, prints JSON.

Each line that it reads after the task is a round that it times and prints. Runs alone, under a
Python that has crocoddyl and pinocchio; it imports nothing of this repository. That the installed
pair agrees on forward dynamics is checked first.
"""

import json
import sys
import time
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

AGREES = 1e-9  # rad/s^2


def problem(task: dict[str, Any]) -> Any:
    """The shooting problem of a task."""
    model = pinocchio.buildModelFromUrdf(task["urdf"])
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    frame = model.getFrameId(task["link"])
    goal = pinocchio.SE3(np.array(task["rotation"]), np.array(task["position"]))
    residual = crocoddyl.ResidualModelFramePlacement(state, frame, goal)
    weights = crocoddyl.ActivationModelWeightedQuad(np.array(task["state"]))
    rest = crocoddyl.ResidualModelState(state, np.array(task["rest"]))
    torques = crocoddyl.ResidualModelControl(state)

    def action(place: float, control: float) -> Any:
        costs = crocoddyl.CostModelSum(state)
        costs.addCost("place", crocoddyl.CostModelResidual(state, residual), place)
        costs.addCost("rest", crocoddyl.CostModelResidual(state, weights, rest), 1.0)
        if control:
            costs.addCost("torques", crocoddyl.CostModelResidual(state, torques), control)
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)

    running = action(task["place"], task["control"])
    step = crocoddyl.IntegratedActionModelEuler(running, task["step"])
    end = crocoddyl.IntegratedActionModelEuler(action(task["place_at_end"], 0.0), 0.0)
    found = crocoddyl.ShootingProblem(np.array(task["x"]), [step] * task["knots"], end)
    found.nthreads = 1
    check(model, running)
    return found


def check(model: Any, action: Any) -> None:
    """End unless the installed pair agrees on forward dynamics."""
    rng = np.random.default_rng(1)
    data, own = action.createData(), model.createData()
    x, u = rng.uniform(-1, 1, model.nq + model.nv), rng.uniform(-1, 1, model.nv)
    action.calc(data, x, u)
    off = np.abs(data.xout - pinocchio.aba(model, own, *np.split(x, [model.nq]), u)).max()
    if not off < AGREES:
        versions = f"crocoddyl {crocoddyl.__version__} and pin {pinocchio.__version__}"
        sys.exit(f"{versions} disagree on forward dynamics by {off:.2g} rad/s^2")


def main() -> None:
    """Solve, then time in rounds."""
    task = json.loads(sys.stdin.readline())
    found = problem(task)
    xs, us = [found.x0] * (task["knots"] + 1), [np.array(u) for u in task["us"]]
    xs = list(found.rollout(us))
    solver = crocoddyl.SolverFDDP(found)
    solver.th_stop = task["tolerance"]
    solver.solve(xs, us, task["iterations"], True)
    solution = {"us": np.array(solver.us).tolist(), "cost": solver.cost}
    solution |= {"iterations": solver.iter}
    version = f"Crocoddyl {crocoddyl.__version__}, pin {pinocchio.__version__}"
    print(json.dumps(solution | {"version": version}), flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        found.calc(xs, us)
        found.calcDiff(xs, us)
        approximation = time.process_time() - start
        again = crocoddyl.SolverFDDP(found)
        again.th_stop = task["tolerance"]
        start = time.process_time()
        again.solve(xs, us, task["iterations"], True)
        whole = (time.process_time() - start) / again.iter
        print(json.dumps({"approximation": approximation, "iteration": whole}), flush=True)


main()
