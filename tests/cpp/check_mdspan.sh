#!/usr/bin/env bash
# tests/cpp/check_mdspan.sh STAGE BUILD FLAGS...: the real std::mdspan, by libc++ 19. The compilers of check.sh do not
# have it; tests/cpp/mdspan.hpp stands in for it there.
set -euo pipefail
stage=$(cd "$1" && pwd) build=$2
shift 2
cd "$(dirname "$0")/../.."
scripts/need clang++-19:clang-19 /usr/lib/llvm-19/include/c++/v1/mdspan:libc++-19-dev
mkdir -p "$build"
compile=(clang++-19 -std=c++23 -stdlib=libc++ "-I$stage/include")
"${compile[@]}" "$@" tests/cpp/mdspan.cpp -o "$build/mdspan" "-L$stage/lib" -ldenise "-Wl,-rpath,$stage/lib"
"$build/mdspan"
tests/cpp/check_refused.sh tests/cpp/refused.cpp "${compile[@]}"
