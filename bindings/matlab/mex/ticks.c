#include "ticks.h"

#include "matrices.h"
#include "streams.h"

#include <math.h>
#include <string.h>

static const unsigned plain_k[] = {OPTION_K, 0};

/* ----------------------------------------------------------------------------------- ticks of users */

/* A copy of a table with one row per tick, as the library has ticks: one after another. */
static void *by_ticks(const void *table, mxClassID type, size_t rows, size_t n) {
  if (type == mxDOUBLE_CLASS) {
    double *to = mxMalloc((rows * n + 1) * sizeof *to);
    for (size_t i = 0; i < n; ++i) {
      for (size_t t = 0; t < rows; ++t) to[t * n + i] = ((const double *)table)[i * rows + t];
    }
    return to;
  }
  float *to = mxMalloc((rows * n + 1) * sizeof *to);
  for (size_t i = 0; i < n; ++i) {
    for (size_t t = 0; t < rows; ++t) to[t * n + i] = ((const float *)table)[i * rows + t];
  }
  return to;
}

static ticks ticks_of(const open_stream *one, const void *data, mxClassID type, size_t count, int of_matrices) {
  const ticks result = {data, type, of_matrices, one->n, one->k, one->streams, count, 0, 1};
  return result;
}

/* n x streams, with ticks as pages. Of one stream also a table with one row per tick. */
static ticks read_returns(const mxArray *value, const open_stream *one) {
  const void *data = read_numbers(value, "R");
  const mxClassID type = mxGetClassID(value);
  const mwSize dimensions = mxGetNumberOfDimensions(value);
  const mwSize *size = mxGetDimensions(value);
  if (one->streams == 1 && dimensions == 2 && size[1] == one->n) {
    return ticks_of(one, size[0] == 1 ? data : by_ticks(data, type, size[0], one->n), type, size[0], 0);
  }
  if (dimensions > 3 || size[0] != one->n || size[1] != one->streams) {
    const shape given = shape_of(value);
    if (one->streams == 1) {
      mexErrMsgIdAndTxt("denise:shape", "R must be %lu values, or T-by-%lu for T ticks; it is %s",
                        (unsigned long)one->n, (unsigned long)one->n, given.text);
    }
    mexErrMsgIdAndTxt("denise:shape", "R must be %lu-by-%lu, one column per stream, or have T such pages; it is %s",
                      (unsigned long)one->n, (unsigned long)one->streams, given.text);
  }
  return ticks_of(one, data, type, dimensions == 3 ? size[2] : 1, 0);
}

/* n x n x streams x T. Of one stream also n x n x T. */
static ticks read_covariances(const mxArray *value, const open_stream *one) {
  const matrices m = read_ticks_of_matrices(value);
  const size_t pages_of_a_tick = mxGetNumberOfDimensions(value) == 4 ? mxGetDimensions(value)[2]
                                 : one->streams == 1                 ? 1
                                                                     : m.count;
  if (m.n != one->n || pages_of_a_tick != one->streams) {
    const unsigned long n = one->n, streams = one->streams;
    const shape given = shape_of(value);
    if (streams == 1) {
      mexErrMsgIdAndTxt("denise:shape", "M must be %lu-by-%lu, or have T such pages; it is %s", n, n, given.text);
    }
    mexErrMsgIdAndTxt("denise:shape", "M must be %lu-by-%lu-by-%lu, or %lu-by-%lu-by-%lu-by-T; it is %s", n, n, streams,
                      n, n, streams, given.text);
  }
  return ticks_of(one, m.data, m.type, m.count / one->streams, 1);
}

/* ------------------------------------------------------------------------------------------ results */

/* Results are made before the stream moves: a host without memory for them leaves it where it is. */
static void push(open_stream *one, const ticks *t, const char *what, int nlhs, mxArray *plhs[]) {
  const size_t results = results_of(t), size = t->type == mxDOUBLE_CLASS ? sizeof(double) : sizeof(float);
  void *l = NULL, *s = NULL, *u = NULL;
  size_t first;
  if (nlhs > 0) l = mxGetData(plhs[0] = pages(t->type, t->n, t->n, t->streams, results));
  if (nlhs > 1) s = mxGetData(plhs[1] = pages(t->type, t->n, t->n, t->streams, results));
  if (nlhs > 2) {
    plhs[2] = pages(t->type, t->n, t->k, t->streams, results);
    u = mxMalloc((results * t->streams * t->n * t->k + 1) * size);
  }
  const size_t bad = library_push(one->stream, t, u, l, s, nlhs > 3 ? &plhs[3] : NULL, &first);
  if (u != NULL) {
    transpose(u, mxGetData(plhs[2]), t->type, t->n, t->k, results * t->streams);
    mxFree(u);
  }
  if (bad == 0) return;
  if (t->count == 1) {
    mexWarnMsgIdAndTxt("denise:notFinite", "%s: the results are NaN%s", what,
                       t->streams > 1 ? " for those streams" : "");
  } else {
    mexWarnMsgIdAndTxt("denise:notFinite", "%s at %lu of %lu ticks (the first is %lu): their results are NaN", what,
                       (unsigned long)bad, (unsigned long)t->count, (unsigned long)first);
  }
}

