"""Loops of robots as data: two links that are held together besides their joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POINTS = "ball"  #: holds two points together
HINGE = "hinge"  #: and an axis, z of both frames
WELD = "weld"  #: and all axes
#: Kind of a loop -> how many constraints it has: of the points, then of the axes.
LOOPS = {POINTS: 3, HINGE: 5, WELD: 6}


@dataclass(frozen=True, eq=False)
class Loop:
    """Two links that are held together besides their joints.

    Attributes
    ----------
    name : str
    kind : str
        A key of :data:`LOOPS`.
    links : tuple of int
        The two. The first one moves; the second may be the ground: -1.
    rotations : tuple of ndarray, shapes (3, 3)
        From the loop's frame on each link to that in which external wrenches on it are given, on
        the ground to that which links hang on.
    offsets : tuple of ndarray, shapes (3,)
        Its origin there, m.
    rows : tuple of int
        Constraints that are kept, as others follow from them: 0 to 2 of the points, along the axes
        of the first link; 3 to 5 of the turns, about these, or 3 and 4 of a hinge about the axes x
        and y of the loop's frame on it.
    gains : tuple of float
        Of Baumgarte's stabilisation: position, 1/s^2, and velocity, 1/s.
    """

    name: str
    kind: str
    links: tuple[int, int]
    rotations: tuple[np.ndarray, np.ndarray]
    offsets: tuple[np.ndarray, np.ndarray]
    rows: tuple[int, ...] = ()
    gains: tuple[float, float] = (0.0, 0.0)

    @property
    def size(self) -> int:
        """How many constraints it has, with those that follow from others."""
        return LOOPS[self.kind]
