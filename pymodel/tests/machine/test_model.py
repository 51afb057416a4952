"""The step engine's twin as the judge of a schedule."""

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
from pymodel.machine.model import Twin


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
