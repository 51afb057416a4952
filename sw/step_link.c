/* The link's host in C: see step_link.h. What goes over the line: docs/board.md. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* cfmakeraw, flock, rates above 38400 */
#endif
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "step_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
  BYTES = 4,            /* of a word */
  LONGEST = 254,        /* data bytes of a block of COBS without a zero byte */
  LINE_BITS = 10,       /* of a byte on the line */
  MS = 1000,            /* of a second */
  NS_OF_MS = 1000000,   /* */
  MOST_WAIT_MS = 600000 /* that is asked for */
};

#define CRC_POLYNOMIAL 0xedb88320u

/* Words of a frame without its checksum, and those that an answer brings, at most. */
#define ROOM (STEP_LINK_FRAME_WORDS - 1u)
#define ANSWER_ROOM (STEP_LINK_FRAME_WORDS - 4u)

#define SEQUENCE_MASK 0xffu
#define COUNT_MASK 0xffffu

static uint64_t now_ms(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * MS + (uint64_t)now.tv_nsec / NS_OF_MS;
}

static enum step_link_status failed(struct step_link *link, enum step_link_status status) {
  if (link->status == STEP_LINK_OK) {
    link->status = status;
  }
  return link->status;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Whether the port can be read or written by then; 0 where it cannot, -1 where it is lost. */
static int ready(struct step_link *link, short events, uint64_t end) {
  for (;;) {
    uint64_t now = now_ms();
    struct pollfd port = {link->port, events, 0};
    int found = poll(&port, 1u, now < end ? (int)(end - now) : 0);
    if (found > 0) {
      return (port.revents & events) != 0 ? 1 : -1;
    }
    if (found == 0 || errno != EINTR) {
      return found;
    }
    if (now >= end) {
      return 0;
    }
  }
}

static void send_bytes(struct step_link *link, const uint8_t *bytes, size_t count, uint64_t end) {
  while (count > 0u && link->status == STEP_LINK_OK) {
    int can = ready(link, POLLOUT, end);
    ssize_t written = can > 0 ? write(link->port, bytes, count) : 0;
    if (can == 0) {
      failed(link, STEP_LINK_SILENT);
    } else if (can < 0 || (written < 0 && errno != EAGAIN && errno != EINTR)) {
      failed(link, STEP_LINK_LOST);
    } else if (written > 0) {
      bytes += written;
      count -= (size_t)written;
    }
  }
}

static uint32_t crc_after(uint32_t crc, uint8_t byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; bit++) {
    crc = crc >> 1 ^ ((crc & 1u) != 0u ? CRC_POLYNOMIAL : 0u);
  }
  return crc;
}

/* --- frames ----------------------------------------------------------------------------------- */

static struct step_link_frame *frame_of(struct step_link *link, uint32_t number) {
  return &link->frames[(link->first + number) % STEP_LINK_WINDOW];
}

/* A frame as it goes over the line: COBS of words and checksum, and a zero byte. */
static size_t encoded(const struct step_link_frame *frame, uint32_t header, uint8_t *bytes) {
  uint32_t crc = UINT32_MAX;
  size_t code = 0u, size = 1u;
  for (uint32_t i = 0; i <= frame->size; i++) {
    uint32_t word = i == 0u ? header : i < frame->size ? frame->words[i] : ~crc;
    for (int k = 0; k < BYTES; k++) {
      uint8_t byte = (uint8_t)(word >> 8 * k);
      if (i < frame->size) {
        crc = crc_after(crc, byte);
      }
      if (size - code > LONGEST) { /* a block without a zero behind it */
        bytes[code] = (uint8_t)(size - code);
        code = size++;
      }
      if (byte != 0u) {
        bytes[size++] = byte;
      } else {
        bytes[code] = (uint8_t)(size - code);
        code = size++;
      }
    }
  }
  bytes[code] = (uint8_t)(size - code);
  bytes[size++] = 0u;
  return size;
}

/* What was received, without COBS, in its own place: how many bytes; 0 if it is damaged. */
static size_t decoded(uint8_t *bytes, size_t count) {
  size_t size = 0u, at = 0u;
  while (at < count) {
    size_t block = bytes[at], end = at + block;
    if (end > count) {
      return 0u;
    }
    for (at++; at < end; at++) {
      bytes[size++] = bytes[at];
    }
    if (block <= LONGEST && at < count) {
      bytes[size++] = 0u;
    }
  }
  return size;
}

