/* The promises of denise.h about covariances that can be inverted, and about suggested ranks, from C.
 *
 *   covariance           everything
 *   covariance --quick   the same with smaller numbers, for valgrind
 *
 * A failed check is printed and counted, and the rest still runs. Buffers end where they must, so that a sanitizer sees
 * every byte past them. */
#define _GNU_SOURCE
#include <denise.h>

#include "matrices.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static bool quick;
static unsigned long passed, failed;

static void check(bool good, const char *what, int line) {
  if (good) {
    passed++;
  } else if (failed++ < 40) {
    fprintf(stderr, "covariance.c:%d: failed: %s\n", line, what);
  }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static void *room(size_t size) {
  void *block = malloc(size);
  if (block == NULL) abort();
  memset(block, 0xA5, size);
  return block;
}

static bool is_untouched(const void *from, size_t size) {
  const unsigned char *bytes = from;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0xA5) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------- precisions */

struct precision {
  const char *name;
  size_t size;   /* of one value */
  double round;  /* how far a value may be from the right one, relative to it */
  denise_status (*from_m)(const denise_model *, size_t, const void *, double, void *, void *, void *, void *, double *,
                          denise_report *);
  denise_status (*from_u)(uint32_t, uint32_t, size_t, const void *, const void *, double, void *, void *, void *,
                          double *);
  denise_status (*multiply)(uint32_t, uint32_t, size_t, const void *, const void *, size_t, const void *, void *);
  denise_status (*solve)(uint32_t, uint32_t, size_t, const void *, const void *, size_t, const void *, void *);
};

static denise_status from_m_f32(const denise_model *model, size_t count, const void *m, double floor, void *u, void *d,
                                void *sigma, void *inverse, double *log_det, denise_report *reports) {
  return denise_covariance_batch(model, count, m, floor, u, d, sigma, inverse, log_det, reports);
}
static denise_status from_m_f64(const denise_model *model, size_t count, const void *m, double floor, void *u, void *d,
                                void *sigma, void *inverse, double *log_det, denise_report *reports) {
  return denise_covariance_batch_f64(model, count, m, floor, u, d, sigma, inverse, log_det, reports);
}
static denise_status from_u_f32(uint32_t n, uint32_t k, size_t count, const void *m, const void *u, double floor,
                                void *d, void *sigma, void *inverse, double *log_det) {
  return denise_covariance_from_u_batch(n, k, count, m, u, floor, d, sigma, inverse, log_det);
}
static denise_status from_u_f64(uint32_t n, uint32_t k, size_t count, const void *m, const void *u, double floor,
                                void *d, void *sigma, void *inverse, double *log_det) {
  return denise_covariance_from_u_batch_f64(n, k, count, m, u, floor, d, sigma, inverse, log_det);
}
static denise_status multiply_f32(uint32_t n, uint32_t k, size_t count, const void *u, const void *d, size_t columns,
                                  const void *x, void *y) {
  return denise_covariance_multiply_batch(n, k, count, u, d, columns, x, y);
}
static denise_status multiply_f64(uint32_t n, uint32_t k, size_t count, const void *u, const void *d, size_t columns,
                                  const void *x, void *y) {
  return denise_covariance_multiply_batch_f64(n, k, count, u, d, columns, x, y);
}
static denise_status solve_f32(uint32_t n, uint32_t k, size_t count, const void *u, const void *d, size_t columns,
                               const void *x, void *y) {
  return denise_covariance_solve_batch(n, k, count, u, d, columns, x, y);
}
static denise_status solve_f64(uint32_t n, uint32_t k, size_t count, const void *u, const void *d, size_t columns,
                               const void *x, void *y) {
  return denise_covariance_solve_batch_f64(n, k, count, u, d, columns, x, y);
}

static const struct precision PRECISIONS[2] = {
    {"f32", 4, 1e-6, from_m_f32, from_u_f32, multiply_f32, solve_f32},
    {"f64", 8, 1e-14, from_m_f64, from_u_f64, multiply_f64, solve_f64},
};

static double get(const struct precision *p, const void *values, size_t place) {
  if (p->size == 4) return (double)((const float *)values)[place];
  return ((const double *)values)[place];
}

static void put(const struct precision *p, void *values, size_t place, double value) {
  if (p->size == 4) {
    ((float *)values)[place] = (float)value;
  } else {
    ((double *)values)[place] = value;
  }
}

/* ------------------------------------------------------------------------------------------- buffers */

enum { M, U, D, SIGMA, INVERSE, LOG_DET, REPORTS, BUFFERS };

struct batch {
  const struct precision *p;
  size_t n, k, count, bytes[BUFFERS];
  void *at[BUFFERS];
};

static struct batch batch_new(const struct precision *p, size_t n, size_t k, size_t count) {
  struct batch b = {.p = p, .n = n, .k = k, .count = count};
  b.bytes[M] = b.bytes[SIGMA] = b.bytes[INVERSE] = count * n * n * p->size;
  b.bytes[U] = count * n * k * p->size;
  b.bytes[D] = count * n * p->size;
  b.bytes[LOG_DET] = count * sizeof(double);
  b.bytes[REPORTS] = count * sizeof(denise_report);
  for (size_t i = 0; i < BUFFERS; i++) b.at[i] = room(b.bytes[i]);
  return b;
}

static void batch_free(struct batch *b) {
  for (size_t i = 0; i < BUFFERS; i++) free(b->at[i]);
}

static void fill(struct batch *b, uint64_t seed) {
  double *m = room(b->n * b->n * sizeof *m);
  for (size_t q = 0; q < b->count; q++) {
    make_matrix(m, b->n, seed + q);
    for (size_t i = 0; i < b->n * b->n; i++) put(b->p, b->at[M], q * b->n * b->n + i, m[i]);
  }
  free(m);
}

static denise_status run(const denise_model *model, struct batch *b, double floor) {
  return b->p->from_m(model, b->count, b->at[M], floor, b->at[U], b->at[D], b->at[SIGMA], b->at[INVERSE],
                      b->at[LOG_DET], b->at[REPORTS]);
}

static denise_model *load(uint32_t n, uint32_t k, uint32_t flags) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = n;
  options.k = k;
  options.flags = flags;
  denise_model *model;
  if (denise_load(NULL, &options, &model) != DENISE_OK) abort();
  return model;
}

