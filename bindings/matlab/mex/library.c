#include "library.h"

#include <denise.h>

#include <stdio.h>

static const char *id_of(denise_status status) {
  switch (status) {
    case DENISE_ERR_ARGUMENT: return "denise:argument";
    case DENISE_ERR_IO: return "denise:io";
    case DENISE_ERR_FORMAT: return "denise:format";
    case DENISE_ERR_UNSUPPORTED: return "denise:unsupported";
    case DENISE_ERR_SHAPE: return "denise:shape";
    case DENISE_ERR_NOT_FINITE: return "denise:notFinite";
    case DENISE_ERR_SINGULAR: return "denise:singular";
    case DENISE_ERR_MEMORY: return "denise:memory";
    default: return "denise:internal";
  }
}

/* A call that went wrong is an error of the host; one with NaN or Inf, or with a matrix that cannot be inverted, did
 * the rest of its work. */
static outcome check(denise_status status) {
  if (status == DENISE_OK) return ALL_WELL;
  if (status == DENISE_ERR_NOT_FINITE) return NOT_FINITE;
  if (status != DENISE_ERR_SINGULAR) mexErrMsgIdAndTxt(id_of(status), "%s", denise_last_error());
  return SINGULAR;
}

denise_model *library_load(const char *path, const void *bytes, size_t bytes_size, model_size wanted, failure *why) {
  denise_options options;
  denise_model *model = NULL;
  denise_options_init(&options, sizeof options);
  options.n = wanted.n;
  options.k = wanted.k;
  options.threads = wanted.threads;
  if (wanted.correlation) options.flags |= DENISE_FLAG_CORRELATION;
  if (wanted.careful) options.flags |= DENISE_FLAG_CAREFUL;
  if (wanted.missing) options.flags |= DENISE_FLAG_MISSING;
  options.max_concurrency = 1; /* the host makes one call at a time */
  options.message = why->text;
  options.message_size = sizeof why->text;
  const denise_status status = bytes != NULL ? denise_load_memory(bytes, bytes_size, &options, &model)
                                             : denise_load(path, &options, &model);
  if (status == DENISE_OK) return model;
  why->id = id_of(status);
  if (why->text[0] == '\0') snprintf(why->text, sizeof why->text, "%s", denise_status_string(status));
  return NULL;
}

void library_free(denise_model *model) { denise_free(model); }

/* One field for each number of the reports, rows x columns. first_bad becomes the place in M as MATLAB counts, 0 if
 * there is none. */
static mxArray *report_struct(const denise_report *reports, size_t rows, size_t columns_of_each) {
  const char *names[] = {"l1", "residual", "sparsity", "status", "unsettled", "least_specific", "missing", "first_bad"};
  enum { COLUMNS = sizeof names / sizeof *names, STATUS = 3 };
  mxArray *result = mxCreateStructMatrix(1, 1, COLUMNS, names);
  double *columns[COLUMNS];
  int32_t *status = NULL;
  for (int i = 0; i < COLUMNS; ++i) {
    mxArray *column = mxCreateNumericMatrix((mwSize)rows, (mwSize)columns_of_each,
                                            i == STATUS ? mxINT32_CLASS : mxDOUBLE_CLASS, mxREAL);
    mxSetFieldByNumber(result, 0, i, column);
    if (i == STATUS)
      status = mxGetData(column);
    else
      columns[i] = mxGetData(column);
  }
  for (size_t q = 0; q < rows * columns_of_each; ++q) {
    const denise_report *r = &reports[q];
    status[q] = r->status;
    columns[0][q] = (double)r->l1;
    columns[1][q] = (double)r->residual;
    columns[2][q] = (double)r->sparsity;
    columns[4][q] = (double)r->unsettled;
    columns[5][q] = (double)r->least_specific;
    columns[6][q] = (double)r->missing;
    columns[7][q] = r->first_bad == UINT32_MAX ? 0 : (double)r->first_bad + 1;
  }
  return result;
}

int library_split(const denise_model *model, const matrices *m, void *u, void *l, void *s, mxArray **report) {
  /* Only if asked for: reports cost as much as a tenth of the work. */
  denise_report *reports = report != NULL ? mxMalloc((m->count + 1) * sizeof *reports) : NULL;
  denise_status status = DENISE_OK;
  if (m->count > 0) {
    status = m->type == mxDOUBLE_CLASS ? denise_decompose_batch_f64(model, m->count, m->data, u, l, s, reports)
                                       : denise_decompose_batch(model, m->count, m->data, u, l, s, reports);
  }
  check(status);
  if (report != NULL) *report = report_struct(reports, m->count, 1);
  mxFree(reports);
  return status == DENISE_ERR_NOT_FINITE;
}