static uint32_t word_at(const uint8_t *bytes, size_t at) {
  uint32_t word = 0u;
  for (size_t k = BYTES; k-- > 0u;) {
    word = word << 8 | bytes[BYTES * at + k];
  }
  return word;
}

/* The words of a frame that has come, without its checksum: their count; 0 if it is damaged. */
static size_t checked(struct step_link *link) {
  size_t size = decoded(link->received, link->count);
  uint32_t crc = UINT32_MAX;
  link->count = 0u;
  if (size % BYTES != 0u || size < 2u * BYTES) {
    return 0u;
  }
  for (size_t i = 0; i < size - BYTES; i++) {
    crc = crc_after(crc, link->received[i]);
  }
  size = size / BYTES - 1u;
  return word_at(link->received, size) == (uint32_t)~crc ? size : 0u;
}

/* Take the bytes that come by then; whether there are any. */
static int fill(struct step_link *link, uint64_t end) {
  int can = ready(link, POLLIN, end);
  ssize_t found = can > 0 ? read(link->port, link->input, sizeof link->input) : 0;
  if (can < 0 || (can > 0 && found == 0) || (found < 0 && errno != EAGAIN && errno != EINTR)) {
    failed(link, STEP_LINK_LOST);
  }
  link->at = 0u;
  link->came = found > 0 ? (size_t)found : 0u;
  return can > 0 && now_ms() < end; /* there is an end to noise, too */
}

/* The next frame that is whole by then, in `received`: its words; 0 if none comes. */
static size_t receive(struct step_link *link, uint64_t end) {
  while (link->status == STEP_LINK_OK) {
    while (link->at < link->came) {
      uint8_t byte = link->input[link->at++];
      size_t words = byte == 0u ? checked(link) : 0u;
      if (words != 0u) {
        return words;
      }
      if (byte != 0u && link->count < sizeof link->received) { /* else its checksum is wrong */
        link->received[link->count++] = byte;
      }
    }
    if (!fill(link, end)) {
      return 0u;
    }
  }
  return 0u;
}

/* How long what may be on the line takes there: frames out, and their answers. */
static uint64_t end_of(const struct step_link *link, uint32_t wait_ms) {
  return now_ms() + wait_ms + 2u * STEP_LINK_WINDOW * (uint64_t)link->frame_ms;
}

static void send_frame(struct step_link *link, uint32_t number) {
  uint8_t bytes[STEP_LINK_BYTES];
  uint32_t sequence = (link->sequence + number) & SEQUENCE_MASK;
  uint32_t header = link->kind << STEP_LINK_KIND_AT | sequence;
  size_t size = encoded(frame_of(link, number), header, bytes);
  send_bytes(link, bytes, size, end_of(link, link->wait_ms));
}

/* Take the answer that is in `received`. */
static void take(struct step_link *link, size_t words) {
  struct step_link_frame *frame = frame_of(link, 0u);
  if (words != 2u + frame->reads) { /* header, words that were read, status */
    failed(link, STEP_LINK_OTHER_VERSION);
    return;
  }
  for (uint32_t i = 0; i < frame->reads; i++) {
    frame->into[i] = word_at(link->received, 1u + i);
  }
  link->refused += word_at(link->received, words - 1u) != 0u ? 1u : 0u;
  link->first = (link->first + 1u) % STEP_LINK_WINDOW;
  link->sequence = (link->sequence + 1u) & SEQUENCE_MASK;
  link->sent--;
}

/* Wait for the answer to the oldest frame. After a silence it goes again, and all behind it: the
 * board does no frame twice, and answers those that it has done. */
static void await(struct step_link *link) {
  static const uint8_t delimiter = 0u;
  uint32_t header = link->kind << STEP_LINK_KIND_AT | link->sequence;
  for (uint32_t attempt = 0; link->status == STEP_LINK_OK; attempt++) {
    uint64_t end = end_of(link, link->wait_ms << attempt);
    size_t words = receive(link, end);
    while (words != 0u && word_at(link->received, 0u) != header) {
      words = receive(link, end);
    }
    if (words != 0u) {
      take(link, words);
      return;
    }
    if (attempt + 1u == STEP_LINK_TRIES) {
      failed(link, STEP_LINK_SILENT);
      return;
    }
    send_bytes(link, &delimiter, 1u, end_of(link, link->wait_ms));
    for (uint32_t i = 0; i < link->sent; i++) {
      send_frame(link, i);
      link->again++;
    }
  }
}

