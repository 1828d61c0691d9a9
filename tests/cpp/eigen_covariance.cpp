// Covariances that can be inverted, of denise_eigen.hpp: both storage orders, strides, stacks, sizes, memory, and
// factor_covariance. Expected values come from denise.hpp on plain row-major memory, and must be the same to the bit.
#define EIGEN_RUNTIME_NO_MALLOC
#include <denise_eigen.hpp>

#include "check.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
using Eigen::RowMajor;
template <typename T, int order>
using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, order>;
template <typename T>
using Outputs = denise::eigen_covariance_outputs<T>;

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
  std::vector<T> m, u, d, sigma, inverse;
  std::vector<double> log_det;
  denise::model model = denise::model::try_load({n, k}).model;

  Expected() : m(count * n * n), u(count * n * k), d(count * n), sigma(m), inverse(m), log_det(count) {
    for (int q = 0; q < count; ++q) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const double low = std::sin(q + 3 * i + 1) * std::sin(q + 3 * j + 1);
          m[std::size_t((q * n + i) * n + j)] = T(low + (i == j ? 0.3 + 0.1 * i : 0));
        }
      }
    }
    const denise::covariance_outputs<T> out{d, sigma, inverse, log_det};
    CHECK(model.try_covariance(denise::batch(m, count), u, out) == status::ok);
  }

  // Matrix q of a stack, whatever its order; those of d are rows if they are row-major, and columns if not.
  template <typename Stack>
  static auto block(Stack& all, int q, int rows, int cols) {
    return Stack::IsRowMajor ? all.block(q * rows, 0, rows, cols) : all.block(0, q * cols, rows, cols);
  }

  // Only the lower triangle is to be read: above it there is nothing but NaN.
  template <int order>
  Matrix<T, order> matrices(int number = count) const {
    Matrix<T, order> all(order == RowMajor ? number * n : n, order == RowMajor ? n : number * n);
    all.setConstant(std::numeric_limits<T>::quiet_NaN());
    for (int q = 0; q < number; ++q) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) block(all, q, n, n)(i, j) = m[std::size_t((q * n + i) * n + j)];
      }
    }
    return all;
  }

  template <typename Stack>
  static bool same(const Stack& all, const std::vector<T>& right, int rows, int cols, int number = 1) {
    bool equal = all.size() == number * rows * cols;
    for (int q = 0; equal && q < number; ++q) {
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
          equal = equal && block(all, q, rows, cols)(i, j) == right[std::size_t((q * rows + i) * cols + j)];
        }
      }
    }
    return equal;
  }
};

// Every order of m with every order of the outputs, alone and stacked.
template <typename T, int in, int to>
void orders() {
  const Expected<T> e;
  const Matrix<T, in> m = e.template matrices<in>(1), many = e.template matrices<in>(), before = m;
  Matrix<T, to> u(n, k), sigma(n, n), inverse(n, n);
  Matrix<T, in> room(n, n);
  Eigen::Matrix<T, Dynamic, 1> d(n);
  Eigen::Matrix<T, 1, Dynamic> row(n);
  double log_det = 0;
  Outputs<T> out{d, sigma, inverse, denise::view(&log_det, 1), room};
  CHECK(without_memory([&] { return denise::try_covariance(e.model, m, u, out); }) == status::ok);
  CHECK(e.same(u, e.u, n, k) && e.same(d, e.d, n, 1) && e.same(sigma, e.sigma, n, n));
  CHECK(e.same(inverse, e.inverse, n, n) && log_det == e.log_det[0]);
  CHECK((sigma * inverse - Matrix<T, to>::Identity(n, n)).norm() < (sizeof(T) == 4 ? T(1e-4) : T(1e-12)));
  CHECK(std::memcmp(m.data(), before.data(), sizeof(T) * n * n) == 0);
  Outputs<T> other;
  other.d = row;
  other.room = room;
  CHECK(without_memory([&] { return denise::try_covariance(e.model, m, u, other); }) == status::ok);
  CHECK(e.same(row, e.d, 1, n));

  // Room is needed where m must be turned, and only there.
  Outputs<T> no_room;
  no_room.d = d;
  d.setZero();
  CHECK(denise::try_covariance(e.model, m, u, no_room) == (in == RowMajor ? status::ok : status::argument));
  CHECK(e.same(d, e.d, n, 1) == (in == RowMajor));

  constexpr bool below = to == RowMajor;
  Matrix<T, to> us(below ? count * n : n, below ? k : count * k), ds(below ? count : n, below ? n : count);
  Matrix<T, to> sigmas(below ? count * n : n, below ? n : count * n), inverses = sigmas;
  Matrix<T, in> rooms = many;
  std::vector<double> logs(count);
  std::vector<denise::report> reports(count);
  const Outputs<T> all{ds, sigmas, inverses, logs, rooms};
  const auto stack = denise::stack(many, count);
  CHECK(without_memory([&] { return denise::try_covariance(e.model, stack, us, all, 0, reports); }) == status::ok);
  CHECK(e.same(us, e.u, n, k, count) && e.same(ds, e.d, below ? 1 : n, below ? n : 1, count));
  CHECK(e.same(sigmas, e.sigma, n, n, count) && e.same(inverses, e.inverse, n, n, count) && logs == e.log_det);
  CHECK(reports[4].status == DENISE_OK && reports[4].residual > 0);

  // Another floor, and a matrix of zeros, which is its own loss only.
  Matrix<T, in> spoilt = many;
  Expected<T>::block(spoilt, 2, n, n).setZero();
  CHECK(denise::try_covariance(e.model, denise::stack(spoilt, count), us, all, 0, reports) == status::singular);
  CHECK(reports[2].status == DENISE_ERR_SINGULAR && reports[3].status == DENISE_OK && std::isnan(logs[2]));
  CHECK(e.same(Matrix<T, to>(Expected<T>::block(us, 0, n, k)), e.u, n, k) && logs[3] == e.log_det[3]);
  CHECK(denise::try_covariance(e.model, stack, us, all, 0.9) == status::ok && logs[0] > e.log_det[0] + 0.1);
}

