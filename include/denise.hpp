// libdenise for C++17: splits a covariance matrix M into L + S, where L = U U' has rank at most k and is
// positive semidefinite, and S is sparse. One header over denise.h, which says more about every promise.
//
//   #include <denise.hpp>
//   #include <numeric>
//   #include <vector>
//
//   int main() {
//     const denise::model model(denise::options{20, 3});  // the built-in network, 20 x 20 matrices, rank 3
//     std::vector<float> m(400, 1.0F), l(400), s(400);
//     model.decompose(m, l, s);                  // one matrix: m = l + s; throws denise::error if it cannot
//
//     std::vector<float> many(100 * 400, 1.0F), factors(100 * 20 * 3);
//     denise::outputs<float> out;                // by name, only what is wanted: u, l, s, reports
//     out.u = factors;
//     out.s = many;                              // s may be where m is
//     model.decompose(denise::batch(many, 100), out);  // 100 matrices, one after another
//
//     std::vector<float> u(20 * 3), d(20), w(20, 1.0F);  // the portfolio of least variance:
//     model.covariance(m, u, d);                 // Sigma = U U' + diag(d), which can be inverted
//     denise::solve(20, 3, u, d, w, w);          // w = Sigma^-1 1, in the place of 1
//     const float sum = std::accumulate(w.begin(), w.end(), 0.0F);
//     for (float& weight : w) weight /= sum;     // its weights
//
//     denise::stream stream(model);              // or from returns, tick by tick: U moves as little as it must
//     std::vector<float> returns(20, 0.01F);     // one for every asset
//     stream.push(returns, l, s);                // NaN until there have been enough ticks
//   }
//
// There are two layers. Functions named try_... are noexcept and return a denise::status; they are all
// that is left under -fno-exceptions. The others call them and throw denise::error on any status but ok.
//
// - A model is loaded once and used often. Loading allocates; decomposing never does, in either layer,
//   unless it throws. Any number of threads may use one model at once.
// - A stream is made from a model, and changes with every tick: one thread at a time may use it.
// - Matrices are in float or double, in one contiguous block: std::vector, std::array, std::span, C arrays, or
//   anything else with data() and size(). For a pointer, say how much there is: denise::view(pointer, size).
// - A block is one matrix, unless denise::batch(block, count) says that it is more. What has a shape of its own
//   says it itself: C arrays and std::mdspan of n x n or of count x n x n. Every size and shape is checked.
// - Matrices are row-major and only the lower triangle of m counts. l and s are symmetric, u is n x k. What has
//   strides, or is column-major by type, does not compile. denise_eigen.hpp takes Eigen's matrices.
// - The order is that of denise.h everywhere: m, u, l, s, reports; for covariances m, u, d, sigma, inverse, log_det.
// - Nothing here has a state of its own, but for the sizes of a stream: the header only forwards.
#ifndef DENISE_HPP
#define DENISE_HPP

#include <denise.h>
#include <denise_view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DENISE_HPP_EXCEPTIONS 1
#include <cstdio>
#include <stdexcept>
#include <vector>
#else
#define DENISE_HPP_EXCEPTIONS 0
#endif

namespace denise {

// ------------------------------------------------------------------------------------------- statuses

// What a call came to. A newer library may return values that are not listed here.
enum class [[nodiscard]] status : std::int32_t {
  ok = DENISE_OK,
  null_pointer = DENISE_ERR_NULL_POINTER,  // a pointer is null, or the model or the stream is empty
  argument = DENISE_ERR_ARGUMENT,          // out of range
  io = DENISE_ERR_IO,                      // the file cannot be read
  format = DENISE_ERR_FORMAT,              // the data is damaged, or is no model, or no state of a stream
  unsupported = DENISE_ERR_UNSUPPORTED,    // not in this build, or not on this machine
  shape = DENISE_ERR_SHAPE,                // sizes that do not fit each other
  not_finite = DENISE_ERR_NOT_FINITE,      // some matrix has a NaN or an infinity; the others are done
  memory = DENISE_ERR_MEMORY,              // out of memory, or of threads
  internal = DENISE_ERR_INTERNAL,          // a bug in the library; the process is intact
  not_ready = DENISE_ERR_NOT_READY,        // in reports only: the stream has not seen enough ticks yet
  singular = DENISE_ERR_SINGULAR           // some matrix has no covariance that can be inverted; the others are done
};

// A phrase for any status.
inline const char* to_string(status code) noexcept { return denise_status_string(static_cast<denise_status>(code)); }

// The version of the library that is running, such as "0.2.0".
inline const char* version() noexcept { return denise_version(); }

// The number of its binary interface, which is also the number in the name of the shared library.
inline std::uint32_t abi_version() noexcept { return denise_abi_version(); }

// Why the last call of the library on this thread that failed did so; what is refused here already, such as a wrong
// size, does not count. For those who use try_... functions: an error's what() says it too.
inline const char* last_error() noexcept { return denise_last_error(); }

namespace detail {
// Why a call of denise.h has just come to this status.
inline const char* reason(status code) noexcept { return *last_error() != '\0' ? last_error() : to_string(code); }
}  // namespace detail

#if DENISE_HPP_EXCEPTIONS
// What the throwing layer throws: what() says why, code() is the status.
class error : public std::runtime_error {
 public:
  error(status code, const char* what) : std::runtime_error(what), code_(code) {}
  explicit error(status code) : error(code, to_string(code)) {}
  status code() const noexcept { return code_; }

