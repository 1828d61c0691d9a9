// denise_eigen.hpp: both storage orders, strides, stacks, sizes, memory. What must not compile is in refused.cpp.
// Expected values come from denise.hpp on plain row-major memory, and must be the same to the bit.
#define EIGEN_RUNTIME_NO_MALLOC
#include <denise_eigen.hpp>

#include "check.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>
#include <vector>

namespace {

std::size_t allocations = 0;

}  // namespace

// What C++ allocates is counted here; what Eigen allocates is an assertion while it is forbidden.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

using denise::status;
using Eigen::ColMajor;
using Eigen::Dynamic;
using Eigen::Index;
using Eigen::RowMajor;
template <typename T, int order>
using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, order>;

constexpr int n = 6, k = 2, count = 5;

// Runs a body in which nothing may be allocated.
template <typename Body>
auto without_memory(Body body) {
  const std::size_t before = allocations;
  Eigen::internal::set_is_malloc_allowed(false);
  const auto result = body();
  Eigen::internal::set_is_malloc_allowed(true);
  CHECK(allocations == before);
  return result;
}

// What the plain header makes of count matrices.
template <typename T>
struct Expected {
  std::vector<T> m, u, l, s;
  denise::model model = denise::model::try_load({n, k}).model;

  Expected() : m(count * n * n), u(count * n * k), l(m.size()), s(m.size()) {
    for (int q = 0; q < count; ++q) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const double low =
              std::sin(q + 3 * i + 1) * std::sin(q + 3 * j + 1) + std::cos(2 * i + q) * std::cos(2 * j + q);
          m[std::size_t((q * n + i) * n + j)] = T(low + (i == j ? 1 : 0) + ((i * j + q) % 7 == 5 ? 0.4 : 0));
        }
      }
    }
    denise::outputs<T> out{u, l, s, {}};
    CHECK(model.try_decompose(denise::batch(m, count), out) == status::ok);
  }

  // Matrix q of a stack, whatever its order.
  template <typename Stack>
  static auto block(Stack& all, int q, int cols) {
    return Stack::IsRowMajor ? all.block(q * n, 0, n, cols) : all.block(0, q * cols, n, cols);
  }

  // Only the lower triangle is to be read: above it there is nothing but NaN.
  template <int order>
  Matrix<T, order> matrices(int number = count) const {
    Matrix<T, order> all(order == RowMajor ? number * n : n, order == RowMajor ? n : number * n);
    all.setConstant(std::numeric_limits<T>::quiet_NaN());
    for (int q = 0; q < number; ++q) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) block(all, q, n)(i, j) = m[std::size_t((q * n + i) * n + j)];
      }
    }
    return all;
  }

  template <typename Stack>
  bool same(const Stack& all, const std::vector<T>& expected, int cols, int number = 1) const {
    bool equal = all.size() == number * n * cols;
    for (int q = 0; equal && q < number; ++q) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < cols; ++j)
          equal = equal && block(all, q, cols)(i, j) == expected[std::size_t((q * n + i) * cols + j)];
      }
    }
    return equal;
  }
};

