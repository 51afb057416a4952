"""What the driver's Python side (pymodel/machine/c_driver.py) takes, and what it refuses."""

import gc

import pytest

from pymodel.compile.kernel import record
from pymodel.machine.c_driver import Driver, Status, build, compiler
from pymodel.machine.isa import Machine
from pymodel.machine.program_image import identity
from pymodel.machine.registers import step_engine
from pymodel.runs.compiled import library_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")

MACHINE = Machine()


class Registers:
    """Those of an engine that is never busy, and whose results are 7; it keeps what is written."""

    def __init__(self):
        config, lanes, depth = identity(MACHINE)
        names = {r.name: r.offset for r in step_engine(MACHINE.bus_words).registers}
        self.names = {offset: name for name, offset in names.items()}
        self.given = {
            "ID": int.from_bytes(b"STEP", "big"),
            "VERSION": 0x0001_0001,
            "CONFIG": config,
            "LANES": lanes,
            "FILE_DEPTH": depth,
            "PROGRAM_DEPTH": MACHINE.program_depth,
            "TRACE_REGISTERS": MACHINE.trace_registers,
            "PROGRAMS": MACHINE.programs,
            "STATUS": 4,
            "TRACE_COUNT": 4,
            "TRACE_DATA": 7,
            "FILE_DATA": 7,
        }
        self.written = []
        self.reads = 0

    def read(self, offset):
        self.reads += 1
        return self.given.get(self.names.get(offset), 0)

    def write(self, offset, word):
        self.written.append((self.names.get(offset), word))


def two(_, values):
    x, gain = values["x"], values["gain"]
    return {"x": x * gain + values["a"], "first": x * values["b"], "second": x + values["a"]}


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    return build(ROOT / "sw", tmp_path_factory.mktemp("driver"), "-fsanitize=undefined")


@pytest.fixture(scope="module")
def data():
    kernels = {"two": record(two, "ab", "x", {"gain": 0.75})}
    return library_image(prepare_library(MACHINE, kernels), {"two": {"x": 0}}).encode()


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
