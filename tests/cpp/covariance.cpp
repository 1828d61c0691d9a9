// Covariances that can be inverted, of denise.hpp: both layers, against the calls of denise.h to the bit, against Sigma
// made entry by entry, and what the header itself checks. check.sh compiles this as it does hpp.cpp.
#include <denise.hpp>

#include "check.hpp"
#include "mdspan.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

namespace {

std::size_t allocations = 0;

}  // namespace

// Counts what C++ allocates: the calls of the library are counted by no_alloc.c.
void* operator new(std::size_t size) {
  ++allocations;
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

using denise::status;
template <typename T>
using Outputs = denise::covariance_outputs<T>;

static_assert(noexcept(std::declval<denise::model&>().try_covariance(denise::view<float>(), denise::view<float>(),
                                                                     Outputs<float>())));
static_assert(noexcept(std::declval<denise::stream&>().try_sigma(denise::view<double>(), Outputs<double>())));
static_assert(noexcept(denise::try_covariance_from_u(2, 1, denise::view<float>(), denise::view<float>(),
                                                     Outputs<float>())));
static_assert(noexcept(denise::try_multiply(2, 1, denise::view<float>(), denise::view<float>(), denise::view<float>(),
                                            denise::view<float>())));
static_assert(noexcept(denise::try_solve(2, 1, denise::view<double>(), denise::view<double>(), denise::view<double>(),
                                         denise::view<double>())));
static_assert(static_cast<int>(status::singular) == 11);

constexpr std::size_t n = 6, k = 2, count = 5, columns = 3;

denise::model load(bool missing = false) {
  return denise::model::try_load(denise::options{n, k, 0, 0, 0, missing}).model;
}

template <typename T>
std::vector<T> matrices() {
  std::vector<T> all(count * n * n);
  for (std::size_t q = 0; q < count; ++q) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double low = std::sin(double(q + 3 * i + 1)) * std::sin(double(q + 3 * j + 1));
        all[(q * n + i) * n + j] = T(1e-4 * (low + (i == j ? 0.2 + 0.1 * double(i) : 0.0)));  // as of daily returns
      }
    }
  }
  return all;
}

// Right-hand sides, n rows of columns for each matrix.
template <typename T>
std::vector<T> sides() {
  std::vector<T> all(count * n * columns);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = T(1 + std::sin(double(7 * i + 1)));
  return all;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <typename T>
bool all_nan(const T* from, std::size_t size) {
  bool nan = true;
  for (std::size_t i = 0; i < size; ++i) nan = nan && std::isnan(from[i]);
  return nan;
}

// Everything that a call can give, and room for it.
template <typename T>
struct Results {
  explicit Results(std::size_t number = count)
      : u(number * n * k), d(number * n), sigma(number * n * n), inverse(sigma), log_det(number), reports(number) {}

  Outputs<T> out() {
    Outputs<T> all;
    all.d = d;
    all.sigma = sigma;
    all.inverse = inverse;
    all.log_det = log_det;
    return all;
  }

  std::vector<T> u, d, sigma, inverse;
  std::vector<double> log_det;
  std::vector<denise::report> reports;
};

template <typename T>
bool same_bits(const Results<T>& a, const Results<T>& b) {
  return same_bits(a.u, b.u) && same_bits(a.d, b.d) && same_bits(a.sigma, b.sigma) &&
         same_bits(a.inverse, b.inverse) && same_bits(a.log_det, b.log_det);
}

denise_status c_covariance(const denise::model& by, const float* m, double floor, Results<float>& to) {
  return denise_covariance_batch(by.get(), count, m, floor, to.u.data(), to.d.data(), to.sigma.data(),
                                 to.inverse.data(), to.log_det.data(), to.reports.data());
}
denise_status c_covariance(const denise::model& by, const double* m, double floor, Results<double>& to) {
  return denise_covariance_batch_f64(by.get(), count, m, floor, to.u.data(), to.d.data(), to.sigma.data(),
                                     to.inverse.data(), to.log_det.data(), to.reports.data());
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
#endif

// Rounding of T, with room for the condition number of these matrices.
template <typename T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-12;

// Sigma of matrix q, entry by entry: U U' + diag(d), with d = max(M - L, floor * M) on the diagonal.
template <typename T>
std::vector<double> plain_sigma(const std::vector<T>& m, const std::vector<T>& u, std::size_t q, double floor) {
  std::vector<double> all(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t a = 0; a < k; ++a) {
        all[i * n + j] += double(u[(q * n + i) * k + a]) * double(u[(q * n + j) * k + a]);
      }
    }
    const double variance = m[(q * n + i) * n + i];
    all[i * n + i] += std::fmax(variance - all[i * n + i], floor * variance);
  }
  return all;
}

