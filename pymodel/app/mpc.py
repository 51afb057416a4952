"""The subcommand `mpc`: plan a robot's motion, and drive it with a horizon that recedes.

Task `reach`: a link goes from where bent joints hold it to where the mirrored posture would, or by
a displacement; with feet that are pinned to the ground it is the trunk. Leaves plan.csv, driven.csv
(t, q, qd, tau of all degrees of freedom), mpc.png and summary.json, and view.html on request.

Exit status: 0 done, 1 no motion was found, 2 bad input, 130 Ctrl-C.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app import mpc_view
from pymodel.app.mpc_plot import plot
from pymodel.app.options import FILE, Asked
from pymodel.arith.c_build import NoCompilerError
from pymodel.control import ddp, standing
from pymodel.control.costs import Link, Reach
from pymodel.control.motion import Motion
from pymodel.control.receding import Driven, Plant, drive, heavier
from pymodel.control.states import States
from pymodel.mechanism import robot_file, urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.rotations import from_quaternion, turned
from pymodel.runs import robot_calls, show
from pymodel.runs.closed_loop import BENT
from pymodel.runs.files import SUMMARY, VIEW
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress
from pymodel.runs.robot_model import RobotModel
from pymodel.runs.summary import write_summary
from pymodel.runs.view import require_viewer
from pymodel.runs.whole import replacing

PLAN, DRIVEN, PICTURE = "plan.csv", "driven.csv", "mpc.png"
DONE, NO = 0, 1  # exit status
PARTS = 4  # steps of the plant in a tick
MOVE = (0.1, 0.0, 0.05, 0.0, 0.1, 0.0)  # m and rad, of a trunk on feet
UNTURNED = np.array([0.0, 0.0, 0.0, 1.0])  # quaternion
RETURN = 0.2  # of its way, that a foot which has drifted comes back in a step


def run(options: Asked) -> int:
    """Plan, drive, print and leave the files.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    if options.show:
        show.require_display()
    if options.view:
        require_viewer()
    robot = robot_file.load(
        options.urdf, options.floating, snap=options.snap, gravity=options.gravity
    )
    if options.feet and not robot.floating:
        raise InputError("feet: of a robot on a fixed base; let it float with --floating")
    name = options.link or robot.links[0 if options.feet else -1].name
    posture = _posture(robot, options)
    if options.feet:
        robot = standing.pinned(robot, options.feet, posture, RETURN / options.step)
    try:
        problem, reach, begin = _problem(robot, name, posture, options)
    except NoCompilerError as error:
        raise InputError(f"mpc plans in native code: {error}") from None
    motion = problem.motion
    with replacing(Path(options.out), (PLAN, DRIVEN, PICTURE, SUMMARY, VIEW), last=SUMMARY) as new:
        hold = standing.holding_torques(robot, begin[: robot.nq])
        hold = np.clip(hold, problem.low, problem.high)
        start = motion.open(np.tile(hold, (options.knots, 1)))
        started = time.perf_counter()
        solution = ddp.solve(problem, begin, start, options.iterations)
        seconds = time.perf_counter() - started
        if not np.isfinite(solution.costs[-1]):
            print("no motion was found: the cost is not finite", file=sys.stderr)
            return NO
        driven = _driven(robot, problem, solution, options) if options.ticks else None
        figures = _figures(robot, options, problem, reach, solution, driven)
        plan = solution.policy
        robot_calls.write_table(new / PLAN, _table(motion, plan.xs, plan.us, options.step))
        if driven is not None:
            robot_calls.write_table(new / DRIVEN, _table(motion, *driven, options.step))
        write_summary(new / SUMMARY, {**figures, "solve_s": seconds})
        title = f"{robot.name}: {name} to its goal, {options.knots} knots of {options.step:g} s"
        plot(problem, reach, solution, driven, options.step, title, new / PICTURE)
        if options.view:
            motions = plan.xs, driven and driven.xs
            mpc_view.write(robot, name, reach.goal, *motions, options.step, new / VIEW)
            print(f"for a browser: {Path(options.out) / VIEW}")
    _print(robot, figures, solution, seconds)
    if not solution.converged:
        print(f"not converged in {solution.iterations} iterations", file=sys.stderr)
    if options.show:
        show.show([Path(options.out) / PICTURE])
    return DONE


