/* denise_decompose_batch never allocates: not on the first call, not on a fresh thread, not when it
 * fails. Nor does a stream, once it is made. Run with count_malloc.c preloaded, which counts for the
 * whole process, helper threads included. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <denise.h>

#include "matrices.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <pthread.h>
#endif

/* From the preloaded library; NULL without it. */
extern unsigned long count_malloc_calls(void) __attribute__((weak));

enum { N = 20, K = 3, COUNT = 300, ENTRIES = N * N };

static unsigned long passed, failed;

static void verdict(const char *what, unsigned long calls, denise_status status, denise_status expected) {
  if (calls == 0 && status == expected) {
    passed++;
  } else {
    failed++;
    fprintf(stderr, "no_alloc: %s: %lu allocations, status %d (expected %d)\n", what, calls, status, expected);
  }
}

/* Room for both precisions, and for a shift of a few bytes. Static: the test itself need not allocate. */
static double m64[COUNT * ENTRIES + 1], u64[COUNT * N * K + 1], l64[COUNT * ENTRIES + 1], s64[COUNT * ENTRIES + 1];
static float m32[COUNT * ENTRIES + 1], u32[COUNT * N * K + 1], l32[COUNT * ENTRIES + 1], s32[COUNT * ENTRIES + 1];
static denise_report reports[COUNT + 1];

/* One call in single precision, with every buffer shifted by some bytes. */
static void single(const char *what, const denise_model *model, size_t count, size_t shift, denise_status expected) {
  float *m = (float *)(void *)((char *)m32 + shift), *u = (float *)(void *)((char *)u32 + shift);
  float *l = (float *)(void *)((char *)l32 + shift), *s = (float *)(void *)((char *)s32 + shift);
  denise_report *r = (denise_report *)(void *)((char *)reports + shift);
  unsigned long before = count_malloc_calls();
  denise_status status = denise_decompose_batch(model, count, m, u, l, s, r);
  unsigned long after = count_malloc_calls();
  verdict(what, after - before, status, expected);
}

static void twice(const char *what, const denise_model *model, size_t count, size_t shift, denise_status expected) {
  double *m = (double *)(void *)((char *)m64 + shift), *u = (double *)(void *)((char *)u64 + shift);
  double *l = (double *)(void *)((char *)l64 + shift), *s = (double *)(void *)((char *)s64 + shift);
  denise_report *r = (denise_report *)(void *)((char *)reports + shift);
  unsigned long before = count_malloc_calls();
  denise_status status = denise_decompose_batch_f64(model, count, m, u, l, s, r);
  unsigned long after = count_malloc_calls();
  verdict(what, after - before, status, expected);
}

/* m32 and m64 hold the matrices, shifted by some bytes. */
static void fill(size_t shift) {
  double m[ENTRIES];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(m, N, q);
    memcpy((char *)m64 + shift + q * sizeof m, m, sizeof m);
    for (size_t i = 0; i < ENTRIES; i++) {
      float value = (float)m[i];
      memcpy((char *)m32 + shift + (q * ENTRIES + i) * sizeof value, &value, sizeof value);
    }
  }
}

