"""Hosts of the driver in C (sw/step_engine.c) that give it nothing, and use their memory again."""

import ctypes
import re
import shutil
import subprocess

import pytest

from pymodel.compile.kernel import record
from pymodel.machine.c_driver import STRICT, Report, Status, _Engine, _Image, _Program, compiler
from pymodel.machine.isa import Machine
from pymodel.runs.compiled import library_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.tests.driver import SW, sanitized

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc with its sanitizers")


ACCESS = """
#include "step_engine_regs.h"
uint32_t host_read(uint32_t offset);
void host_write(uint32_t offset, uint32_t word);
#define STEP_READ(engine, offset) ((void)(engine), host_read(offset))
#define STEP_WRITE(engine, offset, word) ((void)(engine), host_write(offset, word))
"""

#: An engine that is never busy, as memory. It says what was asked of it, and which bits a register
#: has; images are read from files.
ENGINE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "step_engine.h"

enum { BANKS = 6, ROOM = 4096 };

static uint32_t file[BANKS][64], bank, address, identity[3], stores, runs;
static int is_engine = 1;
static uint8_t images[3][ROOM], buffer[ROOM];
static size_t sizes[3];

uint32_t host_read(uint32_t offset) {
  switch (offset) {
    case STEP_ENGINE_ID: return is_engine ? 0x53544550u : 0u;
    case STEP_ENGINE_VERSION: return 0x00010001u;
    case STEP_ENGINE_CONFIG: return identity[0];
    case STEP_ENGINE_LANES: return identity[1];
    case STEP_ENGINE_FILE_DEPTH: return identity[2];
    case STEP_ENGINE_STATUS: return 4u;
    case STEP_ENGINE_TRACE_COUNT: return 9u;
    default: return UINT32_MAX;
  }
}

void host_write(uint32_t offset, uint32_t word) {
  if (offset == STEP_ENGINE_FILE_ADDRESS) {
    bank = word >> 16;
    address = word & 0xffffu;
  } else if (offset == STEP_ENGINE_FILE_DATA) {
    file[bank][address] = word;
    address += bank == BANKS - 1 ? 1u : 0u;
    bank = bank == BANKS - 1 ? 0u : bank + 1u;
    stores++;
  } else if (offset == STEP_ENGINE_CTRL) {
    runs += word == STEP_ENGINE_CTRL_RUN_MASK ? 1u : 0u;
  }
}

static size_t contents(const char *name, uint8_t *bytes) {
  FILE *opened = fopen(name, "rb");
  size_t size = opened != NULL ? fread(bytes, 1u, ROOM, opened) : 0u;
  if (size == 0u || size == ROOM) exit(1);
  fclose(opened);
  return size;
}

static struct step_engine engine;
static struct step_image image;

/* What a function said, how many registers it wrote, how many runs it started. */
static void say(enum step_status status) {
  printf("%d %u %u\\n", (int)status, (unsigned)stores, (unsigned)runs);
  stores = runs = 0u;
}

/* Load the first image out of a buffer that the host may use again. */
static void load(void) {
  memcpy(buffer, images[0], ROOM);
  if (step_parse(&image, buffer, sizes[0]) != STEP_OK) exit(2);
  identity[0] = image.config;
  identity[1] = image.lanes;
  identity[2] = image.depth;
  if (step_open(&engine, NULL) != STEP_OK || step_load(&engine, &image) != STEP_OK) exit(3);
  stores = runs = 0u;
}

static void tell(void);

