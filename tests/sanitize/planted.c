/* Two errors of a caller, made on purpose: what the sanitizers must see inside of the library, or they watch nothing.
 *
 *   planted overflow   a buffer for reports that is one byte too short
 *   planted race       two calls at once that write to the same buffer
 */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <denise.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, COUNT = 200, SIZE = N * N };

struct job {
  const denise_model *model;
  const float *m;
  float *l;
  denise_report *reports;
};

/* The report of a race needs both threads alive. */
static pthread_barrier_t both;

static void *call(void *argument) {
  const struct job *job = argument;
  denise_decompose_batch(job->model, COUNT, job->m, NULL, job->l, NULL, job->reports);
  return NULL;
}

static void *call_and_wait(void *argument) {
  pthread_barrier_wait(&both);
  for (int round = 0; round < 20; round++) call(argument);
  pthread_barrier_wait(&both);
  return NULL;
}

int main(int argc, char **argv) {
  int overflow = argc > 1 && strcmp(argv[1], "overflow") == 0;
  /* Two handles: calls on one that happen to follow each other take the same lock, which orders them. */
  denise_model *model = NULL, *second = NULL;
  float *m = calloc((size_t)COUNT * SIZE, sizeof *m);
  float *l = malloc((size_t)COUNT * SIZE * sizeof *l);
  denise_report *reports = malloc(COUNT * sizeof *reports - (overflow ? 1 : 0));
  if (m == NULL || l == NULL || reports == NULL) return 2;
  if (denise_load(NULL, NULL, &model) != DENISE_OK || denise_load(NULL, NULL, &second) != DENISE_OK) return 2;
  for (size_t i = 0; i < (size_t)COUNT * N; i++) m[i / N * SIZE + i % N * (N + 1)] = 1;
  struct job job = {model, m, l, overflow ? reports : NULL}, rival = {second, m, l, NULL};
  if (overflow) {
    call(&job);
  } else {
    pthread_t one, other;
    if (pthread_barrier_init(&both, NULL, 2) != 0) return 2;
    if (pthread_create(&one, NULL, call_and_wait, &job) != 0) return 2;
    if (pthread_create(&other, NULL, call_and_wait, &rival) != 0) return 2;
    pthread_join(one, NULL);
    pthread_join(other, NULL);
  }
  denise_free(model);
  denise_free(second);
  free(m);
  free(l);
  free(reports);
  puts("planted: nobody noticed");
  return 0;
}
