#include "step_engine.h"

#include "step_engine_regs.h"
#include "step_image.h"

#define ID 0x53544550u /* ASCII STEP */
#define MINOR 1u       /* of VERSION: the first one with the register PROGRAM */
#define BANK_AT 16u    /* of a location: bank << 16 | address */
#define ADDRESS_MASK 0xffffu
#define START_POLLS 16u /* at a run of few words: one takes a cycle at least */
#define MAIN_BANKS 2u /* besides one for each adder and multiplier */
#define WORD 4u       /* bytes */
#define CHECKED_FROM (WORD * (STEP_IMAGE_HEADER_CHECK + 1u))
#define POLYNOMIAL 0xedb88320u /* of CRC-32, lowest bits first */
#define FIELD(word, field) (((word) & field##_MASK) >> field##_SHIFT)

/* Values that follow one another in an image. */
struct group {
  uint32_t first, count;
};

/* --- images --------------------------------------------------------------------------------- */

/* A word of an image, lowest byte first. */
static uint32_t word_at(const struct step_image *image, size_t at) {
  const uint8_t *byte = image->bytes + at;
  return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
         (uint32_t)byte[3] << 24;
}

static uint32_t header(const struct step_image *image, uint32_t field) {
  return word_at(image, WORD * (size_t)field);
}

/* The remainder of CRC-32, which begins with all ones and ends inverted, after more bytes. */
static uint32_t remainder_of(uint32_t crc, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) {
      crc = crc >> 1 ^ ((crc & 1u) != 0u ? POLYNOMIAL : 0u);
    }
  }
  return crc;
}

/* A sum of the program records, short enough for every call, as the checksum of all is not. */
static uint32_t sum_of_programs(const struct step_image *image) {
  uint32_t sum = 0u;
  for (size_t at = WORD * (size_t)STEP_IMAGE_HEADER_LENGTH; at < image->values_at; at += WORD) {
    sum = (sum << 7 | sum >> 25) + word_at(image, at);
  }
  return sum;
}

static uint32_t checksum_of(const struct step_image *image) {
  return ~remainder_of(UINT32_MAX, image->bytes + CHECKED_FROM, image->size - CHECKED_FROM);
}

/* Whether an image's bytes are those that were parsed, as far as a look tells: CHECK and program
 * records are the same, so that counts are those that the host knows, and the last name ends. */
static int stands(const struct step_image *image) {
  return header(image, STEP_IMAGE_HEADER_CHECK) == image->check &&
         image->bytes[image->size - 1u] == 0u && sum_of_programs(image) == image->described;
}

/* Whether all of them are. */
static int is_whole(const struct step_image *image) {
  return stands(image) && checksum_of(image) == image->check;
}

static uint32_t banks_of(uint32_t lanes) {
  return FIELD(lanes, STEP_ENGINE_LANES_NUM_ADD) + FIELD(lanes, STEP_ENGINE_LANES_NUM_MUL) +
         MAIN_BANKS;
}

static int is_name(const struct step_image *image, uint32_t place) {
  return place < image->size - image->names_at;
}

static const char *name_at(const struct step_image *image, uint32_t place) {
  return (const char *)image->bytes + image->names_at + place;
}

static size_t program_at(uint32_t number) {
  return WORD * (STEP_IMAGE_HEADER_LENGTH + (size_t)number * STEP_IMAGE_PROGRAM_LENGTH);
}

static size_t value_at(const struct step_image *image, uint32_t place) {
  return image->values_at + WORD * (size_t)place * STEP_IMAGE_VALUE_LENGTH;
}

