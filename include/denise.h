/* libdenise: splits a covariance matrix M into L + S, where L = U U' has rank at most k and is
   positive semidefinite, and S is sparse. This header is the reference manual.

   Load a model once, call it often, free it at the end:

     char why[256];
     denise_options options;
     denise_model *model;
     denise_options_init(&options, sizeof options);
     options.n = 50;                                     50 x 50 matrices; 20 if left alone
     options.k = 5;                                      L of rank 5; 3 if left alone
     options.message = why;
     options.message_size = sizeof why;
     if (denise_load(NULL, &options, &model) == DENISE_OK) {
       denise_decompose_batch(model, count, m, NULL, l, s, NULL);
       denise_free(model);
     } else {
       puts(why);
     }

   Who gets a return for every asset at every tick makes a stream of it instead, in which L moves as little
   as it must, in about half the time:

     denise_stream *stream;
     denise_stream_new(model, NULL, &stream);            exponential weights of half-life 60
     denise_stream_push(stream, returns, NULL, l, s, &report);
     denise_stream_free(stream);

   Who needs an inverse makes a covariance that has one, Sigma = U U' + diag(d), and need not form it:

     denise_covariance_batch(model, 1, m, 0, u, d, NULL, NULL, NULL, NULL);
     denise_covariance_solve_batch(n, k, 1, u, d, 1, x, y);   y = Sigma^-1 x

   Memory. The caller owns every buffer. Matrices are row-major, one after another, n * n values each.
   Only functions that load, free, suggest a rank, compare (denise_solve_batch) or make a stream allocate.

   Threads. Any number of threads may use one model at once. A call runs on the calling thread only,
   unless the model was loaded with options.threads. One thread at a time may use a stream.

   Errors. Functions that can fail return a denise_status, and denise_last_error says why. Arguments are
   checked first: a call that is refused writes no output. No function prints, exits or throws.

   Floating point. Every call runs in the default modes (round to nearest, nothing flushed or trapped) and
   then restores the modes and exception flags of the caller.

   Flags, methods, types, statuses and functions follow, in that order. cbindgen generates this file from
   src. It is valid in C99 and C++11. */


#ifndef DENISE_H
#define DENISE_H

#include <stddef.h>
#include <stdint.h>

// The version of this header. denise_version tells that of the library.
#define DENISE_VERSION_MAJOR 0
#define DENISE_VERSION_MINOR 2
#define DENISE_VERSION_PATCH 0


// For denise_options.flags: use only instructions that every machine of this architecture has (SSE2, NEON).
// By default the library uses the best instructions that it finds.
#define DENISE_FLAG_PORTABLE 1

// For denise_options.flags: use AVX2 and FMA, or fail with DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_AVX2 2

// For denise_options.flags, alone or with another flag: keep the weights of a dense network as 16-bit floating-point
// numbers, with eleven significant bits. This halves the memory, and more than halves the time of a call with one
// matrix. The built-in network and its kind have few weights and give DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_F16 4

// For denise_options.flags, alone or with another flag: split the correlation matrix D^(-1/2) M D^(-1/2), where D is the
// diagonal of M, and scale the result back. L then does not depend on the unit of any asset. An asset whose variance
// is not positive gets zeros in L. A dense network gives DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_CORRELATION 8

// For denise_options.flags, alone or with another flag: several starts, each of which runs through all layers, and the
// result that leaves the least unexplained is kept. This takes about four times the time, and gives smaller errors
// where outliers are large or many. It is a choice between candidates, so L is not continuous in M. A dense network
// gives DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_CAREFUL 16

// For denise_options.flags, alone or with another flag: NaN in the lower triangle of m means that an entry is not
// known. L is complete, S is NaN where M is, and reports count the missing entries; their other figures are about the
// known ones. An asset of which nothing is known off the diagonal gets zeros in L. Infinity stays an error. Results for
// matrices without NaN are the same as without this flag, to the bit. A dense network gives DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_MISSING 32

