/* Two libraries in one process: this one, and that of version 0.1.0 with its older binary interface.

   Both are opened by name, so that neither is linked. What differs between the interfaces is known here only:
   denise_options_init takes no size in number 1, and the reports are shorter, so nobody asks for them. */

#ifndef LIBRARY_H
#define LIBRARY_H

#include "denise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library {
  uint32_t abi;
  const char *version;
  void (*init)(denise_options *, size_t);
  void (*init_1)(denise_options *);
  denise_status (*load)(const char *, const denise_options *, denise_model **);
  denise_status (*decompose)(const denise_model *, size_t, const float *, float *, float *, float *, denise_report *);
  denise_status (*decompose_f64)(const denise_model *, size_t, const double *, double *, double *, double *,
                                 denise_report *);
  void (*release)(denise_model *);
};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Copied as bytes: C has no conversion from an object pointer to a function. */
static void find(void *handle, const char *name, void *function) {
  void *found = dlsym(handle, name);
  if (found == NULL) fail(name, "not in the library");
  memcpy(function, &found, sizeof found);
}

static struct library library_open(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) fail(path, dlerror());
  uint32_t (*abi)(void);
  const char *(*version)(void);
  find(handle, "denise_abi_version", &abi);
  find(handle, "denise_version", &version);
  struct library library = {.abi = abi(), .version = version()};
  if (library.abi < 1 || library.abi > 2) fail(path, "an interface that the benches do not know");
  if (library.abi == 1) {
    find(handle, "denise_options_init", &library.init_1);
  } else {
    find(handle, "denise_options_init", &library.init);
  }
  find(handle, "denise_load", &library.load);
  find(handle, "denise_decompose_batch", &library.decompose);
  find(handle, "denise_decompose_batch_f64", &library.decompose_f64);
  find(handle, "denise_free", &library.release);
  return library;
}

/* The defaults. The struct is laid out alike in both interfaces. */
static denise_options library_options(const struct library *library, unsigned n, unsigned k) {
  denise_options options;
  if (library->abi == 1) {
    library->init_1(&options);
  } else {
    library->init(&options, sizeof options);
  }
  options.n = n;
  options.k = k;
  return options;
}

/* Whether the library and this machine have what the flags ask for. */
static inline int library_has(const struct library *library, unsigned flags) {
  denise_options options = library_options(library, 0, 0);
  options.flags = flags;
  denise_model *model;
  if (library->load(NULL, &options, &model) != DENISE_OK) return 0;
  library->release(model);
  return 1;
}

static denise_model *library_load(const struct library *library, const char *path, denise_options options) {
  static char why[300];
  denise_model *model;
  options.message = why;
  options.message_size = sizeof why;
  if (library->load(path, &options, &model) != DENISE_OK) fail("denise_load", why);
  return model;
}

#endif
