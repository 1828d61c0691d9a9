// Denise beside PCP, IALM, FPCP and RPCA-GD, on the same matrices: accuracy and time.
//
//   compare_lrs [LRS_PATH] [--count N] [--prices prices.csv]
//
// The methods are those of denise_solve_batch. If LRS_PATH, an argument or a variable of the environment, is a clone
// of the LRS library, Octave or MATLAB runs its functions too, through examples/matlab/lrs_batch.m, and each method has
// two rows. Run it from the top of the source tree. Every figure is measured in this run.
#include <denise.hpp>

#include "matrices.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace examples;
namespace fs = std::filesystem;

struct Arguments {
  std::string lrs, prices;
  std::size_t count = 20;  // matrices in each column
};

// What one method made of one set of matrices.
struct Result {
  Matrices l;
  double microseconds = 0;  // per matrix, median
  std::string note;         // why there is no result
  std::string substitutes;  // functions of ours that ran inside the LRS library's
};

// One set of matrices, a column of the table.
struct Set {
  std::string name;
  Matrices m, l0;  // l0 is empty for stocks, where nobody knows it
  double c;        // lambda * sqrt(n) for PCP and IALM, chosen in the paper so that L has rank 3
  std::map<std::string, Result> results;
};

// The classical methods, in the order of examples/matlab/private/lrs_methods.m.
struct Classical {
  const char* name;
  denise::method method;
  bool paper_lambda;  // for PCP and IALM: c / sqrt(n), else 1 / sqrt(n), as the LRS library calls them
};
const std::vector<Classical> classical{
    {"PCP", denise::method::pcp, true},   {"PCP*", denise::method::pcp, false},
    {"IALM", denise::method::ialm, true}, {"IALM*", denise::method::ialm, false},
    {"FPCP", denise::method::fpcp, true}, {"RPCA-GD", denise::method::rpca_gd, true},
};
const std::string ours = ", libdenise", theirs = ", LRS library";
const std::string denise_row = "Denise, by denise.hpp", eigen_row = "eigen-truncation, libdenise",
                  nothing_row = "L = M (do nothing)";

// ------------------------------------------------------------------------------------------ methods

// One matrix at a time, as the others are called; in single precision.
Result run_denise(const denise::model& model, const Matrices& m) {
  const std::vector<float> in(m.begin(), m.end());
  std::vector<float> l(m.size()), s(m.size());
  std::vector<double> times;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t at = 0; at < m.size(); at += nn) {
      times.push_back(microseconds([&] { model.decompose({&in[at], nn}, {&l[at], nn}, {&s[at], nn}); }));
    }
  }
  return {Matrices(l.begin(), l.end()), median(times), "", ""};
}

Result run_solver(denise::method method, const Matrices& m, double c) {
  Matrices l(m.size()), s(m.size());
  std::vector<double> times;
  const bool convex = method == denise::method::pcp || method == denise::method::ialm;
  const double lambda = convex ? c / std::sqrt(double(n)) : 0;
  for (std::size_t at = 0; at < m.size(); at += nn) {
    denise::status code{};
    const denise::view one_m(&m[at], nn);
    const denise::view one_l(&l[at], nn), one_s(&s[at], nn);
    times.push_back(microseconds([&] { code = denise::try_solve(method, n, k, one_m, one_l, one_s, lambda); }));
    if (code == denise::status::unsupported) return {{}, 0, "not in this build", ""};
    if (code != denise::status::ok) return {{}, 0, denise::to_string(code), ""};
  }
  return {l, median(times), "", ""};
}

void run_solvers(Set& set) {
  for (const Classical& one : classical) {
    set.results[one.name + ours] = run_solver(one.method, set.m, one.paper_lambda ? set.c : 1);
  }
}

// ----------------------------------------------------------------------------------- the LRS library

// A folder that is gone when the program is.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "compare_lrs.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// The first of the programs that is installed, as a command that runs lrs_batch.
std::optional<std::string> interpreter() {
  const std::pair<const char*, const char*> known[] = {
      {"octave-cli", "octave-cli --no-history --norc --quiet --eval lrs_batch"},
      {"octave", "octave --no-gui --no-history --norc --quiet --eval lrs_batch"},
      {"matlab", "matlab -batch lrs_batch"},
  };
  for (const auto& [name, command] : known) {
    if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0) return command;
  }
  return std::nullopt;
}

