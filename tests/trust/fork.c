/* fork: processes that begin, and end, while models are loaded.
 *
 * - A child of fork decomposes with the models of its parent, with threads and without, loads, and frees.
 * - A process that ends without freeing its models ends, by exit, by return, by quick_exit, from another thread.
 * - So does one whose destructors and exit handlers still use a model. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 20, K = 3, COUNT = 300, SIZE = N * N };

static float m[COUNT * SIZE], l[COUNT * SIZE], expected[COUNT * SIZE];
static denise_model *model;

static denise_model *load(uint32_t threads) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.threads = threads;
  denise_model *loaded;
  CHECK(denise_load(NULL, &options, &loaded) == DENISE_OK);
  return loaded;
}

static int right(const denise_model *with) {
  memset(l, 0, sizeof l);
  return denise_decompose_batch(with, COUNT, m, NULL, l, NULL, NULL) == DENISE_OK && memcmp(l, expected, sizeof l) == 0;
}

/* The exit code of a child that runs `body`; 255 if a signal ended it. */
static int child(void (*body)(void)) {
  fflush(NULL);
  pid_t id = fork();
  if (id == 0) {
    alarm(60); /* a child that hangs is killed, and counts as failed */
    body();
    _exit(99);
  }
  int outcome = 0;
  if (waitpid(id, &outcome, 0) != id || !WIFEXITED(outcome)) return 255;
  return WEXITSTATUS(outcome);
}

static void use_and_free(void) {
  int good = right(model);
  denise_model *own = load(2); /* a child may start threads of its own */
  good = good && right(own) && right(model);
  denise_free(own);
  denise_free(model); /* must not wait for threads that are not here */
  _exit(good ? 7 : 1);
}

static void grandchild(void) { _exit(right(model) && child(use_and_free) == 7 ? 7 : 1); }

static void at_exit(void) {
  if (!right(model)) _exit(1);
}

static void leave(void) { exit(7); }
static void leave_with_handler(void) {
  model = load(2); /* in this very process, so that its threads are running */
  if (atexit(at_exit) != 0) _exit(2);
  exit(7);
}
static void leave_quickly(void) {
  model = load(2);
  quick_exit(7);
}
static void *exit_from_here(void *unused) {
  (void)unused;
  exit(7);
}
static void *work_forever(void *unused) {
  (void)unused;
  static float own[COUNT * SIZE];
  while (denise_decompose_batch(model, COUNT, m, NULL, own, NULL, NULL) == DENISE_OK) {
  }
  return NULL;
}
static void leave_from_a_thread(void) {
  model = load(2);
  pthread_t worker, leaver;
  if (pthread_create(&worker, NULL, work_forever, NULL) != 0) _exit(2);
  usleep(5000);
  if (pthread_create(&leaver, NULL, exit_from_here, NULL) != 0) _exit(2);
  pthread_join(leaver, NULL);
  _exit(1);
}
static void end_of_main_thread(void) {
  model = load(2);
  if (!right(model)) _exit(1);
  denise_free(model);
  pthread_t leaver;
  if (pthread_create(&leaver, NULL, exit_from_here, NULL) != 0) _exit(2);
  pthread_exit(NULL);
}

/* Runs when the program itself ends, after every atexit handler. */
static int destructor_runs;
__attribute__((destructor)) static void last(void) {
  if (destructor_runs && (model == NULL || !right(model))) _exit(1);
}
static void leave_with_destructor(void) {
  model = load(2);
  destructor_runs = 1;
  exit(7);
}

int main(void) {
  double matrix[SIZE];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(matrix, N, q + 1);
    for (size_t i = 0; i < SIZE; i++) m[q * SIZE + i] = (float)matrix[i];
  }
  model = load(1);
  if (denise_decompose_batch(model, COUNT, m, NULL, expected, NULL, NULL) != DENISE_OK) return 1;
  denise_free(model);
  for (uint32_t threads = 1; threads <= 3; threads++) {
    for (int round = 0; round < 20; round++) {
      model = load(threads);
      if (round % 2 == 0) CHECK(right(model));
      CHECK(child(use_and_free) == 7);
      CHECK(child(grandchild) == 7);
      CHECK(right(model)); /* the parent's is as it was */
      denise_free(model);
    }
  }
  model = load(2);
  void (*const ways[])(void) = {leave,           leave_with_handler, leave_quickly,
                                leave_from_a_thread, end_of_main_thread, leave_with_destructor};
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    for (int round = 0; round < 10; round++) {
      int code = child(ways[way]);
      CHECK(code == 7);
      if (code != 7) fprintf(stderr, "way %zu of leaving: %d\n", way, code);
    }
  }
  /* And this process ends with its model loaded. */
  return verdict("fork");
}