// For denise_options.flags, alone or with another flag but DENISE_FLAG_F16: keep the weights of a dense network as
// 8-bit whole numbers, with a scale for each output of a layer. This takes a quarter of the memory, and less than
// a quarter of the time of a call with one matrix. A weight changes by up to 1/254 of the largest of its output, and U
// typically by one part in a hundred: see what that means for your network. The built-in network and its kind have few
// weights and give DENISE_ERR_UNSUPPORTED.
#define DENISE_FLAG_INT8 64

// For denise_options.flags: use AVX-512, as much of it as Ice Lake and Zen 4 have, or fail with DENISE_ERR_UNSUPPORTED.
// The library uses it by default where it finds it, unless it was built small; DENISE_FLAG_AVX2 keeps it from that.
// Results are the same to the bit.
#define DENISE_FLAG_AVX512 128

// The methods of denise_solve_batch. docs/CLASSICAL.md compares them with those of the LRS library.
//
// Eigen-truncation: keeps the k largest eigenvalues that are positive. L is positive semidefinite with rank at most k,
// and s = m - l. lambda is not used.
#define DENISE_METHOD_EIGEN 1

// Principal component pursuit (Candes et al. 2011) by alternating directions, until (L, S) changes by less
// than 1e-5 in a step, at most 1000 steps. lambda weighs |S|_1 against the nuclear norm of L. The paper uses
// 0.56/sqrt(n), and 0.64/sqrt(n) for its stocks. k is not used: the rank follows from lambda, and L need not be
// positive semidefinite. s has exact zeros, so l + s is m only to 1e-3, usually to 1e-4; or to 4e-3 if 1000 steps do
// not reach entries that are far below the mean.
#define DENISE_METHOD_PCP 2

// The same problem by inexact augmented Lagrange multipliers (Lin et al. 2010), until |M - L - S|_F is less
// than 1e-7 |M|_F, at most 1000 steps. lambda, k, l and s are as for DENISE_METHOD_PCP, but l + s is m to 1e-7.
#define DENISE_METHOD_IALM 3

// Fast principal component pursuit (Rodriguez and Wohlberg 2013): k loops, in which the rank grows from 1 to at
// most k. L need not be positive semidefinite, and s = m - l. Each loop shrinks the entries of S by lambda, which has
// the unit of m. The paper uses 1/sqrt(n).
#define DENISE_METHOD_FPCP 4

// Robust PCA by gradient descent (Yi et al. 2016), at most 29 steps, until the error is below 2e-4 or stops
// falling. L has rank at most k and need not be positive semidefinite; s = m - l. Here lambda is the largest share of
// outliers in a row, less than 1. The paper uses 0.1, which allows none for n < 10.
#define DENISE_METHOD_RPCA_GD 5

// DENISE_METHOD_PCP for matrices that are not known everywhere: an m[i, j] that is NaN is not known, and no error. l is
// complete, and s is NaN where m is NaN. Elsewhere l + s is m to 1e-3, or to 4e-3 if 1000 steps do not reach entries
// that are far below the mean. Without a NaN, l and s are those of DENISE_METHOD_PCP to the bit; lambda and k are as
// there.
#define DENISE_METHOD_MASKED_PCP 6

// For denise_stream_options.flags: subtract the means of the returns. Without it they count as zero, as they nearly are
// over short times.
#define DENISE_STREAM_DEMEAN 256

// A loaded network. denise_load makes it, denise_free frees it. It never changes: any number of threads may use one
// handle at once.
typedef struct denise_model denise_model;

// Streams of returns. denise_stream_new makes it, denise_stream_free frees it. It changes with every tick: one thread
// at a time may use it, and a call that meets another one gets DENISE_ERR_ARGUMENT. Any number of streams may be made
// from one model and used at once. A stream keeps what it needs of its model, which may be freed before it.
typedef struct denise_stream denise_stream;