/* Begin the next frame in the place behind those that were sent: there always is one. */
static void begin(struct step_link *link) {
  struct step_link_frame *frame = frame_of(link, link->sent);
  frame->size = 1u;
  frame->reads = 0u;
  link->operation = 0u;
}

/* Send the frame that is filled, if it has anything. */
static void send_filled(struct step_link *link) {
  if (link->status != STEP_LINK_OK || frame_of(link, link->sent)->size == 1u) {
    return;
  }
  send_frame(link, link->sent);
  link->sent++;
  if (link->sent == STEP_LINK_WINDOW) {
    await(link);
  }
  begin(link);
}

enum step_link_status step_link_flush(struct step_link *link) {
  send_filled(link);
  while (link->status == STEP_LINK_OK && link->sent > 0u) {
    await(link);
  }
  return link->status;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* Add an operation to the frame that is filled. */
static void add(struct step_link *link, uint32_t word) {
  struct step_link_frame *frame = frame_of(link, link->sent);
  link->operation = frame->size;
  frame->words[frame->size++] = word;
}

/* Whether a write goes on where the last operation of the frame ended. */
static int goes_on(struct step_link *link, uint32_t offset) {
  uint32_t *operation = &frame_of(link, link->sent)->words[link->operation];
  uint32_t count = *operation & COUNT_MASK, fixed = *operation & STEP_LINK_FIXED;
  if (link->operation == 0u) {
    return 0;
  }
  if (count == 1u && offset == link->last) {
    *operation |= STEP_LINK_FIXED;
    return 1;
  }
  return offset == link->last + (fixed != 0u ? 0u : (uint32_t)BYTES);
}

void step_link_write(struct step_link *link, uint32_t offset, uint32_t word) {
  struct step_link_frame *frame = frame_of(link, link->sent);
  if (link->status != STEP_LINK_OK) {
    return;
  }
  if (frame->size + 2u > ROOM) {
    send_filled(link);
    frame = frame_of(link, link->sent);
  }
  if (!goes_on(link, offset)) {
    add(link, offset << STEP_LINK_ADDRESS_AT | STEP_LINK_WRITE);
  }
  frame->words[link->operation]++;
  frame->words[frame->size++] = word;
  link->last = offset;
  if (offset == STEP_ENGINE_CTRL) { /* it acts, and a host may not look for long */
    send_filled(link);
  }
}

void step_link_read_many(struct step_link *link, uint32_t offset, uint32_t *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    words[i] = STEP_LINK_NOTHING;
  }
  while (count > 0u && link->status == STEP_LINK_OK) {
    struct step_link_frame *frame = frame_of(link, link->sent);
    uint32_t some = count < ANSWER_ROOM ? (uint32_t)count : ANSWER_ROOM;
    if (frame->size + 1u > ROOM) {
      send_filled(link);
      frame = frame_of(link, link->sent);
    }
    add(link, offset << STEP_LINK_ADDRESS_AT | STEP_LINK_FIXED | some);
    frame->reads = some;
    frame->into = words;
    words += some;
    count -= some;
    send_filled(link);
  }
  step_link_flush(link);
}

uint32_t step_link_read(struct step_link *link, uint32_t offset) {
  uint32_t word;
  step_link_read_many(link, offset, &word, 1u);
  return word;
}

/* --- the port --------------------------------------------------------------------------------- */

/* What termios calls a rate; B0 if this system has none of it. */
static speed_t speed_of(uint32_t baud) {
  static const struct {
    uint32_t baud;
    speed_t speed;
  } known[] = {
    {9600u, B9600},
    {19200u, B19200},
    {38400u, B38400},
    {57600u, B57600},
    {115200u, B115200},
    {230400u, B230400},
#ifdef B3000000
    {460800u, B460800},
    {921600u, B921600},
    {1000000u, B1000000},
    {1500000u, B1500000},
    {2000000u, B2000000},
    {3000000u, B3000000},
    {4000000u, B4000000},
#endif
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].baud == baud) {
      return known[i].speed;
    }
  }
  return B0;
}

