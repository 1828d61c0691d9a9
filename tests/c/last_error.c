/* denise_last_error: every refusal says why, on its own thread, and success leaves the text alone. */
#define _POSIX_C_SOURCE 200809L
#include <denise.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 5, K = 1, SIZE = N * N };

static unsigned long passed, failed;

static void expect(int line, denise_status status, denise_status wanted, const char *part) {
  const char *text = denise_last_error();
  if (status == wanted && strstr(text, part) != NULL) {
    passed++;
  } else {
    failed++;
    fprintf(stderr, "line %d: status %d, \"%s\"; expected %d and \"%s\"\n", line, status, text, wanted, part);
  }
}
#define EXPECT(call, status, part) expect(__LINE__, (call), (status), (part))

static const denise_model *shared;
static float ones[SIZE];

/* Starts without a text, and gets its own. */
static void *elsewhere(void *unused) {
  (void)unused;
  EXPECT(DENISE_OK, DENISE_OK, "");
  if (denise_last_error()[0] != '\0') failed++;
  EXPECT(denise_decompose_batch(shared, 1, NULL, NULL, NULL, NULL, NULL), DENISE_ERR_NULL_POINTER, "m is NULL");
  return NULL;
}

int main(void) {
  float u[N * K], l[SIZE + 1], s[SIZE];
  double m64[SIZE], l64[SIZE];
  denise_report report;
  denise_model *model;
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = N;
  options.k = K;
  for (size_t i = 0; i < SIZE; i++) {
    ones[i] = 1;
    m64[i] = 1;
  }

  /* Loading, also without a buffer for its message. */
  EXPECT(denise_load(NULL, &options, NULL), DENISE_ERR_NULL_POINTER, "model is NULL");
  EXPECT(denise_load("no/such.onnx", NULL, &model), DENISE_ERR_IO, "no/such.onnx");
  EXPECT(denise_load_memory(NULL, 1, NULL, &model), DENISE_ERR_NULL_POINTER, "data is NULL");
  options.k = N;
  EXPECT(denise_load(NULL, &options, &model), DENISE_ERR_ARGUMENT, "k = 5");
  options.k = K;
  options.flags = 1U << 30;
  EXPECT(denise_load(NULL, &options, &model), DENISE_ERR_ARGUMENT, "flags");
  options.flags = 0;
  options.struct_size = 3;
  EXPECT(denise_load(NULL, &options, &model), DENISE_ERR_ARGUMENT, "struct_size");
  denise_options_init(&options, sizeof options);
  options.n = N;
  options.k = K;
  EXPECT(denise_load(NULL, &options, &model), DENISE_OK, "struct_size"); /* success changes nothing */
  shared = model;

  /* Decomposing. */
  EXPECT(denise_decompose_batch(NULL, 1, ones, u, l, s, &report), DENISE_ERR_NULL_POINTER, "model is NULL");
  EXPECT(denise_decompose_batch(model, 1, NULL, u, l, s, &report), DENISE_ERR_NULL_POINTER, "m is NULL");
  EXPECT(denise_decompose_batch(model, 1, ones, u, l, l, &report), DENISE_ERR_ARGUMENT, "l and s overlap");
  EXPECT(denise_decompose_batch(model, 1, l, u, l + 1, s, &report), DENISE_ERR_ARGUMENT, "m and l overlap");
  EXPECT(denise_decompose_batch(model, 1, l, u, NULL, l + 1, &report), DENISE_ERR_ARGUMENT, "m and s overlap");
  EXPECT(denise_decompose_batch(model, 1, ones, l, l, s, &report), DENISE_ERR_ARGUMENT, "u and l overlap");
  EXPECT(denise_decompose_batch(model, 1, ones, u, l, s, (denise_report *)(void *)s), DENISE_ERR_ARGUMENT,
         "s and reports overlap");
  EXPECT(denise_decompose_batch(model, (size_t)-1 / 2, ones, u, l, s, &report), DENISE_ERR_SHAPE, "count");
  ones[0] = -ones[0] / 0.0F;
  EXPECT(denise_decompose_batch(model, 1, ones, u, l, s, &report), DENISE_ERR_NOT_FINITE, "NaN or infinity");
  ones[0] = 1;
  EXPECT(denise_decompose_batch(model, 1, ones, u, l, s, &report), DENISE_OK, "NaN or infinity");

  /* The classical methods. */
  EXPECT(denise_solve_batch(77, N, K, 0, 1, m64, l64, NULL), DENISE_ERR_ARGUMENT, "method");
  EXPECT(denise_solve_batch(DENISE_METHOD_EIGEN, N, N, 0, 1, m64, l64, NULL), DENISE_ERR_ARGUMENT, "k = 5");
  EXPECT(denise_solve_batch(DENISE_METHOD_EIGEN, 9999, K, 0, 1, m64, l64, NULL), DENISE_ERR_UNSUPPORTED, "9999");
  EXPECT(denise_solve_batch(DENISE_METHOD_RPCA_GD, N, K, 1, 1, m64, l64, NULL), DENISE_ERR_ARGUMENT, "lambda");
  EXPECT(denise_solve_batch(DENISE_METHOD_PCP, N, K, 0, 1, m64, m64, NULL), DENISE_ERR_ARGUMENT, "m and l overlap");

  /* Covariances. */
  EXPECT(denise_covariance_batch(NULL, 1, ones, 0, u, l, NULL, NULL, NULL, NULL), DENISE_ERR_NULL_POINTER,
         "model is NULL");
  EXPECT(denise_covariance_batch(model, 1, ones, 0, NULL, l, NULL, NULL, NULL, NULL), DENISE_ERR_NULL_POINTER,
         "u is NULL");
  EXPECT(denise_covariance_batch(model, 1, ones, 0, u, l, l, NULL, NULL, NULL), DENISE_ERR_ARGUMENT,
         "d and sigma overlap");
  EXPECT(denise_covariance_batch(model, 1, ones, 2, u, l, NULL, NULL, NULL, NULL), DENISE_ERR_ARGUMENT, "floor");
  EXPECT(denise_covariance_from_u_batch(N, N, 1, ones, u, 0, l, NULL, NULL, NULL), DENISE_ERR_ARGUMENT, "k = 5");
  EXPECT(denise_covariance_solve_batch(N, K, 1, u, l, 1, NULL, s), DENISE_ERR_NULL_POINTER, "x is NULL");
  EXPECT(denise_covariance_multiply_batch(N, K, 1, u, l, (size_t)-1, ones, s), DENISE_ERR_SHAPE, "address space");

  /* Streams. */
  denise_stream *stream;
  denise_stream_options wanted;
  denise_stream_options_init(&wanted, sizeof wanted);
  EXPECT(denise_stream_new(NULL, NULL, &stream), DENISE_ERR_NULL_POINTER, "model is NULL");
  EXPECT(denise_stream_new(model, NULL, NULL), DENISE_ERR_NULL_POINTER, "stream is NULL");
  wanted.streams = 0;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "streams is 0");
  wanted.streams = 1;
  wanted.window = 1;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "window is 1");
  wanted.window = 9;
  wanted.half_life = 5;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "half_life is 5");
  wanted.half_life = 0;
  wanted.warm_up = 10;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "warm_up is 10");
  wanted.warm_up = 0;
  wanted.flags = DENISE_FLAG_CAREFUL;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "flags has 0x10");
  wanted.struct_size = 3;
  EXPECT(denise_stream_new(model, &wanted, &stream), DENISE_ERR_ARGUMENT, "denise_stream_options_init");
  EXPECT(denise_stream_new(model, NULL, &stream), DENISE_OK, "denise_stream_options_init");
  EXPECT(denise_stream_push(NULL, ones, u, l, s, &report), DENISE_ERR_NULL_POINTER, "stream is NULL");
  EXPECT(denise_stream_push(stream, NULL, u, l, s, &report), DENISE_ERR_NULL_POINTER, "returns is NULL");
  EXPECT(denise_stream_push(stream, ones, u, l, l, &report), DENISE_ERR_ARGUMENT, "l and s overlap");
  EXPECT(denise_stream_push_matrices(stream, l, u, NULL, l, &report), DENISE_ERR_ARGUMENT, "m and s overlap");
  EXPECT(denise_stream_push(stream, ones, (float *)(void *)((char *)l + 1), NULL, NULL, NULL), DENISE_ERR_ARGUMENT,
         "u is not aligned to its type");
  EXPECT(denise_stream_covariance_f64(stream, NULL), DENISE_ERR_NULL_POINTER, "m is NULL");
  EXPECT(denise_stream_save(stream, NULL, 1), DENISE_ERR_NULL_POINTER, "state is NULL");
  EXPECT(denise_stream_save(stream, l, 1), DENISE_ERR_SHAPE, "the buffer is too short");
  EXPECT(denise_stream_restore(stream, l, sizeof l), DENISE_ERR_FORMAT, "the state is damaged");
  EXPECT(denise_stream_reset_one(stream, 1), DENISE_ERR_ARGUMENT, "there is no such stream");
  denise_stream_free(stream);

  /* Threads do not see each other's. */
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, elsewhere, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  EXPECT(DENISE_OK, DENISE_OK, "there is no such stream");

  denise_free(model);
  printf("last_error: %lu passed, %lu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
