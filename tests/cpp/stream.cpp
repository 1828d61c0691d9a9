// denise::stream of denise.hpp: both layers, against the calls of denise.h to the bit, and what the header itself
// checks. check.sh compiles this as it does hpp.cpp.
#include <denise.hpp>

#include "check.hpp"
#include "mdspan.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

namespace {

std::atomic<std::size_t> allocations = 0;

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

using denise::status;

static_assert(!std::is_copy_constructible_v<denise::stream> && !std::is_copy_assignable_v<denise::stream>);
static_assert(std::is_nothrow_move_constructible_v<denise::stream> &&
              std::is_nothrow_move_assignable_v<denise::stream>);
static_assert(noexcept(denise::stream::try_make(std::declval<denise::model&>())));
static_assert(noexcept(std::declval<denise::stream&>().try_push(denise::view<float>(), denise::outputs<float>())));
static_assert(noexcept(std::declval<denise::stream&>().try_reset()));
static_assert(!std::is_convertible_v<const denise::model&, denise::stream>, "a model is no stream by accident");

constexpr std::size_t n = 6, k = 2, count = 11, ticks = 50;
constexpr std::uint32_t warm_up = 2 * k;

denise::model load() { return denise::model::try_load(denise::options{n, k}).model; }

denise::stream make(const denise::stream_options& wanted) { return denise::stream::try_make(load(), wanted).stream; }

// The returns of all streams at a tick: two factors and noise, from a few sines. One is not known.
template <typename Real>
std::vector<Real> returns_at(std::size_t tick) {
  std::vector<Real> all(count * n);
  for (std::size_t q = 0; q < count; ++q) {
    const double first = std::sin(double(tick * tick + q)), second = std::cos(double(3 * tick * tick + 2 * q));
    for (std::size_t i = 0; i < n; ++i) {
      const double noise = std::sin(double((tick + 1) * (7 * i + 5) * (tick + q + 3)));
      all[q * n + i] = Real(0.01 * (first * (1 + 0.1 * double(i)) + second * std::sin(double(i)) + 0.3 * noise));
    }
  }
  if (tick == 9) all[2 * n + 3] = std::numeric_limits<Real>::quiet_NaN();
  return all;
}

// What a tick gives.
template <typename Real>
struct Results {
  explicit Results(std::size_t streams = count)
      : u(streams * n * k), l(streams * n * n), s(streams * n * n), reports(streams) {}

  denise::outputs<Real> out() {
    denise::outputs<Real> all;
    all.u = u;
    all.l = l;
    all.s = s;
    all.reports = reports;
    return all;
  }

  std::vector<Real> u, l, s;
  std::vector<denise::report> reports;
};

template <typename T>
bool same_bits(const T* a, const T* b, std::size_t size) {
  return std::memcmp(a, b, size * sizeof(T)) == 0;
}
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}
template <typename Real>
bool same_bits(const Results<Real>& a, const Results<Real>& b) {
  return same_bits(a.u, b.u) && same_bits(a.l, b.l) && same_bits(a.s, b.s) && same_bits(a.reports, b.reports);
}

denise_status c_push(denise_stream* stream, const float* in, Results<float>& to) {
  return denise_stream_push(stream, in, to.u.data(), to.l.data(), to.s.data(), to.reports.data());
}
denise_status c_push(denise_stream* stream, const double* in, Results<double>& to) {
  return denise_stream_push_f64(stream, in, to.u.data(), to.l.data(), to.s.data(), to.reports.data());
}
denise_status c_push_matrices(denise_stream* stream, const float* in, Results<float>& to) {
  return denise_stream_push_matrices(stream, in, to.u.data(), to.l.data(), to.s.data(), to.reports.data());
}
denise_status c_push_matrices(denise_stream* stream, const double* in, Results<double>& to) {
  return denise_stream_push_matrices_f64(stream, in, to.u.data(), to.l.data(), to.s.data(), to.reports.data());
}

#if DENISE_HPP_EXCEPTIONS
// Whether the body throws that status, with these words.
template <typename Body>
bool throws(status code, std::string_view words, Body body) {
  try {
    body();
  } catch (const denise::error& error) {
    return error.code() == code && std::string_view(error.what()).find(words) != std::string_view::npos;
  }
  return false;
}
#endif