/* ----------------------------------------------------------------------------------------- commands */

static void start(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs;
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "n, the number of assets, is missing");
  const uint32_t n = positive(prhs[0], "n");
  const wishes wanted = parse_options(nrhs - 1, prhs + 1,
                                      OPTION_K | OPTION_MODEL | OPTION_CORRELATION | OPTION_MISSING | OPTION_STREAMS |
                                          OPTION_WINDOW | OPTION_HALF_LIFE | OPTION_DEMEAN | OPTION_WARM_UP,
                                      plain_k);
  plhs[0] = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL); /* first: it may fail, and would lose the stream */
  *(uint64_t *)mxGetData(plhs[0]) = new_stream(n, wanted)->id;
}

static void push_returns(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  open_stream *one = find_stream(prhs[0]);
  if (nrhs != 2) mexErrMsgIdAndTxt("denise:argument", "returns R are expected after the stream, and nothing else");
  const ticks t = read_returns(prhs[1], one);
  push(one, &t, "R has Inf or a return beyond 1e100", nlhs, plhs);
}

static void push_covariances(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  open_stream *one = find_stream(prhs[0]);
  if (nrhs != 2) mexErrMsgIdAndTxt("denise:argument", "'matrices' takes M, and nothing else");
  const ticks t = read_covariances(prhs[1], one);
  push(one, &t, "M has NaN or Inf", nlhs, plhs);
}

static void covariance(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs;
  const open_stream *one = find_stream(prhs[0]);
  if (nrhs != 1) mexErrMsgIdAndTxt("denise:argument", "'covariance' takes nothing else");
  plhs[0] = pages(mxDOUBLE_CLASS, one->n, one->n, one->streams, 1);
  library_covariance(one->stream, mxGetData(plhs[0]));
}

/* Which of the streams is meant, counted from 1; 0, all of them, if nothing is given. */
static uint32_t which_of(const open_stream *one, int nrhs, const mxArray *prhs[]) {
  if (nrhs == 0 || (nrhs == 1 && mxIsNumeric(prhs[0]) && mxIsEmpty(prhs[0]))) return 0;
  if (nrhs > 1) mexErrMsgIdAndTxt("denise:argument", "too many arguments after the number of the stream");
  const uint32_t which = positive(prhs[0], "the number of the stream");
  if (which > one->streams) {
    mexErrMsgIdAndTxt("denise:argument", "the number of the stream is %lu; there are %lu", (unsigned long)which,
                      (unsigned long)one->streams);
  }
  return which;
}

static void save(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs;
  const open_stream *one = find_stream(prhs[0]);
  const uint32_t which = which_of(one, nrhs - 1, prhs + 1);
  const size_t size = library_state_size(one->stream, which);
  plhs[0] = mxCreateNumericMatrix((mwSize)size, 1, mxUINT8_CLASS, mxREAL);
  library_save(one->stream, which, mxGetData(plhs[0]), size);
}

static void restore(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs, (void)plhs;
  open_stream *one = find_stream(prhs[0]);
  if (nrhs < 2) mexErrMsgIdAndTxt("denise:argument", "'restore' needs a state, which 'save' gives");
  if (mxGetClassID(prhs[1]) != mxUINT8_CLASS || mxIsComplex(prhs[1])) {
    mexErrMsgIdAndTxt("denise:class", "the state must be of class uint8, as 'save' gives it, not %s",
                      mxGetClassName(prhs[1]));
  }
  const uint32_t which = which_of(one, nrhs - 2, prhs + 2);
  const size_t size = mxGetNumberOfElements(prhs[1]);
  library_restore(one->stream, which, size == 0 ? "" : mxGetData(prhs[1]), size);
}

static void reset(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs, (void)plhs;
  open_stream *one = find_stream(prhs[0]);
  library_reset(one->stream, which_of(one, nrhs - 1, prhs + 1));
}

static void end(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  (void)nlhs, (void)plhs;
  open_stream *one = find_stream(prhs[0]);
  if (nrhs != 1) mexErrMsgIdAndTxt("denise:argument", "'close' takes nothing else");
  close_stream(one);
}

