"""Calls and ensembles on the array's model: every word is that of the direct evaluation."""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import record
from pymodel.compile.registry import recorded
from pymodel.compile.robot_kernels import recorded as robot_kernel
from pymodel.compile.schedule import schedule
from pymodel.compile.streams import first_name, streamed
from pymodel.machine.array import ArrayTwin, Function, Segment
from pymodel.machine.isa import RARE, Location, Machine, Operand, Port, ProgramError, Word
from pymodel.machine.registers import STEP_ARRAY
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.scenario import Scenario, ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.runs.array_runs import SHOWN, Ensemble, fitting_array, prepare_array
from pymodel.runs.robot_calls import bits_of, random_states
from pymodel.tests.places import ROOT, SCENARIOS

STREAMS = {"in_depth": 2, "out_depth": 2}  # as deep as needed
ARRAY = Machine(contexts=2, datapaths=3, **STREAMS)
IIWA = reduced(urdf.load(ROOT / "robots" / "iiwa14.urdf"))


def calls_of(array, function, rows, seed=1):
    names = array.functions[function].inputs
    states = random_states(IIWA, function, rows, seed)
    return [(function, x) for x in bits_of(ARRAY.fmt, {name: states[name] for name in names})]


def test_functions_are_switched_between_calls():
    kernels = {name: robot_kernel(IIWA, name) for name in ("ID", "FD", "dID")}
    array = fitting_array(ARRAY, kernels, dict.fromkeys(kernels, "iiwa"))
    calls = [
        call
        for function, rows in (("ID", 7), ("FD", 2), ("ID", 1), ("dID", 2))
        for call in calls_of(array, function, rows)
    ]
    found, twin = array.on_twin(calls)
    words = {name: len(program.words) for name, program in array.programs.items()}
    assert twin.word_cycles == 2 * (3 * words["ID"] + words["FD"] + words["dID"])
    flags = 0
    for (name, inputs), (row,) in zip(calls, found, strict=True):
        arithmetic = BitExact(ARRAY.fmt)
        given = {key: arithmetic.scalar(bits) for key, bits in inputs.items()}
        want = kernels[name].evaluate(arithmetic, given)
        assert row == {key: x.bits for key, x in want.items()}
        flags |= arithmetic.flags
    assert twin.flags == flags


