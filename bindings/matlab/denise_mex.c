/* The gateway between MATLAB or Octave and libdenise. denise.m, denise_info.m and denise_solve.m call it;
 * nobody else should. make.m builds it (MATLAB with the R2018a interface, Octave as it is).
 *
 *   [L, S, U, report] = denise_mex('decompose', M, options...)      the built-in network
 *   [L, S, U, report] = denise_mex('decompose', id, M, options...)  an opened model
 *   id                = denise_mex('open', file, options...)
 *                       denise_mex('close', id)
 *   info              = denise_mex('info'), ('info', id) or ('info', file)
 *   [L, S]            = denise_mex('solve', method, M, k, lambda)
 *
 * How it stays safe in a host that jumps out of C on every error:
 * - What must outlive a call (models, bytes of files) hangs in the static tables below and nowhere else, so an
 *   error at any point loses nothing. What one call needs comes from mxMalloc, which the host takes back.
 * - Users hold numbers that are looked up in a table, never pointers. A number is not used twice, not
 *   even after `clear mex`.
 * - Every argument is checked before the library sees it. */
#include <denise.h>
#include <mex.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------------------------------ tables */

/* A file that the user has opened. Its bytes are kept: models for other sizes are made from them later. */
typedef struct {
  uint64_t id; /* 0: free */
  void *bytes;
  size_t size;
  uint32_t k, threads; /* wishes of the user, 0: none */
} opened_file;

/* A model that is ready to run, for one size. The built-in network has source 0. */
typedef struct {
  denise_model *model; /* NULL: free */
  uint64_t source, used;
  uint32_t n, k, threads;
} ready_model;

enum { FILES = 256, MODELS = 16 };
static opened_file files[FILES];
static ready_model models[MODELS];
static denise_model *passing; /* a model for one call; left over if an error cut that call short */
static uint64_t last_id, ticks;
static int started;

static void free_passing(void) {
  denise_free(passing);
  passing = NULL;
}

static void free_models_of(uint64_t source) {
  for (int i = 0; i < MODELS; ++i) {
    if (models[i].model != NULL && models[i].source == source) {
      denise_free(models[i].model);
      models[i].model = NULL;
    }
  }
}

static void free_file(opened_file *file) {
  free_models_of(file->id);
  free(file->bytes);
  memset(file, 0, sizeof *file);
}

/* Runs on `clear mex` and when the host ends. */
static void free_all(void) {
  free_passing();
  free_models_of(0);
  for (int i = 0; i < FILES; ++i) {
    if (files[i].id != 0) free_file(&files[i]);
  }
  started = 0;
}

static void start(void) {
  struct timespec now;
  if (started) return;
  started = 1;
  mexAtExit(free_all);
  /* Numbers from before a `clear mex` must not fit a later model, so each life starts at the nanosecond of its
   * birth. */
  timespec_get(&now, TIME_UTC);
  last_id = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ----------------------------------------------------------------------------------------- failures */

static const char *id_of(denise_status status) {
  switch (status) {
    case DENISE_ERR_ARGUMENT: return "denise:argument";
    case DENISE_ERR_IO: return "denise:io";
    case DENISE_ERR_FORMAT: return "denise:format";
    case DENISE_ERR_UNSUPPORTED: return "denise:unsupported";
    case DENISE_ERR_SHAPE: return "denise:shape";
    case DENISE_ERR_NOT_FINITE: return "denise:notFinite";
    case DENISE_ERR_MEMORY: return "denise:memory";
    default: return "denise:internal";
  }
}

static void check(denise_status status, const char *message) {
  if (status != DENISE_OK) {
    mexErrMsgIdAndTxt(id_of(status), "%s", message[0] != '\0' ? message : denise_status_string(status));
  }
}

/* ---------------------------------------------------------------------------------------- arguments */

typedef struct {
  uint32_t k, threads;
  const char *model; /* file, NULL: none */
} wishes;

/* The host takes this string back by itself; Octave does not do so for mxArrayToString. */
static char *text(const mxArray *value, const char *what) {
  if (mxIsClass(value, "string")) { /* MATLAB's other kind of text */
    mxArray *in = (mxArray *)value, *out = NULL;
    mexCallMATLAB(1, &out, 1, &in, "char");
    value = out;
  }
  if (!mxIsChar(value) || mxGetM(value) != 1 || mxGetNumberOfDimensions(value) != 2) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be a character vector", what);
  }
  const mwSize size = 4 * (mwSize)mxGetNumberOfElements(value) + 1; /* as UTF-8 */
  char *string = mxMalloc(size);
  if (mxGetString(value, string, size) != 0) mexErrMsgIdAndTxt("denise:argument", "%s cannot be read", what);
  return string;
}

