/* Driver of the step engine: load a program image, write parameters and inputs, run, read.
 *
 * Portable C99 without allocation or global data. It needs no library but the compiler's runtime
 * (libgcc or compiler-rt), and memset or memcpy where a compiler calls them. An image
 * (docs/program_image.md) stays where the host has it: all that points into it is valid as long as
 * the image is. Floats are bits in the low end of a word. Nothing waits without a limit.
 *
 * A host that reaches the registers otherwise than through memory compiles driver and callers with
 * STEP_ACCESS defined as the header, quotes included, that defines STEP_READ(engine, offset) and
 * STEP_WRITE(engine, offset, word); where it pays to take words in bursts, STEP_READ_MANY(engine,
 * offset, words, count), too, which reads one register so often. step_link.h is such a header. */
#ifndef STEP_ENGINE_H
#define STEP_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef STEP_ACCESS
#include STEP_ACCESS
#else
#define STEP_READ(engine, offset) ((engine)->base[(offset) / 4u])
#define STEP_WRITE(engine, offset, word) ((engine)->base[(offset) / 4u] = (word))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum step_status {
  STEP_OK = 0,
  STEP_NO_IMAGE,      /* the bytes are no program image, or step_parse refused them */
  STEP_OTHER_VERSION, /* an image of another version of the format */
  STEP_CUT_SHORT,     /* the image has not as many bytes as it says */
  STEP_DAMAGED,       /* its checksum is wrong, or what it says leads outside */
  STEP_NO_ENGINE,     /* no step engine stands there, or one without several programs */
  STEP_OTHER_MACHINE, /* the image was made for another machine */
  STEP_TOO_LARGE,     /* the engine's memories are too small for the image */
  STEP_OTHER_PROGRAM, /* the images differ in more than numbers */
  STEP_UNKNOWN,       /* there is no such program or value, or nothing was loaded */
  STEP_NO_ROOM,       /* the run would trace more words than there is room for */
  STEP_BUSY,          /* a run is going on */
  STEP_REFUSED,       /* it refused to run, or an access meanwhile, after which a run goes on */
  STEP_LATE,          /* the run did not end within the limit; it goes on, a prologue does not */
  STEP_STOPPED,       /* a result was infinite, not a number or invalid */
  STEP_NULL,          /* NULL for words, bytes, a name or a count that are needed */
  STEP_CHANGED,       /* the image's bytes are others than when it was parsed */
  STEP_LOST           /* the run ended, and fewer words came: somebody else took some */
};

/* A program image. Made by step_parse. */
struct step_image {
  const uint8_t *bytes;
  uint32_t config, lanes, depth; /* CONFIG, LANES and FILE_DEPTH of its machine */
  uint32_t words, bus_words;     /* program words, and bus words of each */
  uint32_t entries;              /* of the trace list */
  uint32_t programs, parameters, values;
  uint32_t check, described; /* CHECK, and a sum of the program records, when it was parsed */
  size_t values_at, words_at, names_at, size; /* bytes */
};

struct step_program {
  const char *name;
  uint32_t start, main, special, prologue; /* words */
  uint32_t every, steps, save;             /* of the run that it was compiled for */
  uint32_t entry;                          /* first one in the trace list */
  uint32_t inputs, carried, before, after; /* how many; it traces before, then after */
  uint32_t first;                          /* place of the first input among the values */
};

struct step_value {
  const char *name;
  uint32_t location, bits;
};

struct step_engine {
  volatile uint32_t *base; /* where the registers are mapped */
  struct step_image image; /* what it holds, if `loaded` */
  uint32_t banks;
  uint32_t common; /* checksum of what images of the same programs have in common */
  int loaded;
  int set; /* some parameter is not that of the image */
};

/* What a run left behind. */
struct step_report {
  uint32_t steps; /* that it finished; the number of the step that stopped it */
  uint32_t cycles;
  uint32_t flags; /* of its floats, fflags order */
};

/* Some functions have the name of a struct, as C allows. g++ -Wshadow takes that for a mistake, and
 * a host need not do without the option. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* --- images --------------------------------------------------------------------------------- */

/* Check an image of so many bytes, and find its parts. What is refused is left empty. */
enum step_status step_parse(struct step_image *image, const void *bytes, size_t size);

/* A program by its number, or the number of a name. */
enum step_status step_program(const struct step_image *image, uint32_t number,
                              struct step_program *program);
enum step_status step_find(const struct step_image *image, const char *name, uint32_t *number);

