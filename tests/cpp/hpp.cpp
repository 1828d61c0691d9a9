// denise.hpp: both layers, every way in and out, and what the header itself checks. The Makefile compiles this
// with gcc and clang, as C++17 and C++20, and once more with -fno-exceptions -fno-rtti.
#include <denise.hpp>

#include "check.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

namespace {

std::size_t allocations = 0;

}  // namespace

// Counts what C++ allocates: the calls of the library are counted by no_alloc.c.
void* operator new(std::size_t size) {
  ++allocations;
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

static_assert(!std::is_copy_constructible_v<denise::model> && !std::is_copy_assignable_v<denise::model>);
static_assert(std::is_nothrow_move_constructible_v<denise::model> && std::is_nothrow_move_assignable_v<denise::model>);
static_assert(sizeof(denise::model) == sizeof(void*), "a model is its handle and nothing else");
static_assert(noexcept(denise::model::try_load()));
static_assert(noexcept(std::declval<denise::model>().try_decompose(denise::view<float>(), denise::outputs<float>())));
static_assert(noexcept(denise::try_solve(denise::method::eigen, 1, 1, denise::view<double>(), std::nullopt,
                                         std::nullopt)));
// What must not compile as a block of matrices.
static_assert(!std::is_convertible_v<std::vector<int>&, denise::view<float>>);
static_assert(!std::is_convertible_v<const std::vector<float>&, denise::view<float>>, "constness is kept");
static_assert(!std::is_convertible_v<const float (&)[5][5], denise::view<float>>);
static_assert(!std::is_convertible_v<float*, denise::view<float>>, "a pointer does not say how much there is");
static_assert(!std::is_convertible_v<std::nullptr_t, std::optional<denise::view<float>>>);
static_assert(std::is_convertible_v<std::vector<float>&, denise::view<const float>>);
static_assert(std::is_convertible_v<denise::view<float>, denise::view<const float>>);
static_assert(!std::is_convertible_v<const char*, denise::model>, "a path is no model by accident");

constexpr std::size_t n = 6, k = 2, count = 5;
constexpr denise::options sizes{n, k};

template <typename Real>
std::vector<Real> matrices() {
  std::vector<Real> all(count * n * n);
  for (std::size_t q = 0; q < count; ++q) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double low = std::sin(double(q + 3 * i + 1)) * std::sin(double(q + 3 * j + 1));
        all[(q * n + i) * n + j] = Real(low + (i == j ? 1.0 : 0.0));
      }
    }
  }
  return all;
}

template <typename Real>
bool same_bits(const Real* a, const Real* b, std::size_t size) {
  return std::memcmp(a, b, size * sizeof(Real)) == 0;
}

denise_status c_decompose(const denise::model& model, const float* m, float* u, float* l, float* s, denise_report* r) {
  return denise_decompose_batch(model.get(), count, m, u, l, s, r);
}
denise_status c_decompose(const denise::model& model, const double* m, double* u, double* l, double* s,
                          denise_report* r) {
  return denise_decompose_batch_f64(model.get(), count, m, u, l, s, r);
}

