/* The step engine at the other end of a serial port (docs/board.md): the link's host in C.
 *
 * C99 and POSIX (termios, poll), without allocation or global data. Driver and callers are compiled
 * with -DSTEP_ACCESS='"step_link.h"': then the registers are those behind a link, and step_open
 * takes step_link_base(&link).
 *
 * Writes are posted: they are sent when a frame is full, with the next read, with a write of CTRL,
 * and by step_link_flush. Nothing waits without a limit. What fails, fails for good: from then on
 * nothing is sent, and all reads give STEP_LINK_NOTHING, of which the driver makes STEP_NO_ENGINE,
 * STEP_BUSY or STEP_REFUSED; `status` says why. step_link_open begins anew. */
#ifndef STEP_LINK_H
#define STEP_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "step_engine_regs.h"
#include "step_link_words.h"

#define STEP_LINK_NOTHING UINT32_MAX /* read where there is no link any more */

/* A frame of so many bytes is the longest, with what COBS adds and the zero behind it. */
#define STEP_LINK_BYTES (4u * STEP_LINK_FRAME_WORDS + (4u * STEP_LINK_FRAME_WORDS) / 254u + 2u)

#define STEP_LINK_INPUT 256u /* bytes taken at once */

#ifdef __cplusplus
extern "C" {
#endif

enum step_link_status {
  STEP_LINK_OK = 0,
  STEP_LINK_NO_PORT,      /* the port cannot be opened or set; errno says why */
  STEP_LINK_IN_USE,       /* another host has it */
  STEP_LINK_NO_BAUD,      /* this system has no such rate */
  STEP_LINK_SILENT,       /* no answer, or only noise, in all tries */
  STEP_LINK_LOST,         /* the port was there, and cannot be read or written any more */
  STEP_LINK_OTHER_VERSION /* what answers speaks otherwise: another version, sizes, answers */
};

/* A frame that is filled, or sent and not answered. */
struct step_link_frame {
  uint32_t words[STEP_LINK_FRAME_WORDS];
  uint32_t size;  /* words, the checksum left out */
  uint32_t reads; /* words that its answer brings */
  uint32_t *into; /* where they go */
};

struct step_link {
  enum step_link_status status;
  uint32_t again;   /* frames that were sent again */
  uint32_t refused; /* frames with an access whose response was not OKAY */
  /* The rest is its own. */
  int port;
  uint32_t wait_ms, frame_ms, kind;
  struct step_link_frame frames[STEP_LINK_WINDOW]; /* a ring: those sent, then the one filled */
  uint32_t first, sent;         /* place of the oldest; how many wait for an answer */
  uint32_t sequence;            /* of the oldest */
  uint32_t operation;           /* of the frame that is filled: place of its last one, 0: none */
  uint32_t last;                /* address of the last write */
  uint8_t received[STEP_LINK_BYTES]; /* since the last zero byte */
  size_t count;
  uint8_t input[STEP_LINK_INPUT]; /* as it came, looked at up to `at` */
  size_t at, came;
};

/* Open a port and greet the board. After `wait_ms` without the answer that is due (0: 250), and the
 * time that frames take on the line, frames are sent again, each time with twice the patience, until
 * STEP_LINK_TRIES tries are over. */
enum step_link_status step_link_open(struct step_link *link, const char *port, uint32_t baud,
                                     uint32_t wait_ms);

/* Send what was written, and wait until it is done. */
enum step_link_status step_link_flush(struct step_link *link);

/* Flush, and give the port back. The status is that of the flush. */
enum step_link_status step_link_close(struct step_link *link);

/* A line that says what a status is. */
const char *step_link_text(enum step_link_status status);

void step_link_write(struct step_link *link, uint32_t offset, uint32_t word);
uint32_t step_link_read(struct step_link *link, uint32_t offset);
/* Read one register so many times, in as few frames as there can be. */
void step_link_read_many(struct step_link *link, uint32_t offset, uint32_t *words, size_t count);

/* What step_open takes. */
static inline volatile uint32_t *step_link_base(struct step_link *link) {
  return (volatile uint32_t *)(void *)link;
}

#ifdef __cplusplus
}
#endif

#define STEP_LINK_OF(engine) ((struct step_link *)(uintptr_t)(engine)->base)
#define STEP_READ(engine, offset) step_link_read(STEP_LINK_OF(engine), offset)
#define STEP_READ_MANY(engine, offset, words, count) \
  step_link_read_many(STEP_LINK_OF(engine), offset, words, count)
#define STEP_WRITE(engine, offset, word) step_link_write(STEP_LINK_OF(engine), offset, word)

#endif
