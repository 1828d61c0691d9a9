/* counter: heap.c counts what the library allocates, on its own threads too, and refuses what it is told to refuse. So
 * a call that allocated would be seen. */
#include <denise.h>

#include "fail_malloc.h"
#include "trust.h"

unsigned long count_malloc_calls(void);

int main(void) {
  denise_options options;
  denise_options_init(&options, sizeof options);
  denise_model *model;
  /* The first one of a process allocates more. */
  CHECK(denise_load(NULL, &options, &model) == DENISE_OK);
  denise_free(model);
  /* Loading allocates, and freeing releases. */
  unsigned long before = count_malloc_calls();
  CHECK(denise_load(NULL, &options, &model) == DENISE_OK);
  unsigned long alone = count_malloc_calls() - before;
  CHECK(alone > 0);
  before = count_malloc_calls();
  denise_free(model);
  CHECK(count_malloc_calls() > before);
  /* With three threads more there are three stacks more. */
  before = count_malloc_calls();
  options.threads = 4;
  CHECK(denise_load(NULL, &options, &model) == DENISE_OK);
  unsigned long with_threads = count_malloc_calls() - before;
  CHECK(with_threads >= alone + 3);
  denise_free(model);
  printf("  a load makes %lu requests, and with four threads %lu\n", alone, with_threads);
  /* So do the methods that allocate by design. */
  double m[4] = {2, 1, 1, 2}, l[4];
  before = count_malloc_calls();
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, 2, 1, 0, 1, m, l, NULL) == DENISE_OK);
  CHECK(count_malloc_calls() > before);
  /* What is refused is not had. */
  fail_malloc_at(1, 1);
  CHECK(denise_load(NULL, &options, &model) == DENISE_ERR_MEMORY && model == NULL);
  CHECK(fail_malloc_requests() > 0);
  fail_malloc_at(0, 0);
  return verdict("counter");
}