 private:
  status code_;
};
#endif

// -------------------------------------------------------------------------------------------- outputs

// One per matrix: l1 = sum |S_ij|, residual = ||M - L||_F / ||M||_F, sparsity = share of entries with
// |S_ij| <= 0.01 tr(M)/n, status, which is DENISE_OK or DENISE_ERR_NOT_FINITE (in a stream also DENISE_ERR_NOT_READY,
// from model::covariance also DENISE_ERR_SINGULAR), and more: denise.h has them all.
using report = denise_report;

// Where results go. What is not set is not computed; what is set must have the right size: n*k values per
// matrix in u (row-major), n*n in l and s, one report per matrix.
//
//   denise::outputs<double> out;
//   out.u = u;  out.l = l;                    // in C++20 also: model.decompose(m, {.u = u, .l = l})
//   model.decompose(m, out);
template <typename T>
struct outputs {
  std::optional<view<T>> u{};
  std::optional<view<T>> l{};
  std::optional<view<T>> s{};  // may be the same memory as m, but not in a stream
  std::optional<view<report>> reports{};
};

// Where a covariance goes that can be inverted: Sigma = U U' + diag(d). What is not set is not computed; what is set
// must have the right size: n values per matrix in d, n*n in sigma and inverse, and one, always in double, in log_det.
//
//   double log_det;
//   denise::covariance_outputs<float> out;
//   out.inverse = inverse;  out.log_det = {&log_det, 1};
//   model.covariance(m, u, out);
template <typename T>
struct covariance_outputs {
  std::optional<view<T>> d{};
  std::optional<view<T>> sigma{};
  std::optional<view<T>> inverse{};
  std::optional<view<double>> log_det{};
};

namespace detail {

// std::string and std::filesystem::path: what has characters, or wide characters that it can give in UTF-8, as such a
// path has on Windows. As a template so that braces never become a path.
template <typename Path, typename = void>
inline constexpr bool has_utf8 = false;
template <typename Path>
inline constexpr bool has_utf8<Path, std::void_t<decltype(std::declval<const Path&>().u8string())>> = true;
template <typename Path>
using characters = decltype(std::declval<const Path&>().c_str());
template <typename Path>
using if_path = std::enable_if_t<std::is_same_v<characters<Path>, const char*> || has_utf8<Path>, int>;

template <typename T>
T* pointer(const std::optional<view<T>>& some) noexcept {
  return some ? some->data() : nullptr;
}

// The first argument whose size or shape is wrong, and what it should be; no name if all are right.
struct misfit {
  const char* name = nullptr;
  std::size_t size = 0, rows = 0, cols = 0;               // what it is; rows 0 if only the size is known
  std::size_t count = 0, right_rows = 0, right_cols = 0;  // what it must be
  const char* hint = "";
};

template <typename T>
misfit wrong(const char* name, const view<T>& block, std::size_t count, std::size_t rows, std::size_t cols,
             const char* hint = "") noexcept {
  return {name, block.size(), block.rows(), block.cols(), count, rows, cols, hint};
}

// The outputs of count matrices. An empty output that was asked for is no wish to have none.
template <typename T>
misfit find_misfit(const outputs<T>& out, std::size_t count, std::size_t n, std::size_t k) noexcept {
  if (out.u && !out.u->fits(count, n, k)) return wrong("u", *out.u, count, n, k);
  if (out.l && !out.l->fits(count, n, n)) return wrong("l", *out.l, count, n, n);
  if (out.s && !out.s->fits(count, n, n)) return wrong("s", *out.s, count, n, n);
  if (out.reports && !out.reports->fits(count, 1, 1)) return wrong("reports", *out.reports, count, 1, 1);
  return {};
}

inline constexpr const char* say_batch = "; denise::batch(m, count) says that there are several";

template <typename T>
misfit find_misfit(const view<const T>& m, const outputs<T>& out, std::size_t n, std::size_t k) noexcept {
  if (!m.fits(m.count(), n, n)) return wrong("m", m, m.count(), n, n, say_batch);
  return find_misfit(out, m.count(), n, k);
}

// Whether it can be count times n values. A shape, if it is known, may be count x n, or 1 x n or n x 1 for each.
template <typename T>
bool fits_vectors(const view<T>& block, std::size_t count, std::size_t n) noexcept {
  if (block.size() % n != 0 || block.size() / n != count) return false;  // no count makes this overflow
  return count == 0 || block.fits(count, 1, n) || block.fits(count, n, 1) || block.fits(1, count, n);
}

// Whether nobody has said that it is another number of matrices.
template <typename T>
bool may_be(const view<T>& block, std::size_t count) noexcept {
  return block.count() == 1 || block.count() == count;
}

// What covariances of count matrices go to, and the factors that they are made of or that come with them.
template <typename T, typename U>
misfit find_misfit(const view<U>& u, const covariance_outputs<T>& out, std::size_t count, std::size_t n,
                   std::size_t k) noexcept {
  if (!u.fits(count, n, k) || !may_be(u, count)) return wrong("u", u, count, n, k);
  if (out.d && !fits_vectors(*out.d, count, n)) return wrong("d", *out.d, count, 1, n);
  if (out.sigma && !out.sigma->fits(count, n, n)) return wrong("sigma", *out.sigma, count, n, n);
  if (out.inverse && !out.inverse->fits(count, n, n)) return wrong("inverse", *out.inverse, count, n, n);
  if (out.log_det && !out.log_det->fits(count, 1, 1)) return wrong("log_det", *out.log_det, count, 1, 1);
  return {};
}

template <typename T, typename U>
misfit find_misfit(const view<const T>& m, const view<U>& u, const covariance_outputs<T>& out,
                   const std::optional<view<report>>& reports, std::size_t n, std::size_t k) noexcept {
  if (!m.fits(m.count(), n, n)) return wrong("m", m, m.count(), n, n, say_batch);
  const misfit found = find_misfit(u, out, m.count(), n, k);
  if (found.name == nullptr && reports && !reports->fits(m.count(), 1, 1)) {
    return wrong("reports", *reports, m.count(), 1, 1);
  }
  return found;
}

// Whether a pointer is null that must not be. For denise.h a null output is one that nobody wants; here that is said
// by not setting it, and one that is set and null is a mistake.
template <typename T>
bool is_null(const view<T>& block) noexcept {
  return block.data() == nullptr;
}
template <typename T>
bool is_null(const std::optional<view<T>>& some) noexcept {
  return some && is_null(*some);
}
template <typename T>
bool has_null(const outputs<T>& out) noexcept {
  return is_null(out.u) || is_null(out.l) || is_null(out.s) || is_null(out.reports);
}
template <typename T>
bool has_null(const covariance_outputs<T>& out) noexcept {
  return is_null(out.d) || is_null(out.sigma) || is_null(out.inverse) || is_null(out.log_det);
}

#if DENISE_HPP_EXCEPTIONS
[[noreturn]] inline void throw_misfit(const misfit& at) {
  char shape[64] = "", text[256];
  if (at.rows != 0) std::snprintf(shape, sizeof shape, " as %zu x %zu", at.rows, at.cols);
  std::snprintf(text, sizeof text, "%s has the wrong size: %zu values%s where there must be %zu times %zu x %zu%s",
                at.name, at.size, shape, at.count, at.right_rows, at.right_cols, at.hint);
  throw error(status::shape, text);
}

// Throws unless all is well. Sizes are looked at again, by find, only to say what was wrong with them.
template <typename Find>
void check(status code, const char* null, Find find) {
  if (code == status::ok) return;
  if (code == status::null_pointer) throw error(code, null);
  if (code == status::shape) {
    const misfit found = find();
    if (found.name != nullptr) throw_misfit(found);
  }
  throw error(code, reason(code));
}

// The same for a split.
template <typename T>
void check(status code, const view<const T>& m, const outputs<T>& out, std::size_t n, std::size_t k) {
  if (code == status::ok) return;
  if (n == 0) throw error(code, "the model is empty, or n is 0");
  check(code, "m, or an output that is set, is a null pointer", [&] { return find_misfit(m, out, n, k); });
}
#endif

}  // namespace detail

// --------------------------------------------------------------------------------------------- models

// For options::flags.
inline constexpr std::uint32_t flag_portable = DENISE_FLAG_PORTABLE;  // only what every such machine has
inline constexpr std::uint32_t flag_avx2 = DENISE_FLAG_AVX2;  // AVX2 and FMA, or fail with status::unsupported
inline constexpr std::uint32_t flag_avx512 = DENISE_FLAG_AVX512;  // AVX-512, likewise; by default where it is there
inline constexpr std::uint32_t flag_f16 = DENISE_FLAG_F16;  // 16-bit weights of a dense network; with either
inline constexpr std::uint32_t flag_int8 = DENISE_FLAG_INT8;  // 8-bit weights of one; with either, not with f16

// Splits the correlation matrix and scales back: the units of the assets do not matter. With any of the others.
inline constexpr std::uint32_t flag_correlation = DENISE_FLAG_CORRELATION;

// Several starts, of which the best result is kept: about three times the time, smaller errors where outliers are large
// or many. A choice between candidates, so L is not continuous in M. With any of the others.
inline constexpr std::uint32_t flag_careful = DENISE_FLAG_CAREFUL;

// NaN in the lower triangle of M means that an entry is not known; options::missing says the same. With any of the
// others.
inline constexpr std::uint32_t flag_missing = DENISE_FLAG_MISSING;

// What a model is loaded for, in the order of denise_options. 0 means the default everywhere.
struct options {
  std::uint32_t n = 0;                // size of the matrices, at most 512; default: the model's own, or 20
  std::uint32_t k = 0;                // largest rank of L, less than n, at most 32; the model's own, or 3
  std::uint32_t max_concurrency = 0;  // calls that may run at once without waiting; the number of CPUs
  std::uint32_t threads = 0;          // threads that one call may use for a large batch or a large matrix; 1
  std::uint32_t flags = 0;            // flags above, or 0
  bool missing = false;               // NaN in M is an entry that is not known: L is complete, S is NaN there
};

struct load_result;

// A loaded network. It can be moved, not copied; moved from, it is empty, and an empty model answers
// every call with status::null_pointer. Its const member functions may run on many threads at once.
class model {
 public:
  // An empty model, to be assigned later.
  explicit model(std::nullptr_t) noexcept {}

