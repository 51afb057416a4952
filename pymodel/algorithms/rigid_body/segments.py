"""Derivatives of forward dynamics in segments: one text for all columns of one structure.

The first segment finds everything but the columns of M^-1 dtau. Each *group* of columns has a
segment that repeats. Its member branches are alike: as many degrees of freedom on the same branch,
carrying the same. Each repeat does one column of each member.

In a group of many columns a repeat works *ahead*: it finds u of the next column (see
:func:`pymodel.algorithms.rigid_body.branches.released`), and from the u that is carried the
column's accelerations. One half keeps the lanes busy while the other waits for its results. So the
first segment finds u of the first column, and behind the last one stands a column of zeros.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.algorithms.rigid_body.branches import (
    Block,
    Branch,
    blocks,
    branches,
    joined,
    released,
)
from pymodel.algorithms.rigid_body.derivatives import inverse_dynamics_derivatives
from pymodel.algorithms.rigid_body.functions import (
    Arguments,
    driving_forces,
    inputs,
    known_column,
)
from pymodel.algorithms.rigid_body.mass_matrix import (
    Factors,
    Sparse,
    factorised,
    mass_matrix,
    solved,
)
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

FEW = 3  # columns of a group that are not worth working ahead
KINDS = ("dq", "dqd")
BLOCKS = ("L", "D", "G")  # beginnings of the names of what is known of branches


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
        """Name of an entry of u that waits for the next repeat."""
        return f"u{row} of {self.number}.{member}"

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
    alike: dict[tuple, list[Branch]] = {}
    for branch in branches(ancestors):
        carried = tuple(len(ancestors[k]) for k in branch.below)
        alike.setdefault((branch.above, len(branch.dofs), carried), []).append(branch)
    found = []
    for members in alike.values():
        columns = [
            [Column(kind, branch.dofs[at]) for branch in members]
            for kind in KINDS
            for at in range(len(members[0].dofs))
        ]
        used = tuple(
            tuple(some)
            for some in columns
            if not _known(robot, some[0])
            and any(x.torque(r) in entries for x in some for r in range(robot.nv))
        )
        moved = tuple(_moved(ancestors, branch) for branch in members)
        if used:
            found.append(Group(len(found), tuple(members), used, moved))
    return found


def _known(robot: Robot, column: Column) -> bool:
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
        Name -> scalar of the blocks (``L<row>_<column>``, ``D<row>``, ``G<row>_<column>``) that are
        not zero by structure; of the first u of each group that works ahead; of the columns that
        repeats begin with, zeros included; and of the derivatives that are known.
    """
    terms = Terms(arithmetic, parameters_as_data)
    given = {name: terms.given(values[name]) for name in inputs(robot, "dFD", external)}
    call = Arguments(terms, robot, given, external)
    tree = call.tree
    factors = factorised(tree.ancestors, mass_matrix(tree))
    parts = blocks(branches(tree.ancestors), factors)
    forces = driving_forces(tree, call.vector("tau"), call.external)
    qdd = solved(tree.ancestors, factors, forces)
    _, found = inverse_dynamics_derivatives(tree, qdd, call.external)
    torques = {
        Column(kind, k).torque(i): x
        for kind, matrix in (("dq", found.dq), ("dqd", found.dqd))
        for (i, k), x in matrix.items()
    }

    results = {name: x for name, x in _named(parts).items() if not x.is_zero}
    for kind in KINDS:
        for k in range(tree.nv):
            known = known_column(tree, f"dqdd_{kind}", k) or ()
            entries = {Column(kind, k).acceleration(i): x for i, x in enumerate(known)}
            results |= {name: x for name, x in entries.items() if not x.is_zero}
    for group in some:
        if group.ahead:
            for m, column in enumerate(group.columns[0]):
                b = [torques.get(column.torque(i), terms.zero) for i in range(tree.nv)]
                u = released(parts, b)
                results |= {group.carried(m, row): u[row] for row in group.members[m].rows}
        for repeat in range(len(group.columns)):
            names = [group.taken(repeat, *place) for place in group.places()]
            results |= {name: torques.get(name, terms.zero) for name in names}
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
        Name -> scalar of blocks as :func:`first` names them, of u if it works ahead, and of the
        column that it begins with, named as in the first repeat. A name with "-" in front stands
        for the negative.

    Returns
    -------
    dict
        Name -> scalar of the next u if it works ahead, and of the derivatives of accelerations,
        named as in the first repeat.
    """
    terms = Terms(arithmetic)
    given = {name: terms.given(x) for name, x in values.items()}
    given |= {name[1:]: -x for name, x in given.items() if name.startswith("-")}

    def entry(name: str) -> Term:
        return given.get(name, terms.zero)

    parts = _blocks(branches([robot.ancestors(k) for k in range(robot.nv)]), entry)
    carried, results, names = {}, {}, range(robot.nv)
    for m, (column, branch) in enumerate(zip(group.columns[0], group.members, strict=True)):
        rows = branch.rows
        b = [entry(group.taken(0, m, row)) if row in rows else terms.zero for row in names]
        u = released(parts, b)
        if group.ahead:
            carried |= {group.carried(m, row): u[row] for row in rows}
            u = [entry(group.carried(m, row)) for row in names]
        x = joined(parts, u)
        results |= {column.acceleration(row): -x[row] for row in group.moved[m]}
    found = carried | results
    return dict(zip(found, terms.results(found.values()), strict=True))


def _named(parts: Iterable[Block]) -> dict[str, Term]:
    """Names of the blocks' entries."""
    found = {}
    for (dofs, _, _), (L, d), G in parts:
        found |= {f"L{dofs[i]}_{dofs[j]}": x for (i, j), x in L.items()}
        found |= {f"D{k}": x for k, x in zip(dofs, d, strict=True)}
        found |= {f"G{k}_{c}": x for (k, c), x in G.items()}
    return found


def _blocks(parts: Iterable[Branch], entry: Callable[[str], Term]) -> list[Block]:
    """Blocks from their names."""
    found = []
    for branch in parts:
        dofs = branch.dofs
        L: Sparse = {
            (i, j): entry(f"L{dofs[i]}_{dofs[j]}") for i in range(len(dofs)) for j in range(i)
        }
        G = {(k, c): entry(f"G{k}_{c}") for k in dofs for c in branch.above}
        found.append(Block(branch, Factors(L, [entry(f"D{k}") for k in dofs]), G))
    return found