// Everything comes out as from the C call, through every kind of argument.
template <typename Real>
void results() {
  const denise::model model = denise::model::try_load(sizes).model;
  CHECK(model && model.n() == n && model.k() == k && std::string_view(model.kernel()).size() > 0);
  const std::vector<Real> m = matrices<Real>();
  std::vector<Real> l(m.size()), s(m.size()), u(count * n * k);
  std::vector<denise::report> reports(count);
  CHECK(c_decompose(model, m.data(), u.data(), l.data(), s.data(), reports.data()) == DENISE_OK);
  CHECK(l[7] != 0 && u[3] != 0);

  std::vector<Real> l2(m.size()), s2(m.size()), u2(u.size());
  std::vector<denise::report> reports2(count);
  denise::outputs<Real> out;
  out.l = l2;
  out.s = s2;
  out.u = u2;
  out.reports = reports2;
  const std::size_t before = allocations;
  CHECK(model.try_decompose(denise::batch(m, count), out) == denise::status::ok);
  CHECK(allocations == before);
  CHECK(same_bits(l.data(), l2.data(), l.size()) && same_bits(s.data(), s2.data(), s.size()));
  CHECK(same_bits(u.data(), u2.data(), u.size()));
  CHECK(std::memcmp(reports.data(), reports2.data(), count * sizeof(denise::report)) == 0);

  std::array<Real, count * n * n> l3{};
  Real s3[count * n * n] = {};
  CHECK(model.try_decompose(denise::batch(m, count), l3, s3) == denise::status::ok);
  CHECK(same_bits(l.data(), l3.data(), l.size()) && same_bits(s.data(), s3, s.size()));

  // Any one output alone, and s in place of m.
  std::vector<Real> l4(m.size()), in_place = m;
  denise::outputs<Real> only_l;
  only_l.l = l4;
  const denise::view<const Real> all = denise::batch(m, count);
  CHECK(model.try_decompose(all, only_l) == denise::status::ok && same_bits(l.data(), l4.data(), l.size()));
  CHECK(model.try_decompose(all, denise::outputs<Real>{}) == denise::status::ok);
  denise::outputs<Real> over;
  over.s = in_place;
  CHECK(model.try_decompose(denise::batch(in_place, count), over) == denise::status::ok);
  CHECK(same_bits(s.data(), in_place.data(), s.size()));

  // Pointers, and part of a container.
  std::vector<Real> one(n * n), one_s(n * n);
  denise::outputs<Real> first;
  first.l = {one.data(), n * n};
  CHECK(model.try_decompose(denise::view(m.data(), n * n), first) == denise::status::ok);
  CHECK(same_bits(l.data(), one.data(), one.size()));
  CHECK(model.try_decompose({&m[n * n], n * n}, one, one_s) == denise::status::ok);
  CHECK(same_bits(&l[n * n], one.data(), one.size()) && same_bits(&s[n * n], one_s.data(), one.size()));

  // C arrays know their shape.
  Real array[count][n][n], array_l[count][n][n], array_s[n][n], array_u[count][n][k];
  std::memcpy(array, m.data(), sizeof array);
  denise::outputs<Real> arrays;
  arrays.u = array_u;
  arrays.l = array_l;
  CHECK(model.try_decompose(array, arrays) == denise::status::ok);
  CHECK(std::memcmp(array_l, l.data(), sizeof array_l) == 0 && std::memcmp(array_u, u.data(), sizeof array_u) == 0);
  CHECK(model.try_decompose(array[1], array_l[1], array_s) == denise::status::ok);
  CHECK(std::memcmp(array_s, &s[n * n], sizeof array_s) == 0);

#if defined(__cpp_lib_span)
  std::vector<Real> l6(m.size()), s6(m.size());
  const std::span<const Real> whole(m);
  CHECK(model.try_decompose(denise::batch(whole, count), std::span<Real>(l6), std::span<Real>(s6)) ==
        denise::status::ok);
  CHECK(same_bits(l.data(), l6.data(), l.size()));
  CHECK(model.try_decompose(whole.first(n * n), {.u = std::span<Real>(u2).first(n * k), .l = one}) ==
        denise::status::ok);
  const denise::view<const Real> block(m);
  const std::span<const Real> span = block;
  CHECK(span.data() == m.data() && span.size() == m.size());
#endif

#if DENISE_HPP_EXCEPTIONS
  std::vector<Real> l7(m.size()), s7(m.size());
  model.decompose(denise::batch(m, count), l7, s7);
  CHECK(same_bits(l.data(), l7.data(), l.size()) && same_bits(s.data(), s7.data(), s.size()));
  model.decompose(denise::batch(m, count), only_l);
#endif
}

#if DENISE_HPP_EXCEPTIONS
// Whether the body throws that status, with these words.
template <typename Body>
bool throws(denise::status code, std::string_view words, Body body) {
  try {
    body();
  } catch (const denise::error& error) {
    return error.code() == code && std::string_view(error.what()).find(words) != std::string_view::npos;
  }
  return false;
}
#endif

// Sizes that do not fit are refused, and nothing is written.
void shapes() {
  const denise::model model = denise::model::try_load(sizes).model;
  const std::vector<float> m = matrices<float>();
  const auto all = denise::batch(m, count);
  std::vector<float> l(m.size(), 7.0F), s(m.size(), 7.0F), short_l(m.size() - 1), none, u(count * n * k + 1, 7.0F);
  std::vector<denise::report> reports(count - 1);
  CHECK(model.try_decompose(all, short_l, s) == denise::status::shape);
  CHECK(model.try_decompose(all, none, s) == denise::status::shape);  // a container that nobody resized
  CHECK(model.try_decompose(short_l, short_l, short_l) == denise::status::shape);
  denise::outputs<float> out;
  out.l = l;
  out.u = u;
  CHECK(model.try_decompose(all, out) == denise::status::shape);
  out.u.reset();
  out.reports = reports;
  CHECK(model.try_decompose(all, out) == denise::status::shape);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::shape, "reports has the wrong size: 4 values", [&] { model.decompose(all, out); }));
  CHECK(throws(denise::status::shape, "l has the wrong size: 179 values where there must be 5 times 6 x 6",
               [&] { model.decompose(all, short_l, s); }));