// Options of denise_load. Call denise_options_init, then set what you need. The library reads the struct during the
// call and keeps no pointer to it.
typedef struct denise_options {
  // Set by denise_options_init; do not change it. It tells the library which header the program was compiled with,
  // so that structs can grow and old programs keep working.
  size_t struct_size;
  // Size of the matrices, at most 512. 0: the size that the model was trained for, 20 for the built-in network.
  // A dense network takes that size only; any other gives DENISE_ERR_SHAPE.
  uint32_t n;
  // Largest rank of L, less than n and at most 32. 0: the rank that the model was trained for, 3 for the built-in
  // network. A dense network takes that rank only.
  uint32_t k;
  // Calls that can run at once on this handle without waiting for each other, at most 4096. Working memory for each
  // is reserved when the model is loaded. 0: one for each CPU, or fewer if they would need more than 64 MB. Loading then
  // touches the memory of the first call, else that of all: the first use of a page takes a microsecond or two.
  uint32_t max_concurrency;
  // Threads that one call may use for a large batch, for a matrix with n of 200 or more, or for any batch of a dense
  // network, at most 256. 0 or 1: the calling thread only. denise_load starts the others and denise_free joins them.
  // Calls with few matrices go without them where that is found to be faster, as it is where cores are far apart.
  // On Linux they block all signals except those for their own faults, such as SIGSEGV.
  uint32_t threads;
  // DENISE_FLAG_ values combined with |, or 0.
  uint32_t flags;
  // Optional buffer for one line that says why loading failed. It is cut to fit and always terminated; on success it
  // is empty.
  char *message;
  // Size of that buffer in bytes.
  size_t message_size;
} denise_options;

// What a function returns: DENISE_OK, which is 0, or one of the DENISE_ERR_ codes. Codes are never reused.
// A newer library may have more of them.
typedef int32_t denise_status;

// Figures about the split of one matrix. They can be had without l and s.
typedef struct denise_report {
  // Sum of |S_ij|, at most FLT_MAX.
  float l1;
  // ||M - L||_F / ||M||_F: 0 if L is all of M, and for the zero matrix.
  float residual;
  // Share of entries with |S_ij| <= 0.01 * tr(M)/n, from 0 to 1.
  float sparsity;
  // DENISE_OK, or DENISE_ERR_NOT_FINITE if this matrix contains infinity, or NaN without DENISE_FLAG_MISSING. All
  // floats here are then NaN.
  int32_t status;
  // Size of the last step, ||U_T - U_(T-1)||_F / ||U_T||_F. Small means that more layers would not change the
  // answer. 0 if U is zero, and for a dense network, which takes no steps.
  float unsettled;
  // Smallest S_ii / M_ii, over all i with M_ii > 0. Negative means that L explains more than all of a variance. 0 if
  // no M_ii is positive. To invert, call denise_covariance_batch, which lifts such an S_ii to a floor. If it is often
  // negative, or below -0.1, k is too large for these matrices: denise_suggest_rank_batch suggests another one.
  float least_specific;
  // Entries of the lower triangle that were NaN and taken as not known; 0 without DENISE_FLAG_MISSING. The figures
  // above are about the known entries: l1, residual and sparsity count those only, tr(M)/n is the mean of the known
  // variances, and least_specific is over them.
  uint32_t missing;
  // i*n + j of the first entry M_ij, row by row in the lower triangle, that made the status DENISE_ERR_NOT_FINITE.
  // UINT32_MAX if there is none.
  uint32_t first_bad;
} denise_report;

// Options of denise_stream_new. Call denise_stream_options_init, then set what you need.
typedef struct denise_stream_options {
  // Set by denise_stream_options_init; do not change it.
  size_t struct_size;
  // Independent streams that advance together, at most 1048576; 1 if left alone. Many in one handle are faster than
  // many handles: they lie side by side in the lanes of vectors.
  uint32_t streams;
  // Ticks of a moving window, 2 to 1048576. 0: exponential weights, by half_life.
  uint32_t window;
  // Ticks until an observation counts half, 0.1 to 1e9. 0 with window 0: 60. Must be 0 with a window.
  double half_life;
  // DENISE_FLAG_CORRELATION, DENISE_STREAM_DEMEAN, both combined with |, or 0. A model that was loaded with
  // DENISE_FLAG_CORRELATION has streams with it.
  uint32_t flags;
  // Ticks before the first split, and times that two assets must have been seen together before their covariance
  // counts as known. At most the window. 0: 2 k, or the window if that is shorter.
  uint32_t warm_up;
} denise_stream_options;

