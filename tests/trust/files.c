/* files SCRATCH-DIRECTORY [SECONDS]: model files that are cut off, of the wrong kind, or change while they are read.
 *
 * Whatever the file is, a load gives a model or a status. */
#define _GNU_SOURCE
#include <denise.h>

#include "trust.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *scratch;

static const char *in_scratch(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", scratch, name);
  return path;
}

static unsigned char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) abort();
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) abort();
  fclose(file);
  return bytes;
}

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

/* --------------------------------------------------------------------------------------- cut off */

/* L of one matrix. */
static void split(const denise_model *model, float *l) {
  size_t n = denise_n(model);
  double wide[400];
  float m[400];
  if (n * n > 400) abort();
  make_matrix(wide, n, 3);
  for (size_t i = 0; i < n * n; i++) m[i] = (float)wide[i];
  CHECK(denise_decompose_batch(model, 1, m, NULL, l, NULL, NULL) == DENISE_OK);
}

/* Every prefix whose length is a multiple of `step`, and the last 64. Through a file too at some lengths.
 *
 * An ONNX file is a list of fields, the last of which may be a remark: what is left without it is the same network, and
 * must be so to the bit. Any other prefix is refused. */
static void truncated(const char *path, size_t step) {
  size_t size, tried = 0, same = 0;
  unsigned char *bytes = contents(path, &size);
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.max_concurrency = 1;
  denise_model *whole;
  CHECK(denise_load_memory(bytes, size, &options, &whole) == DENISE_OK);
  if (whole == NULL) abort();
  float expected[400] = {0}, l[400] = {0};
  split(whole, expected);
  for (size_t length = 0; length < size; length += length + 64 >= size ? 1 : step) {
    if (length + step > size && length + 64 < size) length = size - 64;
    /* In memory of that size, so that reading past the end is found. */
    void *exact = malloc(length > 0 ? length : 1);
    if (exact == NULL) abort();
    memcpy(exact, bytes, length);
    denise_model *model = (denise_model *)(void *)&model;
    denise_status status = denise_load_memory(exact, length, &options, &model);
    free(exact);
    CHECK((model == NULL) == (status != DENISE_OK));
    if (status == DENISE_OK) {
      split(model, l);
      CHECK(length + 64 > size && denise_n(model) == denise_n(whole) && memcmp(l, expected, sizeof l) == 0);
      denise_free(model);
      same++;
      continue;
    }
    CHECK(status == DENISE_ERR_FORMAT || status == DENISE_ERR_UNSUPPORTED);
    if (status != DENISE_ERR_FORMAT && status != DENISE_ERR_UNSUPPORTED) {
      fprintf(stderr, "%s cut off at %zu: status %d\n", path, length, (int)status);
    }
    if (tried++ % 16 == 0) {
      write_file(in_scratch("cut.onnx"), bytes, length);
      CHECK(denise_load(in_scratch("cut.onnx"), &options, &model) == status && model == NULL);
    }
  }
  CHECK(same <= 1);
  denise_free(whole);
  free(bytes);
  printf("  %s: cut off at %zu of %zu places, %zu without its last remark\n", path, tried + same, size, same);
}

/* ---------------------------------------------------------------------------------- of other kinds */

static void expect(const char *path, denise_status expected) {
  char message[300] = "";
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.message = message;
  options.message_size = sizeof message;
  denise_model *model = (denise_model *)(void *)&model;
  denise_status status = denise_load(path, &options, &model);
  CHECK(status == expected && (model == NULL) == (status != DENISE_OK));
  CHECK((message[0] == '\0') == (status == DENISE_OK));
  if (status != expected) fprintf(stderr, "%s: status %d (%s)\n", path, (int)status, message);
  denise_free(model);
}

