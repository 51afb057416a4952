/* The step engine from a bare-metal host: load programs, choose one, write inputs, run, read
 * outputs. Plain C99, nothing to link.
 *
 * What is loaded are constants of the types below; `pymodel.runs.c_tables` writes them from a
 * library of programs. Floats are bits in the low end of a word. Nothing waits without a limit.
 *
 * A host that reaches the registers otherwise than through memory defines STEP_READ(engine, offset)
 * and STEP_WRITE(engine, offset, word) before it includes this file. */
#ifndef STEP_ENGINE_H
#define STEP_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "step_engine_regs.h"

#ifndef STEP_READ
#define STEP_READ(engine, offset) ((engine)->base[(offset) / 4u])
#define STEP_WRITE(engine, offset, word) ((engine)->base[(offset) / 4u] = (word))
#endif

#define STEP_ID 0x53544550u               /* ASCII STEP */
#define STEP_MAJOR 1u                     /* of VERSION */
#define STEP_MINOR 1u                     /* the first one with the register PROGRAM */
#define STEP_NEXT_BANK 0x00010000u        /* from a location to that of the next bank */
#define STEP_ADDRESS_MASK 0x0000ffffu     /* of a location: its address in its bank */

enum step_status {
  STEP_OK = 0,
  STEP_NO_ENGINE, /* no step engine stands there, or one without several programs */
  STEP_OTHER,     /* the library was made for another machine, or is too large for this one */
  STEP_UNKNOWN,   /* there is no such program */
  STEP_BUSY,      /* a run is going on */
  STEP_REFUSED,   /* the engine refused to run: no program was loaded */
  STEP_LATE,      /* the run did not end within the limit; it goes on */
  STEP_STOPPED    /* a result was infinite, not a number or invalid; there are no outputs */
};

/* A register of the engine's file (bank << 16 | address) and its bits. */
struct step_word {
  uint32_t location;
  uint32_t bits;
};

struct step_program {
  uint32_t start, length;            /* in the program memory, words */
  uint32_t entry;                    /* first one in the trace list */
  uint32_t inputs, carried, outputs; /* how many */
  const uint32_t *input, *state, *output; /* their locations */
};

/* All that an engine holds at once. A program's number is its place here. */
struct step_library {
  uint32_t config, lanes, depth; /* CONFIG, LANES and FILE_DEPTH of the machine */
  uint32_t programs, words, bus_words, entries, parameters; /* how many */
  const struct step_program *program;
  const uint32_t *word; /* words * bus_words, lowest bits first */
  const struct step_word *parameter;
};

struct step_engine {
  volatile uint32_t *base; /* where the registers are mapped */
  const struct step_library *library;
  uint32_t banks;
};

/* Find an engine. */
static inline enum step_status step_open(struct step_engine *engine, volatile uint32_t *base) {
  uint32_t version, lanes;
  engine->base = base;
  engine->library = NULL;
  version = STEP_READ(engine, STEP_ENGINE_VERSION);
  if (STEP_READ(engine, STEP_ENGINE_ID) != STEP_ID || version >> 16 != STEP_MAJOR ||
      (version & 0xffffu) < STEP_MINOR) {
    return STEP_NO_ENGINE;
  }
  lanes = STEP_READ(engine, STEP_ENGINE_LANES);
  engine->banks =
      ((lanes & STEP_ENGINE_LANES_NUM_ADD_MASK) >> STEP_ENGINE_LANES_NUM_ADD_SHIFT) +
      ((lanes & STEP_ENGINE_LANES_NUM_MUL_MASK) >> STEP_ENGINE_LANES_NUM_MUL_SHIFT) + 2u;
  return STEP_OK;
}

static inline int step_is_busy(const struct step_engine *engine) {
  return (STEP_READ(engine, STEP_ENGINE_STATUS) & STEP_ENGINE_STATUS_BUSY_MASK) != 0u;
}

/* Stop any run and empty the trace; programs, parameters and carried values stay. */
static inline void step_reset(const struct step_engine *engine) {
  STEP_WRITE(engine, STEP_ENGINE_CTRL, STEP_ENGINE_CTRL_RESET_MASK);
}

/* Where FILE_ADDRESS stands after an access to a location. */
static inline uint32_t step_next(const struct step_engine *engine, uint32_t location) {
  uint32_t next = location + STEP_NEXT_BANK;
  return next / STEP_NEXT_BANK < engine->banks ? next : (location & STEP_ADDRESS_MASK) + 1u;
}

/* Write a register of the file; `next` is where FILE_ADDRESS stands, and is moved on. */
static inline void step_put(const struct step_engine *engine, uint32_t location, uint32_t bits,
                            uint32_t *next) {
  if (location != *next) {
    STEP_WRITE(engine, STEP_ENGINE_FILE_ADDRESS, location);
  }
  STEP_WRITE(engine, STEP_ENGINE_FILE_DATA, bits);
  *next = step_next(engine, location);
}

/* Write parameters: those of a library, or what is exchanged between two calls. */
static inline enum step_status step_set(const struct step_engine *engine,
                                        const struct step_word *words, size_t count) {
  uint32_t next = UINT32_MAX;
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  for (size_t i = 0; i < count; i++) {
    step_put(engine, words[i].location, words[i].bits, &next);
  }
  return STEP_OK;
}

/* Write values to locations: inputs, or carried values to begin with. */
static inline enum step_status step_write(const struct step_engine *engine,
                                          const uint32_t *locations, const uint32_t *values,
                                          size_t count) {
  uint32_t next = UINT32_MAX;
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  for (size_t i = 0; i < count; i++) {
    step_put(engine, locations[i], values[i], &next);
  }
  return STEP_OK;
}

