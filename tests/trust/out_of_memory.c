/* out_of_memory libdenise.so.2 [STEP]: every allocation of denise_load fails once, alone and with all that follow; and
 * every one of denise_stream_new.
 *
 * Each time the load must say DENISE_ERR_MEMORY, leave *model NULL and nothing behind, and the process must live. The
 * library is opened by dlopen, the harder case: there the first use of thread-local
 * memory allocates. A file takes thousands of allocations, of which every STEP-th fails (all of the first 300). */
#define _GNU_SOURCE
#include <denise.h>

#include "fail_malloc.h"
#include "trust.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static denise_status (*load)(const char *, const denise_options *, denise_model **);
static denise_status (*load_memory)(const void *, size_t, const denise_options *, denise_model **);
static void (*options_init)(denise_options *, size_t);
static void (*release)(denise_model *);
static denise_status (*decompose)(const denise_model *, size_t, const float *, float *, float *, float *,
                                  denise_report *);
static denise_status (*solve)(int32_t, uint32_t, uint32_t, double, size_t, const double *, double *, double *);
static denise_status (*suggest_rank)(uint32_t, uint32_t, double, size_t, const double *, uint32_t *);

static void (*stream_options_init)(denise_stream_options *, size_t);
static denise_status (*stream_new)(const denise_model *, const denise_stream_options *, denise_stream **);
static void (*stream_free)(denise_stream *);

struct source {
  const char *path; /* NULL: built in */
  const void *data; /* or from memory */
  size_t size;
};

static denise_status open_model(const struct source *from, const denise_options *options, denise_model **model) {
  if (from->data != NULL) return load_memory(from->data, from->size, options, model);
  return load(from->path, options, model);
}

/* Fails the n-th request for every n that a load makes; the number of requests. */
static unsigned long every_request(const char *what, const struct source *from, denise_options options, int follow,
                                   unsigned long step) {
  char message[200];
  options.message = message;
  options.message_size = sizeof message;
  unsigned long total = 0;
  for (unsigned long n = 1;; n += n < 300 ? 1 : step) {
    long before = fail_malloc_live();
    denise_model *model = (denise_model *)(void *)&model;
    fail_malloc_at(n, follow);
    denise_status status = open_model(from, &options, &model);
    unsigned long requests = fail_malloc_requests();
    fail_malloc_at(0, 0);
    if (requests < n) { /* nothing failed */
      CHECK(status == DENISE_OK && model != NULL);
      release(model);
      CHECK(fail_malloc_live() == before);
      total = requests;
      break;
    }
    CHECK(model == NULL);
    CHECK(fail_malloc_live() == before);
    CHECK(status == DENISE_ERR_MEMORY);
    CHECK(message[0] != '\0');
    if (status != DENISE_ERR_MEMORY) {
      fprintf(stderr, "%s: request %lu of a load fails: status %d (%s)\n", what, n, (int)status, message);
    }
  }
  return total;
}

/* A model that is loaded after all that still works. */
static void works(const struct source *from, denise_options options) {
  enum { N = 20, K = 3 };
  static float m[N * N], l[N * N];
  double wide[N * N];
  make_matrix(wide, N, 1);
  for (size_t i = 0; i < N * N; i++) m[i] = (float)wide[i];
  denise_model *model;
  options.n = N;
  options.k = K;
  CHECK(open_model(from, &options, &model) == DENISE_OK);
  CHECK(decompose(model, 1, m, NULL, l, NULL, NULL) == DENISE_OK);
  release(model);
}

static void both(const char *what, const struct source *from, denise_options options, unsigned long step) {
  works(from, options); /* the system keeps the stacks of threads for the next ones */
  unsigned long alone = every_request(what, from, options, 0, step);
  unsigned long follow = every_request(what, from, options, 1, step);
  CHECK(alone == follow && alone > 0);
  works(from, options);
  printf("  %-44s %6lu requests, %s refused\n", what, alone, step == 1 ? "each" : "a part");
}

