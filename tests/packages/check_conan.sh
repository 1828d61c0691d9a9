#!/usr/bin/env bash
# tests/packages/check_conan.sh DIST CONAN: the Conan recipe in the folder DIST, with the program CONAN: `conan create`
# makes the package, shared and static, and its test package builds programs in C and C++ against it. Nothing is
# fetched.
set -euo pipefail
dist=$(cd "$1" && pwd) conan=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$(dirname "$0")/user.sh"
export CONAN_HOME=$work/conan
"$conan" profile detect >/dev/null 2>&1
for shared in True False; do
  "$conan" create "$dist/conan" --no-remote -o "denise/*:shared=$shared" -s compiler.cppstd=17 >"$work/log" 2>&1 ||
    { tail -n 60 "$work/log" >&2; exit 1; }
  [ "$(grep -cx 'ok: M = 1.50 is L = 1.00 plus S = 0.50' "$work/log")" = 2 ] || { tail -n 60 "$work/log" >&2; exit 1; }
  echo "ok      conan create, shared=$shared: programs in C and C++"
done
# A tarball that is not the one that the recipe was made for.
cp -r "$dist/conan" "$work/recipe"
for tarball in "$dist"/libdenise-"$version"-linux-*.tar.gz; do
  echo damaged >"$work/$(basename "$tarball")"
done
if "$conan" create "$work/recipe" --no-remote >"$work/log" 2>&1; then
  echo "conan takes a tarball with another checksum" >&2
  exit 1
fi
grep -q sha256 "$work/log"
echo "ok      another tarball is refused"
