"""Chains of segments: what they hand on, on the array's model and in plain evaluation."""

from dataclasses import replace

import pytest

from pymodel.arith.scalars import BitExact
from pymodel.compile.chains import Chain, Part, Stage
from pymodel.compile.kernel import Slot, record
from pymodel.compile.robot_kernels import chained, in_columns, operations
from pymodel.compile.robot_kernels import recorded as robot_kernel
from pymodel.compile.streams import numbered
from pymodel.machine.array import ArrayTwin
from pymodel.machine.isa import Machine, ProgramError
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.urdf import load
from pymodel.runs.array_runs import Array, fitting_array, prepare_array
from pymodel.runs.robot_calls import bits_of, random_states
from pymodel.tests.robots import ROBOTS
from pymodel.tests.trees import random_robot

ARRAY = Machine(contexts=2, datapaths=2, in_depth=2, out_depth=2)
#: Atlas' dFD on 8 + 8 lanes, 8 contexts: words of the program, and those that are executed against
#: what the multipliers alone need.
WORDS, BUSY = 2600, 1.1


def filter_of(taps: int = 5) -> Chain:
    """Kept values of every kind, a column from the scratch memory, and a sum that is carried."""

    def first(arithmetic, values):
        a, b = values["a"], values["b"]
        sine, cosine = arithmetic.sincos(a)
        rest = {f"tap{k}": a * arithmetic.const(k + 1.0) for k in range(taps)}
        return rest | {
            "sum": a - b,
            "product": a * b,
            "inverse": arithmetic.recip(b),
            "sine": sine,
            "cosine": cosine,
            "negative": -(b * b),
            "input": a,
            "number": arithmetic.const(3.0),
            "again": a * b,
            "state": a * a,
            "passed": -b,
        }

    def repeated(arithmetic, values):
        names = ("product", "inverse", "sine", "cosine", "negative", "input", "number", "again")
        total = values["sum"] * values["tap"]
        for name in names:
            total = total + values[name]
        return {"y": total + values["state"], "state": values["state"] * total}

    begin = record(first, inputs="ab")
    kept = ["sum", "product", "inverse", "sine", "cosine", "negative", "input", "number", "again"]
    again = record(repeated, inputs=[*kept, "tap"], carried=["state"])
    stores = {f"tap{k}": Slot(2 * k + 1, scratch=True) for k in range(taps)} | {"passed": Slot(0)}
    stages = {
        "": Stage(begin, numbered("ab"), stores),
        "tap": Stage(again, {"tap": Slot(1, scratch=True)}, {"y": Slot(1)}),
    }
    parts = (Part(""), Part("tap", taps, in_stride=2, out_stride=1, emit=True))
    return Chain(stages, parts, ("a", "b"), ("passed", *(f"y{k}" for k in range(taps))))


def check(array: Array, chain: Chain, calls: list[dict[str, int]]) -> ArrayTwin:
    """Every word of the model is that of the plain evaluation, and so are the flags."""
    found, twin = array.on_twin([("f", inputs) for inputs in calls])
    flags = 0
    for inputs, rows in zip(calls, found, strict=True):
        arithmetic = BitExact(array.machine.fmt)
        want = chain.evaluate(arithmetic, {k: arithmetic.scalar(x) for k, x in inputs.items()})
        assert rows == [{name: x.bits for name, x in row.items()} for row in want]
        flags |= arithmetic.flags
    assert twin.flags == flags
    return twin


@pytest.mark.parametrize("contexts", [1, 2, 8])
def test_segments_hand_on_what_they_keep_and_store(contexts):
    machine, chain = replace(ARRAY, contexts=contexts), filter_of()
    array = fitting_array(machine, {"f": chain})
    assert array.machine.scratch_depth == 16
    bits = machine.fmt.from_float
    calls = [{"a": bits(0.3 * k), "b": bits(1.5 - k)} for k in range(machine.systems + 1)]
    twin = check(array, chain, calls)
    first, again = (len(program.words) for program in array.programs.values())
    assert twin.word_cycles == 2 * contexts * (first + 5 * again)


def test_a_segment_ends_when_its_scratch_words_are_there():
    """The model refuses the program of an array whose scratch memory is faster."""
    machine = replace(ARRAY, contexts=1, read_stages=2, operand_stages=1)
    copy = record(lambda _, values: {"x": values["x"]}, inputs="x")
    store, load_it = {"x": Slot(0, scratch=True)}, {"x": Slot(0)}
    stages = {
        "to": Stage(copy, load_it, store),
        "": Stage(copy, store, load_it),
    }
    chain = Chain(stages, (Part("to"), Part("", emit=True)), ("x",), ("x",))
    array = fitting_array(machine, {"f": chain})
    (length, _) = (segment.length for segment in array.segments)
    (written,) = (k for k, word in enumerate(array.words) if word.to_scratch)
    assert length == written + machine.scratch_words == written + 4
    assert [given.words for given in array.twin().run([(0, (5,))])] == [(5,)]
    to, back = array.segments
    hasty = replace(array, segments=[replace(to, length=length - 1), back])
    with pytest.raises(ProgramError, match="scratch word 0 not there"):
        hasty.twin().run([(0, (5,))])


def test_chains_that_make_no_sense():
    chain = filter_of()
    with pytest.raises(ValueError, match=r"stage 'tap': nobody has kept again, cosine"):
        replace(chain, parts=chain.parts[1:])
    with pytest.raises(ValueError, match="f and g of one keep both"):
        fitting_array(ARRAY, {"f": chain, "g": chain}, {"f": "one", "g": "one"})
    fitted = fitting_array(ARRAY, {"f": chain}).machine
    with pytest.raises(ProgramError, match="10 scratch words of a call, the array has 8"):
        prepare_array(replace(fitted, scratch_depth=8), {"f": chain})


@pytest.mark.parametrize(("name", "floating"), [("iiwa14", False), ("hyq", True)])
def test_robots_on_the_model(name, floating):
    robot = reduced(load(ROBOTS / f"{name}.urdf", floating, snap=SNAP))
    for chain in (chained(robot), in_columns(robot)):
        array = fitting_array(ARRAY, {"f": chain})
        check(array, chain, bits_of(ARRAY.fmt, random_states(robot, "dFD", 5, seed=3)))


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_a_chain_has_the_columns_of_the_kernel(seed, floating):
    """And more only where they are zero."""
    robot = random_robot(seed, 6, floating=floating)
    kernel, chain = robot_kernel(robot, "dFD"), chained(robot)
    assert kernel.outputs.keys() <= set(chain.outputs)
    assert tuple(kernel.inputs) == chain.inputs
    arithmetic = BitExact(ARRAY.fmt)
    states = random_states(robot, "dFD", 1, seed)
    given = {key: arithmetic.const(float(x)) for key, (x,) in states.items()}
    (row,) = chain.evaluate(arithmetic, given)
    assert all(row[key].bits & ~ARRAY.fmt.sign_mask == 0 for key in row.keys() - kernel.outputs)


@pytest.mark.nightly
def test_atlas_in_few_words():
    machine = Machine(8, 8, contexts=8, in_depth=2, out_depth=2)
    chain = chained(reduced(load(ROBOTS / "atlas.urdf", floating=True, snap=SNAP)))
    array = fitting_array(machine, {"dFD": chain})
    assert len(array.words) <= WORDS
    assert array.machine.scratch_depth == 1024
    executed = sum(segment.length * segment.repeat for segment in array.segments)
    products = sum(
        part.repeat * operations(chain.stages[part.stage].kernel)["mul"] for part in chain.parts
    )
    assert executed <= BUSY * products / machine.multipliers