#endif

  // Nobody said that these are five matrices, or that they are six or none.
  CHECK(model.try_decompose(m, l, s) == denise::status::shape);
  CHECK(model.try_decompose(denise::batch(m, count + 1), l, s) == denise::status::shape);
  CHECK(model.try_decompose(denise::batch(m, 0), l, s) == denise::status::shape);
  // A count of which n * n times overflows into the right size.
  const auto too_many = denise::batch(m, count + (std::size_t{1} << 62));
  CHECK(model.try_decompose(too_many, l, s) == denise::status::shape);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::shape, "m has the wrong size", [&] { model.decompose(too_many, l, s); }));
#endif
  CHECK(l == std::vector<float>(m.size(), 7.0F) && s == l);
  CHECK(model.try_decompose(denise::batch(none, 0), none, none) == denise::status::ok);  // nothing to do

  // A null pointer that is set is not an output that nobody wants.
  denise::outputs<float> null;
  null.l = denise::view<float>(nullptr, l.size());
  CHECK(model.try_decompose(all, null) == denise::status::null_pointer);
  CHECK(model.try_decompose(denise::view<const float>(nullptr, n * n), {}) == denise::status::null_pointer);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::null_pointer, "an output that is set", [&] { model.decompose(all, null); }));
  CHECK(throws(denise::status::null_pointer, "empty", [&] { denise::model(nullptr).decompose(all, null); }));
#endif

  // As many values in another shape.
  float wide[4][9] = {}, square[n][n] = {}, square_s[n][n] = {}, turned_u[k][n] = {};
  CHECK(model.try_decompose(wide, square, square_s) == denise::status::shape);
  CHECK(model.try_decompose(denise::view<float>(wide), square, square_s) == denise::status::shape);
  CHECK(model.try_decompose(square, wide, square_s) == denise::status::shape);
  CHECK(model.try_decompose(denise::batch(square, count), square, square_s) == denise::status::shape);
  denise::outputs<float> turned;
  turned.u = turned_u;
  CHECK(model.try_decompose(square, turned) == denise::status::shape);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::shape, "u has the wrong size: 12 values as 2 x 6",
               [&] { model.decompose(square, turned); }));
#endif

  // The default model takes 20 x 20; a hundred assets are not 25 matrices.
  const denise::model twenty = denise::model::try_load().model;
  std::vector<double> hundred(100 * 100, 1.0), hundred_l(hundred.size()), hundred_s(hundred.size());
  CHECK(twenty.try_decompose(hundred, hundred_l, hundred_s) == denise::status::shape);
  CHECK(twenty.try_decompose(denise::batch(hundred, 25), hundred_l, hundred_s) == denise::status::ok);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::shape,
               "m has the wrong size: 10000 values where there must be 1 times 20 x 20; denise::batch",
               [&] { twenty.decompose(hundred, hundred_l, hundred_s); }));
#endif
}

// One bad matrix spoils only itself.
void not_finite() {
  const denise::model model = denise::model::try_load(sizes).model;
  std::vector<double> m = matrices<double>(), l(m.size()), s(m.size()), good(m.size());
  const auto all = denise::batch(m, count);
  CHECK(model.try_decompose(all, good, s) == denise::status::ok);
  m[2 * n * n] = std::numeric_limits<double>::quiet_NaN();
  std::vector<denise::report> reports(count);
  denise::outputs<double> out;
  out.l = l;
  out.reports = reports;
  CHECK(model.try_decompose(all, out) == denise::status::not_finite);
  CHECK(reports[2].status == DENISE_ERR_NOT_FINITE && reports[1].status == DENISE_OK && std::isnan(l[2 * n * n]));
  CHECK(same_bits(l.data(), good.data(), 2 * n * n));
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::not_finite, denise::to_string(denise::status::not_finite),
               [&] { model.decompose(all, out); }));
  CHECK(same_bits(l.data(), good.data(), 2 * n * n));
#endif
}