def _posture(robot: Robot, options: Asked) -> np.ndarray:
    """Coordinates at the start, (nq,): as asked, bent legs, or bent joints."""
    states = States(robot)
    q, count = states.neutral[: robot.nq], robot.nq - 7 * robot.floating
    if options.posture:
        if len(options.posture) != count:
            reason = f"{len(options.posture)} numbers for {count} coordinates of joints"
            raise InputError(f"posture: {reason}")
        q[7 * robot.floating :] = options.posture
    elif options.feet:
        q = standing.bent_legs(robot, options.feet)
    else:
        q = states.integrate(states.neutral, _bent(robot))[: robot.nq]
    for own in robot.quaternions:
        if not (length := np.linalg.norm(q[own])):
            raise InputError("posture: a quaternion of length 0")
        q[own] /= length
    return RobotModel(robot).close_loops(q, np.zeros(robot.nv))[0] if robot.loops else q


def _bent(robot: Robot) -> np.ndarray:
    """A displacement that bends joints in turn to either side, (ndx,)."""
    bent = np.where(np.arange(robot.nv) % 2, -BENT, BENT)
    bent[: 6 * robot.floating] = 0.0
    return np.concatenate([bent, np.zeros(robot.nv)])


def _problem(
    robot: Robot, name: str, q: np.ndarray, options: Asked
) -> tuple[ddp.Problem, Reach, np.ndarray]:
    """The task as a problem, and the state that it begins in.

    The first call of a robot compiles for some seconds.
    """
    states = States(robot)
    begin = np.concatenate([q, np.zeros(robot.nv)])
    if not states.nu:
        raise InputError(f"mpc of {robot.name}: nothing is driven")
    limit = _limit(robot, states, options.limit)
    with progress(robot.name, "recording and compiling", patience=1.0):
        link = Link(robot, name)
        motion = Motion(reduced(robot), options.step, options.method, options.arithmetic)
    rates = np.repeat((1e-3, 1e-2), robot.nv)
    rest, move = states.neutral[: robot.nq], options.move
    if options.feet:
        rest, move = q, move or MOVE
    if move:
        rotation, position = link.placement(q)
        goal = from_quaternion(turned(UNTURNED, np.array(move[3:]))) @ rotation, position + move[:3]
    else:
        goal = link.placement(states.integrate(states.neutral, -_bent(robot))[: robot.nq])
    reach = Reach(link, *goal, rest, options.step, state=rates)
    return ddp.Problem(motion, reach, -limit, limit), reach, begin


def _limit(robot: Robot, states: States, asked: tuple[float, ...] | str | None) -> np.ndarray:
    """Limits of the torques, shape (nu,); infinite where there is none."""
    if asked == FILE:
        joints = {robot.dof(k): robot.links[k].joint for k in robot.leaders if k >= robot.first}
        efforts = urdf.efforts(robot.source)
        return np.array([efforts.get(joints[dof], np.inf) for dof in states.driven])
    if asked and len(asked) not in (1, states.nu):
        reason = f"{len(asked)} numbers for {states.nu} degrees of freedom with torques"
        raise InputError(f"--limit {asked}: {reason}")
    return np.broadcast_to(asked or np.inf, states.nu).astype(float)


def _driven(robot: Robot, problem: ddp.Problem, solution: ddp.Solution, options: Asked) -> Driven:
    true = heavier(robot, options.heavier) if options.heavier else robot
    method = "step" if robot.loops else "rk4"
    plant = Plant(Motion(reduced(true), options.step / PARTS, method, derivatives=False), PARTS)
    with progress(robot.name, unit="ticks") as update:
        return drive(
            problem,
            plant,
            solution.policy,
            options.ticks,
            options.noise,
            seed=options.seed,
            watch=update,
        )


