"""What a scenario file may hold: every key with its kind, unit, default and meaning.

The parser (:mod:`pymodel.mechanism.scenario_file`) reads by it, and the scenario reference in the
documentation is written from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from pymodel.mechanism.scenario import (
    ADAPTIVE,
    ENDS,
    GROUND_NAME,
    INTEGRATORS,
    JOINTS,
    LEND,
    REVOLUTE,
    SPHERICAL,
    TOLERANCE,
)

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
        ``vector`` (two numbers in the plane, three in space), ``unit`` (a vector of any length but
        0, whose direction counts), ``inertia``, ``rotation``, ``coordinates`` and ``velocities``
        (numbers as the joint has them), ``numbers`` (any number of them), ``torque`` (a number, or
        a formula or table in time), ``motion`` (a number, or a formula or curve in
        time), ``mimic`` (a table), ``body`` (a body's number or name), ``table`` or ``tables`` (an
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
    Key(
        "gravity",
        "vector",
        "m/s²",
        "acceleration of free fall, ground frame; of three numbers it makes the mechanism spatial",
    ),
    Key(
        "lend",
        "string",
        "",
        "what bodies [lend each other inertia](theory.md#inertia-lent-over-joints) for: "
        "`conditioned` (only where a joint would lose digits) or `centred` (where none would, "
        "mass centres are brought to joints, for fewer operations)",
        LEND[0],
    ),
    Key("time", "table", "", "steps of the run, see below"),
    Key(
        "body",
        "tables",
        "",
        "one `[[body]]` a body, parents before their children",
        (),
        "at least 1",
    ),
    Key("loop", "tables", "", "one `[[loop]]` for each joint that closes a loop", (), "none"),
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
    Key(
        "inertia",
        "inertia",
        "kg m²",
        "moment of inertia about the centre of mass; in space three principal moments, or xx, xy, "
        "xz, yy, yz, zz, in the body frame; 0 of a point mass, or about the axis of a thin rod, if "
        "the body's joints let it turn about no axis without inertia",
    ),
    Key("com", "vector", "m", "centre of mass, from handle 1, body frame"),
    Key("tip", "vector", "m", "handle 2, from handle 1, body frame"),
    Key(
        "parent",
        "body",
        "",
        f"the body that it hangs on: its name, or its number; {GROUND_TEXT}",
        Default.COMPUTED,
        "the body before it; for body 0, and a free body, the ground",
    ),
    Key(
        "attach",
        "vector",
        "m",
        "where the joint is: point of the parent, from its handle 1, in its frame; of the "
        "ground, in the ground frame",
        Default.COMPUTED,
        "the parent's `tip`; the ground's origin",
    ),
    Key(
        "joint",
        "string",
        "",
        f"`{'`, `'.join(JOINTS)}`; `{SPHERICAL}` in space only",
        REVOLUTE,
    ),
    Key(
        "axis",
        "unit",
        "",
        "direction of a prismatic joint, and of a revolute one in space, in the body's frame (the "
        "joint leaves it there)",
        Default.COMPUTED,
        "required of these joints",
    ),
    Key(
        "rotation",
        "rotation",
        "rad",
        "how the body's frame stands in its parent's at `q` = 0: an angle; in space roll, pitch "
        "and yaw, about the parent's x, then y, then z axis",
        Default.COMPUTED,
        "not turned",
    ),
    Key(
        "q",
        "coordinates",
        "rad, m",
        "initial coordinates of the joint, relative to the parent: a number; of a spherical joint "
        "a quaternion [x, y, z, w]; of a free one [x, y, angle], in space [x, y, z, quaternion]",
        Default.COMPUTED,
        "0; quaternion [0, 0, 0, 1]; where its `motion` starts",
    ),
    Key(
        "qd",
        "velocities",
        "rad/s, m/s",
        "initial velocities of the joint: a number; of a spherical joint the angular velocity "
        "against the parent, body frame; of a free one the rates of x, y, angle; in space the "
        "velocity of handle 1 and the angular velocity, body frame",
        Default.COMPUTED,
        "0; that of its `motion`",
    ),
    Key(
        "guess",
        "boolean",
        "",
        "whether `q` and `qd` are guesses, from which the loops are closed before the run",
        False,
    ),
    Key(
        "torque",
        "torque",
        "N m",
        "torque of the joint, on this body, or force (N) of a prismatic one: constant, or "
        "depending on time, see above",
        0.0,
    ),
    Key(
        "spring",
        "number",
        "N m/rad",
        "stiffness of a spring in the joint; prismatic: N/m; negative: it pushes away from `rest`",
        0.0,
    ),
    Key(
        "rest",
        "number",
        "rad",
        "joint angle, or displacement, at which the spring is slack; only with a nonzero `spring`",
        0.0,
    ),
    Key(
        "damping",
        "nonnegative",
        "N m s/rad",
        "viscous damping of the joint; prismatic: N s/m",
        0.0,
    ),
    Key(
        "friction",
        "nonnegative",
        "N m",
        "Coulomb friction of the joint, smooth about standstill, see above; prismatic: N",
        0.0,
    ),
    Key(
        "friction_scale",
        "nonnegative",
        "rad/s",
        "velocity about which `friction` reverses: at so much it is 76 % of its full size; 0: no "
        "friction; prismatic: m/s; only with a nonzero `friction`",
        0.0,
        "required with `friction`",
    ),
    Key(
        "motion",
        "motion",
        "rad",
        "what `q` is at any time, a number, a formula or a curve, see above: the joint is moved "
        "so; prismatic: m",
        Default.COMPUTED,
        "none: it moves freely",
    ),
    Key(
        "mimic",
        "mimic",
        "",
        "the joint that this one follows, see below",
        Default.COMPUTED,
        "none: it moves freely",
    ),
    Key("name", "string", "", "a name that no other body has", "", "none"),
)

#: Keys whose numbers have no effect where another one, of the same table, is 0: that one -> it.
IDLE = {"spring": "rest", "stiffness": "length", "friction": "friction_scale"}

TORQUE = (
    Key("times", "numbers", "s", "ascending from 0 or later, at least two"),
    Key("values", "numbers", "N m", "the torque at each of these times"),
)

MOTION = (
    Key(
        "times", "numbers", "s", "ascending from 0, at least two", Default.COMPUTED, "in the `csv`"
    ),
    Key("values", "numbers", "rad", "`q` at each; prismatic: m", Default.COMPUTED, "in the `csv`"),
    Key(
        "csv",
        "string",
        "",
        "a table with the columns `t` and `q` in place of both, beside the scenario's file",
        "",
        "none",
    ),
    Key(
        "ends",
        "string",
        "",
        f"`{ENDS[0]}` (no acceleration at the first and last time) or `{ENDS[1]}` (no velocity)",
        ENDS[0],
    ),
)

MIMIC = (
    Key("body", "body", "", "the body whose joint this one follows"),
    Key(
        "multiplier",
        "number",
        "",
        "how far this joint moves for each rad, or m, of the other one",
        1.0,
    ),
    Key("offset", "number", "rad", "where this joint is when the other is at 0; prismatic: m", 0.0),
)

LOOP = (
    Key("body", "body", "", "the body that the joint is on"),
    Key("point", "vector", "m", "the joint, from handle 1 of that body, in its frame"),
    Key("to", "body", "", f"the body that it is joined to; {GROUND_TEXT}"),
    Key(
        "at",
        "vector",
        "m",
        "point of that body, from its handle 1, in its frame; of the ground, in the ground frame",
    ),
    Key(
        "joint",
        "string",
        "",
        f"`{REVOLUTE}` (a pin; in space a hinge) or, in space, `{SPHERICAL}` (a ball)",
        REVOLUTE,
    ),
    Key(
        "axis",
        "unit",
        "",
        "axis of a hinge in space, in the frame of `body`",
        Default.COMPUTED,
        "required of hinges",
    ),
    Key(
        "to_axis",
        "unit",
        "",
        "the same axis in the frame of `to`, or of the ground",
        Default.COMPUTED,
        "required of hinges",
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
    Key(
        "stiffness",
        "number",
        "N/m",
        "force for each metre that the spring is stretched; negative: it pushes the ends apart",
        0.0,
        "`0.0`, if there is `damping`",
    ),
    Key(
        "length",
        "nonnegative",
        "m",
        "natural length, at which the spring is slack; only with a nonzero `stiffness`",
        0.0,
    ),
    Key(
        "damping",
        "nonnegative",
        "N s/m",
        "force for each m/s at which the ends part",
        0.0,
        "`0.0`, if there is `stiffness`",
    ),
)

#: Tables of a scenario file by their headings.
TABLES = {
    "": SCENARIO,
    "[time]": TIME,
    "[[body]]": BODY,
    "torque = { .. }": TORQUE,
    "motion = { .. }": MOTION,
    "mimic = { .. }": MIMIC,
    "[[loop]]": LOOP,
    "[[spring]]": SPRING,
}
