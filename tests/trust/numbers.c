/* numbers: the same bits whatever the batch, the place, the threads, the alignment and the process; and how far instruction sets
 * are apart.
 *
 * The last line is a digest of every result, for comparing processes. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 140, KINDS = 16, BUFFERS = 4 };

struct kind {
  const char *name, *path; /* NULL: built in */
  uint32_t n, k, flags;
  int wide;
};

static const struct kind ALL[KINDS] = {
    {"unrolled f32", NULL, 20, 3, DENISE_FLAG_AVX2, 0},
    {"unrolled f32", NULL, 20, 3, DENISE_FLAG_PORTABLE, 0},
    {"unrolled f64", NULL, 20, 3, DENISE_FLAG_AVX2, 1},
    {"unrolled f64", NULL, 20, 3, DENISE_FLAG_PORTABLE, 1},
    {"unrolled f32, n = 61", NULL, 61, 3, DENISE_FLAG_AVX2, 0},
    {"unrolled f32, n = 61", NULL, 61, 3, DENISE_FLAG_PORTABLE, 0},
    {"unrolled f32, n = 61, k = 7", NULL, 61, 7, DENISE_FLAG_AVX2, 0},
    {"unrolled f32, n = 61, k = 7", NULL, 61, 7, DENISE_FLAG_PORTABLE, 0},
    {"dense f32", DENSE, 0, 0, DENISE_FLAG_AVX2, 0},
    {"dense f32", DENSE, 0, 0, DENISE_FLAG_PORTABLE, 0},
    {"dense f64", DENSE, 0, 0, DENISE_FLAG_AVX2, 1},
    {"dense f64", DENSE, 0, 0, DENISE_FLAG_PORTABLE, 1},
    {"dense f32, 16-bit weights", DENSE, 0, 0, DENISE_FLAG_AVX2 | DENISE_FLAG_F16, 0},
    {"dense f32, 16-bit weights", DENSE, 0, 0, DENISE_FLAG_PORTABLE | DENISE_FLAG_F16, 0},
    {"dense f32, 8-bit weights", DENSE, 0, 0, DENISE_FLAG_AVX2 | DENISE_FLAG_INT8, 0},
    {"dense f32, 8-bit weights", DENSE, 0, 0, DENISE_FLAG_PORTABLE | DENISE_FLAG_INT8, 0},
};

static denise_model *load(const struct kind *kind, uint32_t threads) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = kind->n;
  options.k = kind->k;
  options.threads = threads;
  options.flags = kind->flags;
  denise_model *model;
  denise_status status = denise_load(kind->path, &options, &model);
  if (status == DENISE_ERR_UNSUPPORTED && (kind->flags & DENISE_FLAG_AVX2) != 0) return NULL; /* not this machine */
  CHECK(status == DENISE_OK);
  if (model == NULL) abort();
  return model;
}

static uint64_t digest = 0xCBF29CE484222325U; /* FNV-1a */
static void add_to_digest(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3U;
}

/* U, L, S and the reports of one kind. */
struct outputs {
  char *at[BUFFERS];
  size_t each[BUFFERS];
};

static struct outputs outputs_new(size_t n, size_t k, size_t value) {
  struct outputs o = {{NULL}, {n * k * value, n * n * value, n * n * value, sizeof(denise_report)}};
  for (size_t b = 0; b < BUFFERS; b++) {
    o.at[b] = malloc(COUNT * o.each[b] + 16);
    if (o.at[b] == NULL) abort();
  }
  return o;
}

static void run(const struct kind *kind, const denise_model *model, size_t count, const char *m, const struct outputs *o,
                size_t place, size_t shift) {
  void *at[BUFFERS];
  for (size_t b = 0; b < BUFFERS; b++) at[b] = o->at[b] + place * o->each[b] + shift;
  denise_status status =
      kind->wide ? denise_decompose_batch_f64(model, count, (const double *)(const void *)m, at[0], at[1], at[2], at[3])
                 : denise_decompose_batch(model, count, (const float *)(const void *)m, at[0], at[1], at[2], at[3]);
  CHECK(status == DENISE_OK);
}

