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

must() { # must PROGRAM KIND: what the program needs at run time, by what it says of itself
  local needs=shared
  readelf -dW "$1" | grep -q 'NEEDED.*libdenise' || needs=archive
  readelf -lW "$1" | grep -q INTERP || needs=nothing
  if [ $needs != "$2" ]; then
    echo "$1 is linked with: $needs; wanted: $2" >&2
    exit 1
  fi
  if readelf -lW "$1" | grep -q 'GNU_STACK.*RWE'; then
    echo "$1 has an executable stack" >&2
    exit 1
  fi
}

build() { # build NAME COMPILER SOURCE: the ways without CMake
  # shellcheck disable=SC2046 # flags are meant to be split
  $2 "$3" -o "$1-pkg-config" $(pkg-config --cflags --libs denise)
  # shellcheck disable=SC2046
  $2 "$3" -o "$1-private" $(pkg-config --static --cflags --libs denise)
  # shellcheck disable=SC2046
  $2 "$3" -o "$1-static" -static $(pkg-config --static --cflags --libs denise) -Wl,--fatal-warnings
  $2 "$3" -o "$1-plain" -I"$prefix/include" -L"$prefix/lib" -ldenise
  $2 "$3" -o "$1-archive" -I"$prefix/include" "$prefix/lib/libdenise.a" -lm -lpthread -ldl -Wl,--fatal-warnings
  for way in pkg-config private plain; do
    must "$1-$way" shared
    LD_LIBRARY_PATH=$prefix/lib run "$1-$way" "./$1-$way"
  done
  must "$1-archive" archive
  run "$1-archive" "./$1-archive"
  must "$1-static" nothing
  run "$1-static" "./$1-static"
}
build c "$cc" main.c
build c++ "$cxx -std=c++17" main.cpp

CC=$cc CXX=$cxx cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build cmake >/dev/null
for language in '' _cpp; do
  must "cmake/shared$language" shared
  must "cmake/archive$language" archive
  must "cmake/static$language" nothing
  for one in shared archive static; do
    run "cmake-$one$language" "./cmake/$one$language"
  done
done

# The small library: the same files, for the same programs, without the loader for networks of others.
dense=$root/tests/data/onnx/keras_paper.onnx
loads() { # loads STATUS: what the installed library says of them
  local outcome=0
  "$cc" "$root/tests/consumer/dense.c" -o dense -I"$prefix/include" -L"$prefix/lib" -ldenise
  LD_LIBRARY_PATH=$prefix/lib ./dense "$dense" >/dev/null || outcome=$?
  [ $outcome = "$1" ] || { echo "a dense network: status $outcome, not $1" >&2; exit 1; }
}
loads 0
full=$prefix
prefix=$work/small
"$MAKE" --no-print-directory -C "$root" install SMALL=1 PREFIX="$prefix" DESTDIR= >/dev/null
diff <(cd "$full" && find . | LC_ALL=C sort) <(cd "$prefix" && find . | LC_ALL=C sort)
[ "$(stat -Lc %s "$prefix/lib/libdenise.so")" -lt "$(($(stat -Lc %s "$full/lib/libdenise.so") / 4))" ]
loads 5 # DENISE_ERR_UNSUPPORTED
PKG_CONFIG_PATH=$prefix/lib/pkgconfig build small-c "$cc" main.c
if "$MAKE" --no-print-directory -C "$root" install SMALL=yes PREFIX="$work/other" DESTDIR= >/dev/null 2>&1; then
  echo "install takes SMALL=yes for no" >&2
  exit 1
fi

for one in "${names[@]}"; do
  [ -s "$work/$one.out" ]
  cmp "$work/c-pkg-config.out" "$work/$one.out"
done
echo "install: ${#names[@]} passed, 0 failed"
