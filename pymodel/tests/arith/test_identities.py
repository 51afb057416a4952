"""What is zero or equal by algebra is found, proved, and nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.arith import identities
from pymodel.arith.identities import Identities
from pymodel.arith.scalars import Float64
from pymodel.arith.terms import DELAY, Term, Terms
from pymodel.compile.robot_kernels import operations, recorded
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.urdf import load
from pymodel.tests.robots import ROBOTS

VALUES = (0.3, -1.7, 2.9)


def terms_of(**options):
    """Terms that seek identities, and three inputs."""
    terms = Terms(Float64(), identities=True, **options)
    return terms, *(terms.given(x) for x in VALUES)


def lengths(terms, a, b):
    """c x^2 + c y^2 of a vector, before and after it was turned."""
    sin, cos = terms.sincos(a)
    x, y = cos * a - sin * b, sin * a + cos * b
    return a * a + b * b, x * x + y * y


def squares(terms, x):
    sin, cos = terms.sincos(x)
    return sin * sin + cos * cos


@pytest.mark.parametrize(
    "function",
    [
        lambda t, a, b, c: a * (b + c) - (a * b + a * c),
        lambda t, a, b, c: (a + b) * (a - b) - (a * a - b * b),
        lambda t, a, b, c: squares(t, a) - t.one,
        lambda t, a, b, c: squares(t, a) * b - b,
        lambda t, a, b, c: lengths(t, a, b)[0] - lengths(t, a, b)[1],
        lambda t, a, b, c: (a + b) * t.recip(a + b) - t.one,
        lambda t, a, b, c: t.recip(a) * (a * b) - b,
        lambda t, a, b, c: t.const(0.25) * a + t.const(0.5) * a - t.const(0.75) * a,
        lambda t, a, b, c: t.parameter("m", 0.1) * (a + b) - (a + b) * t.parameter("m", 0.1),
    ],
)
@pytest.mark.parametrize("parameters_as_data", [False, True])
def test_zero_by_algebra(function, parameters_as_data):
    assert function(*terms_of(parameters_as_data=parameters_as_data)).is_zero


@pytest.mark.parametrize(
    "function",
    [
        lambda t, a, b, c: a * (b + c) - (a * b - a * c),
        lambda t, a, b, c: squares(t, a) - t.const(1 + 1e-13),
        lambda t, a, b, c: squares(t, a) - squares(t, b) * c,
        lambda t, a, b, c: t.const(0.1) * a + t.const(0.2) * a - t.const(0.1 + 0.2) * a,
        lambda t, a, b, c: (
            t.const(0.25) * a + t.const(0.5) * a - t.const(math.nextafter(0.75, 1)) * a
        ),
        lambda t, a, b, c: t.recip(a) * t.recip(b) - t.recip(a + b),
        lambda t, a, b, c: t.parameter("m", 0.1) * a - t.parameter("n", 0.3) * a,
    ],
)
@pytest.mark.parametrize("parameters_as_data", [False, True])
def test_what_is_no_identity_stays(function, parameters_as_data):
    """Also what is zero but for a float's last bit: numbers are what their floats are."""
    assert not function(*terms_of(parameters_as_data=parameters_as_data)).is_zero


def test_an_equal_operation_is_not_done_again():
    terms, a, b, c = terms_of()
    one, other = (a * b) * c, a * (b * c)
    assert (one.node, one.negative) == (other.node, other.negative)
    minus = (b - a) * c + a * c - b * c - b * c  # -b c
    assert (minus.node, minus.negative) == ((b * c).node, True)


def test_what_is_ready_later_is_no_substitute():
    """A long way round, known already, does not delay the short way."""
    terms, a, b, c = terms_of()
    slow = (a + b + c) * b - b * (b + c)  # a b, ready after three operations
    fast = a * b
    assert slow.node != fast.node
    assert (slow - fast).is_zero