/* Refusals, whose messages take memory too: the status stays, or becomes MEMORY. */
static void refusals(const char *what, const struct source *from, denise_options options, denise_status expected) {
  for (int follow = 0; follow < 2; follow++) {
    for (unsigned long n = 1; n < 100000; n++) {
      long before = fail_malloc_live();
      denise_model *model;
      fail_malloc_at(n, follow);
      denise_status status = open_model(from, &options, &model);
      unsigned long requests = fail_malloc_requests();
      fail_malloc_at(0, 0);
      CHECK(model == NULL && fail_malloc_live() == before);
      CHECK(status == expected || status == DENISE_ERR_MEMORY);
      if (requests < n) {
        CHECK(status == expected);
        break;
      }
    }
  }
  printf("  %s\n", what);
}

/* denise_solve_batch, which allocates by design. */
static void solver(int32_t method) {
  enum { N = 12 };
  static double m[N * N + 1], s[N * N + 1], l[N * N + 1];
  make_matrix(m, N, 5);
  for (size_t shift = 0; shift < 2; shift++) {
    /* Shifted by a byte, it needs more memory. */
    double *from = (double *)(void *)((char *)m + shift), *to = (double *)(void *)((char *)s + shift);
    memmove(from, m, sizeof(double) * N * N);
    for (int follow = 0; follow < 2; follow++) {
      for (unsigned long n = 1; n < 100000; n++) {
        long before = fail_malloc_live();
        fail_malloc_at(n, follow);
        denise_status status = solve(method, N, 3, 0, 1, from, l, to);
        unsigned long requests = fail_malloc_requests();
        fail_malloc_at(0, 0);
        CHECK(fail_malloc_live() == before);
        CHECK(status == (requests < n ? DENISE_OK : DENISE_ERR_MEMORY));
        if (requests < n) break;
      }
    }
  }
}

/* denise_stream_new, with a window and without. */
static void streams(const struct source *from) {
  denise_options options;
  options_init(&options, sizeof options);
  denise_model *model;
  CHECK(open_model(from, &options, &model) == DENISE_OK);
  for (uint32_t window = 0; window <= 100; window += 100) {
    denise_stream_options of_stream;
    stream_options_init(&of_stream, sizeof of_stream);
    of_stream.streams = 21;
    of_stream.window = window;
    of_stream.flags = DENISE_STREAM_DEMEAN;
    for (int follow = 0; follow < 2; follow++) {
      for (unsigned long n = 1; n < 100000; n++) {
        long before = fail_malloc_live();
        denise_stream *stream = (denise_stream *)(void *)&stream;
        fail_malloc_at(n, follow);
        denise_status status = stream_new(model, &of_stream, &stream);
        unsigned long requests = fail_malloc_requests();
        fail_malloc_at(0, 0);
        CHECK(status == (requests < n ? DENISE_OK : DENISE_ERR_MEMORY));
        CHECK((stream != NULL) == (status == DENISE_OK));
        if (status == DENISE_OK) stream_free(stream);
        CHECK(fail_malloc_live() == before);
        if (requests < n) break;
      }
    }
  }
  release(model);
  printf("  denise_stream_new\n");
}

