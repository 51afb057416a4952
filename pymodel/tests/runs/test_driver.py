"""The driver in C (sw/step_engine.c) loads images into an engine's twin and runs them."""

import os
import re
import shlex
import shutil
import struct
import subprocess
import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import record
from pymodel.machine.c_driver import STRICT, Driver, Status, build, compiler
from pymodel.machine.image_format import HEADER, PROGRAM, VALUE, WORD_BYTES
from pymodel.machine.isa import Location, Machine
from pymodel.machine.model import Twin
from pymodel.machine.program_image import CHECKED_FROM, ImageError, ProgramImage, identity
from pymodel.mechanism.scenario_file import load
from pymodel.runs.compiled import library_image, run_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.runs.engine_runs import prepare
from pymodel.tests.driver import SW, RegisterFile, sanitized
from pymodel.tests.places import ROOT, SCENARIOS

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")

CXX = shlex.split(os.environ.get("CXX") or "c++")
LOOKS = 5
UNDEFINED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")

#: A host of its own process: it reads an image, spoils it in every way, and does all that a host
#: does with what is not refused. Its engine is memory that answers like one that is never busy.
SPOILER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "step_engine.h"
#include "step_image.h"

uint32_t host_read(uint32_t offset);

static const struct step_image *current;
static unsigned long parsed, refused[STEP_STOPPED + 1];

uint32_t host_read(uint32_t offset) {
  switch (offset) {
    case STEP_ENGINE_ID: return 0x53544550u;
    case STEP_ENGINE_VERSION: return 0x00010001u;
    case STEP_ENGINE_CONFIG: return current->config;
    case STEP_ENGINE_LANES: return current->lanes;
    case STEP_ENGINE_FILE_DEPTH: return current->depth;
    case STEP_ENGINE_STATUS: return 4u;
    case STEP_ENGINE_TRACE_COUNT: return UINT32_MAX;
    default: return UINT32_MAX;
  }
}

static void use(const struct step_image *image, const struct step_image *other) {
  struct step_engine engine;
  struct step_program program;
  struct step_value value;
  uint32_t number, *words = calloc(image->values + 1u, sizeof *words);
  size_t taken, letters = 0;
  current = image;
  for (uint32_t i = 0; i < image->programs; i++) {
    step_program(image, i, &program);
    letters += strlen(program.name);
    step_find(image, program.name, &number);
  }
  for (uint32_t i = 0; i < image->values; i++) {
    step_value(image, i, &value);
    letters += strlen(value.name);
  }
  if (step_open(&engine, NULL) == STEP_OK && step_load(&engine, image) == STEP_OK) {
    for (uint32_t i = 0; i < image->programs; i++) {
      step_call(&engine, i, words, words, 2u);
      step_run(&engine, i, 2u, 1u, words, image->values, 2u, &taken);
      step_read_outputs(&engine, i, words);
      step_write_carried(&engine, i, words);
    }
    step_exchange(&engine, other);
    step_set(&engine, "no such name", (uint32_t)letters);
  }
  free(words);
}

static void attempt(const uint8_t *bytes, size_t size, const struct step_image *other) {
  uint8_t *exact = malloc(size > 0 ? size : 1u); /* not a byte more than the image has */
  struct step_image image;
  enum step_status status;
  if (exact == NULL) abort();
  memcpy(exact, bytes, size);
  status = step_parse(&image, exact, size);
  refused[status]++;
  if (status == STEP_OK) {
    parsed++;
    use(&image, other);
  }
  free(exact);
}

static uint32_t crc(const uint8_t *bytes, size_t size) {
  uint32_t found = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    found ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) found = found >> 1 ^ ((found & 1u) ? 0xedb88320u : 0u);
  }
  return ~found;
}

