/* What the user wrote after M: values, names with values, structs of options. */
#ifndef DENISE_MEX_ARGUMENTS_H
#define DENISE_MEX_ARGUMENTS_H

#include <mex.h>

#include <stdint.h>

typedef struct {
  unsigned given;       /* bits of the options that have a value */
  uint32_t k, threads;  /* 0: not given */
  uint32_t correlation; /* 1: split the correlation matrix */
  uint32_t careful;     /* 1: keep the best of several starts */
  uint32_t missing;     /* 1: NaN is an entry that is not known */
  const char *model;    /* a file, NULL: not given */
  double lambda;        /* 0: not given */
  uint32_t streams, window, warm_up, step; /* 0: not given */
  double half_life;                        /* 0: not given */
  uint32_t demean;                         /* 1: subtract the means of the returns */
  uint32_t returns;                        /* 1: the table has returns, not prices */
  double floor;                            /* least share of a variance that is an asset's own, 0: not given */
  double observations;                     /* that M was made from, 0: not given */
  uint32_t most;                           /* factors to suggest, 0: not given */
} wishes;

/* Options by their bits. */
enum {
  OPTION_K = 1,
  OPTION_THREADS = 2,
  OPTION_MODEL = 4,
  OPTION_CORRELATION = 8,
  OPTION_CAREFUL = 16,
  OPTION_MISSING = 32,
  OPTION_LAMBDA = 64,
  OPTION_STREAMS = 128,
  OPTION_WINDOW = 256,
  OPTION_HALF_LIFE = 512,
  OPTION_DEMEAN = 1024,
  OPTION_WARM_UP = 2048,
  OPTION_STEP = 4096,
  OPTION_RETURNS = 8192,
  OPTION_FLOOR = 16384,
  OPTION_OBSERVATIONS = 32768,
  OPTION_MOST = 65536,
};

/* Reads options of which `allowed` has the bits. Values without a name may come first, in the order of `plain`, which
 * ends with 0. After that come names with values and structs whose fields are names, as many as the user likes; the
 * last one counts. An empty value is as good as none. */
wishes parse_options(int count, const mxArray *arguments[], unsigned allowed, const unsigned *plain);

/* A whole number from 1 on; `what` is its name in messages. */
uint32_t positive(const mxArray *value, const char *what);

/* Text, char or string, as UTF-8 that the host takes back; `what` is its name in messages. */
char *text(const mxArray *value, const char *what);

#endif
