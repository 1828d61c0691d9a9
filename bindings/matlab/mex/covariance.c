#include "covariance.h"

#include "arguments.h"
#include "library.h"
#include "matrices.h"
#include "models.h"
#include "streams.h"

#include <math.h>
#include <string.h>

static const unsigned plain_k[] = {OPTION_K, 0}, plain_none[] = {0};

static void too_many_results(int nlhs, int most) {
  if (nlhs > most) mexErrMsgIdAndTxt("denise:argument", "too many results: there are at most %d", most);
}

static size_t bytes_of(mxClassID type, size_t values) {
  return values * (type == mxDOUBLE_CLASS ? sizeof(double) : sizeof(float));
}

/* One more than needed: nobody knows what a host makes of none. */
static void *room_for(mxClassID type, size_t values) { return mxMalloc(bytes_of(type, values + 1)); }

/* ---------------------------------------------------------------------------------------- arguments */

/* n x k x count, or an error if there are more dimensions. u is as the user has it, column-major. */
static factors read_factors(const mxArray *value, mwSize most_dimensions) {
  factors f = {read_numbers(value, "U"), NULL, mxGetClassID(value), 0, 0, 1};
  const mwSize dimensions = mxGetNumberOfDimensions(value);
  const mwSize *size = mxGetDimensions(value);
  if (dimensions > most_dimensions || size[0] > 1000000 || size[1] > 1000000) {
    const shape given = shape_of(value);
    mexErrMsgIdAndTxt("denise:shape", "U must be n-by-k or n-by-k-by-B, one factor per page; it is %s", given.text);
  }
  f.n = (uint32_t)size[0];
  f.k = (uint32_t)size[1];
  for (mwSize i = 2; i < dimensions; ++i) f.count *= (size_t)size[i];
  return f;
}

/* A number is k. A U has at least two rows, or no pages. */
static int is_factor(const mxArray *value) {
  if (!mxIsNumeric(value)) return 0;
  mxGetData(value); /* before it is asked for its size: see read_numbers */
  return mxGetNumberOfElements(value) > 1 || mxGetNumberOfDimensions(value) > 2;
}

/* A copy of U as the library has it. */
static void *by_rows(const void *u, const factors *f) {
  void *copy = room_for(f->type, (size_t)f->n * f->k * f->count);
  transpose(u, copy, f->type, f->k, f->n, f->count);
  return copy;
}

/* ------------------------------------------------------------------------------------------ results */

/* Sigma, and what else is asked for. What is not asked for is not computed. */
static sigma_parts results(int nlhs, mxArray *plhs[], mxClassID type, size_t n, size_t count, void *u) {
  sigma_parts to = {u, NULL, NULL, NULL, NULL};
  to.sigma = mxGetData(plhs[0] = pages(type, n, n, count, 1));
  if (nlhs > 1) to.inverse = mxGetData(plhs[1] = pages(type, n, n, count, 1));
  if (nlhs > 2) to.d = mxGetData(plhs[2] = pages(type, n, count, 1, 1));
  if (nlhs > 3) to.log_det = mxGetData(plhs[3] = pages(mxDOUBLE_CLASS, count, 1, 1, 1));
  return to;
}

/* What a result was made from. */
typedef struct {
  const void *data; /* NULL: the end of a list */
  size_t values;    /* of a page */
  int shared;       /* 1: one page for all results */
  int holes;        /* 1: NaN is a value that is not known */
} source;

static int is_finite(const source *from, mxClassID type, size_t page) {
  const size_t start = from->shared ? 0 : page * from->values;
  for (size_t i = start; i < start + from->values; ++i) {
    const double value = number_at(from->data, type, i);
    if (!isfinite(value) && !(from->holes && isnan(value))) return 0;
  }
  return 1;
}

static void warn_one_kind(const char *id, const char *what, size_t bad, size_t count, size_t first) {
  if (bad == 0) return;
  if (count == 1) {
    mexWarnMsgIdAndTxt(id, "%s: the results are NaN", what);
  } else {
    mexWarnMsgIdAndTxt(id, "%s on %lu of %lu pages (the first is %lu): their results are NaN", what, (unsigned long)bad,
                       (unsigned long)count, (unsigned long)first);
  }
}

/* Warns of pages whose results are NaN: those that were made from NaN or Inf, and those that cannot be inverted. The
 * library names one kind only. */