// Every tick gives what the C call gives, for each kind of weights; nothing is allocated.
template <typename Real>
void results(const denise::stream_options& wanted) {
  const denise::model model = load();
  denise_stream_options c;
  denise_stream_options_init(&c, sizeof c);
  c.streams = wanted.streams;
  c.window = wanted.window;
  c.half_life = wanted.half_life;
  c.flags = wanted.flags;
  c.warm_up = wanted.warm_up;
  denise_stream* plain = nullptr;
  CHECK(denise_stream_new(model.get(), &c, &plain) == DENISE_OK);
  denise::stream_result made = denise::stream::try_make(model, wanted);
  CHECK(made && made.code == status::ok);
  denise::stream stream = std::move(made.stream);
  CHECK(stream && stream.n() == n && stream.k() == k && stream.streams() == count);
  CHECK(stream.state_size() == denise_stream_state_size(plain));
  CHECK(stream.state_size_one() == denise_stream_state_size_one(plain));

  Results<Real> right, got;
  const std::uint32_t first_split = wanted.warm_up == 0 ? warm_up : wanted.warm_up;
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    const std::vector<Real> returns = returns_at<Real>(tick);
    CHECK(c_push(plain, returns.data(), right) == DENISE_OK);
    const std::size_t before = allocations;
    CHECK(stream.try_push(returns, got.out()) == status::ok);
    CHECK(allocations == before);
    CHECK(same_bits(right, got));
    const bool ready = tick + 1 >= first_split;
    CHECK(got.reports[1].status == (ready ? DENISE_OK : static_cast<denise_status>(status::not_ready)));
    CHECK(std::isnan(got.l[0]) != ready && std::isnan(got.u[0]) != ready);
  }
  std::vector<double> m(count * n * n), c_m(count * n * n);
  CHECK(denise_stream_covariance_f64(plain, c_m.data()) == DENISE_OK);
  CHECK(stream.try_covariance(m) == status::ok && same_bits(m, c_m) && m[0] > 0);

  // The same covariances, as a tick of their own.
  const std::vector<Real> covariances(m.begin(), m.end());
  CHECK(c_push_matrices(plain, covariances.data(), right) == DENISE_OK);
  CHECK(stream.try_push_matrices(covariances, got.out()) == status::ok && same_bits(right, got));
  CHECK(stream.try_push_matrices(denise::batch(covariances, count), got.l, got.s) == status::ok);
  CHECK(c_push_matrices(plain, covariances.data(), right) == DENISE_OK && same_bits(right.l, got.l));
#if DENISE_HPP_EXCEPTIONS
  stream.push(returns_at<Real>(ticks), got.out());
  CHECK(c_push(plain, returns_at<Real>(ticks).data(), right) == DENISE_OK && same_bits(right, got));
  stream.push(returns_at<Real>(ticks + 1), got.l, got.s);
  CHECK(c_push(plain, returns_at<Real>(ticks + 1).data(), right) == DENISE_OK && same_bits(right.s, got.s));
  stream.push_matrices(covariances, got.l, got.s);
  stream.push_matrices(covariances, got.out());
  CHECK(c_push_matrices(plain, covariances.data(), right) == DENISE_OK);
  CHECK(c_push_matrices(plain, covariances.data(), right) == DENISE_OK && same_bits(right, got));
  CHECK(stream.covariance().size() == m.size());
  stream.covariance(m);
  CHECK(same_bits(m, stream.covariance()));
#endif
  denise_stream_free(plain);
}