int main(int count, char **names) {
  static uint8_t bytes[1u << 16];
  FILE *file = count == 2 ? fopen(names[1], "rb") : NULL;
  size_t size = file != NULL ? fread(bytes, 1u, sizeof bytes, file) : 0u;
  size_t checked = 4u * (STEP_IMAGE_HEADER_CHECK + 1u);
  struct step_image sound;
  if (step_parse(&sound, bytes, size) != STEP_OK) return 1;
  fclose(file);
  uint8_t *whole = malloc(size);
  if (whole == NULL) return 1;
  memcpy(whole, bytes, size);
  step_parse(&sound, whole, size);
  attempt(bytes, size, &sound);
  if (parsed != 1u) return 2;
  for (size_t cut = 0; cut < size; cut++) attempt(bytes, cut, &sound);
  for (size_t at = 0; at < size; at++) {
    for (int bit = 0; bit < 8; bit++) {
      bytes[at] ^= (uint8_t)(1u << bit);
      attempt(bytes, size, &sound);
      bytes[at] ^= (uint8_t)(1u << bit);
    }
    bytes[at] ^= 0xffu;
    attempt(bytes, size, &sound);
    bytes[at] ^= 0xffu;
  }
  if (parsed != 1u || refused[STEP_NO_IMAGE] == 0u || refused[STEP_OTHER_VERSION] == 0u ||
      refused[STEP_CUT_SHORT] < size || refused[STEP_DAMAGED] == 0u) return 3;
  for (size_t at = checked; at < size; at++) { /* the same with a right checksum */
    for (unsigned other = 1u; other < 256u; other += other < 8u ? 1u : 31u) {
      uint32_t sum;
      bytes[at] ^= (uint8_t)other;
      sum = crc(bytes + checked, size - checked);
      for (unsigned k = 0; k < 4u; k++) bytes[checked - 4u + k] = (uint8_t)(sum >> 8u * k);
      attempt(bytes, size, &sound);
      bytes[at] ^= (uint8_t)other;
    }
  }
  free(whole);
  printf("%lu\\n", parsed);
  return 0;
}
"""

SPOILER_ACCESS = """
#include "step_engine_regs.h"
uint32_t host_read(uint32_t offset);
#define STEP_READ(engine, offset) ((void)(engine), host_read(offset))
#define STEP_WRITE(engine, offset, word) ((void)(engine), (void)(offset), (void)(word))
"""

#: The least that a host with mapped registers does.
MAPPED = """
#include "step_engine.h"

enum step_status add(volatile uint32_t *base, const void *bytes, size_t size,
                     const uint32_t *terms, uint32_t *sum);

enum step_status add(volatile uint32_t *base, const void *bytes, size_t size,
                     const uint32_t *terms, uint32_t *sum) {
  static struct step_image image;
  struct step_engine engine;
  enum step_status status = step_parse(&image, bytes, size);
  if (status == STEP_OK) {
    status = step_open(&engine, base);
  }
  if (status == STEP_OK) {
    status = step_load(&engine, &image);
  }
  return status == STEP_OK ? step_call(&engine, 0u, terms, sum, 1000u) : status;
}
"""

#: A host in C and in C++, with registers in memory that read as an engine's. Nothing is an image.
REFUSED = """
#include <stdio.h>
#include "step_engine.h"
#include "step_engine_regs.h"
#include "step_image.h"

int main(void) {
  static uint32_t registers[1024];
  struct step_image image;
  struct step_engine engine;
  enum step_status parsed, opened, loaded, exchanged;
  registers[STEP_ENGINE_ID / 4u] = 0x53544550u;
  registers[STEP_ENGINE_VERSION / 4u] = 0x00010002u;
  parsed = step_parse(&image, "none", 4u);
  opened = step_open(&engine, registers);
  loaded = step_load(&engine, &image);
  engine.loaded = 1; /* as if it were */
  exchanged = step_exchange(&engine, &image);
  printf("%d %d %d %d\\n", (int)parsed, (int)opened, (int)loaded, (int)exchanged);
  return 0;
}
"""

#: Where the examples of the documentation stand: what they use without saying so.
AROUND = """
#include "step_engine.h"
void use(const uint32_t *words);
void example(const void *bytes, size_t size, volatile uint32_t *base, uint32_t *trace, size_t room,
             uint32_t *state, uint32_t polls);
