"""Placements and Jacobians of links, energies, and the centre of mass.

They need each link where it stands in the file: of a robot as it was read, not reduced. Placements
are in the axes of the file's ground.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.rigid_body.tree import Tree, rotation_matrix
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    add,
    apply,
    cross,
    dot,
    product,
    scale,
    trace_minus,
    transpose,
)
from pymodel.arith.terms import Term, total
from pymodel.mechanism.robot import FixedLink

DUST = 1e-15  #: entries of a constant rotation or offset (m) that come from sines and cosines


class Placed(NamedTuple):
    """Where a frame is: what turns its vectors into the ground's axes, and its origin there."""

    rotation: Matrix3
    origin: Vector3


class Screw(NamedTuple):
    """What a degree of freedom does to its link: velocity of its origin, angular velocity."""

    linear: Vector3
    angular: Vector3


def screws(tree: Tree, i: int) -> Iterator[tuple[int, Screw]]:
    """Degrees of freedom of a link's joint, and their screws in the link's frame."""
    if i < tree.robot.first:
        yield from ((k, Screw(axis, tree.origin)) for k, axis in enumerate(tree.axes))
        yield from ((3 + k, Screw(tree.origin, axis)) for k, axis in enumerate(tree.axes))
    elif tree.slides[i]:
        yield tree.dof[i], Screw(tree.axes[2], tree.origin)
    else:
        pitch = tree.pitch[i]
        linear = tree.origin if pitch is None else scale(pitch, tree.axes[2])
        yield tree.dof[i], Screw(linear, tree.axes[2])


def turn(tree: Tree, i: int) -> Matrix3:
    """The matrix that turns vectors of link i's frame into its parent's."""
    return transpose([tree.up(i, axis) for axis in tree.axes])


def ground_axes(tree: Tree) -> Matrix3:
    """From the ground that links hang on to that of the file."""
    return numbers(tree, "ground", tree.robot.ground.T)


def numbers(tree: Tree, name: str, x: np.ndarray) -> tuple[Any, ...]:
    """Parameters of the model, less the dust."""
    if x.ndim > 1:
        return tuple(numbers(tree, f"{name}[{k}]", row) for k, row in enumerate(x))
    clean = np.where(np.abs(x) < DUST, 0.0, x).tolist()
    return tuple(tree.terms.parameter(f"{name}[{k}]", entry) for k, entry in enumerate(clean))


def base_placement(tree: Tree) -> Placed:
    """Of a floating base."""
    base = tree.robot.links[0]
    still = numbers(tree, "base.rotation", base.rotation)
    offset = numbers(tree, "base.offset", base.offset)
    origin = add(offset, apply(still, tuple(tree.q[:3])))
    return Placed(product(still, rotation_matrix(tree.q[3:7])), origin)


def placements(tree: Tree) -> list[Placed]:
    """Of the links' own frames."""
    found: list[Placed] = []
    for i in tree.links:
        if i < tree.robot.first:
            found.append(base_placement(tree))
            continue
        at = Placed(ground_axes(tree), tree.origin) if tree.on_ground(i) else found[tree.parent[i]]
        origin = add(at.origin, apply(at.rotation, tree.arm[i]))
        found.append(Placed(product(at.rotation, turn(tree, i)), origin))
    return found


def own_frame(tree: Tree, i: int) -> FixedLink:
    """The frame of the file's link, in that of link i."""
    link = tree.robot.links[i]
    return FixedLink(i, link.frame_rotation, link.frame_offset)


def frame(tree: Tree) -> FixedLink:
    """The frame that is asked about, in that of the link that carries it."""
    asked = tree.robot.frame
    assert asked is not None
    own = own_frame(tree, asked.carrier)
    offset = own.offset + own.rotation @ asked.offset
    return FixedLink(asked.carrier, own.rotation @ asked.rotation, offset)


def frame_numbers(tree: Tree, at: FixedLink) -> tuple[Matrix3, Vector3]:
    """A constant placement as terms."""
    name = f"{tree.robot.links[at.carrier].joint}.frame"
    return numbers(tree, name, at.rotation), numbers(tree, f"{name}_origin", at.offset)


def frame_placements(tree: Tree) -> list[Placed]:
    """Of the link that is asked about, or of all that move."""
    links = placements(tree)
    asked = [frame(tree)] if tree.robot.frame else [own_frame(tree, i) for i in tree.robot.bodies]
    found = []
    for at in asked:
        rotation, offset = frame_numbers(tree, at)
        turned, origin = links[at.carrier]
        found.append(Placed(product(turned, rotation), add(origin, apply(turned, offset))))
    return found


def carriers(tree: Tree, i: int) -> Iterator[int]:
    """Link i and those that carry it, outermost first."""
    while True:
        yield i
        if i < tree.robot.first or tree.on_ground(i):
            return
        i = tree.parent[i]


