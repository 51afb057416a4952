"""Planning a reaching motion beside Crocoddyl, part of `make bench`.

The same costs, horizon, start and integrator on one thread; ours runs before and after. Prints
a table and writes build/bench/mpc.json. Crocoddyl has an environment of its own in build/peers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pymodel.control import ddp
from pymodel.control.costs import Link, Reach
from pymodel.control.motion import Motion, Policy
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs.robot_model import RobotModel
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.kernel.places import ROOT

PEER = Path(__file__).with_name("peers") / "crocoddyl_peer.py"
PACKAGES = ("crocoddyl==3.2.1", "pin==4.0.0")  # with pin 4.1.0 it is off, see findings
ROBOT, LINK = "iiwa14", "iiwa_link_7"
KNOTS, STEP, RUNS = 100, 0.01, 20
START = (0.2, 0.5, -0.1, -1.2, 0.1, 0.7, 0.0)
POSITION = (0.4, 0.3, 0.6)
GOALS = {"approximation": 4.0, "iteration": 2.0}  # times faster
TIMES = {"approximation": "LQ approximation of all knots", "iteration": "whole iteration"}


def task() -> dict[str, Any]:
    """The task in numbers."""
    robot = robot_file.load(ROOT / "robots" / f"{ROBOT}.urdf")
    still = np.zeros(robot.nv)
    hold = RobotModel(robot).inverse_dynamics(np.array(START), still, still)
    return {
        "urdf": str(ROOT / "robots" / f"{ROBOT}.urdf"),
        "link": LINK,
        "x": [*START, *still],
        "us": np.tile(hold, (KNOTS, 1)).tolist(),
        "rest": [0.0] * (2 * robot.nv),
        "rotation": np.eye(3).tolist(),
        "position": list(POSITION),
        "state": [1e-3] * robot.nv + [1e-2] * robot.nv,
        "place": 1.0,
        "place_at_end": 1e3,
        "control": 1e-4,
        "step": STEP,
        "knots": KNOTS,
        "iterations": 100,
        "tolerance": 1e-12,
        "runs": RUNS,
    }


def ours(given: dict[str, Any]) -> dict[str, Any]:
    """What the peer's program gives, by our own."""
    robot = robot_file.load(given["urdf"])
    motion = Motion(reduced(robot), given["step"], "step")
    reach = Reach(
        Link(robot, given["link"]),
        np.array(given["rotation"]),
        np.array(given["position"]),
        np.array(given["rest"][: robot.nv]),
        given["step"],
        given["place"],
        given["place_at_end"],
        np.array(given["state"]),
        given["control"],
    )
    free = np.full(robot.nv, np.inf)
    problem = ddp.Problem(motion, reach, -free, free)
    x, begin = np.array(given["x"]), Policy.open(np.array(given["us"]), motion.nx)
    found = ddp.solve(problem, x, begin, given["iterations"], given["tolerance"])
    xs, us = found.policy.xs, found.policy.us
    approximations, whole = [], []
    for _ in range(given["runs"]):
        start = time.perf_counter()
        motion.linearised(xs, us)
        reach.approximated(xs, us)
        approximations.append(time.perf_counter() - start)
        start = time.perf_counter()
        ddp.solve(problem, x, begin, given["iterations"], given["tolerance"])
        whole.append((time.perf_counter() - start) / found.iterations)
    return {
        "us": us.tolist(),
        "cost": found.costs[-1],
        "iterations": found.iterations,
        "approximation_s": approximations,
        "iteration_s": whole,
    }


def environment() -> Path:
    """The peer's Python; made once."""
    folder = ROOT / "build" / "peers" / "crocoddyl"
    python, made = folder / "bin" / "python", folder / "made"
    if not made.exists() or made.read_text() != " ".join(PACKAGES):
        print("set-up: Crocoddyl, about 200 MB, into build/peers (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *PACKAGES], check=True)
        made.write_text(" ".join(PACKAGES))
    return python


def theirs(given: dict[str, Any]) -> dict[str, Any]:
    """What Crocoddyl gives, on one thread."""
    done = subprocess.run(
        [environment(), PEER],
        input=json.dumps(given),
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """The command."""
    given = task()
    sides = {"ours": ours(given), "Crocoddyl": theirs(given)}
    again = ours(given)  # on either side of the peer's run
    for name in TIMES:
        sides["ours"][f"{name}_s"] += again[f"{name}_s"]
    found: dict[str, Any] = {
        "robot": ROBOT,
        "knots": KNOTS,
        "step_s": STEP,
        "version": sides["Crocoddyl"]["version"],
        "torque_difference": float(
            np.abs(np.subtract(sides["ours"]["us"], sides["Crocoddyl"]["us"])).max()
        ),
        "rows": [],
    }
    for side, values in sides.items():
        found[side] = {"cost": values["cost"], "iterations": values["iterations"]}
    table = Table(title=f"{ROBOT}, {KNOTS} knots, ms; command: make bench ONLY=mpc")
    for name in ("what", "ours best", "median", "Crocoddyl best", "median", "ratio of medians"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for name, text in TIMES.items():
        times = {side: 1e3 * np.array(values[f"{name}_s"]) for side, values in sides.items()}
        numbers = {
            f"{side} {kind}": float(of(x))
            for side, x in times.items()
            for kind, of in (("best", np.min), ("median", np.median))
        }
        ratio = numbers["Crocoddyl median"] / numbers["ours median"]
        found["rows"].append({"what": text, **numbers, "ratio": ratio, "goal": GOALS[name]})
        table.add_row(text, *(f"{x:.3f}" for x in numbers.values()), f"{ratio:.1f}")
    Console().print(table)
    for side in sides:
        print(f"{side}: cost {found[side]['cost']:.9f} in {found[side]['iterations']} iterations")
    print(f"torques differ by {found['torque_difference']:.1e} N m at most; {found['version']}")
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "mpc.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(path.relative_to(ROOT))