def _figures(
    robot: Robot,
    options: Asked,
    problem: ddp.Problem,
    reach: Reach,
    solution: ddp.Solution,
    driven: Driven | None,
) -> dict[str, Any]:
    """What summary.json says."""
    missing = reach.missing(solution.policy.xs[-1:])[0]
    found: dict[str, Any] = {
        "robot": robot.name,
        "source": options.urdf,
        "degrees_of_freedom": robot.nv,
        "task": options.task,
        "method": options.method,
        "arithmetic": options.arithmetic,
        "knots": options.knots,
        "step_s": options.step,
        "iterations": solution.iterations,
        "converged": solution.converged,
        "costs": list(solution.costs),
        "missing_m": float(np.linalg.norm(missing[:3])),
        "missing_rad": float(np.linalg.norm(missing[3:])),
        "largest_torque": float(np.abs(solution.policy.us).max()),
        "at_limit": float(np.mean(np.abs(solution.policy.us) >= problem.high)),
    }
    if robot.loops:
        found["loops_open"] = standing.drift(robot, solution.policy.xs)
    if options.feet:
        forces = standing.contact_forces(
            robot, solution.policy.xs, solution.policy.us, options.step
        )
        found |= {"feet": list(options.feet), "contact_force_z": _ranges(forces[..., 2])}
    if driven is not None:
        last = reach.missing(driven.xs[-1:])[0]
        found |= {
            "ticks": len(driven.us),
            "noise": options.noise,
            "heavier": options.heavier,
            "driven_missing_m": float(np.linalg.norm(last[:3])),
            "driven_missing_rad": float(np.linalg.norm(last[3:])),
        }
        if robot.loops:
            found["driven_loops_open"] = standing.drift(robot, driven.xs)
    return found


def _ranges(values: np.ndarray) -> list[list[float]]:
    """Least and largest of each column."""
    return [[float(x.min()), float(x.max())] for x in values.T]


def _table(motion: Motion, xs: np.ndarray, us: np.ndarray, step: float) -> robot_calls.Table:
    """A row for each knot; the torques of the last but one stand in the last, too."""
    whole = np.hstack([xs, motion.states.torques(np.vstack([us, us[-1:]]))])
    sizes = {"q": motion.states.nq, "qd": motion.states.nv, "tau": motion.states.nv}
    names = [f"{kind}{k}" for kind, size in sizes.items() for k in range(size)]
    return {"t": step * np.arange(len(xs))} | dict(zip(names, whole.T, strict=True))


def _print(robot: Robot, figures: dict[str, Any], solution: ddp.Solution, seconds: float) -> None:
    """The tables for the terminal."""
    iterations = Table(title=Text("iterations"))
    iterations.add_column("iteration", justify="right")
    iterations.add_column("cost", justify="right")
    for k, cost in enumerate(solution.costs):
        iterations.add_row(str(k), f"{cost:.9g}")
    each = 1e3 * seconds / max(solution.iterations, 1)
    rows = [
        ("robot", str(robot)),
        ("horizon", f"{figures['knots']} knots of {1e3 * figures['step_s']:g} ms"),
        (
            "time",
            f"{1e3 * seconds:.1f} ms, {each:.2f} ms an iteration, on native code, the robot in "
            f"{figures['arithmetic']}",
        ),
        ("left at the end", _left(figures, "")),
        ("largest torque", f"{figures['largest_torque']:.4g}, {_at_limit(figures)}"),
    ]
    if "loops_open" in figures:
        rows.append(("loops open by up to", _open(figures, "")))
    for foot, (least, most) in zip(
        figures.get("feet", ()), figures.get("contact_force_z", ()), strict=True
    ):
        pulled = "; less than 0 pulls, which no floor does" if least < 0 else ""
        rows.append((f"vertical force on {foot}", f"{least:.4g} to {most:.4g} N{pulled}"))
    if "ticks" in figures:
        rows.append((f"left after {figures['ticks']} ticks", _left(figures, "driven_")))
        if "driven_loops_open" in figures:
            rows.append(("loops open, driven, by up to", _open(figures, "driven_")))
    whole = Table(title=Text("reach"), show_header=False)
    for row in rows:
        whole.add_row(*map(Text, row))
    console = Console()
    console.print(iterations)
    console.print(whole)


def _left(figures: dict[str, Any], prefix: str) -> str:
    return f"{figures[prefix + 'missing_m']:.2g} m, {figures[prefix + 'missing_rad']:.2g} rad"


def _open(figures: dict[str, Any], prefix: str) -> str:
    return f"{1e3 * figures[prefix + 'loops_open']:.2g} mm or mrad"


def _at_limit(figures: dict[str, Any]) -> str:
    return f"{100 * figures['at_limit']:.0f} % of all at their limit"
