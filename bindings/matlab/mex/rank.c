#include "rank.h"

#include "arguments.h"
#include "library.h"
#include "matrices.h"

#include <math.h>

static const unsigned plain_observations[] = {OPTION_OBSERVATIONS, 0};

static int has_inf(const matrices *m, size_t page) {
  const size_t size = (size_t)m->n * m->n;
  for (size_t i = page * size; i < (page + 1) * size; ++i) {
    if (isinf(number_at(m->data, m->type, i))) return 1;
  }
  return 0;
}

/* The library gives 0 to a matrix with Inf, but 0 is an answer too: the user gets NaN. */
void suggest_rank(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nlhs > 1) mexErrMsgIdAndTxt("denise:argument", "too many results: there is one");
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "M is missing");
  const matrices m = read_matrices(prhs[0]);
  const wishes wanted =
      parse_options(nrhs - 1, prhs + 1, OPTION_OBSERVATIONS | OPTION_MOST, plain_observations);
  const matrices in = in_double(&m);
  uint32_t *k = mxMalloc((m.count + 1) * sizeof *k);
  const outcome how = library_rank(&in, wanted.most, wanted.observations, k);
  plhs[0] = mxCreateNumericMatrix((mwSize)m.count, 1, mxDOUBLE_CLASS, mxREAL);
  double *result = mxGetData(plhs[0]);
  size_t bad = 0, first = 0;
  for (size_t q = 0; q < m.count; ++q) {
    result[q] = (double)k[q];
    if (how == ALL_WELL || !has_inf(&m, q)) continue;
    result[q] = NAN;
    if (bad++ == 0) first = q + 1;
  }
  mxFree(k);
  if (bad == 0) return;
  if (m.count == 1) {
    mexWarnMsgIdAndTxt("denise:notFinite", "M has Inf: the result is NaN");
  } else {
    mexWarnMsgIdAndTxt("denise:notFinite", "M has Inf on %lu of %lu pages (the first is %lu): their results are NaN",
                       (unsigned long)bad, (unsigned long)m.count, (unsigned long)first);
  }
}
