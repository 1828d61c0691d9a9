/* The promises of denise.h, from C.
 *
 *   abi           everything
 *   abi --quick   the same with smaller numbers, for valgrind
 *
 * A failed check is printed and counted, and the rest still runs. Buffers are made by buffers_new, which
 * puts a canary before and after each. f32 and f64 share the tests: bits are compared, not values. */
#define _GNU_SOURCE
#include <denise.h>

#include "matrices.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The layout of the structs is part of the ABI. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(denise_options) == 48, "denise_options");
_Static_assert(offsetof(denise_options, message) == 32, "message");
_Static_assert(offsetof(denise_options, message_size) == 40, "message_size");
#endif
_Static_assert(offsetof(denise_options, struct_size) == 0, "struct_size");
_Static_assert(offsetof(denise_options, n) == sizeof(size_t), "n");
_Static_assert(offsetof(denise_options, k) == sizeof(size_t) + 4, "k");
_Static_assert(offsetof(denise_options, max_concurrency) == sizeof(size_t) + 8, "max_concurrency");
_Static_assert(offsetof(denise_options, threads) == sizeof(size_t) + 12, "threads");
_Static_assert(offsetof(denise_options, flags) == sizeof(size_t) + 16, "flags");
_Static_assert(sizeof(denise_report) == 32, "denise_report");
_Static_assert(offsetof(denise_report, l1) == 0, "l1");
_Static_assert(offsetof(denise_report, residual) == 4, "residual");
_Static_assert(offsetof(denise_report, sparsity) == 8, "sparsity");
_Static_assert(offsetof(denise_report, status) == 12, "status");
_Static_assert(offsetof(denise_report, unsettled) == 16, "unsettled");
_Static_assert(offsetof(denise_report, least_specific) == 20, "least_specific");
_Static_assert(offsetof(denise_report, missing) == 24, "missing");
_Static_assert(offsetof(denise_report, first_bad) == 28, "first_bad");
_Static_assert(sizeof(denise_status) == 4, "denise_status");
/* Codes are never reused. */
_Static_assert(DENISE_OK == 0 && DENISE_ERR_NULL_POINTER == 1 && DENISE_ERR_ARGUMENT == 2, "codes");
_Static_assert(DENISE_ERR_IO == 3 && DENISE_ERR_FORMAT == 4 && DENISE_ERR_UNSUPPORTED == 5, "codes");
_Static_assert(DENISE_ERR_SHAPE == 6 && DENISE_ERR_NOT_FINITE == 7 && DENISE_ERR_MEMORY == 8, "codes");
_Static_assert(DENISE_ERR_INTERNAL == 9 && DENISE_ERR_NOT_READY == 10, "codes");
_Static_assert(DENISE_FLAG_PORTABLE == 1 && DENISE_FLAG_AVX2 == 2 && DENISE_FLAG_F16 == 4, "flags");
_Static_assert(DENISE_FLAG_INT8 == 64 && DENISE_FLAG_AVX512 == 128, "flags");
_Static_assert(DENISE_FLAG_CORRELATION == 8 && DENISE_FLAG_CAREFUL == 16 && DENISE_FLAG_MISSING == 32, "flags");
_Static_assert(DENISE_METHOD_EIGEN == 1 && DENISE_METHOD_PCP == 2 && DENISE_METHOD_IALM == 3, "methods");
_Static_assert(DENISE_METHOD_FPCP == 4 && DENISE_METHOD_RPCA_GD == 5 && DENISE_METHOD_MASKED_PCP == 6, "methods");

static bool quick;
static atomic_ulong passed, failed;

