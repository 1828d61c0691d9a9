// The portfolio of least variance with Denise's covariance, once a month: how much it moved in the month that followed,
// beside equal weights.
//
//   min_variance prices.csv
//
// Every 21 days the covariance M of the last 100 returns is split, and Sigma = U U' + diag(d) made of it, which has an
// inverse however short the window is. M has none if there are fewer days than stocks.
#include <denise.hpp>

#include "matrices.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace examples;
using Vector = std::vector<double>;

constexpr std::size_t window = 100, month = 21;

// The covariance of some days of returns, n of each day.
Matrices covariance(const double* returns, std::size_t days) {
  Vector mean(n, 0.0);
  Matrices m(nn, 0.0);
  for (std::size_t t = 0; t < days * n; ++t) mean[t % n] += returns[t] / double(days);
  for (std::size_t t = 0; t < days; ++t) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        m[i * n + j] += (returns[t * n + i] - mean[i]) * (returns[t * n + j] - mean[j]) / double(days - 1);
      }
    }
  }
  return m;
}

// Volatility of a year of 252 days, in percent.
double volatility(const Vector& daily) {
  double mean = 0, square = 0;
  for (const double r : daily) mean += r / double(daily.size());
  for (const double r : daily) square += (r - mean) * (r - mean) / double(daily.size() - 1);
  return 100 * std::sqrt(252 * square);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: min_variance prices.csv");
  const Prices prices = read_prices(argv[1]);
  if (prices.days() < window + month + 2) throw std::runtime_error(std::string(argv[1]) + ": not enough prices");
  const std::size_t days = prices.days() - 1;
  Vector returns(days * n), least, equal;
  for (std::size_t i = 0; i < returns.size(); ++i) returns[i] = prices.values[i + n] / prices.values[i] - 1;

  const denise::model model(denise::options{n, k});
  Vector u(n * k), d(n), w(n);
  for (std::size_t day = window; day < days; ++day) {
    if ((day - window) % month == 0) {
      model.covariance(covariance(&returns[(day - window) * n], window), u, d);
      w.assign(n, 1.0);
      denise::solve(n, k, u, d, w, w);  // w = Sigma^-1 1
      const double sum = std::accumulate(w.begin(), w.end(), 0.0);
      for (double& weight : w) weight /= sum;
    }
    const double* today = &returns[day * n];
    least.push_back(std::inner_product(w.begin(), w.end(), today, 0.0));
    equal.push_back(std::accumulate(today, today + n, 0.0) / double(n));
  }
  std::printf("%zu days of %zu stocks, new weights every %zu days\n\n", least.size(), n, month);
  std::printf("  volatility in %% a year\n  least variance, Denise %8.1f\n  equal weights          %8.1f\n",
              volatility(least), volatility(equal));
} catch (const std::exception& error) {
  std::fprintf(stderr, "min_variance: %s\n", error.what());
  return 1;
}