int main(int count, char **names) {
  for (int i = 1; i < count; i++) sizes[i - 1] = contents(names[i], images[i - 1]);
  tell();
  return 0;
}
"""

#: Program 0 has no carried values. The last ones need nothing.
NOTHING = """
static void tell(void) {
  struct step_image none;
  uint32_t words[9] = {0}, number;
  size_t taken;
  load();
  say(step_parse(&none, NULL, sizes[0]));
  say(step_find(&image, NULL, &number));
  say(step_set(&engine, NULL, 0u));
  say(step_write_inputs(&engine, 0u, NULL));
  say(step_write_carried(&engine, 1u, NULL));
  say(step_read_carried(&engine, 1u, NULL));
  say(step_read_outputs(&engine, 0u, NULL));
  say(step_call(&engine, 0u, NULL, words, 5u));
  say(step_call(&engine, 0u, words, NULL, 5u));
  say(step_run(&engine, 1u, 1u, 1u, NULL, 100u, 5u, &taken));
  say(step_run(&engine, 1u, 1u, 0u, words, 100u, 5u, NULL));
  say(step_write_inputs(&engine, 2u, NULL));
  if (step_take(&engine, NULL, 5u) != 0u) exit(4);
  say(step_write_carried(&engine, 0u, NULL));
  say(step_read_carried(&engine, 0u, NULL));
  say(step_run(&engine, 1u, 1u, 0u, NULL, 100u, 5u, &taken));
  say(step_restart(&engine, 1u));
  if (step_take(&engine, NULL, 0u) != 0u) exit(5);
}
"""


#: What is no engine is not used.
UNOPENED = """
static void tell(void) {
  static uint32_t words[9];
  load();
  is_engine = 0;
  if (step_open(&engine, NULL) != STEP_NO_ENGINE) exit(10);
  say(step_load(&engine, &image));
  say(step_exchange(&engine, &image));
  say(step_call(&engine, 0u, words, words, 5u));
}
"""

#: Image 1 has another gain, 2 has other programs of the same size.
REUSED = """
/* Whether both parameters are in their registers. */
static void check(void) {
  struct step_value value;
  for (uint32_t i = 0; i < image.parameters; i++) {
    if (step_value(&image, i, &value) != STEP_OK) exit(6);
    if (file[value.location >> 16][value.location & 0xffffu] != value.bits) exit(7);
  }
  if (image.parameters != 2u) exit(8);
}

/* Exchange in the same struct. */
static void exchange(void *bytes, int number) {
  memmove(bytes, images[number], ROOM);
  if (step_parse(&image, bytes, sizes[number]) != STEP_OK) exit(9);
  say(step_exchange(&engine, &image));
}

static void tell(void) {
  static uint8_t other[ROOM];
  struct step_program program;
  struct step_value value;
  uint32_t number;
  load();
  exchange(other, 1);
  check();
  memset(&image, 0xff, sizeof image);
  say(step_restart(&engine, 1u));
  load();
  exchange(other, 2);
  say(step_restart(&engine, 1u));

  load();
  exchange(buffer, 1);
  check();
  say(step_restart(&engine, 1u));
  exchange(buffer, 0);
  check();
  exchange(buffer, 2);
  say(step_restart(&engine, 1u));
  say(step_load(&engine, &image));
  say(step_restart(&engine, 1u));

  load();
  say(step_exchange(&engine, &engine.image));
  say(step_set(&engine, "gain", 0u));
  say(step_exchange(&engine, &engine.image));
  check();
  say(step_load(&engine, &engine.image));
  say(step_restart(&engine, 1u));

  load();
  memcpy(buffer, images[1], ROOM); /* and nobody parses it */
  say(step_program(&image, 0u, &program));
  say(step_value(&image, 0u, &value));
  say(step_find(&image, "scaled", &number));
  say(step_load(&engine, &image));
  say(step_exchange(&engine, &image));
  say(step_set(&engine, "gain", 0u));
  say(step_restart(&engine, 1u));
  say(step_start(&engine, 1u, 1u, 1u));
}
"""


#: The image that was loaded comes again into its buffer, with an error behind its header: CHECK is
#: the same. Buffer and words have the room that they need, no more, so that the sanitizers see what
#: leads outside.
RECEIVED = """
enum { PROGRAMS = 2 };

static uint8_t *bytes;
static struct step_program programs[PROGRAMS];
static size_t letters;

static uint32_t *words(uint32_t count) {
  uint32_t *made = calloc(count, sizeof *made);
  if (made == NULL) exit(20);
  return made;
}