// Success: every requested output was written.
#define DENISE_OK 0

// A required pointer is NULL. No output was written.
#define DENISE_ERR_NULL_POINTER 1

// An argument is out of range: a rank that is not less than n, an unknown flag or method, buffers that overlap, or a
// struct_size that this library does not know. No output was written.
#define DENISE_ERR_ARGUMENT 2

// The file cannot be read: it does not exist, this user may not read it, or it is not a regular file.
#define DENISE_ERR_IO 3

// The data is damaged, or it is not a model.
#define DENISE_ERR_FORMAT 4

// This build or machine does not support the model, size, method or instruction set.
#define DENISE_ERR_UNSUPPORTED 5

// Sizes do not fit each other, or their product overflows. No output was written.
#define DENISE_ERR_SHAPE 6

// At least one matrix contains infinity, or NaN without DENISE_FLAG_MISSING. All others were split.
#define DENISE_ERR_NOT_FINITE 7

// There is not enough memory, or no thread can be started.
#define DENISE_ERR_MEMORY 8

// A bug in the library. The outputs are unspecified, but the process is intact.
#define DENISE_ERR_INTERNAL 9

// In reports only: the stream has not seen enough ticks yet.
#define DENISE_ERR_NOT_READY 10

// At least one matrix has no positive variance, or a d that is not positive: it cannot be inverted. All others were
// done.
#define DENISE_ERR_SINGULAR 11

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Sets every option to its default. Pass sizeof *options as struct_size: nothing is written past it. Does nothing if
// options is NULL.
void denise_options_init(struct denise_options *options,
                         size_t struct_size);

// Loads a model. If path is NULL or "default", this is the network built into the library; "fast" is another one, with
// fewer layers, that takes two thirds of the time and is less accurate. Otherwise path names an ONNX file: one that the
// program denise wrote, or a stack of dense layers from M to U, to L, or to S and L, as Keras and PyTorch export it. (A
// library built without the ONNX loader reads the first kind only. A file named fast is "./fast".) Allocates.
//
// - options may be NULL, for the defaults.
// - On success *model is a handle for denise_free. On failure it is NULL, and options.message says why.
// - DENISE_ERR_IO: the file cannot be read. DENISE_ERR_FORMAT: it is damaged, or not a model. DENISE_ERR_UNSUPPORTED:
//   it is an ONNX model of another kind; the message names the operator.
// - Before this returns, the results of the library are compared with those of the graph in the file. Part of that
//   runs on another thread, which ends before this returns.
denise_status denise_load(const char *path,
                          const struct denise_options *options,
                          struct denise_model **model);

// Loads a model from size bytes of memory, which may be released afterwards. Otherwise as denise_load.
denise_status denise_load_memory(const void *data,
                                 size_t size,
                                 const struct denise_options *options,
                                 struct denise_model **model);

// Frees a model. No call may be running on it, and none may follow. Does nothing if model is NULL.
void denise_free(struct denise_model *model);

// Size of the matrices that the model takes; 0 if model is NULL.
uint32_t denise_n(const struct denise_model *model);

// Largest rank of L; 0 if model is NULL.
uint32_t denise_k(const struct denise_model *model);

// The network and the instruction set it runs on, such as "unrolled avx2". The string is static; "" if model is NULL.
const char *denise_kernel(const struct denise_model *model);