void life() {
  denise::load_result loaded = denise::model::try_load(sizes);
  CHECK(loaded && loaded.code == denise::status::ok && loaded.message[0] == '\0');
  denise::model first = std::move(loaded.model);
  CHECK(first && !loaded.model);
  denise::model second(nullptr);
  CHECK(!second && second.n() == 0 && std::string_view(second.kernel()).empty());
  std::vector<float> m = matrices<float>(), l(m.size()), s(m.size());
  CHECK(second.try_decompose(m, l, s) == denise::status::null_pointer);
  const denise_model* handle = first.get();
  second = std::move(first);
  CHECK(second.get() == handle && !first);
  second = denise::model::try_load().model;  // the old one is freed
  CHECK(second.n() == 20 && second.k() == 3);
  second = denise::model::try_load(denise::options{n, k, 1, 2, denise::flag_portable}).model;
  CHECK(second && std::string_view(second.kernel()).find("avx") == std::string_view::npos);
  const auto wide = denise::model::try_load(denise::options{n, k, 1, 2, denise::flag_avx512});
  if (wide.model) {
    CHECK(std::string_view(wide.model.kernel()).find("avx512") != std::string_view::npos);
  } else {
    CHECK(wide.code == denise::status::unsupported);
  }
}

void load_errors() {
  // Options are in the order of denise_options: 300 calls at once are fine, 300 threads of one call are too many.
  CHECK(denise::model::try_load({n, k, 300, 1, 0}).code == denise::status::ok);
  CHECK(denise::model::try_load({n, k, 1, 300, 0}).code == denise::status::argument);
  const auto rank = denise::model::try_load({4, 4});
  CHECK(!rank && !rank.model && rank.code == denise::status::argument);
  CHECK(std::string_view(rank.message).find("rank") != std::string_view::npos);
  const auto missing = denise::model::try_load("no/such/file.onnx");
  CHECK(missing.code == denise::status::io && missing.message[0] != '\0');
  const auto null = denise::model::try_load(static_cast<const char*>(nullptr));
  CHECK(null.code == denise::status::null_pointer && null.message[0] != '\0');
  const auto garbage = denise::model::try_load_memory("garbage", 7);
  CHECK(!garbage && garbage.code == denise::status::format);
  CHECK(denise::model::try_load_memory(nullptr, 7).code == denise::status::null_pointer);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(denise::status::argument, "rank", [] { const denise::model model(denise::options{4, 4}); }));
  CHECK(throws(denise::status::io, "", [] { const denise::model model("no/such/file.onnx"); }));
#endif
}

// Networks that are built in, by their names; "./fast" would be a file.
void names() {
  CHECK(denise::model::try_load("default", sizes).model.n() == n);
  CHECK(denise::model::try_load(std::string("fast"), sizes).model.n() == n);
  CHECK(denise::model::try_load("./fast").code == denise::status::io);
}

void model_files(const char* path) {
  CHECK(denise::model::try_load(path));
  CHECK(denise::model::try_load(std::string(path), sizes).model.n() == n);
  CHECK(denise::model::try_load(std::filesystem::path(path)));
  // A name that is not ASCII, which on Windows is wide.
  std::error_code wrong;
#ifdef _WIN32
  const wchar_t name[] = L"\u043c\u043e\u0434\u0435\u043b\u044c.onnx";
#else
  const char name[] = "\u043c\u043e\u0434\u0435\u043b\u044c.onnx";
#endif
  const auto copy = std::filesystem::temp_directory_path(wrong) / name;
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing, wrong);
  CHECK(!wrong && denise::model::try_load(copy));
  CHECK(std::filesystem::remove(copy, wrong));
  CHECK(denise::model::try_load(copy).code == denise::status::io);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CHECK(denise::model::try_load_memory(bytes.data(), bytes.size(), sizes).model.k() == k);
#if DENISE_HPP_EXCEPTIONS
  CHECK(denise::model().n() == 20);
  CHECK(denise::model(path).k() == 3);
  CHECK(denise::model(std::string(path), sizes).n() == n);
  CHECK(denise::model::from_memory(bytes.data(), bytes.size(), {n, k}).n() == n);
#endif
}

