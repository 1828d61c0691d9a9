#!/usr/bin/env bash
# Installs the library into a temporary prefix and builds the README's programs against it in each way that the
# README offers, outside the source tree. Every build must print the same.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
: "${MAKE:=make}"
# Not in the environment of cargo, which would build everything again for another compiler.
cc=${DENISE_CC:-gcc} cxx=${DENISE_CXX:-g++}

"$MAKE" --no-print-directory -C "$root" install PREFIX="$prefix" DESTDIR= >/dev/null
(cd "$prefix" && find . -type f -o -type l | LC_ALL=C sort)

# DESTDIR puts the same files elsewhere, and the prefix written into them is still PREFIX.
"$MAKE" --no-print-directory -C "$root" install PREFIX=/opt/denise DESTDIR="$work/package" >/dev/null
grep -qx 'prefix=/opt/denise' "$work/package/opt/denise/lib/pkgconfig/denise.pc"
diff <(cd "$prefix" && find . | LC_ALL=C sort) <(cd "$work/package/opt/denise" && find . | LC_ALL=C sort)

mkdir "$work/app"
cp "$root/examples/c/minimal.c" "$work/app/main.c"
cp "$root/examples/cpp/minimal.cpp" "$work/app/main.cpp"
cp "$root/tests/consumer/CMakeLists.txt" "$work/app/"
cd "$work/app"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

names=()
run() { # run NAME COMMAND...
  names+=("$1")
  echo "$1: $("${@:2}" | tee "$work/$1.out" | head -n 1)"
}

build() { # build NAME COMPILER SOURCE: the three ways without CMake
  # shellcheck disable=SC2046 # flags are meant to be split
  $2 "$3" -o "$1-by_pkg_config" $(pkg-config --cflags --libs denise)
  LD_LIBRARY_PATH=$prefix/lib run "$1-pkg-config" "./$1-by_pkg_config"

  $2 "$3" -o "$1-by_hand" -I"$prefix/include" -L"$prefix/lib" -ldenise
  LD_LIBRARY_PATH=$prefix/lib run "$1-plain" "./$1-by_hand"

  # The private libraries of denise.pc are what the archive needs.
  # shellcheck disable=SC2046
  $2 "$3" -o "$1-static" "$prefix/lib/libdenise.a" $(pkg-config --cflags denise) \
    $(pkg-config --static --libs-only-l denise | sed 's/-ldenise//')
  run "$1-static" "./$1-static"
  if readelf -d "$1-static" | grep -q libdenise; then
    echo "the static program needs the shared library" >&2
    exit 1
  fi
  if readelf -lW "$1-static" | grep -q 'GNU_STACK.*RWE'; then
    echo "the static program has an executable stack" >&2
    exit 1
  fi
}
build c "$cc" main.c
build c++ "$cxx -std=c++17" main.cpp

CC=$cc CXX=$cxx cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build cmake >/dev/null
for one in shared static shared_cpp static_cpp; do
  run "cmake-$one" "./cmake/$one"
done

for one in "${names[@]}"; do
  [ -s "$work/$one.out" ]
  cmp "$work/c-pkg-config.out" "$work/$one.out"
done
echo "install: ${#names[@]} passed, 0 failed"
