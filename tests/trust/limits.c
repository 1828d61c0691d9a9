/* limits FILE...: loads under every limit of memory that a process can be given, in steps, until one is enough.
 *
 * Unlike in out_of_memory.c the limit is the system's (RLIMIT_AS), and files of other programs are loaded, too, for
 * which tract needs memory that this project does not manage. A child ends with the status of its load: OK or MEMORY. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Address space in use, in bytes. */
static size_t in_use(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%zu", &pages) != 1) abort();
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int child(const char *path, size_t bytes) {
  fflush(NULL);
  pid_t id = fork();
  if (id == 0) {
    denise_options options;
    denise_options_init(&options, sizeof options);
    options.max_concurrency = 1;
    struct rlimit limit = {in_use() + bytes, in_use() + bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
    denise_model *model;
    _exit((int)denise_load(path, &options, &model));
  }
  int outcome = 0;
  if (waitpid(id, &outcome, 0) != id || !WIFEXITED(outcome)) return -1;
  return WEXITSTATUS(outcome);
}

static void sweep(const char *path) {
  size_t step = 1 << 16, size = 0;
  struct stat about;
  if (path != NULL && stat(path, &about) == 0) size = (size_t)about.st_size;
  if (size > 1 << 20) step = size / 16;
  size_t bytes = 0;
  int status, refused = 0;
  while ((status = child(path, bytes)) != DENISE_OK && refused < 1000) {
    CHECK(status == DENISE_ERR_MEMORY);
    if (status != DENISE_ERR_MEMORY) fprintf(stderr, "%s with %zu bytes: %d\n", path, bytes, status);
    refused++;
    bytes += step;
  }
  CHECK(status == DENISE_OK);
  CHECK(refused > 0 || path == NULL); /* what the process has already may be enough for that one */
  printf("  %s: %d limits refused, %.1f MB are enough\n", path == NULL ? "built in" : path, refused, (double)bytes / 1e6);
}

int main(int argc, char **argv) {
  sweep(NULL);
  for (int i = 1; i < argc; i++) sweep(argv[i]);
  return verdict("limits");
}