static double real_scalar(const mxArray *value, const char *what) {
  if (!mxIsNumeric(value) || mxIsComplex(value) || mxIsSparse(value) || mxGetNumberOfElements(value) != 1) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be one real number", what);
  }
  return mxGetScalar(value);
}

static uint32_t positive(const mxArray *value, const char *what) {
  const double number = real_scalar(value, what);
  if (!(number >= 1 && number <= 1e6 && number == floor(number))) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be a whole number from 1 on, not %g", what, number);
  }
  return (uint32_t)number;
}

static int same_word(const char *a, const char *b) {
  for (; *a != '\0' && (*a | 32) == (*b | 32); ++a, ++b) {}
  return *a == '\0' && *b == '\0';
}

/* Either one number, which is k, or names with values. */
static wishes parse(int count, const mxArray *arguments[], int model_allowed) {
  wishes result = {0, 0, NULL};
  if (count == 1 && mxIsNumeric(arguments[0])) {
    result.k = positive(arguments[0], "k");
    return result;
  }
  for (int i = 0; i < count; i += 2) {
    const char *name = text(arguments[i], "the name of an option");
    if (i + 1 == count) mexErrMsgIdAndTxt("denise:argument", "option '%s' has no value", name);
    if (same_word(name, "k")) {
      result.k = positive(arguments[i + 1], "k");
    } else if (same_word(name, "threads")) {
      result.threads = positive(arguments[i + 1], "threads");
    } else if (model_allowed && same_word(name, "model")) {
      result.model = text(arguments[i + 1], "model");
    } else {
      mexErrMsgIdAndTxt("denise:argument", "unknown option '%s': there are k, threads%s", name,
                        model_allowed ? " and model" : "");
    }
  }
  return result;
}

static opened_file *find_file(const mxArray *value) {
  if (mxIsUint64(value) && !mxIsComplex(value) && mxGetNumberOfElements(value) == 1) {
    const uint64_t id = *(const uint64_t *)mxGetData(value);
    for (int i = 0; i < FILES && id != 0; ++i) {
      if (files[i].id == id) return &files[i];
    }
  }
  mexErrMsgIdAndTxt("denise:handle", "not an open model: it was closed, cleared, or never came from denise(file)");
  return NULL;
}

/* ----------------------------------------------------------------------------------------- matrices */

typedef struct {
  const void *data;
  mxClassID type;
  uint32_t n;
  size_t count;
} matrices;

static double at(const matrices *m, size_t i) {
  return m->type == mxDOUBLE_CLASS ? ((const double *)m->data)[i] : (double)((const float *)m->data)[i];
}

static double largest_entry(const matrices *m, size_t from) {
  double largest = 0;
  for (size_t i = from; i < from + (size_t)m->n * m->n; ++i) {
    const double size = fabs(at(m, i));
    if (isfinite(size) && size > largest) largest = size;
  }
  return largest;
}

/* The library reads one triangle (seen from MATLAB the upper one, as chol does). Which one must not matter, so
 * the two may differ by rounding and no more. */
