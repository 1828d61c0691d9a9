/* ends denise.dll WAY: a process ends with a model loaded, whose threads are there: by return, by exit from another
 * thread, from a handler that still uses the model, or after the host has let go of the DLL. The exit code is 0. */
#include <denise.h>

#include "matrices.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 20, COUNT = 300 };
typedef denise_status decompose_function(const denise_model *, size_t, const float *, float *, float *, float *,
                                         denise_report *);
static decompose_function *decompose;
static denise_model *model;
static float m[COUNT * N * N], l[COUNT * N * N];

static int works(void) { return decompose(model, COUNT, m, NULL, l, NULL, NULL) == DENISE_OK; }

static void at_end(void) {
  if (!works()) _Exit(3);
}

static void *ends(void *unused) {
  (void)unused;
  exit(works() ? 0 : 4);
}

static void find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) _Exit(5);
  memcpy(function, &symbol, sizeof symbol);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int way = atoi(argv[2]);
  double wide[N * N];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(wide, N, q);
    for (size_t i = 0; i < N * N; i++) m[q * N * N + i] = (float)wide[i];
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 6;
  void (*options_init)(denise_options *, size_t);
  denise_status (*load)(const char *, const denise_options *, denise_model **);
  find(library, "denise_options_init", &options_init);
  find(library, "denise_load", &load);
  find(library, "denise_decompose_batch", &decompose);
  denise_options options;
  options_init(&options, sizeof options);
  options.threads = 3;
  if (load(NULL, &options, &model) != DENISE_OK || !works()) return 7;
  if (way == 1) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, ends, NULL) != 0) return 8;
    pthread_join(thread, NULL);
  }
  if (way == 2) atexit(at_end);
  if (way == 3) {
    /* Its threads wait in the code of the DLL, and go on there. */
    for (int i = 0; i < 3; i++) {
      if (dlclose(library) != 0) break;
    }
    struct timespec pause = {0, 200000000};
    nanosleep(&pause, NULL);
    if (!works()) return 9;
  }
  return 0;
}