// A stream among others has the bits that it has alone, in either precision and in both in turn.
void alone() {
  denise::stream many = make({count});
  std::vector<denise::stream> each;
  for (std::size_t q = 0; q < count; ++q) each.push_back(make({}));
  Results<double> all, one(1);
  Results<float> all_single, one_single(1);
  bool same = true;
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    const std::vector<double> returns = returns_at<double>(tick);
    const std::vector<float> singles(returns.begin(), returns.end());
    const bool single = tick % 3 == 1;
    const status code = single ? many.try_push(singles, all_single.out()) : many.try_push(returns, all.out());
    CHECK(code == status::ok);
    for (std::size_t q = 0; q < count; ++q) {
      if (single) {
        CHECK(each[q].try_push(denise::view(&singles[q * n], n), one_single.out()) == status::ok);
        same = same && same_bits(&all_single.l[q * n * n], one_single.l.data(), n * n);
      } else {
        CHECK(each[q].try_push(denise::view(&returns[q * n], n), one.out()) == status::ok);
        same = same && same_bits(&all.u[q * n * k], one.u.data(), n * k);
        same = same && same_bits(&all.reports[q], one.reports.data(), 1);
      }
    }
  }
  CHECK(same);
}

// A state goes on with the same bits: in the same streams, in others, for all and for one.
void states() {
  denise::stream stream = make({count, 30});
  Results<double> got, again;
  for (std::size_t tick = 0; tick < ticks; ++tick) CHECK(stream.try_push(returns_at<double>(tick), {}) == status::ok);
  std::vector<std::byte> state(stream.state_size()), one(stream.state_size_one());
  CHECK(stream.try_save(state) == status::ok && stream.try_save(3, one) == status::ok);
  denise::stream other = make({count, 30});
  CHECK(other.try_restore(state) == status::ok);
  const std::vector<double> next = returns_at<double>(ticks);
  CHECK(stream.try_push(next, got.out()) == status::ok && other.try_push(next, again.out()) == status::ok);
  CHECK(same_bits(got, again));
  CHECK(stream.try_restore(state) == status::ok && stream.try_push(next, again.out()) == status::ok);
  CHECK(same_bits(got, again));

  // One of them goes on alone, and comes back.
  denise::stream single = make({1, 30});
  Results<double> lone(1);
  CHECK(single.try_restore(one) == status::ok);
  CHECK(single.try_push(denise::view(&next[3 * n], n), lone.out()) == status::ok);
  CHECK(same_bits(&got.l[3 * n * n], lone.l.data(), n * n));
  std::vector<std::byte> back(one.size());
  CHECK(single.try_save(back) == status::ok && other.try_restore(3, back) == status::ok && back != one);
  CHECK(other.try_save(3, one) == status::ok && back == one);
  CHECK(single.try_restore(back) == status::ok && stream.try_restore(state) == status::ok);
  CHECK(stream.try_save(3, one) == status::ok);

  // One that is reset is as new; the others go on.
  CHECK(other.try_restore(state) == status::ok && other.try_reset(3) == status::ok);
  CHECK(other.try_push(next, again.out()) == status::ok);
  CHECK(again.reports[3].status == DENISE_ERR_NOT_READY && std::isnan(again.l[3 * n * n]));
  CHECK(same_bits(got.l.data(), again.l.data(), 3 * n * n));
  CHECK(other.try_reset() == status::ok && other.try_push(next, again.out()) == status::ok);
  CHECK(again.reports[0].status == DENISE_ERR_NOT_READY);

  // What is damaged, cut off, or of other streams changes nothing.
  CHECK(stream.try_restore(state) == status::ok);
  std::vector<std::byte> damaged = state, cut(state.begin(), state.end() - 1), none, now(state.size());
  damaged[state.size() / 2] ^= std::byte{1};
  CHECK(stream.try_restore(damaged) == status::format && stream.try_restore(cut) == status::format);
  CHECK(stream.try_restore(none) == status::format);
  CHECK(stream.try_restore(denise::view<const std::byte>(nullptr, 9)) == status::null_pointer);
  CHECK(stream.try_restore(one) == status::shape && stream.try_restore(0, state) == status::shape);
  CHECK(stream.try_restore(count, one) == status::argument && stream.try_reset(count) == status::argument);
  CHECK(make({count, 40}).try_restore(state) != status::ok);
  CHECK(stream.try_save(cut) == status::shape && stream.try_save(none) != status::ok);
  CHECK(stream.try_save(now) == status::ok && now == state);
#if DENISE_HPP_EXCEPTIONS
  CHECK(stream.save() == state && stream.save(3) == one);
  CHECK(throws(status::format, "damaged", [&] { stream.restore(damaged); }));
  CHECK(throws(status::format, "damaged", [&] { stream.restore(none); }));
  CHECK(throws(status::shape, "streams", [&] { stream.restore(one); }));
  CHECK(throws(status::argument, "no such stream", [&] { stream.restore(count, one); }));
  CHECK(throws(status::argument, "no such stream", [&] { stream.reset(count); }));
  CHECK(throws(status::argument, "no such stream", [&] { (void)stream.save(count); }));
  CHECK(stream.save() == state);
  stream.reset();
  stream.restore(state);
  stream.reset(3);
  CHECK(stream.save(3) != one);
  stream.restore(3, one);
  CHECK(stream.save() == state);
#endif
}

