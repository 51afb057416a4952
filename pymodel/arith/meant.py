"""Which word may be meant by one that is not known."""

import difflib
from collections.abc import Iterable

ALIKE = 0.6  #: of two words that begin alike, difflib's ratio
MUCH_ALIKE = 0.8  #: of any two


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word that is nearest to one, None if none is near.

    Words that only end alike, as friction and rotation, are not near.
    """
    for near in difflib.get_close_matches(word, list(known), n=3, cutoff=ALIKE):
        if near[:1] == word[:1] or difflib.get_close_matches(word, [near], cutoff=MUCH_ALIKE):
            return near
    return None