/* Give the port back after an error, with what that was. */
static enum step_link_status closed(struct step_link *link, enum step_link_status status) {
  int error = errno;
  if (link->port >= 0) {
    close(link->port);
  }
  link->port = -1;
  errno = error;
  return failed(link, status);
}

static enum step_link_status open_port(struct step_link *link, const char *port, speed_t speed) {
  struct termios line;
  link->port = open(port, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (link->port < 0) {
    return failed(link, STEP_LINK_NO_PORT);
  }
  if (flock(link->port, LOCK_EX | LOCK_NB) != 0) {
    return closed(link, errno == EWOULDBLOCK ? STEP_LINK_IN_USE : STEP_LINK_NO_PORT);
  }
  if (tcgetattr(link->port, &line) != 0) {
    return closed(link, STEP_LINK_NO_PORT);
  }
  cfmakeraw(&line);
  line.c_cflag |= CLOCAL | CREAD;
  line.c_cflag &= ~(tcflag_t)CSTOPB;
#ifdef CRTSCTS
  line.c_cflag &= ~(tcflag_t)CRTSCTS;
#endif
  line.c_cc[VMIN] = 1;
  line.c_cc[VTIME] = 0;
  if (cfsetispeed(&line, speed) != 0 || cfsetospeed(&line, speed) != 0 ||
      tcsetattr(link->port, TCSANOW, &line) != 0 || tcflush(link->port, TCIOFLUSH) != 0) {
    return closed(link, STEP_LINK_NO_PORT);
  }
  return STEP_LINK_OK;
}

/* Greet the board: its link's version and sizes. */
static void greet(struct step_link *link) {
  static const uint8_t delimiter = 0u;
  struct step_link_frame *frame;
  uint32_t found = 0u;
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  link->sequence = (uint32_t)(now.tv_nsec / MS) & SEQUENCE_MASK; /* any number */
  link->kind = STEP_LINK_HELLO;
  begin(link);
  frame = frame_of(link, 0u);
  frame->reads = 1u;
  frame->into = &found;
  send_bytes(link, &delimiter, 1u, end_of(link, link->wait_ms)); /* behind whatever came before */
  send_frame(link, 0u);
  link->sent = 1u;
  await(link);
  link->kind = STEP_LINK_ACCESS;
  if (link->status == STEP_LINK_OK && found != STEP_LINK_GREETING) {
    failed(link, STEP_LINK_OTHER_VERSION);
  }
  begin(link);
}

enum step_link_status step_link_open(struct step_link *link, const char *port, uint32_t baud,
                                     uint32_t wait_ms) {
  speed_t speed = speed_of(baud);
  link->status = STEP_LINK_OK;
  link->port = -1;
  link->again = link->refused = 0u;
  link->first = link->sent = link->last = link->operation = 0u;
  link->count = link->at = link->came = 0u;
  link->wait_ms = wait_ms == 0u ? STEP_LINK_WAIT_MS : wait_ms < MOST_WAIT_MS ? wait_ms : MOST_WAIT_MS;
  if (port == NULL) {
    errno = EINVAL;
    return failed(link, STEP_LINK_NO_PORT);
  }
  if (speed == B0) {
    return failed(link, STEP_LINK_NO_BAUD);
  }
  link->frame_ms = (uint32_t)(STEP_LINK_BYTES * LINE_BITS * (uint64_t)MS / baud) + 1u;
  if (open_port(link, port, speed) == STEP_LINK_OK) {
    greet(link);
    if (link->status != STEP_LINK_OK) {
      closed(link, link->status);
    }
  }
  return link->status;
}

enum step_link_status step_link_close(struct step_link *link) {
  enum step_link_status status = step_link_flush(link);
  if (link->port >= 0) {
    close(link->port);
    link->port = -1;
  }
  failed(link, STEP_LINK_LOST);
  return status;
}

const char *step_link_text(enum step_link_status status) {
  static const char *const texts[] = {
    "the link is open",
    "the port cannot be opened",
    "another program uses the port",
    "this system has no such rate",
    "the board does not answer",
    "the port is gone",
    "what answers speaks another version of the link",
  };
  return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown";
}
