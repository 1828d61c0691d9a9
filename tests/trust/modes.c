/* modes: floating-point modes of the host change neither results nor safety, and are the same after a call.
 *
 * - Rounding upwards, downwards, to zero, flushing small numbers, trapping exceptions: the bits of L and S are those of
 *   the default modes, with one thread and with three, whatever the modes were when the model was loaded.
 * - A NaN with traps enabled is a status, no SIGFPE.
 * - Modes and exception flags are the host's after every call. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { N = 20, K = 3, SIZE = N * N, COUNT = 1000, SOLVED = 2 };

static float m32[COUNT * SIZE], l32[COUNT * SIZE], s32[COUNT * SIZE], expected_l32[COUNT * SIZE], expected_s32[COUNT * SIZE];
static double m64[COUNT * SIZE], l64[COUNT * SIZE], expected_l64[COUNT * SIZE];
static double solved[DENISE_METHOD_MASKED_PCP][SOLVED * SIZE];
static denise_report reports[COUNT], expected_reports[COUNT];

/* ------------------------------------------------------------------------------------------------ modes */

static void small_numbers_to_zero(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  unsigned long control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1UL << 24));
#endif
}
static void upwards(void) { fesetround(FE_UPWARD); }
static void downwards(void) { fesetround(FE_DOWNWARD); }
static void to_zero(void) { fesetround(FE_TOWARDZERO); }
#ifdef _WIN32
static void traps(void) { /* the masks of invalid, divided by zero, overflow and underflow */
  _mm_setcsr(_mm_getcsr() & ~0x0E80U);
}
#else
static void traps(void) { feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW); }
#endif
static void everything(void) {
  upwards();
  small_numbers_to_zero();
  traps();
}
static void nothing(void) {}
static void flags(void) { feraiseexcept(FE_INEXACT | FE_UNDERFLOW); }

static const struct mode {
  const char *name;
  void (*set)(void);
} modes[] = {{"default", nothing}, {"up", upwards},          {"down", downwards}, {"zero", to_zero},
             {"flush", small_numbers_to_zero}, {"traps", traps}, {"all", everything}, {"flags", flags}};
enum { MODES = sizeof modes / sizeof modes[0] };

/* All that a host can see of its modes and flags. */
static unsigned long seen(void) {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  unsigned long control, status;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("mrs %0, fpsr" : "=r"(status));
  return control << 32 | status;
#else
  return (unsigned long)fegetround();
#endif
}

/* ------------------------------------------------------------------------------------------------ calls */

static denise_model *load(uint32_t threads) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = N;
  options.k = K;
  options.threads = threads;
  denise_model *model = NULL;
  CHECK(denise_load(NULL, &options, &model) == DENISE_OK);
  return model;
}

/* Runs one call between a change of modes and back, and looks at what is left of them. */
#define IN_MODE(mode, call)               \
  do {                                    \
    fenv_t own;                           \
    fegetenv(&own);                       \
    (mode)->set();                        \
    unsigned long before = seen();        \
    denise_status status = (call);        \
    unsigned long after = seen();         \
    fesetenv(&own);                       \
    CHECK(status == DENISE_OK);           \
    CHECK(after == before);               \
  } while (0)

static void compare(const denise_model *model, const struct mode *mode) {
  IN_MODE(mode, denise_decompose_batch(model, COUNT, m32, NULL, l32, s32, reports));
  CHECK(memcmp(l32, expected_l32, sizeof l32) == 0);
  CHECK(memcmp(s32, expected_s32, sizeof s32) == 0);
  CHECK(memcmp(reports, expected_reports, sizeof reports) == 0);
  IN_MODE(mode, denise_decompose_batch_f64(model, COUNT, m64, NULL, l64, NULL, NULL));
  CHECK(memcmp(l64, expected_l64, sizeof l64) == 0);
  IN_MODE(mode, denise_decompose_batch(model, 1, m32, NULL, l32, s32, NULL));
  CHECK(memcmp(l32, expected_l32, SIZE * sizeof *l32) == 0);
}

static void not_finite(const denise_model *model, const struct mode *mode) {
  const float kept = m32[7 * SIZE];
  m32[7 * SIZE] = NAN;
  fenv_t own;
  fegetenv(&own);
  mode->set();
  denise_status status = denise_decompose_batch(model, COUNT, m32, NULL, l32, s32, reports);
  fesetenv(&own);
  m32[7 * SIZE] = kept;
  CHECK(status == DENISE_ERR_NOT_FINITE);
  CHECK(reports[7].status == DENISE_ERR_NOT_FINITE && reports[8].status == DENISE_OK);
  CHECK(memcmp(l32, expected_l32, 7 * SIZE * sizeof *l32) == 0);
}

int main(int argc, char **argv) {
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(m64 + q * SIZE, N, q);
    /* Some near the ends of the range, where flushing would show. */
    double scale = q % 10 == 3 ? 1e-38 : q % 10 == 4 ? 1e-300 : 1;
    for (size_t i = 0; i < SIZE; i++) {
      m64[q * SIZE + i] *= scale;
      m32[q * SIZE + i] = (float)m64[q * SIZE + i];
    }
  }
  denise_model *alone = load(0);
  CHECK(denise_decompose_batch(alone, COUNT, m32, NULL, expected_l32, expected_s32, expected_reports) == DENISE_OK);
  CHECK(denise_decompose_batch_f64(alone, COUNT, m64, NULL, expected_l64, NULL, NULL) == DENISE_OK);
  for (int method = DENISE_METHOD_EIGEN; method <= DENISE_METHOD_MASKED_PCP; method++) {
    CHECK(denise_solve_batch(method, N, K, 0, SOLVED, m64, solved[method - 1], NULL) == DENISE_OK);
  }

  for (size_t i = 0; i < MODES; i++) {
    compare(alone, &modes[i]);
    not_finite(alone, &modes[i]);
    for (int method = DENISE_METHOD_EIGEN; method <= DENISE_METHOD_MASKED_PCP; method++) {
      IN_MODE(&modes[i], denise_solve_batch(method, N, K, 0, SOLVED, m64, l64, NULL));
      CHECK(memcmp(l64, solved[method - 1], sizeof solved[0]) == 0);
    }
    /* Loaded, with threads and from a file, in this mode; used in all. */
    denise_model *together = NULL, *dense = NULL;
    denise_options options;
    denise_options_init(&options, sizeof options);
    options.n = N;
    options.k = K;
    options.threads = 3;
    IN_MODE(&modes[i], denise_load(MODEL, &options, &together));
    IN_MODE(&modes[i], denise_load(DENSE, NULL, &dense));
    for (size_t j = 0; j < MODES; j++) {
      compare(together, &modes[j]);
      not_finite(together, &modes[j]);
    }
    denise_free(together);
    denise_free(dense);
  }

  /* What it costs, for a look; thresholds are for `make bench`. */
  if (argc > 1 && strcmp(argv[1], "--time") == 0) {
    enum { CALLS = 2000000 };
    double start = seconds_now();
    for (int i = 0; i < CALLS; i++) CHECK(denise_decompose_batch(alone, 0, NULL, NULL, NULL, NULL, NULL) == DENISE_OK);
    printf("an empty call takes %.1f ns\n", (seconds_now() - start) * 1e9 / CALLS);
  }
  denise_free(alone);
  return verdict("modes");
}
