#!/usr/bin/env bash
# tests/windows/check_cpp.sh STAGE BUILD: denise.hpp and denise_eigen.hpp against the DLL in STAGE, run in wine.
set -euo pipefail
stage=$(cd "$1" && pwd) build=$2
cd "$(dirname "$0")/../.."
scripts/need /usr/include/eigen3/Eigen/Core:libeigen3-dev
. tests/windows/wine.sh
export WINEPATH=$stage/bin
mkdir -p "$build/eigen"
# Not all of /usr/include, which is for Linux.
ln -sfn /usr/include/eigen3/Eigen "$build/eigen/Eigen"
ln -sfn /usr/include/eigen3/unsupported "$build/eigen/unsupported"
# The tests have an operator new of their own, which this gcc inlines in some places only, and then warns.
flags=(-O1 -Wall -Wextra -Wpedantic -Wconversion -Wno-float-conversion -Wno-mismatched-new-delete -Wshadow -Werror
  "-I$stage/include")

try() { # try NAME FLAGS...
  local name=$1
  shift
  echo "$name: $*"
  x86_64-w64-mingw32-g++ "$@" "${flags[@]}" "tests/cpp/$name.cpp" -o "$build/$name.exe" "-L$stage/lib" -ldenise -static
  timeout 900 "$DENISE_WINE" "$build/$name.exe" models/default.onnx
}

try abi -std=c++17
try hpp -std=c++17
try hpp -std=c++20 -fno-exceptions -fno-rtti
try stream -std=c++17
try covariance -std=c++20
try mdspan -std=c++17
# Eigen's objects are larger than the format takes by default.
try eigen -std=c++17 -isystem "$build/eigen" -Wa,-mbig-obj
try eigen_covariance -std=c++17 -isystem "$build/eigen" -Wa,-mbig-obj
