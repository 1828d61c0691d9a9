/* Streams, which outlive a call as opened models do. */
#ifndef DENISE_MEX_STREAMS_H
#define DENISE_MEX_STREAMS_H

#include "arguments.h"
#include "library.h"

typedef struct {
  uint64_t id; /* 0: free */
  denise_stream *stream;
  uint32_t n, k, streams;
} open_stream;

/* A stream of n assets: one that stays until it is closed, or one for this call only. */
open_stream *new_stream(uint32_t n, wishes wanted);
open_stream *new_passing_stream(uint32_t n, wishes wanted);

open_stream *find_stream(const mxArray *value); /* or an error: what the user passed is no number of an open stream */
void close_stream(open_stream *one);
int count_streams(void);

/* Frees what was for one call only. To be called when a call begins and when it ends. */
void free_passing_stream(void);
void free_all_streams(void);

#endif
