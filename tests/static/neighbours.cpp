// libdenise, another Rust library and C++ exceptions in one program, by turns: each must unwind its own.
#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" int use_denise();  // examples/c/minimal.c, whose main has been given this name
extern "C" int neighbour_half(int number);

static std::string sink(int depth) {
  std::string passed_by = "a destructor to run while unwinding";
  if (depth == 0) throw std::runtime_error("thrown");
  return sink(depth - 1) + passed_by;
}

int main() {
  for (int round = 0; round < 3; round++) {
    if (neighbour_half(8) != 4 || neighbour_half(7) != -1) return std::fputs("the neighbour is wrong\n", stderr), 1;
    try {
      sink(20);
      return std::fputs("nothing was thrown\n", stderr), 1;
    } catch (const std::runtime_error&) {
      if (use_denise() != 0) return 1;
    }
  }
}
