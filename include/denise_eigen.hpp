// denise.hpp for those who have their matrices in Eigen (3.3 or later): takes and fills matrices of either storage
// order, in float and double.
//
//   #include <denise_eigen.hpp>
//
//   int main() {
//     const denise::model model(denise::options{20, 3});  // 20 x 20 matrices, rank 3
//     const Eigen::MatrixXd m = Eigen::MatrixXd::Ones(20, 20);
//     Eigen::MatrixXd u, l, s;
//     denise::decompose(model, m, l, s);          // m = l + s; throws denise::error if it cannot
//     denise::eigen_outputs<double> out;          // by name, only what is wanted: u, l, s, reports
//     out.u = u;
//     out.l = l;
//     denise::decompose(model, m, out);           // l = u * u.transpose()
//     const auto parts = denise::decompose(model, m);  // parts.u, parts.l and parts.s
//
//     Eigen::MatrixXd many = Eigen::MatrixXd::Ones(20, 100 * 20), many_l, many_s;
//     denise::decompose(model, denise::stack(many, 100), many_l, many_s);  // 100 matrices, side by side
//   }
//
// - m is a matrix, array, map, reference or block, with any strides. Its lower triangle is read, in whichever order it
//   is stored. Sums, products and other expressions do not compile: give them a name, or write .eval().
// - Outputs are matrices, arrays, and maps without strides, in either order. Blocks, references and maps with strides
//   do not compile as outputs. s may be m itself; nothing else may overlap.
// - m must be n x n. Several matrices are said by denise::stack(m, count): as memory has them, row-major ones lie below
//   each other (count*n x n) and column-major ones side by side (n x count*n). L and S are stacked so by their own order,
//   and so are the n x k factors in u. A std::vector of matrices is split one by one, at twice the time.
// - Memory. try_... functions never allocate: outputs must have the right size (status::shape), and where m is not
//   row-major without gaps it is turned inside of s, which must then be asked for (status::argument). The throwing
//   functions resize what can be resized, and allocate room for m where s is not asked for. Called again with the same
//   matrices they resize nothing.
#ifndef DENISE_EIGEN_HPP
#define DENISE_EIGEN_HPP

#include <denise.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace denise {

// ---------------------------------------------------------------------------------------------- input

// Where matrices are: made from any matrix of Eigen, and by stack.
template <typename T>
struct eigen_input {
  const T* data;
  std::size_t count;            // matrices
  std::size_t rows, cols;       // of all together
  std::ptrdiff_t inner, outer;  // strides
  bool row_major;
};

namespace detail {

template <typename Derived>
eigen_input<typename Derived::Scalar> input(const Eigen::DenseBase<Derived>& m, std::size_t count = 1) noexcept {
  using T = typename Derived::Scalar;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "denise: matrices are in float or double");
  static_assert((Derived::Flags & Eigen::DirectAccessBit) != 0,
                "denise: this is an expression and has no memory; give it a name, or write .eval()");
  const Derived& self = m.derived();
  return {self.data(),        count,
          static_cast<std::size_t>(self.rows()), static_cast<std::size_t>(self.cols()),
          self.innerStride(), self.outerStride(),
          Derived::IsRowMajor != 0};
}

template <typename T>
const eigen_input<T>& input(const eigen_input<T>& m) noexcept {
  return m;
}

template <typename M>
using real = std::remove_cv_t<std::remove_pointer_t<decltype(input(std::declval<const M&>()).data)>>;

}  // namespace detail

// Says that a matrix is so many matrices: below each other if it is row-major, side by side if it is column-major.
template <typename Derived>
eigen_input<typename Derived::Scalar> stack(const Eigen::DenseBase<Derived>& m, std::size_t count) noexcept {
  return detail::input(m, count);
}

// -------------------------------------------------------------------------------------------- outputs

// A matrix that results go to. It must live until the call is over; a map need not, what it maps must.
template <typename T>
class eigen_output {
  template <typename Out>
  static constexpr bool is_plain = std::is_base_of_v<Eigen::PlainObjectBase<typename Out::PlainObject>, Out>;
  template <typename Out>
  struct is_map : std::false_type {};
  template <typename Plain, int options>
  struct is_map<Eigen::Map<Plain, options, Eigen::Stride<0, 0>>> : std::true_type {};

 public:
  struct memory {
    T* data;
    std::size_t rows, cols;
  };

