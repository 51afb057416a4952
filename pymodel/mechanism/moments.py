"""Principal moments of inertia, and those that no body has."""

import numpy as np

#: Moments are typed decimals. Those of a plate, the largest of which is the sum of the others, are
#: off by up to 1 % with three digits.
TYPED = 0.01
#: What is smaller than this share of what it is a part of comes from rounding.
ROUNDING = 1e-12
#: A principal moment that is less, relative to the largest, may be none.
SINGULAR = 1e-14


def least(inertia: np.ndarray) -> float:
    """Least principal moment of an inertia (3, 3), kg m^2; 0 where it may come from rounding.

    The moments of a diagonal one are exact.
    """
    lowest, _, highest = np.linalg.eigvalsh(inertia)
    is_diagonal = np.array_equal(inertia, np.diag(np.diag(inertia)))
    return 0.0 if not is_diagonal and abs(lowest) <= SINGULAR * highest else float(lowest)


def are_of_no_body(moments: np.ndarray, rounding: float = 0.0) -> bool:
    """Whether a principal moment is more than the sum of the two others, beyond typed decimals.

    Parameters
    ----------
    moments : ndarray, shape (3,)
        Ascending, kg m^2.
    rounding : float
        By how much more it may be in any case, kg m^2.
    """
    return bool(moments[2] > (1.0 + TYPED) * (moments[0] + moments[1]) + rounding)