static void warn(outcome how, const void *result, size_t values, mxClassID type, size_t count, const source *sources,
                 const char *not_finite, const char *singular) {
  size_t bad[2] = {0, 0}, first[2] = {0, 0};
  if (how == ALL_WELL) return;
  for (size_t q = count; q-- > 0;) {
    if (!isnan(number_at(result, type, q * values))) continue;
    int kind = 1;
    if (how == NOT_FINITE) {
      for (const source *from = sources; from->data != NULL; ++from) kind &= is_finite(from, type, q);
    }
    ++bad[kind];
    first[kind] = q + 1;
  }
  warn_one_kind("denise:notFinite", not_finite, bad[0], count, first[0]);
  warn_one_kind("denise:singular", singular, bad[1], count, first[1]);
}

/* ----------------------------------------------------------------------------------------- commands */

static const char no_variance[] = "M has no positive variance";

/* From a U that is there already. */
static void from_factors(int nlhs, mxArray *plhs[], const matrices *m, int nrhs, const mxArray *prhs[]) {
  const factors f = read_factors(prhs[0], 3);
  too_many_results(nlhs, 4);
  if (f.n != m->n || f.count != m->count) {
    const shape given = shape_of(prhs[0]);
    mexErrMsgIdAndTxt("denise:shape", "U must be %lu-by-k, with as many pages as M, %lu; it is %s", (unsigned long)m->n,
                      (unsigned long)m->count, given.text);
  }
  if (f.type != m->type) {
    mexErrMsgIdAndTxt("denise:class", "U must be of the class of M, not %s", mxGetClassName(prhs[0]));
  }
  const wishes wanted = parse_options(nrhs - 1, prhs + 1, OPTION_FLOOR, plain_none);
  const sigma_parts to = results(nlhs, plhs, m->type, m->n, m->count, by_rows(f.u, &f));
  const outcome how = library_sigma_from(m, f.k, wanted.floor, to);
  const source sources[] = {{m->data, (size_t)m->n * m->n, 0, 1}, {f.u, (size_t)f.n * f.k, 0, 0}, {NULL, 0, 0, 0}};
  warn(how, to.sigma, (size_t)m->n * m->n, m->type, m->count, sources, "M or U has NaN or Inf", no_variance);
  mxFree(to.u);
}

static void covariance(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const opened_file *file = leading_file(&nrhs, &prhs);
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "M is missing");
  const matrices m = read_matrices(prhs[0]);
  if (file == NULL && nrhs > 1 && is_factor(prhs[1])) {
    from_factors(nlhs, plhs, &m, nrhs - 1, prhs + 1);
    return;
  }
  too_many_results(nlhs, 6);
  const unsigned allowed = OPTION_K | OPTION_THREADS | (file == NULL ? OPTION_MODEL : 0u) | OPTION_CORRELATION |
                           OPTION_CAREFUL | OPTION_MISSING | OPTION_FLOOR;
  const wishes wanted = parse_options(nrhs - 1, prhs + 1, allowed, plain_k);
  const denise_model *model = wanted_model(file, m.n, wanted);
  const size_t k = library_k(model);
  const sigma_parts to = results(nlhs, plhs, m.type, m.n, m.count, room_for(m.type, m.count * m.n * k));
  if (nlhs > 4) plhs[4] = pages_like(&m, m.n, k);
  const outcome how = library_sigma(model, &m, wanted.floor, to, nlhs > 5 ? &plhs[5] : NULL);
  if (nlhs > 4) transpose(to.u, mxGetData(plhs[4]), m.type, m.n, k, m.count);
  mxFree(to.u);
  free_passing_model();
  const source sources[] = {{m.data, (size_t)m.n * m.n, 0, (int)wanted.missing}, {NULL, 0, 0, 0}};
  warn(how, to.sigma, (size_t)m.n * m.n, m.type, m.count, sources, "M has NaN or Inf", no_variance);
}

