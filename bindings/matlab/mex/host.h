/* What differs between operating systems. */
#ifndef DENISE_MEX_HOST_H
#define DENISE_MEX_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a file to read; NULL, and errno says why. */
FILE *host_open(const char *path);
/* CPUs of this machine, at least 1. */
uint32_t host_cpus(void);
/* Nanoseconds since some time in the past, the same for all processes. */
uint64_t host_time(void);
/* Asks for large pages in fresh memory, where that pays. */
void host_large_pages(void *data, size_t bytes);

#endif