// Gaussian elimination: the logarithm of the determinant of a matrix that is positive definite.
double plain_log_det(std::vector<double> a) {
  double sum = 0;
  for (std::size_t p = 0; p < n; ++p) {
    sum += std::log(a[p * n + p]);
    for (std::size_t i = p + 1; i < n; ++i) {
      const double factor = a[i * n + p] / a[p * n + p];
      for (std::size_t j = p; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
    }
  }
  return sum;
}

// What comes out is what was asked for: Sigma, its inverse and its determinant, by the definition of each.
template <typename T>
void check_values(const std::vector<T>& m, const Results<T>& got, double floor) {
  for (std::size_t q = 0; q < count; ++q) {
    const std::vector<double> right = plain_sigma(m, got.u, q, floor);
    double worst = 0, from_identity = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double scale = std::sqrt(right[i * n + i] * right[j * n + j]);
        worst = std::fmax(worst, std::fabs(double(got.sigma[(q * n + i) * n + j]) - right[i * n + j]) / scale);
        double product = 0;
        for (std::size_t a = 0; a < n; ++a) {
          product += right[i * n + a] * double(got.inverse[(q * n + a) * n + j]);
        }
        from_identity = std::fmax(from_identity, std::fabs(product - (i == j ? 1 : 0)));
        CHECK(got.inverse[(q * n + i) * n + j] == got.inverse[(q * n + j) * n + i]);
      }
      const T least = T(floor * double(m[(q * n + i) * n + i]));
      CHECK(got.d[q * n + i] >= least * T(1 - 1e-6) && got.d[q * n + i] > 0);
    }
    CHECK(worst < tolerance<T> && from_identity < tolerance<T>);
    CHECK(std::fabs(got.log_det[q] - plain_log_det(right)) < 10 * tolerance<T>);
    CHECK(got.reports[q].status == DENISE_OK && got.reports[q].residual > 0);
  }
}

template <typename T>
void results() {
  const denise::model model = load();
  const std::vector<T> m = matrices<T>();
  for (const double floor : {0.0, 0.5}) {
    Results<T> right, got;
    CHECK(c_covariance(model, m.data(), floor, right) == DENISE_OK);
    const std::size_t before = allocations;
    CHECK(model.try_covariance(denise::batch(m, count), got.u, got.out(), floor, got.reports) == status::ok);
    CHECK(allocations == before);
    CHECK(same_bits(right, got));
    CHECK(std::memcmp(right.reports.data(), got.reports.data(), count * sizeof(denise::report)) == 0);
    check_values(m, got, floor == 0 ? 0.05 : floor);

    // Any one output alone, and u and d.
    Results<T> one;
    Outputs<T> only;
    only.inverse = one.inverse;
    CHECK(model.try_covariance(denise::batch(m, count), one.u, only, floor) == status::ok);
    CHECK(same_bits(one.inverse, got.inverse) && same_bits(one.u, got.u) && one.d == std::vector<T>(count * n));
    CHECK(model.try_covariance(denise::batch(m, count), one.u, one.d, floor) == status::ok && same_bits(one.d, got.d));

    // The same from u; and what is not the diagonal of m is not read.
    std::vector<T> diagonals(m.size(), std::numeric_limits<T>::quiet_NaN());
    for (std::size_t i = 0; i < count * n; ++i) diagonals[i * n + i % n] = m[i * n + i % n];
    Results<T> from_u;
    from_u.u = got.u;
    const std::size_t before_from_u = allocations;
    CHECK(denise::try_covariance_from_u(n, k, denise::batch(diagonals, count), from_u.u, from_u.out(), floor) ==
          status::ok);
    CHECK(allocations == before_from_u && same_bits(from_u, got));
    Results<T> last(1);
    const denise::view<const T> last_m(&m[4 * n * n], n * n), last_u(&got.u[4 * n * k], n * k);
    CHECK(denise::try_covariance_from_u(n, k, last_m, last_u, last.out(), floor) == status::ok);
    CHECK(std::memcmp(last.inverse.data(), &got.inverse[4 * n * n], n * n * sizeof(T)) == 0);
    CHECK(last.log_det[0] == got.log_det[4]);
#if DENISE_HPP_EXCEPTIONS
    Results<T> thrown;
    model.covariance(denise::batch(m, count), thrown.u, thrown.out(), floor, thrown.reports);
    CHECK(same_bits(thrown, got) && thrown.reports[2].l1 == got.reports[2].l1);
    Results<T> simple(1);
    model.covariance(denise::view(m.data(), n * n), simple.u, simple.d, floor);
    CHECK(std::memcmp(simple.d.data(), got.d.data(), n * sizeof(T)) == 0);
    Results<T> again;
    denise::covariance_from_u(n, k, denise::batch(m, count), got.u, again.out(), floor);
    CHECK(same_bits(again.sigma, got.sigma) && same_bits(again.log_det, got.log_det));
#endif
  }
}

denise_status c_multiply(const Results<float>& by, const float* x, float* y) {
  return denise_covariance_multiply_batch(n, k, count, by.u.data(), by.d.data(), columns, x, y);
}
denise_status c_multiply(const Results<double>& by, const double* x, double* y) {
  return denise_covariance_multiply_batch_f64(n, k, count, by.u.data(), by.d.data(), columns, x, y);
}
denise_status c_solve(const Results<float>& by, const float* x, float* y) {
  return denise_covariance_solve_batch(n, k, count, by.u.data(), by.d.data(), columns, x, y);
}
denise_status c_solve(const Results<double>& by, const double* x, double* y) {
  return denise_covariance_solve_batch_f64(n, k, count, by.u.data(), by.d.data(), columns, x, y);
}

