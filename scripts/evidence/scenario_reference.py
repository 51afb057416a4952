"""Write docs/scenario.md and its picture, from the schema that the parser of scenarios uses."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Ellipse

from pymodel.mechanism.scenario import Vector
from pymodel.mechanism.schema import TABLES, Default, Key
from pymodel.runs.plots import BLUE, DPI, GREEN, VERMILION
from scripts.kernel.documents import table
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS, IMAGES, ROOT

DOC = DOCS / "scenario.md"
PAGE = Path(__file__).with_name("scenario.md.jinja")
PICTURE = IMAGES / "scenario.png"

#: What each kind of key holds, as TOML.
KINDS = {
    "string": "string",
    "number": "number",
    "positive": "number > 0",
    "nonnegative": "number >= 0",
    "integer": "integer",
    "boolean": "true or false",
    "body": "name or integer",
    "vector": "[x, y] or [x, y, z]",
    "unit": "[x, y] or [x, y, z]",
    "inertia": "number ≥ 0 or list",
    "rotation": "number or [roll, pitch, yaw]",
    "coordinates": "number or list",
    "velocities": "number or list",
    "numbers": "[number, ..]",
    "torque": "number, formula or table",
    "motion": "number, formula or table",
    "mimic": "table",
    "table": "table",
    "tables": "array of tables",
}


def document() -> str:
    """The text of the reference."""
    keys = {
        heading: table(HEAD, [_row(key) for key in some], numbers=False)
        for heading, some in TABLES.items()
    }
    return render(PAGE, keys=keys)


HEAD = ("key", "value", "unit", "default", "what")


def _row(key: Key) -> tuple[str, ...]:
    return f"`{key.name}`", KINDS[key.kind], key.unit or "–", _default(key), key.text


def _default(key: Key) -> str:
    if key.default_text:
        return key.default_text
    if key.default is Default.REQUIRED:
        return "required"
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    return f"`{key.default}`"


BELOW = (6, -14)  # points, from the middle of an arrow to its name


def draw() -> Figure:
    """A body on its parent, with everything that a scenario file says of it."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.add_subplot()
    parent, tilt, angle = (0.6, 0.5), 0.15, 0.35
    _body(axes, parent, tilt, BLUE, "parent")
    hinge = _point(parent, tilt, (3.2, 0.25))
    _body(axes, hinge, tilt + angle, VERMILION, "body")
    tip = _point(hinge, tilt + angle, (3.6, 0.0))
    com = _point(hinge, tilt + angle, (1.8, 0.28))
    _arrow(axes, parent, hinge, "attach", BLUE, BELOW)
    _arrow(axes, hinge, tip, "tip", VERMILION, BELOW)
    _arrow(axes, hinge, com, "com", GREEN, (4, 30))
    for place, text, offset in (
        (parent, "handle 1\nof the parent", (-10, -30)),
        (hinge, "handle 1", (-6, 22)),
        (tip, "handle 2", (8, 6)),
    ):
        axes.plot(*place, "o", color="white", markeredgecolor="black", markersize=9, zorder=5)
        axes.annotate(text, place, xytext=offset, textcoords="offset points", ha="center")
    axes.plot(*com, "o", color=GREEN, markersize=7, zorder=5)
    reach = _point(hinge, tilt, (3.4, 0.0))
    axes.plot(*zip(hinge, reach, strict=True), "--", color="black", linewidth=0.8)
    axes.annotate("parent's x axis", reach, xytext=(4, -4), textcoords="offset points")
    ends = {"theta1": math.degrees(tilt), "theta2": math.degrees(tilt + angle)}
    axes.add_patch(Arc(hinge, 5.0, 5.0, **ends))
    axes.annotate("q", _point(hinge, tilt + angle / 2, (2.62, 0.0)), ha="left", va="center")
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-0.4, 8.6)
    axes.set_ylim(-0.6, 3.6)
    return figure


def _point(start: Vector, angle: float, vector: Vector) -> Vector:
    c, s = math.cos(angle), math.sin(angle)
    x, y = vector
    return start[0] + c * x - s * y, start[1] + s * x + c * y


def _body(axes: Axes, start: Vector, angle: float, colour: str, name: str) -> None:
    middle = _point(start, angle, (1.8, 0.1))
    shape = Ellipse(middle, 4.6, 1.3, angle=math.degrees(angle))
    shape.set(facecolor=colour, alpha=0.12, edgecolor=colour)
    axes.add_patch(shape)
    axes.annotate(name, _point(start, angle, (0.7, 0.45)), color=colour, ha="center")


def _arrow(axes: Axes, start: Vector, end: Vector, text: str, colour: str, offset: Vector) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 5, "shrinkB": 5}
    axes.annotate("", end, start, arrowprops=style)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    axes.annotate(text, middle, xytext=offset, textcoords="offset points", color=colour)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the text and the drawing."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    DOC.write_text(document())
    draw().savefig(PICTURE, dpi=DPI)
    for path in (DOC, PICTURE):
        print(path.relative_to(ROOT))
    return 0