/* Find the sections, which must fill the image. */
static int sections_fill(struct step_image *image) {
  uint32_t names = header(image, STEP_IMAGE_HEADER_NAMES);
  uint64_t at = WORD * (uint64_t)STEP_IMAGE_HEADER_LENGTH;
  uint32_t bits = header(image, STEP_IMAGE_HEADER_WORD_W);
  image->check = header(image, STEP_IMAGE_HEADER_CHECK);
  image->config = header(image, STEP_IMAGE_HEADER_CONFIG);
  image->lanes = header(image, STEP_IMAGE_HEADER_LANES);
  image->depth = header(image, STEP_IMAGE_HEADER_FILE_DEPTH);
  image->words = header(image, STEP_IMAGE_HEADER_WORDS);
  image->bus_words = bits / 32u + (bits % 32u != 0u ? 1u : 0u);
  image->entries = header(image, STEP_IMAGE_HEADER_ENTRIES);
  image->programs = header(image, STEP_IMAGE_HEADER_PROGRAMS);
  image->parameters = header(image, STEP_IMAGE_HEADER_PARAMETERS);
  image->values = header(image, STEP_IMAGE_HEADER_VALUES);
  if (image->bus_words == 0u || image->bus_words > STEP_ENGINE_PROGRAM_WORD_WORDS ||
      image->parameters > image->values || names == 0u || names % WORD != 0u) {
    return 0;
  }
  at += WORD * (uint64_t)STEP_IMAGE_PROGRAM_LENGTH * image->programs;
  image->values_at = (size_t)at;
  at += WORD * (uint64_t)STEP_IMAGE_VALUE_LENGTH * image->values;
  image->words_at = (size_t)at;
  at += WORD * (uint64_t)image->bus_words * image->words;
  image->names_at = (size_t)at;
  return at + names == image->size && image->bytes[image->size - 1u] == 0u;
}

/* A program that is known to be there. STEP_CHANGED where its record leads outside of a section, as
 * none does that was parsed. */
static enum step_status program_of(const struct step_image *image, uint32_t number,
                                   struct step_program *program) {
  uint32_t word[STEP_IMAGE_PROGRAM_LENGTH];
  for (uint32_t k = 0; k < STEP_IMAGE_PROGRAM_LENGTH; k++) {
    word[k] = word_at(image, program_at(number) + WORD * (size_t)k);
  }
  if (!is_name(image, word[STEP_IMAGE_PROGRAM_NAME])) {
    return STEP_CHANGED;
  }
  program->name = name_at(image, word[STEP_IMAGE_PROGRAM_NAME]);
  program->start = word[STEP_IMAGE_PROGRAM_START];
  program->main = word[STEP_IMAGE_PROGRAM_MAIN];
  program->special = word[STEP_IMAGE_PROGRAM_SPECIAL];
  program->prologue = word[STEP_IMAGE_PROGRAM_PROLOGUE];
  program->every = word[STEP_IMAGE_PROGRAM_EVERY];
  program->steps = word[STEP_IMAGE_PROGRAM_STEPS];
  program->save = word[STEP_IMAGE_PROGRAM_SAVE];
  program->entry = word[STEP_IMAGE_PROGRAM_ENTRY];
  program->first = word[STEP_IMAGE_PROGRAM_FIRST];
  program->inputs = word[STEP_IMAGE_PROGRAM_INPUTS];
  program->carried = word[STEP_IMAGE_PROGRAM_CARRIED];
  program->before = word[STEP_IMAGE_PROGRAM_BEFORE];
  program->after = word[STEP_IMAGE_PROGRAM_AFTER];
  return (uint64_t)program->start + program->main + program->special + program->prologue <=
                     image->words &&
                 (uint64_t)program->entry + program->before + program->after <= image->entries &&
                 (uint64_t)program->first + program->inputs + program->carried + program->before +
                         program->after <= image->values
             ? STEP_OK
             : STEP_CHANGED;
}

/* A value that is known to be there. STEP_CHANGED where its record leads outside of the names or of
 * the machine. */
static enum step_status value_of(const struct step_image *image, uint32_t place,
                                 struct step_value *value) {
  size_t at = value_at(image, place);
  uint32_t name = word_at(image, at + WORD * STEP_IMAGE_VALUE_NAME);
  uint32_t location = word_at(image, at + WORD * STEP_IMAGE_VALUE_LOCATION);
  if (!is_name(image, name) || location >> BANK_AT >= banks_of(image->lanes) ||
      (location & ADDRESS_MASK) >= image->depth) {
    return STEP_CHANGED;
  }
  value->name = name_at(image, name);
  value->location = location;
  value->bits = word_at(image, at + WORD * STEP_IMAGE_VALUE_BITS);
  return STEP_OK;
}

/* Whether every record stays inside of its section and of the machine. */
static int records_are_inside(const struct step_image *image) {
  struct step_program program;
  struct step_value value;
  for (uint32_t i = 0; i < image->values; i++) {
    if (value_of(image, i, &value) != STEP_OK) {
      return 0;
    }
  }
  for (uint32_t i = 0; i < image->programs; i++) {
    if (program_of(image, i, &program) != STEP_OK) {
      return 0;
    }
  }
  return 1;
}