// Splits count matrices: M = L + S, with L = U U' of rank at most k. Never allocates, prints or starts threads. It
// waits only if more calls than max_concurrency run on this handle.
//
// - m, l and s hold count matrices of n*n values, u holds count factors of n*k values, all row-major. reports holds
//   count reports. u, l, s and reports may each be NULL.
// - Only the lower triangle of m is read. l and s are written in full.
// - s may be the same pointer as m. No other buffers may overlap.
// - Any alignment works. But if a pointer is not aligned to its type, the call goes one matrix at a time, and such
//   calls wait for each other.
// - l and s are symmetric to the bit, and l + s is m to one rounding.
// - The columns of u are orthogonal, the longest first, and the entry of largest size in each is positive. (A dense
//   network gives the u that it computes.)
// - A matrix with NaN or infinity gets NaN in all its outputs. The others are split, and the call returns
//   DENISE_ERR_NOT_FINITE. With DENISE_FLAG_MISSING a NaN is an entry that is not known, and no error: l and u are
//   complete, and s is NaN where m is.
// - Results are the same, to the bit, for any count, any place in the batch and any number of threads.
// - Finite input gives finite output. What would overflow becomes the largest finite value; with the built-in network
//   this takes entries above 1e-6 of that value.
// - A matrix that is not positive semidefinite is not an error, but the farther it is from that, the less its split
//   means.
// - count 0 does nothing and gives DENISE_OK.
// - After a fork the child may call it too, if no other thread was inside a call on this handle at that time.
denise_status denise_decompose_batch(const struct denise_model *model,
                                     size_t count,
                                     const float *m,
                                     float *u,
                                     float *l,
                                     float *s,
                                     struct denise_report *reports);

// The same in double precision, on the same handle. A dense network computes u in float, from m rounded to float, and
// then l and s in double.
denise_status denise_decompose_batch_f64(const struct denise_model *model,
                                         size_t count,
                                         const double *m,
                                         double *u,
                                         double *l,
                                         double *s,
                                         struct denise_report *reports);

// Splits count matrices and makes of each a covariance that can be inverted: Sigma = U U' + diag(d), with d_i =
// max(S_ii, floor * M_ii). L + S is M again; Sigma is what is left of it if assets have nothing in common but the k
// factors. Never allocates, prints or starts threads.
//
// - m holds count matrices of n*n values, of which the lower triangles are read. u gets count factors of n*k values,
//   and is needed; denise_covariance_solve_batch takes it. d gets n values for each, sigma and inverse n*n, log_det the
//   logarithm of the determinant, in double in both precisions. d, sigma, inverse, log_det and reports may each be NULL.
//   Buffers must not overlap, and must be aligned to their type.
// - floor is a share of the variance, from 1e-6 to 1. 0: 0.05. It bounds the condition number: in units in which every
//   M_ii is 1 that of Sigma is at most n (1 + floor) / floor, or n (1 - x + floor) / floor where L explains more than
//   all of a variance and x, which is denise_report.least_specific, is negative.
// - Sigma and its inverse are positive definite, also as they are written, rounded to their type. For that d_i is never
//   less than 1e-6 of L_ii, nor, in float, than 2.4e-7 n^1.5 of it.
// - Where S_ii is above its floor, as it nearly always is, Sigma_ii is M_ii. Elsewhere it is more.
// - An M_ii that is not known (NaN, with DENISE_FLAG_MISSING), zero or negative gets the mean d of the others: an asset
//   that has not moved is not one without risk.
// - If none is positive, the outputs of that matrix are NaN, its report has DENISE_ERR_SINGULAR, and so does the call
//   return. NaN and infinity are as in denise_decompose_batch. All other matrices are done.
// - sigma and inverse are symmetric to the bit. Results are the same, to the bit, for any count and place in the batch.
//   All is computed in double from the u that is written. What would overflow becomes the largest finite value.
denise_status denise_covariance_batch(const struct denise_model *model,
                                      size_t count,
                                      const float *m,
                                      double floor,
                                      float *u,
                                      float *d,
                                      float *sigma,
                                      float *inverse,
                                      double *log_det,
                                      struct denise_report *reports);

