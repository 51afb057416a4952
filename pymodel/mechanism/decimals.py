"""Numbers as files and command lines have them."""


def decimal(text: str) -> float:
    """Read a number in decimal digits; Python's ``float`` takes 1_0 and other scripts' digits, too.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)
