/* What the programs of this folder share: checks that are counted, and a clock. */
#ifndef DENISE_TRUST_H
#define DENISE_TRUST_H

#include "matrices.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_ulong checks_passed, checks_failed;

static inline void check(int good, const char *what, const char *file, int line) {
  if (good) {
    checks_passed++;
  } else if (checks_failed++ < 50) {
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  }
}
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

/* Prints the count; the exit code of the program. */
static inline int verdict(const char *program) {
  printf("%s: %lu passed, %lu failed\n", program, (unsigned long)checks_passed, (unsigned long)checks_failed);
  return checks_failed == 0 && checks_passed > 0 ? 0 : 1;
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
