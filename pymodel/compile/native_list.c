/* A kernel as a list of operations, which is read: nothing of it is compiled. For what is called too
 * seldom to be worth a compiler's time. Same arithmetic, same order, same bits as compiled pieces. */
#include "native_call.h"

/* An operation's numbers are slots of the workspace: to = a op b. Of SINCOS b is where the cosine
 * goes; of those that store, to is a place of the output. OPERATIONS of
 * pymodel/compile/operation_list.py has their names in this order. */
enum { SUM, DIFFERENCE, NEGATIVE_SUM, PRODUCT, RECIPROCAL, SINE_COSINE, NEGATIVE_SINE_COSINE, STORE,
       NEGATIVE_STORE, PASS };
typedef struct { int32_t what, to, a, b; } operation;

static void operate(const operation *restrict list, size_t length, number *restrict out, real *w) {
  for (const operation *p = list, *end = list + length; p < end; p++) {
    switch (p->what) {
    case SUM: w[p->to] = ADD(w[p->a], w[p->b]); break;
    case DIFFERENCE: w[p->to] = ADD(w[p->a], -w[p->b]); break;
    case NEGATIVE_SUM: w[p->to] = ADD(-w[p->a], -w[p->b]); break;
    case PRODUCT: w[p->to] = MUL(w[p->a], w[p->b]); break;
    case RECIPROCAL: w[p->to] = REC(w[p->a]); break;
    case SINE_COSINE: SINCOS(w[p->a], w[p->to], w[p->b]); break;
    case NEGATIVE_SINE_COSINE: SINCOS(-w[p->a], w[p->to], w[p->b]); break;
    case STORE: OUT(p->to) = RESULT(w[p->a]); break;
    case NEGATIVE_STORE: OUT(p->to) = RESULT(-w[p->a]); break;
    case PASS: OUT(p->to) = w[p->a]; break;
    }
  }
}

/* Slots 0, 1, ... hold the inputs, then what is fixed, then what is computed. */
unsigned evaluate_list(const number *in, number *out, const number *k, size_t blocks,
                       const int32_t *list, size_t length, size_t inputs, size_t fixed,
                       size_t results, size_t slots) {
  real *room = aligned((RESERVED + slots) * sizeof(real));
  if (!room) {
    return NO_MEMORY;
  }
  memset(room, 0, RESERVED * sizeof(real));
  real *w = room + RESERVED;
  environment before;
  enter(&before);
  for (size_t i = 0; i < fixed; i++) {
    w[inputs + i] = SPREAD(K(i));
  }
  for (size_t b = 0; b < blocks; b++, in += inputs * LANES, out += results * LANES) {
    for (size_t i = 0; i < inputs; i++) {
      w[i] = IN(i);
    }
    operate((const operation *)list, length, out, w);
  }
  unsigned flags = leave(&before, w);
  free(room);
  return flags;
}