  template <typename Out, typename Bare = detail::bare<Out>,
            std::enable_if_t<std::is_base_of_v<Eigen::DenseBase<Bare>, Bare>, int> = 0>
  eigen_output(Out&& out) noexcept : row_major_(Bare::IsRowMajor != 0) {
    static_assert(std::is_same_v<typename Bare::Scalar, T>, "denise: m and all outputs must be of one type, float or double");
    static_assert(is_plain<Bare> || is_map<Bare>::value,
                  "denise: an output must be a matrix, an array or a map without strides; blocks, references and maps with "
                  "strides have other values between theirs");
    static_assert(!std::is_const_v<std::remove_pointer_t<decltype(out.data())>>, "denise: an output must not be const");
    static_assert(is_map<Bare>::value || std::is_lvalue_reference_v<Out>,
                  "denise: this output would be gone after the call");
    if constexpr (is_plain<Bare>) {
      object_ = &out;
      look_ = [](void* object) noexcept { return memory_of(*static_cast<Bare*>(object)); };
      resize_ = [](void* object, Eigen::Index rows, Eigen::Index cols) {
        const bool can = may_be(rows, Bare::RowsAtCompileTime, Bare::MaxRowsAtCompileTime) &&
                         may_be(cols, Bare::ColsAtCompileTime, Bare::MaxColsAtCompileTime);
        if (can) static_cast<Bare*>(object)->resize(rows, cols);
      };
    } else {
      map_ = memory_of(out);
    }
  }

  bool row_major() const noexcept { return row_major_; }
  memory look() const noexcept { return object_ != nullptr ? look_(object_) : map_; }
  // If it can have that size.
  void resize(std::size_t rows, std::size_t cols) const {
    if (object_ != nullptr) resize_(object_, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  }

 private:
  template <typename Out>
  static memory memory_of(Out& out) noexcept {
    return {out.data(), static_cast<std::size_t>(out.rows()), static_cast<std::size_t>(out.cols())};
  }
  static constexpr bool may_be(Eigen::Index size, int fixed, int most) noexcept {
    return (fixed == Eigen::Dynamic || fixed == size) && (most == Eigen::Dynamic || size <= most);
  }

  bool row_major_;
  void* object_ = nullptr;  // a plain matrix, or else map_ is all there is
  memory (*look_)(void*) noexcept = nullptr;
  void (*resize_)(void*, Eigen::Index, Eigen::Index) = nullptr;
  memory map_{};
};

// Where results go. What is not set is not computed.
template <typename T>
struct eigen_outputs {
  std::optional<eigen_output<T>> u{};
  std::optional<eigen_output<T>> l{};
  std::optional<eigen_output<T>> s{};  // may be m
  std::optional<view<report>> reports{};
};

// ------------------------------------------------------------------------------------------- the work

namespace detail {

// One split: m, what it goes to, and the sizes of a matrix and of its factor.
template <typename T>
class eigen_split {
 public:
  eigen_split(std::size_t n, std::size_t k, const eigen_input<T>& m, const eigen_outputs<T>& out) noexcept
      : n_(n), k_(k), m_(m), out_(out) {}

  // The first argument that has the wrong size.
  misfit find_misfit() const noexcept {
    const std::size_t along = m_.row_major ? m_.rows : m_.cols, across = m_.row_major ? m_.cols : m_.rows;
    // No count overflows here into one that fits.
    if (across != n_ || along % n_ != 0 || along / n_ != m_.count) {
      return {"m", m_.rows * m_.cols, m_.rows, m_.cols, m_.count, n_, n_, hint};
    }
    misfit found;
    each_output([&](const char* name, const eigen_output<T>& some, std::size_t rows, std::size_t cols) {
      const auto is = some.look();
      if (found.name != nullptr || (is.rows == rows && is.cols == cols)) return;
      found = {name, is.rows * is.cols, is.rows, is.cols, 1, rows, cols, ""};
    });
    if (found.name == nullptr && out_.reports && out_.reports->size() != m_.count) {
      return {"reports", out_.reports->size(), 0, 0, m_.count, 1, 1, ""};
    }
    return found;
  }

  // Splits with that call. turned is room for m, should it have to be turned and s not be asked for; or null.
  template <typename Call>
  status run(T* turned, Call call) const noexcept {
    if (find_misfit().name != nullptr) return status::shape;
    const auto block = [](const auto& some) {
      return some ? std::optional(view<T>(some->look().data, some->look().rows * some->look().cols)) : std::nullopt;
    };
    const outputs<T> out{block(out_.u), block(out_.l), block(out_.s), out_.reports};
    const T* m = m_.data;
    if (!is_ready()) {
      if (out.s) turned = out.s->data();
      if ((turned == nullptr && size() != 0) || clash()) return status::argument;
      turn(turned);
      m = turned;
    }
    const status code = call(view<const T>(m, size()).as(m_.count), out);
    const bool written = code == status::ok || code == status::not_finite;
    if (written && out.u && !out_.u->row_major()) {
      for (std::size_t q = 0; q < m_.count; ++q) to_columns(out.u->data() + q * n_ * k_);
    }
    return code;
  }

#if DENISE_HPP_EXCEPTIONS
  // The same, with all the memory that it takes.
  template <typename Call>
  void run_or_throw(Call call) const {
    resize_outputs();
    const misfit found = find_misfit();
    if (found.name != nullptr) throw_misfit(found);
    std::vector<T> turned(is_ready() || out_.s ? 0 : size());
    const status code = run(turned.data(), call);
    if (code != status::ok) throw error(code);
  }
#endif

