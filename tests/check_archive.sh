#!/usr/bin/env bash
# tests/check_archive.sh libdenise.a
#
# What the static library brings into the program that links it: the public names, and nothing that the program has not
# asked for.
set -euo pipefail
archive=$1
here=$(dirname "$0")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/report.sh"

# Num: Value Size Type Bind Vis Ndx Name
readelf --syms --wide "$archive" >"$work/symbols"
awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" { print $8 }' "$work/symbols" | LC_ALL=C sort >"$work/names"
outcome=0
diff -u "$here/symbols.txt" "$work/names" >"$work/diff" || outcome=1
head -n 20 "$work/diff"
report $outcome "shows the $(wc -l <"$here/symbols.txt") names of tests/symbols.txt and no other"

outcome=0
awk '$5 == "GLOBAL" && $7 != "UND" && $6 != "HIDDEN" { print $8 }' "$work/symbols" >"$work/shown"
[ ! -s "$work/shown" ] || outcome=1
head -n 20 "$work/shown"
report $outcome "what links it does not export them again"

# The linker leaves names behind that nothing refers to any more; whoever links the archive would have to have them.
undefined() {
  readelf --syms --wide "$1" | awk '$7 == "UND" && $8 != "" { print $8 }' | LC_ALL=C sort -u
}
strip --strip-unneeded -o "$work/stripped.a" "$archive"
undefined "$archive" >"$work/asked"
undefined "$work/stripped.a" >"$work/used"
outcome=0
[ -s "$work/used" ] && diff "$work/used" "$work/asked" || outcome=1
report $outcome "asks for $(wc -l <"$work/asked") names of the system, all of which it uses"

readelf --section-headers --wide "$archive" | sed -nE 's/^ *\[ *[0-9]+\] ([^ ]+) +([A-Z].*)/\1 \2/p' >"$work/sections"
outcome=0
grep -m 5 -E '^\.(llvmbc|llvmcmd|debug_|zdebug_|gnu\.lto)' "$work/sections" && outcome=1
# The list was read, and functions can be left out one by one.
[ "$(grep -c '^\.text' "$work/sections")" -gt 100 ] || outcome=1
report $outcome "has no debug information and no code of the compiler's own; functions are in sections of their own"

objects=$(ar t "$archive" | wc -l)
outcome=0
# Type, address, offset, size, entry size, flags: an X among the flags asks for an executable stack.
[ "$(grep -c '^\.note\.GNU-stack ' "$work/sections")" = "$objects" ] || outcome=1
grep -E '^\.note\.GNU-stack PROGBITS +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ +[A-Z]*X' "$work/sections" && outcome=1
report $outcome "says that it needs no executable stack"

exit $failed
