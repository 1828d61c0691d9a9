// What libdenise does, in two tables: matrices whose parts are known, and real stocks.
//
//   demo prices.csv     (a header line, then a date and one price per stock in each line)
//
// Every figure is measured in this run.
#include <denise.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t n = 20;   // assets
constexpr std::size_t k = 3;    // rank of L
constexpr std::size_t nn = n * n;
constexpr double small = 0.01;  // an entry of S at most this large counts as zero, as in the paper

using Matrices = std::vector<double>;  // one n x n matrix after another, row-major

struct Free {
  void operator()(denise_model* model) const { denise_free(model); }
};
using Model = std::unique_ptr<denise_model, Free>;

// ------------------------------------------------------------------------------------------ methods

struct Result {
  Matrices l;
  double microseconds;  // per matrix; the median of several runs
};

// Runs `body` on all matrices several times. The first run warms the caches and is not counted.
template <typename Body>
double median_time(std::size_t count, int runs, Body body) {
  std::vector<double> times;
  for (int i = 0; i <= runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    if (i > 0) times.push_back(taken.count() / double(count));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void must(denise_status status) {
  if (status != DENISE_OK) {
    std::fprintf(stderr, "demo: %s\n", denise_status_string(status));
    std::exit(1);
  }
}

// The network, in single precision as most callers will use it.
Result denise(const denise_model* model, const Matrices& m) {
  const std::vector<float> in(m.begin(), m.end());
  std::vector<float> l(m.size()), s(m.size());
  const std::size_t count = m.size() / nn;
  const double time = median_time(count, 21, [&] {
    must(denise_decompose_batch(model, count, in.data(), nullptr, l.data(), s.data(), nullptr));
  });
  return {Matrices(l.begin(), l.end()), time};
}

Result eigen_truncation(const Matrices& m) {
  Matrices l(m.size()), s(m.size());
  const std::size_t count = m.size() / nn;
  const double time = median_time(count, 5, [&] {
    must(denise_solve_batch(DENISE_METHOD_EIGEN, n, k, 0, count, m.data(), l.data(), s.data()));
  });
  return {l, time};
}

// ----------------------------------------------------------------------------------------- measures

// ||a - b||_F / ||scale||_F of each matrix, averaged.
double mean_error(const Matrices& a, const Matrices& b, const Matrices& scale) {
  double sum = 0;
  for (std::size_t at = 0; at < a.size(); at += nn) {
    double difference = 0, size = 0;
    for (std::size_t i = at; i < at + nn; ++i) {
      difference += (a[i] - b[i]) * (a[i] - b[i]);
      size += scale[i] * scale[i];
    }
    sum += std::sqrt(difference / size);
  }
  return sum / double(a.size() / nn);
}

// Share of entries of S = M - L that count as zero.
double sparsity(const Matrices& m, const Matrices& l) {
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < m.size(); ++i) zeros += std::abs(m[i] - l[i]) <= small;
  return double(zeros) / double(m.size());
}

double mean_absolute(const Matrices& m, const Matrices& l) {
  double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i) sum += std::abs(m[i] - l[i]);
  return sum / double(m.size());
}

// --------------------------------------------------------------------------------- synthetic matrices

struct Synthetic {
  Matrices m, l0;
};

// The paper's generator: L0 = U U' with normal U, and S0 made of random pairs (i, j) until its share of
// zeros is down to s0. A pair puts b in [-1, 1] at (i, j) and (j, i) and a in [|b|, 1] at (i, i) and
// (j, j). A later pair replaces the diagonal entries of an earlier one, as in the paper's code; its text
// says that they are added.
Synthetic synthetic(std::size_t count, double s0, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Synthetic all{Matrices(count * nn), Matrices(count * nn)};
  for (std::size_t q = 0; q < count; ++q) {
    std::vector<double> u(n * k), s(nn, 0.0);
    for (double& value : u) value = normal(random);
    std::size_t filled = 0;
    while (double(nn - filled) > s0 * double(nn)) {
      const std::size_t i = random() % n, j = random() % n;
      if (i == j || s[i * n + j] != 0) continue;
      const double b = 2 * uniform(random) - 1;
      const double a = std::abs(b) + (1 - std::abs(b)) * uniform(random);
      s[i * n + j] = s[j * n + i] = b;
      s[i * n + i] = s[j * n + j] = a;
      filled = nn - std::size_t(std::count(s.begin(), s.end(), 0.0));
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double low = 0;
        for (std::size_t a = 0; a < k; ++a) low += u[i * k + a] * u[j * k + a];
        all.l0[q * nn + i * n + j] = low;
        all.m[q * nn + i * n + j] = low + s[i * n + j];
      }
    }
  }
  return all;
}

void synthetic_table(const denise_model* model) {
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
    const Result results[3] = {denise(model, data.m), eigen_truncation(data.m), {data.m, 0}};
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

// --------------------------------------------------------------------------------------- real matrices

// Correlations of simple returns in windows of 100 days, one every 5 days; the last 23 % of them.
Matrices sp500_windows(const char* path) {
  std::ifstream file(path);
  std::vector<std::vector<double>> returns;
  std::vector<double> previous;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::getline(cells, cell, ',');
    std::vector<double> prices;
    while (std::getline(cells, cell, ',')) prices.push_back(std::stod(cell));
    if (prices.size() != n) break;
    if (!previous.empty()) {
      std::vector<double> day(n);
      for (std::size_t i = 0; i < n; ++i) day[i] = prices[i] / previous[i] - 1;
      returns.push_back(day);
    }
    previous = prices;
  }
  constexpr std::size_t length = 100, step = 5;
  if (returns.size() < 2 * length) {
    std::fprintf(stderr, "demo: %s: not a table of %zu stocks\n", path, n);
    std::exit(1);
  }
  const std::size_t windows = (returns.size() - length) / step + 1;
  Matrices all;
  for (std::size_t w = windows * 77 / 100; w < windows; ++w) {
    const auto* days = &returns[w * step];
    double mean[n] = {};
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < n; ++i) mean[i] += days[t][i] / double(length);
    }
    Matrices c(nn, 0.0);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) c[i * n + j] += (days[t][i] - mean[i]) * (days[t][j] - mean[j]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) all.push_back(c[i * n + j] / std::sqrt(c[i * n + i] * c[j * n + j]));
    }
  }
  return all;
}

void sp500_table(const denise_model* model, const char* path) {
  const Matrices m = sp500_windows(path);
  const struct {
    const char* name;
    Result result;
  } rows[] = {{"Denise", denise(model, m)}, {"eigen-truncation", eigen_truncation(m)}, {"L = M (do nothing)", {m, 0}}};
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

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: demo prices.csv\n");
    return 2;
  }
  denise_model* handle = nullptr;
  must(denise_load(nullptr, nullptr, &handle));
  const Model model(handle);
  std::printf("libdenise %s, kernel: %s, one thread, single precision\n\n", denise_version(), denise_kernel(handle));
  synthetic_table(handle);
  sp500_table(handle, argv[1]);
  return 0;
}