/* ------------------------------------------------------------------------------------------ rolling */

/* p(t) / p(t-1) - 1, in the class of the prices and in place, which leaves room for one row at the end. */
static void to_returns(void *prices, mxClassID type, size_t rows, size_t n) {
  for (size_t t = 0; t < rows; ++t) {
    for (size_t i = 0; i < n; ++i) {
      const size_t at = t * n + i;
      const double price = type == mxDOUBLE_CLASS ? ((double *)prices)[at] : (double)((float *)prices)[at];
      if (!isnan(price) && !(price > 0 && isfinite(price))) {
        mexErrMsgIdAndTxt("denise:argument",
                          "prices must be positive, or NaN where they are not known: P(%lu,%lu) is %g; for a table of "
                          "returns, pass 'returns', true",
                          (unsigned long)t + 1, (unsigned long)i + 1, price);
      }
    }
  }
  for (size_t at = 0; at < (rows - 1) * n; ++at) {
    if (type == mxDOUBLE_CLASS) {
      ((double *)prices)[at] = ((double *)prices)[at + n] / ((double *)prices)[at] - 1;
    } else {
      ((float *)prices)[at] = ((float *)prices)[at + n] / ((float *)prices)[at] - 1;
    }
  }
}

static void rolling(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs < 2) mexErrMsgIdAndTxt("denise:argument", "prices P and a window are needed");
  const void *table = read_numbers(prhs[0], "P");
  const mxClassID type = mxGetClassID(prhs[0]);
  const mwSize *dimensions = mxGetDimensions(prhs[0]);
  const size_t rows = dimensions[0], n = dimensions[1];
  if (mxGetNumberOfDimensions(prhs[0]) > 2 || n < 2 || n > 1000000) {
    const shape given = shape_of(prhs[0]);
    mexErrMsgIdAndTxt("denise:shape", "P must have one row per tick and one column per asset; it is %s", given.text);
  }
  const uint32_t window = positive(prhs[1], "window");
  wishes wanted = parse_options(nrhs - 2, prhs + 2,
                                OPTION_K | OPTION_MODEL | OPTION_CORRELATION | OPTION_DEMEAN | OPTION_WARM_UP |
                                    OPTION_STEP | OPTION_RETURNS,
                                plain_k);
  if ((wanted.given & OPTION_CORRELATION) == 0) wanted.correlation = 1;
  if ((wanted.given & OPTION_DEMEAN) == 0) wanted.demean = 1;
  wanted.window = window;
  const size_t before = wanted.returns ? 0 : 1; /* rows without a return */
  if (rows < window + before) {
    mexErrMsgIdAndTxt("denise:shape", "P has %lu rows; a window of %lu needs %lu", (unsigned long)rows,
                      (unsigned long)window, (unsigned long)(window + before));
  }
  open_stream *one = new_passing_stream((uint32_t)n, wanted);
  void *returns = by_ticks(table, type, rows, n);
  if (!wanted.returns) to_returns(returns, type, rows, n);
  ticks t = ticks_of(one, returns, type, rows - before, 0);
  t.first = window - 1;
  if (wanted.step != 0) t.step = wanted.step;
  push(one, &t, "P has Inf or a return beyond 1e100", nlhs > 0 ? nlhs : 1, plhs);
  if (nlhs > 4) {
    plhs[4] = mxCreateNumericMatrix((mwSize)results_of(&t), 1, mxDOUBLE_CLASS, mxREAL);
    double *row = mxGetData(plhs[4]);
    for (size_t i = 0; i < results_of(&t); ++i) row[i] = (double)(t.first + i * t.step + before + 1);
  }
  mxFree(returns);
  free_passing_stream();
}

int stream_command(const char *command, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  static const struct {
    const char *name;
    void (*run)(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
    int of_a_stream, results; /* at most so many results */
  } commands[] = {
      {"stream_new", start, 0, 1},
      {"stream_push", push_returns, 1, 4},
      {"stream_matrices", push_covariances, 1, 4},
      {"stream_covariance", covariance, 1, 1},
      {"stream_save", save, 1, 1},
      {"stream_restore", restore, 1, 0},
      {"stream_reset", reset, 1, 0},
      {"stream_close", end, 1, 0},
      {"rolling", rolling, 0, 5},
  };
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    if (strcmp(command, commands[i].name) != 0) continue;
    if (commands[i].of_a_stream && nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "the stream is missing");
    if (nlhs > commands[i].results) {
      mexErrMsgIdAndTxt("denise:argument", "too many results: there are at most %d", commands[i].results);
    }
    commands[i].run(nlhs, plhs, nrhs, prhs);
    return 1;
  }
  return 0;
}
