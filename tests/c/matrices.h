/* Matrices for the tests: M = U U' + sparse, the same on every machine and in every run. */
#ifndef DENISE_TEST_MATRICES_H
#define DENISE_TEST_MATRICES_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/* In (0, 1): never 0, whose logarithm is infinite. */
static inline double random_uniform(uint64_t *state) {
  return ((double)(random_bits(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Nearly normal: mean 0, variance 1. By additions alone, since logarithms and cosines differ between C libraries. */
static inline double random_normal(uint64_t *state) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) sum += random_uniform(state);
  return sum;
}

/* One n x n matrix of rank 3 plus about a tenth of sparse entries. Depends on n and seed only. */
static inline void make_matrix(double *m, size_t n, uint64_t seed) {
  enum { RANK = 3 };
  double u[512 * RANK];
  uint64_t state = seed * 0x100000001B3U + n;
  for (size_t i = 0; i < n * RANK; i++) u[i] = random_normal(&state);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t a = 0; a < RANK; a++) sum += u[i * RANK + a] * u[j * RANK + a];
      if (random_uniform(&state) < 0.1) sum += random_uniform(&state) + (i == j ? 1.0 : -0.5);
      m[i * n + j] = m[j * n + i] = sum;
    }
  }
}

#endif
