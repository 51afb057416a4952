/* Runs on the processor of a LiteX SoC with a step engine on its bus (make litex-sim): loads the
 * image that image.c holds with the driver as it ships, runs its first program, and sends the words
 * of the trace over the UART as they come, one a line; the run's end comes as an interrupt. Then a
 * line with steps, cycles, float flags and interrupts, or `status` and what failed. */
#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>

#include "step_engine.h"
#include "step_engine_regs.h"

#define POLLS 16u /* behind the end */

extern const unsigned char image_bytes[];
extern const unsigned int image_size;

static volatile uint32_t *const base = (volatile uint32_t *)STEP_ENGINE_BASE;
static volatile uint32_t interrupts;

void isr(void);
int main(void);

void isr(void) {
  interrupts++;
  base[STEP_ENGINE_IRQ_ENABLE / 4u] = 0u; /* the level falls; STATUS keeps DONE */
}

static void put(char letter) {
  while (uart_txfull_read() != 0u) {
  }
  uart_rxtx_write((uint32_t)(unsigned char)letter);
}

static void put_text(const char *text) {
  while (*text != '\0') {
    put(*text++);
  }
}

static void put_word(uint32_t word, char end) {
  for (int at = 28; at >= 0; at -= 4) {
    put("0123456789abcdef"[word >> at & 15u]);
  }
  put(end);
}

/* Send what the trace holds. */
static void send_trace(const struct step_engine *engine) {
  uint32_t words[16];
  size_t count;
  do {
    count = step_take(engine, words, sizeof words / sizeof *words);
    for (size_t i = 0; i < count; i++) {
      put_word(words[i], '\n');
    }
  } while (count != 0u);
}

static enum step_status run(struct step_engine *engine) {
  static struct step_image image;
  struct step_program program;
  enum step_status status = step_parse(&image, image_bytes, image_size);
  if (status == STEP_OK) {
    status = step_open(engine, base);
  }
  if (status == STEP_OK) {
    status = step_load(engine, &image);
  }
  if (status == STEP_OK) {
    status = step_program(&image, 0u, &program);
  }
  if (status == STEP_OK) {
    status = step_start(engine, 0u, program.steps, program.save);
  }
  if (status == STEP_OK) {
    base[STEP_ENGINE_IRQ_ENABLE / 4u] = STEP_ENGINE_IRQ_ENABLE_DONE_MASK | STEP_ENGINE_IRQ_ENABLE_ERROR_MASK;
    while (interrupts == 0u) {
      send_trace(engine);
    }
    status = step_wait(engine, POLLS);
    send_trace(engine);
  }
  return status;
}

int main(void) {
  static struct step_engine engine;
  enum step_status status;
  step_engine_ev_enable_write(1u);
  irq_setmask(1u << STEP_ENGINE_INTERRUPT);
  irq_setie(1u);
  status = run(&engine);
  if (status == STEP_OK) {
    struct step_report report = step_report(&engine);
    put_text("done ");
    put_word(report.steps, ' ');
    put_word(report.cycles, ' ');
    put_word(report.flags, ' ');
    put_word(interrupts, '\n');
  } else {
    put_text("status ");
    put_word((uint32_t)status, '\n');
  }
  while (uart_txempty_read() == 0u) {
  }
  sim_finish_finish_write(1u);
  return 0;
}
