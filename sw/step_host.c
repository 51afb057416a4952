/* A host of a step engine behind a serial port: it runs the first program of an image.
 *
 *   step_host PORT BAUD IMAGE [WORDS [WAIT_MS]]
 *
 * prints the words of the trace, one a line, in hexadecimal; or compares them with those of WORDS, a
 * file of the same form. Exit status 0, 1 where a word differs or the run fails, 2 for bad input.
 * WAIT_MS is step_link_open's. Compile it with step_engine.c, step_link.c and
 * -DSTEP_ACCESS='"step_link.h"'. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_engine.h"

enum { SAME = 0, FAILS = 1, BAD_INPUT = 2 };

#define MOST_IMAGE (1u << 24) /* bytes */
#define MOST_WORDS (1u << 24) /* of a trace */
#define POLLS 1000u           /* at STATUS and TRACE_COUNT, besides one for each step */

/* A whole number from 1 on; 0 if it is none. */
static uint32_t number_of(const char *text) {
  char *end;
  unsigned long found;
  errno = 0;
  found = strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && found <= UINT32_MAX
             ? (uint32_t)found
             : 0u;
}

/* The bytes of a file, which the caller frees; NULL, with a line that says why. */
static uint8_t *contents(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  uint8_t *bytes = file != NULL ? malloc(MOST_IMAGE) : NULL;
  if (bytes == NULL) {
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
  } else {
    *size = fread(bytes, 1u, MOST_IMAGE, file);
  }
  if (file != NULL) {
    fclose(file);
  }
  return bytes;
}

/* Compare a trace with the words of a file. */
static int compared(const char *name, const uint32_t *trace, size_t count, uint32_t columns) {
  FILE *file = fopen(name, "r");
  size_t at = 0u;
  uint32_t word;
  int result = SAME;
  if (file == NULL) {
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return BAD_INPUT;
  }
  while (result == SAME && fscanf(file, "%" SCNx32, &word) == 1) {
    if (at >= count || trace[at] != word) {
      fprintf(stderr, "row %zu, word %zu: ", at / columns, at % columns);
      if (at < count) {
        fprintf(stderr, "the board gave %08" PRIx32, trace[at]);
      } else {
        fputs("the board gave none", stderr);
      }
      fprintf(stderr, ", expected %08" PRIx32 "\n", word);
      result = FAILS;
    }
    at++;
  }
  if (result == SAME && at != count) {
    fprintf(stderr, "%s: %zu words, the board gave %zu\n", name, at, count);
    result = FAILS;
  }
  fclose(file);
  return result;
}

/* Run the first program: its trace, which the caller frees, and its words; NULL where it fails. */
static uint32_t *run(struct step_engine *engine, struct step_link *link,
                     const struct step_image *image, size_t *count, uint32_t *columns) {
  struct step_program program;
  struct step_report report;
  uint32_t *trace = NULL;
  enum step_status status = step_open(engine, step_link_base(link));
  if (status == STEP_OK) {
    step_reset(engine); /* whatever another host left */
    status = step_load(engine, image);
  }
  if (status == STEP_OK) {
    status = step_program(image, 0u, &program);
  }
  if (status == STEP_OK) {
    uint64_t rows = program.save != 0u ? (uint64_t)program.steps / program.save + 1u : 0u;
    uint64_t room = rows * ((uint64_t)program.before + program.after);
    *columns = program.before + program.after;
    trace = room > 0u && room <= MOST_WORDS ? calloc((size_t)room, sizeof *trace) : NULL;
    if (trace == NULL) {
      fprintf(stderr, "a trace of %" PRIu64 " words\n", room);
      return NULL;
    }
    status = step_run(engine, 0u, program.steps, program.save, trace, (size_t)room,
                      program.steps < UINT32_MAX - POLLS ? program.steps + POLLS : UINT32_MAX,
                      count);
    report = step_report(engine);
  }
  if (step_link_flush(link) != STEP_LINK_OK) {
    fprintf(stderr, "%s\n", step_link_text(link->status));
  } else if (link->refused != 0u) {
    fprintf(stderr, "the engine refused an access\n");
  } else if (status != STEP_OK) {
    fprintf(stderr, "the driver ends with status %d\n", (int)status);
  } else {
    fprintf(stderr, "%" PRIu32 " steps, %" PRIu32 " cycles, %" PRIu32 " frames sent again\n",
            report.steps, report.cycles, link->again);
    return trace;
  }
  free(trace);
  return NULL;
}

int main(int count, char **names) {
  static struct step_link link;
  static struct step_engine engine;
  static struct step_image image;
  uint32_t *trace, columns = 1u, baud = count > 2 ? number_of(names[2]) : 0u;
  uint32_t wait_ms = count > 5 ? number_of(names[5]) : 0u;
  size_t size = 0u, words = 0u;
  uint8_t *bytes;
  int result = FAILS;
  if (count < 4 || count > 6 || baud == 0u || (count > 5 && wait_ms == 0u)) {
    fprintf(stderr, "usage: step_host PORT BAUD IMAGE [WORDS [WAIT_MS]]\n");
    return BAD_INPUT;
  }
  bytes = contents(names[3], &size);
  if (bytes == NULL) {
    return BAD_INPUT;
  }
  if (step_parse(&image, bytes, size) != STEP_OK) {
    fprintf(stderr, "%s: no sound program image\n", names[3]);
    free(bytes);
    return BAD_INPUT;
  }
  if (step_link_open(&link, names[1], baud, wait_ms) != STEP_LINK_OK) {
    fprintf(stderr, "%s: %s%s%s\n", names[1], step_link_text(link.status),
            link.status == STEP_LINK_NO_PORT ? ": " : "",
            link.status == STEP_LINK_NO_PORT ? strerror(errno) : "");
    free(bytes);
    return BAD_INPUT;
  }
  trace = run(&engine, &link, &image, &words, &columns);
  if (trace != NULL && count > 4) {
    result = compared(names[4], trace, words, columns);
    if (result == SAME) {
      printf("%zu rows, %zu words: bit-identical to the model\n", words / columns, words);
    }
  } else if (trace != NULL) {
    for (size_t i = 0; i < words; i++) {
      printf("%08" PRIx32 "\n", trace[i]);
    }
    result = SAME;
  }
  step_link_close(&link);
  free(trace);
  free(bytes);
  return result;
}