  // Loads the built-in network, a file, or a file's bytes that are in memory already (they may be released
  // afterwards). On failure the model is empty and the message says why.
  static load_result try_load(const options& wanted = {}) noexcept;
  static load_result try_load(const char* path, const options& wanted = {}) noexcept;
  template <typename Path, detail::if_path<Path> = 0>
  static load_result try_load(const Path& path, const options& wanted = {}) noexcept;
  static load_result try_load_memory(const void* data, std::size_t size, const options& wanted = {}) noexcept;

  // Splits one matrix, or those of a denise::batch(m, count): denise_decompose_batch. status::shape if the size of
  // something is wrong; nothing is written then.
  status try_decompose(view<const float> m, const outputs<float>& out) const noexcept {
    return split(denise_decompose_batch, m, out);
  }
  status try_decompose(view<const double> m, const outputs<double>& out) const noexcept {
    return split(denise_decompose_batch_f64, m, out);
  }
  status try_decompose(view<const float> m, view<float> l, view<float> s) const noexcept {
    return try_decompose(m, outputs<float>{{}, l, s, {}});
  }
  status try_decompose(view<const double> m, view<double> l, view<double> s) const noexcept {
    return try_decompose(m, outputs<double>{{}, l, s, {}});
  }

  // Splits likewise, and makes of each matrix a covariance that can be inverted: Sigma = U U' + diag(d), by
  // denise_covariance_batch. u is needed; d is the rest that solve and multiply need. floor is the least share of its
  // variance that an asset has on its own, from 1e-6 to 1; 0: 0.05. status::singular if some matrix has no positive
  // variance: its outputs are NaN, and all others are done. No buffers may overlap.
  status try_covariance(view<const float> m, view<float> u, const covariance_outputs<float>& out, double floor = 0,
                        std::optional<view<report>> reports = std::nullopt) const noexcept {
    return make_sigma(denise_covariance_batch, m, u, out, floor, reports);
  }
  status try_covariance(view<const double> m, view<double> u, const covariance_outputs<double>& out, double floor = 0,
                        std::optional<view<report>> reports = std::nullopt) const noexcept {
    return make_sigma(denise_covariance_batch_f64, m, u, out, floor, reports);
  }
  status try_covariance(view<const float> m, view<float> u, view<float> d, double floor = 0) const noexcept {
    return try_covariance(m, u, covariance_outputs<float>{d, {}, {}, {}}, floor);
  }
  status try_covariance(view<const double> m, view<double> u, view<double> d, double floor = 0) const noexcept {
    return try_covariance(m, u, covariance_outputs<double>{d, {}, {}, {}}, floor);
  }

#if DENISE_HPP_EXCEPTIONS
  // As try_load, for those who catch denise::error.
  explicit model(const options& wanted = {});
  explicit model(const char* path, const options& wanted = {});
  template <typename Path, detail::if_path<Path> = 0>
  explicit model(const Path& path, const options& wanted = {});
  static model from_memory(const void* data, std::size_t size, const options& wanted = {});

  // As try_decompose. A matrix with infinity, or with NaN unless options::missing was set, throws too, after all others
  // are done: where that is nothing unusual, call try_decompose and look at the reports.
  void decompose(view<const float> m, const outputs<float>& out) const {
    detail::check(try_decompose(m, out), m, out, n(), k());
  }
  void decompose(view<const double> m, const outputs<double>& out) const {
    detail::check(try_decompose(m, out), m, out, n(), k());
  }
  void decompose(view<const float> m, view<float> l, view<float> s) const {
    decompose(m, outputs<float>{{}, l, s, {}});
  }
  void decompose(view<const double> m, view<double> l, view<double> s) const {
    decompose(m, outputs<double>{{}, l, s, {}});
  }