static void check(bool good, const char *what, int line) {
  if (good) {
    passed++;
  } else if (failed++ < 40) {
    fprintf(stderr, "abi.c:%d: failed: %s\n", line, what);
  }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

/* ------------------------------------------------------------------------------------- precisions */

struct precision {
  const char *name;
  size_t size; /* of one value */
  denise_status (*run)(const denise_model *, size_t, const void *, void *, void *, void *, denise_report *);
};

static denise_status run_f32(const denise_model *model, size_t count, const void *m, void *u, void *l, void *s,
                             denise_report *reports) {
  return denise_decompose_batch(model, count, m, u, l, s, reports);
}

static denise_status run_f64(const denise_model *model, size_t count, const void *m, void *u, void *l, void *s,
                             denise_report *reports) {
  return denise_decompose_batch_f64(model, count, m, u, l, s, reports);
}

static const struct precision PRECISIONS[2] = {{"f32", 4, run_f32}, {"f64", 8, run_f64}};

/* Values are read and written by memcpy, since buffers may be unaligned. */
static double get(const struct precision *p, const void *values, size_t place) {
  const char *at = (const char *)values + place * p->size;
  if (p->size == 4) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void put(const struct precision *p, void *values, size_t place, double wide) {
  char *at = (char *)values + place * p->size;
  if (p->size == 4) {
    float value = (float)wide;
    memcpy(at, &value, sizeof value);
  } else {
    memcpy(at, &wide, sizeof wide);
  }
}

/* --------------------------------------------------------------------------------------- buffers */

enum { M, U, L, S, R, BUFFERS };
enum { GUARD = 64 };
static const unsigned char CANARY = 0xC5, FILL = 0xA5;

/* The five buffers of one call. */
struct buffers {
  const struct precision *p;
  size_t n, k, count;
  size_t bytes[BUFFERS];
  char *raw[BUFFERS];
  char *at[BUFFERS];
};

static size_t offset_none[BUFFERS];

/* offset: bytes by which each buffer is away from good alignment; offset_none for none. */
static struct buffers buffers_new(const struct precision *p, size_t n, size_t k, size_t count, const size_t *offset) {
  struct buffers b = {.p = p, .n = n, .k = k, .count = count};
  b.bytes[M] = b.bytes[L] = b.bytes[S] = count * n * n * p->size;
  b.bytes[U] = count * n * k * p->size;
  b.bytes[R] = count * sizeof(denise_report);
  for (size_t i = 0; i < BUFFERS; i++) {
    b.raw[i] = malloc(GUARD + offset[i] + b.bytes[i] + GUARD);
    if (b.raw[i] == NULL) abort();
    b.at[i] = b.raw[i] + GUARD + offset[i];
    memset(b.raw[i], CANARY, GUARD + offset[i] + b.bytes[i] + GUARD);
    memset(b.at[i], FILL, b.bytes[i]);
  }
  return b;
}

static void fill_outputs(struct buffers *b) {
  for (size_t i = U; i < BUFFERS; i++) memset(b->at[i], FILL, b->bytes[i]);
}

static bool all_bytes(const char *from, const char *to, unsigned char value) {
  for (; from < to; from++) {
    if ((unsigned char)*from != value) return false;
  }
  return true;
}

static bool outputs_untouched(const struct buffers *b) {
  for (size_t i = U; i < BUFFERS; i++) {
    if (!all_bytes(b->at[i], b->at[i] + b->bytes[i], FILL)) return false;
  }
  return true;
}

static void buffers_free(struct buffers *b) {
  for (size_t i = 0; i < BUFFERS; i++) {
    char *end = b->at[i] + b->bytes[i];
    CHECK(all_bytes(b->raw[i], b->at[i], CANARY));
    CHECK(all_bytes(end, end + GUARD, CANARY));
    free(b->raw[i]);
  }
}

/* Matrix number `first` of the endless list, and those after it. */
static void fill_matrices(struct buffers *b, uint64_t first) {
  double *m = malloc(b->n * b->n * sizeof *m);
  if (m == NULL) abort();
  for (size_t q = 0; q < b->count; q++) {
    make_matrix(m, b->n, first + q);
    for (size_t i = 0; i < b->n * b->n; i++) put(b->p, b->at[M], q * b->n * b->n + i, m[i]);
  }
  free(m);
}

static denise_report *reports_of(const struct buffers *b) { return (denise_report *)(void *)b->at[R]; }

static denise_status run(const denise_model *model, struct buffers *b) {
  return b->p->run(model, b->count, b->at[M], b->at[U], b->at[L], b->at[S], reports_of(b));
}

/* Whether outputs of matrix i of a and matrix j of b have the same bits. */
static bool same_matrix(const struct buffers *a, size_t i, const struct buffers *b, size_t j) {
  for (size_t x = U; x < BUFFERS; x++) {
    size_t each = a->bytes[x] / a->count;
    if (memcmp(a->at[x] + i * each, b->at[x] + j * each, each) != 0) return false;
  }
  return true;
}

static bool same_outputs(const struct buffers *a, const struct buffers *b) {
  for (size_t x = U; x < BUFFERS; x++) {
    if (memcmp(a->at[x], b->at[x], a->bytes[x]) != 0) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------- models */

static denise_options options_for(uint32_t n, uint32_t k) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = n;
  options.k = k;
  return options;
}

/* Tests cannot go on without a model. */
static denise_model *load(const denise_options *options) {
  denise_model *model = NULL;
  denise_status status = denise_load(NULL, options, &model);
  CHECK(status == DENISE_OK && model != NULL);
  if (model == NULL) {
    fprintf(stderr, "abi.c: cannot load: %s\n", denise_status_string(status));
    exit(1);
  }
  return model;
}

/* The library's own choice, 0, and the other instruction sets that this machine has. */
static size_t available_flags(uint32_t flags[4]) {
  const uint32_t all[4] = {0, DENISE_FLAG_PORTABLE, DENISE_FLAG_AVX2, DENISE_FLAG_AVX512};
  const char *own = "";
  size_t found = 0;
  for (size_t i = 0; i < 4; i++) {
    denise_options options = options_for(20, 3);
    options.flags = all[i];
    denise_model *model = NULL;
    denise_status status = denise_load(NULL, &options, &model);
    CHECK(status == DENISE_OK || (i >= 2 && status == DENISE_ERR_UNSUPPORTED));
    if (status == DENISE_OK && strcmp(denise_kernel(model), own) != 0) flags[found++] = all[i];
    if (i == 0) own = denise_kernel(model); /* static: outlives the model */
    denise_free(model);
  }
  return found;
}

/* --------------------------------------------------------------------------------- small functions */

static void test_constants(void) {
  CHECK(denise_abi_version() == 2);
  CHECK(denise_version() != NULL && strlen(denise_version()) >= strlen("0.2.0"));
  CHECK(denise_version() == denise_version());

  /* A phrase for every status, known or not. */
  for (int32_t status = -1000; status <= 1000; status++) {
    const char *text = denise_status_string(status);
    CHECK(text != NULL && text[0] != '\0');
  }
  uint64_t state = 1;
  for (int i = 0; i < 10000; i++) {
    const char *text = denise_status_string((int32_t)(uint32_t)random_bits(&state));
    CHECK(text != NULL && text[0] != '\0');
  }
  CHECK(denise_status_string(INT32_MIN) != NULL);
  CHECK(denise_status_string(INT32_MAX) != NULL);
  for (int32_t a = 0; a <= 11; a++) { /* 11 is the first that is not known */
    for (int32_t b = 0; b < a; b++) CHECK(strcmp(denise_status_string(a), denise_status_string(b)) != 0);
  }

  CHECK(denise_n(NULL) == 0);
  CHECK(denise_k(NULL) == 0);
  CHECK(denise_kernel(NULL) != NULL && denise_kernel(NULL)[0] == '\0');
  denise_free(NULL);
}

static void test_options_init(void) {
  denise_options_init(NULL, sizeof(denise_options));
  struct {
    denise_options options;
    unsigned char after[GUARD];
  } box;
  memset(&box, CANARY, sizeof box);
  denise_options_init(&box.options, sizeof box.options);
  CHECK(box.options.struct_size == sizeof(denise_options));
  CHECK(box.options.n == 0 && box.options.k == 0);
  CHECK(box.options.max_concurrency == 0 && box.options.threads == 0 && box.options.flags == 0);
  CHECK(box.options.message == NULL && box.options.message_size == 0);
  CHECK(all_bytes((char *)box.after, (char *)box.after + GUARD, CANARY));
}

static void test_load(void) {
  /* Defaults, with and without options. */
  denise_model *model = load(NULL);
  CHECK(denise_n(model) == 20 && denise_k(model) == 3);
  CHECK(strncmp(denise_kernel(model), "unrolled ", 9) == 0);
  denise_free(model);
  denise_options options = options_for(0, 0);
  model = load(&options);
  CHECK(denise_n(model) == 20 && denise_k(model) == 3);
  denise_free(model);

  /* Any 1 <= k < n <= 512, k <= 32. */
  const uint32_t sizes[][2] = {{2, 1}, {3, 2}, {33, 32}, {100, 10}, {512, 1}, {512, 32}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    options = options_for(sizes[i][0], sizes[i][1]);
    options.max_concurrency = 1;
    model = load(&options);
    CHECK(denise_n(model) == sizes[i][0] && denise_k(model) == sizes[i][1]);
    denise_free(model);
  }

}

/* Loads with `options`, which must fail with `expected`, no model and a sentence that ends. */
static void refuse(const char *path, denise_options options, denise_status expected, int line) {
  char text[256];
  memset(text, CANARY, sizeof text);
  options.message = text;
  options.message_size = sizeof text;
  denise_model *model = (denise_model *)(void *)&model; /* anything but NULL */
  denise_status status = denise_load(path, &options, &model);
  check(status == expected, "the expected status", line);
  check(model == NULL, "no model", line);
  check(memchr(text, '\0', sizeof text) != NULL, "the message is terminated", line);
  check(text[0] != '\0' && strchr(text, '\n') == NULL, "the message is one line", line);
  /* Without a message buffer, and with one of no size, the status is the same. */
  options.message_size = 0;
  check(denise_load(path, &options, &model) == expected, "the same without room for a message", line);
  options.message = NULL;
  options.message_size = 1000;
  check(denise_load(path, &options, &model) == expected, "the same without a message", line);
}

static void test_load_errors(void) {
  denise_options options = options_for(0, 0);
  CHECK(denise_load(NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_load(NULL, &options, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_load("/nowhere", &options, NULL) == DENISE_ERR_NULL_POINTER);

  refuse(NULL, options_for(513, 3), DENISE_ERR_UNSUPPORTED, __LINE__);
  refuse(NULL, options_for(UINT32_MAX, 3), DENISE_ERR_UNSUPPORTED, __LINE__);
  refuse(NULL, options_for(100, 33), DENISE_ERR_UNSUPPORTED, __LINE__);
  refuse(NULL, options_for(100, UINT32_MAX), DENISE_ERR_UNSUPPORTED, __LINE__);
  refuse(NULL, options_for(UINT32_MAX, UINT32_MAX), DENISE_ERR_UNSUPPORTED, __LINE__);
  refuse(NULL, options_for(3, 3), DENISE_ERR_ARGUMENT, __LINE__);
  refuse(NULL, options_for(1, 1), DENISE_ERR_ARGUMENT, __LINE__);
  refuse(NULL, options_for(2, 0), DENISE_ERR_ARGUMENT, __LINE__); /* the default rank 3 is too much */
  refuse(NULL, options_for(0, 20), DENISE_ERR_ARGUMENT, __LINE__);

  const uint32_t bad_flags[] = {256, 0x80000000U, UINT32_MAX, DENISE_FLAG_PORTABLE | DENISE_FLAG_AVX2,
                                DENISE_FLAG_AVX2 | DENISE_FLAG_AVX512};
  for (size_t i = 0; i < sizeof bad_flags / sizeof *bad_flags; i++) {
    options = options_for(0, 0);
    options.flags = bad_flags[i];
    refuse(NULL, options, DENISE_ERR_ARGUMENT, __LINE__);
  }
  options = options_for(0, 0);
  options.threads = 257;
  refuse(NULL, options, DENISE_ERR_ARGUMENT, __LINE__);
  options = options_for(0, 0);
  options.max_concurrency = UINT32_MAX;
  refuse(NULL, options, DENISE_ERR_ARGUMENT, __LINE__);

  options = options_for(0, 0);
  refuse("/no/such/file", options, DENISE_ERR_IO, __LINE__);
#ifdef _WIN32
  refuse("/no/such/\xff/file", options, DENISE_ERR_ARGUMENT, __LINE__); /* not UTF-8: no path can be meant */
#else
  refuse("/no/such/\xff/file", options, DENISE_ERR_IO, __LINE__); /* not UTF-8: a path all the same */
#endif
  refuse("", options, DENISE_ERR_IO, __LINE__);
  refuse("/", options, DENISE_ERR_IO, __LINE__);
  refuse(".", options, DENISE_ERR_IO, __LINE__);

  /* A struct of a size that no header has is not read, so there is no message. A longer one is of a later version, and
     asks for something that this library does not know. */
  for (size_t size = 0; size < 2 * sizeof(denise_options); size++) {
    if (size == sizeof(denise_options)) continue;
    char text[8] = "before";
    options = options_for(0, 0);
    options.struct_size = size;
    options.message = text;
    options.message_size = sizeof text;
    denise_model *model = (denise_model *)(void *)&model;
    CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_ARGUMENT);
    CHECK(model == NULL);
    CHECK(strcmp(text, "before") == 0);
  }
}

static void test_load_memory(void) {
  unsigned char garbage[4096];
  uint64_t state = 3;
  for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (unsigned char)random_bits(&state);
  denise_model *model = (denise_model *)(void *)&model;
  CHECK(denise_load_memory(garbage, sizeof garbage, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_load_memory(NULL, 10, NULL, &model) == DENISE_ERR_NULL_POINTER && model == NULL);
  CHECK(denise_load_memory(NULL, 0, NULL, &model) == DENISE_ERR_NULL_POINTER && model == NULL);
  CHECK(denise_load_memory(garbage, 0, NULL, &model) == DENISE_ERR_FORMAT && model == NULL);
  CHECK(denise_load_memory(garbage, SIZE_MAX, NULL, &model) == DENISE_ERR_SHAPE && model == NULL);
  for (size_t size = 1; size <= sizeof garbage; size *= 2) {
    denise_status status = denise_load_memory(garbage, size, NULL, &model);
    CHECK(status == DENISE_ERR_FORMAT && model == NULL);
  }
}

/* Networks that are built in, by their names: a file of such a name is not taken for one. */
static void test_names(void) {
  static double m[400], holed[400], l[3][400], whole[400];
  make_matrix(m, 20, 1);
  memcpy(holed, m, sizeof m);
  holed[20] = NAN; /* entry (1, 0) */
  static const char *const names[] = {NULL, "default", "fast"};
  for (size_t i = 0; i < 3; i++) {
    denise_options options = options_for(20, 3);
    options.flags = DENISE_FLAG_MISSING;
    denise_model *model = NULL;
    CHECK(denise_load(names[i], &options, &model) == DENISE_OK);
    CHECK(denise_decompose_batch_f64(model, 1, m, NULL, l[i], NULL, NULL) == DENISE_OK);
    CHECK(denise_decompose_batch_f64(model, 1, holed, NULL, whole, NULL, NULL) == DENISE_OK);
    CHECK(isfinite(whole[20]) && memcmp(whole, l[i], sizeof whole) != 0);
    denise_stream *stream = NULL;
    CHECK(denise_stream_new(model, NULL, &stream) == DENISE_OK);
    denise_stream_free(stream);
    denise_free(model);
  }
  CHECK(memcmp(l[0], l[1], sizeof *l) == 0 && memcmp(l[0], l[2], sizeof *l) != 0);
  refuse("./fast", options_for(0, 0), DENISE_ERR_IO, __LINE__);
  refuse("FAST", options_for(0, 0), DENISE_ERR_IO, __LINE__);
}

/* The shipped model from its file and from memory; what is cut off or altered is refused. */
static void test_model_file(void) {
  FILE *file = fopen(MODEL, "rb");
  CHECK(file != NULL);
  if (file == NULL) return;
  static unsigned char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(size > 1000 && size < sizeof bytes);

  static const uint32_t sizes[][2] = {{0, 0}, {20, 3}, {7, 2}, {50, 5}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    denise_options options = options_for(sizes[i][0], sizes[i][1]);
    denise_model *builtin = load(&options), *from_file = NULL, *from_memory = NULL;
    CHECK(denise_load(MODEL, &options, &from_file) == DENISE_OK);
    CHECK(denise_load_memory(bytes, size, &options, &from_memory) == DENISE_OK);
    size_t n = denise_n(builtin);
    CHECK(denise_n(from_file) == n && denise_k(from_memory) == denise_k(builtin));
    static double m[2500], l[3][2500];
    make_matrix(m, n, i);
    denise_model *all[] = {builtin, from_file, from_memory};
    for (size_t j = 0; j < 3; j++) {
      CHECK(denise_decompose_batch_f64(all[j], 1, m, NULL, l[j], NULL, NULL) == DENISE_OK);
      CHECK(memcmp(l[0], l[j], n * n * sizeof **l) == 0); /* the built-in network is this file */
      denise_free(all[j]);
    }
  }

  denise_model *model = NULL;
  for (size_t length = 0; length < size; length += quick ? 1024 : 16) {
    denise_status status = denise_load_memory(bytes, length, NULL, &model);
    CHECK((status == DENISE_ERR_FORMAT || status == DENISE_ERR_UNSUPPORTED) && model == NULL);
  }
  /* The rest takes longer: the graph of a file that can be read is compared with its metadata. */
  for (size_t at = 0; at < size; at += quick ? 4099 : 61) {
    unsigned char before = bytes[at];
    bytes[at] = (unsigned char)~before;
    denise_status status = denise_load_memory(bytes, size, NULL, &model);
    CHECK(status == DENISE_OK || status == DENISE_ERR_FORMAT || status == DENISE_ERR_UNSUPPORTED);
    CHECK((status == DENISE_OK) == (model != NULL));
    denise_free(model);
    bytes[at] = before;
  }
  refuse(__FILE__, options_for(0, 0), DENISE_ERR_FORMAT, __LINE__);
#ifdef _WIN32
  refuse("NUL", options_for(0, 0), DENISE_ERR_IO, __LINE__);
#else
  refuse("/dev/zero", options_for(0, 0), DENISE_ERR_IO, __LINE__);
#endif
}

/* Networks of other programs: a Keras export with the paper's graph. */
static void test_dense_file(void) {
  enum { N = 6, K = 2, COUNT = 40 };
  static float m[COUNT * N * N], u[COUNT * N * K], l[COUNT * N * N], s[COUNT * N * N];
  static float one_u[N * K], one_l[N * N], half_l[COUNT * N * N];
  static double wide[N * N];
  for (size_t i = 0; i < COUNT; i++) {
    make_matrix(wide, N, i);
    for (size_t j = 0; j < N * N; j++) m[i * N * N + j] = (float)wide[j];
  }
  denise_options options = options_for(0, 0);
  options.threads = 2;
  char message[256];
  options.message = message;
  options.message_size = sizeof message;
  denise_model *model = NULL;
  CHECK(denise_load(DENSE, &options, &model) == DENISE_OK && message[0] == '\0');
  CHECK(denise_n(model) == N && denise_k(model) == K && strncmp(denise_kernel(model), "dense ", 6) == 0);
  CHECK(denise_decompose_batch(model, COUNT, m, u, l, s, NULL) == DENISE_OK);
  for (size_t i = 0; i < COUNT; i++) { /* alone as in the batch */
    CHECK(denise_decompose_batch(model, 1, m + i * N * N, one_u, one_l, NULL, NULL) == DENISE_OK);
    CHECK(memcmp(one_u, u + i * N * K, sizeof one_u) == 0 && memcmp(one_l, l + i * N * N, sizeof one_l) == 0);
  }
  for (size_t i = 0; i < COUNT * N * N; i++) {
    CHECK(isfinite(l[i]) && fabsf(l[i] + s[i] - m[i]) <= 1e-6F * (fabsf(l[i]) + fabsf(s[i])));
  }
  denise_free(model);

  options.flags = DENISE_FLAG_F16;
  CHECK(denise_load(DENSE, &options, &model) == DENISE_OK && strstr(denise_kernel(model), "f16") != NULL);
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, half_l, NULL, NULL) == DENISE_OK);
  float largest = 0, difference = 0;
  for (size_t i = 0; i < COUNT * N * N; i++) {
    largest = fmaxf(largest, fabsf(l[i]));
    difference = fmaxf(difference, fabsf(l[i] - half_l[i]));
  }
  CHECK(difference > 0 && difference < 0.02F * largest);
  denise_free(model);
  CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_UNSUPPORTED && strstr(message, "16-bit") != NULL);

  options.flags = DENISE_FLAG_INT8;
  CHECK(denise_load(DENSE, &options, &model) == DENISE_OK && strstr(denise_kernel(model), "int8") != NULL);
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, half_l, NULL, NULL) == DENISE_OK);
  difference = 0;
  for (size_t i = 0; i < COUNT * N * N; i++) difference = fmaxf(difference, fabsf(l[i] - half_l[i]));
  CHECK(difference > 0 && difference < 0.2F * largest);
  denise_free(model);
  CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_UNSUPPORTED && strstr(message, "8-bit") != NULL);
  options.flags = DENISE_FLAG_INT8 | DENISE_FLAG_F16;
  CHECK(denise_load(DENSE, &options, &model) == DENISE_ERR_ARGUMENT && strstr(message, "DENISE_FLAG_INT8") != NULL);
  const uint32_t not_dense[] = {DENISE_FLAG_CORRELATION, DENISE_FLAG_CAREFUL, DENISE_FLAG_MISSING};
  const char *named[] = {"DENISE_FLAG_CORRELATION", "DENISE_FLAG_CAREFUL", "DENISE_FLAG_MISSING"};
  for (size_t i = 0; i < 3; i++) {
    options.flags = not_dense[i];
    CHECK(denise_load(DENSE, &options, &model) == DENISE_ERR_UNSUPPORTED && strstr(message, named[i]) != NULL);
  }
  options.flags = 0;
  options.n = 7;
  CHECK(denise_load(DENSE, &options, &model) == DENISE_ERR_SHAPE && strstr(message, "n = 6") != NULL);
  options.n = 0;
  CHECK(denise_load(OTHER, &options, &model) == DENISE_ERR_UNSUPPORTED && strlen(message) > 20);
}

