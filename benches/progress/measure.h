/* Clocks, medians, matrices, and what the machine could do at best. */

#ifndef MEASURE_H
#define MEASURE_H

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Microseconds of a clock. */
static inline double read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* As a caller waits for them. */
static inline double now(void) { return read_clock(CLOCK_MONOTONIC); }

/* As this thread works, without what other programs take while it waits for its CPU. */
static inline double worked(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_size);
  return values[count / 2];
}

/* Of sorted values. */
static inline double percentile(const double *sorted, size_t count, double share) {
  return sorted[(size_t)(share * (double)(count - 1))];
}

/* Room for so many values, touched. */
static inline void *room(size_t count, size_t size) {
  unsigned char *all = calloc(count, size);
  if (all == NULL) abort();
  /* One by one, and volatile: a compiler makes malloc and memset one calloc, whose pages are touched by nobody. */
  for (size_t i = 0; i < count * size; i += 512) *(volatile unsigned char *)&all[i] = 0;
  return (void *)all;
}

static inline uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static inline double uniform(uint64_t *state) {
  return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

static inline double normal(uint64_t *state) {
  return sqrt(-2.0 * log(1.0 - uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* The paper's kind of matrix: normal U U', and entries at one pair in ten that keep the diagonal dominant; none if
   sparse is 0. */
static inline void covariance(double *m, unsigned n, unsigned k, int sparse, uint64_t *state) {
  double *u = room((size_t)n * k, sizeof *u);
  for (size_t i = 0; i < (size_t)n * k; i++) u[i] = normal(state);
  for (unsigned i = 0; i < n; i++) {
    for (unsigned j = 0; j < n; j++) {
      double sum = 0.0;
      for (unsigned a = 0; a < k; a++) sum += u[i * k + a] * u[j * k + a];
      m[i * n + j] = sum;
    }
  }
  for (unsigned i = 0; sparse && i < n; i++) {
    for (unsigned j = 0; j < i; j++) {
      if (uniform(state) >= 0.1) continue;
      double x = uniform(state) - 0.5;
      m[i * n + j] += x;
      m[j * n + i] += x;
      m[i * n + i] += fabs(x);
      m[j * n + j] += fabs(x);
    }
  }
  free(u);
}

/* This thread, and those that it will start, on one CPU: the last that it may use, or the one before. */
static inline void pin(const cpu_set_t *allowed, int from_the_end) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
    if (CPU_ISSET(cpu, allowed) && from_the_end-- == 0) CPU_SET(cpu, &one);
  }
  if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
}

#if defined(__x86_64__)
#include <immintrin.h>

/* GFLOP/s of fused multiply-adds on registers, for about a fifth of a millisecond. Twelve chains: more than the latency
   of one times the units that there are. */
#define PEAK(name, set_of_instructions, vector, scalar, width, set, fma)                      \
  __attribute__((target(set_of_instructions))) static double name(void) {                     \
    enum { ROUNDS = 8000 };                                                                   \
    vector x = set((scalar)0.999), y = set((scalar)1e-3), sums[12];                           \
    for (int i = 0; i < 12; i++) sums[i] = set((scalar)1.0);                                  \
    __asm__ volatile("" : "+v"(x), "+v"(y));                                                  \
    double start = worked();                                                                  \
    for (int round = 0; round < ROUNDS; round++) {                                            \
      _Pragma("GCC unroll 12") for (int i = 0; i < 12; i++) sums[i] = fma(sums[i], x, y);     \
    }                                                                                         \
    for (int i = 0; i < 12; i++) __asm__ volatile("" : "+v"(sums[i]));                        \
    return ROUNDS * 12.0 * width * 2.0 / (worked() - start) / 1e3;                            \
  }
PEAK(avx2_peak_f32, "avx2,fma", __m256, float, 8, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK(avx2_peak_f64, "avx2,fma", __m256d, double, 4, _mm256_set1_pd, _mm256_fmadd_pd)
PEAK(avx512_peak_f32, "avx512f", __m512, float, 16, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK(avx512_peak_f64, "avx512f", __m512d, double, 8, _mm512_set1_pd, _mm512_fmadd_pd)
#undef PEAK

/* With the widest vectors that there are, whatever the library uses. */
static inline double fma_peak(int precise) {
  if (__builtin_cpu_supports("avx512f")) return precise ? avx512_peak_f64() : avx512_peak_f32();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NAN;
  return precise ? avx2_peak_f64() : avx2_peak_f32();
}
#else
static inline double fma_peak(int precise) {
  (void)precise;
  return NAN;
}
#endif

#endif
