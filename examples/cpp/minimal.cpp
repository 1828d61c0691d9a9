#include <denise.hpp>
#include <cstdio>
#include <vector>

int main() try {
  std::vector<float> m(25, 1.0F), l(25), s(25);  // five assets that move as one, but for one pair;
  m[22] = 1.5F;                                  // only the lower triangle is read
  const denise::model model(denise::options{5, 1});  // 5 x 5 matrices, L of rank 1
  model.decompose(m, l, s);
  std::printf("ok: M = %.2f is L = %.2f plus S = %.2f\n", m[22], l[22], s[22]);
} catch (const denise::error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