// Products: by the C calls, by the definition, in place, with one column and with several.
template <typename T>
void products() {
  const std::vector<T> m = matrices<T>(), x = sides<T>();
  Results<T> r;
  CHECK(load().try_covariance(denise::batch(m, count), r.u, r.out()) == status::ok);
  std::vector<T> right(x.size()), right_solved(x.size()), y(x.size()), solved(x.size()), back(x.size());
  CHECK(c_multiply(r, x.data(), right.data()) == DENISE_OK && c_solve(r, x.data(), right_solved.data()) == DENISE_OK);
  const std::size_t before = allocations;
  CHECK(denise::try_multiply(n, k, r.u, r.d, x, y) == status::ok);
  CHECK(denise::try_solve(n, k, r.u, r.d, x, solved) == status::ok);
  CHECK(allocations == before);
  CHECK(same_bits(y, right) && same_bits(solved, right_solved) && !same_bits(y, solved));
  double worst = 0;
  for (std::size_t row = 0; row < count * n; ++row) {
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0, size = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double term = double(r.sigma[row * n + j]) * double(x[(row / n * n + j) * columns + c]);
        sum += term;
        size += std::fabs(term);
      }
      worst = std::fmax(worst, std::fabs(sum - double(y[row * columns + c])) / size);
    }
  }
  CHECK(worst < tolerance<T>);
  CHECK(denise::try_multiply(n, k, r.u, r.d, solved, back) == status::ok);
  worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(double(back[i] - x[i])));
  CHECK(worst < 10 * tolerance<T>);

  // In the place of x.
  std::vector<T> in_place = x;
  CHECK(denise::try_multiply(n, k, r.u, r.d, in_place, in_place) == status::ok && same_bits(in_place, y));
  in_place = x;
  CHECK(denise::try_solve(n, k, r.u, r.d, in_place, in_place) == status::ok && same_bits(in_place, solved));
  in_place.push_back(0);
  CHECK(denise::try_solve(n, k, r.u, r.d, denise::view(in_place.data(), x.size()),
                          denise::view(in_place.data() + 1, x.size())) == status::argument);  // half in its place

  // One column; one matrix of the five; batches that say how many they are.
  std::vector<T> ones(count * n, T(1)), w(count * n), w0(n);
  CHECK(denise::try_solve(n, k, r.u, r.d, ones, w) == status::ok);
  CHECK(denise::try_solve(n, k, denise::batch(r.u, count), denise::batch(r.d, count), denise::batch(ones, count), w) ==
        status::ok);
  CHECK(denise::try_solve(n, k, denise::view(&r.u[2 * n * k], n * k), denise::view(&r.d[2 * n], n),
                          denise::view(ones.data(), n), w0) == status::ok);
  CHECK(std::memcmp(w0.data(), &w[2 * n], n * sizeof(T)) == 0);

  // With those weights the variance is 1/sum of w, and less than with equal ones.
  const double sum = std::accumulate(w0.begin(), w0.end(), 0.0);
  double variance = 0, equal = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double entry = r.sigma[(2 * n + i) * n + j];
      variance += double(w0[i]) * double(w0[j]) * entry / (sum * sum);
      equal += entry / double(n * n);
    }
  }
  CHECK(variance < 0.9 * equal && std::fabs(variance * sum - 1) < tolerance<T>);
#if DENISE_HPP_EXCEPTIONS
  std::vector<T> thrown(x.size());
  denise::multiply(n, k, r.u, r.d, x, thrown);
  CHECK(same_bits(thrown, y));
  denise::solve(n, k, r.u, r.d, x, thrown);
  CHECK(same_bits(thrown, solved));
#endif

  // Shapes that are known.
  T u_array[count][n][k], d_array[count][n], x_array[count][n][columns], y_array[count][n][columns] = {};
  T one_u[n][k], one_x[n][columns], one_y[n][columns], turned[columns][n] = {}, rows[count][n] = {}, square[n][n] = {};
  std::memcpy(u_array, r.u.data(), sizeof u_array);
  std::memcpy(d_array, r.d.data(), sizeof d_array);
  std::memcpy(x_array, x.data(), sizeof x_array);
  std::memcpy(one_u, r.u.data(), sizeof one_u);
  std::memcpy(one_x, x.data(), sizeof one_x);
  CHECK(denise::try_solve(n, k, u_array, d_array, x_array, y_array) == status::ok);
  CHECK(std::memcmp(y_array, solved.data(), sizeof y_array) == 0);
  CHECK(denise::try_solve(n, k, one_u, d_array[0], one_x, one_y) == status::ok);
  CHECK(std::memcmp(one_y, solved.data(), sizeof one_y) == 0);
  CHECK(denise::try_solve(n, k, one_u, d_array[0], turned, one_y) == status::shape);
  CHECK(denise::try_solve(n, k, one_u, d_array[0], one_x, turned) == status::shape);
  CHECK(denise::try_solve(n, k, u_array, d_array, rows, w) == status::ok && w[0] == 0);
  CHECK(denise::try_solve(n, k, u_array, d_array, ones, rows) == status::ok && rows[2][1] == w0[1]);
  CHECK(denise::try_solve(n, k, one_u, d_array, x_array, y_array) == status::shape);
  CHECK(denise::try_solve(n, k, one_u, d_array[0], square, square) == status::ok);
  const md::mdspan<T, md::extents<std::size_t, count, n>> d_span(r.d.data());
  const md::mdspan<const T, md::extents<std::size_t, n, columns>> x_span(x.data());
  CHECK(denise::try_multiply(n, k, r.u, d_span, x, back) == status::ok && same_bits(back, y));
  CHECK(denise::try_multiply(n, k, one_u, d_array[0], x_span, one_y) == status::ok && one_y[n - 1][0] != 0);
