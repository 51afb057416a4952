"""Vectors of words as the RTL's flat ports have them: word 0 in the lowest bits."""


def pack(words, width):
    """One integer from words of ``width`` bits."""
    value = 0
    for word in reversed(words):
        value = value << width | word
    return value


def unpack(value, count, width):
    """``count`` words of ``width`` bits from one integer."""
    mask = (1 << width) - 1
    return [value >> (width * i) & mask for i in range(count)]