  // As try_covariance. A matrix that is not finite, or has no positive variance, throws too, after all others are done.
  void covariance(view<const float> m, view<float> u, const covariance_outputs<float>& out, double floor = 0,
                  std::optional<view<report>> reports = std::nullopt) const {
    check(try_covariance(m, u, out, floor, reports), m, u, out, reports);
  }
  void covariance(view<const double> m, view<double> u, const covariance_outputs<double>& out, double floor = 0,
                  std::optional<view<report>> reports = std::nullopt) const {
    check(try_covariance(m, u, out, floor, reports), m, u, out, reports);
  }
  void covariance(view<const float> m, view<float> u, view<float> d, double floor = 0) const {
    covariance(m, u, covariance_outputs<float>{d, {}, {}, {}}, floor);
  }
  void covariance(view<const double> m, view<double> u, view<double> d, double floor = 0) const {
    covariance(m, u, covariance_outputs<double>{d, {}, {}, {}}, floor);
  }
#endif

  std::uint32_t n() const noexcept { return denise_n(get()); }
  std::uint32_t k() const noexcept { return denise_k(get()); }
  // The network and the instruction set it runs on, such as "unrolled avx2".
  const char* kernel() const noexcept { return denise_kernel(get()); }
  // The handle for calls of denise.h. It stays the property of this object.
  const denise_model* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  struct deleter {
    void operator()(denise_model* handle) const noexcept { denise_free(handle); }
  };

  template <typename Load>
  static load_result load(const options& wanted, Load call) noexcept;

  template <typename T, typename Decompose>
  status split(Decompose call, const view<const T>& m, const outputs<T>& out) const noexcept {
    if (!handle_) return status::null_pointer;
    if (detail::find_misfit(m, out, n(), k()).name != nullptr) return status::shape;
    if (m.count() == 0) return status::ok;
    if (detail::is_null(m) || detail::has_null(out)) return status::null_pointer;
    return static_cast<status>(call(get(), m.count(), m.data(), detail::pointer(out.u), detail::pointer(out.l),
                                    detail::pointer(out.s), detail::pointer(out.reports)));
  }

  template <typename T, typename Covariance>
  status make_sigma(Covariance call, const view<const T>& m, const view<T>& u, const covariance_outputs<T>& out,
                    double floor, const std::optional<view<report>>& reports) const noexcept {
    if (!handle_) return status::null_pointer;
    if (detail::find_misfit(m, u, out, reports, n(), k()).name != nullptr) return status::shape;
    if (m.count() == 0) return status::ok;
    if (detail::is_null(m) || detail::is_null(u) || detail::has_null(out) || detail::is_null(reports)) {
      return status::null_pointer;
    }
    return static_cast<status>(call(get(), m.count(), m.data(), floor, u.data(), detail::pointer(out.d),
                                    detail::pointer(out.sigma), detail::pointer(out.inverse),
                                    detail::pointer(out.log_det), detail::pointer(reports)));
  }

#if DENISE_HPP_EXCEPTIONS
  template <typename T>
  void check(status code, const view<const T>& m, const view<T>& u, const covariance_outputs<T>& out,
             const std::optional<view<report>>& reports) const {
    const char* null = handle_ ? "m, u, or an output that is set, is a null pointer" : "the model is empty";
    detail::check(code, null, [&] { return detail::find_misfit(m, u, out, reports, n(), k()); });
  }

  explicit model(load_result&& loaded);
#endif

  std::unique_ptr<denise_model, deleter> handle_;
};

// A model, or the reason why there is none.
struct load_result {
  denise::model model{nullptr};
  status code = status::ok;
  char message[256] = "";  // one line for people; empty on success

  explicit operator bool() const noexcept { return code == status::ok; }
};

template <typename Load>
load_result model::load(const options& wanted, Load call) noexcept {
  load_result result;
  denise_options c;
  denise_options_init(&c, sizeof c);
  c.n = wanted.n;
  c.k = wanted.k;
  c.max_concurrency = wanted.max_concurrency;
  c.threads = wanted.threads;
  c.flags = wanted.flags | (wanted.missing ? flag_missing : 0);
  c.message = result.message;
  c.message_size = sizeof result.message;
  denise_model* handle = nullptr;
  result.code = static_cast<status>(call(&c, &handle));
  result.model.handle_.reset(handle);
  return result;
}

inline load_result model::try_load(const options& wanted) noexcept {
  return load(wanted, [](const denise_options* c, denise_model** handle) { return denise_load(nullptr, c, handle); });
}

inline load_result model::try_load(const char* path, const options& wanted) noexcept {
  if (path == nullptr) {
    // denise_load would take it for the built-in network, which a missing file name hardly means.
    constexpr char reason[] = "the path is a null pointer";
    load_result result;
    result.code = status::null_pointer;
    std::memcpy(result.message, reason, sizeof reason);
    return result;
  }
  return load(wanted, [path](const denise_options* c, denise_model** handle) { return denise_load(path, c, handle); });
}

template <typename Path, detail::if_path<Path>>
load_result model::try_load(const Path& path, const options& wanted) noexcept {
  if constexpr (std::is_same_v<detail::characters<Path>, const char*>) {
    return try_load(path.c_str(), wanted);
  } else {
#if DENISE_HPP_EXCEPTIONS
    try {
#endif
      const auto utf8 = path.u8string();
      return try_load(reinterpret_cast<const char*>(utf8.c_str()), wanted);
#if DENISE_HPP_EXCEPTIONS
    } catch (const std::bad_alloc&) {
      return load(wanted, [](const denise_options*, denise_model**) { return denise_status{DENISE_ERR_MEMORY}; });
    } catch (...) {  // half a character
      return load(wanted, [](const denise_options*, denise_model**) { return denise_status{DENISE_ERR_ARGUMENT}; });
    }
#endif
  }
}

inline load_result model::try_load_memory(const void* data, std::size_t size, const options& wanted) noexcept {
  return load(wanted, [data, size](const denise_options* c, denise_model** handle) {
    return denise_load_memory(data, size, c, handle);
  });
}

#if DENISE_HPP_EXCEPTIONS
inline model::model(load_result&& loaded) : handle_(std::move(loaded.model.handle_)) {
  if (loaded.code != status::ok) {
    throw error(loaded.code, loaded.message[0] != '\0' ? loaded.message : detail::reason(loaded.code));
  }
}
inline model::model(const options& wanted) : model(try_load(wanted)) {}
inline model::model(const char* path, const options& wanted) : model(try_load(path, wanted)) {}
template <typename Path, detail::if_path<Path>>
model::model(const Path& path, const options& wanted) : model(try_load(path, wanted)) {}
inline model model::from_memory(const void* data, std::size_t size, const options& wanted) {
  return model(try_load_memory(data, size, wanted));
}
#endif

// -------------------------------------------------------------------------------------------- streams

// For stream_options::flags, beside flag_correlation: subtracts the means of the returns. Otherwise they count as zero.
inline constexpr std::uint32_t stream_demean = DENISE_STREAM_DEMEAN;

// What streams are made for, in the order of denise_stream_options.
struct stream_options {
  std::uint32_t streams = 1;  // independent streams that advance together, at most 1048576
  std::uint32_t window = 0;   // ticks of a moving window, 2 to 1048576; 0: exponential weights, by half_life
  double half_life = 0;       // ticks until a return counts half, 0.1 to 1e9; 0: 60, and it must be 0 with a window
  std::uint32_t flags = 0;    // flag_correlation, stream_demean, or 0
  std::uint32_t warm_up = 0;  // ticks before the first split, at most the window; 0: 2 k, or the window if shorter
};

struct stream_result;

// One stream of returns, or many that advance together; each has its covariance, and a split that follows it from tick
// to tick. It can be moved, not copied; moved from, it is empty, and an empty stream answers every call with
// status::null_pointer. It keeps what it needs of its model, which may go before it.
//
//   denise::stream stream(model, denise::stream_options{1000});  // 1000 streams of n assets each
//   denise::outputs<float> out;
//   out.u = u;  out.reports = reports;                           // n*k values and one report for each
//   stream.push(returns, out);                                   // n values for each, one stream after another
//
// - One thread at a time may use it: a call that meets another one, const or not, gets status::argument.
// - Only what makes a stream, or returns a vector, allocates.
// - Streams are counted from 0. What has the results of all of them has as many matrices as there are streams; nobody
//   need say so with denise::batch. Returns may also be a C array or an mdspan of streams x n.
class stream {
 public:
  // An empty stream, to be assigned later.
  explicit stream(std::nullptr_t) noexcept {}

