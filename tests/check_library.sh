#!/usr/bin/env bash
# tests/check_library.sh libdenise.so.2 ABI BYTES
#
# What a packager and a host program rely on: the exported names, the soname, that the library stays
# loaded after dlclose, and its size.
set -euo pipefail
library=$1
abi=$2
here=$(dirname "$0")
most=$3 # bytes, stripped

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/report.sh"

nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort >"$work/symbols"
outcome=0
diff -u "$here/symbols.txt" "$work/symbols" || outcome=1
report $outcome "exports the $(wc -l <"$here/symbols.txt") names of tests/symbols.txt and no other"

readelf -dW "$library" >"$work/dynamic"
outcome=0
grep -q "(SONAME).*\[libdenise\.so\.$abi\]" "$work/dynamic" || outcome=1
report $outcome "soname is libdenise.so.$abi"

outcome=0
grep -q '(FLAGS_1).*NODELETE' "$work/dynamic" || outcome=1
report $outcome "stays loaded after dlclose (NODELETE)"

# Rust's standard library knows how to use this symbol; only a strong reference would be a need for it.
outcome=0
if nm -D --undefined-only "$library" | grep -q ' U .*__cxa_thread_atexit'; then
  outcome=1
fi
report $outcome "does not require destructors of thread-local variables"

strip -o "$work/stripped" "$library"
size=$(stat -c %s "$work/stripped")
outcome=0
[ "$size" -le "$most" ] || outcome=1
report $outcome "stripped size is $size bytes, at most $most"

exit $failed
