// libdenise for C++17: splits a covariance matrix M into L + S, where L = U U' has rank at most k and is
// positive semidefinite, and S is sparse. One header over denise.h, which says more about every promise.
//
//   #include <denise.hpp>
//   #include <vector>
//
//   int main() {
//     denise::model model(denise::options{20, 3});     // the built-in network, 20 x 20 matrices, rank 3
//     std::vector<float> m(100 * 20 * 20, 1.0F);       // 100 matrices, one after another
//     std::vector<float> l(m.size()), s(m.size());
//     model.decompose(m, l, s);                        // m = l + s; throws denise::error if it cannot
//   }
//
// There are two layers. Functions named try_... are noexcept and return a denise::status; they are all
// that is left under -fno-exceptions. The others call them and throw denise::error on any status but ok.
//
// - A model is loaded once and used often. Loading allocates; decomposing never does, in either layer,
//   unless it throws. Any number of threads may use one model at once.
// - Matrices are in float or double. A batch is one contiguous block: std::vector, std::array, C arrays,
//   std::span, or anything else with data() and size(). Sizes are checked. Pointers work too.
// - Matrices are row-major and only their lower triangle counts. L and S are symmetric.
// - Nothing here has a state of its own: the header only forwards.
#ifndef DENISE_HPP
#define DENISE_HPP

#include <denise.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DENISE_HPP_EXCEPTIONS 1
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

// The version of the library that is running, such as "0.1.0".
inline const char* version() noexcept { return denise_version(); }

// The number of its binary interface, which is also the number in the name of the shared library.
inline std::uint32_t abi_version() noexcept { return denise_abi_version(); }

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

// ---------------------------------------------------------------------------------------------- views

// A contiguous block that somebody else owns: what std::span is in C++20. Each can be made from the other. It
// is a type of its own so that programs may mix C++17 and C++20.
template <typename T>
class view {
  // float* to const float* is fine, derived* to base* is not: as for std::span.
  template <typename Container>
  using element = std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))>;
  template <typename Container>
  using if_contiguous =
      std::enable_if_t<!std::is_same_v<std::remove_cv_t<std::remove_reference_t<Container>>, view> &&
                           std::is_convertible_v<element<Container> (*)[], T (*)[]> &&
                           std::is_convertible_v<decltype(std::size(std::declval<Container&>())), std::size_t>,
                       int>;

 public:
  constexpr view() noexcept = default;
  constexpr view(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <typename Container, if_contiguous<Container> = 0>
  constexpr view(Container&& container) noexcept
      : data_(std::data(container)), size_(static_cast<std::size_t>(std::size(container))) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// One per matrix: l1 = sum |S_ij|, residual = ||M - L||_F / ||M||_F, sparsity = share of entries with
// |S_ij| <= 0.01 tr(M)/n, and status, which is DENISE_OK or DENISE_ERR_NOT_FINITE.
using report = denise_report;

// Where results go. What is not set is not computed; what is set must have the right size:
// n*n values per matrix in l and s, n*k in u (row-major), one report per matrix.
//
//   denise::outputs<double> out;
//   out.l = l;  out.u = u;                    // in C++20 also: model.decompose(m, {.l = l, .u = u})
//   model.decompose(m, out);
template <typename T>
struct outputs {
  std::optional<view<T>> l{};
  std::optional<view<T>> s{};  // may be the same memory as m
  std::optional<view<T>> u{};
  std::optional<view<report>> reports{};
};

namespace detail {

// float or double, whatever a container of matrices holds.
template <typename Container>
using real = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))>>;

template <typename Container>
using if_real = std::enable_if_t<std::is_same_v<real<Container>, float> || std::is_same_v<real<Container>, double>, int>;

// std::string and, where its characters are char, std::filesystem::path. As a template so that braces never
// become a path.
template <typename Path>
using if_path = std::enable_if_t<std::is_same_v<decltype(std::declval<const Path&>().c_str()), const char*>, int>;

template <typename T>
T* pointer(const std::optional<view<T>>& some) noexcept {
  return some ? some->data() : nullptr;
}

// An output that was asked for must have room for all, and an empty one is no wish to have none.
template <typename T>
bool fits(const std::optional<view<T>>& some, std::size_t size) noexcept {
  return !some || some->size() == size;
}

}  // namespace detail

// --------------------------------------------------------------------------------------------- models

// For options::flags.
inline constexpr std::uint32_t flag_portable = DENISE_FLAG_PORTABLE;  // only what every such machine has
inline constexpr std::uint32_t flag_avx2 = DENISE_FLAG_AVX2;  // AVX2 and FMA, or fail with status::unsupported
inline constexpr std::uint32_t flag_f16 = DENISE_FLAG_F16;  // 16-bit weights of a dense network; with either

// What a model is loaded for. 0 means the default everywhere.
struct options {
  std::uint32_t n = 0;                // size of the matrices, at most 512; default: the model's own, or 20
  std::uint32_t k = 0;                // largest rank of L, less than n, at most 32; the model's own, or 3
  std::uint32_t threads = 0;          // threads that one call may use for a large batch; 1
  std::uint32_t max_concurrency = 0;  // calls that may run at once without waiting; the number of CPUs
  std::uint32_t flags = 0;            // flags above, or 0
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

