"""Projection of the coordinates of a mechanism with loops onto these: algorithm text.

The impulses of the loops' joints keep velocities on the constraints, not positions: what rounding
and the step's error leave of a loop's gap stays and adds up. A Newton step takes it back, with the
matrices of the assembly: with the gap as a drift of the joints that close loops and no momenta, the
assembly finds the velocities, here displacements,

    dq = -M^-1 J^T (J M^-1 J^T)^-1 gap,

the least ones by the mechanism's own inertia. It changes no matrix; where all is at one posture, a
recording shares them with the assembly that finds the impulses to re-base with.
"""

from typing import Any

from pymodel.algorithms.gaps import gaps
from pymodel.algorithms.posture import posture_of
from pymodel.algorithms.step import (
    Mechanism,
    Requests,
    coordinate_rates,
    free_bodies,
    joint_velocities,
    on_terms,
    rebased,
    taken_by,
)
from pymodel.arith.scalars import Scalar


def projected(mechanism: Mechanism[Any], q: list[Any], p: list[Any], time: Any = None) -> Requests:
    """A state whose loops are closed to second order in their gaps.

    First its momenta are re-based with the impulses that the cut joints have right now, so that
    they are the mechanism's own, p = dT/dq-dot. These are kept as the coordinates move. Augmented
    momenta have no meaning but at their posture: their share J^T sigma would turn with J.

    Parameters
    ----------
    mechanism : Mechanism
        With loops, prepared with ``project``.
    q : list of nq scalars
    p : list of nv scalars
        Augmented momenta.
    time : scalar, optional
        t in s, which motions need; what they say of q stays.

    Yields
    ------
    Assemble, ConnectBase, Disassemble, Eliminate, Recover
        As :func:`pymodel.algorithms.step.rates`.

    Returns
    -------
    q, p : list of nq and of nv scalars
    """
    return (yield from on_terms(_projected, mechanism, q, p, time))


def _projected(mechanism: Mechanism[Any], q: list[Scalar], p: list[Scalar], time: Any) -> Requests:
    space: Any = mechanism.space
    poses = space.poses(mechanism, q)
    posture = posture_of(mechanism, poses, q)
    taken = taken_by(posture)

    def known(p: list[Scalar]) -> list[Any]:
        freedoms = (joint.freedoms for joint in posture.joints)
        return [space.spread(own, mechanism.velocities(k, p)) for k, own in enumerate(freedoms)]

    p = mechanism.at_rest(p)
    moving = mechanism.motion_drifts(posture, time)
    _, leaves = free_bodies(mechanism, poses, posture, p, known(p), moving)
    _, t_cut, _ = yield from mechanism.impulses(leaves, taken)
    p = mechanism.at_rest(rebased(mechanism, posture, p, t_cut))

    none = [mechanism.zero] * mechanism.nv
    drifts: dict[int, dict[int, Any]] = {}
    for joint, gap in zip(mechanism.topology.loops, gaps(mechanism, poses, posture), strict=True):
        drifts.setdefault(joint.b.body, {})[joint.b.joint] = gap
    free, leaves = free_bodies(mechanism, poses, posture, none, known(none), drifts)
    impulses, _, _ = yield from mechanism.impulses(leaves, taken)
    dq, slips, _, _ = joint_velocities(mechanism, posture, free, impulses)
    change = coordinate_rates(mechanism, q, mechanism.at_rest(dq), slips)
    return [x + dx for x, dx in zip(q, change, strict=True)], p
