"""Robots rewritten so that their dynamics cost fewer operations.

Two transformations keep inverse and forward dynamics, the mass matrix and all derivatives, at all
configurations. They change the wrenches between links, so what reports those must not use them.

1. Frames slide along their joints' axes until most offsets vanish. A prismatic joint's frame may
   slide in all directions, as its axis has no place. On the ground offsets vanish altogether: it
   does not move, and gravity is the same everywhere. A frame slides along a revolute joint's axis
   only if it comes no farther from its parent's: where an axis is nearly perpendicular to an offset
   it would have to go far, and the inertias about so distant a frame would lose their digits. The
   bound has no tolerance, and lets every offset vanish that lies along its axis.
2. Base parameters (Gautier and Khalil, 1990): what of a link's inertia its own joint does not
   change moves to its parent. For a revolute joint that is the mass, the first moment and the
   second moment along the axis; for a prismatic joint all second moments; for a ball joint the
   mass; for a helical or floating joint nothing. What would move to the ground is dropped.

The frames depend on the placements alone, and the inertias are linear in those of the original. So
other masses in a robot of the same shape leave the zeros where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pymodel.mechanism.robot import (
    BALL,
    FIXED_BASE,
    PRISMATIC,
    REVOLUTE,
    Link,
    Robot,
    kept_with_robot,
    moved,
)

ROUNDING = 1e-14  #: offsets smaller than that are rounding errors, m


@kept_with_robot
def reduced(robot: Robot) -> Robot:
    """Robot with the same dynamics and fewer parameters.

    The inertias of its links are not those of bodies: most have no mass.
    """
    links = list(robot.links)
    if not robot.loops:  # where links stand on the ground matters for loops alone
        links[robot.first :] = map(_grounded, links[robot.first :])
    return replace(robot, links=tuple(regrouped(_slid(links, robot.first, not robot.loops))))


def _slid(links: list[Link], first: int, grounded: bool) -> list[Link]:
    """Move frames along their axes as long as offsets vanish."""
    better = True
    while better:
        better = False
        for index in range(first, len(links)):
            near = [index, *(k for k, link in enumerate(links) if link.parent == index)]
            for shift in list(_shifts(links, near)):
                tried = _shifted(links, near, shift, grounded)
                if sum(_size(tried[k]) for k in near) < sum(_size(links[k]) for k in near):
                    links, better = tried, True
    return links


def _grounded(link: Link) -> Link:
    """The link, without its offset if it hangs on the ground."""
    return replace(link, offset=np.zeros(3)) if link.parent == FIXED_BASE else link


def _size(link: Link) -> int:
    """Entries of the offset that are not zero."""
    return int(np.count_nonzero(link.offset))


def _shifts(links: list[Link], near: list[int]) -> Iterator[np.ndarray]:
    """Shifts of a frame, in its own axes, that let an entry of an offset vanish.

    The offset is its own or one of its children's.
    """
    link, *children = (links[k] for k in near)
    axes = np.eye(3)
    if link.by_quaternion:  # turns about its origin
        return
    for k in np.flatnonzero(link.offset):
        if link.kind == PRISMATIC:
            yield -link.offset[k] * link.rotation[k]
        elif abs(link.rotation[k, 2]) > ROUNDING:
            shift = -link.offset[k] / link.rotation[k, 2] * axes[2]
            if np.linalg.norm(link.offset + link.rotation @ shift) <= np.linalg.norm(link.offset):
                yield shift
    for child in children:
        for k in np.flatnonzero(child.offset):
            if link.kind == PRISMATIC or k == 2:
                yield child.offset[k] * axes[k]


def _shifted(links: list[Link], near: list[int], shift: np.ndarray, grounded: bool) -> list[Link]:
    """The links with the first frame of `near` shifted, shape (3,), in its own axes."""
    index, *children = near
    links, link = list(links), links[index]
    slid = replace(
        link,
        offset=_clean(link.offset + link.rotation @ shift),
        inertia=moved(link.inertia, np.eye(3), -shift),
        frame_offset=_clean(link.frame_offset - shift),
    )
    links[index] = _grounded(slid) if grounded else slid
    for child in children:
        links[child] = replace(links[child], offset=_clean(links[child].offset - shift))
    return links


def _clean(offset: np.ndarray) -> np.ndarray:
    return np.where(np.abs(offset) < ROUNDING, 0.0, offset)


def regrouped(links: list[Link]) -> list[Link]:
    """Move what a joint does not change of its link's inertia to the parent, leaves first."""
    links = list(links)
    for index in range(len(links) - 1, -1, -1):
        link = links[index]
        constant = np.zeros((4, 4))
        part = link.part
        if part is not None and part.by_quaternion:
            if not (part.kind == BALL and part.last):
                continue
            first = links[index - part.index]  # the others move with the body's point, too
            link = replace(link, parent=first.parent, offset=first.offset)
            constant[3, 3] = link.mass
        elif link.kind == PRISMATIC:
            constant[:3, :3] = link.inertia[:3, :3]
        elif link.kind == REVOLUTE:
            constant[2:, 2:] = link.inertia[2:, 2:]
        links[index] = replace(links[index], inertia=link.inertia - constant)
        if link.parent != FIXED_BASE:
            parent = links[link.parent]
            gained = moved(constant, link.rotation, link.offset)
            links[link.parent] = replace(parent, inertia=parent.inertia + gained)
    return links