#if defined(__cpp_lib_span)
  CHECK(denise::try_multiply(n, k, std::span(r.u), std::span(r.d), std::span(x), std::span(back)) == status::ok);
#endif
}

// Sizes that do not fit are refused, and nothing is written.
void shapes() {
  const denise::model model = load();
  const std::vector<double> m = matrices<double>(), x = sides<double>();
  Results<double> r;
  std::vector<double> none, u(r.u.size(), 7.0), d(r.d.size(), 7.0), y(x.size(), 7.0), square(count * n * n, 7.0);
  const auto all = denise::batch(m, count);
  const auto with = [](auto part, auto block) {
    Outputs<double> out;
    out.*part = block;
    return out;
  };
  using Block = denise::view<double>;
  const auto long_by_one = [](std::vector<double> block) {
    block.push_back(7);
    return block;
  };
  std::vector<double> u1 = long_by_one(u), d1 = long_by_one(d), y1 = long_by_one(y), square1 = long_by_one(square);
  std::vector<double> logs(count - 1);
  std::vector<denise::report> reports(count - 1);
  CHECK(model.try_covariance(m, u, d) == status::shape);  // not one matrix
  CHECK(model.try_covariance(all, u1, d) == status::shape && model.try_covariance(all, none, d) == status::shape);
  CHECK(model.try_covariance(all, u, d1) == status::shape && model.try_covariance(all, u, none) == status::shape);
  CHECK(model.try_covariance(all, u, with(&Outputs<double>::sigma, Block(square1))) == status::shape);
  CHECK(model.try_covariance(all, u, with(&Outputs<double>::inverse, Block(square1))) == status::shape);
  CHECK(model.try_covariance(all, u, with(&Outputs<double>::log_det, Block(logs))) == status::shape);
  CHECK(model.try_covariance(all, u, Outputs<double>{}, 0, reports) == status::shape);
  CHECK(model.try_covariance(denise::batch(m, 1 + (std::size_t{1} << 63)), u, d) == status::shape);
  CHECK(denise::try_covariance_from_u(n, k, m, u, r.out()) == status::shape);
  CHECK(denise::try_covariance_from_u(n, k, all, u1, r.out()) == status::shape);
  CHECK(denise::try_covariance_from_u(n, k, all, denise::batch(u, 1 + count), r.out()) == status::shape);
  CHECK(denise::try_covariance_from_u(n, k, all, u, with(&Outputs<double>::d, Block(d1))) == status::shape);
  CHECK(denise::try_solve(n, k, u1, d, x, y) == status::shape && denise::try_solve(n, k, u, d1, x, y) == status::shape);
  CHECK(denise::try_solve(n, k, u, d, y1, y) == status::shape && denise::try_solve(n, k, u, d, x, y1) == status::shape);
  CHECK(denise::try_solve(n, k, u, d, none, none) == status::shape);
  CHECK(denise::try_solve(n, k, u, none, x, y) == status::shape);
  CHECK(denise::try_solve(n, k, u, denise::batch(d, count + 1), x, y) == status::shape);
  CHECK(denise::try_solve(n, k, u, denise::batch(d, std::size_t{1} << 63), x, y) == status::shape);
  CHECK(denise::try_solve(n, k, denise::batch(u, 2), d, x, y) == status::shape);
  CHECK(denise::try_solve(n, k, u, d, denise::batch(x, 2), y) == status::shape);

  // Sizes that the library does not take.
  for (const auto& [size, rank] : {std::pair<std::uint32_t, std::uint32_t>{0, 0}, {0, 1}, {6, 0}, {6, 6}, {1, 1}}) {
    CHECK(denise::try_covariance_from_u(size, rank, all, u, r.out()) == status::argument);
    CHECK(denise::try_multiply(size, rank, u, d, x, y) == status::argument);
    CHECK(denise::try_solve(size, rank, u, d, x, y) == status::argument);
  }
  CHECK(denise::try_solve(513, 2, u, d, x, y) == status::unsupported);
  CHECK(denise::try_solve(0xFFFFFFFF, 1, u, d, x, y) == status::unsupported);
  CHECK(denise::try_covariance_from_u(65536, 33, all, u, r.out()) == status::unsupported);

  // A floor that is none, and memory that is used twice.
  for (const double floor : {-0.1, 1.1, 1e-7, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(model.try_covariance(all, u, d, floor) == status::argument);
    CHECK(denise::try_covariance_from_u(n, k, all, u, with(&Outputs<double>::d, Block(d)), floor) == status::argument);
  }
  CHECK(model.try_covariance(all, u, with(&Outputs<double>::d, Block(u.data(), count * n))) == status::argument);

  // Null pointers.
  const denise::view<const double> null_m = denise::view<const double>(nullptr, m.size()).as(count);
  CHECK(model.try_covariance(null_m, u, d) == status::null_pointer);
  CHECK(model.try_covariance(all, Block(nullptr, u.size()), d) == status::null_pointer);
  CHECK(model.try_covariance(all, u, Block(nullptr, d.size())) == status::null_pointer);
  CHECK(model.try_covariance(all, u, Outputs<double>{}, 0, denise::view<denise::report>(nullptr, count)) ==
        status::null_pointer);
  for (const auto part : {&Outputs<double>::sigma, &Outputs<double>::inverse}) {
    CHECK(model.try_covariance(all, u, with(part, Block(nullptr, square.size()))) == status::null_pointer);
  }
  CHECK(denise::try_covariance_from_u(n, k, all, u, with(&Outputs<double>::log_det, Block(nullptr, count))) ==
        status::null_pointer);
  CHECK(denise::try_covariance_from_u(n, k, null_m, u, {}) == status::null_pointer);
  CHECK(denise::try_covariance_from_u(n, k, all, Block(nullptr, u.size()), {}) == status::null_pointer);
  CHECK(denise::try_solve(n, k, Block(nullptr, u.size()), d, x, y) == status::null_pointer);
  CHECK(denise::try_solve(n, k, u, Block(nullptr, d.size()), x, y) == status::null_pointer);
  CHECK(denise::try_solve(n, k, u, d, Block(nullptr, x.size()), y) == status::null_pointer);
  CHECK(denise::try_solve(n, k, u, d, x, Block(nullptr, x.size())) == status::null_pointer);
  CHECK(denise::try_solve(n, k, u, d, Block(nullptr, x.size()), Block(nullptr, x.size())) == status::null_pointer);

  // No matrix at all is no mistake, if it is said.
  CHECK(model.try_covariance(denise::batch(none, 0), none, none) == status::ok);
  CHECK(denise::try_covariance_from_u(n, k, denise::batch(none, 0), none, {}) == status::ok);
  CHECK(denise::try_solve(n, k, none, denise::batch(none, 0), none, none) == status::ok);
  CHECK(denise::try_solve(n, k, none, none, none, none) == status::shape);
  CHECK(denise::try_solve(n, k, none, denise::batch(none, 0), x, y) == status::shape);

#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::shape, "m has the wrong size: 180 values where there must be 1 times 6 x 6; denise::batch",
               [&] { model.covariance(m, u, d); }));
  CHECK(throws(status::shape, "u has the wrong size: 61 values where there must be 5 times 6 x 2",
               [&] { model.covariance(all, u1, d); }));
  CHECK(throws(status::shape, "d has the wrong size: 31 values where there must be 5 times 1 x 6",
               [&] { model.covariance(all, u, d1); }));
  CHECK(throws(status::shape, "sigma has the wrong size: 181 values where there must be 5 times 6 x 6",
               [&] { model.covariance(all, u, with(&Outputs<double>::sigma, Block(square1))); }));
  CHECK(throws(status::shape, "inverse has the wrong size",
               [&] { denise::covariance_from_u(n, k, all, u, with(&Outputs<double>::inverse, Block(square1))); }));
  CHECK(throws(status::shape, "log_det has the wrong size: 4 values where there must be 5 times 1 x 1",
               [&] { denise::covariance_from_u(n, k, all, u, with(&Outputs<double>::log_det, Block(logs))); }));
  CHECK(throws(status::shape, "reports has the wrong size: 4 values",
               [&] { model.covariance(all, u, Outputs<double>{}, 0, reports); }));
  CHECK(throws(status::shape, "d has the wrong size: 31 values where there must be 5 times 1 x 6",
               [&] { denise::solve(n, k, u, d1, x, y); }));
  CHECK(throws(status::shape, "d has the wrong size: 0 values where there must be 1 times 1 x 6",
               [&] { denise::solve(n, k, u, none, x, y); }));
  CHECK(throws(status::shape, "u has the wrong size: 61 values where there must be 5 times 6 x 2",
               [&] { denise::multiply(n, k, u1, d, x, y); }));
  CHECK(throws(status::shape, "x has the wrong size: 91 values where there must be 5 times 6 x 3; any number",
               [&] { denise::solve(n, k, u, d, y1, y); }));
  CHECK(throws(status::shape, "x has the wrong size: 0 values where there must be 5 times 6 x 1",
               [&] { denise::solve(n, k, u, d, none, none); }));
  CHECK(throws(status::shape, "y has the wrong size: 91 values where there must be 5 times 6 x 3",
               [&] { denise::multiply(n, k, u, d, x, y1); }));
  CHECK(throws(status::argument, "n = 6, k = 6", [&] { denise::solve(6, 6, u, d, x, y); }));
  CHECK(throws(status::argument, "n = 0, k = 0", [&] { denise::covariance_from_u(0, 0, all, u, r.out()); }));
  CHECK(throws(status::unsupported, "n = 513", [&] { denise::multiply(513, 2, u, d, x, y); }));
  CHECK(throws(status::argument, "floor", [&] { model.covariance(all, u, d, 2); }));
  CHECK(throws(status::argument, "u and d overlap",
               [&] { model.covariance(all, u, with(&Outputs<double>::d, Block(u.data(), count * n))); }));
  CHECK(throws(status::null_pointer, "m, u, or an output that is set", [&] { model.covariance(null_m, u, d); }));
  CHECK(throws(status::null_pointer, "m, u, or an output", [&] { denise::covariance_from_u(n, k, null_m, u, {}); }));
  CHECK(throws(status::null_pointer, "u, d, x or y is a null pointer",
               [&] { denise::solve(n, k, u, d, x, Block(nullptr, x.size())); }));
