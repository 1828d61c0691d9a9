#include <denise.h>
#include <stdio.h>

int main(void) {
  /* Five assets that move as one, but for one pair. Only the lower triangle is read. */
  const float m[25] = {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1.5F, 1, 1};
  float l[25], s[25];
  denise_options options;
  denise_model *model;
  denise_options_init(&options, sizeof options);
  options.n = 5; /* 5 x 5 matrices */
  options.k = 1; /* L of rank 1 */
  if (denise_load(NULL, &options, &model) != DENISE_OK) return 1;
  denise_status status = denise_decompose_batch(model, 1, m, NULL, l, s, NULL);
  printf("%s: M = %.2f is L = %.2f plus S = %.2f\n", denise_status_string(status), m[22], l[22], s[22]);
  denise_free(model);
  return status;
}
