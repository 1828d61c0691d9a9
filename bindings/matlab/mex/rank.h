/* The command of the gateway that suggests how many factors a matrix has:
 *
 *   k = denise_mex('rank', M, options...) */
#ifndef DENISE_MEX_RANK_H
#define DENISE_MEX_RANK_H

#include <mex.h>

void suggest_rank(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

#endif