// Blocks and maps with strides as input, and other kinds of outputs.
template <typename T, int order>
void strides() {
  const Expected<T> e;
  Matrix<T, order> big = Matrix<T, order>::Constant(3 * n, 3 * n, T(9)), room(n, n);
  big.block(4, 5, n, n) = e.template matrices<order>(1);
  Eigen::Matrix<T, n, k> u;
  Eigen::Array<T, n, n> sigma;
  std::vector<T> memory(n + 2, T(7));
  Outputs<T> out;
  out.d = Eigen::Map<Eigen::Matrix<T, n, 1>>(&memory[1]);  // the map may go
  out.sigma = sigma;
  out.room = room;
  CHECK(without_memory([&] { return denise::try_covariance(e.model, big.block(4, 5, n, n), u, out); }) == status::ok);
  CHECK(e.same(u, e.u, n, k) && e.same(sigma, e.sigma, n, n) && memory[1] == e.d[0] && memory[n] == e.d[n - 1]);
  CHECK(memory.front() == 7 && memory.back() == 7);
}

// Whatever does not fit is refused, and nothing is written.
void refused() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1), many = e.matrices<ColMajor>();
  Eigen::MatrixXd u = Eigen::MatrixXd::Constant(n, k, 7), room(n, n), small(2, 2), sigma = room;
  Eigen::VectorXd d = Eigen::VectorXd::Constant(n, 7), short_d(n - 1);
  std::vector<double> logs(2);
  std::vector<denise::report> reports(2);
  const auto with = [&](auto change) {
    Outputs<double> out;
    out.d = d;
    out.room = room;
    change(out);
    return out;
  };
  const auto good = with([](auto&) {});
  CHECK(denise::try_covariance(e.model, many, u, good) == status::shape);
  CHECK(denise::try_covariance(e.model, denise::stack(many, count), u, good) == status::shape);
  CHECK(denise::try_covariance(e.model, m, small, good) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.d = short_d; })) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.sigma = small; })) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.inverse = small; })) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.room = small; })) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.log_det = logs; })) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, good, 0, reports) == status::shape);
  CHECK(denise::try_covariance(e.model, m, u, good, 2) == status::argument);
  CHECK(denise::try_covariance(denise::model(nullptr), m, u, good) == status::null_pointer);
  Eigen::MatrixXd over = m;
  CHECK(denise::try_covariance(e.model, over, u, with([&](auto& out) { out.sigma = over; })) == status::argument);
  CHECK(denise::try_covariance(e.model, over, u, with([&](auto& out) { out.room = over; })) == status::argument);
  CHECK(denise::try_covariance(e.model, m, u, with([&](auto& out) { out.sigma = room; })) == status::argument);
  CHECK(std::memcmp(over.data(), m.data(), sizeof(double) * n * n) == 0);
  CHECK(u == Eigen::MatrixXd::Constant(n, k, 7) && d == Eigen::VectorXd::Constant(n, 7));
  CHECK(denise::try_covariance(e.model, m, u, good) == status::ok && e.same(d, e.d, n, 1));
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

