"""Discrete time steps of a robot, and their sensitivities by the chain rule over the stages.

What a controller that looks ahead needs: x+ = f(x, u) with x = (q, qd), where u = tau is held over
the step, A = df/dx and B = df/du. A stage evaluates forward dynamics and, for sensitivities, their
derivatives dFD and Minv (paper 002, section II): by (q, qd, tau) it changes by
F_q dq + F_qd dqd + (0, 0, M^-1). Where there are quaternions, q moves by :mod:`manifold`, and
derivatives by and of q are in the tangent space; Runge-Kutta stages take coordinates that add.
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
        What moves; with a quaternion only by :data:`EULER`.
    q, qd : list of Term
        rad, m; rad/s, m/s.
    step : Term
        s.
    dynamics : callable
    method : str
        :data:`EULER`: rates first, then coordinates by the new rates, as of the accelerations
        before; :data:`RUNGE_KUTTA`: the classical method of order 4.

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

    def moved(h: Term, rates: Sequence[State], of: Sequence[Stage]) -> State:
        """Where the robot is after h at the sum of some rates and accelerations."""
        way = [h * terms.total(s.qd[i] for s in rates) for i in own]
        return State(
            manifold.moved(terms, robot, q, way),
            [x + h * terms.total(s.qdd[i] for s in of) for i, x in enumerate(qd)],
            _moved(terms, begin.by_q, h, [s.by_qd for s in rates], manifold_of(way)),
            _moved(terms, begin.by_qd, h, [s.by for s in of]),
        )

    def manifold_of(way: Vector) -> tuple[Sparse, Sparse] | None:
        return manifold.changes(terms, robot, way) if manifold.joints(robot) else None

    first = stage(begin)
    if method == EULER:
        return moved(step, [moved(step, [begin], [first])], [first])
    states, stages = [begin], [first]
    half = step * terms.const(0.5)
    for h in (half, half, step):
        states.append(moved(h, states[-1:], stages[-1:]))
        stages.append(stage(states[-1]))
    twice = (0, 1, 1, 2, 2, 3)
    sixth = step * terms.const(1.0 / 6.0)
    return moved(sixth, [states[k] for k in twice], [stages[k] for k in twice])


def _sum(terms: Terms[Any], parts: Sequence[Sparse]) -> Sparse:
    places = sorted({place for part in parts for place in part})
    found = {place: terms.total(part[place] for part in parts if place in part) for place in places}
    return {place: x for place, x in found.items() if not x.is_zero}


def _moved(
    terms: Terms[Any],
    begin: Sparse,
    h: Term,
    rates: Sequence[Sparse],
    changes: tuple[Sparse, Sparse] | None = None,
) -> Sparse:
    """Derivatives of what moves for h at the sum of some rates, where it does not just add."""
    if not all(rates):
        return {}
    way = {place: h * x for place, x in _sum(terms, rates).items()}
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
