// What denise.hpp must not compile, beside what it must. check_refused.sh compiles this file as it is, and once more
// for every case, which must then fail with the words that stand after it.
#include <denise.hpp>

#include "mdspan.hpp"

#include <optional>
#include <vector>

namespace {

constexpr std::size_t n = 20, k = 3, any = static_cast<std::size_t>(-1);
using Extents = md::extents<std::size_t, any, any>;

// A view of every other row, as some libraries for arrays have it.
struct Strided {
  float* data() const { return nullptr; }
  std::size_t size() const { return n * n; }
  std::vector<std::size_t> strides() const { return {2 * n, 1}; }
};

}  // namespace

void use(const denise::model& model) {
  std::vector<float> m(n * n), l(n * n), s(n * n), u(n * k);
  std::vector<double> dm(n * n), dl(n * n), ds(n * n);
  const std::vector<float> fixed(n * n);
  denise::outputs<float> out;

  model.decompose(m, l, s);
#if REFUSE == 1  // no matching (member )?function for call to .*decompose
  model.decompose(1, m.data(), l.data(), s.data(), nullptr);
#endif
#if REFUSE == 2  // no matching (member )?function for call to .*try_decompose
  (void)model.try_decompose(1, m.data(), u.data(), l.data(), s.data());
#endif
#if REFUSE == 3  // no matching (member )?function for call to .*decompose
  model.decompose(m.data(), l.data(), s.data());
#endif
#if REFUSE == 4  // no matching (member )?function for call to .*decompose
  model.decompose(m, l, nullptr);
#endif
#if REFUSE == 5  // no matching (member )?function for call to .*decompose
  model.decompose(m, dl, ds);
#endif
#if REFUSE == 6  // no matching (member )?function for call to .*decompose
  model.decompose(m, fixed, s);
#endif

  denise::solve(denise::method::eigen, n, k, dm, dl, ds);
  denise::solve(denise::method::eigen, n, k, denise::batch(dm, 1), dl, std::nullopt);
#if REFUSE == 7  // no matching function for call to .*try_solve
  (void)denise::try_solve(denise::method::eigen, n, k, 1, dm.data(), dl.data(), ds.data());
#endif
#if REFUSE == 8  // no matching function for call to .*solve
  denise::solve(denise::method::eigen, n, k, dm, dl, nullptr);
#endif

  out.u = u;
  out.l = denise::view(l.data(), l.size());
#if REFUSE == 9  // no viable overloaded '=|no match for .operator='
  out.l = l.data();
#endif

  model.decompose(denise::batch(m, 1), out);
#if REFUSE == 10  // denise: this type has strides or dimensions of its own
  model.decompose(Strided(), l, s);
#endif
#if REFUSE == 11  // denise: this type has strides or dimensions of its own
  out.l = Strided();
#endif

  const md::mdspan<float, Extents> right(m.data(), n, n);
  const md::mdspan<float, Extents, md::layout_left> left(m.data(), n, n);
  const md::layout_stride::mapping<Extents> mapping(Extents(n, n), std::array<std::size_t, 2>{2 * n, 1});
  const md::mdspan<float, Extents, md::layout_stride> strided(m.data(), mapping);
  const md::mdspan<float, md::extents<std::size_t, any>> flat(m.data(), n * n);
  model.decompose(right, right, s);
#if REFUSE == 12  // denise: an mdspan must be row-major without gaps
  model.decompose(strided, l, s);
#endif
#if REFUSE == 13  // denise: an mdspan must be row-major without gaps
  model.decompose(m, strided, s);
#endif
#if REFUSE == 14  // denise: an mdspan must be row-major without gaps
  out.u = left;
#endif
#if REFUSE == 15  // denise: an mdspan of matrices is n x n or count x n x n
  model.decompose(flat, l, s);
#endif
  (void)left, (void)strided, (void)flat;

  denise::stream stream(model);
  std::vector<float> returns(n);
  const std::vector<char> characters(stream.state_size());
  stream.push(returns, l, s);
  stream.push(returns, out);
#if REFUSE == 16  // no matching (member )?function for call to .*push
  stream.push(returns.data(), l.data(), s.data());
#endif
#if REFUSE == 17  // no matching (member )?function for call to .*push
  stream.push(returns, dl, ds);
#endif
#if REFUSE == 18  // denise: an mdspan must be row-major without gaps
  stream.push_matrices(left, l, s);
#endif
#if REFUSE == 19  // no matching (member )?function for call to .*restore
  stream.restore(characters);
#endif
#if REFUSE == 20  // (use of|call to) (implicitly-)?deleted
  denise::stream copy(stream);
#endif

  std::vector<float> d(n), w(n);
  std::vector<double> du(n * k), dd(n);
  denise::covariance_outputs<float> sigma;
  sigma.d = d;
  model.covariance(m, u, d);
  model.covariance(m, u, sigma, 0.1, std::nullopt);
#if REFUSE == 21  // no matching (member )?function for call to .*covariance
  model.covariance(m, du, dd);
#endif
#if REFUSE == 22  // no matching (member )?function for call to .*covariance
  model.covariance(m, fixed, d);
#endif
#if REFUSE == 23  // no matching (member )?function for call to .*covariance
  model.covariance(m, u, out);
#endif
#if REFUSE == 24  // no matching (member )?function for call to .*covariance
  model.covariance(m, u.data(), d.data());
#endif
#if REFUSE == 25  // denise: an mdspan must be row-major without gaps
  sigma.inverse = left;
#endif
  denise::solve(n, k, u, d, w, w);
  denise::solve(n, k, du, dd, dd, dd);
#if REFUSE == 26  // no matching function for call to .*solve
  denise::solve(n, k, u, d, w, dd);
#endif
#if REFUSE == 27  // no matching function for call to .*multiply
  denise::multiply(n, k, u, d, w, fixed);
#endif
#if REFUSE == 28  // denise: an mdspan must be row-major without gaps
  denise::multiply(n, k, u, d, left, w);
#endif
  denise::covariance_from_u(n, k, m, u, sigma);
  stream.sigma(u, sigma);
#if REFUSE == 29  // no matching (member )?function for call to .*sigma
  stream.sigma(du, sigma);
#endif
}