// The layer that throws gives outputs their sizes, and room to m.
void throwing() {
  const Expected<double> e;
  const auto m = e.matrices<ColMajor>(1), many = e.matrices<ColMajor>();
  Eigen::MatrixXd u, sigma(2, 3), ds;
  Matrix<double, RowMajor> inverse;
  Eigen::ArrayXd d;
  double log_det = 0;
  const Outputs<double> out{d, sigma, inverse, denise::view(&log_det, 1), {}};
  denise::covariance(e.model, m, u, out);
  CHECK(e.same(u, e.u, n, k) && e.same(d, e.d, n, 1) && e.same(sigma, e.sigma, n, n));
  CHECK(e.same(inverse, e.inverse, n, n) && log_det == e.log_det[0]);
  const auto row_m = e.matrices<RowMajor>(1);
  CHECK(without_memory([&] {
    denise::covariance(e.model, row_m, u, out);
    return true;
  }));  // all have their sizes, and m is as the library reads it
  Outputs<double> only_d;
  only_d.d = ds;
  denise::covariance(e.model, denise::stack(many, count), u, only_d);
  CHECK(ds.rows() == n && ds.cols() == count && e.same(ds, e.d, n, 1, count) && e.same(u, e.u, n, k, count));

  Eigen::Vector3d fixed;
  only_d.d = fixed;
  CHECK(throws(status::shape, "d has the wrong size: 3 values as 3 x 1 where there must be 1 times 6 x 1",
               [&] { denise::covariance(e.model, m, u, only_d); }));
  CHECK(throws(status::shape, "m has the wrong size", [&] { denise::covariance(e.model, many, u, out); }));
  CHECK(throws(status::argument, "floor", [&] { denise::covariance(e.model, m, u, out, 3); }));
  std::vector<double> logs(2);
  Outputs<double> wrong_logs;
  wrong_logs.log_det = logs;
  CHECK(throws(status::shape, "log_det has the wrong size: 2 values where there must be 1 times 1 x 1",
               [&] { denise::covariance(e.model, m, u, wrong_logs); }));
  only_d.d = Eigen::Map<Eigen::VectorXd>(nullptr, n);
  CHECK(throws(status::null_pointer, "an output that is set", [&] { denise::covariance(e.model, m, u, only_d); }));
  CHECK(throws(status::null_pointer, "empty", [&] { denise::covariance(denise::model(nullptr), m, u, out); }));
  Eigen::MatrixXd over = m;
  Outputs<double> same;
  same.sigma = over;
  CHECK(throws(status::argument, "overlaps", [&] { denise::covariance(e.model, over, u, same); }));
  over.setZero();
  CHECK(throws(status::singular, "", [&] { denise::covariance(e.model, over, u, out); }));
  CHECK(std::isnan(log_det) && std::isnan(d(0)));
}

