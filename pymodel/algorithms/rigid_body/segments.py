"""Derivatives of forward dynamics in segments: one text for all columns of one structure.

The first segment finds everything but the columns of M^-1 dtau = W D^-1 W^T dtau: W, the
reciprocals of D, and dtau. The degrees of freedom on a part of the tree without a fork make a
*branch*; its columns have one structure. Branches that are alike, as the legs, make a *group*,
which has a segment that repeats: each time it does one column of each of them.

In a group of many columns a repeat works *ahead*: it finds y = W^T dtau of the next column, and
from the y that is carried the column's accelerations. Each half keeps the lanes busy while the
other waits for its results. So the first segment finds y of the first column, and behind the last
one stands a column of zeros.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body.branches import Branch, branches
from pymodel.algorithms.rigid_body.functions import (
    Arguments,
    derivatives,
    driving_forces,
    factors_of,
    inputs,
    known_column,
)
from pymodel.algorithms.rigid_body.mass_matrix import (
    from_gathered,
    gathered,
    inverse_of_L,
    solved,
)
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

FEW = 6  # columns of a group that are not worth working ahead
KINDS = ("dq", "dqd")
FACTORS = ("W", "D")  # beginnings of the names of what solves for a column


class Column(NamedTuple):
    """A column of a derivative: by ``dq`` or ``dqd``, of a degree of freedom."""

    kind: str
    dof: int

    def torque(self, row: int) -> str:
        """Name of its derivative of a torque."""
        return f"dtau_{self.kind}{row}_{self.dof}"

    def acceleration(self, row: int) -> str:
        """Name of its derivative of an acceleration."""
        return f"dqdd_{self.kind}{row}_{self.dof}"


@dataclass(frozen=True)
class Group:
    """Columns that one segment does, repeat by repeat.

    Attributes
    ----------
    number : int
    members : tuple of Branch
    columns : tuple of tuple of Column
        Of each repeat, of each member.
    moved : tuple of tuple of int
        Of each member: degrees of freedom that its columns accelerate.
    """

    number: int
    members: tuple[Branch, ...]
    columns: tuple[tuple[Column, ...], ...]
    moved: tuple[tuple[int, ...], ...]

    @property
    def ahead(self) -> bool:
        """Whether each repeat begins with the next column."""
        return len(self.columns) > FEW

    def places(self) -> Iterator[tuple[int, int]]:
        """(member, row) of what a repeat takes."""
        return ((m, row) for m, branch in enumerate(self.members) for row in branch.rows)

    def results(self) -> Iterator[tuple[int, int]]:
        """(member, row) of what a repeat gives."""
        return ((m, row) for m, rows in enumerate(self.moved) for row in rows)

    def carried(self, member: int, row: int) -> str:
        """Name of an entry of y that waits for the next repeat."""
        return f"y{row} of {self.number}.{member}"

    def taken(self, repeat: int, member: int, row: int) -> str:
        """Name of an entry of the column that a repeat begins with."""
        repeat += self.ahead
        if repeat == len(self.columns):
            return f"zero{row} of {self.number}.{member}"
        return self.columns[repeat][member].torque(row)


def groups(robot: Robot, entries: Collection[str]) -> list[Group]:
    """Sort the columns that are to be solved for.

    Parameters
    ----------
    robot : Robot
    entries : collection of str
        Names of the entries of dtau/dq and dtau/dqd that are not zero by structure.
    """
    ancestors = [robot.ancestors(k) for k in range(robot.nv)]
    alike: dict[Any, list[Branch]] = {}
    for branch in branches(ancestors):
        carried = tuple(len(ancestors[k]) for k in branch.below)
        alike.setdefault((branch.above, len(branch.dofs), carried), []).append(branch)
    found: list[Group] = []
    for members in alike.values():
        columns = [
            [Column(kind, branch.dofs[at]) for branch in members]
            for kind in KINDS
            for at in range(len(members[0].dofs))
        ]
        used = tuple(
            tuple(some)
            for some in columns
            if not is_known(robot, some[0])
            and any(x.torque(r) in entries for x in some for r in range(robot.nv))
        )
        moved = tuple(_moved(ancestors, branch) for branch in members)
        if used:
            found.append(Group(len(found), tuple(members), used, moved))
    return found


def is_known(robot: Robot, column: Column) -> bool:
    """Whether the column needs no solving: see known_column."""
    return robot.floating and column.dof < (6 if column.kind == "dq" else 3)


def _moved(ancestors: Sequence[Sequence[int]], branch: Branch) -> tuple[int, ...]:
    """All that hangs together with a branch."""
    roots = [above[-1] if above else k for k, above in enumerate(ancestors)]
    return tuple(k for k, root in enumerate(roots) if root == roots[branch.dofs[0]])


# --- texts ----------------------------------------------------------------------------------------


def first(
    robot: Robot,
    some: Iterable[Group],
    arithmetic: SupportsArithmetic[S],
    values: Mapping[str, S],
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> dict[str, S]:
    """Evaluate the first segment.

    Parameters
    ----------
    robot : Robot
    some : iterable of Group
        As :func:`groups` gives them.
    arithmetic, values, external, parameters_as_data
        As for :func:`pymodel.algorithms.rigid_body.functions.evaluate` of dFD.

    Returns
    -------
    dict
        Name -> scalar of the factors (``W<row>_<column>``, ``D<row>`` of its reciprocal) as far as
        they are not zero by structure; of the first y of each group that works ahead; of the
        columns that repeats begin with, zeros included; and of the derivatives that are known.
    """
    terms = Terms(arithmetic, parameters_as_data, identities=True)
    given = {name: terms.given(values[name]) for name in inputs(robot, "dFD", external)}
    call = Arguments(terms, robot, given, external)
    tree = call.tree
    factors = factors_of(tree)
    W = inverse_of_L(tree.coupling, factors.L)
    forces = driving_forces(tree, call.vector("tau"), call.external)
    qdd = solved(tree.coupling.ancestors, factors, forces)
    found = derivatives(tree, qdd, call.external)
    torques = {
        Column(kind, k).torque(i): x
        for kind, matrix in zip(KINDS, found, strict=True)
        for (i, k), x in matrix.items()
    }

    results = {f"W{i}_{k}": x for (i, k), x in W.items() if i != k and not x.is_zero}
    results |= {f"D{k}": x for k, x in enumerate(factors.d)}
    for kind in KINDS:
        for k in range(robot.nv):
            known = known_column(tree, f"dqdd_{kind}", k) or ()
            entries = {Column(kind, k).acceleration(i): x for i, x in enumerate(known)}
            results |= {name: x for name, x in entries.items() if not x.is_zero}
    for group in some:
        if group.ahead:
            for m, column in enumerate(group.columns[0]):
                b = [torques.get(column.torque(i), terms.zero) for i in range(robot.nv)]
                y = list(gathered(tree.coupling.ancestors, W, b))
                results |= {group.carried(m, row): y[row] for row in group.members[m].rows}
    taken = [
        group.taken(repeat, *place)
        for group in some
        for repeat in range(len(group.columns))
        for place in group.places()
    ]
    taken.sort(key=lambda name: not name.startswith("dtau_dqd"))  # those that need no qdd
    results |= {name: torques.get(name, terms.zero) for name in taken}
    return dict(zip(results, terms.results(results.values()), strict=True))


def repeated(
    robot: Robot, group: Group, arithmetic: SupportsArithmetic[S], values: Mapping[str, S]
) -> dict[str, S]:
    """Evaluate a repeat of a group's segment.

    Parameters
    ----------
    robot : Robot
    group : Group
    arithmetic : SupportsArithmetic
    values : dict
        Name -> scalar of factors as :func:`first` names them, of y if it works ahead, and of the
        column that it begins with, named as in the first repeat. A name with "-" in front stands
        for the negative.

    Returns
    -------
    dict
        Name -> scalar of the next y if it works ahead, and of the derivatives of accelerations,
        named as in the first repeat.
    """
    terms = Terms(arithmetic)
    given = {name: terms.given(x) for name, x in values.items()}
    given |= {name[1:]: -x for name, x in given.items() if name.startswith("-")}

    def entry(name: str) -> Term:
        return given.get(name, terms.zero)

    ancestors = [robot.ancestors(k) for k in range(robot.nv)]
    W = {(i, k): entry(f"W{i}_{k}") for i, above in enumerate(ancestors) for k in above}
    W |= {(i, i): terms.one for i in range(robot.nv)}
    d = [entry(f"D{k}") for k in range(robot.nv)]
    carried: dict[str, Term] = {}
    results: dict[str, Term] = {}
    names = range(robot.nv)
    for m, (column, branch) in enumerate(zip(group.columns[0], group.members, strict=True)):
        rows = branch.rows
        b = [entry(group.taken(0, m, row)) if row in rows else terms.zero for row in names]
        y = list(gathered(ancestors, W, b))
        if group.ahead:
            carried |= {group.carried(m, row): y[row] for row in rows}
            y = [entry(group.carried(m, row)) for row in names]
        x = from_gathered(ancestors, W, d, y)
        results |= {column.acceleration(row): -x[row] for row in group.moved[m]}
    found = carried | results
    return dict(zip(found, terms.results(found.values()), strict=True))