/* The message fits its buffer, whatever the size, and is a prefix of the whole. */
static void test_message_size(void) {
  char whole[512];
  denise_options options = options_for(9, 9);
  options.message = whole;
  options.message_size = sizeof whole;
  denise_model *model = NULL;
  CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_ARGUMENT);
  size_t length = strlen(whole);
  CHECK(length > 10 && length < 300);
  for (size_t size = 0; size <= length + 5; size++) {
    char text[600];
    memset(text, CANARY, sizeof text);
    options.message = text;
    options.message_size = size;
    CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_ARGUMENT);
    CHECK(all_bytes(text + size, text + sizeof text, CANARY));
    if (size > 0) {
      size_t expected = size - 1 < length ? size - 1 : length;
      CHECK(memchr(text, '\0', size) != NULL && strlen(text) == expected);
      CHECK(strncmp(text, whole, expected) == 0);
    }
  }
  /* A message that is cut in the middle of a character loses all of that character. */
  options = options_for(0, 0);
  options.message = whole;
  for (size_t size = 1; size < 12; size++) {
    options.message_size = size;
    memset(whole, CANARY, sizeof whole);
    CHECK(denise_load("\xC3\xA9\xC3\xA9\xC3\xA9", &options, &model) == DENISE_ERR_IO);
    CHECK(strlen(whole) < size);
    CHECK(size > 7 || strlen(whole) % 2 == 0);
  }
  /* Success leaves the empty string. */
  options = options_for(0, 0);
  memset(whole, CANARY, sizeof whole);
  options.message = whole;
  options.message_size = sizeof whole;
  denise_free(load(&options));
  CHECK(whole[0] == '\0');
}

