// What libdenise does, in two tables and two pictures: matrices whose parts are known, and real stocks.
//
//   demo prices.csv folder     (a header line, then a date and one price per stock in each line)
//
// Every figure is measured in this run; the pictures go into the folder.
#include <denise.hpp>

#include "heatmap.hpp"
#include "matrices.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace examples;

struct Result {
  Matrices l, s;
  double microseconds;  // per matrix
};

// One way to split matrices. Doing nothing is one, and a table without it would flatter the others.
struct Way {
  enum class Kind { network, classical, bound, nothing };
  const char* name;
  Kind kind;
  denise::method method{};
  double times_root = 0;  // lambda * sqrt(n); 0: the paper's
};
const Way ways[] = {{"Denise", Way::Kind::network},
                    {"eigen-truncation", Way::Kind::classical, denise::method::eigen},
                    {"PCP, paper's lambda", Way::Kind::classical, denise::method::pcp},
                    {"PCP, lambda 1/sqrt(n)", Way::Kind::classical, denise::method::pcp, 1},
                    {"PCP, best lambda*", Way::Kind::bound, denise::method::pcp},
                    {"IALM, paper's lambda", Way::Kind::classical, denise::method::ialm},
                    {"IALM, lambda 1/sqrt(n)", Way::Kind::classical, denise::method::ialm, 1},
                    {"FPCP", Way::Kind::classical, denise::method::fpcp},
                    {"RPCA-GD", Way::Kind::classical, denise::method::rpca_gd},
                    {"L = M (do nothing)", Way::Kind::nothing}};

// The paper's lambda * sqrt(n) of PCP and IALM, for synthetic matrices and for stocks. The LRS library takes 1.
constexpr double paper = 0.56, paper_stocks = 0.64;

// Of the two methods whose lambda is in question; 0 is what the others have.
double lambda_of(const Way& way, double papers) {
  const bool pursuit = way.method == denise::method::pcp || way.method == denise::method::ialm;
  return pursuit ? (way.times_root > 0 ? way.times_root : papers) / std::sqrt(double(n)) : 0;
}

// Runs a body on parts of so many matrices; the median of their times, per matrix. Short parts, so that other programs
// do not get into most of them.
template <typename Body>
double time_in_parts(std::size_t size, int rounds, Body body) {
  constexpr std::size_t part = 40 * nn;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t at = 0; at < size; at += part) {
      const std::size_t length = std::min(part, size - at);
      times.push_back(microseconds([&] { body(at, length); }) * double(nn) / double(length));
    }
  }
  return median(times);
}

Result split(const Way& way, const denise::model& model, const Matrices& m, double lambda = 0) {
  if (way.kind == Way::Kind::nothing) return {m, Matrices(m.size(), 0.0), 0};
  if (way.kind == Way::Kind::network) {  // in single precision, as most callers will use it
    const std::vector<float> in(m.begin(), m.end());
    std::vector<float> l(m.size()), s(m.size());
    const double time = time_in_parts(m.size(), 11, [&](std::size_t at, std::size_t length) {
      model.decompose(denise::batch(denise::view(&in[at], length), length / nn), {&l[at], length}, {&s[at], length});
    });
    return {Matrices(l.begin(), l.end()), Matrices(s.begin(), s.end()), time};
  }
  Matrices l(m.size()), s(m.size());
  const double time = time_in_parts(m.size(), 1, [&](std::size_t at, std::size_t length) {
    denise::solve(way.method, n, k, denise::batch(denise::view(&m[at], length), length / nn),
                  denise::view(&l[at], length), denise::view(&s[at], length), lambda);
  });
  return {l, s, time};
}

// PCP with the lambda that has the smallest error, chosen for each matrix knowing L0: no method, but a bound for all
// ways to choose lambda. A grid over lambda * sqrt(n), then smaller steps around the best.
Matrices best_lambda(const Way& way, const denise::model& model, const Synthetic& data) {
  Matrices all;
  for (std::size_t at = 0; at < data.m.size(); at += nn) {
    const Matrices m(&data.m[at], &data.m[at] + nn), l0(&data.l0[at], &data.l0[at] + nn);
    double least = std::numeric_limits<double>::infinity(), best = 1;
    Matrices l;
    const auto attempt = [&](double times_root) {
      const Result result = split(way, model, m, times_root / std::sqrt(double(n)));
      const double error = mean_error(result.l, l0, l0);
      if (error >= least) return;
      least = error;
      best = times_root;
      l = result.l;
    };
    for (int step = -1; step <= 4; ++step) attempt(std::pow(2, 0.5 * step));
    for (double half = 0.25; half > 0.03; half /= 2) {
      const double middle = best;
      attempt(middle * std::pow(2, half));
      attempt(middle / std::pow(2, half));
    }
    all.insert(all.end(), l.begin(), l.end());
  }
  return all;
}

void print_time(double microseconds) {
  if (microseconds > 0) std::printf("%14.*f us", microseconds < 100 ? 1 : 0, microseconds);
  std::printf("\n");
}

// Figures appear as they are measured.
void print_now(const char* format, double value) {
  std::printf(format, value);
  std::fflush(stdout);
}

