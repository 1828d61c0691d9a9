/* extremes DENSE.onnx: how long extreme matrices take, as multiples of what ordinary ones take.
 *
 * Subnormal numbers slow some instructions down a hundredfold; none of that may reach a caller. Kinds of matrices take
 * turns, so that what else the machine does hits all alike, and medians are compared. Above 2 the program fails. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, K = 3, SIZE = N * N, MOST = 64, INPUTS = 11 };

static const char *const NAMES[INPUTS] = {"ordinary",        "times 1e-30",    "times 1e30", "subnormal",
                                          "a subnormal S",   "zero",           "identity",   "one entry",
                                          "all equal",       "1e30 and 1e-30", "a NaN"};

/* Matrix q of a kind; `tiny` is a subnormal number of the precision. */
static void make_input(double *m, size_t kind, uint64_t q, double tiny) {
  make_matrix(m, N, q + 1);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) {
      double *x = &m[i * N + j];
      switch (kind) {
        case 1: *x *= 1e-30; break;
        case 2: *x *= 1e30; break;
        case 3: *x *= tiny; break;
        /* Rank one, but for entries that are as good as nothing. */
        case 4: *x = 1.0 + ((i + j) % 3 == 0 && i != j ? tiny * (double)(i + j) : 0.0); break;
        case 5: *x = 0.0; break;
        case 6: *x = i == j ? 1.0 : 0.0; break;
        case 7: *x = i == 3 && j == 3 ? 1.0 : 0.0; break;
        case 8: *x = 1.0; break;
        case 9: *x *= (i + j) % 2 == 0 ? 1e30 : 1e-30; break;
        case 10: *x = i == 7 && j == 5 ? (double)NAN : *x; break;
        default: break;
      }
    }
  }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double worst_of_all;

static void measure(const char *what, const char *path, uint32_t flags, int wide, size_t count, size_t calls, int rounds) {
  static double m64[INPUTS][MOST * SIZE], l64[MOST * SIZE], times[INPUTS][1000];
  static float m32[INPUTS][MOST * SIZE], l32[MOST * SIZE];
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.flags = flags;
  denise_model *model;
  if (denise_load(path, &options, &model) != DENISE_OK || denise_n(model) != N) {
    printf("  %s: not on this machine\n", what);
    return;
  }
  for (size_t kind = 0; kind < INPUTS; kind++) {
    for (size_t q = 0; q < count; q++) make_input(&m64[kind][q * SIZE], kind, q, wide ? 1e-310 : 1e-40);
    for (size_t i = 0; i < count * SIZE; i++) m32[kind][i] = (float)m64[kind][i];
  }
  for (int round = 0; round < rounds; round++) {
    for (size_t kind = 0; kind < INPUTS; kind++) {
      double start = seconds_now();
      denise_status status = DENISE_OK;
      for (size_t call = 0; call < calls; call++) {
        status = wide ? denise_decompose_batch_f64(model, count, m64[kind], NULL, l64, NULL, NULL)
                      : denise_decompose_batch(model, count, m32[kind], NULL, l32, NULL, NULL);
      }
      times[kind][round] = seconds_now() - start;
      CHECK(status == (kind == 10 ? DENISE_ERR_NOT_FINITE : DENISE_OK));
    }
  }
  denise_free(model);
  printf("  %-34s", what);
  double ordinary = 0;
  for (size_t kind = 0; kind < INPUTS; kind++) {
    qsort(times[kind], (size_t)rounds, sizeof(double), by_size);
    double median = times[kind][rounds / 2];
    if (kind == 0) {
      ordinary = median;
      printf(" %8.2f us ", 1e6 * median / (double)(calls * count));
    } else {
      printf(" %5.2f", median / ordinary);
      worst_of_all = fmax(worst_of_all, median / ordinary);
    }
  }
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  printf("  time of an ordinary matrix, then multiples of it for:");
  for (size_t kind = 1; kind < INPUTS; kind++) printf(" %s%s", NAMES[kind], kind + 1 < INPUTS ? "," : "\n");
  const uint32_t sets[] = {DENISE_FLAG_AVX512, DENISE_FLAG_AVX2, DENISE_FLAG_PORTABLE};
  const char *const names[] = {"avx512", "avx2", "portable"};
  for (size_t set = 0; set < 3; set++) {
    for (size_t one = 0; one < 2; one++) {
      size_t count = one ? 1 : MOST;
      char what[100];
      for (int wide = 0; wide < 2; wide++) {
        snprintf(what, sizeof what, "unrolled %s, %s, batch %zu", wide ? "f64" : "f32", names[set], count);
        measure(what, NULL, sets[set], wide, count, MOST / count, 301);
      }
      const char *const formats[] = {"f32", "f16", "int8"};
      const uint32_t flags[] = {0, DENISE_FLAG_F16, DENISE_FLAG_INT8};
      for (size_t format = 0; format < 3; format++) {
        snprintf(what, sizeof what, "dense %s, %s, batch %zu", formats[format], names[set], count);
        measure(what, argv[1], sets[set] | flags[format], 0, count, 1 + 4 * one, 21);
      }
    }
  }
  printf("  the largest multiple is %.2f\n", worst_of_all);
  CHECK(worst_of_all <= 2.0);
  return verdict("extremes");
}
