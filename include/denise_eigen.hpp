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
//
//     const auto sigma = denise::covariance(model, m);  // U U' + diag(d), which can be inverted
//     Eigen::VectorXd w = sigma.solve(Eigen::VectorXd::Ones(20));
//     w /= w.sum();                               // the portfolio of least variance
//   }
//
// - m is a matrix, array, map, reference or block, with any strides. Its lower triangle is read, in whichever order it
//   is stored. Sums, products and other expressions do not compile: give them a name, or write .eval().
// - Outputs are matrices, arrays, and maps without strides, in either order. Blocks, references and maps with strides
//   do not compile as outputs. s may be m itself; nothing else may overlap.
// - m must be n x n. Several matrices are said by denise::stack(m, count): as memory has them, row-major ones lie below
//   each other (count*n x n) and column-major ones side by side (n x count*n). Outputs are stacked by their own order
//   in the same way, the n x k factors of u too. A std::vector of matrices is split one by one, at half the speed.
// - Memory. try_... functions never allocate: outputs must have the right size (status::shape), and where m is not
//   row-major without gaps it is turned inside of s, which must then be asked for (status::argument); try_covariance,
//   which has no s, asks for room. The throwing functions resize what can be resized, and allocate room for m where
//   there is none. Called again with the same matrices they resize nothing. factor_covariance allocates as Eigen does.
#ifndef DENISE_EIGEN_HPP
#define DENISE_EIGEN_HPP

