"""What a scenario file may hold: every key with its kind, unit, default and meaning.

The parser (:mod:`pymodel.mechanism.scenario_file`) reads by it, and the scenario reference in the
documentation is written from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from pymodel.mechanism.scenario import ADAPTIVE, GROUND_NAME, INTEGRATORS, TOLERANCE

GROUND_TEXT = f'`"{GROUND_NAME}"` or -1 is the ground'


class Default(Enum):
    """Defaults that are not values."""

    REQUIRED = "required"
    COMPUTED = "computed"  # from other keys, by the parser


@dataclass(frozen=True)
class Key:
    """A key of a table.

    Attributes
    ----------
    name : str
    kind : str
        ``string``, ``number``, ``positive``, ``nonnegative``, ``integer``, ``boolean``,
        ``vector`` (two numbers), ``body`` (a body's number or name), ``table`` or ``tables`` (an
        array of tables).
    unit : str
        Empty without one.
    text : str
        What it means, with the frame that a vector is in.
    default
        Value of a key that is missing, or a :class:`Default`.
    default_text : str
        How the documentation calls the default, where it is not a plain value.
    """

    name: str
    kind: str
    unit: str
    text: str
    default: Any = Default.REQUIRED
    default_text: str = ""


SCENARIO = (
    Key("name", "string", "", "a line of printable text"),
    Key("gravity", "vector", "m/s²", "acceleration of free fall, ground frame"),
    Key("time", "table", "", "steps of the run, see below"),
    Key(
        "body",
        "tables",
        "",
        "one `[[body]]` a body, parents before their children",
        (),
        "at least 1",
    ),
    Key("loop", "tables", "", "one `[[loop]]` for each pin that closes a loop", (), "none"),
    Key(
        "spring",
        "tables",
        "",
        "one `[[spring]]` for each spring or damper between two points",
        (),
        "none",
    ),
)

TIME = (
    Key("step", "positive", "s", "time step"),
    Key("end", "positive", "s", "end of the run, a multiple of the step"),
    Key(
        "integrator",
        "string",
        "",
        "`euler` (explicit, order 1), `semi-implicit` (momenta first, then angles with the new "
        "velocities: order 1, not symplectic), `rk4` (order 4) or `implicit-midpoint` (order 2, "
        f"symplectic); or an adaptive one: {', '.join(f'`{name}`' for name in ADAPTIVE)}",
        INTEGRATORS[0],
    ),
    Key(
        "tolerance",
        "positive",
        "",
        "of an adaptive integrator: relative, and absolute in rad",
        Default.COMPUTED,
        f"`{TOLERANCE:g}`",
    ),
    Key("save", "integer", "", "every so many steps are kept, at least 1", 1),
)

BODY = (
    Key("mass", "positive", "kg", "mass"),
    Key("inertia", "positive", "kg m²", "moment of inertia about the centre of mass"),
    Key("com", "vector", "m", "centre of mass, from handle 1, body frame"),
    Key("tip", "vector", "m", "handle 2, from handle 1, body frame"),
    Key(
        "parent",
        "body",
        "",
        f"the body that it hangs on: its name, or its number; {GROUND_TEXT}",
        Default.COMPUTED,
        "the body before it; for body 0 the ground",
    ),
    Key(
        "attach",
        "vector",
        "m",
        "where handle 1 is pinned: point of the parent, from its handle 1, in its frame; of the "
        "ground, in the ground frame",
        Default.COMPUTED,
        "the parent's `tip`; the ground's origin",
    ),
    Key("q", "number", "rad", "initial joint angle, relative to the parent", 0.0),
    Key("qd", "number", "rad/s", "initial joint velocity, relative to the parent", 0.0),
    Key(
        "guess",
        "boolean",
        "",
        "whether `q` and `qd` are guesses, from which the loops are closed before the run",
        False,
    ),
    Key("torque", "number", "N m", "constant torque of the joint, on this body", 0.0),
    Key("spring", "number", "N m/rad", "stiffness of a spring in the joint", 0.0),
    Key("rest", "number", "rad", "joint angle at which the spring is slack", 0.0),
    Key("damping", "number", "N m s/rad", "viscous damping of the joint", 0.0),
    Key("name", "string", "", "a name that no other body has", "", "none"),
)

LOOP = (
    Key("body", "body", "", "the body that the pin is on"),
    Key("point", "vector", "m", "the pin, from handle 1 of that body, in its frame"),
    Key("to", "body", "", f"the body that it is pinned to; {GROUND_TEXT}"),
    Key(
        "at",
        "vector",
        "m",
        "point of that body, from its handle 1, in its frame; of the ground, in the ground frame",
    ),
)

SPRING = (
    Key("body", "body", "", "the body that one end is on"),
    Key("point", "vector", "m", "that end, from handle 1 of that body, in its frame"),
    Key("to", "body", "", f"the body that the other end is on; {GROUND_TEXT}"),
    Key(
        "at",
        "vector",
        "m",
        "that end, from handle 1 of its body, in its frame; of the ground, in the ground frame",
    ),
    Key("stiffness", "number", "N/m", "force for each metre that the spring is stretched", 0.0),
    Key("length", "nonnegative", "m", "natural length, at which the spring is slack", 0.0),
    Key("damping", "number", "N s/m", "force for each m/s at which the ends part", 0.0),
)

#: Tables of a scenario file by their headings.
TABLES = {
    "": SCENARIO,
    "[time]": TIME,
    "[[body]]": BODY,
    "[[loop]]": LOOP,
    "[[spring]]": SPRING,
}