// The same in double precision, on the same handle.
denise_status denise_covariance_batch_f64(const struct denise_model *model,
                                          size_t count,
                                          const double *m,
                                          double floor,
                                          double *u,
                                          double *d,
                                          double *sigma,
                                          double *inverse,
                                          double *log_det,
                                          struct denise_report *reports);

// The same from u and m, without a model: u may come from a stream, from denise_decompose_batch or from any other
// method. Of m only the diagonal is read, and NaN there is a variance that is not known. n is 2 to 512, k is less than
// n and at most 32. A matrix whose u is not finite gets NaN, and the call returns DENISE_ERR_NOT_FINITE.
denise_status denise_covariance_from_u_batch(uint32_t n,
                                             uint32_t k,
                                             size_t count,
                                             const float *m,
                                             const float *u,
                                             double floor,
                                             float *d,
                                             float *sigma,
                                             float *inverse,
                                             double *log_det);

// The same in double precision.
denise_status denise_covariance_from_u_batch_f64(uint32_t n,
                                                 uint32_t k,
                                                 size_t count,
                                                 const double *m,
                                                 const double *u,
                                                 double floor,
                                                 double *d,
                                                 double *sigma,
                                                 double *inverse,
                                                 double *log_det);

// y = Sigma x for count matrices, without Sigma: u and d are as denise_covariance_batch wrote them, x and y hold
// columns*n values for each, in n rows. Takes about 2 n k operations a column. Never allocates.
//
// - y may be the same pointer as x. No other buffers may overlap, and all must be aligned to their type.
// - A matrix whose u, d or x is not finite, or whose product is too large for its type, gets NaN in y, and the call
//   returns DENISE_ERR_NOT_FINITE. All others are done.
denise_status denise_covariance_multiply_batch(uint32_t n,
                                               uint32_t k,
                                               size_t count,
                                               const float *u,
                                               const float *d,
                                               size_t columns,
                                               const float *x,
                                               float *y);

// The same in double precision.
denise_status denise_covariance_multiply_batch_f64(uint32_t n,
                                                   uint32_t k,
                                                   size_t count,
                                                   const double *u,
                                                   const double *d,
                                                   size_t columns,
                                                   const double *x,
                                                   double *y);

// y = Sigma^-1 x, likewise, in about n k^2 operations more for each matrix. With x = 1 it gives the weights of the
// portfolio of least variance, but for their sum. A matrix with a d that is not positive gets NaN in y, and the call
// returns DENISE_ERR_SINGULAR.
denise_status denise_covariance_solve_batch(uint32_t n,
                                            uint32_t k,
                                            size_t count,
                                            const float *u,
                                            const float *d,
                                            size_t columns,
                                            const float *x,
                                            float *y);

// The same in double precision.
denise_status denise_covariance_solve_batch_f64(uint32_t n,
                                                uint32_t k,
                                                size_t count,
                                                const double *u,
                                                const double *d,
                                                size_t columns,
                                                const double *x,
                                                double *y);

// Suggests for each of count matrices how many factors it has: k[i] is from 0, which means that no common factor was
// found, to most. docs/RANK.md says how often that is right. Allocates, once for each call, and takes about a hundred
// times as long as a split.
//
// - n is 2 to 512. most is at most 32; 0: 10. n assets tell few factors apart, whatever most is: 5 for n = 20, 1 for
//   n < 9.
// - observations is how many observations each matrix was estimated from; 0 if that is not known.
// - m holds n*n values for each, of which the lower triangle is read. NaN is an entry that is not known, and an asset
//   whose variance is not positive does not count. Neither units nor order of the assets matter.
// - A matrix with infinity gets 0, and the call returns DENISE_ERR_NOT_FINITE. All others are done.
denise_status denise_suggest_rank_batch(uint32_t n,
                                        uint32_t most,
                                        double observations,
                                        size_t count,
                                        const double *m,
                                        uint32_t *k);