#ifndef _WIN32 /* which has no such limits, and no fork; there tests/windows/heap.c refuses memory */
/* Loading more than there is memory for gives a status. In a child, since the limit cannot be lifted. */
static void test_out_of_memory(void) {
  if (quick) return; /* valgrind itself needs the memory */
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {256U << 20, 256U << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    denise_options options = options_for(512, 32);
    options.max_concurrency = 4096;
    denise_model *model = (denise_model *)(void *)&model;
    denise_status status = denise_load(NULL, &options, &model);
    _exit(status == DENISE_ERR_MEMORY && model == NULL ? 0 : 1);
  }
  int outcome = 0;
  CHECK(waitpid(child, &outcome, 0) == child);
  CHECK(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
}
#endif

/* -------------------------------------------------------------------------------- errors of a call */

static void test_call_errors(const struct precision *p, const denise_model *model) {
  struct buffers b = buffers_new(p, 20, 3, 2, offset_none);
  fill_matrices(&b, 0);
  denise_report *reports = reports_of(&b);
  CHECK(p->run(NULL, 2, b.at[M], b.at[U], b.at[L], b.at[S], reports) == DENISE_ERR_NULL_POINTER);
  CHECK(p->run(NULL, 0, NULL, NULL, NULL, NULL, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(p->run(model, 2, NULL, b.at[U], b.at[L], b.at[S], reports) == DENISE_ERR_NULL_POINTER);
  CHECK(p->run(model, SIZE_MAX, NULL, b.at[U], b.at[L], b.at[S], reports) == DENISE_ERR_NULL_POINTER);
  CHECK(outputs_untouched(&b));

  /* Nothing to do is fine, whatever the pointers. */
  CHECK(p->run(model, 0, NULL, NULL, NULL, NULL, NULL) == DENISE_OK);
  CHECK(p->run(model, 0, b.at[M], b.at[U], b.at[L], b.at[S], reports) == DENISE_OK);
  CHECK(p->run(model, 0, NULL, b.at[U], NULL, b.at[S], NULL) == DENISE_OK);
  CHECK(outputs_untouched(&b));

  /* Sizes that do not fit in memory: the product overflows, or the buffer would not fit. */
  const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 400, SIZE_MAX / 400 + 1, SIZE_MAX / 400 / p->size,
                           SIZE_MAX / 400 / p->size + 1, SIZE_MAX / 2 / 400 / p->size + 1};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    CHECK(p->run(model, counts[i], b.at[M], b.at[U], b.at[L], b.at[S], reports) == DENISE_ERR_SHAPE);
    CHECK(p->run(model, counts[i], b.at[M], NULL, NULL, NULL, NULL) == DENISE_ERR_SHAPE);
  }
  /* A buffer that would reach past the end of the address space. */
  void *last = (void *)(UINTPTR_MAX - 15);
  CHECK(p->run(model, 1, last, NULL, NULL, NULL, NULL) == DENISE_ERR_SHAPE);
  CHECK(p->run(model, 1, b.at[M], NULL, last, NULL, NULL) == DENISE_ERR_SHAPE);
  CHECK(outputs_untouched(&b));
  buffers_free(&b);
}

/* Every pair of buffers that overlap, but for s == m, is refused before anything is written. */
static void test_overlap(const struct precision *p, const denise_model *model) {
  struct buffers b = buffers_new(p, 20, 3, 2, offset_none);
  fill_matrices(&b, 0);
  size_t most = 4 * b.bytes[M];
  char *field = malloc(most), *before = malloc(most);
  if (field == NULL || before == NULL) abort();
  for (size_t i = 0; i < most; i++) field[i] = (char)i;
  memcpy(field, b.at[M], b.bytes[M]);
  memcpy(before, field, most);

  for (size_t x = 0; x < BUFFERS; x++) {
    for (size_t y = 0; y < BUFFERS; y++) {
      if (x == y) continue;
      /* y starts inside x: at its first byte, in the middle, at its last byte. */
      const size_t shifts[] = {0, 1, p->size, b.bytes[x] / 2, b.bytes[x] - 16, b.bytes[x] - 1};
      for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        bool in_place = shifts[i] == 0 && ((x == M && y == S) || (x == S && y == M));
        if (in_place) continue;
        char *at[BUFFERS] = {b.at[M], NULL, NULL, NULL, NULL};
        at[x] = field;
        at[y] = field + shifts[i];
        denise_report *reports = (denise_report *)(void *)at[R];
        CHECK(p->run(model, 2, at[M], at[U], at[L], at[S], reports) == DENISE_ERR_ARGUMENT);
        CHECK(memcmp(field, before, most) == 0);
      }
    }
  }

  /* Three in one place: s may stand for m, but l may not stand for either. */
  CHECK(p->run(model, 2, field, NULL, field, field, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(memcmp(field, before, most) == 0);

  /* Neighbours that touch do not overlap. */
  CHECK(p->run(model, 2, field, NULL, field + b.bytes[M], field + 2 * b.bytes[M], NULL) == DENISE_OK);
  CHECK(run(model, &b) == DENISE_OK);
  CHECK(memcmp(field, b.at[M], b.bytes[M]) == 0);
  CHECK(memcmp(field + b.bytes[M], b.at[L], b.bytes[L]) == 0);
  CHECK(memcmp(field + 2 * b.bytes[M], b.at[S], b.bytes[S]) == 0);
  free(field);
  free(before);
  buffers_free(&b);
}

/* ---------------------------------------------------------------------------- what a call computes */

/* Whether outputs of matrix q are what the header says of them. */
static void check_matrix(const struct buffers *b, size_t q) {
  const struct precision *p = b->p;
  size_t n = b->n, k = b->k;
  unsigned long failed_before = failed;
  const char *m = b->at[M] + q * n * n * p->size, *u = b->at[U] + q * n * k * p->size;
  const char *l = b->at[L] + q * n * n * p->size, *s = b->at[S] + q * n * n * p->size;
  /* Half a unit in the last place of the result of one subtraction. */
  double unit = (p->size == 4 ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
  bool symmetric = true, sums = true, finite = true, factor = true;
  double l1 = 0, sum = 0, trace = 0, squares = 0, residual = 0;
  for (size_t i = 0; i < n; i++) trace += get(p, m, i * n + i);
  size_t small = 0, unclear = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      size_t ij = i * n + j, ji = j * n + i;
      symmetric = symmetric && memcmp(l + ij * p->size, l + ji * p->size, p->size) == 0;
      symmetric = symmetric && memcmp(s + ij * p->size, s + ji * p->size, p->size) == 0;
      double m_ij = get(p, m, i >= j ? ij : ji), l_ij = get(p, l, ij), s_ij = get(p, s, ij);
      finite = finite && isfinite(l_ij) && isfinite(s_ij);
      long double off = (long double)m_ij - (long double)l_ij - (long double)s_ij;
      sums = sums && fabsl(off) <= (long double)(unit * fabs(s_ij));
      double product = 0, own = 0, other = 0;
      for (size_t a = 0; a < k; a++) {
        double x = get(p, u, i * k + a), y = get(p, u, j * k + a);
        product += x * y;
        own += x * x;
        other += y * y;
      }
      /* Roundings on the way: the root of the scale and its product with each of two numbers of U, 4; k
         products and k - 1 sums here; k fused products and one with the scale in the library. Then U is turned, in
         double: some six sweeps with k - 1 turns of a column and three roundings each, for both rows; if U is in
         float, only its two roundings count. They are of the size of the rows: a turn mixes their numbers. */
      double roundings = (double)(3 * k + 4 + (p->size == 8 ? 36 * k : 2));
      factor = factor && fabs(product - l_ij) <= roundings * unit * sqrt(own * other);
      l1 += fabs(s_ij);
      sum += fabs(m_ij);
      squares += m_ij * m_ij;
      residual += (m_ij - l_ij) * (m_ij - l_ij);
      double limit = 0.01 * trace / (double)n;
      small += fabs(s_ij) <= limit;
      unclear += fabs(fabs(s_ij) - limit) < 1e-5 * limit;
    }
  }
  CHECK(symmetric);
  CHECK(sums);
  CHECK(finite);
  CHECK(factor); /* l = u u', so its rank is at most k and it is positive semidefinite */

  denise_report report;
  memcpy(&report, b->at[R] + q * sizeof report, sizeof report);
  CHECK(report.status == DENISE_OK);
  /* S may be nothing but rounding, which the report need not repeat. */
  CHECK(fabs((double)report.l1 - l1) <= 1e-4 * l1 + 1e-6 * sum);
  CHECK(fabs((double)report.residual - sqrt(residual / squares)) <= 1e-4 * sqrt(residual / squares) + 1e-6);
  CHECK(fabs((double)report.sparsity * (double)(n * n) - (double)small) <= (double)unclear + 0.01);
  if (failed > failed_before && failed < 40) {
    fprintf(stderr, "  in %s, n = %zu, k = %zu, matrix %zu: l1 %g, residual %g\n", p->name, n, k, q, (double)report.l1,
            (double)report.residual);
  }
}

static void test_results(const struct precision *p, uint32_t flags) {
  const uint32_t sizes[][2] = {{2, 1}, {3, 1}, {3, 2}, {5, 4}, {8, 3}, {17, 5}, {20, 3}, {33, 8}, {40, 32}, {64, 12}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint32_t n = sizes[i][0], k = sizes[i][1];
    if (quick && n > 20) break;
    denise_options options = options_for(n, k);
    options.flags = flags;
    options.max_concurrency = 1;
    denise_model *model = load(&options);
    size_t count = quick ? 9 : 21;
    struct buffers b = buffers_new(p, n, k, count, offset_none);
    struct buffers other = buffers_new(p, n, k, count, offset_none);
    fill_matrices(&b, 100);
    CHECK(run(model, &b) == DENISE_OK);
    for (size_t q = 0; q < b.count; q++) check_matrix(&b, q);

    /* The upper triangle is not read: it may hold anything. */
    memcpy(other.at[M], b.at[M], b.bytes[M]);
    const double anything[] = {(double)NAN, (double)INFINITY, -1e30, 12345};
    for (size_t q = 0; q < b.count; q++) {
      for (size_t row = 0; row < n; row++) {
        for (size_t column = row + 1; column < n; column++) {
          put(p, other.at[M], (q * n + row) * n + column, anything[(q + row + column) % 4]);
        }
      }
    }
    CHECK(run(model, &other) == DENISE_OK);
    CHECK(same_outputs(&b, &other));

    /* In place. */
    fill_outputs(&other);
    memcpy(other.at[S], other.at[M], b.bytes[M]);
    CHECK(p->run(model, b.count, other.at[S], other.at[U], other.at[L], other.at[S], reports_of(&other)) == DENISE_OK);
    CHECK(same_outputs(&b, &other));
    buffers_free(&b);
    buffers_free(&other);
    denise_free(model);
  }
}

/* Each subset of the outputs has the bits that it has among all of them, also in place. */
static void test_optional_outputs(const struct precision *p, const denise_model *model) {
  enum { COUNT = 11 };
  struct buffers all = buffers_new(p, 20, 3, COUNT, offset_none);
  fill_matrices(&all, 7);
  CHECK(run(model, &all) == DENISE_OK);
  for (unsigned subset = 0; subset < 16; subset++) {
    for (int in_place = 0; in_place <= ((subset & 4) != 0); in_place++) {
      struct buffers some = buffers_new(p, 20, 3, COUNT, offset_none);
      memcpy(some.at[M], all.at[M], all.bytes[M]);
      if (in_place) memcpy(some.at[S], all.at[M], all.bytes[M]);
      char *at[BUFFERS] = {in_place ? some.at[S] : some.at[M], NULL, NULL, NULL, NULL};
      for (size_t x = U; x < BUFFERS; x++) {
        if (subset & (1U << (x - U))) at[x] = some.at[x];
      }
      denise_report *reports = (denise_report *)(void *)at[R];
      CHECK(p->run(model, COUNT, at[M], at[U], at[L], at[S], reports) == DENISE_OK);
      for (size_t x = U; x < BUFFERS; x++) {
        if (at[x] != NULL) {
          CHECK(memcmp(some.at[x], all.at[x], all.bytes[x]) == 0);
        } else {
          CHECK(all_bytes(some.at[x], some.at[x] + some.bytes[x], FILL));
        }
      }
      CHECK(memcmp(some.at[M], all.at[M], all.bytes[M]) == 0);
      buffers_free(&some);
    }
  }
  buffers_free(&all);
}

/* Any alignment gives the same bits, for one buffer or for all, and in place. */
static void test_unaligned(const struct precision *p, const denise_model *model) {
  enum { COUNT = 13 };
  struct buffers aligned = buffers_new(p, 20, 3, COUNT, offset_none);
  fill_matrices(&aligned, 11);
  put(p, aligned.at[M], 5 * 400, (double)NAN); /* one that fails, among them */
  CHECK(run(model, &aligned) == DENISE_ERR_NOT_FINITE);
  for (size_t shift = 1; shift < (quick ? 3 : 8); shift++) {
    for (size_t which = 0; which <= BUFFERS; which++) { /* one buffer, or all of them */
      size_t offset[BUFFERS] = {0};
      for (size_t x = 0; x < BUFFERS; x++) offset[x] = which == x || which == BUFFERS ? shift : 0;
      struct buffers b = buffers_new(p, 20, 3, COUNT, offset);
      memcpy(b.at[M], aligned.at[M], aligned.bytes[M]);
      CHECK(run(model, &b) == DENISE_ERR_NOT_FINITE);
      CHECK(same_outputs(&aligned, &b));
      CHECK(memcmp(b.at[M], aligned.at[M], aligned.bytes[M]) == 0);
      fill_outputs(&b);
      memcpy(b.at[S], aligned.at[M], aligned.bytes[M]);
      CHECK(p->run(model, COUNT, b.at[S], b.at[U], b.at[L], b.at[S], reports_of(&b)) == DENISE_ERR_NOT_FINITE);
      CHECK(same_outputs(&aligned, &b));
      buffers_free(&b);
    }
  }
  buffers_free(&aligned);
}

static bool all_nan(const struct precision *p, const char *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isnan(get(p, values, i))) return false;
  }
  return true;
}