#endif
  CHECK(u == std::vector<double>(u.size(), 7.0) && d == std::vector<double>(d.size(), 7.0));
  CHECK(y == std::vector<double>(y.size(), 7.0));

  // An empty model.
  const denise::model empty(nullptr);
  CHECK(empty.try_covariance(all, u, d) == status::null_pointer);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::null_pointer, "the model is empty", [&] { empty.covariance(all, u, d); }));
#endif
}

// A matrix that cannot be inverted, or is not finite, is its own loss only.
template <typename T>
void losses() {
  const denise::model model = load();
  const std::vector<T> m = matrices<T>();
  std::vector<T> spoilt = m;
  Results<T> right, got;
  CHECK(model.try_covariance(denise::batch(m, count), right.u, right.out()) == status::ok);
  const auto others_are_right = [&] {
    const auto same = [](const auto& a, const auto& b, std::size_t each) {
      return std::memcmp(&a[0], &b[0], 2 * each * sizeof a[0]) == 0 &&
             std::memcmp(&a[3 * each], &b[3 * each], 2 * each * sizeof a[0]) == 0;
    };
    return same(right.u, got.u, n * k) && same(right.d, got.d, n) && same(right.sigma, got.sigma, n * n) &&
           same(right.inverse, got.inverse, n * n) && same(right.log_det, got.log_det, 1);
  };
  const auto lost = [&] {
    return all_nan(&got.d[2 * n], n) && all_nan(&got.sigma[2 * n * n], n * n) &&
           all_nan(&got.inverse[2 * n * n], n * n) && std::isnan(got.log_det[2]);
  };
  const auto at = [&](std::size_t i, std::size_t j) -> T& { return spoilt[(2 * n + i) * n + j]; };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) at(i, j) = 0;
  }
  const auto all = denise::batch(spoilt, count);
  CHECK(model.try_covariance(all, got.u, got.out(), 0, got.reports) == status::singular);
  CHECK(lost() && others_are_right());
  CHECK(got.reports[2].status == DENISE_ERR_SINGULAR && got.reports[3].status == DENISE_OK);
  got = Results<T>();
  got.u = right.u;
  CHECK(denise::try_covariance_from_u(n, k, all, got.u, got.out()) == status::singular && lost() && others_are_right());
