"""Derivatives of forward dynamics in two texts: all but -M^-1 dtau, and a column of it.

For robots of so many joints that one text has too many operations: of a column they grow as the
number of joints, by articulated bodies (Featherstone 2008, 7.3), where the factors of M take its
square, and what finds those its cube. Unlike :mod:`pymodel.algorithms.rigid_body.segments` all
columns have one text, zeros of structure included.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pymodel.algorithms.rigid_body.articulated_body import (
    ArticulatedFactors,
    Joint,
    multiplied_by_inverse,
    with_factors,
)
from pymodel.algorithms.rigid_body.functions import (
    Arguments,
    columns,
    derivatives,
    inputs,
    known_column,
)
from pymodel.algorithms.rigid_body.mass_matrix import Factors
from pymodel.algorithms.rigid_body.segments import KINDS, Column, is_known
from pymodel.algorithms.rigid_body.tree import Tree
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

BASE = 6  # degrees of freedom of a floating base


def solved(robot: Robot) -> list[Column]:
    """The columns that are solved for.

    Returns
    -------
    list of Column
        By kind and then by degree of freedom, without those by a floating base's own motion, which
        are known.
    """
    every = (Column(kind, k) for kind in KINDS for k in range(robot.nv))
    return [one for one in every if not is_known(robot, one)]


def first(
    robot: Robot,
    arithmetic: SupportsArithmetic[S],
    values: Mapping[str, S],
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> dict[str, S]:
    """Evaluate all but the columns.

    Parameters
    ----------
    robot : Robot
        Without joints that follow others, and without loops.
    arithmetic, values, external, parameters_as_data
        As for :func:`pymodel.algorithms.rigid_body.functions.evaluate` of dFD.

    Returns
    -------
    dict
        Name -> scalar of what :func:`column` is given, of the derivatives of torques of all columns
        of :func:`solved`, zeros included, and of the derivatives that are known.
    """
    terms = Terms(arithmetic, parameters_as_data, identities=True)
    given = {name: terms.given(values[name]) for name in inputs(robot, "dFD", external)}
    call = Arguments(terms, robot, given, external)
    tree = call.tree
    qdd, factors = with_factors(tree, call.vector("tau"), call.external)
    by_kind = dict(zip(KINDS, derivatives(tree, qdd, call.external), strict=True))
    results = {name: x for name, x in _factors(tree, factors) if not x.is_zero}
    for kind in KINDS:
        for k in range(robot.nv):
            known = enumerate(known_column(tree, f"dqdd_{kind}", k) or ())
            entries = {Column(kind, k).acceleration(i): x for i, x in known}
            results |= {name: x for name, x in entries.items() if not x.is_zero}
    for one in solved(robot):
        matrix = by_kind[one.kind]
        rows = range(robot.nv)
        results |= {one.torque(i): matrix.get((i, one.dof), terms.zero) for i in rows}
    return dict(zip(results, terms.results(results.values()), strict=True))


def column(
    robot: Robot,
    one: Column,
    arithmetic: SupportsArithmetic[S],
    values: Mapping[str, S],
    parameters_as_data: bool = False,
) -> dict[str, S]:
    """Evaluate a column.

    Parameters
    ----------
    robot : Robot
    one : Column
        By which its entries are named: the text of all others is the same.
    arithmetic, parameters_as_data
        As for :func:`first`.
    values : dict
        Name -> scalar of what :func:`first` gives: coordinates that are no angles of joints, sines
        and cosines, factors, and the column's derivatives of torques. What is zero is left out.

    Returns
    -------
    dict
        Name -> scalar of the column's derivatives of accelerations.
    """
    terms = Terms(arithmetic, parameters_as_data)
    given = {name: terms.given(x) for name, x in values.items()}

    def entry(name: str) -> Term:
        return given.get(name, terms.zero)

    joints = range(len(robot.links))[robot.first :]
    turns = {i: (given[f"sin{i}"], given[f"cos{i}"]) for i in joints if f"sin{i}" in given}
    tree = Tree(terms, robot, [entry(name) for name in columns(robot, "q")], turns=turns)
    factors = ArticulatedFactors(
        {
            i: Joint(
                tuple(entry(f"moment{i}_{k}") for k in range(3)),
                tuple(entry(f"force{i}_{k}") for k in range(3)),
                terms.zero,
                entry(f"D{i}"),
            )
            for i in joints
        },
        _base(robot, entry) if robot.floating else None,
    )
    b = [entry(one.torque(row)) for row in range(robot.nv)]
    found = multiplied_by_inverse(tree, factors, b)
    results = {one.acceleration(row): -x for row, x in enumerate(found)}
    return dict(zip(results, terms.results(results.values()), strict=True))


def _factors(tree: Tree, factors: ArticulatedFactors) -> Iterator[tuple[str, Term]]:
    """All that the columns have in common, by name."""
    yield from zip(columns(tree.robot, "q"), tree.q, strict=True)
    for i, (sine, cosine) in tree.turns.items():
        yield f"sin{i}", sine
        yield f"cos{i}", cosine
    for i, joint in factors.joints.items():
        yield f"D{i}", joint.d
        yield from ((f"moment{i}_{k}", x) for k, x in enumerate(joint.moment))
        yield from ((f"force{i}_{k}", x) for k, x in enumerate(joint.force))
    if factors.base is not None:
        yield from ((f"base L{i}_{k}", x) for (i, k), x in factors.base.L.items())
        yield from ((f"base D{k}", x) for k, x in enumerate(factors.base.d))


def _base(robot: Robot, entry: Callable[[str], Term]) -> Factors:
    L = {(i, k): entry(f"base L{i}_{k}") for i in range(BASE) for k in robot.ancestors(i)}
    return Factors(L, [entry(f"base D{k}") for k in range(BASE)])
