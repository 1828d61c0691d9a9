// A small risk engine: prices stream in, the covariance of the last 100 returns is updated and split on every
// tick, and at the end the latencies are counted.
//
//   rolling_risk [prices.csv] [--ticks N]
//
// Without a file, prices are a random walk with three common factors. A file is played again from the start when it
// ends. Nothing is allocated between the first tick and the last: everything the loop needs is made before it.
#include <denise.hpp>

#include "matrices.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace examples;
using Vector = std::array<double, n>;

// ------------------------------------------------------------------------------- rolling covariance

// Sums over the last `length` returns, so that a tick costs n^2 and not length * n^2. Sums that are only ever
// added to and subtracted from would collect rounding errors for as long as the engine runs: they are
// made afresh each time the window has gone round.
class RollingCovariance {
 public:
  static constexpr std::size_t length = 100;

  void add(const Vector& value) {
    Vector& slot = window_[at_];
    if (full_) accumulate(slot, -1);
    slot = value;
    accumulate(slot, 1);
    if (++at_ == length) {
      at_ = 0;
      full_ = true;
      sum_ = {};
      products_ = {};
      for (const Vector& one : window_) accumulate(one, 1);
    }
  }

  bool full() const { return full_; }

  // The lower triangle is all that the network reads.
  void write(float* m) const {
    constexpr double count = double(length);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        m[i * n + j] = float((products_[i * n + j] - sum_[i] * sum_[j] / count) / (count - 1));
      }
    }
  }

 private:
  void accumulate(const Vector& value, double sign) {
    for (std::size_t i = 0; i < n; ++i) {
      sum_[i] += sign * value[i];
      for (std::size_t j = 0; j <= i; ++j) products_[i * n + j] += sign * value[i] * value[j];
    }
  }

  std::array<Vector, length> window_{};
  std::size_t at_ = 0;
  bool full_ = false;
  Vector sum_{};
  std::array<double, nn> products_{};
};

// ------------------------------------------------------------------------------------------- prices

// 33 years of daily prices if nothing better is at hand: three factors that all stocks share, and noise.
Prices random_walk() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr std::size_t days = 8000;
  Prices prices;
  Vector price;
  price.fill(100);
  double loading[n][k];
  for (std::size_t i = 0; i < n; ++i) {
    prices.names.push_back("stock " + std::to_string(i + 1));
    for (double& value : loading[i]) value = normal(random);
  }
  for (std::size_t t = 0; t < days; ++t) {
    double factor[k];
    for (double& value : factor) value = 0.01 * normal(random);
    for (std::size_t i = 0; i < n; ++i) {
      double move = 0.005 * normal(random);
      for (std::size_t a = 0; a < k; ++a) move += loading[i][a] * factor[a];
      price[i] *= std::exp(move);
      prices.values.push_back(price[i]);
    }
  }
  return prices;
}

// ------------------------------------------------------------------------------------------- report

double percentile(const std::vector<double>& sorted, double share) {
  const auto at = std::size_t(share * double(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void print_latencies(const char* what, std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  std::printf("  %-26s%10.2f%10.2f%10.2f%10.2f\n", what, percentile(times, 0.50), percentile(times, 0.99),
              percentile(times, 0.999), times.back());
}

// Buckets that double: 1 us, 2 us, 4 us, ...
void print_histogram(const std::vector<double>& sorted) {
  std::printf("\n  decompose, ticks by latency\n");
  std::size_t from = 0;
  for (double upper = 1; from < sorted.size(); upper *= 2) {
    const auto to = std::size_t(std::lower_bound(sorted.begin(), sorted.end(), upper) - sorted.begin());
    if (to == from) continue;
    const double share = double(to - from) / double(sorted.size());
    const int bar = int(60 * share + 0.5);
    std::printf("  under %6.0f us %9zu  %.*s\n", upper, to - from, bar > 0 ? bar : 1,
                "############################################################");
    from = to;
  }
}

// The largest entries of S off the diagonal: pairs that move together more, or less, than the common factors say.
void print_pairs(const Prices& prices, const float* m, const float* s) {
  std::vector<std::pair<double, std::size_t>> pairs;  // as correlations, so that they compare
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      pairs.emplace_back(s[i * n + j] / std::sqrt(double(m[i * n + i]) * double(m[j * n + j])), i * n + j);
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::printf("\n  pairs that stand out on the last tick, S as a correlation\n");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [value, at] = pairs[i];
    std::printf("  %-10s %-10s %+.2f\n", prices.names[at / n].c_str(), prices.names[at % n].c_str(), value);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::string path;
  std::size_t ticks = 100000;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--ticks") == 0 && i + 1 < argc) {
      ticks = std::strtoul(argv[++i], nullptr, 10);
    } else if (argv[i][0] != '-') {
      path = argv[i];
    } else {
      throw std::runtime_error("usage: rolling_risk [prices.csv] [--ticks N]");
    }
  }
  const Prices prices = path.empty() ? random_walk() : read_prices(path);
  if (prices.days() < 2) throw std::runtime_error(path + ": not a table of " + std::to_string(n) + " stocks");
  if (ticks < 1 || ticks > 100000000) throw std::runtime_error("--ticks must be from 1 to 100000000");

  // All that the loop needs. One call at a time is made, so one is all the model has to be ready for.
  denise::options options;
  options.n = n;
  options.k = k;
  options.max_concurrency = 1;
  const denise::model model(options);
  RollingCovariance covariance;
  std::vector<float> m(nn), l(nn), s(nn);
  std::vector<double> tick_times(ticks), decompose_times(ticks);
  std::size_t refused = 0;

  std::size_t day = 1;
  for (std::size_t tick = 0; tick < ticks;) {
    Vector returns;
    tick_times[tick] = microseconds([&] {
      for (std::size_t i = 0; i < n; ++i) returns[i] = prices.values[day * n + i] / prices.values[(day - 1) * n + i] - 1;
      covariance.add(returns);
      covariance.write(m.data());
      // An engine does not stop for one bad tick: a status, not an exception.
      decompose_times[tick] = microseconds([&] { refused += model.try_decompose(m, l, s) != denise::status::ok; });
    });
    if (covariance.full()) ++tick;  // until then the window is filling and nothing is counted
    day = day + 1 < prices.days() ? day + 1 : 1;
  }

  std::printf("libdenise %s, kernel %s\n", denise::version(), model.kernel());
  std::printf("%zu ticks of %s: covariance of the last %zu returns of %zu stocks, split on every tick, rank %zu; "
              "%zu refused\n\n",
              ticks, path.empty() ? "a random walk" : path.c_str(), RollingCovariance::length, n, k, refused);
  std::printf("  %-26s%10s%10s%10s%10s\n", "latency in us", "p50", "p99", "p99.9", "max");
  print_latencies("decompose", decompose_times);
  print_latencies("whole tick", tick_times);
  print_histogram(decompose_times);
  print_pairs(prices, m.data(), s.data());
  return refused == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rolling_risk: %s\n", error.what());
  return 1;
}
