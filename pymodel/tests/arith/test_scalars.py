"""The bit-exact arithmetic's own rules; its floats are tested in test_fp.py."""

import dataclasses
import math

import numpy as np
import pytest

from pymodel.arith.scalars import BitExact, parse
from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS


@pytest.mark.parametrize("value", [1.5, 0.0, -0.0, math.inf, math.nan])
def test_a_zero_parameter_is_structure(value):
    ar = BitExact(fold=True)
    x, zero = ar.const(value), ar.parameter("com.y", 0.0)
    for same in (x + zero, zero + x, x - zero):
        assert same.bits == x.bits
    assert (zero - x).bits == (-x).bits
    for product in (x * zero, zero * x, -zero, zero * zero, zero + zero, zero - zero):
        assert product is zero
    assert ar.flags == 0 and zero.bits == 0 and ar.to_float(zero) == 0


def test_other_parameters_are_numbers():
    assert parse("float32").parameter("com.y", 0.0) is not parse("float32").parameter("com.y", 0.0)
    folding = parse("float32", fold=True)
    assert type(folding.parameter("mass", 2.0)) is folding.scalar
    assert parse("5/10", fold=True).fold and not parse("5/10").fold


@pytest.mark.parametrize(
    "name", ["half", "8/", "8/2 3", "-8/23", "٨/٢٣", "8_/23", "8/" + "9" * 5000]
)
def test_what_names_no_arithmetic(name):
    with pytest.raises(
        ValueError, match="must be float32, float64 or <EXP_W>/<MAN_W> such as 5/10"
    ):
        parse(name)


@pytest.mark.parametrize("name", ["double_pendulum", "general_four_bar"])
def test_folding_zeros_changes_no_value(name):
    """Here not even the sign of a zero: equal bit for bit."""
    scenario = dataclasses.replace(load(SCENARIOS / f"{name}.toml"), end=2e-3)
    computed, folded = (simulate(scenario, BitExact(fold=fold)) for fold in (False, True))
    for column, values in computed.columns().items():
        np.testing.assert_array_equal(folded.columns()[column].view(int), values.view(int))
