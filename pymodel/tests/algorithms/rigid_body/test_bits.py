"""Every arithmetic gives the same operations in the same order: the text directly, and recorded."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body import segments
from pymodel.algorithms.rigid_body.functions import FUNCTIONS, evaluate, inputs
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays
from pymodel.compile.robot_kernels import chained, recorded
from pymodel.tests.trees import random_robot

ROBOTS = {"fixed": random_robot(1, 5), "floating": random_robot(3, 5, floating=True)}
CASES = [(name, method) for name, entry in FUNCTIONS.items() for method in entry.methods]


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


@pytest.mark.parametrize("as_data", [False, True], ids=["numbers", "data"])
@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.parametrize("fmt", [BINARY32, Format(5, 10)], ids=["float32", "half"])
@pytest.mark.nightly(every=5)
def test_text_and_kernel_agree_bit_for_bit(robot, name, method, fmt, as_data):
    rng = np.random.default_rng(7)
    state = {name: rng.uniform(-1, 1) for name in inputs(robot, name, (2,))}

    def on(arithmetic):
        return {name: arithmetic.const(x) for name, x in state.items()}

    direct = BitExact(fmt)
    found = evaluate(name, robot, direct, on(direct), method, (2,), as_data)
    kernel = recorded(robot, name, method, (2,), as_data)
    by_graph = BitExact(fmt)
    again = kernel.evaluate(by_graph, on(by_graph))
    assert {key: x.bits for key, x in found.items()} == {key: x.bits for key, x in again.items()}
    assert not by_graph.flags & ~direct.flags  # the text also computes what no result needs


@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.nightly(every=3)
def test_arrays_give_what_floats_give(robot, name, method):
    rng = np.random.default_rng(8)
    state = {name: rng.uniform(-1, 1, 3) for name in inputs(robot, name)}
    arrays = evaluate(name, robot, Float64Arrays(), state, method)
    for row in range(3):
        one = evaluate(name, robot, Float64(), {k: float(x[row]) for k, x in state.items()}, method)
        np.testing.assert_allclose(
            [np.broadcast_to(x, 3)[row] for x in arrays.values()], list(one.values()), rtol=1e-12
        )


@pytest.mark.parametrize("as_data", [False, True], ids=["numbers", "data"])
def test_segments_and_kernels_agree_bit_for_bit(robot, as_data):
    """The text of each segment directly, on what those before it gave."""
    direct, by_graph = BitExact(BINARY32), BitExact(BINARY32)
    rng = np.random.default_rng(7)
    state = {name: rng.uniform(-1, 1) for name in inputs(robot, "dFD", (2,))}
    chain = chained(robot, (2,), as_data)
    (row,) = chain.evaluate(by_graph, {k: by_graph.const(x) for k, x in state.items()})
    given = {k: direct.const(x) for k, x in state.items()}
    groups = segments.groups(robot, recorded(robot, "dID", external=(2,)).outputs)
    values = segments.first(robot, groups, direct, given, (2,), as_data)
    found = {name: x for name, x in values.items() if name in row}
    for group in groups:
        for number, columns in enumerate(group.columns):
            column = {group.taken(0, *x): values[group.taken(number, *x)] for x in group.places()}
            given = values | column  # under the names of the first repeat's
            after = segments.repeated(robot, group, direct, given)
            values |= {name: x for name, x in after.items() if name.startswith("y")}
            found |= {
                columns[m].acceleration(at): after[group.columns[0][m].acceleration(at)]
                for m, at in group.results()
            }
    assert {k: x.bits for k, x in found.items()} == {k: x.bits for k, x in row.items()}
    assert not by_graph.flags & ~direct.flags
