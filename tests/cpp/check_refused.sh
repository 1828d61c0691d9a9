#!/usr/bin/env bash
# tests/cpp/check_refused.sh SOURCE COMPILER...: the source compiles, and does not with any of its cases.
#
# A case stands between "#if REFUSE == NUMBER  // WORDS" and "#endif". With -DREFUSE=NUMBER the compiler must fail, and
# one of its errors must have the words, a regular expression: so it fails for the right reason.
set -euo pipefail
source=$1
export LC_ALL=C # plain quotes in messages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The same headers every time, and Eigen's take a second or two: precompiled, both compilers find them as NAME.gch.
grep '^#include <' "$source" >"$work/headers.hpp"
"${@:2}" -x c++-header "$work/headers.hpp" -o "$work/headers.hpp.gch"
command=("${@:2}" -include "$work/headers.hpp" -fsyntax-only)

if ! "${command[@]}" -DREFUSE=0 "$source"; then
  echo "$source: does not compile without any case" >&2
  exit 1
fi

refused() { # refused NUMBER WORDS
  local output
  if output=$("${command[@]}" "-DREFUSE=$1" "$source" 2>&1); then
    echo "$source: case $1 compiles with ${command[0]}" >&2
    return 1
  fi
  grep 'error: ' <<<"$output" | grep -qE -- "$2" && return
  printf '%s: case %s fails with %s, but not by "%s":\n%s\n' "$source" "$1" "${command[0]}" "$2" "$output" >&2
  return 1
}

cases=$(grep -c '^#if REFUSE == ' "$source")
checked=0
while IFS='	' read -r number words; do
  refused "$number" "$words"
  checked=$((checked + 1))
done < <(sed -n 's|^#if REFUSE == \([0-9]*\)  // \(.*\)$|\1\t\2|p' "$source")
# A case that is not written as it should be must not pass unseen.
[ "$checked" = "$cases" ] && [ "$checked" -gt 0 ]
echo "$source, ${command[0]}: $checked refused"
