"""Write docs/robots_of_others.md: functions of robots of public packages, right or refused.

Of each file and function the largest difference to Pinocchio on random states, relative to the
largest entry. Matrices of robots with many degrees of freedom take minutes to record: they are left
out, and the page says so.
"""

import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio

from pymodel.algorithms.rigid_body import functions
from pymodel.algorithms.rigid_body.functions import ALL, NEEDS_LINK, suited
from pymodel.arith.errors import Error
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import Robot, at_link, one_line
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.progress import progress
from scripts.kernel.documents import MissingError, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "robots_of_others.md"
PAGE = Path(__file__).with_name("robots_of_others.md.jinja")
#: Package of PyPI -> its files.
PACKAGES = {
    "example-robot-data": "*.urdf",
    "icub-models": "*.urdf",
    "gymnasium": "mujoco/assets/*.xml",
}
STATES, SEED = 10, 4
SAME = 1e-10  #: what is right
ROUNDING = 1e-12  #: of what is zero
LARGE = ("dID", "dFD", "diFD", "Minv", "Y")  #: what takes long to record
MOST = 13  #: degrees of freedom up to which these are evaluated
RIGHT, LEFT_OUT = "right", "–"


def files() -> Iterator[tuple[str, Path]]:
    """Package and file of each robot, each name once.

    Raises
    ------
    MissingError
        If a package is not installed.
    """
    seen = set()  # copies of one robot have one name, but where all are called alike
    for package, pattern in PACKAGES.items():
        try:
            there = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            raise MissingError(f"{package} is not installed: run `make example-robots`") from None
        for path in sorted(there, key=str):
            name = named(Path(str(path)))
            if path.match(pattern) and name not in seen:
                seen.add(name)
                yield package, Path(str(path.locate()))


#: Without those of loops, of given accelerations and of time steps, which are made of these.
FUNCTIONS = [*functions.FUNCTIONS, *functions.FURTHER]


def named(path: Path) -> str:
    """The name of a file, or its folder's where that tells more."""
    return path.parent.name if path.stem == "model" else path.name


def verdict(robot: Robot, function: str) -> str:
    """Whether a function is right, or by how much it is not."""
    if function in LARGE and robot.nv > MOST:
        return LEFT_OUT
    if ALL[function].link == NEEDS_LINK:
        robot = at_link(robot, robot.links[-1].name)
    small = suited(robot, function)
    states = robot_calls.random_states(small, function, STATES, SEED)
    found = robot_calls.call(small, function, states).table
    expected = pinocchio_reference.call(robot, function, states)
    a, b = (np.array([x[name] for name in expected]) for x in (found, expected))
    error, size = np.abs(a - b).max(), np.abs(b).max()
    return RIGHT if error < max(SAME * size, ROUNDING) else f"differs by {error / size:.1e}"


def loads_in_pinocchio(path: Path) -> bool:
    """Whether Pinocchio reads a file, and something moves."""
    read = pinocchio.buildModelFromUrdf if path.suffix == ".urdf" else pinocchio.buildModelFromMJCF
    try:
        return bool(read(str(path)).nv)
    except ValueError:
        return False


def page() -> str:
    """The text."""
    every, rows, refused = list(files()), [], []
    theirs = both = 0
    with progress("robots of others", unit="robots") as update:
        for done, (package, path) in enumerate(every):
            update(done, len(every))
            loads = loads_in_pinocchio(path)
            theirs += loads
            try:
                robot = robot_file.load(path)
            except Error as error:
                reason = one_line(str(error).removeprefix(f"{path}: "))
                refused.append((named(path), package, "yes" if loads else "no", reason))
                continue
            both += loads
            cells = (verdict(robot, function) for function in FUNCTIONS)
            rows.append((named(path), package, str(robot.nv), *cells))
    return render(
        PAGE,
        functions=table(("file", "package", "nv", *FUNCTIONS), rows, numbers=False),
        refused=table(("file", "package", "Pinocchio reads it", "reason"), refused, numbers=False),
        versions=", ".join(f"{name} {metadata.version(name)}" for name in (*PACKAGES, "pin")),
        theirs=theirs,
        both=both,
        share=f"{both / theirs:.0%}",
        most=MOST,
        large=", ".join(LARGE),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, page, arguments)


if __name__ == "__main__":
    sys.exit(main())
