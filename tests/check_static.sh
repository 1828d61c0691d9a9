#!/usr/bin/env bash
# tests/check_static.sh STAGE
#
# libdenise.a of an installed tree in the company of others: C++ exceptions, another Rust library, plug-ins.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
stage=$1
archive=$stage/lib/libdenise.a
cc=${DENISE_CC:-gcc} cxx=${DENISE_CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expected='ok: M = 1.50 is L = 1.00 plus S = 0.50'
checks=0

fail() {
  echo "static: $1" >&2
  exit 1
}

prints() { # prints NAME TIMES COMMAND...: what examples/c/minimal.c prints, so many times
  "${@:3}" >"$work/out" || fail "$1 failed"
  [ "$(grep -cx "$expected" "$work/out")" = "$2" ] || fail "$1 prints: $(cat "$work/out")"
  echo "ok      $1"
  checks=$((checks + 1))
}

"$cc" -O2 -fPIC -Dmain=use_denise -I"$stage/include" -c "$root/examples/c/minimal.c" -o "$work/use_denise.o"

# A neighbour as rustc writes it, with all of its standard library in one piece: what it has in common with libdenise it
# has under the same names. Then one made by scripts/prelink: its panics must still be caught.
rustc --edition 2024 --crate-name neighbour --crate-type staticlib -C lto=fat "$root/tests/static/neighbour.rs" \
  -o "$work/libneighbour.a"
echo neighbour_half >"$work/names"
"$root/scripts/prelink" "$work/libneighbour.a" "$work/names" "$work/libprelinked.a"
"$cxx" -std=c++17 -O2 -c "$root/tests/static/neighbours.cpp" -o "$work/neighbours.o"
beside() { # beside LIBRARIES FLAG...
  # shellcheck disable=SC2086 # the libraries are two words
  "$cxx" "${@:2}" "$work/neighbours.o" "$work/use_denise.o" $1 -lm -lpthread -ldl -o "$work/program" 2>"$work/log" || {
    head -n 5 "$work/log" >&2
    fail "does not link: $1 ${*:2}"
  }
  prints "C++ exceptions and another Rust library: $(sed -E 's|[^ ]*/||g' <<<"$1") ${*:2}" 3 "$work/program"
}
beside "$archive $work/libneighbour.a"
beside "$work/libneighbour.a $archive" -static
beside "$work/libneighbour.a $archive" -static-libgcc -static-libstdc++
beside "$archive $work/libneighbour.a" -Wl,--gc-sections
beside "$archive $work/libprelinked.a"
beside "$archive $work/libprelinked.a" -static -Wl,--gc-sections

# Two plug-ins in one process, each with a libdenise of its own.
for name in one other; do
  "$cc" -shared "$work/use_denise.o" "$archive" -lm -lpthread -ldl -Wl,--fatal-warnings -o "$work/$name.so"
done
exported=$(nm -D --defined-only "$work/one.so" | awk '{ print $NF }')
[ "$exported" = use_denise ] || fail "a plug-in exports $(wc -w <<<"$exported") names"
echo "ok      a plug-in exports its own name and no other"
checks=$((checks + 1))
"$cc" -O2 "$root/tests/static/host.c" -ldl -o "$work/host"
prints "two plug-ins in one process" 2 "$work/host" "$work/one.so" "$work/other.so"

echo "static: $checks passed, 0 failed"
