/* progress NEW OLD LAYERS DENSE SECONDS: this library beside that of version 0.1.0, as Markdown.

   NEW and OLD are the shared libraries, LAYERS the weights of the default network as text, whose lines are counted,
   DENSE the paper's network as an ONNX file. Every row takes about SECONDS. Ratios are medians over calls in turns. */

#define _GNU_SOURCE

#include "library.h"
#include "measure.h"
#include "turns.h"
#include "work.h"

static struct library now_library, old_library;
static double budget;
static cpu_set_t allowed;

struct matrices {
  float *f32;
  double *f64;
  struct results out;
  size_t count;
};

/* Enough matrices that a call does not always see the same ones. */
static struct matrices make(unsigned n, unsigned k, size_t batch) {
  size_t count = batch, size = (size_t)n * n;
  while (count * size < 64 * 400) count += batch;
  struct matrices all = {.count = count};
  all.f64 = room(count * size, sizeof(double));
  all.f32 = room(count * size, sizeof(float));
  all.out.l = room(batch * size, sizeof(double));
  all.out.s = room(batch * size, sizeof(double));
  uint64_t state = 1;
  for (size_t i = 0; i < count; i++) covariance(all.f64 + i * size, n, k, 1, &state);
  for (size_t i = 0; i < count * size; i++) all.f32[i] = (float)all.f64[i];
  return all;
}

static void drop(struct matrices all) {
  free(all.f64);
  free(all.f32);
  free(all.out.l);
  free(all.out.s);
}

struct about {
  const struct library *library;
  const char *path;
  unsigned n, k, threads, flags;
  size_t batch;
  int precise;
};

static struct subject prepare(struct about about, const struct matrices *all) {
  denise_options options = library_options(about.library, about.n, about.k);
  options.max_concurrency = 1;
  options.threads = about.threads;
  options.flags = about.flags;
  struct subject subject = {.library = about.library, .n = about.n, .batch = about.batch, .precise = about.precise};
  subject.model = library_load(about.library, about.path, options);
  subject.m = about.precise ? (const void *)all->f64 : (const void *)all->f32;
  subject.count = all->count;
  return subject;
}

static void finish(struct subject *subjects, size_t count) {
  for (size_t i = 0; i < count; i++) subjects[i].library->release(subjects[i].model);
}

static const char *name(int precise) { return precise ? "f64" : "f32"; }

static void size_row(struct layers layers, unsigned n, unsigned k, size_t batch, int precise) {
  static struct subject subjects[3];
  struct matrices all = make(n, k, batch);
  struct about what = {&now_library, NULL, n, k, 1, 0, batch, precise};
  subjects[0] = prepare(what, &all);
  what.path = "fast";
  subjects[1] = prepare(what, &all);
  what.path = NULL;
  what.library = &old_library;
  subjects[2] = prepare(what, &all);
  double peaks[MOST_ROUNDS];
  size_t rounds = turns(subjects, 3, all.out, budget, peaks);
  double time = per_matrix(&subjects[0], rounds), peak = median(peaks, rounds);
  double share = 2.0 * work(layers, n, k) / (peak * 1e3) / time;
  printf("| %u | %u | %zu | %s | %.2f | %.2f | **%.2f** | %.0f %% | %.2f | %.2f |\n", n, k, batch, name(precise),
         per_matrix(&subjects[2], rounds), time, ratio(&subjects[0], &subjects[2], rounds), 100.0 * share,
         ratio(&subjects[1], &subjects[0], rounds), ratio(&subjects[1], &subjects[2], rounds));
  fflush(stdout);
  finish(subjects, 3);
  drop(all);
}

static void by_size_of_matrix(struct layers layers) {
  printf("Microseconds of one CPU for a matrix, L and S written.\n");
  printf("The share of the FMA peak counts every multiplication of the default network.\n\n");
  printf("| n | k | batch | precision | 0.1.0, µs | now, µs | now / 0.1.0 | share of FMA peak | fast / now |");
  printf(" fast / 0.1.0 |\n");
  printf("|---|---|---|---|---|---|---|---|---|---|\n");
  static const size_t batches[] = {1024, 64, 8, 1};
  static const unsigned sizes[][2] = {{50, 64}, {100, 16}, {200, 4}, {450, 1}};
  static const unsigned ranks[] = {3, 5, 10};
  for (int precise = 0; precise < 2; precise++) {
    for (size_t i = 0; i < 4; i++) size_row(layers, 20, 3, batches[i], precise);
    for (size_t i = 0; i < 4; i++) {
      for (size_t j = 0; j < 3; j++) size_row(layers, sizes[i][0], ranks[j], sizes[i][1], precise);
    }
  }
}

