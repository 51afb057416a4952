"""What the driver's Python side (pymodel/machine/c_driver.py) takes, and what it refuses."""

import gc

import numpy as np
import pytest

from pymodel.compile.kernel import record
from pymodel.machine.c_driver import Driver, Status, build, compiler
from pymodel.machine.isa import Machine
from pymodel.machine.registers import step_engine
from pymodel.runs.compiled import library_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.tests.driver import SW, constants

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")

MACHINE = Machine()
LOOKS = 5


class Registers:
    """Those of an engine that is never busy, and whose results are 7; it keeps what is written."""

    def __init__(self):
        names = {r.name: r.offset for r in step_engine(MACHINE.bus_words).registers}
        self.names = {offset: name for name, offset in names.items()}
        self.given = constants(MACHINE) | {
            "STATUS": 4,
            "TRACE_COUNT": 4,
            "TRACE_DATA": 7,
            "FILE_DATA": 7,
        }
        self.written = []
        self.reads = 0
        self.broken = ()  # names of accesses that raise

    def read(self, offset):
        self.reads += 1
        if "read" in self.broken:
            raise OSError("no bus")
        return self.given.get(self.names.get(offset), 0)

    def write(self, offset, word):
        if "write" in self.broken:
            raise OSError("no bus")
        self.written.append((self.names.get(offset), word))


def two(_, values):
    x, gain = values["x"], values["gain"]
    return {"x": x * gain + values["a"], "first": x * values["b"], "second": x + values["a"]}


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    return build(SW, tmp_path_factory.mktemp("driver"), "-fsanitize=undefined")


def image(gain):
    kernels = {"two": record(two, "ab", "x", {"gain": gain})}
    return library_image(prepare_library(MACHINE, kernels), {"two": {"x": 0}}).encode()


@pytest.fixture(scope="module")
def data():
    return image(0.75)


@pytest.fixture
def registers():
    return Registers()


@pytest.fixture
def driver(code, data, registers):
    made = Driver(code, registers.read, registers.write)
    assert made.open() == made.load(data) == Status.OK
    registers.written.clear()
    registers.reads = 0
    return made


def test_what_fits_is_taken(driver, registers):
    assert driver.call(0, [1, 2], 2, LOOKS) == (Status.OK, [7, 7])
    assert driver.call(0, np.array([1, 2]), np.int64(2), np.uint8(LOOKS))[0] == Status.OK
    assert driver.write_inputs(0, (0, 2**32 - 1)) == Status.OK
    assert driver.write_carried(0, [5]) == Status.OK
    assert driver.read_carried(0, 1) == (Status.OK, [7])
    assert driver.read_outputs(0, 2) == (Status.OK, [7, 7])
    assert driver.run(0, 2**32 - 1, 0, 0, LOOKS) == (Status.OK, [])
    assert driver.set("gain", 2**32 - 1) == Status.OK
    assert driver.take(0) == [] and driver.take(2) == [7, 7]
    assert registers.written


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("call", (0, [1], 2, LOOKS), "inputs are 1 words, must be 2"),
        ("call", (0, [1, 2, 3], 2, LOOKS), "inputs are 3 words, must be 2"),
        ("call", (0, [], 2, LOOKS), "inputs are 0 words, must be 2"),
        ("call", (0, [1, 2], 1, LOOKS), "outputs are 1 words, must be 2"),
        ("call", (0, [1, 2], 99, LOOKS), "outputs are 99 words, must be 2"),
        ("write_inputs", (0, [1]), "inputs are 1 words, must be 2"),
        ("write_carried", (0, []), "carried values are 0 words, must be 1"),
        ("read_carried", (0, 0), "carried values are 0 words, must be 1"),
        ("read_outputs", (0, 3), "outputs are 3 words, must be 2"),
        ("call", (0, [1, 2**32], 2, LOOKS), r"bits\[1\] is 4294967296"),
        ("call", (0, [-1, 2], 2, LOOKS), r"bits\[0\] is -1"),
        ("call", (0, [1, 2.0], 2, LOOKS), r"bits\[1\] is 2.0, must be a whole"),
        ("call", (0, "ab", 2, LOOKS), r"bits\[0\] is 'a', must be a whole"),
        ("write_carried", (0, [2**32 + 5]), r"bits\[0\] is 4294967301"),
        ("call", (2**32, [1, 2], 2, LOOKS), "number is 4294967296"),
        ("call", (0, [1, 2], -1, LOOKS), "outputs is -1"),
        ("call", (0, [1, 2], 2, -1), "polls is -1"),
        ("call", (0, [1, 2], 2.0, LOOKS), "outputs is 2.0, must be a whole"),
        ("read_carried", (0, -1), "count is -1"),
        ("read_outputs", (0, 2**32), "count is 4294967296"),
        ("set", ("gain", 2**32 + 5), "bits is 4294967301"),
        ("set", ("gain", -1), "bits is -1"),
        ("set", ("gain", 1.5), "bits is 1.5, must be a whole"),
        ("set", ("gain\0", 1), "has a zero"),
        ("find", ("two\0",), "has a zero"),
        ("run", (-1, 1, 1, 10, LOOKS), "number is -1"),
        ("run", (0, -1, 1, 10, LOOKS), "steps is -1"),
        ("run", (0, 1, 2**32, 10, LOOKS), "save is 4294967296"),
        ("run", (0, 1, 1, -1, LOOKS), "room is -1"),
        ("run", (0, 1, 1, 2**32, LOOKS), "room is 4294967296"),
        ("run", (0, 1, 1, 10, 2**64), "polls is 18446744073709551616"),
        ("run", (0, 1, 1, "10", LOOKS), "room is '10', must be a whole"),
        ("start", (0, -1, 1), "steps is -1"),
        ("start", (0, 1, -1), "save is -1"),
        ("restart", (-1,), "number is -1"),
        ("take", (-1,), "room is -1"),
        ("wait", (2**32,), "polls is 4294967296"),
    ],
)
def test_what_does_not_fit_is_refused(driver, registers, function, arguments, message):
    """Before anything is read or written."""
    with pytest.raises(ValueError, match=message):
        getattr(driver, function)(*arguments)
    assert not registers.written and not registers.reads


