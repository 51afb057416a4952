"""A host in C (sw/step_engine.h) calls programs of a library on the engine's twin, bit for bit."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import record
from pymodel.machine.isa import Location, Machine
from pymodel.machine.model import Twin
from pymodel.machine.registers import WORD_BYTES, step_engine
from pymodel.runs.c_tables import c_library, c_registers
from pymodel.runs.engine_runs import changed, prepare_library
from pymodel.tests.places import ROOT

COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

STATUS = ("OK", "NO_ENGINE", "OTHER", "UNKNOWN", "BUSY", "REFUSED", "LATE", "STOPPED")
OK, NO_ENGINE, OTHER, UNKNOWN, BUSY, REFUSED, LATE, STOPPED = range(len(STATUS))
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)

#: What the host's program is: its registers are two functions, its engine a static one.
HOST = """
#include <stdint.h>
typedef uint32_t (*reader)(uint32_t offset);
typedef void (*writer)(uint32_t offset, uint32_t word);
static reader read_word;
static writer write_word;
#define STEP_READ(engine, offset) ((void)(engine), read_word(offset))
#define STEP_WRITE(engine, offset, word) ((void)(engine), write_word(offset, word))
#include "demo.h"
#include "exchange.h"

static struct step_engine engine;

enum step_status host_load(reader read, writer write);
enum step_status host_state(uint32_t number, const uint32_t *values);
enum step_status host_get_state(uint32_t number, uint32_t *values);
enum step_status host_write(const uint32_t *locations, const uint32_t *values, uint32_t count);
enum step_status host_exchange(void);
enum step_status host_call(uint32_t number, const uint32_t *inputs, uint32_t *outputs,
                           uint32_t looks);

enum step_status host_load(reader read, writer write) {
  enum step_status status;
  read_word = read;
  write_word = write;
  status = step_open(&engine, 0);
  return status == STEP_OK ? step_load(&engine, &demo_library) : status;
}

enum step_status host_state(uint32_t number, const uint32_t *values) {
  const struct step_program *program = &demo_library.program[number];
  return step_write(&engine, program->state, values, program->carried);
}

enum step_status host_get_state(uint32_t number, uint32_t *values) {
  const struct step_program *program = &demo_library.program[number];
  return step_read(&engine, program->state, values, program->carried);
}

enum step_status host_write(const uint32_t *locations, const uint32_t *values, uint32_t count) {
  return step_write(&engine, locations, values, count);
}

enum step_status host_exchange(void) {
  return step_set(&engine, exchange, sizeof exchange / sizeof exchange[0]);
}

enum step_status host_call(uint32_t number, const uint32_t *inputs, uint32_t *outputs,
                           uint32_t looks) {
  return step_call(&engine, number, inputs, outputs, looks);
}
"""


#: The least that a host with mapped registers does.
MAPPED = """
#include "demo.h"

enum step_status add(volatile uint32_t *base, const uint32_t *terms, uint32_t *sum);