/* ------------------------------------------------------------------------------------------- results */

/* Whether Cholesky's method goes through in double, in units of the matrix's own diagonal. Leaves log det in *log_det,
 * and the largest entry of the factor's inverse diagonal, squared: at most the condition number. */
static bool is_positive_definite(const struct precision *p, const char *values, size_t n, double *log_det) {
  double *c = room(n * n * sizeof *c);
  *log_det = 0;
  bool good = true;
  for (size_t i = 0; i < n && good; i++) {
    const double ii = get(p, values, i * (n + 1));
    good = ii > 0;
    if (good) *log_det += log(ii);
  }
  for (size_t i = 0; i < n && good; i++) {
    for (size_t j = 0; j <= i && good; j++) {
      const double unit = sqrt(get(p, values, i * (n + 1))) * sqrt(get(p, values, j * (n + 1)));
      double left = get(p, values, i * n + j) / unit;
      for (size_t e = 0; e < j; e++) left -= c[i * n + e] * c[j * n + e];
      if (i == j) {
        good = left > 0;
        c[i * n + i] = sqrt(left);
        if (good) *log_det += log(left);
      } else {
        c[i * n + j] = left / c[j * n + j];
      }
    }
  }
  free(c);
  return good;
}

/* d, Sigma, its inverse and its determinant are what the header says, from the u that was written. */
static void check_results(const struct batch *b, double floor) {
  const struct precision *p = b->p;
  const size_t n = b->n, k = b->k;
  for (size_t q = 0; q < b->count; q++) {
    const char *m = (const char *)b->at[M] + q * n * n * p->size, *u = (const char *)b->at[U] + q * n * k * p->size;
    const char *d = (const char *)b->at[D] + q * n * p->size;
    const char *sigma = (const char *)b->at[SIGMA] + q * n * n * p->size;
    const char *inverse = (const char *)b->at[INVERSE] + q * n * n * p->size;
    bool right = true, symmetric = true, is_inverse = true;
    double trace = 0;
    for (size_t i = 0; i < n; i++) trace += get(p, sigma, i * (n + 1));
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        double l = 0, unit = 0;
        for (size_t a = 0; a < k; a++) l += get(p, u, i * k + a) * get(p, u, j * k + a);
        if (i == j) {
          const double m_ii = get(p, m, i * (n + 1)), s_ii = m_ii - l;
          const double specific = s_ii > floor * m_ii ? s_ii : floor * m_ii;
          right = right && fabs(get(p, d, i) - specific) <= p->round * fabs(m_ii) + 2 * p->round * l;
          l += get(p, d, i);
        }
        right = right && fabs(get(p, sigma, i * n + j) - l) <= p->round * trace;
        symmetric = symmetric && get(p, sigma, i * n + j) == get(p, sigma, j * n + i);
        symmetric = symmetric && get(p, inverse, i * n + j) == get(p, inverse, j * n + i);
        double scale = 0;
        for (size_t e = 0; e < n; e++) {
          const double part = get(p, sigma, i * n + e) * get(p, inverse, e * n + j);
          unit += part;
          scale += fabs(part);
        }
        is_inverse = is_inverse && fabs(unit - (i == j)) <= 30 * p->round * scale;
      }
    }
    CHECK(right);
    CHECK(symmetric);
    CHECK(is_inverse);
    double of_sigma, of_inverse;
    CHECK(is_positive_definite(p, sigma, n, &of_sigma));
    CHECK(is_positive_definite(p, inverse, n, &of_inverse));
    const double log_det = ((const double *)b->at[LOG_DET])[q];
    CHECK(fabs(log_det - of_sigma) <= 1e5 * p->round * (double)n);
    CHECK(fabs(log_det + of_inverse) <= 1e5 * p->round * (double)n);
    CHECK(((const denise_report *)b->at[REPORTS])[q].status == DENISE_OK);
  }
}

