/* dlopen path/to/libdenise.so.2 [ROUNDS]: opens, uses and closes the library many times, as plug-in hosts do. The
 * process must not grow meanwhile.
 *
 * With count_malloc.c preloaded it also counts allocations. That is not the same test as no_alloc.c: in a
 * library that is opened late, the first use of a thread-local variable on a thread allocates. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <denise.h>

#include "matrices.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, COUNT = 100, SIZE = N * N };

typedef denise_status decompose_function(const denise_model *, size_t, const float *, float *, float *, float *,
                                         denise_report *);

/* From the preloaded library; NULL without it. */
extern unsigned long count_malloc_calls(void) __attribute__((weak));

#ifdef _WIN32
long resident_kilobytes(void);
#endif

static float m[COUNT * SIZE], l[COUNT * SIZE], first[COUNT * SIZE];
static pthread_barrier_t created;

struct call {
  decompose_function *decompose;
  const denise_model *model;
  denise_status status;
  unsigned long allocations;
};

/* One call on a thread that has never made one. */
static void *fresh_thread(void *argument) {
  struct call *call = argument;
  pthread_barrier_wait(&created); /* pthread_create, which allocates, has returned */
  unsigned long before = count_malloc_calls != NULL ? count_malloc_calls() : 0;
  call->status = call->decompose(call->model, COUNT, m, NULL, l, NULL, NULL);
  unsigned long after = count_malloc_calls != NULL ? count_malloc_calls() : 0;
  call->allocations = after - before;
  return NULL;
}

/* The way POSIX suggests to turn an object pointer into a function pointer. */
static int find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static int one_round(const char *path, int round) {
  void (*options_init)(denise_options *, size_t);
  denise_status (*load)(const char *, const denise_options *, denise_model **);
  decompose_function *decompose;
  void (*release)(denise_model *);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "dlopen: %s\n", dlerror());
    return 0;
  }
  if (!find(library, "denise_options_init", &options_init) || !find(library, "denise_load", &load) ||
      !find(library, "denise_decompose_batch", &decompose) || !find(library, "denise_free", &release)) {
    return 0;
  }
  denise_options options;
  options_init(&options, sizeof options);
  options.threads = round % 2 == 0 ? 1 : 2; /* with and without threads of its own */
  denise_model *model;
  if (load(NULL, &options, &model) != DENISE_OK) return 0;
  memset(l, 0, sizeof l);
  struct call call = {decompose, model, DENISE_ERR_INTERNAL, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, fresh_thread, &call) != 0) return 0;
  pthread_barrier_wait(&created);
  pthread_join(thread, NULL);
  if (call.allocations > 0) fprintf(stderr, "dlopen: round %d: %lu allocations\n", round, call.allocations);
  if (call.status != DENISE_OK || call.allocations > 0) return 0;
  release(model);
  if (dlclose(library) != 0) return 0;
  if (round == 0) memcpy(first, l, sizeof l);
  return memcmp(first, l, sizeof l) == 0;
}

/* Resident memory of the process in KB; 0 where the system does not say. */
static long resident(void) {
#ifdef _WIN32
  return resident_kilobytes(); /* of tests/windows/heap.c */
#endif
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return resident * 4;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int rounds = argc > 2 ? atoi(argv[2]) : 200;
  double matrix[SIZE];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(matrix, N, q);
    for (size_t i = 0; i < SIZE; i++) m[q * SIZE + i] = (float)matrix[i];
  }
  pthread_barrier_init(&created, NULL, 2);
  int passed = 0;
  long early = 0;
  for (int round = 0; round < rounds; round++) {
    passed += one_round(argv[1], round);
    if (round == rounds / 10) early = resident();
  }
  /* A leak of one model a round would be 100 KB a round. */
  long grown = resident() - early;
  printf("dlopen%s: %d passed, %d failed; %ld KB more than after the first tenth\n",
         count_malloc_calls != NULL ? ", allocations counted" : "", passed, rounds - passed, grown);
  return passed == rounds && grown <= 512 ? 0 : 1;
}
