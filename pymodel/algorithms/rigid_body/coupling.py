"""Joints that follow others: rates of a tree's joints are G times those of its degrees of freedom.

G is fixed by the robot's file, so virtual work gives all that is needed: torques G^T tau, the mass
matrix G^T M G, derivatives G^T dtau G. A joint that follows none is an entry of 1, and a robot
without joints that follow others costs no operation.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import FIXED_BASE, Robot

#: (row, column) -> entry of what is not zero.
Sparse = dict[tuple[int, int], Term]


class Coupling:
    """What joints have to do with the degrees of freedom of a robot.

    Parameters
    ----------
    terms : Terms
    robot : Robot
        Multipliers and offsets are among its numbers: parameters, where its numbers are that.

    Attributes
    ----------
    nv : int
        Degrees of freedom.
    ancestors : list
        Of each those that an elimination from the last one on changes, nearest first.
    """

    def __init__(self, terms: Terms[Any], robot: Robot) -> None:
        self.terms, self.robot = terms, robot
        self.nv = robot.nv
        self.ancestors = [robot.ancestors(k) for k in range(robot.nv)]
        #: Of each joint's degree of freedom: the robot's, and the ratio; None where it stands.
        self.moved: list[tuple[int, Term] | None] = [(k, terms.one) for k in range(robot.nv)]
        if not robot.mimics:
            return
        self.moved = [(k, terms.one) for k in range(6 * robot.floating)]
        for link in range(robot.first, len(robot.links)):
            mimic = robot.mimics.get(link)
            if mimic is None:
                self.moved.append((robot.dof(link), terms.one))
                continue
            ratio = self._number(link, "mimic_multiplier", mimic.multiplier)
            stands = mimic.of == FIXED_BASE or ratio.is_zero
            self.moved.append(None if stands else (robot.dof(link), ratio))

    def _number(self, link: int, name: str, x: float) -> Term:
        return self.terms.parameter(f"{self.robot.links[link].joint}.{name}", float(x))

    def coordinates(self, q: Sequence[Term]) -> list[Term]:
        """Coordinates of all joints, of those of the robot."""
        robot = self.robot
        if not robot.mimics:
            return list(q)
        found: list[Term] = []
        for link, own in enumerate(robot.coordinates):
            mimic = robot.mimics.get(link)
            if mimic is None:
                found += (q[k] for k in own)
                continue
            at = self.moved[robot.tree.dof(link)]
            led = self.terms.zero if at is None else at[1] * q[robot.coordinates[mimic.of].start]
            found.append(led + self._number(link, "mimic_offset", mimic.offset))
        return found

    def spread(self, rates: Sequence[Term]) -> list[Term]:
        """Rates or accelerations of all joints: G times those of the degrees of freedom."""
        return [self.terms.zero if at is None else at[1] * rates[at[0]] for at in self.moved]

    def gathered(self, torques: Sequence[Term]) -> list[Term]:
        """Torques on the degrees of freedom: G^T times those of all joints."""
        found: list[list[Term]] = [[] for _ in range(self.nv)]
        for at, x in zip(self.moved, torques, strict=True):
            if at is not None:
                found[at[0]].append(at[1] * x)
        return [self.terms.total(some) for some in found]

    def of_matrix(self, matrix: Sparse, lower: bool = False) -> Sparse:
        """G^T X G, or its lower triangle; entries that are not there are zero."""
        found: dict[tuple[int, int], list[Term]] = defaultdict(list)
        for (i, k), x in matrix.items():
            row, column = self.moved[i], self.moved[k]
            if row is None or column is None or (lower and row[0] < column[0]):
                continue
            found[row[0], column[0]].append(row[1] * (column[1] * x))
        return {place: self.terms.total(some) for place, some in found.items()}

    def of_columns(self, matrix: Sparse) -> Sparse:
        """X G, of a matrix whose columns are the joints'."""
        found: dict[tuple[int, int], list[Term]] = defaultdict(list)
        for (i, k), x in matrix.items():
            at = self.moved[k]
            if at is not None:
                found[i, at[0]].append(at[1] * x)
        return {place: self.terms.total(some) for place, some in found.items()}

    def of_rows(self, matrix: Sparse) -> Sparse:
        """G^T X, of a matrix whose rows are the joints'."""
        turned = self.of_columns({(k, i): x for (i, k), x in matrix.items()})
        return {(i, k): x for (k, i), x in turned.items()}

    def of_symmetric(self, matrix: Sparse) -> Sparse:
        """G^T X G of a symmetric matrix, of which there is the lower triangle; so of the result.

        It has all entries that an elimination changes, zeros among them.
        """
        if not self.robot.mimics:
            return matrix
        whole = matrix | {(k, i): x for (i, k), x in matrix.items()}
        lower = self.of_matrix(whole, lower=True)
        changed = [(i, k) for i, above in enumerate(self.ancestors) for k in (i, *above)]
        return {place: lower.get(place, self.terms.zero) for place in changed}
