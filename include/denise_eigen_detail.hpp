// What denise_eigen.hpp is made of: where Eigen's matrices are in memory, and how they get into the order that the
// library reads and out of the order that it writes.
#ifndef DENISE_EIGEN_DETAIL_HPP
#define DENISE_EIGEN_DETAIL_HPP

#include <denise.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cstddef>
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
  const auto rows = static_cast<std::size_t>(self.rows()), cols = static_cast<std::size_t>(self.cols());
  return {self.data(), count, rows, cols, self.innerStride(), self.outerStride(), Derived::IsRowMajor != 0};
}

template <typename T>
const eigen_input<T>& input(const eigen_input<T>& m) noexcept {
  return m;
}

template <typename M>
using real = std::remove_cv_t<std::remove_pointer_t<decltype(input(std::declval<const M&>()).data)>>;

}  // namespace detail

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
    static_assert(std::is_same_v<typename Bare::Scalar, T>,
                  "denise: m and all outputs must be of one type, float or double");
    static_assert(is_plain<Bare> || is_map<Bare>::value,
                  "denise: an output must be a matrix, an array or a map without strides; blocks, references and maps "
                  "with strides have other values between theirs");
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

// Where a covariance goes that can be inverted: Sigma = U U' + diag(d). What is not set is not computed.
template <typename T>
struct eigen_covariance_outputs {
  std::optional<eigen_output<T>> d{};  // a vector; for a stack a column for each matrix, or a row if it is row-major
  std::optional<eigen_output<T>> sigma{};
  std::optional<eigen_output<T>> inverse{};
  std::optional<view<double>> log_det{};
  std::optional<eigen_output<T>> room{};  // of the size of sigma, for m to be turned in; only try_covariance needs it
};

// ------------------------------------------------------------------------------------------- the work

namespace detail {

// An output by its name, and the size that it must have for one matrix.
template <typename T>
struct eigen_target {
  const char* name;
  std::optional<eigen_output<T>> to;
  std::size_t rows, cols;
};

// What a call writes.
template <typename T>
struct eigen_targets {
  std::array<eigen_target<T>, 5> matrices;  // the first is u
  std::size_t room;                         // which of them m is turned in, if it must be
  bool room_may_be_m;
  std::optional<view<double>> log_det;
  std::optional<view<report>> reports;
};

template <typename T>
eigen_targets<T> targets(std::size_t n, std::size_t k, const eigen_outputs<T>& out) noexcept {
  const eigen_target<T> none{"", {}, n, n};
  return {{{{"u", out.u, n, k}, {"l", out.l, n, n}, {"s", out.s, n, n}, none, none}}, 2, true, {}, out.reports};
}

template <typename T>
eigen_targets<T> targets(std::size_t n, std::size_t k, const eigen_output<T>& u,
                         const eigen_covariance_outputs<T>& out, const std::optional<view<report>>& reports) noexcept {
  const bool row = out.d && out.d->row_major();
  const eigen_target<T> d{"d", out.d, row ? 1 : n, row ? n : 1}, sigma{"sigma", out.sigma, n, n};
  const eigen_target<T> inverse{"inverse", out.inverse, n, n}, room{"room", out.room, n, n};
  return {{{{"u", u, n, k}, d, sigma, inverse, room}}, 4, false, out.log_det, reports};
}

// One call: m, what is made of it, and the sizes of a matrix and of its factor.
template <typename T>
class eigen_call {
 public:
  using blocks = std::array<std::optional<view<T>>, 5>;

  eigen_call(std::size_t n, std::size_t k, const eigen_input<T>& m, const eigen_targets<T>& out) noexcept
      : n_(n), k_(k), m_(m), out_(out) {}

  // The first argument that has the wrong size.
  misfit find_misfit() const noexcept {
    const std::size_t along = m_.row_major ? m_.rows : m_.cols, across = m_.row_major ? m_.cols : m_.rows;
    // No count overflows here into one that fits.
    if (across != n_ || along % n_ != 0 || along / n_ != m_.count) {
      return {"m", m_.rows * m_.cols, m_.rows, m_.cols, m_.count, n_, n_, hint};
    }
    misfit found;
    each_output([&](const eigen_target<T>& at, std::size_t rows, std::size_t cols) {
      const auto is = at.to->look();
      if (found.name != nullptr || (is.rows == rows && is.cols == cols)) return;
      found = {at.name, is.rows * is.cols, is.rows, is.cols, 1, rows, cols, ""};
    });
    if (found.name != nullptr) return found;
    if (out_.log_det && !out_.log_det->fits(m_.count, 1, 1)) return wrong("log_det", *out_.log_det, m_.count, 1, 1);
    if (out_.reports && out_.reports->size() != m_.count) return wrong("reports", *out_.reports, m_.count, 1, 1);
    return {};
  }