/* denise_suggest_rank_batch, with every allocation failing. */
static void ranks(void) {
  enum { N = 20 };
  static double m[N * N];
  for (size_t i = 0; i < N * N; i++) m[i] = i % (N + 1) == 0 ? 2 : 1;
  for (int follow = 0; follow < 2; follow++) {
    for (unsigned long n = 1; n < 1000; n++) {
      long before = fail_malloc_live();
      uint32_t k = 77;
      fail_malloc_at(n, follow);
      denise_status status = suggest_rank(N, 0, 0, 1, m, &k);
      unsigned long requests = fail_malloc_requests();
      fail_malloc_at(0, 0);
      CHECK(status == (requests < n ? DENISE_OK : DENISE_ERR_MEMORY));
      CHECK(k == (status == DENISE_OK ? 1 : 77));
      CHECK(fail_malloc_live() == before);
      if (requests < n) break;
    }
  }
  printf("  denise_suggest_rank_batch\n");
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "out_of_memory: no %s\n", name);
    exit(1);
  }
  return found;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  unsigned long step = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "out_of_memory: %s\n", dlerror());
    return 1;
  }
  const struct {
    const char *name;
    void *place;
  } names[] = {{"denise_load", &load},         {"denise_load_memory", &load_memory},
               {"denise_options_init", &options_init}, {"denise_free", &release},
               {"denise_decompose_batch", &decompose}, {"denise_solve_batch", &solve},
               {"denise_stream_options_init", &stream_options_init},
               {"denise_suggest_rank_batch", &suggest_rank},
               {"denise_stream_new", &stream_new}, {"denise_stream_free", &stream_free}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *found = symbol(library, names[i].name);
    memcpy(names[i].place, &found, sizeof found);
  }

  denise_options options;
  options_init(&options, sizeof options);
  const struct source builtin = {NULL, NULL, 0}, file = {MODEL, NULL, 0};
  both("built in", &builtin, options, 1);
  options.n = 100;
  options.k = 10;
  both("built in, n = 100, k = 10", &builtin, options, 1);
  options.n = 512;
  options.k = 32;
  options.max_concurrency = 1;
  both("built in, n = 512, k = 32", &builtin, options, 1);
  options_init(&options, sizeof options);
  options.threads = 2;
  both("built in, threads = 2", &builtin, options, 1);
  options.threads = 5;
  options.max_concurrency = 9;
  both("built in, threads = 5, max_concurrency = 9", &builtin, options, 1);
  options_init(&options, sizeof options);
  options.flags = DENISE_FLAG_PORTABLE;
  both("built in, portable", &builtin, options, 1);

  streams(&builtin);

  options_init(&options, sizeof options);
  options.max_concurrency = 1;
  both("an unrolled file", &file, options, step);
  char long_path[1000];
  memset(long_path, 0, sizeof long_path);
  while (strlen(long_path) < 700) strcat(long_path, "./");
  strcat(long_path, MODEL);
  options_init(&options, sizeof options);
  options.max_concurrency = 1;
  struct source longer = {"./no_such_file.onnx", NULL, 0};
  refusals("no such file", &longer, options, DENISE_ERR_IO);
  longer.path = "/";
  refusals("a directory", &longer, options, DENISE_ERR_IO);
  char missing[1200];
  snprintf(missing, sizeof missing, "%s.missing", long_path);
  longer.path = missing;
  refusals("no such file, with a long name", &longer, options, DENISE_ERR_IO);
  struct source garbage = {NULL, "\x08\x08 no model", 11};
  refusals("no model", &garbage, options, DENISE_ERR_FORMAT);
  options.flags = DENISE_FLAG_F16;
  refusals("16-bit weights for an unrolled network", &builtin, options, DENISE_ERR_UNSUPPORTED);
  options.flags = DENISE_FLAG_INT8;
  refusals("8-bit weights for an unrolled network", &builtin, options, DENISE_ERR_UNSUPPORTED);
  options.flags = 0x80000000U;
  refusals("an unknown flag", &builtin, options, DENISE_ERR_ARGUMENT);
  options_init(&options, sizeof options);
  options.n = 513;
  refusals("n too large", &builtin, options, DENISE_ERR_UNSUPPORTED);
  options_init(&options, sizeof options);
  options.threads = 1000;
  refusals("too many threads", &builtin, options, DENISE_ERR_ARGUMENT);

  for (int32_t method = DENISE_METHOD_EIGEN; method <= DENISE_METHOD_MASKED_PCP; method++) solver(method);
  printf("  the six methods of denise_solve_batch\n");
  ranks();
  return verdict("out_of_memory");
}
