"""Vectors of words as the RTL's flat ports have them: word 0 in the lowest bits."""

from collections.abc import Sequence


def pack(words: Sequence[int], width: int) -> int:
    """One integer from words of ``width`` bits."""
    value = 0
    for word in reversed(words):
        value = value << width | word
    return value


def unpack(value: int, count: int, width: int) -> list[int]:
    """``count`` words of ``width`` bits from one integer."""
    mask = (1 << width) - 1
    return [value >> (width * i) & mask for i in range(count)]
