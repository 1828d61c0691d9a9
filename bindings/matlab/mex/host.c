#define _DEFAULT_SOURCE /* madvise */
#include "host.h"

#ifdef _WIN32

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

/* Octave gives names in UTF-8; MATLAB may give them in the code page of the system. */
FILE *host_open(const char *path) {
  enum { LONGEST = 1 << 15 };
  wchar_t *name = malloc(LONGEST * sizeof *name);
  FILE *stream = NULL;
  if (name == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  int why = ENOENT;
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, name, LONGEST) > 0 ||
      MultiByteToWideChar(CP_ACP, 0, path, -1, name, LONGEST) > 0) {
    stream = _wfopen(name, L"rb");
    why = errno;
  }
  free(name);
  errno = why;
  return stream;
}

uint32_t host_cpus(void) {
  SYSTEM_INFO about;
  GetSystemInfo(&about);
  return about.dwNumberOfProcessors > 1 ? (uint32_t)about.dwNumberOfProcessors : 1;
}

/* In steps of 100 nanoseconds. */
uint64_t host_time(void) {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return (((uint64_t)now.dwHighDateTime << 32) | now.dwLowDateTime) * 100u;
}

/* They need a privilege here. */
void host_large_pages(void *data, size_t bytes) {
  (void)data;
  (void)bytes;
}

#else

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

FILE *host_open(const char *path) { return fopen(path, "rb"); }

uint32_t host_cpus(void) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return cpus > 1 ? (uint32_t)cpus : 1;
}

uint64_t host_time(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* First use of a page of 4 kB costs more than what the library writes into it. From 32 MB on, glibc always asks the
 * system for fresh memory, and gives it back afterwards; there, and only there, ask for pages of 2 MB. */
void host_large_pages(void *data, size_t bytes) {
  enum { PAGE = 1 << 12, LARGE = 32 << 20 };
  if (bytes < LARGE) return;
  const size_t skip = (PAGE - (uintptr_t)data % PAGE) % PAGE;
  madvise((char *)data + skip, (bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE); /* a wish: failure does not matter */
}

#endif
