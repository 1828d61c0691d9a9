#!/usr/bin/env bash
# tests/windows/check_consumers.sh STAGE
#
# Programs outside of the tree, against a copy of STAGE: by CMake and mingw, by hand with either import library, and for
# the ABI of MSVC with its kind of linker and denise.lib. All run in wine; those of the README print what it says.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(cd "$1" && pwd)
cd "$root"
scripts/need cmake:cmake clang:clang
. tests/windows/wine.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Moved, and with a space in its name.
cp -r "$stage" "$work/de nise"
prefix="$work/de nise"
export WINEPATH=$prefix/bin
mkdir "$work/app"
cp examples/c/minimal.c "$work/app/main.c"
cp examples/cpp/minimal.cpp "$work/app/main.cpp"
cp tests/consumer/CMakeLists.txt "$work/app/"
cd "$work/app"
expected='ok: M = 1.50 is L = 1.00 plus S = 0.50'
says() { # says WHAT PROGRAM
  local output
  output=$(wine "$2" | tr -d '\r')
  if [ "$output" != "$expected" ]; then
    echo "$1: $output" >&2
    exit 1
  fi
  echo "ok      $1"
}

cmake -S . -B cmake -DCMAKE_TOOLCHAIN_FILE="$root/tests/windows/mingw.cmake" -Ddenise_DIR="$prefix/lib/cmake/denise" \
  -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build cmake >/dev/null
says 'a C program by CMake' cmake/shared.exe
says 'a C++ program by CMake' cmake/shared_cpp.exe
# Another release is refused.
sed 's/find_package(denise 0.2 REQUIRED)/find_package(denise 7.0 REQUIRED)/' CMakeLists.txt >other.txt
mkdir other && mv other.txt other/CMakeLists.txt && cp main.c main.cpp other/
if cmake -S other -B other/build -DCMAKE_TOOLCHAIN_FILE="$root/tests/windows/mingw.cmake" \
  -Ddenise_DIR="$prefix/lib/cmake/denise" >/dev/null 2>&1; then
  echo 'CMake takes this release for 7.0' >&2
  exit 1
fi

x86_64-w64-mingw32-gcc main.c -o by_hand.exe "-I$prefix/include" "-L$prefix/lib" -ldenise
says 'a C program by hand' by_hand.exe
x86_64-w64-mingw32-gcc main.c -o by_lib.exe "-I$prefix/include" "$prefix/lib/denise.lib"
says 'a C program by gcc with denise.lib' by_lib.exe

clang --target=x86_64-pc-windows-msvc -O2 -Wall -Wextra -Werror -ffreestanding "-I$prefix/include" \
  -c "$root/tests/windows/msvc.c" -o msvc.obj
# kernel32.lib of the Windows SDK is a list of names; so is mingw's.
"$root/scripts/rust_lld" /nologo /entry:start /subsystem:console /out:msvc.exe msvc.obj "$prefix/lib/denise.lib" \
  "$(x86_64-w64-mingw32-gcc -print-file-name=libkernel32.a)"
wine msvc.exe
echo 'ok      a program for the ABI of MSVC, linked with denise.lib'
clang++ --target=x86_64-pc-windows-msvc -std=c++17 -Wall -Wextra -Werror -ffreestanding -fsyntax-only -x c++ \
  "$prefix/include/denise.h"
echo 'ok      the header for the ABI of MSVC, as C++'
