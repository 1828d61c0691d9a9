// An engine to start from: many books, returns for all of them at every tick, and for each book its exposures to the
// common factors and a hedge that takes them away.
//
//   engine [prices.csv] [--ticks N] [--books N] [--stagger]
//
// A book has 20 assets and a portfolio of them. The covariance of its returns is followed by denise::stream, all books
// in one handle, and split into L + S at every tick. L = U U': row i of U is how much asset i moves with each factor,
// so U'w are the exposures of a portfolio w. Hedges are held in a few liquid assets, until the next tick: one that
// makes the exposures zero, and one that makes the variance least, which leaves alone what is dear to take away.
//
// Of a file, with a date and at least 20 prices in each line, book b has 20 columns from column 20 b on, wrapping
// around, and begins on a day of its own; at the end it goes on from the start. An empty cell is a price that is not
// known. Without a file every book has its own simulated market. Nothing is allocated between the first tick and the
// last.
//
// At every 20th split a stream also starts from scratch, so that it never follows a poor split for long: such a tick
// takes longer. Books that began together do so together. With --stagger they begin one twentieth after another, and
// every tick has its share of that work.
//
// With several cores: a thread and a denise::stream for each part of the books, all made from one model.
#include <denise.hpp>

#include "matrices.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using examples::k;
using examples::microseconds;
using examples::n;

constexpr std::size_t liquid = 6;        // assets that the hedge may be held in: the first of each book
constexpr std::uint32_t half_life = 60;  // ticks
constexpr std::uint32_t warm_up = 40;    // ticks before a covariance of 20 assets is worth anything
constexpr std::size_t period = 20;       // splits from one start from scratch to the next

constexpr char usage[] =
    "usage: engine [prices.csv] [--ticks N] [--books N] [--stagger]\n"
    "  prices.csv  a line of names, then lines of a date and at least 20 prices; simulated without it\n"
    "  --ticks N   ticks to measure, 1 to 10000000; 2000 if left out\n"
    "  --books N   books of 20 assets each, 1 to 100000; 1000 if left out\n"
    "  --stagger   books begin one twentieth after another\n";

// ------------------------------------------------------------------------------------------- returns

// Returns of a table of prices, day by day.
struct Table {
  std::size_t columns = 0;
  std::vector<float> returns;
  std::size_t days() const { return columns == 0 ? 0 : returns.size() / columns; }
};

[[noreturn]] void bad_line(const std::string& path, std::size_t line, const std::string& why) {
  throw std::runtime_error(path + ", line " + std::to_string(line) + ": " + why);
}

// A price, or NaN for an empty cell.
double price(const std::string& cell, const std::string& path, std::size_t line) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (*end != '\0' || !(value > 0) || !std::isfinite(value)) bad_line(path, line, "'" + cell + "' is no price");
  return value;
}

Table read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  Table table;
  std::vector<double> before, now;
  std::string line, cell;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const auto columns = std::size_t(std::count(line.begin(), line.end(), ','));  // but for the date
    if (number == 1) {
      table.columns = columns;
      if (columns < n) bad_line(path, number, "fewer than 20 columns of prices");
      continue;
    }
    if (columns != table.columns) bad_line(path, number, "another number of columns than in the first line");
    now.clear();
    std::size_t start = line.find(',') + 1;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t end = std::min(line.find(',', start), line.size());
      now.push_back(price(line.substr(start, end - start), path, number));
      start = end + 1;
    }
    for (std::size_t i = 0; i < before.size(); ++i) table.returns.push_back(float(now[i] / before[i] - 1));
    before.swap(now);
  }
  if (table.days() < 2) throw std::runtime_error(path + ": fewer than three lines of prices");
  return table;
}

// Where the returns of the books come from.
class Market {
 public:
  Market(std::size_t books, Table table) : table_(std::move(table)), books_(books) {
    for (std::size_t b = 0; b < books; ++b) {
      books_[b].random.seed(b + 1);
      if (table_.days() > 0) {
        books_[b].day = books_[b].random() % table_.days();
      } else {
        for (float& loading : books_[b].loadings) loading = normal_(books_[b].random);
      }
    }
  }

  // The returns of all books at the next tick, n for each.
  void next(std::vector<float>& returns) {
    for (std::size_t b = 0; b < books_.size(); ++b) {
      if (table_.days() > 0) {
        read(books_[b], b, &returns[b * n]);
      } else {
        simulate(books_[b], &returns[b * n]);
      }
    }
  }