  // Does that call. turned is room for m, should it have to be turned and there be no other; or null.
  template <typename Call>
  status run(T* turned, Call call) const noexcept {
    if (find_misfit().name != nullptr) return status::shape;
    const std::optional<eigen_output<T>>& u = out_.matrices[0].to;
    if (u && n_ > most_rows) return status::unsupported;
    blocks out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::optional<eigen_output<T>>& some = out_.matrices[i].to;
      if (some) out[i] = view<T>(some->look().data, some->look().rows * some->look().cols);
    }
    const T* m = m_.data;
    if (!is_ready()) {
      if (room()) turned = room()->look().data;
      if ((turned == nullptr && size() != 0) || clash()) return status::argument;
      turn(turned);
      m = turned;
    }
    const status code = call(view<const T>(m, size()).as(m_.count), out);
    const bool written = code == status::ok || code == status::not_finite || code == status::singular;
    if (written && u && !u->row_major()) {
      for (std::size_t q = 0; q < m_.count; ++q) to_columns(u->look().data + q * n_ * k_);
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
    std::vector<T> turned(is_ready() || room() ? 0 : size());
    const status code = run(turned.data(), call);
    if (code == status::argument && !is_ready() && clash()) {
      throw error(code, out_.room_may_be_m ? "an output overlaps another one, or m; only s may be m, as a whole"
                                           : "an output overlaps another one, or m");
    }
    check(code, "m, or an output that is set, is a null pointer", [this] { return find_misfit(); });
  }
#endif

 private:
  static constexpr std::size_t most_rows = 512;  // the library's limit; few enough for any stack
  static constexpr const char* hint = "; denise::stack(m, count) says that there are several";

  struct range {
    const T* begin = nullptr;
    const T* end = nullptr;
  };

  // Whether m is in memory what the library reads.
  bool is_ready() const noexcept { return m_.row_major && has_no_gaps(); }
  bool has_no_gaps() const noexcept { return m_.inner == 1 && m_.outer == static_cast<std::ptrdiff_t>(n_); }

  std::size_t size() const noexcept { return m_.count * n_ * n_; }
  const std::optional<eigen_output<T>>& room() const noexcept { return out_.matrices[out_.room].to; }

  // For every output that is asked for: itself, and the rows and columns that it must have.
  template <typename Body>
  void each_output(Body body) const {
    for (const eigen_target<T>& at : out_.matrices) {
      if (!at.to) continue;
      const bool below = at.to->row_major();
      body(at, below ? m_.count * at.rows : at.rows, below ? at.cols : m_.count * at.cols);
    }
  }

  // Gives outputs their sizes. Memory that would go must not be where m or another output is.
  void resize_outputs() const {
    const misfit found = find_misfit();
    if (found.name == nullptr || std::strcmp(found.name, "m") == 0) return;
    bool safe = true;
    each_output([&](const eigen_target<T>& at, std::size_t rows, std::size_t cols) {
      if (at.to->look().rows == rows && at.to->look().cols == cols) return;
      const range going = range_of(*at.to);
      int users = overlap(going, range_of(m_));
      each_output([&](const eigen_target<T>& other, std::size_t, std::size_t) {
        users += overlap(going, range_of(*other.to));
      });
      safe = safe && users <= 1;  // itself
    });
    each_output([&](const eigen_target<T>& at, std::size_t rows, std::size_t cols) {
      if (safe) at.to->resize(rows, cols);
    });
  }

  static range range_of(const eigen_input<T>& m) noexcept {
    const std::size_t outer = m.row_major ? m.rows : m.cols, inner = m.row_major ? m.cols : m.rows;
    if (outer == 0 || inner == 0) return {};
    const std::ptrdiff_t a = static_cast<std::ptrdiff_t>(outer - 1) * m.outer, zero = 0;
    const std::ptrdiff_t b = static_cast<std::ptrdiff_t>(inner - 1) * m.inner;
    return {m.data + std::min(a, zero) + std::min(b, zero), m.data + std::max(a, zero) + std::max(b, zero) + 1};
  }
  static range range_of(const eigen_output<T>& some) noexcept {
    return {some.look().data, some.look().data + some.look().rows * some.look().cols};
  }
  static bool overlap(const range& a, const range& b) noexcept {
    const std::less<const T*> before;
    return before(a.begin, b.end) && before(b.begin, a.end);
  }

  // What the library cannot see once m is copied. s may be m as a whole; nothing else may overlap.
  bool clash() const noexcept {
    std::array<range, 6> all{range_of(m_)};
    std::size_t count = 1;
    bool found = false;
    each_output([&](const eigen_target<T>& at, std::size_t, std::size_t) {
      const bool may_be_m = out_.room_may_be_m && &at == &out_.matrices[out_.room];
      const bool in_place = may_be_m && at.to->look().data == m_.data && has_no_gaps();
      all[count] = range_of(*at.to);
      for (std::size_t i = in_place ? 1 : 0; i < count; ++i) found = found || overlap(all[count], all[i]);
      ++count;
    });
    return found;
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

  // Turns n x k values from row-major to column-major in place: the last column goes to the end and the others close
  // up, again and again.
  void to_columns(T* u) const noexcept {
    T column[most_rows];
    for (std::size_t cols = k_; cols > 1; --cols) {
      for (std::size_t i = 0; i < n_; ++i) {
        column[i] = u[i * cols + cols - 1];
        for (std::size_t a = 0; a < cols - 1; ++a) u[i * (cols - 1) + a] = u[i * cols + a];
      }
      std::copy(column, column + n_, u + n_ * (cols - 1));
    }
  }

  std::size_t n_, k_;
  eigen_input<T> m_;
  eigen_targets<T> out_;
};

}  // namespace detail

}  // namespace denise

#endif  // DENISE_EIGEN_DETAIL_HPP
