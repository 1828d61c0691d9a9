#!/usr/bin/env bash
# The README cannot rot: each of its snippets is a file of examples/, which is built and run here; its table is that of
# docs/results.json; and every link in the documentation leads somewhere.
#   tests/check_readme.sh STAGE BUILD DENISE PYTHON
# STAGE has the installed library, BUILD/matlab the MEX file, DENISE is the program, PYTHON an interpreter that has the
# Python package.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
stage=$(cd "$1" && pwd) build=$(cd "$2" && pwd) denise=$(realpath "$3")
python=$(cd "$(dirname "$4")" && pwd)/$(basename "$4") # not where it leads: that is outside of its environment
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
checks=0

fail() {
  echo "README: $1" >&2
  [ -z "${2:-}" ] || cat "$2" >&2
  exit 1
}

snippet() { # snippet LANGUAGE FILE [LINE [BLOCK]]: the README's first block of that language, or that one, is the file
  tail -n "+${3:-1}" "$2" >"$work/file" # from that line on
  awk -v start="^\`\`\`$1\$" -v block="${4:-1}" \
    '$0 ~ start { inside = ++seen == block; next } /^```$/ && inside { exit } inside' README.md >"$work/block"
  [ -s "$work/block" ] || fail "no block of $1"
  diff -u "$work/file" "$work/block" || fail "its block of $1 is not $2"
  checks=$((checks + 1))
}

prints() { # prints NAME COMMAND...: what every one of the small programs prints
  "${@:2}" >"$work/out" || fail "$1 failed" "$work/out"
  grep -qx 'ok: M = 1.50 is L = 1.00 plus S = 0.50' "$work/out" || fail "$1 prints:" "$work/out"
  echo "$1: $(head -n 1 "$work/out")"
  checks=$((checks + 1))
}

snippet c examples/c/minimal.c
"${DENISE_CC:-gcc}" -std=c99 -Wall -Wextra -Wpedantic -Werror examples/c/minimal.c -I"$stage/include" -L"$stage/lib" -ldenise -o "$work/c"
LD_LIBRARY_PATH=$stage/lib prints C "$work/c"

snippet cpp examples/cpp/minimal.cpp
"${DENISE_CXX:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror examples/cpp/minimal.cpp -I"$stage/include" -L"$stage/lib" -ldenise \
  -o "$work/cpp"
LD_LIBRARY_PATH=$stage/lib prints C++ "$work/cpp"

snippet cpp examples/cpp/stream.cpp 1 2
"${DENISE_CXX:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror examples/cpp/stream.cpp -I"$stage/include" \
  -L"$stage/lib" -ldenise -o "$work/stream"
LD_LIBRARY_PATH=$stage/lib "$work/stream" >"$work/out" || fail "the stream failed" "$work/out"
grep -qx 'ok: with the market the third moves 2.00 times as much as the first' "$work/out" ||
  fail "the stream prints:" "$work/out"
echo "C++, a stream: $(cat "$work/out")"
checks=$((checks + 1))

snippet cpp examples/cpp/covariance.cpp 1 3
"${DENISE_CXX:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror examples/cpp/covariance.cpp -I"$stage/include" \
  -L"$stage/lib" -ldenise -o "$work/covariance"
LD_LIBRARY_PATH=$stage/lib "$work/covariance" >"$work/out" || fail "the covariance failed" "$work/out"
grep -qx 'ok: the first has [0-9.]* times the weight of the second' "$work/out" || fail "the covariance prints:" "$work/out"
echo "C++, a covariance: $(cat "$work/out")"
checks=$((checks + 1))

snippet python examples/python/minimal.py
prints Python "$python" examples/python/minimal.py

snippet matlab examples/matlab/minimal.m
prints Octave octave-cli --no-history --norc --quiet --eval \
  "addpath ('$root/bindings/matlab', '$build/matlab'); run ('$root/examples/matlab/minimal.m')"

snippet rust examples/rust/minimal.rs 3 # without the line of documentation
# `cargo run -p denise --example minimal`, which `make test-rust` has built.
prints Rust "${CARGO_TARGET_DIR:-target}/debug/examples/minimal"

# Commands as they stand, in a folder where only the tree's data is at hand.
snippet sh examples/minimal.sh
mkdir "$work/shell"
ln -s "$root/tests" "$work/shell/tests"
(cd "$work/shell" && PATH=$(dirname "$denise"):$PATH bash -euo pipefail "$root/examples/minimal.sh") >"$work/out" 2>&1 ||
  fail "the commands failed:" "$work/out"
for file in split/L.npy split/S.npy split/U.npy tuned/model.onnx window.png all/L.npy; do
  [ -s "$work/shell/$file" ] || fail "the commands made no $file" "$work/out"
  checks=$((checks + 1))
done
echo "command line: $(grep -m 1 'mean |S|' "$work/out")"

scripts/readme_table --check
checks=$((checks + 1))

# Links to files, from the folder of the page that has them. Others, to the web and to headings, are left alone.
while IFS= read -r page; do
  while IFS= read -r link; do
    case $link in *://* | '#'*) continue ;; esac
    [ -e "$(dirname "$page")/${link%%#*}" ] || fail "$page leads to $link, which does not exist"
    checks=$((checks + 1))
  done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//')
done < <(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*' -not -path './target/*')

echo "README: $checks passed, 0 failed"