static enum step_status parse(struct step_image *image) {
  if (image->size >= WORD && header(image, STEP_IMAGE_HEADER_MAGIC) != STEP_IMAGE_MAGIC) {
    return STEP_NO_IMAGE;
  }
  if (image->size >= 2u * WORD && header(image, STEP_IMAGE_HEADER_VERSION) != STEP_IMAGE_VERSION) {
    return STEP_OTHER_VERSION;
  }
  if (image->size < WORD * STEP_IMAGE_HEADER_LENGTH ||
      header(image, STEP_IMAGE_HEADER_SIZE) != image->size) {
    return STEP_CUT_SHORT;
  }
  if (header(image, STEP_IMAGE_HEADER_CHECK) != checksum_of(image) || !sections_fill(image) ||
      !records_are_inside(image)) {
    return STEP_DAMAGED;
  }
  image->described = sum_of_programs(image);
  return STEP_OK;
}

enum step_status step_parse(struct step_image *image, const void *bytes, size_t size) {
  static const struct step_image empty = {0};
  enum step_status status;
  *image = empty;
  if (bytes == NULL) {
    return STEP_NULL;
  }
  image->bytes = bytes;
  image->size = size;
  status = parse(image);
  if (status != STEP_OK) {
    *image = empty;
  }
  return status;
}

enum step_status step_program(const struct step_image *image, uint32_t number,
                              struct step_program *program) {
  if (number >= image->programs) {
    return STEP_UNKNOWN;
  }
  return stands(image) ? program_of(image, number, program) : STEP_CHANGED;
}

enum step_status step_value(const struct step_image *image, uint32_t place,
                            struct step_value *value) {
  if (place >= image->values) {
    return STEP_UNKNOWN;
  }
  return stands(image) ? value_of(image, place, value) : STEP_CHANGED;
}