  // Makes streams: denise_stream_new. On failure there is none, and last_error() says why.
  static stream_result try_make(const model& from, const stream_options& wanted = {}) noexcept;

  // A tick: takes the returns in, estimates the covariances again, and splits them: denise_stream_push. NaN is a return
  // that is not known. Before the first split of a stream its outputs are NaN and its report has DENISE_ERR_NOT_READY,
  // which is no error. status::shape if the size of something is wrong; nothing changes then. No buffers may overlap.
  status try_push(view<const float> returns, const outputs<float>& out) noexcept {
    return push_rows(denise_stream_push, returns, 1, out);
  }
  status try_push(view<const double> returns, const outputs<double>& out) noexcept {
    return push_rows(denise_stream_push_f64, returns, 1, out);
  }
  status try_push(view<const float> returns, view<float> l, view<float> s) noexcept {
    return try_push(returns, outputs<float>{{}, l, s, {}});
  }
  status try_push(view<const double> returns, view<double> l, view<double> s) noexcept {
    return try_push(returns, outputs<double>{{}, l, s, {}});
  }

  // A tick of covariances that the caller has, one for every stream: denise_stream_push_matrices. There is no warm-up,
  // and the estimate from returns stays as it is.
  status try_push_matrices(view<const float> m, const outputs<float>& out) noexcept {
    return push_rows(denise_stream_push_matrices, m, n_, out);
  }
  status try_push_matrices(view<const double> m, const outputs<double>& out) noexcept {
    return push_rows(denise_stream_push_matrices_f64, m, n_, out);
  }
  status try_push_matrices(view<const float> m, view<float> l, view<float> s) noexcept {
    return try_push_matrices(m, outputs<float>{{}, l, s, {}});
  }
  status try_push_matrices(view<const double> m, view<double> l, view<double> s) noexcept {
    return try_push_matrices(m, outputs<double>{{}, l, s, {}});
  }

  // The covariances that have been estimated from returns, NaN where too little is known.
  status try_covariance(view<double> m) const noexcept {
    if (!handle_) return status::null_pointer;
    if (!m.fits(streams_, n_, n_)) return status::shape;
    return static_cast<status>(denise_stream_covariance_f64(get(), m.data()));
  }

  // For every stream a covariance that can be inverted, Sigma = U U' + diag(d): denise_stream_sigma. u is what push
  // wrote at this tick; out and floor are as in model::try_covariance. A stream that was not split at this tick has NaN
  // in u and gets NaN, and the call returns status::not_finite. After push_matrices call covariance_from_u with its m.
  status try_sigma(view<const float> u, const covariance_outputs<float>& out, double floor = 0) const noexcept {
    return make_sigma(denise_stream_sigma, u, out, floor);
  }
  status try_sigma(view<const double> u, const covariance_outputs<double>& out, double floor = 0) const noexcept {
    return make_sigma(denise_stream_sigma_f64, u, out, floor);
  }
  status try_sigma(view<const float> u, view<float> d, double floor = 0) const noexcept {
    return try_sigma(u, covariance_outputs<float>{d, {}, {}, {}}, floor);
  }
  status try_sigma(view<const double> u, view<double> d, double floor = 0) const noexcept {
    return try_sigma(u, covariance_outputs<double>{d, {}, {}, {}}, floor);
  }

  // Bytes of a state: of all streams, and of one.
  std::size_t state_size() const noexcept { return handle_ ? state_size_ : 0; }
  std::size_t state_size_one() const noexcept { return handle_ ? state_size_one_ : 0; }

  // Writes everything that the streams know, or one of them, to the first bytes of a block. Any machine can read them.
  status try_save(view<std::byte> state) const noexcept {
    return static_cast<status>(denise_stream_save(get(), state.data(), state.size()));
  }
  status try_save(std::size_t which, view<std::byte> state) const noexcept {
    return static_cast<status>(denise_stream_save_one(get(), which, state.data(), state.size()));
  }

  // Goes on from there with the same bits, here or in other streams whose model and options were the same. An error
  // changes nothing: status::format if the bytes are damaged, status::shape or status::argument if they are of other
  // streams. The state of one stream is that of a stream of its own.
  status try_restore(view<const std::byte> state) noexcept {
    return static_cast<status>(denise_stream_restore(get(), bytes(state), state.size()));
  }
  status try_restore(std::size_t which, view<const std::byte> state) noexcept {
    return static_cast<status>(denise_stream_restore_one(get(), which, bytes(state), state.size()));
  }

  // Forgets everything, of all streams or of one.
  status try_reset() noexcept { return static_cast<status>(denise_stream_reset(get())); }
  status try_reset(std::size_t which) noexcept { return static_cast<status>(denise_stream_reset_one(get(), which)); }

#if DENISE_HPP_EXCEPTIONS
  // As the functions above, for those who catch denise::error. push throws for infinity too, after all other streams
  // are done: where that is nothing unusual, call try_push and look at the reports.
  explicit stream(const model& from, const stream_options& wanted = {});

