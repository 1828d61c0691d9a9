/* The promises of denise.h about streams, from C.
 *
 *   stream           everything
 *   stream --quick   the same with smaller numbers, for valgrind
 *
 * A failed check is printed and counted, and the rest still runs. Buffers end where they must, so that a sanitizer sees
 * every byte past them, and what a refused call must not change is compared by its bytes: a stream by its state. */
#define _GNU_SOURCE
#include <denise.h>

#include "matrices.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The layout of the struct is part of the ABI. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(denise_stream_options) == 32, "denise_stream_options");
_Static_assert(offsetof(denise_stream_options, half_life) == 16, "half_life");
_Static_assert(offsetof(denise_stream_options, flags) == 24, "flags");
_Static_assert(offsetof(denise_stream_options, warm_up) == 28, "warm_up");
#endif
_Static_assert(offsetof(denise_stream_options, struct_size) == 0, "struct_size");
_Static_assert(offsetof(denise_stream_options, streams) == sizeof(size_t), "streams");
_Static_assert(offsetof(denise_stream_options, window) == sizeof(size_t) + 4, "window");
_Static_assert(DENISE_STREAM_DEMEAN == 256, "flags");

enum { N = 20, K = 3, STREAMS = 11, WARM_UP = 2 * K };

static bool quick;
static atomic_ulong passed, failed;

static void check(bool good, const char *what, int line) {
  if (good) {
    passed++;
  } else if (failed++ < 40) {
    fprintf(stderr, "stream.c:%d: failed: %s\n", line, what);
  }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static bool all_bytes(const void *from, size_t size, unsigned char value) {
  const unsigned char *bytes = from;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != value) return false;
  }
  return true;
}

static void *room(size_t size) {
  void *block = malloc(size);
  if (block == NULL) abort();
  memset(block, 0xA5, size);
  return block;
}

/* --------------------------------------------------------------------------------- precisions, ticks */

struct precision {
  const char *name;
  size_t size; /* of one value */
  denise_status (*push)(denise_stream *, const void *, void *, void *, void *, denise_report *);
  denise_status (*push_matrices)(denise_stream *, const void *, void *, void *, void *, denise_report *);
};

static denise_status push_f32(denise_stream *stream, const void *in, void *u, void *l, void *s,
                              denise_report *reports) {
  return denise_stream_push(stream, in, u, l, s, reports);
}
static denise_status push_f64(denise_stream *stream, const void *in, void *u, void *l, void *s,
                              denise_report *reports) {
  return denise_stream_push_f64(stream, in, u, l, s, reports);
}
static denise_status matrices_f32(denise_stream *stream, const void *in, void *u, void *l, void *s,
                                  denise_report *reports) {
  return denise_stream_push_matrices(stream, in, u, l, s, reports);
}
static denise_status matrices_f64(denise_stream *stream, const void *in, void *u, void *l, void *s,
                                  denise_report *reports) {
  return denise_stream_push_matrices_f64(stream, in, u, l, s, reports);
}

static const struct precision PRECISIONS[2] = {{"f32", 4, push_f32, matrices_f32}, {"f64", 8, push_f64, matrices_f64}};