def ensemble_of(name: str, steps: int, save: int, count: int = 7) -> list[Scenario]:
    """Mechanisms that differ in their first body, and where they have no loop in its angle."""
    rng = np.random.default_rng(1)
    first = replace(load(SCENARIOS / f"{name}.toml", steps=steps), save=save)
    head, *rest = first.bodies

    def other() -> Scenario:
        mass, inertia, angle = 1 + rng.random(3)
        body = replace(head, mass=head.mass * mass, inertia=head.inertia * inertia)
        if not first.loops:
            body = replace(body, q=body.q + angle)
        return replace(first, bodies=(body, *rest))

    return [other() for _ in range(count)]


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "driven_arm"])
@pytest.mark.parametrize(("steps", "save"), [(1, 1), (3, 1), (6, 3)])
def test_ensembles_have_parameters_and_states_of_their_own(name, steps, save):
    scenarios = ensemble_of(name, steps, save)
    ensemble = Ensemble.of(scenarios, ARRAY.fmt)
    assert ensemble.varied
    array = fitting_array(ARRAY, {name: ensemble})
    calls = [(name, ensemble.words(scenario, ARRAY.fmt)) for scenario in scenarios]
    found, twin = array.on_twin(calls)
    begin, main = (len(program.words) for program in array.programs.values())
    assert twin.word_cycles == 2 * 2 * (begin + (steps + 1) * main)
    for scenario, (_, inputs), rows in zip(scenarios, calls, found, strict=True):
        kernel, arithmetic = recorded("step", scenario), BitExact(ARRAY.fmt)
        state = {key: arithmetic.scalar(inputs[first_name(key)]) for key in kernel.carried}
        assert len(rows) == steps // save + 1
        for number in range(steps + 1):
            after = kernel.evaluate(arithmetic, state)
            if number % save == 0:
                row = {SHOWN + key: x.bits for key, x in state.items()}
                row |= {key: after[key].bits for key in kernel.outputs}
                assert rows[number // save] == row
            state = {key: after[key] for key in kernel.carried}


def test_a_result_that_is_not_finite_is_told_of_its_call_only():
    def function(arithmetic, values):
        return {"y": arithmetic.recip(values["a"])}

    array = fitting_array(ARRAY, {"inverse": record(function, inputs="a")})
    one = ARRAY.fmt.one
    given = array.twin().run((0, (bits,)) for bits in (one, 0, one, ARRAY.fmt.inf))
    assert [item.fault for item in given] == [False, True, False, False]
    assert [item.words for item in given] == [(one,), (ARRAY.fmt.inf,), (one,), (0,)]


def test_what_is_only_passed_on_may_be_infinite():
    """It is neither computed nor stored by a lane: no fault, no flag; its sign is free."""

    def function(arithmetic, values):
        return {"same": values["a"], "negative": -values["a"], "five": arithmetic.const(5.0)}

    array = fitting_array(ARRAY, {"pass": record(function, inputs="ab")})
    fmt = ARRAY.fmt
    twin = array.twin()
    (given,) = twin.run([(0, (fmt.inf, 1))])
    assert given == (0, (fmt.inf, fmt.inf | fmt.sign_mask, fmt.from_float(5.0)), False)
    assert twin.flags == 0
    assert array.functions["pass"].inputs == ("a", "b")  # what nobody reads comes all the same


@pytest.mark.parametrize("datapaths", [1, 2, 5])
def test_shared_units_are_used_in_turns(datapaths):
    machine = replace(ARRAY, datapaths=datapaths).boundless
    program = schedule(machine, streamed(robot_kernel(IIWA, "FD")))
    for op in RARE:
        (lane,) = (index for index, lane in enumerate(machine.lanes) if lane.op == op)
        uses = [number for number, word in enumerate(program.words) if lane in word.issues]
        assert min(np.diff([*uses, len(program.words)])) >= datapaths
        assert len(uses) == {"rec": 5, "sincos": 6}[op]


@pytest.mark.parametrize("op", RARE)
def test_a_short_program_leaves_time_for_all_datapaths(op):
    """Its next run asks for the shared unit when the last datapath has done so."""

    def function(arithmetic, values):
        if op == "rec":
            return {"y": arithmetic.recip(values["a"])}
        return {"y": arithmetic.sincos(values["a"])[0]}

    machine = replace(ARRAY, contexts=8, datapaths=32)
    array = fitting_array(machine, {op: record(function, inputs="a")})
    assert len(array.programs[op].words) > machine.datapaths
    array.twin()  # refuses what meets


def test_the_model_refuses_a_program_whose_datapaths_meet():
    machine = replace(ARRAY, datapaths=1).boundless
    program = schedule(machine, streamed(robot_kernel(IIWA, "ID")))
    segments = [Segment(0, len(program.words), emit=True)]
    machine = replace(machine, depth=ARRAY.depth)  # the model holds all registers
    ArrayTwin(machine, program.words, segments, [])
    with pytest.raises(ProgramError, match="datapaths meet at lane 5"):
        ArrayTwin(replace(machine, datapaths=5), program.words, segments, [])


def test_what_does_not_fit_is_refused():
    kernels = {"ID": robot_kernel(IIWA, "ID")}
    fitted = fitting_array(ARRAY, kernels).machine
    prepare_array(fitted, kernels)
    for key, what in (
        ("in_depth", "21 input words of a call, the array has 16"),
        ("out_depth", "7 output words of a call, the array has 4"),
        ("depth", "registers a bank"),
        ("program_depth", "words, the engine holds"),
    ):
        with pytest.raises(ProgramError, match=what):
            prepare_array(replace(fitted, **{key: getattr(fitted, key) // 2}), kernels)
    simple = record(lambda arithmetic, values: {"s": values["a"] + values["b"]}, inputs="ab")
    many = {f"f{number}": simple for number in range(256)}
    with pytest.raises(ProgramError, match="256 functions, the array has 255"):
        fitting_array(replace(ARRAY, functions=256), many)
    del many["f0"]
    assert fitting_array(replace(ARRAY, functions=256), many).machine.functions == 255
    with pytest.raises(ProgramError, match="3 functions, the array has 2"):
        three = {name: kernels["ID"] for name in ("ID", "again", "once more")}
        prepare_array(replace(fitted.boundless, functions=2), three)


def test_what_makes_no_ensemble_is_refused():
    first, second, *_ = ensemble_of("double_pendulum", 6, 3)
    with pytest.raises(ScenarioError, match="does not divide 6 steps"):
        Ensemble.of([replace(first, save=4)], ARRAY.fmt)
    with pytest.raises(ScenarioError, match="not that of"):
        Ensemble.of([first, replace(second, save=2)], ARRAY.fmt)
    with pytest.raises(ScenarioError, match="not of the structure of"):
        Ensemble.of([first, replace(second, bodies=second.bodies[:1])], ARRAY.fmt)
    long = Ensemble.of([replace(first, save=1)], ARRAY.fmt)
    with pytest.raises(ProgramError, match="70000 rows of a call, the array has 65535"):
        prepare_array(ARRAY.boundless, {"step": replace(long, steps=70_000)})
    with pytest.raises(ValueError, match="carries nothing"):
        prepare_array(ARRAY, {"step": recorded("step", first)})


def test_inputs_must_be_those_of_the_function():
    array = fitting_array(ARRAY, {"ID": robot_kernel(IIWA, "ID")})
    with pytest.raises(ValueError, match="missing or unknown: q0"):
        array.functions["ID"].words({name: 0 for name in array.functions["ID"].inputs[1:]})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"datapaths": 2}, "need streams"),
        ({"in_depth": 4}, "must be 0 or at least 2 both"),
        ({"in_depth": 3, "out_depth": 2}, "in_depth is 3, must be a power of two"),
        ({"datapaths": 33, **STREAMS}, "datapaths is 33, must be 1 to 32"),
    ],
)
def test_machines_that_cannot_be(fields, message):
    with pytest.raises(ValueError, match=message):
        Machine(**fields)