#include <denise.hpp>
#include <denise_eigen_detail.hpp>

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace denise {

// Says that a matrix is so many matrices: below each other if it is row-major, side by side if it is column-major.
template <typename Derived>
eigen_input<typename Derived::Scalar> stack(const Eigen::DenseBase<Derived>& m, std::size_t count) noexcept {
  return detail::input(m, count);
}

namespace detail {

// What is done with m, and with the memory of the outputs, in the order of targets.
inline auto network(const model& by, const std::optional<view<report>>& reports) noexcept {
  return [&by, reports](const auto& m, const auto& out) {
    return by.try_decompose(m, {out[0], out[1], out[2], reports});
  };
}
inline auto classical(method by, std::size_t n, std::uint32_t k, double lambda) noexcept {
  return [=](const auto& m, const auto& out) {
    return denise::try_solve(by, static_cast<std::uint32_t>(n), k, m, out[1], out[2], lambda);
  };
}
inline auto invertible(const model& by, const std::optional<view<double>>& log_det, double floor,
                       const std::optional<view<report>>& reports) noexcept {
  return [=, &by](const auto& m, const auto& out) {
    return by.try_covariance(m, *out[0], {out[1], out[2], out[3], log_det}, floor, reports);
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

// Splits m, a matrix or a stack of them. Never allocates.
template <typename M>
status try_decompose(const model& by, const M& m, const eigen_outputs<detail::real<M>>& out) noexcept {
  if (!by) return status::null_pointer;
  const auto to = detail::targets(by.n(), by.k(), out);
  return detail::eigen_call(by.n(), by.k(), detail::input(m), to).run(nullptr, detail::network(by, out.reports));
}
template <typename M>
status try_decompose(const model& by, const M& m, eigen_output<detail::real<M>> l,
                     eigen_output<detail::real<M>> s) noexcept {
  return denise::try_decompose(by, m, eigen_outputs<detail::real<M>>{{}, l, s, {}});
}

// The same with a classical method, in double and for m of any size: see try_solve in denise.hpp. It allocates.
template <typename M>
status try_solve(method by, std::uint32_t k, const M& m, std::optional<eigen_output<detail::real<M>>> l,
                 std::optional<eigen_output<detail::real<M>>> s, double lambda = 0) noexcept {
  const std::size_t n = detail::size_of(m);
  if (n == 0) return status::argument;
  const eigen_outputs<double> out{{}, l, s, {}};
  const auto to = detail::targets(n, k, out);
  return detail::eigen_call(n, k, detail::input(m), to).run(nullptr, detail::classical(by, n, k, lambda));
}

// Splits m and makes of it a covariance that can be inverted: see model::try_covariance in denise.hpp. Never allocates.
template <typename M>
status try_covariance(const model& by, const M& m, eigen_output<detail::real<M>> u,
                      const eigen_covariance_outputs<detail::real<M>>& out, double floor = 0,
                      std::optional<view<report>> reports = std::nullopt) noexcept {
  if (!by) return status::null_pointer;
  const auto to = detail::targets(by.n(), by.k(), u, out, reports);
  return detail::eigen_call(by.n(), by.k(), detail::input(m), to)
      .run(nullptr, detail::invertible(by, out.log_det, floor, reports));
}

#if DENISE_HPP_EXCEPTIONS
template <typename M>
void decompose(const model& by, const M& m, const eigen_outputs<detail::real<M>>& out) {
  if (!by) throw error(status::null_pointer, "the model is empty");
  const auto to = detail::targets(by.n(), by.k(), out);
  detail::eigen_call(by.n(), by.k(), detail::input(m), to).run_or_throw(detail::network(by, out.reports));
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
  if (n == 0) throw error(status::argument, "m is empty");
  const eigen_outputs<double> out{{}, l, s, {}};
  const auto to = detail::targets(n, k, out);
  detail::eigen_call(n, k, detail::input(m), to).run_or_throw(detail::classical(by, n, k, lambda));
}

template <typename M>
void covariance(const model& by, const M& m, eigen_output<detail::real<M>> u,
                const eigen_covariance_outputs<detail::real<M>>& out, double floor = 0,
                std::optional<view<report>> reports = std::nullopt) {
  if (!by) throw error(status::null_pointer, "the model is empty");
  const auto to = detail::targets(by.n(), by.k(), u, out, reports);
  detail::eigen_call(by.n(), by.k(), detail::input(m), to)
      .run_or_throw(detail::invertible(by, out.log_det, floor, reports));
}

// Sigma = U U' + diag(d), kept as U, which is n x k, and d, which has n values: all that products with Sigma and its
// inverse need. What returns a vector or a matrix allocates it; what cannot be done throws denise::error.
template <typename T>
class factor_covariance {
 public:
  using factors = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using matrix_type = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

  // Empty, to be assigned later.
  factor_covariance() = default;

  // From one matrix m, by a model: see model::covariance in denise.hpp.
  template <typename M>
  factor_covariance(const model& by, const Eigen::DenseBase<M>& m, double floor = 0) {
    eigen_covariance_outputs<T> out;
    out.d = d_;
    out.log_det = {&log_det_, 1};
    denise::covariance(by, m.derived(), u_, out, floor);
  }

  // From a u that is there already, and m, of which only the diagonal is read. Either may be an expression.
  template <typename M, typename U>
  static factor_covariance from_u(const Eigen::MatrixBase<M>& m, const Eigen::MatrixBase<U>& u, double floor = 0) {
    factor_covariance made;
    made.u_ = u;
    made.d_.resize(u.rows());
    const factors square = m;
    made.check("m", square.rows(), square.cols(), u.rows());
    covariance_outputs<T> out;
    out.d = block(made.d_);
    out.log_det = {&made.log_det_, 1};
    denise::covariance_from_u(made.n(), made.k(), block(square), block(made.u_), out, floor);
    return made;
  }

  const factors& u() const noexcept { return u_; }
  const vector& d() const noexcept { return d_; }
  double log_det() const noexcept { return log_det_; }

  // Sigma x and Sigma^-1 x, for a vector or for the columns of a matrix, which comes back row-major. x may be an
  // expression.
  template <typename X>
  auto multiply(const Eigen::MatrixBase<X>& x) const {
    auto y = rows_of(x);
    denise::multiply(n(), k(), block(u_), block(d_), block(y), block(y));
    return y;
  }
  template <typename X>
  auto solve(const Eigen::MatrixBase<X>& x) const {
    auto y = rows_of(x);
    denise::solve(n(), k(), block(u_), block(d_), block(y), block(y));
    return y;
  }

  // Sigma and its inverse in full, symmetric to the bit. Neither is needed for products.
  matrix_type matrix() const { return mirrored(multiply(factors::Identity(u_.rows(), u_.rows()))); }
  matrix_type inverse() const { return mirrored(solve(factors::Identity(u_.rows(), u_.rows()))); }

 private:
  std::uint32_t n() const noexcept { return static_cast<std::uint32_t>(u_.rows()); }
  std::uint32_t k() const noexcept { return static_cast<std::uint32_t>(u_.cols()); }

  template <typename Block>
  static auto block(Block& all) noexcept {
    return view(all.data(), static_cast<std::size_t>(all.size()));
  }

  // A copy of x as the library reads it: row by row. A vector is that in either order.
  template <typename X>
  auto rows_of(const Eigen::MatrixBase<X>& x) const {
    static_assert(std::is_same_v<typename X::Scalar, T>, "denise: x must be of the type of Sigma, float or double");
    constexpr int cols = X::ColsAtCompileTime;
    Eigen::Matrix<T, Eigen::Dynamic, cols, cols == 1 ? Eigen::ColMajor : Eigen::RowMajor> y = x;
    check("x", y.rows(), y.cols(), y.cols());
    return y;
  }

  void check(const char* name, Eigen::Index rows, Eigen::Index cols, Eigen::Index right_cols) const {
    if (rows == u_.rows() && cols == right_cols) return;
    const auto size = [](Eigen::Index i) { return static_cast<std::size_t>(i); };
    detail::throw_misfit({name, size(rows * cols), size(rows), size(cols), 1, n(), size(right_cols), ""});
  }

  template <typename Square>
  static matrix_type mirrored(const Square& all) {
    return all.template selfadjointView<Eigen::Lower>();
  }

  factors u_;
  vector d_;
  double log_det_ = 0;
};

template <typename Derived>
factor_covariance<typename Derived::Scalar> covariance(const model& by, const Eigen::DenseBase<Derived>& m,
                                                       double floor = 0) {
  return {by, m, floor};
}

// How many factors one matrix of any size has: see suggest_rank in denise.hpp. m may be an expression.
template <typename Derived>
std::uint32_t suggest_rank(const Eigen::MatrixBase<Derived>& m, double observations = 0, std::uint32_t most = 0) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m.template cast<double>();
  const auto n = static_cast<std::size_t>(rows.rows()), cols = static_cast<std::size_t>(rows.cols());
  if (cols != n) detail::throw_misfit({"m", n * cols, n, cols, 1, n, n, ""});
  return denise::suggest_rank(static_cast<std::uint32_t>(n), view(rows.data(), n * n), observations, most);
}
#endif

}  // namespace denise

#endif  // DENISE_EIGEN_HPP