// The folder is the interface: each set is written as N.f64 (numbers) and N.txt (count and c), and comes back as
// N.I.f64 and N.I.txt for method I = 1, 2... (seconds per matrix and substitutes, or - and why there is nothing).
void run_lrs(std::vector<Set>& sets, const std::string& lrs) {
  if (!fs::is_directory(fs::path(lrs) / "algorithms")) {
    throw std::runtime_error(lrs + " is not the LRS library: it has no folder 'algorithms'");
  }
  const auto command = interpreter();
  if (!command) throw std::runtime_error("neither octave nor matlab is installed, and the LRS library needs one");
  const Folder folder;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::string base = (folder.path / std::to_string(i)).string();
    std::ofstream numbers(base + ".f64", std::ios::binary);
    numbers.write(reinterpret_cast<const char*>(sets[i].m.data()), std::streamsize(sets[i].m.size() * sizeof(double)));
    std::ofstream text(base + ".txt");
    text.precision(17);
    text << sets[i].m.size() / nn << ' ' << sets[i].c << '\n';
    if (!numbers.flush() || !text.flush()) throw std::runtime_error("cannot write to " + folder.path.string());
  }
  // By environment rather than by command line: no path needs quoting. One thread, as Denise has.
  setenv("COMPARE_LRS", fs::absolute(lrs).c_str(), 1);
  setenv("COMPARE_FOLDER", folder.path.c_str(), 1);
  setenv("COMPARE_N", std::to_string(n).c_str(), 1);
  setenv("COMPARE_K", std::to_string(k).c_str(), 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  std::printf("running the LRS library: %s\n\n", command->c_str());
  std::fflush(stdout);
  if (std::system(("cd examples/matlab && " + *command + " >&2").c_str()) != 0) {
    throw std::runtime_error("the run of the LRS library failed; its messages are above");
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t r = 0; r < classical.size(); ++r) {
      const std::string base = (folder.path / (std::to_string(i) + "." + std::to_string(r + 1))).string();
      Result result;
      std::ifstream text(base + ".txt");
      std::string seconds;
      text >> seconds;
      std::getline(text >> std::ws, result.note);
      if (seconds != "-") {
        result.microseconds = 1e6 * std::strtod(seconds.c_str(), nullptr);
        result.l.resize(sets[i].m.size());
        std::ifstream numbers(base + ".f64", std::ios::binary);
        numbers.read(reinterpret_cast<char*>(result.l.data()), std::streamsize(result.l.size() * sizeof(double)));
        if (!numbers) throw std::runtime_error(std::string("no results of ") + classical[r].name + " came back");
        result.substitutes.swap(result.note);
      }
      sets[i].results[classical[r].name + theirs] = result;
    }
  }
}

// ----------------------------------------------------------------------------------------- the table

std::string time_text(double microseconds) {
  char text[32];
  if (microseconds >= 1000) {
    std::snprintf(text, sizeof text, "%.1f ms", microseconds / 1000);
  } else {
    std::snprintf(text, sizeof text, "%.1f us", microseconds);
  }
  return text;
}

// The median over the sets; 0 if there is no result.
double time_of(const std::vector<Set>& sets, const std::string& key) {
  std::vector<double> times;
  for (const Set& set : sets) times.push_back(set.results.at(key).microseconds);
  return median(times);
}

// `same` is the row of the same method in libdenise, or empty.
void print_row(const std::vector<Set>& sets, const std::string& key, const std::string& same = "") {
  std::printf("  %-30s", key.c_str());
  for (const Set& set : sets) {
    const Result& result = set.results.at(key);
    if (!result.note.empty()) {
      std::printf("  %s\n", result.note.c_str());
      return;
    }
    if (set.l0.empty()) {
      std::printf("%17.3f%10.0f %%", mean_error(set.m, result.l, set.m), 100 * sparsity(set.m, result.l));
    } else {
      std::printf("%9.5f", mean_error(result.l, set.l0, set.l0));
    }
  }
  const double time = time_of(sets, key), same_time = same.empty() ? 0 : time_of(sets, same);
  if (time > 0) std::printf("%12s%11.0f x", time_text(time).c_str(), time / time_of(sets, denise_row));
  if (same_time > 0) std::printf("%15.0f x", time / same_time);
  std::printf("\n");
}