/* A bad matrix in each place of a batch spoils itself and nothing else. */
static void test_not_finite(const struct precision *p, const denise_model *model) {
  enum { COUNT = 19, N = 20, K = 3 };
  struct buffers good = buffers_new(p, N, K, COUNT, offset_none);
  struct buffers b = buffers_new(p, N, K, COUNT, offset_none);
  fill_matrices(&good, 21);
  CHECK(run(model, &good) == DENISE_OK);
  const double bad[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  const size_t places[4] = {0, (N - 1) * N, 7 * N + 7, N * N - 1}; /* corners, the diagonal, the last entry */
  for (size_t victim = 0; victim < COUNT; victim++) {
    for (size_t value = 0; value < 3; value++) {
      for (size_t place = 0; place < 4; place++) {
        for (size_t in_place = 0; in_place < 2; in_place++) {
          if (quick && (value != victim % 3 || place != victim % 4 || in_place != victim % 2)) continue;
          fill_outputs(&b);
          memcpy(b.at[M], good.at[M], good.bytes[M]);
          put(p, b.at[M], victim * N * N + places[place], bad[value]);
          char *m = b.at[M];
          if (in_place) {
            memcpy(b.at[S], b.at[M], b.bytes[M]);
            m = b.at[S];
          }
          CHECK(p->run(model, COUNT, m, b.at[U], b.at[L], b.at[S], reports_of(&b)) == DENISE_ERR_NOT_FINITE);
          bool others = true;
          for (size_t q = 0; q < COUNT; q++) others = others && (q == victim || same_matrix(&good, q, &b, q));
          CHECK(others);
          CHECK(all_nan(p, b.at[U] + victim * N * K * p->size, N * K));
          CHECK(all_nan(p, b.at[L] + victim * N * N * p->size, N * N));
          CHECK(all_nan(p, b.at[S] + victim * N * N * p->size, N * N));
          const denise_report *report = &reports_of(&b)[victim];
          CHECK(report->status == DENISE_ERR_NOT_FINITE);
          CHECK(isnan(report->l1) && isnan(report->residual) && isnan(report->sparsity));
        }
      }
    }
    /* Alone, and with nothing asked for, the status is the same. */
    put(p, b.at[M], victim * N * N, (double)NAN);
    CHECK(p->run(model, COUNT, b.at[M], NULL, NULL, NULL, NULL) == DENISE_ERR_NOT_FINITE);
    CHECK(p->run(model, 1, b.at[M] + victim * N * N * p->size, NULL, NULL, NULL, NULL) == DENISE_ERR_NOT_FINITE);
  }
  buffers_free(&good);
  buffers_free(&b);
}

/* Bits do not depend on the size of the batch or the place in it. */
static void test_independence(const struct precision *p, uint32_t flags) {
  enum { MOST = 40 };
  denise_options options = options_for(20, 3);
  options.flags = flags;
  denise_model *model = load(&options);
  struct buffers alone = buffers_new(p, 20, 3, MOST, offset_none);
  fill_matrices(&alone, 31);
  for (size_t q = 0; q < MOST; q++) {
    char *at[BUFFERS];
    for (size_t x = 0; x < BUFFERS; x++) at[x] = alone.at[x] + q * (alone.bytes[x] / MOST);
    CHECK(p->run(model, 1, at[M], at[U], at[L], at[S], (denise_report *)(void *)at[R]) == DENISE_OK);
  }
  for (size_t count = 1; count <= MOST; count += quick && count > 9 ? 10 : 1) {
    struct buffers b = buffers_new(p, 20, 3, count, offset_none);
    /* From the front, and shifted so that every matrix sees other places and other neighbours. */
    for (size_t first = 0; first + count <= MOST; first += 1 + first) {
      fill_outputs(&b);
      memcpy(b.at[M], alone.at[M] + first * 400 * p->size, b.bytes[M]);
      CHECK(run(model, &b) == DENISE_OK);
      bool same = true;
      for (size_t q = 0; q < count; q++) same = same && same_matrix(&alone, first + q, &b, q);
      CHECK(same);
    }
    buffers_free(&b);
  }
  buffers_free(&alone);
  denise_free(model);
}

/* Scales at the ends of the range, and the zero matrix. */
static void test_scales(const struct precision *p, const denise_model *model) {
  enum { COUNT = 9 };
  const double scales[] = {0, 1e-40, 1e-37, 1e-30, 1, 1e30, 1e36};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    struct buffers b = buffers_new(p, 20, 3, COUNT, offset_none);
    fill_matrices(&b, 41);
    for (size_t x = 0; x < COUNT * 400; x++) put(p, b.at[M], x, get(p, b.at[M], x) * scales[i]);
    CHECK(run(model, &b) == DENISE_OK);
    bool finite = true, zero = true;
    for (size_t x = 0; x < COUNT * 400; x++) {
      double l = get(p, b.at[L], x), s = get(p, b.at[S], x);
      finite = finite && isfinite(l) && isfinite(s);
      zero = zero && l == 0 && s == 0;
    }
    CHECK(finite);
    CHECK(zero == (i == 0));
    for (size_t q = 0; q < COUNT; q++) {
      const denise_report *report = &reports_of(&b)[q];
      CHECK(report->status == DENISE_OK);
      CHECK(isfinite(report->l1) && isfinite(report->residual) && isfinite(report->sparsity));
      if (i == 0) CHECK(report->l1 == 0 && report->residual == 0 && report->sparsity == 1);
    }
    buffers_free(&b);
  }
}

