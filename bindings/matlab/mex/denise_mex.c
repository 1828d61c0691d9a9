/* The gateway between MATLAB or Octave and libdenise. The functions in the folder above call it; nobody else should.
 *
 *   [L, S, U, report] = denise_mex('decompose', M, options...)      the built-in network
 *   [L, S, U, report] = denise_mex('decompose', id, M, options...)  an opened model
 *   id                = denise_mex('open', file, options...)
 *                       denise_mex('close', id)
 *   info              = denise_mex('info'), ('info', id) or ('info', file)
 *   [L, S]            = denise_mex('solve', M, method, options...)
 *   k                 = denise_mex('rank', M, options...)
 *   ...               = denise_mex('stream_new', n, options...) and others that ticks.h lists
 *   ...               = denise_mex('covariance', M, options...) and others that covariance.h lists
 *
 * How it stays safe in a host that jumps out of C on every error:
 * - What must outlive a call hangs in the tables of models.c and streams.c and nowhere else. What one call needs comes
 *   from mxMalloc, which the host takes back.
 * - Every argument is checked before the library sees it. */
#include "arguments.h"
#include "covariance.h"
#include "library.h"
#include "matrices.h"
#include "models.h"
#include "rank.h"
#include "streams.h"
#include "ticks.h"

#include <string.h>

static const unsigned plain_k[] = {OPTION_K, 0}, plain_k_lambda[] = {OPTION_K, OPTION_LAMBDA, 0};

static void decompose(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const opened_file *file = leading_file(&nrhs, &prhs);
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "M is missing");
  const matrices m = read_matrices(prhs[0]);
  const unsigned allowed =
      OPTION_K | OPTION_THREADS | (file == NULL ? OPTION_MODEL : 0u) | OPTION_CORRELATION | OPTION_CAREFUL |
      OPTION_MISSING;
  const denise_model *model = wanted_model(file, m.n, parse_options(nrhs - 1, prhs + 1, allowed, plain_k));
  const size_t k = library_k(model);
  plhs[0] = pages_like(&m, m.n, m.n);
  if (nlhs > 1) plhs[1] = pages_like(&m, m.n, m.n);
  if (nlhs > 2) plhs[2] = pages_like(&m, m.n, k);
  void *u = nlhs > 2 ? mxMalloc((m.count * m.n * k + 1) * mxGetElementSize(plhs[2])) : NULL;
  const int not_finite = library_split(model, &m, u, mxGetData(plhs[0]), nlhs > 1 ? mxGetData(plhs[1]) : NULL,
                                       nlhs > 3 ? &plhs[3] : NULL);
  if (u != NULL) transpose(u, mxGetData(plhs[2]), m.type, m.n, k, m.count);
  mxFree(u);
  free_passing_model();
  if (not_finite) warn_not_finite(&m, mxGetData(plhs[0]));
}

static void open_file(mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "the name of the file is missing");
  const char *path = text(prhs[0], "the name of the file");
  const wishes wanted = parse_options(nrhs - 1, prhs + 1, OPTION_K | OPTION_THREADS, plain_k);
  plhs[0] = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  *(uint64_t *)mxGetData(plhs[0]) = open_model(path, wanted);
}

static void close_file(int nrhs, const mxArray *prhs[]) {
  if (nrhs != 1) mexErrMsgIdAndTxt("denise:argument", "close takes one model");
  close_model(find_opened(prhs[0]));
}

static void info(mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const wishes none = {0};
  const denise_model *model;
  if (nrhs > 1) mexErrMsgIdAndTxt("denise:argument", "info takes one model or file");
  if (nrhs == 1 && !mxIsNumeric(prhs[0])) {
    model = model_from(text(prhs[0], "the name of the file"), 0, none);
  } else {
    model = model_for(nrhs == 1 ? find_opened(prhs[0]) : NULL, 0, none);
  }
  const models_count count = count_models();
  const char *names[] = {"version", "abi", "kernel", "n", "k", "opened", "loaded", "threads", "streams"};
  const double numbers[] = {library_n(model), library_k(model), count.opened, count.loaded, count.threads,
                            count_streams()};
  plhs[0] = mxCreateStructMatrix(1, 1, 9, names);
  mxSetFieldByNumber(plhs[0], 0, 0, mxCreateString(library_version()));
  mxSetFieldByNumber(plhs[0], 0, 1, mxCreateDoubleScalar(library_abi()));
  mxSetFieldByNumber(plhs[0], 0, 2, mxCreateString(library_kernel(model)));
  for (int i = 0; i < 6; ++i) mxSetFieldByNumber(plhs[0], 0, 3 + i, mxCreateDoubleScalar(numbers[i]));
  free_passing_model();
}

static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs < 2) mexErrMsgIdAndTxt("denise:argument", "M and a method are needed");
  const char *name = text(prhs[1], "the method");
  const int32_t method = library_method(name);
  if (method == 0) mexErrMsgIdAndTxt("denise:argument", "unknown method '%s': there are %s", name, library_methods());
  const matrices m = read_matrices(prhs[0]);
  wishes wanted = parse_options(nrhs - 2, prhs + 2, OPTION_K | OPTION_LAMBDA, plain_k_lambda);
  if (wanted.k == 0) wanted.k = default_rank(m.n);

  const matrices in = in_double(&m); /* the methods have no other precision */
  double *results[2] = {NULL, NULL};
  for (int i = 0; i < (nlhs > 1 ? 2 : 1); ++i) {
    plhs[i] = pages_like(&m, m.n, m.n);
    results[i] = m.type == mxDOUBLE_CLASS ? mxGetData(plhs[i]) : mxMalloc((m.count * m.n * m.n + 1) * sizeof(double));
  }
  if (m.count == 0) return;
  const int not_finite = library_solve(method, &in, wanted.k, wanted.lambda, results[0], results[1]);
  for (int i = 0; i < 2 && m.type != mxDOUBLE_CLASS; ++i) {
    if (results[i] != NULL) to_single(results[i], mxGetData(plhs[i]), &m);
  }
  if (not_finite) warn_not_finite(&m, mxGetData(plhs[0]));
}

static void free_everything(void) {
  free_all_streams();
  free_all_models();
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  start_models(free_everything);
  free_passing_model();
  free_passing_stream();
  const char *command = nrhs > 0 ? text(prhs[0], "the command") : "";
  --nrhs;
  ++prhs;
  if (strcmp(command, "decompose") == 0) {
    decompose(nlhs, plhs, nrhs, prhs);
  } else if (strcmp(command, "open") == 0) {
    open_file(plhs, nrhs, prhs);
  } else if (strcmp(command, "close") == 0) {
    close_file(nrhs, prhs);
  } else if (strcmp(command, "info") == 0) {
    info(plhs, nrhs, prhs);
  } else if (strcmp(command, "solve") == 0) {
    solve(nlhs, plhs, nrhs, prhs);
  } else if (strcmp(command, "rank") == 0) {
    suggest_rank(nlhs, plhs, nrhs, prhs);
  } else if (!stream_command(command, nlhs, plhs, nrhs, prhs) &&
             !covariance_command(command, nlhs, plhs, nrhs, prhs)) {
    mexErrMsgIdAndTxt("denise:argument", "denise_mex belongs to denise, denise_stream and their like: call those");
  }
}
