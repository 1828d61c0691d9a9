#!/usr/bin/env bash
# tests/cpp/check.sh STAGE BUILD FLAGS...
#
# The C++ headers against the library installed in STAGE: two compilers, three standards, with and without exceptions;
# the examples in their comments; and what must not compile.
set -euo pipefail
stage=$(cd "$1" && pwd) build=$2
shift 2
cd "$(dirname "$0")/../.."
scripts/need clang++:clang /usr/include/eigen3/Eigen/Core:libeigen3-dev
mkdir -p "$build"
build=$(cd "$build" && pwd)
flags=("$@" "-I$stage/include")
link=("-L$stage/lib" -ldenise -lm -pthread "-Wl,-rpath,$stage/lib")
eigen=(-isystem /usr/include/eigen3)
plain=(-fno-exceptions -fno-rtti)

try() { # try NAME COMPILER FLAGS... : compiles and runs tests/cpp/NAME.cpp
  local name=$1
  shift
  echo "$name: $*"
  "$@" "${flags[@]}" "tests/cpp/$name.cpp" -o "$build/$name" "${link[@]}"
  "$build/$name" models/default.onnx
}

try abi "${DENISE_CXX:-g++}" -std=c++17 -O2
try hpp g++ -std=c++17 -O2
try hpp g++ -std=c++20 "${plain[@]}"
try hpp g++ -std=c++2b
try hpp clang++ -std=c++17 "${plain[@]}"
try hpp clang++ -std=c++20 -O2
try hpp clang++ -std=c++2b "${plain[@]}"
try stream g++ -std=c++17 -O2
try stream g++ -std=c++20 "${plain[@]}"
try stream clang++ -std=c++17 "${plain[@]}"
try stream clang++ -std=c++20
try covariance g++ -std=c++17 -O2
try covariance g++ -std=c++20 "${plain[@]}"
try covariance clang++ -std=c++17 "${plain[@]}"
try covariance clang++ -std=c++2b
try mdspan g++ -std=c++17
try mdspan clang++ -std=c++2b
try eigen g++ -std=c++17 -O1 "${eigen[@]}"
try eigen clang++ -std=c++20 "${plain[@]}" "${eigen[@]}"
try eigen_covariance g++ -std=c++17 -O1 "${eigen[@]}"
try eigen_covariance clang++ -std=c++20 "${plain[@]}" "${eigen[@]}"
tests/cpp/check_comments.sh g++ -std=c++17 "${flags[@]}" "${eigen[@]}" "${link[@]}"
tests/cpp/check_refused.sh tests/cpp/refused.cpp g++ -std=c++17 "-I$stage/include"
tests/cpp/check_refused.sh tests/cpp/refused.cpp clang++ -std=c++17 "-I$stage/include"
tests/cpp/check_refused.sh tests/cpp/refused_eigen.cpp g++ -std=c++17 "-I$stage/include" "${eigen[@]}"
