"""The picture of a plan: its cost, how far the link is from its goal, torques and joints."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pymodel.control.costs import Reach
from pymodel.control.ddp import Problem, Solution
from pymodel.control.receding import Driven
from pymodel.mechanism.robot import Robot
from pymodel.runs import legends, plots

PLANNED, DRIVEN = "planned", "driven"


def plot(
    problem: Problem,
    reach: Reach,
    solution: Solution,
    driven: Driven | None,
    step: float,
    title: str,
    path: Path,
) -> None:
    """Draw it; a plan is dashed where something was driven, too.

    Parameters
    ----------
    problem : Problem
    reach : Reach
        Its cost.
    solution : Solution
    driven : Driven or None
    step : float
        s.
    title : str
    path : Path
        PNG file.
    """
    robot, states = problem.motion.robot, problem.motion.states
    names = _names(robot)
    colours: Any = mpl.colormaps["cividis"](np.linspace(0.0, 0.9, len(names)))
    if len(names) <= len(plots.JOINT_COLOURS):
        colours = plots.JOINT_COLOURS
    motions = [(PLANNED, solution.policy.xs, solution.policy.us)]
    if driven is not None:
        motions.append((DRIVEN, driven.xs, driven.us))
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(9, 10), layout="constrained")
        figure.suptitle(title, parse_math=False)
        costs, away, effort, joints = figure.subplots(4, 1)
        for axes in (effort, joints):
            axes.sharex(away)
        costs.semilogy(solution.costs, "o-", color=plots.BLUE, ms=4)
        costs.set_title("cost of each iteration")
        costs.xaxis.set_major_locator(MaxNLocator(integer=True))
        costs.set_xlabel("iteration")
        costs.set_ylabel("cost")
        curves: list[Any] = []
        named: list[Any] = []
        for (name, xs, us), style in zip(motions, _styles(len(motions)), strict=True):
            time = step * np.arange(len(xs))
            missing = reach.missing(xs).T
            for part, unit, colour in (
                (missing[:3], "m", plots.BLUE),
                (missing[3:], "rad", plots.VERMILION),
            ):
                label = f"{name}, {unit}"
                far = np.linalg.norm(part, axis=0)
                curves += away.semilogy(time, far, style, color=colour, label=label)
            ways = states.difference(states.neutral, xs)
            for (dof, joint), colour in zip(names.items(), colours, strict=False):
                only = {"label": plots.literal(joint)} if name == motions[-1][0] else {}
                if dof in states.driven:
                    own = us[:, states.driven.index(dof)]
                    held = np.append(own, own[-1:])  # until the last knot
                    effort.step(time, held, style, where="post", color=colour)
                found = joints.plot(time, ways[:, dof], style, color=colour, **only)
                named += found if only else []
        limits = np.unique(np.concatenate([problem.low, problem.high]))
        limits = limits[np.isfinite(limits)]
        for limit in limits:
            effort.axhline(limit, color="black", lw=0.9, ls=(0, (1, 3)))
        away.set_title("what is missing of the placement")
        away.set_ylabel("distance [m], angle [rad]")
        away.legend(handles=curves, ncols=len(curves))
        effort.set_title("torques and forces" + ", dotted: limits" * bool(len(limits)))
        effort.set_ylabel("[N m], [N]")
        joints.set_title("joints" + ", and turns by their vectors" * bool(robot.quaternions))
        joints.set_ylabel("[rad], [m]")
        joints.set_xlabel("time [s]")
        legends.place(figure, [(joints, named)])
        figure.savefig(path, dpi=plots.DPI)


def _names(robot: Robot) -> dict[int, str]:
    """Degree of freedom -> name, in order; those of a floating base have its axes."""
    base = [f"base {axis}" for axis in ("x", "y", "z", "rx", "ry", "rz")] * robot.floating
    own = {robot.dof(k): robot.links[k].joint for k in robot.leaders if k >= robot.first}
    return dict(enumerate(base)) | own


def _styles(count: int) -> tuple[str, ...]:
    return ("-",) if count == 1 else ("--", "-")