// Every order of m with every order of the outputs, alone and stacked.
template <typename T, int in, int to>
void orders() {
  const Expected<T> e;
  const Matrix<T, in> m = e.template matrices<in>(1), many = e.template matrices<in>();
  const Matrix<T, in> m_before = m;
  Matrix<T, to> u(n, k), l(n, n), s(n, n);
  denise::eigen_outputs<T> out{u, l, s, {}};
  CHECK(without_memory([&] { return denise::try_decompose(e.model, m, out); }) == status::ok);
  CHECK(e.same(u, e.u, k) && e.same(l, e.l, n) && e.same(s, e.s, n));
  CHECK((u * u.transpose() - l).norm() <= T(1e-5) * l.norm());
  CHECK(std::memcmp(m.data(), m_before.data(), sizeof(T) * n * n) == 0);
  l.setZero();
  s.setZero();
  CHECK(without_memory([&] { return denise::try_decompose(e.model, m, l, s); }) == status::ok);
  CHECK(e.same(l, e.l, n) && e.same(s, e.s, n));

  // s in place of m.
  Matrix<T, in> over = m;
  CHECK(without_memory([&] { return denise::try_decompose(e.model, over, l, over); }) == status::ok);
  CHECK(e.same(over, e.s, n) && e.same(l, e.l, n));

  constexpr bool below = to == RowMajor;
  Matrix<T, to> us(below ? count * n : n, below ? k : count * k), ls(below ? count * n : n, below ? n : count * n),
      ss = ls;
  std::vector<denise::report> reports(count);
  denise::eigen_outputs<T> all{us, ls, ss, reports};
  CHECK(without_memory([&] { return denise::try_decompose(e.model, denise::stack(many, count), all); }) == status::ok);
  CHECK(e.same(us, e.u, k, count) && e.same(ls, e.l, n, count) && e.same(ss, e.s, n, count));
  CHECK(reports[4].status == DENISE_OK && reports[4].l1 > 0);
  Matrix<T, in> many_over = many;
  CHECK(denise::try_decompose(e.model, denise::stack(many_over, count), ls, many_over) == status::ok);
  CHECK(e.same(many_over, e.s, n, count));

  // A matrix that is not finite is its own loss only, and the other factors are in order.
  Matrix<T, in> spoilt = many;
  Expected<T>::block(spoilt, 2, n)(3, 1) = std::numeric_limits<T>::infinity();
  CHECK(denise::try_decompose(e.model, denise::stack(spoilt, count), all) == status::not_finite);
  CHECK(reports[2].status == DENISE_ERR_NOT_FINITE && reports[3].status == DENISE_OK);
  CHECK(e.same(Matrix<T, to>(Expected<T>::block(us, 0, k)), e.u, k) && std::isnan(Expected<T>::block(us, 2, k)(0, 0)));
}

// Blocks and maps with strides as input.
template <typename T, int order>
void strides() {
  const Expected<T> e;
  const Matrix<T, order> m = e.template matrices<order>(1);
  Matrix<T, order> big = Matrix<T, order>::Constant(3 * n, 3 * n, T(9)), l(n, n), s(n, n);
  big.block(4, 5, n, n) = m;
  const Matrix<T, order>& seen = big;
  CHECK(without_memory([&] { return denise::try_decompose(e.model, big.block(4, 5, n, n), l, s); }) == status::ok);
  CHECK(e.same(l, e.l, n) && e.same(s, e.s, n));
  CHECK(denise::try_decompose(e.model, seen.template block<n, n>(4, 5), l, s) == status::ok && e.same(l, e.l, n));
  CHECK(denise::try_decompose(e.model, Eigen::Ref<const Matrix<T, order>>(big.block(4, 5, n, n)), l, s) == status::ok);
  CHECK(e.same(l, e.l, n));

  std::vector<T> memory(4 * 3 * n * n);
  Eigen::Map<Matrix<T, order>, 0, Eigen::Stride<Dynamic, Dynamic>> map(memory.data(), n, n, {3 * n, 2});
  map = m;
  CHECK(denise::try_decompose(e.model, map, l, s) == status::ok && e.same(l, e.l, n) && e.same(s, e.s, n));

  // The transpose of the upper triangle.
  const Matrix<T, order> upper = m.transpose();
  CHECK(denise::try_decompose(e.model, upper.transpose(), l, s) == status::ok && e.same(l, e.l, n));

  // A stack inside of a larger matrix.
  const Matrix<T, order> many = e.template matrices<order>();
  Matrix<T, order> around = Matrix<T, order>::Constant(many.rows() + 3, many.cols() + 4, T(9)), ls = many, ss = many;
  around.block(1, 2, many.rows(), many.cols()) = many;
  CHECK(denise::try_decompose(e.model, denise::stack(around.block(1, 2, many.rows(), many.cols()), count), ls, ss) ==
        status::ok);
  CHECK(e.same(ls, e.l, n, count) && e.same(ss, e.s, n, count));
}

