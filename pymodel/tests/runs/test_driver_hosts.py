"""Hosts of the driver in C (sw/step_engine.c) that give it nothing, and use their memory again."""

import shutil
import subprocess

import pytest

from pymodel.compile.kernel import record
from pymodel.machine.c_driver import STRICT, Status
from pymodel.machine.isa import Machine
from pymodel.runs.compiled import library_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc with its sanitizers")

SW = ROOT / "sw"

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
static uint8_t first[ROOM], second[ROOM], third[ROOM];
static size_t first_size, second_size, third_size;

uint32_t host_read(uint32_t offset) {
  switch (offset) {
    case STEP_ENGINE_ID: return 0x53544550u;
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

static void load(void) {
  if (step_parse(&image, first, first_size) != STEP_OK) exit(2);
  identity[0] = image.config;
  identity[1] = image.lanes;
  identity[2] = image.depth;
  if (step_open(&engine, NULL) != STEP_OK || step_load(&engine, &image) != STEP_OK) exit(3);
  stores = runs = 0u;
}

static void tell(void);

int main(int count, char **names) {
  if (count > 1) first_size = contents(names[1], first);
  if (count > 2) second_size = contents(names[2], second);
  if (count > 3) third_size = contents(names[3], third);
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
  say(step_parse(&none, NULL, first_size));
  say(step_find(&image, NULL, &number));
  say(step_set(&engine, NULL, 0u));
  say(step_write_inputs(&engine, 0u, NULL));
  say(step_write_carried(&engine, 1u, NULL));
  say(step_read_carried(&engine, 1u, NULL));
  say(step_read_outputs(&engine, 0u, NULL));
  say(step_call(&engine, 0u, NULL, words, 5u));
  say(step_call(&engine, 0u, words, NULL, 5u));
  say(step_run(&engine, 1u, 1u, 1u, NULL, 100u, 5u, &taken));
  say(step_write_inputs(&engine, 2u, NULL));
  if (step_take(&engine, NULL, 5u) != 0u) exit(4);
  say(step_write_carried(&engine, 0u, NULL));
  say(step_read_carried(&engine, 0u, NULL));
  say(step_run(&engine, 1u, 1u, 0u, NULL, 100u, 5u, &taken));
  say(step_restart(&engine, 1u));
  if (step_take(&engine, NULL, 0u) != 0u) exit(5);
}
"""


def scaled(_, values):
    return {"sum": values["gain"] * values["a"] + values["b"]}


def low_pass(_, values):
    return {"x": values["x"] * values["gain"] + values["a"], "before": values["x"] + values["a"]}


def image(gain, x=0.5, second=low_pass):
    """The bytes of two programs with a parameter, the second one with a carried value."""
    kernels = {
        "scaled": record(scaled, "ab", parameters={"gain": gain}),
        "low pass": record(second, "a", "x", {"gain": gain}),
    }
    library = prepare_library(Machine(), kernels)
    bits = {"low pass": {"x": Machine().fmt.from_float(x)}}
    return library_image(library, bits).encode()


def said(folder, text, *images):
    """What a host says under the sanitizers: statuses, with registers written and runs begun."""
    (folder / "access.h").write_text(ACCESS)
    (folder / "host.c").write_text(ENGINE + text)
    names = [str(folder / f"{k}.image") for k in range(len(images))]
    for name, data in zip(names, images, strict=True):
        (folder / name).write_bytes(data)
    command = ["gcc", *STRICT, "-O1", "-g", '-DSTEP_ACCESS="access.h"']
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += ["-I", str(folder), "-I", str(SW), "-o", str(folder / "host")]
    command += [str(folder / "host.c"), str(SW / "step_engine.c")]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run([str(folder / "host"), *names], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    rows = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    return [(Status(status), *counts) for status, *counts in rows]


def test_null_is_refused_where_something_is_needed(tmp_path):
    *refused, unknown, written, read, run, restarted = said(tmp_path, NOTHING, image(0.75))
    assert refused == [(Status.NULL, 0, 0)] * 10
    assert unknown == (Status.UNKNOWN, 0, 0)
    assert written == read == (Status.OK, 0, 0)  # of no values
    assert run == (Status.OK, 0, 1) and restarted == (Status.OK, 1, 0)
