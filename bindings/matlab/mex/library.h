/* All that the binding asks of libdenise. library.c is the only file that includes denise.h. */
#ifndef DENISE_MEX_LIBRARY_H
#define DENISE_MEX_LIBRARY_H

#include "matrices.h"

#include <stddef.h>
#include <stdint.h>

typedef struct denise_model denise_model;
typedef struct denise_stream denise_stream;

/* Why something failed: an identifier for the host and a line that names the argument. */
typedef struct {
  const char *id;
  char text[256];
} failure;

/* What a model is for. A size or number of threads that is 0 is left to the model. */
typedef struct {
  uint32_t n, k, threads, correlation, careful, missing;
} model_size;

/* From a file, from bytes, or (both NULL) the built-in network. NULL, and why, on failure. */
denise_model *library_load(const char *path, const void *bytes, size_t bytes_size, model_size wanted, failure *why);
void library_free(denise_model *model);

/* Splits M. u (row-major), s and report may be NULL. Returns 1 if some matrix has NaN or Inf that it must not have,
 * else 0. */
int library_split(const denise_model *model, const matrices *m, void *u, void *l, void *s, mxArray **report);

/* How a call went that did its work: for all matrices; for some not, which have NaN or Inf, or cannot be inverted; or
 * for some not, which all cannot be inverted. */
typedef enum { ALL_WELL, NOT_FINITE, SINGULAR } outcome;

/* Where Sigma = U*U' + diag (d) goes. All but u, which is row-major, may be NULL. */
typedef struct {
  void *u, *sigma, *inverse, *d;
  double *log_det;
} sigma_parts;

/* Splits M, and makes Sigma of it. `least` is the option floor. report may be NULL. */
outcome library_sigma(const denise_model *model, const matrices *m, double least, sigma_parts to, mxArray **report);
/* The same from a U that is there already, n x k for each matrix of M. */
outcome library_sigma_from(const matrices *m, uint32_t k, double least, sigma_parts to);
/* The same from the U of the last tick of a stream, in the class of U. */
outcome library_stream_sigma(const denise_stream *stream, mxClassID type, double least, sigma_parts to);

/* U, row-major, and d of count matrices Sigma. */
typedef struct {
  const void *u, *d;
  mxClassID type;
  uint32_t n, k;
  size_t count;
} factors;
/* x becomes Sigma * x, or (invert) Sigma \ x; it has n rows of so many columns for each Sigma, row-major. */
outcome library_product(const factors *f, int invert, size_t columns, void *x);

/* A rank for each matrix of M, in double. Numbers that are 0 are not known, or left to the library. */
outcome library_rank(const matrices *m, uint32_t most, double observations, uint32_t *k);

/* Streams, which may outlive their model. A number that is 0 is left to the library. NULL, and why, on failure. */
typedef struct {
  uint32_t streams, window, warm_up, correlation, demean;
  double half_life;
} stream_kind;
denise_stream *library_stream(const denise_model *model, stream_kind kind, failure *why);
void library_stream_free(denise_stream *stream);

/* Ticks, one after another: values of returns or of matrices for all streams, and so again. */
typedef struct {
  const void *data;
  mxClassID type;
  int of_matrices;
  uint32_t n, k, streams;
  size_t count, first, step; /* results are for tick first, first + step and so on, counted from 0 */
} ticks;
size_t results_of(const ticks *t); /* ticks that have results */

/* Takes the ticks in. u (row-major), l, s and report may be NULL. Returns the number of ticks that were not finite, and
 * which was the first, counted from 1. */
size_t library_push(denise_stream *stream, const ticks *t, void *u, void *l, void *s, mxArray **report, size_t *first);

void library_covariance(const denise_stream *stream, double *m);

/* What one stream knows, counted from 1, or (0) all of them. */
size_t library_state_size(const denise_stream *stream, uint32_t which);
void library_save(const denise_stream *stream, uint32_t which, void *state, size_t size);
void library_restore(denise_stream *stream, uint32_t which, const void *state, size_t size);
void library_reset(denise_stream *stream, uint32_t which);

/* The number of a classical method: any case, and - or a space for _. 0 if there is none of that name. */
int32_t library_method(const char *name);
const char *library_methods(void); /* their names, as a list for messages */

/* The same as library_split with a classical method, in double. */
int library_solve(int32_t method, const matrices *m, uint32_t k, double lambda, double *l, double *s);

uint32_t library_n(const denise_model *model);
uint32_t library_k(const denise_model *model);
const char *library_kernel(const denise_model *model);
const char *library_version(void);
uint32_t library_abi(void);

#endif
