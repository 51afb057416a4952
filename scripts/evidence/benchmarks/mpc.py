"""Planning a reaching motion beside Crocoddyl, part of `make bench`.

The same costs, horizon, start and integrator on one thread, rounds of both in turn, in time of
the processor. Prints a table and writes build/bench/mpc.json. Crocoddyl has an environment of its
own in build/peers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pymodel.control import ddp
from pymodel.control.costs import Link, Reach
from pymodel.control.motion import Motion
from pymodel.control.receding import Plant, drive, heavier
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs.robot_model import RobotModel
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.kernel.digest import pinned
from scripts.kernel.places import ROOT

PEERS = Path(__file__).with_name("peers")
PEER, EXAMPLE = PEERS / "crocoddyl_peer.py", PEERS / "crocoddyl_example.py"
ROBOT, LINK = "iiwa14", "iiwa_link_7"
KNOTS, STEP, RUNS = 100, 0.01, 50
START = (0.2, 0.5, -0.1, -1.2, 0.1, 0.7, 0.0)
POSITION = (0.4, 0.3, 0.6)
ITERATIONS = 100  # of Crocoddyl's example
EXACT = 1e-18  # tolerance of the solutions that are compared
ENOUGH = 1e-9  # tolerance of plans in other formats
FORMATS = ("float64", "float32", "8/17", "8/13", "8/10")
#: Whose of ours, what is timed, in words, how many times faster it is to be.
ROWS = (
    ("ours", "approximation", "LQ approximation of all knots", 4.0),
    ("float32", "approximation", "the same, the robot in float32", 12.0),
    ("ours", "iteration", "whole iteration", 2.0),
)


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
    }


class Ours:
    """What the peer's program gives, by our own."""

    def __init__(self, given: dict[str, Any], arithmetic: str = "float64") -> None:
        robot = self._robot = robot_file.load(given["urdf"])
        self._motion = Motion(reduced(robot), given["step"], "step", arithmetic)
        self._reach = Reach(
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
        self._problem = ddp.Problem(self._motion, self._reach, -free, free)
        self._x, us = np.array(given["x"]), np.array(given["us"])
        self._begin = self._motion.open(us)
        self._most = given["iterations"], given["tolerance"]
        self.found = self._solved()

    def costs(self) -> dict[str, float]:
        """What the plan costs in float64, and what a plant of 10 % more mass does under it."""
        exact = Motion(reduced(self._robot), self._motion.step, "step")
        policy, none = self.found.policy, np.zeros(exact.lanes)
        free = np.full(exact.nu, np.inf)
        planned = self._reach.value(*exact.under(policy, self._x, none, -free, free))[0]
        true = reduced(heavier(self._robot, 0.1))
        plant = Plant(Motion(true, self._motion.step / 4, "rk4", derivatives=False), 4)
        driven = drive(self._problem, plant, policy, KNOTS, noise=1e-3)
        cost = self._reach.value(*(x[..., None] for x in driven))[0]
        return {"planned": float(planned), "driven": float(cost)}

    def _solved(self) -> ddp.Solution:
        return ddp.solve(self._problem, self._x, self._begin, *self._most)

    def solution(self) -> dict[str, Any]:
        """Torques, cost and iterations."""
        found = self.found
        return {
            "us": found.policy.us.tolist(),
            "cost": found.costs[-1],
            "iterations": found.iterations,
        }

    def round(self) -> dict[str, float]:
        """Seconds of an LQ approximation, and of an iteration."""
        xs, us = self.found.policy.xs, self.found.policy.us
        start = time.process_time()
        self._motion.linearised(xs, us)
        self._reach.approximated(xs, us)
        approximation = time.process_time() - start
        start = time.process_time()
        again = self._solved()
        return {
            "approximation": approximation,
            "iteration": (time.process_time() - start) / again.iterations,
        }


PYTHON = ROOT / "build" / "peers" / "crocoddyl" / "bin" / "python"


def environment() -> Path:
    """The peer's Python, with what this package needs, too; made once."""
    folder = PYTHON.parents[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    peers = pinned("planning").splitlines()
    made, packages = folder / "made", [*peers, *project["dependencies"]]
    if not made.exists() or made.read_text() != " ".join(packages):
        print("set-up: Crocoddyl, about 400 MB, into build/peers (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "-qq", *packages], check=True)
        made.write_text(" ".join(packages))
    return PYTHON


def example(iterations: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Run Crocoddyl's example with its dynamics and with ours."""
    return subprocess.run(
        [environment(), EXAMPLE, str(iterations), *more],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


class Theirs:
    """What Crocoddyl gives, on one thread."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._program = subprocess.Popen(
            [environment(), PEER],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._solution = self._asked(given)

    def _asked(self, line: Any) -> dict[str, Any]:
        assert self._program.stdin and self._program.stdout
        self._program.stdin.write(json.dumps(line) + "\n")
        self._program.stdin.flush()
        said = self._program.stdout.readline()
        if not said:  # its reason stands on stderr
            raise SystemExit(self._program.wait() or 1)
        found: dict[str, Any] = json.loads(said)
        return found

    def solution(self) -> dict[str, Any]:
        """Torques, cost, iterations and version."""
        return self._solution

    def round(self) -> dict[str, float]:
        """Seconds of an LQ approximation, and of an iteration."""
        return self._asked("round")

    def close(self) -> None:
        """End the program."""
        self._program.communicate()


def torque_difference(given: dict[str, Any]) -> float:
    """Largest difference of both sides' torques, of the largest torque."""
    theirs = Theirs(given)
    ours = np.array(Ours(given).solution()["us"])
    off = float(np.abs(ours - theirs.solution()["us"]).max() / np.abs(ours).max())
    theirs.close()
    return off


def main() -> None:
    """The command."""
    given = task()
    single = Ours(given | {"tolerance": ENOUGH}, "float32")
    programs = {"ours": Ours(given), "float32": single, "Crocoddyl": Theirs(given)}
    sides = {side: programs[side].solution() for side in ("ours", "Crocoddyl")}
    rounds = [{side: each.round() for side, each in programs.items()} for _ in range(RUNS)]
    programs["Crocoddyl"].close()
    same = example(ITERATIONS)
    if same.returncode:
        raise SystemExit(same.stderr)
    formats = [
        {"format": name, **Ours(given | {"tolerance": ENOUGH}, name).costs()} for name in FORMATS
    ]
    difference = torque_difference(given | {"tolerance": EXACT})
    found: dict[str, Any] = {
        "robot": ROBOT,
        "knots": KNOTS,
        "step_s": STEP,
        "version": sides["Crocoddyl"]["version"],
        "torque_difference": difference,
        "formats": formats,
        "example": json.loads(same.stdout),
        "rows": [],
    }
    for side, values in sides.items():
        found[side] = {"cost": values["cost"], "iterations": values["iterations"]}
    title = f"{ROBOT}, {KNOTS} knots, ms of processor time; command: make bench ONLY=mpc"
    table = Table(title=title)
    for name in ("what", "ours best", "median", "Crocoddyl best", "median", "ratio of medians"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for ours, name, text, goal in ROWS:
        peers = {"ours": ours, "Crocoddyl": "Crocoddyl"}
        times = {
            side: 1e3 * np.array([x[who][name] for x in rounds]) for side, who in peers.items()
        }
        numbers = {
            f"{side} {kind}": float(of(x))
            for side, x in times.items()
            for kind, of in (("best", np.min), ("median", np.median))
        }
        ratio = numbers["Crocoddyl median"] / numbers["ours median"]
        found["rows"].append({"what": text, **numbers, "ratio": ratio, "goal": goal})
        table.add_row(text, *(f"{x:.3f}" for x in numbers.values()), f"{ratio:.1f}")
    Console().print(table)
    for side in sides:
        print(f"{side}: cost {found[side]['cost']:.9f} in {found[side]['iterations']} iterations")
    print(f"torques differ by {difference:.1e} of the largest at most; {found['version']}")
    own, theirs = (found["example"][side]["cost"] for side in sides)
    print(f"Crocoddyl's example: cost {own:.9g} with our dynamics, {theirs:.9g} with its own")
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "mpc.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(path.relative_to(ROOT))