static int same_name(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

enum step_status step_find(const struct step_image *image, const char *name, uint32_t *number) {
  struct step_program program;
  enum step_status status = STEP_OK;
  if (name == NULL) {
    return STEP_NULL;
  }
  if (image->programs != 0u && !stands(image)) {
    return STEP_CHANGED;
  }
  for (uint32_t i = 0; status == STEP_OK && i < image->programs; i++) {
    status = program_of(image, i, &program);
    if (status == STEP_OK && same_name(program.name, name)) {
      *number = i;
      return STEP_OK;
    }
  }
  return status == STEP_OK ? STEP_UNKNOWN : status;
}

/* Whether a word of an image may differ between images of the same programs. */
static int is_number(const struct step_image *image, size_t at) {
  size_t field;
  if (at < program_at(0u)) {
    return at == WORD * STEP_IMAGE_HEADER_CHECK;
  }
  if (at < image->values_at) {
    field = (at - program_at(0u)) / WORD % STEP_IMAGE_PROGRAM_LENGTH;
    return field == STEP_IMAGE_PROGRAM_EVERY || field == STEP_IMAGE_PROGRAM_STEPS ||
           field == STEP_IMAGE_PROGRAM_SAVE;
  }
  field = (at - image->values_at) / WORD % STEP_IMAGE_VALUE_LENGTH;
  return at < image->words_at && field == STEP_IMAGE_VALUE_BITS;
}

/* A checksum of the other words. */
static uint32_t common_of(const struct step_image *image) {
  uint32_t crc = UINT32_MAX;
  for (size_t at = 0; at < image->size; at += WORD) {
    if (!is_number(image, at)) {
      crc = remainder_of(crc, image->bytes + at, WORD);
    }
  }
  return ~crc;
}

/* Whether an image is of the programs that the engine holds, whose own image is whole or not. */
static int same_programs(const struct step_engine *engine, const struct step_image *image,
                         int whole) {
  const struct step_image *held = &engine->image;
  if (held->size != image->size) {
    return 0;
  }
  if (!whole) {
    return engine->common == common_of(image);
  }
  for (size_t at = 0; at < image->size; at += WORD) {
    if (word_at(held, at) != word_at(image, at) && !is_number(image, at)) {
      return 0;
    }
  }
  return 1;
}

/* --- registers of the file -------------------------------------------------------------------- */

/* Move FILE_ADDRESS to a location if it stands elsewhere; `next` is where it stands after the
 * access that follows: behind the last address that 16 bits hold comes the first. */
static void seek(const struct step_engine *engine, uint32_t location, uint32_t *next) {
  uint32_t bank = (location >> BANK_AT) + 1u, address = location & ADDRESS_MASK;
  if (location != *next) {
    STEP_WRITE(engine, STEP_ENGINE_FILE_ADDRESS, location);
  }
  *next = bank < engine->banks ? bank << BANK_AT | address : (address + 1u) & ADDRESS_MASK;
}

/* Whether a host gave nothing for so many words. */
static int lacks(const uint32_t *bits, uint64_t count) {
  return bits == NULL && count != 0u;
}

/* Write values: given bits, or without them those of the image that differ from another image of
 * the same programs. Bits of a host are looked at before: see `lacks`. */
static enum step_status write_values(const struct step_engine *engine,
                                     const struct step_image *image, struct group group,
                                     const uint32_t *bits, const struct step_image *before) {
  uint32_t next = UINT32_MAX;
  enum step_status status = step_is_busy(engine) ? STEP_BUSY : STEP_OK;
  for (uint32_t i = 0; status == STEP_OK && i < group.count; i++) {
    struct step_value value, old;
    status = value_of(image, group.first + i, &value);
    if (status == STEP_OK && before != NULL) {
      status = value_of(before, group.first + i, &old);
    }
    if (status == STEP_OK && (before == NULL || old.bits != value.bits)) {
      seek(engine, value.location, &next);
      STEP_WRITE(engine, STEP_ENGINE_FILE_DATA, bits != NULL ? bits[i] : value.bits);
    }
  }
  return status;
}

static enum step_status read_values(const struct step_engine *engine, struct group group,
                                    uint32_t *bits) {
  uint32_t next = UINT32_MAX;
  enum step_status status;
  if (lacks(bits, group.count)) {
    return STEP_NULL;
  }
  status = step_is_busy(engine) ? STEP_BUSY : STEP_OK;
  for (uint32_t i = 0; status == STEP_OK && i < group.count; i++) {
    struct step_value value;
    status = value_of(&engine->image, group.first + i, &value);
    if (status == STEP_OK) {
      seek(engine, value.location, &next);
      bits[i] = STEP_READ(engine, STEP_ENGINE_FILE_DATA);
    }
  }
  return status;
}

/* A program of what was loaded. */
static enum step_status loaded(const struct step_engine *engine, uint32_t number,
                               struct step_program *program) {
  return engine->loaded ? step_program(&engine->image, number, program) : STEP_UNKNOWN;
}

static struct group inputs_of(const struct step_program *program) {
  struct group group = {program->first, program->inputs};
  return group;
}

static struct group carried_of(const struct step_program *program) {
  struct group group = {program->first + program->inputs, program->carried};
  return group;
}

static struct group traced_of(const struct step_program *program) {
  struct group group = {program->first + program->inputs + program->carried,
                        program->before + program->after};
  return group;
}

enum step_status step_set(struct step_engine *engine, const char *name, uint32_t bits) {
  struct step_value value;
  enum step_status status = STEP_OK;
  if (name == NULL) {
    return STEP_NULL;
  }
  if (!engine->loaded) {
    return STEP_UNKNOWN;
  }
  if (!stands(&engine->image)) {
    return STEP_CHANGED;
  }
  for (uint32_t i = 0; status == STEP_OK && i < engine->image.parameters; i++) {
    status = value_of(&engine->image, i, &value);
    if (status == STEP_OK && same_name(value.name, name)) {
      struct group group = {i, 1u};
      engine->set = 1;
      return write_values(engine, &engine->image, group, &bits, NULL);
    }
  }
  return status == STEP_OK ? STEP_UNKNOWN : status;
}

/* Write bits that a host gives. */
static enum step_status write_given(const struct step_engine *engine, struct group group,
                                    const uint32_t *bits) {
  return lacks(bits, group.count) ? STEP_NULL
                                  : write_values(engine, &engine->image, group, bits, NULL);
}

enum step_status step_write_inputs(const struct step_engine *engine, uint32_t number,
                                   const uint32_t *bits) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  return status != STEP_OK ? status : write_given(engine, inputs_of(&program), bits);
}

