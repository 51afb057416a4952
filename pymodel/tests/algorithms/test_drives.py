"""Torques in time: their text against plain float64, in any format."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.algorithms.drives import FormulaDrive, TableDrive
from pymodel.algorithms.step import prepare
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact, Float64, parse
from pymodel.mechanism import formula
from pymodel.mechanism.scenario import ScenarioError, Table
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.tests.places import SCENARIOS

FORMULAS = [
    "t",
    "2*sin(2*pi*0.5*t) + 0.1*t",
    "-cos(t)**2 - (3 - t)**5/7",
    "1/(1 + t) + t**16/4**16",
]
TABLE = Table((0.0, 0.5, 1.25, 2.0), (1.0, -2.0, -2.0, 4.0))
LATER = Table((0.3, 0.4), (0.5, -0.5))
TIMES = np.linspace(0.0, 5.0, 301)


def torques(drive, arithmetic, times=TIMES):
    return [arithmetic.to_float(drive.torque(arithmetic.const(float(t)))) for t in times]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas(text):
    arithmetic = Float64()
    want = [formula.value(formula.parse(text), t) for t in TIMES]
    drive = FormulaDrive(arithmetic, "torque", formula.parse(text))
    np.testing.assert_allclose(torques(drive, arithmetic), want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("table", [TABLE, LATER])
@pytest.mark.parametrize("name", ["float64", "float32", "8/7", "5/10", "5/9", "4/5"])
def test_tables(table, name):
    """Near its times a line may go on for a few units in the last place."""
    arithmetic = parse(name)
    drive = TableDrive(arithmetic, "torque", table)
    times = [arithmetic.to_float(arithmetic.const(float(t))) for t in TIMES]
    want = np.interp(times, table.times, table.values)
    unit = arithmetic.unit_roundoff
    np.testing.assert_allclose(torques(drive, arithmetic), want, rtol=0, atol=80 * unit)
    before = np.array(torques(drive, arithmetic, [0.0, 0.2]))
    after = np.array(torques(drive, arithmetic, [2.5, 100.0, 200.0]))
    assert (before[0], *after) == (table.values[0], *[table.values[-1]] * 3)
    if table is LATER:
        assert before[1] == table.values[0]


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True),
    st.lists(st.floats(-10.0, 10.0), min_size=8, max_size=8),
    st.floats(0.0, 300.0),
)
def test_any_table(times, values, t):
    times = [time / 7.0 for time in sorted(times)]
    table = Table(tuple(times), tuple(values[: len(times)]))
    got = TableDrive(Float64(), "torque", table).torque(t)
    near = 1e-14 * times[-1] * np.array([-1.0, 0.0, 1.0])
    want = np.interp(t + near, table.times, table.values)
    assert min(want) - 1e-12 <= got <= max(want) + 1e-12


def driven(steps, **values):
    torque = values.pop("torque", "sin(t)")
    return varied(load(SCENARIOS / "double_pendulum.toml", steps), torque=[torque, 0.0], **values)


@pytest.mark.parametrize(
    ("name", "largest"), [("float32", 2**24 - 1), ("5/10", 2**11 - 1), ("4/10", 2**8 - 2)]
)
def test_steps_that_a_format_counts(name, largest):
    arithmetic = parse(name)
    scenario = driven(largest)
    prepare(arithmetic, scenario).initial_state(scenario)
    scenario = driven(largest + 1)
    with pytest.raises(ScenarioError) as caught:
        prepare(arithmetic, scenario).initial_state(scenario)
    said = f"time.end: {name} cannot count {largest + 1} steps, which a torque in time needs"
    assert str(caught.value).endswith(said)
    constant = load(SCENARIOS / "double_pendulum.toml", largest + 1)
    prepare(arithmetic, constant).initial_state(constant)


def test_a_format_without_the_numbers_of_a_table():
    scenario = driven(10, torque={"times": [0.0, 1.0], "values": [0.0, 1.0]})
    prepare(BitExact(Format(4, 6)), scenario).initial_state(scenario)
    with pytest.raises(ScenarioError, match=r"body\[0\].torque: 4/7 has too few exponents for"):
        arithmetic = BitExact(Format(4, 7))
        prepare(arithmetic, scenario).initial_state(scenario)


def test_time_does_not_drift():
    """Time is the step's number times the step, also after very many steps."""
    arithmetic = parse("float32")
    mechanism = prepare(arithmetic, driven(10, step=1e-4, end=1e-3))
    number = 16_000_001
    time = arithmetic.to_float(mechanism.time(arithmetic.const(number)))
    assert math.isclose(time, number * 1e-4, rel_tol=1.2e-7)
    constant = prepare(arithmetic, load(SCENARIOS / "double_pendulum.toml"))
    assert constant.time(arithmetic.const(3)) is None
