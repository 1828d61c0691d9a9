#ifndef DENISE_MEX_FILES_H
#define DENISE_MEX_FILES_H

#include "library.h"

/* Reads a whole file into memory from malloc. 0, and why, on failure. */
int read_whole_file(const char *path, void **bytes, size_t *size, failure *why);

#endif