#if DENISE_HPP_EXCEPTIONS
  got = Results<T>();
  CHECK(throws(status::singular, "", [&] { model.covariance(all, got.u, got.out()); }));
  CHECK(lost() && others_are_right());
  CHECK(throws(status::singular, "", [&] { denise::covariance_from_u(n, k, all, right.u, got.out()); }));
#endif

  at(3, 1) = std::numeric_limits<T>::infinity();
  got = Results<T>();
  CHECK(model.try_covariance(all, got.u, got.out(), 0, got.reports) == status::not_finite);
  CHECK(lost() && others_are_right() && all_nan(&got.u[2 * n * k], n * k));
  CHECK(got.reports[2].status == DENISE_ERR_NOT_FINITE && got.reports[2].first_bad == 3 * n + 1);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::not_finite, "", [&] { model.covariance(all, got.u, got.out()); }));
#endif

  // Products: with a d that is zero, and with an x that is not finite.
  std::vector<T> x = sides<T>(), y(x.size()), y_right(x.size());
  const std::size_t each = n * columns;
  CHECK(denise::try_solve(n, k, right.u, right.d, x, y_right) == status::ok);
  std::vector<T> zero_d = right.d;
  zero_d[2 * n + 5] = 0;
  CHECK(denise::try_solve(n, k, right.u, zero_d, x, y) == status::singular && all_nan(&y[2 * each], each));
  CHECK(std::memcmp(y.data(), y_right.data(), 2 * each * sizeof(T)) == 0 && std::isfinite(y[3 * each]));
  CHECK(denise::try_multiply(n, k, right.u, zero_d, x, y) == status::ok);
  x[2 * each] = std::numeric_limits<T>::quiet_NaN();
  CHECK(denise::try_multiply(n, k, right.u, right.d, x, y) == status::not_finite && all_nan(&y[2 * each], each));
  CHECK(std::isfinite(y[2 * each - 1]) && std::isfinite(y[3 * each]));
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::singular, "", [&] { denise::solve(n, k, right.u, zero_d, sides<T>(), y); }));
  CHECK(throws(status::not_finite, "", [&] { denise::multiply(n, k, right.u, right.d, x, y); }));
#endif

  // A variance that is not known is no loss, with options::missing.
  std::vector<T> holes(m.begin(), m.begin() + n * n);
  holes[4 * n + 4] = holes[4 * n + 1] = std::numeric_limits<T>::quiet_NaN();
  Results<T> one(1);
  CHECK(model.try_covariance(holes, one.u, one.out()) == status::not_finite);
  CHECK(load(true).try_covariance(holes, one.u, one.out(), 0, one.reports) == status::ok);
  CHECK(one.reports[0].missing == 2 && std::isfinite(one.d[4]) && one.d[4] > 0);
  const double mean = (std::accumulate(one.d.begin(), one.d.end(), 0.0) - double(one.d[4])) / double(n - 1);
  CHECK(std::fabs(double(one.d[4]) / mean - 1) < tolerance<T>);
}

