// mdspan through denise.hpp: its shape is looked at, and only what is row-major without gaps is taken. What must not
// compile is in refused.cpp.
#include <denise.hpp>

#include "check.hpp"
#include "mdspan.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t n = 6, k = 2, count = 5;
constexpr std::size_t any = static_cast<std::size_t>(-1);
using Matrix = md::mdspan<double, md::extents<std::size_t, any, any>>;
using Batch = md::mdspan<double, md::extents<int, any, n, n>>;
using ConstBatch = md::mdspan<const double, md::extents<std::size_t, count, n, n>>;
using Factors = md::mdspan<double, md::extents<int, any, any, any>>;

}  // namespace

int main() {
  const denise::model model = denise::model::try_load({n, k}).model;
  std::vector<double> m(count * n * n), l(m.size()), s(m.size()), u(count * n * k), l2(m.size()), s2(m.size()),
      u2(u.size());
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = i % (n + 1) == 0 ? 2.0 : 1.0 / double(1 + i % 7);
  denise::outputs<double> out{u, l, s, {}};
  CHECK(model.try_decompose(denise::batch(m, count), out) == denise::status::ok);

  // An mdspan says itself how many matrices it is.
  const int many = int(count);
  denise::outputs<double> spans{
      Factors(u2.data(), many, int(n), int(k)), Batch(l2.data(), many), Batch(s2.data(), many), {}};
  CHECK(model.try_decompose(ConstBatch(m.data()), spans) == denise::status::ok);
  CHECK(u == u2 && l == l2 && s == s2);
  std::vector<double> l3(n * n), s3(n * n);
  CHECK(model.try_decompose(Matrix(m.data(), n, n), Matrix(l3.data(), n, n), s3) == denise::status::ok);
  CHECK(std::equal(l3.begin(), l3.end(), l.begin()) && std::equal(s3.begin(), s3.end(), s.begin()));

  // As many values, another shape.
  CHECK(model.try_decompose(Matrix(m.data(), 4, 9), l3, s3) == denise::status::shape);
  CHECK(model.try_decompose(Matrix(m.data(), n, n), Matrix(l3.data(), 9, 4), s3) == denise::status::shape);
  CHECK(model.try_decompose(Matrix(m.data(), count * n, n), l2, s2) == denise::status::shape);
  CHECK(model.try_decompose(denise::batch(m, count), Matrix(l2.data(), count * n, n), s2) == denise::status::shape);
  spans.u = Factors(u2.data(), many, int(k), int(n));
  CHECK(model.try_decompose(ConstBatch(m.data()), spans) == denise::status::shape);
  CHECK(model.try_decompose(Batch(m.data(), 4), l2, s2) == denise::status::shape);
  CHECK(model.try_decompose(denise::batch(Batch(m.data(), 4), count), l2, s2) == denise::status::shape);
  CHECK(model.try_decompose(Batch(m.data(), 0), denise::view<double>(), denise::view<double>()) == denise::status::ok);

  std::printf("mdspan.cpp, %s: %d passed, %d failed\n", md::whose, passed, failed);
  return failed == 0 ? 0 : 1;
}