// Kinds of outputs: fixed, maps, arrays, a vector for rank 1.
void kinds() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1);
  Eigen::Matrix<double, n, k> u;
  Eigen::Array<double, n, n, RowMajor> l;
  std::vector<double> memory(n * n + 2, 7.0);
  denise::eigen_outputs<double> out;
  out.u = u;
  out.l = l;
  out.s = Eigen::Map<Eigen::MatrixXd>(&memory[1], n, n);  // the map may go
  CHECK(without_memory([&] { return denise::try_decompose(e.model, m, out); }) == status::ok);
  CHECK(e.same(u, e.u, k) && e.same(l, e.l, n) && memory.front() == 7 && memory.back() == 7);
  CHECK(e.same(Eigen::Map<Eigen::MatrixXd>(&memory[1], n, n), e.s, n));
  const Eigen::ArrayXXd as_array = m.array();
  Eigen::MatrixXd l2(n, n), s2(n, n);
  CHECK(denise::try_decompose(e.model, as_array, l2, s2) == status::ok && e.same(l2, e.l, n));

  const denise::model one = denise::model::try_load({n, 1}).model;
  Eigen::VectorXd factor(n);
  denise::eigen_outputs<double> rank_one{factor, l2, s2, {}};
  CHECK(denise::try_decompose(one, m, rank_one) == status::ok);
  CHECK((factor * factor.transpose() - l2).norm() < 1e-12);
}

// Factors of many sizes come out in the right order.
void factors() {
  const int sizes[][2] = {{2, 1}, {3, 2}, {5, 3}, {7, 6}, {16, 4}, {20, 3}, {33, 32}, {50, 5}, {64, 16}, {512, 32}};
  for (const auto& size : sizes) {
    const int rows = size[0], cols = size[1];
    const denise::model model = denise::model::try_load({std::uint32_t(rows), std::uint32_t(cols), 1}).model;
    Matrix<float, RowMajor> m(rows, rows), rows_u(rows, cols);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) m(i, j) = std::exp(-0.1F * float(std::abs(i - j))) + (i == j ? 1.0F : 0.0F);
    }
    Matrix<float, ColMajor> columns_u(rows, cols);
    denise::eigen_outputs<float> by_rows, by_columns;
    by_rows.u = rows_u;
    by_columns.u = columns_u;
    CHECK(denise::try_decompose(model, m, by_rows) == status::ok);
    CHECK(denise::try_decompose(model, m, by_columns) == status::ok);
    CHECK(rows_u == columns_u && rows_u.norm() > 0);
  }
}

