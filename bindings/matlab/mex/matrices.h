/* Matrices between the host and the library. */
#ifndef DENISE_MEX_MATRICES_H
#define DENISE_MEX_MATRICES_H

#include <mex.h>

#include <stddef.h>
#include <stdint.h>

/* count matrices of n x n, one after another, in double or in single. */
typedef struct {
  const void *data;
  mxClassID type;
  uint32_t n;
  size_t count;
} matrices;

/* An argument of the user, checked: real, full, square, symmetric up to rounding, n-by-n-by-B. */
matrices read_matrices(const mxArray *value);
/* The same with one dimension more, n-by-n-by-B-by-T: count is B * T. */
matrices read_ticks_of_matrices(const mxArray *value);

/* Real numbers in single or double that are not sparse, or an error that calls them `name`. */
const void *read_numbers(const mxArray *value, const char *name);

/* One of them, counted from 0. */
double number_at(const void *data, mxClassID type, size_t i);

/* Such as 3-by-4-by-2, for messages. */
typedef struct {
  char text[80];
} shape;
shape shape_of(const mxArray *value);

/* An array for results, all of which will be written: rows x columns, of the class of m, and with pages if m has. */
mxArray *pages_like(const matrices *m, size_t rows, size_t columns);

/* The same for two kinds of pages: rows x columns x inner x outer, without a dimension of pages that is 1. */
mxArray *pages(mxClassID type, size_t rows, size_t columns, size_t inner, size_t outer);

/* The same matrices in double; single ones are copied into memory that the host takes back. */
matrices in_double(const matrices *m);

/* As many results as m has entries, back to single. */
void to_single(const double *from, float *to, const matrices *m);

/* count matrices that are row-major, as the library has them, into column-major ones. The other way round it is the
 * same with rows and columns swapped. */
void transpose(const void *from, void *to, mxClassID type, size_t rows, size_t columns, size_t count);

/* Warns of the matrices with NaN or Inf, which have NaN everywhere in l. */
void warn_not_finite(const matrices *m, const void *l);

#endif
