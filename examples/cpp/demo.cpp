// What libdenise does, in two tables: matrices whose parts are known, and real stocks.
//
//   demo prices.csv     (a header line, then a date and one price per stock in each line)
//
// Every figure is measured in this run.
#include <denise.hpp>

#include "matrices.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace examples;

struct Result {
  Matrices l;
  double microseconds;  // per matrix; the median of several runs
};

// The network, in single precision as most callers will use it.
Result denise_split(const denise::model& model, const Matrices& m) {
  const std::vector<float> in(m.begin(), m.end());
  std::vector<float> l(m.size()), s(m.size());
  const double time = median_time(m.size() / nn, 21, [&] { model.decompose(in, l, s); });
  return {Matrices(l.begin(), l.end()), time};
}

Result eigen_truncation(const Matrices& m) {
  Matrices l(m.size()), s(m.size());
  const double time = median_time(m.size() / nn, 5, [&] { denise::solve(denise::method::eigen, n, k, m, l, s); });
  return {l, time};
}

void synthetic_table(const denise::model& model) {
  constexpr std::size_t count = 2000;
  const std::vector<double> sparsities{0.60, 0.70, 0.80, 0.90, 0.95};
  struct Row {
    const char* name;
    std::vector<double> errors, zeros, times;
  };
  Row rows[3] = {{"Denise", {}, {}, {}}, {"eigen-truncation", {}, {}, {}}, {"L = M (do nothing)", {}, {}, {}}};
  std::vector<double> truth;
  for (std::size_t i = 0; i < sparsities.size(); ++i) {
    const Synthetic data = synthetic(count, sparsities[i], unsigned(i + 1));
    const Result results[3] = {denise_split(model, data.m), eigen_truncation(data.m), {data.m, 0}};
    for (int r = 0; r < 3; ++r) {
      rows[r].errors.push_back(mean_error(results[r].l, data.l0, data.l0));
      rows[r].zeros.push_back(sparsity(data.m, results[r].l));
      rows[r].times.push_back(results[r].microseconds);
    }
    truth.push_back(sparsity(data.m, data.l0));
  }

  std::printf("Synthetic: M = L0 + S0, %zu x %zu, L0 of rank %zu, %zu matrices in each column\n\n", n, n, k, count);
  std::printf("  %-20s", "zeros in S0");
  for (double s0 : sparsities) std::printf("%9.0f %%", 100 * s0);
  std::printf("%16s\n\n  error of L: ||L - L0|| / ||L0||, mean\n", "time per matrix");
  for (Row& row : rows) {
    std::printf("  %-20s", row.name);
    for (double error : row.errors) std::printf("%11.4f", error);
    std::sort(row.times.begin(), row.times.end());
    const double time = row.times[row.times.size() / 2];
    if (time > 0) std::printf("%13.2f us", time);
    std::printf("\n");
  }
  std::printf("\n  zeros found: share of |S_ij| <= %.2f\n", small);
  for (const Row& row : rows) {
    std::printf("  %-20s", row.name);
    for (double zeros : row.zeros) std::printf("%9.1f %%", 100 * zeros);
    std::printf("\n");
  }
  std::printf("  %-20s", "(the truth)");
  for (double zeros : truth) std::printf("%9.1f %%", 100 * zeros);
  std::printf("\n\n");
}

void sp500_table(const denise::model& model, const Matrices& m) {
  const struct {
    const char* name;
    Result result;
  } rows[] = {{"Denise", denise_split(model, m)}, {"eigen-truncation", eigen_truncation(m)}, {"L = M (do nothing)", {m, 0}}};
  std::printf("S&P 500: correlations of %zu stocks, %zu windows of 100 days, rank %zu\n\n", n, m.size() / nn, k);
  std::printf("  %-20s%18s%16s%12s%18s\n", "", "||M - L|| / ||M||", "zeros in S", "mean |S|", "time per matrix");
  for (const auto& row : rows) {
    const Matrices& l = row.result.l;
    std::printf("  %-20s%18.4f%14.1f %%%12.4f", row.name, mean_error(m, l, m), 100 * sparsity(m, l), mean_absolute(m, l));
    if (row.result.microseconds > 0) std::printf("%15.2f us", row.result.microseconds);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: demo prices.csv\n");
    return 2;
  }
  const Matrices stocks = correlation_windows(read_prices(argv[1]));
  if (stocks.empty()) {
    std::fprintf(stderr, "demo: %s: not a table of %zu stocks\n", argv[1], n);
    return 1;
  }
  const denise::model model(denise::options{n, k});
  std::printf("libdenise %s, kernel: %s, one thread, single precision\n\n", denise::version(), model.kernel());
  synthetic_table(model);
  sp500_table(model, stocks);
  return 0;
} catch (const denise::error& error) {
  std::fprintf(stderr, "demo: %s\n", error.what());
  return 1;
}