// Infinity spoils one tick of one stream.
void not_finite() {
  denise::stream stream = make({count}), calm = make({count});
  Results<float> got, right;
  for (std::size_t tick = 0; tick < 20; ++tick) {
    std::vector<float> returns = returns_at<float>(tick);
    CHECK(calm.try_push(returns, right.out()) == status::ok);
    if (tick == 12) {
      returns[4 * n + 2] = std::numeric_limits<float>::infinity();
      CHECK(stream.try_push(returns, got.out()) == status::not_finite);
      CHECK(got.reports[4].status == DENISE_ERR_NOT_FINITE && got.reports[4].first_bad == 2);
      CHECK(std::isnan(got.l[4 * n * n]) && same_bits(got.l.data(), right.l.data(), 4 * n * n));
    } else {
      CHECK(stream.try_push(returns, got.out()) == status::ok);
      CHECK(same_bits(got.l.data(), right.l.data(), 4 * n * n));
    }
  }
  CHECK(got.reports[4].status == DENISE_OK && std::isfinite(got.l[4 * n * n]));
#if DENISE_HPP_EXCEPTIONS
  std::vector<float> returns = returns_at<float>(20);
  returns[0] = -std::numeric_limits<float>::infinity();
  CHECK(throws(status::not_finite, "", [&] { stream.push(returns, got.out()); }));
  CHECK(got.reports[0].status == DENISE_ERR_NOT_FINITE && got.reports[1].status == DENISE_OK);
#endif
}

// A return that is not known: the split is there, and one from an asset never seen is missing in S.
void unknown() {
  denise::stream stream = make({});
  Results<double> got(1);
  for (std::size_t tick = 0; tick < 12; ++tick) {
    std::vector<double> returns = returns_at<double>(tick);
    returns.resize(n);
    returns[5] = std::numeric_limits<double>::quiet_NaN();
    CHECK(stream.try_push(returns, got.out()) == status::ok);
  }
  CHECK(got.reports[0].status == DENISE_OK && got.reports[0].missing == n);
  CHECK(std::isfinite(got.l[5 * n]) && std::isnan(got.s[5 * n]) && std::isfinite(got.s[4 * n]));
}

