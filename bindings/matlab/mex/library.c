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
    case DENISE_ERR_MEMORY: return "denise:memory";
    default: return "denise:internal";
  }
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

/* One column for each number of the reports. first_bad becomes the place in M as MATLAB counts, 0 if there is none. */
static mxArray *report_struct(const denise_report *reports, size_t count) {
  const char *names[] = {"l1", "residual", "sparsity", "status", "unsettled", "least_specific", "missing", "first_bad"};
  enum { COLUMNS = sizeof names / sizeof *names, STATUS = 3 };
  mxArray *result = mxCreateStructMatrix(1, 1, COLUMNS, names);
  double *columns[COLUMNS];
  int32_t *status = NULL;
  for (int i = 0; i < COLUMNS; ++i) {
    mxArray *column = mxCreateNumericMatrix((mwSize)count, 1, i == STATUS ? mxINT32_CLASS : mxDOUBLE_CLASS, mxREAL);
    mxSetFieldByNumber(result, 0, i, column);
    if (i == STATUS)
      status = mxGetData(column);
    else
      columns[i] = mxGetData(column);
  }
  for (size_t q = 0; q < count; ++q) {
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
  if (status != DENISE_OK && status != DENISE_ERR_NOT_FINITE) {
    mexErrMsgIdAndTxt(id_of(status), "%s", denise_last_error());
  }
  if (report != NULL) *report = report_struct(reports, m->count);
  mxFree(reports);
  return status == DENISE_ERR_NOT_FINITE;
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
  if (status != DENISE_OK && status != DENISE_ERR_NOT_FINITE) {
    mexErrMsgIdAndTxt(id_of(status), "%s", denise_last_error());
  }
  return status == DENISE_ERR_NOT_FINITE;
}

/* ------------------------------------------------------------------------------------ what it is */

uint32_t library_n(const denise_model *model) { return denise_n(model); }
uint32_t library_k(const denise_model *model) { return denise_k(model); }
const char *library_kernel(const denise_model *model) { return denise_kernel(model); }
const char *library_version(void) { return denise_version(); }
uint32_t library_abi(void) { return denise_abi_version(); }