void solve() {
  const std::vector<double> m = matrices<double>();
  std::vector<double> l(m.size()), s(m.size()), c_l(m.size()), wrong(3);
  CHECK(denise_solve_batch(DENISE_METHOD_EIGEN, n, k, 0, count, m.data(), c_l.data(), nullptr) == DENISE_OK);
  using denise::method;
  using denise::status;
  const auto all = denise::batch(m, count);
  CHECK(denise::try_solve(method::eigen, n, k, all, l, s) == status::ok && l == c_l);
  CHECK(denise::try_solve(method::eigen, n, k, all, std::nullopt, s) == status::ok);
  CHECK(denise::try_solve(method::eigen, n, k, m, l, s) == status::shape);
  CHECK(denise::try_solve(method::eigen, n, k, all, wrong, s) == status::shape);
  CHECK(denise::try_solve(method::eigen, 0, k, all, l, s) == status::argument);
  CHECK(denise::try_solve(method{99}, n, k, all, l, s) != status::ok);
  // A NaN is an entry that is not known, for one method.
  std::vector<double> holey = m;
  holey[n] = std::numeric_limits<double>::quiet_NaN();
  const auto some = denise::batch(holey, count);
  CHECK(denise::try_solve(method::pcp, n, k, some, l, s) == status::not_finite);
  CHECK(denise::try_solve(method::masked_pcp, n, k, some, l, s) == status::ok);
  CHECK(std::isfinite(l[n]) && std::isnan(s[n]) && std::isnan(s[1]) && std::isfinite(s[0]));
#if DENISE_HPP_EXCEPTIONS
  denise::solve(method::eigen, n, k, all, l, std::nullopt);
  CHECK(throws(status::shape, "l has the wrong size", [&] { denise::solve(method::eigen, n, k, all, wrong, s); }));
#endif
}

}  // namespace

// With the flag, the third asset in another unit changes nothing but its unit.
void units() {
  const denise::model model = denise::model::try_load(denise::options{4, 1, 0, 0, denise::flag_correlation}).model;
  std::vector<double> m = {4, 1, 2, 1, 1, 3, 1, 2, 2, 1, 5, 1, 1, 2, 1, 2}, l(16), s(16), scaled = m, other(16);
  for (std::size_t i = 0; i < 4; ++i) {
    scaled[4 * 2 + i] *= 1000;
    scaled[4 * i + 2] *= 1000;
  }
  CHECK(model.try_decompose(m, l, s) == denise::status::ok);
  CHECK(model.try_decompose(scaled, other, s) == denise::status::ok);
  for (std::size_t i = 0; i < 16; ++i) {
    const double unit = (i / 4 == 2 ? 1000.0 : 1.0) * (i % 4 == 2 ? 1000.0 : 1.0);
    CHECK(std::fabs(other[i] / unit - l[i]) < 1e-9);
  }
}

// With the flag too, L + S = M.
void careful() {
  const denise::model model = denise::model::try_load(denise::options{4, 1, 0, 0, denise::flag_careful}).model;
  const std::vector<double> m = {4, 1, 2, 1, 1, 3, 1, 2, 2, 1, 5, 1, 1, 2, 1, 2};
  std::vector<double> l(16), s(16);
  CHECK(model.try_decompose(m, l, s) == denise::status::ok);
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::fabs(l[i] + s[i] - m[i]) < 1e-12);
}

// NaN is an entry that is not known, whether the field or the flag says so; without them it is an error.
void missing() {
  const double nan = std::nan("");
  std::vector<double> m(36), l(36), s(36);
  for (std::size_t i = 0; i < 36; ++i) m[i] = static_cast<double>((i / 6 + 1) * (i % 6 + 1));
  const double hidden = m[3 * 6 + 1];
  m[3 * 6 + 1] = m[1 * 6 + 3] = nan;
  denise::options options{6, 1};
  options.missing = true;
  const denise::options flag{6, 1, 0, 0, denise::flag_missing};
  for (const denise::options& wanted : {options, flag}) {
    const denise::model model = denise::model::try_load(wanted).model;
    std::vector<denise::report> reports(1);
    denise::outputs<double> out;
    out.l = l;
    out.s = s;
    out.reports = reports;
    CHECK(model.try_decompose(m, out) == denise::status::ok);
    CHECK(reports[0].missing == 1);
    CHECK(std::fabs(l[3 * 6 + 1] - hidden) < 1e-6 * hidden && std::isnan(s[3 * 6 + 1]) && std::isnan(s[1 * 6 + 3]));
    for (std::size_t i = 0; i < 36; ++i) CHECK(std::isnan(m[i]) || std::fabs(l[i] + s[i] - m[i]) < 1e-12);
  }
  const denise::model model = denise::model::try_load(denise::options{6, 1}).model;
  CHECK(model.try_decompose(m, l, s) == denise::status::not_finite && std::isnan(l[0]));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: hpp model.onnx\n");
    return 2;
  }
  CHECK(denise::abi_version() == denise_abi_version() && denise::version() == std::string_view(denise_version()));
  CHECK(std::string_view(denise::to_string(denise::status::ok)) == "ok");
  CHECK(denise::to_string(denise::status{12345}) != nullptr);
  results<float>();
  results<double>();
  shapes();
  not_finite();
  life();
  load_errors();
  names();
  model_files(argv[1]);
  solve();
  units();
  careful();
  missing();
  std::printf("hpp.cpp: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