static void test_results(const struct precision *p) {
  const uint32_t sizes[][2] = {{2, 1}, {5, 2}, {20, 3}, {33, 8}, {64, 5}, {40, 32}};
  for (size_t i = 0; i < (quick ? 3 : sizeof sizes / sizeof *sizes); i++) {
    const uint32_t n = sizes[i][0], k = sizes[i][1];
    for (uint32_t flags = 0; flags <= DENISE_FLAG_CORRELATION; flags += DENISE_FLAG_CORRELATION) {
      denise_model *model = load(n, k, flags);
      struct batch b = batch_new(p, n, k, quick ? 3 : 19);
      fill(&b, 7);
      CHECK(run(model, &b, 0.2) == DENISE_OK);
      check_results(&b, 0.2);
      CHECK(run(model, &b, 0) == DENISE_OK); /* the default */
      check_results(&b, 0.05);

      /* u is that of denise_decompose_batch, and so are the reports. */
      struct batch split = batch_new(p, n, k, b.count);
      memcpy(split.at[M], b.at[M], b.bytes[M]);
      if (p->size == 4) {
        CHECK(denise_decompose_batch(model, b.count, b.at[M], split.at[U], NULL, NULL, split.at[REPORTS]) == DENISE_OK);
      } else {
        CHECK(denise_decompose_batch_f64(model, b.count, b.at[M], split.at[U], NULL, NULL, split.at[REPORTS]) ==
              DENISE_OK);
      }
      CHECK(memcmp(split.at[U], b.at[U], b.bytes[U]) == 0);
      CHECK(memcmp(split.at[REPORTS], b.at[REPORTS], b.bytes[REPORTS]) == 0);

      /* From u and m, and one at a time, each part alone: the same bits. */
      CHECK(p->from_u(n, k, b.count, b.at[M], b.at[U], 0, split.at[D], split.at[SIGMA], split.at[INVERSE],
                      split.at[LOG_DET]) == DENISE_OK);
      for (size_t part = D; part <= LOG_DET; part++) CHECK(memcmp(split.at[part], b.at[part], b.bytes[part]) == 0);
      for (size_t part = D; part <= LOG_DET; part++) {
        for (size_t q = 0; q < b.count; q++) {
          const size_t each = b.bytes[part] / b.count;
          void *at[BUFFERS] = {NULL}, *u = room(n * k * p->size);
          at[part] = room(each);
          const char *m = (const char *)b.at[M] + q * n * n * p->size;
          CHECK(p->from_m(model, 1, m, 0, u, at[D], at[SIGMA], at[INVERSE], at[LOG_DET], NULL) == DENISE_OK);
          CHECK(memcmp(at[part], (const char *)b.at[part] + q * each, each) == 0);
          free(at[part]);
          free(u);
        }
      }
      batch_free(&split);
      batch_free(&b);
      denise_free(model);
    }
  }
}

