// libdenise for C++17: splits a covariance matrix M into L + S, where L = U U' has rank at most k and is
// positive semidefinite, and S is sparse. One header over denise.h, which says more about every promise.
//
//   #include <denise.hpp>
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
//   }
//
// There are two layers. Functions named try_... are noexcept and return a denise::status; they are all
// that is left under -fno-exceptions. The others call them and throw denise::error on any status but ok.
//
// - A model is loaded once and used often. Loading allocates; decomposing never does, in either layer,
//   unless it throws. Any number of threads may use one model at once.
// - Matrices are in float or double, in one contiguous block: std::vector, std::array, std::span, C arrays, or
//   anything else with data() and size(). For a pointer, say how much there is: denise::view(pointer, size).
// - A block is one matrix, unless denise::batch(block, count) says that it is more. What has a shape of its own
//   says it itself: C arrays and std::mdspan of n x n or of count x n x n. Every size and shape is checked.
// - Matrices are row-major and only the lower triangle of m counts. l and s are symmetric, u is n x k. What has
//   strides, or is column-major by type, does not compile. denise_eigen.hpp takes Eigen's matrices.
// - The order is that of denise.h everywhere: m, u, l, s, reports.
// - Nothing here has a state of its own: the header only forwards.
#ifndef DENISE_HPP
#define DENISE_HPP

#include <denise.h>
#include <denise_view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DENISE_HPP_EXCEPTIONS 1
#include <cstdio>
#include <stdexcept>
#else
#define DENISE_HPP_EXCEPTIONS 0
#endif

namespace denise {

// ------------------------------------------------------------------------------------------- statuses

// What a call came to. A newer library may return values that are not listed here.
enum class [[nodiscard]] status : std::int32_t {
  ok = DENISE_OK,
  null_pointer = DENISE_ERR_NULL_POINTER,  // a pointer is null, or the model is empty
  argument = DENISE_ERR_ARGUMENT,          // out of range
  io = DENISE_ERR_IO,                      // the file cannot be read
  format = DENISE_ERR_FORMAT,              // the data is damaged, or is no model
  unsupported = DENISE_ERR_UNSUPPORTED,    // not in this build, or not on this machine
  shape = DENISE_ERR_SHAPE,                // sizes that do not fit each other
  not_finite = DENISE_ERR_NOT_FINITE,      // some matrix has a NaN or an infinity; the others are done
  memory = DENISE_ERR_MEMORY,              // out of memory, or of threads
  internal = DENISE_ERR_INTERNAL           // a bug in the library; the process is intact
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
// |S_ij| <= 0.01 tr(M)/n, status, which is DENISE_OK or DENISE_ERR_NOT_FINITE, and more: denise.h has them all.
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
  std::optional<view<T>> s{};  // may be the same memory as m
  std::optional<view<report>> reports{};
};

namespace detail {

// std::string and, where its characters are char, std::filesystem::path. As a template so that braces never
// become a path.
template <typename Path>
using if_path = std::enable_if_t<std::is_same_v<decltype(std::declval<const Path&>().c_str()), const char*>, int>;

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
misfit find_misfit(const view<const T>& m, const outputs<T>& out, std::size_t n, std::size_t k) noexcept {
  const std::size_t count = m.count();
  misfit found;
  const auto fits = [&found, count](const char* name, const auto& block, std::size_t rows, std::size_t cols) {
    if (block.fits(count, rows, cols)) return true;
    found = {name, block.size(), block.rows(), block.cols(), count, rows, cols, ""};
    return false;
  };
  // An empty output that was asked for is no wish to have none.
  if (!fits("m", m, n, n)) {
    found.hint = "; denise::batch(m, count) says that there are several";
  } else if ((!out.u || fits("u", *out.u, n, k)) && (!out.l || fits("l", *out.l, n, n)) &&
             (!out.s || fits("s", *out.s, n, n)) && out.reports) {
    fits("reports", *out.reports, 1, 1);
  }
  return found;
}

// Whether a pointer is null that must not be. For denise.h a null output is one that nobody wants; here that is said
// by not setting it, and one that is set and null is a mistake.
template <typename T>
bool has_null(const view<const T>& m, const outputs<T>& out) noexcept {
  const auto null = [](const auto& some) { return some && some->data() == nullptr; };
  return m.data() == nullptr || null(out.u) || null(out.l) || null(out.s) || null(out.reports);
}

#if DENISE_HPP_EXCEPTIONS
[[noreturn]] inline void throw_misfit(const misfit& at) {
  char shape[64] = "", text[256];
  if (at.rows != 0) std::snprintf(shape, sizeof shape, " as %zu x %zu", at.rows, at.cols);
  std::snprintf(text, sizeof text, "%s has the wrong size: %zu values%s where there must be %zu times %zu x %zu%s",
                at.name, at.size, shape, at.count, at.right_rows, at.right_cols, at.hint);
  throw error(status::shape, text);
}

// Throws unless all is well. Sizes are looked at again only to say what was wrong with them.
template <typename T>
void check(status code, const view<const T>& m, const outputs<T>& out, std::size_t n, std::size_t k) {
  if (code == status::ok) return;
  if (n == 0) throw error(code, "the model is empty, or n is 0");
  if (code == status::null_pointer) throw error(code, "m, or an output that is set, is a null pointer");
  if (code == status::shape) {
    const misfit found = find_misfit(m, out, n, k);
    if (found.name != nullptr) throw_misfit(found);
  }
  throw error(code, reason(code));
}
#endif

}  // namespace detail

// --------------------------------------------------------------------------------------------- models

// For options::flags.
inline constexpr std::uint32_t flag_portable = DENISE_FLAG_PORTABLE;  // only what every such machine has
inline constexpr std::uint32_t flag_avx2 = DENISE_FLAG_AVX2;  // AVX2 and FMA, or fail with status::unsupported
inline constexpr std::uint32_t flag_f16 = DENISE_FLAG_F16;  // 16-bit weights of a dense network; with either

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
  std::uint32_t threads = 0;          // threads that one call may use for a large batch; 1
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
    if (detail::has_null(m, out)) return status::null_pointer;
    return static_cast<status>(call(get(), m.count(), m.data(), detail::pointer(out.u), detail::pointer(out.l),
                                    detail::pointer(out.s), detail::pointer(out.reports)));
  }

#if DENISE_HPP_EXCEPTIONS
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
  return try_load(path.c_str(), wanted);
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
  if (detail::has_null(m, out)) return status::null_pointer;
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