/* Buffers without canaries, so that valgrind sees a read past the end. */
static void test_exact_buffers(const struct precision *p, const denise_model *model) {
  for (size_t count = 1; count <= 18; count++) {
    struct buffers b = buffers_new(p, 20, 3, count, offset_none);
    fill_matrices(&b, 51);
    CHECK(run(model, &b) == DENISE_OK);
    struct buffers exact = b;
    for (size_t x = 0; x < BUFFERS; x++) {
      exact.at[x] = malloc(b.bytes[x]);
      if (exact.at[x] == NULL) abort();
    }
    memcpy(exact.at[M], b.at[M], b.bytes[M]);
    CHECK(run(model, &exact) == DENISE_OK);
    CHECK(same_outputs(&b, &exact));
    for (size_t x = 0; x < BUFFERS; x++) free(exact.at[x]);
    buffers_free(&b);
  }
}

/* ---------------------------------------------------------------------------------------- threads */

struct caller {
  const denise_model *model;
  const struct buffers *expected;
  const struct precision *p;
  size_t rounds;
};

static void *call_often(void *argument) {
  const struct caller *caller = argument;
  const struct buffers *expected = caller->expected;
  struct buffers b = buffers_new(caller->p, 20, 3, expected->count, offset_none);
  memcpy(b.at[M], expected->at[M], expected->bytes[M]);
  for (size_t round = 0; round < caller->rounds; round++) {
    fill_outputs(&b);
    CHECK(run(caller->model, &b) == DENISE_OK);
    CHECK(same_outputs(expected, &b));
  }
  buffers_free(&b);
  return NULL;
}

/* Many threads on one handle, each with its own results, in both precisions at once. */
static void test_many_callers(uint32_t max_concurrency, uint32_t threads) {
  enum { MOST = 16 };
  size_t callers = quick ? 4 : MOST;
  denise_model *model = load(NULL);
  struct buffers expected[2];
  for (size_t i = 0; i < 2; i++) {
    expected[i] = buffers_new(&PRECISIONS[i], 20, 3, threads > 1 ? 150 : 37, offset_none);
    fill_matrices(&expected[i], 61);
    CHECK(run(model, &expected[i]) == DENISE_OK);
  }
  denise_free(model);
  denise_options options = options_for(20, 3);
  options.max_concurrency = max_concurrency;
  options.threads = threads;
  model = load(&options);
  struct caller kinds[2];
  for (size_t i = 0; i < 2; i++) {
    kinds[i] = (struct caller){model, &expected[i], &PRECISIONS[i], quick ? 1 : 50};
  }
  pthread_t ids[MOST];
  for (size_t i = 0; i < callers; i++) CHECK(pthread_create(&ids[i], NULL, call_often, &kinds[i % 2]) == 0);
  for (size_t i = 0; i < callers; i++) CHECK(pthread_join(ids[i], NULL) == 0);
  denise_free(model);
  for (size_t i = 0; i < 2; i++) buffers_free(&expected[i]);
}

/* A call that uses several threads gives the bits of a call that uses one. */
static void test_threads(const struct precision *p) {
  size_t count = quick ? 140 : 10000;
  denise_model *one = load(NULL);
  struct buffers expected = buffers_new(p, 20, 3, count, offset_none);
  fill_matrices(&expected, 71);
  put(p, expected.at[M], (count - 3) * 400, (double)NAN);
  CHECK(run(one, &expected) == DENISE_ERR_NOT_FINITE);
  denise_free(one);
  struct buffers b = buffers_new(p, 20, 3, count, offset_none);
  for (uint32_t threads = 2; threads <= 3; threads++) {
    denise_options options = options_for(20, 3);
    options.threads = threads;
    denise_model *model = load(&options);
    memcpy(b.at[M], expected.at[M], b.bytes[M]);
    fill_outputs(&b);
    CHECK(run(model, &b) == DENISE_ERR_NOT_FINITE);
    CHECK(same_outputs(&expected, &b));
    memcpy(b.at[S], expected.at[M], b.bytes[M]);
    CHECK(p->run(model, count, b.at[S], b.at[U], b.at[L], b.at[S], reports_of(&b)) == DENISE_ERR_NOT_FINITE);
    CHECK(same_outputs(&expected, &b));
    /* Around the size at which threads begin to share. */
    const size_t few[] = {1, 63, 64, 65, 127, 128, 129};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
      fill_outputs(&b);
      CHECK(p->run(model, few[i], b.at[M], b.at[U], b.at[L], b.at[S], reports_of(&b)) == DENISE_OK);
      bool same = true;
      for (size_t q = 0; q < few[i]; q++) same = same && same_matrix(&expected, q, &b, q);
      CHECK(same);
      size_t each = b.bytes[L] / count;
      CHECK(all_bytes(b.at[L] + few[i] * each, b.at[L] + (few[i] + 1) * each, FILL));
    }
    denise_free(model);
  }
  buffers_free(&b);
  buffers_free(&expected);
}

static void test_many_handles(void) {
  struct buffers b = buffers_new(&PRECISIONS[0], 20, 3, 100, offset_none);
  fill_matrices(&b, 81);
  for (int i = 0; i < (quick ? 20 : 1000); i++) {
    denise_model *model = load(NULL);
    if (i % 10 == 0) CHECK(run(model, &b) == DENISE_OK);
    denise_free(model);
  }
  denise_options options = options_for(20, 3);
  options.threads = 2;
  for (int i = 0; i < (quick ? 10 : 100); i++) {
    denise_model *model = load(&options);
    if (i % 2 == 0) CHECK(run(model, &b) == DENISE_OK);
    denise_free(model);
  }
  buffers_free(&b);
}

#ifndef _WIN32
/* After fork only the calling thread is left; the child's call must still end, with the right bits. */
static void test_fork(void) {
  if (quick) return; /* valgrind takes what the lost threads owned for leaks of the child */
  denise_options options = options_for(20, 3);
  options.threads = 2;
  for (int round = 0; round < 20; round++) {
    denise_model *model = load(&options);
    struct buffers expected = buffers_new(&PRECISIONS[0], 20, 3, 300, offset_none);
    struct buffers b = buffers_new(&PRECISIONS[0], 20, 3, 300, offset_none);
    fill_matrices(&expected, 91);
    memcpy(b.at[M], expected.at[M], b.bytes[M]);
    if (round % 2 == 0) CHECK(run(model, &expected) == DENISE_OK);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool good = run(model, &b) == DENISE_OK;
      if (round % 2 == 0) good = good && same_outputs(&expected, &b);
      denise_free(model); /* must not wait for threads that are not here */
      _exit(good ? 0 : 1);
    }
    int outcome = 0;
    CHECK(waitpid(child, &outcome, 0) == child);
    CHECK(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    CHECK(run(model, &b) == DENISE_OK);
    denise_free(model);
    buffers_free(&expected);
    buffers_free(&b);
  }
}
#endif

/* ----------------------------------------------------------------------- floating-point environment */

static unsigned control_bits(void) {
#if defined(__x86_64__)
  return _mm_getcsr() & 0xFFC0U; /* rounding, masks, flush to zero, denormals are zero */
#else
  return 0;
#endif
}

static void test_floating_point_state(const struct precision *p, const denise_model *model) {
  struct buffers b = buffers_new(p, 20, 3, 20, offset_none);
  fill_matrices(&b, 101);
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < (quick ? 1 : 4); i++) { /* valgrind knows one mode only */
    for (int flush = 0; flush < 2; flush++) {
      CHECK(fesetround(modes[i]) == 0);
#if defined(__x86_64__)
      unsigned plain = _mm_getcsr();
      if (flush && !quick) _mm_setcsr(plain | 0x8040U);
#endif
      unsigned before = control_bits();
      denise_status status = run(model, &b);
      unsigned after = control_bits();
      int mode = fegetround();
#if defined(__x86_64__)
      _mm_setcsr(plain);
#endif
      fesetround(FE_TONEAREST);
      CHECK(status == DENISE_OK);
      CHECK(before == after);
      CHECK(mode == modes[i]);
    }
  }
  buffers_free(&b);
}