/* Products without Sigma are those with it, in place or not, and solving undoes multiplying. */
static void test_products(const struct precision *p) {
  const uint32_t n = 20, k = 3;
  denise_model *model = load(n, k, 0);
  struct batch b = batch_new(p, n, k, 4);
  fill(&b, 3);
  CHECK(run(model, &b, 0) == DENISE_OK);
  const size_t widths[] = {1, 3, 16, 17, 50};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    const size_t columns = widths[w], len = b.count * n * columns;
    void *x = room(len * p->size), *y = room(len * p->size), *back = room(len * p->size);
    uint64_t state = w;
    for (size_t i = 0; i < len; i++) put(p, x, i, random_normal(&state));
    CHECK(p->multiply(n, k, b.count, b.at[U], b.at[D], columns, x, y) == DENISE_OK);
    CHECK(p->solve(n, k, b.count, b.at[U], b.at[D], columns, y, back) == DENISE_OK);
    bool right = true, undone = true;
    for (size_t q = 0; q < b.count; q++) {
      for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < columns; c++) {
          double sum = 0, scale = 0;
          for (size_t j = 0; j < n; j++) {
            const double part = get(p, b.at[SIGMA], q * n * n + i * n + j) * get(p, x, (q * n + j) * columns + c);
            sum += part;
            scale += fabs(part);
          }
          const size_t place = (q * n + i) * columns + c;
          right = right && fabs(get(p, y, place) - sum) <= 4 * p->round * scale;
          undone = undone && fabs(get(p, back, place) - get(p, x, place)) <= 1e5 * p->round;
        }
      }
    }
    CHECK(right);
    CHECK(undone);
    CHECK(p->solve(n, k, b.count, b.at[U], b.at[D], columns, y, y) == DENISE_OK);
    CHECK(memcmp(y, back, len * p->size) == 0);
    CHECK(p->multiply(n, k, b.count, b.at[U], b.at[D], columns, x, x) == DENISE_OK);
    CHECK(p->solve(n, k, b.count, b.at[U], b.at[D], columns, x, x) == DENISE_OK);
    CHECK(memcmp(x, back, len * p->size) == 0);
    free(x);
    free(y);
    free(back);
  }
  batch_free(&b);
  denise_free(model);
}

/* Whatever the matrix: what comes out is positive definite, and bounded by the floor. */
static void test_adversarial(const struct precision *p) {
  const uint32_t sizes[][2] = {{2, 1}, {20, 3}, {50, 5}, {40, 32}};
  const double floors[] = {1e-6, 1e-3, 0.01, 0.3, 1};
  const uint32_t all_flags[] = {0, DENISE_FLAG_CORRELATION, DENISE_FLAG_MISSING, DENISE_FLAG_CAREFUL};
  enum { KINDS = 11 };
  for (size_t size = 0; size < (quick ? 1 : 4); size++) {
    const uint32_t n = sizes[size][0], k = sizes[size][1];
    for (size_t f = 0; f < 4; f++) {
      denise_model *model = load(n, k, all_flags[f]);
      struct batch b = batch_new(p, n, k, KINDS);
      for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
          const size_t low = i > j ? i : j, high = i > j ? j : i;
          uint64_t own = low * 1000 + high;
          const double noise = random_normal(&own);
          const double entry[KINDS] = {
              1,                                         /* one factor, exactly */
              i == j ? 1 : 0,                            /* none */
              noise,                                     /* indefinite */
              i == j && i == 0 ? 1 : 0,                  /* one variance */
              i == j ? 1e-3 : noise,                     /* far too little of it */
              pow(10, (double)((low + high) % 9) - 4),   /* of all sizes */
              (i == j ? 2 : 1) * 1e30,                   /* huge */
              (i == j ? 2 : 1) * 1e-30,                  /* tiny */
              i == j ? (i % 2 == 0 ? 1 : -1) : 0.5,      /* half of them negative */
              (i + j) % 2 == 0 ? 1 : -1,                 /* signs */
              i == j ? 1 : (low - high == 1 ? 0.99 : 0), /* a chain, which is indefinite */
          };
          for (size_t q = 0; q < KINDS; q++) put(p, b.at[M], q * n * n + i * n + j, entry[q]);
        }
      }
      for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
        CHECK(run(model, &b, floors[i]) == DENISE_OK);
        for (size_t q = 0; q < KINDS; q++) {
          double log_det, other;
          const bool sigma = is_positive_definite(p, (const char *)b.at[SIGMA] + q * n * n * p->size, n, &log_det);
          const bool inverse = is_positive_definite(p, (const char *)b.at[INVERSE] + q * n * n * p->size, n, &other);
          if (!sigma || !inverse) {
            fprintf(stderr, "%s n %u k %u flags %u kind %zu floor %g\n", p->name, n, k, all_flags[f], q, floors[i]);
          }
          CHECK(sigma);
          CHECK(inverse);
          bool floored = true;
          for (size_t e = 0; e < n; e++) {
            const double m_ii = get(p, b.at[M], q * n * n + e * (n + 1)), d = get(p, b.at[D], q * n + e);
            floored = floored && d > 0 && d >= floors[i] * m_ii * (1 - 1e-6);
          }
          CHECK(floored);
        }
      }
      batch_free(&b);
      denise_free(model);
    }
  }
}

