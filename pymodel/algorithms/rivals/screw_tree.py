"""A robot's tree whose placements are screws: vectors and inertias move for fewer operations.

The frames of :func:`pymodel.mechanism.screws.aligned`. Everything moves screw by screw, a turn
about a coordinate axis and a shift along it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body.articulated_body import ArticulatedBody
from pymodel.algorithms.rigid_body.tree import Tree
from pymodel.algorithms.rigid_body.vectors import Matrix3, Vector3, Wrench, add, apply
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism import screws
from pymodel.mechanism.robot import Robot


class Screw(NamedTuple):
    """A turn about a coordinate axis and a shift along it, of a frame in another one."""

    axis: int
    sin: Term
    cos: Term
    shift: Term

    @property
    def others(self) -> tuple[int, int]:
        """The axes across."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3


class ScrewTree(Tree):
    """A tree in the frames of a robot that is aligned.

    Parameters
    ----------
    terms, robot, q, qd
        As for :class:`pymodel.algorithms.rigid_body.tree.Tree`; the base is fixed.

    Attributes
    ----------
    screws : list of list of Screw
        Of each link, from its frame to its parent's.
    """

    def __init__(
        self, terms: Terms[Any], robot: Robot, q: Sequence[Term], qd: Sequence[Term] | None = None
    ) -> None:
        super().__init__(terms, robot, q, qd)
        self.screws = [list(self._screws(i, q[i])) for i in self.links]

    def _screws(self, i: int, q: Term) -> Iterator[Screw]:
        link = self.robot.links[i]
        found = screws.placement(link.rotation, link.offset)
        shift = self._number(i, "inner.shift", found.inner.shift)
        if self.slides[i]:
            yield Screw(2, self.zero, self.one, shift + q)
        else:
            yield Screw(2, *self.turns[i], shift)
        constant = (2, "inner", found.inner._replace(shift=0.0)), (0, "across", found.across)
        for axis, name, screw in (*constant, (2, "outer", found.outer)):
            if any(screw):
                sin, cos = screws.sine_and_cosine(screw.angle)
                yield Screw(
                    axis,
                    self._number(i, f"{name}.sin", sin),
                    self._number(i, f"{name}.cos", cos),
                    self._number(i, f"{name}.shift", screw.shift),
                )

    # --- vectors ----------------------------------------------------------------------------------

    def up(self, i: int, v: Vector3) -> Vector3:
        """From link i's frame to its parent's."""
        for screw in self.screws[i]:
            v = _turned(screw, v)
        return v

    def down(self, i: int, v: Vector3) -> Vector3:
        """From the parent's frame to link i's."""
        for screw in reversed(self.screws[i]):
            v = _turned(screw, v, back=True)
        return v

    def moment_to_parent(self, i: int, moment: Vector3, force: Vector3) -> tuple[Vector3, Vector3]:
        """Moment about the parent's origin and force, in its frame, of those about link i's."""
        for screw in self.screws[i]:
            moment, force = _turned(screw, moment), _turned(screw, force)
            moment = _plus(moment, _across(screw, force))
        return moment, force

    def velocity_of(self, i: int, omega: Vector3, v: Vector3) -> tuple[Vector3, Vector3]:
        """Angular velocity and that of link i's origin, in its frame, where the joint is at rest.

        ``omega`` and ``v`` are those of the parent, in its frame.
        """
        for screw in reversed(self.screws[i]):
            v = _plus(v, tuple(-x for x in _across(screw, omega)))
            omega, v = _turned(screw, omega, back=True), _turned(screw, v, back=True)
        return omega, v

    def first_moment_at_parent(self, i: int, first: Vector3, mass: Term) -> Vector3:
        """First moment about the parent's origin, in its frame, of that about link i's."""
        for screw in self.screws[i]:
            turned = list(_turned(screw, first))
            turned[screw.axis] = turned[screw.axis] + screw.shift * mass
            first = tuple(turned)
        return first

    # --- inertias ---------------------------------------------------------------------------------

    def at_parent(self, i: int, body: ArticulatedBody, bias: Vector3) -> ArticulatedBody:
        """An articulated body about the parent's origin, in its frame.

        Link i's origin has the acceleration a + alpha x arm + bias.
        """
        A, H, M = body[:3]
        for screw in self.screws[i]:
            A, M = (_matrix_turned(screw, m, symmetric=True) for m in (A, M))
            H = _matrix_turned(screw, H)
            A, H = _inertia_shifted(screw, A, H, M)
        moment, force = self.moment_to_parent(i, *body.bias)
        return ArticulatedBody(
            A, H, M, Wrench(add(moment, apply(H, bias)), add(force, apply(M, bias)))
        )


def _plus(a: Vector3, b: Vector3) -> Vector3:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _across(screw: Screw, v: Vector3) -> Vector3:
    """Shift times n x v, n being the axis."""
    i, j = screw.others
    found = [v[0].terms.zero] * 3
    found[i], found[j] = -(screw.shift * v[j]), screw.shift * v[i]
    return tuple(found)


def _turned(screw: Screw, v: Vector3, back: bool = False) -> Vector3:
    i, j = screw.others
    s, c, found = -screw.sin if back else screw.sin, screw.cos, list(v)
    found[i], found[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
    return tuple(found)


def _matrix_turned(screw: Screw, m: Matrix3, symmetric: bool = False) -> Matrix3:
    """R M R^T.

    The block across the axis takes one product, w = s (ii - jj) + c (ij + ji), and one for each of
    its entries, as s^2 + c^2 = 1.
    """
    n, (i, j), s, c = screw.axis, screw.others, screw.sin, screw.cos
    ii, ij, ji, jj = m[i][i], m[i][j], m[j][i], m[j][j]
    found = [list(row) for row in m]
    if c.is_zero:
        block = jj, -ji, -ij, ii
    elif s.is_zero:
        block = ii, ij, ji, jj
    else:
        w = s * (ii - jj) + ((c + c) * ij if symmetric else c * (ij + ji))
        block = ii - s * w, c * w - ji, c * w - ij, jj + s * w
    found[i][i], found[i][j], found[j][i], found[j][j] = block
    found[i][n], found[j][n] = c * m[i][n] - s * m[j][n], s * m[i][n] + c * m[j][n]
    found[n][i], found[n][j] = c * m[n][i] - s * m[n][j], s * m[n][i] + c * m[n][j]
    return found


def _inertia_shifted(screw: Screw, A: Matrix3, H: Matrix3, M: Matrix3) -> tuple[Matrix3, Matrix3]:
    """A and H about a point that is ``shift`` back along the axis.

    H' = H + d [n x] M and A' = A - d H [n x] + d [n x] H'^T.
    """
    n, (i, j), d = screw.axis, screw.others, screw.shift
    moved, found = [list(row) for row in H], [list(row) for row in A]
    for k in range(3):
        moved[i][k] = H[i][k] - d * M[j][k]
        moved[j][k] = H[j][k] + d * M[i][k]
    found[i][i] = A[i][i] - d * (H[i][j] + moved[i][j])
    found[j][j] = A[j][j] + d * (H[j][i] + moved[j][i])
    found[i][j] = found[j][i] = A[i][j] + d * (H[i][i] - moved[j][j])
    found[i][n] = found[n][i] = A[i][n] - d * H[n][j]
    found[j][n] = found[n][j] = A[j][n] + d * H[n][i]
    return found, moved
