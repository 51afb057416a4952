"""The C that watches steps: conditions to the bit, what is not right, and what is kept."""

import numpy as np
import pytest

from pymodel.algorithms.linalg import condition_2x2
from pymodel.compile import native
from pymodel.compile.kernel import record
from pymodel.compile.native_watch import Systems, WatchedKernel
from pymodel.compile.watched_step import WatchedStep

LIMIT = 1e6
PARTS = [[["jointa", "jointb"], ["jointb", "jointc"]], [["jointd", "jointb"], ["jointb", "jointd"]]]


def counter(arithmetic, values):
    """n counts steps; [a b; b c] + [d b; b d] stays; 1 / (n - stop) is once not finite."""
    one = arithmetic.const(1.0)
    n = values["n"] + one
    inverse = arithmetic.recip(n - values["stop"])
    joint = {f"joint{x}": values[x] + arithmetic.const(0.0) for x in "abcd"}
    return {x: values[x] for x in ("stop", *"abcd")} | {"n": n, "inverse": inverse} | joint


@pytest.fixture(scope="module", params=["float64", "float32"])
def watched(request):
    carried = ["n", "stop", *"abcd"]
    kernel = record(counter, carried=carried)
    step = WatchedStep(kernel, [PARTS], [], ["jointd"], [])
    built = native.build(kernel, request.param, lanes=4)
    return WatchedKernel(built, step, ["n", "inverse"], ["jointb", "n"], joints=True)


def taken(watched, definite, steps=1, save=1, first=0, **values):
    rows = len(definite)
    given = dict.fromkeys(watched.kernel.kernel.carried, np.zeros(rows)) | values
    fixed = watched.kernel.fixed()
    systems = Systems(rows, fixed, fixed, LIMIT, definite)
    state = watched.kernel.blocks(given, rows)
    return watched.advance(systems, state, first, steps, 0, save)


def test_conditions(watched):
    """Random matrices: those that are not definite count without signs where they need not be."""
    rng = np.random.default_rng(3)
    matrix = {x: rng.normal(size=999).astype(watched.kernel.dtype) for x in "abcd"}
    definite = rng.random(999) < 0.5
    with np.errstate(all="ignore"):
        found = taken(watched, definite, stop=np.full(999, 9.0), **matrix)
    a, b, c, d = (matrix[x].astype(float) for x in "abcd")
    entries = ((a + d, b + b), (b + b, c + d))
    want = np.where(definite, condition_2x2(entries), condition_2x2(entries, False))
    right = want < LIMIT
    assert right.any() and not right.all()
    assert np.array_equal(found.done, right)
    assert np.array_equal(found.worst[right], want[right])


def test_what_ends_a_run(watched):
    """A number that is not finite, one that must not be zero, a matrix beyond the limit."""
    steps, more = 200, {"a": 1.0, "c": 2.0, "d": 1.0}
    systems = np.ones((6, 6))
    names = dict(zip((*"abcd", "stop"), systems.T, strict=False))
    for name, x in (more | {"b": 0.1, "stop": -1.0}).items():
        names[name][:] = x
    names["stop"][1], names["stop"][5] = 70.0, 1.0  # inverse is infinite as n gets there
    names["d"][2] = 0.0
    names["a"][3], names["c"][3] = 1e7, 0.0
    found = taken(watched, np.ones(6, bool), steps, save=7, **names)
    assert found.done.tolist() == [steps, 69, 0, 0, steps, 0]
    assert np.array_equal(found.kept[0, :, 0], np.arange(0, steps, 7))
    assert np.array_equal(found.kept[1, :10, 0], np.arange(0, 69, 7))
    assert np.array_equal(
        found.shown[0],
        np.stack([np.full(steps, 0.1), np.arange(steps)], 1).astype(watched.kernel.dtype),
    )
    assert found.worst_step[0] == 0 and np.isneginf(found.worst[2])


def test_a_run_goes_on(watched):
    """Chunks from any step on keep the steps that are multiples of save."""
    values = {"a": np.ones(1), "c": np.ones(1), "d": np.ones(1), "stop": np.full(1, -1.0)}
    found = taken(watched, np.ones(1, bool), 10, 4, 3, n=np.full(1, 3.0), **values)
    assert found.kept[0, :, 0].tolist() == [4.0, 8.0, 12.0]
