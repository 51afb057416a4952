"""The filter that shows floats as decimals."""

import math
import subprocess
import sys

import pytest

from pymodel.arith.fp import Format
from scripts.dev.waves.float_filter import translator
from scripts.kernel.places import ROOT
from scripts.tests.dev.waves.made import FORMATS


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_filter_reads_back_as_the_same_float(fmt):
    fmt = Format(*fmt)
    translate = translator([str(fmt.exp_w), str(fmt.man_w)])

    def hexadecimal(bits):
        return f"{bits:0{(fmt.width + 3) // 4}x}"

    for bits in (fmt.one, fmt.one + 1, fmt.max_finite, fmt.min_normal, fmt.sign_mask | fmt.one):
        text = translate(hexadecimal(bits))
        assert fmt.from_float(float(text)) == bits
        assert math.isclose(float(text), fmt.to_float(bits), rel_tol=5e-6)
    assert translate(hexadecimal(fmt.one)) == "1"
    assert translate(hexadecimal(0)) == "0"
    assert translate(hexadecimal(fmt.sign_mask)) == "-0"
    assert translate(hexadecimal(fmt.inf)) == "inf"
    assert translate(hexadecimal(fmt.sign_mask | fmt.inf)) == "-inf"
    assert translate(hexadecimal(fmt.canonical_nan)) == "nan"
    assert translate(hexadecimal(1)) == "0"  # a subnormal counts as zero
    assert translate(hexadecimal(fmt.sign_mask | 1)) == "-0"


def test_filter_digits():
    translate = translator(["8", "23"])
    assert translate("3dcccccd") == "0.1"
    assert translate("40490fdb") == "3.1415927"
    assert translate("$40490FDB") == "3.1415927"  # with GTKWave's base marker
    assert translate("7f7fffff") == "3.4028235e+38"
    assert translator(["5", "2"])("39") == "0.625"  # 0.6 would read back, too
    double = translator(["11", "52"])
    assert double("400921fb54442d18") == str(math.pi)
    assert double("7fefffffffffffff") == "1.7976931348623157e+308"
    assert translate("xxxxxxxx") == translate("zzzz0000") == "x"
    assert translator(["flags"])("05") == "OF+NX"


def test_filter_answers_line_by_line():
    """As GTKWave uses it: the next value is sent after the answer."""
    command = [sys.executable, "-m", "scripts.dev.waves.float_filter", "5", "10"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        for value, text in (("3C00", "1"), ("C000", "-2"), ("xxxx", "x")):
            process.stdin.write(f"{value}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{text}\n"
        process.stdin.close()
    assert process.returncode == 0