  void push(view<const float> returns, const outputs<float>& out) {
    check(try_push(returns, out), "returns", returns, 1, out);
  }
  void push(view<const double> returns, const outputs<double>& out) {
    check(try_push(returns, out), "returns", returns, 1, out);
  }
  void push(view<const float> returns, view<float> l, view<float> s) { push(returns, outputs<float>{{}, l, s, {}}); }
  void push(view<const double> returns, view<double> l, view<double> s) {
    push(returns, outputs<double>{{}, l, s, {}});
  }

  void push_matrices(view<const float> m, const outputs<float>& out) {
    check(try_push_matrices(m, out), "m", m, n(), out);
  }
  void push_matrices(view<const double> m, const outputs<double>& out) {
    check(try_push_matrices(m, out), "m", m, n(), out);
  }
  void push_matrices(view<const float> m, view<float> l, view<float> s) {
    push_matrices(m, outputs<float>{{}, l, s, {}});
  }
  void push_matrices(view<const double> m, view<double> l, view<double> s) {
    push_matrices(m, outputs<double>{{}, l, s, {}});
  }

  void covariance(view<double> m) const {
    const status code = try_covariance(m);
    if (code == status::shape && !m.fits(streams_, n_, n_)) {
      detail::throw_misfit({"m", m.size(), m.rows(), m.cols(), streams_, n_, n_, ""});
    }
    check(code);
  }
  std::vector<double> covariance() const {
    std::vector<double> m(std::size_t{streams()} * n() * n());
    check(try_covariance(m));
    return m;
  }

  // Throws for streams that were not split at this tick too, after all others are done.
  void sigma(view<const float> u, const covariance_outputs<float>& out, double floor = 0) const {
    check(try_sigma(u, out, floor), u, out);
  }
  void sigma(view<const double> u, const covariance_outputs<double>& out, double floor = 0) const {
    check(try_sigma(u, out, floor), u, out);
  }
  void sigma(view<const float> u, view<float> d, double floor = 0) const {
    sigma(u, covariance_outputs<float>{d, {}, {}, {}}, floor);
  }
  void sigma(view<const double> u, view<double> d, double floor = 0) const {
    sigma(u, covariance_outputs<double>{d, {}, {}, {}}, floor);
  }

  std::vector<std::byte> save() const {
    std::vector<std::byte> state(state_size());
    check(try_save(state));
    return state;
  }
  std::vector<std::byte> save(std::size_t which) const {
    std::vector<std::byte> state(state_size_one());
    check(try_save(which, state));
    return state;
  }
  void restore(view<const std::byte> state) { check(try_restore(state)); }
  void restore(std::size_t which, view<const std::byte> state) { check(try_restore(which, state)); }
  void reset() { check(try_reset()); }
  void reset(std::size_t which) { check(try_reset(which)); }
#endif

  std::uint32_t n() const noexcept { return handle_ ? n_ : 0; }
  std::uint32_t k() const noexcept { return handle_ ? k_ : 0; }
  std::uint32_t streams() const noexcept { return handle_ ? streams_ : 0; }
  // The handle for calls of denise.h. It stays the property of this object.
  denise_stream* get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  struct deleter {
    void operator()(denise_stream* handle) const noexcept { denise_stream_free(handle); }
  };

  // Whether it has rows x n values for every stream: rows is 1 for returns, n for covariances. Returns of a known shape
  // are one matrix of streams x n, or as many of 1 x n.
  template <typename T>
  bool fits(const view<T>& in, std::size_t rows) const noexcept {
    if (in.count() != 1 && in.count() != streams_) return false;
    return in.fits(streams_, rows, n_) || (rows == 1 && in.fits(1, streams_, n_));
  }

  template <typename T, typename Push>
  status push_rows(Push call, const view<const T>& in, std::size_t rows, const outputs<T>& out) noexcept {
    if (!handle_) return status::null_pointer;
    if (!fits(in, rows) || detail::find_misfit(out, streams_, n_, k_).name != nullptr) return status::shape;
    if (detail::is_null(in) || detail::has_null(out)) return status::null_pointer;
    return static_cast<status>(call(get(), in.data(), detail::pointer(out.u), detail::pointer(out.l),
                                    detail::pointer(out.s), detail::pointer(out.reports)));
  }

  template <typename T, typename Sigma>
  status make_sigma(Sigma call, const view<const T>& u, const covariance_outputs<T>& out, double floor) const noexcept {
    if (!handle_) return status::null_pointer;
    if (detail::find_misfit(u, out, streams_, n_, k_).name != nullptr) return status::shape;
    if (detail::is_null(u) || detail::has_null(out)) return status::null_pointer;
    return static_cast<status>(call(get(), u.data(), floor, detail::pointer(out.d), detail::pointer(out.sigma),
                                    detail::pointer(out.inverse), detail::pointer(out.log_det)));
  }

  // An empty container may have no address, which denise.h takes for another mistake than a state that is cut off.
  static const void* bytes(const view<const std::byte>& state) noexcept {
    static constexpr std::byte none{};
    return state.data() == nullptr && state.size() == 0 ? &none : state.data();
  }

#if DENISE_HPP_EXCEPTIONS
  void check(status code) const {
    if (code == status::ok) return;
    if (!handle_) throw error(code, "the stream is empty");
    throw error(code, detail::reason(code));
  }
  template <typename T>
  void check(status code, const char* name, const view<const T>& in, std::size_t rows, const outputs<T>& out) const {
    if (code == status::shape) {
      if (!fits(in, rows)) {
        detail::throw_misfit({name, in.size(), in.rows(), in.cols(), streams_, rows, n_, ""});
      }
      const detail::misfit found = detail::find_misfit(out, streams_, n_, k_);
      if (found.name != nullptr) detail::throw_misfit(found);
    }
    if (code == status::null_pointer && handle_) {
      throw error(code, "what is pushed, or an output that is set, is a null pointer");
    }
    check(code);
  }
  template <typename T>
  void check(status code, const view<const T>& u, const covariance_outputs<T>& out) const {
    const char* null = handle_ ? "u, or an output that is set, is a null pointer" : "the stream is empty";
    detail::check(code, null, [&] { return detail::find_misfit(u, out, streams_, n_, k_); });
  }

  explicit stream(stream_result&& made);
#endif

