"""Placements of links as screws about z and x, as Denavit and Hartenberg have them.

From a link's frame to its parent's a placement is three screws: about the joint's own axis z, about
the x axis along the common normal, and about the parent's z axis. The frames of a parent can be
chosen so that the last one vanishes for one child: the first one then is part of the joint's
motion, and of six numbers four are left. Vectors and inertias move along a screw for much less than
along a placement that has no such form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pymodel.mechanism.reduction import regrouped
from pymodel.mechanism.robot import FIXED_BASE, REVOLUTE, Link, Robot, moved

ROUNDING = 1e-12  #: of sines and of lengths, m
QUARTER = 0.5 * np.pi  # turns that only exchange numbers


class Screw(NamedTuple):
    """A turn about an axis, and a shift along it.

    Attributes
    ----------
    angle : float
        rad.
    shift : float
        m.
    """

    angle: float
    shift: float


class Placement(NamedTuple):
    """A frame in another one: outer after across after inner.

    Attributes
    ----------
    inner : Screw
        About the z axis of the frame itself.
    across : Screw
        About the x axis between.
    outer : Screw
        About the other frame's z axis.
    """

    inner: Screw
    across: Screw
    outer: Screw


def placement(rotation: np.ndarray, offset: np.ndarray) -> Placement:
    """Screws of a placement.

    Parameters
    ----------
    rotation : ndarray, shape (3, 3)
        From the frame to the other one.
    offset : ndarray, shape (3,)
        Its origin in the other one, m.
    """
    x, y, cosine = rotation[:, 2]
    sine = np.hypot(x, y)
    if sine > ROUNDING:
        normal = np.array((-y, x)) / sine
    else:  # parallel axes: any common normal will do
        across = np.hypot(*offset[:2])
        normal = offset[:2] / across if across > ROUNDING else np.array((1.0, 0.0))
        sine = 0.0
    if normal[0] < -ROUNDING or (abs(normal[0]) <= ROUNDING and normal[1] < 0):
        normal, sine = -normal, -sine
    outer = _angle(np.arctan2(normal[1], normal[0]))
    twist = _angle(np.arctan2(sine, cosine))
    inner_turn = (about(0, twist).T @ about(2, outer).T @ rotation)[:, 0]
    inner = _angle(np.arctan2(inner_turn[1], inner_turn[0]))
    length, height, shift = offset[:2] @ normal, offset[2], 0.0
    if sine:
        shift = (offset[0] * normal[1] - offset[1] * normal[0]) / sine
        height -= shift * cosine
    return Placement(
        Screw(inner, _length(shift)), Screw(twist, _length(length)), Screw(outer, _length(height))
    )


def composed(placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and offset (3,) of screws, as :func:`placement` takes them."""
    rotation, offset = np.eye(3), np.zeros(3)
    for axis, screw in zip((2, 0, 2), placement, strict=True):
        turn = about(axis, screw.angle)
        rotation, offset = turn @ rotation, turn @ offset + screw.shift * np.eye(3)[axis]
    return rotation, offset


def about(axis: int, angle: float) -> np.ndarray:
    """Rotation about a coordinate axis; quarter turns have zeros and ones only."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found, (sine, cosine) = np.eye(3), sine_and_cosine(angle)
    found[i, i] = found[j, j] = cosine
    found[i, j], found[j, i] = -sine, sine
    return found


def sine_and_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine; of quarter turns they are 0 and +-1."""
    return _rounded(np.sin(angle)), _rounded(np.cos(angle))


def _rounded(x: np.floating) -> float:
    return float(np.round(x)) if abs(x - np.round(x)) < ROUNDING else float(x)


def is_quarter_turn(angle: float) -> bool:
    """Whether an angle is a multiple of a right one."""
    return 0.0 in sine_and_cosine(angle)


def _angle(angle: float) -> float:
    """Without rounding errors of quarter turns."""
    return float(np.round(angle / QUARTER) * QUARTER) if is_quarter_turn(angle) else float(angle)


def _length(x: float) -> float:
    return 0.0 if abs(x) < ROUNDING else float(x)


def aligned(robot: Robot) -> Robot:
    """The robot in other frames, and with base parameters only.

    Frames turn about their z axes and slide along them until the outer screw vanishes for the child
    that carries most. Inner angles other than quarter turns become :attr:`Link.zero`, one addition.
    On the ground offsets vanish, as in :func:`pymodel.mechanism.reduction.reduced`.

    Parameters
    ----------
    robot : Robot
        With a fixed base.

    Returns
    -------
    Robot
        With the same dynamics; wrenches between its links are others.
    """
    links = list(robot.links)
    carried = [1] * len(links)
    for index in reversed(range(len(links))):
        if links[index].parent != FIXED_BASE:
            carried[links[index].parent] += carried[index]
    for index, link in enumerate(links):
        if link.parent == FIXED_BASE:
            links[index] = link = replace(link, offset=np.zeros(3))
        children = [k for k, other in enumerate(links) if other.parent == index]
        if children:
            child = links[max(children, key=lambda k: (carried[k], -k))]
            links = _turned(links, index, placement(child.rotation, child.offset).outer)
    return replace(robot, links=tuple(regrouped([_zeroed(link) for link in links])))


def _turned(links: list[Link], index: int, screw: Screw) -> list[Link]:
    """The links with the frame of one turned about its z axis, and slid along it."""
    turn, shift, links = about(2, screw.angle), np.array((0.0, 0.0, screw.shift)), list(links)
    for k, link in enumerate(links):
        if k == index:
            place = link.offset + link.rotation @ shift
            links[k] = replace(
                link,
                rotation=link.rotation @ turn,
                offset=np.zeros(3) if link.parent == FIXED_BASE else place,
                inertia=moved(link.inertia, turn.T, -shift),
                frame_rotation=turn.T @ link.frame_rotation,
                frame_offset=turn.T @ link.frame_offset - shift,
            )
        elif link.parent == index:
            links[k] = replace(
                link, rotation=turn.T @ link.rotation, offset=turn.T @ (link.offset - shift)
            )
    return links


def _zeroed(link: Link) -> Link:
    """The link with the inner angle of its placement as its joint's zero, and without dust."""
    found = placement(link.rotation, link.offset)
    zero = found.inner.angle
    if link.kind == REVOLUTE and link.parent != FIXED_BASE and not is_quarter_turn(zero):
        found = found._replace(inner=Screw(0.0, found.inner.shift))
        link = replace(link, zero=zero)
    rotation, offset = composed(found)
    return replace(link, rotation=rotation, offset=offset)
