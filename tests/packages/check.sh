#!/usr/bin/env bash
# tests/packages/check.sh DIST RELEASE CONAN MACHINE...: everything that `make dist` has put into the folder DIST, each
# as its users would take it. RELEASE has the ordinary build, CONAN is that program, and each MACHINE has binaries in
# DIST.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$1 release=$2 conan=$3
shift 3
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
echo "ok      SHA256SUMS: $(wc -l <"$dist/SHA256SUMS") files"
check() { # check NAME ARGUMENTS
  echo "== $1"
  "$here/check_$1.sh" "${@:2}"
}
check tarball "$dist" "$release"
check deb "$dist"
check matlab "$dist"
check conan "$dist" "$conan"
check vcpkg "$dist" "$@"
check crate "$dist"
for machine in "$@"; do
  [ "$machine" != aarch64 ] || check aarch64 "$dist"
done
echo '== packages: all passed'