// The streams' own covariances.
template <typename T>
void streams() {
  denise::stream stream = denise::stream::try_make(load(), denise::stream_options{count}).stream;
  Results<T> got, right;
  std::vector<T> returns(count * n);
  denise::outputs<T> tick_out;
  tick_out.u = got.u;
  for (std::size_t tick = 0; tick < 40; ++tick) {
    for (std::size_t i = 0; i < returns.size(); ++i) {
      const double market = std::sin(double(tick * tick + i / n)), own = std::sin(double((tick + 1) * (7 * i + 5)));
      returns[i] = T(0.01 * (market * (1 + 0.1 * double(i % n)) + 0.5 * own));
    }
    CHECK(stream.try_push(returns, tick_out) == status::ok);
    if (tick == 1) {  // not ready yet
      CHECK(stream.try_sigma(got.u, got.out()) == status::not_finite && all_nan(got.sigma.data(), count * n * n));
#if DENISE_HPP_EXCEPTIONS
      CHECK(throws(status::not_finite, "", [&] { stream.sigma(got.u, got.d); }));
#endif
    }
  }
  std::vector<double> m(count * n * n);
  CHECK(stream.try_covariance(m) == status::ok);
  const std::vector<T> rounded(m.begin(), m.end());
  for (const double floor : {0.0, 0.3}) {
    right.u = got.u;
    const std::size_t before = allocations;
    CHECK(stream.try_sigma(got.u, got.out(), floor) == status::ok);
    CHECK(allocations == before);
    CHECK(denise::try_covariance_from_u(n, k, denise::batch(rounded, count), right.u, right.out(), floor) ==
          status::ok);
    double worst = 0;
    for (std::size_t i = 0; i < got.sigma.size(); ++i) {
      const std::size_t q = i / (n * n);
      worst = std::fmax(worst, std::fabs(double(got.sigma[i] - right.sigma[i])) / double(right.sigma[q * n * n]));
      worst = std::fmax(worst, std::fabs(double(got.inverse[i] - right.inverse[i])) / double(right.inverse[q * n * n]));
    }
    CHECK(worst < tolerance<T> && got.sigma[0] > 0);
    for (std::size_t q = 0; q < count; ++q) CHECK(std::fabs(got.log_det[q] - right.log_det[q]) < 10 * tolerance<T>);
    for (std::size_t i = 0; i < count * n; ++i) {
      const double variance = m[i * n + i % n];
      CHECK(double(got.d[i]) >= (floor == 0 ? 0.05 : floor) * variance * (1 - 1e-6));
    }
    std::vector<T> d(count * n);
    CHECK(stream.try_sigma(got.u, d, floor) == status::ok && same_bits(d, got.d));
#if DENISE_HPP_EXCEPTIONS
    Results<T> thrown;
    stream.sigma(got.u, thrown.out(), floor);
    CHECK(same_bits(thrown.inverse, got.inverse) && same_bits(thrown.log_det, got.log_det));
    stream.sigma(got.u, thrown.d, floor);
    CHECK(same_bits(thrown.d, got.d));
#endif
  }

  // What does not fit, and nobody's stream.
  std::vector<T> few(n * k), d(count * n, T(7)), short_d(n);
  Outputs<T> null;
  null.d = denise::view<T>(nullptr, count * n);
  CHECK(stream.try_sigma(few, d) == status::shape && stream.try_sigma(got.u, short_d) == status::shape);
  CHECK(stream.try_sigma(denise::batch(got.u, 2), d) == status::shape);
  CHECK(stream.try_sigma(denise::batch(got.u, count), short_d) == status::shape);
  CHECK(stream.try_sigma(got.u, null) == status::null_pointer);
  CHECK(stream.try_sigma(denise::view<const T>(nullptr, count * n * k), d) == status::null_pointer);
  CHECK(stream.try_sigma(got.u, d, 7) == status::argument && d == std::vector<T>(count * n, T(7)));
  CHECK(stream.try_sigma(denise::batch(got.u, count), d) == status::ok && !same_bits(d, got.d));  // another floor
  denise::stream empty(nullptr);
  CHECK(empty.try_sigma(got.u, d) == status::null_pointer);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::shape, "u has the wrong size: 12 values where there must be 5 times 6 x 2",
               [&] { stream.sigma(few, d); }));
  CHECK(throws(status::shape, "d has the wrong size: 6 values where there must be 5 times 1 x 6",
               [&] { stream.sigma(got.u, short_d); }));
  CHECK(throws(status::null_pointer, "u, or an output that is set", [&] { stream.sigma(got.u, null); }));
  CHECK(throws(status::null_pointer, "the stream is empty", [&] { empty.sigma(got.u, d); }));
  CHECK(throws(status::argument, "floor", [&] { stream.sigma(got.u, d, 7); }));
#endif
}

