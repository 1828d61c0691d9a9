/* A race of the host's own beside calls that share a model: no suppression of the library's may hide it. */
#include <denise.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLERS = 2, ROUNDS = 50 };

static denise_model *shared;
static unsigned long calls; /* should be atomic */

static void *caller(void *argument) {
  const size_t n = denise_n(shared);
  float *m = calloc(n * n, sizeof *m), *l = calloc(n * n, sizeof *l);
  (void)argument;
  if (m == NULL || l == NULL) exit(2);
  for (size_t i = 0; i < n; i++) m[i * n + i] = 1;
  for (int round = 0; round < ROUNDS; round++) {
    if (denise_decompose_batch(shared, 1, m, NULL, l, NULL, NULL) != DENISE_OK) exit(2);
    calls++;
  }
  free(m);
  free(l);
  return NULL;
}

int main(void) {
  pthread_t ids[CALLERS];
  if (denise_load(NULL, NULL, &shared) != DENISE_OK) return 2;
  for (int i = 0; i < CALLERS; i++) {
    if (pthread_create(&ids[i], NULL, caller, NULL) != 0) return 2;
  }
  for (int i = 0; i < CALLERS; i++) pthread_join(ids[i], NULL);
  denise_free(shared);
  printf("%lu calls\n", calls);
  return 0;
}
