// Time and results of mj_step, called in a loop in C.
//
//   mujoco MODEL.xml STEPS SECONDS SHOWN
//
// Reads SHOWN states from stdin, angles and then rates of each, and prints the accelerations of
// each on a line. Then prints the nanoseconds of a step: of the fastest of many runs of STEPS steps
// from the model's initial state, within SECONDS.

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

static int read_numbers(double* to, int count) {
  for (int k = 0; k < count; ++k)
    if (scanf("%lf", to + k) != 1) return 0;
  return 1;
}

static int show(const mjModel* model, mjData* data) {
  if (!read_numbers(data->qpos, model->nq) || !read_numbers(data->qvel, model->nv)) return 0;
  mj_forward(model, data);
  for (int k = 0; k < model->nv; ++k) printf("%.17g ", data->qacc[k]);
  printf("\n");
  return 1;
}

static double run_ns(const mjModel* model, mjData* data, int steps) {
  mj_resetDataKeyframe(model, data, 0);
  const double start = now_ns();
  for (int k = 0; k < steps; ++k) mj_step(model, data);
  return now_ns() - start;
}

int main(int count, char** arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: mujoco MODEL.xml STEPS SECONDS SHOWN\n");
    return 1;
  }
  char error[1000] = "";
  mjModel* model = mj_loadXML(arguments[1], NULL, error, sizeof error);
  if (!model) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  mjData* data = mj_makeData(model);
  const int steps = atoi(arguments[2]);
  const double budget = 1e9 * atof(arguments[3]);
  for (int k = 0; k < atoi(arguments[4]); ++k) {
    if (!show(model, data)) {
      fprintf(stderr, "the input ends too early\n");
      return 1;
    }
  }
  double best = INFINITY;
  for (double spent = 0; spent < budget;) {
    const double ns = run_ns(model, data, steps);
    best = fmin(best, ns);
    spent += ns;
  }
  printf("%.17g\n", best / steps);
  mj_deleteData(data);
  mj_deleteModel(model);
  return 0;
}