// Sets every option to its default. Pass sizeof *options as struct_size: nothing is written past it. Does nothing if
// options is NULL.
void denise_stream_options_init(struct denise_stream_options *options,
                                size_t struct_size);

// Makes streams that the model splits. Allocates: the calls below do not, but for denise_stream_free.
//
// - options may be NULL, for the defaults. On success *stream is a handle for denise_stream_free; on failure it is NULL.
// - A dense network, and a model loaded with DENISE_FLAG_CAREFUL, give DENISE_ERR_UNSUPPORTED.
denise_status denise_stream_new(const struct denise_model *model,
                                const struct denise_stream_options *options,
                                struct denise_stream **stream);

// Frees streams. No call may be running on them, and none may follow. Does nothing if stream is NULL.
void denise_stream_free(struct denise_stream *stream);

// A tick: takes the returns in, estimates the covariances again, and splits them. Never allocates, prints or waits.
//
// - returns holds n values for every stream, one stream after another. u, l, s and reports are as in
//   denise_decompose_batch, with one of each for every stream, and may each be NULL. Buffers must not overlap, and must
//   be aligned to their type.
// - A covariance is the weighted mean of r_i r_j, or of that less the product of the means (DENISE_STREAM_DEMEAN): the
//   divisor is the sum of the weights.
// - NaN is a return that is not known. With exponential weights the pairs that need it keep their value and lose none
//   of their weight; in a window the tick counts for them as one that is not there. A pair that has not been seen
//   warm_up times together is missing, as with DENISE_FLAG_MISSING: L is complete, and S is NaN there.
// - Infinity, or a return beyond 1e100, makes none of the returns of its stream count at this tick. Outputs of that
//   stream are NaN, its report has DENISE_ERR_NOT_FINITE and the asset in first_bad, and so does the call return. For
//   the estimate it is a tick at which nothing is known.
// - Before the first split of a stream its outputs are NaN, and its report has DENISE_ERR_NOT_READY; the call returns
//   DENISE_OK.
// - u moves continuously from tick to tick: no column flips or changes places. Its columns are orthogonal, the longest
//   first, at the first split only. L = U U' at every tick.
// - At every 20th split the network also starts from scratch, and takes over, turned to the u that was there, if it
//   leaves less than 0.96 of the sum of |S_ij|. So what a stream leaves is never more than 1/0.96 of that for longer
//   than 20 ticks. Such a tick takes as long as a call of denise_decompose_batch and a usual one together.
// - Results are the same, to the bit, for a stream alone and among others.
denise_status denise_stream_push(struct denise_stream *stream,
                                 const float *returns,
                                 float *u,
                                 float *l,
                                 float *s,
                                 struct denise_report *reports);

// The same in double precision. Calls of both kinds may alternate on one stream.
denise_status denise_stream_push_f64(struct denise_stream *stream,
                                     const double *returns,
                                     double *u,
                                     double *l,
                                     double *s,
                                     struct denise_report *reports);

// A tick of the caller's own covariances: m holds n*n values for every stream, of which the lower triangles are read.
// There is no warm-up, and the estimate from returns stays as it is. NaN is DENISE_ERR_NOT_FINITE, or an entry that is
// not known if the model was loaded with DENISE_FLAG_MISSING; a stream whose matrix is not finite stays where it was.
// Otherwise as denise_stream_push.
denise_status denise_stream_push_matrices(struct denise_stream *stream,
                                          const float *m,
                                          float *u,
                                          float *l,
                                          float *s,
                                          struct denise_report *reports);

// The same in double precision.
denise_status denise_stream_push_matrices_f64(struct denise_stream *stream,
                                              const double *m,
                                              double *u,
                                              double *l,
                                              double *s,
                                              struct denise_report *reports);

// Writes the covariances that have been estimated from returns: n*n values for every stream, NaN where too little is
// known.
denise_status denise_stream_covariance_f64(const struct denise_stream *stream,
                                           double *m);

