/* The commands of the gateway that are about covariances that can be inverted, Sigma = U*U' + diag (d):
 *
 *   [Sigma, inverse, d, logdet, U, report] = denise_mex('covariance', M, options...)      the built-in network
 *   [Sigma, inverse, d, logdet, U, report] = denise_mex('covariance', id, M, options...)  an opened model
 *   [Sigma, inverse, d, logdet]            = denise_mex('covariance', M, U, options...)   a U that is there already
 *   [Sigma, inverse, d, logdet]            = denise_mex('stream_sigma', st, U, options...)
 *   x                                      = denise_mex('sigma_solve', U, d, b)
 *   y                                      = denise_mex('sigma_multiply', U, d, b) */
#ifndef DENISE_MEX_COVARIANCE_H
#define DENISE_MEX_COVARIANCE_H

#include <mex.h>

/* 0 if there is no such command. */
int covariance_command(const char *command, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

#endif
