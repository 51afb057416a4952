"""What of a robot's file other readers take in another way.

What they do was seen by runs of the packages themselves, on files of a few links
(``scripts/evidence/readers``, which writes readers.json and the page docs/readers.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pymodel.arith.errors import require_path
from pymodel.mechanism import robot_file, urdf
from pymodel.mechanism.decimals import decimal
from pymodel.mechanism.moments import ROUNDING, are_of_no_body
from pymodel.mechanism.robot import one_line
from pymodel.mechanism.robot_bodies import RobotError

NONE = "nothing that other readers take in another way"
SEEN = Path(__file__).with_name("readers.json")

#: Situation -> what a file has; and what is made of it here.
SITUATIONS: Mapping[str, tuple[str, str]] = {
    "axis_length": ("a joint's axis whose length is not 1", "scaled to length 1"),
    "axis_zero": ("a joint's axis of zeros", "refused"),
    "continuous_limits": ("bounds of a continuous joint", "no limit is read"),
    "mimic": ("a mimic joint", "it follows; with `--no-mimic` a joint of its own"),
    "mimic_chain": ("a mimic joint that mimics a mimic joint", "it follows"),
    "mimic_continuous": ("a mimic joint of a continuous joint", "it follows"),
    "collision_mass": (
        "a link without `<inertial>` that has a collision shape",
        "no mass; refused where nothing else resists its joint",
    ),
    "moments_of_no_body": (
        "moments of inertia that no body has, as (1, 1, 3)",
        "kept, with a warning",
    ),
    "root_inertia": ("a root link with inertia, on a fixed base", "not counted"),
    "same_name": ("two joints of one name", "refused"),
    "joint_order": (
        "joints whose order is not that of their names",
        "by names; `joints --order file` tells the other order",
    ),
    "effort_zero": ("an effort limit of 0", "no limit is read"),
    "planar_axis": ("a planar joint whose axis is not z", "moves across the axis"),
    "floating_inside": (
        "a floating joint inside the tree",
        "six degrees of freedom on its parent",
    ),
    "undeclared_prefix": ("a prefix that is not declared, as `drake:`", "passed over, with a note"),
    "base_velocity": (
        "the velocity of a floating base",
        "linear first, in the base's axes",
    ),
    "integrator_Euler": ('`<option integrator="Euler">` of an MJCF', "not read"),
    "integrator_implicitfast": ('`integrator="implicitfast"`', "not read"),
    "integrator_implicit": ('`integrator="implicit"`', "not read"),
    "integrator_RK4": ('`integrator="RK4"`', "not read"),
    "discrete_plant": ("a plant of discrete time", "not read"),
}


@cache
def seen() -> Mapping[str, Any]:
    """What was seen: ``readers``, name -> version; ``situations``, name -> reader -> words."""
    found: Mapping[str, Any] = json.loads(SEEN.read_text(encoding="utf-8"))
    return found


def met(path: str) -> list[tuple[str, str]]:
    """Find what of a file others take in another way.

    Parameters
    ----------
    path : str
        A URDF or MJCF, which need make no robot here.

    Returns
    -------
    list of (str, str)
        Key of :data:`SITUATIONS`, and the elements that it is about; empty for all of the file.

    Raises
    ------
    RobotError, InputError
        If the file cannot be read, or is of another format.
    """
    require_path("path", path)
    found: dict[str, list[str]] = {}
    is_mjcf = robot_file.format_of(path) == robot_file.MJCF
    pairs = _of_mjcf(path) if is_mjcf else _of_urdf(urdf.parsed_xml(path))
    for key, element in pairs:
        found.setdefault(key, []).append(element)
    return [(key, ", ".join(found[key])) for key in SITUATIONS if key in found]


def lines(path: str) -> list[str]:
    """What `joints --check` prints of a file: a line for each situation and reader."""
    situations, versions = seen()["situations"], seen()["readers"]
    found = []
    for key, elements in met(path):
        what, here = SITUATIONS[key]
        found.append(f"{what}{': ' if elements else ''}{one_line(elements)}")
        found.append(f"  here: {here}")
        for reader, words in situations[key].items():
            found.append(f"  {reader} {versions[reader]}: {words}")
    return found


def _of_mjcf(path: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise RobotError(path, "", f"not XML: {error}") from None
    chosen = [option.get("integrator", "Euler") for option in tree.iter("option")]
    key = f"integrator_{chosen[-1] if chosen else 'Euler'}"
    if key in SITUATIONS:
        yield key, ""
    if next(tree.iter("freejoint"), None) is not None or any(
        joint.get("type") == "free" for joint in tree.iter("joint")
    ):
        yield "base_velocity", ""


def _numbers(element: ElementTree.Element | None, name: str) -> list[float]:
    """Numbers of an attribute; none if it is not there or has others."""
    try:
        return [decimal(x) for x in (element.get(name, "") if element is not None else "").split()]
    except ValueError:
        return []


def _of_urdf(file: ElementTree.Element) -> Iterator[tuple[str, str]]:
    joints, links = file.findall("joint"), file.findall("link")
    kinds = {joint.get("name", ""): joint.get("type", "") for joint in joints}
    mimics = {joint.get("name", "") for joint in joints if joint.find("mimic") is not None}
    names = [joint.get("name", "") for joint in joints]
    children = {_end(joint, "child") for joint in joints}
    roots = [link.get("name", "") for link in links if link.get("name", "") not in children]
    for joint in joints:
        yield from ((key, f"joint {joint.get('name')}") for key in _of_joint(joint, roots))
        mimic = joint.find("mimic")
        if mimic is not None:
            of = mimic.get("joint", "")
            key = "mimic"
            if of in mimics:
                key = "mimic_chain"
            elif "continuous" in (kinds.get(of), joint.get("type")):
                key = "mimic_continuous"
            yield key, f"joint {joint.get('name')}"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "same_name", f"joint {name}"
    by_parent: dict[str, list[str]] = {}
    for joint in joints:
        by_parent.setdefault(_end(joint, "parent"), []).append(joint.get("name", ""))
    for parent, own in by_parent.items():
        if own != sorted(own):
            yield "joint_order", f"on link {parent}"
    yield from (("undeclared_prefix", f"prefix {name}") for name in urdf.undeclared(file))
    for link in links:
        yield from ((key, f"link {link.get('name')}") for key in _of_link(link, roots))


def _end(joint: ElementTree.Element, which: str) -> str:
    element = joint.find(which)
    return element.get("link", "") if element is not None else ""


def _of_joint(joint: ElementTree.Element, roots: list[str]) -> Iterator[str]:
    kind, limit = joint.get("type"), joint.find("limit")
    if kind in ("revolute", "continuous", "prismatic", "planar"):
        axis = np.array(_numbers(joint.find("axis"), "xyz") or [1.0, 0.0, 0.0])
        if not axis.any():
            yield "axis_zero"
        elif abs(np.linalg.norm(axis) - 1) > 1e-6:
            yield "axis_length"
        if kind == "planar" and axis[:2].any():
            yield "planar_axis"
    if kind == "floating" and _end(joint, "parent") not in roots:
        yield "floating_inside"
    if limit is not None:
        if kind == "continuous" and {"lower", "upper"} & limit.attrib.keys():
            yield "continuous_limits"
        if kind != "fixed" and _numbers(limit, "effort") == [0.0]:
            yield "effort_zero"


def _of_link(link: ElementTree.Element, roots: list[str]) -> Iterator[str]:
    inertial = link.find("inertial")
    if inertial is None:
        if link.find("collision") is not None:
            yield "collision_mass"
        return
    if link.get("name") in roots:
        yield "root_inertia"
    inertia = inertial.find("inertia")
    given = {k: _numbers(inertia, k) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    if all(len(x) == 1 for x in given.values()):
        xx, xy, xz, yy, yz, zz = (x[0] for x in given.values())
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if are_of_no_body(moments, ROUNDING * abs(xx + yy + zz)):
            yield "moments_of_no_body"