def test_only_what_is_proved_is_left_out(monkeypatch):
    """If all data were equal at the random point, all that coincides there would be suspected."""
    monkeypatch.setattr(Identities, "_any", lambda self: 7)
    suspected = []
    likely = Identities.likely

    def noted(self, key):
        found = likely(self, key)
        suspected.append(found is not None)
        return found

    monkeypatch.setattr(Identities, "likely", noted)
    terms, a, b, c = terms_of()
    found = [a - b, a * c - b * c, (a + b) * c, (b + c) * c, a * a - b * c]
    assert sum(suspected) > 3
    assert [terms.value(x) for x in found] == [
        VALUES[0] - VALUES[1],
        VALUES[0] * VALUES[2] - VALUES[1] * VALUES[2],
        (VALUES[0] + VALUES[1]) * VALUES[2],
        (VALUES[1] + VALUES[2]) * VALUES[2],
        VALUES[0] * VALUES[0] - VALUES[1] * VALUES[2],
    ]


@pytest.mark.parametrize(
    ("numbers", "whole"),
    [
        ((0.25, 0.5, 0.75), True),
        ((0.25, 0.5, math.nextafter(0.75, 1)), False),
        ((0.1, 0.2, 0.1 + 0.2), False),
    ],
)
def test_a_proof_takes_numbers_for_what_their_floats_are(numbers, whole):
    """0.1 + 0.2 is no float: what rounds to it is another number, and so is the next one."""
    known = Identities()
    leaves = [("number", x) for x in (0.0, 1.0, *numbers)] + [("given", 5)]
    products = [("mul", k, 5) for k in (2, 3, 4)]
    for key in (*leaves, *products, ("add", 6, 7, False)):
        known.append(key)
    assert known.proved(("add", 9, 8, True), (0, False)) == whole
    assert known.proved(("add", 6, 7, False), (8, False)) == whole


def test_a_proof_that_takes_too_much_is_given_up(monkeypatch):
    monkeypatch.setattr(identities, "MOST_TERMS", 3)
    assert not (lambda t, a, b, c: (a + b) * (a - b) - (a * a - b * b))(*terms_of()).is_zero


def test_a_text_that_rounds_on_purpose_does_without():
    terms = Terms(Float64())
    big, x = terms.const(1.5 * 2.0**52), terms.given(2.4)
    assert terms.value((x + big) - big) == 2.0


# --- robots ---------------------------------------------------------------------------------------

ARM = reduced(load(ROBOTS / "iiwa14.urdf", snap=SNAP))


def without(monkeypatch, robot, function):
    """The recording of a function without the search for identities."""
    with monkeypatch.context() as patch:
        patch.setattr(Terms, "_found", _done_before)
        return recorded(replace(robot, name="plain"), function)


def _done_before(self, key, ready):
    node = self._known.get(key)
    return None if node is None else Term(self, node)


@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_a_robot_takes_no_more_operations_and_no_longer_path(monkeypatch, function):
    plain, less = without(monkeypatch, ARM, function), recorded(ARM, function)
    before, after = operations(plain), operations(less)
    assert all(after[op] <= before[op] for op in before)
    if function in ("ID", "dID", "dFD", "diFD"):
        assert sum(after.values()) < sum(before.values())
    rng = np.random.default_rng(1)
    given = {name: rng.uniform(-1, 1, 3) for name in less.inputs}
    paths = [x.graph.critical_path(list(x.outputs.values()), DELAY)[0] for x in (plain, less)]
    assert paths[1] <= paths[0]
    arithmetic = Float64()
    for k in range(3):
        state = {name: x[k] for name, x in given.items()}
        known, found = (x.evaluate(arithmetic, state) for x in (plain, less))
        scale = max(map(abs, known.values()))
        for name in known:
            assert abs(known[name] - found.get(name, 0.0)) < 1e-13 * scale


def test_a_difference_of_inertias_is_computed_with():
    """The flange is a body of revolution; were it not by little, what cancels would be done.

    By more than the few roundings within which terms take two numbers for one.
    """
    flange = ARM.links[-1]
    inertia = flange.inertia.copy()
    assert inertia[0, 0] == inertia[1, 1]
    inertia[0, 0] *= 1 + 1e-14
    robot = replace(ARM, links=(*ARM.links[:-1], replace(flange, inertia=inertia)))
    assert sum(operations(recorded(robot, "dID")).values()) > sum(
        operations(recorded(ARM, "dID")).values()
    )
