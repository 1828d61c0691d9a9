/* Calls of several models in turns: what disturbs the machine disturbs all of them, so a ratio of times in one round
   says more than the times do.

   A call on one thread never waits for anybody, so what it takes is the time that the thread works. Programs that share
   the CPU are not in it. With helpers it is the time that the caller waits. */

#ifndef TURNS_H
#define TURNS_H

#include "library.h"
#include "measure.h"

enum { MOST_ROUNDS = 301 };

/* A model that is timed, and the matrices that it is given: `count` of them, `batch` at a time, one after the other. */
struct subject {
  const struct library *library;
  denise_model *model;
  const void *m;
  unsigned n;
  size_t batch, count, next;
  int precise, helped;
  size_t calls;
  double times[MOST_ROUNDS];
};

/* Where results go, large enough for all; which subject wrote there last is as good as random. */
struct results {
  void *l, *s;
};

static void call(struct subject *subject, struct results out) {
  size_t first = subject->next * subject->n * subject->n;
  denise_status status;
  if (subject->precise) {
    const double *m = (const double *)subject->m + first;
    status = subject->library->decompose_f64(subject->model, subject->batch, m, NULL, out.l, out.s, NULL);
  } else {
    const float *m = (const float *)subject->m + first;
    status = subject->library->decompose(subject->model, subject->batch, m, NULL, out.l, out.s, NULL);
  }
  if (status != DENISE_OK) fail("denise_decompose_batch", "not DENISE_OK");
  subject->next += subject->batch;
  if (subject->next + subject->batch > subject->count) subject->next = 0;
}

/* Microseconds of a call, over several. */
static double timed(struct subject *subject, struct results out) {
  clockid_t clock = subject->helped ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  double start = read_clock(clock);
  for (size_t i = 0; i < subject->calls; i++) call(subject, out);
  return (read_clock(clock) - start) / (double)subject->calls;
}

/* Times all of them for about so many microseconds; gives the number of rounds. Peaks of the machine are measured in
   the same rounds if there is room for them. */
static inline size_t turns(struct subject *subjects, size_t count, struct results out, double budget, double *peaks) {
  double round = 0.0;
  for (size_t i = 0; i < count; i++) {
    struct subject *subject = &subjects[i];
    subject->calls = 1;
    call(subject, out);
    double time = timed(subject, out);
    /* Long beside what reading the clock takes, short beside the time slices of the system. */
    if (time < 200.0) subject->calls = (size_t)(200.0 / time) + 1;
    round += time * (double)subject->calls;
  }
  double wanted = budget / round;
  size_t rounds = wanted < 5.0 ? 5 : wanted > MOST_ROUNDS ? MOST_ROUNDS : (size_t)wanted;
  for (size_t r = 0; r < rounds; r++) {
    if (peaks != NULL) peaks[r] = fma_peak(subjects[0].precise);
    for (size_t i = 0; i < count; i++) {
      /* There and back again, so that nobody always comes first. */
      struct subject *subject = &subjects[r % 2 == 0 ? i : count - 1 - i];
      subject->times[r] = timed(subject, out);
    }
  }
  return rounds;
}

/* The median of the ratios of two times in one round. */
static inline double ratio(const struct subject *time, const struct subject *to, size_t rounds) {
  double ratios[MOST_ROUNDS];
  for (size_t r = 0; r < rounds; r++) ratios[r] = time->times[r] / to->times[r];
  return median(ratios, rounds);
}

/* Microseconds for one matrix. */
static inline double per_matrix(const struct subject *subject, size_t rounds) {
  double times[MOST_ROUNDS];
  for (size_t r = 0; r < rounds; r++) times[r] = subject->times[r];
  return median(times, rounds) / (double)subject->batch;
}

#endif