enum step_status add(volatile uint32_t *base, const uint32_t *terms, uint32_t *sum) {
  struct step_engine engine;
  enum step_status status = step_open(&engine, base);
  if (status == STEP_OK) {
    status = step_load(&engine, &demo_library);
  }
  return status == STEP_OK ? step_call(&engine, DEMO_SUM, terms, sum, 1000u) : status;
}
"""


def quotient(arithmetic, values):
    a, b = values["a"], values["b"]
    return {"sum": values["gain"] * a + b, "quotient": a * arithmetic.recip(b)}


def low_pass(arithmetic, values):
    x = values["x"]
    return {"x": x * values["gain"] + values["a"], "shown": x * x, "before": x + values["a"]}


def kernels(gain):
    return {
        "two results": record(quotient, "ab", parameters={"gain": gain}),
        "low pass": record(low_pass, "a", "x", {"gain": gain}),
    }


def compile_c(source, *options):
    command = [COMPILER, *STRICT, *options, "-I", str(ROOT / "sw"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class RegisterFile:
    """The registers of an engine whose runs its twin does, at once or ``looks`` later."""

    def __init__(self, library, looks=0):
        self.library, self.machine = library, library.call(0).program.machine
        self.map = step_engine(self.machine.bus_words)
        self.twin = Twin(self.machine)
        self.held = {}  # name -> word, of the program or of all
        self.rows = [{} for _ in range(self.machine.programs)]
        self.words, self.list, self.trace = {}, {}, []
        self.status = 0
        self.looks, self.busy = looks, 0
        self.moves = 0  # writes of FILE_ADDRESS
        machine = self.machine
        self.given = {
            "ID": int.from_bytes(b"STEP", "big"),
            "VERSION": 0x0001_0001,
            "CONFIG": 0x0623_0178,  # binary32, 3, 2 and 6 stages
            "LANES": 0x000D_0202,  # 2 + 2, 13 stages
            "FILE_DEPTH": machine.depth,
            "PROGRAM_DEPTH": machine.program_depth,
            "TRACE_REGISTERS": machine.trace_registers,
            "PROGRAMS": machine.programs,
        }

    def name(self, offset):
        for register in self.map.registers:
            if 0 <= offset - register.offset < WORD_BYTES * register.words:
                return register, (offset - register.offset) // WORD_BYTES
        raise AssertionError(f"nothing at {offset:#x}")

    def location(self):
        word = self.held["FILE_ADDRESS"]
        location = Location(word >> 16, word & 0xFFFF)
        position = location.address * self.machine.banks + location.bank + 1
        address, bank = divmod(position, self.machine.banks)
        self.held["FILE_ADDRESS"] = bank << 16 | address
        return location

    def read(self, offset):
        register, _ = self.name(offset)
        if register.name == "STATUS":
            self.busy = max(self.busy - 1, 0)
            return self.status | (2 if self.busy else 0)
        if register.name == "TRACE_COUNT":
            return 0 if self.busy else len(self.trace)
        if register.name == "TRACE_DATA":
            return self.trace.pop(0)
        assert not self.busy, register.name
        if register.name == "FILE_DATA":
            return self.twin.read(self.location())
        return self.given[register.name]

    def write(self, offset, word):
        register, index = self.name(offset)
        name = register.name
        if name == "CTRL" and word == 2:
            self.trace, self.busy = [], 0
            return
        assert not self.busy, name
        if name == "CTRL":
            self.run()
        elif name == "STATUS":
            self.status &= ~word
        elif name == "FILE_DATA":
            self.twin.load({self.location(): word})
        elif name == "PROGRAM_WORD":
            self.held[name, index] = word
        elif name == "PROGRAM_STORE":
            parts = (self.held["PROGRAM_WORD", k] << 32 * k for k in range(self.machine.bus_words))
            self.words[word] = sum(parts)
        elif name == "TRACE_ENTRY":
            self.list[self.held["TRACE_INDEX"]] = Location(word >> 16, word & 0xFFFF)
        elif register.per:
            self.rows[self.held[register.per]][name] = word
        else:
            self.moves += name == "FILE_ADDRESS"
            self.held[name] = word

    def run(self):
        """The program whose words stand where the chosen row says."""
        row = self.rows[self.held["PROGRAM"]]
        start, length = row.get("MAIN_START", 0), row.get("MAIN_LENGTH", 0)
        words = [self.words.get(k) for k in range(start, start + length)]
        if not words:
            self.status |= 8
            return
        call = next(c for c in self.library.calls.values() if c.program.encoded() == words)
        first = row["TRACE_START"]
        after = [self.list[k] for k in range(first, first + row["TRACE_AFTER"])]
        held = self.held
        self.trace += self.twin.run(
            call.program, held["STEPS"], held["EVERY"], held["SAVE"], (), after
        )
        self.status |= 16 if self.twin.stopped else 0
        self.twin.stopped = False
        self.busy = self.looks


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The library before and after an exchange of parameters, and the host compiled for it."""
    folder = tmp_path_factory.mktemp("host")
    library = prepare_library(Machine(), kernels(0.75))
    other = library.with_parameters(kernels(0.4))
    exchange = changed(library.image, other.image)
    assert len(exchange) == 1  # they share the gain
    (folder / "demo.h").write_text(c_library("demo", library))
    (folder / "exchange.h").write_text(c_registers("exchange", exchange))
    (folder / "host.c").write_text(HOST)
    compile_c(folder / "host.c", "-shared", "-fPIC", "-o", str(folder / "host.so"))
    return library, other, ctypes.CDLL(str(folder / "host.so"))


class Host:
    """The C host on a register file."""

    def __init__(self, code, registers):
        self.code, self.registers = code, registers
        self.callbacks = READ(registers.read), WRITE(registers.write)

    def load(self):
        return self.code.host_load(*self.callbacks)

    def call(self, number, inputs, outputs, looks=100):
        got = (ctypes.c_uint32 * max(outputs, 1))()
        status = self.code.host_call(number, (ctypes.c_uint32 * len(inputs))(*inputs), got, looks)
        return status, list(got)[:outputs]


