"""GTKWave filter: hexadecimal values on stdin, what they mean on stdout, line by line.

    python -m scripts.dev.waves.float_filter EXP_W MAN_W      floats of that format, as decimals
    python -m scripts.dev.waves.float_filter flags            exception flags, as OF+NX

GTKWave starts it through a script that `filters` writes ("translate filter process"), and waits for
one line after each line.
"""

import functools
import sys
from collections.abc import Callable

from pymodel.arith.fp import Format, flag_text

MIN_DIGITS = 6  # fewer tell small formats' numbers apart, but lie far from them
MAX_DIGITS = 17  # enough for a float64, the widest format


def decimal(fmt: Format, bits: int) -> str:
    """The shortest decimal that reads back as the same float, rounded to MIN_DIGITS or more.

    Subnormals are zeros here, as the float units treat them.
    """
    x = fmt.to_float(bits)
    target = fmt.from_float(x)
    for digits in range(MIN_DIGITS, MAX_DIGITS):
        text = f"{x:.{digits}g}"
        if fmt.from_float(float(text)) == target:
            return text
    return f"{x:.{MAX_DIGITS}g}"


def translator(arguments: list[str]) -> Callable[[str], str]:
    """From a value as GTKWave writes it to its text.

    Raises
    ------
    ValueError
        If the arguments are not those of the module's docstring.
    """
    if arguments == ["flags"]:
        convert = flag_text
    else:
        exp_w, man_w = map(int, arguments)
        fmt = Format(exp_w, man_w)
        convert = functools.partial(decimal, fmt)

    @functools.lru_cache(maxsize=1 << 16)
    def translate(value: str) -> str:
        try:
            return convert(int(value.lstrip("$"), 16))
        except ValueError:  # a digit is x or z
            return "x"

    return translate


def main() -> int:
    """The command."""
    try:
        translate = translator(sys.argv[1:])
    except ValueError as error:
        print(f"float_filter: {error}; usage: float_filter EXP_W MAN_W | flags", file=sys.stderr)
        return 2
    for line in sys.stdin:
        print(translate(line.strip()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