// Whatever does not fit is refused, and nothing is written.
void refused() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1), many = e.matrices<ColMajor>();
  Eigen::MatrixXd l = Eigen::MatrixXd::Constant(n, n, 7), s = l, u = l;
  const Eigen::MatrixXd before = l;
  const denise::eigen_outputs<double> wrong_u{u, l, s, {}};
  CHECK(denise::try_decompose(e.model, m, wrong_u) == status::shape);
  CHECK(denise::try_decompose(e.model, many, l, s) == status::shape);                            // not one matrix
  CHECK(denise::try_decompose(e.model, denise::stack(many, count), l, s) == status::shape);      // l and s are
  CHECK(denise::try_decompose(e.model, denise::stack(many, count - 1), l, s) == status::shape);  // not so many
  CHECK(denise::try_decompose(e.model, denise::stack(m, 1 + (std::size_t{1} << 63)), l, s) == status::shape);
  const Eigen::MatrixXd tall = e.matrices<RowMajor>();  // column-major ones lie side by side
  Eigen::MatrixXd tall_l = tall, tall_s = tall;
  CHECK(denise::try_decompose(e.model, denise::stack(tall, count), tall_l, tall_s) == status::shape);
  Eigen::MatrixXd wide_l = many, wide_s = many;
  CHECK(denise::try_decompose(e.model, denise::stack(tall, count), wide_l, wide_s) == status::shape);
  std::vector<denise::report> reports(2);
  denise::eigen_outputs<double> wrong_reports{{}, l, s, reports};
  CHECK(denise::try_decompose(e.model, m, wrong_reports) == status::shape);

  // Without s there is no room to turn m in; where it need not be turned, there is no need.
  denise::eigen_outputs<double> only_l;
  only_l.l = l;
  CHECK(denise::try_decompose(e.model, m, only_l) == status::argument);

  // Overlaps.
  CHECK(denise::try_decompose(e.model, m, l, l) == status::argument);
  Eigen::MatrixXd same = m;
  CHECK(denise::try_decompose(e.model, same, same, s) == status::argument);
  Eigen::MatrixXd big = Eigen::MatrixXd::Constant(2 * n, 2 * n, 1);
  Eigen::Map<Eigen::MatrixXd> inside(big.data(), n, n);
  CHECK(denise::try_decompose(e.model, big.block(0, 0, n, n), l, inside) == status::argument);
  CHECK(big == Eigen::MatrixXd::Constant(2 * n, 2 * n, 1));
  CHECK(l == before && s == before && u == before);
  const auto row_m = e.matrices<RowMajor>(1);
  CHECK(denise::try_decompose(e.model, row_m, only_l) == status::ok && e.same(l, e.l, n));

  denise::model none(nullptr);
  CHECK(denise::try_decompose(none, m, l, s) == status::null_pointer);
  const Eigen::MatrixXd empty;
  Eigen::MatrixXd empty_l(n, 0), empty_s(n, 0);
  CHECK(denise::try_decompose(e.model, empty, l, s) == status::shape);
  CHECK(denise::try_decompose(e.model, denise::stack(empty_l, 0), empty_l, empty_s) == status::ok);
}

void solve() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1), many = e.matrices<ColMajor>();
  std::vector<double> l(n * n), s(n * n);
  const std::vector<double> plain(e.m.begin(), e.m.begin() + n * n);
  CHECK(denise::try_solve(denise::method::pcp, n, k, plain, l, s, 0.3) == status::ok);
  Eigen::MatrixXd el(n, n);
  Matrix<double, RowMajor> es(n, n);
  CHECK(denise::try_solve(denise::method::pcp, k, m, el, es, 0.3) == status::ok && e.same(el, l, n) &&
        e.same(es, s, n));
  CHECK(denise::try_solve(denise::method::pcp, k, m, el, std::nullopt, 0.3) == status::argument);
  CHECK(denise::try_solve(denise::method::pcp, k, many.block(0, 0, n, n - 1), el, es) == status::shape);
#if DENISE_HPP_EXCEPTIONS
  Eigen::MatrixXd resized;
  denise::solve(denise::method::pcp, k, m, resized, std::nullopt, 0.3);
  CHECK(e.same(resized, l, n));
#endif
}

#if DENISE_HPP_EXCEPTIONS
// Whether the body throws that status, with these words.
template <typename Body>
bool throws(status code, std::string_view words, Body body) {
  try {
    body();
  } catch (const denise::error& error) {
    return error.code() == code && std::string_view(error.what()).find(words) != std::string_view::npos;
  }
  return false;
}