enum step_status step_write_carried(const struct step_engine *engine, uint32_t number,
                                    const uint32_t *bits) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  return status != STEP_OK ? status : write_given(engine, carried_of(&program), bits);
}

enum step_status step_restart(const struct step_engine *engine, uint32_t number) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  return status != STEP_OK
             ? status
             : write_values(engine, &engine->image, carried_of(&program), NULL, NULL);
}

enum step_status step_read_carried(const struct step_engine *engine, uint32_t number,
                                   uint32_t *bits) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  return status != STEP_OK ? status : read_values(engine, carried_of(&program), bits);
}

enum step_status step_read_outputs(const struct step_engine *engine, uint32_t number,
                                   uint32_t *bits) {
  struct step_program program;
  struct group outputs;
  enum step_status status = loaded(engine, number, &program);
  if (status != STEP_OK) {
    return status;
  }
  outputs = traced_of(&program);
  outputs.first += program.before;
  outputs.count = program.after;
  return read_values(engine, outputs, bits);
}

/* --- the engine ----------------------------------------------------------------------------- */

enum step_status step_open(struct step_engine *engine, volatile uint32_t *base) {
  uint32_t version;
  engine->base = base;
  engine->loaded = 0;
  engine->banks = 0u;
  engine->set = 0;
  if (STEP_READ(engine, STEP_ENGINE_ID) != ID) {
    return STEP_NO_ENGINE;
  }
  version = STEP_READ(engine, STEP_ENGINE_VERSION);
  if (version >> 16 != STEP_ENGINE_VERSION_MAJOR || (version & 0xffffu) < MINOR) {
    return STEP_NO_ENGINE;
  }
  engine->banks = banks_of(STEP_READ(engine, STEP_ENGINE_LANES));
  return STEP_OK;
}

int step_is_busy(const struct step_engine *engine) {
  return FIELD(STEP_READ(engine, STEP_ENGINE_STATUS), STEP_ENGINE_STATUS_BUSY) != 0u;
}

void step_reset(const struct step_engine *engine) {
  STEP_WRITE(engine, STEP_ENGINE_CTRL, STEP_ENGINE_CTRL_RESET_MASK);
}

/* Write what describes a program, and its part of the trace list. */
static enum step_status describe(const struct step_engine *engine,
                                 const struct step_image *image, uint32_t number,
                                 const struct step_program *program) {
  struct group traced = traced_of(program);
  enum step_status status = STEP_OK;
  STEP_WRITE(engine, STEP_ENGINE_PROGRAM, number);
  STEP_WRITE(engine, STEP_ENGINE_MAIN_START, program->start);
  STEP_WRITE(engine, STEP_ENGINE_MAIN_LENGTH, program->main);
  STEP_WRITE(engine, STEP_ENGINE_SPECIAL_START, program->start + program->main);
  STEP_WRITE(engine, STEP_ENGINE_SPECIAL_LENGTH, program->special);
  STEP_WRITE(engine, STEP_ENGINE_TRACE_BEFORE, program->before);
  STEP_WRITE(engine, STEP_ENGINE_TRACE_AFTER, program->after);
  STEP_WRITE(engine, STEP_ENGINE_TRACE_START, program->entry);
  if (traced.count != 0u) {
    STEP_WRITE(engine, STEP_ENGINE_TRACE_INDEX, program->entry);
  }
  for (uint32_t i = 0; status == STEP_OK && i < traced.count; i++) {
    struct step_value value;
    status = value_of(image, traced.first + i, &value);
    if (status == STEP_OK) {
      STEP_WRITE(engine, STEP_ENGINE_TRACE_ENTRY, value.location);
    }
  }
  return status;
}

static void store_words(const struct step_engine *engine, const struct step_image *image) {
  size_t at = image->words_at;
  for (uint32_t i = 0; i < image->words; i++) {
    for (uint32_t k = 0; k < image->bus_words; k++) {
      STEP_WRITE(engine, STEP_ENGINE_PROGRAM_WORD + WORD * k, word_at(image, at));
      at += WORD;
    }
    STEP_WRITE(engine, STEP_ENGINE_PROGRAM_STORE, i);
  }
}