static void kinds(void) {
  size_t size;
  unsigned char *bytes = contents(MODEL, &size);
  alarm(60); /* nothing here may wait for anybody */
  expect(in_scratch("missing.onnx"), DENISE_ERR_IO);
  expect(scratch, DENISE_ERR_IO);
  write_file(in_scratch("empty.onnx"), bytes, 0);
  expect(in_scratch("empty.onnx"), DENISE_ERR_FORMAT);
  expect("/dev/zero", DENISE_ERR_IO);
  expect("/dev/null", DENISE_ERR_IO);
  expect("/dev/stdin", DENISE_ERR_IO);
  expect("/proc/self/maps", DENISE_ERR_FORMAT); /* says that it is empty */
  expect("/proc/self/mem", DENISE_ERR_FORMAT);
  expect("/proc/self/exe", DENISE_ERR_FORMAT);
  unlink(in_scratch("pipe"));
  CHECK(mkfifo(in_scratch("pipe"), 0600) == 0);
  expect(in_scratch("pipe"), DENISE_ERR_IO);

  write_file(in_scratch("read_only.onnx"), bytes, size);
  CHECK(chmod(in_scratch("read_only.onnx"), 0444) == 0);
  expect(in_scratch("read_only.onnx"), DENISE_OK);
  unlink(in_scratch("link.onnx"));
  CHECK(symlink("read_only.onnx", in_scratch("link.onnx")) == 0);
  expect(in_scratch("link.onnx"), DENISE_OK);
  unlink(in_scratch("loop.onnx"));
  CHECK(symlink("loop.onnx", in_scratch("loop.onnx")) == 0);
  expect(in_scratch("loop.onnx"), DENISE_ERR_IO);
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/empty.onnx/below", scratch);
  expect(path, DENISE_ERR_IO);
  memset(path, 'x', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  expect(path, DENISE_ERR_IO);

  /* Unreadable: root may read everything, so somebody else tries. */
  write_file(in_scratch("unreadable.onnx"), bytes, size);
  CHECK(chmod(in_scratch("unreadable.onnx"), 0000) == 0);
  pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (chmod(scratch, 0755) != 0 || setuid(65534) != 0)) _exit(2);
    denise_model *model;
    _exit(denise_load(in_scratch("unreadable.onnx"), NULL, &model) == DENISE_ERR_IO && model == NULL ? 0 : 1);
  }
  int outcome = 0;
  CHECK(waitpid(child, &outcome, 0) == child && WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);

  /* A file of 2 GB with nothing in it, and one just within the limit that no memory is spent on in vain. */
  int file = open(in_scratch("sparse.onnx"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0 && ftruncate(file, (off_t)2 << 30) == 0);
  expect(in_scratch("sparse.onnx"), DENISE_ERR_UNSUPPORTED);
  close(file);
  unlink(in_scratch("sparse.onnx"));

  /* No file descriptor left. */
  child = fork();
  if (child == 0) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(2);
    denise_model *model;
    denise_status file_status = denise_load(MODEL, NULL, &model);
    denise_status own_status = denise_load(NULL, NULL, &model); /* needs none */
    _exit(file_status == DENISE_ERR_IO && own_status == DENISE_OK ? 0 : 1);
  }
  CHECK(waitpid(child, &outcome, 0) == child && WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
  alarm(0);
  free(bytes);
  printf("  other kinds of file\n");
}

/* ------------------------------------------------------------------------- changing while it is read */

static atomic_int stop;

struct loader {
  char path[PATH_MAX];
  unsigned long models, refusals;
};

static void *load_often(void *argument) {
  struct loader *loader = argument;
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.max_concurrency = 1;
  while (!stop) {
    denise_model *model = (denise_model *)(void *)&model;
    denise_status status = denise_load(loader->path, &options, &model);
    CHECK((status == DENISE_OK) == (model != NULL));
    CHECK(status == DENISE_OK || status == DENISE_ERR_FORMAT || status == DENISE_ERR_UNSUPPORTED ||
          status == DENISE_ERR_IO);
    if (status == DENISE_OK) {
      uint32_t n = denise_n(model);
      CHECK(n == 20 || n == 6);
      denise_free(model);
      loader->models++;
    } else {
      loader->refusals++;
    }
  }
  return NULL;
}

/* One loads in a loop while the file is replaced, or written over and cut off in place. */
static void changing(double seconds, int in_place) {
  size_t size[2];
  unsigned char *bytes[2] = {contents(MODEL, &size[0]), contents(DENSE, &size[1])};
  struct loader loader = {.models = 0, .refusals = 0};
  snprintf(loader.path, sizeof loader.path, "%s", in_scratch("changing.onnx"));
  write_file(loader.path, bytes[0], size[0]);
  stop = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, load_often, &loader) != 0) abort();
  char other[PATH_MAX + 8];
  snprintf(other, sizeof other, "%s.new", loader.path);
  double end = seconds_now() + seconds;
  uint64_t state = 1;
  unsigned long changes = 0;
  for (; seconds_now() < end; changes++) {
    size_t which = changes % 2;
    if (!in_place) {
      write_file(other, bytes[which], size[which]);
      CHECK(rename(other, loader.path) == 0);
    } else {
      int file = open(loader.path, O_RDWR | O_TRUNC);
      size_t half = (size_t)(random_uniform(&state) * (double)size[which]);
      CHECK(file >= 0 && write(file, bytes[which], half) == (ssize_t)half);
      if (changes % 3 == 0) CHECK(ftruncate(file, (off_t)(half / 2)) == 0);
      CHECK(pwrite(file, bytes[which], size[which], 0) == (ssize_t)size[which]);
      close(file);
    }
    /* Sometimes long enough for a load to see one state only. */
    usleep(changes % 4 == 0 ? 20000 : (useconds_t)(random_bits(&state) % 500));
  }
  stop = 1;
  pthread_join(thread, NULL);
  CHECK(loader.models > 0);
  if (!in_place) CHECK(loader.refusals == 0); /* a rename is seen whole or not at all */
  printf("  %s %lu times: %lu models, %lu refusals\n", in_place ? "written over in place" : "replaced", changes,
         loader.models, loader.refusals);
  free(bytes[0]);
  free(bytes[1]);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  scratch = argv[1];
  double seconds = argc > 2 ? atof(argv[2]) : 1.0;
  mkdir(scratch, 0755);
  truncated(MODEL, 1024);
  truncated(MODEL, 61);
  truncated(DENSE, 1);
  truncated(TORCH, 1);
  kinds();
  changing(seconds, 0);
  changing(seconds, 1);
  return verdict("files");
}
