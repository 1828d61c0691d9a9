// What the examples share: matrices to split, measures of the result, and time.
#ifndef EXAMPLES_MATRICES_HPP
#define EXAMPLES_MATRICES_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace examples {

constexpr std::size_t n = 20;  // assets
constexpr std::size_t k = 3;   // rank of L
constexpr std::size_t nn = n * n;
constexpr double small = 0.01;  // an entry of S at most this large counts as zero, as in the paper

using Matrices = std::vector<double>;  // one n x n matrix after another, row-major

// --------------------------------------------------------------------------------- synthetic matrices

struct Synthetic {
  Matrices m, l0;
};

// How a pair (i, j) is drawn: by the authors' code, which made the paper's tables, j from 1 to n - 1 and then i below
// j, and entries up to 0.01 count as zeros; by the paper's text, all pairs alike, which is easier to split.
enum class Pairs { authors, uniform };

// The paper's generator: L0 = U U' with normal U, and S0 made of random pairs (i, j) until its share of
// zeros is down to s0. A pair puts b in [-1, 1] at (i, j) and (j, i) and a in [|b|, 1] at (i, i) and
// (j, j). A later pair replaces the entries of an earlier one, as in the authors' code; the paper's text
// says that they are added.
inline Synthetic synthetic(std::size_t count, double s0, unsigned seed, Pairs pairs = Pairs::authors) {
  const double zero = pairs == Pairs::authors ? small : 0;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Synthetic all{Matrices(count * nn), Matrices(count * nn)};
  for (std::size_t q = 0; q < count; ++q) {
    std::vector<double> u(n * k), s(nn, 0.0);
    for (double& value : u) value = normal(random);
    const auto is_zero = [zero](double entry) { return std::abs(entry) <= zero; };
    while (double(std::count_if(s.begin(), s.end(), is_zero)) > s0 * double(nn)) {
      const std::size_t j = pairs == Pairs::authors ? 1 + random() % (n - 1) : random() % n;
      const std::size_t i = pairs == Pairs::authors ? random() % j : (j + 1 + random() % (n - 1)) % n;
      const double b = 2 * uniform(random) - 1;
      const double a = std::abs(b) + (1 - std::abs(b)) * uniform(random);
      s[i * n + j] = s[j * n + i] = b;
      s[i * n + i] = s[j * n + j] = a;
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

// The first of them.
inline Synthetic first(const Synthetic& all, std::size_t count) {
  const auto size = std::ptrdiff_t(count * nn);
  return {Matrices(all.m.begin(), all.m.begin() + size), Matrices(all.l0.begin(), all.l0.begin() + size)};
}

// --------------------------------------------------------------------------------------- real matrices

// A table of prices: a header line with the names, then a date and n prices in each line.
struct Prices {
  std::vector<std::string> names;
  std::vector<double> values;  // n of each day
  std::size_t days() const { return values.size() / n; }
};

// Empty if there is no such file, or it is no such table.
inline Prices read_prices(const std::string& path) {
  Prices prices;
  std::ifstream file(path);
  std::string line, cell;
  std::getline(file, line);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::istringstream header(line);
  std::getline(header, cell, ',');
  while (std::getline(header, cell, ',')) prices.names.push_back(cell);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::getline(cells, cell, ',');
    std::vector<double> day;
    while (std::getline(cells, cell, ',')) day.push_back(std::strtod(cell.c_str(), nullptr));
    if (day.size() != n || !(*std::min_element(day.begin(), day.end()) > 0)) return {};
    prices.values.insert(prices.values.end(), day.begin(), day.end());
  }
  return prices.names.size() == n ? prices : Prices{};
}

// Correlations of simple returns in windows of 100 days, one every 5 days; the last 23 % of them, which no network was
// trained on. Empty if there are too few days.
inline Matrices correlation_windows(const Prices& prices) {
  constexpr std::size_t length = 100, step = 5;
  if (prices.days() < 2 * length) return {};
  const std::size_t days = prices.days() - 1;
  std::vector<double> returns(days * n);
  for (std::size_t i = 0; i < returns.size(); ++i) returns[i] = prices.values[i + n] / prices.values[i] - 1;
  const std::size_t windows = (days - length) / step + 1;
  Matrices all;
  for (std::size_t w = windows * 77 / 100; w < windows; ++w) {
    const double* window = &returns[w * step * n];
    double mean[n] = {};
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < n; ++i) mean[i] += window[t * n + i] / double(length);
    }
    Matrices c(nn, 0.0);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) c[i * n + j] += (window[t * n + i] - mean[i]) * (window[t * n + j] - mean[j]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) all.push_back(c[i * n + j] / std::sqrt(c[i * n + i] * c[j * n + j]));
    }
  }
  return all;
}

// ----------------------------------------------------------------------------------------- measures

// ||a - b||_F / ||scale||_F of each matrix, averaged.
inline double mean_error(const Matrices& a, const Matrices& b, const Matrices& scale) {
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
inline double sparsity(const Matrices& m, const Matrices& l) {
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < m.size(); ++i) zeros += std::abs(m[i] - l[i]) <= small;
  return double(zeros) / double(m.size());
}

// Eigenvalues of one matrix above x: by Sylvester's law as many as elimination finds positive pivots in a - x I.
inline std::size_t eigenvalues_above(const double* matrix, double x) {
  Matrices a(matrix, matrix + nn);
  std::size_t above = 0;
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] -= x;
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = a[p * n + p];
    above += pivot > 0;
    for (std::size_t i = p + 1; i < n && pivot != 0; ++i) {
      const double factor = a[i * n + p] / pivot;
      for (std::size_t j = p + 1; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
    }
  }
  return above;
}

// Eigenvalues larger than `small` in magnitude, the paper's rank, averaged.
inline double mean_rank(const Matrices& l) {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < l.size(); at += nn) {
    sum += eigenvalues_above(&l[at], small) + n - eigenvalues_above(&l[at], -small);
  }
  return double(sum) / double(l.size() / nn);
}

inline double mean_absolute(const Matrices& m, const Matrices& l) {
  double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i) sum += std::abs(m[i] - l[i]);
  return sum / double(m.size());
}

// --------------------------------------------------------------------------------------------- time

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Body>
double microseconds(Body body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Time per matrix of a body that handles `count` of them, the median of several runs. The first run warms the caches
// and is not counted.
template <typename Body>
double median_time(std::size_t count, int runs, Body body) {
  body();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(microseconds(body) / double(count));
  return median(std::move(times));
}

}  // namespace examples

#endif  // EXAMPLES_MATRICES_HPP