enum step_status step_load(struct step_engine *engine, const struct step_image *image) {
  struct group parameters = {0u, image->parameters};
  struct step_program program;
  enum step_status status;
  if (image->bytes == NULL) {
    return STEP_NO_IMAGE;
  }
  if (!is_whole(image)) {
    return STEP_CHANGED;
  }
  if (engine->banks == 0u) {
    return STEP_NO_ENGINE;
  }
  if (STEP_READ(engine, STEP_ENGINE_CONFIG) != image->config ||
      STEP_READ(engine, STEP_ENGINE_LANES) != image->lanes ||
      STEP_READ(engine, STEP_ENGINE_FILE_DEPTH) != image->depth) {
    return STEP_OTHER_MACHINE;
  }
  if (STEP_READ(engine, STEP_ENGINE_PROGRAM_DEPTH) < image->words ||
      STEP_READ(engine, STEP_ENGINE_TRACE_REGISTERS) < image->entries ||
      STEP_READ(engine, STEP_ENGINE_PROGRAMS) < image->programs) {
    return STEP_TOO_LARGE;
  }
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  engine->loaded = 0;
  store_words(engine, image);
  status = write_values(engine, image, parameters, NULL, NULL);
  for (uint32_t i = 0; status == STEP_OK && i < image->programs; i++) {
    status = program_of(image, i, &program);
    if (status == STEP_OK) {
      status = describe(engine, image, i, &program);
    }
    if (status == STEP_OK) {
      status = write_values(engine, image, carried_of(&program), NULL, NULL);
    }
  }
  if (status == STEP_OK) {
    engine->image = *image;
    engine->common = common_of(image);
    engine->loaded = 1;
    engine->set = 0;
  }
  return status;
}

enum step_status step_exchange(struct step_engine *engine, const struct step_image *image) {
  struct group parameters = {0u, image->parameters};
  enum step_status status;
  int whole; /* what it holds */
  if (!engine->loaded) {
    return STEP_UNKNOWN;
  }
  if (image->bytes == NULL) {
    return STEP_NO_IMAGE;
  }
  if (!is_whole(image)) {
    return STEP_CHANGED;
  }
  whole = is_whole(&engine->image);
  if (!same_programs(engine, image, whole)) {
    return STEP_OTHER_PROGRAM;
  }
  status = write_values(engine, image, parameters, NULL,
                        whole && !engine->set ? &engine->image : NULL);
  if (status == STEP_OK) {
    engine->image = *image;
    engine->set = 0;
  }
  return status;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Start the chosen program. */
static void begin(const struct step_engine *engine, uint32_t steps, uint32_t save,
                  uint32_t every) {
  STEP_WRITE(engine, STEP_ENGINE_STEPS, steps);
  STEP_WRITE(engine, STEP_ENGINE_SAVE, save);
  STEP_WRITE(engine, STEP_ENGINE_EVERY, every);
  STEP_WRITE(engine, STEP_ENGINE_CTRL, STEP_ENGINE_CTRL_RUN_MASK);
}

/* Where the chosen program's main segment stands. */
static void place(const struct step_engine *engine, uint32_t first, uint32_t length) {
  STEP_WRITE(engine, STEP_ENGINE_MAIN_START, first);
  STEP_WRITE(engine, STEP_ENGINE_MAIN_LENGTH, length);
}

/* Run the chosen program's prologue: since the last run, state and parameters may have changed. */
static enum step_status open_run(const struct step_engine *engine,
                                 const struct step_program *program) {
  enum step_status status;
  place(engine, program->start + program->main + program->special, program->prologue);
  begin(engine, 1u, 0u, 0u);
  status = step_wait(engine, program->prologue + START_POLLS);
  if (status == STEP_LATE) {
    step_reset(engine);
  }
  place(engine, program->start, program->main);
  return status;
}

static enum step_status start(const struct step_engine *engine, uint32_t number,
                              const struct step_program *program, uint32_t steps, uint32_t save,
                              uint32_t every) {
  enum step_status status = STEP_OK;
  if (step_is_busy(engine)) {
    return STEP_BUSY;
  }
  step_reset(engine);
  STEP_WRITE(engine, STEP_ENGINE_PROGRAM, number);
  if (program->prologue != 0u) {
    status = open_run(engine, program);
  }
  if (status == STEP_OK) {
    begin(engine, steps, save, every);
  }
  return status;
}

enum step_status step_start(const struct step_engine *engine, uint32_t number, uint32_t steps,
                            uint32_t save) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  return status == STEP_OK ? start(engine, number, &program, steps, save, program.every) : status;
}