static double get(const struct precision *p, const char *values, size_t place) {
  if (p->size == 4) {
    float value;
    memcpy(&value, values + place * sizeof value, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, values + place * sizeof value, sizeof value);
  return value;
}

static void put(const struct precision *p, char *values, size_t place, double wide) {
  if (p->size == 4) {
    float value = (float)wide;
    memcpy(values + place * sizeof value, &value, sizeof value);
  } else {
    memcpy(values + place * sizeof wide, &wide, sizeof wide);
  }
}

enum { IN, U, L, S, R, BUFFERS };

/* The buffers of one tick, each of its exact size. */
struct tick {
  const struct precision *p;
  size_t streams, bytes[BUFFERS];
  char *at[BUFFERS];
};

static struct tick tick_new(const struct precision *p, size_t streams, bool matrices) {
  struct tick t = {.p = p, .streams = streams};
  t.bytes[IN] = streams * N * (matrices ? N : 1) * p->size;
  t.bytes[U] = streams * N * K * p->size;
  t.bytes[L] = t.bytes[S] = streams * N * N * p->size;
  t.bytes[R] = streams * sizeof(denise_report);
  for (size_t i = 0; i < BUFFERS; i++) t.at[i] = room(t.bytes[i]);
  return t;
}

static void tick_free(struct tick *t) {
  for (size_t i = 0; i < BUFFERS; i++) free(t->at[i]);
}

static denise_report *reports_of(const struct tick *t) { return (denise_report *)(void *)t->at[R]; }

/* Returns of stream `which` at a time: three factors and noise. */
static void returns_of(double *returns, size_t which, size_t time) {
  uint64_t state = 1000003 * which + time + 1, loads = which + 7;
  double factors[K];
  for (size_t a = 0; a < K; a++) factors[a] = random_normal(&state);
  for (size_t i = 0; i < N; i++) {
    returns[i] = 0.005 * random_normal(&state);
    for (size_t a = 0; a < K; a++) returns[i] += 0.01 * random_normal(&loads) * factors[a];
  }
}

/* Stream q of the tick has the returns of stream first + q. */
static void fill(struct tick *t, size_t first, size_t time) {
  double returns[N];
  for (size_t q = 0; q < t->streams; q++) {
    returns_of(returns, first + q, time);
    for (size_t i = 0; i < N; i++) put(t->p, t->at[IN], q * N + i, returns[i]);
  }
}

static void fill_matrices(struct tick *t, uint64_t seed) {
  double m[N * N];
  for (size_t q = 0; q < t->streams; q++) {
    make_matrix(m, N, seed + q);
    for (size_t i = 0; i < N * N; i++) put(t->p, t->at[IN], q * N * N + i, m[i]);
  }
}

static denise_status push(denise_stream *stream, struct tick *t) {
  return t->p->push(stream, t->at[IN], t->at[U], t->at[L], t->at[S], reports_of(t));
}

/* Whether outputs of stream i of a and stream j of b have the same bits. */
static bool same_stream(const struct tick *a, size_t i, const struct tick *b, size_t j) {
  for (size_t x = U; x < BUFFERS; x++) {
    size_t each = a->bytes[x] / a->streams;
    if (memcmp(a->at[x] + i * each, b->at[x] + j * each, each) != 0) return false;
  }
  return true;
}

static bool untouched(const struct tick *t) {
  for (size_t x = U; x < BUFFERS; x++) {
    if (!all_bytes(t->at[x], t->bytes[x], 0xA5)) return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------ models, streams */

static denise_model *load(uint32_t flags) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = N;
  options.k = K;
  options.flags = flags;
  denise_model *model = NULL;
  if (denise_load(NULL, &options, &model) != DENISE_OK) {
    fprintf(stderr, "stream.c: cannot load: %s\n", denise_last_error());
    exit(1);
  }
  return model;
}

static denise_stream_options options_for(uint32_t streams) {
  denise_stream_options options;
  denise_stream_options_init(&options, sizeof options);
  options.streams = streams;
  return options;
}

/* Tests cannot go on without a stream. */
static denise_stream *new_stream(const denise_model *model, const denise_stream_options *options) {
  denise_stream *stream = NULL;
  if (denise_stream_new(model, options, &stream) != DENISE_OK) {
    fprintf(stderr, "stream.c: no stream: %s\n", denise_last_error());
    exit(1);
  }
  return stream;
}

static denise_model *shared;

static denise_stream *stream_of(denise_stream_options options) { return new_stream(shared, &options); }

static unsigned char *saved(const denise_stream *stream) {
  size_t size = denise_stream_state_size(stream);
  unsigned char *state = room(size);
  CHECK(denise_stream_save(stream, state, size) == DENISE_OK);
  return state;
}

/* Whether the stream is where it was when it was saved. */
static bool is_as(const denise_stream *stream, const unsigned char *state) {
  unsigned char *now = saved(stream);
  bool same = memcmp(now, state, denise_stream_state_size(stream)) == 0;
  free(now);
  return same;
}

static void run(denise_stream *stream, struct tick *t, size_t from, size_t to) {
  for (size_t time = from; time < to; time++) {
    fill(t, 0, time);
    CHECK(push(stream, t) == DENISE_OK);
  }
}

/* ------------------------------------------------------------------------------------------- options */

static void test_options(const denise_model *model) {
  denise_stream_options_init(NULL, sizeof(denise_stream_options));
  struct {
    denise_stream_options options;
    unsigned char after[64];
  } box;
  memset(&box, 0xC5, sizeof box);
  denise_stream_options_init(&box.options, sizeof box.options);
  CHECK(box.options.struct_size == sizeof(denise_stream_options));
  CHECK(box.options.streams == 1 && box.options.window == 0 && box.options.half_life == 0);
  CHECK(box.options.flags == 0 && box.options.warm_up == 0);
  CHECK(all_bytes(box.after, sizeof box.after, 0xC5));
  /* A program of an older header has a shorter struct: nothing is written past it. */
  for (size_t size = 0; size <= sizeof box.options; size++) {
    unsigned char *shorter = room(sizeof box.options);
    denise_stream_options_init((denise_stream_options *)(void *)shorter, size);
    CHECK(all_bytes(shorter + size, sizeof box.options - size, 0xA5));
    free(shorter);
  }

  denise_stream *stream = (denise_stream *)(void *)&stream; /* anything but NULL */
  CHECK(denise_stream_new(model, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_new(NULL, NULL, &stream) == DENISE_ERR_NULL_POINTER && stream == NULL);
  CHECK(denise_stream_new(NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_new(model, NULL, &stream) == DENISE_OK && stream != NULL);
  denise_stream_free(stream);
  denise_stream_free(NULL);

  for (size_t size = 0; size < 2 * sizeof(denise_stream_options); size++) {
    denise_stream_options options = options_for(1);
    options.struct_size = size;
    stream = (denise_stream *)(void *)&stream;
    denise_status expected = size == sizeof options ? DENISE_OK : DENISE_ERR_ARGUMENT;
    CHECK(denise_stream_new(model, &options, &stream) == expected);
    CHECK((stream != NULL) == (expected == DENISE_OK));
    denise_stream_free(stream);
  }
  /* Options may lie anywhere. */
  denise_stream_options options = options_for(2);
  char *shifted = room(sizeof options + 1);
  memcpy(shifted + 1, &options, sizeof options);
  const void *odd = shifted + 1;
  CHECK(denise_stream_new(model, odd, &stream) == DENISE_OK);
  denise_stream_free(stream);
  free(shifted);
}

/* Each row: streams, window, half-life, flags, warm-up, and whether there can be such a stream. */
static void test_ranges(const denise_model *model) {
  const struct {
    uint32_t streams, window;
    double half_life;
    uint32_t flags, warm_up;
    bool good;
  } rows[] = {
      {1, 0, 0, 0, 0, true},
      {0, 0, 0, 0, 0, false},
      {1048577, 0, 0, 0, 0, false},
      {UINT32_MAX, 0, 0, 0, 0, false},
      {1, 1, 0, 0, 0, false},
      {1, 2, 0, 0, 0, true},
      {1, 1048577, 0, 0, 0, false},
      {1, UINT32_MAX, 0, 0, 0, false},
      {1, 100, 60, 0, 0, false},
      {1, 0, 0.1, 0, 0, true},
      {1, 0, 1e9, 0, 0, true},
      {1, 0, 0.09, 0, 0, false},
      {1, 0, 1.1e9, 0, 0, false},
      {1, 0, -60, 0, 0, false},
      {1, 0, (double)NAN, 0, 0, false},
      {1, 0, (double)INFINITY, 0, 0, false},
      {1, 100, (double)NAN, 0, 0, false},
      {1, 0, 0, DENISE_FLAG_CORRELATION, 0, true},
      {1, 0, 0, DENISE_STREAM_DEMEAN, 0, true},
      {1, 0, 0, DENISE_FLAG_CORRELATION | DENISE_STREAM_DEMEAN, 0, true},
      {1, 0, 0, DENISE_FLAG_PORTABLE, 0, false},
      {1, 0, 0, DENISE_FLAG_CAREFUL, 0, false},
      {1, 0, 0, DENISE_FLAG_MISSING, 0, false},
      {1, 0, 0, 64, 0, false},
      {1, 0, 0, 512, 0, false},
      {1, 0, 0, 0x80000000U, 0, false},
      {1, 0, 0, UINT32_MAX, 0, false},
      {1, 10, 0, 0, 10, true},
      {1, 10, 0, 0, 11, false},
      {1, 0, 0, 0, UINT32_MAX, false},
      {STREAMS, 0, 0, 0, 1, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    denise_stream_options options = options_for(rows[i].streams);
    options.window = rows[i].window;
    options.half_life = rows[i].half_life;
    options.flags = rows[i].flags;
    options.warm_up = rows[i].warm_up;
    denise_stream *stream = (denise_stream *)(void *)&stream;
    denise_status status = denise_stream_new(model, &options, &stream);
    CHECK(status == (rows[i].good ? DENISE_OK : DENISE_ERR_ARGUMENT));
    CHECK((stream != NULL) == rows[i].good);
    if (!rows[i].good) CHECK(denise_last_error()[0] != '\0');
    denise_stream_free(stream);
  }

  /* What no stream can be made of. */
  denise_stream *stream = (denise_stream *)(void *)&stream;
  denise_model *careful = load(DENISE_FLAG_CAREFUL), *dense = NULL;
  CHECK(denise_stream_new(careful, NULL, &stream) == DENISE_ERR_UNSUPPORTED && stream == NULL);
  denise_free(careful);
#ifdef SMALL /* a library without the loader for networks of others */
  CHECK(denise_load(DENSE, NULL, &dense) == DENISE_ERR_UNSUPPORTED && dense == NULL);
#else
  if (denise_load(DENSE, NULL, &dense) == DENISE_OK) {
    CHECK(denise_stream_new(dense, NULL, &stream) == DENISE_ERR_UNSUPPORTED && stream == NULL);
    denise_free(dense);
  } else {
    CHECK(false);
  }
#endif
}

/* ---------------------------------------------------------------------------------- errors of a call */

static void test_null(void) {
  float in[N] = {0}, l[N * N];
  double m[N * N];
  char state[8];
  CHECK(denise_stream_push(NULL, in, NULL, l, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_push_f64(NULL, m, NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_push_matrices(NULL, in, NULL, l, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_push_matrices_f64(NULL, m, NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_covariance_f64(NULL, m) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_state_size(NULL) == 0 && denise_stream_state_size_one(NULL) == 0);
  CHECK(denise_stream_save(NULL, state, sizeof state) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_save_one(NULL, 0, state, sizeof state) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_restore(NULL, state, sizeof state) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_restore_one(NULL, 0, state, sizeof state) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_reset(NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_reset_one(NULL, 0) == DENISE_ERR_NULL_POINTER);
}

/* A call that is refused writes nothing and leaves the stream where it was. */
static void test_refused(const struct precision *p) {
  denise_stream *stream = stream_of(options_for(2));
  struct tick t = tick_new(p, 2, false), outputs = tick_new(p, 2, true);
  run(stream, &t, 0, 10);
  unsigned char *state = saved(stream);
  denise_report *reports = reports_of(&outputs);
  char **at = outputs.at;
  CHECK(p->push(stream, NULL, at[U], at[L], at[S], reports) == DENISE_ERR_NULL_POINTER);
  CHECK(p->push_matrices(stream, NULL, at[U], at[L], at[S], reports) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_covariance_f64(stream, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_save(stream, NULL, 1 << 20) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_save_one(stream, 0, NULL, 1 << 20) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_restore(stream, NULL, 1 << 20) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_stream_restore_one(stream, 0, NULL, 1 << 20) == DENISE_ERR_NULL_POINTER);

  /* Past the end of the address space. */
  char *last = (char *)(UINTPTR_MAX - 15);
  CHECK(p->push(stream, last, NULL, NULL, NULL, NULL) == DENISE_ERR_SHAPE);
  CHECK(p->push(stream, t.at[IN], NULL, last, NULL, NULL) == DENISE_ERR_SHAPE);
  CHECK(denise_stream_save(stream, state, SIZE_MAX) == DENISE_ERR_SHAPE);
  CHECK(denise_stream_restore(stream, state, SIZE_MAX) == DENISE_ERR_SHAPE);

  /* Each buffer away from its alignment: by a byte, and by half a value. */
  for (int matrices = 0; matrices < 2; matrices++) {
    struct tick in = tick_new(p, 2, matrices != 0);
    memset(in.at[IN], 0, in.bytes[IN]);
    for (size_t x = 0; x < BUFFERS; x++) {
      const size_t align = x == R ? alignof(denise_report) : p->size;
      const size_t shifts[] = {1, align / 2, align - 1};
      for (size_t i = 0; i < 3; i++) {
        char *odd = room(in.bytes[x] + align), *all[BUFFERS] = {in.at[IN], NULL, NULL, NULL, NULL};
        memset(odd, 0, in.bytes[x] + align);
        all[x] = odd + shifts[i];
        void *odd_reports = all[R];
        CHECK((matrices ? p->push_matrices : p->push)(stream, all[IN], all[U], all[L], all[S], odd_reports) ==
              DENISE_ERR_ARGUMENT);
        CHECK(all_bytes(odd, in.bytes[x] + align, 0));
        free(odd);
      }
    }

    /* Every pair that overlaps: y starts inside x, at its first value, in its middle, at its last one. */
    const size_t most = 4 * outputs.bytes[L];
    char *field = room(most);
    memset(field, 0, most);
    for (size_t x = 0; x < BUFFERS; x++) {
      for (size_t y = 0; y < BUFFERS; y++) {
        if (x == y) continue;
        const size_t shifts[] = {0, in.bytes[x] / 16 * 8, in.bytes[x] - 8};
        for (size_t i = 0; i < 3; i++) {
          char *all[BUFFERS] = {in.at[IN], NULL, NULL, NULL, NULL};
          all[x] = field;
          all[y] = field + shifts[i];
          void *there = all[R];
          CHECK((matrices ? p->push_matrices : p->push)(stream, all[IN], all[U], all[L], all[S], there) ==
                DENISE_ERR_ARGUMENT);
        }
      }
    }
    CHECK(all_bytes(field, most, 0));
    free(field);
    tick_free(&in);
  }
  char *odd = room(2 * N * N * sizeof(double) + 1);
  void *odd_m = odd + 1;
  CHECK(denise_stream_covariance_f64(stream, odd_m) == DENISE_ERR_ARGUMENT);
  free(odd);

  /* A stream that is not there. */
  const size_t wrong[] = {2, 3, 1U << 20, SIZE_MAX};
  unsigned char *one = room(denise_stream_state_size_one(stream));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(denise_stream_save_one(stream, wrong[i], one, denise_stream_state_size_one(stream)) == DENISE_ERR_ARGUMENT);
    CHECK(denise_stream_restore_one(stream, wrong[i], state, 1) == DENISE_ERR_ARGUMENT);
    CHECK(denise_stream_reset_one(stream, wrong[i]) == DENISE_ERR_ARGUMENT);
  }
  CHECK(all_bytes(one, denise_stream_state_size_one(stream), 0xA5));
  CHECK(untouched(&outputs));
  CHECK(is_as(stream, state));

  /* Neighbours that touch do not overlap. */
  char *field = room(4 * outputs.bytes[L]);
  memcpy(field, t.at[IN], t.bytes[IN]);
  char *u = field + t.bytes[IN], *l = u + t.bytes[U], *s = l + t.bytes[L];
  CHECK(p->push(stream, field, u, l, s, NULL) == DENISE_OK);
  free(field);
  free(one);
  free(state);
  tick_free(&t);
  tick_free(&outputs);
  denise_stream_free(stream);
}

/* ----------------------------------------------------------------------------- what a tick computes */

/* Before the first split there is none; from then on L + S is the covariance, and L = U U'. */
static void test_results(const struct precision *p, denise_stream_options options) {
  options.streams = STREAMS;
  denise_stream *stream = stream_of(options);
  struct tick t = tick_new(p, STREAMS, false);
  double *m = room(STREAMS * N * N * sizeof *m);
  const size_t first = options.warm_up != 0 ? options.warm_up : WARM_UP;
  for (size_t time = 0; time < 45; time++) {
    fill(&t, 0, time);
    CHECK(push(stream, &t) == DENISE_OK);
    CHECK(denise_stream_covariance_f64(stream, m) == DENISE_OK);
    const bool ready = time + 1 >= first;
    bool right = true, symmetric = true;
    for (size_t q = 0; q < STREAMS; q++) {
      const denise_report *report = &reports_of(&t)[q];
      right = right && report->status == (ready ? DENISE_OK : DENISE_ERR_NOT_READY) && !isnan(report->l1) == ready;
      right = right && report->first_bad == UINT32_MAX && report->missing == 0;
      const char *u = t.at[U] + q * N * K * p->size;
      const char *l = t.at[L] + q * N * N * p->size, *s = t.at[S] + q * N * N * p->size;
      double trace = 0;
      for (size_t i = 0; i < N; i++) trace += m[q * N * N + i * (N + 1)];
      for (size_t at = 0; at < N * N; at++) {
        const double wide_l = get(p, l, at), wide_s = get(p, s, at), wide_m = m[q * N * N + at];
        if (!ready) {
          right = right && isnan(wide_l) && isnan(wide_s) && isnan(wide_m);
          continue;
        }
        double product = 0;
        for (size_t a = 0; a < K; a++) product += get(p, u, at / N * K + a) * get(p, u, at % N * K + a);
        const double tolerance = (p->size == 4 ? 1e-6 : 1e-12) * trace;
        right = right && fabs(wide_l + wide_s - wide_m) <= tolerance && fabs(product - wide_l) <= tolerance;
        symmetric = symmetric && wide_l == get(p, l, at % N * N + at / N);
      }
    }
    CHECK(right);
    CHECK(symmetric);
  }
  free(m);
  tick_free(&t);
  denise_stream_free(stream);
}

/* Each subset of the outputs has the bits that it has among all of them. */
static void test_subsets(const struct precision *p) {
  denise_stream *stream = stream_of(options_for(STREAMS));
  struct tick all = tick_new(p, STREAMS, false);
  run(stream, &all, 0, 30);
  unsigned char *state = saved(stream);
  fill(&all, 0, 30);
  CHECK(push(stream, &all) == DENISE_OK);
  for (unsigned subset = 0; subset < 16; subset++) {
    struct tick some = tick_new(p, STREAMS, false);
    char *at[BUFFERS] = {all.at[IN], NULL, NULL, NULL, NULL};
    for (size_t x = U; x < BUFFERS; x++) {
      if (subset & (1U << (x - U))) at[x] = some.at[x];
    }
    void *reports = at[R];
    CHECK(denise_stream_restore(stream, state, denise_stream_state_size(stream)) == DENISE_OK);
    CHECK(p->push(stream, at[IN], at[U], at[L], at[S], reports) == DENISE_OK);
    for (size_t x = U; x < BUFFERS; x++) {
      if (at[x] != NULL) CHECK(memcmp(some.at[x], all.at[x], all.bytes[x]) == 0);
    }
    tick_free(&some);
  }
  free(state);
  tick_free(&all);
  denise_stream_free(stream);
}

/* A stream has the same bits alone and among others, whatever their number. */
static void test_alone(const struct precision *p, denise_stream_options options) {
  const uint32_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 23};
  const size_t ticks = quick ? 12 : 45;
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    const uint32_t count = counts[c];
    if (quick && count > 9) break;
    options.streams = count;
    denise_stream *many = stream_of(options);
    options.streams = 1;
    denise_stream *each[23];
    struct tick t = tick_new(p, count, false), one = tick_new(p, 1, false);
    for (size_t q = 0; q < count; q++) each[q] = stream_of(options);
    bool same = true;
    for (size_t time = 0; time < ticks; time++) {
      fill(&t, 0, time);
      if (time == 9) put(p, t.at[IN], (count - 1) * N + 3, (double)NAN); /* not known */
      CHECK(push(many, &t) == DENISE_OK);
      for (size_t q = 0; q < count; q++) {
        fill(&one, q, time);
        if (time == 9 && q == count - 1) put(p, one.at[IN], 3, (double)NAN);
        CHECK(push(each[q], &one) == DENISE_OK);
        same = same && same_stream(&t, q, &one, 0);
      }
    }
    CHECK(same);
    /* The state of one of them is that of a stream alone, which goes on from it. */
    const size_t size = denise_stream_state_size_one(many);
    CHECK(size == denise_stream_state_size(each[0]) && size == denise_stream_state_size_one(each[0]));
    unsigned char *state = room(size);
    for (size_t q = 0; q < count; q++) {
      CHECK(denise_stream_save_one(many, q, state, size) == DENISE_OK);
      CHECK(denise_stream_reset(each[q]) == DENISE_OK && denise_stream_restore(each[q], state, size) == DENISE_OK);
    }
    fill(&t, 0, ticks);
    CHECK(push(many, &t) == DENISE_OK);
    for (size_t q = 0; q < count; q++) {
      fill(&one, q, ticks);
      CHECK(push(each[q], &one) == DENISE_OK && same_stream(&t, q, &one, 0));
      denise_stream_free(each[q]);
    }
    free(state);
    tick_free(&t);
    tick_free(&one);
    denise_stream_free(many);
  }
}

/* A bad tick of one stream: it gets NaN, the others their bits, and the next tick goes on as if nothing had been. */
static void test_not_finite(const struct precision *p) {
  denise_stream *stream = stream_of(options_for(STREAMS)), *calm = stream_of(options_for(STREAMS));
  struct tick t = tick_new(p, STREAMS, false), good = tick_new(p, STREAMS, false);
  run(stream, &t, 0, 10);
  run(calm, &good, 0, 10);
  double *before = room(STREAMS * N * N * sizeof *before), *after = room(STREAMS * N * N * sizeof *after);
  const double bad[] = {(double)INFINITY, -(double)INFINITY, p->size == 8 ? 1.1e100 : -(double)INFINITY};
  for (size_t i = 0; i < 3; i++) {
    const size_t victim = 4 * i, asset = 7 * i;
    CHECK(denise_stream_covariance_f64(stream, before) == DENISE_OK);
    fill(&t, 0, 10 + i);
    fill(&good, 0, 10 + i);
    CHECK(push(calm, &good) == DENISE_OK);
    put(p, t.at[IN], victim * N + asset, bad[i]);
    CHECK(push(stream, &t) == DENISE_ERR_NOT_FINITE);
    const denise_report *report = &reports_of(&t)[victim];
    CHECK(report->status == DENISE_ERR_NOT_FINITE && report->first_bad == asset && isnan(report->residual));
    for (size_t at = 0; at < N * N; at++) CHECK(isnan(get(p, t.at[L], victim * N * N + at)));
    for (size_t at = 0; at < N * K; at++) CHECK(isnan(get(p, t.at[U], victim * N * K + at)));
    for (size_t q = 0; q < STREAMS; q++) {
      if (q % 4 != 0) CHECK(same_stream(&t, q, &good, q));
    }
    CHECK(denise_stream_covariance_f64(stream, after) == DENISE_OK);
    CHECK(memcmp(before + victim * N * N, after + victim * N * N, N * N * sizeof *before) == 0);
  }
  fill(&t, 0, 20);
  CHECK(push(stream, &t) == DENISE_OK);
  for (size_t q = 0; q < STREAMS; q++) CHECK(reports_of(&t)[q].status == DENISE_OK);

  /* A matrix with NaN too, unless the model was loaded for that. */
  struct tick m = tick_new(p, 2, true);
  denise_model *model = load(DENISE_FLAG_MISSING);
  denise_stream_options two = options_for(2);
  denise_stream *holes = new_stream(model, &two), *strict = stream_of(two);
  denise_free(model);
  fill_matrices(&m, 3);
  put(p, m.at[IN], 5 * N + 2, (double)NAN);
  CHECK(p->push_matrices(strict, m.at[IN], m.at[U], m.at[L], m.at[S], reports_of(&m)) == DENISE_ERR_NOT_FINITE);
  CHECK(reports_of(&m)[0].status == DENISE_ERR_NOT_FINITE && reports_of(&m)[0].first_bad == 5 * N + 2);
  CHECK(reports_of(&m)[1].status == DENISE_OK && isnan(get(p, m.at[L], 0)) && isfinite(get(p, m.at[L], N * N)));
  CHECK(p->push_matrices(holes, m.at[IN], m.at[U], m.at[L], m.at[S], reports_of(&m)) == DENISE_OK);
  CHECK(reports_of(&m)[0].missing == 1 && isfinite(get(p, m.at[L], 0)) && isnan(get(p, m.at[S], 5 * N + 2)));
  denise_stream_free(holes);
  denise_stream_free(strict);
  free(before);
  free(after);
  tick_free(&m);
  tick_free(&t);
  tick_free(&good);
  denise_stream_free(stream);
  denise_stream_free(calm);
}

/* The first tick of matrices is a split as denise_decompose_batch has it, and the estimate does not hear of it. */
static void test_matrices(const struct precision *p) {
  denise_stream *stream = stream_of(options_for(STREAMS));
  struct tick t = tick_new(p, STREAMS, true), returns = tick_new(p, STREAMS, false);
  double *before = room(STREAMS * N * N * sizeof *before), *after = room(STREAMS * N * N * sizeof *after);
  run(stream, &returns, 0, 10);
  CHECK(denise_stream_covariance_f64(stream, before) == DENISE_OK);
  for (uint64_t seed = 0; seed < 25; seed++) {
    fill_matrices(&t, 5);
    CHECK(p->push_matrices(stream, t.at[IN], t.at[U], t.at[L], t.at[S], reports_of(&t)) == DENISE_OK);
    bool sums = true;
    for (size_t at = 0; at < STREAMS * N * N; at++) {
      const double m = get(p, t.at[IN], at), l = get(p, t.at[L], at), s = get(p, t.at[S], at);
      sums = sums && fabs(l + s - m) <= (p->size == 4 ? 1e-5 : 1e-12);
    }
    CHECK(sums);
  }
  CHECK(denise_stream_covariance_f64(stream, after) == DENISE_OK);
  CHECK(memcmp(before, after, STREAMS * N * N * sizeof *before) == 0);
  /* The upper triangle may hold anything. */
  unsigned char *state = saved(stream);
  struct tick other = tick_new(p, STREAMS, true);
  CHECK(p->push_matrices(stream, t.at[IN], t.at[U], t.at[L], t.at[S], reports_of(&t)) == DENISE_OK);
  memcpy(other.at[IN], t.at[IN], t.bytes[IN]);
  for (size_t q = 0; q < STREAMS; q++) put(p, other.at[IN], q * N * N + 3 * N + 9, (double)NAN);
  CHECK(denise_stream_restore(stream, state, denise_stream_state_size(stream)) == DENISE_OK);
  CHECK(p->push_matrices(stream, other.at[IN], other.at[U], other.at[L], other.at[S], reports_of(&other)) == DENISE_OK);
  for (size_t q = 0; q < STREAMS; q++) CHECK(same_stream(&t, q, &other, q));
  free(state);
  free(before);
  free(after);
  tick_free(&other);
  tick_free(&t);
  tick_free(&returns);
  denise_stream_free(stream);
}

/* Both precisions in turn: the estimate of returns that both can hold is the same to the bit. */
static void test_alternate(void) {
  denise_stream *mixed = stream_of(options_for(1)), *wide = stream_of(options_for(1));
  struct tick f32 = tick_new(&PRECISIONS[0], 1, false), f64 = tick_new(&PRECISIONS[1], 1, false);
  double m_mixed[N * N], m_wide[N * N];
  for (size_t time = 0; time < 60; time++) {
    fill(&f32, 0, time);
    for (size_t i = 0; i < N; i++) put(f64.p, f64.at[IN], i, get(f32.p, f32.at[IN], i));
    CHECK(push(mixed, time % 2 == 0 ? &f32 : &f64) == DENISE_OK);
    CHECK(push(wide, &f64) == DENISE_OK);
  }
  CHECK(denise_stream_covariance_f64(mixed, m_mixed) == DENISE_OK);
  CHECK(denise_stream_covariance_f64(wide, m_wide) == DENISE_OK);
  CHECK(memcmp(m_mixed, m_wide, sizeof m_wide) == 0 && m_wide[0] > 0);
  CHECK(reports_of(&f32)->status == DENISE_OK && isfinite(get(f32.p, f32.at[L], 0)));
  tick_free(&f32);
  tick_free(&f64);
  denise_stream_free(mixed);
  denise_stream_free(wide);
}

/* A market that was closed, with zeros or nothing known, when the stream was to split first: it is followed as soon as
 * there is something to follow, not at the next start from scratch. */
static void test_closed(const struct precision *p, double closed) {
  denise_stream *stream = stream_of(options_for(1));
  struct tick t = tick_new(p, 1, false);
  for (size_t time = 0; time < 3 * WARM_UP; time++) {
    fill(&t, 0, time);
    for (size_t i = 0; i < N && time < WARM_UP; i++) put(p, t.at[IN], i, closed);
    CHECK(push(stream, &t) == DENISE_OK);
    if (time >= 2 * WARM_UP) CHECK(get(p, t.at[L], 0) > 0 && reports_of(&t)->residual < 0.9F);
  }
  tick_free(&t);
  denise_stream_free(stream);
}

/* -------------------------------------------------------------------------------------------- states */

static void test_states(const struct precision *p, denise_stream_options options) {
  options.streams = 3;
  denise_stream *stream = stream_of(options);
  struct tick t = tick_new(p, 3, false), again = tick_new(p, 3, false);
  run(stream, &t, 0, 35);
  const size_t size = denise_stream_state_size(stream), size_one = denise_stream_state_size_one(stream);
  unsigned char *state = saved(stream), *one = room(size_one);
  CHECK(denise_stream_save_one(stream, 1, one, size_one) == DENISE_OK);

  /* The same bits afterwards: on this handle, and on another one. */
  denise_stream *other = stream_of(options);
  run(stream, &t, 35, 60);
  CHECK(denise_stream_restore(other, state, size) == DENISE_OK && is_as(other, state));
  run(other, &again, 35, 60);
  for (size_t q = 0; q < 3; q++) CHECK(same_stream(&t, q, &again, q));
  CHECK(denise_stream_restore(stream, state, size) == DENISE_OK);
  run(stream, &again, 35, 60);
  for (size_t q = 0; q < 3; q++) CHECK(same_stream(&t, q, &again, q));

  /* One of them in the place of another: the rest stays. */
  CHECK(denise_stream_restore(stream, state, size) == DENISE_OK);
  CHECK(denise_stream_restore_one(stream, 2, one, size_one) == DENISE_OK);
  unsigned char *now = room(size_one);
  for (size_t q = 0; q < 3; q++) {
    CHECK(denise_stream_save_one(stream, q, now, size_one) == DENISE_OK);
    CHECK((memcmp(now, one, size_one) == 0) == (q != 0));
  }

  /* A reset stream is as new. */
  denise_stream *fresh = stream_of(options);
  unsigned char *empty = saved(fresh);
  CHECK(denise_stream_reset(stream) == DENISE_OK && is_as(stream, empty));
  CHECK(denise_stream_restore(stream, state, size) == DENISE_OK && denise_stream_reset_one(stream, 1) == DENISE_OK);
  CHECK(push(stream, &t) == DENISE_OK && reports_of(&t)[1].status == DENISE_ERR_NOT_READY);
  CHECK(reports_of(&t)[0].status == DENISE_OK && reports_of(&t)[2].status == DENISE_OK);
  CHECK(denise_stream_restore(stream, state, size) == DENISE_OK);

  /* Room that is too short is not written to; what is longer is, at its front. */
  for (size_t cut = 0; cut < size; cut += quick ? 997 : 61) {
    unsigned char *shorter = room(cut + 1);
    CHECK(denise_stream_save(stream, shorter, cut) == DENISE_ERR_SHAPE);
    CHECK(all_bytes(shorter, cut + 1, 0xA5));
    memcpy(shorter, state, cut);
    CHECK(denise_stream_restore(stream, shorter, cut) == DENISE_ERR_FORMAT);
    free(shorter);
  }
  unsigned char *longer = room(size + 9);
  CHECK(denise_stream_save(stream, longer, size + 9) == DENISE_OK && memcmp(longer, state, size) == 0);
  CHECK(all_bytes(longer + size, 9, 0xA5));
  CHECK(denise_stream_restore(stream, longer, size + 1) == DENISE_ERR_FORMAT);
  CHECK(denise_stream_restore(stream, longer, size + 8) == DENISE_ERR_FORMAT);
  /* Any alignment will do. */
  memmove(longer + 1, longer, size);
  CHECK(denise_stream_restore(stream, longer + 1, size) == DENISE_OK);
  CHECK(denise_stream_save(stream, longer + 1, size) == DENISE_OK && memcmp(longer + 1, state, size) == 0);
  free(longer);

  /* One bit that is another, anywhere. */
  for (size_t at = 0; at < size; at += quick ? 499 : 7) {
    state[at] ^= (unsigned char)(1U << at % 8);
    CHECK(denise_stream_restore(stream, state, size) == DENISE_ERR_FORMAT);
    state[at] ^= (unsigned char)(1U << at % 8);
  }
  uint64_t random = 3;
  for (int i = 0; i < 20; i++) {
    for (size_t at = 0; at < size_one; at++) now[at] = (unsigned char)random_bits(&random);
    CHECK(denise_stream_restore_one(stream, 0, now, size_one) == DENISE_ERR_FORMAT);
  }
  CHECK(denise_stream_restore(stream, one, size_one) == DENISE_ERR_SHAPE);
  CHECK(denise_stream_restore_one(stream, 0, state, size) == DENISE_ERR_SHAPE);
  CHECK(is_as(stream, state));

  free(now);
  free(empty);
  free(one);
  free(state);
  tick_free(&t);
  tick_free(&again);
  denise_stream_free(fresh);
  denise_stream_free(other);
  denise_stream_free(stream);
}

/* States of streams that were made otherwise, all of which are whole. */
static void test_other_states(void) {
  denise_stream *stream = stream_of(options_for(2));
  struct tick t = tick_new(&PRECISIONS[1], 2, false);
  run(stream, &t, 0, 10);
  unsigned char *state = saved(stream);

  denise_stream_options others[7];
  for (size_t i = 0; i < 7; i++) others[i] = options_for(2);
  others[0].streams = 3;
  others[1].window = 60;
  others[2].half_life = 61;
  others[3].flags = DENISE_STREAM_DEMEAN;
  others[4].flags = DENISE_FLAG_CORRELATION;
  others[5].warm_up = WARM_UP + 1;
  others[6].half_life = 60; /* what 0 means: no other at all */
  for (size_t i = 0; i < 7; i++) {
    denise_stream *other = stream_of(others[i]);
    unsigned char *its = saved(other);
    const denise_status expected = i == 0 ? DENISE_ERR_SHAPE : i == 6 ? DENISE_OK : DENISE_ERR_ARGUMENT;
    CHECK(denise_stream_restore(stream, its, denise_stream_state_size(other)) == expected);
    if (i != 6) CHECK(is_as(stream, state));
    free(its);
    denise_stream_free(other);
  }
  CHECK(denise_stream_restore(stream, state, denise_stream_state_size(stream)) == DENISE_OK);

  /* Other sizes of matrices. */
  denise_options sizes;
  denise_options_init(&sizes, sizeof sizes);
  for (uint32_t i = 0; i < 2; i++) {
    sizes.n = N + i;
    sizes.k = K - 1 + i;
    denise_model *model = NULL;
    CHECK(denise_load(NULL, &sizes, &model) == DENISE_OK);
    denise_stream_options two = options_for(2);
    denise_stream *other = new_stream(model, &two);
    unsigned char *its = saved(other);
    CHECK(denise_stream_restore(stream, its, denise_stream_state_size(other)) == DENISE_ERR_SHAPE);
    CHECK(is_as(stream, state));
    free(its);
    denise_stream_free(other);
    denise_free(model);
  }
  free(state);
  tick_free(&t);
  denise_stream_free(stream);
}

/* --------------------------------------------------------------------------- threads, and their modes */

struct caller {
  denise_stream *stream;
  struct tick tick;
  unsigned long done, refused, other;
};

static void *call_often(void *argument) {
  struct caller *caller = argument;
  unsigned char *state = room(denise_stream_state_size_one(caller->stream) + (1U << 16));
  double *m = room(4 * N * N * sizeof *m);
  for (int i = 0; i < (quick ? 50 : 3000); i++) {
    denise_status status;
    switch (i % 8) {
      case 3: status = denise_stream_save_one(caller->stream, 1, state, 1U << 16); break;
      case 5: status = denise_stream_covariance_f64(caller->stream, m); break;
      case 7: status = denise_stream_reset_one(caller->stream, 2); break;
      default: status = push(caller->stream, &caller->tick); break;
    }
    caller->done += status == DENISE_OK;
    caller->refused += status == DENISE_ERR_ARGUMENT;
    caller->other += status != DENISE_OK && status != DENISE_ERR_ARGUMENT;
  }
  free(m);
  free(state);
  return NULL;
}

/* Two threads on one stream, which they must not: each call is done as a whole or refused. */
static void test_threads(void) {
  denise_stream *stream = stream_of(options_for(4));
  CHECK(denise_stream_state_size_one(stream) <= 1U << 16);
  struct caller callers[2] = {{.stream = stream}, {.stream = stream}};
  pthread_t threads[2];
  for (size_t i = 0; i < 2; i++) {
    callers[i].tick = tick_new(&PRECISIONS[i], 4, false);
    fill(&callers[i].tick, i, 1);
    if (pthread_create(&threads[i], NULL, call_often, &callers[i]) != 0) abort();
  }
  for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(callers[0].done + callers[1].done > 0);
  CHECK(callers[0].other + callers[1].other == 0);
  if (!quick) CHECK(callers[0].refused + callers[1].refused > 0);
  /* It works on. */
  CHECK(denise_stream_reset(stream) == DENISE_OK && push(stream, &callers[0].tick) == DENISE_OK);
  for (size_t i = 0; i < 2; i++) tick_free(&callers[i].tick);
  denise_stream_free(stream);
}

static void *call_alone(void *argument) {
  struct caller *caller = argument;
  for (size_t time = 0; time < 45; time++) {
    fill(&caller->tick, 0, time);
    caller->done += push(caller->stream, &caller->tick) == DENISE_OK;
  }
  return NULL;
}

/* Streams of one model, each with a thread of its own, have the same bits. */
static void test_side_by_side(void) {
  enum { THREADS = 4 };
  denise_model *model = load(0);
  denise_stream_options five = options_for(5);
  struct caller callers[THREADS];
  memset(callers, 0, sizeof callers);
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    callers[i].stream = new_stream(model, &five);
    callers[i].tick = tick_new(&PRECISIONS[0], 5, false);
    if (pthread_create(&threads[i], NULL, call_alone, &callers[i]) != 0) abort();
  }
  denise_free(model); /* streams do not need it */
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(callers[i].done == 45 && memcmp(callers[i].tick.at[L], callers[0].tick.at[L], callers[0].tick.bytes[L]) == 0);
  }
  for (size_t i = 0; i < THREADS; i++) {
    tick_free(&callers[i].tick);
    denise_stream_free(callers[i].stream);
  }
}

/* Rounding and flushing of the host change no bit, and are the same afterwards. */
static void test_modes(const struct precision *p) {
  if (quick) return; /* valgrind knows one mode only */
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  struct tick right = tick_new(p, STREAMS, false), t = tick_new(p, STREAMS, false);
  denise_stream *stream = stream_of(options_for(STREAMS));
  run(stream, &right, 0, 30);
  for (size_t i = 0; i < 4; i++) {
    CHECK(denise_stream_reset(stream) == DENISE_OK);
    for (size_t time = 0; time < 30; time++) {
      fill(&t, 0, time);
      CHECK(fesetround(modes[i]) == 0);
#if defined(__x86_64__)
      const unsigned plain = _mm_getcsr();
      _mm_setcsr(plain | 0x8040U);
      const unsigned before = _mm_getcsr() & 0xFFC0U;
#endif
      denise_status status = push(stream, &t);
      const int mode = fegetround();
#if defined(__x86_64__)
      const unsigned after = _mm_getcsr() & 0xFFC0U;
      _mm_setcsr(plain);
      CHECK(before == after);
#endif
      fesetround(FE_TONEAREST);
      CHECK(status == DENISE_OK && mode == modes[i]);
    }
    for (size_t q = 0; q < STREAMS; q++) CHECK(same_stream(&t, q, &right, q));
  }
  tick_free(&right);
  tick_free(&t);
  denise_stream_free(stream);
}

int main(int argc, char **argv) {
  quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  shared = load(0);
  test_options(shared);
  test_ranges(shared);
  test_null();
  denise_stream_options kinds[4];
  for (size_t i = 0; i < 4; i++) kinds[i] = options_for(1);
  kinds[1].window = 25;
  kinds[2].half_life = 7.5;
  kinds[2].flags = DENISE_STREAM_DEMEAN | DENISE_FLAG_CORRELATION;
  kinds[3].window = 12;
  kinds[3].warm_up = 12;
  kinds[3].flags = DENISE_STREAM_DEMEAN;
  for (size_t i = 0; i < 2; i++) {
    const struct precision *p = &PRECISIONS[i];
    printf("stream: %s\n", p->name);
    test_refused(p);
    for (size_t kind = 0; kind < 4; kind++) {
      test_results(p, kinds[kind]);
      test_alone(p, kinds[kind]);
      test_states(p, kinds[kind]);
    }
    test_subsets(p);
    test_not_finite(p);
    test_matrices(p);
    test_modes(p);
    test_closed(p, 0);
    test_closed(p, (double)NAN);
  }
  test_alternate();
  test_other_states();
  test_threads();
  test_side_by_side();
  denise_free(shared);
  printf("stream: %lu passed, %lu failed\n", atomic_load(&passed), atomic_load(&failed));
  return failed == 0 ? 0 : 1;
}
