/* dlfcn.h for Windows, as much of it as the tests use. */
#ifndef DENISE_TEST_DLFCN_H
#define DENISE_TEST_DLFCN_H

#include <stdio.h>
#include <string.h>

#define RTLD_NOW 0
#define RTLD_LOCAL 0

/* By hand: windows.h takes common words for its own names. */
__declspec(dllimport) void *__stdcall LoadLibraryA(const char *);
__declspec(dllimport) void (*__stdcall GetProcAddress(void *, const char *))(void);
__declspec(dllimport) int __stdcall FreeLibrary(void *);
__declspec(dllimport) unsigned long __stdcall GetLastError(void);

static inline void *dlopen(const char *path, int flags) {
  (void)flags;
  return LoadLibraryA(path);
}

static inline void *dlsym(void *library, const char *name) {
  void (*found)(void) = GetProcAddress(library, name);
  void *symbol;
  memcpy(&symbol, &found, sizeof symbol);
  return symbol;
}

static inline int dlclose(void *library) { return FreeLibrary(library) ? 0 : -1; }

static inline const char *dlerror(void) {
  static char text[40];
  snprintf(text, sizeof text, "system error %lu", GetLastError());
  return text;
}

#endif
