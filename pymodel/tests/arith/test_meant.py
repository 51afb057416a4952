"""Which word is meant by one that is not known."""

import pytest

from pymodel.arith.meant import meant

KEYS = ("mass", "inertia", "com", "rotation", "damping", "gravity", "body")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("mas", "mass"),
        ("bodies", "body"),
        ("gravty", "gravity"),
        ("ravity", "gravity"),  # the first letter is missing
        ("friction", None),  # ends as rotation does
        ("motion", None),
        ("colour", None),
        ("", None),
    ],
)
def test_near_words(word, near):
    assert meant(word, KEYS) == near
    assert meant(word, []) is None
