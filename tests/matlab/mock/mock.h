/* For tests: arguments that no host function makes, and calls of the gateway. */
#ifndef DENISE_MOCK_H
#define DENISE_MOCK_H

#include <mex.h>

/* What the last call ended with: '' if it ended well. */
extern char mock_id[64], mock_message[512];

/* Calls the gateway as a host does: an error comes back as mock_id; what the call allocated and did not return is gone
 * afterwards. Results stay until mock_forget. Ends the test if the gateway frees what it does not own. */
void mock_call(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
void mock_forget(void);
void mock_clear_mex(void); /* what `clear mex` does */

mxArray *mock_array(mxClassID type, size_t dimensions, const size_t *size, const double *values);
mxArray *mock_object(const char *class_name);   /* such as gpuArray */
mxArray *mock_text(const char *text, int string); /* string: MATLAB's class of that name */
void mock_make(mxArray *array, int sparse, int complex);

#endif
