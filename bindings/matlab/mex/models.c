/* Errors jump out of C, so everything here hangs in static tables: an error at any point loses nothing. */
#include "models.h"

#include "files.h"
#include "host.h"

#include <stdlib.h>
#include <string.h>

/* Its bytes are kept: models for other sizes are made from them later. What is built in has a name instead. */
struct opened_file {
  uint64_t id; /* 0: free */
  const char *name;
  void *bytes;
  size_t size;
  uint32_t k, threads; /* wishes of the user, 0: none */
};

/* A model for one size. The built-in network has source 0. */
typedef struct {
  denise_model *model; /* NULL: free */
  uint64_t source, used;
  model_size size;
} ready_model;

enum {
  FILES = 256,
  MODELS = 16,
  IDLE_CALLS = 64, /* a model with threads that so many calls did not use is freed */
};
static opened_file files[FILES];
static ready_model models[MODELS];
static denise_model *passing; /* for one call; left over if an error cut that call short */
static uint64_t last_id, calls;
static int started;

static uint32_t helpers(const ready_model *one) {
  return one->model != NULL && one->size.threads > 1 ? one->size.threads - 1 : 0;
}

static void free_ready(ready_model *one) {
  library_free(one->model); /* joins its threads */
  one->model = NULL;
}

void free_passing_model(void) {
  library_free(passing);
  passing = NULL;
}

static void free_models_of(uint64_t source) {
  for (int i = 0; i < MODELS; ++i) {
    if (models[i].source == source) free_ready(&models[i]);
  }
}

void close_model(opened_file *file) {
  free_models_of(file->id);
  free(file->bytes);
  memset(file, 0, sizeof *file);
}

/* When the MEX file is cleared and when the host ends. */
void free_all_models(void) {
  started = 0; /* a host that keeps the file in memory must register this function again */
  free_passing_model();
  free_models_of(0);
  for (int i = 0; i < FILES; ++i) {
    if (files[i].id != 0) close_model(&files[i]);
  }
}

/* Each life of the MEX file counts from the nanosecond of its birth: a number from an earlier life, or from another
 * process such as a parfor worker, fits no model of this one. */
void start_models(void (*at_end)(void)) {
  if (started) return;
  started = 1;
  mexAtExit(at_end);
  last_id = host_time();
}

uint64_t new_id(void) { return ++last_id; }

uint32_t default_rank(uint32_t n) { return n > 3 ? 3 : n - 1; }

opened_file *find_opened(const mxArray *value) {
  if (mxIsUint64(value) && !mxIsComplex(value) && mxGetNumberOfElements(value) == 1) {
    const uint64_t id = *(const uint64_t *)mxGetData(value);
    for (int i = 0; i < FILES && id != 0; ++i) {
      if (files[i].id == id) return &files[i];
    }
  }
  mexErrMsgIdAndTxt("denise:handle",
                    "not an open model: it was closed or cleared, never came from denise (file), or was opened in "
                    "another process (each parfor worker opens its own)");
  return NULL;
}

/* The same text as a constant if denise_load takes it for the name of a network, or NULL. */
static const char *built_in(const char *path) {
  static const char *const names[] = {"default", "fast"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(path, names[i]) == 0) return names[i];
  }
  return NULL;
}

uint64_t open_model(const char *path, wishes wanted) {
  opened_file *file = NULL;
  failure why = {"", ""};
  for (int i = 0; i < FILES && file == NULL; ++i) {
    if (files[i].id == 0) file = &files[i];
  }
  if (file == NULL) mexErrMsgIdAndTxt("denise:handle", "%d models are open: close some", FILES);
  if (path[0] == '\0') mexErrMsgIdAndTxt("denise:argument", "the name of the file is empty");
  file->name = built_in(path);
  if (file->name == NULL && !read_whole_file(path, &file->bytes, &file->size, &why)) {
    mexErrMsgIdAndTxt(why.id, "%s: %s", path, why.text);
  }
  /* Loaded once for its own size, so that a bad file is refused now. */
  const model_size size = {0, wanted.k, wanted.threads, 0, 0, 0};
  denise_model *model = library_load(file->name, file->bytes, file->size, size, &why);
  library_free(model);
  if (model == NULL) {
    free(file->bytes);
    file->bytes = NULL;
    mexErrMsgIdAndTxt(why.id, "%s: %s", path, why.text);
  }
  file->k = wanted.k;
  file->threads = wanted.threads;
  file->id = new_id();
  return file->id;
}

