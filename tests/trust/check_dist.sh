#!/usr/bin/env bash
# tests/trust/check_dist.sh BUILD: what `make dist` makes without building is the same twice, and enough to build from.
# What it builds is the matter of tests/packages.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/scripts/dist" --source "$work/first" >/dev/null
sleep 1.1 # a clock that leaks into the files shows
(cd "$work" && "$here/scripts/dist" --source "$work/second" >/dev/null)
diff -r "$work/first" "$work/second"
echo "ok      tarball, crate, bill of materials and checksums are the same twice"
(cd "$work/first" && sha256sum --quiet -c SHA256SUMS)

mkdir "$work/unpacked"
tar xzf "$work"/first/*.tar.gz -C "$work/unpacked"
tar tzf "$work"/first/denise-*.crate | grep '/models/default\.layers$' >/dev/null # include_str! reads it
root=$(echo "$work"/unpacked/libdenise-*)
(cd "$here" && git ls-tree -r --name-only HEAD | LC_ALL=C sort) >"$work/expected"
(cd "$root" && find . -type f -o -type l | sed 's|^\./||' | LC_ALL=C sort) >"$work/found"
diff -u "$work/expected" "$work/found"
(cd "$root" && "${CARGO:-cargo}" metadata --locked --offline --filter-platform x86_64-unknown-linux-gnu \
  --format-version 1 >/dev/null)
echo "ok      the tarball has the $(wc -l <"$work/found") files of the commit, and cargo accepts it"

python3 "$here/tests/trust/check_sbom.py" "$work"/first/*.cdx.json
mkdir -p "$build"
cp -r "$work/first/." "$build/"
