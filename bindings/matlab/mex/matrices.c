#include "matrices.h"

#include "host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double number_at(const void *data, mxClassID type, size_t i) {
  return type == mxDOUBLE_CLASS ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static double at(const matrices *m, size_t i) { return number_at(m->data, m->type, i); }

static double largest_entry(const matrices *m, size_t from) {
  double largest = 0;
  for (size_t i = from; i < from + (size_t)m->n * m->n; ++i) {
    const double size = fabs(at(m, i));
    if (isfinite(size) && size > largest) largest = size;
  }
  return largest;
}

/* Most matrices are symmetric to the bit, and this finds so in a fraction of a microsecond. */
static int same_double(const double *m, size_t n) {
  int same = 1;
  for (size_t j = 1; j < n; ++j) {
    for (size_t i = 0; i < j; ++i) same &= m[j * n + i] == m[i * n + j];
  }
  return same;
}

static int same_single(const float *m, size_t n) {
  int same = 1;
  for (size_t j = 1; j < n; ++j) {
    for (size_t i = 0; i < j; ++i) same &= m[j * n + i] == m[i * n + j];
  }
  return same;
}

/* The library reads one triangle (seen from MATLAB the upper one, as chol does). Which one must not matter, so
 * the two may differ by rounding and no more. */
static void check_symmetry(const matrices *m, size_t q) {
  const size_t n = m->n, start = q * n * n;
  const double epsilon = m->type == mxDOUBLE_CLASS ? 2.220446049250313e-16 : 1.1920928955078125e-7;
  const double largest = largest_entry(m, start);
  for (size_t j = 1; j < n; ++j) {
    for (size_t i = 0; i < j; ++i) {
      const double upper = at(m, start + j * n + i), lower = at(m, start + i * n + j);
      if (upper == lower || (isnan(upper) && isnan(lower))) continue;
      if (fabs(upper - lower) <= 1000 * epsilon * largest) continue;
      char where[40] = "";
      if (m->count > 1) snprintf(where, sizeof where, " in M(:,:,%lu)", (unsigned long)q + 1);
      mexErrMsgIdAndTxt("denise:notSymmetric",
                        "M is not symmetric%s: M(%lu,%lu) = %.9g but M(%lu,%lu) = %.9g; if that is meant to be "
                        "rounding, pass (M+M')/2",
                        where, (unsigned long)i + 1, (unsigned long)j + 1, upper, (unsigned long)j + 1,
                        (unsigned long)i + 1, lower);
    }
  }
}

/* To be called before anything asks for dimensions: Octave's special matrices, such as eye(n), become full ones here,
 * and Octave 7 loses the dimensions if it was asked for them before that. */
const void *read_numbers(const mxArray *value, const char *name) {
  const mxClassID type = mxGetClassID(value);
  if (mxIsSparse(value)) mexErrMsgIdAndTxt("denise:class", "%s is sparse: pass full (%s)", name, name);
  if (type != mxDOUBLE_CLASS && type != mxSINGLE_CLASS) {
    mexErrMsgIdAndTxt("denise:class", "%s must be a full array of class single or double, not %s", name,
                      mxGetClassName(value));
  }
  if (mxIsComplex(value)) mexErrMsgIdAndTxt("denise:complex", "%s must be real: it is complex", name);
  return mxGetData(value);
}

shape shape_of(const mxArray *value) {
  const mwSize *size = mxGetDimensions(value);
  shape result = {""};
  for (mwSize i = 0; i < mxGetNumberOfDimensions(value) && i < 4; ++i) {
    const size_t used = strlen(result.text);
    snprintf(result.text + used, sizeof result.text - used, "%s%lu", i == 0 ? "" : "-by-", (unsigned long)size[i]);
  }
  return result;
}