  std::unique_ptr<denise_stream, deleter> handle_;
  std::uint32_t n_ = 0;
  std::uint32_t k_ = 0;
  std::uint32_t streams_ = 0;
  std::size_t state_size_ = 0;
  std::size_t state_size_one_ = 0;
};

// Streams, or the reason why there are none; last_error() says more.
struct stream_result {
  denise::stream stream{nullptr};
  status code = status::ok;

  explicit operator bool() const noexcept { return code == status::ok; }
};

inline stream_result stream::try_make(const model& from, const stream_options& wanted) noexcept {
  stream_result result;
  denise_stream_options c;
  denise_stream_options_init(&c, sizeof c);
  c.streams = wanted.streams;
  c.window = wanted.window;
  c.half_life = wanted.half_life;
  c.flags = wanted.flags;
  c.warm_up = wanted.warm_up;
  denise_stream* handle = nullptr;
  result.code = static_cast<status>(denise_stream_new(from.get(), &c, &handle));
  stream& made = result.stream;
  made.handle_.reset(handle);
  made.n_ = from.n();
  made.k_ = from.k();
  made.streams_ = wanted.streams;
  made.state_size_ = denise_stream_state_size(handle);
  made.state_size_one_ = denise_stream_state_size_one(handle);
  return result;
}

#if DENISE_HPP_EXCEPTIONS
inline stream::stream(stream_result&& made) : stream(std::move(made.stream)) {
  if (made.code != status::ok) throw error(made.code, detail::reason(made.code));
}
inline stream::stream(const model& from, const stream_options& wanted) : stream(try_make(from, wanted)) {}
#endif

// ---------------------------------------------------------------------- covariances that can be inverted

namespace detail {

// Whether the library takes this size. It says so itself if it is asked for no product at all.
inline status try_size(std::uint32_t n, std::uint32_t k) noexcept {
  return static_cast<status>(denise_covariance_multiply_batch(n, k, 0, nullptr, nullptr, 0, nullptr, nullptr));
}

template <typename T, typename FromU>
status from_u(FromU call, std::uint32_t n, std::uint32_t k, const view<const T>& m, const view<const T>& u,
              const covariance_outputs<T>& out, double floor) noexcept {
  const status sized = try_size(n, k);
  if (sized != status::ok) return sized;
  if (find_misfit(m, u, out, std::nullopt, n, k).name != nullptr) return status::shape;
  if (m.count() == 0) return status::ok;
  if (is_null(m) || is_null(u) || has_null(out)) return status::null_pointer;
  return static_cast<status>(call(n, k, m.count(), m.data(), u.data(), floor, pointer(out.d), pointer(out.sigma),
                                  pointer(out.inverse), pointer(out.log_det)));
}

// A product with Sigma or its inverse. How many there are follows from d, how many columns they have from x.
template <typename T>
struct product {
  std::uint32_t n, k;
  view<const T> u, d, x;
  view<T> y;

  // At least one, unless denise::batch(d, 0) says that there is none.
  std::size_t count() const noexcept { return d.count() != 1 || d.size() < n ? d.count() : d.size() / n; }
  std::size_t columns() const noexcept { return count() == 0 ? 0 : x.size() / (n * count()); }

  // Whether a block is n rows of so many columns for each. No columns are hardly meant.
  template <typename Block>
  bool fits(const Block& block) const noexcept {
    if (count() == 0) return block.size() == 0;
    if (columns() == 0 || !may_be(block, count())) return false;
    return block.fits(count(), n, columns()) || (columns() == 1 && fits_vectors(block, count(), n));
  }

  misfit find() const noexcept {
    if (!fits_vectors(d, count(), n)) return wrong("d", d, count(), 1, n);
    if (!u.fits(count(), n, k) || !may_be(u, count())) return wrong("u", u, count(), n, k);
    const std::size_t columns_or_one = columns() == 0 ? 1 : columns();
    if (!fits(x)) return wrong("x", x, count(), n, columns_or_one, "; any number of columns will do");
    if (!fits(y)) return wrong("y", y, count(), n, columns_or_one);
    return {};
  }