 private:
  struct Book {
    std::mt19937_64 random;
    std::size_t day = 0;
    std::array<float, n * k> loadings{};
  };

  void read(Book& book, std::size_t b, float* returns) const {
    const float* row = &table_.returns[book.day * table_.columns];
    for (std::size_t i = 0; i < n; ++i) returns[i] = row[(b * n + i) % table_.columns];
    book.day = (book.day + 1) % table_.days();
  }

  // Three factors that all assets of the book share, of which the first is the strongest, and noise. How much an asset
  // moves with each changes slowly.
  void simulate(Book& book, float* returns) {
    constexpr float size[k] = {0.01F, 0.006F, 0.004F};
    float factors[k];
    for (std::size_t a = 0; a < k; ++a) factors[a] = size[a] * normal_(book.random);
    for (std::size_t i = 0; i < n; ++i) {
      returns[i] = 0.006F * normal_(book.random);
      for (std::size_t a = 0; a < k; ++a) returns[i] += book.loadings[i * k + a] * factors[a];
    }
    float& one = book.loadings[book.random() % (n * k)];
    one = 0.98F * one + 0.2F * normal_(book.random);
  }

  Table table_;
  std::vector<Book> books_;
  std::normal_distribution<float> normal_;
};

// -------------------------------------------------------------------------------------------- hedges

// Sums for a variance.
struct Variance {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double value() const { return (squares - sum * sum / count) / (count - 1); }
};

enum Kind { neutral, least, kinds };  // of a hedge: exposures are zero, or the variance is least

struct Book {
  std::array<float, n> portfolio{};  // weights of the assets, without a hedge
  std::array<float, k> exposures{};  // of that portfolio
  std::array<std::array<float, liquid>, kinds> hedges{};  // weights of the first assets
  bool hedged = false;
  // Of what the portfolio makes from one tick to the next, without a hedge and with each.
  Variance plain{};
  std::array<Variance, kinds> rest{};
};

// Solves a x = b for a symmetric positive semidefinite a, by elimination. A factor that nothing loads on, or not apart
// from the others, gets 0.
void solve(float (&a)[k][k], float (&b)[k]) {
  float largest = 0;
  for (std::size_t i = 0; i < k; ++i) largest = std::max(largest, a[i][i]);
  bool there[k];
  for (std::size_t i = 0; i < k; ++i) {
    there[i] = a[i][i] > 1e-4F * largest;
    for (std::size_t j = i + 1; j < k && there[i]; ++j) {
      const float factor = a[j][i] / a[i][i];
      for (std::size_t c = i; c < k; ++c) a[j][c] -= factor * a[i][c];
      b[j] -= factor * b[i];
    }
  }
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t j = i + 1; j < k; ++j) b[i] -= a[i][j] * b[j];
    b[i] = there[i] ? b[i] / a[i][i] : 0;
  }
}

// With the rows V of U of the liquid assets and the variances D that the factors leave to each:
//
// - neutral: U'w + V'h = 0, and of all such h the one with the least sum of D_i h_i^2, which is
//   -D^-1 V A^-1 U'w with A = V' D^-1 V;
// - least: the least |U'w + V'h|^2 + sum of D_i h_i^2, which is the variance if the model is right; A has 1 more on its
//   diagonal.
void hedge(Book& book, const float* u, const float* s) {
  for (std::size_t a = 0; a < k; ++a) {
    book.exposures[a] = 0;
    for (std::size_t i = 0; i < n; ++i) book.exposures[a] += u[i * k + a] * book.portfolio[i];
  }
  float precision[liquid], sum[k][k] = {};
  for (std::size_t i = 0; i < liquid; ++i) {
    const float* row = &u[i * k];
    float common = 0;
    for (std::size_t a = 0; a < k; ++a) common += row[a] * row[a];
    // Of an asset that the factors explain all but wholly, at least a little is left.
    precision[i] = common > 0 ? 1 / std::max(s[i * n + i], 0.05F * common) : 0;
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t c = 0; c < k; ++c) sum[a][c] += precision[i] * row[a] * row[c];
    }
  }
  for (const Kind kind : {neutral, least}) {
    float matrix[k][k], x[k];
    std::memcpy(matrix, sum, sizeof matrix);
    for (std::size_t a = 0; a < k; ++a) {
      x[a] = book.exposures[a];
      if (kind == least) matrix[a][a] += 1;
    }
    solve(matrix, x);
    for (std::size_t i = 0; i < liquid; ++i) {
      float weight = 0;
      for (std::size_t a = 0; a < k; ++a) weight -= u[i * k + a] * x[a];
      book.hedges[kind][i] = precision[i] * weight;
    }
  }
  book.hedged = true;
}

