#!/usr/bin/env bash
# tests/check_tsan.sh PREFIX
#
# A host compiled with ThreadSanitizer and the installed library, which was not: threads share a model that has threads
# of its own. Without the suppressions that are installed beside it there are false races; with them there are none, and
# a race of the host's own is still found.
set -euo pipefail
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
cc=${DENISE_CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

build() { # build SOURCE PROGRAM
  "$cc" -std=c11 -O1 -g -fsanitize=thread -I"$prefix/include" "tests/sanitize/$1" -o "$work/$2" \
    -L"$prefix/lib" -ldenise -Wl,-rpath,"$prefix/lib"
}
build threads.c threads
build host_race.c host_race

# expect SENTENCE REPORTED OPTIONS PROGRAM: REPORTED is yes or no. Threads that do not meet make no race: five attempts.
expect() {
  local outcome reported attempt
  for attempt in 1 2 3 4 5; do
    outcome=0
    TSAN_OPTIONS="exitcode=66 $3" "$work/$4" >"$work/log" 2>&1 || outcome=$?
    case $outcome in
      0) reported=no ;;
      66) reported=yes ;;
      *) reported="status $outcome" ;;
    esac
    [ "$reported" = no ] || break
    [ "$2" = yes ] || break
  done
  if [ "$reported" != "$2" ]; then
    head -n 40 "$work/log" >&2
    echo "tsan: $1: reported: $reported, after $attempt attempts" >&2
    exit 1
  fi
  echo "ok      $1"
  checks=$((checks + 1))
}
file=suppressions=$prefix/share/denise/tsan.supp
expect 'false races without the suppressions' yes '' threads
for round in 1 2 3; do
  expect "none with them, run $round" no "$file" threads
done
expect "a race of the host's own is found with them" yes "$file" host_race
grep -q 'SUMMARY.*host_race.c' "$work/log" || { cat "$work/log" >&2; exit 1; } # that one, and no other
echo "tsan: $checks passed, 0 failed"