def jacobian(tree: Tree) -> dict[tuple[int, int], Term]:
    """Velocity of a frame's origin, then its angular velocity, in the ground's axes.

    The arms are summed from the frame inwards: where a base stands plays no part.
    """
    links, at = placements(tree), frame(tree)
    found: dict[tuple[int, int], Term] = {}
    arm = apply(links[at.carrier].rotation, frame_numbers(tree, at)[1])
    for i in carriers(tree, at.carrier):
        for k, (linear, angular) in screws(tree, i):
            turning = apply(links[i].rotation, angular)
            moving = add(apply(links[i].rotation, linear), cross(turning, arm))
            found |= {(row, k): x for row, x in enumerate((*moving, *turning))}
        if i in tree.joints and not tree.on_ground(i):
            arm = add(arm, apply(links[tree.parent[i]].rotation, tree.arm[i]))
    return found


def body_jacobian(tree: Tree) -> dict[tuple[int, int], Term]:
    """The same in the axes of the frame itself: what carries the first joint plays no part."""
    at = frame(tree)
    found: dict[tuple[int, int], Term] = {}
    rotation, arm = frame_numbers(tree, at)  # arm: the frame's origin, in link i's frame
    back = transpose(rotation)  # from link i's frame to the frame
    for i in carriers(tree, at.carrier):
        for k, (linear, angular) in screws(tree, i):
            moving = apply(back, add(linear, cross(angular, arm)))
            found |= {(row, k): x for row, x in enumerate((*moving, *apply(back, angular)))}
        if i in tree.joints and not tree.on_ground(i):
            arm = add(tree.arm[i], tree.up(i, arm))
            back = product(back, transpose(turn(tree, i)))
    return found


class Velocity(NamedTuple):
    """Of a link's origin, and angular, in the link's frame."""

    linear: Vector3
    angular: Vector3


def velocities(tree: Tree) -> list[Velocity]:
    """Outward recursion of velocities."""
    found: list[Velocity] = []
    for i in tree.links:
        if i < tree.robot.first:
            found.append(Velocity(tuple(tree.qd[:3]), tuple(tree.qd[3:6])))
            continue
        still = Velocity(tree.origin, tree.origin)
        carrier = still if tree.on_ground(i) else found[tree.parent[i]]
        linear = tree.down(i, add(carrier.linear, tree.slip(i, carrier.angular)))
        angular = tree.down(i, carrier.angular)
        if not tree.slides[i]:
            angular = add(angular, scale(tree.qd[tree.dof[i]], tree.axes[2]))
        found.append(Velocity(linear, angular))
    return found


def kinetic_energy(tree: Tree) -> Term:
    """(qd M qd) / 2, that of the drives included."""
    parts = []
    for i, (v, w) in enumerate(velocities(tree)):
        second, first, mass = tree.inertia[i]
        momentum = add(scale(mass, v), cross(w, first))
        spin = add(apply(trace_minus(second), w), cross(first, v))
        parts += [dot(v, momentum), dot(w, spin)]
    for i in tree.joints:
        rate = tree.qd[tree.dof[i]]
        parts.append(tree.armature[i] * (rate * rate))
    return tree.terms.const(0.5) * total(parts)


class Carried(NamedTuple):
    """What a joint carries: first moment about its link's origin, in its frame, and mass."""

    first: Vector3
    mass: Term


def carried(tree: Tree, share: Term) -> tuple[list[Carried], Carried]:
    """Of each link and of the whole robot in the base's frame, times a number.

    The base is the ground that links hang on, or the link that floats.
    """
    gathered: list[tuple[list[Vector3], list[Term]]] = [
        ([scale(share, link.first)], [share * link.mass]) for link in tree.inertia
    ]
    whole: tuple[list[Vector3], list[Term]] = ([tree.origin], [tree.zero])
    found: dict[int, Carried] = {}
    for i in reversed(tree.links):
        firsts, masses = gathered[i]
        own = found[i] = Carried(add(*firsts), total(masses))
        if i < tree.robot.first:
            return [found[k] for k in tree.links], own
        firsts, masses = whole if tree.on_ground(i) else gathered[tree.parent[i]]
        firsts += [tree.up(i, own.first), scale(own.mass, tree.arm[i])]
        masses.append(own.mass)
    return [found[k] for k in tree.links], Carried(add(*whole[0]), total(whole[1]))


def potential_energy(tree: Tree) -> Term:
    """That of gravity, 0 where the centre of mass is at the height of the ground's origin."""
    _, whole = carried(tree, tree.one)
    energy = dot(tree.gravity, whole.first)
    if not tree.robot.floating:
        return energy
    up = numbers(tree, "up", tree.robot.ground[2])
    weight = whole.mass * tree.terms.parameter("gravity", tree.robot.gravity)
    return energy + weight * dot(up, base_placement(tree).origin)


def centre_of_mass(tree: Tree) -> tuple[Vector3, dict[tuple[int, int], Term]]:
    """Of the links that move, in the file's ground; and its Jacobian."""
    mass = total(link.mass for link in tree.inertia)
    links, (parts, whole) = placements(tree), carried(tree, tree.terms.recip(mass))
    found: dict[tuple[int, int], Term] = {}
    for i in tree.links:
        first, share = parts[i]
        for k, (linear, angular) in screws(tree, i):
            moving = add(cross(angular, first), scale(share, linear))
            found |= {(row, k): x for row, x in enumerate(apply(links[i].rotation, moving))}
    if tree.robot.floating:
        base = links[0]
        return add(base.origin, apply(base.rotation, whole.first)), found
    return apply(ground_axes(tree), whole.first), found