/* So many words of the trace. */
static void take_words(const struct step_engine *engine, uint32_t *words, size_t count) {
#ifdef STEP_READ_MANY
  STEP_READ_MANY(engine, STEP_ENGINE_TRACE_DATA, words, count);
#else
  for (size_t i = 0; i < count; i++) {
    words[i] = STEP_READ(engine, STEP_ENGINE_TRACE_DATA);
  }
#endif
}

size_t step_take(const struct step_engine *engine, uint32_t *words, size_t room) {
  size_t count = STEP_READ(engine, STEP_ENGINE_TRACE_COUNT);
  room = words != NULL ? room : 0u;
  count = count < room ? count : room;
  take_words(engine, words, count);
  return count;
}

enum step_status step_wait(const struct step_engine *engine, uint32_t polls) {
  for (; polls > 0u; polls--) {
    uint32_t status = STEP_READ(engine, STEP_ENGINE_STATUS);
    if (FIELD(status, STEP_ENGINE_STATUS_ERROR) != 0u) {
      return STEP_REFUSED;
    }
    if (FIELD(status, STEP_ENGINE_STATUS_BUSY) == 0u) {
      return FIELD(status, STEP_ENGINE_STATUS_STOPPED) != 0u ? STEP_STOPPED : STEP_OK;
    }
  }
  return STEP_LATE;
}

/* Wait for the end of a run and take its trace as it comes, without its first words: `room` words,
 * if the run ends well. */
static enum step_status collect(const struct step_engine *engine, size_t skip, uint32_t *words,
                                size_t room, uint32_t polls, size_t *taken) {
  enum step_status status = STEP_LATE;
  for (; status == STEP_LATE && polls > 0u; polls--) {
    uint32_t count;
    status = step_wait(engine, 1u); /* before the trace: after the end all of it is there */
    count = STEP_READ(engine, STEP_ENGINE_TRACE_COUNT);
    for (; count > 0u && skip > 0u; count--, skip--) {
      (void)STEP_READ(engine, STEP_ENGINE_TRACE_DATA);
    }
    if (count > 0u && *taken < room) {
      size_t some = count < room - *taken ? count : room - *taken;
      take_words(engine, words + *taken, some);
      *taken += some;
    }
  }
  return status == STEP_OK && *taken < room ? STEP_LOST : status;
}

enum step_status step_run(const struct step_engine *engine, uint32_t number, uint32_t steps,
                          uint32_t save, uint32_t *trace, size_t room, uint32_t polls,
                          size_t *taken) {
  struct step_program program;
  enum step_status status = loaded(engine, number, &program);
  uint32_t rows = save != 0u ? steps / save + (steps % save != 0u ? 1u : 0u) : 0u;
  uint64_t words;
  if (taken == NULL) {
    return STEP_NULL;
  }
  *taken = 0u;
  if (status != STEP_OK) {
    return status;
  }
  words = rows * ((uint64_t)program.before + program.after);
  if (words > room) {
    return STEP_NO_ROOM;
  }
  if (lacks(trace, words)) {
    return STEP_NULL;
  }
  status = start(engine, number, &program, steps, save, program.every);
  return status == STEP_OK ? collect(engine, 0u, trace, (size_t)words, polls, taken) : status;
}

enum step_status step_call(const struct step_engine *engine, uint32_t number,
                           const uint32_t *inputs, uint32_t *outputs, uint32_t polls) {
  struct step_program program;
  size_t taken = 0u;
  enum step_status status = loaded(engine, number, &program);
  if (status == STEP_OK && lacks(outputs, program.after)) {
    status = STEP_NULL;
  }
  if (status == STEP_OK) {
    status = write_given(engine, inputs_of(&program), inputs);
  }
  if (status == STEP_OK) {
    status = start(engine, number, &program, 1u, 1u, 0u);
  }
  return status == STEP_OK
             ? collect(engine, program.before, outputs, program.after, polls, &taken)
             : status;
}

struct step_report step_report(const struct step_engine *engine) {
  struct step_report report;
  report.steps = STEP_READ(engine, STEP_ENGINE_STEPS_DONE);
  report.cycles = STEP_READ(engine, STEP_ENGINE_CYCLES);
  report.flags = FIELD(STEP_READ(engine, STEP_ENGINE_STATUS), STEP_ENGINE_STATUS_FLAGS);
  return report;
}
