/* What outlives a call: files that the user has opened, and models that are ready to run. */
#ifndef DENISE_MEX_MODELS_H
#define DENISE_MEX_MODELS_H

#include "arguments.h"
#include "library.h"

typedef struct opened_file opened_file;

/* Before anything else in every call. Has at_end called when the host lets go of the MEX file. */
void start_models(void (*at_end)(void));
void free_all_models(void); /* to be called by at_end */

/* A number for the user, never a pointer. No number is given twice, not even after the MEX file was cleared. */
uint64_t new_id(void);
uint64_t open_model(const char *path, wishes wanted);
opened_file *find_opened(const mxArray *value); /* or an error: what the user passed is no number of an open model */
void close_model(opened_file *file);

/* The rank for n x n matrices if the user gives none. */
uint32_t default_rank(uint32_t n);

/* A model for matrices of size n, from the opened file or (NULL) the built-in network. It stays until the next call. */
const denise_model *model_for(const opened_file *file, uint32_t n, wishes wanted);
/* The same straight from a file, for this call only. */
const denise_model *model_from(const char *path, uint32_t n, wishes wanted);

/* The opened file that a call names before its other arguments, from which it is taken; NULL if it names none. */
opened_file *leading_file(int *nrhs, const mxArray ***prhs);
/* The model for n x n matrices that a call with these options asks for, from a file that it names, from the opened one,
 * or (NULL) the built-in network. */
const denise_model *wanted_model(const opened_file *file, uint32_t n, wishes wanted);

/* Frees what was for one call only. To be called when a call begins and when it ends. */
void free_passing_model(void);

typedef struct {
  int opened, loaded;
  uint32_t threads; /* that wait for work */
} models_count;
models_count count_models(void);

#endif