@pytest.mark.parametrize("count", [0, 1, 2])
def test_words_that_do_not_come_are_missed(driver, registers, count):
    """Another host on the bus may take some of a trace, or write STEPS."""
    size = len(driver.run(0, 1, 1, 9, LOOKS)[1])
    assert size > count
    registers.given["TRACE_COUNT"] = count
    assert driver.run(0, 1, 1, 9, LOOKS) == (Status.LOST, count * [7])
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == Status.LOST


def test_counts_are_those_of_what_is_loaded_now(code, driver, data):
    """Of no program none are known: the driver says so, and touches no words."""
    assert driver.call(1, [1, 2, 3], 1, LOOKS)[0] == Status.UNKNOWN
    assert driver.read_carried(1, 5)[0] == driver.write_inputs(7, [1]) == Status.UNKNOWN
    fresh = Driver(code, lambda offset: 0, lambda offset, word: None)
    assert fresh.call(0, [1], 1, LOOKS)[0] == Status.UNKNOWN
    assert fresh.load(data) == Status.NO_ENGINE
    assert fresh.wait(3) == Status.OK and fresh.find("two") is None
    kernel = record(lambda _, values: {"x": values["x"] * values["a"]}, "a", "x")
    other = library_image(prepare_library(MACHINE, {"one": kernel}), {"one": {"x": 0}})
    assert driver.load(other.encode()) == Status.OK
    with pytest.raises(ValueError, match="inputs are 2 words, must be 1"):
        driver.write_inputs(0, [1, 2])
    assert driver.write_inputs(0, [1]) == Status.OK


@pytest.mark.nightly
def test_each_driver_has_its_own_accesses(code, driver, registers):
    """Also when another of the same library is gone."""
    others = Registers()
    other = Driver(code, others.read, others.write)
    assert other.open() == Status.OK and registers.reads == 0
    assert driver.wait(3) == Status.OK and registers.reads == 1
    seen = others.reads
    del other
    gc.collect()
    assert driver.wait(3) == Status.OK and driver.set("gain", 1) == Status.OK
    assert others.reads == seen and registers.written[-1] == ("FILE_DATA", 1)


def test_after_a_write_that_was_lost_all_is_loaded_again(driver, registers, data):
    """What the engine holds is not known then."""
    changed = image(0.5)
    registers.broken = ("write",)
    with pytest.raises(OSError, match="no bus"):
        driver.exchange(changed)
    registers.broken = ()
    assert driver.exchange(changed) == Status.UNKNOWN
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == driver.set("gain", 1) == Status.UNKNOWN
    assert driver.find("two") is None
    assert driver.load(changed) == Status.OK
    registers.broken = ("write",)
    with pytest.raises(OSError, match="no bus"):
        driver.load(data)
    registers.broken = ()
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == Status.UNKNOWN


def test_a_read_that_was_lost_loses_the_writes_behind_it(driver, registers, data):
    """Then nothing is loaded any more; where none come behind it, as in waiting, all stays."""
    registers.broken = ("read",)
    with pytest.raises(OSError, match="no bus"):
        driver.wait(3)
    registers.broken = ()
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == Status.OK
    registers.written.clear()
    registers.broken = ("read",)
    with pytest.raises(OSError, match="no bus"):
        driver.call(0, [1, 2], 2, LOOKS)
    registers.broken = ()
    assert not registers.written
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == driver.restart(0) == Status.UNKNOWN
    assert driver.load(data) == Status.OK
    assert driver.call(0, [1, 2], 2, LOOKS)[0] == Status.OK


@pytest.mark.parametrize("word", [-1, 2**32, 1.0, "1", None])
def test_what_is_read_must_be_a_word(driver, registers, word):
    registers.given["STATUS"] = word
    with pytest.raises(ValueError, match="what was read is"):
        driver.wait(3)
