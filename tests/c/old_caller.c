/* A program that was compiled when libdenise was 0.2.0, and never since: its header is a copy that does not change.
   The library of today must serve it, and must not write past the structs that it has. */
#include "denise_0_2_0.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N 20
#define K 3
#define COUNT 70

#define CHECK(condition)                                        \
  do {                                                          \
    if (!(condition)) {                                         \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);   \
      return 1;                                                 \
    }                                                           \
  } while (0)

_Static_assert(DENISE_VERSION_MAJOR == 0 && DENISE_VERSION_MINOR == 2 && DENISE_VERSION_PATCH == 0, "frozen");
_Static_assert(sizeof(denise_report) == 32, "frozen");

static float m[COUNT * N * N], l[COUNT * N * N], s[COUNT * N * N];

/* What lies behind a struct must stay as it is. */
static struct {
  denise_options options;
  unsigned char behind[64];
} own;

static struct {
  denise_report reports[COUNT];
  unsigned char behind[sizeof(denise_report)];
} told;

static int untouched(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != 0x5a) return 0;
  return 1;
}

static int split(const denise_options *options) {
  denise_model *model;
  CHECK(denise_load(NULL, options, &model) == DENISE_OK);
  memset(&told, 0x5a, sizeof told);
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, l, s, told.reports) == DENISE_OK);
  CHECK(untouched(told.behind, sizeof told.behind));
  for (size_t i = 0; i < COUNT; i++) {
    const denise_report *r = &told.reports[i];
    CHECK(r->status == DENISE_OK && r->missing == 0 && r->first_bad == UINT32_MAX);
    CHECK(isfinite(r->l1) && isfinite(r->residual) && r->sparsity >= 0 && r->sparsity <= 1);
    CHECK(r->unsettled >= 0 && r->least_specific <= 1);
  }
  const size_t bad = 3 * N * N + 7 * N + 2;
  m[bad] = INFINITY;
  CHECK(denise_decompose_batch(model, COUNT, m, NULL, l, s, told.reports) == DENISE_ERR_NOT_FINITE);
  m[bad] = 0;
  CHECK(told.reports[3].first_bad == 7 * N + 2 && told.reports[4].first_bad == UINT32_MAX);
  CHECK(untouched(told.behind, sizeof told.behind));
  denise_free(model);
  return 0;
}

int main(void) {
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < N * N; j++) m[i * N * N + j] = j % (N + 1) == 0 ? 2.0f : 1.0f / (float)(1 + (i + j) % 7);

  memset(&own, 0x5a, sizeof own);
  denise_options_init(&own.options, sizeof own.options);
  CHECK(untouched(own.behind, sizeof own.behind));
  CHECK(own.options.struct_size == sizeof(denise_options));
  if (split(&own.options) != 0) return 1;
  own.options.threads = 2;
  if (split(&own.options) != 0) return 1;
  if (split(NULL) != 0) return 1;

  /* A header of the future has a larger struct, whose new fields this library would not know. */
  denise_model *model = (denise_model *)(void *)&own;
  char why[200] = "";
  own.options.message = why;
  own.options.message_size = sizeof why;
  own.options.struct_size = sizeof own;
  CHECK(denise_load(NULL, &own.options, &model) == DENISE_ERR_ARGUMENT && model == NULL);
  CHECK(strstr(denise_last_error(), "newer") != NULL);
  puts("old_caller: a program compiled with the header of 0.2.0 is served");
  return 0;
}
