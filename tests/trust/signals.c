/* signals: the host's signal handlers run on threads of the host, never on those of the library.
 *
 * - A signal that every thread of the host blocks stays pending while a model with threads works.
 * - Threads of the library block all signals but those of a thread's own faults, whatever the host blocks.
 * - While a file is loaded, which takes a thread, only the thread that loads gets signals.
 * - The caller's signal mask is the same before and after. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 20, K = 3, COUNT = 2000, SIZE = N * N, LOADS = 10 };

static float m[COUNT * SIZE], l[COUNT * SIZE];
static atomic_int here, elsewhere, loading;
static _Thread_local int of_the_host;

static void handler(int signal) {
  (void)signal;
  if (of_the_host) {
    here++;
  } else {
    elsewhere++;
  }
}

static void mask(int how, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(how, &set, NULL);
}

static int pending(int signal) {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, signal);
}

static int same_mask(const sigset_t *before) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  for (int signal = 1; signal < 32; signal++) {
    if (sigismember(before, signal) != sigismember(&now, signal)) return 0;
  }
  return 1;
}

/* Signals that no thread can block, or that the C library keeps for itself. */
static int beyond_control(int signal) { return signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33; }

static int fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP || signal == SIGABRT;
}

/* Looks at every thread of the library; how many there are. */
static int check_blocked(void) {
  int threads = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return 0;
  for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
    char path[300], line[200], name[100] = "";
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *status = fopen(path, "r");
    if (status == NULL) continue;
    while (fgets(line, sizeof line, status) != NULL) {
      sscanf(line, "Name: %99s", name);
      sscanf(line, "SigBlk: %llx", &blocked);
    }
    fclose(status);
    if (strcmp(name, "denise") != 0) continue;
    threads++;
    for (int signal = 1; signal <= 64; signal++) {
      int is_blocked = (blocked >> (signal - 1) & 1) != 0;
      if (!beyond_control(signal)) CHECK(is_blocked == !fault(signal));
    }
  }
  closedir(tasks);
  return threads;
}

static void *load_files(void *unused) {
  (void)unused;
  of_the_host = 1;
  mask(SIG_UNBLOCK, SIGUSR1);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, NULL, &before);
  for (int i = 0; i < LOADS; i++) {
    denise_model *model;
    CHECK(denise_load(DENSE, NULL, &model) == DENISE_OK);
    CHECK(same_mask(&before));
    denise_free(model);
  }
  loading = 0;
  return NULL;
}

int main(void) {
  of_the_host = 1;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);

  double one[SIZE];
  for (size_t q = 0; q < COUNT; q++) {
    make_matrix(one, N, q + 1);
    for (size_t e = 0; e < SIZE; e++) m[q * SIZE + e] = (float)one[e];
  }
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, NULL, &before);
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.threads = 3;
  denise_model *model;
  CHECK(denise_load(NULL, &options, &model) == DENISE_OK);
  CHECK(same_mask(&before));
  CHECK(check_blocked() == 2);

  /* The helpers exist by now, and were started by a thread that did not block it. */
  mask(SIG_BLOCK, SIGUSR1);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  for (int i = 0; i < 20; i++) {
    CHECK(denise_decompose_batch(model, COUNT, m, NULL, l, NULL, NULL) == DENISE_OK);
    CHECK(pending(SIGUSR1));
  }
  CHECK(here == 0 && elsewhere == 0);
  mask(SIG_UNBLOCK, SIGUSR1);
  CHECK(here == 1 && elsewhere == 0);

  mask(SIG_BLOCK, SIGUSR1);
  loading = 1;
  pthread_t loader;
  CHECK(pthread_create(&loader, NULL, load_files, NULL) == 0);
  while (loading) {
    kill(getpid(), SIGUSR1);
    usleep(20);
  }
  pthread_join(loader, NULL);
  CHECK(here > 1 && elsewhere == 0);
  printf("signals while loading: %d\n", here - 1);
  denise_free(model);
  return verdict("signals");
}
