"""Operations of HDCA and its rivals, all counted off their texts in the same way."""

import pytest

from pymodel.compile import count
from pymodel.compile.rivals import ALGORITHMS, recorded
from pymodel.mechanism.scenario import Body, Scenario

SIZES = (1, 2, 3, 4, 8, 16)


def uniform_chain(n):
    """Bars whose centre of mass is half way, gravity along -y, no torques: what a count is of."""
    bodies = tuple(
        Body(1.0, 1.0, (0.5, 0.0), (1.0, 0.0), k - 1, (1.0, 0.0) if k else (0.0, 0.0))
        for k in range(n)
    )
    return Scenario("chain", (0.0, -9.81), 1e-3, 1.0, bodies)


def counted(name, n):
    found = count.kernel(recorded(name, uniform_chain(n)))
    return found["operations"] | {"path": found["critical_path"]}


#: (multiplications, additions, longest path in cycles of count.LATENCY)
PINNED = {
    "hdca": [
        (21, 7, 54),
        (85, 52, 116),
        (179, 121, 166),
        (243, 170, 175),
        (589, 438, 228),
        (1311, 1014, 281),
    ],
    "dca": [
        (20, 7, 51),
        (78, 47, 104),
        (166, 109, 151),
        (224, 151, 157),
        (546, 385, 207),
        (1220, 883, 257),
    ],
    "aba": [
        (3, 0, 25),
        (35, 20, 81),
        (68, 49, 134),
        (101, 78, 187),
        (233, 194, 399),
        (497, 426, 823),
    ],
    "naudet": [
        (3, 0, 22),
        (35, 21, 78),
        (67, 51, 128),
        (99, 81, 178),
        (227, 201, 378),
        (483, 441, 778),
    ],
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_operations(name):
    for n, expected in zip(SIZES, PINNED[name], strict=True):
        found = counted(name, n)
        assert (found["mul"], found["add"], found["path"]) == expected, n
        assert (found["rec"], found["sincos"]) == (n, n)


@pytest.mark.parametrize(
    ("name", "mul", "add"), [("naudet", (32, 29), (30, 39)), ("aba", (33, 31), (29, 38))]
)
def test_operations_of_the_recursive_ones_grow_by_the_same_for_every_body(name, mul, add):
    """Paper 003 has 185 n - 245 and 178 n - 230 for its algorithm: of pins in space.

    Besides reciprocals, sines and cosines, which it does not list. In the plane there is about a
    sixth of it: articulated inertias have 6 numbers instead of 21, vectors 3 instead of 6, a joint
    leaves 2x2 of the inertia instead of 5x5, and in the ground frame nothing has to be turned.
    """
    for n in SIZES[1:]:
        found = counted(name, n)
        assert (found["mul"], found["add"]) == (mul[0] * n - mul[1], add[0] * n - add[1])