static void check_symmetry(const matrices *m) {
  const size_t n = m->n;
  const double epsilon = m->type == mxDOUBLE_CLASS ? 2.220446049250313e-16 : 1.1920928955078125e-7;
  for (size_t q = 0; q < m->count; ++q) {
    const size_t start_at = q * n * n;
    double largest = -1; /* found when it is first needed: most matrices are symmetric to the bit */
    for (size_t j = 1; j < n; ++j) {
      for (size_t i = 0; i < j; ++i) {
        const double upper = at(m, start_at + j * n + i), lower = at(m, start_at + i * n + j);
        if (upper == lower || (isnan(upper) && isnan(lower))) continue;
        if (largest < 0) largest = largest_entry(m, start_at);
        if (!(fabs(upper - lower) <= 1000 * epsilon * largest)) {
          char where[40] = "";
          if (m->count > 1) snprintf(where, sizeof where, " in M(:,:,%lu)", (unsigned long)q + 1);
          mexErrMsgIdAndTxt("denise:notSymmetric",
                            "M is not symmetric%s: M(%lu,%lu) = %g but M(%lu,%lu) = %g; if that is meant to be "
                            "rounding, pass (M+M')/2",
                            where, (unsigned long)i + 1, (unsigned long)j + 1, upper, (unsigned long)j + 1,
                            (unsigned long)i + 1, lower);
        }
      }
    }
  }
}

static matrices read_matrices(const mxArray *value) {
  matrices m;
  m.type = mxGetClassID(value);
  if ((m.type != mxDOUBLE_CLASS && m.type != mxSINGLE_CLASS) || mxIsSparse(value)) {
    mexErrMsgIdAndTxt("denise:class", "M must be a full array of class single or double (see full, double)");
  }
  if (mxIsComplex(value)) mexErrMsgIdAndTxt("denise:complex", "M must be real");
  /* Data before dimensions: Octave's special matrices, such as eye(n), become full ones here, and Octave 7 loses the
   * dimensions if it was asked for them before that. */
  m.data = mxGetData(value);
  const mwSize dimensions = mxGetNumberOfDimensions(value);
  const mwSize *size = mxGetDimensions(value);
  if (dimensions > 3 || size[0] != size[1]) {
    mexErrMsgIdAndTxt("denise:shape", "M must be n-by-n or n-by-n-by-B, one matrix per page");
  }
  if (size[0] < 2 || size[0] > 1000000) {
    mexErrMsgIdAndTxt("denise:shape", "M must have at least two rows, since k is less than n; it has %lu",
                      (unsigned long)size[0]);
  }
  m.n = (uint32_t)size[0];
  m.count = dimensions == 3 ? (size_t)size[2] : 1;
  check_symmetry(&m);
  return m;
}

/* An array for the results, all of which will be written: rows x columns, and pages if M has pages. */
static mxArray *pages_like(const matrices *m, size_t rows, size_t columns) {
  mwSize size[3];
  size[0] = (mwSize)rows;
  size[1] = (mwSize)columns;
  size[2] = (mwSize)m->count;
  return mxCreateUninitNumericArray(m->count == 1 ? 2 : 3, size, m->type, mxREAL);
}

/* ------------------------------------------------------------------------------------------- models */

static denise_status load(const char *path, const opened_file *file, uint32_t n, wishes wanted, denise_model **model,
                          char *message, size_t message_size) {
  denise_options options;
  denise_options_init(&options);
  options.n = n;
  options.k = wanted.k;
  options.threads = wanted.threads;
  options.max_concurrency = 1; /* the host makes one call at a time */
  options.message = message;
  options.message_size = message_size;
  if (file != NULL) return denise_load_memory(file->bytes, file->size, &options, model);
  return denise_load(path, &options, model);
}