/* A matrix that cannot be done is marked, and its neighbours are as they would be without it. */
static void test_bad_ones(const struct precision *p) {
  const uint32_t n = 20, k = 3;
  for (uint32_t flags = 0; flags <= DENISE_FLAG_MISSING; flags += DENISE_FLAG_MISSING) {
    denise_model *model = load(n, k, flags);
    struct batch good = batch_new(p, n, k, 5), b = batch_new(p, n, k, 5);
    fill(&good, 11);
    CHECK(run(model, &good, 0) == DENISE_OK);
    for (int kind = 0; kind < 3; kind++) {
      memcpy(b.at[M], good.at[M], b.bytes[M]);
      for (size_t i = 0; i < n * n; i++) {
        if (kind == 0) put(p, b.at[M], 2 * n * n + i, 0);
        if (kind == 1 && i == 0) put(p, b.at[M], 2 * n * n + i, (double)NAN);
        if (kind == 2 && i == n) put(p, b.at[M], 2 * n * n + i, (double)INFINITY);
      }
      const bool known = kind == 1 && flags != 0;
      const denise_status expected = kind == 0 ? DENISE_ERR_SINGULAR : known ? DENISE_OK : DENISE_ERR_NOT_FINITE;
      CHECK(run(model, &b, 0) == expected);
      const denise_report *reports = b.at[REPORTS];
      CHECK(reports[2].status == expected && reports[1].status == DENISE_OK && reports[3].status == DENISE_OK);
      for (size_t part = D; part <= LOG_DET; part++) {
        const size_t each = b.bytes[part] / b.count;
        CHECK(memcmp(b.at[part], good.at[part], 2 * each) == 0);
        CHECK(memcmp((const char *)b.at[part] + 3 * each, (const char *)good.at[part] + 3 * each, 2 * each) == 0);
        const double first = part == LOG_DET ? ((const double *)b.at[LOG_DET])[2] : get(p, b.at[part], 2 * each / p->size);
        CHECK(!isnan(first) == known);
      }
      if (known) {
        /* The variance that is not known gets the mean d of the others. */
        double mean = 0;
        for (size_t i = 1; i < n; i++) mean += get(p, b.at[D], 2 * n + i) / (n - 1);
        CHECK(fabs(get(p, b.at[D], 2 * n) - mean) <= 1e-5 * mean);
      } else {
        void *x = room(5 * n * p->size);
        for (size_t i = 0; i < 5 * n; i++) put(p, x, i, 1);
        CHECK(p->solve(n, k, 5, b.at[U], b.at[D], 1, x, x) == DENISE_ERR_NOT_FINITE);
        CHECK(isnan(get(p, x, 2 * n)) && isfinite(get(p, x, 0)) && isfinite(get(p, x, 3 * n)));
        free(x);
      }
    }
    void *x = room(5 * n * p->size);
    for (size_t i = 0; i < 5 * n; i++) put(p, x, i, 1);
    put(p, good.at[D], n + 1, 0);
    CHECK(p->solve(n, k, 5, good.at[U], good.at[D], 1, x, x) == DENISE_ERR_SINGULAR);
    CHECK(isfinite(get(p, x, 0)) && isnan(get(p, x, n)) && isfinite(get(p, x, 2 * n)));
    free(x);
    batch_free(&good);
    batch_free(&b);
    denise_free(model);
  }
}

/* ------------------------------------------------------------------------------------------- refused */