@pytest.mark.parametrize("looks", [0, 5])
def test_calls_from_c(host, looks):
    """Random calls of both programs; the state is carried, parameters are exchanged meanwhile."""
    library, other, code = host
    registers = RegisterFile(library, looks)
    c = Host(code, registers)
    assert c.load() == OK
    fmt, rng = Machine().fmt, np.random.default_rng(4)
    state = {"x": fmt.from_float(0.5)}
    assert code.host_state(1, (ctypes.c_uint32 * 1)(state["x"])) == OK
    for index in range(40):
        if index == 20:
            assert code.host_exchange() == OK
            library = other
        number = int(rng.integers(2))
        call = library.call(number)
        inputs = {name: fmt.from_float(float(rng.normal())) for name in call.program.inputs}
        status, outputs = c.call(number, [*inputs.values()], len(call.outputs))
        assert status == OK
        direct = BitExact(fmt)
        given = {name: direct.scalar(bits) for name, bits in (inputs | state).items()}
        want = {name: x.bits for name, x in call.kernel.evaluate(direct, given).items()}
        assert dict(zip(call.outputs, outputs, strict=True)) == {n: want[n] for n in call.outputs}
        state = {"x": want.get("x", state["x"])}
        got = (ctypes.c_uint32 * 1)()
        assert code.host_get_state(1, got) == OK and got[0] == state["x"]


def test_any_locations_in_any_order(host):
    """FILE_ADDRESS is written where a location does not follow the one before, and only there."""
    library, _, code = host
    registers = RegisterFile(library)
    c, machine, rng = Host(code, registers), Machine(), np.random.default_rng(5)
    assert c.load() == OK
    for part in (1.0, 0.8, 0.3):
        there = [
            Location(bank, address)
            for address in range(machine.depth)
            for bank in range(machine.banks)
            if rng.random() < part
        ]
        if part < 0.5:
            rng.shuffle(there)
        want = {Location(*x): int(rng.integers(1 << 32)) for x in there}
        on_bus = [bank << 16 | address for bank, address in want]
        array = ctypes.c_uint32 * len(want)
        registers.moves = 0
        assert code.host_write(array(*on_bus), array(*want.values()), len(want)) == OK
        assert all(registers.twin.read(x) == bits for x, bits in want.items())
        assert part < 1 or registers.moves == 1


def test_what_goes_wrong_has_a_status(host):
    library, _, code = host
    registers = RegisterFile(library, looks=10)
    c, one = Host(code, registers), Machine().fmt.one
    for name, value, status in (
        ("ID", 0, NO_ENGINE),
        ("VERSION", 0x0001_0000, NO_ENGINE),
        ("VERSION", 0x0002_0001, NO_ENGINE),
        ("CONFIG", 0, OTHER),
        ("LANES", 0x0102, OTHER),
        ("FILE_DEPTH", 32, OTHER),
        ("PROGRAM_DEPTH", len(library.encoded()) - 1, OTHER),
        ("TRACE_REGISTERS", 2, OTHER),
        ("PROGRAMS", 1, OTHER),
    ):
        right, registers.given[name] = registers.given[name], value
        assert STATUS[c.load()] == STATUS[status], name
        registers.given[name] = right
    assert c.call(0, [one, one], 2)[0] == UNKNOWN  # nothing was loaded
    assert c.load() == OK
    assert c.call(2, [one, one], 2)[0] == UNKNOWN
    assert c.call(0, [one, one], 2, looks=3)[0] == LATE
    assert c.call(0, [one, one], 2)[0] == BUSY
    while registers.busy:
        registers.read(registers.map["STATUS"].offset)
    registers.trace.clear()
    assert c.call(0, [one, 0], 2)[0] == STOPPED  # 1 / 0
    assert c.call(0, [one, one], 2) == (OK, [Machine().fmt.from_float(1.75), one])
    registers.rows[0]["MAIN_LENGTH"] = 0
    assert c.call(0, [one, one], 2)[0] == REFUSED


def test_a_host_with_registers_in_its_memory(tmp_path):
    """As the header comes, without a definition of STEP_READ and STEP_WRITE; no parameters."""
    kernel = record(lambda _, values: {"sum": values["a"] + values["b"]}, "ab")
    library = prepare_library(Machine(), {"sum": kernel})
    with pytest.raises(ValueError, match="exchange: no registers to write"):
        c_registers("exchange", changed(library.image, library.image))
    (tmp_path / "demo.h").write_text(c_library("demo", library))
    source = tmp_path / "host.c"
    source.write_text(MAPPED)
    compile_c(source, "-fsyntax-only")


def test_programs_that_c_cannot_tell_apart():
    kernel = kernels(1.0)["two results"]
    with pytest.raises(ValueError, match="cannot tell apart: a b, a-b"):
        c_library("demo", prepare_library(Machine(), {"a b": kernel, "a-b": kernel}))