/* Read values from locations: carried values, or the outputs of the program that ran last. */
static inline enum step_status step_read(const struct step_engine *engine,
                                         const uint32_t *locations, uint32_t *values,
                                         size_t count) {
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  for (size_t i = 0; i < count; i++) {
    STEP_WRITE(engine, STEP_ENGINE_FILE_ADDRESS, locations[i]);
    values[i] = STEP_READ(engine, STEP_ENGINE_FILE_DATA);
  }
  return STEP_OK;
}

/* Load all programs of a library and its parameters, and describe them for runs of one step. */
static inline enum step_status step_load(struct step_engine *engine,
                                         const struct step_library *library) {
  if (STEP_READ(engine, STEP_ENGINE_CONFIG) != library->config ||
      STEP_READ(engine, STEP_ENGINE_LANES) != library->lanes ||
      STEP_READ(engine, STEP_ENGINE_FILE_DEPTH) != library->depth ||
      STEP_READ(engine, STEP_ENGINE_PROGRAM_DEPTH) < library->words ||
      STEP_READ(engine, STEP_ENGINE_TRACE_REGISTERS) < library->entries ||
      STEP_READ(engine, STEP_ENGINE_PROGRAMS) < library->programs) {
    return STEP_OTHER;
  }
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  step_reset(engine);
  for (uint32_t i = 0; i < library->words; i++) {
    for (uint32_t k = 0; k < library->bus_words; k++) {
      STEP_WRITE(engine, STEP_ENGINE_PROGRAM_WORD + 4u * k,
                 library->word[i * library->bus_words + k]);
    }
    STEP_WRITE(engine, STEP_ENGINE_PROGRAM_STORE, i);
  }
  STEP_WRITE(engine, STEP_ENGINE_STEPS, 1u);
  STEP_WRITE(engine, STEP_ENGINE_SAVE, 1u);
  STEP_WRITE(engine, STEP_ENGINE_EVERY, 0u);
  for (uint32_t i = 0; i < library->programs; i++) {
    const struct step_program *program = &library->program[i];
    STEP_WRITE(engine, STEP_ENGINE_PROGRAM, i);
    STEP_WRITE(engine, STEP_ENGINE_MAIN_START, program->start);
    STEP_WRITE(engine, STEP_ENGINE_MAIN_LENGTH, program->length);
    STEP_WRITE(engine, STEP_ENGINE_TRACE_BEFORE, 0u);
    STEP_WRITE(engine, STEP_ENGINE_TRACE_AFTER, program->outputs);
    STEP_WRITE(engine, STEP_ENGINE_TRACE_START, program->entry);
    for (uint32_t k = 0; k < program->outputs; k++) {
      STEP_WRITE(engine, STEP_ENGINE_TRACE_INDEX, program->entry + k);
      STEP_WRITE(engine, STEP_ENGINE_TRACE_ENTRY, program->output[k]);
    }
  }
  engine->library = library;
  return step_set(engine, library->parameter, library->parameters);
}

/* Start a program by its number; its inputs have been written. */
static inline enum step_status step_start(const struct step_engine *engine, uint32_t number) {
  if (engine->library == NULL || number >= engine->library->programs) {
    return STEP_UNKNOWN;
  }
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  STEP_WRITE(engine, STEP_ENGINE_STATUS,
             STEP_ENGINE_STATUS_ERROR_MASK | STEP_ENGINE_STATUS_STOPPED_MASK);
  STEP_WRITE(engine, STEP_ENGINE_PROGRAM, number);
  STEP_WRITE(engine, STEP_ENGINE_CTRL, STEP_ENGINE_CTRL_RUN_MASK);
  return STEP_OK;
}

/* Wait for the end of a run, looking at most so often. */
static inline enum step_status step_wait(const struct step_engine *engine, uint32_t looks) {
  for (uint32_t i = 0; i < looks; i++) {
    uint32_t status = STEP_READ(engine, STEP_ENGINE_STATUS);
    if ((status & STEP_ENGINE_STATUS_ERROR_MASK) != 0u) {
      return STEP_REFUSED;
    }
    if ((status & STEP_ENGINE_STATUS_BUSY_MASK) == 0u) {
      return (status & STEP_ENGINE_STATUS_STOPPED_MASK) != 0u ? STEP_STOPPED : STEP_OK;
    }
  }
  return STEP_LATE;
}

/* Call a program: write its inputs, run it, and take its outputs from the trace as they come: more
 * than the trace holds make the run wait. */
static inline enum step_status step_call(const struct step_engine *engine, uint32_t number,
                                         const uint32_t *inputs, uint32_t *outputs,
                                         uint32_t looks) {
  const struct step_program *program;
  enum step_status status;
  uint32_t taken = 0u, count;
  int busy = 1;
  if (engine->library == NULL || number >= engine->library->programs) {
    return STEP_UNKNOWN;
  }
  program = &engine->library->program[number];
  status = step_write(engine, program->input, inputs, program->inputs);
  if (status == STEP_OK) {
    status = step_start(engine, number);
  }
  if (status != STEP_OK) {
    return status;
  }
  for (; busy && looks > 0u; looks--) {
    busy = step_is_busy(engine); /* before the trace: if not, all outputs are there */
    count = STEP_READ(engine, STEP_ENGINE_TRACE_COUNT);
    for (uint32_t i = 0; i < count && taken < program->outputs; i++) {
      outputs[taken++] = STEP_READ(engine, STEP_ENGINE_TRACE_DATA);
    }
  }
  return busy ? STEP_LATE : step_wait(engine, 1u);
}

#endif