// Makes a covariance that can be inverted for every stream, as denise_covariance_from_u_batch does, from the u that
// denise_stream_push wrote at this tick and the variances that the streams have estimated. Never allocates.
//
// - u has n*k values for every stream, d n, sigma and inverse n*n, log_det one. Any of the last four may be NULL.
// - A stream that was not split at this tick has NaN in u, and gets NaN; the call returns DENISE_ERR_NOT_FINITE.
// - After denise_stream_push_matrices call denise_covariance_from_u_batch with the same m.
denise_status denise_stream_sigma(const struct denise_stream *stream,
                                  const float *u,
                                  double floor,
                                  float *d,
                                  float *sigma,
                                  float *inverse,
                                  double *log_det);

// The same in double precision.
denise_status denise_stream_sigma_f64(const struct denise_stream *stream,
                                      const double *u,
                                      double floor,
                                      double *d,
                                      double *sigma,
                                      double *inverse,
                                      double *log_det);

// Bytes that denise_stream_save writes; 0 if stream is NULL. It never changes.
size_t denise_stream_state_size(const struct denise_stream *stream);

// Writes everything that the streams know to state, which has room for size bytes: at least denise_stream_state_size.
// Any machine can read them. Who restores them goes on with the same bits.
denise_status denise_stream_save(const struct denise_stream *stream,
                                 void *state,
                                 size_t size);

// Takes the streams back to where denise_stream_save was called: on this handle, or on another one whose model and
// options were the same. size is that of the state. An error changes nothing: DENISE_ERR_FORMAT if the bytes are
// damaged, DENISE_ERR_SHAPE or DENISE_ERR_ARGUMENT if they are of other streams.
denise_status denise_stream_restore(struct denise_stream *stream,
                                    const void *state,
                                    size_t size);

// Forgets everything: the streams are as new.
denise_status denise_stream_reset(struct denise_stream *stream);

// Bytes that denise_stream_save_one writes; 0 if stream is NULL.
size_t denise_stream_state_size_one(const struct denise_stream *stream);

// denise_stream_save for one of the streams, which are counted from 0. Its state is that of a handle with one stream.
denise_status denise_stream_save_one(const struct denise_stream *stream,
                                     size_t which,
                                     void *state,
                                     size_t size);

// denise_stream_restore for one of the streams. The others stay as they are.
denise_status denise_stream_restore_one(struct denise_stream *stream,
                                        size_t which,
                                        const void *state,
                                        size_t size);

// denise_stream_reset for one of the streams. The others stay as they are.
denise_status denise_stream_reset_one(struct denise_stream *stream, size_t which);

// Describes a status in a few words. Accepts any number; the string is static.
const char *denise_status_string(denise_status status);

// Says why the last failed call on this thread failed: one line that names the argument or the file, meant for a log.
// The string is valid until the next call on this thread fails. It is "" if no call has failed, and may be "" if
// hundreds of threads fail at once. Does not allocate.
const char *denise_last_error(void);

// The version of the library, such as "0.2.0". The string is static.
const char *denise_version(void);

// The number of the binary interface, as in the file name libdenise.so.2. It changes only when programs must be
// compiled again.
uint32_t denise_abi_version(void);

// Splits count matrices with a classical method, a DENISE_METHOD_ value, to compare the network with. Slow. Allocates,
// once for each call.
//
// - n is 2 to 512. k is less than n and at most 32; methods without a rank ignore it.
// - lambda <= 0 means the paper's value for the method.
// - m, l and s are as in denise_decompose_batch: only the lower triangle is read, l and s may each be NULL, s may be
//   the same pointer as m, results are symmetric to the bit and do not depend on count, and a matrix with NaN or
//   infinity gets NaN. For DENISE_METHOD_MASKED_PCP a NaN is an entry that is not known.
denise_status denise_solve_batch(int32_t method,
                                 uint32_t n,
                                 uint32_t k,
                                 double lambda,
                                 size_t count,
                                 const double *m,
                                 double *l,
                                 double *s);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DENISE_H */
