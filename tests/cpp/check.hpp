// Counts what passes and reports what fails, with file and line; the program goes on.
#pragma once

#include <cstdio>

namespace {

int passed = 0;
int failed = 0;

void check_at(bool good, const char* file, int line, const char* what) {
  if (good) {
    ++passed;
  } else {
    ++failed;
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  }
}
#define CHECK(good) check_at(static_cast<bool>(good), __FILE__, __LINE__, #good)

}  // namespace
