"""Discrete time steps of a robot, and their sensitivities by the chain rule over the stages.

What a controller that looks ahead needs: x+ = f(x, u) with x = (q, qd), where u = tau is held over
the step, A = df/dx and B = df/du. A stage evaluates forward dynamics and, for sensitivities, their
derivatives dFD and Minv (paper 002, section II): by (q, qd, tau) it changes by
F_q dq + F_qd dqd + (0, 0, M^-1). Where there are quaternions, q moves by :mod:`manifold`, and
derivatives by and of q are in the tangent space. Runge-Kutta keeps its order there by two moves
after each other, without commutators (Celledoni, Marthinsen and Owren, Commutator-free Lie group
methods, 2003); for coordinates that add, these are the classical ones.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body import manifold
from pymodel.algorithms.rigid_body.coupling import Sparse
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

Vector = list[Term]

EULER = "semi-implicit Euler"
RUNGE_KUTTA = "Runge-Kutta 4"


class State(NamedTuple):
    """Where a robot is, and how that depends on where and how it began: on (q, qd, tau)."""

    q: Vector
    qd: Vector
    by_q: Sparse  # (i, k) -> derivative of q_i by the k-th of (q, qd, tau), (nv, 3 nv)
    by_qd: Sparse


class Stage(NamedTuple):
    """Accelerations, and their derivatives (nv, 3 nv)."""

    qdd: Vector
    by: Sparse


class Dynamics(NamedTuple):
    """Accelerations, their derivatives by q and qd, and the inverse of M.

    Without the latter three a step has no sensitivities.
    """

    qdd: Vector
    by_q: Sparse | None = None
    by_qd: Sparse | None = None
    inverse_mass: Sparse | None = None


#: A displacement of the tangent space: a sum of rates in these states, each sum times a number.
Way = Sequence[tuple[Term, Sequence[State]]]

#: q, qd -> what moves the robot there.
StateDynamics = Callable[[Vector, Vector], Dynamics]


def advanced(
    terms: Terms[Any],
    robot: Robot,
    q: Vector,
    qd: Vector,
    step: Term,
    dynamics: StateDynamics,
    method: str,
) -> State:
    """Advance by a time step.

    Parameters
    ----------
    terms : Terms
    robot : Robot
        What moves.
    q, qd : list of Term
        rad, m; rad/s, m/s.
    step : Term
        s.
    dynamics : callable
    method : str
        :data:`EULER`: rates first, then coordinates by the new rates, as of the accelerations
        before; :data:`RUNGE_KUTTA`: the classical method of order 4, and that of Celledoni and
        others where there are quaternions.

    Returns
    -------
    State
        Sensitivities are empty where `dynamics` gives none.
    """
    n = len(qd)
    own = range(n)
    begin = State(q, qd, {(i, i): terms.one for i in own}, {(i, n + i): terms.one for i in own})

    def stage(at: State) -> Stage:
        qdd, by_q, by_qd, inverse_mass = dynamics(at.q, at.qd)
        if by_q is None or by_qd is None or inverse_mass is None:
            return Stage(qdd, {})
        parts = [product(terms, by_q, at.by_q), product(terms, by_qd, at.by_qd)]
        parts.append({(i, 2 * n + k): x for (i, k), x in inverse_mass.items()})
        return Stage(qdd, _sum(terms, parts))

    first = stage(begin)
    sensitive = bool(first.by)
    if not sensitive:
        begin = State(q, qd, {}, {})
    turning = [k for joint in manifold.joints(robot) for k in joint.dofs]
    adding = [k for k in own if k not in turning]

    def moved(
        h: Term, rates: Sequence[State], of: Sequence[Stage], turns: Sequence[Way] = ()
    ) -> State:
        """Where the robot is after h at the sum of some rates and accelerations.

        Quaternions go these ways one after the other, without any as all else.
        """
        straight: Way = [(h, rates)]
        ways = [
            ((turn, turning), (straight if number == 0 else (), adding))
            for number, turn in enumerate(turns or [straight])
        ]
        displacements = [_displacement(terms, n, way) for way in ways]
        at, by_q = q, begin.by_q
        for displacement in displacements:
            at = manifold.moved(terms, robot, at, displacement)
        rates_after = [x + h * terms.total(s.qdd[i] for s in of) for i, x in enumerate(qd)]
        for way, displacement in zip(ways, displacements, strict=True):
            changes = (
                manifold.changes(terms, robot, displacement) if turning and sensitive else None
            )
            by_q = _moved(terms, by_q, _displacement_by(terms, way), changes)
        by_way = _times(h, _sum(terms, [s.by for s in of]))
        return State(at, rates_after, by_q, _moved(terms, begin.by_qd, by_way))

    if method == EULER:
        return moved(step, [moved(step, [begin], [first])], [first])
    half = step * terms.const(0.5)
    states, stages = [begin], [first]
    for h in (half, half):
        states.append(moved(h, states[-1:], stages[-1:]))
        stages.append(stage(states[-1]))
    turns: list[Way] = []
    if turning:
        turns = [[(half, [begin])], [(step, states[2:]), (-half, [begin])]]
    states.append(moved(step, states[-1:], stages[-1:], turns))
    stages.append(stage(states[-1]))
    sixth = step * terms.const(1.0 / 6.0)
    if turning:
        quarter, twelfth = step * terms.const(0.25), step * terms.const(1.0 / 12.0)
        middle = sixth, states[1:3]
        turns = [
            [(quarter, states[:1]), middle, (-twelfth, states[3:])],
            [(-twelfth, states[:1]), middle, (quarter, states[3:])],
        ]
    twice = (0, 1, 1, 2, 2, 3)
    return moved(sixth, [states[k] for k in twice], [stages[k] for k in twice], turns)


def _sum(terms: Terms[Any], parts: Sequence[Sparse]) -> Sparse:
    places = sorted({place for part in parts for place in part})
    found = {place: terms.total(part[place] for part in parts if place in part) for place in places}
    return {place: x for place, x in found.items() if not x.is_zero}


def _times(h: Term, part: Sparse) -> Sparse:
    return {place: h * x for place, x in part.items()}


def _displacement(
    terms: Terms[Any], nv: int, ways: Sequence[tuple[Way, Sequence[int]]]
) -> list[Term]:
    """A displacement (nv,) of ways, each of some degrees of freedom."""
    found = [terms.zero] * nv
    for way, rows in ways:
        for i in rows:
            found[i] = terms.total(h * terms.total(s.qd[i] for s in some) for h, some in way)
    return found


def _displacement_by(terms: Terms[Any], ways: Sequence[tuple[Way, Sequence[int]]]) -> Sparse:
    """Its derivatives."""
    found: Sparse = {}
    for way, rows in ways:
        parts = []
        for h, some in way:
            own = [{at: x for at, x in s.by_qd.items() if at[0] in rows} for s in some]
            parts.append(_times(h, _sum(terms, own)))
        found |= _sum(terms, parts)
    return found


def _moved(
    terms: Terms[Any], begin: Sparse, way: Sparse, changes: tuple[Sparse, Sparse] | None = None
) -> Sparse:
    """Derivatives of what goes a way, where it does not just add."""
    if changes is None:
        return _sum(terms, [begin, way])
    by_start, by_way = changes
    turning = {i for i, _ in by_start}
    rest = [
        {place: x for place, x in part.items() if place[0] not in turning} for part in (begin, way)
    ]
    return _sum(terms, [*rest, product(terms, by_start, begin), product(terms, by_way, way)])


def product(terms: Terms[Any], a: Sparse, b: Sparse) -> Sparse:
    """A B, of what is not zero by structure."""
    rows: dict[int, list[tuple[int, Term]]] = {}
    for (i, k), x in a.items():
        rows.setdefault(i, []).append((k, x))
    columns: dict[int, dict[int, Term]] = {}
    for (k, j), x in b.items():
        columns.setdefault(j, {})[k] = x
    found = {
        (i, j): terms.total(x * column[k] for k, x in row if k in column)
        for i, row in rows.items()
        for j, column in columns.items()
    }
    return {place: x for place, x in found.items() if not x.is_zero}