// Sizes that do not fit are refused, and nothing is written or learnt.
void shapes() {
  denise::stream stream = make({count}), one = make({});
  std::vector<double> returns = returns_at<double>(0), few(n), none;
  std::vector<double> l(count * n * n, 7.0), s = l, short_l(l.size() - 1), m = l, u(count * n * k + 1);
  std::vector<denise::report> reports(count - 1);
  std::vector<std::byte> before(stream.state_size()), after(stream.state_size());
  CHECK(stream.try_save(before) == status::ok);
  CHECK(stream.try_push(few, l, s) == status::shape && one.try_push(returns, l, s) == status::shape);
  CHECK(stream.try_push(none, l, s) == status::shape && stream.try_push(returns, short_l, s) == status::shape);
  CHECK(stream.try_push(returns, none, s) == status::shape);
  CHECK(stream.try_push(denise::batch(returns, count - 1), l, s) == status::shape);
  CHECK(stream.try_push_matrices(returns, l, s) == status::shape);
  CHECK(stream.try_covariance(short_l) == status::shape);
  denise::outputs<double> out;
  out.u = u;
  CHECK(stream.try_push(returns, out) == status::shape);
  out.u.reset();
  out.reports = reports;
  CHECK(stream.try_push(returns, out) == status::shape);
  denise::outputs<double> null;
  null.l = denise::view<double>(nullptr, l.size());
  CHECK(stream.try_push(returns, null) == status::null_pointer);
  CHECK(stream.try_push(denise::view<const double>(nullptr, count * n), {}) == status::null_pointer);
  CHECK(stream.try_covariance(denise::view<double>(nullptr, l.size())) == status::null_pointer);
  CHECK(stream.try_push_matrices(m, l, m) == status::argument);  // not even s where m is
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::shape, "returns has the wrong size: 6 values where there must be 11 times 1 x 6",
               [&] { stream.push(few, l, s); }));
  CHECK(throws(status::shape, "l has the wrong size: 395 values where there must be 11 times 6 x 6",
               [&] { stream.push(returns, short_l, s); }));
  CHECK(throws(status::shape, "reports has the wrong size: 10 values", [&] { stream.push(returns, out); }));
  CHECK(throws(status::shape, "m has the wrong size: 66 values where there must be 11 times 6 x 6",
               [&] { stream.push_matrices(returns, l, s); }));
  CHECK(throws(status::shape, "m has the wrong size", [&] { stream.covariance(short_l); }));
  CHECK(throws(status::null_pointer, "an output that is set", [&] { stream.push(returns, null); }));
  CHECK(throws(status::argument, "m and s overlap", [&] { stream.push_matrices(m, l, m); }));
#endif
  CHECK(l == std::vector<double>(l.size(), 7.0) && s == l);
  CHECK(stream.try_save(after) == status::ok && before == after);

  // Shapes that are known: streams x n, and a matrix for every stream.
  double rows[count][n], turned[n][count] = {}, l_array[count][n][n], s_array[count][n][n];
  std::memcpy(rows, returns.data(), sizeof rows);
  CHECK(stream.try_push(turned, l, s) == status::shape);
  for (std::size_t tick = 0; tick < 10; ++tick) CHECK(stream.try_push(rows, l_array, s_array) == status::ok);
  CHECK(std::isfinite(l_array[count - 1][n - 1][n - 1]));
  double l_few[count - 1][n][n];
  CHECK(stream.try_push(rows, l_few, s_array) == status::shape);
  const md::mdspan<double, md::extents<std::size_t, count, n>> span(returns.data());
  CHECK(stream.try_push(span, l_array, s_array) == status::ok);
  std::array<double, n> array{};
  CHECK(one.try_push(array, {}) == status::ok);
#if defined(__cpp_lib_span)
  CHECK(stream.try_push(std::span<const double>(returns), {.l = l}) == status::ok);
  CHECK(one.try_push(std::span(returns).first(n), {}) == status::ok);
#endif
}

