"""Positions, velocities, energies and loop errors of a mechanism, in float64.

Observables of a state (q, qd), independent of the HDCA: they judge its results. Any tree of bodies,
in the plane or in space, with or without loops. The coordinates ``q`` have the shape (..., nq) and
the velocities ``qd`` (..., nv), usually (T, nq) for T kept times or (nq,) for one posture; the
leading shape carries over to the results, which are float64. n is the number of bodies, d is 2 in
the plane and 3 in space. SI units, ground frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from pymodel.arith.errors import InputError, require
from pymodel.arith.numbers import numbers, whole
from pymodel.mechanism import frames, rotations
from pymodel.mechanism.planar_energies import Planar
from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Loop,
    Scenario,
    Spring,
    Vector,
    inertia_matrix,
)
from pymodel.mechanism.topology import Topology


def absolute_angles(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Angle of each body to the ground in the plane, rad, (..., n)."""
    return frames.planar_angles(scenario, q)


def body_rotations(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Rotation of each body, from its frame to the ground's, also in the plane, (..., n, 3, 3)."""
    if not scenario.spatial:
        return rotations.about_axis((0.0, 0.0, 1.0), absolute_angles(scenario, q))
    return np.stack(frames.orientations(scenario, q), axis=-3)


def angular_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Angular velocity of each body in the ground frame, rad/s, (..., n), in space (..., n, 3)."""
    rate = frames.turning(scenario, frames.orientations(scenario, q), qd)
    return rate if scenario.spatial else rate[..., 0]


def handle_positions(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of handle 1 of each body, m, (..., n, d)."""
    q = np.asarray(q, dtype=np.float64)
    orientations = frames.orientations(scenario, q)
    position = np.empty((*q.shape[:-1], len(scenario.bodies), len(scenario.gravity)))
    for k, body in enumerate(scenario.bodies):
        arm = frames.arm_to(scenario, q, orientations, k)
        position[..., k, :] = arm if body.parent < 0 else position[..., body.parent, :] + arm
    return position


def handle_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocity of handle 1 of each body, m/s, (..., n, d)."""
    q, qd = np.asarray(q, dtype=np.float64), np.asarray(qd, dtype=np.float64)
    orientations = frames.orientations(scenario, q)
    rate = frames.turning(scenario, orientations, qd)
    velocity = np.zeros((*q.shape[:-1], len(scenario.bodies), len(scenario.gravity)))
    for k, body in enumerate(scenario.bodies):
        if (parent := body.parent) >= 0:
            arm = frames.arm_to(scenario, q, orientations, k)
            velocity[..., k, :] = velocity[..., parent, :] + frames.cross(rate[..., parent, :], arm)
        own = qd[..., scenario.v_slices[k]]
        if body.joint == PRISMATIC:
            velocity[..., k, :] += frames.rotate(orientations[k], body.direction) * own
        elif body.joint == FREE and scenario.spatial:
            velocity[..., k, :] = frames.times(orientations[k], own[..., :3])
        elif body.joint == FREE:
            velocity[..., k, :] = own[..., :2]
    return velocity


def _arms(turns: list[np.ndarray], points: list[Vector]) -> np.ndarray:
    """Vectors from handle 1 of each body to a point of it, ground frame, (..., n, d)."""
    return np.stack(
        [frames.rotate(turn, point) for turn, point in zip(turns, points, strict=True)], axis=-2
    )


def centres_of_mass(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of the centre of mass of each body, m, (..., n, d)."""
    coms = [body.com for body in scenario.bodies]
    return handle_positions(scenario, q) + _arms(frames.orientations(scenario, q), coms)


def tip_positions(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of handle 2 of each body, m, (..., n, d)."""
    tips = [body.tip for body in scenario.bodies]
    return handle_positions(scenario, q) + _arms(frames.orientations(scenario, q), tips)


def centre_of_mass_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocity of the centre of mass of each body, m/s, (..., n, d)."""
    turns = frames.orientations(scenario, q)
    rate = frames.turning(scenario, turns, qd)
    arms = _arms(turns, [body.com for body in scenario.bodies])
    return handle_velocities(scenario, q, qd) + frames.cross(rate, arms)


def point_position(scenario: Scenario, q: np.ndarray, body: int, point: Vector) -> np.ndarray:
    """Position of a point of a body, m, (..., d).

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (..., nq)
    body : int
        Index of the body; -1 for the ground.
    point : tuple of float
        m, from handle 1 in the body's frame, or in the ground frame.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Raises
    ------
    InputError
        If an argument is none of these, or there is no such body.
    """
    q = _coordinates(scenario, q)
    return _point_positions(scenario, q, [(_body(scenario, body), _point(scenario, point))])[0]


def _coordinates(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Coordinates of a scenario as float64, (..., nq); an InputError for anything else."""
    require(scenario, Scenario, "load")
    q = _numbers("q", q)
    if q.shape[-1:] != (scenario.nq,):
        raise InputError(f"q: shape {q.shape}, must end with ({scenario.nq},)")
    return q


def _body(scenario: Scenario, body: int) -> int:
    """Index of a body, or of the ground; an InputError for anything else."""
    last = len(scenario.bodies) - 1
    with suppress(ValueError):
        if not isinstance(body, bool) and GROUND <= (found := whole("body", body)) <= last:
            return found
    span = f"0 to {last}, or {GROUND} for the ground"
    raise InputError(f"body: must be a whole number of {span}, got {body!r}")


def _point(scenario: Scenario, point: Vector) -> np.ndarray:
    """A point's numbers, (d,); an InputError for anything else."""
    found, size = _numbers("point", point), len(scenario.gravity)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise InputError(f"point: must be {size} finite numbers, got {found.tolist()}")
    return found


def _numbers(name: str, x: ArrayLike) -> np.ndarray:
    try:
        return numbers(name, x)
    except ValueError as error:
        raise InputError(str(error)) from None


def _point_positions(
    scenario: Scenario, q: np.ndarray, points: Sequence[tuple[int, Vector | np.ndarray]]
) -> list[np.ndarray]:
    """Positions of points, given by body and place on it, as of :func:`point_position`."""
    q = np.asarray(q, dtype=np.float64)
    turns, handles = frames.orientations(scenario, q), handle_positions(scenario, q)
    return [
        np.full((*q.shape[:-1], len(point)), point, dtype=np.float64)
        if body < 0
        else handles[..., body, :] + frames.rotate(turns[body], point)
        for body, point in points
    ]


def point_velocity(
    scenario: Scenario, q: np.ndarray, qd: np.ndarray, body: int, point: Vector
) -> np.ndarray:
    """Velocity of a point of a body, m/s, (..., d); arguments as in :func:`point_position`."""
    return _point_velocities(scenario, q, qd, [(body, point)])[0]


def _point_velocities(
    scenario: Scenario, q: np.ndarray, qd: np.ndarray, points: list[tuple[int, Vector]]
) -> list[np.ndarray]:
    """Velocities of points, given by body and place on it, as of :func:`point_velocity`."""
    q = np.asarray(q, dtype=np.float64)
    turns, handles = frames.orientations(scenario, q), handle_velocities(scenario, q, qd)
    rate = frames.turning(scenario, turns, qd)
    return [
        np.zeros((*q.shape[:-1], len(point)))
        if body < 0
        else handles[..., body, :]
        + frames.cross(rate[..., body, :], frames.rotate(turns[body], point))
        for body, point in points
    ]


def _spins(scenario: Scenario, q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Angular momenta about the centres of mass at the rates of :func:`frames.turning`."""
    if not scenario.spatial:
        return np.array([[body.inertia] for body in scenario.bodies]) * rate
    inertia = np.array([inertia_matrix(body.moments) for body in scenario.bodies])
    turns = body_rotations(scenario, q)
    return frames.times(turns @ inertia @ np.swapaxes(turns, -1, -2), rate)


def kinetic_energy(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Kinetic energy of the whole mechanism, J, (...); infinite beyond the range of float64."""
    return energies(scenario, q, qd)[0]


def potential_energy(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Energy in gravity (0 at the ground origin) and in all springs, J, (...).

    Joint torques and damping have no potential: they do work.
    """
    q = np.asarray(q, dtype=np.float64)
    return energies(scenario, q, np.zeros((*q.shape[:-1], scenario.nv)))[1]


def energies(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """:func:`kinetic_energy` and :func:`potential_energy`, which takes half the time of both."""
    q, qd = np.asarray(q, dtype=np.float64), np.asarray(qd, dtype=np.float64)
    if not scenario.spatial:
        shape = q.shape[:-1]
        tables = q.reshape(-1, scenario.nq), qd.reshape(-1, scenario.nv)
        kinetic, height = (x.reshape(shape)[()] for x in Planar(scenario).energies(*tables))
    else:
        kinetic, height = _spatial_energies(scenario, q, qd)
    return kinetic, _with_springs(scenario, q, height)


def _spatial_energies(
    scenario: Scenario, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic energy, and potential energy in gravity alone."""
    velocity = centre_of_mass_velocities(scenario, q, qd)
    rate = frames.turning(scenario, frames.orientations(scenario, q), qd)
    mass = np.array([body.mass for body in scenario.bodies])
    with np.errstate(over="ignore"):  # a run that explodes gets here before it is stopped
        turning = (rate * _spins(scenario, q, rate)).sum(axis=(-1, -2))
        kinetic = 0.5 * (((velocity**2).sum(axis=-1) * mass).sum(axis=-1) + turning)
    weight = mass[:, None] * scenario.gravity
    return kinetic, -(centres_of_mass(scenario, q) * weight).sum(axis=(-1, -2))


def _with_springs(scenario: Scenario, q: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Potential energy with that of the springs, given that in gravity."""
    sprung = [k for k, size in enumerate(scenario.freedoms) if size.q == 1]
    spring = np.array([scenario.bodies[k].spring for k in sprung])
    rest = np.array([scenario.bodies[k].rest for k in sprung])
    if len(sprung) < scenario.nq:
        own = q[..., [scenario.q_slices[k].start for k in sprung]]
    else:
        own = q
    energy = height + (0.5 * (own - rest) ** 2 * spring).sum(axis=-1)
    if not scenario.springs:
        return energy
    stiffness = np.array([spring.stiffness for spring in scenario.springs])
    natural = np.array([spring.length for spring in scenario.springs])
    return energy + (0.5 * (spring_lengths(scenario, q) - natural) ** 2 * stiffness).sum(axis=-1)


def spring_lengths(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Distance between the ends of each spring, m, (..., springs)."""
    return np.linalg.norm(_differences(scenario, q, scenario.springs), axis=-1)


def loop_gaps(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Vector from the pin on ``to`` to the pin on ``body`` of each loop, m, (..., loops, d)."""
    return _differences(scenario, q, scenario.loops)


def _differences(scenario: Scenario, q: np.ndarray, pairs: Sequence[Loop | Spring]) -> np.ndarray:
    """Vector from the point on ``to`` to the point on ``body`` of each pair, (..., pairs, d)."""
    q = np.asarray(q, dtype=np.float64)
    places = _point_positions(scenario, q, _ends(pairs)) if pairs else []
    found = [own - other for own, other in zip(places[::2], places[1::2], strict=True)]
    return _stacked(found, scenario, q)


def _ends(pairs: Sequence[Loop | Spring]) -> list[tuple[int, Vector]]:
    """The point on ``body`` and that on ``to`` of each pair in turn."""
    ends = (((pair.body, pair.point), (pair.to, pair.at)) for pair in pairs)
    return [point for both in ends for point in both]


def _stacked(vectors: list[np.ndarray], scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Vectors (..., d) of a state as an array (..., their number, d)."""
    none = np.zeros((*q.shape[:-1], 0, len(scenario.gravity)))
    return np.stack(vectors, axis=-2) if vectors else none


def loop_gap_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Time derivative of :func:`loop_gaps`, m/s, (..., loops, d)."""
    q = np.asarray(q, dtype=np.float64)
    loops = scenario.loops
    rates = _point_velocities(scenario, q, qd, _ends(loops)) if loops else []
    found = [own - other for own, other in zip(rates[::2], rates[1::2], strict=True)]
    return _stacked(found, scenario, q)


def axis_gaps(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Axis on ``body`` less that on ``to`` of each loop that is a hinge, (..., hinges, 3).

    Unit vectors in the ground frame. Loops in the plane have no axes.
    """
    q = np.asarray(q, dtype=np.float64)
    turns = frames.orientations(scenario, q)
    found = [
        _direction(turns, loop.body, loop.directions[0])
        - _direction(turns, loop.to, loop.directions[1])
        for loop in scenario.loops
        if loop.axis
    ]
    return _stacked(found, scenario, q)


def axis_gap_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Time derivative of :func:`axis_gaps`, 1/s, (..., hinges, 3)."""
    q = np.asarray(q, dtype=np.float64)
    turns = frames.orientations(scenario, q)
    rate = frames.turning(scenario, turns, qd)
    found = []
    for loop in scenario.loops:
        if loop.axis:
            own, other = loop.directions
            change = frames.cross(rate[..., loop.body, :], _direction(turns, loop.body, own))
            if loop.to != GROUND:
                axis = _direction(turns, loop.to, other)
                change = change - frames.cross(rate[..., loop.to, :], axis)
            found.append(change)
    return _stacked(found, scenario, q)


def _direction(turns: list[np.ndarray], body: int, vector: Vector) -> np.ndarray:
    """A vector of a body's frame, or of the ground's, in the ground's frame."""
    return np.array(vector) if body == GROUND else frames.rotate(turns[body], vector)


def loop_position(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Distance by which the loops are open, the worst of all loops, m, (...); 0 without loops."""
    return np.linalg.norm(loop_gaps(scenario, q), axis=-1).max(axis=-1, initial=0.0)


def loop_velocity(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Speed at which the pins of the worst loop part, m/s, (...); 0 without loops."""
    rates = loop_gap_velocities(scenario, q, qd)
    return np.linalg.norm(rates, axis=-1).max(axis=-1, initial=0.0)


def loop_tilt(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Angle between the two axes of the worst hinge of a loop, rad, (...); 0 without hinges.

    Raises
    ------
    InputError
        If it is no scenario, or the coordinates are not of its mechanism.
    """
    q = _coordinates(scenario, q)
    chords = np.linalg.norm(axis_gaps(scenario, q), axis=-1).max(axis=-1, initial=0.0)
    return 2.0 * np.arcsin(np.minimum(0.5 * chords, 1.0))


def loop_angle_error(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Error of the sum of the inner angles of a loop, of several the largest, rad, (...).

    The inner angles of a closed polygon add up; here the last one is measured at the pin that the
    loop should end in, so the error is the angle, seen from handle 1 of the last body, between
    that body's own pin and the pin that it should be on. In space, and of several loops, it has no
    sign.

    Raises
    ------
    IndexError
        If there is no loop.
    """
    q = np.asarray(q, dtype=np.float64)
    errors = [_angle_error(scenario, q, loop) for loop in scenario.loops]
    return np.max(np.abs(errors), axis=0) if len(errors) > 1 else errors[0]


def _angle_error(scenario: Scenario, q: np.ndarray, loop: Loop) -> np.ndarray:
    handle = handle_positions(scenario, q)[..., loop.body, :]
    own = point_position(scenario, q, loop.body, loop.point) - handle
    wanted = point_position(scenario, q, loop.to, loop.at) - handle
    cross = frames.moment(own, wanted)
    cross = np.linalg.norm(cross, axis=-1) if scenario.spatial else cross[..., 0]
    return np.arctan2(cross, (own * wanted).sum(axis=-1))


def loop_rows(scenario: Scenario) -> list[slice]:
    """Where the constraints of each loop stand among those of all loops.

    Each loop has a translation along each of the ground's axes, or of those of its body ``to``
    (:attr:`pymodel.mechanism.scenario.Loop.axes_turn`), and a hinge in space two rotations as well,
    about the directions of :func:`pymodel.mechanism.rotations.hinge_directions`.
    """
    sizes = [len(scenario.gravity) + (2 if loop.axis else 0) for loop in scenario.loops]
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def kept_rows(scenario: Scenario) -> np.ndarray:
    """Which of all loops' constraints the dynamics use, int, shape (kept,)."""
    found = [np.zeros(0, dtype=int)]
    for loop, rows in zip(scenario.loops, loop_rows(scenario), strict=True):
        found.append(np.r_[rows] if loop.kept is None else rows.start + np.array(loop.kept, int))
    return np.concatenate(found)


def loop_errors(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """By how much the loops' constraints fail, m and, for small angles, rad, (..., rows).

    Where the loops are closed its derivative is :func:`loop_jacobian`.
    """
    turns, gaps = frames.orientations(scenario, q), loop_gaps(scenario, q)

    def turned(loop: Loop) -> np.ndarray:
        own, other = loop.directions
        axis = _direction(turns, loop.body, own)
        return rotations.cross(_direction(turns, loop.to, other), axis)

    return _constraint_rows(scenario, turns, gaps, turned)


def loop_rates(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocities that the loops' constraints forbid, m/s and rad/s, (..., rows)."""
    turns, velocities = frames.orientations(scenario, q), loop_gap_velocities(scenario, q, qd)
    rate = frames.turning(scenario, turns, qd)

    def turned(loop: Loop) -> np.ndarray:
        own = rate[..., loop.body, :]
        return own if loop.to == GROUND else own - rate[..., loop.to, :]

    return _constraint_rows(scenario, turns, velocities, turned)


def _constraint_rows(
    scenario: Scenario,
    turns: list[np.ndarray],
    translations: np.ndarray,
    turned: Callable[[Loop], np.ndarray],
) -> np.ndarray:
    """Each loop's translation, and of a hinge the components of what is ``turned``, (..., rows)."""
    rows = [translations[..., :0, 0]]
    for index, loop in enumerate(scenario.loops):
        translation = translations[..., index, :]
        if loop.axes_turn:
            translation = frames.along_axes(scenario, loop.to, turns[loop.to], translation)
        rows.append(translation)
        if loop.axis:
            vector = turned(loop)
            for direction in rotations.hinge_directions(loop.directions[1]):
                along = _direction(turns, loop.to, direction)
                rows.append((along * vector).sum(axis=-1, keepdims=True))
    return np.concatenate(rows, axis=-1)


def loop_jacobian(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """The loops' constraints on the velocities: what :func:`loop_rates` multiplies them with.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (..., nq)

    Returns
    -------
    numpy.ndarray, shape (..., rows, nv)
        Rows as :func:`loop_rows` says.
    """
    q = np.asarray(q, dtype=np.float64)
    shape = (*q.shape[:-1], scenario.nv)
    # Rates are linear in qd: one unit velocity a joint gives the columns exactly.
    units = np.broadcast_to(np.eye(scenario.nv), (*shape, scenario.nv))
    postures = np.broadcast_to(q[..., None, :], (*shape, scenario.nq))
    return np.swapaxes(loop_rates(scenario, postures, units), -1, -2)


def joint_momenta(scenario: Scenario, q: np.ndarray, q_dot: np.ndarray) -> np.ndarray:
    """Joint momenta p_k = H^T sum of S M V over the outboard bodies, (6)-(7) of paper 000.

    What body k and all that it carries have of momentum: of a revolute joint the angular momentum
    about handle 1 of body k, along the axis; of a prismatic one the linear momentum along the axis;
    of a spherical one the angular momentum about handle 1, in the body's frame. Of a free body
    linear momentum, then angular momentum about handle 1: in the ground frame in the plane, in the
    body's frame in space.

    Parameters
    ----------
    scenario : Scenario
    q, q_dot : numpy.ndarray, shapes (..., nq) and (..., nv)

    Returns
    -------
    numpy.ndarray, shape (..., nv)
        N m s and N s.
    """
    linear, angular = _momenta(scenario, q, q_dot)
    carries = np.zeros((len(scenario.bodies),) * 2 + (1,), dtype=bool)
    for k, carried in enumerate(Topology(scenario).carried):
        carries[k, carried] = True
    arm = centres_of_mass(scenario, q)[..., None, :, :]
    arm = arm - handle_positions(scenario, q)[..., :, None, :]
    orbital = frames.moment(arm, linear[..., None, :, :])  # (joint k, body j)
    moments = np.where(carries, orbital + angular[..., None, :, :], 0.0).sum(axis=-2)
    forces = np.where(carries, linear[..., None, :, :], 0.0).sum(axis=-2)
    found = []
    for k, turn in enumerate(frames.orientations(scenario, q)):
        body, force, moment = scenario.bodies[k], forces[..., k, :], moments[..., k, :]
        if body.joint == PRISMATIC:
            found.append((frames.rotate(turn, body.direction) * force).sum(axis=-1, keepdims=True))
        elif body.joint == REVOLUTE and scenario.spatial:
            axis = frames.rotate(turn, body.direction)
            found.append((axis * moment).sum(axis=-1, keepdims=True))
        elif body.joint == REVOLUTE:
            found.append(moment)
        elif body.joint != FIXED:
            parts = [moment] if body.joint == SPHERICAL else [force, moment]
            if scenario.spatial:
                parts = [frames.times(np.swapaxes(turn, -1, -2), part) for part in parts]
            found += parts
    return np.concatenate(found, axis=-1)


def _momenta(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each body the linear momentum and the angular one about its centre of mass."""
    mass = np.array([body.mass for body in scenario.bodies])
    linear = mass[:, None] * centre_of_mass_velocities(scenario, q, qd)
    rate = frames.turning(scenario, frames.orientations(scenario, q), qd)
    return linear, _spins(scenario, q, rate)


def total_momenta(
    scenario: Scenario, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Momenta of the whole mechanism in the ground frame.

    Parameters
    ----------
    scenario : Scenario
    q, qd : numpy.ndarray, shapes (..., nq) and (..., nv)

    Returns
    -------
    linear : numpy.ndarray, shape (..., d)
        N s.
    angular : numpy.ndarray, shape (..., 1), in space (..., 3)
        About the ground's origin, N m s.
    """
    linear, angular = _momenta(scenario, q, qd)
    orbital = frames.moment(centres_of_mass(scenario, q), linear)
    return linear.sum(axis=-2), (orbital + angular).sum(axis=-2)
