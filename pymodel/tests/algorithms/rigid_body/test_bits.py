"""Every arithmetic gives the same operations in the same order: the text directly, and recorded."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, evaluate, inputs
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays
from pymodel.compile.robot_kernels import recorded
from pymodel.tests.trees import random_robot

ROBOTS = {"fixed": random_robot(1, 5), "floating": random_robot(3, 5, floating=True)}
CASES = [(name, method) for name, entry in FUNCTIONS.items() for method in entry.methods]


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


@pytest.mark.parametrize("as_data", [False, True], ids=["numbers", "data"])
@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.parametrize("fmt", [BINARY32, Format(5, 10)], ids=["float32", "half"])
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
def test_arrays_give_what_floats_give(robot, name, method):
    rng = np.random.default_rng(8)
    state = {name: rng.uniform(-1, 1, 3) for name in inputs(robot, name)}
    arrays = evaluate(name, robot, Float64Arrays(), state, method)
    for row in range(3):
        one = evaluate(name, robot, Float64(), {k: float(x[row]) for k, x in state.items()}, method)
        np.testing.assert_allclose(
            [np.broadcast_to(x, 3)[row] for x in arrays.values()], list(one.values()), rtol=1e-12
        )