  // Splits count matrices: denise_decompose_batch with its order of arguments. All outputs may be null.
  status try_decompose(std::size_t count, const float* m, float* u, float* l, float* s,
                       report* reports = nullptr) const noexcept {
    return static_cast<status>(denise_decompose_batch(get(), count, m, u, l, s, reports));
  }
  status try_decompose(std::size_t count, const double* m, double* u, double* l, double* s,
                       report* reports = nullptr) const noexcept {
    return static_cast<status>(denise_decompose_batch_f64(get(), count, m, u, l, s, reports));
  }

  // Splits all matrices of a container. status::shape if a size does not fit; nothing is written then.
  template <typename Container, detail::if_real<Container> = 0>
  status try_decompose(const Container& m, const outputs<detail::real<Container>>& out) const noexcept {
    const view<const detail::real<Container>> in(m);
    const std::size_t nn = std::size_t{n()} * n();
    if (nn == 0) return status::null_pointer;
    const std::size_t count = in.size() / nn;
    const bool fit = in.size() == count * nn && detail::fits(out.l, in.size()) && detail::fits(out.s, in.size()) &&
                     detail::fits(out.u, count * n() * k()) && detail::fits(out.reports, count);
    if (!fit) return status::shape;
    if (count == 0) return status::ok;
    return try_decompose(count, in.data(), detail::pointer(out.u), detail::pointer(out.l), detail::pointer(out.s),
                         detail::pointer(out.reports));
  }
  template <typename Container, detail::if_real<Container> = 0>
  status try_decompose(const Container& m, view<detail::real<Container>> l,
                       view<detail::real<Container>> s) const noexcept {
    return try_decompose(m, outputs<detail::real<Container>>{l, s, {}, {}});
  }

#if DENISE_HPP_EXCEPTIONS
  // As try_load, for those who catch denise::error.
  explicit model(const options& wanted = {});
  explicit model(const char* path, const options& wanted = {});
  template <typename Path, detail::if_path<Path> = 0>
  explicit model(const Path& path, const options& wanted = {});
  static model from_memory(const void* data, std::size_t size, const options& wanted = {});

  // As try_decompose. A matrix with NaN or infinity throws too, after all others are done: where that is
  // nothing unusual, call try_decompose and look at the reports.
  void decompose(std::size_t count, const float* m, float* u, float* l, float* s, report* reports = nullptr) const {
    check(try_decompose(count, m, u, l, s, reports));
  }
  void decompose(std::size_t count, const double* m, double* u, double* l, double* s,
                 report* reports = nullptr) const {
    check(try_decompose(count, m, u, l, s, reports));
  }
  template <typename Container, detail::if_real<Container> = 0>
  void decompose(const Container& m, const outputs<detail::real<Container>>& out) const {
    check(try_decompose(m, out));
  }
  template <typename Container, detail::if_real<Container> = 0>
  void decompose(const Container& m, view<detail::real<Container>> l, view<detail::real<Container>> s) const {
    check(try_decompose(m, l, s));
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

#if DENISE_HPP_EXCEPTIONS
  static void check(status code) {
    if (code != status::ok) throw error(code);
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
  denise_options_init(&c);
  c.n = wanted.n;
  c.k = wanted.k;
  c.threads = wanted.threads;
  c.max_concurrency = wanted.max_concurrency;
  c.flags = wanted.flags;
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
    throw error(loaded.code, loaded.message[0] != '\0' ? loaded.message : to_string(loaded.code));
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
  eigen = DENISE_METHOD_EIGEN,     // rank-k eigen-truncation
  pcp = DENISE_METHOD_PCP,         // principal component pursuit
  ialm = DENISE_METHOD_IALM,       // inexact augmented Lagrange multipliers
  fpcp = DENISE_METHOD_FPCP,       // fast principal component pursuit
  rpca_gd = DENISE_METHOD_RPCA_GD  // robust PCA by gradient descent
};

// Splits count n x n matrices with a classical method: denise_solve_batch. Slow, and it allocates. l and s may
// be null; lambda 0 is the paper's value.
inline status try_solve(method by, std::uint32_t n, std::uint32_t k, std::size_t count, const double* m, double* l,
                        double* s, double lambda = 0) noexcept {
  return static_cast<status>(denise_solve_batch(static_cast<std::int32_t>(by), n, k, lambda, count, m, l, s));
}

// The same for all matrices of containers.
inline status try_solve(method by, std::uint32_t n, std::uint32_t k, view<const double> m, view<double> l,
                        view<double> s, double lambda = 0) noexcept {
  const std::size_t nn = std::size_t{n} * n;
  if (nn == 0) return status::argument;
  const std::size_t count = m.size() / nn;
  if (m.size() != count * nn || l.size() != m.size() || s.size() != m.size()) return status::shape;
  if (count == 0) return status::ok;
  return try_solve(by, n, k, count, m.data(), l.data(), s.data(), lambda);
}

#if DENISE_HPP_EXCEPTIONS
inline void solve(method by, std::uint32_t n, std::uint32_t k, view<const double> m, view<double> l, view<double> s,
                  double lambda = 0) {
  const status code = try_solve(by, n, k, m, l, s, lambda);
  if (code != status::ok) throw error(code);
}
#endif

}  // namespace denise

#endif  // DENISE_HPP
