"""What the tables of robots are about, and where their numbers are kept."""

from functools import cache
from typing import Any

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.arith.fp import BINARY32, Format
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_bodies import SNAP
from scripts.kernel.documents import MissingError, read
from scripts.kernel.places import BUILD, ROOT

OUT = BUILD / "robots"
MEASURED, PICTURE = OUT / "measured.json", OUT / "formats.png"

#: Robot -> whether its base floats.
ROBOTS = {"iiwa14": False, "hyq": True, "atlas": True}
ARM = "iiwa14"  #: the robot of the formats, the closed loop and the comparison
LANES = (2, 4, 8)  #: adders, and as many multipliers
FORMATS = (
    Format(5, 10),
    *(Format(8, man_w) for man_w in (10, 12, 15, 16, 17, 19, 21)),
    BINARY32,
)
#: Those of the closed loop, which is evaluated step by step.
LOOP_FORMATS = tuple(Format(*widths) for widths in ((5, 10), (8, 12), (8, 15), (8, 19), (8, 23)))
STATES, SEED = 200, 1
NAMES = tuple(FUNCTIONS)
LOOP = "PD control"  #: besides the functions: a step of the robot under it
CLOSED_LOOP = BUILD / "runs" / "loop" / ARM
LOOP_COMMAND = f"make closed-loop URDF=robots/{ARM}.urdf TARGET=engine SNAP={SNAP:g}"


@cache
def robot(name: str, snap: float = SNAP) -> Robot:
    """A robot, its right angles taken for that; with 0 as its file has it, which others read."""
    return urdf.load(ROOT / "robots" / f"{name}.urdf", ROBOTS[name], snap=snap)


@cache
def small(name: str) -> Robot:
    """A robot as its functions are recorded."""
    return reduced(robot(name))


def closed_loop_summary() -> dict[str, Any]:
    """What the robot did under PD control in RTL.

    Raises
    ------
    MissingError
        If it did not run, or ran on the model.
    """
    summary = read(CLOSED_LOOP / "summary.json", LOOP_COMMAND)
    if summary["target"] != "engine":
        raise MissingError(f"the closed loop ran on the model: run `{LOOP_COMMAND}` first")
    return summary