/* -------------------------------------------------------------------------------------- covariances */

outcome library_sigma(const denise_model *model, const matrices *m, double least, sigma_parts to, mxArray **report) {
  denise_report *reports = report != NULL ? mxMalloc((m->count + 1) * sizeof *reports) : NULL;
  denise_status status = DENISE_OK;
  if (m->count > 0) {
    status = m->type == mxDOUBLE_CLASS ? denise_covariance_batch_f64(model, m->count, m->data, least, to.u, to.d,
                                                                     to.sigma, to.inverse, to.log_det, reports)
                                       : denise_covariance_batch(model, m->count, m->data, least, to.u, to.d, to.sigma,
                                                                 to.inverse, to.log_det, reports);
  }
  const outcome result = check(status);
  if (report != NULL) *report = report_struct(reports, m->count, 1);
  mxFree(reports);
  return result;
}

outcome library_sigma_from(const matrices *m, uint32_t k, double least, sigma_parts to) {
  if (m->count == 0) return ALL_WELL;
  return check(m->type == mxDOUBLE_CLASS
                   ? denise_covariance_from_u_batch_f64(m->n, k, m->count, m->data, to.u, least, to.d, to.sigma,
                                                        to.inverse, to.log_det)
                   : denise_covariance_from_u_batch(m->n, k, m->count, m->data, to.u, least, to.d, to.sigma, to.inverse,
                                                    to.log_det));
}

outcome library_stream_sigma(const denise_stream *stream, mxClassID type, double least, sigma_parts to) {
  return check(type == mxDOUBLE_CLASS
                   ? denise_stream_sigma_f64(stream, to.u, least, to.d, to.sigma, to.inverse, to.log_det)
                   : denise_stream_sigma(stream, to.u, least, to.d, to.sigma, to.inverse, to.log_det));
}

outcome library_product(const factors *f, int invert, size_t columns, void *x) {
  if (f->count == 0 || columns == 0) return ALL_WELL;
  if (f->type == mxDOUBLE_CLASS) {
    return check((invert ? denise_covariance_solve_batch_f64 : denise_covariance_multiply_batch_f64)(
        f->n, f->k, f->count, f->u, f->d, columns, x, x));
  }
  return check((invert ? denise_covariance_solve_batch : denise_covariance_multiply_batch)(f->n, f->k, f->count, f->u,
                                                                                           f->d, columns, x, x));
}

outcome library_rank(const matrices *m, uint32_t most, double observations, uint32_t *k) {
  return check(denise_suggest_rank_batch(m->n, most, observations, m->count, m->data, k));
}

/* ----------------------------------------------------------------------------------------- streams */

denise_stream *library_stream(const denise_model *model, stream_kind kind, failure *why) {
  denise_stream_options options;
  denise_stream *stream = NULL;
  denise_stream_options_init(&options, sizeof options);
  if (kind.streams != 0) options.streams = kind.streams;
  options.window = kind.window;
  options.half_life = kind.half_life;
  options.warm_up = kind.warm_up;
  if (kind.correlation) options.flags |= DENISE_FLAG_CORRELATION;
  if (kind.demean) options.flags |= DENISE_STREAM_DEMEAN;
  const denise_status status = denise_stream_new(model, &options, &stream);
  if (status == DENISE_OK) return stream;
  why->id = id_of(status);
  snprintf(why->text, sizeof why->text, "%s", denise_last_error());
  return NULL;
}

void library_stream_free(denise_stream *stream) { denise_stream_free(stream); }

size_t results_of(const ticks *t) { return t->count > t->first ? (t->count - t->first - 1) / t->step + 1 : 0; }

static void *after(void *start, size_t values, size_t size) {
  return start == NULL ? NULL : (char *)start + values * size;
}