def test_tables_as_they_are_written():
    """A word of each register, in their order; a negative stride in the bits of its number."""
    machine = Machine(contexts=2, in_depth=16, out_depth=8, scratch_depth=4)
    segment = Segment(3, 4, 5, in_base=1, in_stride=-1, out_base=2, out_stride=-3, emit=True)
    assert segment.registers(machine) == [3, 4, 5, 1, 15, 2, 5, 2]
    assert Segment(0, 1, quiet=True).registers(machine) == [0, 1, 1, 0, 0, 0, 0, 1]
    assert Function(1, 4, 2, 7, 9, 8).registers == [1, 4, 2, 7, 9, 8]
    for name, count in (("SEGMENT", 8), ("FUNCTION", 6)):
        block = [r.name for r in STEP_ARRAY.registers if r.name.startswith(name)]
        assert block.index(f"{name}_STORE") == count


def test_words_of_every_format_have_their_streams():
    machine = Machine(fmt=Format(5, 10), in_depth=32, out_depth=8, datapaths=2)
    plain = Machine(fmt=Format(5, 10))
    assert machine.word_w == plain.word_w + (3 + 1) + 1 + 3 + 2 + 5 + 2


def small(words, segments, function, **parameters):
    """The model of an array, with one in its first register."""
    machine = Machine(**{"in_depth": 2, "out_depth": 2} | parameters)
    twin = ArrayTwin(machine, words, segments, [function])
    twin.load({Location(0, 0): machine.fmt.one})
    return twin


def giving(number=0, **other):
    """A word that outputs the first register."""
    lane = Machine(in_depth=2, out_depth=2).output_lane
    return Word({Port(0, 0): 0}, issues={lane: (Operand(0),)}, output=number, **other)


@pytest.mark.parametrize("emits", [(True, True), (True, False), (False, True), (False, False)])
def test_a_chain_ends_with_outputs_whether_it_says_so_or_not(emits):
    """As the hardware does: segment 0 once, segment 1 three times."""
    segments = [Segment(0, 1, emit=emit) for emit in emits]
    function = Function(0, 1, 1, 3, 1, 1)
    twin = small([giving()], segments, function)
    rows = emits[0] + 2 * emits[1] + 1
    assert function.rows(segments) == rows
    assert [row.words for row in twin.run([(0, [0])])] == [(twin.machine.fmt.one,)] * rows


def test_numbers_count_modulo_the_memories():
    """As in hardware; what an earlier call would have left there is refused."""
    load = Machine(in_depth=2, out_depth=2).output_lane - 1
    loading = Word(issues={load: ()})
    words = [loading, *[Word()] * Machine(in_depth=2, out_depth=2).latency["load"], giving()]
    length = len(words)
    there = small(words, [Segment(0, length, 2, 2, -1, 3, 1)], Function(0, 0, 0, 1, 2, 2))
    assert there.run([(0, [0, 0])])[0].words == (there.machine.fmt.one,) * 2
    for segment in (Segment(0, length, 1, 3), Segment(0, length, 2, 0, -1)):
        twin = small(words, [segment], Function(0, 0, 0, 1, 1, 1))
        with pytest.raises(ProgramError, match="input 1 of a call that has 1"):
            twin.run([(0, [0])])


@pytest.mark.parametrize("outputs", [1, 2])
def test_each_row_must_give_all_outputs(outputs):
    """Rows go through two memories in turn."""
    segments = [Segment(0, 2, emit=True), Segment(0, 1, emit=True)]
    twin = small([giving(), giving(1)], segments, Function(0, 1, 1, 1, 1, outputs))
    if outputs == 1:
        assert len(twin.run([(0, [0])])) == 2
        return
    with pytest.raises(ProgramError, match="function 0 emits without output 1 of 2"):
        twin.run([(0, [0])])


def test_a_call_has_as_many_words_as_its_function():
    twin = small([giving()], [Segment(0, 1)], Function(0, 0, 0, 1, 2, 1))
    with pytest.raises(ProgramError, match="a call of function 0 has 1 words, not 2"):
        twin.run([(0, [0])])


def test_what_contexts_have_in_common_is_not_stored():
    adder = Machine().latency["add"]
    twice = Word({Port(0, 0): 0}, issues={0: (Operand(0),) * 2}, common={Port(0, 0)})
    words = [twice, *[Word()] * (adder - 1), Word(writes={0: 0})]
    with pytest.raises(ProgramError, match="reads in common what is stored"):
        small(words, [Segment(0, len(words))], Function(0, 0, 0, 1, 1, 1), contexts=2)
