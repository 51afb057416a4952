"""Rotations in space: matrices, quaternions and the directions that a hinge keeps, in float64.

A rotation matrix turns vectors of a body's frame into the ground's, or a parent's. Quaternions are
x, y, z, w. Leading shapes carry over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_UNIT = np.eye(3)
# Matrices of x, y and z times what follows, each in one row.
_CROSS = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
)
# The axes after x, y and z, and those before.
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cross products (..., 3), with the bits of ``numpy.cross`` in a sixth of its time for one."""
    after = left.take(_NEXT, axis=-1) * right.take(_LAST, axis=-1)
    return after - left.take(_LAST, axis=-1) * right.take(_NEXT, axis=-1)


def skew(vector: np.ndarray) -> np.ndarray:
    """Matrix of the cross product with a vector (..., 3) on its left, shape (..., 3, 3)."""
    return (vector @ _CROSS).reshape(*vector.shape, 3)


def from_angles(angles: Sequence[float]) -> np.ndarray:
    """Rotation (3, 3) by roll, pitch and yaw: about the fixed axes x, y, z, in this order, rad."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def to_angles(rotation: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw (3,) of a rotation (3, 3), of which :func:`from_angles` makes it again.

    Where roll and yaw turn about one axis, roll is taken as the matrix has it, if only as 0.
    """
    forward, left, up = rotation.T + 0.0  # -0 becomes 0: no half turn of nothing
    roll = np.arctan2(left[2], up[2])
    pitch = np.arctan2(-forward[2], np.hypot(left[2], up[2]))
    across = np.cos(roll) * left - np.sin(roll) * up  # y axis, turned back by the roll
    return np.array([roll, pitch, np.arctan2(-across[0], across[1])]) + 0.0


def about_axis(axis: Sequence[float] | np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) by an angle (...), rad, about a unit vector (Rodrigues' formula)."""
    along = np.asarray(axis, dtype=np.float64)
    cosine, sine = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return cosine * _UNIT + sine * skew(along) + (1.0 - cosine) * (along[:, None] * along)


def from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of quaternions (..., 4) of any length but 0."""
    vector, w = quaternion[..., :3], quaternion[..., 3, None, None]
    square = (quaternion**2).sum(axis=-1)[..., None, None]
    cross = skew(vector)
    return _UNIT + 2.0 * (w * cross + cross @ cross) / square


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products of quaternions, shape (..., 4)."""
    a, s = left[..., :3], left[..., 3:]
    b, t = right[..., :3], right[..., 3:]
    vector = s * b + t * a + cross(a, b)
    return np.concatenate((vector, s * t - (a * b).sum(axis=-1, keepdims=True)), axis=-1)


def quaternion_rate(quaternion: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Time derivative (..., 4) at the angular velocity ``rate`` (..., 3), body frame."""
    return 0.5 * product(quaternion, np.concatenate((rate, np.zeros_like(rate[..., :1])), axis=-1))


def turned(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) after the rotation vector ``turn`` (..., 3), rad, body frame."""
    half = 0.5 * np.linalg.norm(turn, axis=-1, keepdims=True)
    along = 0.5 * np.sinc(half / np.pi) * turn
    found = product(quaternion, np.concatenate((along, np.cos(half)), axis=-1))
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def hinge_directions(to_axis: Sequence[float] | np.ndarray) -> np.ndarray:
    """The directions about which a hinge does not let its bodies turn against each other.

    Parameters
    ----------
    to_axis : sequence of float
        Its axis, a unit vector, in the frame of ``to``.

    Returns
    -------
    numpy.ndarray, shape (2, 3)
        Unit vectors u1 and u2 in the frame of ``to``; u1, u2 and the axis are right-handed. Those
        of a coordinate axis are coordinate axes.
    """
    axis = np.array(to_axis, dtype=np.float64)
    second = cross(axis, _UNIT[np.argmin(abs(axis))])
    second /= np.linalg.norm(second)
    return np.array([cross(second, axis), second]) + 0.0  # -0 becomes 0
