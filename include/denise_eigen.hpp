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
//   each other (count*n x n) and column-major ones side by side (n x count*n). Outputs are stacked by their own order
//   in the same way, the n x k factors of u too. A std::vector of matrices is split one by one, at half the speed.
// - Memory. try_... functions never allocate: outputs must have the right size (status::shape), and where m is not
//   row-major without gaps it is turned inside of s, which must then be asked for (status::argument). The throwing
//   functions resize what can be resized, and allocate room for m where s is not asked for. Called again with the same
//   matrices they resize nothing.
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

// The same with a classical method, in double and for m of any size: see try_solve in denise.hpp. It allocates.
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
  if (!by) throw error(status::null_pointer, "the model is empty");
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
  if (n == 0) throw error(status::argument, "m is empty");
  const eigen_outputs<double> out{{}, l, s, {}};
  detail::eigen_split<double>(n, k, detail::input(m), out).run_or_throw(detail::classical(by, n, k, lambda));
}
#endif

}  // namespace denise

#endif  // DENISE_EIGEN_HPP