/* Frees models with threads that were idle for long, and as many of the others as it takes to make room for so many
 * threads more; those first that were not used for longest. */
static void make_room(uint32_t threads, uint32_t most) {
  for (;;) {
    ready_model *oldest = NULL;
    uint32_t waiting = threads;
    for (int i = 0; i < MODELS; ++i) {
      if (helpers(&models[i]) == 0) continue;
      waiting += helpers(&models[i]);
      if (oldest == NULL || models[i].used < oldest->used) oldest = &models[i];
    }
    if (oldest == NULL || (waiting <= most && calls - oldest->used < IDLE_CALLS)) return;
    free_ready(oldest);
  }
}

static denise_model *load_or_fail(const char *path, const opened_file *file, model_size size) {
  failure why = {"", ""};
  denise_model *model = file == NULL ? library_load(path, NULL, 0, size, &why)
                                     : library_load(file->name, file->bytes, file->size, size, &why);
  if (model == NULL) mexErrMsgIdAndTxt(why.id, "%s%s%s", path == NULL ? "" : path, path == NULL ? "" : ": ", why.text);
  return model;
}

const denise_model *model_for(const opened_file *file, uint32_t n, wishes wanted) {
  const uint64_t source = file == NULL ? 0 : file->id;
  const model_size size = {n, wanted.k != 0 || file == NULL ? wanted.k : file->k,
                           wanted.threads != 0 || file == NULL ? wanted.threads : file->threads,
                           wanted.correlation, wanted.careful, wanted.missing};
  int place = 0;
  ++calls;
  for (int i = 0; i < MODELS; ++i) {
    ready_model *one = &models[i];
    if (one->model == NULL) {
      one->used = 0;
    } else if (one->source == source && memcmp(&one->size, &size, sizeof size) == 0) {
      one->used = calls;
      make_room(0, UINT32_MAX);
      return one->model;
    }
    if (one->used < models[place].used) place = i;
  }
  const uint32_t most = host_cpus(), threads = size.threads > 1 ? size.threads - 1 : 0;
  make_room(threads, most);
  denise_model *model = load_or_fail(NULL, file, size);
  if (threads > most) return passing = model; /* more threads than are worth keeping */
  ready_model *slot = &models[place];
  free_ready(slot);
  slot->model = model;
  slot->source = source;
  slot->size = size;
  slot->used = calls;
  return model;
}

const denise_model *model_from(const char *path, uint32_t n, wishes wanted) {
  const model_size size = {n, wanted.k, wanted.threads, wanted.correlation, wanted.careful, wanted.missing};
  return passing = load_or_fail(path, NULL, size);
}

opened_file *leading_file(int *nrhs, const mxArray ***prhs) {
  if (*nrhs == 0 || !mxIsUint64((*prhs)[0])) return NULL;
  opened_file *file = find_opened((*prhs)[0]);
  --*nrhs;
  ++*prhs;
  return file;
}

const denise_model *wanted_model(const opened_file *file, uint32_t n, wishes wanted) {
  if (wanted.k >= n) {
    mexErrMsgIdAndTxt("denise:argument", "k must be less than n = %lu, not %lu", (unsigned long)n,
                      (unsigned long)wanted.k);
  }
  if (wanted.model != NULL) return model_from(wanted.model, n, wanted);
  if (file == NULL && wanted.k == 0) wanted.k = default_rank(n);
  return model_for(file, n, wanted);
}

models_count count_models(void) {
  models_count count = {0, 0, 0};
  for (int i = 0; i < FILES; ++i) count.opened += files[i].id != 0;
  for (int i = 0; i < MODELS; ++i) {
    count.loaded += models[i].model != NULL;
    count.threads += helpers(&models[i]);
  }
  return count;
}