 private:
  static constexpr const char* hint = "; denise::stack(m, count) says that there are several";

  struct range {
    const T* begin = nullptr;
    const T* end = nullptr;
  };

  // Whether m is in memory what the library reads.
  bool is_ready() const noexcept { return m_.row_major && has_no_gaps(); }
  bool has_no_gaps() const noexcept { return m_.inner == 1 && m_.outer == static_cast<std::ptrdiff_t>(n_); }

  std::size_t size() const noexcept { return m_.count * n_ * n_; }

  // For every output that is asked for: its name, itself, and the rows and columns that it must have.
  template <typename Body>
  void each_output(Body body) const {
    const auto one = [&](const char* name, const std::optional<eigen_output<T>>& some, std::size_t cols) {
      if (!some) return;
      const bool below = some->row_major();
      body(name, *some, below ? m_.count * n_ : n_, below ? cols : m_.count * cols);
    };
    one("u", out_.u, k_);
    one("l", out_.l, n_);
    one("s", out_.s, n_);
  }

  // Gives outputs their sizes; none, if the memory of one of them would go while m is in it.
  void resize_outputs() const {
    const misfit found = find_misfit();
    if (found.name == nullptr || std::strcmp(found.name, "m") == 0) return;
    bool safe = true;
    each_output([&](const char*, const eigen_output<T>& some, std::size_t rows, std::size_t cols) {
      const bool stays = some.look().rows == rows && some.look().cols == cols;
      safe = safe && (stays || !overlap(range_of(m_), range_of(some)));
    });
    each_output([&](const char*, const eigen_output<T>& some, std::size_t rows, std::size_t cols) {
      if (safe) some.resize(rows, cols);
    });
  }

  static range range_of(const eigen_input<T>& m) noexcept {
    const std::size_t outer = m.row_major ? m.rows : m.cols, inner = m.row_major ? m.cols : m.rows;
    if (outer == 0 || inner == 0) return {};
    const std::ptrdiff_t a = static_cast<std::ptrdiff_t>(outer - 1) * m.outer, zero = 0;
    const std::ptrdiff_t b = static_cast<std::ptrdiff_t>(inner - 1) * m.inner;
    return {m.data + std::min(a, zero) + std::min(b, zero), m.data + std::max(a, zero) + std::max(b, zero) + 1};
  }
  static range range_of(const std::optional<eigen_output<T>>& some) noexcept {
    if (!some) return {};
    return {some->look().data, some->look().data + some->look().rows * some->look().cols};
  }
  static bool overlap(const range& a, const range& b) noexcept {
    const std::less<const T*> before;
    return before(a.begin, b.end) && before(b.begin, a.end);
  }

  // What the library cannot see once m is copied. s may be m as a whole; nothing else may overlap.
  bool clash() const noexcept {
    const bool in_place = out_.s && out_.s->look().data == m_.data && has_no_gaps();
    const range m = range_of(m_), u = range_of(out_.u), l = range_of(out_.l), s = range_of(out_.s);
    return overlap(m, u) || overlap(m, l) || (overlap(m, s) && !in_place) || overlap(u, l) || overlap(u, s) ||
           overlap(l, s);
  }

  // Writes the lower triangles of m, row-major. In place they replace the upper ones, which are never read.
  void turn(T* to) const noexcept {
    const auto n = static_cast<std::ptrdiff_t>(n_), count = static_cast<std::ptrdiff_t>(m_.count);
    const std::ptrdiff_t down = m_.row_major ? m_.outer : m_.inner, right = m_.row_major ? m_.inner : m_.outer;
    for (std::ptrdiff_t q = 0; q < count; ++q) {
      const T* from = m_.data + q * n * m_.outer;
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        for (std::ptrdiff_t i = j; i < n; ++i) to[(q * n + i) * n + j] = from[i * down + j * right];
      }
    }
  }

  // Turns n x k values from row-major to column-major in place: the value at p belongs at p n mod (n k - 1), which
  // goes round in cycles. Each is walked once, from its least place.
  void to_columns(T* u) const noexcept {
    const auto n = static_cast<std::uint32_t>(n_), last = static_cast<std::uint32_t>(n_ * k_) - 1;
    for (std::uint32_t start = 1; start < last; ++start) {
      std::uint32_t at = start * n % last;
      while (at > start) at = at * n % last;
      if (at < start) continue;
      T carried = u[start];
      do {
        at = at * n % last;
        std::swap(carried, u[at]);
      } while (at != start);
    }
  }