size_t library_push(denise_stream *stream, const ticks *t, void *u, void *l, void *s, mxArray **report, size_t *first) {
  const size_t size = t->type == mxDOUBLE_CLASS ? sizeof(double) : sizeof(float);
  const size_t factor = (size_t)t->n * t->k * t->streams, matrix = (size_t)t->n * t->n * t->streams;
  const size_t input = t->of_matrices ? matrix : (size_t)t->n * t->streams, results = results_of(t);
  denise_report *reports = report != NULL ? mxMalloc((results * t->streams + 1) * sizeof *reports) : NULL;
  size_t bad = 0, done = 0;
  *first = 0;
  for (size_t i = 0; i < t->count; ++i) {
    const void *in = (const char *)t->data + i * input * size;
    const int wanted = i >= t->first && (i - t->first) % t->step == 0;
    void *to_u = wanted ? after(u, done * factor, size) : NULL;
    void *to_l = wanted ? after(l, done * matrix, size) : NULL;
    void *to_s = wanted ? after(s, done * matrix, size) : NULL;
    denise_report *to_report = wanted && reports != NULL ? reports + done * t->streams : NULL;
    denise_status status;
    if (t->type == mxDOUBLE_CLASS) {
      status = t->of_matrices ? denise_stream_push_matrices_f64(stream, in, to_u, to_l, to_s, to_report)
                              : denise_stream_push_f64(stream, in, to_u, to_l, to_s, to_report);
    } else {
      status = t->of_matrices ? denise_stream_push_matrices(stream, in, to_u, to_l, to_s, to_report)
                              : denise_stream_push(stream, in, to_u, to_l, to_s, to_report);
    }
    check(status);
    if (status == DENISE_ERR_NOT_FINITE && bad++ == 0) *first = i + 1;
    done += (size_t)wanted;
  }
  if (report != NULL) {
    *report = t->streams == 1 ? report_struct(reports, results, 1) : report_struct(reports, t->streams, results);
  }
  mxFree(reports);
  return bad;
}

void library_covariance(const denise_stream *stream, double *m) { check(denise_stream_covariance_f64(stream, m)); }

size_t library_state_size(const denise_stream *stream, uint32_t which) {
  return which == 0 ? denise_stream_state_size(stream) : denise_stream_state_size_one(stream);
}

void library_save(const denise_stream *stream, uint32_t which, void *state, size_t size) {
  check(which == 0 ? denise_stream_save(stream, state, size) : denise_stream_save_one(stream, which - 1, state, size));
}

void library_restore(denise_stream *stream, uint32_t which, const void *state, size_t size) {
  check(which == 0 ? denise_stream_restore(stream, state, size)
                   : denise_stream_restore_one(stream, which - 1, state, size));
}

void library_reset(denise_stream *stream, uint32_t which) {
  check(which == 0 ? denise_stream_reset(stream) : denise_stream_reset_one(stream, which - 1));
}

/* ------------------------------------------------------------------------------- classical methods */

static const struct {
  const char *name;
  int32_t number;
} methods[] = {
    {"eigen", DENISE_METHOD_EIGEN}, {"pcp", DENISE_METHOD_PCP},         {"ialm", DENISE_METHOD_IALM},
    {"fpcp", DENISE_METHOD_FPCP},   {"rpca_gd", DENISE_METHOD_RPCA_GD}, {"masked_pcp", DENISE_METHOD_MASKED_PCP},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

const char *library_methods(void) { return "eigen, pcp, ialm, fpcp, rpca_gd, masked_pcp"; }

int32_t library_method(const char *name) {
  for (int i = 0; i < METHODS; ++i) {
    const char *a = name, *b = methods[i].name;
    for (; *a != '\0' && ((*a | 32) == *b || (*b == '_' && (*a == '-' || *a == ' ' || *a == '_'))); ++a, ++b) {}
    if (*a == '\0' && *b == '\0') return methods[i].number;
  }
  return 0;
}

int library_solve(int32_t method, const matrices *m, uint32_t k, double lambda, double *l, double *s) {
  const denise_status status = denise_solve_batch(method, m->n, k, lambda, m->count, m->data, l, s);
  check(status);
  return status == DENISE_ERR_NOT_FINITE;
}

/* ------------------------------------------------------------------------------------ what it is */

uint32_t library_n(const denise_model *model) { return denise_n(model); }
uint32_t library_k(const denise_model *model) { return denise_k(model); }
const char *library_kernel(const denise_model *model) { return denise_kernel(model); }
const char *library_version(void) { return denise_version(); }
uint32_t library_abi(void) { return denise_abi_version(); }