static matrices read_pages(const mxArray *value, mwSize most_dimensions) {
  matrices m;
  m.type = mxGetClassID(value);
  m.data = read_numbers(value, "M");
  const mwSize dimensions = mxGetNumberOfDimensions(value);
  const mwSize *size = mxGetDimensions(value);
  if (dimensions > most_dimensions || size[0] != size[1]) {
    mexErrMsgIdAndTxt("denise:shape", "M must be n-by-n or n-by-n-by-B%s, one matrix per page; it is %lu-by-%lu%s",
                      most_dimensions > 3 ? "-by-T" : "", (unsigned long)size[0], (unsigned long)size[1],
                      dimensions > 2 ? " with more dimensions" : "");
  }
  if (size[0] < 2 || size[0] > 1000000) {
    mexErrMsgIdAndTxt("denise:shape", "M must have at least two rows, since k is less than n; it has %lu",
                      (unsigned long)size[0]);
  }
  m.n = (uint32_t)size[0];
  m.count = 1;
  for (mwSize i = 2; i < dimensions; ++i) m.count *= (size_t)size[i];
  for (size_t q = 0; q < m.count; ++q) {
    const size_t start = q * m.n * m.n;
    const int same = m.type == mxDOUBLE_CLASS ? same_double((const double *)m.data + start, m.n)
                                              : same_single((const float *)m.data + start, m.n);
    if (!same) check_symmetry(&m, q);
  }
  return m;
}

matrices read_matrices(const mxArray *value) { return read_pages(value, 3); }

matrices read_ticks_of_matrices(const mxArray *value) { return read_pages(value, 4); }

mxArray *pages(mxClassID type, size_t rows, size_t columns, size_t inner, size_t outer) {
  mwSize size[4], dimensions = 2;
  size[0] = (mwSize)rows;
  size[1] = (mwSize)columns;
  if (inner != 1) size[dimensions++] = (mwSize)inner;
  if (outer != 1) size[dimensions++] = (mwSize)outer;
  mxArray *array = mxCreateUninitNumericArray(dimensions, size, type, mxREAL);
  host_large_pages(mxGetData(array), rows * columns * inner * outer * mxGetElementSize(array));
  return array;
}

mxArray *pages_like(const matrices *m, size_t rows, size_t columns) {
  return pages(m->type, rows, columns, m->count, 1);
}

matrices in_double(const matrices *m) {
  if (m->type == mxDOUBLE_CLASS) return *m;
  const size_t size = m->count * m->n * m->n;
  double *data = mxMalloc((size + 1) * sizeof *data);
  for (size_t i = 0; i < size; ++i) data[i] = (double)((const float *)m->data)[i];
  const matrices result = {data, mxDOUBLE_CLASS, m->n, m->count};
  return result;
}

void to_single(const double *from, float *to, const matrices *m) {
  const size_t size = m->count * m->n * m->n;
  for (size_t i = 0; i < size; ++i) to[i] = (float)from[i];
}

void transpose(const void *from, void *to, mxClassID type, size_t rows, size_t columns, size_t count) {
  for (size_t q = 0; q < count; ++q) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t a = 0; a < columns; ++a) {
        const size_t source = (q * rows + i) * columns + a, target = (q * columns + a) * rows + i;
        if (type == mxDOUBLE_CLASS) {
          ((double *)to)[target] = ((const double *)from)[source];
        } else {
          ((float *)to)[target] = ((const float *)from)[source];
        }
      }
    }
  }
}

void warn_not_finite(const matrices *m, const void *l) {
  const matrices results = {l, m->type, m->n, m->count};
  size_t bad = 0, first = 0;
  for (size_t q = m->count; q-- > 0;) {
    if (isnan(at(&results, q * m->n * m->n))) {
      ++bad;
      first = q + 1;
    }
  }
  if (m->count == 1) {
    mexWarnMsgIdAndTxt("denise:notFinite", "M has NaN or Inf: the results are NaN");
  } else {
    mexWarnMsgIdAndTxt("denise:notFinite",
                       "%lu of %lu matrices have NaN or Inf (the first is M(:,:,%lu)): their results are NaN",
                       (unsigned long)bad, (unsigned long)m->count, (unsigned long)first);
  }
}
