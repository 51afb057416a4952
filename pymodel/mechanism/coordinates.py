"""Coordinates and velocities of a mechanism's joints, which quaternions make differ in number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymodel.mechanism import frames, rotations
from pymodel.mechanism.scenario import FREE, PRISMATIC, SPHERICAL, Body, Scenario


def _quaternions(scenario: Scenario) -> Iterator[tuple[Body, slice, slice]]:
    """Bodies with a quaternion, where it stands in q, and the angular velocity in qd."""
    for body, own, rates in zip(scenario.bodies, scenario.q_slices, scenario.v_slices, strict=True):
        if scenario.spatial and body.joint in (SPHERICAL, FREE):
            yield body, slice(own.stop - 4, own.stop), slice(rates.stop - 3, rates.stop)


def coordinate_rates(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Time derivatives of the coordinates.

    Parameters
    ----------
    scenario : Scenario
    q, qd : numpy.ndarray, shapes (..., nq) and (..., nv)

    Returns
    -------
    numpy.ndarray, shape (..., nq)
    """
    q, qd = np.asarray(q, dtype=np.float64), np.asarray(qd, dtype=np.float64)
    if scenario.nq == scenario.nv:
        return qd
    rates = np.zeros_like(q)
    for own, mine, size in zip(
        scenario.q_slices, scenario.v_slices, scenario.freedoms, strict=True
    ):
        if size.q == size.v:
            rates[..., own] = qd[..., mine]
    for body, own, mine in _quaternions(scenario):
        rates[..., own] = rotations.quaternion_rate(q[..., own], qd[..., mine])
        if body.joint == FREE:
            turn = rotations.from_angles(body.turn) @ rotations.from_quaternion(q[..., own])
            velocity = qd[..., mine.start - 3 : mine.start]
            rates[..., own.start - 3 : own.start] = frames.times(turn, velocity)
    return rates


def displaced(scenario: Scenario, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Coordinates after a step that is as large as velocities are in one second.

    Parameters
    ----------
    scenario : Scenario
    q, step : numpy.ndarray, shapes (..., nq) and (..., nv)
        Steps are in m and rad.

    Returns
    -------
    numpy.ndarray, shape (..., nq)
        With quaternions of unit length.
    """
    q, step = np.asarray(q, dtype=np.float64), np.asarray(step, dtype=np.float64)
    found = q + coordinate_rates(scenario, q, step)
    for _, own, mine in _quaternions(scenario):
        found[..., own] = rotations.turned(q[..., own], step[..., mine])
    return found


def with_unit_quaternions(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """The same postures (..., nq) with quaternions of unit length."""
    found = q.copy()
    for _, own, _ in _quaternions(scenario):
        found[..., own] /= np.linalg.norm(q[..., own], axis=-1, keepdims=True)
    return found


def slides(scenario: Scenario) -> np.ndarray:
    """Which velocities are of translations, bool, shape (nv,); the others are angular."""
    found = np.zeros(scenario.nv, dtype=bool)
    for body, own in zip(scenario.bodies, scenario.v_slices, strict=True):
        if body.joint == PRISMATIC:
            found[own] = True
        elif body.joint == FREE:
            found[own.start : own.start + len(scenario.gravity)] = True
    return found