void synthetic_table(const denise::model& model) {
  constexpr std::size_t count = 250, searched = 12;
  const std::vector<double> sparsities{0.60, 0.70, 0.80, 0.90, 0.95};
  std::vector<Synthetic> data;
  for (std::size_t i = 0; i < sparsities.size(); ++i) {
    data.push_back(synthetic(count, sparsities[i], unsigned(i + 1), Pairs::authors));
  }

  std::printf("Synthetic: M = L0 + S0, %zu x %zu, L0 of rank %zu, %zu matrices in each column,\n"
              "drawn as by the code of the paper's authors\n\n", n, n, k, count);
  std::printf("  %-22s", "zeros in S0");
  for (double s0 : sparsities) std::printf("%9.0f %%", 100 * s0);
  std::printf("%17s\n\n  error of L: ||L - L0|| / ||L0||, mean\n", "time per matrix");
  std::vector<std::vector<double>> zeros;
  for (const Way& way : ways) {
    std::printf("  %-22s", way.name);
    std::vector<double> found, times;
    for (const Synthetic& all : data) {
      const bool bound = way.kind == Way::Kind::bound;
      const Synthetic column = bound ? first(all, searched) : all;
      const Result result = bound ? Result{best_lambda(way, model, column), {}, 0}
                                  : split(way, model, column.m, lambda_of(way, paper));
      print_now("%11.5f", mean_error(result.l, column.l0, column.l0));
      found.push_back(sparsity(column.m, result.l));
      times.push_back(result.microseconds);
    }
    print_time(median(times));
    zeros.push_back(found);
  }
  std::printf("\n  zeros found: share of |M_ij - L_ij| <= %.2f\n", small);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    std::printf("  %-22s", ways[i].name);
    for (double share : zeros[i]) std::printf("%9.1f %%", 100 * share);
    std::printf("\n");
  }
  std::printf("  %-22s", "(the truth)");
  for (const Synthetic& column : data) std::printf("%9.1f %%", 100 * sparsity(column.m, column.l0));
  std::printf("\n\n  The paper's lambda is %.2f/sqrt(n), %.2f/sqrt(n) for stocks; 1/sqrt(n) is the LRS library's.\n"
              "  * for each of the first %zu matrices the one with the smallest error of L, chosen knowing L0\n\n",
              paper, paper_stocks, searched);
}

void stocks_table(const denise::model& model, const Matrices& m) {
  std::printf("S&P 500: correlations of %zu stocks, %zu windows of 100 days, rank %zu where one can ask for it\n\n", n,
              m.size() / nn, k);
  std::printf("  %-22s%10s%19s%16s%11s%17s\n", "", "rank of L", "||M - L|| / ||M||", "zeros in M - L", "mean |S|",
              "time per matrix");
  for (const Way& way : ways) {
    if (way.kind == Way::Kind::bound) continue;  // L0 is not known
    std::printf("  %-22s", way.name);
    std::fflush(stdout);
    const Result result = split(way, model, m, lambda_of(way, paper_stocks));
    std::printf("%10.2f%19.4f%14.1f %%%11.4f", mean_rank(result.l), mean_error(m, result.l, m),
                100 * sparsity(m, result.l), mean_absolute(m, result.l));
    print_time(result.microseconds);
  }
}

void save(const std::string& path, const Picture& picture) {
  if (!write_png(path, picture)) throw std::runtime_error("cannot write " + path);
  std::printf("  %s\n", path.c_str());
}

// Whether the network finds the very entries that were added, which the colours tell at a glance.
void draw_synthetic(const denise::model& model, const std::string& path) {
  const Synthetic data = synthetic(1, 0.90, 7);
  Matrices s0(nn);
  for (std::size_t i = 0; i < nn; ++i) s0[i] = data.m[i] - data.l0[i];
  const Result network = split(ways[0], model, data.m), eigen = split(ways[1], model, data.m);
  // Entries of S0 end at 1, those of L0 go much further: a scale in between shows both.
  save(path, draw({{"TRUTH", data.m.data(), data.l0.data(), s0.data()},
                   {"DENISE", data.m.data(), network.l.data(), network.s.data()},
                   {"EIGEN", data.m.data(), eigen.l.data(), eigen.s.data()}},
                  n, 2.0));
}

void draw_stocks(const denise::model& model, const Matrices& windows, const std::string& path) {
  const Matrices last(windows.end() - nn, windows.end());
  const Result network = split(ways[0], model, last), eigen = split(ways[1], model, last);
  save(path, draw({{"DENISE", last.data(), network.l.data(), network.s.data()},
                   {"EIGEN", last.data(), eigen.l.data(), eigen.s.data()}},
                  n, 1.0));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: demo prices.csv folder\n");
    return 2;
  }
  const Matrices stocks = correlation_windows(read_prices(argv[1]));
  if (stocks.empty()) throw std::runtime_error(std::string(argv[1]) + ": not a table of " + std::to_string(n) + " stocks");
  const denise::model model(denise::options{n, k});
  std::printf("libdenise %s, kernel: %s, one thread\n\n", denise::version(), model.kernel());
  synthetic_table(model);
  stocks_table(model, stocks);
  const std::string folder = argv[2];
  std::printf("\nM = L + S in colours, white is zero:\n");
  draw_synthetic(model, folder + "/synthetic.png");
  draw_stocks(model, stocks, folder + "/sp500.png");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "demo: %s\n", error.what());
  return 1;
}