/* The model for this size: one that is ready, or a new one in the place of the one that was not used for longest. */
static const denise_model *ready(const opened_file *file, uint32_t n, wishes wanted) {
  const uint64_t source = file == NULL ? 0 : file->id;
  int place = 0;
  for (int i = 0; i < MODELS; ++i) {
    ready_model *one = &models[i];
    if (one->model == NULL) {
      one->used = 0;
    } else if (one->source == source && one->n == n && one->k == wanted.k && one->threads == wanted.threads) {
      one->used = ++ticks;
      return one->model;
    }
    if (one->used < models[place].used) place = i;
  }
  char message[256] = "";
  denise_model *model = NULL;
  check(load(NULL, file, n, wanted, &model, message, sizeof message), message);
  ready_model *slot = &models[place];
  denise_free(slot->model);
  slot->model = model;
  slot->source = source;
  slot->n = n;
  slot->k = wanted.k;
  slot->threads = wanted.threads;
  slot->used = ++ticks;
  return model;
}

/* A model for this call only, straight from a file. */
static const denise_model *pass(const char *path, uint32_t n, wishes wanted) {
  char message[256] = "";
  check(load(path, NULL, n, wanted, &passing, message, sizeof message), message);
  return passing;
}

/* --------------------------------------------------------------------------------------- decompose */

static mxArray *report_struct(const denise_report *reports, size_t count) {
  const char *names[] = {"l1", "residual", "sparsity", "status"};
  mxArray *result = mxCreateStructMatrix(1, 1, 4, names);
  mxArray *columns[4];
  for (int i = 0; i < 4; ++i) {
    columns[i] = mxCreateNumericMatrix((mwSize)count, 1, i < 3 ? mxDOUBLE_CLASS : mxINT32_CLASS, mxREAL);
    mxSetFieldByNumber(result, 0, i, columns[i]);
  }
  for (size_t q = 0; q < count; ++q) {
    ((double *)mxGetData(columns[0]))[q] = (double)reports[q].l1;
    ((double *)mxGetData(columns[1]))[q] = (double)reports[q].residual;
    ((double *)mxGetData(columns[2]))[q] = (double)reports[q].sparsity;
    ((int32_t *)mxGetData(columns[3]))[q] = reports[q].status;
  }
  return result;
}

/* The library's factors are row-major, MATLAB's arrays are column-major. */
static void transpose(const void *from, void *to, const matrices *m, size_t k) {
  const size_t n = m->n;
  for (size_t q = 0; q < m->count; ++q) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t a = 0; a < k; ++a) {
        const size_t source = (q * n + i) * k + a, target = (q * k + a) * n + i;
        if (m->type == mxDOUBLE_CLASS) {
          ((double *)to)[target] = ((const double *)from)[source];
        } else {
          ((float *)to)[target] = ((const float *)from)[source];
        }
      }
    }
  }
}

/* A matrix with NaN or Inf has NaN everywhere in L. */
static void warn_not_finite(const matrices *m, const void *l) {
  const matrices results = {l, m->type, m->n, m->count};
  size_t bad = 0, first = 0;
  for (size_t q = m->count; q-- > 0;) {
    if (isnan(at(&results, q * m->n * m->n))) {
      ++bad;
      first = q + 1;
    }
  }
  if (m->count == 1) {
    mexWarnMsgIdAndTxt("denise:notFinite", "M has NaN or Inf: L, S and U are NaN");
  } else {
    mexWarnMsgIdAndTxt("denise:notFinite",
                       "%lu of %lu matrices have NaN or Inf (the first is M(:,:,%lu)): their L, S and U are NaN; see "
                       "report.status",
                       (unsigned long)bad, (unsigned long)m->count, (unsigned long)first);
  }
}