// Every kind of block, and names in C++20.
void kinds() {
  const denise::model model = load();
  const std::vector<float> m = matrices<float>();
  float m_array[n][n], u_array[n][k], d_array[n], sigma_array[n][n];
  std::memcpy(m_array, m.data(), sizeof m_array);
  double log_det = 0;
  Outputs<float> out;
  out.d = d_array;
  out.sigma = sigma_array;
  out.log_det = {&log_det, 1};
  CHECK(model.try_covariance(m_array, u_array, out) == status::ok && log_det < 0 && sigma_array[5][5] > 0);
  std::array<float, n * k> u{};
  std::array<float, n> d{};
  CHECK(model.try_covariance(m_array, u, d) == status::ok && d[3] == d_array[3] && u[3] == u_array[1][1]);
  float many_d[count][n], d_columns[count][n][1], turned[n][count];
  std::vector<float> many_u(count * n * k);
  CHECK(model.try_covariance(denise::batch(m, count), many_u, many_d) == status::ok && many_d[0][3] == d_array[3]);
  CHECK(model.try_covariance(denise::batch(m, count), many_u, d_columns) == status::ok);
  CHECK(d_columns[4][5][0] == many_d[4][5]);
  CHECK(model.try_covariance(denise::batch(m, count), many_u, turned) == status::shape);
#if defined(__cpp_designated_initializers) && __cplusplus > 201703L
  std::vector<float> inverse(n * n);
  CHECK(model.try_covariance(m_array, u, {.inverse = inverse}) == status::ok && inverse[0] > 0);
#endif
}

// How many factors: as the C call says, for one matrix and for several.
void ranks() {
  constexpr std::size_t size = 20, number = 3;
  std::vector<double> m(number * size * size);
  for (std::size_t q = 0; q < number; ++q) {  // q factors, and what each asset does on its own
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        double low = i == j ? 1 : 0.02 * std::sin(double((i + 1) * (j + 1)));
        for (std::size_t a = 1; a <= q; ++a) {
          low += std::sin(double(a * (3 * i + 1))) * std::sin(double(a * (3 * j + 1)));
        }
        m[(q * size + i) * size + j] = low;
      }
    }
  }
  std::vector<std::uint32_t> right(number), got(number, 7), few(number - 1);
  CHECK(denise_suggest_rank_batch(size, 4, 1000, number, m.data(), right.data()) == DENISE_OK);
  CHECK(denise::try_suggest_rank(size, denise::batch(m, number), got, 1000, 4) == status::ok && got == right);
  CHECK(got[0] == 0 && got[1] == 1 && got[2] == 2);
  const denise::view<const double> last(&m[2 * size * size], size * size);
  std::uint32_t one = 9;
  CHECK(denise::try_suggest_rank(size, last, denise::view(&one, 1), 1000, 1) == status::ok && one == 1);  // at most

  CHECK(denise::try_suggest_rank(size, m, got) == status::shape);  // not one matrix
  CHECK(denise::try_suggest_rank(size, denise::batch(m, number), few) == status::shape);
  CHECK(denise::try_suggest_rank(0, m, got) == status::argument);
  CHECK(denise::try_suggest_rank(1, m, got) == status::argument);
  CHECK(denise::try_suggest_rank(0xFFFFFFFF, m, got) == status::unsupported);
  CHECK(denise::try_suggest_rank(size, last, denise::view(&one, 1), -1) == status::argument);
  CHECK(denise::try_suggest_rank(size, last, denise::view(&one, 1), 0, 33) == status::unsupported);
  CHECK(denise::try_suggest_rank(size, last, denise::view<std::uint32_t>(nullptr, 1)) == status::null_pointer);
  CHECK(denise::try_suggest_rank(size, denise::batch(std::vector<double>(), 0), denise::view(&one, 0)) == status::ok);
  std::vector<double> spoilt = m;
  spoilt[size] = std::numeric_limits<double>::infinity();
  CHECK(denise::try_suggest_rank(size, denise::batch(spoilt, number), got, 1000, 4) == status::not_finite);
  CHECK(got[0] == 0 && got[1] == right[1] && got[2] == right[2]);
#if DENISE_HPP_EXCEPTIONS
  CHECK(denise::suggest_rank(size, last, 1000, 4) == right[2]);
  got.assign(number, 7);
  denise::suggest_rank(size, denise::batch(m, number), got, 1000, 4);
  CHECK(got == right);
  CHECK(throws(status::shape, "m has the wrong size: 1200 values where there must be 1 times 20 x 20",
               [&] { (void)denise::suggest_rank(size, m); }));
  CHECK(throws(status::shape, "k has the wrong size: 2 values where there must be 3 times 1 x 1",
               [&] { denise::suggest_rank(size, denise::batch(m, number), few); }));
  CHECK(throws(status::argument, "observations", [&] { (void)denise::suggest_rank(size, last, -1); }));
  CHECK(throws(status::not_finite, "", [&] { denise::suggest_rank(size, denise::batch(spoilt, number), got); }));
  CHECK(throws(status::null_pointer, "m or k",
               [&] { denise::suggest_rank(size, last, denise::view<std::uint32_t>(nullptr, 1)); }));
#endif
}

}  // namespace

int main() {
  results<float>();
  results<double>();
  products<float>();
  products<double>();
  shapes();
  losses<float>();
  losses<double>();
  streams<float>();
  streams<double>();
  kinds();
  ranks();
  std::printf("covariance.cpp: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