static void errors(const denise_model *model, uint32_t flags) {
  unsigned long before = count_malloc_calls();
  denise_status status = denise_decompose_batch(NULL, 1, m32, u32, l32, s32, reports);
  verdict("model NULL", count_malloc_calls() - before, status, DENISE_ERR_NULL_POINTER);

  before = count_malloc_calls();
  status = denise_decompose_batch(model, 1, NULL, u32, l32, s32, reports);
  verdict("m NULL", count_malloc_calls() - before, status, DENISE_ERR_NULL_POINTER);

  before = count_malloc_calls();
  status = denise_decompose_batch(model, 1, m32, NULL, NULL, NULL, NULL);
  verdict("no outputs", count_malloc_calls() - before, status, DENISE_OK);

  before = count_malloc_calls();
  status = denise_decompose_batch(model, SIZE_MAX / 3, m32, u32, l32, s32, reports);
  verdict("overflow", count_malloc_calls() - before, status, DENISE_ERR_SHAPE);

  before = count_malloc_calls();
  status = denise_decompose_batch(model, 1, (float *)(UINTPTR_MAX - 15), u32, l32, s32, reports);
  verdict("past the address space", count_malloc_calls() - before, status, DENISE_ERR_SHAPE);

  before = count_malloc_calls();
  status = denise_decompose_batch(model, 2, m32, u32, m32, s32, reports);
  verdict("overlap", count_malloc_calls() - before, status, DENISE_ERR_ARGUMENT);

  before = count_malloc_calls();
  status = denise_decompose_batch_f64(model, 2, m64, u64, m64 + ENTRIES, s64, reports);
  verdict("overlap f64", count_malloc_calls() - before, status, DENISE_ERR_ARGUMENT);

  float kept = m32[5 * ENTRIES];
  double wide = m64[5 * ENTRIES];
  m32[5 * ENTRIES] = NAN;
  m64[5 * ENTRIES] = (double)NAN;
  const denise_status nan = (flags & DENISE_FLAG_MISSING) != 0 ? DENISE_OK : DENISE_ERR_NOT_FINITE;
  single("NaN", model, COUNT, 0, nan);
  single("NaN, few", model, 7, 0, nan);
  single("NaN, one", model, 6, 0, nan);
  twice("NaN f64", model, COUNT, 0, nan);
  m32[5 * ENTRIES] = INFINITY;
  single("infinity", model, COUNT, 0, DENISE_ERR_NOT_FINITE);
  m32[5 * ENTRIES] = kept;
  m64[5 * ENTRIES] = wide;
}

/* ------------------------------------------------------------------------------------------- streams */

enum { STREAMS = 11, STATE = 1 << 20 };
static unsigned char state[STATE];

/* One call, with what it allocates. */
#define QUIET(what, expected, call)                                      \
  do {                                                                   \
    unsigned long before_ = count_malloc_calls();                        \
    denise_status status_ = (call);                                      \
    verdict(what, count_malloc_calls() - before_, status_, (expected));  \
  } while (0)

static void stream_calls(denise_stream *stream, size_t streams) {
  uint64_t random = 1;
  for (int tick = 0; tick < 45; tick++) { /* past the warm-up, the end of the window, and starts from scratch */
    for (size_t i = 0; i < streams * N; i++) {
      m64[i] = 0.01 * random_normal(&random);
      m32[i] = (float)m64[i];
    }
    if (tick == 30) m64[3] = (double)NAN, m32[3] = NAN; /* the first that is not known */
    if (tick % 2 == 0) {
      QUIET("stream push", DENISE_OK, denise_stream_push(stream, m32, u32, l32, s32, reports));
    } else {
      QUIET("stream push f64", DENISE_OK, denise_stream_push_f64(stream, m64, u64, l64, s64, reports));
    }
  }
  m32[0] = INFINITY;
  QUIET("stream infinity", DENISE_ERR_NOT_FINITE, denise_stream_push(stream, m32, u32, l32, s32, reports));
  QUIET("stream NULL", DENISE_ERR_NULL_POINTER, denise_stream_push(stream, NULL, u32, l32, s32, reports));
  QUIET("stream overlap", DENISE_ERR_ARGUMENT, denise_stream_push(stream, m32, u32, l32, l32, reports));
  QUIET("stream covariance", DENISE_OK, denise_stream_covariance_f64(stream, m64));
  QUIET("stream sigma f64", DENISE_OK, denise_stream_sigma_f64(stream, u64, 0, NULL, l64, s64, NULL));
  for (size_t i = 0; i < streams * ENTRIES; i++) m32[i] = (float)m64[i];
  QUIET("stream matrices", DENISE_OK, denise_stream_push_matrices(stream, m32, u32, l32, s32, reports));
  QUIET("stream matrices f64", DENISE_OK, denise_stream_push_matrices_f64(stream, m64, u64, l64, s64, reports));
  unsigned long before = count_malloc_calls();
  const size_t size = denise_stream_state_size(stream), one = denise_stream_state_size_one(stream);
  verdict("state size", count_malloc_calls() - before, size <= STATE && one <= size, 1);
  QUIET("save", DENISE_OK, denise_stream_save(stream, state, size));
  QUIET("save, no room", DENISE_ERR_SHAPE, denise_stream_save(stream, state, 7));
  QUIET("restore", DENISE_OK, denise_stream_restore(stream, state, size));
  QUIET("restore, cut off", DENISE_ERR_FORMAT, denise_stream_restore(stream, state, size - 1));
  QUIET("save one", DENISE_OK, denise_stream_save_one(stream, streams - 1, state, one));
  QUIET("restore one", DENISE_OK, denise_stream_restore_one(stream, streams - 1, state, one));
  state[one / 2] ^= 1;
  QUIET("restore one, damaged", DENISE_ERR_FORMAT, denise_stream_restore_one(stream, 0, state, one));
  QUIET("reset one", DENISE_OK, denise_stream_reset_one(stream, 0));
  QUIET("reset one, none", DENISE_ERR_ARGUMENT, denise_stream_reset_one(stream, streams));
  QUIET("reset", DENISE_OK, denise_stream_reset(stream));
}

