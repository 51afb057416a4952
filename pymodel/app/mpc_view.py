"""The page that shows a plan: the robot on its way, the path of a link, and its goal."""

from pathlib import Path

import numpy as np

from pymodel.mechanism.robot import Robot, one_line
from pymodel.runs import scene, view
from pymodel.runs.robot_model import RobotModel

GOAL = 0.15  # length of the goal's axes, as a share of the way that the link reaches
PLANNED, DRIVEN = "#0072B2", "#D55E00"


def write(
    robot: Robot,
    link: str,
    goal: tuple[np.ndarray, np.ndarray],
    planned: np.ndarray,
    driven: np.ndarray | None,
    step: float,
    path: Path,
) -> None:
    """Write it; where something was driven, the robot moves so, and else as planned.

    Parameters
    ----------
    robot : Robot
    link : str
        That goes to the goal.
    goal : tuple of ndarray
        Rotation (3, 3) and position (3,), m, in the ground's frame.
    planned, driven : ndarray, shape (T, nx), or None
        States, coordinates first.
    step : float
        Between them, s.
    path : Path
        HTML file.
    """
    model, shown = RobotModel(robot), planned if driven is None else driven
    things = []
    for name, states, colour in (("planned", planned, PLANNED), ("driven", driven, DRIVEN)):
        if states is not None:
            points, _ = model.placement(states[:, : robot.nq], link)
            line = scene.Line(points, colour)
            things.append(scene.still(f"way of {one_line(link)}, {name}", [line]))
    size = float(np.abs(points).max())
    axes = scene.triad(*goal, GOAL * size)
    things.append(scene.still(f"goal of {one_line(link)}", axes))
    way = f"way of {one_line(link)}"
    said = (
        f"planned; line: {way}"
        if driven is None
        else f"driven; lines: {way}, blue planned, red driven"
    )
    facts = [f"{said}; axes: its goal"]
    q = shown[:, : robot.nq]
    found = scene.of_robot(robot, q, step * np.arange(len(q)), facts, things)
    view.write(found, path)