void life() {
  denise::stream empty(nullptr);
  std::vector<float> returns(n), l(n * n), s(n * n);
  std::vector<double> m(n * n);
  std::vector<std::byte> state(10000);
  CHECK(!empty && empty.n() == 0 && empty.k() == 0 && empty.streams() == 0 && empty.state_size() == 0);
  CHECK(empty.try_push(returns, l, s) == status::null_pointer && empty.try_reset() == status::null_pointer);
  CHECK(empty.try_covariance(m) == status::null_pointer && empty.try_save(state) == status::null_pointer);
  CHECK(empty.try_restore(state) == status::null_pointer && empty.try_reset(0) == status::null_pointer);

  denise::stream first = make({});  // its model is gone already
  denise_stream* handle = first.get();
  denise::stream second = std::move(first);
  CHECK(second.get() == handle && second.n() == n && !first && first.n() == 0 && first.streams() == 0);
  CHECK(first.try_push(returns, l, s) == status::null_pointer);
  CHECK(second.try_push(returns, l, s) == status::ok);
  second = make({count});  // the old one is freed
  CHECK(second.streams() == count);

  // Why there is no stream.
  const denise::model model = load();
  const auto refused = [&model](const denise::stream_options& wanted, status code, std::string_view words) {
    const denise::stream_result result = denise::stream::try_make(model, wanted);
    return !result && !result.stream && result.code == code &&
           std::string_view(denise::last_error()).find(words) != std::string_view::npos;
  };
  CHECK(refused({0}, status::argument, "streams is 0"));
  CHECK(refused({1, 1}, status::argument, "window is 1"));
  CHECK(refused({1, 10, 5}, status::argument, "half_life is 5"));
  CHECK(refused({1, 0, -1}, status::argument, "half_life"));
  CHECK(refused({1, 0, 0, denise::flag_careful}, status::argument, "flags"));
  CHECK(refused({1, 10, 0, 0, 11}, status::argument, "warm_up is 11"));
  CHECK(denise::stream::try_make(denise::model(nullptr)).code == status::null_pointer);
  const auto careful = denise::model::try_load(denise::options{n, k, 0, 0, denise::flag_careful});
  CHECK(denise::stream::try_make(careful.model).code == status::unsupported);
#if DENISE_HPP_EXCEPTIONS
  CHECK(throws(status::argument, "streams is 0", [&] { denise::stream(model, denise::stream_options{0}); }));
  CHECK(throws(status::null_pointer, "model is NULL", [] { denise::stream{denise::model(nullptr)}; }));
  CHECK(throws(status::null_pointer, "the stream is empty", [&] { empty.push(returns, l, s); }));
  CHECK(throws(status::null_pointer, "the stream is empty", [&] { empty.restore(state); }));
  CHECK(throws(status::null_pointer, "the stream is empty", [&] { (void)empty.covariance(); }));
  CHECK(denise::stream(model).streams() == 1);
#endif
}

// Flags reach the library: means are subtracted, and units do not matter.
void flags() {
  denise::stream plain = make({}), demeaned = make({1, 0, 0, denise::stream_demean});
  denise::stream scaled = make({1, 0, 0, denise::flag_correlation});
  denise::stream other_unit = make({1, 0, 0, denise::flag_correlation});
  Results<double> right(1), got(1);
  for (std::size_t tick = 0; tick < 30; ++tick) {
    std::vector<double> returns = returns_at<double>(tick == 9 ? 40 : tick);
    returns.resize(n);
    returns[2] += 1;  // a mean that is all of this asset's second moment
    CHECK(plain.try_push(returns, {}) == status::ok && demeaned.try_push(returns, {}) == status::ok);
    CHECK(scaled.try_push(returns, right.out()) == status::ok);
    returns[4] *= 1024;
    CHECK(other_unit.try_push(returns, got.out()) == status::ok);
  }
  std::vector<double> m(n * n), centred(n * n);
  CHECK(plain.try_covariance(m) == status::ok && demeaned.try_covariance(centred) == status::ok);
  CHECK(m[2 * n + 2] > 0.9 && centred[2 * n + 2] < 0.01 && centred[2 * n + 2] > 0);
  CHECK(std::fabs(got.l[4 * n] / 1024 - right.l[4 * n]) < 1e-6 * std::fabs(right.l[4 * n]));
}

// Two threads on one stream: each call is done or refused, and none is lost between.
void threads() {
  denise::stream stream = make({count});
  std::array<std::size_t, 2> done{}, refused{};
  std::vector<std::thread> both;
  for (std::size_t at = 0; at < 2; ++at) {
    both.emplace_back([&, at] {
      const std::vector<float> returns = returns_at<float>(at);
      for (int i = 0; i < 2000; ++i) {
        const status code = stream.try_push(returns, {});
        done[at] += code == status::ok;
        refused[at] += code == status::argument;
      }
    });
  }
  for (std::thread& thread : both) thread.join();
  CHECK(done[0] + refused[0] == 2000 && done[1] + refused[1] == 2000 && done[0] + done[1] > 0);
}

}  // namespace

int main() {
  results<float>({count});
  results<double>({count});
  results<double>({count, 20, 0, 0, 7});
  results<float>({count, 0, 10, denise::stream_demean | denise::flag_correlation});
  alone();
  states();
  not_finite();
  unknown();
  shapes();
  life();
  flags();
  threads();
  std::printf("stream.cpp: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