/* ------------------------------------------------------------------------------- classical methods */

/* An entry that is not known is no error: L is complete, S is NaN there and nowhere else, in both triangles. */
static void test_masked(const double *m, uint32_t n) {
  const size_t size = (size_t)n * n, hole = (size_t)(n - 1) * n + 1, mirror = (size_t)n + n - 1;
  double *buffers = malloc(5 * size * sizeof *buffers);
  double *holey = buffers, *l = buffers + size, *s = l + size, *other_l = s + size, *other_s = other_l + size;
  /* Without holes it is PCP to the bit. */
  CHECK(denise_solve_batch(DENISE_METHOD_MASKED_PCP, n, 0, 0, 1, m, l, s) == DENISE_OK);
  CHECK(denise_solve_batch(DENISE_METHOD_PCP, n, 0, 0, 1, m, other_l, other_s) == DENISE_OK);
  CHECK(memcmp(l, other_l, size * sizeof *l) == 0 && memcmp(s, other_s, size * sizeof *s) == 0);
  memcpy(holey, m, size * sizeof *m);
  holey[hole] = (double)NAN;
  CHECK(denise_solve_batch(DENISE_METHOD_MASKED_PCP, n, 0, 0, 1, holey, l, s) == DENISE_OK);
  bool complete = true, where_known = true, symmetric = true;
  for (size_t i = 0; i < size; i++) {
    size_t across = i % n * n + i / n;
    complete = complete && isfinite(l[i]);
    where_known = where_known && !isfinite(s[i]) == (i == hole || i == mirror);
    symmetric = symmetric && memcmp(&l[i], &l[across], sizeof *l) == 0 && memcmp(&s[i], &s[across], sizeof *s) == 0;
  }
  CHECK(complete);
  CHECK(where_known && isnan(s[hole]) && isnan(s[mirror]));
  CHECK(symmetric);
  /* In place. */
  CHECK(denise_solve_batch(DENISE_METHOD_MASKED_PCP, n, 0, 0, 1, holey, other_l, holey) == DENISE_OK);
  CHECK(memcmp(holey, s, size * sizeof *s) == 0 && memcmp(other_l, l, size * sizeof *l) == 0);
  /* Nothing known. */
  for (size_t i = 0; i < size; i++) holey[i] = (double)NAN;
  CHECK(denise_solve_batch(DENISE_METHOD_MASKED_PCP, n, 0, 0, 1, holey, l, s) == DENISE_OK);
  bool zero = true;
  for (size_t i = 0; i < size; i++) zero = zero && l[i] == 0 && isnan(s[i]);
  CHECK(zero);
  free(buffers);
}

static void test_solve(void) {
  enum { N = 6, K = 2 };
  const double values[N] = {3, -9, 5, 1, 0, 2};
  double m[2 * N * N] = {0}, l[2 * N * N], s[2 * N * N], own[2 * N * N];
  for (size_t i = 0; i < N; i++) m[i * N + i] = values[i];
  make_matrix(m + N * N, N, 5);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, m, l, s) == DENISE_OK);
  /* The two largest eigenvalues stay, the negative one does not: rank 2 and positive semidefinite. */
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) {
      double expected = i == j && (i == 0 || i == 2) ? values[i] : 0;
      CHECK(fabs(l[i * N + j] - expected) < 1e-12);
    }
  }
  bool symmetric = true, sums = true;
  for (size_t i = 0; i < 2 * N * N; i++) {
    size_t mirror = i / (N * N) * (N * N) + i % N * N + i / N % N;
    symmetric = symmetric && l[i] == l[mirror] && s[i] == s[mirror];
    sums = sums && fabsl((long double)m[i] - l[i] - s[i]) <= (long double)(DBL_EPSILON / 2 * fabs(s[i]));
  }
  CHECK(symmetric);
  CHECK(sums);
  /* In place, one output at a time, none at all, unaligned. */
  memcpy(own, m, sizeof m);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, own, NULL, own) == DENISE_OK);
  CHECK(memcmp(own, s, sizeof s) == 0);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, m, own, NULL) == DENISE_OK);
  CHECK(memcmp(own, l, sizeof l) == 0);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, m, NULL, NULL) == DENISE_OK);
  char loose[sizeof m + 1];
  memcpy(loose + 1, m, sizeof m);
  CHECK(PRECISIONS[1].size == sizeof(double));
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, (double *)(void *)(loose + 1), own, NULL) == DENISE_OK);
  CHECK(memcmp(own, l, sizeof l) == 0);
  /* A NaN spoils its own matrix only. */
  double bad[2 * N * N];
  memcpy(bad, m, sizeof m);
  bad[0] = (double)NAN;
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, bad, own, NULL) == DENISE_ERR_NOT_FINITE);
  CHECK(all_nan(&PRECISIONS[1], (char *)own, N * N));
  CHECK(memcmp(own + N * N, l + N * N, sizeof l / 2) == 0);

  /* The other methods: the same promises, and what differs between them. */
  for (int32_t method = DENISE_METHOD_PCP; method <= DENISE_METHOD_MASKED_PCP; method++) {
    bool masked = method == DENISE_METHOD_MASKED_PCP;
    bool own_s = method == DENISE_METHOD_PCP || method == DENISE_METHOD_IALM || masked;
    CHECK(denise_solve_batch(method, N, K, 0, 2, m, l, s) == DENISE_OK);
    bool mirrored = true, near = true, finite = true;
    for (size_t i = 0; i < 2 * N * N; i++) {
      size_t mirror = i / (N * N) * (N * N) + i % N * N + i / N % N;
      mirrored = mirrored && l[i] == l[mirror] && s[i] == s[mirror];
      finite = finite && isfinite(l[i]) && isfinite(s[i]);
      near = near && fabs(m[i] - l[i] - s[i]) <= (own_s ? 1e-3 : DBL_EPSILON * 16) * 9;
    }
    CHECK(mirrored);
    CHECK(finite);
    CHECK(near);
    memcpy(own, m, sizeof m);
    CHECK(denise_solve_batch(method, N, K, 0, 2, own, NULL, own) == DENISE_OK);
    CHECK(memcmp(own, s, sizeof s) == 0);
    CHECK(denise_solve_batch(method, N, K, 0, 2, (double *)(void *)(loose + 1), own, NULL) == DENISE_OK);
    CHECK(memcmp(own, l, sizeof l) == 0);
    bad[0] = masked ? (double)INFINITY : (double)NAN;
    CHECK(denise_solve_batch(method, N, K, 0, 2, bad, own, NULL) == DENISE_ERR_NOT_FINITE);
    CHECK(all_nan(&PRECISIONS[1], (char *)own, N * N));
    CHECK(memcmp(own + N * N, l + N * N, sizeof l / 2) == 0);
    /* lambda: any number up to zero is the paper's, others change the result. */
    CHECK(denise_solve_batch(method, N, K, -1, 2, m, own, NULL) == DENISE_OK);
    CHECK(memcmp(own, l, sizeof l) == 0);
    CHECK(denise_solve_batch(method, N, K, 0.9, 2, m, own, NULL) == DENISE_OK);
    CHECK(memcmp(own, l, sizeof l) != 0);
    /* The rank: PCP, masked or not, and IALM do not look at it. */
    CHECK(denise_solve_batch(method, N, 0, 0, 2, m, own, NULL) == (own_s ? DENISE_OK : DENISE_ERR_ARGUMENT));
    CHECK(denise_solve_batch(method, N, UINT32_MAX, 0, 2, m, own, NULL) ==
          (own_s ? DENISE_OK : DENISE_ERR_UNSUPPORTED));
    CHECK(denise_solve_batch(method, N, UINT32_MAX, 0, 2, (double *)(void *)(loose + 1), own, NULL) ==
          (own_s ? DENISE_OK : DENISE_ERR_UNSUPPORTED));
    CHECK(denise_solve_batch(method, N, K, (double)INFINITY, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  }
  CHECK(denise_solve_batch(DENISE_METHOD_RPCA_GD, N, K, 1, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  test_masked(m + N * N, N);

  /* Arguments. */
  const int32_t methods[] = {0, -1, 7, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    CHECK(denise_solve_batch(methods[i], N, K, 0, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  }
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, NULL, own, NULL) == DENISE_ERR_NULL_POINTER);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 0, NULL, NULL, NULL) == DENISE_OK);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, (double)NAN, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, N, 0, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, 0, 0, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, 0, 0, 0, 2, m, own, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, 513, 3, 0, 2, m, own, NULL) == DENISE_ERR_UNSUPPORTED);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, SIZE_MAX / 8, m, own, NULL) == DENISE_ERR_SHAPE);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, m, m, NULL) == DENISE_ERR_ARGUMENT);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, N, K, 0, 2, m, own, own) == DENISE_ERR_ARGUMENT);
}

