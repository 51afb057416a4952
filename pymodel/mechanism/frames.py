"""Frames of bodies in space, as numbers of a mechanism: rotation matrices, float64."""

from collections.abc import Sequence

import numpy as np

# Entries of a rotation that are smaller are rounding errors of zeros.
DUST = 1e-15


def rotation_matrix(angles: Sequence[float]) -> np.ndarray:
    """Rotation by roll, pitch and yaw (rad): about the x, then the y, then the z axis, as in URDF.

    Returns
    -------
    numpy.ndarray, shape (3, 3)
        From the turned frame to the other one.
    """
    (sr, cr), (sp, cp), (sy, cy) = ((np.sin(x), np.cos(x)) for x in angles)
    return clean(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )


def frame_along(axis: Sequence[float]) -> np.ndarray:
    """A rotation matrix whose third column is a unit vector.

    Of an axis of coordinates all entries are 0 and +-1.

    Parameters
    ----------
    axis : sequence of 3 floats

    Returns
    -------
    numpy.ndarray, shape (3, 3)
        Its first two columns are directions across the axis.
    """
    z = np.asarray(axis, dtype=float)
    x = np.cross(np.eye(3)[(int(np.abs(z).argmax()) + 1) % 3], z)
    x /= np.linalg.norm(x)
    return clean(np.column_stack((x, np.cross(z, x), z)))


def clean(matrix: np.ndarray) -> np.ndarray:
    """The matrix with zeros and ones in place of what is so near to them."""
    nearest = np.round(matrix)
    return np.where(np.abs(matrix - nearest) < DUST, nearest + 0.0, matrix)
