"""Retimed kernels: the same operations and bits, a shorter longest path."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import interleave, record
from pymodel.compile.registry import recorded
from pymodel.compile.retime import retimed
from pymodel.compile.schedule import bounds, schedule
from pymodel.machine.isa import Machine
from pymodel.machine.model import START_CYCLES, Twin
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs
from pymodel.tests.places import SCENARIOS
from pymodel.tests.recordings import random_kernel

MACHINE = Machine(depth=1024, program_depth=1 << 16)
LATENCY = MACHINE.latency


def step(name, **options):
    return recorded("step", load(SCENARIOS / f"{name}.toml"), **options)


def bits(values):
    return {name: x.bits for name, x in values.items()}


def operations(kernels):
    return Counter(k.graph.nodes[index].op for k in kernels for index in k.operations)


def length(kernel):
    return kernel.graph.critical_path([*kernel.results.values()], LATENCY)[0]


def same_evaluations(segments, found, rng, times=4, scale=1.0):
    """Evaluate segments in turn, as recorded and retimed: equal in every bit, and in the flags."""
    *ahead, prologue = found
    fmt = MACHINE.fmt
    one, other = BitExact(fmt), BitExact(fmt)
    given = {name: fmt.from_float(scale * float(rng.normal())) for name in segments[0].carried}
    state, there = ({n: a.scalar(x) for n, x in given.items()} for a in (one, other))
    there |= prologue.evaluate(other, there)
    for index in range(times):
        kernel, early = segments[index % len(segments)], ahead[index % len(segments)]
        inputs = {name: fmt.from_float(float(rng.normal())) for name in kernel.inputs}
        want = kernel.evaluate(one, state | {n: one.scalar(x) for n, x in inputs.items()})
        got = early.evaluate(other, there | {n: other.scalar(x) for n, x in inputs.items()})
        assert bits(want).items() <= bits(got).items()
        state = {name: want[name] for name in kernel.carried}
        there = {name: got[name] for name in early.carried}
    assert one.flags & ~other.flags == 0


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("double_pendulum", [{}]),
        ("four_bar", [{"rebasing": True}, {"rebasing": True, "rebase_now": True}]),
        ("tree", [{}]),
        ("driven_arm", [{}]),
    ],
)
def test_bits_and_operations_stay(name, options):
    segments = [step(name, **some) for some in options]
    found = retimed(segments, LATENCY)
    same_evaluations(segments, found, np.random.default_rng(1), scale=0.1)
    for kernel, early in zip(segments, found, strict=False):
        assert early.inputs.keys() == kernel.inputs.keys()
        assert list(early.outputs) == list(kernel.outputs)
        assert early.carried.keys() - early.early == kernel.carried.keys()
    assert found[-1].carried.keys() == found[0].early
    assert operations(found[:1]) == operations(segments[:1])
    assert length(found[0]) < length(segments[0])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.nightly(every=6)
def test_any_kernel_keeps_its_bits(seed):
    """Whatever carried values do, also where the program would not be shorter."""
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, carried=int(rng.integers(1, 4)))
    if seed % 5 == 0:
        kernel = interleave([kernel, random_kernel(rng)])
    found = retimed([kernel], LATENCY)
    if found is not None:
        same_evaluations([kernel], found, rng)


def test_random_kernels_are_retimed():
    rngs = map(np.random.default_rng, range(60))
    found = [retimed([random_kernel(rng, carried=3)], LATENCY) for rng in rngs]
    assert sum(one is not None for one in found) >= 5


def test_what_has_nothing_to_gain_stays():
    """A function that carries nothing, and a recurrence through all of its operations."""
    scenario = load(SCENARIOS / "double_pendulum.toml")
    assert retimed([recorded("rates", scenario)], LATENCY) is None
    assert retimed([step("compound_pendulum")], LATENCY) is None
    pure = record(lambda _, v: {"x": v["x"] * v["x"] + v["a"]}, inputs="a", carried="x")
    assert retimed([pure], LATENCY) is None
    steady = record(
        lambda a, v: {"x": v["c"] * v["c"], "y": a.sincos(v["x"])[0]}, (), "x", {"c": 0.5}
    )
    assert retimed([steady], LATENCY) is None


@pytest.mark.parametrize("contexts", [1, 8])
@pytest.mark.parametrize(("name", "rebase"), [("double_pendulum", 0), ("four_bar", 3)])
def test_a_run_is_that_of_the_text(monkeypatch, name, rebase, contexts):
    """Traces, states and flags of the engine with and without; it ends sooner."""
    machine = dataclasses.replace(MACHINE, adders=4, multipliers=4, contexts=contexts)
    machine = dataclasses.replace(machine, read_stages=None, operand_stages=None)
    scenario = load(SCENARIOS / f"{name}.toml", steps=40)

    def run():
        prepared = engine_runs.prepare(machine, [scenario], rebase=rebase)
        ((trajectory, stopped),), twin = prepared.on_twin()
        assert stopped is None
        state = {n: twin.read(x) for n, x in prepared.program.carried.items()}
        return prepared.program, trajectory, state, twin

    program, trajectory, state, twin = run()
    monkeypatch.setattr("pymodel.compile.schedule.retimed", lambda *_: None)
    plain, wanted, want, slower = run()
    assert program.prologue and not plain.prologue
    assert program.main < plain.main and twin.cycles < slower.cycles
    assert state == want and twin.flags == slower.flags
    for column, values in wanted.columns().items():
        assert values.tobytes() == trajectory.columns()[column].tobytes(), column


def test_cycles_of_the_double_pendulum():
    kernel = step("double_pendulum")
    program = schedule(Machine(), kernel)
    assert bounds(Machine(), kernel)["dependencies"] == 124
    assert program.main == 131
    twin, start = Twin(Machine()), {"q[0]": 0.5, "q[1]": 0.25, "p[0]": 0.0, "p[1]": 0.0}
    twin.load(program.image({name: Machine().fmt.from_float(x) for name, x in start.items()}))
    twin.run(program, 3)
    assert twin.cycles == START_CYCLES + 3 * 131


def test_without_its_prologue_a_program_does_not_run():
    """What the prologue finds is nowhere before."""
    program, twin = schedule(Machine(), step("double_pendulum")), Twin(Machine())
    twin.load(program.image(dict.fromkeys(program.carried, 0)))
    assert not program.early.values() & twin.registers.keys()
    with pytest.raises(ValueError, match="reads nothing at"):
        twin.step(program.segment(0, 0))


def test_a_prologue_that_overflows_stops_the_run():
    program, twin = schedule(Machine(), step("double_pendulum")), Twin(Machine())
    state = dict.fromkeys(program.carried, 0) | {"q[0]": Machine().fmt.inf}
    twin.load(program.image(state))
    assert twin.run(program, 3, save=1, before=program.carried.values()) == []
    assert twin.stopped and twin.steps_done == 0
    assert twin.cycles == START_CYCLES + program.prologue


@pytest.mark.parametrize("save", [1, 2, 3])
@pytest.mark.parametrize("change", [{"torque": 1e38}, {"torque": 1e33}, {"qd": 2e5, "torque": 1e6}])
def test_a_run_stops_where_it_would_without(monkeypatch, change, save):
    """An angle beyond the sine's is found a step earlier, and belongs to the next one."""
    first = load(SCENARIOS / "double_pendulum.toml")
    bodies = tuple(dataclasses.replace(body, **change) for body in first.bodies)
    first = dataclasses.replace(first, bodies=bodies, step=0.05, end=0.05 * 24, save=save)

    def run(contexts):
        machine = Machine(contexts=contexts)
        prepared = engine_runs.prepare(machine, [first] * contexts)
        found, twin = prepared.on_twin()
        assert twin.stopped
        return prepared.program.prologue, [(len(rows), said) for rows, said in found], twin.flags

    retimed_runs = [run(contexts) for contexts in (1, 2)]
    monkeypatch.setattr("pymodel.compile.schedule.retimed", lambda *_: None)
    plain_runs = map(run, (1, 2))
    for (prologue, found, flags), (none, want, some) in zip(retimed_runs, plain_runs, strict=True):
        assert prologue and not none and found == want
        assert not some & ~flags, "flags of the step that stops"


def test_deeper_banks_are_not_worth_it():
    """Bennett's linkage fits 64 registers a bank; retimed it would need some more."""
    kernel, machine = step("bennett"), dataclasses.replace(MACHINE, adders=4, multipliers=4)
    found = schedule(machine, kernel)
    assert not found.prologue and max(found.registers) <= 64