/* All ranks in the same rounds, so that the step from one to the next is a ratio, too. */
static void by_rank(int precise) {
  enum { RANKS = 10, BATCH = 256, N = 20 };
  static struct subject subjects[2 * RANKS];
  struct matrices all = make(N, 5, BATCH);
  for (unsigned k = 1; k <= RANKS; k++) {
    struct about what = {&now_library, NULL, N, k, 1, 0, BATCH, precise};
    subjects[k - 1] = prepare(what, &all);
    what.library = &old_library;
    subjects[RANKS + k - 1] = prepare(what, &all);
  }
  size_t rounds = turns(subjects, 2 * RANKS, all.out, 4.0 * budget, NULL);
  for (size_t i = 0; i < RANKS; i++) {
    const struct subject *new = &subjects[i], *old = &subjects[RANKS + i];
    printf("| %zu | %s | %.2f | %.2f | **%.2f** |", i + 1, name(precise), per_matrix(old, rounds),
           per_matrix(new, rounds), ratio(new, old, rounds));
    if (i + 1 < RANKS) {
      printf(" %.2f | %.2f |\n", ratio(new + 1, new, rounds), ratio(old + 1, old, rounds));
    } else {
      printf(" | |\n");
    }
  }
  fflush(stdout);
  finish(subjects, 2 * RANKS);
  drop(all);
}

/* One matrix: two threads beside one, call after call, as in a program that waits for results. The first call of a turn
   with two threads finds the helper asleep, and is told apart. */
static void by_threads(unsigned n, unsigned k, int precise) {
  enum { CALLS = 10 };
  static struct subject one, two;
  double first[MOST_ROUNDS];
  struct matrices all = make(n, k, 1);
  struct about what = {&now_library, NULL, n, k, 1, 0, 1, precise};
  one = prepare(what, &all);
  what.threads = 2;
  two = prepare(what, &all);
  one.helped = two.helped = 1;
  size_t rounds = 0;
  for (double end = now() + budget; rounds < MOST_ROUNDS && (rounds < 5 || now() < end); rounds++) {
    one.calls = CALLS;
    one.times[rounds] = timed(&one, all.out);
    two.calls = 1;
    first[rounds] = timed(&two, all.out);
    two.calls = CALLS;
    two.times[rounds] = timed(&two, all.out);
  }
  double ratio_in_a_row = ratio(&one, &two, rounds);
  printf("| %u | %u | %s | %.1f | %.1f | **%.2f** | %.1f |\n", n, k, name(precise), per_matrix(&one, rounds),
         per_matrix(&two, rounds), ratio_in_a_row, median(first, rounds));
  fflush(stdout);
  finish(&one, 1);
  finish(&two, 1);
  drop(all);
}

static void dense_row(const char *path, size_t batch, unsigned flags) {
  static struct subject subjects[2];
  struct matrices all = make(20, 3, batch);
  struct about what = {&now_library, path, 0, 0, 1, flags, batch, 0};
  subjects[0] = prepare(what, &all);
  what.library = &old_library;
  subjects[1] = prepare(what, &all);
  subjects[0].n = subjects[1].n = 20;
  size_t rounds = turns(subjects, 2, all.out, budget, NULL);
  printf("| %s | %zu | %.1f | %.1f | **%.2f** |\n", flags == 0 ? "32 bits" : "16 bits", batch,
         per_matrix(&subjects[1], rounds), per_matrix(&subjects[0], rounds),
         ratio(&subjects[0], &subjects[1], rounds));
  fflush(stdout);
  finish(subjects, 2);
  drop(all);
}

