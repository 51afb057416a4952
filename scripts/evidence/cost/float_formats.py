"""The float formats that hardware is measured in, as (EXP_W, MAN_W)."""

FloatFormat = tuple[int, int]

BINARY32 = (8, 23)
#: Formats of the arithmetic sweep.
FORMATS = (BINARY32, (8, 19), (8, 15), (5, 10), (8, 7))
NAMES = {BINARY32: "binary32", (5, 10): "half", (8, 7): "bfloat16"}


def arithmetic(fmt: FloatFormat) -> str:
    """As the model's command line takes it: `8/23`."""
    exp_w, man_w = fmt
    return f"{exp_w}/{man_w}"


def format_name(fmt: FloatFormat) -> str:
    """`binary32`, `half`, or `8/19` for a format without a name."""
    return NAMES.get(fmt, arithmetic(fmt))


def width(fmt: FloatFormat) -> int:
    """Bits of a number."""
    return 1 + sum(fmt)