// What the portfolio made at this tick, without a hedge and with those that were held since the last. An asset whose
// return is not known did not move.
void account(Book& book, const float* returns) {
  if (!book.hedged) return;
  const auto moved = [returns](std::size_t i) { return std::isnan(returns[i]) ? 0 : double(returns[i]); };
  double made = 0;
  for (std::size_t i = 0; i < n; ++i) made += double(book.portfolio[i]) * moved(i);
  book.plain.add(made);
  for (const Kind kind : {neutral, least}) {
    double with = made;
    for (std::size_t i = 0; i < liquid; ++i) with += double(book.hedges[kind][i]) * moved(i);
    book.rest[kind].add(with);
  }
}

// Long only, in the assets that hedges do not use; the weights sum to 1.
std::vector<Book> make_books(std::size_t count) {
  std::vector<Book> books(count);
  for (std::size_t b = 0; b < count; ++b) {
    std::mt19937_64 random(b + 1);
    std::uniform_real_distribution<float> uniform(0.1F, 1.0F);
    float sum = 0;
    for (std::size_t i = liquid; i < n; ++i) sum += books[b].portfolio[i] = uniform(random);
    for (float& weight : books[b].portfolio) weight /= sum;
  }
  return books;
}

// ------------------------------------------------------------------------------------------- report

