/* The binary interface as the header has it: every function once, and with them every type.
 *
 * It is compiled into a library of its own, whose description by abidw is compared with tests/trust/denise.abi. What
 * libdenise.so has of debug information is Rust's, in which these types have other names, if any. A prototype here that
 * is not the header's does not compile. (Sizes, offsets and constants are asserted in tests/c/abi.c.) */
#include <denise.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

void denise_options_init(denise_options *options, size_t struct_size) {}
denise_status denise_load(const char *path, const denise_options *options, denise_model **model) { return 0; }
denise_status denise_load_memory(const void *data, size_t size, const denise_options *options, denise_model **model) {
  return 0;
}
denise_status denise_decompose_batch(const denise_model *model, size_t count, const float *m, float *u, float *l,
                                     float *s, denise_report *reports) {
  return 0;
}
denise_status denise_decompose_batch_f64(const denise_model *model, size_t count, const double *m, double *u, double *l,
                                         double *s, denise_report *reports) {
  return 0;
}
void denise_free(denise_model *model) {}
uint32_t denise_n(const denise_model *model) { return 0; }
uint32_t denise_k(const denise_model *model) { return 0; }
const char *denise_kernel(const denise_model *model) { return 0; }
const char *denise_status_string(denise_status status) { return 0; }
const char *denise_last_error(void) { return 0; }
const char *denise_version(void) { return 0; }
uint32_t denise_abi_version(void) { return 0; }
denise_status denise_solve_batch(int32_t method, uint32_t n, uint32_t k, double lambda, size_t count, const double *m,
                                 double *l, double *s) {
  return 0;
}
void denise_stream_options_init(denise_stream_options *options, size_t struct_size) {}
denise_status denise_stream_new(const denise_model *model, const denise_stream_options *options,
                                denise_stream **stream) {
  return 0;
}
void denise_stream_free(denise_stream *stream) {}
denise_status denise_stream_push(denise_stream *stream, const float *returns, float *u, float *l, float *s,
                                 denise_report *reports) {
  return 0;
}
denise_status denise_stream_push_f64(denise_stream *stream, const double *returns, double *u, double *l, double *s,
                                     denise_report *reports) {
  return 0;
}
denise_status denise_stream_push_matrices(denise_stream *stream, const float *m, float *u, float *l, float *s,
                                          denise_report *reports) {
  return 0;
}
denise_status denise_stream_push_matrices_f64(denise_stream *stream, const double *m, double *u, double *l, double *s,
                                              denise_report *reports) {
  return 0;
}
denise_status denise_stream_covariance_f64(const denise_stream *stream, double *m) { return 0; }
size_t denise_stream_state_size(const denise_stream *stream) { return 0; }
denise_status denise_stream_save(const denise_stream *stream, void *state, size_t size) { return 0; }
denise_status denise_stream_restore(denise_stream *stream, const void *state, size_t size) { return 0; }
denise_status denise_stream_reset(denise_stream *stream) { return 0; }
size_t denise_stream_state_size_one(const denise_stream *stream) { return 0; }
denise_status denise_stream_save_one(const denise_stream *stream, size_t which, void *state, size_t size) { return 0; }
denise_status denise_stream_restore_one(denise_stream *stream, size_t which, const void *state, size_t size) {
  return 0;
}
denise_status denise_stream_reset_one(denise_stream *stream, size_t which) { return 0; }
denise_status denise_stream_sigma(const denise_stream *stream, const float *u, double floor, float *d, float *sigma,
                                  float *inverse, double *log_det) {
  return 0;
}
denise_status denise_stream_sigma_f64(const denise_stream *stream, const double *u, double floor, double *d,
                                      double *sigma, double *inverse, double *log_det) {
  return 0;
}
denise_status denise_covariance_batch(const denise_model *model, size_t count, const float *m, double floor, float *u,
                                      float *d, float *sigma, float *inverse, double *log_det, denise_report *reports) {
  return 0;
}
denise_status denise_covariance_batch_f64(const denise_model *model, size_t count, const double *m, double floor,
                                          double *u, double *d, double *sigma, double *inverse, double *log_det,
                                          denise_report *reports) {
  return 0;
}
denise_status denise_covariance_from_u_batch(uint32_t n, uint32_t k, size_t count, const float *m, const float *u,
                                             double floor, float *d, float *sigma, float *inverse, double *log_det) {
  return 0;
}
denise_status denise_covariance_from_u_batch_f64(uint32_t n, uint32_t k, size_t count, const double *m, const double *u,
                                                 double floor, double *d, double *sigma, double *inverse,
                                                 double *log_det) {
  return 0;
}
denise_status denise_covariance_multiply_batch(uint32_t n, uint32_t k, size_t count, const float *u, const float *d,
                                               size_t columns, const float *x, float *y) {
  return 0;
}
denise_status denise_covariance_multiply_batch_f64(uint32_t n, uint32_t k, size_t count, const double *u,
                                                   const double *d, size_t columns, const double *x, double *y) {
  return 0;
}
denise_status denise_covariance_solve_batch(uint32_t n, uint32_t k, size_t count, const float *u, const float *d,
                                            size_t columns, const float *x, float *y) {
  return 0;
}
denise_status denise_covariance_solve_batch_f64(uint32_t n, uint32_t k, size_t count, const double *u, const double *d,
                                                size_t columns, const double *x, double *y) {
  return 0;
}
denise_status denise_suggest_rank_batch(uint32_t n, uint32_t most, double observations, size_t count, const double *m,
                                        uint32_t *k) {
  return 0;
}
