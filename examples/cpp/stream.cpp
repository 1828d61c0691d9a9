#include <denise.hpp>
#include <cstdio>
#include <vector>

int main() try {
  const denise::model model(denise::options{5, 1});  // five assets, one common factor
  denise::stream stream(model);                      // half-life 60 ticks; stream_options has more
  std::vector<double> returns(5), u(5);
  denise::outputs<double> out;
  out.u = u;  // l, s and reports can be had too
  for (int tick = 0; tick < 300; ++tick) {
    const double market = tick % 4 < 2 ? 0.01 : -0.01, pair = (tick + 1) % 4 < 2 ? 0.005 : -0.005;
    returns = {market, market, 2 * market, market, market};
    returns[2] += pair;  // the third and the last move together besides
    returns[4] += pair;
    stream.push(returns, out);  // u is NaN until there have been enough ticks
  }
  std::printf("ok: with the market the third moves %.2f times as much as the first\n", u[2] / u[0]);
  const auto state = stream.save();
  stream.restore(state);  // after a restart, say: it goes on with the same bits
} catch (const denise::error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
