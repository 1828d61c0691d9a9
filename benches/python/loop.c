/* Calls of the C library, timed in C: what benches/python/overhead.py sets beside calls from Python. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <denise.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that `calls` calls of `count` matrices take, each with L, S and reports; negative if one fails. */
double calls_f32(const denise_model *model, size_t calls, size_t count, const float *m, float *l, float *s,
                 denise_report *reports) {
  const double start = now();
  for (size_t i = 0; i < calls; i++)
    if (denise_decompose_batch(model, count, m, NULL, l, s, reports) != DENISE_OK) return -1;
  return now() - start;
}

double calls_f64(const denise_model *model, size_t calls, size_t count, const double *m, double *l, double *s,
                 denise_report *reports) {
  const double start = now();
  for (size_t i = 0; i < calls; i++)
    if (denise_decompose_batch_f64(model, count, m, NULL, l, s, reports) != DENISE_OK) return -1;
  return now() - start;
}

/* The same where every call gets its results in memory that is new, as results in Python are. */
double fresh_f32(const denise_model *model, size_t calls, size_t count, const float *m, size_t values) {
  const double start = now();
  for (size_t i = 0; i < calls; i++) {
    float *l = malloc(values * sizeof *l), *s = malloc(values * sizeof *s);
    denise_report *reports = malloc(count * sizeof *reports);
    const int failed =
        !l || !s || !reports || denise_decompose_batch(model, count, m, NULL, l, s, reports) != DENISE_OK;
    free(l);
    free(s);
    free(reports);
    if (failed) return -1;
  }
  return now() - start;
}

double fresh_f64(const denise_model *model, size_t calls, size_t count, const double *m, size_t values) {
  const double start = now();
  for (size_t i = 0; i < calls; i++) {
    double *l = malloc(values * sizeof *l), *s = malloc(values * sizeof *s);
    denise_report *reports = malloc(count * sizeof *reports);
    const int failed =
        !l || !s || !reports || denise_decompose_batch_f64(model, count, m, NULL, l, s, reports) != DENISE_OK;
    free(l);
    free(s);
    free(reports);
    if (failed) return -1;
  }
  return now() - start;
}
