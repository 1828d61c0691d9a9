/* The first call after a load meets no page that the machine has still to bring: loading has run the code and touched
 * the memory. Each case in a process of its own, so that its load is the first one and its call the first of all. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define N_MAX 100

static long page_faults(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
  return usage.ru_minflt + usage.ru_majflt;
}

struct kind {
  const char *network;
  uint32_t n, k;
  uint32_t flags;
  size_t count;
};

static const struct kind kinds[] = {
    {"default", 20, 3, 0, 1},
    {"fast", 20, 3, 0, 1},
    {"default", 20, 5, DENISE_FLAG_CORRELATION, 1},
    {"default", 100, 10, 0, 1},
    {"default", 20, 3, DENISE_FLAG_PORTABLE, 1},
    {"default", 20, 3, DENISE_FLAG_MISSING, 1},
    {"default", 20, 3, DENISE_FLAG_CAREFUL, 1},
    /* Side by side in vectors of half the width, and of all of it. */
    {"default", 20, 3, 0, 8},
    {"default", 20, 3, 0, 16},
    {"default", 23, 4, DENISE_FLAG_MISSING, 16},
};

/* The page faults of the first call, in float or double. */
static long first_call(const struct kind *kind, int wide) {
  static double m[N_MAX * N_MAX], l[N_MAX * N_MAX], s[N_MAX * N_MAX];
  static float m_f[N_MAX * N_MAX], l_f[N_MAX * N_MAX], s_f[N_MAX * N_MAX];
  for (size_t i = 0; i < kind->count; i++) {
    make_matrix(m + i * kind->n * kind->n, kind->n, i + 1);
  }
  for (size_t at = 0; at < N_MAX * N_MAX; at++) {
    m_f[at] = (float)m[at];
  }
  /* The caller's own pages. */
  memset(l, 1, sizeof l), memset(s, 1, sizeof s), memset(l_f, 1, sizeof l_f), memset(s_f, 1, sizeof s_f);
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = kind->n, options.k = kind->k, options.flags = kind->flags;
  denise_model *model = NULL;
  CHECK(denise_load(kind->network, &options, &model) == DENISE_OK);
  page_faults(); /* its own code */
  long before = page_faults();
  denise_status status = wide ? denise_decompose_batch_f64(model, kind->count, m, NULL, l, s, NULL)
                              : denise_decompose_batch(model, kind->count, m_f, NULL, l_f, s_f, NULL);
  long after = page_faults();
  CHECK(status == DENISE_OK);
  denise_free(model);
  return after - before;
}

/* That of a new process, or -1. A child's checks are its exit code. */
static long in_new_process(const char *program, size_t kind, int wide) {
  char command[4096];
  snprintf(command, sizeof command, "'%s' %zu %d", program, kind, wide);
  FILE *child = popen(command, "r");
  long faults = -1;
  if (child == NULL || fscanf(child, "%ld", &faults) != 1) {
    faults = -1;
  }
  return child != NULL && pclose(child) == 0 ? faults : -1;
}

int main(int argc, char **argv) {
  if (argc == 3) {
    printf("%ld\n", first_call(&kinds[strtoul(argv[1], NULL, 10)], atoi(argv[2])));
    return checks_failed == 0 ? 0 : 1;
  }
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    for (int wide = 0; wide < 2; wide++) {
      long faults = in_new_process(argv[0], kind, wide);
      if (faults != 0) {
        fprintf(stderr, "%s n = %u k = %u flags = %u, %zu matrices %s: %ld page faults\n", kinds[kind].network,
                kinds[kind].n, kinds[kind].k, kinds[kind].flags, kinds[kind].count, wide ? "f64" : "f32", faults);
      }
      CHECK(faults == 0);
    }
  }
  return verdict("first_call");
}