static void decompose(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  opened_file *file = NULL;
  if (nrhs > 0 && mxIsUint64(prhs[0])) {
    file = find_file(prhs[0]);
    --nrhs;
    ++prhs;
  }
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "M is missing");
  const matrices m = read_matrices(prhs[0]);
  wishes wanted = parse(nrhs - 1, prhs + 1, file == NULL);
  if (wanted.k >= m.n) {
    mexErrMsgIdAndTxt("denise:argument", "k must be less than n = %lu, not %lu", (unsigned long)m.n,
                      (unsigned long)wanted.k);
  }
  const denise_model *model;
  if (wanted.model != NULL) {
    model = pass(wanted.model, m.n, wanted);
  } else {
    if (file != NULL) {
      if (wanted.k == 0) wanted.k = file->k;
      if (wanted.threads == 0) wanted.threads = file->threads;
    } else if (wanted.k == 0) {
      wanted.k = m.n > 3 ? 3 : m.n - 1;
    }
    model = ready(file, m.n, wanted);
  }

  const size_t k = denise_k(model), element = m.type == mxDOUBLE_CLASS ? sizeof(double) : sizeof(float);
  /* Only what is asked for: a report costs as much as a tenth of the work. */
  denise_report *reports = nlhs > 3 ? mxMalloc((m.count + 1) * sizeof *reports) : NULL;
  void *u = nlhs > 2 ? mxMalloc((m.count * m.n * k + 1) * element) : NULL;
  void *l = mxGetData(plhs[0] = pages_like(&m, m.n, m.n));
  void *s = nlhs > 1 ? mxGetData(plhs[1] = pages_like(&m, m.n, m.n)) : NULL;
  if (nlhs > 2) plhs[2] = pages_like(&m, m.n, k);
  denise_status status = DENISE_OK;
  if (m.count > 0) {
    status = m.type == mxDOUBLE_CLASS ? denise_decompose_batch_f64(model, m.count, m.data, u, l, s, reports)
                                       : denise_decompose_batch(model, m.count, m.data, u, l, s, reports);
    if (status != DENISE_OK && status != DENISE_ERR_NOT_FINITE) check(status, "");
    if (u != NULL) transpose(u, mxGetData(plhs[2]), &m, k);
  }
  if (nlhs > 3) plhs[3] = report_struct(reports, m.count);
  mxFree(u);
  mxFree(reports);
  free_passing();
  if (status == DENISE_ERR_NOT_FINITE) warn_not_finite(&m, l);
}

/* ---------------------------------------------------------------------------------- open and close */

/* Reads a whole file into memory that is ours. */
static denise_status read_file(const char *path, void **bytes, size_t *size) {
  enum { LIMIT = 1 << 30 };
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) return DENISE_ERR_IO;
  denise_status status = DENISE_OK;
  size_t room = 1 << 16, used = 0;
  char *data = malloc(room);
  while (data != NULL) {
    used += fread(data + used, 1, room - used, stream);
    if (used < room) break;
    if (room >= LIMIT) {
      status = DENISE_ERR_FORMAT;
      break;
    }
    char *larger = realloc(data, room *= 2);
    if (larger == NULL) free(data);
    data = larger;
  }
  if (data == NULL) {
    status = DENISE_ERR_MEMORY;
  } else if (ferror(stream)) {
    status = DENISE_ERR_IO;
  }
  fclose(stream);
  if (status != DENISE_OK) {
    free(data);
    return status;
  }
  *bytes = data;
  *size = used;
  return DENISE_OK;
}

static void open_file(mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs == 0) mexErrMsgIdAndTxt("denise:argument", "the name of the file is missing");
  const char *path = text(prhs[0], "the name of the file");
  const wishes wanted = parse(nrhs - 1, prhs + 1, 0);
  plhs[0] = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  opened_file *file = NULL;
  for (int i = 0; i < FILES && file == NULL; ++i) {
    if (files[i].id == 0) file = &files[i];
  }
  if (file == NULL) mexErrMsgIdAndTxt("denise:handle", "%d models are open: close some", FILES);
  denise_status status = read_file(path, &file->bytes, &file->size);
  if (status != DENISE_OK) mexErrMsgIdAndTxt(id_of(status), "%s: %s", path, denise_status_string(status));
  /* Loaded once for its own size, so that a bad file is refused now. */
  char message[256] = "";
  denise_model *model = NULL;
  status = load(NULL, file, 0, wanted, &model, message, sizeof message);
  denise_free(model);
  if (status != DENISE_OK) {
    free_file(file);
    mexErrMsgIdAndTxt(id_of(status), "%s: %s", path, message[0] != '\0' ? message : denise_status_string(status));
  }
  file->k = wanted.k;
  file->threads = wanted.threads;
  file->id = ++last_id;
  *(uint64_t *)mxGetData(plhs[0]) = file->id;
}

