#include <denise.hpp>
#include <cstdio>
#include <vector>

int main() try {
  std::vector<double> m(25, 1.0), u(5), d(5), weights(5, 1.0);  // five assets that move as one,
  for (int i = 0; i < 5; ++i) m[i * 5 + i] = 1.5 + 0.5 * i;     // and each on its own besides
  const denise::model model(denise::options{5, 1});
  model.covariance(m, u, d);                    // Sigma = u u' + diag(d), which need not be formed
  denise::solve(5, 1, u, d, weights, weights);  // Sigma^-1 1: the portfolio of least variance, but for the sum
  std::printf("ok: the first has %.1f times the weight of the second\n", weights[0] / weights[1]);
} catch (const denise::error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
