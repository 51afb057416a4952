"""Operation counts: the table of sub-designs, the RTL's constants, whole steps."""

import dataclasses
import re

import numpy as np
import pytest

from pymodel.algorithms import two_handles
from pymodel.compile import count
from pymodel.mechanism.scenario_file import load
from pymodel.tests.chains import random_chain
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.reads("rtl")


PACKAGE = (ROOT / "rtl" / "hdca" / "hdca_pkg.sv").read_text()
CONSTANTS = {
    name: int(value) for name, value in re.findall(r"localparam int (\w+) = (\d+);", PACKAGE)
}
ROWS = count.subdesigns()

#: name: (add, mul, rec, pass), counted by hand from the equations: a dot product of two 2-vectors
#: is 2 mul and 1 add; a symmetric 3x3 matrix has 6 entries; D selects and costs nothing.
BY_HAND = {
    "joint_inverse": (4 + 1, 2 + 4, 1, 1),
    "relative_bias": (2, 0, 0, 1),
    "weight_a": (6, 12, 0, 1),
    "weight_b": (6, 12, 0, 1),
    "joint_bias": (2, 4, 0, 1),
    "compound_xi_10": (3 + 3, 6, 0, 1),
    "compound_xi_20": (3 + 3, 6, 0, 1),
    "compound_xi_11": (6 + 6, 12, 0, 2),
    "compound_xi_12": (9, 18, 0, 2),
    "compound_xi_22": (6 + 6, 12, 0, 2),
    "disassemble": (4 + 4, 8, 0, 0),
}


def test_subdesigns():
    found = {row["name"]: tuple(row[key] for key in ("add", "mul", "rec", "pass")) for row in ROWS}
    assert found == BY_HAND
    assert [row["name"] for row in ROWS] == [name for name, *_ in two_handles.SUBDESIGNS]
    assert [row["equation"] for row in ROWS] == [row[2] for row in two_handles.SUBDESIGNS]
    assert [sum(row[op] for row in ROWS) for op in ("add", "mul", "rec")] == [74, 96, 1]


def test_pool_is_within_the_papers():
    """000 4.3: 57 additions and 75 multiplications were synthesized, in two passes."""
    pool = count.pool(ROWS)
    assert pool == {
        "add": {"two_passes": 41, "one_pass": 74},
        "mul": {"two_passes": 54, "one_pass": 96},
        "rec": {"two_passes": 1, "one_pass": 1},
    }
    assert pool["add"]["two_passes"] <= 57 and pool["mul"]["two_passes"] <= 75


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_constants_of_the_rtl(operation):
    suffix = f"_{operation.upper()}"
    expected = {row["name"].upper() + suffix: row[operation] for row in ROWS if row[operation]}
    assert {name: n for name, n in CONSTANTS.items() if name.endswith(suffix)} == expected


@pytest.mark.parametrize("operation", ["add", "mul"])
@pytest.mark.parametrize("in_pass", [1, 2])
def test_sums_of_the_rtl(in_pass, operation):
    """PASS_1_MUL and its like name every sub-design of their pass once."""
    suffix = operation.upper()
    name = f"PASS_{in_pass}_{suffix}"
    text = re.search(rf"localparam int {name} =([^;]*);", PACKAGE).group(1)
    terms = sorted(re.split(r"\s*\+\s*", text.strip()))
    rows = [row for row in ROWS if row["pass"] == in_pass]
    assert terms == sorted(f"{row['name'].upper()}_{suffix}" for row in rows if row[operation])
    total = sum(CONSTANTS[term] for term in terms)
    other = sum(row[operation] for row in ROWS if row["pass"] == 3 - in_pass)
    always = CONSTANTS[f"DISASSEMBLE_{suffix}"]
    pool = count.pool(ROWS)[operation]
    assert pool["two_passes"] == always + max(total, other)
    assert pool["one_pass"] == always + total + other


def test_layout_of_the_rtl():
    """Word offsets of hdca_pkg are those of to_words."""
    coefficients = two_handles.from_words(list(range(two_handles.WORDS)))
    for name in ("xi_11", "xi_12", "xi_22"):
        assert CONSTANTS[name.upper()] == getattr(coefficients, name)[0][0]
    for name in ("xi_10", "xi_20"):
        assert CONSTANTS[name.upper()] == getattr(coefficients, name)[0]
    words = ("COEFF_WORDS", "WEIGHT_WORDS", "IMPULSE_WORDS", "UPPER_WORDS")
    assert [CONSTANTS[name] for name in words] == [two_handles.WORDS, 2 * 3, 2, 6]


#: Operations of one step, and cycles of the longest path with the engine's latencies.
STEPS = {
    "double_pendulum": ({"add": 56, "mul": 89, "rec": 2, "sincos": 2}, 134),
    "compound_pendulum": ({"add": 9, "mul": 23, "rec": 1, "sincos": 1}, 62),
    "chain_8": ({"add": 462, "mul": 613, "rec": 8, "sincos": 8}, 266),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_whole_step(name):
    assert count.LATENCY == {"add": 4, "mul": 3, "rec": 7, "sincos": 14}
    operations, cycles = STEPS[name]
    step = count.step(load(ROOT / "scenarios" / f"{name}.toml"))
    assert step["operations"] == operations
    assert step["critical_path"] == cycles
    assert cycles == sum(count.LATENCY[op] * n for op, n in step["path"].items())


def test_path_of_the_double_pendulum():
    step = count.step(load(ROOT / "scenarios" / "double_pendulum.toml"))
    assert step["path"] == {"add": 16, "mul": 14, "rec": 2, "sincos": 1}


def test_cost_is_linear_and_time_is_logarithmic_in_the_bodies():
    """The point of divide and conquer; a chain assembled from one end has a linear path."""
    balanced, left = {}, {}
    for n in (4, 8, 16, 32, 64):
        scenario = random_chain(np.random.default_rng(n), n)
        balanced[n] = count.step(scenario)
        left[n] = count.step(scenario, shape="left")
    mul = {n: step["operations"]["mul"] for n, step in balanced.items()}
    assert (mul[64] - mul[32]) / 32 == pytest.approx((mul[32] - mul[16]) / 16, rel=0.02)
    steps = np.diff([balanced[n]["critical_path"] for n in balanced])
    assert steps.min() > 0 and np.ptp(steps) <= 6  # the same for every doubling
    assert left[64]["critical_path"] > 4 * balanced[64]["critical_path"]
    assert left[64]["operations"]["rec"] == balanced[64]["operations"]["rec"] == 64


def test_an_evaluation_more_costs_as_much_again():
    scenario = load(ROOT / "scenarios" / "double_pendulum.toml")
    rk4 = count.step(dataclasses.replace(scenario, integrator="rk4"))["operations"]
    assert (rk4["rec"], rk4["sincos"]) == (8, 8) and rk4["mul"] > 4 * 80
