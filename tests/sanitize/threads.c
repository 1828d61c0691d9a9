/* Everything that threads may do at once, for ThreadSanitizer: calls in both precisions on one handle that has threads
 * of its own, aligned and not; handles that come and go; streams; classical methods. Results are compared with those of
 * one thread. */
#include <denise.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, K = 2, COUNT = 150, SIZE = N * N, CALLERS = 4, ROUNDS = 12 };

static double m64[COUNT * SIZE], l64[COUNT * SIZE], s64[COUNT * SIZE];
static float m32[COUNT * SIZE], l32[COUNT * SIZE], s32[COUNT * SIZE];
static denise_model *shared;

#define MUST(condition)                                               \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "threads: line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static denise_model *load(uint32_t concurrency, uint32_t threads) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = N;
  options.k = K;
  options.max_concurrency = concurrency;
  options.threads = threads;
  denise_model *model = NULL;
  MUST(denise_load(NULL, &options, &model) == DENISE_OK);
  return model;
}

/* One call in single precision; `shift` bytes off alignment. */
static void single(const denise_model *model, size_t shift) {
  char *memory = malloc(sizeof l32 + sizeof s32 + 16);
  MUST(memory != NULL);
  float *l = (float *)(void *)(memory + shift), *s = l + COUNT * SIZE;
  MUST(denise_decompose_batch(model, COUNT, m32, NULL, l, s, NULL) == DENISE_OK);
  MUST(memcmp(l, l32, sizeof l32) == 0 && memcmp(s, s32, sizeof s32) == 0);
  free(memory);
}

static void twice(const denise_model *model) {
  double *l = malloc(sizeof l64), *s = malloc(sizeof s64);
  MUST(l != NULL && s != NULL);
  MUST(denise_decompose_batch_f64(model, COUNT, m64, NULL, l, s, NULL) == DENISE_OK);
  MUST(memcmp(l, l64, sizeof l64) == 0 && memcmp(s, s64, sizeof s64) == 0);
  free(l);
  free(s);
}

/* Ticks of a stream of its own, from the model that all share. */
static void follow(void) {
  denise_stream_options options;
  denise_stream_options_init(&options, sizeof options);
  options.streams = COUNT;
  denise_stream *stream = NULL;
  MUST(denise_stream_new(shared, &options, &stream) == DENISE_OK);
  float *l = malloc(sizeof l32), *s = malloc(sizeof s32);
  MUST(l != NULL && s != NULL);
  /* At its first split a stream starts from scratch: up to a rotation of U that is what a batch gives. */
  MUST(denise_stream_push_matrices(stream, m32, NULL, l, s, NULL) == DENISE_OK);
  for (size_t at = 0; at < COUNT * SIZE; at++) {
    MUST(l[at] - l32[at] < 1e-4F && l32[at] - l[at] < 1e-4F);
  }
  MUST(denise_stream_push_matrices(stream, m32, NULL, l, s, NULL) == DENISE_OK);
  free(l);
  free(s);
  denise_stream_free(stream);
}

static void *caller(void *argument) {
  const size_t number = *(const size_t *)argument;
  double *l = malloc(4 * SIZE * sizeof *l);
  MUST(l != NULL);
  for (size_t round = 0; round < ROUNDS; round++) {
    switch ((number + round) % 5) {
      case 0: single(shared, 0); break;
      case 1: twice(shared); break;
      case 2: single(shared, round % 5 == 0 ? 1 : 0); break;
      case 3: follow(); break;
      default: {
        denise_model *own = load(1, 2);
        single(own, 0);
        denise_free(own);
        MUST(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 4, m64, l, NULL) == DENISE_OK);
      }
    }
  }
  free(l);
  return NULL;
}

int main(void) {
  for (size_t q = 0; q < COUNT; q++) {
    for (size_t i = 0; i < N; i++) {
      for (size_t j = 0; j < N; j++) {
        double x = i == j ? 2.0 + (double)q / COUNT : 0.5 / (double)(1 + (i * j + q) % 7);
        m64[q * SIZE + i * N + j] = x;
        m32[q * SIZE + i * N + j] = (float)x;
      }
    }
  }
  denise_model *alone = load(1, 1);
  MUST(denise_decompose_batch(alone, COUNT, m32, NULL, l32, s32, NULL) == DENISE_OK);
  MUST(denise_decompose_batch_f64(alone, COUNT, m64, NULL, l64, s64, NULL) == DENISE_OK);
  denise_free(alone);
  /* Fewer workspaces than callers, so that some wait; then enough; then with threads of the library's own. */
  const uint32_t ways[3][2] = {{1, 1}, {CALLERS, 1}, {2, 3}};
  for (size_t way = 0; way < 3; way++) {
    shared = load(ways[way][0], ways[way][1]);
    pthread_t ids[CALLERS];
    size_t numbers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
      numbers[i] = i;
      MUST(pthread_create(&ids[i], NULL, caller, &numbers[i]) == 0);
    }
    for (size_t i = 0; i < CALLERS; i++) MUST(pthread_join(ids[i], NULL) == 0);
    denise_free(shared);
  }
  puts("threads: passed");
  return 0;
}
