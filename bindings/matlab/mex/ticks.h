/* The commands of the gateway that are about streams:
 *
 *   st                = denise_mex('stream_new', n, options...)
 *   [L, S, U, report] = denise_mex('stream_push', st, R)
 *   [L, S, U, report] = denise_mex('stream_matrices', st, M)
 *   C                 = denise_mex('stream_covariance', st)
 *   state             = denise_mex('stream_save', st) or ('stream_save', st, which)
 *                       denise_mex('stream_restore', st, state) or ('stream_restore', st, state, which)
 *                       denise_mex('stream_reset', st) or ('stream_reset', st, which)
 *                       denise_mex('stream_close', st)
 *   [L, S, U, report, rows] = denise_mex('rolling', P, window, options...) */
#ifndef DENISE_MEX_TICKS_H
#define DENISE_MEX_TICKS_H

#include <mex.h>

/* 0 if there is no such command. */
int stream_command(const char *command, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

#endif
