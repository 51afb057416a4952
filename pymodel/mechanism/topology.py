"""How a mechanism hangs together: its tree of bodies, its joints, and in which order they assemble.

Indices, and the points where joints act; the sums and eliminations that follow them are in
:mod:`pymodel.algorithms`. Joint k connects body k with its parent, the joints after those of the n
bodies close loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

from pymodel.mechanism.scenario import GROUND, PRISMATIC, Scenario, Vector

SHAPES = ("balanced", "left", "right")

Tree: TypeAlias = "int | tuple[Tree, Tree]"  #: an assembly tree: nested pairs of bodies


class Handle(NamedTuple):
    """Where a joint acts on a body; handles of a body sort by their place.

    Attributes
    ----------
    body : int
    place : int
        0 is handle 1, the joint to the parent; i is the i-th other point of the body.
    joint : int
        Index of the joint.
    """

    body: int
    place: int
    joint: int


class Point(NamedTuple):
    """A place on a body where joints act.

    Attributes
    ----------
    at : tuple of float
        m, from handle 1 in the body's frame.
    slide : int or None
        Joint that moves it along its axis; None if it stays.
    """

    at: Vector
    slide: int | None = None


class Connection(NamedTuple):
    """A joint, as the handles that it connects.

    The impulse on handle b is that on handle a reversed.

    Attributes
    ----------
    a : Handle or None
        None on the ground.
    b : Handle
    """

    a: Handle | None
    b: Handle

    @property
    def on_parent(self) -> Handle:
        """Handle a of a joint between two bodies."""
        assert self.a is not None
        return self.a


class Topology:
    """The tree and the joints of a scenario.

    Parameters
    ----------
    scenario : Scenario

    Attributes
    ----------
    size : int
        Number of bodies.
    parents : list of int
        Parent of each body, ``GROUND`` for the ground.
    children : list of list of int
        Bodies that hang on each body.
    carried : list of list of int
        Each body and all that hang on it, directly or not, ascending.
    points : list of list of Point
        Places of each body other than handle 1 where joints act, each once.
    joints : list of Connection
        The joints of the tree, then those that close loops.
    handles : list of list of Handle
        Handles of each body, one for each joint on it, sorted.
    paths : list of list of int
        The tree as disjoint paths. Each goes outward, on to the child that carries most (heavy
        paths), so that the way from the ground to a body leaves a path at most log2 n times.
    """

    def __init__(self, scenario: Scenario) -> None:
        bodies = scenario.bodies
        n = self.size = len(bodies)
        self.parents = [body.parent for body in bodies]
        self.children = [[c for c in range(n) if self.parents[c] == k] for k in range(n)]
        self.carried = [[k] for k in range(n)]
        for k in reversed(range(n)):  # parents stand before their children
            self.carried[k] += sorted(j for c in self.children[k] for j in self.carried[c])
        self.points: list[list[Point]] = [[] for _ in bodies]
        self.joints = [
            Connection(
                self._handle_or_ground(
                    body.parent, Point(body.attach, k if body.joint == PRISMATIC else None), k
                ),
                Handle(k, 0, k),
            )
            for k, body in enumerate(bodies)
        ]
        self.joints += [
            Connection(
                self._handle_or_ground(loop.to, Point(loop.at), j),
                self._handle(loop.body, Point(loop.point), j),
            )
            for j, loop in enumerate(scenario.loops, start=n)
        ]
        self.handles: list[list[Handle]] = [[] for _ in bodies]
        for handle in sorted(h for joint in self.joints for h in joint if h is not None):
            self.handles[handle.body].append(handle)
        heavy = [max(c, key=lambda k: len(self.carried[k])) if c else None for c in self.children]
        self.paths = []
        for k, parent in enumerate(self.parents):
            if parent == GROUND or heavy[parent] != k:
                self.paths.append([k])
                while (outer := heavy[self.paths[-1][-1]]) is not None:
                    self.paths[-1].append(outer)

    def _handle(self, body: int, point: Point, joint: int) -> Handle:
        if point not in self.points[body]:
            self.points[body].append(point)
        return Handle(body, 1 + self.points[body].index(point), joint)

    def _handle_or_ground(self, body: int, point: Point, joint: int) -> Handle | None:
        return None if body == GROUND else self._handle(body, point, joint)

    @property
    def loops(self) -> list[Connection]:
        """The joints that close loops."""
        return self.joints[self.size :]

    def way(self, body: int, other: int) -> list[int]:
        """Bodies from the ground outward to ``body``, without those that carry ``other`` too.

        Parameters
        ----------
        body, other : int
            Bodies; ``body`` may be ``GROUND``, whose way is empty.

        Returns
        -------
        list of int
        """
        way = []
        while body != GROUND and other not in self.carried[body]:
            way.append(body)
            body = self.parents[body]
        return way[::-1]

    def assembly_order(self, shape: str | Sequence[int] = "balanced") -> list[int]:
        """Indices of all joints in the order in which they are eliminated.

        A loop is closed as soon as both its bodies (or body and ground) are in one compound.

        Parameters
        ----------
        shape : str or sequence of int
            Order of the tree's joints: ``balanced`` (cut at the joint that leaves the most equal
            halves, then cut these), ``left`` (from the ground outward), ``right`` (inward), or
            any order.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            If ``shape`` is unknown, or does not name every joint of the tree once.
        """
        if isinstance(shape, str):
            if shape not in SHAPES:
                raise ValueError(f"shape {shape!r}: must be one of {', '.join(SHAPES)}")
            outward = list(range(self.size))
            shape = {"left": outward, "right": outward[::-1]}.get(shape) or self._bisection()
        if sorted(shape) != list(range(self.size)):
            raise ValueError(f"shape: joints must be 0..{self.size - 1} in any order")
        compound = {k: {k} for k in (GROUND, *range(self.size))}
        order, open_loops = [], list(range(self.size, len(self.joints)))
        for joint in shape:
            order.append(joint)
            merged = compound[joint] | compound[self.parents[joint]]
            compound |= dict.fromkeys(merged, merged)
            closed = [j for j in open_loops if self._is_within(self.joints[j], merged)]
            order += closed
            open_loops = [j for j in open_loops if j not in closed]
        return order

    def _is_within(self, joint: Connection, bodies: set[int]) -> bool:
        return joint.b.body in bodies and (joint.a.body if joint.a else GROUND) in bodies

    def _bisection(self) -> list[int]:
        """Cut the tree with the ground into halves again and again: last cuts first."""
        cuts, parts = [], [{GROUND, *range(self.size)}]
        while parts:
            part = parts.pop()
            inside = [k for k in part if k != GROUND and self.parents[k] in part]
            if not inside:
                continue
            outer = {k: part.intersection(self.carried[k]) for k in inside}
            cut = min(inside, key=lambda k: (abs(len(part) - 2 * len(outer[k])), -k))
            cuts.append(cut)
            parts += [part - outer[cut], outer[cut]]
        return cuts[::-1]


def build_tree(shape: str | Tree, n: int) -> Tree:
    """Build the binary assembly tree over the bodies of a chain.

    Parameters
    ----------
    shape : str, int or tuple
        ``balanced``, ``left`` (from the ground outward), ``right`` (inward), or a tree, which is
        checked.
    n : int
        Number of bodies.

    Returns
    -------
    int or tuple
        Nested pairs whose leaves are the indices 0..n-1.

    Raises
    ------
    ValueError
        If ``shape`` is unknown, or its leaves are not 0..n-1 in order.
    """
    if isinstance(shape, str):
        first: Tree = 0
        last: Tree = n - 1
        if shape == "balanced":
            return _balanced(0, n)
        if shape == "left":
            return reduce(lambda tree, k: (tree, k), range(1, n), first)
        if shape == "right":
            return reduce(lambda tree, k: (k, tree), reversed(range(n - 1)), last)
        raise ValueError(f"shape {shape!r}: must be one of {', '.join(SHAPES)}")
    if _leaves(shape) != list(range(n)):
        raise ValueError(f"shape: leaves must be 0..{n - 1} in order")
    return shape


def _balanced(first: int, last: int) -> Tree:
    if last - first == 1:
        return first
    middle = (first + last + 1) // 2
    return _balanced(first, middle), _balanced(middle, last)


def _leaves(tree: Tree) -> list[int]:
    found: list[int] = []
    todo = [tree]  # not recursive: a tree may be as deep as it has bodies
    while todo:
        part = todo.pop()
        if isinstance(part, int):
            found.append(part)
        else:
            todo += [part[1], part[0]]
    return found