  template <typename Call>
  status run(Call call) const noexcept {
    const status sized = try_size(n, k);
    if (sized != status::ok) return sized;
    if (find().name != nullptr) return status::shape;
    if (count() == 0) return status::ok;
    if (is_null(u) || is_null(d) || is_null(x) || is_null(y)) return status::null_pointer;
    return static_cast<status>(call(n, k, count(), u.data(), d.data(), columns(), x.data(), y.data()));
  }

#if DENISE_HPP_EXCEPTIONS
  template <typename Call>
  void run_or_throw(Call call) const {
    check(run(call), "u, d, x or y is a null pointer", [this] { return find(); });
  }
#endif
};

}  // namespace detail

// Sigma = U U' + diag(d) from a u that is there already, from decompose or by any other method:
// denise_covariance_from_u_batch. m is one n x n matrix, or a denise::batch(m, count), of which only the diagonal is
// read; NaN there is a variance that is not known. Otherwise as model::try_covariance, but any model may be gone.
inline status try_covariance_from_u(std::uint32_t n, std::uint32_t k, view<const float> m, view<const float> u,
                                    const covariance_outputs<float>& out, double floor = 0) noexcept {
  return detail::from_u(denise_covariance_from_u_batch, n, k, m, u, out, floor);
}
inline status try_covariance_from_u(std::uint32_t n, std::uint32_t k, view<const double> m, view<const double> u,
                                    const covariance_outputs<double>& out, double floor = 0) noexcept {
  return detail::from_u(denise_covariance_from_u_batch_f64, n, k, m, u, out, floor);
}

// y = Sigma x, without Sigma: denise_covariance_multiply_batch. u and d are as model::covariance wrote them. There are
// as many matrices as d has n values, and x and y have n rows of any number of columns for each. y may be x. A matrix
// whose u, d or x is not finite gets NaN and status::not_finite; all others are done.
inline status try_multiply(std::uint32_t n, std::uint32_t k, view<const float> u, view<const float> d,
                           view<const float> x, view<float> y) noexcept {
  return detail::product<float>{n, k, u, d, x, y}.run(denise_covariance_multiply_batch);
}
inline status try_multiply(std::uint32_t n, std::uint32_t k, view<const double> u, view<const double> d,
                           view<const double> x, view<double> y) noexcept {
  return detail::product<double>{n, k, u, d, x, y}.run(denise_covariance_multiply_batch_f64);
}

// y = Sigma^-1 x, likewise: denise_covariance_solve_batch. With x = 1 it gives the weights of the portfolio of least
// variance, but for their sum. status::singular if some d is not positive: its matrix gets NaN.
inline status try_solve(std::uint32_t n, std::uint32_t k, view<const float> u, view<const float> d,
                        view<const float> x, view<float> y) noexcept {
  return detail::product<float>{n, k, u, d, x, y}.run(denise_covariance_solve_batch);
}
inline status try_solve(std::uint32_t n, std::uint32_t k, view<const double> u, view<const double> d,
                        view<const double> x, view<double> y) noexcept {
  return detail::product<double>{n, k, u, d, x, y}.run(denise_covariance_solve_batch_f64);
}

#if DENISE_HPP_EXCEPTIONS
inline void covariance_from_u(std::uint32_t n, std::uint32_t k, view<const float> m, view<const float> u,
                              const covariance_outputs<float>& out, double floor = 0) {
  detail::check(try_covariance_from_u(n, k, m, u, out, floor), "m, u, or an output that is set, is a null pointer",
                [&] { return detail::find_misfit(m, u, out, std::nullopt, n, k); });
}
inline void covariance_from_u(std::uint32_t n, std::uint32_t k, view<const double> m, view<const double> u,
                              const covariance_outputs<double>& out, double floor = 0) {
  detail::check(try_covariance_from_u(n, k, m, u, out, floor), "m, u, or an output that is set, is a null pointer",
                [&] { return detail::find_misfit(m, u, out, std::nullopt, n, k); });
}

inline void multiply(std::uint32_t n, std::uint32_t k, view<const float> u, view<const float> d, view<const float> x,
                     view<float> y) {
  detail::product<float>{n, k, u, d, x, y}.run_or_throw(denise_covariance_multiply_batch);
}
inline void multiply(std::uint32_t n, std::uint32_t k, view<const double> u, view<const double> d,
                     view<const double> x, view<double> y) {
  detail::product<double>{n, k, u, d, x, y}.run_or_throw(denise_covariance_multiply_batch_f64);
}

inline void solve(std::uint32_t n, std::uint32_t k, view<const float> u, view<const float> d, view<const float> x,
                  view<float> y) {
  detail::product<float>{n, k, u, d, x, y}.run_or_throw(denise_covariance_solve_batch);
}
inline void solve(std::uint32_t n, std::uint32_t k, view<const double> u, view<const double> d, view<const double> x,
                  view<double> y) {
  detail::product<double>{n, k, u, d, x, y}.run_or_throw(denise_covariance_solve_batch_f64);
}
#endif

// ------------------------------------------------------------------------------------- how many factors

namespace detail {
inline misfit find_misfit(std::uint32_t n, const view<const double>& m, const view<std::uint32_t>& k) noexcept {
  if (!m.fits(m.count(), n, n)) return wrong("m", m, m.count(), n, n, say_batch);
  if (!k.fits(m.count(), 1, 1)) return wrong("k", k, m.count(), 1, 1);
  return {};
}
}  // namespace detail

// Suggests how many factors an n x n matrix has, or each of a denise::batch(m, count): denise_suggest_rank_batch. Slow,
// and it allocates. k gets one number per matrix, from 0, which means that no common factor was found, to most, which
// is at most 32; 0: 10. observations is how many each matrix was estimated from, 0 if that is not known. NaN in m is an
// entry that is not known; a matrix with infinity gets 0 and status::not_finite, and all others are done.
inline status try_suggest_rank(std::uint32_t n, view<const double> m, view<std::uint32_t> k, double observations = 0,
                               std::uint32_t most = 0) noexcept {
  // The library says itself whether it takes this size, if it is asked about no matrix at all.
  const auto sized = static_cast<status>(denise_suggest_rank_batch(n, most, observations, 0, nullptr, nullptr));
  if (sized != status::ok) return sized;
  if (detail::find_misfit(n, m, k).name != nullptr) return status::shape;
  if (m.count() == 0) return status::ok;
  if (detail::is_null(m) || detail::is_null(k)) return status::null_pointer;
  return static_cast<status>(denise_suggest_rank_batch(n, most, observations, m.count(), m.data(), k.data()));
}

#if DENISE_HPP_EXCEPTIONS
inline void suggest_rank(std::uint32_t n, view<const double> m, view<std::uint32_t> k, double observations = 0,
                         std::uint32_t most = 0) {
  detail::check(try_suggest_rank(n, m, k, observations, most), "m or k is a null pointer",
                [&] { return detail::find_misfit(n, m, k); });
}

// For one matrix.
inline std::uint32_t suggest_rank(std::uint32_t n, view<const double> m, double observations = 0,
                                  std::uint32_t most = 0) {
  std::uint32_t k = 0;
  suggest_rank(n, m, view(&k, 1), observations, most);
  return k;
}
#endif

// ---------------------------------------------------------------------------------- classical methods

// What the network can be checked against.
enum class method : std::int32_t {
  eigen = DENISE_METHOD_EIGEN,           // rank-k eigen-truncation
  pcp = DENISE_METHOD_PCP,               // principal component pursuit
  ialm = DENISE_METHOD_IALM,             // inexact augmented Lagrange multipliers
  fpcp = DENISE_METHOD_FPCP,             // fast principal component pursuit
  rpca_gd = DENISE_METHOD_RPCA_GD,       // robust PCA by gradient descent
  masked_pcp = DENISE_METHOD_MASKED_PCP  // pcp where NaN is an entry that is not known
};

// Splits one n x n matrix, or those of a denise::batch(m, count), with a classical method: denise_solve_batch. Slow,
// and it allocates. Either of l and s may be std::nullopt; lambda 0 is the paper's value.
inline status try_solve(method by, std::uint32_t n, std::uint32_t k, view<const double> m,
                        std::optional<view<double>> l, std::optional<view<double>> s, double lambda = 0) noexcept {
  const outputs<double> out{{}, l, s, {}};
  if (n == 0) return status::argument;
  if (detail::find_misfit(m, out, n, k).name != nullptr) return status::shape;
  if (m.count() == 0) return status::ok;
  if (detail::is_null(m) || detail::has_null(out)) return status::null_pointer;
  return static_cast<status>(denise_solve_batch(static_cast<std::int32_t>(by), n, k, lambda, m.count(), m.data(),
                                                detail::pointer(l), detail::pointer(s)));
}

#if DENISE_HPP_EXCEPTIONS
inline void solve(method by, std::uint32_t n, std::uint32_t k, view<const double> m, std::optional<view<double>> l,
                  std::optional<view<double>> s, double lambda = 0) {
  detail::check(try_solve(by, n, k, m, l, s, lambda), m, outputs<double>{{}, l, s, {}}, n, k);
}
#endif

}  // namespace denise

#endif  // DENISE_HPP