void print_table(const std::vector<Set>& sets, bool with_lrs) {
  const bool stocks = sets.back().l0.empty();
  std::printf("  %-30s%s%s\n", "", "error of L, ||L - L0|| / ||L0||", stocks ? "      stocks" : "");
  std::printf("  %-30s", "zeros in S0");
  for (const Set& set : sets) {
    if (!set.l0.empty()) std::printf("%9s", set.name.c_str());
  }
  if (stocks) std::printf("%17s%12s", "||M-L|| / ||M||", "zeros in S");
  std::printf("%12s%13s%s\n", "one matrix", "to Denise", with_lrs ? "   to libdenise's" : "");
  print_row(sets, denise_row);
  for (const Classical& one : classical) {
    if (with_lrs) print_row(sets, one.name + theirs, one.name + ours);
    print_row(sets, one.name + ours);
  }
  print_row(sets, eigen_row);
  print_row(sets, nothing_row);
  std::printf("\n  * with lambda = 1/sqrt(n), as the LRS library calls it; else with the value of the Denise paper.\n");
}

// What the times of the LRS library depend on.
void print_conditions(const Set& set) {
  std::printf("\nThe LRS library ran in Octave or MATLAB, which interprets it, and was timed there; libdenise is\n"
              "compiled. So the last column compares programs, not methods: for methods, compare rows of libdenise\n"
              "with Denise.\n");
  for (const Classical& one : classical) {
    std::istringstream names(set.results.at(one.name + theirs).substitutes);
    for (std::string name; names >> name;) {
      std::printf("Substitute in %s%s: %s, from examples/matlab/fallback, since the library's does not run here.\n",
                  one.name, theirs.c_str(), name.c_str());
    }
  }
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  if (const char* path = std::getenv("LRS_PATH")) arguments.lrs = path;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--count" && has_value) {
      arguments.count = std::strtoul(argv[++i], nullptr, 10);
    } else if (word == "--prices" && has_value) {
      arguments.prices = argv[++i];
    } else if (word.empty() || word[0] == '-') {
      throw std::runtime_error("usage: compare_lrs [LRS_PATH] [--count N] [--prices prices.csv]");
    } else {
      arguments.lrs = word;
    }
  }
  if (arguments.count < 1 || arguments.count > 100000) throw std::runtime_error("--count must be from 1 to 100000");
  return arguments;
}

std::vector<Set> make_sets(const Arguments& arguments) {
  // The paper gives these as 0.56 and 0.64.
  constexpr double c_synthetic = 1 / 1.79, c_stocks = 1 / 1.56;
  std::vector<Set> sets;
  unsigned seed = 1;
  for (const double s0 : {0.60, 0.80, 0.95}) {
    Synthetic data = synthetic(arguments.count, s0, seed++);
    sets.push_back({std::to_string(int(100 * s0 + 0.5)) + " %", data.m, data.l0, c_synthetic, {}});
  }
  if (!arguments.prices.empty()) {
    const Matrices all = correlation_windows(read_prices(arguments.prices));
    if (all.empty()) throw std::runtime_error(arguments.prices + ": not a table of " + std::to_string(n) + " stocks");
    const std::size_t windows = all.size() / nn, count = std::min(arguments.count, windows);
    Matrices some;  // spread over the whole time
    for (std::size_t i = 0; i < count; ++i) {
      const double* from = &all[i * windows / count * nn];
      some.insert(some.end(), from, from + nn);
    }
    sets.push_back({"stocks", some, {}, c_stocks, {}});
  }
  return sets;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments arguments = parse(argc, argv);
  std::vector<Set> sets = make_sets(arguments);
  const denise::model model(denise::options{n, k});
  std::printf("libdenise %s, kernel %s; %zu x %zu matrices, rank %zu, %zu in each column; one thread, one per call\n\n",
              denise::version(), model.kernel(), n, n, k, arguments.count);
  for (Set& set : sets) {
    set.results[denise_row] = run_denise(model, set.m);
    set.results[eigen_row] = run_solver(denise::method::eigen, set.m, 0);
    set.results[nothing_row] = {set.m, 0, "", ""};
    run_solvers(set);
  }
  if (!arguments.lrs.empty()) run_lrs(sets, arguments.lrs);
  print_table(sets, !arguments.lrs.empty());
  if (!arguments.lrs.empty()) {
    print_conditions(sets.front());
  } else {
    std::printf("\nThese are this library's own versions of the methods. For the LRS library's beside them:\n"
                "  git clone --recursive https://github.com/andrewssobral/lrslibrary\n"
                "  LRS_PATH=$PWD/lrslibrary make examples        (needs octave or matlab)\n");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_lrs: %s\n", error.what());
  return 1;
}