static void streams(const denise_model *model) {
  denise_stream_options options;
  denise_stream_options_init(&options, sizeof options);
  for (int kind = 0; kind < 6; kind++) {
    options.streams = kind % 2 == 0 ? STREAMS : 1;
    options.window = kind / 2 == 1 ? 30 : 0;
    options.flags = kind / 2 == 2 ? DENISE_STREAM_DEMEAN | DENISE_FLAG_CORRELATION : 0;
    denise_stream *stream;
    if (denise_stream_new(model, &options, &stream) != DENISE_OK) abort();
    stream_calls(stream, options.streams);
    denise_stream_free(stream);
  }
}

/* --------------------------------------------------------------------------------------- covariances */

static double log_dets[COUNT];

static void covariances(const denise_model *model) {
  fill(0);
  QUIET("covariance", DENISE_OK, denise_covariance_batch(model, COUNT, m32, 0, u32, NULL, l32, s32, log_dets, reports));
  QUIET("covariance f64", DENISE_OK,
        denise_covariance_batch_f64(model, COUNT, m64, 0, u64, NULL, l64, s64, log_dets, reports));
  QUIET("from u", DENISE_OK,
        denise_covariance_from_u_batch(N, K, COUNT, m32, u32, 0.1, l32, NULL, s32, log_dets));
  QUIET("from u f64", DENISE_OK,
        denise_covariance_from_u_batch_f64(N, K, COUNT, m64, u64, 0.1, l64, NULL, s64, log_dets));
  QUIET("multiply", DENISE_OK, denise_covariance_multiply_batch(N, K, COUNT, u32, l32, 5, m32, s32));
  QUIET("multiply f64", DENISE_OK, denise_covariance_multiply_batch_f64(N, K, COUNT, u64, l64, 5, m64, s64));
  QUIET("solve", DENISE_OK, denise_covariance_solve_batch(N, K, COUNT, u32, l32, 5, s32, s32));
  QUIET("solve f64", DENISE_OK, denise_covariance_solve_batch_f64(N, K, COUNT, u64, l64, 5, s64, s64));
  QUIET("solve NULL", DENISE_ERR_NULL_POINTER, denise_covariance_solve_batch(N, K, 1, NULL, l32, 5, s32, s32));
  QUIET("solve overlap", DENISE_ERR_ARGUMENT, denise_covariance_solve_batch(N, K, 1, u32, l32, 5, l32, s32));
  QUIET("floor", DENISE_ERR_ARGUMENT, denise_covariance_batch(model, 1, m32, 2, u32, NULL, NULL, NULL, NULL, NULL));
  memset(m32, 0, ENTRIES * sizeof *m32);
  QUIET("singular", DENISE_ERR_SINGULAR,
        denise_covariance_batch(model, COUNT, m32, 0, u32, NULL, l32, s32, log_dets, reports));
  m64[0] = (double)INFINITY;
  QUIET("not finite", DENISE_ERR_NOT_FINITE,
        denise_covariance_batch_f64(model, COUNT, m64, 0, u64, NULL, l64, s64, log_dets, reports));
  fill(0);
}

/* ------------------------------------------------------------------------------------- fresh threads */

static uint32_t fresh_flags; /* of the model that fresh threads use */

static void on_this_thread(const denise_model *model) {
  single("fresh thread", model, COUNT, 0, DENISE_OK);
  twice("fresh thread f64", model, COUNT, 0, DENISE_OK);
  single("fresh thread, one", model, 1, 0, DENISE_OK);
  errors(model, fresh_flags);
}

