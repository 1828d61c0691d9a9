// denise.h from C++17: it compiles without a warning, its types behave as C++ expects of C types, and a
// handle can be owned and shared in the usual ways.
#include <denise.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

static_assert(std::is_standard_layout_v<denise_options> && std::is_trivially_copyable_v<denise_options>);
static_assert(std::is_standard_layout_v<denise_report> && std::is_trivially_copyable_v<denise_report>);
static_assert(std::is_standard_layout_v<denise_stream_options> && std::is_trivially_copyable_v<denise_stream_options>);
static_assert(std::is_same_v<denise_status, std::int32_t>);

namespace {

int passed = 0;
int failed = 0;

void check(bool good, const char* what) {
  if (good) {
    ++passed;
  } else {
    ++failed;
    std::fprintf(stderr, "abi.cpp: failed: %s\n", what);
  }
}

struct Free {
  void operator()(denise_model* model) const { denise_free(model); }
};
using Model = std::unique_ptr<denise_model, Free>;

Model load(const denise_options& options) {
  denise_model* model = nullptr;
  check(denise_load(nullptr, &options, &model) == DENISE_OK, "load");
  return Model(model);
}

// Matrices u u' + a few large entries, different for every seed.
template <typename Real>
std::vector<Real> matrices(std::size_t n, std::size_t count) {
  std::vector<Real> all(count * n * n);
  for (std::size_t q = 0; q < count; ++q) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double low = std::sin(double(q + 3 * i + 1)) * std::sin(double(q + 3 * j + 1)) +
                           std::cos(double(2 * i + q)) * std::cos(double(2 * j + q));
        const double sparse = (i * j + q) % 11 == 0 ? 0.7 : 0.0;
        all[(q * n + i) * n + j] = Real(low + sparse + (i == j ? 1.0 : 0.0));
      }
    }
  }
  return all;
}

denise_status decompose(const denise_model* model, std::size_t count, const float* m, float* l, float* s) {
  return denise_decompose_batch(model, count, m, nullptr, l, s, nullptr);
}

denise_status decompose(const denise_model* model, std::size_t count, const double* m, double* l, double* s) {
  return denise_decompose_batch_f64(model, count, m, nullptr, l, s, nullptr);
}

template <typename Real>
bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

// One handle, moved and then shared by four threads; L + S is M.
template <typename Real>
void share_a_handle() {
  constexpr std::size_t n = 12, count = 100;
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = n;
  options.k = 2;
  options.threads = 2;
  Model first = load(options);
  const Model model = std::move(first);
  check(first == nullptr && denise_n(model.get()) == n && denise_k(model.get()) == 2, "the handle moves");

  const std::vector<Real> m = matrices<Real>(n, count);
  std::vector<Real> l(m.size()), s(m.size());
  check(decompose(model.get(), count, m.data(), l.data(), s.data()) == DENISE_OK, "decompose");
  bool sums = true;
  for (std::size_t i = 0; i < m.size(); ++i) {
    sums = sums && std::abs(double(l[i]) + double(s[i]) - double(m[i])) < 1e-6;
  }
  check(sums, "L + S = M");

  std::vector<std::vector<Real>> results(4, std::vector<Real>(m.size()));
  std::vector<denise_status> statuses(4, DENISE_ERR_INTERNAL);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      statuses[i] = decompose(model.get(), count, m.data(), results[i].data(), static_cast<Real*>(nullptr));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 4; ++i) check(statuses[i] == DENISE_OK && same_bits(results[i], l), "every thread");
}

}  // namespace

int main() {
  check(denise_abi_version() == 2, "abi version");
  check(std::string_view(denise_status_string(DENISE_OK)) == "ok", "status string");
  share_a_handle<float>();
  share_a_handle<double>();

  // A failure leaves no model and says why.
  std::string message(200, '\0');
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.n = 4;
  options.k = 4;
  options.message = message.data();
  options.message_size = message.size();
  denise_model* model = nullptr;
  check(denise_load(nullptr, &options, &model) == DENISE_ERR_ARGUMENT && model == nullptr, "bad rank");
  check(message.find("rank") != std::string::npos, "the message names the rank");

  std::printf("abi.cpp: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