// U and d, and what can be done with them.
template <typename T, int order>
void factors() {
  const Expected<T> e;
  const Matrix<T, order> m = e.template matrices<order>(1);
  const double small = sizeof(T) == 4 ? 1e-4 : 1e-12;
  const denise::factor_covariance<T> sigma = denise::covariance(e.model, m);
  using Vector = Eigen::Matrix<T, Dynamic, 1>;
  CHECK(e.same(sigma.u(), e.u, n, k) && e.same(sigma.d(), e.d, n, 1) && sigma.log_det() == e.log_det[0]);
  const Eigen::Map<const Matrix<T, RowMajor>> full(e.sigma.data(), n, n), inverse(e.inverse.data(), n, n);
  CHECK((sigma.matrix() - full).norm() < small && (sigma.inverse() - inverse).norm() < small);
  CHECK(sigma.matrix() == sigma.matrix().transpose() && sigma.inverse() == sigma.inverse().transpose());
  const Vector x = Vector::LinSpaced(n, T(-1), T(2));
  CHECK((sigma.multiply(x) - full * x).norm() < small && (sigma.solve(x) - inverse * x).norm() < small);
  CHECK((full * sigma.solve(x) - x).norm() < small && sigma.solve(x).cols() == 1);

  // Columns of a matrix in either order, expressions and blocks.
  Matrix<T, order> sides(n, 3);
  for (int j = 0; j < 3; ++j) sides.col(j) = x.array().pow(T(j + 1)).matrix();
  const Matrix<T, order> product = sigma.multiply(sides), solved = sigma.solve(sides);
  CHECK((product - full * sides).norm() < small && (solved - inverse * sides).norm() < small);
  CHECK((solved.col(2) - sigma.solve(sides.col(2))).norm() < small);
  CHECK((sigma.solve(2 * x + Vector::Ones(n)) - inverse * (2 * x + Vector::Ones(n))).norm() < 2 * small);
  const Eigen::Matrix<T, n, 2> fixed = sides.leftCols(2);
  CHECK((sigma.solve(fixed) - solved.leftCols(2)).norm() < small);
  Vector w = sigma.solve(Vector::Ones(n));
  CHECK(std::abs(w.dot(full * w) / w.sum() - 1) < T(small));

  // From u, with nothing but the diagonal of m; another floor.
  const auto from_u = denise::factor_covariance<T>::from_u(m, sigma.u());
  CHECK(from_u.u() == sigma.u() && from_u.d() == sigma.d() && from_u.log_det() == sigma.log_det());
  const Matrix<T, order> diagonal = m.diagonal().asDiagonal();
  const Matrix<T, order> u = sigma.u();
  CHECK(denise::factor_covariance<T>::from_u(2 * diagonal / 2, u * T(1)).d() == sigma.d());
  const auto floored = denise::covariance(e.model, m, 0.9);
  CHECK((floored.d().array() >= T(0.899) * m.diagonal().array()).all() && floored.log_det() > sigma.log_det());
  CHECK(denise::factor_covariance<T>::from_u(m, u, 0.9).d() == floored.d());

  // What does not fit, and what cannot be done.
  const Vector longer = Vector::Ones(n + 1);
  CHECK(throws(status::shape, "x has the wrong size: 7 values as 7 x 1 where there must be 1 times 6 x 1",
               [&] { (void)sigma.solve(longer); }));
  CHECK(throws(status::shape, "x has the wrong size: 6 values as 1 x 6 where there must be 1 times 6 x 6",
               [&] { (void)sigma.multiply(x.transpose()); }));
  CHECK(throws(status::shape, "m has the wrong size: 36 values as 6 x 6 where there must be 1 times 5 x 5",
               [&] { (void)denise::factor_covariance<T>::from_u(m, u.topRows(n - 1)); }));
  CHECK(throws(status::not_finite, "", [&] { (void)sigma.solve(x / T(0)); }));
  CHECK(throws(status::singular, "", [&] { (void)denise::covariance(e.model, Matrix<T, order>::Zero(n, n).eval()); }));
  CHECK(throws(status::argument, "n = 0", [] { (void)denise::factor_covariance<T>().solve(Vector()); }));
  CHECK(throws(status::null_pointer, "empty", [&] { (void)denise::covariance(denise::model(nullptr), m); }));
  denise::factor_covariance<T> later;
  later = sigma;
  CHECK(later.solve(x) == sigma.solve(x));
}
#endif

#if DENISE_HPP_EXCEPTIONS
void ranks() {
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(20, 20);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j <= i; ++j) m(i, j) += std::sin(3 * i + 1) * std::sin(3 * j + 1) + 0.02 * std::sin(i * j + 1);
  }
  CHECK(denise::suggest_rank(m, 1000, 4) == 1 && denise::suggest_rank(m.cast<float>(), 1000, 4) == 1);
  CHECK(denise::suggest_rank(Matrix<double, RowMajor>(m), 1000, 4) == 1);
  CHECK(denise::suggest_rank(m.transpose(), 1000, 4) == 0);  // the lower triangle is read, in either order
  CHECK(throws(status::shape, "m has the wrong size: 40 values as 20 x 2 where there must be 1 times 20 x 20",
               [&] { (void)denise::suggest_rank(m.leftCols(2)); }));
  CHECK(throws(status::argument, "n = 0", [] { (void)denise::suggest_rank(Eigen::MatrixXd()); }));
}
#endif

static_assert(noexcept(denise::try_covariance(std::declval<const denise::model&>(), std::declval<Eigen::MatrixXf>(),
                                              std::declval<Eigen::MatrixXf&>(),
                                              std::declval<const Outputs<float>&>())));

template <typename T>
void all_orders() {
  orders<T, ColMajor, ColMajor>();
  orders<T, ColMajor, RowMajor>();
  orders<T, RowMajor, ColMajor>();
  orders<T, RowMajor, RowMajor>();
  strides<T, ColMajor>();
  strides<T, RowMajor>();
#if DENISE_HPP_EXCEPTIONS
  factors<T, ColMajor>();
  factors<T, RowMajor>();
#endif
}

}  // namespace

int main() {
  all_orders<float>();
  all_orders<double>();
  refused();
#if DENISE_HPP_EXCEPTIONS
  throwing();
  ranks();
#endif
  std::printf("eigen_covariance.cpp, Eigen %d.%d.%d: %d passed, %d failed\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
              EIGEN_MINOR_VERSION, passed, failed);
  return failed == 0 ? 0 : 1;
}