/* All that reads the image: what needs program records says that they are others. */
static void use(uint32_t number, int described) {
  const struct step_program *known = &programs[number];
  uint32_t columns = known->before + known->after, *inputs = words(known->inputs);
  uint32_t *carried = words(known->carried), *outputs = words(known->after);
  uint32_t *trace = words(2u * columns);
  struct step_program program;
  size_t taken;
  enum step_status statuses[] = {
    step_program(&engine.image, number, &program),
    step_call(&engine, number, inputs, outputs, 5u),
    step_run(&engine, number, 2u, 1u, trace, 2u * columns, 5u, &taken),
    step_start(&engine, number, 1u, 1u),
    step_write_inputs(&engine, number, inputs),
    step_write_carried(&engine, number, carried),
    step_read_carried(&engine, number, carried),
    step_read_outputs(&engine, number, outputs),
    step_restart(&engine, number),
  };
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    if (statuses[i] != STEP_CHANGED && (!described || statuses[i] != STEP_OK)) exit(21);
  }
  if (statuses[0] == STEP_OK) letters += strlen(program.name);
  free(inputs);
  free(carried);
  free(outputs);
  free(trace);
}

static void use_all(int described) {
  struct step_value value;
  uint32_t number;
  for (uint32_t i = 0; i < engine.image.values; i++) {
    if (step_value(&engine.image, i, &value) == STEP_OK) letters += strlen(value.name);
  }
  for (uint32_t i = 0; i < PROGRAMS; i++) use(i, described);
  step_find(&engine.image, "nothing", &number);
  step_find(&engine.image, "scaled", &number);
  step_set(&engine, "nothing", 1u);
  step_set(&engine, "gain", 1u);
  stores = 0u;
  if (step_load(&engine, &image) != STEP_CHANGED) exit(22);
  if (step_exchange(&engine, &image) != STEP_CHANGED) exit(23);
  if (step_exchange(&engine, &engine.image) != STEP_CHANGED || stores != 0u) exit(24);
}

/* A whole image is there again, elsewhere: it is exchanged, with what the damage hid. */
static void recover(void) {
  struct step_image good;
  struct step_value value;
  if (step_parse(&good, images[1], sizes[1]) != STEP_OK) exit(25);
  if (step_exchange(&engine, &good) != STEP_OK) exit(26);
  for (uint32_t i = 0; i < good.parameters; i++) {
    if (step_value(&good, i, &value) != STEP_OK) exit(27);
    if (file[value.location >> 16][value.location & 0xffffu] != value.bits) exit(28);
  }
}

static void spoil(size_t at, uint32_t flips) {
  struct step_image again;
  memcpy(bytes, images[0], sizes[0]);
  if (step_parse(&image, bytes, sizes[0]) != STEP_OK) exit(29);
  if (step_load(&engine, &image) != STEP_OK) exit(30);
  for (size_t i = 0; i < 4u; i++) bytes[at + i] ^= (uint8_t)(flips >> 8u * i);
  if (step_parse(&again, bytes, sizes[0]) != STEP_DAMAGED) exit(31);
  use_all(at >= image.values_at);
  recover();
}