#ifdef _WIN32
/* By the system's own calls: what winpthreads does in the main thread meanwhile may allocate. */
static HANDLE created;

static DWORD WINAPI fresh_thread(void *argument) {
  WaitForSingleObject(created, INFINITE);
  on_this_thread(argument);
  return 0;
}

static void on_fresh_threads(denise_model *model) {
  for (int i = 0; i < 4; i++) {
    created = CreateEventA(NULL, TRUE, FALSE, NULL);
    HANDLE thread = CreateThread(NULL, 0, fresh_thread, model, 0, NULL);
    if (created == NULL || thread == NULL) abort();
    SetEvent(created);
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    CloseHandle(created);
  }
}
#else
static pthread_barrier_t created;

/* Waits until pthread_create, which allocates, has returned in the main thread. */
static void *fresh_thread(void *argument) {
  pthread_barrier_wait(&created);
  on_this_thread(argument);
  return NULL;
}

static void on_fresh_threads(denise_model *model) {
  pthread_barrier_init(&created, NULL, 2);
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, fresh_thread, model) != 0) abort();
    pthread_barrier_wait(&created);
    pthread_join(thread, NULL);
  }
  pthread_barrier_destroy(&created);
}
#endif

/* A handle nobody has used, for one kind of call. */
static denise_model *load(uint32_t threads, uint32_t flags) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.threads = threads;
  options.flags = flags;
  denise_model *model;
  if (denise_load(NULL, &options, &model) != DENISE_OK) return NULL;
  return model;
}

int main(void) {
  if (count_malloc_calls == NULL) {
    fprintf(stderr, "no_alloc: count_malloc is not preloaded\n");
    return 1;
  }
  /* The counter works: through a volatile pointer, so that the compiler cannot leave the pair out. */
  unsigned long before = count_malloc_calls();
  void *volatile block = malloc(100);
  free(block);
  if (count_malloc_calls() - before != 2) {
    fprintf(stderr, "no_alloc: the counter does not count\n");
    return 1;
  }
  const uint32_t flags[] = {0, DENISE_FLAG_PORTABLE, DENISE_FLAG_AVX2, DENISE_FLAG_AVX512, DENISE_FLAG_CORRELATION,
                            DENISE_FLAG_CAREFUL, DENISE_FLAG_MISSING,
                            DENISE_FLAG_MISSING | DENISE_FLAG_CAREFUL | DENISE_FLAG_CORRELATION};
  for (size_t set = 0; set < sizeof flags / sizeof *flags; set++) {
    fresh_flags = flags[set];
    for (uint32_t threads = 1; threads <= 3; threads++) {
      fill(0);
      denise_model *model = load(threads, flags[set]);
      if (model == NULL) continue; /* an instruction set that this machine does not have */
      before = count_malloc_calls();
      if (denise_n(model) != N || denise_k(model) != K || denise_kernel(model)[0] == '\0') abort();
      verdict("accessors", count_malloc_calls() - before, DENISE_OK, DENISE_OK);
      single("first call", model, COUNT, 0, DENISE_OK);
      single("second call", model, COUNT, 0, DENISE_OK);
      single("one matrix", model, 1, 0, DENISE_OK);
      single("nothing", model, 0, 0, DENISE_OK);
      errors(model, flags[set]);
      if ((flags[set] & DENISE_FLAG_CAREFUL) == 0) streams(model);
      covariances(model);
      denise_free(model);

      model = load(threads, flags[set]);
      twice("first call f64", model, COUNT, 0, DENISE_OK);
      twice("one matrix f64", model, 1, 0, DENISE_OK);
      denise_free(model);

      model = load(threads, flags[set]);
      on_fresh_threads(model);
      denise_free(model);

      model = load(threads, flags[set]);
      for (size_t shift = 1; shift < 4; shift++) {
        fill(shift);
        single("unaligned", model, COUNT, shift, DENISE_OK);
        twice("unaligned f64", model, COUNT, shift, DENISE_OK);
      }
      denise_free(model);
    }
  }
  printf("no_alloc: %lu passed, %lu failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