/* Of many ticks the last one counts: the stream knows no other variances. */
static void stream_sigma(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "the stream is missing");
  const open_stream *one = find_stream(prhs[0]);
  too_many_results(nlhs, 4);
  if (nrhs == 1) mexErrMsgIdAndTxt("denise:argument", "'sigma' needs U, the third result of the last tick");
  factors f = read_factors(prhs[1], 4);
  const mwSize dimensions = mxGetNumberOfDimensions(prhs[1]);
  const size_t pages_of_a_tick = dimensions == 4 ? mxGetDimensions(prhs[1])[2] : one->streams == 1 ? 1 : f.count;
  if (f.n != one->n || f.k != one->k || pages_of_a_tick != one->streams || f.count == 0) {
    const shape given = shape_of(prhs[1]);
    mexErrMsgIdAndTxt("denise:shape", "U must be %lu-by-%lu-by-%lu, or have T such ticks; it is %s",
                      (unsigned long)one->n, (unsigned long)one->k, (unsigned long)one->streams, given.text);
  }
  const wishes wanted = parse_options(nrhs - 2, prhs + 2, OPTION_FLOOR, plain_none);
  const size_t values = (size_t)f.n * f.k;
  const void *last = (const char *)f.u + bytes_of(f.type, (f.count - one->streams) * values);
  f.count = one->streams;
  const sigma_parts to = results(nlhs, plhs, f.type, f.n, f.count, by_rows(last, &f));
  const outcome how = library_stream_sigma(one->stream, f.type, wanted.floor, to);
  const source sources[] = {{last, values, 0, 0}, {NULL, 0, 0, 0}};
  warn(how, to.sigma, (size_t)f.n * f.n, f.type, f.count, sources, "U has NaN or Inf",
       "the stream knows no positive variance");
  mxFree(to.u);
}

static void product(int invert, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs != 3) mexErrMsgIdAndTxt("denise:argument", "U, d and b are needed, and nothing else");
  factors f = read_factors(prhs[0], 3);
  f.d = read_numbers(prhs[1], "d");
  const void *b = read_numbers(prhs[2], "b");
  if (mxGetClassID(prhs[1]) != f.type || mxGetClassID(prhs[2]) != f.type) {
    mexErrMsgIdAndTxt("denise:class", "U, d and b must be of one class");
  }
  if (mxGetM(prhs[1]) != f.n || mxGetNumberOfElements(prhs[1]) != f.n * f.count) {
    const shape given = shape_of(prhs[1]);
    mexErrMsgIdAndTxt("denise:shape", "d must be %lu-by-%lu, one column per page of U; it is %s", (unsigned long)f.n,
                      (unsigned long)f.count, given.text);
  }
  const mwSize dimensions = mxGetNumberOfDimensions(prhs[2]);
  const mwSize *size = mxGetDimensions(prhs[2]);
  const int shared = dimensions == 2; /* one b for all */
  if (dimensions > 3 || size[0] != f.n || (!shared && size[2] != f.count)) {
    const shape given = shape_of(prhs[2]);
    mexErrMsgIdAndTxt("denise:shape", "b must have %lu rows, and one page or %lu; it is %s", (unsigned long)f.n,
                      (unsigned long)f.count, given.text);
  }
  const size_t columns = size[1], values = f.n * columns;
  plhs[0] = pages(f.type, f.n, columns, f.count, 1);
  void *result = mxGetData(plhs[0]);
  void *x = columns == 1 ? result : room_for(f.type, f.count * values); /* one column is the same by rows */
  for (size_t q = 0; q < f.count; ++q) {
    const char *from = (const char *)b + bytes_of(f.type, shared ? 0 : q * values);
    transpose(from, (char *)x + bytes_of(f.type, q * values), f.type, columns, f.n, 1);
  }
  const void *u = f.u;
  f.u = by_rows(u, &f);
  const outcome how = library_product(&f, invert, columns, x);
  if (x != result) {
    transpose(x, result, f.type, f.n, columns, f.count);
    mxFree(x);
  }
  const source sources[] = {
      {u, (size_t)f.n * f.k, 0, 0}, {f.d, f.n, 0, 0}, {b, values, shared, 0}, {NULL, 0, 0, 0}};
  warn(how, result, values, f.type, f.count, sources, "U, d or b has NaN or Inf",
       "d has values that are not positive");
}

static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  too_many_results(nlhs, 1);
  product(1, plhs, nrhs, prhs);
}

static void multiply(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  too_many_results(nlhs, 1);
  product(0, plhs, nrhs, prhs);
}

int covariance_command(const char *command, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  static const struct {
    const char *name;
    void (*run)(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
  } commands[] = {
      {"covariance", covariance}, {"stream_sigma", stream_sigma}, {"sigma_solve", solve}, {"sigma_multiply", multiply}};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    if (strcmp(command, commands[i].name) != 0) continue;
    commands[i].run(nlhs, plhs, nrhs, prhs);
    return 1;
  }
  return 0;
}
