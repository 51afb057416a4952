"""The step engine's twin as the judge of a schedule."""

from dataclasses import replace

import pytest

from pymodel.arith.fp import BINARY32
from pymodel.machine.isa import (
    OFFERED,
    Location,
    Machine,
    Operand,
    Port,
    Program,
    ProgramError,
    Word,
)
from pymodel.machine.model import CallMemory, Twin


def test_the_model_refuses_programs_that_make_no_sense():
    machine = Machine()

    def attempt(*words):
        program = Program(machine, list(words), main=len(words), registers=[])
        twin = Twin(machine)
        twin.load({Location(0, 0): BINARY32.one})
        twin.run(program, 1)

    read = {Port(0, 0): 0, Port(0, 1): 0}
    twice = (Operand(0),) * 2
    with pytest.raises(ProgramError, match="nothing to store in bank 1"):
        attempt(Word(writes={1: 0}))
    with pytest.raises(ProgramError, match="reads nothing at"):
        attempt(Word({Port(0, 0): 0, Port(0, 1): 1}, {0: twice}))
    with pytest.raises(ProgramError, match="reads nothing at"):
        attempt(Word({Port(0, 0): 0, Port(0, 1): OFFERED}, {0: twice}))
    with pytest.raises(ProgramError, match="ends with results in the lanes"):
        attempt(Word(read, {0: twice}))
    attempt(Word(read, {0: twice}), *[Word()] * machine.add_stages, Word(writes={0: 1}))


def test_a_rebasing_segment_that_is_not_there_does_not_run():
    """The hardware refuses such a run, too."""
    program = Program(Machine(), [Word()], main=1, registers=[])
    Twin(Machine()).run(program, 3)
    with pytest.raises(ProgramError, match="no re-basing segment"):
        Twin(Machine()).run(program, 3, every=5)


def test_what_contexts_have_in_common_is_not_stored():
    machine = Machine(contexts=8)
    reads = {Port(0, 0): 0, Port(0, 1): 0}
    first = Word(reads, {0: (Operand(0),) * 2}, common={Port(0, 0)})
    twin = Twin(machine)
    twin.load({machine.of_context(Location(0, 0), k): BINARY32.from_float(k) for k in range(8)})
    twin.step([first, Word(writes={0: 1})])
    sums = [twin.read(machine.of_context(Location(0, 1), k)) for k in range(8)]
    assert sums == [BINARY32.from_float(k) for k in range(8)]  # of that and the one of context 0
    with pytest.raises(ProgramError, match="reads in common what is stored"):
        twin.step([first, Word(writes={0: 0})])


def test_what_is_in_the_scratch_memory_may_be_loaded_some_words_later():
    stages = {"read_stages": 2, "operand_stages": 1}
    machine = Machine(contexts=2, **stages, in_depth=4, out_depth=2, scratch_depth=8)
    load, output = len(machine.lanes) - 2, len(machine.lanes) - 1
    bank = machine.shared_bank

    def loads(number, scratch):
        word = Word(issues={load: ()}, load=number, from_scratch=scratch)
        stored = Word(writes={bank: 0}, loaded={bank})
        return [word, *[Word()] * (machine.latency["load"] - 1), stored]

    read = {Port(bank, 0): 0}
    put = Word(read, {output: (Operand(bank),)}, output=1, to_scratch=True)
    give = Word(read, {output: (Operand(bank),)}, output=0)

    def attempt(apart, quiet=False, number=3):
        twin, memory = Twin(machine), CallMemory([10, 11, 12, 13], quiet=quiet)
        twin.run_context([*loads(2, False), put, *[Word()] * (apart - 1)], 1, memory)
        memory.in_base, memory.out_base = 1 - number, 1  # what is added counts here, too
        twin.run_context([*loads(number, True), give], 1, memory)
        return memory

    assert machine.scratch_words == 2
    assert attempt(2).outputs == {1: 12}
    assert attempt(3).scratch == {1: 12}
    assert attempt(2, quiet=True).outputs == {}  # but the scratch memory has it
    with pytest.raises(ProgramError, match="context 1, word 0: scratch word 1 not there"):
        attempt(1)
    with pytest.raises(ProgramError, match="scratch word 0 not there"):
        memory = CallMemory([0])
        Twin(machine).run_context(loads(0, True), 0, memory)


@pytest.mark.parametrize("loaded", [1, 2])
def test_a_word_may_not_load_what_it_outputs(loaded):
    machine = Machine(contexts=2, in_depth=4, out_depth=2, scratch_depth=8)
    load, output = machine.output_lane - 1, machine.output_lane
    put = Word({Port(0, 0): 0}, {output: (Operand(0),)}, output=1, to_scratch=True)
    both = replace(put, issues=put.issues | {load: ()}, load=loaded, from_scratch=True)
    twin, memory = Twin(machine), CallMemory([])
    twin.load({Location(0, 0): BINARY32.one})
    first = [put, replace(put, output=2), *[Word()] * machine.scratch_words]
    assert twin.run_context(first, 0, memory)
    then = [both, *[Word()] * machine.latency["load"]]
    if loaded == both.output:
        with pytest.raises(ProgramError, match="context 0, word 0: scratch word 1 not there"):
            twin.run_context(then, 0, memory)
    else:
        assert twin.run_context(then, 0, memory)
