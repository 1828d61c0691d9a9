/* hammer [SECONDS]: threads that load, decompose, share and free models together, all results compared to the bit.
 *
 * Each thread has models of its own, of every kind, and all use one more that they share. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, COUNT = 150, KINDS = 7 };

struct kind {
  const char *path; /* NULL: built in */
  uint32_t n, k, threads, flags;
  int wide; /* double precision */
};

static const struct kind ALL[KINDS] = {
    {NULL, 20, 3, 1, 0, 0},     {NULL, 20, 3, 2, 0, 1},  {NULL, 33, 5, 3, DENISE_FLAG_PORTABLE, 0},
    {MODEL, 20, 3, 2, 0, 0},    {DENSE, 0, 0, 1, 0, 0},  {DENSE, 0, 0, 2, DENISE_FLAG_F16, 1},
    {NULL, 100, 10, 1, 0, 0},
};

/* Matrices and expected results, in the precision of the kind. */
static void *matrices[KINDS], *expected_l[KINDS], *expected_u[KINDS];
static uint32_t sizes[KINDS], ranks[KINDS];
static denise_model *shared[KINDS];
static double end;
static atomic_ulong loads, calls;

static size_t value(const struct kind *kind) { return kind->wide ? sizeof(double) : sizeof(float); }

static denise_model *load(const struct kind *kind) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = kind->n;
  options.k = kind->k;
  options.threads = kind->threads;
  options.flags = kind->flags;
  options.max_concurrency = 2;
  denise_model *model;
  CHECK(denise_load(kind->path, &options, &model) == DENISE_OK);
  loads++;
  return model;
}

static void run(size_t k, const denise_model *model, size_t first, size_t count, void *u, void *l) {
  const struct kind *kind = &ALL[k];
  size_t size = (size_t)sizes[k] * sizes[k];
  const char *m = (const char *)matrices[k] + first * size * value(kind);
  denise_status status = kind->wide ? denise_decompose_batch_f64(model, count, (const double *)(const void *)m, u, l, NULL, NULL)
                                    : denise_decompose_batch(model, count, (const float *)(const void *)m, u, l, NULL, NULL);
  CHECK(status == DENISE_OK);
  calls++;
}

static void compare(size_t k, const denise_model *model, uint64_t *state, void *u, void *l) {
  size_t first = (size_t)(random_bits(state) % COUNT);
  size_t count = 1 + (size_t)(random_bits(state) % (COUNT - first));
  size_t size = (size_t)sizes[k] * sizes[k] * value(&ALL[k]), factor = (size_t)sizes[k] * ranks[k] * value(&ALL[k]);
  run(k, model, first, count, u, l);
  CHECK(memcmp(l, (const char *)expected_l[k] + first * size, count * size) == 0);
  CHECK(memcmp(u, (const char *)expected_u[k] + first * factor, count * factor) == 0);
}

static void *hammer(void *argument) {
  uint64_t state = (uint64_t)(size_t)argument;
  size_t most = (size_t)COUNT * 100 * 100 * sizeof(double);
  void *u = malloc(most), *l = malloc(most);
  if (u == NULL || l == NULL) abort();
  while (seconds_now() < end) {
    size_t k = (size_t)(random_bits(&state) % KINDS);
    denise_model *own = load(&ALL[k]);
    if (own == NULL) break;
    for (int call = 0; call < 4; call++) {
      compare(k, own, &state, u, l);
      size_t other = (size_t)(random_bits(&state) % KINDS);
      compare(other, shared[other], &state, u, l);
    }
    denise_free(own);
  }
  free(u);
  free(l);
  return NULL;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 5.0;
  for (size_t k = 0; k < KINDS; k++) {
    shared[k] = load(&ALL[k]);
    if (shared[k] == NULL) return 1;
    sizes[k] = denise_n(shared[k]);
    ranks[k] = denise_k(shared[k]);
    size_t n = sizes[k], size = n * n;
    double *wide = malloc(COUNT * size * sizeof *wide);
    float *narrow = malloc(COUNT * size * sizeof *narrow);
    expected_l[k] = malloc(COUNT * size * sizeof *wide);
    expected_u[k] = malloc(COUNT * size * sizeof *wide);
    if (wide == NULL || narrow == NULL || expected_l[k] == NULL || expected_u[k] == NULL) abort();
    for (size_t q = 0; q < COUNT; q++) make_matrix(wide + q * size, n, q + 1);
    for (size_t i = 0; i < COUNT * size; i++) narrow[i] = (float)wide[i];
    matrices[k] = ALL[k].wide ? (void *)wide : (void *)narrow;
    free(ALL[k].wide ? (void *)narrow : (void *)wide);
    /* What is expected comes from one thread, one matrix at a time, before anything else runs. */
    struct kind alone = ALL[k];
    alone.threads = 1;
    denise_model *model = load(&alone);
    for (size_t q = 0; q < COUNT; q++) {
      run(k, model, q, 1, (char *)expected_u[k] + q * n * ranks[k] * value(&alone),
          (char *)expected_l[k] + q * size * value(&alone));
    }
    denise_free(model);
  }
  end = seconds_now() + seconds;
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)) != 0) abort();
  }
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (size_t k = 0; k < KINDS; k++) {
    denise_free(shared[k]);
    free(matrices[k]);
    free(expected_l[k]);
    free(expected_u[k]);
  }
  printf("  %d threads, %.0f s: %lu loads, %lu calls\n", (int)THREADS, seconds, (unsigned long)loads, (unsigned long)calls);
  return verdict("hammer");
}