/* A value by its place: parameters first, then those of the programs from `first` on. */
enum step_status step_value(const struct step_image *image, uint32_t place,
                            struct step_value *value);

/* --- the engine ----------------------------------------------------------------------------- */

/* Find an engine. */
enum step_status step_open(struct step_engine *engine, volatile uint32_t *base);

/* Load an image: programs, trace lists, parameters, and carried values to begin with. The engine
 * copies the struct, and goes on reading the bytes, which must not be freed. Where they hold
 * another image, what needs them returns STEP_CHANGED and does nothing, until one is exchanged or
 * loaded.
 *
 * CHECK and a sum of the program records tell, at every call; the checksum of all bytes only here
 * and in step_exchange. So after a step_parse of those bytes that was not STEP_OK, as where the
 * same image came again with an error, only step_load and step_exchange of a good image mean
 * something. Until then others may succeed with wrong values, or find the error at a later value,
 * and return STEP_CHANGED with those before it written; but nothing is read or written outside of
 * the image, the words that a host gives and the registers of the machine. */
enum step_status step_load(struct step_engine *engine, const struct step_image *image);

/* Take the parameters of another image of the same programs, such as that of a scenario with other
 * masses. Only those that differ are written; all of them where step_set was called before, and
 * where the bytes of the image before are gone or damaged, as in a host's only buffer: there a
 * checksum of 32 bits tells whether the programs are the same. Where it succeeds, the engine reads
 * these bytes instead of those before. */
enum step_status step_exchange(struct step_engine *engine, const struct step_image *image);

/* Write one parameter by its name: step_value gives the names, places 0 to image->parameters - 1.
 * They are of the numbers that the programs compute with, such as body[0].inverse_mass. A mass or a
 * length may be in several of them: step_exchange writes all. */
enum step_status step_set(struct step_engine *engine, const char *name, uint32_t bits);

/* Give a program's carried values those of the image again. */
enum step_status step_restart(const struct step_engine *engine, uint32_t number);

/* All inputs or carried values of a program, in the order of the image. Outputs are those of the
 * program that ran last. NULL is for a program that has none: here, for inputs and outputs of
 * step_call, and for a trace without words. */
enum step_status step_write_inputs(const struct step_engine *engine, uint32_t number,
                                   const uint32_t *bits);
enum step_status step_write_carried(const struct step_engine *engine, uint32_t number,
                                    const uint32_t *bits);
enum step_status step_read_carried(const struct step_engine *engine, uint32_t number,
                                   uint32_t *bits);
enum step_status step_read_outputs(const struct step_engine *engine, uint32_t number,
                                   uint32_t *bits);

/* Call a program: write its inputs, run one step, and take its outputs. STEP_LATE where the run did
 * not end within `polls` reads of STATUS; before it starts come two more, and those of a prologue:
 * at most its words + 16. A late run goes on: step_wait, then step_read_outputs. If it traces more
 * words than the engine's TRACE_DEPTH, it ends only if step_take takes them meanwhile. */
enum step_status step_call(const struct step_engine *engine, uint32_t number,
                           const uint32_t *inputs, uint32_t *outputs, uint32_t polls);

/* Run a program for some steps, after its prologue if it has one (each run counts the steps until
 * it re-bases anew: such a motion is one run), and take the trace of steps 0, save, 2 save, ... as
 * it comes: rows of the values before and after a step. `taken` counts its words, also when the run
 * fails: a run that stops leaves what was traced. 0 steps are a run, too: STEP_OK and no trace,
 * after the prologue. `polls` are as for step_call, with one read before the start. */
enum step_status step_run(const struct step_engine *engine, uint32_t number, uint32_t steps,
                          uint32_t save, uint32_t *trace, size_t room, uint32_t polls,
                          size_t *taken);

/* The parts of a run, for a host that has other things to do meanwhile, or no room for the whole
 * trace: start it; take what is there, at most so many words (none into NULL); wait, with at most
 * `polls` reads of STATUS. The engine waits while its trace is full, and starting empties it. */
enum step_status step_start(const struct step_engine *engine, uint32_t number, uint32_t steps,
                            uint32_t save);
size_t step_take(const struct step_engine *engine, uint32_t *words, size_t room);
enum step_status step_wait(const struct step_engine *engine, uint32_t polls);

int step_is_busy(const struct step_engine *engine);

/* What the last run left behind. */
struct step_report step_report(const struct step_engine *engine);

/* Stop any run, empty the trace, clear the status; all that was loaded stays. */
void step_reset(const struct step_engine *engine);

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
