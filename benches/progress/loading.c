/* loading NEW OLD LOADS: what loading the built-in network takes, and the first call after it, as Markdown.

   With default options and one thread. First in one process that loads again and again, in turns; then in processes
   that have just started, where nothing of the library has been in memory of that process before. */

#define _GNU_SOURCE

#include "library.h"
#include "measure.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 32 };

static const char *paths[2];
static const char *const names[2] = {"now", "0.1.0"};

/* In microseconds, and page faults. */
struct sample {
  double open, load, first, second, usual, load_faults, first_faults;
};

static double faults(void) {
  struct rusage found;
  getrusage(RUSAGE_SELF, &found);
  return (double)found.ru_minflt;
}

/* Loads, calls, frees. */
static struct sample sample(const struct library *library, unsigned n, unsigned k, const float *m, float *l, float *s) {
  struct sample found = {0};
  double times[CALLS];
  denise_options options = library_options(library, n, k);
  options.threads = 1;
  double fault = faults(), start = now();
  denise_model *model = library_load(library, NULL, options);
  found.load = now() - start;
  found.load_faults = faults() - fault;
  fault = faults();
  for (size_t i = 0; i < CALLS; i++) {
    start = now();
    denise_status status = library->decompose(model, 1, m, NULL, l, s, NULL);
    times[i] = now() - start;
    if (status != DENISE_OK) fail("denise_decompose_batch", "not DENISE_OK");
    if (i == 0) found.first_faults = faults() - fault;
  }
  found.first = times[0];
  found.second = times[1];
  found.usual = median(times + CALLS / 2, CALLS / 2);
  library->release(model);
  return found;
}

/* The same in a process of its own. */
static struct sample fresh(size_t who, unsigned n, unsigned k, const float *m, float *l, float *s) {
  struct sample found = {0};
  int ends[2];
  if (pipe(ends) != 0) fail("pipe", "failed");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    /* What fork shares is written to, and so copied, before anything is timed. */
    for (size_t i = 0; i < (size_t)n * n; i++) l[i] = s[i] = m[i];
    double start = now();
    struct library library = library_open(paths[who]);
    double open = now() - start;
    found = sample(&library, n, k, m, l, s);
    found.open = open;
    _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &found, sizeof found) != sizeof found) fail("a child", "failed");
  close(ends[0]);
  waitpid(child, NULL, 0);
  return found;
}

static double column(const struct sample *samples, size_t count, size_t offset, double share) {
  double *values = room(count, sizeof *values);
  for (size_t i = 0; i < count; i++) memcpy(&values[i], (const char *)&samples[i] + offset, sizeof *values);
  median(values, count);
  double found = percentile(values, count, share);
  free(values);
  return found;
}

#define AT(field, share) column(samples[who], loads, offsetof(struct sample, field), share)

static void rows(const struct library *libraries, unsigned n, unsigned k, size_t loads) {
  size_t size = (size_t)n * n;
  double *wide = room(size, sizeof *wide);
  float *m = room(size, sizeof *m), *l = room(size, sizeof *l), *s = room(size, sizeof *s);
  uint64_t state = 3;
  covariance(wide, n, k, 1, &state);
  for (size_t i = 0; i < size; i++) m[i] = (float)wide[i];
  struct sample *samples[2] = {room(loads, sizeof(struct sample)), room(loads, sizeof(struct sample))};
  for (size_t i = 0; i < loads; i++) {
    for (size_t who = 0; who < 2; who++) {
      samples[who][i] = libraries == NULL ? fresh(who, n, k, m, l, s) : sample(&libraries[who], n, k, m, l, s);
    }
  }
  for (size_t who = 0; who < 2; who++) {
    printf("| %u | %u | %s |", n, k, names[who]);
    if (libraries == NULL) printf(" %.0f |", AT(open, 0.5));
    printf(" %.1f | %.1f | %.0f | %.1f | %.1f | %.2f | %.0f |\n", AT(load, 0.5), AT(load, 0.99), AT(load_faults, 0.5),
           AT(first, 0.5), AT(usual, 0.5), AT(first, 0.5) / AT(usual, 0.5), AT(first_faults, 0.5));
    free(samples[who]);
  }
  fflush(stdout);
  free(wide);
  free(m);
  free(l);
  free(s);
}

int main(int count, char **arguments) {
  if (count != 4) fail(arguments[0], "expected NEW OLD LOADS");
  paths[0] = arguments[1];
  paths[1] = arguments[2];
  size_t loads = strtoul(arguments[3], NULL, 10);
  /* Not on one CPU only: by default memory is reserved for as many calls as there are CPUs to make them. */
  printf("### Loading\n\n");
  printf("Loading the built-in network with default options on one thread, and the first call of one matrix, f32.\n");
  printf("Microseconds, medians of %zu loads.\n\n", loads);
  printf("Each in a process that has just started:\n\n");
  printf("| n | k | library | dlopen | load | load, p99 | its page faults | first call | usual call | first / usual |");
  printf(" faults of it |\n");
  printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
  /* Before this process opens the libraries: a child would find them in its memory. */
  rows(NULL, 20, 3, loads);
  rows(NULL, 200, 5, loads);
  struct library libraries[2] = {library_open(paths[0]), library_open(paths[1])};
  printf("\nIn one process, again and again:\n\n");
  printf("| n | k | library | load | load, p99 | its page faults | first call | usual call | first / usual |");
  printf(" faults of it |\n");
  printf("|---|---|---|---|---|---|---|---|---|---|\n");
  rows(libraries, 20, 3, loads);
  rows(libraries, 200, 5, loads);
  printf("\n");
  return 0;
}