/* The largest difference relative to the largest entry of the matrix, over all matrices. */
static double difference(const struct kind *kind, const char *a, const char *b, size_t each) {
  size_t value = kind->wide ? sizeof(double) : sizeof(float);
  double worst = 0;
  for (size_t q = 0; q < COUNT; q++) {
    double apart = 0, largest = 0;
    for (size_t i = 0; i < each / value; i++) {
      double x, y;
      if (kind->wide) {
        memcpy(&x, a + q * each + i * value, value);
        memcpy(&y, b + q * each + i * value, value);
      } else {
        float narrow[2];
        memcpy(&narrow[0], a + q * each + i * value, value);
        memcpy(&narrow[1], b + q * each + i * value, value);
        x = (double)narrow[0];
        y = (double)narrow[1];
      }
      apart = fmax(apart, fabs(x - y));
      largest = fmax(largest, fabs(x));
    }
    worst = fmax(worst, apart / largest);
  }
  return worst;
}

int main(void) {
  struct outputs previous = {{NULL}, {0}};
  int have_previous = 0;
  for (size_t i = 0; i < KINDS; i++) {
    const struct kind *kind = &ALL[i];
    denise_model *model = load(kind, 1);
    if (model == NULL) {
      have_previous = 0;
      continue;
    }
    size_t n = denise_n(model), k = denise_k(model), size = n * n, value = kind->wide ? sizeof(double) : sizeof(float);
    double *matrix = malloc(size * sizeof *matrix);
    char *m = malloc(COUNT * size * value + 16);
    if (matrix == NULL || m == NULL) abort();
    for (size_t q = 0; q < COUNT; q++) {
      make_matrix(matrix, n, q + 1);
      for (size_t e = 0; e < size; e++) {
        float narrow = (float)matrix[e];
        if (kind->wide) {
          memcpy(m + (q * size + e) * value, &matrix[e], value);
        } else {
          memcpy(m + (q * size + e) * value, &narrow, value);
        }
      }
    }
    /* One matrix at a time is what all others are compared with. */
    struct outputs alone = outputs_new(n, k, value), other = outputs_new(n, k, value);
    for (size_t q = 0; q < COUNT; q++) run(kind, model, 1, m + q * size * value, &alone, q, 0);
    for (size_t b = 0; b < BUFFERS; b++) add_to_digest(alone.at[b], COUNT * alone.each[b]);
    denise_free(model);
    for (uint32_t threads = 1; threads <= 3; threads++) {
      model = load(kind, threads);
      const size_t counts[] = {COUNT, 129, 128, 65, 64, 63, 17, 16, 15, 9, 8, 7, 5, 4, 3, 2, 1};
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t count = counts[c];
        if (n > 20 && c % 4 != 0) continue; /* time */
        for (size_t first = 0; first + count <= COUNT; first += 1 + first * 2) {
          for (int again = 0; again < 2; again++) {
            for (size_t b = 0; b < BUFFERS; b++) memset(other.at[b], 0xA5, COUNT * other.each[b]);
            run(kind, model, count, m + first * size * value, &other, 0, 0);
            for (size_t b = 0; b < BUFFERS; b++) {
              CHECK(memcmp(other.at[b], alone.at[b] + first * alone.each[b], count * alone.each[b]) == 0);
            }
          }
        }
      }
      /* Outputs that are not aligned. */
      run(kind, model, COUNT, m, &other, 0, 3);
      for (size_t b = 0; b < BUFFERS; b++) {
        CHECK(memcmp(other.at[b] + 3, alone.at[b], COUNT * alone.each[b]) == 0);
      }
      denise_free(model);
    }
    if (i % 2 == 1 && have_previous) {
      double u = difference(kind, previous.at[0], alone.at[0], alone.each[0]);
      double l = difference(kind, previous.at[1], alone.at[1], alone.each[1]);
      printf("  AVX2 and SSE2, %-28s U %.1e, L %.1e of the largest entry\n", kind->name, u, l);
      /* What docs/KERNELS.md and docs/DENSE.md say. The matrices have rank 3: with k = 7 the rest of U is free to follow S, no
       * split is the right one, and roundings grow. */
      if (kind->path != NULL) {
        CHECK(u <= 1e-5);
      } else if (k == 3) {
        CHECK(l <= (kind->wide ? 1e-12 : 1e-4));
      }
    }
    for (size_t b = 0; b < BUFFERS; b++) {
      free(previous.at[b]);
      free(other.at[b]);
    }
    previous = alone;
    have_previous = 1;
    free(matrix);
    free(m);
  }
  for (size_t b = 0; b < BUFFERS; b++) free(previous.at[b]);
  int code = verdict("numbers");
  printf("digest %016llx\n", (unsigned long long)digest);
  return code;
}