void example(const void *bytes, size_t size, volatile uint32_t *base, uint32_t *trace, size_t room,
             uint32_t *state, uint32_t polls) {
  enum step_status status;
  uint32_t columns;
  %s
  (void)state; (void)status; (void)columns;
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


def one_of(machine, bits=0x3F00_0000):
    library = prepare_library(machine, kernels(0.75))
    return library, library_image(library, {"low pass": {"x": bits}})


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The driver, which says so and ends where C does not define what it does."""
    return build(SW, tmp_path_factory.mktemp("driver"), *UNDEFINED)


@pytest.fixture(scope="module")
def library():
    return one_of(Machine())


def made(code, library, polls=0):
    registers = RegisterFile(
        library.call(0).program.machine, [c.program for c in library.calls.values()], polls
    )
    driver = Driver(code, registers.read, registers.write)
    assert driver.open() == Status.OK
    return registers, driver


def test_the_statuses_are_those_of_the_header():
    listed = re.search(r"enum step_status \{(.*?)\};", (SW / "step_engine.h").read_text(), re.S)
    names = re.findall(r"^\s*STEP_(\w+)", listed[1], re.M)
    assert names == [status.name for status in Status]


@pytest.mark.parametrize("machine", [Machine(), Machine(1, 1), Machine(3, 5, depth=128)], ids=str)
def test_calls_are_those_of_the_text(code, machine):
    library, image = one_of(machine)
    registers, driver = made(code, library, polls=2)
    assert driver.load(image.encode()) == Status.OK
    fmt, rng = machine.fmt, np.random.default_rng(1)
    state = {"x": 0x3F00_0000}
    other = library.with_parameters(kernels(0.4))
    for index in range(40):
        if index == 20:
            stores = registers.stores
            assert driver.exchange(library_image(other).encode()) == Status.OK
            assert registers.stores == stores + 1  # they share the gain
            library = other
        number = int(rng.integers(2))
        call = library.call(number)
        assert driver.find(["two results", "low pass"][number]) == number
        inputs = {name: fmt.from_float(float(rng.normal())) for name in call.program.inputs}
        status, outputs = driver.call(number, [*inputs.values()], len(call.outputs), LOOKS)
        assert status == Status.OK
        direct = BitExact(fmt)
        given = {name: direct.scalar(bits) for name, bits in (inputs | state).items()}
        want = {name: x.bits for name, x in call.kernel.evaluate(direct, given).items()}
        wanted = [want[name] for name in call.outputs]
        assert outputs == wanted
        assert driver.read_outputs(number, len(wanted)) == (Status.OK, wanted)
        state = {"x": want.get("x", state["x"])}
        assert driver.read_carried(1, 1) == (Status.OK, [state["x"]])
        assert driver.report().cycles == registers.twin.cycles
    assert driver.restart(1) == Status.OK and driver.read_carried(1, 1)[1] == [0]
    assert driver.write_carried(1, [fmt.one]) == Status.OK
    assert driver.read_carried(1, 1)[1] == [fmt.one]
    before = driver.call(0, [fmt.one, fmt.one], 2, LOOKS)
    assert driver.set("gain", fmt.one) == Status.OK
    assert driver.call(0, [fmt.one, fmt.one], 2, LOOKS) == (Status.OK, [fmt.from_float(2), fmt.one])
    assert driver.exchange(library_image(library).encode()) == Status.OK  # takes back what was set
    assert driver.call(0, [fmt.one, fmt.one], 2, LOOKS) == before
    assert driver.set("grain", fmt.one) == Status.UNKNOWN
    assert driver.find("none") is None


@pytest.mark.parametrize(("scenario", "rebase"), [("double_pendulum", 0), ("four_bar", 3)])
def test_runs_are_those_of_the_twin(code, scenario, rebase):
    """A trace larger than what is taken at once, in one call and by its parts."""
    run = prepare(Machine(), [load(SCENARIOS / f"{scenario}.toml", steps=9)], rebase=rebase)
    image = run_image(run)
    registers = RegisterFile(Machine(), [run.program])
    driver = Driver(code, registers.read, registers.write)
    assert driver.open() == driver.load(image.encode()) == Status.OK
    (program,) = image.programs
    for save in (1, 4, 0):
        twin = Twin(Machine())
        twin.load(run.image)
        words = twin.run(
            run.program, run.steps, run.every, save, run.before.values(), run.after.values()
        )
        assert driver.restart(0) == Status.OK
        assert driver.run(0, program.steps, save, len(words), LOOKS) == (Status.OK, words)
        assert driver.report().flags == twin.flags and driver.report().steps == program.steps
        state = [twin.read(location) for location in run.program.carried.values()]
        assert driver.read_carried(0, len(state))[1] == state
        if words:
            assert driver.run(0, program.steps, save, len(words) - 1, LOOKS)[0] == Status.NO_ROOM
        assert driver.restart(0) == driver.start(0, program.steps, save) == Status.OK
        taken = []
        while part := driver.take(7):
            taken += part
        assert taken == words and driver.wait(LOOKS) == Status.OK


def test_what_a_run_begins_with_is_found_anew(code):
    """After another state, other parameters and another run: the prologue runs before each."""
    first = load(SCENARIOS / "double_pendulum.toml", steps=4)
    head, *rest = first.bodies
    longer = replace(first, bodies=(replace(head, tip=(1.25, 0.0)), *rest))
    runs = [prepare(Machine(), [scenario]) for scenario in (first, longer)]
    run = runs[0]
    assert run.program.prologue and run.program.early and run.program == runs[1].program
    registers = RegisterFile(Machine(), [run.program])
    driver = Driver(code, registers.read, registers.write)
    assert driver.open() == driver.load(run_image(run).encode()) == Status.OK
    twin, rng = Twin(Machine()), np.random.default_rng(2)
    twin.load(run.image)
    for index in range(6):
        if index % 2:
            run = runs[index // 2 % 2]
            assert driver.exchange(run_image(run).encode()) == Status.OK
            twin.load({home: run.image[home] for home in run.program.parameters.values()})
        else:
            homes = run.program.carried.values()
            state = {home: Machine().fmt.from_float(float(rng.normal())) for home in homes}
            assert driver.write_carried(0, [*state.values()]) == Status.OK
            twin.load(state)
        twin.load(dict.fromkeys(run.program.early.values(), Machine().fmt.inf))
        before, after = run.before.values(), run.after.values()
        words = twin.run(run.program, 3, 0, 1, before, after)
        assert driver.run(0, 3, 1, len(words), LOOKS) == (Status.OK, words)
        assert driver.report().flags == twin.flags
        twin.flags = 0

    infinite = [Machine().fmt.inf, 0, 0, 0]
    assert driver.write_carried(0, infinite) == Status.OK
    assert driver.run(0, 3, 1, 100, LOOKS) == (Status.STOPPED, [])
    assert driver.report().steps == 0
    slow = RegisterFile(Machine(), [run.program], polls=1000)
    driver = Driver(code, slow.read, slow.write)
    assert driver.open() == driver.load(run_image(run).encode()) == Status.OK
    slow.looks = 0
    assert driver.run(0, 3, 1, 100, LOOKS)[0] == Status.LATE
    assert slow.looks == 1 + run.program.prologue + 16


@pytest.mark.parametrize(
    ("head", "gravity", "status"),
    [
        ({"mass": 1.5, "com": (0.25, 0.0)}, (0.0, 4.0), Status.OK),
        ({"com": (0.0, 0.0)}, (0.0, 4.0), Status.OTHER_PROGRAM),
        ({}, (0.125, 4.0), Status.OTHER_PROGRAM),
    ],
)
def test_what_becomes_zero_or_is_no_more_is_another_program(code, head, gravity, status):
    scenario = load(SCENARIOS / "four_bar.toml")
    first, *rest = scenario.bodies
    bodies = (replace(first, **head), *rest)
    other = replace(scenario, bodies=bodies, gravity=gravity)
    data, exchanged = (run_image(prepare(Machine(), [x])).encode() for x in (scenario, other))
    registers = RegisterFile(Machine(), [])
    driver = Driver(code, registers.read, registers.write)
    assert driver.open() == driver.load(data) == Status.OK
    assert driver.exchange(exchanged) == status


def test_what_goes_wrong_has_a_status(code, library):
    library, image = library
    data = image.encode()
    registers, driver = made(code, library, polls=10)
    one = Machine().fmt.one
    for name, value, status in (
        ("CONFIG", 0, Status.OTHER_MACHINE),
        ("LANES", 0x0102, Status.OTHER_MACHINE),
        ("LANES", identity(Machine(read_stages=1))[1], Status.OTHER_MACHINE),
        ("LANES", identity(Machine(operand_stages=1))[1], Status.OTHER_MACHINE),
        ("LANES", identity(Machine(rare_logic=1))[1], Status.OTHER_MACHINE),
        ("FILE_DEPTH", 32, Status.OTHER_MACHINE),
        ("PROGRAM_DEPTH", len(image.words) - 1, Status.TOO_LARGE),
        ("TRACE_REGISTERS", image.entries - 1, Status.TOO_LARGE),
        ("PROGRAMS", 1, Status.TOO_LARGE),
    ):
        right, registers.given[name] = registers.given[name], value
        assert driver.load(data) == status, name
        registers.given[name] = right
    assert driver.call(0, [one, one], 2, LOOKS)[0] == Status.UNKNOWN  # nothing was loaded
    assert driver.exchange(data) == driver.set("gain", 0) == Status.UNKNOWN
    assert driver.load(data) == Status.OK
    assert driver.call(2, [one, one], 2, LOOKS)[0] == Status.UNKNOWN
    registers.looks = 0
    assert driver.call(0, [one, one], 2, polls=3)[0] == Status.LATE
    assert registers.looks == 2 + 3
    assert driver.call(0, [one, one], 2, LOOKS)[0] == Status.BUSY
    assert driver.load(data) == driver.restart(1) == driver.start(0, 1, 1) == Status.BUSY
    assert driver.wait(20) == Status.OK
    want = [Machine().fmt.from_float(1.75), one]
    assert driver.read_outputs(0, 2) == (Status.OK, want)
    assert driver.call(0, [one, 0], 2, 20)[0] == Status.STOPPED  # 1 / 0
    assert driver.call(0, [one, one], 2, 20) == (Status.OK, want)  # without the late one's trace
    other = library_image(prepare_library(Machine(), {"low pass": kernels(1.0)["low pass"]}))
    assert driver.exchange(other.encode()) == Status.OTHER_PROGRAM
    registers.rows[0]["MAIN_LENGTH"] = 0
    assert driver.call(0, [one, one], 2, 20)[0] == Status.REFUSED
    for name, value in (("ID", 0), ("VERSION", 0x0001_0000), ("VERSION", 0x0002_0001)):
        right, registers.given[name] = registers.given[name], value
        assert driver.open() == Status.NO_ENGINE, name
        registers.given[name] = right
    assert driver.set("gain", 0) == Status.UNKNOWN


def test_what_an_access_raises_comes_out_of_the_driver(code, library):
    registers, driver = made(code, library[0])

    def read(offset):
        raise OSError("no bus")

    driver = Driver(code, read, registers.write)
    with pytest.raises(OSError, match="no bus"):
        driver.open()


def test_values_in_any_order(code):
    """FILE_ADDRESS is written where a location does not follow the one before, and only there."""
    names, machine = [f"x{k}" for k in range(40)], Machine()
    kernel = record(lambda _, values: {n: values["x0"] * values[n] for n in names[1:]}, names)
    library = prepare_library(machine, {"scaled": kernel})
    image, rng = library_image(library), np.random.default_rng(5)
    registers, driver = made(code, library)

    def position(location):
        return location.address * machine.banks + location.bank

    (program,) = image.programs
    swept = sorted(program.inputs.items(), key=lambda item: position(item[1]))
    for order in (swept, swept[::-1], rng.permutation(len(swept))):
        inputs = dict(swept[x] if isinstance(x, np.integer) else x for x in order)
        other = replace(image, programs=(replace(program, inputs=inputs),))
        assert driver.load(other.encode()) == Status.OK
        at = [position(location) for location in inputs.values()]
        gaps = 1 + sum(b != a + 1 for a, b in pairwise(at))
        registers.moves = 0
        bits = [int(x) for x in rng.integers(1 << 32, size=len(at))]
        assert driver.write_inputs(0, bits) == Status.OK
        assert [registers.twin.read(location) for location in inputs.values()] == bits
        assert registers.moves == gaps


def test_behind_the_last_register_comes_the_first(code):
    """An engine of the most registers: its last address has no other behind it in 16 bits."""
    names, machine = ["a", "b", "c"], Machine(depth=1 << 16)
    kernel = record(lambda _, values: {"sum": values["a"] + values["b"] * values["c"]}, names)
    library = prepare_library(machine, {"sum": kernel})
    image, (last, mask) = library_image(library), (machine.banks - 1, machine.depth - 1)
    registers, driver = made(code, library)
    (program,) = image.programs
    for bank in (1, 0):  # (0, 0) is where the engine moves on to, (1, 0) is not
        homes = (Location(last, mask), Location(bank, 0), Location(bank, 5))
        other = replace(
            image, programs=(replace(program, inputs=dict(zip(names, homes, strict=True))),)
        )
        assert driver.load(other.encode()) == Status.OK
        registers.moves = 0
        assert driver.write_inputs(0, [1, 2, 3]) == Status.OK
        assert [registers.twin.read(home) for home in homes] == [1, 2, 3]
        assert registers.moves == 2 + bank


def checked(data):
    """The bytes of an image with a right checksum."""
    sums = struct.pack("<I", zlib.crc32(data[CHECKED_FROM:]))
    return data[: CHECKED_FROM - WORD_BYTES] + sums + data[CHECKED_FROM:]


def changed(data, at, word):
    return data[:at] + struct.pack("<I", word) + data[at + WORD_BYTES :]


def test_python_and_c_refuse_the_same(code, library):
    """Every word of header and records with numbers at the limits, and a right checksum."""
    library, image = library
    data = image.encode()
    driver = Driver(code, lambda offset: 0, lambda offset, word: None)
    records = HEADER.size + PROGRAM.size * len(image.programs)
    records += VALUE.size * (len(image.parameters) + sum(len(p.values) for p in image.programs))
    kept = refused = 0
    for at in range(CHECKED_FROM, records, WORD_BYTES):
        (before,) = struct.unpack_from("<I", data, at)
        for word in {0, 1, before + 1, max(before, 1) - 1, 1 << 16, 1 << 31, 0xFFFF_FFFF}:
            spoiled = checked(changed(data, at, word))
            status = driver.parse(spoiled)
            try:
                ProgramImage.decode(spoiled)
            except ImageError:
                assert status == Status.DAMAGED, (at, word)
                refused += 1
            else:
                assert status == Status.OK, (at, word)
                kept += 1
    assert kept > 100 and refused > 100


@pytest.mark.parametrize("extra", [1, 2, 3])
def test_an_image_of_broken_words_is_refused(code, library, extra):
    data = library[1].encode() + bytes(extra)
    for name in ("SIZE", "NAMES"):
        at = WORD_BYTES * HEADER.place(name)
        (before,) = struct.unpack_from("<I", data, at)
        data = changed(data, at, before + extra)
    driver = Driver(code, lambda offset: 0, lambda offset, word: None)
    assert driver.parse(checked(data)) == Status.DAMAGED
    with pytest.raises(ImageError, match="leads outside"):
        ProgramImage.decode(checked(data))


def test_a_value_that_nothing_refers_to_leads_nowhere(code, library):
    """A parameter more than the image says it has."""
    image, data = library[1], library[1].encode()
    assert image.parameters
    value = HEADER.size + PROGRAM.size * len(image.programs)
    data = changed(data, WORD_BYTES * HEADER.place("PARAMETERS"), 0)
    data = changed(data, value + WORD_BYTES * VALUE.place("LOCATION"), 1 << 31)
    driver = Driver(code, lambda offset: 0, lambda offset, word: None)
    assert driver.parse(checked(data)) == Status.DAMAGED
    with pytest.raises(ImageError, match="leads outside"):
        ProgramImage.decode(checked(data))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc with its sanitizers")
def test_damaged_images_do_no_harm(tmp_path, library):
    """Every truncation, every bit and byte: under the sanitizers of addresses and behaviour."""
    kernel = record(
        lambda _, values: {"sum": values["a"] * values["k"]}, "a", parameters={"k": 2.0}
    )
    small = library_image(prepare_library(Machine(1, 1), {"sum": kernel}))
    said = sanitized(tmp_path, SPOILER, SPOILER_ACCESS, [small.encode()])
    assert int(said) > 1000  # those with a right checksum that hold together


def test_a_host_with_registers_in_its_memory(tmp_path):
    """As the driver comes, without another header of accesses: freestanding, and what a linker
    still looks for is the compiler's own."""
    source = tmp_path / "host.c"
    source.write_text(MAPPED)
    command = [compiler(), *STRICT, "-ffreestanding", "-nostdlib", "-r", "-I", str(SW)]
    command += [str(source), str(SW / "step_engine.c"), "-o", str(tmp_path / "host.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if shutil.which("nm"):
        listed = subprocess.run(
            ["nm", "-u", str(tmp_path / "host.o")], capture_output=True, text=True, check=True
        )
        missing = [line.split()[-1] for line in listed.stdout.splitlines()]
        known = ("__", "memset", "memcpy")
        assert not [name for name in missing if not name.startswith(known)]


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3", "-Os"])
def test_no_level_of_optimization_has_something_to_say(tmp_path, level):
    """What a compiler sees of a value depends on what it puts together."""
    command = [compiler(), *STRICT, level, "-c", str(SW / "step_engine.c")]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "step_engine.o")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def check_refused(folder, source, *command):
    """A host that is linked with the driver's object: what it says of an image that was refused."""
    driver, host = folder / "step_engine.o", folder / "host"
    (folder / source).write_text(REFUSED)
    compiled = [compiler(), *STRICT, "-c", str(SW / "step_engine.c"), "-o", str(driver)]
    linked = [*command, "-I", str(SW), str(folder / source), str(driver), "-o", str(host)]
    for words in (compiled, linked):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    said = subprocess.run([str(host)], capture_output=True, text=True, check=True).stdout
    statuses = [Status(int(word)) for word in said.split()]
    assert statuses == [Status.NO_IMAGE, Status.OK, Status.NO_IMAGE, Status.NO_IMAGE]


def test_an_image_that_was_refused_is_none(tmp_path):
    check_refused(tmp_path, "host.c", compiler(), *STRICT)


@pytest.mark.skipif(shutil.which(CXX[0]) is None, reason="no C++ compiler")
def test_a_host_in_cpp(tmp_path):
    """It includes the headers as they are, and is linked with the driver compiled as C."""
    strict = ("-Wpedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror")
    check_refused(tmp_path, "host.cpp", *CXX, *strict)


@pytest.mark.reads("docs")
@pytest.mark.parametrize(
    ("page", "before"),
    [
        ("sw/README.md", ""),
        (
            "docs/step_engine.md",
            "struct step_image image; struct step_engine engine; size_t taken;",
        ),
    ],
)
def test_examples_of_the_documentation_compile(tmp_path, page, before):
    blocks = re.findall(r"```c\n(.*?)```", (ROOT / page).read_text(), re.S)
    text = "\n".join([before, *blocks]).replace('#include "step_engine.h"\n', "")
    source = tmp_path / "example.c"
    source.write_text(AROUND % text)
    command = [compiler(), *STRICT, "-fsyntax-only", "-I", str(SW), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert blocks and done.returncode == 0, done.stderr