static void test_refused(const struct precision *p) {
  const uint32_t n = 8, k = 2;
  denise_model *model = load(n, k, 0);
  struct batch b = batch_new(p, n, k, 2), out = batch_new(p, n, k, 2);
  fill(&b, 1);
  memcpy(out.at[M], b.at[M], b.bytes[M]);
  CHECK(run(model, &b, 0) == DENISE_OK);
  void *x = room(2 * n * p->size);
  memset(x, 0, 2 * n * p->size);
  void **at = out.at;
  const double floors[] = {-0.1, 1.5, (double)NAN, (double)INFINITY, 1e-7};
  for (size_t i = 0; i < 5; i++) {
    CHECK(run(model, &out, floors[i]) == DENISE_ERR_ARGUMENT);
    CHECK(p->from_u(n, k, 2, b.at[M], b.at[U], floors[i], at[D], at[SIGMA], NULL, NULL) == DENISE_ERR_ARGUMENT);
  }
  CHECK(p->from_m(NULL, 2, b.at[M], 0, at[U], at[D], NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->from_m(model, 2, NULL, 0, at[U], at[D], NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->from_m(model, 2, b.at[M], 0, NULL, at[D], NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->from_u(n, k, 2, NULL, b.at[U], 0, at[D], NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->from_u(n, k, 2, b.at[M], NULL, 0, at[D], NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->multiply(n, k, 2, NULL, b.at[D], 1, x, at[D]) == DENISE_ERR_NULL_POINTER);
  CHECK(p->multiply(n, k, 2, b.at[U], NULL, 1, x, at[D]) == DENISE_ERR_NULL_POINTER);
  CHECK(p->multiply(n, k, 2, b.at[U], b.at[D], 1, NULL, at[D]) == DENISE_ERR_NULL_POINTER);
  CHECK(p->multiply(n, k, 2, b.at[U], b.at[D], 1, x, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->solve(n, k, 2, b.at[U], b.at[D], 1, NULL, NULL) == DENISE_ERR_NULL_POINTER);

  /* Sizes. */
  const uint32_t wrong[][2] = {{0, 0}, {1, 1}, {8, 0}, {8, 8}, {513, 2}, {100, 33}, {UINT32_MAX, UINT32_MAX}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const denise_status status = wrong[i][0] > 512 || wrong[i][1] > 32 ? DENISE_ERR_UNSUPPORTED : DENISE_ERR_ARGUMENT;
    CHECK(p->from_u(wrong[i][0], wrong[i][1], 2, b.at[M], b.at[U], 0, at[D], NULL, NULL, NULL) == status);
    CHECK(p->solve(wrong[i][0], wrong[i][1], 2, b.at[U], b.at[D], 1, x, at[D]) == status);
  }
  const size_t many[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8, SIZE_MAX / 1000};
  for (size_t i = 0; i < 4; i++) {
    CHECK(p->from_m(model, many[i], b.at[M], 0, at[U], at[D], NULL, NULL, NULL, at[REPORTS]) != DENISE_OK);
    CHECK(p->from_u(n, k, many[i], b.at[M], b.at[U], 0, at[D], NULL, NULL, NULL) != DENISE_OK);
    CHECK(p->solve(n, k, many[i], b.at[U], b.at[D], 1, x, at[D]) != DENISE_OK);
    CHECK(p->solve(n, k, 2, b.at[U], b.at[D], many[i], x, at[D]) != DENISE_OK);
  }

  /* Away from their alignment; and every pair that overlaps: y starts inside x. */
  for (size_t one = 0; one < BUFFERS; one++) {
    void *all[BUFFERS] = {b.at[M], at[U], NULL, NULL, NULL, NULL, NULL};
    all[one] = (char *)(one == M ? b.at[M] : at[one]) + 1;
    CHECK(p->from_m(model, 1, all[M], 0, all[U], all[D], all[SIGMA], all[INVERSE], all[LOG_DET], all[REPORTS]) ==
          DENISE_ERR_ARGUMENT);
    for (size_t other = 0; other < BUFFERS; other++) {
      if (one == other) continue;
      char *field = room(4 * b.bytes[M]);
      const size_t shifts[] = {0, b.bytes[one] / 16 * 8, b.bytes[one] - 8};
      for (size_t i = 0; i < 3; i++) {
        void *both[BUFFERS] = {b.at[M], at[U], NULL, NULL, NULL, NULL, NULL};
        both[one] = field;
        both[other] = field + shifts[i];
        CHECK(p->from_m(model, 2, both[M], 0, both[U], both[D], both[SIGMA], both[INVERSE], both[LOG_DET],
                        both[REPORTS]) == DENISE_ERR_ARGUMENT);
      }
      CHECK(is_untouched(field, 4 * b.bytes[M]));
      free(field);
    }
  }
  CHECK(p->multiply(n, k, 2, b.at[U], b.at[D], 1, b.at[D], at[D]) == DENISE_ERR_ARGUMENT);
  CHECK(p->multiply(n, k, 2, at[U], b.at[D], 1, x, at[U]) == DENISE_ERR_ARGUMENT);
  CHECK(p->multiply(n, k, 1, b.at[U], b.at[D], 2, at[SIGMA], (char *)at[SIGMA] + p->size) == DENISE_ERR_ARGUMENT);

  /* Nothing of all that wrote anything; and nothing is needed for nothing. */
  for (size_t i = U; i < BUFFERS; i++) CHECK(is_untouched(at[i], out.bytes[i]));
  CHECK(p->from_m(model, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL) == DENISE_OK);
  CHECK(p->from_u(n, k, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL) == DENISE_OK);
  CHECK(p->solve(n, k, 0, NULL, NULL, 1, NULL, NULL) == DENISE_OK);
  CHECK(p->solve(n, k, 2, b.at[U], b.at[D], 0, NULL, NULL) == DENISE_OK);
  free(x);
  batch_free(&b);
  batch_free(&out);
  denise_free(model);
}

/* --------------------------------------------------------------------------------- the host's modes */

static void test_modes(const struct precision *p) {
  const uint32_t n = 20, k = 3;
  denise_model *model = load(n, k, 0);
  struct batch b = batch_new(p, n, k, 3), other = batch_new(p, n, k, 3);
  fill(&b, 2);
  memcpy(other.at[M], b.at[M], b.bytes[M]);
  CHECK(run(model, &b, 0) == DENISE_OK);
  const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < 3; i++) {
    fesetround(modes[i]);
#if defined(__x86_64__)
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040); /* denormals flushed, and taken for zero */
    const unsigned set = _mm_getcsr(); /* valgrind does not keep them */
#endif
    const denise_status status = run(model, &other, 0);
    CHECK(fegetround() == modes[i]);
#if defined(__x86_64__)
    CHECK(_mm_getcsr() == set);
    _mm_setcsr(csr);
#endif
    fesetround(FE_TONEAREST);
    CHECK(status == DENISE_OK);
    for (size_t part = U; part < REPORTS; part++) CHECK(memcmp(b.at[part], other.at[part], b.bytes[part]) == 0);
  }
  batch_free(&b);
  batch_free(&other);
  denise_free(model);
}

/* ------------------------------------------------------------------------------------------- streams */

/* Of a stream: what u and the estimated covariance give. */
static void test_streams(void) {
  enum { N = 20, K = 3, STREAMS = 11 };
  denise_model *model = load(N, K, 0);
  denise_stream_options options;
  denise_stream_options_init(&options, sizeof options);
  options.streams = STREAMS;
  options.flags = DENISE_FLAG_CORRELATION;
  denise_stream *stream;
  if (denise_stream_new(model, &options, &stream) != DENISE_OK) abort();
  double *returns = room(STREAMS * N * sizeof *returns), *m = room(STREAMS * N * N * sizeof *m);
  double *u = room(STREAMS * N * K * sizeof *u), *d = room(2 * STREAMS * N * sizeof *d);
  double *sigma = room(2 * STREAMS * N * N * sizeof *sigma), *inverse = room(2 * STREAMS * N * N * sizeof *inverse);
  double *log_det = room(2 * STREAMS * sizeof *log_det);
  uint64_t state = 1;
  for (int tick = 0; tick < 30; tick++) {
    for (size_t i = 0; i < STREAMS * N; i++) returns[i] = 0.01 * random_normal(&state);
    if (tick == 20) returns[5] = (double)NAN;
    CHECK(denise_stream_push_f64(stream, returns, u, NULL, NULL, NULL) == DENISE_OK);
    const bool ready = tick + 1 >= 2 * K;
    const denise_status expected = ready ? DENISE_OK : DENISE_ERR_NOT_FINITE;
    CHECK(denise_stream_sigma_f64(stream, u, 0, d, sigma, inverse, log_det) == expected);
    CHECK(!isnan(d[0]) == ready && !isnan(inverse[N * N - 1]) == ready && !isnan(log_det[STREAMS - 1]) == ready);
    CHECK(denise_stream_covariance_f64(stream, m) == DENISE_OK);
    CHECK(denise_covariance_from_u_batch_f64(N, K, STREAMS, m, u, 0, d + STREAMS * N, sigma + STREAMS * N * N,
                                             inverse + STREAMS * N * N, log_det + STREAMS) == expected);
    CHECK(memcmp(d, d + STREAMS * N, STREAMS * N * sizeof *d) == 0);
    CHECK(memcmp(sigma, sigma + STREAMS * N * N, STREAMS * N * N * sizeof *sigma) == 0);
    CHECK(memcmp(inverse, inverse + STREAMS * N * N, STREAMS * N * N * sizeof *inverse) == 0);
    CHECK(memcmp(log_det, log_det + STREAMS, STREAMS * sizeof *log_det) == 0);
    float narrow[STREAMS * N * K], narrow_d[STREAMS * N];
    for (size_t i = 0; i < STREAMS * N * K; i++) narrow[i] = (float)u[i];
    CHECK(denise_stream_sigma(stream, narrow, 0, narrow_d, NULL, NULL, NULL) == expected);
    bool near = true;
    for (size_t i = 0; ready && i < STREAMS * N; i++) near = near && fabs((double)narrow_d[i] - d[i]) < 1e-5 * d[i];
    CHECK(near);
  }
  CHECK(denise_stream_sigma_f64(NULL, u, 0, d, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_sigma_f64(stream, NULL, 0, d, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_sigma_f64(stream, u, 2, d, NULL, NULL, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_stream_sigma_f64(stream, u, 0, u + 1, NULL, NULL, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_stream_sigma_f64(stream, u, 0, NULL, NULL, NULL, NULL) == DENISE_OK);
  denise_stream_free(stream);
  free(returns);
  free(m);
  free(u);
  free(d);
  free(sigma);
  free(inverse);
  free(log_det);
  denise_free(model);
}

/* ----------------------------------------------------------------------------------------------- rank */

static void test_rank(void) {
  enum { N = 20, COUNT = 12 };
  double *m = room(COUNT * N * N * sizeof *m);
  uint32_t *k = room(COUNT * sizeof *k);
  for (size_t q = 0; q < COUNT; q++) make_matrix(m + q * N * N, N, q); /* of rank 3, and some entries besides */
  CHECK(denise_suggest_rank_batch(N, 0, 0, COUNT, m, k) == DENISE_OK);
  size_t right = 0;
  for (size_t q = 0; q < COUNT; q++) right += k[q] == 3;
  CHECK(right >= COUNT - 1);
  for (size_t q = 0; q < COUNT; q++) { /* alone as among others, and no more than asked for */
    uint32_t one = 77;
    CHECK(denise_suggest_rank_batch(N, 0, 0, 1, m + q * N * N, &one) == DENISE_OK && one == k[q]);
    CHECK(denise_suggest_rank_batch(N, 2, 0, 1, m + q * N * N, &one) == DENISE_OK && one <= 2);
  }
  for (size_t i = 0; i < N * N; i++) m[N * N + i] = i % (N + 1) == 0 ? 1 : 0;
  m[2 * N * N] = (double)INFINITY;
  CHECK(denise_suggest_rank_batch(N, 0, 250, COUNT, m, k) == DENISE_ERR_NOT_FINITE);
  CHECK(k[0] == 3 && k[1] == 0 && k[2] == 0 && k[3] == 3);

  memset(k, 0xA5, COUNT * sizeof *k);
  CHECK(denise_suggest_rank_batch(1, 0, 0, COUNT, m, k) == DENISE_ERR_ARGUMENT);
  CHECK(denise_suggest_rank_batch(513, 0, 0, COUNT, m, k) == DENISE_ERR_UNSUPPORTED);
  CHECK(denise_suggest_rank_batch(N, 33, 0, COUNT, m, k) == DENISE_ERR_UNSUPPORTED);
  CHECK(denise_suggest_rank_batch(N, 0, -1, COUNT, m, k) == DENISE_ERR_ARGUMENT);
  CHECK(denise_suggest_rank_batch(N, 0, (double)NAN, COUNT, m, k) == DENISE_ERR_ARGUMENT);
  CHECK(denise_suggest_rank_batch(N, 0, 0, COUNT, NULL, k) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_suggest_rank_batch(N, 0, 0, COUNT, m, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_suggest_rank_batch(N, 0, 0, SIZE_MAX / 8, m, k) == DENISE_ERR_SHAPE);
  void *crooked = (char *)m + 1, *inside = m + 5;
  CHECK(denise_suggest_rank_batch(N, 0, 0, 1, crooked, k) == DENISE_ERR_ARGUMENT);
  CHECK(denise_suggest_rank_batch(N, 0, 0, 1, m, inside) == DENISE_ERR_ARGUMENT);
  CHECK(is_untouched(k, COUNT * sizeof *k));
  CHECK(denise_suggest_rank_batch(N, 0, 0, 0, NULL, NULL) == DENISE_OK);
  free(m);
  free(k);
}

int main(int argc, char **argv) {
  quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  for (size_t i = 0; i < 2; i++) {
    const struct precision *p = &PRECISIONS[i];
    test_results(p);
    test_products(p);
    test_adversarial(p);
    test_bad_ones(p);
    test_refused(p);
    test_modes(p);
  }
  test_streams();
  test_rank();
  printf("covariance: %lu passed, %lu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
