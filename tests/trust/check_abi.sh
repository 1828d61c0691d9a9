#!/usr/bin/env bash
# tests/trust/check_abi.sh INCLUDE LIBRARY [--write]
#
# The binary interface of the header is that of tests/trust/denise.abi, which was written by --write when the interface
# was last meant to change. Additions at the end are compatible; they too must be committed. The header's functions are
# the names that the shared LIBRARY exports.
set -euo pipefail
include=$(cd "$1" && pwd)
library=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/abi_surface.c" "$work/"
(cd "$work" && gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -g -O0 -fPIC -shared -Wl,-soname,libdenise.so \
  -I"$include" abi_surface.c -o libdenise.so)
describe() { # describe OUT: without what depends on this machine's paths and compiler
  (cd "$work" && abidw --no-comp-dir-path --no-corpus-path --no-show-locs --no-elf-needed --type-id-style hash \
    --exported-interfaces-only libdenise.so) |
    sed -e "s| producer='[^']*'||" -e "s| language='[^']*'||" >"$1"
}
describe "$work/denise.abi"
if [ "${3:-}" = --write ]; then
  cp "$work/denise.abi" "$here/denise.abi"
  echo "wrote tests/trust/denise.abi"
  exit 0
fi

nm -D --defined-only "$work/libdenise.so" | awk '{ print $NF }' | grep '^denise_' | LC_ALL=C sort >"$work/header"
nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort >"$work/library"
diff -u "$work/header" "$work/library" || {
  echo "FAILED  the library exports other names than the header has functions"
  exit 1
}
echo "ok      the library exports the $(wc -l <"$work/header") functions of the header"
if ! abidiff "$here/denise.abi" "$work/denise.abi"; then
  echo "FAILED  the binary interface is not that of tests/trust/denise.abi"
  echo "        If it is meant to change: raise ABI in build.rs unless it only grows, then run $0 INCLUDE LIBRARY --write"
  exit 1
fi
echo "ok      abidiff finds no change against tests/trust/denise.abi"

# A gate that cannot close is none: a field that grows must be found.
mkdir "$work/moved"
sed -e 's/uint32_t threads;/uint64_t threads;/' "$include/denise.h" >"$work/moved/denise.h"
(cd "$work" && gcc -std=c11 -w -g -O0 -fPIC -shared -Wl,-soname,libdenise.so -Imoved abi_surface.c -o libdenise.so)
describe "$work/moved.abi"
if abidiff "$here/denise.abi" "$work/moved.abi" >/dev/null; then
  echo "FAILED  abidiff does not see a field that grows"
  exit 1
fi
echo "ok      abidiff sees a field that grows"