// The layer that throws gives outputs their sizes.
void throwing() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1), many = e.matrices<ColMajor>();
  Eigen::MatrixXd u, l(2, 3), s;
  Matrix<double, RowMajor> rows_u, rows_l;
  denise::decompose(e.model, m, l, s);
  CHECK(e.same(l, e.l, n) && e.same(s, e.s, n));
  CHECK(without_memory([&] {
    denise::decompose(e.model, m, l, s);
    return true;
  }));  // all have their sizes
  const denise::eigen_outputs<double> parts{u, rows_l, {}, {}};
  denise::decompose(e.model, m, parts);
  CHECK(u.rows() == n && u.cols() == k && e.same(u, e.u, k) && e.same(rows_l, e.l, n));
  const denise::eigen_outputs<double> stacked{rows_u, l, s, {}};
  denise::decompose(e.model, denise::stack(many, count), stacked);
  CHECK(rows_u.rows() == count * n && l.cols() == count * n);
  CHECK(e.same(rows_u, e.u, k, count) && e.same(l, e.l, n, count) && e.same(s, e.s, n, count));
  const auto returned = denise::decompose(e.model, m);
  CHECK(e.same(returned.u, e.u, k) && e.same(returned.l, e.l, n) && e.same(returned.s, e.s, n));
  const auto [ru, rl, rs] = denise::decompose(e.model, e.matrices<RowMajor>(1));
  CHECK(decltype(ru)::IsRowMajor && e.same(ru, e.u, k) && e.same(rl, e.l, n) && e.same(rs, e.s, n));

  std::vector<Eigen::MatrixXd> some(2, m), ls, ss;
  some[0](0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(throws(status::not_finite, "", [&] { denise::decompose(e.model, some, ls, ss); }));
  CHECK(ls.size() == 2 && e.same(ls[1], e.l, n) && e.same(ss[1], e.s, n));
  some[0].resize(n, n + 1);
  CHECK(throws(status::shape, "m has the wrong size", [&] { denise::decompose(e.model, some, ls, ss); }));

  // What cannot be resized, and what must not be.
  Eigen::Matrix3d fixed;
  Eigen::VectorXd vector;
  CHECK(throws(status::shape, "l has the wrong size: 9 values as 3 x 3",
               [&] { denise::decompose(e.model, m, fixed, s); }));
  CHECK(throws(status::shape, "s has the wrong size", [&] { denise::decompose(e.model, m, l, vector); }));
  Eigen::MatrixXd big = Eigen::MatrixXd::Constant(2 * n, 2 * n, 1);
  CHECK(throws(status::shape, "s has the wrong size",
               [&] { denise::decompose(e.model, big.block(0, 0, n, n), l, big); }));
  CHECK(big == Eigen::MatrixXd::Constant(2 * n, 2 * n, 1));
  Eigen::MatrixXd large(2 * n, 2 * n);
  Eigen::Map<Eigen::MatrixXd> part(large.data(), n, n);  // would be left without memory
  CHECK(throws(status::shape, "l has the wrong size", [&] { denise::decompose(e.model, m, large, part); }));
  CHECK(throws(status::argument, "overlaps", [&] { denise::decompose(e.model, m, part, part); }));
  const denise::eigen_outputs<double> twice{l, l, s, {}};
  CHECK(throws(status::shape, "u has the wrong size", [&] { denise::decompose(e.model, m, twice); }));

  // Neither a hundred assets nor their returns are 25 or five matrices.
  const denise::model twenty;
  const Eigen::MatrixXd hundred = Eigen::MatrixXd::Ones(100, 100);
  const Matrix<double, RowMajor> returns = Matrix<double, RowMajor>::Ones(100, 20);
  CHECK(throws(status::shape, "10000 values as 100 x 100 where there must be 1 times 20 x 20; denise::stack",
               [&] { denise::decompose(twenty, hundred, l, s); }));
  CHECK(throws(status::shape, "", [&] { denise::decompose(twenty, returns, l, s); }));
  CHECK(throws(status::null_pointer, "", [&] { denise::decompose(denise::model(nullptr), m, l, s); }));
}
#endif

static_assert(noexcept(denise::try_decompose(std::declval<const denise::model&>(), std::declval<Eigen::MatrixXf>(),
                                             std::declval<const denise::eigen_outputs<float>&>())));

template <typename T>
void all_orders() {
  orders<T, ColMajor, ColMajor>();
  orders<T, ColMajor, RowMajor>();
  orders<T, RowMajor, ColMajor>();
  orders<T, RowMajor, RowMajor>();
  strides<T, ColMajor>();
  strides<T, RowMajor>();
}

}  // namespace

int main() {
  all_orders<float>();
  all_orders<double>();
  kinds();
  factors();
  refused();
  solve();
#if DENISE_HPP_EXCEPTIONS
  throwing();
#endif
  std::printf("eigen.cpp, Eigen %d.%d.%d: %d passed, %d failed\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
              EIGEN_MINOR_VERSION, passed, failed);
  return failed == 0 ? 0 : 1;
}