static void close_file(int nrhs, const mxArray *prhs[]) {
  if (nrhs != 1) mexErrMsgIdAndTxt("denise:argument", "close takes one model");
  free_file(find_file(prhs[0]));
}

/* -------------------------------------------------------------------------------------- info, solve */

static void info(mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  const wishes wanted = {0, 0, NULL};
  const denise_model *model;
  if (nrhs > 1) mexErrMsgIdAndTxt("denise:argument", "info takes one model or file");
  if (nrhs == 1 && mxIsChar(prhs[0])) {
    model = pass(text(prhs[0], "the name of the file"), 0, wanted);
  } else {
    model = ready(nrhs == 1 ? find_file(prhs[0]) : NULL, 0, wanted);
  }
  int opened = 0, loaded = 0;
  for (int i = 0; i < FILES; ++i) opened += files[i].id != 0;
  for (int i = 0; i < MODELS; ++i) loaded += models[i].model != NULL;
  const char *names[] = {"version", "abi", "kernel", "n", "k", "opened", "loaded"};
  plhs[0] = mxCreateStructMatrix(1, 1, 7, names);
  mxSetFieldByNumber(plhs[0], 0, 0, mxCreateString(denise_version()));
  mxSetFieldByNumber(plhs[0], 0, 1, mxCreateDoubleScalar((double)denise_abi_version()));
  mxSetFieldByNumber(plhs[0], 0, 2, mxCreateString(denise_kernel(model)));
  mxSetFieldByNumber(plhs[0], 0, 3, mxCreateDoubleScalar((double)denise_n(model)));
  mxSetFieldByNumber(plhs[0], 0, 4, mxCreateDoubleScalar((double)denise_k(model)));
  mxSetFieldByNumber(plhs[0], 0, 5, mxCreateDoubleScalar((double)opened));
  mxSetFieldByNumber(plhs[0], 0, 6, mxCreateDoubleScalar((double)loaded));
  free_passing();
}

static void solve(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (nrhs != 4) mexErrMsgIdAndTxt("denise:argument", "solve takes a method, M, k and lambda");
  const int32_t method = (int32_t)positive(prhs[0], "method");
  const matrices m = read_matrices(prhs[1]);
  const uint32_t k = positive(prhs[2], "k");
  const double lambda = real_scalar(prhs[3], "lambda");
  if (m.type != mxDOUBLE_CLASS) mexErrMsgIdAndTxt("denise:class", "the classical methods take double");
  if (isnan(lambda) || isinf(lambda)) mexErrMsgIdAndTxt("denise:argument", "lambda must be finite");
  double *l = mxGetData(plhs[0] = pages_like(&m, m.n, m.n));
  double *s = nlhs > 1 ? mxGetData(plhs[1] = pages_like(&m, m.n, m.n)) : NULL;
  if (m.count == 0) return;
  const denise_status status = denise_solve_batch(method, m.n, k, lambda, m.count, m.data, l, s);
  if (status == DENISE_ERR_NOT_FINITE) {
    mexWarnMsgIdAndTxt("denise:notFinite", "some matrix has NaN or Inf: its L and S are NaN");
  } else if (status == DENISE_ERR_UNSUPPORTED) {
    mexErrMsgIdAndTxt("denise:unsupported", "this build of the library does not have that method");
  } else {
    check(status, "");
  }
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  start();
  free_passing();
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
  } else {
    mexErrMsgIdAndTxt("denise:argument", "denise_mex belongs to denise, denise_info and denise_solve: call those");
  }
}