static void tell(void) {
  size_t at = 4u * 14u;
  load();
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    if (step_program(&image, i, &programs[i]) != STEP_OK) exit(32);
  }
  bytes = malloc(sizes[0]);
  if (bytes == NULL || image.programs != PROGRAMS) exit(33);
  for (; at < sizes[0]; at += 4u) {
    for (uint32_t bit = 0; bit < 32u; bit++) spoil(at, 1u << bit);
    spoil(at, UINT32_MAX);
    spoil(at, image.names_at > at ? 3u : 0x01010101u);
    if (at >= image.values_at && at < image.words_at) { /* what image 1 has there */
      uint32_t flips = 0u;
      for (size_t i = 4u; i-- > 0u;) flips = flips << 8 | (images[0][at + i] ^ images[1][at + i]);
      if (flips != 0u) spoil(at, flips);
    }
  }
  free(bytes);
  stores = runs = 0u;
  say(letters != 0u ? STEP_OK : STEP_DAMAGED);
}
"""


def scaled(_, values):
    return {"sum": values["gain"] * values["a"] + values["b"]}


def low_pass(_, values):
    return {"x": values["x"] * values["gain"] + values["a"], "shown": values["x"] * values["k"]}


def high_pass(_, values):
    return {"x": values["x"] * values["gain"] - values["a"], "shown": values["x"] * values["k"]}


def image(gain, x=0.5, second=low_pass):
    """The bytes of two programs with a parameter, the second one with a carried value."""
    kernels = {
        "scaled": record(scaled, "ab", parameters={"gain": gain}),
        "low pass": record(second, "a", "x", {"gain": gain, "k": 2.0}),
    }
    library = prepare_library(Machine(), kernels)
    bits = {"low pass": {"x": Machine().fmt.from_float(x)}}
    return library_image(library, bits).encode()


def said(folder, text, *images):
    """What a host says under the sanitizers: statuses, with registers written and runs begun."""
    printed = sanitized(folder, ENGINE + text, ACCESS, images)
    rows = [[int(word) for word in line.split()] for line in printed.splitlines()]
    return [(Status(status), *counts) for status, *counts in rows]


def test_null_is_refused_where_something_is_needed(tmp_path):
    *refused, unknown, written, read, run, restarted = said(tmp_path, NOTHING, image(0.75))
    assert refused == [(Status.NULL, 0, 0)] * 11
    assert unknown == (Status.UNKNOWN, 0, 0)
    assert written == read == (Status.OK, 0, 0)  # of no values
    assert run == (Status.OK, 0, 1) and restarted == (Status.OK, 1, 0)


def test_memory_is_used_again(tmp_path):
    """Struct or bytes of what was loaded hold another image, of the same programs or of others."""
    images = image(0.75), image(0.4), image(0.75, second=high_pass)
    assert len({len(data) for data in images}) == 1
    ok, other, changed = Status.OK, Status.OTHER_PROGRAM, Status.CHANGED
    rows = said(tmp_path, REUSED, *images)
    struct, rows = rows[:4], rows[4:]
    assert struct == [(ok, 1, 0), (ok, 1, 0), (other, 0, 0), (ok, 1, 0)]
    again, rows = rows[:7], rows[7:]
    assert again[:3] == [(ok, 2, 0), (ok, 1, 0), (ok, 2, 0)]  # nobody knows which ones differ
    assert again[3:5] == [(other, 0, 0), (changed, 0, 0)]
    assert again[5:] == [(ok, 3, 0), (ok, 1, 0)]
    own, stale = rows[:5], rows[5:]
    assert own == [(ok, 0, 0), (ok, 1, 0), (ok, 2, 0), (ok, 3, 0), (ok, 1, 0)]
    assert stale == [(changed, 0, 0)] * 8


def test_a_damaged_copy_in_the_buffer_leads_nowhere(tmp_path):
    """Every bit and word behind the header, with the CHECK of what is loaded."""
    assert said(tmp_path, RECEIVED, image(0.75), image(0.4)) == [(Status.OK, 0, 0)]


def test_what_was_not_opened_is_not_loaded(tmp_path):
    """Its registers read as the machine of the image, but say that it is none."""
    rows = said(tmp_path, UNOPENED, image(0.75))
    assert rows == [(Status.NO_ENGINE, 0, 0), (Status.UNKNOWN, 0, 0), (Status.UNKNOWN, 0, 0)]


def test_the_structs_are_those_of_the_header(tmp_path):
    """Python's have the fields of the C ones, in their places."""
    mirrored = {"step_image": _Image, "step_program": _Program, "step_engine": _Engine}
    mirrored["step_report"] = Report
    header = re.sub(r"/\*.*?\*/", "", (SW / "step_engine.h").read_text(), flags=re.S)
    lines, want = [], []
    for name, mirror in mirrored.items():
        members = re.search(rf"struct {name} {{(.*?)}};", header, re.S)[1]
        names = re.findall(r"(\w+)\s*[,;]", members)
        assert names == [field for field, *_ in mirror._fields_]
        lines.append(f"(unsigned)sizeof(struct {name})")
        want.append(ctypes.sizeof(mirror))
        for field, *_ in mirror._fields_:
            lines.append(f"(unsigned)offsetof(struct {name}, {field})")
            want.append(getattr(mirror, field).offset)
    body = "".join(f'  printf("%u\\n", {line});\n' for line in lines)
    source, host = tmp_path / "host.c", tmp_path / "host"
    source.write_text(
        f'#include <stdio.h>\n#include "step_engine.h"\nint main(void) {{\n{body}}}\n'
    )
    command = [compiler(), *STRICT, "-I", str(SW), str(source), "-o", str(host)]
    subprocess.run(command, check=True)
    printed = subprocess.run([str(host)], capture_output=True, text=True, check=True).stdout
    assert [int(word) for word in printed.split()] == want