/* The same kernels with vectors of 512 bits and of 256; `path` is NULL for the built-in network. */
static void width_row(const char *path, unsigned n, unsigned k, size_t batch, int precise) {
  static struct subject subjects[2];
  struct matrices all = make(n, k, batch);
  struct about what = {&now_library, path, n, k, 1, DENISE_FLAG_AVX2, batch, precise};
  subjects[0] = prepare(what, &all);
  what.flags = DENISE_FLAG_AVX512;
  subjects[1] = prepare(what, &all);
  size_t rounds = turns(subjects, 2, all.out, budget, NULL);
  printf("| %s | %u | %u | %zu | %s | %.2f | %.2f | **%.2f** |\n", path == NULL ? "unrolled" : "dense", n, k, batch,
         name(precise), per_matrix(&subjects[0], rounds), per_matrix(&subjects[1], rounds),
         ratio(&subjects[1], &subjects[0], rounds));
  fflush(stdout);
  finish(subjects, 2);
  drop(all);
}

static void by_width(const char *dense) {
  printf("\nAVX-512 beside AVX2, microseconds for a matrix.\n\n");
  if (!library_has(&now_library, DENISE_FLAG_AVX512)) {
    printf("This machine, or the library, is without AVX-512.\n");
    return;
  }
  printf("| network | n | k | batch | precision | AVX2, µs | AVX-512, µs | AVX-512 / AVX2 |\n");
  printf("|---|---|---|---|---|---|---|---|\n");
  static const unsigned cases[][3] = {{20, 3, 1024}, {20, 3, 16}, {20, 3, 8}, {20, 3, 1}, {20, 5, 1024}, {50, 5, 64},
                                      {100, 5, 16},  {200, 5, 4}, {450, 5, 1}, {450, 10, 1}};
  for (int precise = 0; precise < 2; precise++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      width_row(NULL, cases[i][0], cases[i][1], cases[i][2], precise);
    }
  }
  static const size_t batches[] = {1, 8, 64, 1024};
  for (size_t i = 0; i < 4; i++) width_row(dense, 20, 3, batches[i], 0);
}

int main(int count, char **arguments) {
  if (count != 6) fail(arguments[0], "expected NEW OLD LAYERS DENSE SECONDS");
  now_library = library_open(arguments[1]);
  old_library = library_open(arguments[2]);
  budget = 1e6 * atof(arguments[5]);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity", "failed");

  printf("### Beside version %s\n\n", old_library.version);
  pin(&allowed, 0);
  by_size_of_matrix(layers_of(arguments[3]));

  printf("\nRanks at n = 20, batch 256; all of them in turns.\n\n");
  printf("| k | precision | 0.1.0, µs | now, µs | now / 0.1.0 | time of k + 1 / time of k | the same in 0.1.0 |\n");
  printf("|---|---|---|---|---|---|---|\n");
  by_rank(0);
  by_rank(1);

  printf("\nThe paper's dense network, n = 20, k = 3, by the bits of its weights.\n\n");
  printf("| weights | batch | 0.1.0, µs | now, µs | now / 0.1.0 |\n|---|---|---|---|---|\n");
  static const size_t batches[] = {1, 8, 64, 1024};
  for (size_t i = 0; i < 4; i++) dense_row(arguments[4], batches[i], 0);
  for (size_t i = 0; i < 4; i++) dense_row(arguments[4], batches[i], DENISE_FLAG_F16);

  by_width(arguments[4]);

  /* Threads may go where they like. */
  sched_setaffinity(0, sizeof allowed, &allowed);
  printf("\nOne matrix on two threads, microseconds that the caller waits; above 1, the second thread helps.\n");
  printf("Ten calls in a row, and the call before them, which finds the helper asleep.\n\n");
  printf("| n | k | precision | one thread, µs | two threads, µs | one / two | after a pause, µs |\n");
  printf("|---|---|---|---|---|---|---|\n");
  static const unsigned sizes[][2] = {{200, 5}, {200, 10}, {300, 5}, {450, 5}, {450, 10}};
  for (int precise = 0; precise < 2; precise++) {
    for (size_t i = 0; i < 5; i++) by_threads(sizes[i][0], sizes[i][1], precise);
  }
  printf("\n");
  return 0;
}