/* With the flag the units of the assets do not matter. U is canonical, with the flag and without. */
static void test_units(uint32_t flags) {
  enum { N = 20, K = 3, SIZE = N * N };
  double m[SIZE], scaled[SIZE], l[SIZE], l_scaled[SIZE], u[N * K];
  make_matrix(m, N, 11);
  for (size_t at = 0; at < SIZE; at++) {
    m[at] += at % (N + 1) == 0 ? 0.5 : 0; /* no variance is negative */
    scaled[at] = m[at] * pow(10, (double)(at / N % 7) - 3) * pow(10, (double)(at % N % 7) - 3);
  }
  denise_options options = options_for(N, K);
  options.flags = flags | DENISE_FLAG_CORRELATION;
  denise_model *model = load(&options);
  CHECK(denise_decompose_batch_f64(model, 1, m, u, l, NULL, NULL) == DENISE_OK);
  CHECK(denise_decompose_batch_f64(model, 1, scaled, NULL, l_scaled, NULL, NULL) == DENISE_OK);
  denise_free(model);
  for (size_t at = 0; at < SIZE; at++) {
    const double unit = sqrt(m[at / N * (N + 1)] * m[at % N * (N + 1)]);
    const double there = pow(10, 3 - (double)(at / N % 7)) * pow(10, 3 - (double)(at % N % 7));
    CHECK(fabs(l_scaled[at] * there - l[at]) <= 1e-9 * unit);
    double product = 0;
    for (size_t a = 0; a < K; a++) product += u[at / N * K + a] * u[at % N * K + a];
    CHECK(fabs(product - l[at]) <= 1e-9 * unit);
  }
  options.flags = flags;
  for (int with = 0; with < 2; with++) {
    if (with) options.flags |= DENISE_FLAG_CORRELATION;
    model = load(&options);
    CHECK(denise_decompose_batch_f64(model, 1, m, u, NULL, NULL, NULL) == DENISE_OK);
    denise_free(model);
    double before = INFINITY, first = 0;
    for (size_t a = 0; a < K; a++) {
      double length = 0, largest = 0;
      for (size_t i = 0; i < N; i++) {
        length += u[i * K + a] * u[i * K + a];
        if (fabs(u[i * K + a]) > fabs(largest)) largest = u[i * K + a];
      }
      if (a == 0) first = length;
      CHECK(length <= before && largest > 0);
      before = length;
      for (size_t b = 0; b < a; b++) {
        double dot = 0;
        for (size_t i = 0; i < N; i++) dot += u[i * K + a] * u[i * K + b];
        CHECK(fabs(dot) <= 1e-12 * first);
      }
    }
  }
}

/* With the flag too, alone or with the one for correlations, L + S = M and L = U U'. */
static void test_careful(uint32_t flags) {
  enum { N = 20, K = 3, SIZE = N * N };
  double m[SIZE], l[SIZE], s[SIZE], u[N * K];
  make_matrix(m, N, 12);
  for (size_t i = 0; i < N; i++) m[i * (N + 1)] += 0.5; /* no variance is negative */
  denise_options options = options_for(N, K);
  for (int with = 0; with < 2; with++) {
    options.flags = flags | DENISE_FLAG_CAREFUL | (with ? DENISE_FLAG_CORRELATION : 0);
    denise_model *model = load(&options);
    denise_report report;
    CHECK(denise_decompose_batch_f64(model, 1, m, u, l, s, &report) == DENISE_OK);
    denise_free(model);
    CHECK(report.status == DENISE_OK && report.residual >= 0 && report.residual < 1);
    for (size_t at = 0; at < SIZE; at++) {
      double product = 0;
      for (size_t a = 0; a < K; a++) product += u[at / N * K + a] * u[at % N * K + a];
      CHECK(fabs(product - l[at]) <= 1e-9 && fabs(l[at] + s[at] - m[at]) <= 1e-9);
    }
  }
}

/* NaN is an entry that is not known: L is complete, S is NaN there, the report counts, and neighbours keep their bits.
 * Infinity stays an error, and is named. */
static void test_missing(uint32_t flags) {
  enum { N = 20, K = 3, SIZE = N * N, COUNT = 11, HOLED = 4, INFINITE = 7 };
  static float m[COUNT * SIZE], l[COUNT * SIZE], s[COUNT * SIZE], plain_l[COUNT * SIZE], plain_s[COUNT * SIZE];
  static double one[SIZE];
  denise_report reports[COUNT], plain_reports[COUNT];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(one, N, (unsigned)q + 1);
    for (size_t i = 0; i < SIZE; i++) m[q * SIZE + i] = (float)one[i];
    for (size_t i = 0; i < N; i++) m[q * SIZE + i * (N + 1)] += 0.5F;
  }
  denise_options options = options_for(N, K);
  options.flags = flags;
  denise_model *model = load(&options);
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, plain_l, plain_s, plain_reports) == DENISE_OK);
  denise_free(model);
  options.flags = flags | DENISE_FLAG_MISSING;
  model = load(&options);
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, l, s, reports) == DENISE_OK);
  CHECK(memcmp(l, plain_l, sizeof l) == 0 && memcmp(s, plain_s, sizeof s) == 0);
  CHECK(memcmp(reports, plain_reports, sizeof reports) == 0);

  float *holed = m + HOLED * SIZE, *infinite = m + INFINITE * SIZE;
  const size_t lost = 5;
  uint32_t missing = 0;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j <= i; j++) {
      if ((i != j && (i == lost || j == lost)) || (i * 7 + j * 3) % 11 == 0) {
        holed[i * N + j] = NAN;
        missing++;
      }
    }
  }
  infinite[3 * N + 2] = -INFINITY;
  infinite[9 * N + 9] = NAN;
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, l, s, reports) == DENISE_ERR_NOT_FINITE);
  for (size_t q = 0; q < COUNT; q++) {
    if (q == HOLED) {
      CHECK(reports[q].status == DENISE_OK && reports[q].missing == missing && reports[q].first_bad == UINT32_MAX);
      for (size_t i = 0; i < N; i++) {
        CHECK(l[q * SIZE + lost * N + i] == 0);
        for (size_t j = 0; j <= i; j++) {
          const size_t at = q * SIZE + i * N + j, mirror = q * SIZE + j * N + i;
          CHECK(isfinite(l[at]) && l[at] == l[mirror]);
          CHECK(isnan(m[at]) ? isnan(s[at]) && isnan(s[mirror]) : fabsf(l[at] + s[at] - m[at]) <= 1e-5F);
        }
      }
    } else if (q == INFINITE) {
      CHECK(reports[q].status == DENISE_ERR_NOT_FINITE && reports[q].first_bad == 3 * N + 2);
      for (size_t i = 0; i < SIZE; i++) CHECK(isnan(l[q * SIZE + i]) && isnan(s[q * SIZE + i]));
    } else {
      CHECK(memcmp(l + q * SIZE, plain_l + q * SIZE, SIZE * sizeof *l) == 0);
      CHECK(memcmp(s + q * SIZE, plain_s + q * SIZE, SIZE * sizeof *s) == 0);
      CHECK(memcmp(reports + q, plain_reports + q, sizeof *reports) == 0);
    }
  }
  /* All unknown, and S in the place of M. */
  for (size_t i = 0; i < SIZE; i++) holed[i] = NAN;
  CHECK(denise_decompose_batch(model, 1, holed, NULL, l, holed, reports) == DENISE_OK);
  CHECK(reports[0].missing == N * (N + 1) / 2 && reports[0].l1 == 0 && reports[0].sparsity == 1);
  for (size_t i = 0; i < SIZE; i++) CHECK(l[i] == 0 && isnan(holed[i]));
  denise_free(model);
}

int main(int argc, char **argv) {
  quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  test_constants();
  test_options_init();
  test_load();
  test_load_errors();
  test_load_memory();
  test_names();
  test_model_file();
#ifdef SMALL /* a library without the loader for networks of others */
  (void)test_dense_file;
  refuse(DENSE, options_for(0, 0), DENISE_ERR_UNSUPPORTED, __LINE__);
#else
  test_dense_file();
#endif
  test_message_size();
#ifndef _WIN32
  test_out_of_memory();
#endif
  uint32_t flags[4];
  size_t sets = available_flags(flags);
  for (size_t i = 0; i < 2; i++) {
    const struct precision *p = &PRECISIONS[i];
    for (size_t set = 0; set < sets; set++) {
      denise_options options = options_for(20, 3);
      options.flags = flags[set];
      denise_model *model = load(&options);
      printf("abi: %s, %s\n", p->name, denise_kernel(model));
      test_call_errors(p, model);
      test_overlap(p, model);
      test_results(p, flags[set]);
      test_optional_outputs(p, model);
      test_unaligned(p, model);
      test_not_finite(p, model);
      test_independence(p, flags[set]);
      test_scales(p, model);
      test_exact_buffers(p, model);
      test_floating_point_state(p, model);
      if (i == 0) test_units(flags[set]);
      if (i == 0) test_careful(flags[set]);
      if (i == 0) test_missing(flags[set]);
      denise_free(model);
    }
    test_threads(p);
  }
  test_many_callers(1, 1);
  test_many_callers(2, 1);
  test_many_callers(0, 1);
  test_many_callers(1, 3);
  test_many_handles();
#ifndef _WIN32
  test_fork();
#endif
  test_solve();
  printf("abi: %lu passed, %lu failed\n", atomic_load(&passed), atomic_load(&failed));
  return failed == 0 ? 0 : 1;
}