double percentile(const std::vector<double>& sorted, double share) {
  const auto at = std::size_t(share * double(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void print_latencies(const char* what, const std::vector<double>& sorted, double divisor) {
  std::printf("  %-26s", what);
  for (const double share : {0.5, 0.99, 0.999, 1.0}) std::printf("%10.2f", percentile(sorted, share) / divisor);
  std::printf("\n");
}

// Buckets of a quarter of a power of two, so that a twentieth of the ticks stands apart.
void print_histogram(const std::vector<double>& sorted, std::size_t books) {
  std::printf("\n  %14s %14s %9s\n", "push, us", "per book, us", "ticks");
  double upper = 1;
  for (std::size_t from = 0; from < sorted.size(); upper *= 1.189207115002721) {
    const auto to = std::size_t(std::lower_bound(sorted.begin(), sorted.end(), upper) - sorted.begin());
    if (to == from) continue;
    const int bar = int(60 * double(to - from) / double(sorted.size()) + 0.5);
    std::printf("  under %8.0f under %8.2f %9zu  %.*s\n", upper, upper / double(books), to - from, bar > 0 ? bar : 1,
                "############################################################");
    from = to;
  }
  const double twice = 2 * percentile(sorted, 0.5);
  const auto above = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), twice);
  std::printf("  above twice the median: %.2f %% of the ticks\n", 100 * double(above) / double(sorted.size()));
}

// Every return meets the hedges of the tick before, which know nothing of it.
void print_variances(const std::vector<Book>& books) {
  std::printf("\n  %-42s%10s%10s%10s%10s\n", "variance of the portfolios one tick ahead", "all", "median", "worst",
              "best");
  for (const Kind kind : {neutral, least}) {
    double plain = 0, rest = 0;
    std::vector<double> changes;
    for (const Book& book : books) {
      // Not of a book that was never split, or whose prices stand still.
      if (book.plain.count < 2 || !(book.plain.value() > 0)) continue;
      plain += book.plain.value();
      rest += book.rest[kind].value();
      changes.push_back(100 * (book.rest[kind].value() / book.plain.value() - 1));
    }
    std::printf("  %-42s", kind == neutral ? "exposures made zero" : "variance made least");
    if (changes.empty()) {
      std::printf("   too few ticks to say\n");
      continue;
    }
    std::sort(changes.begin(), changes.end());
    std::printf("%+8.1f %%%+8.1f %%%+8.1f %%%+8.1f %%\n", 100 * (rest / plain - 1), percentile(changes, 0.5),
                changes.back(), changes.front());
  }
}

// ------------------------------------------------------------------------------------------ arguments

struct Arguments {
  std::string path;
  std::size_t ticks = 2000, books = 1000;
  bool stagger = false, help = false;
};

std::size_t number(const char* option, const char* text, std::size_t most) {
  char* end = nullptr;
  const unsigned long long value = text == nullptr ? 0 : std::strtoull(text, &end, 10);
  if (text == nullptr || *text < '0' || *text > '9' || *end != '\0' || value < 1 || value > most) {
    throw std::runtime_error(std::string(option) + " takes a number from 1 to " + std::to_string(most));
  }
  return std::size_t(value);
}

Arguments parse(int argc, char** argv) {
  Arguments given;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--ticks") {
      given.ticks = number("--ticks", argv[++i], 10000000);
    } else if (option == "--books") {
      given.books = number("--books", argv[++i], 100000);
    } else if (option == "--stagger") {
      given.stagger = true;
    } else if (option == "--help") {
      given.help = true;
    } else if (option.empty() || option[0] == '-' || !given.path.empty()) {
      throw std::runtime_error("unknown argument '" + option + "'\n" + usage);
    } else {
      given.path = option;
    }
  }
  return given;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments given = parse(argc, argv);
  if (given.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  const std::size_t count = given.books;

  // All that the loop needs.
  Market market(count, given.path.empty() ? Table{} : read_table(given.path));
  std::vector<Book> books = make_books(count);
  denise::options options;
  options.n = n;
  options.k = k;
  options.max_concurrency = 1;
  const denise::model model(options);
  denise::stream_options wanted;
  wanted.streams = std::uint32_t(count);
  wanted.half_life = half_life;
  wanted.warm_up = warm_up;
  denise::stream stream(model, wanted);
  std::vector<float> returns(count * n), u(count * n * k), s(count * n * n);
  std::vector<denise::report> reports(count);
  denise::outputs<float> out;
  out.u = u;
  out.s = s;
  out.reports = reports;
  std::vector<double> push_times(given.ticks), hedge_times(given.ticks);
  std::size_t refused = 0;

  std::printf("libdenise %s, kernel %s: %zu books of %zu assets, %s, half-life %u, rank %zu\n\n", denise::version(),
              model.kernel(), count, n, given.path.empty() ? "simulated" : given.path.c_str(), half_life, k);

  // Until the last book is ready nothing is counted.
  const std::size_t unready = warm_up - 1 + (given.stagger ? period - 1 : 0);
  for (std::size_t time = 0; time < unready + given.ticks; ++time) {
    market.next(returns);
    for (std::size_t b = 0; b < count && time >= unready; ++b) account(books[b], &returns[b * n]);
    denise::status code{};
    // An engine does not stop for one bad return: a status, not an exception, and the reports say which book.
    const double push_time = microseconds([&] { code = stream.try_push(returns, out); });
    if (code != denise::status::ok && code != denise::status::not_finite) {
      throw denise::error(code, denise::last_error());
    }
    const double hedge_time = microseconds([&] {
      for (std::size_t b = 0; b < count; ++b) {
        // Where there is no new split the hedge stays as it is.
        if (reports[b].status == DENISE_OK) hedge(books[b], &u[b * n * k], &s[b * n * n]);
      }
    });
    if (given.stagger && time < period - 1) {
      // The first books are those that have been through all of the ticks so far; the others begin again.
      for (std::size_t b = count * (time + 1) / period; b < count; ++b) (void)stream.try_reset(b);
    }
    if (time < unready) continue;
    const std::size_t tick = time - unready;
    push_times[tick] = push_time;
    hedge_times[tick] = hedge_time;
    for (const denise::report& report : reports) refused += report.status != DENISE_OK;
    if ((tick + 1) % std::max<std::size_t>(given.ticks / 5, 1) == 0) {
      const Book& book = books[tick % count];
      std::printf("  tick %7zu, book %5zu: exposures", tick + 1, tick % count);
      for (const float value : book.exposures) std::printf(" %+.4f", double(value));
      std::printf(", hedge");
      for (const float value : book.hedges[least]) std::printf(" %+.2f", double(value));
      std::printf("\n");
    }
  }

  std::sort(push_times.begin(), push_times.end());
  std::sort(hedge_times.begin(), hedge_times.end());
  std::printf("\n%zu ticks, %zu splits refused\n\n", given.ticks, refused);
  std::printf("  %-26s%10s%10s%10s%10s\n", "latency in us", "p50", "p99", "p99.9", "max");
  print_latencies("push, per tick", push_times, 1);
  print_latencies("push, per book", push_times, double(count));
  print_latencies("hedges, per tick", hedge_times, 1);
  print_histogram(push_times, count);
  print_variances(books);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "engine: %s\n", error.what());
  return 1;
}
