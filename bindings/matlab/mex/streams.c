/* Errors jump out of C, so everything here hangs in static tables: an error at any point loses nothing. */
#include "streams.h"

#include "models.h"

#include <string.h>

enum { STREAMS = 256 };
static open_stream table[STREAMS];
static open_stream passing; /* for one call; left over if an error cut that call short */

static void make_stream(open_stream *one, uint32_t n, wishes wanted) {
  failure why = {"", ""};
  if (n < 2) mexErrMsgIdAndTxt("denise:argument", "n must be at least 2, since k is less than n");
  if (wanted.k >= n) {
    mexErrMsgIdAndTxt("denise:argument", "k must be less than n = %lu, not %lu", (unsigned long)n,
                      (unsigned long)wanted.k);
  }
  const stream_kind kind = {wanted.streams, wanted.window, wanted.warm_up, wanted.correlation, wanted.demean,
                            wanted.half_life};
  wanted.correlation = 0; /* the stream does it, so that models can be shared */
  if (wanted.model == NULL && wanted.k == 0) wanted.k = default_rank(n);
  const denise_model *model = wanted.model != NULL ? model_from(wanted.model, n, wanted) : model_for(NULL, n, wanted);
  denise_stream *stream = library_stream(model, kind, &why);
  if (stream == NULL) mexErrMsgIdAndTxt(why.id, "%s", why.text);
  one->stream = stream;
  one->n = n;
  one->k = library_k(model);
  one->streams = kind.streams != 0 ? kind.streams : 1;
  one->id = new_id();
  free_passing_model();
}

open_stream *new_stream(uint32_t n, wishes wanted) {
  for (int i = 0; i < STREAMS; ++i) {
    if (table[i].id != 0) continue;
    make_stream(&table[i], n, wanted);
    return &table[i];
  }
  mexErrMsgIdAndTxt("denise:handle", "%d streams are open: close some, or have many in one (option streams)", STREAMS);
  return NULL;
}

open_stream *new_passing_stream(uint32_t n, wishes wanted) {
  free_passing_stream();
  make_stream(&passing, n, wanted);
  return &passing;
}

open_stream *find_stream(const mxArray *value) {
  if (mxIsUint64(value) && !mxIsComplex(value) && mxGetNumberOfElements(value) == 1) {
    const uint64_t id = *(const uint64_t *)mxGetData(value);
    for (int i = 0; i < STREAMS && id != 0; ++i) {
      if (table[i].id == id) return &table[i];
    }
  }
  mexErrMsgIdAndTxt("denise:handle",
                    "not an open stream: it was closed or cleared, never came from denise_stream (n), or was made in "
                    "another process (each parfor worker makes its own)");
  return NULL;
}

void close_stream(open_stream *one) {
  library_stream_free(one->stream);
  memset(one, 0, sizeof *one);
}

int count_streams(void) {
  int count = 0;
  for (int i = 0; i < STREAMS; ++i) count += table[i].id != 0;
  return count;
}

void free_passing_stream(void) { close_stream(&passing); }

void free_all_streams(void) {
  free_passing_stream();
  for (int i = 0; i < STREAMS; ++i) close_stream(&table[i]);
}