  std::size_t n_, k_;
  eigen_input<T> m_;
  const eigen_outputs<T>& out_;
};

// What a split is done by.
inline auto network(const model& by) noexcept {
  return [&by](const auto& m, const auto& out) { return by.try_decompose(m, out); };
}
inline auto classical(method by, std::size_t n, std::uint32_t k, double lambda) noexcept {
  return [=](const view<const double>& m, const outputs<double>& out) {
    return denise::try_solve(by, static_cast<std::uint32_t>(n), k, m, out.l, out.s, lambda);
  };
}

// Any square will do for a classical method.
template <typename M>
std::size_t size_of(const M& m) noexcept {
  static_assert(std::is_same_v<real<M>, double>, "denise: classical methods are in double");
  const auto in = input(m);
  return in.row_major ? in.cols : in.rows;
}

}  // namespace detail

// ------------------------------------------------------------------------------------------ functions

// Splits m, a matrix or a stack of them. Never allocates.
template <typename M>
status try_decompose(const model& by, const M& m, const eigen_outputs<detail::real<M>>& out) noexcept {
  if (!by) return status::null_pointer;
  return detail::eigen_split<detail::real<M>>(by.n(), by.k(), detail::input(m), out).run(nullptr, detail::network(by));
}
template <typename M>
status try_decompose(const model& by, const M& m, eigen_output<detail::real<M>> l,
                     eigen_output<detail::real<M>> s) noexcept {
  return denise::try_decompose(by, m, eigen_outputs<detail::real<M>>{{}, l, s, {}});
}

// The same with a classical method, in double and for m of any size: see try_solve in denise.hpp. The library allocates.
template <typename M>
status try_solve(method by, std::uint32_t k, const M& m, std::optional<eigen_output<detail::real<M>>> l,
                 std::optional<eigen_output<detail::real<M>>> s, double lambda = 0) noexcept {
  const std::size_t n = detail::size_of(m);
  if (n == 0) return status::argument;
  const eigen_outputs<double> out{{}, l, s, {}};
  return detail::eigen_split<double>(n, k, detail::input(m), out).run(nullptr, detail::classical(by, n, k, lambda));
}

#if DENISE_HPP_EXCEPTIONS
template <typename M>
void decompose(const model& by, const M& m, const eigen_outputs<detail::real<M>>& out) {
  if (!by) throw error(status::null_pointer);
  detail::eigen_split<detail::real<M>>(by.n(), by.k(), detail::input(m), out).run_or_throw(detail::network(by));
}
template <typename M>
void decompose(const model& by, const M& m, eigen_output<detail::real<M>> l, eigen_output<detail::real<M>> s) {
  denise::decompose(by, m, eigen_outputs<detail::real<M>>{{}, l, s, {}});
}

// All three parts, in matrices of the order that m has.
template <typename Matrix>
struct eigen_parts {
  Matrix u, l, s;
};
template <typename Derived>
auto decompose(const model& by, const Eigen::DenseBase<Derived>& m) {
  constexpr int order = Derived::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor;
  using Scalar = typename Derived::Scalar;
  eigen_parts<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, order>> parts;
  denise::decompose(by, m.derived(), eigen_outputs<Scalar>{parts.u, parts.l, parts.s, {}});
  return parts;
}

// Every matrix of a vector. One that is not finite throws too, after all others are done.
template <typename M, typename A, typename L, typename B, typename S, typename C>
void decompose(const model& by, const std::vector<M, A>& m, std::vector<L, B>& l, std::vector<S, C>& s) {
  l.resize(m.size());
  s.resize(m.size());
  bool finite = true;
  for (std::size_t i = 0; i < m.size(); ++i) {
    try {
      denise::decompose(by, m[i], l[i], s[i]);
    } catch (const error& caught) {
      if (caught.code() != status::not_finite) throw;
      finite = false;
    }
  }
  if (!finite) throw error(status::not_finite);
}

template <typename M>
void solve(method by, std::uint32_t k, const M& m, std::optional<eigen_output<detail::real<M>>> l,
           std::optional<eigen_output<detail::real<M>>> s, double lambda = 0) {
  const std::size_t n = detail::size_of(m);
  if (n == 0) throw error(status::argument);
  const eigen_outputs<double> out{{}, l, s, {}};
  detail::eigen_split<double>(n, k, detail::input(m), out).run_or_throw(detail::classical(by, n, k, lambda));
}
#endif

}  // namespace denise

#endif  // DENISE_EIGEN_HPP
